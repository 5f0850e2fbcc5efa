"""How the methods compare: edge cut, ghosts and seconds, beside METIS on the same graphs. See README.md.

python benchmarks/methods.py [--quick] [--cells 200000] [--meshes FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from cases import CASES
from report import heading, machine, require_peer, table

import meshpart

Labels = npt.NDArray[np.int32]
PARTS = (8, 32, 128)
BASE = "kahip eco"


class Row(NamedTuple):
    """What one method makes of one mesh and one number of parts."""

    cut: int
    ghosts: int
    imbalance: float
    seconds: float


def main() -> None:
    """Cut every mesh by every method, and print the geometric means of what they take by what the first one takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells")
    parser.add_argument("--cells", type=int, default=200_000)
    parser.add_argument("--meshes", type=Path, help="a folder of mesh files to use as well")
    asked = parser.parse_args()
    require_peer("pymetis")
    print(heading(machine(), sys.argv), flush=True)
    found: dict[str, list[Row]] = {name: [] for name in METHODS}
    print("\n**Edge cut and seconds, mesh by mesh, 32 parts**\n", flush=True)
    lines = []
    for name, mesh in meshes(asked.cells // 10 if asked.quick else asked.cells, asked.meshes):
        mesh.kinds  # noqa: B018  (what is computed once belongs to no method)
        for parts in PARTS:
            for method, rows in found.items():
                rows.append(measured(mesh, parts, METHODS[method]))
            if parts == 32:
                lines.append(
                    (name, str(mesh.n_cells), *(f"{rows[-1].cut} / {rows[-1].seconds:.2f}" for rows in found.values()))
                )
    print(table(("mesh", "cells", *found), lines))
    print(
        f"\n**Geometric means over {len(lines)} meshes and {PARTS} parts, relative to {BASE}; the largest imbalance**\n"
    )
    print(table(("method", "edge cut", "ghosts", "seconds", "imbalance"), map(means, found, [found] * len(found))))


def meshes(n: int, folder: Path | None) -> Iterator[tuple[str, meshpart.Mesh]]:
    """Yield named meshes: those made here, and those of a folder."""
    for name, case in CASES.items():
        yield name, meshpart.Mesh(*case(n))
    for path in sorted(folder.iterdir()) if folder else ():
        if path.suffix == ".vtu":
            yield path.stem, meshpart.read(path)


def measured(mesh: meshpart.Mesh, parts: int, method: Callable[[meshpart.Mesh, int], Labels]) -> Row:
    """Return what a method makes of a mesh."""
    start = time.perf_counter()
    labels = method(mesh, parts)
    seconds = time.perf_counter() - start
    found = meshpart.quality(mesh, labels, parts)
    return Row(found.edge_cut, int(found.part_ghosts.sum()), found.imbalance, seconds)


def means(method: str, found: dict[str, list[Row]]) -> tuple[str, ...]:
    """Return the row of one method."""
    pairs = list(zip(found[method], found[BASE], strict=True))
    ratios = (geometric_mean(mine[k] / base[k] for mine, base in pairs) for k in (0, 1, 3))
    return method, *(f"{ratio:.3f}" for ratio in ratios), f"{100 * max(mine.imbalance for mine, _ in pairs):.2f} %"


# -- the methods --------------------------------------------------------------------------------------------


def ours(method: str, mode: str = "eco") -> Callable[[meshpart.Mesh, int], Labels]:
    """Return the call of one of meshpart's methods."""
    return lambda mesh, parts: meshpart.partition_labels(mesh, parts, method=method, mode=mode)


def metis(mesh: meshpart.Mesh, parts: int) -> Labels:
    """Return the labels of METIS' k-way method on the same dual graph, attached cells left out."""
    import pymetis

    def labels_of(problem: meshpart.Problem) -> Labels:
        graph = problem.graph
        adjacency = pymetis.CSRAdjacency(graph.offsets.astype(np.int32), graph.targets.astype(np.int32))
        options = pymetis.Options(seed=0, ufactor=30)
        _, labels = pymetis.part_graph(problem.nparts, adjacency, options=options, recursive=False)
        return np.array(labels, np.int32)

    return meshpart.partition_labels(mesh, parts, method=labels_of, repair=False)


METHODS = {
    BASE: ours("kahip"),
    "kahip fast": ours("kahip", "fast"),
    "sfc": ours("sfc"),
    "METIS k-way": metis,
}


if __name__ == "__main__":
    main()
