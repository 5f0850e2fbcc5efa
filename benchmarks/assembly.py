"""Assemblies: separate bodies that touch, or nearly touch, and share no point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from planar import Region, triangulated
from raw_mesh import RawMesh, cut_into_tets, extruded, side_by_side
from structured import HEXAHEDRON, grid

BOLT, HOLE = 0.145, 0.16  # radii; of an octagon in the larger circle, the sides stay outside the smaller one
AT = (0.68, 0.0), (0.0, 0.68), (-0.68, 0.0), (0.0, -0.68)  # of the bolts


class Body(NamedTuple):
    """A region of the plane, made thick, and its share of the cells."""

    region: Region
    bottom: float
    top: float
    share: float
    centre: tuple[float, float] = (0.0, 0.0)


HOLED = Region(1, ((0, 0, 0.35), *((x, y, HOLE) for x, y in AT)))
FLANGE_JOINT = (
    Body(HOLED, -0.22, -0.02, 0.24),
    Body(HOLED, 0.02, 0.22, 0.14),
    Body(Region(0.5, ((0, 0, 0.35),)), -0.02, 0.02, 0.12),  # the gasket
    Body(Region(0.45, ((0, 0, 0.35),)), 0.22, 1.2, 0.16),  # the pipes
    Body(Region(0.45, ((0, 0, 0.35),)), -1, -0.22, 0.1),
    *(Body(Region(BOLT), -0.32, 0.32, 0.06, centre) for centre in AT),
)


def flange_tets(n: int) -> RawMesh:
    """Return tets of a joint of nine bodies: two flanges, a gasket between them, four bolts, two pipes.

    The bolts stand free in their holes, the others touch. Some have far smaller cells than others.
    """
    return side_by_side([_thickened(body, n * body.share) for body in FLANGE_JOINT])


COURSES, BRICKS = 8, 6


def brick_hexes(n: int) -> RawMesh:
    """Return hexahedra of a wall of 48 bricks of 2:1:1, in courses that are set off by half a brick.

    Bricks touch each other face to face. They have one, two or four times as many cells as the coarsest.
    """
    density = 2.0 ** np.random.default_rng(6).integers(0, 3, (COURSES, BRICKS))
    density *= n / density.sum()
    return side_by_side(
        [
            _brick(density[course, i], (2 * i + course % 2, 0, course))
            for course in range(COURSES)
            for i in range(BRICKS)
        ]
    )


def _brick(n: float, corner: tuple[float, float, float]) -> RawMesh:
    wide = max(1, round((n / 2) ** (1 / 3)))
    counts = max(1, round(n / wide**2)), wide, wide
    points, corners = grid(*counts)
    return RawMesh(points / counts * [2, 1, 1] + corner, [("hexahedron", corners[:, HEXAHEDRON])])


def _thickened(body: Body, n: float) -> RawMesh:
    """Return about n tets of a body, in layers about as thick as its triangles are wide."""
    height = body.top - body.bottom
    length = (6.9 * body.region.area * height / n) ** (
        1 / 3
    )  # a third of a wedge of regular triangles: length**3 / 6.9
    layers = max(1, round(height / length))
    mesh = extruded(triangulated(body.region, n / layers / 3), layers)
    ((_, wedges),) = mesh.cells
    points = mesh.points * [1, 1, height / layers] + [*body.centre, body.bottom]
    return RawMesh(points, [("tetra", cut_into_tets(wedges))])
