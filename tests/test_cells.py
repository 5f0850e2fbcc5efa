"""The table of cell types, against meshio, against geometry, and against VTK."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from meshio._common import num_nodes_per_cell
from meshio._mesh import topological_dimension
from meshio._vtk_common import meshio_to_vtk_type

from meshpart.cells import CELL_TYPES, CellType, Facet, cell_type
from meshpart.errors import MeshError

WITH_FACETS = [*(name for name, kind in CELL_TYPES.items() if kind.facets is not None), "quadratic_polygon10"]
SURFACES = [name for name in WITH_FACETS if cell_type(name).dim == 2]
SOLIDS = [name for name in WITH_FACETS if cell_type(name).dim == 3]
IN_VTK = [name for name in WITH_FACETS if cell_type(name).vtk is not None]
COUNTED_BY_VTK = [name for name in IN_VTK if name in CELL_TYPES and (cell_type(name).vtk or 0) < 68]

Outline = Sequence[tuple[float, float]]

SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
RASTER = [(0, 0), (1, 0), (0, 1), (1, 1)]
TRIANGLE = [(0, 0), (1, 0), (0, 1)]
PENTAGON = [(np.cos(angle), np.sin(angle)) for angle in 2 * np.pi * np.arange(5) / 5]
HEXAGON = [(np.cos(angle), np.sin(angle)) for angle in 2 * np.pi * np.arange(6) / 6]

# The corners of a solid as manuals draw it: first those at z = 0, then those at z = 1.
BOTTOM_AND_TOP: dict[str, tuple[Outline, Outline]] = {
    "tetra": (TRIANGLE, [(0, 0)]),
    "pyramid": (SQUARE, [(0.5, 0.5)]),
    "wedge": (TRIANGLE, TRIANGLE),
    "hexahedron": (SQUARE, SQUARE),
    "voxel": (RASTER, RASTER),
    "penta_prism": (PENTAGON, PENTAGON),
    "hexa_prism": (HEXAGON, HEXAGON),
}

LAGRANGE = {"line": 68, "triangle": 69, "quad": 70, "tetra": 71, "hexahedron": 72}  # VTK's numbers
GMSH = {"line": 26, "triangle": 21, "quad": 36, "tetra": 29, "hexahedron": 92}  # gmsh's, of order 3


# -- meshio -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "dim"), topological_dimension.items())
def test_a_type_whose_dimension_meshio_knows_has_that_dimension(name: str, dim: int) -> None:
    assert cell_type(name).dim == dim


@pytest.mark.parametrize(("name", "n_points"), num_nodes_per_cell.items())
def test_a_type_whose_points_meshio_counts_has_that_many(name: str, n_points: int) -> None:
    assert cell_type(name).n_points == n_points


@pytest.mark.parametrize("name", sorted(set(meshio_to_vtk_type) - {"empty"}))
def test_a_type_that_meshio_reads_from_vtk_has_that_vtk_number(name: str) -> None:
    assert cell_type(name).vtk == meshio_to_vtk_type[name]


@pytest.mark.parametrize("name", ["quad6", "triangle7", "pixel"])
def test_a_surface_whose_dimension_meshio_does_not_know_has_dimension_2(name: str) -> None:
    assert name not in topological_dimension
    assert cell_type(name).dim == 2


@pytest.mark.parametrize(
    "name",
    ["wedge12", "wedge15", "pyramid13", "hexahedron24", "hexahedron1331", "penta_prism", "hexa_prism"],
)
def test_a_solid_whose_dimension_meshio_does_not_know_has_dimension_3(name: str) -> None:
    assert name not in topological_dimension
    assert cell_type(name).dim == 3


# -- points and corners -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n_points"),
    [
        ("line11", 11),
        ("triangle66", 66),  # 11 + 10 + ... + 1
        ("quad121", 121),
        ("tetra286", 286),  # 66 + 55 + ... + 1
        ("pyramid30", 30),  # 16 + 9 + 4 + 1
        ("pyramid506", 506),  # 121 + 100 + ... + 1
        ("wedge726", 726),  # 66 * 11
        ("hexahedron1331", 1331),
        ("pyramid19", 19),  # 13, the middles of 5 faces, the middle
        ("voxel", 8),
        ("VTK_LAGRANGE_WEDGE", None),
        ("VTK_BEZIER_PYRAMID", None),
    ],
)
def test_orders_up_to_ten_have_as_many_points_as_counted_by_hand(name: str, n_points: int | None) -> None:
    assert cell_type(name).n_points == n_points


def test_a_type_is_found_under_the_name_that_it_bears() -> None:
    assert all(cell_type(name) is kind and kind.name == name for name, kind in CELL_TYPES.items())


@pytest.mark.parametrize("name", WITH_FACETS)
def test_the_facets_of_a_cell_name_all_its_corners_and_no_other_point(name: str) -> None:
    kind = cell_type(name)
    named = {corner for facet in facets_of(name) for corner in facet}
    assert named == (set(range(kind.n_corners or 0)) if kind.dim > 0 else set())
    assert kind.n_points is None or kind.n_points >= len(named)


@pytest.mark.parametrize("name", WITH_FACETS)
def test_a_facet_of_a_d_dimensional_cell_has_at_least_d_corners_all_distinct(name: str) -> None:
    dim = cell_type(name).dim
    assert all(len(set(facet)) == len(facet) >= dim for facet in facets_of(name))


@pytest.mark.parametrize("curved", ["wedge12", "wedge15", "wedge726", "VTK_LAGRANGE_WEDGE"])
def test_a_curved_cell_has_the_corners_and_facets_of_its_linear_type(curved: str) -> None:
    assert cell_type(curved).n_corners == cell_type("wedge").n_corners
    assert cell_type(curved).facets == cell_type("wedge").facets


def test_the_facets_of_a_line_are_its_ends_and_a_vertex_has_none() -> None:
    assert cell_type("line3").facets == ((0,), (1,))
    assert cell_type("vertex").facets == ()


# -- geometry -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SURFACES)
def test_the_edges_of_a_2d_cell_are_one_loop_through_all_corners(name: str) -> None:
    edges = facets_of(name)
    following = {edge[0]: edge[1] for edge in edges}
    loop = [0]
    for _ in edges:
        loop.append(following[loop[-1]])
    assert loop[-1] == 0
    assert sorted(loop[:-1]) == list(range(cell_type(name).n_corners or 0))


def test_the_edges_of_a_pixel_are_the_sides_of_a_square() -> None:
    # 2---3
    # |   |
    # 0---1
    assert cell_type("pixel").facets == ((0, 1), (1, 3), (3, 2), (2, 0))


@pytest.mark.parametrize("name", SOLIDS)
def test_the_faces_of_a_3d_cell_are_a_closed_surface_like_a_sphere(name: str) -> None:
    faces = facets_of(name)
    n_corners = cell_type(name).n_corners or 0
    n_edges = directed_edges(faces).total() // 2
    assert is_closed(faces)
    assert n_corners - n_edges + len(faces) == 2  # Euler's characteristic of a sphere


def test_a_cell_that_lacks_a_face_or_has_one_turned_over_is_not_closed() -> None:
    first, *others = facets_of("hexahedron")
    assert not is_closed(tuple(others))
    assert not is_closed((first[::-1], *others))


@pytest.mark.parametrize("name", SOLIDS)
def test_every_face_normal_points_outwards(name: str) -> None:
    corners = reference_corners(name)
    assert len(corners) == cell_type(name).n_corners
    assert all(points_outwards(face, corners) for face in facets_of(name))


@pytest.mark.parametrize("name", BOTTOM_AND_TOP)
def test_no_face_normal_of_a_mirrored_cell_points_outwards(name: str) -> None:
    mirrored = reference_corners(name) * (-1, 1, 1)
    assert not any(points_outwards(face, mirrored) for face in facets_of(name))


# -- VTK ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IN_VTK)
def test_vtk_has_the_same_dimension_corners_and_facets(name: str) -> None:
    kind = cell_type(name)
    if vtk_cell(kind.vtk) is None:
        pytest.skip(f"VTK has a number for {name}, but no such cell")
    cell = vtk_cell(kind.vtk, np.zeros((kind.n_points or kind.n_corners or 0, 3)))
    assert cell.GetCellDimension() == kind.dim
    if kind.dim > 1:
        assert facets_in_vtk(cell) == Counter(map(frozenset, facets_of(name)))


@pytest.mark.parametrize("name", COUNTED_BY_VTK)
def test_vtk_has_the_same_number_of_points(name: str) -> None:
    kind = cell_type(name)
    assert vtk_cell(kind.vtk).GetNumberOfPoints() == kind.n_points


def test_a_cell_of_vtk_is_in_the_table_unless_it_is_several_cells_or_has_no_facets() -> None:
    vtk = pytest.importorskip("vtkmodules.vtkCommonDataModel")
    cells = {number for number in range(vtk.VTK_NUMBER_OF_CELL_TYPES) if vtk_cell(number) is not None}
    several = {vtk.VTK_POLY_VERTEX, vtk.VTK_POLY_LINE, vtk.VTK_TRIANGLE_STRIP}
    without_facets = {vtk.VTK_EMPTY_CELL, vtk.VTK_CONVEX_POINT_SET}
    in_table = {kind.vtk for kind in [*CELL_TYPES.values(), cell_type("quadratic_polygon8")]}
    assert cells - in_table == several | without_facets


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ("line", "line4"),
        ("triangle", "triangle10"),
        ("quad", "quad16"),
        ("tetra", "tetra20"),
        ("hexahedron", "hexahedron64"),
    ],
)
def test_a_cell_of_order_3_has_a_vtk_number_just_where_gmsh_and_vtk_order_its_points_alike(
    shape: str, name: str
) -> None:
    in_gmsh = gmsh_points(GMSH[shape], from_minus_one=shape in ("line", "quad", "hexahedron"))
    in_vtk = np.array(vtk_cell(LAGRANGE[shape], in_gmsh).GetParametricCoords()[: in_gmsh.size])
    alike = np.allclose(in_gmsh.ravel(), in_vtk)
    assert alike == (cell_type(name).vtk is not None)


# -- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["polyhedron", "polyhedron8", "polyhedron123"])
def test_a_polyhedron_of_any_number_is_a_polyhedron_and_keeps_its_name(name: str) -> None:
    assert cell_type(name) == CellType(name, 3, None, None, None, 42)


@pytest.mark.parametrize("name", ["polygon", "polygon5"])
def test_a_polygon_of_any_number_is_a_polygon_and_keeps_its_name(name: str) -> None:
    assert cell_type(name) == CellType(name, 2, None, None, None, 7)


def test_the_first_half_of_a_quadratic_polygon_is_its_corners() -> None:
    triangle = cell_type("quadratic_polygon6")
    assert triangle == CellType("quadratic_polygon6", 2, 6, 3, ((0, 1), (1, 2), (2, 0)), 36)


@pytest.mark.parametrize("n_points", [0, 4, 7])
def test_a_quadratic_polygon_without_such_a_half_is_refused(n_points: int) -> None:
    with pytest.raises(MeshError, match=f"polygon{n_points}: half of .* got {n_points} points"):
        cell_type(f"quadratic_polygon{n_points}")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("poly_vertex", "several cells in one, write it as cells of type vertex"),
        ("poly_line", "several cells in one, write it as cells of type line"),
        ("triangle_strip", "several cells in one, write it as cells of type triangle"),
        ("convex_point_set", "no facets"),
        ("quadratic_polygon", "must say how many points"),
        ("empty", "no points"),
    ],
)
def test_what_is_no_single_cell_with_facets_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(MeshError, match=f"'{name}' is not supported: .*{reason}"):
        cell_type(name)


@pytest.mark.parametrize("name", ["tetra11", "prism", "Tetra", "", "vertex1", "polyhedron-1", "polygon5 "])
def test_an_unknown_type_is_refused_by_name(name: str) -> None:
    with pytest.raises(MeshError, match=f"unknown cell type '{name}'"):
        cell_type(name)


# -- helpers ------------------------------------------------------------------------------------------------


def facets_of(name: str) -> tuple[Facet, ...]:
    """Return the facets of a type that has some in the table."""
    facets = cell_type(name).facets
    assert facets is not None
    return facets


def directed_edges(faces: tuple[Facet, ...]) -> Counter[Facet]:
    """Count how often the faces pass from one corner to another."""
    return Counter(edge for face in faces for edge in pairwise((*face, face[0])))


def is_closed(faces: tuple[Facet, ...]) -> bool:
    """Tell whether every edge is in two faces, which pass it in opposite directions."""
    edges = directed_edges(faces)
    return all(edges[a, b] == edges[b, a] == 1 for a, b in list(edges))


def reference_corners(name: str) -> npt.NDArray[np.float64]:
    """Return the corners of a linear cell, or of the one whose facets a curved cell has: (n_corners, 3)."""
    curved_from = (linear for linear in BOTTOM_AND_TOP if facets_of(linear) == facets_of(name))
    bottom, top = BOTTOM_AND_TOP[name if name in BOTTOM_AND_TOP else next(curved_from)]
    return np.array([*((x, y, 0) for x, y in bottom), *((x, y, 1) for x, y in top)], np.float64)


def points_outwards(face: Facet, corners: npt.NDArray[np.float64]) -> bool:
    """Tell whether the normal of a face, by the right hand rule, points away from the middle of the cell."""
    ring = corners[list(face)]
    normal = np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0)
    return bool(normal @ (ring.mean(axis=0) - corners.mean(axis=0)) > 0)


def vtk_cell(number: int | None, points: npt.NDArray[np.float64] | None = None) -> Any:
    """Return a cell of VTK, with these points or as VTK makes it; None where it makes none."""
    vtk = pytest.importorskip("vtkmodules.vtkCommonDataModel")
    if points is None:
        return vtk.vtkGenericCell.InstantiateCell(number)
    vtk_points = pytest.importorskip("vtkmodules.vtkCommonCore").vtkPoints()
    for point in points:
        vtk_points.InsertNextPoint(*point)
    grid = vtk.vtkUnstructuredGrid()
    grid.SetPoints(vtk_points)
    grid.InsertNextCell(number, len(points), range(len(points)))
    return grid.GetCell(0)


def facets_in_vtk(cell: Any) -> Counter[frozenset[int]]:
    """Return the corners of VTK's edges or faces: two of an edge, one for each side of a face."""
    flat = cell.GetCellDimension() == 2
    facets: Counter[frozenset[int]] = Counter()
    for number in range(cell.GetNumberOfEdges() if flat else cell.GetNumberOfFaces()):
        facet = cell.GetEdge(number) if flat else cell.GetFace(number)  # VTK reuses it for the next
        n_corners = 2 if flat else facet.GetNumberOfEdges()
        facets[frozenset(facet.GetPointId(position) for position in range(n_corners))] += 1
    return facets


def gmsh_points(element: int, *, from_minus_one: bool) -> npt.NDArray[np.float64]:
    """Return the points of gmsh's reference element, scaled to 0..1: float64, (n_points, 3)."""
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        _, dim, _, n_points, coordinates, _ = gmsh.model.mesh.getElementProperties(element)
    finally:
        gmsh.finalize()
    points = np.zeros((n_points, 3))
    points[:, :dim] = np.reshape(coordinates, (n_points, dim))
    return (points + (np.arange(3) < dim)) / 2 if from_minus_one else points


@pytest.mark.parametrize("number", ["1000002", "4" * 5000])
def test_a_quadratic_polygon_has_no_more_points_than_memory(number: str) -> None:
    with pytest.raises(MeshError, match="a cell has at most 1000000 points"):
        cell_type(f"quadratic_polygon{number}")
