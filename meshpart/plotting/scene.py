"""What is in a picture: polygons, lines and dots, each of a class of cells that look alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Array, Ids, Labels
from meshpart.cells import cell_type
from meshpart.errors import MeshError
from meshpart.mesh import Mesh
from meshpart.plotting.colours import touching_parts
from meshpart.plotting.sides import NOTHING, Rings, edges_around, joined, numbered, outer, rings_of, sides_of

ROOM_FOR_EDGES = 70  # pixels of the picture for each polygon, from where on edges are drawn unasked

Coordinates = npt.NDArray[np.float64]

SHARP = np.cos(np.radians(35.0))  # an edge of a solid's surface is drawn where its sides meet at a greater angle


class Piece(NamedTuple):
    """A mesh, or one part of one, with what its cells look like; arrays of cells are block after block."""

    mesh: Mesh
    shown: npt.NDArray[np.bool_]  # (n_cells,)
    labels: Labels  # (n_cells,): the parts that own the cells
    classes: Ids  # (n_cells,)
    point_ids: Ids  # (n_points,): of all pieces together


class Look(NamedTuple):
    """How the cells of a class look."""

    name: str
    colour: tuple[float, float, float]
    opacity: float = 1.0  # in space, that what is behind may be seen
    hatched: bool = False  # on paper
    faint: bool = False  # so are its lines


class Shapes(NamedTuple):
    """Polygons, or lines, or dots."""

    corners: Ids  # (n, width): rows of `Scene.points`, then NOTHING
    classes: Ids  # (n,)


class Scene(NamedTuple):
    """A picture to be."""

    points: Coordinates  # (n, 2) of a flat one, else (n, 3)
    polygons: Shapes
    lines: Shapes
    dots: Shapes
    edges: Shapes  # of the polygons, each once, of the lowest class of these
    borders: Shapes  # edges between parts, or at the end of one, or sharp ones
    looks: Sequence[Look]

    @property
    def is_flat(self) -> bool:
        """Whether it is drawn as it is, on paper."""
        return len(self.points.T) == 2


class _Cells(NamedTuple):
    """The outlines of the cells of all pieces, by dimension, with points of all pieces together."""

    corners: Ids
    cells: Ids  # numbered through all pieces
    labels: Labels
    classes: Ids

    def take(self, rows: npt.NDArray[np.bool_]) -> _Cells:
        """Return chosen rows."""
        return _Cells(self.corners[rows], self.cells[rows], self.labels[rows], self.classes[rows])


def scene_of(
    pieces: Sequence[Piece], points: Coordinates, looks: Sequence[Look], *, explode: float, around: int | None
) -> Scene:
    """Return what is in a picture.

    Parameters
    ----------
    pieces : sequence of Piece
    points : ndarray of float64, (n_points, 1|2|3)
        Of all pieces together.
    looks : sequence of Look
        By class.
    explode : float
        How far parts are moved apart: by so many times their distance from the middle.
    around : int, optional
        The part that stays where it is.

    Raises
    ------
    MeshError
        If a point of a cell is not finite.
    """
    by_dim = [_cells(pieces, dim) for dim in range(4)]
    see_through = any(look.opacity < 1 for look in looks)
    skin = _skin(by_dim[3], apart=explode > 0, see_through=see_through)
    polygons = _together(by_dim[2], skin)
    shown: Sequence[_Cells] = (by_dim[0], by_dim[1], polygons)
    points = _laid_flat(points, shown, solid=len(skin.corners) > 0)
    if explode > 0:
        centres = _centres(points, by_dim)
        middle = centres.mean(axis=0) if around is None else centres[around]
        points, shown = _moved(points, shown, explode * (centres - middle))
    edges, borders = _edges(points, shown[2])
    dots, lines, faces = (Shapes(own.corners, own.classes) for own in shown)
    return Scene(points, faces, lines, dots, edges, borders, looks)


def corner_parts(pieces: Sequence[Piece]) -> Ids:
    """Return the pairs of parts whose shown cells have a corner in common: int64, (n, 2)."""
    corners, labels = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for piece in pieces:
        shown = np.repeat(piece.shown, np.diff(piece.mesh.cell_offsets))
        corners.append(piece.point_ids[piece.mesh.cell_points[shown]])
        labels.append(np.repeat(piece.labels, np.diff(piece.mesh.cell_offsets))[shown])
    return touching_parts(np.concatenate(corners), np.concatenate(labels))


def colours_of(scene: Scene) -> Coordinates:
    """Return the colour of each class: float64, (n_classes, 3)."""
    return np.array([look.colour for look in scene.looks]).reshape(-1, 3)


def areas_and_normals(points: Coordinates, corners: Ids) -> tuple[Array, Coordinates]:
    """Return the area of each polygon, and its unit normal, or zeros; points have three coordinates."""
    first = points[corners[:, 0]]
    normals = np.zeros((len(corners), 3))
    for place in range(1, corners.shape[1] - 1):
        one, other = corners[:, place], corners[:, place + 1]
        both = other != NOTHING
        normals[both] += np.cross(points[one[both]] - first[both], points[other[both]] - first[both])
    lengths = np.linalg.norm(normals, axis=1)
    return lengths / 2, normals / np.where(lengths > 0, lengths, 1.0)[:, None]


# -- which cells --------------------------------------------------------------------------------------------


def _cells(pieces: Sequence[Piece], dim: int) -> _Cells:
    """Return the outlines of all shown cells of a dimension; of solids, those of all their sides."""
    rings, labels, classes = [], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    before = 0
    for piece in pieces:
        for number, block in enumerate(piece.mesh.blocks):
            first = int(piece.mesh.block_starts[number])
            shown = piece.shown[first : first + len(block)]
            if cell_type(block.type).dim != dim or not shown.any():
                continue
            of_block = sides_of(block) if dim == 3 else rings_of(block)
            chosen = shown[of_block.cells]
            corners, cells = of_block.corners[chosen], of_block.cells[chosen] + first
            rings.append(Rings(np.where(corners == NOTHING, NOTHING, piece.point_ids[corners]), cells + before))
            labels.append(piece.labels[cells])
            classes.append(piece.classes[cells])
        before += piece.mesh.n_cells
    corners, cells = joined(rings, min(dim + 1, 3))
    return _Cells(corners, cells, np.concatenate(labels), np.concatenate(classes))


def _skin(solids: _Cells, *, apart: bool, see_through: bool) -> _Cells:
    """Return the sides of solids that are to be seen.

    Where all is opaque and in place, these are the sides of the whole. Parts that are moved apart show what lies
    between them, on both; classes that one sees through show it once, as the first of the two.
    """
    bodies = solids.labels.astype(np.int64) if apart else np.zeros(len(solids.labels), np.int64)
    groups, _ = numbered(np.stack([bodies, solids.classes + (bodies.max(initial=0) + 1)], axis=1))
    seen = solids.take(outer(Rings(solids.corners, solids.cells), groups if see_through else bodies))
    if not see_through:
        return seen
    bodies = seen.labels.astype(np.int64) if apart else np.zeros(len(seen.labels), np.int64)
    sides, _ = numbered(seen.corners)
    order = np.lexsort((seen.classes, bodies, sides))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(sides[order]) != 0) | (np.diff(bodies[order]) != 0)
    chosen = np.zeros(len(order), bool)
    chosen[order[first]] = True
    return seen.take(chosen)


def _together(one: _Cells, other: _Cells) -> _Cells:
    corners, cells = joined([Rings(one.corners, one.cells), Rings(other.corners, other.cells)], 3)
    labels, classes = np.concatenate([one.labels, other.labels]), np.concatenate([one.classes, other.classes])
    return _Cells(corners, cells, labels, classes)


# -- where they are -----------------------------------------------------------------------------------------


def _laid_flat(points: Coordinates, shown: Sequence[_Cells], *, solid: bool) -> Coordinates:
    """Return two coordinates of each point where the others say nothing, else three."""
    used = np.zeros(len(points), bool)
    for cells in shown:
        used[cells.corners[cells.corners != NOTHING]] = True
    unknown = np.flatnonzero(used & ~np.all(np.isfinite(points), axis=1))
    if len(unknown):
        raise MeshError(f"point {unknown[0]} is at {points[unknown[0]].tolist()}, which no picture can show")
    axes = points.shape[1]
    if axes == 3 and not solid:
        extent = np.ptp(points[used], axis=0)
        level = np.flatnonzero(extent <= 1e-9 * extent.max())
        if len(level):
            return points[:, [axis for axis in range(3) if axis != level[-1]]]
    wanted = 3 if solid or axes == 3 else 2
    return np.pad(points, ((0, 0), (0, wanted - axes)))


def _centres(points: Coordinates, by_dim: Sequence[_Cells]) -> Coordinates:
    """Return the middle of the corners of each part; of parts without any, the middle of the others' middles."""
    nparts = max(int(cells.labels.max(initial=0)) for cells in by_dim) + 1
    count, total = np.zeros(nparts), np.zeros((nparts, points.shape[1]))
    for cells in by_dim:
        rows, places = np.nonzero(cells.corners != NOTHING)
        labels, corners = cells.labels[rows], points[cells.corners[rows, places]]
        count += np.bincount(labels, minlength=nparts)
        for axis in range(points.shape[1]):
            total[:, axis] += np.bincount(labels, corners[:, axis], minlength=nparts)
    there = count > 0
    centres = np.empty_like(total)
    centres[there] = total[there] / count[there, None]
    centres[~there] = centres[there].mean(axis=0)
    return centres


