"""A guard: the edge cuts of the library's own methods, on small meshes, are not notably worse than recorded here.

`python tests/test_cut_guard.py` prints the tables anew.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from graded_meshes import curved_quads, graded_tets, graded_triangles, hexes, hexes_to_tets, stretched_tets

from meshpart import Mesh, MeshpartWarning, Problem, partition_labels, quality
from meshpart.methods import Method

Labels = npt.NDArray[np.int32]
Cut = Callable[[Mesh, int], Labels]

WORSE, WORSE_ON_AVERAGE = 1.02, 1.005  # of what is recorded: of a single cut, and of the geometric mean of a line
BETTER_ON_AVERAGE = 0.99
NPARTS = 12

MESHES = {
    "triangles": lambda: graded_triangles(3000),
    "tets": lambda: graded_tets(800),
    "stretched": lambda: stretched_tets(800),
    "surface": lambda: curved_quads(120, 30),
    "hexes": lambda: hexes(24, 12, 12),
    "mixed": lambda: hexes_to_tets(11),
}


# -- what is cut --------------------------------------------------------------------------------------------


def stripes(problem: Problem) -> Labels:
    """Bad labels: slices across the first axis, each in the order of the mesh's cells within, so many as parts."""
    order = np.argsort(problem.centroids[:, 0], kind="stable")
    labels = np.empty(problem.n_units, np.int32)
    labels[order] = np.arange(problem.n_units) * problem.nparts // problem.n_units
    return labels


def slanted(problem: Problem) -> Labels:
    """Worse labels: slices of growing size, a third of whose cells have labels drawn at random."""
    rank = np.argsort(np.argsort(problem.centroids.sum(axis=1), kind="stable"), kind="stable") / problem.n_units
    labels = (rank**1.3 * problem.nparts).astype(np.int32)
    drawn = np.random.default_rng(0).random((problem.n_units, 2))
    return np.where(drawn[:, 0] < 1 / 3, (drawn[:, 1] * problem.nparts).astype(np.int32), labels)


def drawn(problem: Problem) -> Labels:
    """The worst labels: each cell's drawn at random."""
    return np.random.default_rng(2).integers(0, problem.nparts, problem.n_units, np.int32)


def grown(problem: Problem) -> Labels:
    """Uneven labels: every cell goes to the seed it is nearest to, of as many as parts, drawn at random."""
    seeds = np.random.default_rng(1).choice(problem.n_units, problem.nparts, replace=False)
    apart = np.linalg.norm(problem.centroids[:, None] - problem.centroids[seeds], axis=2)
    return apart.argmin(axis=1).astype(np.int32)


def by(method: str | Callable[[Problem], Labels], imbalance: float, *, absorb: bool = False) -> Cut:
    """Return what cuts by a method; `absorb` hands the fragments of its parts to neighbours."""
    chosen = method if isinstance(method, str) else Method(method.__name__, method, leaves_fragments=absorb)

    def cut(mesh: Mesh, nparts: int) -> Labels:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MeshpartWarning)  # of parts above the bound, which the cut does not tell
            return partition_labels(mesh, nparts, method=chosen, imbalance=imbalance)

    return cut


CUTS: Mapping[str, Cut] = {
    "sfc": by("sfc", 0.03),
    "repair of slanted, 0": by(slanted, 0.0),
    "repair of slanted, 0.03": by(slanted, 0.03),
    "absorb slanted, 0": by(slanted, 0.0, absorb=True),
    "absorb slanted, 0.03": by(slanted, 0.03, absorb=True),
    "absorb drawn, 0.03": by(drawn, 0.03, absorb=True),
    "repair of grown, 0": by(grown, 0.0),
    "repair of grown, 0.03": by(grown, 0.03),
    "absorb grown, 0.03": by(grown, 0.03, absorb=True),
}

# -- what is recorded ---------------------------------------------------------------------------------------

