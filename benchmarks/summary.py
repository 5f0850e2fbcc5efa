"""What runs come to, method by method: geometric means relative to a base, wins and losses, and what failed.

A mean says nothing beside one over other meshes. So a method has comparable means only where it ended on every pair of
mesh and number of parts on which the base ended: what fails on hard meshes must not look better for it. And a ratio to
nothing says nothing: pairs that some method's repaired labels cut at no cost, as separate bodies allow, are in no mean,
of no method. A method's own labels may cut nothing because they break the bound: these alone then leave the pair out,
and are not comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from statistics import geometric_mean
from typing import NamedTuple

from results import Results

from meshpart.compare import Run

BASE = "kahip:eco"  # its repaired labels
MARGIN = 1  # per cent of the edge cut that make a win or a loss

Pair = tuple[str, int]  # a mesh, and a number of parts


class Score(NamedTuple):
    """What one method made of some pairs; the figures are None where it ended on none of them.

    Parameters
    ----------
    method : str
    repaired : bool
    ran, ended : int
        Pairs that it was tried on, and on which it found labels.
    comparable : bool
        Whether it ended on every pair that means are of.
    everywhere : bool
        Whether it ended on every pair at all: what is a sum, the most or a mean over those on which it ended would look
        better for ending on fewer.
    cut, volume, halo, seconds : float or None
        Geometric means of the ratios to the base's edge cut, communication volume, ghosts of one layer and seconds.
    mib : float or None
        The most.
    imbalance : float or None
        The most.
    within_bound : int
        In how many pairs.
    empty_parts, fragments : int
        Over all pairs.
    neighbours : float or None
        The mean.
    wins, losses : int
        Pairs where its cut is lower, or higher, by more than `MARGIN` per cent, or only one of the two ended.
    """

    method: str
    repaired: bool
    ran: int
    ended: int
    comparable: bool
    everywhere: bool
    cut: float | None
    volume: float | None
    halo: float | None
    seconds: float | None
    mib: float | None
    imbalance: float | None
    within_bound: int
    empty_parts: int
    fragments: int
    neighbours: float | None
    wins: int
    losses: int


def score(results: Results, pairs: Sequence[Pair], method: str, *, repaired: bool) -> Score:
    """Return what a method made of some pairs."""
    averaged = in_means(results, pairs)
    tried = [(run, results.of(pair, BASE, True)) for pair in pairs if (run := results.of(pair, method, repaired))]
    ended = [run for run, _ in tried if not run.failure]
    both = ((results.of(pair, method, repaired), results.of(pair, BASE, True)) for pair in averaged)
    beside = [(run, base) for run, base in both if run and base and run.edge_cut]
    return Score(
        method,
        repaired,
        ran=len(tried),
        ended=len(ended),
        comparable=bool(beside) and len(beside) == len(averaged),
        everywhere=len(ended) == len(pairs),
        cut=mean_ratio(beside, attrgetter("edge_cut")),
        volume=mean_ratio(beside, attrgetter("communication_volume")),
        halo=mean_ratio(beside, attrgetter("ghosts")),
        seconds=mean_ratio(beside, attrgetter("seconds")),
        mib=max((run.mib for run in ended if run.mib is not None), default=None),
        imbalance=max((run.imbalance for run in ended), default=None),
        within_bound=sum(run.within_bound for run in ended),
        empty_parts=sum(run.empty_parts for run in ended),
        fragments=sum(run.fragments for run in ended),
        neighbours=sum(run.neighbours for run in ended) / len(ended) if ended else None,
        wins=sum(verdict(run, base) > 0 for run, base in tried if base),
        losses=sum(verdict(run, base) < 0 for run, base in tried if base),
    )


def in_means(results: Results, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that means are of: on which the base ended, and no repaired labels have a cut of 0."""
    free = set(without_cut(results))
    return [pair for pair in ended_on(results, pairs, BASE) if pair not in free]


def without_cut(results: Results) -> list[Pair]:
    """Return the pairs of which some repaired labels have an edge cut of 0."""
    free = (key for key, run in results.runs.items() if key.repaired and run.edge_cut == 0)
    return list(dict.fromkeys((key.mesh, key.nparts) for key in free))


def mean_ratio(beside: Sequence[tuple[Run, Run]], figure: Callable[[Run], float]) -> float | None:
    """Return the geometric mean of a figure by another one; None of nothing."""
    return geometric_mean(figure(run) / figure(base) for run, base in beside) if beside else None


def verdict(run: Run, base: Run) -> int:
    """Return 1 for a win, -1 for a loss: the cuts differ by more than `MARGIN` per cent, or one of the two failed."""
    if run.failure or base.failure:
        return bool(base.failure) - bool(run.failure)
    more, margin = 100 * (run.edge_cut - base.edge_cut), MARGIN * base.edge_cut
    return (more < -margin) - (more > margin)


def ranked(scores: Iterable[Score]) -> list[Score]:
    """Return scores by their cut; those whose means are not comparable last."""
    return sorted(scores, key=lambda it: (not it.comparable, it.cut is None, it.cut or 0.0, not it.repaired))


def ended_on(results: Results, pairs: Sequence[Pair], method: str) -> list[Pair]:
    """Return the pairs of which a method found labels."""
    return [pair for pair in pairs if (run := results.of(pair, method, True)) and not run.failure]


def common(results: Results, pairs: Sequence[Pair]) -> tuple[list[Pair], list[str]]:
    """Return pairs on which several methods ended, and these: all that ended on half of the pairs, or more."""
    chosen = [method for method in results.methods if 2 * len(ended_on(results, pairs, method)) >= len(pairs)]
    alike = [pair for pair in pairs if all(ended_on(results, [pair], method) for method in chosen)]
    return alike, chosen


def price(results: Results, method: str) -> tuple[float, float, Pair] | None:
    """Return the edge cut of a method's repaired labels by that of its own: the mean, the most, and where that is."""
    found = []
    free = set(without_cut(results))
    for pair in results.pairs:
        raw, repaired = (results.of(pair, method, repaired) for repaired in (False, True))
        if raw and repaired and raw.edge_cut and pair not in free:
            found.append((repaired.edge_cut / raw.edge_cut, pair))
    if not found:
        return None
    most, where = max(found)
    return geometric_mean(ratio for ratio, _ in found), most, where
