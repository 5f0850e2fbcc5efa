"""Meshes of several types of cells: all facets match, and those of a solid that are bare are cells too."""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np
from facets import boundary
from planar import Region, triangulated
from raw_mesh import Ids, Points, RawMesh
from structured import HEXAHEDRON, WEDGES, counts_for, grid, growth_of, kuhn, rings


def mixed(n: int) -> RawMesh:
    """Return a box of 2:1:1, half hexahedra and half wedges, with all its boundary facets as cells."""
    counts = counts_for(round(n * 2 / 3), (2, 1, 1))
    points, corners = grid(*counts)
    left = corners[:, 0] % (counts[0] + 1) < counts[0] // 2
    halves = corners[~left][:, WEDGES]
    solids = [("hexahedron", corners[left][:, HEXAHEDRON]), ("wedge", halves.reshape(-1, 6))]
    return RawMesh(points / counts * [2, 1, 1], solids + boundary(solids))


def hex_core(n: int) -> RawMesh:
    """Return a bent duct: hexahedra in its core, wedges on its floor, tets between, pyramids and all boundary facets.

    Each bare quad of the core carries a pyramid, whose apex is the middle of a cube; the cube's other five sides are
    the bases of two tets each. The cubes beyond are Kuhn's six tets. Points that only tets have are shaken.
    """
    layout = _layout_for(n)
    points, corners = grid(*layout.counts)
    cells = np.stack(np.unravel_index(np.arange(len(corners)), layout.counts, order="F"), axis=1)
    below, above = np.maximum(layout.low - cells, 0), np.maximum(cells - layout.high + 1, 0)
    from_core = (below + above).sum(axis=1)
    on_floor = cells[:, 2] < layout.floor
    beside = (from_core == 1) & ~on_floor
    towards_core = 2 * np.argmax(below + above, axis=1) + below.any(axis=1)  # a row of SIDES
    firm = corners[(from_core == 0) | on_floor]
    points = _placed(points, layout, firm)
    middles = len(points) + np.arange(np.count_nonzero(beside))
    pyramids, tets = _around_core(corners[beside], middles, towards_core[beside])
    solids = [
        ("hexahedron", corners[from_core == 0][:, HEXAHEDRON]),
        ("pyramid", pyramids),
        ("wedge", corners[on_floor][:, WEDGES].reshape(-1, 6)),
        ("tetra", np.concatenate([tets, kuhn(corners[(from_core > 1) & ~on_floor])])),
    ]
    points = _bent(np.concatenate([points, points[corners[beside]].mean(axis=1)]))
    return RawMesh(points, solids + boundary(solids))


CYLINDER, LAYERS_FROM = (0.35, 0.5), (0.05, 0.1)  # its centre, its radius and that of the outermost layer


def planar_hybrid(n: int) -> RawMesh:
    """Return quads in layers around a cylinder, and Delaunay triangles around them that fill the unit square.

    Three cells of ten are quads; at the wall they are twenty times as long as they are thick.
    """
    radius, outermost = LAYERS_FROM
    region = Region(None, ((*CYLINDER, outermost),))
    points, ((_, triangles),) = triangulated(region, 0.7 * n, lambda points: region.from_holes(points) + 0.08)
    spokes = points - CYLINDER
    rim = np.flatnonzero(np.linalg.norm(spokes, axis=1) < outermost * (1 + 1e-9))
    rim = rim[np.argsort(np.arctan2(spokes[rim, 1], spokes[rim, 0]))]
    layers = max(2, round(0.3 * n / len(rim)))
    thickness = growth_of(2 * np.pi * radius / len(rim) / 20, layers, outermost - radius) ** np.arange(layers)
    inwards = np.append(0, np.cumsum(thickness))[:-1] / thickness.sum()  # 0 at the wall
    scale = (radius + (outermost - radius) * inwards) / outermost
    inner = (CYLINDER + scale[:, None, None] * spokes[rim]).reshape(-1, 2)
    ids = np.append(len(points) + np.arange(len(inner)), rim)
    return RawMesh(np.concatenate([points, inner]), [("triangle", triangles), ("quad", ids[rings(len(rim), layers)])])


# -- the duct -----------------------------------------------------------------------------------------------

SIDES = np.array(  # of a cube, as columns of `grid`: counterclockwise as seen from inside, the lowest corner first
    [[0, 2, 6, 4], [1, 5, 7, 3], [0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5]]
)
FLOOR = 0.08  # the height of the wedges; the duct is 1 wide and high


class Layout(NamedTuple):
    """How many cubes the duct has, in how many layers they are cut into wedges, and which of them are the core."""

    counts: tuple[int, int, int]
    floor: int
    low: Ids  # (3,): the first cube of the core along each axis
    high: Ids  # (3,): the one after its last

    @property
    def n_cells(self) -> int:
        """How many solids the duct has."""
        long, wide, high = (int(length) for length in self.high - self.low)
        core, beside = long * wide * high, 2 * (long * wide + wide * high + high * long)
        on_floor = self.counts[0] * self.counts[1] * self.floor
        rest = self.counts[0] * self.counts[1] * self.counts[2] - core - beside - on_floor
        return core + 11 * beside + 2 * on_floor + 6 * rest


def _layout_for(n: int) -> Layout:
    """Return the layout that has about n cells."""
    width = max(5, round((n / 7) ** (1 / 3)))
    margin, floor = max(1, round(0.1 * width)), max(1, round(0.2 * width))
    layouts = [
        Layout(counts, floor, np.array([margin, margin, floor + margin]), np.array(counts) - margin)
        for counts in ((length, width, width) for length in range(2 * margin + 1, 8 * width))
    ]
    return min(layouts, key=lambda layout: abs(log(layout.n_cells / n)))


def _around_core(corners: Ids, middles: Ids, towards_core: Ids) -> tuple[Ids, Ids]:
    """Return the pyramid of each cube beside the core, and its ten tets."""
    sides = corners[:, SIDES]  # (n, 6, 4)
    to_core = np.arange(6) == towards_core[:, None]
    middle = np.broadcast_to(middles[:, None, None], (len(corners), 6, 1))
    pyramids = np.concatenate([sides, middle], axis=2)
    halves = np.concatenate([sides[..., [0, 1, 2]], middle, sides[..., [0, 2, 3]], middle], axis=2)
    return pyramids[to_core], halves[~to_core].reshape(-1, 4)


def _placed(points: Points, layout: Layout, firm: Ids) -> Points:
    """Return where the points of the grid lie: those of the floor in thin layers, those in tets alone shaken."""
    _, width, height = layout.counts
    level = np.arange(height + 1.0)
    bottom = FLOOR * (np.minimum(level / layout.floor, 1)) ** 2
    above = (1 - FLOOR) * np.maximum(level - layout.floor, 0) / (height - layout.floor)
    placed = np.column_stack([points[:, :2] / width, (bottom + above)[points[:, 2].astype(int)]])
    loose = np.all((points > 0) & (points < layout.counts), axis=1)
    loose[firm] = False
    shake = np.random.default_rng(7).uniform(-0.15, 0.15, points.shape) / width
    return placed + shake * loose[:, None]


def _bent(points: Points) -> Points:
    """Return the points of a duct along an arc of radius 2 to 3, its floor inside."""
    x, y, z = points.T
    return np.column_stack([(2 + z) * np.sin(x / 2), y, (2 + z) * np.cos(x / 2)])