RECORDED = """
                        | triangles | tets | stretched | surface | hexes | mixed
sfc                     |       404 | 1446 |      1417 |     607 |  1535 |  1640
repair of slanted, 0    |      3804 | 3871 |      3492 |    2725 |  3166 |  4556
repair of slanted, 0.03 |      4052 | 4183 |      3651 |    2760 |  2796 |  4689
absorb slanted, 0       |       669 | 2177 |      1772 |     551 |  3884 |  2362
absorb slanted, 0.03    |       580 | 1925 |      1773 |     551 |  3156 |  2263
absorb drawn, 0.03      |       505 | 1860 |      1686 |     485 |  2568 |  1937
repair of grown, 0      |       476 | 1297 |      1267 |     449 |  1647 |  1336
repair of grown, 0.03   |       449 | 1263 |      1214 |     448 |  1480 |  1373
absorb grown, 0.03      |       551 | 1252 |      1298 |     443 |  1471 |  1373
"""


def recorded() -> dict[str, dict[str, int]]:
    """Return the edge cuts above, by mesh, by what cuts."""
    head, *rows = [[entry.strip() for entry in line.split("|")] for line in RECORDED.strip().splitlines()]
    return {name: dict(zip(head[1:], map(int, cuts), strict=True)) for name, *cuts in rows}


def found(cut: Cut) -> dict[str, int]:
    """Return the edge cut on each mesh."""
    cuts = {}
    for name, make in MESHES.items():
        mesh = make()
        cuts[name] = quality(mesh, cut(mesh, NPARTS), NPARTS).edge_cut
    return cuts


def verdict(cuts: Mapping[str, int], before: Mapping[str, int]) -> str:
    """Return what is to be said of edge cuts; nothing where they are about as recorded."""
    ratios = {name: cuts[name] / before[name] for name in before}
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    told = ", ".join(f"{name} {cuts[name]} (recorded: {before[name]})" for name in before if cuts[name] != before[name])
    if max(ratios.values()) > WORSE or mean > WORSE_ON_AVERAGE:
        return f"cut {mean:.4f} times what is recorded: {told}"
    if mean < BETTER_ON_AVERAGE:
        return f"better than recorded, {mean:.4f} times: record it, `python {Path(__file__).name}` prints it: {told}"
    return ""


# -- the guard ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CUTS)
def test_no_cut_is_notably_worse_than_recorded(name: str) -> None:
    told = verdict(found(CUTS[name]), recorded()[name])
    assert not told, told


def test_what_is_recorded_is_of_these_cuts_and_meshes() -> None:
    assert list(recorded()) == list(CUTS)
    assert all(list(row) == list(MESHES) for row in recorded().values())


def test_a_worse_curve_fails() -> None:
    told = verdict(found(by(stripes, 0.03)), recorded()["sfc"])
    assert told.startswith("cut ")


def test_a_repair_at_random_fails() -> None:
    """Cells that must go go to any part, and not to the one where they cost the least."""

    def at_random(mesh: Mesh, nparts: int) -> Labels:
        labels = by(grown, 0.03)(mesh, nparts).copy()
        moved = np.random.default_rng(0).random(len(labels)) < 0.02
        labels[moved] = np.random.default_rng(1).integers(0, nparts, moved.sum())
        return labels

    assert verdict(found(at_random), recorded()["repair of grown, 0.03"]).startswith("cut ")


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"a": 1020}, ""), ({"a": 1021}, "cut 1.0"), ({"a": 1006, "b": 1006}, "cut 1.0"), ({"b": 900}, "better")],
)
def test_the_limits_are_two_percent_of_one_and_half_a_percent_of_all(changed: dict[str, int], told: str) -> None:
    before = {name: 1000 for name in "abcdef" if name in "ab" or len(changed) == 1}
    said = verdict(before | changed, before)
    assert said.startswith(told)
    assert bool(said) == bool(told)


def _print() -> None:
    lines = [["", *MESHES], *([name, *map(str, found(cut).values())] for name, cut in CUTS.items())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *cuts in lines:
        row = [f"{name:<{widths[0]}}", *(f"{cut:>{width}}" for cut, width in zip(cuts, widths[1:], strict=True))]
        sys.stdout.write(" | ".join(row).rstrip() + "\n")


if __name__ == "__main__":
    _print()
