"""Triangles of planar regions with round holes: points as dense as a size asks, and their Delaunay triangulation."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from raw_mesh import Ids, Points, RawMesh, oriented, used

Floats = npt.NDArray[np.float64]
Size = Callable[[Points], Floats]  # how long the edges are to be at points, up to a factor
Curve = Callable[[Floats], Points]  # its points from 0 to 1, counterclockwise

AROUND = 8  # edges that go around a circle, or more
SPACING = 0.8  # of points on the boundary, by the size there
CLEARANCE = 0.5  # of points inside from the boundary; at least SPACING / 2, so that all of the boundary are edges
FEW = 4000  # triangles in which the scale of the sizes is looked for


class Region(NamedTuple):
    """The unit square, or a disc around the origin, without round holes."""

    radius: float | None  # None for the square
    holes: tuple[tuple[float, float, float], ...] = ()  # x, y, radius

    @property
    def area(self) -> float:
        """Its area."""
        outer = 1 if self.radius is None else np.pi * self.radius**2
        return float(outer - sum(np.pi * radius**2 for _, _, radius in self.holes))

    def depth(self, points: Points) -> Floats:
        """Return how far inside the boundary points lie; negative outside."""
        if self.radius is None:
            outer = np.minimum(points, 1 - points).min(axis=1)
        else:
            outer = self.radius - np.linalg.norm(points, axis=1)
        return np.minimum(outer, self.from_holes(points))

    def from_holes(self, points: Points) -> Floats:
        """Return how far points are from the next hole."""
        away = [np.linalg.norm(points - [x, y], axis=1) - radius for x, y, radius in self.holes]
        return np.min(away, axis=0) if away else np.full(len(points), np.inf)

    def widest(self, points: Points) -> Floats:
        """Return how long edges may be at points, for `AROUND` of them to go around each circle."""
        outer = [] if self.radius is None else [(0.0, 0.0, self.radius)]
        longest = np.full(len(points), np.inf)
        for x, y, radius in (*outer, *self.holes):
            away = np.abs(np.linalg.norm(points - [x, y], axis=1) - radius)
            longest = np.minimum(longest, 2 * np.pi * radius / AROUND / SPACING + 0.4 * away)
        return longest

    def loops(self) -> list[list[Curve]]:
        """Return the curves of the outer boundary, and of each hole."""
        square = [_line(*ends) for ends in ([0, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0])]
        outer = square if self.radius is None else [_circle(0, 0, self.radius)]
        return [outer, *([_circle(*hole)] for hole in self.holes)]


def alike(points: Points) -> Floats:
    """Ask for edges of one length."""
    return np.ones(len(points))


def triangulated(region: Region, n: float, size: Size = alike) -> RawMesh:
    """Return about n Delaunay triangles of a region, more where its holes need more.

    Parameters
    ----------
    region : Region
    n : float
    size : callable
        How long edges are to be, relative to each other, at points: float64, (n_points,) of (n_points, 2). It has to
        change slowly, by about its own value over a distance that is long beside an edge.
    """
    from scipy.spatial import Delaunay

    points, loop = _points(region, _scaled_for(n, region, size))
    triangles = Delaunay(points).simplices.astype(np.int64)
    first, *others = loop[triangles].T
    in_hole = (first > 0) & (others[0] == first) & (others[1] == first)
    on_side = _heights(points[triangles]) < 1e-6  # of three points of one side of the square
    return used(points, [("triangle", oriented(points, triangles[~in_hole & ~on_side]))])


# -- helpers ------------------------------------------------------------------------------------------------


def _scaled_for(n: float, region: Region, size: Size) -> Size:
    """Return the size of edges that gives about n triangles.

    It is looked for where there are few of them: half of it gives four times as many.
    """
    halvings = max(0, ceil(log(n / FEW, 4)))

    def scaled(scale: float, halved: int) -> Size:
        return lambda points: np.minimum(scale * size(points), region.widest(points) * 2**halvings) / 2**halved

    low, high = 1e-3, 1e2
    for _ in range(16):
        scale = (low * high) ** 0.5
        points, loop = _points(region, scaled(scale, 0))
        count = 2 * len(points) - np.count_nonzero(loop >= 0) + 2 * len(region.holes) - 2  # by Euler's formula
        low, high = (scale, high) if count > n / 4**halvings else (low, scale)
    return scaled(scale, halvings)


def _points(region: Region, size: Size) -> tuple[Points, Ids]:
    """Return points on the boundary and inside, and the loop that each is on, -1 inside."""
    loops = [np.concatenate([_spaced(curve, size) for curve in curves]) for curves in region.loops()]
    inside = _scattered(region, size)
    loop = np.repeat(np.arange(len(loops) + 1), [*map(len, loops), len(inside)])
    return np.concatenate([*loops, inside]), np.where(loop == len(loops), -1, loop)


def _spaced(curve: Curve, size: Size) -> Points:
    """Return points on a curve, as near each other as the size asks; not its end."""
    along = np.linspace(0, 1, 2001)
    fine = curve(along)
    steps = np.linalg.norm(np.diff(fine, axis=0), axis=1) / size((fine[1:] + fine[:-1]) / 2)
    reach = np.append(0, np.cumsum(steps))
    count = ceil(reach[-1] / SPACING)
    return curve(np.interp(np.arange(count) * reach[-1] / count, reach, along))


def _scattered(region: Region, size: Size) -> Points:
    """Return a shaken point in each square of a quadtree, whose squares are as small as the size asks.

    The largest of them are as large as the largest size. No point lies outside, or too near the boundary.
    """
    rng = np.random.default_rng(5)
    low, high = (0.0, 1.0) if region.radius is None else (-region.radius, region.radius)
    coarse = np.stack(np.meshgrid(*2 * [np.linspace(low, high, 33)]), axis=-1).reshape(-1, 2)
    side = size(coarse[region.depth(coarse) > 0]).max()
    side *= 2 ** ceil(log2((high - low) / side))
    centres = np.array([[low, low]]) + side / 2
    found = []
    while len(centres):
        centres = centres[region.depth(centres) > -0.75 * side]
        small = size(centres) >= side
        found.append(centres[small] + rng.uniform(-0.25 * side, 0.25 * side, (np.count_nonzero(small), 2)))
        side /= 2
        centres = (centres[~small, None] + side / 2 * np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]])).reshape(-1, 2)
    points = np.concatenate(found)
    return points[region.depth(points) > CLEARANCE * size(points)]


def _heights(corners: Points) -> Floats:
    """Return the least height of triangles by their longest edge."""
    edges = corners - np.roll(corners, 1, axis=1)
    longest = (edges**2).sum(axis=2).max(axis=1)
    return np.abs(np.linalg.det(edges[:, :2])) / longest


def _line(x: float, y: float, to_x: float, to_y: float) -> Curve:
    return lambda along: np.column_stack([x + along * (to_x - x), y + along * (to_y - y)])


def _circle(x: float, y: float, radius: float) -> Curve:
    return lambda along: np.column_stack(
        [x + radius * np.cos(2 * np.pi * along), y + radius * np.sin(2 * np.pi * along)]
    )
