"""Whether a raw mesh is valid: volumes, directions, facets that match, bodies; slow and obvious where it can be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from facets import FACETS, SOLIDS, Blocks, boundary, pairs
from raw_mesh import RawMesh
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

CORNERS = {  # a corner, and those it is joined with, in an order that makes a tet of positive volume, or a triangle
    "triangle": [[0, 1, 2]],
    "quad": [[0, 1, 3], [1, 2, 0], [2, 3, 1], [3, 0, 2]],
    "tetra": [[0, 1, 2, 3]],
    "pyramid": [[0, 1, 3, 4], [1, 2, 0, 4], [2, 3, 1, 4], [3, 0, 2, 4]],
    "wedge": [[0, 1, 2, 3], [1, 2, 0, 4], [2, 0, 1, 5], [3, 5, 4, 0], [4, 3, 5, 1], [5, 4, 3, 2]],
    "hexahedron": [
        *([0, 1, 3, 4], [1, 2, 0, 5], [2, 3, 1, 6], [3, 0, 2, 7]),
        *([4, 7, 5, 0], [5, 4, 6, 1], [6, 5, 7, 2], [7, 6, 4, 3]),
    ],
}


def top_cells(mesh: RawMesh) -> Blocks:
    """Return the blocks of the highest dimension."""
    solids = [(kind, rows) for kind, rows in mesh.cells if kind in SOLIDS]
    return solids or mesh.cells


def corner_measures(mesh: RawMesh) -> Floats:
    """Return the volume or area that the edges of each corner of a top cell span; of surfaces in space, no sign."""
    found = []
    for kind, rows in top_cells(mesh):
        at, *others = mesh.points[rows[:, CORNERS[kind]]].transpose(2, 0, 1, 3)
        edges = np.stack([other - at for other in others], axis=-2)
        found.append(np.linalg.det(edges) if edges.shape[-2] == edges.shape[-1] else _areas(edges))
    return np.concatenate([found.ravel() for found in found])


def cell_measures(mesh: RawMesh) -> Floats:
    """Return the signed volume of solids, the signed area of cells with 2-D points, the area of others."""
    found = []
    for kind, rows in top_cells(mesh):
        corners = mesh.points[rows]
        if kind in SOLIDS:
            found.append(sum(_cone(corners[:, ring], corners.mean(axis=1)) for ring in FACETS[kind]))
        else:
            fans = np.stack([corners[:, 1:-1] - corners[:, :1], corners[:, 2:] - corners[:, :1]], axis=-2)
            areas = np.linalg.det(fans) if fans.shape[-1] == 2 else _areas(fans)
            found.append(areas.sum(axis=1) / 2)
    return np.concatenate(found)


def is_oriented(mesh: RawMesh) -> bool:
    """Whether no facet is run around in the same direction by two cells."""
    rings = []
    for kind, rows in top_cells(mesh):
        for facet in FACETS[kind]:
            ring = rows[:, facet]
            if len(facet) > 2:  # begin at the point of lowest id
                turn = (np.argmin(ring, axis=1)[:, None] + np.arange(len(facet))) % len(facet)
                ring = np.take_along_axis(ring, turn, axis=1)
            rings.append(np.pad(ring, ((0, 0), (0, 4 - len(facet))), constant_values=-1))
    return bool(np.unique(np.concatenate(rings), axis=0, return_counts=True)[1].max() == 1)


def is_conforming(cells: Blocks) -> bool:
    """Whether no facet has three cells, and the facets that have one make a surface, or a curve, without seams.

    Where facets do not match, those on either side are bare, and there are edges, or ends, with more than two of them.
    """
    try:
        pairs(cells)
    except ValueError:
        return False
    return bool((np.unique(np.concatenate(list(_rims(cells))), axis=0, return_counts=True)[1] == 2).all())


def bodies(mesh: RawMesh) -> Ids:
    """Return a number for each point, the same where points hang together by cells."""
    rows = [np.stack([rows[:, :-1], rows[:, 1:]], axis=-1).reshape(-1, 2) for _, rows in mesh.cells]
    first, second = np.concatenate(rows).T
    graph = coo_array((np.ones(len(first), bool), (first, second)), shape=(len(mesh.points), len(mesh.points)))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _rims(cells: Blocks) -> Iterator[Ids]:
    """Yield what bounds the facets that only one cell has: edges of polygons, ends of edges."""
    if any(kind in SOLIDS for kind, _ in cells):
        for kind, rows in boundary(cells):
            yield np.sort(rows[:, FACETS[kind]].reshape(-1, 2), axis=1)
    else:
        edges = np.concatenate([rows[:, FACETS[kind]].reshape(-1, 2) for kind, rows in cells])
        ends, times = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
        yield ends[times == 1].reshape(-1, 1)


def _areas(edges: Floats) -> Floats:
    return np.linalg.norm(np.cross(edges[..., 0, :], edges[..., 1, :]), axis=-1)


def _cone(ring: Floats, apex: Floats) -> Floats:
    """Return the volumes of cones over facets that are cut into triangles around their middles."""
    middle = ring.mean(axis=1, keepdims=True) - apex[:, None]
    corners = ring - apex[:, None]
    edges = np.stack([np.broadcast_to(middle, corners.shape), corners, np.roll(corners, -1, axis=1)], axis=-2)
    return np.linalg.det(edges).sum(axis=1) / 6