def _moved(points: Coordinates, shown: Sequence[_Cells], by: Coordinates) -> tuple[Coordinates, tuple[_Cells, ...]]:
    """Return points of each part alone, moved, and cells on these points."""
    places = [np.nonzero(cells.corners != NOTHING) for cells in shown]
    ends = np.concatenate([cells.corners[at] for cells, at in zip(shown, places, strict=True)])
    labels = np.concatenate([cells.labels[at[0]] for cells, at in zip(shown, places, strict=True)]).astype(np.int64)
    own, numbers = np.unique(labels * len(points) + ends, return_inverse=True)
    moved = points[own % len(points)] + by[own // len(points)]
    result, done = [], 0
    for cells, at in zip(shown, places, strict=True):
        corners = np.full(cells.corners.shape, NOTHING)
        corners[at] = numbers[done : done + len(at[0])]
        done += len(at[0])
        result.append(cells._replace(corners=corners))
    return moved, tuple(result)


# -- what lies between them ---------------------------------------------------------------------------------


def _edges(points: Coordinates, polygons: _Cells) -> tuple[Shapes, Shapes]:
    """Return the edges of polygons, each once, and those where something ends or turns."""
    ends, rings = edges_around(polygons.corners)
    if not len(ends):
        return Shapes(ends, rings), Shapes(ends, rings)
    numbers, _ = numbered(ends)
    order = np.argsort(numbers, kind="stable")
    first = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    last = np.append(first[1:], len(order)) - 1
    rings = rings[order]
    border = last - first != 1  # an end, or more than two polygons
    for values in (polygons.labels[rings], polygons.classes[rings]):
        border |= np.minimum.reduceat(values, first) != np.maximum.reduceat(values, first)
    if points.shape[1] == 3:
        _, normals = areas_and_normals(points, polygons.corners)
        border |= np.abs(np.sum(normals[rings[first]] * normals[rings[last]], axis=1)) < SHARP
    edges = Shapes(ends[order[first]], np.minimum.reduceat(polygons.classes[rings], first))
    return edges, Shapes(edges.corners[border], edges.classes[border])
