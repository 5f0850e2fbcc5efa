"""Named meshes, made here from a number of cells to aim at; seeded, and knowing nothing of any partitioner.

`CASES[name](n)` returns a mesh of about n cells. Boundary cells of a mixed mesh come on top.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from facets import boundary

Points = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


class RawMesh(NamedTuple):
    """What every library's own mesh can be made of."""

    points: Points  # (n_points, 2|3)
    cells: list[tuple[str, Ids]]  # blocks in meshio's layout


# -- structured ---------------------------------------------------------------------------------------------


def box_tets(n: int) -> RawMesh:
    """Return Kuhn tets of the unit cube: good for timing, too kind for quality, as a Hilbert curve finds planes."""
    return _kuhn_box(n, (1, 1, 1))


def long_tets(n: int) -> RawMesh:
    """Return Kuhn tets of a box of 30:1:1, as wide as they are long."""
    return _kuhn_box(n, (30, 1, 1))


def stretched_tets(n: int) -> RawMesh:
    """Return the cube's tets drawn out 30:1:1, each of them thirty times as long as it is wide."""
    points, cells = box_tets(n)
    return RawMesh(points * [30, 1, 1], cells)


def hexes(n: int) -> RawMesh:
    """Return hexahedra of a quarter of a thick pipe: radii 1 to 2, length 3."""
    counts = _counts(n, (1, 2.4, 3))
    grid, corners = _grid(*counts)
    radius, angle, along = (grid / counts * [1, np.pi / 2, 3]).T
    points = np.stack([(1 + radius) * np.cos(angle), (1 + radius) * np.sin(angle), along], axis=1)
    return RawMesh(points, [("hexahedron", corners[:, HEXAHEDRON])])


def mixed(n: int) -> RawMesh:
    """Return a box of 2:1:1, half hexahedra and half wedges, with all its boundary facets as cells."""
    counts = _counts(round(n * 2 / 3), (2, 1, 1))
    grid, corners = _grid(*counts)
    left = corners[:, 0] % (counts[0] + 1) < counts[0] // 2
    halves = corners[~left][:, [[0, 1, 3, 4, 5, 7], [0, 3, 2, 4, 7, 6]]]
    solids = [("hexahedron", corners[left][:, HEXAHEDRON]), ("wedge", halves.reshape(-1, 6))]
    return RawMesh(grid / counts * [2, 1, 1], solids + boundary(solids))


def flat_triangles(n: int) -> RawMesh:
    """Return triangles of the unit square with 2-D points: squares cut along a diagonal, inner points shaken."""
    return _shaken_triangles(n, (1, 1))


def channel_triangles(n: int) -> RawMesh:
    """Return the like of a channel of 5:1."""
    return _shaken_triangles(n, (5, 1))


def flat_triangles_in_space(n: int) -> RawMesh:
    """Return the triangles of the square with 3-D points, z = 0."""
    points, cells = flat_triangles(n)
    return RawMesh(np.pad(points, ((0, 0), (0, 1))), cells)


def oblique_triangles(n: int) -> RawMesh:
    """Return the triangles of the square, turned so that their plane lies obliquely in space."""
    points, cells = flat_triangles_in_space(n)
    turn, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))
    return RawMesh(points @ turn, cells)


# -- unstructured -------------------------------------------------------------------------------------------


def graded_tets(n: int) -> RawMesh:
    """Return Delaunay tets of random points in the unit cube, ever denser towards a point inside it."""
    return _delaunay("tetra", _graded_points(n / 6.7, (0.3, 0.4, 0.2)))


def graded_triangles(n: int) -> RawMesh:
    """Return Delaunay triangles of random points in the unit square, ever denser towards a point inside it."""
    return _delaunay("triangle", _graded_points(n / 2, (0.3, 0.4)))


CASES: dict[str, Callable[[int], RawMesh]] = {
    case.__name__: case
    for case in (
        box_tets,
        long_tets,
        stretched_tets,
        graded_tets,
        hexes,
        mixed,
        flat_triangles,
        channel_triangles,
        flat_triangles_in_space,
        oblique_triangles,
        graded_triangles,
    )
}


def fan_triangles(n: int) -> RawMesh:
    """Return n triangles around one point: every two of them share it. Not among `CASES`."""
    angle = np.arange(n) * (2 * np.pi / n)
    rim = np.arange(n)
    points = np.append([[0.0, 0.0]], np.stack([np.cos(angle), np.sin(angle)], axis=1), axis=0)
    return RawMesh(points, [("triangle", np.stack([np.zeros(n, np.int64), 1 + rim, 1 + (rim + 1) % n], axis=1))])


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


