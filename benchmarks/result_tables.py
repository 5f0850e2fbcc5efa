"""The tables of quality.py in Markdown, made of results alone: a short one, and all that it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from report import heading, table
from results import Results
from summary import BASE, Pair, Score, common, ended_on, in_means, price, ranked, score, without_cut

NOTE = (
    "Edge cut, volume (communication volume), halo (ghosts of one layer) and seconds are geometric means of ratios to "
    f"the repaired labels of {BASE}, pair by pair: below 1 is better. The imbalance is the largest, MiB the most, "
    "neighbours a mean, empty parts and fragments (pieces of a part beyond its first) are sums. Wins and losses: the "
    "cut is lower, or higher, by more than 1 %, or one of the two failed. Seconds are from the mesh to the labels, "
    "the dual graph included, on one thread. Bound kept unrepaired: on how many pairs the method's own labels keep "
    "the bound on the weight, 1 + imbalance times the mean rounded up. In brackets: of a method that did not end on "
    "all pairs that means are of, over those on which it did; such figures are not comparable with others, and stand "
    "last. The most, sums and neighbours are in brackets where it did not end on all pairs."
)


def short(results: Results) -> str:
    """Return the table that a README shows: of repaired labels, over all meshes and numbers of parts."""
    return table(SHORT, [_pick(row, SHORT) for row in summary_rows(results, results.pairs, (True,))])


def everything(results: Results, *, rows: bool = False) -> Iterator[str]:
    """Yield how the runs were made, and all tables; that of all rows where asked for."""
    yield from (heading(made["machine"], [made["command"]]) for made in results.made)
    yield from _warnings(results)
    pairs = results.pairs
    yield f"**Over {len(results.meshes)} meshes, {len(pairs)} pairs of a mesh and a number of parts.** {NOTE}"
    yield short(results)
    yield "**The same with the methods' own labels, before repair, and all figures**"
    yield table(HEADS, [_pick(row, HEADS) for row in summary_rows(results, pairs, (False, True))])
    yield from over_common_pairs(results)
    yield from cuts_of_0(results)
    yield "**By class of mesh: edge cut / seconds of repaired labels**"
    yield by_group(results, {kind: results.of_kind(kind) for kind in results.kinds})
    yield "**By number of parts: the same**"
    counts = sorted({nparts for _, nparts in pairs})
    yield by_group(results, {f"{count} parts": [pair for pair in pairs if pair[1] == count] for count in counts})
    yield "**What repair costs: the edge cut of repaired labels, by that of the method's own; within the bound before**"
    yield table(PRICES, list(price_rows(results)))
    yield "**The meshes**"
    yield table(MESHES, list(mesh_rows(results)))
    yield "**What failed, and why**"
    failed = list(failures(results))
    yield table(FAILURES, failed) if failed else "Nothing."
    if rows:
        yield "**Every run**"
        yield table(ROWS, list(run_rows(results)))


# -- the summary --------------------------------------------------------------------------------------------

SHORT = ("method", "edge cut", "halo", "seconds", "bound kept unrepaired", "wins / losses", "failed")
HEADS = (
    "method",
    "labels",
    "edge cut",
    "volume",
    "halo",
    "seconds",
    "MiB",
    "imbalance",
    "within bound",
    "empty parts",
    "fragments",
    "neighbours",
    "wins / losses",
    "failed",
)


def summary_rows(results: Results, pairs: Sequence[Pair], kinds: Sequence[bool]) -> list[dict[str, str]]:
    """Return the rows of all methods, by title of the column: of their own labels (False), of repaired ones (True)."""
    methods = [method for method in results.methods if any(results.of(pair, method, True) for pair in pairs)]
    found = ranked(score(results, pairs, method, repaired=kind) for method in methods for kind in kinds)
    return [_summary_row(one, score(results, pairs, one.method, repaired=False)) for one in found]


def over_common_pairs(results: Results) -> Iterator[str]:
    """Yield a table of the pairs on which all methods ended, where some did not end on all."""
    if all(score(results, results.pairs, method, repaired=True).comparable for method in results.methods):
        return
    alike, methods = common(results, results.pairs)
    chosen = ", ".join(methods)
    yield f"**Over the {len(alike)} pairs on which all of these ended: {chosen}**"
    if alike:
        rows = (row for row in summary_rows(results, alike, (True,)) if row["method"] in methods)
        yield table(SHORT, [_pick(row, SHORT) for row in rows])


def cuts_of_0(results: Results) -> Iterator[str]:
    """Yield a table of the edge cuts of pairs that some repaired labels cut at no cost, where there are any."""
    if not (free := without_cut(results)):
        return
    yield (
        f"**Edge cuts of repaired labels, of the {len(free)} pairs of which some of them cut nothing**"
        ", as separate bodies allow: a ratio to 0 says nothing, so that no mean has them; wins and losses count them"
    )
    lines = [[f"{mesh} into {nparts}", *_cuts(results, (mesh, nparts))] for mesh, nparts in free]
    yield table(("pair", *results.methods), lines)


def _cuts(results: Results, pair: Pair) -> Iterator[str]:
    for method in results.methods:
        run = results.of(pair, method, True)
        yield "-" if run is None else "failed" if run.failure else str(run.edge_cut)


def _summary_row(one: Score, own: Score) -> dict[str, str]:
    def mean(value: float | None) -> str:
        return bracketed(value, "{:.3f}".format, plain=one.comparable)

    def over_all(value: float | None, text: Callable[[Any], str] = str) -> str:
        return bracketed(value, text, plain=one.everywhere)

    return {
        "method": one.method,
        "labels": "repaired" if one.repaired else "own",
        "edge cut": mean(one.cut),
        "volume": mean(one.volume),
        "halo": mean(one.halo),
        "seconds": mean(one.seconds),
        "MiB": over_all(one.mib, "{:.0f}".format),
        "imbalance": over_all(one.imbalance, lambda value: f"{100 * value:.2f} %"),
        "within bound": f"{one.within_bound} of {one.ended}",
        "bound kept unrepaired": f"{own.within_bound} of {own.ended}",
        "empty parts": over_all(one.empty_parts),
        "fragments": over_all(one.fragments),
        "neighbours": over_all(one.neighbours, "{:.2f}".format),
        "wins / losses": f"{one.wins} / {one.losses}",
        "failed": f"{one.ran - one.ended} of {one.ran}",
    }


def bracketed(value: float | None, text: Callable[[Any], str], *, plain: bool) -> str:
    """Return a figure, in brackets where it is not comparable with those of other methods."""
    if value is None:
        return "-"
    return text(value) if plain else f"({text(value)})"


# -- by class and by number of parts ------------------------------------------------------------------------


def by_group(results: Results, groups: dict[str, list[Pair]]) -> str:
    """Return edge cut / seconds of each method over groups of pairs."""
    scores = ranked(score(results, results.pairs, method, repaired=True) for method in results.methods)
    lines = []
    for method in (one.method for one in scores):
        found = [score(results, pairs, method, repaired=True) for pairs in groups.values()]
        lines.append([method, *(bracketed_pair(one) for one in found)])
    counts = ["pairs in the means", *(str(len(in_means(results, pairs))) for pairs in groups.values())]
    return table(["method", *groups], [*lines, counts])


def bracketed_pair(one: Score) -> str:
    """Return edge cut / seconds."""
    if one.cut is None or one.seconds is None:
        return "failed" if one.ran and not one.ended else "-"
    text = f"{one.cut:.3f} / {one.seconds:.2f}"
    return text if one.comparable else f"({text})"


# -- the rest -----------------------------------------------------------------------------------------------

PRICES = ("method", "mean", "most", "where", "own labels within bound", "with empty parts", "fragments own", "repaired")
MESHES = ("mesh", "class", "cells", "shared out", "points", "edges", "components", "types")
FAILURES = ("mesh", "parts", "method", "why")
ROWS = (
    "mesh",
    "parts",
    "method",
    "labels",
    "edge cut",
    f"/ {BASE}",
    "volume",
    "halo",
    "imbalance",
    "empty parts",
    "fragments",
    "neighbours",
    "seconds",
    "MiB",
)


def price_rows(results: Results) -> Iterator[list[str]]:
    """Yield what repair costs each method, and what it was there for."""
    for method in results.methods:
        if (found := price(results, method)) is None:
            continue
        mean, most, (mesh, nparts) = found
        own, repaired = (score(results, results.pairs, method, repaired=kind) for kind in (False, True))
        empty = sum(bool(run.empty_parts) for key, run in results.runs.items() if key[2:] == (method, False))
        where = f"{mesh} into {nparts}" if most > 1 else ""
        shown = (f"{mean:.4f}", f"{most:.3f}", str(empty), str(own.fragments), str(repaired.fragments))
        mean_of, most_of, *pieces = (bracketed(text, str, plain=own.everywhere) for text in shown)
        yield [method, mean_of, most_of, where, f"{own.within_bound} of {own.ended}", *pieces]


def mesh_rows(results: Results) -> Iterator[list[str]]:
    """Yield what each mesh is."""
    for name, facts in results.meshes.items():
        types = ", ".join(f"{count} {kind}" for kind, count in facts.types.items())
        sizes = (facts.cells, facts.units, facts.points, facts.edges, facts.components)
        yield [name, facts.kind, *map(str, sizes), types]


def failures(results: Results) -> Iterator[list[str]]:
    """Yield what failed, and why."""
    for key, run in results.runs.items():
        if run.failure and key.repaired:
            yield [key.mesh, str(key.nparts), key.method, " ".join(run.failure.replace("|", "/").split())]


def run_rows(results: Results) -> Iterator[list[str]]:
    """Yield every run."""
    for key, run in results.runs.items():
        about = [key.mesh, str(key.nparts), key.method, "repaired" if key.repaired else "own"]
        if run.failure:
            yield [*about, "failed", *[""] * (len(ROWS) - 5)]
            continue
        base = results.of((key.mesh, key.nparts), BASE, True)
        ratio = f"{run.edge_cut / base.edge_cut:.3f}" if base and base.edge_cut else ""
        sizes = (str(run.edge_cut), ratio, str(run.communication_volume), str(run.ghosts))
        imbalance = f"{100 * run.imbalance:.2f} %{'' if run.within_bound else ', beyond the bound'}"
        pieces = (str(run.empty_parts), str(run.fragments), f"{run.neighbours:.2f}")
        yield [*about, *sizes, imbalance, *pieces, f"{run.seconds:.3f}", "" if run.mib is None else f"{run.mib:.0f}"]


def _warnings(results: Results) -> Iterator[str]:
    """Yield what to keep in mind with these results."""
    for name in ("CPU", "cores"):
        values = dict.fromkeys(made["machine"][name] for made in results.made)
        if len(values) > 1:
            yield f"These runs are of several machines ({name} {', '.join(values)}): seconds are not comparable."
    left_out = [pair for pair in results.pairs if not ended_on(results, [pair], BASE)]
    if left_out:
        names = ", ".join(f"{mesh} into {nparts}" for mesh, nparts in left_out)
        yield f"{BASE} has no labels of {names}: means leave these pairs out, wins and losses count them."
    missing = dict.fromkeys(name for made in results.made for name in made["missing"])
    if missing:
        yield f"Not installed, and left out: {', '.join(missing)}."


def _pick(row: dict[str, str], heads: Sequence[str]) -> list[str]:
    return [row[head] for head in heads]
