"""Blocks: what is taken over, what is refused and with which words, and how polygons and polyhedra are kept."""

from __future__ import annotations

import copy
import pickle
import time
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from meshes import HEX_FACES, polygons, polyhedron_under_pyramid, two_cube_polyhedra

from meshpart import CellBlock, Faces, MeshError
from meshpart.blocks import as_block

QUADS = [[0, 1, 4, 3], [1, 2, 5, 4]]


# -- what is taken over -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i2", "<u2", "i4", ">i4", "u4", "i8", ">i8", "u8"])
def test_rows_of_any_integer_dtype_become_int64(dtype: Any) -> None:
    block = CellBlock.from_rows("quad", np.array(QUADS, dtype))
    assert block.nodes.dtype == np.int64
    assert block.nodes.dtype.isnative
    assert block.nodes.tolist() == QUADS


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_any_memory_order_become_contiguous(order: Any) -> None:
    block = CellBlock("quad", np.array(QUADS, order=order))
    assert block.nodes.flags.c_contiguous
    assert block.nodes.tolist() == QUADS


def test_every_second_row_and_column_can_be_given_as_a_view() -> None:
    wide = np.full((4, 8), -1)
    wide[::2, ::2] = QUADS
    assert CellBlock("quad", wide[::2, ::2]).nodes.tolist() == QUADS


def test_rows_that_do_not_start_at_a_multiple_of_eight_bytes_are_copied_to_one() -> None:
    memory = np.zeros(1 + 8 * 8, np.uint8)
    unaligned = memory[1:].view(np.int64).reshape(2, 4)
    unaligned[:] = QUADS
    assert not unaligned.flags.aligned
    nodes = CellBlock("quad", unaligned).nodes
    assert nodes.flags.aligned
    assert nodes.tolist() == QUADS


def test_int64_rows_are_shared_and_not_copied() -> None:
    nodes = np.array(QUADS, np.int64)
    assert np.shares_memory(CellBlock("quad", nodes).nodes, nodes)


def test_the_callers_array_stays_writeable_and_the_blocks_is_not() -> None:
    nodes = np.array(QUADS, np.int64)
    block = CellBlock("quad", nodes)
    assert nodes.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        block.nodes[0, 0] = 9
    nodes[0, 0] = 9  # still the caller's


@pytest.mark.parametrize("rows", [[], (), np.zeros((0, 4)), np.zeros(0), np.zeros((0, 4), np.int32)])
def test_a_block_without_cells_has_the_width_of_its_type(rows: Any) -> None:
    block = CellBlock.from_rows("quad", rows)
    assert len(block) == 0
    assert block.nodes.shape == (0, 4)
    assert block.nodes.dtype == np.int64


def test_rows_can_be_tuples_ranges_or_arrays() -> None:
    block = CellBlock.from_rows("quad", [(0, 1, 4, 3), range(4), np.arange(4, dtype=np.uint8)])
    assert block.nodes.tolist() == [[0, 1, 4, 3], [0, 1, 2, 3], [0, 1, 2, 3]]


@pytest.mark.parametrize(
    "given",
    [
        ("quad", QUADS),
        ["quad", QUADS],
        CellBlock("quad", QUADS),
        type("AsInMeshio", (), {"type": "quad", "data": np.array(QUADS)})(),
        type("WithoutTags", (), {"type": "quad", "data": np.array(QUADS), "tags": None})(),
    ],
    ids=["tuple", "list", "CellBlock", "object", "tags None"],
)
def test_a_block_can_be_given_as(given: Any) -> None:
    assert as_block(given) == CellBlock("quad", QUADS)


def test_tags_are_kept_as_a_tuple() -> None:
    tagged = type("Tagged", (), {"type": "quad", "data": np.array(QUADS), "tags": ["wall", "wing"]})()
    assert as_block(tagged).tags == ("wall", "wing")


# -- polygons -----------------------------------------------------------------------------------------------


def test_polygons_of_several_sizes_are_rows_with_offsets() -> None:
    # rows of 3, 4 and 5 points: 0, 3, 3 + 4, 3 + 4 + 5
    block = polygons().blocks[0]
    assert block.offsets.tolist() == [0, 3, 7, 12]
    assert block.nodes.tolist() == [0, 1, 3, 1, 2, 4, 3, 0, 3, 4, 5, 6]
    assert block.row_lengths().tolist() == [3, 4, 5]
    assert len(block) == 3


