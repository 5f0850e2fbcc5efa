"""Cutting a part again: its owned cells, in the numbers of the original mesh."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from carrying import carrying, with_everything
from hypothesis import given
from hypothesis import strategies as st
from meshes import (
    DRAWN,
    QUARTERS,
    grid_points,
    interleaved,
    labels_of,
    meshes,
    overlapping_sets,
    quad_rows,
    quads,
    quads_with_lines,
    strip,
    with_unused_points,
)

from meshpart import ArgumentError, Mesh, Periodic, SubMesh, merge, partition, partition_labels, split
from meshpart.arrays import same


def owned(part: SubMesh) -> list[int]:
    """Return the global ids of a part's owned cells."""
    return part.cells.global_ids[: part.cells.n_owned].tolist()


def standalone(mesh: Mesh, labels: Any, part: int) -> tuple[Mesh, list[int], list[int]]:
    """Return a part's cells as a mesh of points and blocks alone, and the global ids of its cells and points."""
    rows, owners = reference.rows_of(mesh), reference.point_owners(mesh, labels)
    cells = [cell for cell in range(mesh.n_cells) if labels[cell] == part]
    points = sorted({point for cell in cells for point in rows[cell]} | {p for p, o in enumerate(owners) if o == part})
    blocks = []
    for number, block in enumerate(mesh.blocks):
        of_block: list[Any] = [cell - mesh.block_starts[number] for cell in cells if number_of(mesh, cell) == number]
        faces = reference.faces_of_block(mesh, number) if block.faces is not None else None
        given = reference.rows_of_block(mesh, number) if faces is None else faces
        local = [renumbered(given[row], points) for row in of_block]
        blocks.append(
            (block.type, local or np.zeros((0, 3 if block.offsets is not None else block.nodes.shape[1]), int))
        )
    return Mesh(mesh.points[points], blocks), cells, points


def number_of(mesh: Mesh, cell: int) -> int:
    """Return the number of the block that a cell lies in."""
    return reference.blocks_of(mesh)[cell]


def renumbered(row: Any, points: list[int]) -> Any:
    """Return a row of points, or of faces, in the numbers that `points` gives them."""
    return [renumbered(entry, points) if isinstance(entry, tuple | list) else points.index(entry) for entry in row]


# -- who is in the parts of a part --------------------------------------------------------------------------


def test_the_parts_of_a_part_have_the_ids_of_the_original_mesh() -> None:
    # 20--21--22--23--24    part 3 of QUARTERS has the cells 10 11 14 15, and 12 13 14 17 18 19 22 23 24
    # |12 |13 |14 |15 |     cut into columns: cells 10 14 in part 0, cells 11 15 in part 1
    # 15--16--17--18--19    points 13 18 23 lie on two cells of each: part 0 has them
    # | 8 | 9 |10 |11 |
    # 10--11--12--13--14
    part = split(quads(4, 4), QUARTERS)[3]
    zero, one = split(part, [0, 1, 0, 1])
    assert zero.cells.global_ids.tolist() == [10, 14]
    assert one.cells.global_ids.tolist() == [11, 15]
    assert zero.points.global_ids.tolist() == [12, 13, 17, 18, 22, 23]
    assert one.points.global_ids.tolist() == [14, 19, 24, 13, 18, 23]
    assert one.points.n_owned == 3
    assert one.points.ghost_owners.tolist() == [0, 0, 0]
    assert (one.part, one.nparts, one.cells.n_global, one.points.n_global) == (1, 2, 16, 25)
    assert one.mesh.blocks[0].nodes.tolist() == [[3, 0, 1, 4], [4, 1, 2, 5]]  # 13 14 19 18, 18 19 24 23
    assert one.mesh.points.tolist() == grid_points(4, 4)[one.points.global_ids].tolist()


def test_ghosts_of_the_part_are_not_among_them_and_ghosts_of_its_parts_are() -> None:
    part = split(quads(4, 4), QUARTERS, ghost_layers=2)[3]
    assert part.cells.n_ghost == 12
    zero, one = split(part, [0, 1, 0, 1], ghost_layers=1)
    assert (owned(zero), owned(one)) == ([10, 14], [11, 15])
    assert zero.cells.global_ids.tolist() == [10, 14, 11, 15]
    assert zero.cells.ghost_owners.tolist() == [1, 1]
    assert zero.points.global_ids.tolist() == [12, 13, 17, 18, 22, 23, 14, 19, 24]
    assert all(zero.cells.complete)  # of the four cells that were cut


