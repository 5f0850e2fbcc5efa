"""Two Hilbert cuts beside each other, meshpart's and meshioplusplus', over many numbers of parts. See README.md.

python benchmarks/curves.py [--quick] [--cells 200000] [--meshes DIR]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean

import numpy as np
import numpy.typing as npt
from cases import CASES, read_folder
from report import heading, machine, require_peer, table

import meshpart
from meshpart.methods import Method

try:
    import meshioplusplus  # here, so that its import is not part of what a call takes
except ImportError:
    meshioplusplus = None  # whoever uses it asks first

PARTS = tuple(int(count) for count in np.random.default_rng(0).choice(np.arange(4, 200), 20, replace=False))


def meshioplusplus_curve(problem: meshpart.Problem) -> npt.NDArray[np.int64]:
    """Return the labels of meshioplusplus' Hilbert cut, which counts attached cells as load."""
    mesh = problem.units.mesh
    theirs = meshioplusplus.Mesh(mesh.points, [(block.type, block.nodes) for block in mesh.blocks])
    labels = meshioplusplus.partition_labels(theirs, problem.nparts, method="sfc")
    return np.concatenate(labels)[problem.units.cells]


MESHIOPLUSPLUS = Method("meshio++ sfc", meshioplusplus_curve, (), package="meshioplusplus")


def main() -> None:
    """Cut every case into each number of parts by both, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells")
    parser.add_argument("--cells", type=int, default=200_000)
    parser.add_argument("--meshes", type=Path, metavar="DIR", help="a folder of mesh files to cut as well")
    asked = parser.parse_args()
    require_peer()
    print(heading(machine(), sys.argv), flush=True)
    print(f"\n**{len(PARTS)} numbers of parts, drawn from 4 to 199: edge cut, meshpart's / meshioplusplus'**\n")
    rows, every = [], []
    for name, mesh in meshes(asked.cells // 10 if asked.quick else asked.cells, asked.meshes):
        ratios = [cut_ratio(mesh, parts) for parts in PARTS]
        every += ratios
        rows.append(row(name, str(mesh.n_cells), ratios))
    print(table(("mesh", "cells", "geometric mean", "least", "most"), [*rows, row("**all**", "", every)]))


def meshes(cells: int, folder: Path | None) -> Iterator[tuple[str, meshpart.Mesh]]:
    """Yield named meshes: those that are made here, and those of a folder."""
    for name, case in CASES.items():
        yield name, meshpart.Mesh(*case.make(cells))
    for name, _, mesh in read_folder(folder) if folder else ():
        yield name, mesh


def cut_ratio(mesh: meshpart.Mesh, parts: int) -> float:
    """Return the edge cut of meshpart's Hilbert cut by that of meshioplusplus'."""
    ours = meshpart.partition_labels(mesh, parts, method="sfc")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", meshpart.MeshpartWarning
        )  # of parts that are too heavy, where cells are attached
        theirs = meshpart.partition_labels(mesh, parts, method=MESHIOPLUSPLUS, repair=False)
    return meshpart.quality(mesh, ours, parts).edge_cut / meshpart.quality(mesh, theirs, parts).edge_cut


def row(name: str, cells: str, ratios: list[float]) -> tuple[str, ...]:
    """Return a row of the table."""
    return name, cells, f"**{geometric_mean(ratios):.3f}**", f"{min(ratios):.3f}", f"{max(ratios):.3f}"


if __name__ == "__main__":
    main()
