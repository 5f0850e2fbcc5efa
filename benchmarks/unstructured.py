"""Meshes that are no images of grids: Delaunay in the plane and in space, layers over triangles, a shell, gmsh's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from planar import Floats, Region, triangulated
from raw_mesh import Points, RawMesh, cut_into_tets, extruded, oriented, used

Mask = npt.NDArray[np.bool_]

# -- Delaunay -----------------------------------------------------------------------------------------------


def graded_tets(n: int) -> RawMesh:
    """Return Delaunay tets of random points in the unit cube, ever denser towards a point inside it."""
    return _delaunay("tetra", _graded_points(n / 6.7, (0.3, 0.4, 0.2)))


def graded_triangles(n: int) -> RawMesh:
    """Return Delaunay triangles of random points in the unit square, ever denser towards a point inside it."""
    return _delaunay("triangle", _graded_points(n / 2, (0.3, 0.4)))


HOLED = Region(None, ((0.25, 0.3, 0.12), (0.7, 0.25, 0.03), (0.45, 0.75, 0.06), (0.8, 0.7, 0.15), (0.12, 0.85, 0.015)))


def holed_triangles(n: int) -> RawMesh:
    """Return Delaunay triangles of the unit square with five round holes, the smaller towards each hole."""

    def size(points: Points) -> Floats:
        away = [np.linalg.norm(points - [x, y], axis=1) - 2 / 3 * radius for x, y, radius in HOLED.holes]
        return np.min(away, axis=0)

    return triangulated(HOLED, n, size)


# -- layers over triangles ----------------------------------------------------------------------------------

BORED = Region(None, ((0.6, 0.45, 0.2),))
WALL_LAYERS, WALL_GROWTH, WALL_ASPECT = 24, 1.2, 100


def boundary_layer_wedges(n: int) -> RawMesh:
    """Return 24 layers of wedges over Delaunay triangles of a bumpy square with a hole, each 1.2 times the last.

    At the wall a triangle is about 100 times as long as its wedge is high.
    """
    section = triangulated(BORED, n / WALL_LAYERS)
    length = (4 / 3**0.5 * BORED.area / len(section.cells[0][1])) ** 0.5
    mesh = extruded(section, WALL_LAYERS)
    x, y, level = mesh.points.T
    height = length / WALL_ASPECT * (WALL_GROWTH**level - 1) / (WALL_GROWTH - 1)
    return RawMesh(np.column_stack([x, y, height + 0.1 * np.sin(5 * x) * np.cos(4 * y)]), mesh.cells)


FLATTENED = 0.15  # the short half axis of the shell's ellipsoid; the others are 1


def shell_tets(n: int) -> RawMesh:
    """Return tets of a closed shell around a flat ellipsoid of 1:1:0.15, two layers of wedges cut in three.

    The shell gets thinner as cells get smaller. Its upper and lower halves are near each other.
    """
    from scipy.spatial import ConvexHull

    inner, length = _on_ellipsoid(max(8, round(n / 12)))
    triangles = ConvexHull(inner).simplices.astype(np.int64)
    normals = inner / [1, 1, FLATTENED**2]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    inwards = np.linalg.det(inner[triangles]) < 0
    triangles[inwards] = triangles[inwards][:, [0, 2, 1]]
    mesh = extruded(RawMesh(inner[:, :2], [("triangle", triangles)]), 2)
    points = np.tile(inner, (3, 1)) + 0.8 * length * mesh.points[:, 2:] * np.tile(normals, (3, 1))
    return RawMesh(points, [("tetra", cut_into_tets(mesh.cells[0][1]))])


# -- gmsh ---------------------------------------------------------------------------------------------------


def gmsh_tets(n: int) -> RawMesh:
    """Return gmsh's tets of a block of 2:1:1 with a bore through it and a dent in it, small cells at both."""
    import gmsh

    size = 1.75 * n ** (-1 / 3) * (1 + 4 * n ** (-1 / 3))  # fitted: where cells are large, the surfaces need more
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setNumber("General.NumThreads", 1)  # the same mesh every time
        gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
        occ = gmsh.model.occ
        bore, dent = occ.addCylinder(0.6, 0, 0.5, 0, 1, 0, 0.15), occ.addSphere(1.5, 0.5, 1, 0.25)
        occ.cut([(3, occ.addBox(0, 0, 0, 2, 1, 1))], [(3, bore), (3, dent)])
        occ.synchronize()
        field = gmsh.model.mesh.field.add("MathEval")
        bore_away, dent_away = "Sqrt((x-0.6)^2+(z-0.5)^2)-0.15", "Sqrt((x-1.5)^2+(y-0.5)^2+(z-1)^2)-0.25"
        gmsh.model.mesh.field.setString(field, "F", f"{size}*(0.4+5*Min({bore_away},{dent_away}))")
        gmsh.model.mesh.field.setAsBackgroundMesh(field)
        gmsh.model.mesh.generate(3)
        tags, coordinates, _ = gmsh.model.mesh.getNodes()
        _, corners = gmsh.model.mesh.getElementsByType(4)
    finally:
        gmsh.finalize()
    number = np.zeros(int(tags.max()) + 1, np.int64)
    number[tags.astype(np.int64)] = np.arange(len(tags))
    tets = number[corners.astype(np.int64)].reshape(-1, 4)
    points = coordinates.reshape(-1, 3)
    return used(points, [("tetra", oriented(points, tets))])