def test_points_that_the_part_owns_and_no_cell_has_stay_with_part_0() -> None:
    mesh = with_unused_points(quads(2, 1), 2)  # points 6 and 7
    zero, one = split(mesh, [0, 1], ghost_layers=1)
    assert [part.points.global_ids.tolist() for part in split(zero, [1], 2)] == [[6, 7], [0, 1, 3, 4]]
    assert [part.points.global_ids.tolist() for part in split(one, [1], 2)] == [[], [1, 2, 4, 5]]


def assert_in_original(sub: SubMesh, alone: SubMesh, mesh: Mesh, cells: list[int], points: list[int]) -> None:
    """Assert that a part of a part is the part of a mesh of its own, in the numbers of the original."""
    for entities, others, ids, n_global in (
        (sub.cells, alone.cells, cells, mesh.n_cells),
        (sub.points, alone.points, points, mesh.n_points),
    ):
        assert entities.global_ids.tolist() == [ids[entity] for entity in others.global_ids]
        assert entities.n_global == n_global
        assert same(
            replace(others, kind=None), replace(entities, global_ids=others.global_ids, n_global=len(ids), kind=None)
        )
    assert sub.cells.kind.tolist() == mesh.kinds[sub.cells.global_ids].tolist()
    assert same(sub.block_starts, mesh.block_starts)
    assert same((sub.cell_halo, sub.point_halo), (alone.cell_halo, alone.point_halo))
    assert same(sub.mesh.points, alone.mesh.points)
    assert same(sub.mesh.blocks, alone.mesh.blocks)
    assert (sub.part, sub.nparts, sub.ghost_layers) == (alone.part, alone.nparts, alone.ghost_layers)


@pytest.mark.parametrize("layers", [(0, 0), (1, 0), (0, 1), (2, 1)])
@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_parts_of_a_part_are_those_of_a_mesh_of_its_cells(mesh: Mesh, layers: tuple[int, int]) -> None:
    labels = np.arange(mesh.n_cells) * 5 // 3 % 2
    for part in split(mesh, labels, 2, ghost_layers=layers[0]):
        whole, cells, points = standalone(mesh, labels, part.part)
        again = np.arange(len(cells)) % 3
        parts = split(part, again, 3, ghost_layers=layers[1])
        for sub, alone in zip(parts, split(whole, again, 3, ghost_layers=layers[1]), strict=True):
            assert_in_original(sub, alone, mesh, cells, points)