def test_the_row_of_a_position_is_the_one_that_holds_it() -> None:
    block = polygons().blocks[0]
    assert [block.row_of(position) for position in range(12)] == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    assert [CellBlock("quad", QUADS).row_of(position) for position in range(8)] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_polygons_of_one_size_are_the_same_block_however_they_are_given() -> None:
    with_offsets = CellBlock("polygon", [0, 1, 2, 1, 2, 3], [0, 3, 6])
    assert CellBlock("polygon", [[0, 1, 2], [1, 2, 3]]) == with_offsets
    assert CellBlock.from_rows("polygon", [[0, 1, 2], [1, 2, 3]]) == with_offsets
    assert CellBlock.from_rows("polygon", np.array([[0, 1, 2], [1, 2, 3]])) == with_offsets


@pytest.mark.parametrize("rows", [[], np.zeros((0, 3)), np.zeros((0, 7), int)])
def test_no_polygons_are_the_same_block_however_they_are_given(rows: Any) -> None:
    assert CellBlock.from_rows("polygon", rows) == CellBlock("polygon", [], [0])


def test_a_lagrange_cell_has_any_number_of_points_from_its_corners_on() -> None:
    block = CellBlock.from_rows("VTK_LAGRANGE_TRIANGLE", [[0, 1, 2, 3, 4, 5]])
    assert block.row_lengths().tolist() == [6]
    with pytest.raises(MeshError, match="VTK_LAGRANGE_TRIANGLE offsets: row 0 has 2 entries, it needs at least 3"):
        CellBlock.from_rows("VTK_LAGRANGE_TRIANGLE", [[0, 1]])


# -- polyhedra ----------------------------------------------------------------------------------------------


def test_a_polyhedron_has_each_of_its_points_once_in_the_order_of_its_faces() -> None:
    # The faces of the cube 0..7 name 0 3 2 1, then 4 5 6 7, then nothing new; tet 1 2 6 | 1 6 9 | 2 9 6 | 1 9 2.
    block = polyhedron_under_pyramid().blocks[0]
    assert block.nodes.tolist() == [0, 3, 2, 1, 4, 5, 6, 7, 1, 2, 6, 9]
    assert block.offsets.tolist() == [0, 8, 12]


def test_the_faces_of_a_polyhedron_are_positions_in_its_own_row() -> None:
    # The tet's row is 1 2 6 9, so its faces 1 2 6 | 1 6 9 | 2 9 6 | 1 9 2 are 0 1 2 | 0 2 3 | 1 3 2 | 0 3 1.
    faces = polyhedron_under_pyramid().blocks[0].faces
    assert faces.offsets.tolist() == [0, 6, 10]
    assert faces.corner_offsets.tolist() == [0, 4, 8, 12, 16, 20, 24, 27, 30, 33, 36]
    assert faces.corners[24:].tolist() == [0, 1, 2, 0, 2, 3, 1, 3, 2, 0, 3, 1]


def test_chosen_cells_take_their_faces_along() -> None:
    faces = polyhedron_under_pyramid().blocks[0].faces
    tet_then_cube = faces.take(np.array([1, 0]))
    assert tet_then_cube.offsets.tolist() == [0, 4, 10]
    assert tet_then_cube.corners.tolist() == [*faces.corners[24:].tolist(), *faces.corners[:24].tolist()]
    assert faces.take(np.array([], np.int64)) == Faces([0], [0], [])
    assert faces.take(np.array([0, 1])) == faces


def test_taking_one_cell_costs_as_much_in_a_large_block_as_in_a_small_one() -> None:
    seconds = []
    for n in (100, 1_000_000):
        faces = Faces(np.arange(n + 1), np.arange(0, 3 * n + 1, 3), np.tile([0, 1, 2], n))
        start = time.process_time()
        for cell in range(100):
            faces.take(np.array([cell]))
        seconds.append(time.process_time() - start)
    # some tens of microseconds each; a pass over a million faces would take a hundred times as long
    assert seconds[1] < 5 * seconds[0]


