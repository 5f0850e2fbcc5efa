"""Merging: parts give the mesh that they were made from back bit for bit; what is no whole decomposition is refused."""

from __future__ import annotations

import pickle
import re
import time
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from carrying import EVERY_DTYPE, carrying, interleaved_with, with_everything
from hypothesis import given
from hypothesis import strategies as st
from meshes import (
    DRAWN,
    cubes,
    faces_of_cubes,
    in_turn,
    interleaved,
    labels_of,
    meshes,
    overlapping_sets,
    quads,
    strip,
    two_and_two,
)

from meshpart import ArgumentError, CellBlock, Mesh, Periodic, SubMesh, merge, partition, split
from meshpart.arrays import frozen, same


def with_data(part: SubMesh, **fields: Any) -> SubMesh:
    """Return a part whose mesh has other data."""
    return replace(part, mesh=replace(part.mesh, **fields))


# -- what was split comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("nparts", [1, 2, 3, 7])
@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_merging_what_was_split_gives_the_mesh_back(mesh: Mesh, nparts: int) -> None:
    labels = np.arange(mesh.n_cells)[::-1] * 5 % nparts
    for layers in (0, 1, 2):
        assert merge(split(mesh, labels, nparts, ghost_layers=layers)) == mesh
        assert merge(split(carrying(mesh), labels, nparts, ghost_layers=layers)) == carrying(mesh)


@pytest.mark.parametrize("layers", [0, 1])
@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 1], [2, 0, 1], [5, 5, 1]])
def test_all_that_a_mesh_can_carry_comes_back(labels: list[int], layers: int) -> None:
    mesh = with_everything()
    merged = merge(split(mesh, labels, 7, ghost_layers=layers))
    assert merged == mesh
    for what in ("point_data", "cell_data", "field_data", "point_sets", "cell_sets", "block_data"):
        assert list(getattr(merged, what)) == list(getattr(mesh, what))