@given(mesh=meshes(), data=st.data())
def test_parts_of_parts_of_any_mesh_are_those_of_meshes_of_their_cells(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    first, second = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    part = split(mesh, labels, nparts, ghost_layers=first, only=[data.draw(st.integers(0, nparts - 1))])[0]
    whole, cells, points = standalone(mesh, labels, part.part)
    again, n = data.draw(labels_of(len(cells)))
    for sub, alone in zip(
        split(part, again, n, ghost_layers=second), split(whole, again, n, ghost_layers=second), strict=True
    ):
        assert_in_original(sub, alone, mesh, cells, points)


def test_a_part_of_a_part_of_a_part_has_the_ids_of_the_original_mesh() -> None:
    # 16 cells in a row: halves of halves of halves are pairs
    mesh = replace(strip(16), cell_data={"id": [np.arange(16)]}, point_data={"id": np.arange(34)})
    first = split(mesh, np.arange(16) // 8, ghost_layers=1)[1]
    second = split(first, np.arange(8) // 4, ghost_layers=2)[0]
    third = split(second, [0, 0, 1, 1], ghost_layers=1)[1]
    assert third.cells.global_ids.tolist() == [10, 11, 9]
    assert third.points.global_ids.tolist() == [11, 12, 28, 29, 9, 10, 26, 27]
    assert same(third.mesh.cell_data["id"][0], third.cells.global_ids)
    assert same(third.mesh.point_data["id"], third.points.global_ids)
    assert (third.cells.n_global, third.points.n_global) == (16, 34)


def test_kinds_stay_those_of_the_original_mesh() -> None:
    # quad 0 and the line below it, cell 1, in different parts: alone, the line hangs on nothing
    part = split(quads_with_lines(1, 1), [0, 1, 1, 1, 1])[1]
    assert [sub.cells.kind.tolist() for sub in split(part, [0, 1, 1, 0])] == [[1, 1], [1, 1]]


# -- what they carry ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layers", [(0, 0), (1, 1)])
@pytest.mark.parametrize("mesh", [*DRAWN, with_everything()], ids=repr)
def test_all_parts_of_all_parts_hold_all_that_the_mesh_holds(mesh: Mesh, layers: tuple[int, int]) -> None:
    mesh = mesh if mesh.point_sets else carrying(mesh)
    parts = split(mesh, np.arange(mesh.n_cells) % 3, 3, ghost_layers=layers[0])
    smaller = [
        sub for part in parts for sub in split(part, np.arange(part.cells.n_owned) % 2, 2, ghost_layers=layers[1])
    ]
    assert reference.merged(mesh, smaller) == reference.facts(mesh)


def test_positions_are_those_in_the_set_of_the_original_mesh() -> None:
    # S: part 0 has the cells 0 2 4, which stand in S at 0 1 3 5; of these, cell 4 stands at 0 and 3
    mesh = replace(strip(5), cell_sets={"S": [[4, 0, 3, 4, 1, 2]]}, point_sets={"P": [3, 9, 5, 3, 0]})
    part = split(mesh, [0, 1, 0, 1, 0], ghost_layers=1)[0]
    zero, one = split(part, [0, 0, 1])
    assert [rows.tolist() for rows in one.mesh.cell_sets["S"]] == [[0, 0]]
    assert [at.tolist() for at in one.cell_set_positions["S"]] == [[0, 3]]
    assert [at.tolist() for at in zero.cell_set_positions["S"]] == [[1, 5]]
    # cells 0 and 2 have the points 0 1 6 7 and 2 3 8 9
    assert zero.point_set_positions["P"].tolist() == [0, 1, 3, 4]
    assert zero.points.global_ids[zero.mesh.point_sets["P"]].tolist() == [3, 9, 3, 0]


def test_periodic_pairs_go_with_the_owner_of_the_slave_point() -> None:
    # 5---6---7---8---9    part 1 has the cells 2 3 and the slaves 4 9 and 8; the masters 0 5 are elsewhere
    # | 0 | 1 | 2 | 3 |
    # 0---1---2---3---4
    sides = Periodic(1, (2, 4), np.eye(4), np.array([[1, 0], [4, 0], [9, 5]]))
    others = Periodic(0, (7, 6), None, np.array([[8, 5]]))
    part = split(replace(strip(4), periodic=(sides, others)), [0, 0, 1, 1])[1]
    zero, one = split(part, [0, 1])
    assert [entry.pairs.tolist() for entry in zero.periodic] == [[], [[8, 5]]]
    assert [entry.pairs.tolist() for entry in one.periodic] == [[[4, 0], [9, 5]], []]
    assert [at.tolist() for at in one.periodic_positions] == [[1, 2], []]
    assert same(one.periodic[0]._replace(pairs=sides.pairs), sides)
    assert one.mesh.periodic == ()


def test_data_that_was_added_on_the_part_is_carried() -> None:
    part = split(quads(4, 4), QUARTERS, ghost_layers=1)[1]
    part = replace(
        part, mesh=replace(part.mesh, cell_data={"id": part.to_blocks(part.cells.global_ids)}, point_sets={"new": [0]})
    )
    for sub in split(part, [0, 1, 1, 0], ghost_layers=1):
        assert same(sub.mesh.cell_data["id"][0], sub.cells.global_ids)
        assert list(sub.mesh.point_sets) == ["new"]
        assert sub.point_set_positions == {}


def test_nothing_of_ours_is_added_to_the_data() -> None:
    mesh = carrying(quads(4, 4))
    third = split(split(split(mesh, QUARTERS, ghost_layers=1)[0], [0, 0, 1, 1])[1], [0, 1])[0]
    assert list(third.mesh.point_data) == list(mesh.point_data)
    assert list(third.mesh.cell_data) == list(mesh.cell_data)


def test_parts_of_a_part_survive_pickling() -> None:
    parts = split(split(with_everything(), [0, 0, 1])[0], [0, 1])
    assert same(pickle.loads(pickle.dumps(parts)), parts)
    assert not any(array.flags.writeable for part in parts for array in (part.cells.global_ids, part.points.global_ids))


# -- which decomposition ------------------------------------------------------------------------------------


def test_parts_of_different_parts_are_of_different_runs() -> None:
    parts = split(strip(8), np.arange(8) // 4)
    runs = {sub.run for part in parts for sub in split(part, [0, 0, 1, 1])}
    assert len(runs) == 2
    assert len({*runs, parts[0].run}) == 3
    empty = split(strip(2), [0, 0], 3)[1:]
    assert len({split(part, [], 1)[0].run for part in empty}) == 2


def test_parts_of_a_part_do_not_merge() -> None:
    part = split(strip(8), np.arange(8) // 4)[1]
    message = "the parts own 4 cells, the mesh has 8 (parts of a part make up no mesh)"
    with pytest.raises(ArgumentError, match=re.escape(message)):
        merge(split(part, [0, 0, 1, 1]))


def test_parts_of_a_part_that_is_all_of_the_mesh_merge() -> None:
    mesh = carrying(with_unused_points(interleaved()))
    (part,) = split(mesh, np.zeros(8, int))
    assert merge(split(part, np.arange(8) % 3, ghost_layers=1)) == mesh


def test_a_set_that_does_not_fit_its_positions_is_refused() -> None:
    part = split(overlapping_sets(), [0, 0, 1])[0]  # A = cells 0 1
    for what, name in (("cell_sets", "A"), ("point_sets", "left")):
        sets = {**getattr(part.mesh, what), name: [[0]] if what == "cell_sets" else [0]}
        with pytest.raises(ArgumentError, match=re.escape(f"{what}[{name!r}] has 1 members in the part and ")):
            split(replace(part, mesh=replace(part.mesh, **{what: sets})), [0, 1])


# -- partitioning -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sfc", "kahip"])
@pytest.mark.parametrize("layers", [0, 1])
def test_a_part_is_partitioned_as_a_mesh_of_its_cells(method: str, layers: int) -> None:
    mesh = quads_with_lines(12, 8)
    labels = partition_labels(mesh, 3, method="sfc")
    for part in split(mesh, labels, ghost_layers=layers):
        whole, cells, points = standalone(mesh, labels, part.part)
        again = partition_labels(whole, 4, method=method)
        assert same(partition_labels(part, 4, method=method), again)
        for sub, alone in zip(
            partition(part, 4, method=method, ghost_layers=1), split(whole, again, ghost_layers=1), strict=True
        ):
            assert_in_original(sub, alone, mesh, cells, points)
            assert sub.provenance.method == method


def test_some_parts_of_a_part_are_the_same_as_among_all() -> None:
    part = split(carrying(quads(4, 4)), QUARTERS, ghost_layers=1)[2]
    everything = split(part, [0, 1, 2, 2], ghost_layers=1)
    assert same(split(part, [0, 1, 2, 2], ghost_layers=1, only=[2, 0]), [everything[2], everything[0]])


def test_weights_and_groups_of_a_part_are_named_or_given_for_its_owned_cells() -> None:
    # 8 cells in a row, of which part 1 owns 4 5 6 7 and has cell 3 as a ghost
    load = np.array([9, 9, 9, 9, 3, 1, 1, 1])
    mesh = Mesh(
        grid_points(8, 1),
        [("quad", quad_rows(8, 1))],
        cell_data={"load": [load]},
        cell_sets={"together": [[3, 4, 5, 6]], "heavy": [[4]]},
    )
    part = split(mesh, np.arange(8) // 4, ghost_layers=1)[1]
    for weights in ("load", load[4:], {"heavy": 3}):
        assert partition_labels(part, 2, method="sfc", weights=weights).tolist() == [0, 1, 1, 1]
    assert partition_labels(part, 2, method="sfc").tolist() == [0, 0, 1, 1]
    for groups in ("together", [0, 0, 0, -1]):
        labels = partition_labels(part, 2, method="sfc", keep_together=groups, imbalance=0.5)
        assert labels.tolist() == [0, 0, 0, 1]
    with pytest.raises(ArgumentError, match=re.escape("weights must have the shape (4,), got (5,)")):
        partition_labels(part, 2, weights=load[3:])


def test_labels_of_a_part_are_those_of_its_owned_cells() -> None:
    part = split(strip(4), [0, 1, 1, 1], ghost_layers=1)[1]
    with pytest.raises(ArgumentError, match=re.escape("labels must have the shape (3,), got (4,)")):
        split(part, [0, 0, 1, 1])
    assert partition_labels(part, 3, method="sfc").tolist() == [0, 1, 2]


def test_an_empty_part_can_be_cut_again() -> None:
    part = split(carrying(strip(2)), [0, 0], 2)[1]
    assert [sub.cells.n_local for sub in split(part, [], 3)] == [0, 0, 0]
    assert [sub.cells.n_global for sub in partition(part, 2, allow_empty=True)] == [2, 2]
