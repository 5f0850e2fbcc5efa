"""How well meshes are cut: the Hilbert cut beside meshioplusplus' on the same meshes. See README.md.

python benchmarks/quality.py [--quick] [--cells 200000]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import geometric_mean

import numpy as np
import numpy.typing as npt
from cases import CASES, RawMesh
from facets import edge_cut, pairs, shared_points
from report import heading, machine, require_peer, table

Labels = npt.NDArray[np.int64]
PARTS = (8, 32, 128)
MANY_PARTS = tuple(int(count) for count in np.random.default_rng(0).choice(np.arange(4, 200), 20, replace=False))
GROUPS = {
    "elongated and planar": (
        "long_tets",
        "flat_triangles",
        "channel_triangles",
        "flat_triangles_in_space",
        "oblique_triangles",
        "graded_triangles",
    ),
    "all": tuple(CASES),
}


@dataclass(frozen=True)
class Row:
    """What the two libraries make of one mesh and one number of parts."""

    case: str
    cells: int
    parts: int
    our_cut: int
    their_cut: int
    our_points: int
    their_points: int

    @property
    def cut_ratio(self) -> float:
        """Ours by theirs."""
        return self.our_cut / self.their_cut

    @property
    def points_ratio(self) -> float:
        """Ours by theirs."""
        return self.our_points / self.their_points


def main() -> None:
    """Cut every case, and print two tables and what is worse than the rival's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells")
    parser.add_argument("--cells", type=int, default=200_000)
    asked = parser.parse_args()
    require_peer()
    print(heading(machine(), sys.argv), flush=True)

    rows, ranges = [], []
    for name, case in CASES.items():
        mesh = case(asked.cells // 10 if asked.quick else asked.cells)
        shared = pairs(mesh.cells)
        rows += [compared(name, mesh, shared, parts) for parts in PARTS]
        ranges.append((name, [cut_ratio(mesh, shared, parts) for parts in MANY_PARTS]))

    print("\n**Three numbers of parts**\n\n" + one_by_one(rows))
    worse = [f"{row.case} into {row.parts}" for row in rows if max(row.cut_ratio, row.points_ratio) > 1]
    print(f"\nOurs is worse in {len(worse)} of {len(rows)} rows: {', '.join(worse) or 'none'}.")
    print(f"\n**{len(MANY_PARTS)} numbers of parts, drawn from 4 to 199: edge cut, ours / theirs**\n")
    print(table(("mesh", "geometric mean", "least", "most"), map(range_row, ranges)))


# -- measurements -------------------------------------------------------------------------------------------


def compared(case: str, mesh: RawMesh, shared: tuple[Labels, Labels], parts: int) -> Row:
    """Return the row of one mesh and number of parts; `shared` are the pairs of cells with a common facet."""
    ours, theirs = our_labels(mesh, parts), their_labels(mesh, parts)
    cuts = edge_cut(shared, ours), edge_cut(shared, theirs)
    points = shared_points(mesh.cells, ours), shared_points(mesh.cells, theirs)
    return Row(case, len(ours), parts, *cuts, *points)


def cut_ratio(mesh: RawMesh, shared: tuple[Labels, Labels], parts: int) -> float:
    """Return the edge cut, ours by theirs."""
    return edge_cut(shared, our_labels(mesh, parts)) / edge_cut(shared, their_labels(mesh, parts))


def our_labels(mesh: RawMesh, parts: int) -> Labels:
    """Return the labels of meshpart's Hilbert cut."""
    import meshio

    import meshpart

    return meshpart.partition_labels(meshio.Mesh(*mesh), parts, method="sfc").astype(np.int64)


def their_labels(mesh: RawMesh, parts: int) -> Labels:
    """Return the labels of meshioplusplus' Hilbert cut."""
    import meshioplusplus

    return np.concatenate(meshioplusplus.partition_labels(meshioplusplus.Mesh(*mesh), parts, method="sfc"))


# -- tables -------------------------------------------------------------------------------------------------


def one_by_one(rows: list[Row]) -> str:
    """Return the table of all rows, and the geometric mean of the ratios of each group of cases."""
    heads = ("mesh", "cells", "parts", "cut ours", "theirs", "ratio", "shared points ours", "theirs", "ratio")
    means = []
    for group, names in GROUPS.items():
        chosen = [row for row in rows if row.case in names]
        cut, points = mean(row.cut_ratio for row in chosen), mean(row.points_ratio for row in chosen)
        means.append((f"**{group}, geometric mean**", "", "", "", "", cut, "", "", points))
    return table(heads, [*map(figures, rows), *means])


def figures(row: Row) -> tuple[str, ...]:
    """Return a row as text."""
    cut = str(row.our_cut), str(row.their_cut), f"{row.cut_ratio:.3f}"
    points = str(row.our_points), str(row.their_points), f"{row.points_ratio:.3f}"
    return row.case, str(row.cells), str(row.parts), *cut, *points


def mean(ratios: Iterable[float]) -> str:
    """Return a geometric mean in bold."""
    return f"**{geometric_mean(ratios):.3f}**"


def range_row(named: tuple[str, list[float]]) -> tuple[str, ...]:
    """Return a case and its ratios' mean, least and most."""
    name, ratios = named
    return name, mean(ratios), f"{min(ratios):.3f}", f"{max(ratios):.3f}"


if __name__ == "__main__":
    main()
