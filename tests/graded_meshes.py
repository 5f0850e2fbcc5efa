"""Small meshes as people have them, seeded: graded, stretched, curved, of several types."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from meshes import cube_rows, grid_points, quad_rows
from scipy.spatial import Delaunay

from meshpart import Mesh

Points = npt.NDArray[np.float64]


def graded_triangles(n_points: int, seed: int = 0) -> Mesh:
    """Return triangles in a square, the smaller the nearer to a corner, with lines on the boundary."""
    points = np.concatenate([_graded(n_points, 2, seed), [[0, 0], [1, 0], [0, 1], [1, 1]]])
    found = Delaunay(points)
    return Mesh(points, [("triangle", found.simplices.astype(np.int64)), ("line", found.convex_hull.astype(np.int64))])


def graded_tets(n_points: int, seed: int = 0) -> Mesh:
    """Return tetrahedra in a cube, the smaller the nearer to a corner."""
    points = np.concatenate([_graded(n_points, 3, seed), grid_points(1, 1, 1)])
    return _tets(points)


def stretched_tets(n_points: int, seed: int = 0) -> Mesh:
    """Return tetrahedra in a box of 12 x 3 x 1."""
    points = np.random.default_rng(seed).random((n_points, 3))
    return _tets(np.concatenate([points, grid_points(1, 1, 1)]) * [12, 3, 1])


def curved_quads(nx: int, ny: int) -> Mesh:
    """Return quads on a thin surface: a spiral of one and a half turns."""
    points = grid_points(nx, ny)
    angle, height = 3 * np.pi * points[:, 0] / nx, points[:, 1] / ny
    radius = 1 + angle / 4
    curved = np.stack([radius * np.cos(angle), radius * np.sin(angle), 2 * height], axis=1)
    return Mesh(curved, [("quad", quad_rows(nx, ny))])


def hexes(nx: int, ny: int, nz: int) -> Mesh:
    """Return hexahedra that are the flatter the nearer to the bottom, in a bent channel."""
    x, y, z = grid_points(nx, ny, nz).T / [[nx], [ny], [nz]]
    angle = np.pi / 2 * x
    points = np.stack([(2 + y) * np.cos(angle), (2 + y) * np.sin(angle), 0.7 * z**2], axis=1)
    return Mesh(points, [("hexahedron", cube_rows(nx, ny, nz))])


def hexes_to_tets(n: int) -> Mesh:
    """Return n x n x n cubes: hexahedra below, six tetrahedra each above, and a layer with pyramids between them."""
    rows, points = cube_rows(n, n, n), grid_points(n, n, n)
    lower, between, upper = np.split(rows, [n * n * (n // 2), n * n * (n // 2 + 1)])
    middle = len(points) + np.arange(len(between)).reshape(-1, 1)
    pyramids = np.hstack([between[:, :4], middle])
    around = np.hstack([between[:, SIDES].reshape(-1, 3), np.repeat(middle, len(SIDES), axis=0)])
    tets = np.concatenate([around, upper[:, PATHS].reshape(-1, 4)])
    everywhere = np.concatenate([points, points[between].mean(axis=1)])
    return Mesh(everywhere, [("hexahedron", lower), ("pyramid", pyramids), ("tetra", tets)])


# Of a cube, the triangles on all sides but the lowest, and the tetrahedra, with the diagonals from the lowest corner of
# each side to its highest.
SIDES = np.array(
    [[0, 3, 7], [0, 7, 4], [1, 2, 6], [1, 6, 5], [0, 1, 5], [0, 5, 4], [3, 2, 6], [3, 6, 7], [4, 5, 6], [4, 6, 7]]
)
PATHS = np.array([[0, 1, 2, 6], [0, 1, 5, 6], [0, 3, 2, 6], [0, 3, 7, 6], [0, 4, 5, 6], [0, 4, 7, 6]])


def _graded(n_points: int, dim: int, seed: int) -> Points:
    return np.random.default_rng(seed).random((n_points, dim)) ** 2


def _tets(points: Points) -> Mesh:
    """Return the Delaunay tetrahedra of points, without those of no volume."""
    tets = Delaunay(points).simplices.astype(np.int64)
    first, *edges = (points[tets[:, corner]] for corner in range(4))
    volumes = np.abs(np.linalg.det(np.stack([edge - first for edge in edges], axis=1)))
    return Mesh(points, [("tetra", tets[volumes > 1e-12])])
