"""Meshes that are images of grids: boxes, pipes, layers along a wall, a folded sheet, a stiffened panel."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from raw_mesh import Ids, Points, RawMesh, extruded, used

# -- solids -------------------------------------------------------------------------------------------------


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
    counts = counts_for(n, (1, 2.4, 3))
    points, corners = grid(*counts)
    radius, angle, along = (points / counts * [1, np.pi / 2, 3]).T
    points = np.stack([(1 + radius) * np.cos(angle), (1 + radius) * np.sin(angle), along], axis=1)
    return RawMesh(points, [("hexahedron", corners[:, HEXAHEDRON])])


LEGS = (3.0, 1.5 * np.pi, 4.0)  # of the pipe: straight, a quarter of a circle of radius 3, straight
DENSITIES = (0.75, 1.25, 0.75)  # layers that a length of 1 gets, relative to each other


def block_hexes(n: int) -> RawMesh:
    """Return hexahedra of a pipe with a bend, of radius 1: five blocks across, an O-grid, by three along it.

    In the bend the layers are thinner than in the legs. Cells go block by block, each block layer by layer.
    """
    quarter = max(2, round((n / 40) ** (1 / 3)))
    section, block = _o_grid(quarter, max(1, quarter // 2))
    shares = np.multiply(LEGS, DENSITIES)
    layers = np.maximum(1, np.rint(shares / shares.sum() * n / len(block)).astype(int))
    mesh = extruded(section, layers.sum())
    reach = np.interp(mesh.points[:, 2], np.cumsum([0, *layers]), np.cumsum([0, *LEGS]))
    ((kind, rows),) = mesh.cells
    order = np.lexsort([np.tile(block, layers.sum()), np.repeat(np.arange(3), layers * len(block))])
    return RawMesh(_along_the_pipe(mesh.points[:, :2], reach), [(kind, rows[order])])


def panel_hexes(n: int) -> RawMesh:
    """Return hexahedra of a square panel with five ribs along it, all of them three cells thick."""
    width = round((n / 5.25) ** 0.5)
    height = max(1, round(0.15 * width))
    points, corners = grid(width, 3 + height)
    ribs = (np.arange(5) * 2 + 1) * width // 10
    at_rib = np.abs(np.arange(width) - ribs[:, None]).min(axis=0) <= 1
    in_plate = np.arange(3 + height) < 3
    section = used(points, [("quad", corners[(in_plate[:, None] | at_rib).ravel()][:, QUAD])])
    mesh = extruded(section, width)
    return RawMesh(mesh.points[:, [2, 0, 1]] / width, mesh.cells)  # the levels along x, the ribs up along z


# -- planar -------------------------------------------------------------------------------------------------


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


CIRCLE = -0.08 + 0.08j  # the centre of the circle whose image under z + 1/z is the airfoil
FAR = 20.0  # the radius of the outermost circle: the mesh reaches five chords away
WALL_ASPECT = 2000.0


def boundary_layer_quads(n: int) -> RawMesh:
    """Return quads around an airfoil, as many along its wall as away from it, with layers that grow geometrically.

    At the wall they are 2000 times as long as they are thick. The airfoil is Joukowski's, its trailing edge a little
    rounded; the map is conformal, so the quads are nearly rectangles everywhere.
    """
    around = layers = max(8, round(n**0.5))
    wall = 1.02 * abs(1 - CIRCLE)
    first = wall * 2 * np.pi / around / WALL_ASPECT
    growth = growth_of(first, layers, FAR - wall)
    radii = wall + first * (growth ** np.arange(layers + 1.0) - 1) / (growth - 1)
    on_circles = CIRCLE + np.outer(radii, np.exp(2j * np.pi * np.arange(around) / around)).ravel()
    on_airfoil = on_circles + 1 / on_circles
    return RawMesh(np.column_stack([on_airfoil.real, on_airfoil.imag]), [("quad", rings(around, layers))])


# -- surfaces -----------------------------------------------------------------------------------------------

FOLDS, GAP = 6, 0.2  # of the bellows: sheets between radius 1 and 2, and how far they lie apart


def bellows_triangles(n: int) -> RawMesh:
    """Return triangles of a bellows: a hose whose wall runs in and out in sheets that lie near each other.

    Points shaken along the wall. Neighbouring sheets are 0.2 apart, and on the wall 1 to 2.
    """
    length = FOLDS + (FOLDS - 1) * np.pi * GAP / 2
    layers, around = counts_for(n / 2, (length, 3 * np.pi))
    quads = rings(around, layers)
    shake = np.random.default_rng(4).uniform(-0.25, 0.25, (layers + 1, around, 2))
    shake[[0, -1], :, 0] = 0  # the two ends
    along = (np.arange(layers + 1.0)[:, None] + shake[..., 0]) * length / layers
    angle = (np.arange(around) + shake[..., 1]) * 2 * np.pi / around
    radius, height = _folded(along)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1).reshape(-1, 3)
    return RawMesh(points, [("triangle", quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))])


# -- not among the cases ------------------------------------------------------------------------------------


def fan_triangles(n: int) -> RawMesh:
    """Return n triangles around one point: every two of them share it."""
    angle = np.arange(n) * (2 * np.pi / n)
    rim = np.arange(n)
    points = np.append([[0.0, 0.0]], np.stack([np.cos(angle), np.sin(angle)], axis=1), axis=0)
    return RawMesh(points, [("triangle", np.stack([np.zeros(n, np.int64), 1 + rim, 1 + (rim + 1) % n], axis=1))])


# -- how they are made --------------------------------------------------------------------------------------

# The corners of cells in meshio's order, as columns of what `grid` returns.
QUAD = [0, 1, 3, 2]
HEXAHEDRON = [0, 1, 3, 2, 4, 5, 7, 6]
WEDGES = [[0, 1, 3, 4, 5, 7], [0, 3, 2, 4, 7, 6]]  # the two halves of a cube


def counts_for(n: float, lengths: tuple[float, ...]) -> tuple[int, ...]:
    """Return how many of about n equal cubes lie along each side of a box."""
    size = (np.prod(lengths) / n) ** (1 / len(lengths))
    return tuple(max(1, round(length / size)) for length in lengths)


def grid(*counts: int) -> tuple[Points, Ids]:
    """Return the points of a grid of unit cubes, x fastest, and each cube's corners, number x + 2y + 4z at column."""
    dim = len(counts)
    points = np.stack(np.meshgrid(*(np.arange(c + 1.0) for c in counts), indexing="ij"), -1)
    step = np.cumprod([1, *(c + 1 for c in counts[:-1])])
    lowest = sum(s * ids for s, ids in zip(step, np.meshgrid(*map(np.arange, counts), indexing="ij"), strict=True))
    bits = (np.arange(2**dim)[:, None] >> np.arange(dim)) & 1
    x_fastest = (*range(dim)[::-1], dim)
    return points.transpose(x_fastest).reshape(-1, dim), np.ravel(lowest, "F")[:, None] + bits @ step


