"""Shapes that are known to hurt: what has many of something that most meshes have few of. Seedless, made here.

`SHAPES[name](n)` returns a mesh of about n cells, with the sets that it has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cases import RawMesh, box_tets, shuffled
from facets import boundary

Ids = npt.NDArray[np.int64]


class Shape(NamedTuple):
    """A mesh in meshio's layout; rows of polygons are (nodes, offsets)."""

    points: npt.NDArray[np.float64]
    cells: list[tuple[str, Any]]
    cell_sets: dict[str, list[Ids]]
    point_sets: dict[str, Ids]


def plain(make: Callable[[int], RawMesh], n: int) -> Shape:
    """Return a mesh as it is."""
    return Shape(*make(n), {}, {})


def mixed_up(n: int) -> Shape:
    """Return tets numbered at random."""
    return Shape(*shuffled(box_tets(n), 0), {}, {})


def with_boundary(n: int) -> Shape:
    """Return tets, and their boundary facets as cells, which hang on them."""
    points, cells = box_tets(n)
    return Shape(points, cells + boundary(cells), {}, {})


def fan(n: int) -> Shape:
    """Return triangles around one point: every two of them share it."""
    angle, rim = np.arange(n) * (2 * np.pi / n), np.arange(n)
    points = np.append([[0.0, 0.0]], np.stack([np.cos(angle), np.sin(angle)], axis=1), axis=0)
    rows = np.stack([np.zeros(n, np.int64), 1 + rim, 1 + (rim + 1) % n], axis=1)
    return Shape(points, [("triangle", rows)], {}, {})


def strip(n: int) -> Shape:
    """Return quads in a row."""
    x, y = np.meshgrid(np.arange(n + 1.0), [0.0, 1.0])
    left = np.arange(n)
    rows = np.stack([left, left + 1, left + n + 2, left + n + 1], axis=1)
    return Shape(np.stack([x.ravel(), y.ravel()], axis=1), [("quad", rows)], {}, {})


def in_blocks(count: int, n: int) -> Shape:
    """Return tets in many blocks, pieces of their order."""
    points, ((kind, rows),) = box_tets(n)
    return Shape(points, [(kind, piece) for piece in np.array_split(rows, count)], {}, {})


def in_sets(count: int, n: int) -> Shape:
    """Return tets each of which, and of whose points, is in one of many cell sets and point sets."""
    points, cells = box_tets(n)
    rows, ids = (np.array_split(np.arange(len(entities)), count) for entities in (cells[0][1], points))
    names = [f"set {number}" for number in range(count)]
    cell_sets = {name: [members] for name, members in zip(names, rows, strict=True)}
    return Shape(points, cells, cell_sets, dict(zip(names, ids, strict=True)))


def polygons(n: int) -> Shape:
    """Return polygons of six and of four points in one block: bricks in a wall, every seventh of them cut in two."""
    wide = max(1, round(n**0.5))
    column, row = (ids.ravel() for ids in np.meshgrid(np.arange(wide), np.arange(max(1, n // wide))))
    per_row = 2 * wide + 2
    lower = row * per_row + 2 * column + row % 2
    corners = lower[:, None] + np.array([0, 1, 2, 2 + per_row, 1 + per_row, per_row])
    cut = np.arange(len(lower)) % 7 == 0
    halves = corners[cut][:, [[0, 1, 4, 5], [1, 2, 3, 4]]].reshape(-1, 4)
    whole = corners[~cut]
    nodes = np.concatenate([whole.ravel(), halves.ravel()])
    offsets = np.cumsum([0, *[6] * len(whole), *[4] * len(halves)])
    y, x = np.divmod(np.arange(per_row * (row.max() + 2)), per_row)
    return Shape(np.stack([x, y], axis=1).astype(float), [("polygon", (nodes, offsets))], {}, {})


MANY = (1, 30, 1000)  # blocks, or sets

SHAPES: dict[str, Callable[[int], Shape]] = {
    "tets": partial(plain, box_tets),
    "tets shuffled": mixed_up,
    "tets with their boundary": with_boundary,
    "fan of triangles": fan,
    "strip of quads": strip,
    "polygons": polygons,
    **{f"tets in {count} blocks": partial(in_blocks, count) for count in MANY},
    **{f"tets in {count} sets": partial(in_sets, count) for count in MANY},
}
