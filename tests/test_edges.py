"""The table of edges, against drawings, VTK, gmsh and meshio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from meshio.gmsh.common import _gmsh_to_meshio_order
from meshio.gmsh.common import _meshio_to_gmsh_type as gmsh_numbers

from meshpart import Mesh, MeshError
from meshpart.cells import CELL_TYPES, COMPLETE, INCOMPLETE, VTK_SHAPES, cell_type
from meshpart.edges import IN_GMSH, Edge, Edges, edges, edges_of

FIXED = [*(name for name, kind in CELL_TYPES.items() if kind.n_points is not None), "quadratic_polygon10"]
OF_VTK = [name for name in FIXED if cell_type(name).dim > 1 and (cell_type(name).vtk or 99) < 68]  # of one order each

# The edges of gmsh's elements as its manual draws them, in the order of the points inside.
DRAWN_BY_GMSH = {
    "line4": [(0, 1)],
    "triangle10": [(0, 1), (1, 2), (2, 0)],
    "quad16": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "tetra20": [(0, 1), (1, 2), (2, 0), (3, 0), (3, 2), (3, 1)],
    "pyramid14": [(0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4)],
    "pyramid30": [(0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4)],
    "wedge40": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5)],
    "hexahedron64": [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)],
}

GMSH_FAMILIES = {
    "line": "Line",
    "triangle": "Triangle",
    "quad": "Quadrangle",
    "tetra": "Tetrahedron",
    "pyramid": "Pyramid",
    "hexahedron": "Hexahedron",
}
OF_GMSH = [(shape, order) for shape in GMSH_FAMILIES for order in range(3, 11)]
OF_GMSH = [entry for entry in OF_GMSH if entry not in (("pyramid", 10), ("hexahedron", 10))]  # it has none


# -- every type ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIXED)
def test_edges_run_from_corner_to_corner_and_share_no_point_inside(name: str) -> None:
    kind = cell_type(name)
    inside = [position for edge in table(name) for position in edge[1:-1]]
    assert sorted(inside) == list(range(kind.n_corners or 0, (kind.n_corners or 0) + len(inside)))
    assert len(inside) <= (kind.n_points or 0) - (kind.n_corners or 0)
    assert all(edge[end] < (kind.n_corners or 0) for edge in table(name) for end in (0, -1))


@pytest.mark.parametrize("name", [name for name in FIXED if cell_type(name).dim > 1])
def test_the_edges_of_a_cell_are_the_sides_of_its_facets_each_once(name: str) -> None:
    kind = cell_type(name)
    facets = [] if kind.facets is None else kind.facets
    rings = [zip(facet, (*facet[1:], facet[0]), strict=True) for facet in facets] if kind.dim == 3 else [facets]
    assert sorted(map(sorted, ends(table(name)))) == sorted(map(list, {tuple(sorted(s)) for r in rings for s in r}))


@pytest.mark.parametrize("name", [name for name in FIXED if cell_type(name).dim == 3])
def test_corners_edges_and_faces_of_a_solid_count_as_those_of_a_sphere(name: str) -> None:
    kind = cell_type(name)
    assert (kind.n_corners or 0) - len(table(name)) + len(kind.facets or ()) == 2  # Euler's characteristic


@pytest.mark.parametrize("shape", COMPLETE)
def test_a_complete_cell_of_order_p_has_p_minus_1_points_inside_each_edge(shape: str) -> None:
    for order in range(2, 11):
        assert {len(edge) for edge in table(f"{shape}{COMPLETE[shape](order)}")} == {order + 1}


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("vertex", ()),
        ("line", ((0, 1),)),
        ("line4", ((0, 2, 3, 1),)),
        ("pixel", ((0, 1), (1, 3), (3, 2), (2, 0))),
        ("quad5", ((0, 1), (1, 2), (2, 3), (3, 0))),
        ("quad6", ((0, 4, 1), (1, 2), (2, 5, 3), (3, 0))),
        ("quad8", ((0, 4, 1), (1, 5, 2), (2, 6, 3), (3, 7, 0))),
        ("tetra8", ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))),
        ("tetra14", ((0, 4, 1), (1, 5, 2), (2, 6, 0), (0, 7, 3), (1, 8, 3), (2, 9, 3))),
        ("wedge12", ((0, 6, 1), (1, 7, 2), (2, 8, 0), (3, 9, 4), (4, 10, 5), (5, 11, 3), (0, 3), (1, 4), (2, 5))),
        ("quadratic_polygon6", ((0, 3, 1), (1, 4, 2), (2, 5, 0))),
    ],
)
def test_edges_are_as_drawn(name: str, edges: Edges) -> None:
    assert undirected(table(name)) == undirected(edges)


def test_polygons_and_polyhedra_have_no_edges_in_the_table() -> None:
    assert edges_of(cell_type("polygon5"), 5) == edges_of(cell_type("polyhedron"), 8) == ()


# -- VTK ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OF_VTK)
def test_vtk_has_the_same_edges_in_cells_of_fixed_size(name: str) -> None:
    kind = cell_type(name)
    cell = vtk_cell(kind.vtk, kind.n_points or 0)
    in_vtk = []
    for number in range(cell.GetNumberOfEdges()):
        edge = cell.GetEdge(number)
        first, last, *inside = (edge.GetPointId(position) for position in range(edge.GetNumberOfPoints()))
        in_vtk.append((first, *inside, last))
    assert undirected(table(name)) == undirected(in_vtk)


@pytest.mark.parametrize("order", range(1, 11))
@pytest.mark.parametrize("shape", [shape for shape in VTK_SHAPES if shape != "pyramid"])
@pytest.mark.parametrize("family", ["LAGRANGE", "BEZIER"])
def test_edges_of_vtks_cells_of_any_order_are_straight_with_points_at_equal_distances(
    family: str, shape: str, order: int
) -> None:
    kind, n_points = cell_type(f"VTK_{family}_{VTK_SHAPES[shape]}"), COMPLETE[shape](order)
    assert_straight(edges_of(kind, n_points), parametric(kind.vtk, n_points), order)


@pytest.mark.parametrize(("name", "order"), [("line3", 2), ("line4", 3), ("triangle28", 6)])
def test_edges_that_vtk_and_gmsh_order_alike_are_straight_in_vtk(name: str, order: int) -> None:
    kind = cell_type(name)
    assert_straight(table(name), parametric(68 if kind.dim == 1 else kind.vtk, kind.n_points or 0), order)


@pytest.mark.parametrize(("shape", "n_points"), [("TRIANGLE", 7), ("TETRAHEDRON", 15), ("WEDGE", 21)])
def test_vtks_cells_of_order_2_with_points_in_the_middle_have_the_edges_of_order_2(shape: str, n_points: int) -> None:
    kind = cell_type(f"VTK_LAGRANGE_{shape}")
    assert_straight(edges_of(kind, n_points), parametric(kind.vtk, n_points), 2)


def test_a_check_with_the_wrong_order_of_points_fails() -> None:
    kind = cell_type("VTK_LAGRANGE_TETRAHEDRON")
    coordinates = parametric(kind.vtk, 20)
    assert_straight(edges_of(kind, 20), coordinates, 3)
    with pytest.raises(AssertionError):
        assert_straight(table("tetra20"), coordinates, 3)  # gmsh's


def test_a_pyramid_of_any_order_has_the_edges_of_vtks_quadratic_pyramid() -> None:
    for family in ("LAGRANGE", "BEZIER"):
        assert undirected(edges_of(cell_type(f"VTK_{family}_PYRAMID"), 14)) == undirected(table("pyramid13"))


# -- gmsh and meshio ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "corners"), DRAWN_BY_GMSH.items())
def test_edges_of_types_in_gmshs_order_are_as_gmsh_draws_them(name: str, corners: list[Edge]) -> None:
    assert ends(table(name)) == corners
    inside = [position for edge in table(name) for position in edge[1:-1]]
    assert inside == list(range(cell_type(name).n_corners or 0, (cell_type(name).n_corners or 0) + len(inside)))


@pytest.mark.parametrize(("shape", "order"), OF_GMSH)
def test_edges_of_gmshs_elements_are_straight_with_points_at_equal_distances(shape: str, order: int) -> None:
    coordinates = gmsh_points(shape, order)
    assert_straight(table(f"{shape}{len(coordinates)}"), coordinates, order)


def test_edges_of_gmshs_pyramid14_are_straight_with_a_point_in_the_middle() -> None:
    assert_straight(table("pyramid14"), gmsh_points("pyramid", 2), 2)


@pytest.mark.parametrize("order", [3, 4, 5])
def test_edges_of_wedges_in_a_mesh_of_gmshs_are_straight(order: int) -> None:
    coordinates = wedge_of_gmsh(order)
    assert_straight(table(f"wedge{len(coordinates)}"), coordinates, order)


@pytest.mark.parametrize(
    "name",
    ["triangle6", "quad8", "quad9", "tetra10", "hexahedron20", "hexahedron27", "wedge15", "pyramid13", "pyramid14"],
)
def test_meshio_reorders_gmshs_types_of_order_2_to_the_table(name: str) -> None:
    assert undirected(table(name)) == undirected(as_meshio_reads(name))


def test_meshio_leaves_wedge18_in_gmshs_order_which_is_not_the_table() -> None:
    # The day this fails meshio reorders it, and the docstring of meshpart.edges has a sentence too many.
    assert undirected(table("wedge18")) != undirected(as_meshio_reads("wedge18"))


# -- the edges of a mesh ------------------------------------------------------------------------------------


def test_a_mesh_whose_rows_are_alike_is_not_copied() -> None:
    mesh = Mesh(np.eye(16, 3), [("VTK_LAGRANGE_QUADRILATERAL", [range(16)] * 2), ("quad", [range(4)])])
    flat, outline = edges(mesh)
    assert flat is mesh.flat
    assert outline.pattern_starts.tolist() == [0, 4, 8]
    assert np.diff(outline.pattern_offsets).tolist() == [4] * 4 + [2] * 4


def test_rows_of_different_lengths_become_blocks_of_their_own() -> None:
    rows = [[0, 1, 2], [3, 4], [5, 6, 7], [8, 9, 10, 11]]
    flat, outline = edges(Mesh(np.eye(12, 3), [("line", [[0, 1]]), ("VTK_LAGRANGE_CURVE", rows)]))
    assert flat.block_starts.tolist() == [0, 1, 2, 4, 5]
    assert flat.cell_points.tolist() == [0, 1, 3, 4, 0, 1, 2, 5, 6, 7, 8, 9, 10, 11]
    assert np.split(outline.patterns, outline.pattern_offsets[1:-1])[3].tolist() == [0, 2, 3, 1]


@pytest.mark.parametrize("rows", [np.zeros((0, 9), np.int64), []])
def test_an_empty_block_has_no_edges(rows: Any) -> None:
    _, outline = edges(Mesh(np.eye(3), [("VTK_BEZIER_QUADRILATERAL", rows)]))
    assert outline.patterns.tolist() == []


@pytest.mark.parametrize(
    ("type_", "n_points", "message"),
    [
        ("VTK_LAGRANGE_TETRAHEDRON", 14, "no tetra has 14 points: of order 2 it has 10, of order 3 20"),
        ("VTK_BEZIER_QUADRILATERAL", 7, "no quad has 7 points: of order 1 it has 4, of order 2 9"),
    ],
)
def test_a_number_of_points_that_no_order_has_is_refused(type_: str, n_points: int, message: str) -> None:
    first = COMPLETE["tetra" if "TETRA" in type_ else "quad"](2)
    mesh = Mesh(np.eye(20, 3), [("vertex", [[0]]), (type_, [range(first), range(n_points)])])
    with pytest.raises(MeshError, match=rf"block 1 \({type_}\), row 1: {message}"):
        edges(mesh)


# -- helpers ------------------------------------------------------------------------------------------------


def table(name: str) -> Edges:
    """Return the edges of a type whose cells have a fixed number of points."""
    kind = cell_type(name)
    assert kind.n_points is not None
    return edges_of(kind, kind.n_points)


def ends(edges: Iterable[Edge]) -> list[Edge]:
    return [(edge[0], edge[-1]) for edge in edges]


def undirected(edges: Iterable[Edge]) -> list[Edge]:
    """Return edges so that they compare whatever their order and directions."""
    return sorted(min(edge, edge[::-1]) for edge in edges)


def assert_straight(edges: Edges, coordinates: npt.NDArray[np.float64], order: int) -> None:
    """Assert that the points of each edge divide the line between its corners into as many equal steps as the order."""
    for edge in edges:
        steps = np.linspace(0, 1, order + 1)[:, None]
        line = (1 - steps) * coordinates[edge[0]] + steps * coordinates[edge[-1]]
        np.testing.assert_allclose(coordinates[list(edge)], line, atol=1e-7)


def vtk_cell(number: int | None, n_points: int) -> Any:
    """Return a cell of VTK whose points have their positions as ids."""
    vtk = pytest.importorskip("vtkmodules.vtkCommonDataModel")
    points = pytest.importorskip("vtkmodules.vtkCommonCore").vtkPoints()
    for position in range(n_points):
        points.InsertNextPoint(position, 0, 0)
    grid = vtk.vtkUnstructuredGrid()
    grid.SetPoints(points)
    grid.InsertNextCell(number, n_points, range(n_points))
    return grid.GetCell(0)


def parametric(number: int | None, n_points: int) -> npt.NDArray[np.float64]:
    """Return where VTK has the points of a cell: float64, (n_points, 3)."""
    cell = vtk_cell(number, n_points)
    return np.array(cell.GetParametricCoords()[: 3 * n_points]).reshape(n_points, 3)


def gmsh_points(shape: str, order: int) -> npt.NDArray[np.float64]:
    """Return the points of gmsh's reference element: float64, (n_points, dim)."""
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        element = gmsh.model.mesh.getElementType(GMSH_FAMILIES[shape], order)
        _, dim, _, n_points, coordinates, _ = gmsh.model.mesh.getElementProperties(element)
    finally:
        gmsh.finalize()
    return np.reshape(coordinates, (n_points, dim))