def loaded(file: Path) -> tuple[Points, list[tuple[str, Ids]]]:
    """Return the points and the blocks of a file."""
    with np.load(file) as arrays:
        return arrays["points"], [(kind, arrays[kind]) for kind in arrays if kind != "points"]


# -- how they are made --------------------------------------------------------------------------------------

HEXAHEDRON = [0, 1, 3, 2, 4, 5, 7, 6]  # meshio's order of a hexahedron's corners, as columns of `_grid`


def _counts(n: float, lengths: tuple[float, ...]) -> tuple[int, ...]:
    """Return how many of about n equal cubes lie along each side of a box."""
    size = (np.prod(lengths) / n) ** (1 / len(lengths))
    return tuple(max(1, round(length / size)) for length in lengths)


def _grid(*counts: int) -> tuple[Points, Ids]:
    """Return the points of a grid of unit cubes, x fastest, and each cube's corners, number x + 2y + 4z at column."""
    dim = len(counts)
    points = np.stack(np.meshgrid(*(np.arange(c + 1.0) for c in counts), indexing="ij"), -1)
    step = np.cumprod([1, *(c + 1 for c in counts[:-1])])
    lowest = sum(s * ids for s, ids in zip(step, np.meshgrid(*map(np.arange, counts), indexing="ij"), strict=True))
    bits = (np.arange(2**dim)[:, None] >> np.arange(dim)) & 1
    x_fastest = (*range(dim)[::-1], dim)
    return points.transpose(x_fastest).reshape(-1, dim), np.ravel(lowest, "F")[:, None] + bits @ step


def _kuhn(corners: Ids) -> Ids:
    """Return each cube cut into dim! simplices, which walk from its lowest corner to its highest along the axes."""
    dim = corners.shape[1].bit_length() - 1
    walks = [np.cumsum([0, *(1 << axis for axis in order)]) for order in permutations(range(dim))]
    return corners[:, walks].reshape(-1, dim + 1)


def _kuhn_box(n: int, lengths: tuple[float, float, float]) -> RawMesh:
    counts = _counts(n / 6, lengths)
    grid, corners = _grid(*counts)
    return RawMesh(grid / counts * lengths, [("tetra", _kuhn(corners))])


def _shaken_triangles(n: int, lengths: tuple[float, float]) -> RawMesh:
    counts = _counts(n / 2, lengths)
    grid, corners = _grid(*counts)
    inner = np.all((grid > 0) & (grid < counts), axis=1)
    shake = np.random.default_rng(1).uniform(-0.25, 0.25, grid.shape)
    return RawMesh((grid + shake * inner[:, None]) / counts * lengths, [("triangle", _kuhn(corners))])


def _graded_points(n: float, centre: tuple[float, ...]) -> Points:
    """Return random points of the unit cube, pulled to `centre` by factors of 1 to 50, each order alike often."""
    rng = np.random.default_rng(3)
    pull = 0.02 ** rng.random((round(n), 1))
    return centre + pull * (rng.random((round(n), len(centre))) - centre)


def _delaunay(kind: str, points: Points) -> RawMesh:
    """Return the Delaunay simplices of points, without the slivers at the hull."""
    from scipy.spatial import Delaunay

    net = Delaunay(points)
    simplices = net.simplices.astype(np.int64)
    simplices = simplices[_without_slivers(points[simplices], net.neighbors.astype(np.int64))]
    used, cells = np.unique(simplices, return_inverse=True)
    return RawMesh(points[used], [(kind, cells.reshape(simplices.shape))])


def _without_slivers(corners: Points, neighbours: Ids) -> npt.NDArray[np.bool_]:
    """Return which simplices stay when slivers that lie bare are taken away, one after another."""
    edges = corners[:, 1:] - corners[:, :1]
    spread = np.linalg.norm(corners.max(axis=1) - corners.min(axis=1), axis=1)
    sliver = np.abs(np.linalg.det(edges)) < 0.02 * spread ** corners.shape[2]
    kept = np.ones(len(corners), bool)
    while True:
        bare = ((neighbours < 0) | ~kept[neighbours]).any(axis=1)
        gone = kept & sliver & bare
        if not gone.any():
            return kept
        kept &= ~gone