def test_no_polyhedra_are_a_block_of_none() -> None:
    block = CellBlock.from_rows("polyhedron", [])
    assert len(block) == 0
    assert block.faces == Faces([0], [0], [])


def test_the_number_in_the_name_of_a_polyhedron_is_kept() -> None:
    block = CellBlock.from_rows("polyhedron8", [[[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]])
    assert block.type == "polyhedron8"
    assert block.nodes.tolist() == [0, 1, 2, 3]


# -- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "rows", "message"),
    [
        ("quad", np.zeros((2, 4)), "quad nodes must be integers, got the dtype float64"),
        ("quad", [[0.0, 1.0, 2.0, 3.0]], "quad row 0 must be integers, got the dtype float64"),
        ("quad", np.zeros((2, 4), complex), "quad nodes must be integers, got the dtype complex128"),
        ("quad", np.zeros((2, 4), bool), "quad nodes must be integers, got the dtype bool"),
        ("quad", [["a", "b", "c", "d"]], "quad row 0 must be integers, got the dtype <U1"),
        ("quad", np.full((1, 4), 2**64 - 1, np.uint64), "quad nodes: 18446744073709551615 does not fit 64 bits"),
        ("quad", [[2**64, 0, 1, 2]], "quad row 0 must be integers, got the dtype object"),
        ("quad", np.zeros((2, 3), int), "quad: a cell has 4 points, got rows of 3"),
        ("quad", np.zeros(4, int), r"quad: nodes must be \(n_cells, k\), got the shape \(4,\)"),
        ("quad", np.zeros((1, 1, 4), int), r"quad: nodes must be \(n_cells, k\), got the shape \(1, 1, 4\)"),
        ("quad", [0, 1, 2, 3], r"quad row 0 must be flat, got the shape \(\)"),
        ("quad", [[0, 1, 2, 3], [0, 1, 2]], "quad: a cell has 4 points, row 1 has 3"),
        ("quad", [[0, 1, 2, 3], 7], r"quad row 1 must be flat, got the shape \(\)"),
        ("quad", [[[0, 1], [2, 3]]], r"quad row 0 must be flat, got the shape \(2, 2\)"),
        ("quad", [[0, 1, 2, [3]]], "quad row 0 is not an array: "),
        ("polygon", [[0, 1, 2], [0, 1]], "polygon offsets: row 1 has 2 entries, it needs at least 3"),
        ("polygon", np.zeros((2, 2), int), "polygon offsets: row 0 has 2 entries, it needs at least 3"),
        ("polyhedron", [[0, 1, 2, 3]], r"polyhedron cell 0 must be flat, got the shape \(\)"),
        ("polyhedron", [[[0, 1, 2], [0, 1]]], "faces.corner_offsets: row 1 has 2 entries, it needs at least 3"),
        ("polyhedron", [[[0, 1, 2]], []], "faces.offsets: row 1 has 0 entries, it needs at least 1"),
        ("polyhedron", [[[0, 1, 0], [1, 0, 1]]], "polyhedron offsets: row 0 has 2 entries, it needs at least 3"),
        ("polyhedron", [[[0.5, 1, 2]]], "polyhedron cell 0 must be integers, got the dtype float64"),
        ("quid", [[0]], "unknown cell type 'quid'"),
        ("triangle_strip", [[0, 1, 2, 3]], "'triangle_strip' is not supported"),
        (9, [[0, 1, 2, 3]], "unknown cell type 9"),
        (None, [[0, 1, 2, 3]], "unknown cell type None"),
    ],
)
def test_rows_that_cannot_be_cells_are_refused(type_: Any, rows: Any, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        CellBlock.from_rows(type_, rows)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 3], "polygon offsets must run from 0 to 7, got 0 to 3"),
        ([1, 7], "polygon offsets must run from 0 to 7, got 1 to 7"),
        ([0, 5, 3, 7], "polygon offsets: row 1 has -2 entries, it needs at least 3"),
        ([0, 3, 3, 7], "polygon offsets: row 1 has 0 entries, it needs at least 3"),
        ([0, 2**62, -(2**63), -(2**62), 7], "polygon offsets: row 1 .*, it needs at least 3"),
        ([], r"polygon offsets must be flat and not empty, got the shape \(0,\)"),
        ([[0, 7]], r"polygon offsets must be flat and not empty, got the shape \(1, 2\)"),
        ([0.0, 7.0], "polygon offsets must be integers, got the dtype float64"),
    ],
)
def test_offsets_that_do_not_ascend_from_0_to_the_end_are_refused(offsets: Any, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        CellBlock("polygon", np.arange(7), offsets)


def test_a_type_of_one_size_takes_no_offsets() -> None:
    with pytest.raises(MeshError, match="triangle: every cell has 3 points, so it takes no offsets"):
        CellBlock("triangle", [0, 1, 2], [0, 3])


def test_a_table_with_offsets_is_refused() -> None:
    with pytest.raises(MeshError, match=r"polygon: nodes with offsets must be flat, got the shape \(2, 3\)"):
        CellBlock("polygon", np.zeros((2, 3), int), [0, 3, 6])


def test_polyhedra_have_faces_and_nothing_else_has() -> None:
    faces = Faces([0, 1], [0, 3], [0, 1, 2])
    with pytest.raises(MeshError, match="polyhedron: polyhedra have Faces, and nothing else has"):
        CellBlock("polyhedron", [0, 1, 2], [0, 3])
    with pytest.raises(MeshError, match="polygon: polyhedra have Faces, and nothing else has"):
        CellBlock("polygon", [0, 1, 2], [0, 3], faces)


@pytest.mark.parametrize("corner", [-1, 3])
def test_a_face_names_no_corner_that_its_cell_does_not_have(corner: int) -> None:
    faces = Faces([0, 1], [0, 3], [0, 1, corner])
    with pytest.raises(MeshError, match="polyhedron: a face names a corner that its cell does not have"):
        CellBlock("polyhedron", [5, 6, 7], [0, 3], faces)


def test_faces_of_more_cells_than_there_are_offsets_are_refused() -> None:
    faces = Faces([0, 1, 2], [0, 3, 6], [0, 1, 2, 0, 1, 2])
    with pytest.raises(MeshError, match="polyhedron: offsets and faces must speak of the same cells"):
        CellBlock("polyhedron", [5, 6, 7], [0, 3], faces)


@pytest.mark.parametrize("given", ["quad", ("quad",), ("quad", QUADS, 3), 5, None, {"quad": QUADS}])
def test_what_is_no_block_is_refused(given: Any) -> None:
    with pytest.raises(MeshError, match=r"a block of cells is a CellBlock or \(type, rows\), got "):
        as_block(given)


# -- values -------------------------------------------------------------------------------------------------


def test_a_block_cannot_be_changed() -> None:
    block = CellBlock("quad", QUADS)
    with pytest.raises(FrozenInstanceError):
        block.type = "tetra"  # type: ignore[misc]


def test_offsets_do_not_follow_the_callers_array() -> None:
    # Kernels compare ids with their range, but trust where rows begin.
    offsets = np.array([0, 3, 7])
    block = CellBlock("polygon", np.arange(7), offsets)
    offsets[1] = 10**12
    assert block.offsets.tolist() == [0, 3, 7]


@pytest.mark.parametrize(
    "other",
    [
        CellBlock("tetra", QUADS),
        CellBlock("quad", QUADS[::-1]),
        CellBlock("quad", QUADS[:1]),
        CellBlock("quad", QUADS, tags=("wall",)),
        "quad",
    ],
)
def test_blocks_that_differ_in_anything_are_not_equal(other: Any) -> None:
    assert CellBlock("quad", QUADS) != other


def test_polyhedra_that_differ_in_a_face_alone_are_not_equal() -> None:
    cube = [list(face) for face in HEX_FACES]
    turned = [cube[0][1:] + cube[0][:1], *cube[1:]]
    first, second = CellBlock.from_rows("polyhedron", [cube]), CellBlock.from_rows("polyhedron", [turned])
    assert set(first.nodes.tolist()) == set(second.nodes.tolist())
    assert first != second


@pytest.mark.parametrize("block", [CellBlock("quad", QUADS), *two_cube_polyhedra().blocks, *polygons().blocks])
def test_a_block_survives_pickling_and_copying(block: CellBlock) -> None:
    assert pickle.loads(pickle.dumps(block)) == block
    assert copy.deepcopy(block) == block
