"""What every library's own mesh can be made of: points and blocks; joined, cut into tets, renumbered, stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Blocks = list[tuple[str, Ids]]


class RawMesh(NamedTuple):
    """Points, and blocks of cells in meshio's layout."""

    points: Points  # (n_points, 2|3)
    cells: Blocks


def side_by_side(meshes: Sequence[RawMesh]) -> RawMesh:
    """Return separate bodies as one mesh, in which they share no point: a block for each type of cell."""
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    blocks: dict[str, list[Ids]] = {}
    for start, mesh in zip(starts[:-1], meshes, strict=True):
        for kind, rows in mesh.cells:
            blocks.setdefault(kind, []).append(rows + start)
    cells = [(kind, np.concatenate(parts)) for kind, parts in blocks.items()]
    return RawMesh(np.concatenate([mesh.points for mesh in meshes]), cells)


def used(points: Points, cells: Blocks) -> RawMesh:
    """Return a mesh without the points that no cell has; the others keep their order."""
    kept = np.zeros(len(points), bool)
    for _, rows in cells:
        kept[rows] = True
    number = np.cumsum(kept) - 1
    return RawMesh(points[kept], [(kind, number[rows]) for kind, rows in cells])


def oriented(points: Points, simplices: Ids) -> Ids:
    """Return triangles of a plane, or tets, with the last two corners exchanged where their volume is negative."""
    edges = points[simplices[:, 1:]] - points[simplices[:, :1]]
    return np.where(
        (np.linalg.det(edges) < 0)[:, None], simplices[:, [*range(simplices.shape[1] - 2), -1, -2]], simplices
    )


def extruded(section: RawMesh, layers: int) -> RawMesh:
    """Return wedges over the triangles, and hexahedra over the quads, of a plane mesh, block after block.

    The third coordinate of a point is the number of its level, 0 to `layers`. Cells go block by block, layer by layer.
    """
    count = len(section.points)
    levels = np.arange(layers + 1.0)
    points = np.column_stack([np.tile(section.points, (layers + 1, 1)), np.repeat(levels, count)])
    below = np.arange(layers)[:, None, None] * count
    cells = []
    for kind, rows in section.cells:
        solids = np.concatenate([rows + below, rows + below + count], axis=2)
        cells.append(({"triangle": "wedge", "quad": "hexahedron"}[kind], solids.reshape(-1, 2 * rows.shape[1])))
    return RawMesh(points, cells)


def cut_into_tets(wedges: Ids) -> Ids:
    """Return three tets for each wedge, with the diagonal of each quad from its point of lowest id, as neighbours do.

    The table is that of Dompierre, Labbé, Vallet and Camarero, How to subdivide pyramids, prisms and hexahedra into
    tetrahedra, 8th International Meshing Roundtable, 1999.
    """
    turned = np.take_along_axis(wedges, LOWEST_FIRST[np.argmin(wedges, axis=1)], axis=1)
    from_1 = turned[:, [1, 5]].min(axis=1) < turned[:, [2, 4]].min(axis=1)
    tets = np.where(from_1[:, None], turned[:, [0, 1, 2, 5, 0, 1, 5, 4]], turned[:, [0, 1, 2, 4, 0, 4, 2, 5]])
    return np.concatenate([tets, turned[:, [0, 4, 5, 3]]], axis=1).reshape(-1, 4)


LOWEST_FIRST = np.array(  # a wedge's corners, with the first of them now here, now there
    [
        [0, 1, 2, 3, 4, 5],
        [1, 2, 0, 4, 5, 3],
        [2, 0, 1, 5, 3, 4],
        [3, 5, 4, 0, 2, 1],
        [4, 3, 5, 1, 0, 2],
        [5, 4, 3, 2, 1, 0],
    ]
)


# -- renumbered, stored -------------------------------------------------------------------------------------


def shuffled(mesh: RawMesh, seed: int) -> RawMesh:
    """Return the same mesh with its points, and the cells of each block, numbered at random."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(mesh.points))
    renamed = np.empty(len(order), np.int64)
    renamed[order] = np.arange(len(order))
    cells = [(kind, renamed[rows][rng.permutation(len(rows))]) for kind, rows in mesh.cells]
    return RawMesh(mesh.points[order], cells)


def stored(mesh: RawMesh, folder: Path, how: str = "in order") -> Path:
    """Write a mesh of one type of cell where the measuring processes find it; the name says what it is."""
    ((kind, rows),) = mesh.cells
    path = folder / f"{len(rows) / 1e6:.3g} M {'tets' if kind == 'tetra' else f'{kind}s'} {how}.npz"
    arrays: Any = {"points": mesh.points, kind: rows}
    np.savez(path, **arrays)
    return path


def loaded(file: Path) -> tuple[Points, Blocks]:
    """Return the points and the blocks of a file."""
    with np.load(file) as arrays:
        return arrays["points"], [(kind, arrays[kind]) for kind in arrays if kind != "points"]