@given(mesh=meshes(), data=st.data())
def test_any_mesh_comes_back_from_parts_in_any_order(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    mesh = carrying(mesh)
    order, layers = data.draw(st.permutations(range(nparts))), data.draw(st.integers(0, 2))
    assert merge(split(mesh, labels, nparts, ghost_layers=layers, only=order)) == mesh


@pytest.mark.parametrize("layers", [0, 1])
def test_polygons_and_polyhedra_in_a_row_come_back_though_no_part_has_them_all(layers: int) -> None:
    # 9 cells in parts of 3: the first part has a ghost beyond its own cells, and not the others
    flat, solid = quads(9, 1), cubes(9, 1, 1)
    for mesh in (
        Mesh(flat.points, [CellBlock.from_rows("polygon", flat.blocks[0].nodes)]),
        Mesh(solid.points, [("polyhedron", faces_of_cubes(solid.blocks[0].nodes.tolist()))]),
    ):
        parts = split(mesh, np.arange(9) // 3, ghost_layers=layers)
        assert [part.cells.n_ghost for part in parts] == [layers, 2 * layers, layers]
        assert merge(parts) == mesh


def test_a_mesh_comes_back_from_the_parts_of_any_method() -> None:
    mesh = carrying(interleaved())
    assert merge(iter(partition(mesh, 3, method="sfc"))) == mesh


def test_another_mesh_is_not_what_comes_back() -> None:
    mesh = carrying(quads(3, 3))
    data = np.array(mesh.point_data["a"])
    data[8, 1] = np.nextafter(data[8, 1], 1)
    assert merge(split(mesh, in_turn(mesh))) != replace(mesh, point_data={**mesh.point_data, "a": data})


def test_parts_from_other_processes_merge() -> None:
    mesh = with_everything()
    parts = split(mesh, [1, 0, 1], 3, ghost_layers=1)
    assert merge([pickle.loads(pickle.dumps(part)) for part in parts]) == mesh


@EVERY_DTYPE
def test_data_comes_back_with_its_dtype_its_shape_and_every_bit(values: Any) -> None:
    mesh = interleaved_with(values)
    assert merge(split(mesh, [2, 1, 0, 2, 1, 0, 2, 1], 4)) == mesh


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "f2"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_come_back_bit_for_bit(dtype: str, dim: int) -> None:
    points = np.random.default_rng(1).normal(size=(16, dim)) * 100
    mesh = Mesh(points.astype(dtype), interleaved().blocks)
    assert same(merge(split(mesh, in_turn(mesh))).points, mesh.points)


def test_a_set_comes_back_in_its_order_with_its_duplicates() -> None:
    mesh = replace(strip(5), cell_sets={"S": [[4, 0, 3, 4, 1]]}, point_sets={"P": [11, 0, 5, 5, 1]})
    merged = merge(split(mesh, [0, 1, 0, 1, 0]))
    assert merged.cell_sets["S"][0].tolist() == [4, 0, 3, 4, 1]
    assert merged.point_sets["P"].tolist() == [11, 0, 5, 5, 1]


def test_periodic_pairs_come_back_in_their_order() -> None:
    sides = Periodic(1, (2, 4), np.eye(4), np.array([[9, 5], [4, 0], [9, 0]]))
    mesh = replace(strip(4), periodic=(sides, Periodic(0, (7, 6), None, np.array([[8, 5], [1, 0]]))))
    assert same(merge(split(mesh, [0, 0, 1, 1])).periodic, mesh.periodic)


# -- data that was changed on the parts ---------------------------------------------------------------------


def test_data_that_was_replaced_on_the_parts_is_in_the_merged_mesh() -> None:
    mesh = carrying(interleaved())
    parts = [
        with_data(
            part,
            points=part.mesh.points + 1,
            point_data={"x": part.mesh.points[:, 0].astype(np.float32)},
            cell_data={"n": [block.row_lengths() for block in part.mesh.blocks]},
        )
        for part in split(mesh, in_turn(mesh))
    ]
    merged = merge(parts)
    assert same(merged.points, mesh.points + 1)
    assert same(merged.point_data["x"], mesh.points[:, 0].astype(np.float32))
    assert same(merged.cell_data["n"], tuple(block.row_lengths() for block in mesh.blocks))
    assert list(merged.point_data) == ["x"]


def test_what_the_owner_says_of_a_point_or_cell_counts() -> None:
    # 3---4---5    points 1 and 4 are part 0's, and ghosts of part 1
    # | 0 | 1 |
    # 0---1---2
    parts = [
        with_data(
            part,
            point_data={"part": np.full(part.mesh.n_points, part.part)},
            cell_data={"part": [np.full(part.mesh.n_cells, part.part)]},
        )
        for part in split(quads(2, 1), [0, 1], ghost_layers=1)
    ]
    assert [part.cells.n_ghost for part in parts] == [1, 1]
    merged = merge(parts)
    assert merged.point_data["part"].tolist() == [0, 0, 1, 0, 0, 1]
    assert merged.cell_data["part"][0].tolist() == [0, 1]


def test_a_part_that_gives_no_row_may_have_an_array_of_any_dtype() -> None:
    # all is part 0's, and of no numbers NumPy makes float64
    def marked(part: SubMesh) -> SubMesh:
        even = np.array([x % 2 == 0 for x in part.mesh.points[:, 0]])
        return with_data(part, point_data={"even": even}, cell_data={"c": [even[: len(part.mesh.blocks[0])]]})

    parts = [marked(part) for part in split(strip(2), [0, 0], 2)]
    assert [part.mesh.point_data["even"].dtype for part in parts] == [np.bool_, np.float64]
    merged = merge(parts)
    assert same(merged.point_data["even"], np.array([True, False, True] * 2))
    assert same(merged.cell_data["c"], (np.array([True, False]),))


def test_sets_that_were_added_on_the_parts_have_what_any_part_finds_in_them_ascending() -> None:
    # 4---5---6---7    parts 0 0 1: point 2 is a ghost of part 1, which alone has it in the set
    # | 0 | 1 | 2 |
    # 0---1---2---3
    zero, one = split(strip(3), [0, 0, 1])
    assert one.points.global_ids.tolist() == [3, 7, 2, 6]
    parts = [
        with_data(zero, point_sets={"new": [0, 0]}, cell_sets={"new": [[1, 0]]}),
        with_data(one, point_sets={"new": [2, 0]}, cell_sets={"new": [[0]]}),
    ]
    merged = merge(parts)
    assert merged.point_sets["new"].tolist() == [0, 2, 3]
    assert merged.cell_sets["new"][0].tolist() == [0, 1, 2]


def test_field_data_that_was_replaced_is_taken_where_all_parts_have_the_same() -> None:
    parts = [with_data(part, field_data={"time": np.float64(2)}) for part in split(strip(2), [0, 1])]
    assert merge(parts).field_data == {"time": 2}


# -- what does not merge ------------------------------------------------------------------------------------


def refused(parts: Any, message: str) -> None:
    """Assert that merging raises an error with this text."""
    with pytest.raises(ArgumentError, match=re.escape(message)):
        merge(parts)


def test_something_else_than_parts_is_refused() -> None:
    part = split(strip(2), [0, 0])[0]
    refused([], "parts is empty, it must hold all parts of a decomposition")
    refused(part, "parts must be a list of parts, got <SubMesh 0 of 1")
    refused("parts", "parts must be a list of parts, got 'parts'")
    refused([part, part.mesh], "parts[1] must be a SubMesh, got Mesh")


def test_missing_parts_are_named() -> None:
    parts = split(strip(8), np.arange(8))
    refused([*parts[:2], *parts[3:5], *parts[6:]], "parts 2 and 5 of 8 are missing")
    refused(parts[:7], "part 7 of 8 is missing")
    refused(split(strip(2), [0, 1], 100, only=[3]), "parts 0, 1, 2, 4, 5 and 94 more of 100 are missing")


def test_parts_given_twice_are_named() -> None:
    parts = split(strip(4), np.arange(4))
    refused([*parts, parts[2]], "part 2 is given more than once")
    refused([*parts[1:], *parts[:3], parts[2]], "parts 1 and 2 are given more than once")


def test_parts_of_different_decompositions_are_refused() -> None:
    mesh = strip(4)
    zero, one = split(mesh, [0, 0, 1, 1]), split(mesh, [0, 1, 1, 1])
    refused([zero[0], one[1]], f"parts 0 of 2 and 1 of 2 are of different decompositions: their runs are {zero[0].run}")
    refused([zero[0], split(mesh, [0, 0, 1, 1], 3)[1]], "parts 0 of 2 and 1 of 3 are of different decompositions")


def test_a_name_that_only_some_parts_have_is_refused() -> None:
    mesh = with_everything()
    zero, one, two = split(mesh, [0, 1, 2])
    for what in ("point_data", "cell_data", "field_data", "point_sets", "cell_sets", "block_data"):
        name = next(iter(getattr(mesh, what)))
        others = {key: value for key, value in getattr(one.mesh, what).items() if key != name}
        refused([zero, with_data(one, **{what: others}), two], f"{what}[{name!r}]: part 1 is without it, part 0 has it")
    extra = with_data(one, point_data={**one.mesh.point_data, "u": np.zeros(one.mesh.n_points)})
    refused([zero, extra, two], "point_data['u']: parts 0 and 2 are without it, part 1 has it")


def test_another_dtype_or_shape_is_refused() -> None:
    zero, one = split(with_everything(), [0, 1, 0])
    wide = {**one.mesh.point_data, "v": np.zeros((one.mesh.n_points, 2))}
    refused(
        [zero, with_data(one, point_data=wide)],
        "point_data['v'] has rows of float32 (2,) in part 0 and of float64 (2,) in part 1",
    )
    long = {**one.mesh.cell_data, "number": [np.zeros((len(block), 3), np.int16) for block in one.mesh.blocks]}
    refused(
        [zero, with_data(one, cell_data=long)],
        "cell_data['number'][0] has rows of int16 () in part 0 and of int16 (3,) in part 1",
    )
    refused(
        [zero, with_data(one, points=np.zeros((one.mesh.n_points, 3), np.float32))],
        "points has rows of float32 (2,) in part 0 and of float32 (3,) in part 1",
    )


def test_field_data_that_differs_is_refused() -> None:
    zero, one = split(with_everything(), [0, 1, 0])
    refused(
        [zero, with_data(one, field_data={**one.mesh.field_data, "time": 0.75})],
        "field_data['time'] is not the same in parts 0 and 1",
    )


def test_a_set_that_does_not_fit_its_positions_is_refused() -> None:
    # A = cells 0 1, B = cells 1 2; parts 0 0 1
    zero, one = split(overlapping_sets(), [0, 0, 1])
    changed = with_data(zero, cell_sets={**zero.mesh.cell_sets, "A": [[0]]})
    refused([changed, one], "cell_sets['A'][0] has 1 members in part 0 and 2 positions")
    without = {name: at for name, at in one.point_set_positions.items() if name != "low"}
    refused([zero, replace(one, point_set_positions=without)], "point_sets['low'] has 2 members in part 1 and no pos")


def test_positions_with_gaps_or_clashes_are_refused() -> None:
    zero, one = split(overlapping_sets(), [0, 0, 1])  # of low = 3 2 1 0, part 0 has 1 2 3 and part 1 has 0 1
    for at, message in [
        ([1, 1, 3], "point_sets['low']: no part has entry 2 of 4"),
        ([1, 3, 2], ""),
        ([1, 0, 3], "point_sets['low']: no part has entry 2 of 4"),
        ([1, 2, -3], "point_sets['low']: the parts have 5 entries, they cannot be all of 0..2"),
        ([1, 2, 2**40], "point_sets['low']: the parts have 5 entries, they cannot be all of 0..1099511627776"),
        ([2, 1, 3], "point_sets['low']: part 0 has another entry 1 than another part"),
    ]:
        parts = [replace(zero, point_set_positions={**zero.point_set_positions, "low": np.array(at)}), one]
        if message:
            refused(parts, message)
        else:  # another order is one
            assert merge(parts).point_sets["low"].tolist() == [3, 2, 0, 1]


def test_a_cell_or_point_that_two_parts_own_is_named() -> None:
    mesh = strip(4)
    zero, one = split(mesh, [0, 0, 1, 1])
    both = replace(one.cells, global_ids=frozen(np.array([1, 3])))
    refused([zero, replace(one, cells=both)], "cell 1 is owned by parts 0 and 1")
    points = replace(one.points, global_ids=frozen(np.array([2, 4, 8, 9, 3, 7])))
    refused([zero, replace(one, points=points)], "point 2 is owned by parts 0 and 1")


def test_a_cell_that_no_part_owns_is_named() -> None:
    # triangles 0 1, quads 2 3
    zero, one = split(two_and_two(), [0, 0, 1, 1])
    fewer = replace(one.cells, n_owned=1)
    refused(
        [zero, replace(one, cells=fewer)], "the parts own 3 cells, the mesh has 4 (parts of a part make up no mesh)"
    )
    more = replace(one.points, n_owned=len(one.points.global_ids))
    refused([zero, replace(one, points=replace(more, n_owned=5))], "part 1: the global ids of its 5 owned points")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"global_ids": [3, 2]}, "part 1: the global ids of its 2 owned cells do not ascend from 0 to at most 3"),
        ({"global_ids": [2, 4]}, "part 1 has blocks of [2] cells, its cells.global_ids say [1]"),
        ({"global_ids": [-1, 2]}, "part 1 has blocks of [2] cells, its cells.global_ids say [1]"),
        ({"global_ids": [1, 2, 3]}, "part 1 has blocks of [2] cells, its cells.global_ids say [3]"),
        ({"n_owned": 3}, "part 1: the global ids of its 3 owned cells do not ascend from 0 to at most 3"),
        ({"n_global": 5}, "parts 0 and 1 have different numbers of cells: 4 and 5"),
    ],
)
def test_maps_that_do_not_fit_the_part_are_refused(cells: dict[str, Any], message: str) -> None:
    zero, one = split(strip(4), [0, 0, 1, 1])
    refused([zero, replace(one, cells=replace(one.cells, **{k: np.array(v)[()] for k, v in cells.items()}))], message)


