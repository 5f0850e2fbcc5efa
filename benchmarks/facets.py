"""Facets as sets of corner points, and what is counted with them; NumPy alone, to check a partitioner independently."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Blocks = list[tuple[str, Ids]]

FACETS = {  # by type: the corners of each facet, in the order of meshio's cells
    "triangle": [[0, 1], [1, 2], [2, 0]],
    "quad": [[0, 1], [1, 2], [2, 3], [3, 0]],
    "tetra": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    "hexahedron": [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]],
    "pyramid": [[0, 3, 2, 1], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
    "wedge": [[0, 2, 1], [3, 4, 5], [0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]],
}
SOLIDS = ("tetra", "hexahedron", "pyramid", "wedge")


def boundary(cells: Blocks) -> Blocks:
    """Return the facets that only one cell of a solid has: a block of triangles, one of quads, where there are any."""
    corners, _ = _facets(cells)
    order, equal = _runs(corners)
    shared = np.append(equal, False) | np.append(False, equal)
    alone = corners[np.sort(order[~shared])]
    split = {"triangle": alone[alone[:, 3] < 0, :3], "quad": alone[alone[:, 3] >= 0]}
    return [(kind, rows) for kind, rows in split.items() if len(rows)]


def pairs(cells: Blocks) -> tuple[Ids, Ids]:
    """Return the cells on either side of every facet that two cells share; cells of the highest dimension only.

    Cells are numbered through the blocks. In none of the cases do more than two cells share a facet.
    """
    corners, cell = _facets(cells)
    order, equal = _runs(corners)
    if np.any(equal[1:] & equal[:-1]):
        raise ValueError("more than two cells share a facet")
    return cell[order[:-1][equal]], cell[order[1:][equal]]


def edge_cut(shared: tuple[Ids, Ids], labels: npt.NDArray[np.integer]) -> int:
    """Return how many of the facets that `pairs` found lie between two parts."""
    first, second = shared
    return int(np.count_nonzero(labels[first] != labels[second]))


def shared_points(cells: Blocks, labels: npt.NDArray[np.integer]) -> int:
    """Return how many points lie on cells of more than one part, cells of all dimensions."""
    points = np.concatenate([rows.ravel() for _, rows in cells])
    parts = np.repeat(labels, np.concatenate([np.full(len(rows), rows.shape[1]) for _, rows in cells]))
    nparts = int(labels.max()) + 1
    of_point = np.unique(points * nparts + parts) // nparts
    return int(np.count_nonzero(np.bincount(of_point) > 1))


def _facets(cells: Blocks) -> tuple[Ids, Ids]:
    """Return the corners of all facets, (n, 4) with -1 for none, and the cell that each comes from."""
    solid = any(kind in SOLIDS for kind, _ in cells)
    corners, owners, start = [], [], 0
    for kind, rows in cells:
        for columns in FACETS[kind] if (kind in SOLIDS) == solid else []:
            facet = np.full((len(rows), 4), -1)
            facet[:, : len(columns)] = rows[:, columns]
            corners.append(facet)
            owners.append(np.arange(start, start + len(rows)))
        start += len(rows)
    return np.concatenate(corners), np.concatenate(owners)


def _runs(corners: Ids) -> tuple[Ids, npt.NDArray[np.bool_]]:
    """Return an order that puts equal sets of corners together, and whether each, but the first, equals the last."""
    sets = np.sort(corners, axis=1)
    order = np.lexsort(sets.T)
    in_order = sets[order]
    return order, np.all(in_order[1:] == in_order[:-1], axis=1)