def rings(around: int, layers: int) -> Ids:
    """Return the quads between rings of points, the innermost first: each goes out, on, and back in."""
    here = np.arange(around)
    inner = np.stack([here, here + around, (here + 1) % around + around, (here + 1) % around], axis=1)
    return (inner + np.arange(layers)[:, None, None] * around).reshape(-1, 4)


def kuhn(corners: Ids) -> Ids:
    """Return each cube cut into dim! simplices, which walk from its lowest corner to its highest along the axes."""
    dim = corners.shape[1].bit_length() - 1
    walks = np.array([np.cumsum([0, *(1 << axis for axis in order)]) for order in permutations(range(dim))])
    odd = [np.linalg.det(np.eye(dim)[list(order)]) < 0 for order in permutations(range(dim))]
    walks[odd] = walks[odd][:, [*range(dim - 1), -1, -2]]  # for positive volumes
    return corners[:, walks].reshape(-1, dim + 1)


def growth_of(first: float, layers: int, total: float) -> float:
    """Return the factor by which each layer is thicker than the last, where so many make up a total."""
    low, high = 1 + 1e-9, min(10.0, np.exp(500 / layers))  # where powers do not overflow
    for _ in range(60):
        growth = (low + high) / 2
        low, high = (growth, high) if first * (growth**layers - 1) / (growth - 1) < total else (low, growth)
    return growth


def _kuhn_box(n: int, lengths: tuple[float, float, float]) -> RawMesh:
    counts = counts_for(n / 6, lengths)
    points, corners = grid(*counts)
    return RawMesh(points / counts * lengths, [("tetra", kuhn(corners))])


def _shaken_triangles(n: int, lengths: tuple[float, float]) -> RawMesh:
    counts = counts_for(n / 2, lengths)
    points, corners = grid(*counts)
    inner = np.all((points > 0) & (points < counts), axis=1)
    shake = np.random.default_rng(1).uniform(-0.25, 0.25, points.shape)
    return RawMesh((points + shake * inner[:, None]) / counts * lengths, [("triangle", kuhn(corners))])


def _o_grid(quarter: int, layers: int) -> tuple[RawMesh, Ids]:
    """Return quads of the unit disc, and the block of each: a bulging square, and layers around its four sides."""
    points, corners = grid(quarter, quarter)
    square = 2 * points / quarter - 1
    bulging = 0.275 * (square / 2**0.5 + square * (1 - square[:, ::-1] ** 2 / 2) ** 0.5)
    number = np.arange(len(points)).reshape(quarter + 1, -1)  # row by row
    rim = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    angle = np.arange(len(rim)) * 2 * np.pi / len(rim) - 0.75 * np.pi
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    out = np.arange(1, layers + 1)[:, None, None] / layers
    around = ((1 - out) * bulging[rim] + out * circle).reshape(-1, 2)
    ids = np.append(rim, len(points) + np.arange(len(around)))
    side = np.tile(np.repeat(np.arange(1, 5), quarter), layers)
    outer = ids[rings(len(rim), layers)][np.argsort(side, kind="stable")]
    quads = np.concatenate([corners[:, QUAD], outer])
    return RawMesh(np.concatenate([bulging, around]), [("quad", quads)]), np.append(0 * corners[:, 0], np.sort(side))


def _along_the_pipe(across: Points, reach: Points) -> Points:
    """Return where the points of sections lie in space that are so far along the pipe."""
    straight, bend, _ = LEGS
    radius = bend / (np.pi / 2)
    angle = np.clip((reach - straight) / radius, 0, np.pi / 2)
    before, after = np.minimum(reach - straight, 0), np.maximum(reach - straight - bend, 0)
    x = radius - (radius - across[:, 0]) * np.cos(angle) + after * 1.0
    z = (radius - across[:, 0]) * np.sin(angle) + before
    return np.column_stack([x, across[:, 1], z])


def _folded(along: Points) -> tuple[Points, Points]:
    """Return the radius and the height of the bellows' wall so far along it: out, round, in, round, out, ..."""
    bend = np.pi * GAP / 2
    fold = np.clip(np.floor(along / (1 + bend)), 0, FOLDS - 1)
    rest = along - fold * (1 + bend)
    turn = np.clip((rest - 1) / bend, 0, 1) * np.pi  # 0 on the sheet
    out = np.minimum(rest, 1) + GAP / 2 * np.sin(turn)
    return 1 + np.where(fold % 2 == 0, out, 1 - out), GAP * fold + GAP / 2 * (1 - np.cos(turn))