def test_maps_of_points_that_do_not_fit_the_part_are_refused() -> None:
    zero, one = split(strip(4), [0, 0, 1, 1])  # part 1 owns 3 4 8 9 and has the ghosts 2 7
    for ids, message in [
        ([3, 4, 8, 9, 2], "part 1 has 6 points, its points.global_ids are 5"),
        ([3, 4, 9, 8, 2, 7], "part 1: the global ids of its 4 owned points do not ascend from 0 to at most 9"),
        ([3, 4, 8, 9, 2, 10], "part 1: a ghost among its points is not in 0..9"),
    ]:
        refused([zero, replace(one, points=replace(one.points, global_ids=np.array(ids)))], message)


def test_parts_of_other_blocks_are_refused() -> None:
    zero, one = split(quads(2, 1), [0, 1])
    refused(
        [zero, with_data(one, blocks=[("tetra", one.mesh.blocks[0].nodes)])],
        "parts 0 and 1 have different blocks: [('quad',)] and [('tetra',)]",
    )


def test_numbers_of_parts_that_do_not_exist_are_refused() -> None:
    zero, one = split(quads(2, 1), [0, 1])
    refused([zero, replace(one, part=2)], "there is no part 2 of 2")
    refused([replace(zero, part=-1), one], "there is no part -1 of 2")


