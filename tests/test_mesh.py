"""The mesh: what the door refuses, what it takes over, equality, numbers and the flat view."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from carrying import with_everything
from meshes import (
    DRAWN,
    QUAD,
    SQUARE,
    empty_blocks,
    interleaved,
    no_cells,
    polygons,
    quads,
    quads_with_lines,
    tets,
    two_cube_polyhedra,
    two_tets_with_triangles,
)

from meshpart import CellBlock, Mesh, MeshError, MeshpartError, split

# -- points at the door -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((4, 2), bool), "points must be real numbers, got the dtype bool"),
        (np.zeros((4, 2), complex), "points must be real numbers, got the dtype complex128"),
        (np.full((4, 2), "0"), "points must be real numbers, got the dtype <U1"),
        (np.zeros((4, 2), object), "points must be real numbers, got the dtype object"),
        (np.zeros((4, 2), "M8[s]"), r"points must be real numbers, got the dtype datetime64\[s\]"),
        (np.zeros((4, 4)), r"points must be \(n_points, 1\|2\|3\), got the shape \(4, 4\)"),
        (np.zeros((4, 0)), r"points must be \(n_points, 1\|2\|3\), got the shape \(4, 0\)"),
        (np.zeros(4), r"points must be \(n_points, 1\|2\|3\), got the shape \(4,\)"),
        (np.zeros((4, 2, 1)), r"points must be \(n_points, 1\|2\|3\), got the shape \(4, 2, 1\)"),
        (0.0, r"points must be \(n_points, 1\|2\|3\), got the shape \(\)"),
        (None, "points must be real numbers, got the dtype object"),
        ([[0, 0], [1]], "points is not an array: "),
    ],
)
def test_points_that_are_none_are_refused(points: Any, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        Mesh(points, QUAD)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u2", np.longdouble])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_keep_their_dtype_and_dimension(dtype: Any, dim: int) -> None:
    mesh = Mesh(np.ones((4, dim), dtype), QUAD)
    assert mesh.points.dtype == dtype
    assert mesh.points.shape == (4, dim)
    assert mesh.coordinates.dtype == np.float64
    assert mesh.coordinates.tolist() == np.ones((4, dim)).tolist()


def test_big_endian_points_become_native_with_the_same_values() -> None:
    mesh = Mesh(np.array(SQUARE, ">f4"), QUAD)
    assert mesh.points.dtype == np.float32
    assert mesh.points.dtype.isnative
    assert mesh.points.tolist() == SQUARE


def test_points_can_be_a_view_of_anything() -> None:
    wide = np.full((8, 4), np.nan)
    wide[::2, 1:3] = SQUARE
    mesh = Mesh(wide[::2, 1:3], QUAD)
    assert mesh.points.flags.c_contiguous
    assert mesh.points.tolist() == SQUARE
    assert Mesh(np.asfortranarray(SQUARE), QUAD).points.tolist() == SQUARE


def test_points_that_do_not_start_at_a_multiple_of_eight_bytes_have_coordinates_that_do() -> None:
    unaligned = np.zeros(1 + 64, np.uint8)[1:].view(np.float64).reshape(4, 2)
    unaligned[:] = SQUARE
    mesh = Mesh(unaligned, QUAD)
    assert mesh.coordinates.flags.aligned
    assert mesh.coordinates.tolist() == SQUARE


def test_nan_and_infinite_coordinates_are_no_error_at_the_door() -> None:
    # Only methods that look at coordinates mind.
    assert Mesh([[math.nan, math.inf], *SQUARE[1:]], QUAD).n_points == 4


# -- connectivity at the door -------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [-1, 4, 2**40, -(2**63)])
def test_an_id_without_a_point_names_block_and_row(wrong: int) -> None:
    blocks = [("triangle", [[0, 1, 2]]), ("triangle", [[0, 1, 2], [1, 2, 3], [0, wrong, 1]])]
    message = rf"block 1 \(triangle\), row 2: there is no point {wrong}, the mesh has 4 points"
    with pytest.raises(MeshError, match=message):
        Mesh(SQUARE, blocks)


def test_the_first_of_several_wrong_ids_is_named() -> None:
    rows = np.zeros((200_000, 3), np.int64)
    rows[150_000, 1] = 77
    rows[199_999, 0] = -5
    with pytest.raises(MeshError, match=r"block 0 \(triangle\), row 150000: there is no point 77"):
        Mesh(SQUARE, [("triangle", rows)])


def test_a_wrong_id_in_a_polygon_names_its_row() -> None:
    # rows of 3, 4 and 5 points; the ninth entry is in row 2
    mesh = polygons()
    rows = [[0, 1, 3], [1, 2, 4, 3], [0, 7, 4, 5, 6]]
    with pytest.raises(MeshError, match=r"block 0 \(polygon\), row 2: there is no point 7, the mesh has 7 points"):
        Mesh(mesh.points, [("polygon", rows)])


def test_a_wrong_id_in_a_polyhedron_names_its_row() -> None:
    with pytest.raises(MeshError, match=r"block 0 \(polyhedron\), row 1: there is no point 4, the mesh has 4 points"):
        Mesh(SQUARE, [("polyhedron", [[[0, 1, 2], [1, 2, 3]], [[0, 1, 2], [1, 2, 4]]])])


def test_ids_counted_from_one_are_refused() -> None:
    with pytest.raises(MeshError, match="there is no point 4"):
        Mesh(SQUARE, [("quad", [[1, 2, 3, 4]])])


def test_cells_without_points_are_refused() -> None:
    with pytest.raises(MeshError, match="there is no point 0, the mesh has 0 points"):
        Mesh(np.zeros((0, 3)), [("vertex", [[0]])])


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (("quad", np.zeros((1, 4))), "block 1: quad nodes must be integers, got the dtype float64"),
        (("quad", [[0, 1, 2, 3], [0, 1, 2]]), "block 1: quad: a cell has 4 points, row 1 has 3"),
        (("quad", [[0, 1, 2]]), "block 1: quad: a cell has 4 points, row 0 has 3"),
        (("squad", [[0, 1, 2]]), "block 1: unknown cell type 'squad'"),
        (("polyhedron", [[[0, 1, 2, "3"]]]), "block 1: polyhedron cell 0 must be integers"),
        (("quad", 5), "block 1: quad: rows must be a sequence, got 5"),
        (("polyhedron", [5]), "block 1: .int. object is not iterable"),
        ("quad", r"block 1: a block of cells is a CellBlock or \(type, rows\), got 'quad'"),
    ],
)
def test_a_block_that_is_wrong_in_itself_is_named(block: Any, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        Mesh(SQUARE, [*QUAD, block])


@pytest.mark.parametrize("blocks", [CellBlock(*QUAD[0]), None, 5])
def test_blocks_that_are_no_sequence_are_refused(blocks: Any) -> None:
    with pytest.raises(MeshError, match=f"blocks must be a sequence of blocks, got {type(blocks).__name__}"):
        Mesh(SQUARE, blocks)


# -- data and sets at the door ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"point_data": {"t": np.zeros(3)}}, r"point_data\['t'\] must have 4 rows, got the shape \(3,\)"),
        ({"point_data": {"t": 1.0}}, r"point_data\['t'\] must have 4 rows, got the shape \(\)"),
        ({"point_data": {"t": [[1], [1, 2], [1], [1]]}}, r"point_data\['t'\] is not an array: "),
        ({"cell_data": {"c": [np.zeros(2)]}}, r"cell_data\['c'\]\[0\] must have 1 rows, got the shape \(2,\)"),
        ({"cell_data": {"c": [1.0]}}, r"cell_data\['c'\]\[0\] must have 1 rows, got the shape \(\)"),
        ({"cell_data": {"c": []}}, r"cell_data\['c'\] must list one entry for each of 1 blocks, got 0 entries"),
        ({"cell_data": {"c": [[0], [0]]}}, r"cell_data\['c'\] must list one entry for each of 1 blocks, got 2 entries"),
        ({"cell_data": {"c": np.zeros(1)}}, r"cell_data\['c'\] must list one entry .* got ndarray"),
        ({"cell_sets": {"s": [[1]]}}, r"cell_sets\['s'\]\[0\]: entry 0 is 1, there are 1 to choose from"),
        ({"cell_sets": {"s": [[0, -1]]}}, r"cell_sets\['s'\]\[0\]: entry 1 is -1, there are 1 to choose from"),
        ({"cell_sets": {"s": [[0.0]]}}, r"cell_sets\['s'\]\[0\] must be integers, got the dtype float64"),
        ({"cell_sets": {"s": [[True]]}}, r"cell_sets\['s'\]\[0\] must be integers, got the dtype bool"),
        ({"cell_sets": {"s": [[[0]]]}}, r"cell_sets\['s'\]\[0\] must be flat, got the shape \(1, 1\)"),
        ({"cell_sets": {"s": None}}, r"cell_sets\['s'\] must list one entry for each of 1 blocks, got NoneType"),
        ({"point_sets": {"p": [3, 4]}}, r"point_sets\['p'\]: entry 1 is 4, there are 4 to choose from"),
        ({"point_sets": {"p": [-1]}}, r"point_sets\['p'\]: entry 0 is -1, there are 4 to choose from"),
        ({"point_sets": {"p": ["0"]}}, r"point_sets\['p'\] must be integers, got the dtype <U1"),
        ({"point_sets": {"p": 2}}, r"point_sets\['p'\] must be flat, got the shape \(\)"),
        ({"block_data": {"b": []}}, r"block_data\['b'\] must list one entry for each of 1 blocks, got 0 entries"),
        ({"periodic": [(1, (2, 3), None, [[0, 4]])]}, r"periodic\[0\].pairs: entry 1 is 4, there are 4"),
        ({"periodic": [(1, (2, 3), None, [[0, 1, 2]])]}, r"periodic\[0\].pairs must be \(n, 2\), .* shape \(1, 3\)"),
        ({"periodic": [(1, (2, 3), None, [0, 1])]}, r"periodic\[0\].pairs must be \(n, 2\), .* shape \(2,\)"),
        ({"periodic": [(1, (2, 3), None, [[0.5, 1]])]}, r"periodic\[0\].pairs must be integers"),
        ({"periodic": [(1, 2, None, [[0, 1]])]}, r"periodic\[0\] must be \(dim, \(slave tag, master tag\), affine"),
        ({"periodic": [(1, (2, 3))]}, r"periodic\[0\] must be \(dim, "),
    ],
)
def test_data_and_sets_that_do_not_fit_are_refused_by_name(what: Any, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        Mesh(SQUARE, QUAD, **what)


def test_an_error_at_the_door_is_the_librarys_and_a_value_error() -> None:
    assert issubclass(MeshError, MeshpartError)
    assert issubclass(MeshError, ValueError)


@pytest.mark.parametrize(
    "empty", [None, [], (), np.zeros(0), np.zeros(0, "f4"), np.zeros(0, "U1"), np.zeros(0, object)]
)
def test_an_empty_set_may_have_any_dtype(empty: Any) -> None:
    mesh = Mesh(SQUARE, QUAD, cell_sets={"s": [empty]}, point_sets={"p": [] if empty is None else empty})
    for members in (mesh.cell_sets["s"][0], mesh.point_sets["p"]):
        assert members.dtype == np.int64
        assert members.shape == (0,)


def test_sets_keep_their_order_and_their_duplicates() -> None:
    mesh = Mesh(SQUARE, [("vertex", [[0], [1], [2]])], point_sets={"p": [3, 1, 3]}, cell_sets={"s": [[2, 0, 2]]})
    assert mesh.point_sets["p"].tolist() == [3, 1, 3]
    assert mesh.cell_sets["s"][0].tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1], np.int8),
        np.array([1], np.uint64),
        np.array([True]),
        np.array([0.5], np.float16),
        np.array([1 + 2j], np.complex64),
        np.array(["a word"]),
        np.array([{"any": "thing"}], object),
        np.array(["2026-11-29"], "M8[D]"),
        np.zeros((1, 3, 3), np.float32),
        np.zeros((1, 0)),
        np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_data_of_any_dtype_is_kept_as_it_is(values: Any) -> None:
    mesh = Mesh([[0.0]], [("vertex", [[0]])], point_data={"d": values}, cell_data={"d": [values]})
    for kept in (mesh.point_data["d"], mesh.cell_data["d"][0]):
        assert kept.dtype == values.dtype
        assert kept.shape == values.shape
        assert kept.tolist() == values.tolist()


def test_big_endian_data_becomes_native_with_the_same_values() -> None:
    mesh = Mesh(SQUARE, QUAD, point_data={"d": np.array([1, 2, 3, 4], ">i2")}, cell_data={"d": [np.array([7], ">f8")]})
    assert mesh.point_data["d"].dtype == np.int16
    assert mesh.point_data["d"].tolist() == [1, 2, 3, 4]
    assert mesh.cell_data["d"][0].dtype == np.float64
    assert mesh.cell_data["d"][0].tolist() == [7]


# -- equality -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mesh", [*DRAWN, with_everything()], ids=repr)
def test_a_mesh_is_equal_to_itself_its_copy_and_its_pickle(mesh: Mesh) -> None:
    assert mesh == mesh  # noqa: PLR0124
    assert copy.copy(mesh) == mesh
    assert copy.deepcopy(mesh) == mesh
    assert pickle.loads(pickle.dumps(mesh)) == mesh


def other_nan() -> Any:
    """Return a NaN whose bits are not those of math.nan."""
    return np.array([0x7FF8_0000_0000_0001], np.uint64).view(np.float64)


@pytest.mark.parametrize(
    "change",
    [
        {"points": np.array(SQUARE, np.float32)},
        {"points": [[-0.0, 0.0], *SQUARE[1:]]},
        {"points": np.hstack([SQUARE, np.zeros((4, 1))])},
        {"blocks": [("quad", [[1, 2, 3, 0]])]},
        {"blocks": [("quad8", [[0, 1, 2, 3, 0, 1, 2, 3]])]},
        {"blocks": [CellBlock("quad", [[0, 1, 2, 3]], tags=("a",))]},
        {"point_data": {}},
        {"point_data": {"t": np.array([0, 1, 2, 3], np.float32)}},
        {"point_data": {"t": np.array([0, 1, 2, 3], np.int64)}},
        {"point_data": {"t": np.array([-0.0, 1, 2, 3])}},
        {"point_data": {"t": np.array([[0.0], [1], [2], [3]])}},
        {"point_data": {"u": np.array([0.0, 1, 2, 3])}},
        {"cell_data": {"c": [other_nan()]}},
        {"cell_data": {"c": [np.array([0.0])]}},
        {"cell_data": {"c": [np.array([math.nan]).view(np.int64)]}},
        {"field_data": {"nan": other_nan()[0]}},
        {"field_data": {"nan": math.nan, "zero": -0.0}},
        {"field_data": {"nan": math.nan, "zero": 0}},
        {"point_sets": {"p": [1, 0]}},
        {"cell_sets": {"s": [[]]}},
        {"block_data": {"gmsh:bounding_entities": [np.array([-1])]}},
        {"block_data": {"gmsh:bounding_entities": [None]}},
        {"periodic": [(1, (2, 3), None, [[1, 0]])]},
        {"periodic": [(1, (2, 4), None, [[0, 1]])]},
        {"periodic": [(1, (2, 3), np.eye(4), [[0, 1]])]},
        {"info": "other"},
    ],
    ids=str,
)
def test_meshes_that_differ_in_a_bit_are_not_equal(change: Any) -> None:
    mesh = Mesh(
        SQUARE,
        QUAD,
        point_data={"t": np.array([0.0, 1, 2, 3])},
        cell_data={"c": [np.array([math.nan])]},
        field_data={"nan": math.nan, "zero": 0.0},
        point_sets={"p": [0, 1]},
        cell_sets={"s": [[0]]},
        block_data={"gmsh:bounding_entities": [np.array([1])]},
        periodic=[(1, (2, 3), None, [[0, 1]])],
        info="some",
    )
    assert replace(mesh) == mesh
    assert replace(mesh, **change) != mesh


def test_nan_in_an_array_of_objects_is_equal_to_itself() -> None:
    mesh = Mesh(SQUARE, QUAD, cell_data={"o": [np.array([math.nan], object)]})
    assert copy.deepcopy(mesh) == mesh


def test_a_mesh_is_not_equal_to_anything_else() -> None:
    assert quads(1, 1) != "quads"
    assert quads(1, 1) != quads(1, 1).to_meshio()


def test_a_mesh_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'Mesh'"):
        hash(quads(1, 1))


def test_a_pickle_holds_the_mesh_and_nothing_computed_from_it() -> None:
    mesh = quads_with_lines(4, 4)
    before = len(pickle.dumps(mesh))
    split(mesh, np.zeros(mesh.n_cells, int))  # needs the flat view and the kinds
    assert "cell_points" in vars(mesh)
    assert len(pickle.dumps(mesh)) == before


def test_the_repr_counts_points_and_cells_block_by_block() -> None:
    assert repr(interleaved()) == "<Mesh: 16 points, 8 cells (2 quad, 2 triangle, 1 quad, 2 triangle, 1 quad)>"
    assert repr(no_cells(3)) == "<Mesh: 3 points, 0 cells ()>"


# -- numbers and the flat view ------------------------------------------------------------------------------


def test_cells_are_numbered_through_the_blocks_in_order() -> None:
    # 2 quads, 2 triangles, 1 quad, 2 triangles, 1 quad
    assert interleaved().block_starts.tolist() == [0, 2, 4, 5, 7, 8]
    assert empty_blocks().block_starts.tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize(
    ("mesh", "dim"),
    [
        (quads(1, 1), 2),
        (tets(1, 1, 1), 3),
        (two_tets_with_triangles(), 3),
        (polygons(), 2),
        (two_cube_polyhedra(), 3),
        (Mesh([[0.0]], [("vertex", [[0]])]), 0),
        (Mesh([[0.0], [1.0]], [("line", [[0, 1]]), ("hexahedron", [])]), 1),
        (no_cells(3), -1),
    ],
    ids=repr,
)
def test_the_dimension_of_a_mesh_is_the_highest_of_its_cells(mesh: Mesh, dim: int) -> None:
    assert mesh.dim == dim


@pytest.mark.parametrize("mesh", [*DRAWN, with_everything()], ids=repr)
def test_the_flat_view_lists_the_points_of_every_cell(mesh: Mesh) -> None:
    rows = reference.rows_of(mesh)
    assert mesh.cell_offsets.dtype == mesh.cell_points.dtype == np.int64
    assert mesh.cell_offsets.tolist() == [sum(len(row) for row in rows[:cell]) for cell in range(len(rows) + 1)]
    assert mesh.cell_points.tolist() == [point for row in rows for point in row]
    assert mesh.n_cells == len(rows)