def wedge_of_gmsh(order: int) -> npt.NDArray[np.float64]:
    """Return the points of a wedge in a mesh that gmsh made, since it does not tell those of its reference element."""
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        geo = gmsh.model.geo
        corners = [geo.addPoint(*corner, 10) for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0))]
        lines = [geo.addLine(corners[i], corners[(i + 1) % 3]) for i in range(3)]
        surface = geo.addPlaneSurface([geo.addCurveLoop(lines)])
        geo.extrude([(2, surface)], 0, 0, 1, numElements=[1], recombine=True)
        geo.synchronize()
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(order)
        tags, coordinates, _ = gmsh.model.mesh.getNodes()
        (type_,), (elements,), (nodes,) = gmsh.model.mesh.getElements(3)
    finally:
        gmsh.finalize()
    row = nodes.reshape(len(elements), -1)[0]
    assert gmsh_numbers[f"wedge{len(row)}"] == type_
    where = {tag: position for position, tag in enumerate(tags)}
    return coordinates.reshape(-1, 3)[[where[tag] for tag in row]]


def as_meshio_reads(name: str) -> list[Edge]:
    """Return the edges of a type of order 2 in rows that meshio made of gmsh's, which has them in a sorted order."""
    kind = cell_type(name)
    shape = next(shape for shape in IN_GMSH if name.rstrip("0123456789") == shape)
    assert name in gmsh_numbers
    assert kind.n_points in (COMPLETE[shape](2), *INCOMPLETE.get(shape, ()))
    rows = _gmsh_to_meshio_order(name, np.arange(kind.n_points or 0)[None])[0].tolist()
    first = kind.n_corners or 0
    return [(a, rows.index(first + number), b) for number, (a, b) in enumerate(IN_GMSH[shape])]