# -- how they are made --------------------------------------------------------------------------------------


def _graded_points(n: float, centre: tuple[float, ...]) -> Points:
    """Return random points of the unit cube, pulled to `centre` by factors of 1 to 50, each order alike often."""
    rng = np.random.default_rng(3)
    pull = 0.02 ** rng.random((round(n), 1))
    return centre + pull * (rng.random((round(n), len(centre))) - centre)


def _on_ellipsoid(count: int) -> tuple[Points, float]:
    """Return points spread evenly over the ellipsoid, by the golden angle, and how far neighbours lie apart."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, 20_001)
    middle = (latitude[1:] + latitude[:-1]) / 2
    bands = np.cos(middle) * np.hypot(np.sin(middle), FLATTENED * np.cos(middle))
    area = np.append(0, np.cumsum(bands))
    at = np.interp((np.arange(count) + 0.5) / count * area[-1], area, latitude)
    turn = np.arange(count) * np.pi * (3 - 5**0.5)
    points = np.stack([np.cos(at) * np.cos(turn), np.cos(at) * np.sin(turn), FLATTENED * np.sin(at)], axis=1)
    return points, float((2 * np.pi * area[-1] * np.pi / 20_000 / count) ** 0.5)


def _delaunay(kind: str, points: Points) -> RawMesh:
    """Return the Delaunay simplices of points, without the slivers at the hull."""
    from scipy.spatial import Delaunay

    net = Delaunay(points)
    simplices = net.simplices.astype(np.int64)
    simplices = simplices[_in_one_piece(_without_slivers(points[simplices], net.neighbors), net.neighbors)]
    return used(points, [(kind, oriented(points, simplices))])


def _without_slivers(corners: Points, neighbours: npt.NDArray[np.int32]) -> Mask:
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


def _in_one_piece(kept: Mask, neighbours: npt.NDArray[np.int32]) -> Mask:
    """Return which of the simplices that are kept belong to the largest set that hangs together by facets."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    simplex, side = np.nonzero((neighbours >= 0) & kept[:, None] & kept[neighbours])
    joined = coo_array((np.ones(len(simplex), bool), (simplex, neighbours[simplex, side])), shape=(len(kept),) * 2)
    _, piece = connected_components(joined, directed=False)
    return kept & (piece == np.argmax(np.bincount(piece[kept])))
