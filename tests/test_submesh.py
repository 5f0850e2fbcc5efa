"""Sub-meshes: who is in a part and in which order, how its blocks look, and splitting it again."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
import reference
from carrying import carrying
from meshes import (
    DRAWN,
    QUARTERS,
    cubes,
    fan,
    in_turn,
    interleaved,
    no_cells,
    overlapping_sets,
    polygons,
    polyhedron_under_pyramid,
    quad_rows,
    quads,
    quads_with_lines,
    strip,
    tets,
    two_and_two,
    with_unused_points,
)

from meshpart import ArgumentError, CellBlock, Mesh, SubMesh, split


def ids(part: SubMesh) -> tuple[list[int], list[int]]:
    """Return the owned and the ghost points of a part, as global ids."""
    points = part.points
    return points.global_ids[: points.n_owned].tolist(), points.global_ids[points.n_owned :].tolist()


# -- who is in a part, worked out by hand -------------------------------------------------------------------


def test_two_quads_in_two_parts() -> None:
    # 3---4---5    cell 0 is part 1's and cell 1 part 0's
    # | 0 | 1 |    points 1 4 lie on one cell of each: part 0 has them, the lower
    # 0---1---2    points 0 3 on cell 0 only, points 2 5 on cell 1 only
    zero, one = split(quads(2, 1), [1, 0])
    assert zero.cells.global_ids.tolist() == [1]
    assert ids(zero) == ([1, 2, 4, 5], [])
    assert zero.mesh.blocks[0].nodes.tolist() == [[0, 1, 3, 2]]  # 1 2 5 4
    assert zero.points.complete.tolist() == [False, True, False, True]  # cell 0 is on points 1 and 4
    assert zero.cells.complete.tolist() == [False]
    assert one.cells.global_ids.tolist() == [0]
    assert ids(one) == ([0, 3], [1, 4])
    assert one.points.ghost_owners.tolist() == [0, 0]
    assert one.mesh.blocks[0].nodes.tolist() == [[0, 2, 3, 1]]  # 0 1 4 3
    assert one.points.complete.tolist() == [True, True, False, False]
    assert one.mesh.points.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_ghost_points_come_by_owner_and_then_by_id() -> None:
    # 4---5---6---7    points 1 5 lie on cells 0 and 1: parts 1 and 2, so part 1's
    # | 0 | 1 | 2 |    points 2 6 lie on cells 1 and 2: parts 2 and 0, so part 0's
    # 0---1---2---3    part 2 owns cell 1 and no point
    part = split(strip(3), [1, 2, 0])[2]
    assert ids(part) == ([], [2, 6, 1, 5])
    assert part.points.ghost_owners.tolist() == [0, 0, 1, 1]
    assert part.points.n_ghost == 4
    assert part.mesh.blocks[0].nodes.tolist() == [[2, 0, 1, 3]]  # 1 2 6 5


def test_a_point_belongs_to_the_part_with_most_cells_on_it() -> None:
    # six triangles around point 0: parts 2 2 2 1 1 0 own 3, 2 and 1 of them, so part 2 owns point 0
    parts = split(fan(6), [2, 2, 2, 1, 1, 0])
    assert [0 in ids(part)[0] for part in parts] == [False, False, True]
    # 2 2 1 1 0 0 is a tie
    parts = split(fan(6), [2, 2, 1, 1, 0, 0])
    assert [0 in ids(part)[0] for part in parts] == [True, False, False]


def test_cells_of_every_dimension_count_for_the_owner_of_a_point() -> None:
    # 3---2    quad 0 and vertex 1 on point 2: part 0 has one cell there and part 1 two
    # | 0 |    with two more vertices in part 1
    # 0---1
    mesh = quads(1, 1)
    mesh = Mesh(mesh.points, [*mesh.blocks, ("vertex", [[2], [2]])])
    assert [ids(part)[0] for part in split(mesh, [0, 1, 1])] == [[0, 1, 3], [2]]
    assert [ids(part)[0] for part in split(mesh, [0, 0, 1])] == [[0, 1, 2, 3], []]


def test_a_cell_that_names_a_point_twice_counts_once() -> None:
    # cell 0 of part 1 names point 0 three times; cells 1 and 2 of part 0 name it once each
    mesh = Mesh(np.eye(3), [("quad", [[0, 0, 0, 1]]), ("line", [[0, 1], [0, 2]])])
    zero, one = split(mesh, [1, 0, 0])
    assert ids(zero) == ([0, 1, 2], [])  # point 1: one cell each, a tie
    assert ids(one) == ([], [0, 1])
    assert one.mesh.blocks[0].nodes.tolist() == [[0, 0, 0, 1]]


def test_points_without_a_cell_belong_to_part_0() -> None:
    mesh = with_unused_points(quads(2, 1), 2)  # points 6 and 7
    zero, one = split(mesh, [1, 0])
    assert ids(zero) == ([1, 2, 4, 5, 6, 7], [])
    assert ids(one) == ([0, 3], [1, 4])
    assert zero.points.complete.tolist() == [False, True, False, True, True, True]


def test_points_without_a_cell_come_in_their_place_and_not_last() -> None:
    # 2---5---4    point 1 is in no cell
    # | 0 | 1 |
    # 0   3---6    1
    mesh = Mesh(np.arange(14.0).reshape(7, 2), [("quad", [[0, 3, 5, 2], [3, 6, 4, 5]])])
    assert ids(split(mesh, [0, 1])[0]) == ([0, 1, 2, 3, 5], [])
    assert ids(split(mesh, [1, 0])[0]) == ([1, 3, 4, 5, 6], [])


def test_points_without_a_cell_belong_to_part_0_even_if_it_has_no_cells() -> None:
    zero, one = split(with_unused_points(quads(1, 1)), [1], 2)
    assert ids(zero) == ([4], [])
    assert zero.mesh.points.tolist() == [[99, 99]]
    assert ids(one) == ([0, 1, 2, 3], [])


def test_a_2_by_2_split_of_4_by_4_quads_owns_9_6_6_and_4_points() -> None:
    # 5 x 5 points; the middle row and column are shared and go to the lower part
    #   20 21 | 22 ...   part 0 has 3 x 3, part 1 the 2 x 3 right of it, part 2 the 3 x 2 above, part 3 the last 2 x 2
    parts = split(quads(4, 4), QUARTERS)
    assert [part.points.n_owned for part in parts] == [9, 6, 6, 4]
    assert [part.points.n_local for part in parts] == [9, 9, 9, 9]
    # the middle point, 12, has four parts around it and is part 0's
    assert [part.points.ghost_owners.tolist() for part in parts] == [[], [0] * 3, [0] * 3, [0] + [1] * 2 + [2] * 2]
    assert ids(parts[3])[1] == [12, 13, 14, 17, 22]
    # in part 0, cell 0 is the one that touches no other part
    assert parts[0].cells.complete.tolist() == [True, False, False, False]
    assert parts[0].points.complete.tolist() == [True, True, False, True, True, False, False, False, False]


def test_a_vertex_lies_with_the_part_of_its_label_and_not_of_its_point() -> None:
    # split takes labels literally
    mesh = quads(2, 1)
    mesh = Mesh(mesh.points, [*mesh.blocks, ("vertex", [[0]])])
    one = split(mesh, [0, 1, 1])[1]
    assert one.cells.global_ids.tolist() == [1, 2]
    assert ids(one) == ([2, 5], [0, 1, 4])
    assert [block.nodes.tolist() for block in one.mesh.blocks] == [[[3, 0, 1, 4]], [[2]]]


def test_kinds_are_those_of_the_whole_mesh() -> None:
    # quad 0, line 1 below it: attached. In a part of its own it still is, though nothing there holds it.
    mesh = quads_with_lines(1, 1)
    parts = split(mesh, [0, 1, 1, 1, 1])
    assert [part.cells.kind.tolist() for part in parts] == [[0], [1, 1, 1, 1]]
    assert parts[1].mesh.kinds.tolist() == [0, 0, 0, 0]


# -- who is in a part, against brute force ------------------------------------------------------------------


@pytest.mark.parametrize("nparts", [1, 2, 3])
@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_parts_of_drawn_meshes_are_those_found_by_brute_force(mesh: Mesh, nparts: int) -> None:
    labels = (np.arange(mesh.n_cells) * 5 // 3) % nparts
    for part in split(mesh, labels, nparts):
        assert reference.seen(part) == reference.part_of(mesh, labels, part.part)


def shuffled(mesh: Mesh, n_points: int) -> Mesh:
    """Return a mesh of one block with its cells in any order and its points at any ids below n_points."""
    rng = np.random.default_rng(5)
    ids_ = rng.permutation(n_points)[: mesh.n_points]
    points = np.zeros((n_points, mesh.points.shape[1]))
    points[ids_] = mesh.points
    return Mesh(points, [(mesh.blocks[0].type, rng.permutation(ids_[mesh.blocks[0].nodes]))])


@pytest.mark.parametrize("mesh", [cubes(6, 6, 6), tets(4, 4, 3), quads(20, 20)], ids=repr)
def test_parts_of_shuffled_meshes_are_those_found_by_brute_force(mesh: Mesh) -> None:
    mesh = shuffled(mesh, 5_000)
    labels = np.random.default_rng(6).integers(0, 4, mesh.n_cells)
    for part in split(mesh, labels):
        assert reference.seen(part) == reference.part_of(mesh, labels, part.part)


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_owned_cells_tile_the_cells_and_owned_points_the_points(mesh: Mesh) -> None:
    parts = split(mesh, in_turn(mesh), 3)
    cells = np.concatenate([part.cells.global_ids[: part.cells.n_owned] for part in parts])
    points = np.concatenate([part.points.global_ids[: part.points.n_owned] for part in parts])
    assert sorted(cells) == list(range(mesh.n_cells))
    assert sorted(points) == list(range(mesh.n_points))


def assert_sound(part: SubMesh, mesh: Mesh) -> None:
    """Check what holds in every part: dtypes, lengths, and a mesh that passes the door."""
    for entities, n_local, n_global in [
        (part.cells, part.mesh.n_cells, mesh.n_cells),
        (part.points, part.mesh.n_points, mesh.n_points),
    ]:
        assert entities.global_ids.dtype == np.int64
        assert entities.ghost_owners.dtype == entities.ghost_layers.dtype == np.int32
        assert entities.complete.dtype == np.bool_
        assert entities.n_local == len(entities.global_ids) == len(entities.complete) == n_local
        assert entities.n_ghost == len(entities.ghost_owners) == len(entities.ghost_layers)
        assert entities.n_owned + entities.n_ghost == entities.n_local
        assert entities.n_global == n_global
        assert entities.owners(part.part).tolist() == [part.part] * entities.n_owned + entities.ghost_owners.tolist()
        assert entities.layers().tolist() == [0] * entities.n_local  # without ghost cells
    assert part.cells.kind.dtype == np.uint8
    assert part.points.kind is None
    assert [block.type for block in part.mesh.blocks] == [block.type for block in mesh.blocks]
    assert part.mesh.points.dtype == mesh.points.dtype
    assert part.mesh.points.shape[1] == mesh.points.shape[1]
    assert replace(part.mesh) == part.mesh  # made again from its fields, checked at the door
    assert [replace(block) for block in part.mesh.blocks] == list(part.mesh.blocks)


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_every_part_is_sound_the_empty_ones_too(mesh: Mesh) -> None:
    parts = split(mesh, in_turn(mesh) * 2, 7)  # parts 1, 3, 5, 6 have no cells
    assert [part.part for part in parts] == list(range(7))
    assert all(part.nparts == 7 for part in parts)
    for part in parts:
        assert_sound(part, mesh)


def test_arrays_of_a_part_refuse_writes() -> None:
    mesh = replace(overlapping_sets(), point_data={"t": np.zeros(8)}, cell_data={"c": [np.zeros(3)]})
    part = split(mesh, [0, 0, 1])[0]
    arrays = [part.mesh.points, part.mesh.blocks[0].nodes, part.mesh.point_data["t"], part.mesh.cell_data["c"][0]]
    arrays += [part.mesh.point_sets["left"], part.mesh.cell_sets["A"][0], part.point_set_positions["left"]]
    arrays += [part.cell_set_positions["A"][0]]
    for entities in (part.cells, part.points):
        arrays += [entities.global_ids, entities.complete, entities.ghost_owners, entities.ghost_layers]
    assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(FrozenInstanceError):
        part.part = 3  # type: ignore[misc]


# -- empty parts --------------------------------------------------------------------------------------------


def test_a_part_without_cells_is_a_whole_object() -> None:
    # of the five parts, 0 and 3 own a cell each
    mesh = Mesh(
        quads(2, 1).points.astype(np.float32),
        quads(2, 1).blocks,
        point_data={"v": np.zeros((6, 3), np.float16)},
        cell_data={"c": [np.zeros((2, 3, 3), np.int8)]},
        point_sets={"p": [0, 1]},
        cell_sets={"s": [[0, 1]]},
    )
    parts = split(mesh, [0, 3], 5)
    assert sorted(part.cells.n_owned for part in parts) == [0, 0, 0, 1, 1]
    empty = parts[2]
    assert empty.mesh.points.shape == (0, 2)
    assert empty.mesh.points.dtype == np.float32
    assert empty.mesh.blocks[0].nodes.shape == (0, 4)
    assert empty.mesh.point_data["v"].shape == (0, 3)
    assert empty.mesh.point_data["v"].dtype == np.float16
    assert empty.mesh.cell_data["c"][0].shape == (0, 3, 3)
    assert empty.mesh.cell_data["c"][0].dtype == np.int8
    assert empty.mesh.point_sets["p"].tolist() == []
    assert empty.mesh.cell_sets["s"][0].tolist() == []
    assert empty.cells.n_global == 2
    assert empty.points.n_global == 6
    assert repr(empty) == "<SubMesh 2 of 5: 0 cells + 0 ghosts, 0 points + 0 ghosts>"
    assert [len(part.mesh.blocks) for part in split(empty.mesh, [], 3)] == [1, 1, 1]


def test_a_mesh_without_cells_has_all_its_points_in_part_0() -> None:
    (only,) = split(no_cells(3), [])
    assert ids(only) == ([0, 1, 2], [])
    assert only.points.complete.tolist() == [True, True, True]
    parts = split(no_cells(3), [], 3)
    assert [part.points.n_owned for part in parts] == [3, 0, 0]


def test_a_mesh_without_anything_has_parts_without_anything() -> None:
    parts = split(no_cells(0), np.zeros(0), 2)
    assert [(part.mesh.n_points, part.mesh.n_cells) for part in parts] == [(0, 0), (0, 0)]


# -- blocks -------------------------------------------------------------------------------------------------


def test_blocks_stay_one_to_one_and_their_rows_in_local_order() -> None:
    # blocks: cells 0 1 | 2 3 | 4 | 5 6 | 7; part 1 has the cells 1 3 6 7
    part = split(interleaved(), [0, 1, 0, 1, 0, 0, 1, 1])[1]
    assert [block.type for block in part.mesh.blocks] == ["quad", "triangle", "quad", "triangle", "quad"]
    assert [len(block) for block in part.mesh.blocks] == [1, 1, 0, 1, 1]
    assert part.cells.global_ids.tolist() == [1, 3, 6, 7]


def test_blocks_of_one_type_are_not_joined_and_keep_their_tags() -> None:
    rows = quad_rows(3, 1)
    blocks = [CellBlock("quad", rows[[i]], tags=(name,)) for i, name in enumerate(["sand", "clay", "rock"])]
    parts = split(Mesh(strip(3).points, blocks), [0, 1, 1])
    assert [[len(block) for block in part.mesh.blocks] for part in parts] == [[1, 0, 0], [0, 1, 1]]
    assert [block.tags for block in parts[0].mesh.blocks] == [("sand",), ("clay",), ("rock",)]


def test_the_27_nodes_of_a_hexahedron_keep_their_order() -> None:
    rng = np.random.default_rng(0)
    rows = np.stack([rng.permutation(60)[:27] for _ in range(5)])
    mesh = Mesh(rng.random((60, 3)), [("hexahedron27", rows)])
    for part in split(mesh, [1, 0, 1, 1, 0]):
        given = rows[part.cells.global_ids]
        assert part.points.global_ids[part.mesh.blocks[0].nodes].tolist() == given.tolist()
        assert part.mesh.points[part.mesh.blocks[0].nodes].tobytes() == mesh.points[given].tobytes()


def test_polygons_of_several_sizes_are_carried_with_their_offsets() -> None:
    # cell 0 = 0 1 3, cell 1 = 1 2 4 3, cell 2 = 0 3 4 5 6; part 1 has 0 and 2
    zero, one = split(polygons(), [1, 0, 1])
    assert one.mesh.blocks[0].offsets.tolist() == [0, 3, 8]
    assert one.points.global_ids[one.mesh.blocks[0].nodes].tolist() == [0, 1, 3, 0, 3, 4, 5, 6]
    assert zero.mesh.blocks[0].offsets.tolist() == [0, 4]


def test_polyhedra_are_carried_with_their_faces() -> None:
    # polyhedra 0 (a cube) and 1 (a tet), pyramid 2; part 1 has the tet and the pyramid
    mesh = polyhedron_under_pyramid()
    zero, one = split(mesh, [0, 1, 1])
    cube, tet = reference.faces_of_block(mesh, 0)
    for part, faces in [(zero, cube), (one, tet)]:
        (own,) = reference.faces_of_block(part.mesh, 0)
        assert [tuple(part.points.global_ids[list(face)].tolist()) for face in own] == faces
    assert tet == [(1, 2, 6), (1, 6, 9), (2, 9, 6), (1, 9, 2)]


# -- from blocks to local order and to meshio --------------------------------------------------------------


def test_values_of_blocks_and_in_local_order_are_each_others_undoing() -> None:
    # owned are cells 1 3 6 7, part 0 owns 0 2 5, part 2 owns 4; in blocks the rows are (1 0) (3 2) (4) (6 5) (7)
    part = split(interleaved(), [0, 1, 0, 1, 2, 0, 1, 1], ghost_layers=1)[1]
    assert part.cells.global_ids.tolist() == [1, 3, 6, 7, 0, 2, 5, 4]
    assert [part.cell_rows(block).tolist() for block in range(5)] == [[0, 4], [1, 5], [7], [2, 6], [3]]
    values = np.arange(24.0).reshape(8, 3)
    assert np.array_equal(part.to_local(part.to_blocks(values)), values)
    assert part.to_local([[1, 2], [3, 4], [5], [6, 7], [8.0]]).tolist() == [1, 3, 6, 8, 2, 4, 7, 5]
    assert part.to_local([[True, False]] * 2 + [[True]] + [[True, True]] + [[False]]).dtype == np.bool_


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda part: part.cell_rows(2), "block must be between 0 and 1, got 2"),
        (lambda part: part.cell_rows(1.0), "block must be an integer, got 1.0"),
        (lambda part: part.to_blocks([1, 2]), r"values must have 4 rows, got the shape \(2,\)"),
        (lambda part: part.to_blocks(3), r"values must have 4 rows, got the shape \(\)"),
        (lambda part: part.to_local([[1, 2]]), "blocks must be a sequence of 2 arrays, one for each block"),
        (lambda part: part.to_local(np.zeros((2, 2))), "blocks must be a sequence of 2 arrays, one for each block"),
        (lambda part: part.to_local([[1, 2], [3]]), r"blocks\[1\] must have 2 rows, got the shape \(1,\)"),
        (lambda part: part.to_local([[1, 2], [[3], [4]]]), r"blocks\[1\] has the shape \(2, 1\), blocks\[0\] \(2,\)"),
    ],
)
def test_values_that_do_not_fit_the_blocks_are_refused(call: Any, message: str) -> None:
    part = split(two_and_two(), [0, 0, 1, 1], ghost_layers=9)[0]
    with pytest.raises(ArgumentError, match=message):
        call(part)


def test_an_empty_list_for_an_empty_block_says_nothing_of_the_dtype() -> None:
    part = split(two_and_two(), [0, 0, 1, 1])[0]  # the triangles
    assert part.to_local([np.array([2**53 + 1, 2]), []]).tolist() == [2**53 + 1, 2]
    with pytest.raises(ArgumentError, match="blocks have no dtype in common"):
        split(two_and_two(), [0, 1, 0, 1])[0].to_local([np.array(["2000-01-01"], "M8[D]"), [1.0]])


def test_local_ids_are_where_global_ids_are() -> None:
    # Q(2, 1), part 1 with a layer: points 2 5 | 0 1 3 4, cells 1 | 0
    part = split(quads(2, 1), [0, 1], ghost_layers=1)[1]
    assert part.points.local_ids([[4, 2], [0, 9]]).tolist() == [[5, 0], [2, -1]]
    assert part.cells.local_ids(np.array([1, -1, 0], np.int8)).tolist() == [0, -1, 1]
    assert split(quads(2, 1), [0, 0], 2)[1].cells.local_ids([0, 1]).tolist() == [-1, -1]
    with pytest.raises(ArgumentError, match="global_ids must be integers"):
        part.cells.local_ids([0.5])


def test_a_part_as_a_meshio_mesh_has_ids_owners_layers_and_ghosts() -> None:
    # 3---4---5   part 1 owns cell 1 and the points 2 and 5; the input has data of the name of ours
    # | 0 | 1 |
    # 0---1---2
    mesh = replace(quads(2, 1), cell_data={"CellOwner": [[7, 8]]}, point_data={"u": np.arange(6)})
    got = split(mesh, [0, 1], ghost_layers=1)[1].to_meshio()
    assert got.cells[0].data.tolist() == [[3, 0, 1, 5], [2, 3, 5, 4]]
    assert got.cell_data["GlobalCellIds"][0].tolist() == [1, 0]
    assert got.cell_data["CellOwner"][0].tolist() == [1, 0]
    assert got.cell_data["CellLayer"][0].tolist() == [0, 1]
    assert got.cell_data["vtkGhostType"][0].tolist() == [0, 1]
    assert got.cell_data["input_CellOwner"][0].tolist() == [8, 7]
    assert got.point_data["GlobalPointIds"].tolist() == got.point_data["u"].tolist() == [2, 5, 0, 1, 3, 4]
    assert got.point_data["PointOwner"].tolist() == [1, 1, 0, 0, 0, 0]
    assert got.point_data["PointLayer"].tolist() == [0, 0, 1, 0, 1, 0]


# -- again --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_the_mesh_of_a_part_can_be_split_again(mesh: Mesh) -> None:
    mesh = carrying(mesh)
    for part in split(mesh, in_turn(mesh), 3):
        labels = np.arange(part.mesh.n_cells) % 2
        again = split(part.mesh, labels, 2)
        for smaller in again:
            assert reference.seen(smaller) == reference.part_of(part.mesh, labels, smaller.part)
        assert reference.merged(part.mesh, again) == reference.facts(part.mesh)