def test_periodic_pairs_that_do_not_fit_their_positions_are_refused() -> None:
    mesh = replace(strip(4), periodic=(Periodic(1, (2, 4), None, np.array([[4, 0], [9, 5], [0, 4]])),))
    zero, one = split(mesh, [0, 0, 1, 1])
    refused([replace(zero, periodic=()), one], "parts 0 and 1 have different periodic entities: [] and [(1, (2, 4))]")
    refused(
        [replace(zero, periodic_positions=(np.zeros(0, np.int64),)), one],
        "periodic[0] has 1 pairs in part 0 and 0 positions",
    )
    refused(
        [replace(zero, periodic_positions=(np.array([1]),)), one],
        "periodic[0]: part 0 has another entry 1 than another part",
    )


# -- what it costs ------------------------------------------------------------------------------------------


def seconds_of_merging(parts: list[SubMesh]) -> float:
    """Return how long a processor works to merge parts, the better of two tries."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        merge(parts)
        seconds.append(time.process_time() - start)
    return min(seconds)


def strips(mesh: Mesh, nparts: int) -> list[SubMesh]:
    """Return parts of consecutive cells."""
    return split(mesh, np.arange(mesh.n_cells) * nparts // mesh.n_cells, nparts)


def test_the_time_of_merging_does_not_grow_as_parts_times_mesh() -> None:
    # many parts of a large mesh cost what few parts of it and many of a small mesh cost together
    large, small = carrying(quads(400, 400)), carrying(quads(40, 40))
    together = seconds_of_merging(strips(large, 4)) + seconds_of_merging(strips(small, 800))
    assert seconds_of_merging(strips(large, 800)) < 2 * together


def test_merging_holds_the_result_and_little_more() -> None:
    mesh = replace(quads(300, 300), point_data={"u": np.ones((301 * 301, 20))})
    parts = strips(mesh, 30)
    size = mesh.points.nbytes + mesh.point_data["u"].nbytes + mesh.blocks[0].nodes.nbytes
    tracemalloc.start()
    merged = merge(parts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert merged == mesh
    assert peak < 2.2 * size
