"""What parts carry of the input, and that all of them together lose nothing."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import reference
from carrying import EVERY_DTYPE, carrying, interleaved_with
from meshes import DRAWN, in_turn, interleaved, overlapping_sets, quads, strip, two_and_two

from meshpart import Mesh, Periodic, split
from meshpart.arrays import same

# -- what parts carry ---------------------------------------------------------------------------------------


@EVERY_DTYPE
def test_data_keeps_its_dtype_its_shape_and_every_bit(values: Any) -> None:
    mesh = interleaved_with(values)
    by_block = mesh.cell_data["d"]
    for part in split(mesh, [2, 1, 0, 2, 1, 0, 2, 1], 4):
        assert same(part.mesh.point_data["d"], values[part.points.global_ids])
        for block, (own, given) in enumerate(zip(part.mesh.cell_data["d"], by_block, strict=True)):
            cells = part.cells.global_ids
            first, last = mesh.block_starts[block : block + 2]
            assert same(own, given[cells[(cells >= first) & (cells < last)] - first])


def test_a_running_number_of_the_cells_is_the_global_id_in_every_part() -> None:
    # blocks quad, triangle, quad, triangle, quad
    mesh = interleaved()
    starts = mesh.block_starts
    mesh = replace(mesh, cell_data={"id": [np.arange(a, b) for a, b in pairwise(starts)]})
    for part in split(mesh, [0, 1, 0, 1, 0, 0, 1, 1]):
        assert np.concatenate(part.mesh.cell_data["id"]).tolist() == part.cells.global_ids.tolist()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "f2"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_local_points_are_the_global_ones_bit_for_bit(dtype: str, dim: int) -> None:
    points = np.random.default_rng(1).normal(size=(16, dim)) * 100
    mesh = Mesh(points.astype(dtype), interleaved().blocks)
    for part in split(mesh, in_turn(mesh)):
        assert same(part.mesh.points, mesh.points[part.points.global_ids])


def test_a_cell_set_over_two_blocks_has_local_rows_in_each() -> None:
    # A = triangle 0 and quad 1; triangles are part 0's and quads part 1's
    zero, one = split(two_and_two(), [0, 0, 1, 1])
    assert [rows.tolist() for rows in zero.mesh.cell_sets["A"]] == [[0], []]
    assert [rows.tolist() for rows in one.mesh.cell_sets["A"]] == [[], [1]]
    # with labels 1 0 1 0, the quad of A is the only one of part 0, and the triangle the only one of part 1
    zero, one = split(two_and_two(), [1, 0, 1, 0])
    assert [rows.tolist() for rows in zero.mesh.cell_sets["A"]] == [[], [0]]
    assert [rows.tolist() for rows in one.mesh.cell_sets["A"]] == [[0], []]


def test_a_cell_in_two_sets_stays_in_both() -> None:
    # A = 0 1, B = 1 2
    zero, one = split(overlapping_sets(), [0, 0, 1])
    assert [rows.tolist() for rows in zero.mesh.cell_sets["A"]] == [[0, 1]]
    assert [rows.tolist() for rows in zero.mesh.cell_sets["B"]] == [[1]]
    assert [rows.tolist() for rows in one.mesh.cell_sets["A"]] == [[]]
    assert [rows.tolist() for rows in one.mesh.cell_sets["B"]] == [[0]]


def test_a_point_set_is_found_on_every_part_that_has_the_point() -> None:
    # 3---4---5   corner 2 is on cell 1 only, points 1 and 4 on both; point 1 is local 1 of part 0: 0 1 3 4
    # | 0 | 1 |   and part 1 has 2 5 and the ghosts 1 4, so point 2 is its local 0 and point 1 its local 2
    # 0---1---2
    mesh = replace(quads(2, 1), point_sets={"corner": [2], "middle": [4, 1]})
    zero, one = split(mesh, [0, 1])
    assert zero.mesh.point_sets["corner"].tolist() == []
    assert one.mesh.point_sets["corner"].tolist() == [0]
    assert zero.mesh.point_sets["middle"].tolist() == [3, 1]
    assert one.mesh.point_sets["middle"].tolist() == [3, 2]


def test_ranks_say_which_entries_of_the_set_a_part_has() -> None:
    # low = 3 2 1 0; part 1 has cell 2 with the points 2 3 6 7, of which it owns 3 7: entries 0 and 1
    zero, one = split(overlapping_sets(), [0, 0, 1])
    assert zero.point_set_positions["low"].tolist() == [1, 2, 3]
    assert one.point_set_positions["low"].tolist() == [0, 1]
    assert one.points.global_ids[one.mesh.point_sets["low"]].tolist() == [3, 2]
    assert [ranks.tolist() for ranks in one.cell_set_positions["B"]] == [[1]]


def test_an_unsorted_set_with_duplicates_keeps_order_and_duplicates() -> None:
    # parts have the cells 0 2 4 and 1 3; in S the entries of part 0 are 0, 1, 3 and those of part 1 are 2, 4
    mesh = replace(strip(5), cell_sets={"S": [[4, 0, 3, 4, 1]]})
    zero, one = split(mesh, [0, 1, 0, 1, 0])
    assert zero.mesh.cell_sets["S"][0].tolist() == [2, 0, 2]
    assert zero.cell_set_positions["S"][0].tolist() == [0, 1, 3]
    assert one.mesh.cell_sets["S"][0].tolist() == [1, 0]
    assert one.cell_set_positions["S"][0].tolist() == [2, 4]


def test_every_set_is_in_every_part_by_name() -> None:
    mesh = replace(overlapping_sets(), cell_sets={"none": [[]], "one": [[0]]}, point_sets={"none": []})
    for part in split(mesh, [0, 0, 1], 4):
        assert list(part.mesh.cell_sets) == list(part.cell_set_positions) == ["none", "one"]
        assert list(part.mesh.point_sets) == list(part.point_set_positions) == ["none"]
        assert part.mesh.cell_sets["none"][0].dtype == np.int64


def test_periodic_pairs_go_with_the_owner_of_the_slave_point_as_global_ids() -> None:
    # 5---6---7---8---9    labels 0 0 1 1: part 0 owns 0 1 2 5 6 7, part 1 owns 3 4 8 9
    # | 0 | 1 | 2 | 3 |    the right side is the slave of the left: pairs (4, 0) and (9, 5);
    # 0---1---2---3---4    a second entry has the slaves 8 and 1
    sides = Periodic(1, (2, 4), np.eye(4), np.array([[4, 0], [9, 5]]))
    others = Periodic(0, (7, 6), None, np.array([[8, 5], [1, 0]]))
    zero, one = split(replace(strip(4), periodic=(sides, others)), [0, 0, 1, 1])
    assert [entry.pairs.tolist() for entry in zero.periodic] == [[], [[1, 0]]]
    assert [entry.pairs.tolist() for entry in one.periodic] == [[[4, 0], [9, 5]], [[8, 5]]]
    assert [ranks.tolist() for ranks in zero.periodic_positions] == [[], [1]]
    assert [ranks.tolist() for ranks in one.periodic_positions] == [[0, 1], [0]]
    assert same(zero.periodic[0]._replace(pairs=sides.pairs), sides)
    assert zero.mesh.periodic == one.mesh.periodic == ()


def test_field_data_tags_of_entities_and_info_are_in_every_part() -> None:
    tags = {"gmsh:bounding_entities": (np.array([-3, 4]),)}
    mesh = replace(strip(2), field_data={"wall": np.array([1, 2])}, block_data=tags, info="from a file")
    for part in split(mesh, [0, 1], 3):
        assert same(dict(part.mesh.field_data), {"wall": np.array([1, 2])})
        assert same(dict(part.mesh.block_data), tags)
        assert part.mesh.info == "from a file"


# -- nothing is lost ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("nparts", [1, 2, 5])
@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_all_parts_together_hold_all_that_the_mesh_holds(mesh: Mesh, nparts: int) -> None:
    mesh = carrying(mesh)
    parts = split(mesh, np.arange(mesh.n_cells)[::-1] % nparts, nparts)
    assert reference.merged(mesh, parts) == reference.facts(mesh)


def test_all_parts_but_one_hold_less() -> None:
    mesh = carrying(quads(3, 3))
    parts = split(mesh, in_turn(mesh))
    assert reference.merged(mesh, parts[:2]) != reference.facts(mesh)


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_the_input_is_not_changed(mesh: Mesh) -> None:
    mesh = carrying(mesh)
    before = pickle.loads(pickle.dumps(mesh))
    split(mesh, in_turn(mesh), 3)
    assert mesh == before
