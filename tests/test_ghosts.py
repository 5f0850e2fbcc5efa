"""Ghost layers: who is a ghost of whom, in which layer and in which order, and what does not depend on what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from carrying import carrying
from meshes import (
    DRAWN,
    QUARTERS,
    cubes,
    curved_triangles,
    fan,
    in_turn,
    interleaved,
    quads,
    quads_with_lines,
    sfc_labels,
    strip,
    tets,
    with_unused_points,
)

from meshpart import ArgumentError, Mesh, SubMesh, dual_graph, partition, partition_labels, split
from meshpart.arrays import same


def layers_of(part: SubMesh) -> list[list[int]]:
    """Return the ghost cells of each layer as global ids."""
    cells = part.cells
    ghosts = cells.global_ids[cells.n_owned :]
    return [sorted(ghosts[cells.ghost_layers == layer]) for layer in range(1, int(cells.layers().max(initial=0)) + 1)]


def plan_of(part: SubMesh, entity: str) -> reference.Plan:
    """Return what a part sends to each neighbour and receives from it, as global ids."""
    return reference.seen_plan(getattr(part, f"{entity}s"), getattr(part, f"{entity}_halo"))


# -- worked out by hand -------------------------------------------------------------------------------------

# 7---8---9---10--11--12--13    the numbers in the cells are their parts: cells 0 5 are part 0's, 2 3 part 1's, 1 4
# | 0 | 2 | 1 | 1 | 2 | 0 |     part 2's. Points 0 1 5 6 and those above are part 0's (1 and 5 by a tie), 2 3 4 and
# 0---1---2---3---4---5---6     those above part 1's (2 and 4 by a tie); part 2 owns no point
ROW = [0, 2, 1, 1, 2, 0]


def test_ghosts_come_by_owner_and_id_whatever_their_layer() -> None:
    part = split(strip(6), ROW, ghost_layers=2)[1]
    assert part.cells.global_ids.tolist() == [2, 3, 0, 5, 1, 4]
    assert part.cells.n_owned == 2
    assert part.cells.ghost_owners.tolist() == [0, 0, 2, 2]
    assert part.cells.ghost_layers.tolist() == [2, 2, 1, 1]
    assert part.points.global_ids.tolist() == [2, 3, 4, 9, 10, 11, 0, 1, 5, 6, 7, 8, 12, 13]
    assert part.points.n_owned == 6
    assert part.points.ghost_owners.tolist() == [0] * 8
    assert part.points.ghost_layers.tolist() == [2, 1, 1, 2, 2, 1, 1, 2]  # 1 is on cell 1 of layer 1, 0 only on cell 0
    assert part.mesh.blocks[0].nodes[[0, 2]].tolist() == [[0, 1, 4, 3], [6, 7, 11, 10]]  # 2 3 10 9 and 0 1 8 7
    assert part.cells.complete.all()  # the whole mesh is there
    assert part.points.complete.all()


def test_the_last_layer_is_not_complete_and_all_before_it_is() -> None:
    part = split(strip(6), ROW, ghost_layers=1)[1]
    assert part.cells.global_ids.tolist() == [2, 3, 1, 4]
    assert part.cells.complete.tolist() == [True, True, False, False]  # cells 0 and 5 are missing
    assert part.points.global_ids.tolist() == [2, 3, 4, 9, 10, 11, 1, 5, 8, 12]
    assert part.points.complete.tolist() == [True] * 6 + [False] * 4
    assert part.points.ghost_layers.tolist() == [1, 1, 1, 1]


def test_points_on_owned_cells_are_of_layer_0_whoever_owns_them() -> None:
    part = split(strip(6), ROW, ghost_layers=1)[2]
    assert part.cells.global_ids.tolist() == [1, 4, 0, 5, 2, 3]
    assert part.points.n_owned == 0
    assert part.points.global_ids.tolist() == [0, 1, 5, 6, 7, 8, 12, 13, 2, 3, 4, 9, 10, 11]
    assert part.points.ghost_owners.tolist() == [0] * 8 + [1] * 6
    # cell 1 has 1 2 8 9, cell 4 has 4 5 11 12
    assert part.points.ghost_layers.tolist() == [1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0]
    without = split(strip(6), ROW)[2]
    assert without.points.global_ids.tolist() == [1, 5, 8, 12, 2, 4, 9, 11]
    assert without.points.ghost_layers.tolist() == [0] * 8


def test_neighbours_of_points_are_not_those_of_cells_and_may_be_one_way() -> None:
    parts = split(strip(6), ROW, ghost_layers=1)
    assert plan_of(parts[0], "cell") == {2: ([0, 5], [1, 4])}
    assert plan_of(parts[1], "cell") == {2: ([2, 3], [1, 4])}
    assert plan_of(parts[2], "cell") == {0: ([1, 4], [0, 5]), 1: ([1, 4], [2, 3])}
    # parts 0 and 1 know each other by points alone: cells 1 and 4 are ghosts of both; part 2 owns nothing to send
    assert plan_of(parts[0], "point") == {1: ([1, 5, 8, 12], [2, 4, 9, 11]), 2: ([0, 1, 5, 6, 7, 8, 12, 13], [])}
    assert plan_of(parts[1], "point") == {0: ([2, 4, 9, 11], [1, 5, 8, 12]), 2: ([2, 3, 4, 9, 10, 11], [])}
    assert plan_of(parts[2], "point") == {0: ([], [0, 1, 5, 6, 7, 8, 12, 13]), 1: ([], [2, 3, 4, 9, 10, 11])}


def test_without_layers_the_plan_of_points_serves_the_interface() -> None:
    parts = split(quads(4, 4), QUARTERS)
    assert [len(part.cell_halo.neighbours) for part in parts] == [0] * 4
    # the middle column is 2 7 12 17 22, the middle row 10 .. 14
    assert plan_of(parts[0], "point") == {1: ([2, 7, 12], []), 2: ([10, 11, 12], []), 3: ([12], [])}
    assert plan_of(parts[3], "point") == {0: ([], [12]), 1: ([], [13, 14]), 2: ([], [17, 22])}


def test_cells_of_every_dimension_meet_on_every_point() -> None:
    # a vertex on mid-side point 6 of triangles 0 and 1; line3 2 and line 3 lie on other points of triangle 0;
    # vertex 5 is on a point of its own
    part = split(curved_triangles(), [0, 0, 0, 0, 1, 0], ghost_layers=99)[1]
    assert layers_of(part) == [[0, 1], [2, 3]]
    assert part.cells.kind.tolist() == [1, 0, 0, 1, 1]  # the vertex and the lines are attached


def test_facets_alone_would_miss_the_ghosts_at_the_corners() -> None:
    # 6 7 8    around cell 4, four cells share a side with it and four a point only; a sum over the cells on point 5,
    # 3 4 5    between 0 1 3 and 4, needs cell 0
    # 0 1 2
    mesh, labels = quads(3, 3), np.where(np.arange(9) == 4, 1, 0)
    part = split(mesh, labels, ghost_layers=1)[1]
    by_facet = dual_graph(mesh).neighbours(4).tolist()
    assert by_facet == [1, 3, 5, 7]
    assert layers_of(part) == [[0, 1, 2, 3, 5, 6, 7, 8]]
    on_points = [cells for cells in reference.cells_on_points(mesh) if 4 in cells]
    assert all(cells <= set(part.cells.global_ids) for cells in on_points)
    assert not any(cells <= {4, *by_facet} for cells in on_points)


def test_ghosts_carry_their_rows_in_their_blocks() -> None:
    # blocks: quads 0 1 | triangles 2 3 | quad 4 | triangles 5 6 | quad 7; part 1 owns cell 3 = 2 3 11, which meets
    # cell 1 at point 2, cell 2 at 2 and 11, and cell 4 at 3 and 11
    part = split(interleaved(), [2, 0, 0, 1, 2, 0, 0, 0], ghost_layers=1)[1]
    assert part.cells.global_ids.tolist() == [3, 1, 2, 4]
    assert [len(block) for block in part.mesh.blocks] == [1, 2, 1, 0, 0]
    assert [part.cell_rows(block).tolist() for block in range(5)] == [[1], [0, 2], [3], [], []]
    assert reference.seen(part).rows == [[(1, 2, 10, 9)], [(2, 3, 11), (2, 11, 10)], [(3, 4, 12, 11)], [], []]


@pytest.mark.parametrize("ghost_layers", [1, 2])
def test_a_fan_of_64_000_cells_is_one_layer(ghost_layers: int) -> None:
    # All cells share point 0; cell i is on the rim points i + 1 and i + 2, part p owns the cells from 16 000 p on.
    n, quarter = 64_000, 16_000
    parts = split(fan(n), np.arange(n) // quarter, ghost_layers=ghost_layers)
    for part in parts:
        assert part.cells.n_owned == quarter
        assert np.array_equal(part.cells.global_ids[:quarter], np.arange(quarter) + part.part * quarter)
        assert np.array_equal(np.sort(part.cells.global_ids), np.arange(n))
        assert (part.cells.ghost_layers == 1).all()
        assert part.cells.complete.all()
        assert part.points.complete.all()
        assert part.points.n_local == n + 1
        assert (part.points.layers() == 0).sum() == quarter + 2  # point 0 and one rim point more than cells
    # point 0 and the four rim points between two parts are ties: part 0 has point 0 and both of its ends, part 3 none
    assert [part.points.n_owned for part in parts] == [quarter + 2, quarter, quarter, quarter - 1]


@pytest.mark.parametrize("ghost_layers", [1, 2])
def test_what_was_marked_for_one_part_is_not_for_another_of_many(ghost_layers: int) -> None:
    # 2 048 parts of a cell each, one after another in one thread and in any order, so that whatever comes back after
    # 255 or 256 of them would be met again; layer k of a cell are those k columns or rows away
    mesh, labels = quads(64, 32), np.random.default_rng(0).permutation(2048)
    places = np.array([(cell % 64, cell // 64) for cell in np.argsort(labels)])  # of the part's cell
    columns, rows = np.arange(2048) % 64, np.arange(2048) // 64
    for part, (column, row) in zip(split(mesh, labels, ghost_layers=ghost_layers, threads=1), places, strict=True):
        away = np.maximum(np.abs(columns - column), np.abs(rows - row))
        cells = np.flatnonzero(away <= ghost_layers)
        assert sorted(part.cells.global_ids) == cells.tolist()
        assert part.cells.layers().tolist() == away[part.cells.global_ids].tolist()
        assert sorted(part.points.global_ids) == np.unique(mesh.blocks[0].nodes[cells]).tolist()


# -- against brute force ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ghost_layers", [0, 1, 2, 3, 99])
@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_parts_of_drawn_meshes_are_those_found_by_brute_force(mesh: Mesh, ghost_layers: int) -> None:
    for nparts in (1, 2, 3):
        labels = (np.arange(mesh.n_cells) * 5 // 3) % nparts
        assert_as_by_brute_force(mesh, labels, nparts, ghost_layers)


def shuffled(mesh: Mesh, n_points: int) -> Mesh:
    """Return a mesh of one block with its cells in any order and its points at any ids below n_points."""
    rng = np.random.default_rng(7)
    ids = rng.permutation(n_points)[: mesh.n_points]
    points = np.zeros((n_points, mesh.points.shape[1]))
    points[ids] = mesh.points
    return Mesh(points, [(mesh.blocks[0].type, rng.permutation(ids[mesh.blocks[0].nodes]))])


@pytest.mark.parametrize("ghost_layers", [1, 2, 3])
@pytest.mark.parametrize("mesh", [cubes(6, 6, 5), tets(3, 3, 4), quads(16, 15)], ids=repr)
def test_parts_of_shuffled_meshes_are_those_found_by_brute_force(mesh: Mesh, ghost_layers: int) -> None:
    mesh = shuffled(mesh, 1_000)
    assert_as_by_brute_force(mesh, sfc_labels(mesh, 6), 7, ghost_layers)


def assert_as_by_brute_force(mesh: Mesh, labels: Any, nparts: int, ghost_layers: int) -> None:
    """Assert that members and plans of all parts are those of the reference."""
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    expected = reference.parts_of(mesh, labels, range(nparts), ghost_layers)
    assert [reference.seen(part) for part in parts] == expected
    assert [plan_of(part, "cell") for part in parts] == reference.plans([part.cells for part in expected], labels)
    owners = reference.point_owners(mesh, labels)
    assert [plan_of(part, "point") for part in parts] == reference.plans([part.points for part in expected], owners)


# -- what does not depend on what ---------------------------------------------------------------------------

LARGER = [
    shuffled(tets(4, 4, 4), 500),
    with_unused_points(quads(20, 15), 5),
    quads_with_lines(18, 12),
    strip(120),
    fan(40),
]


@pytest.mark.parametrize("ghost_layers", [0, 1, 2, 3, 4, 5, 99])
@pytest.mark.parametrize("mesh", LARGER, ids=repr)
def test_some_parts_are_the_same_as_among_all(mesh: Mesh, ghost_layers: int) -> None:
    labels = sfc_labels(mesh, 12)
    labels[labels == 5] = 4  # part 5 is empty
    parts = split(mesh, labels, 12, ghost_layers=ghost_layers)
    for only in [*([number] for number in range(12)), [0, 11], [7, 3, 5], [1, 1], [6, 2, 6, 0], [*range(11)], []]:
        some = split(mesh, labels, 12, ghost_layers=ghost_layers, only=only)
        assert same(some, [parts[number] for number in only])


@pytest.mark.parametrize("ghost_layers", [0, 1, 2, 99])
@pytest.mark.parametrize("mesh", [*LARGER, carrying(quads_with_lines(9, 8)), interleaved()], ids=repr)
def test_parts_do_not_depend_on_the_number_of_threads(mesh: Mesh, ghost_layers: int) -> None:
    for labels in (sfc_labels(mesh, 7), in_turn(mesh)):
        for only in (None, [1], [2, 0]):
            one = split(mesh, labels, 7, ghost_layers=ghost_layers, only=only, threads=1)
            assert same(split(mesh, labels, 7, ghost_layers=ghost_layers, only=only, threads=4), one)


@pytest.mark.parametrize("ghost_layers", [0, 1, 3])
@pytest.mark.parametrize("method", ["kahip", "sfc", "auto"])
def test_the_labels_do_not_depend_on_the_layers(method: str, ghost_layers: int) -> None:
    mesh = quads_with_lines(12, 9)
    labels = partition_labels(mesh, 5, method=method)
    parts = partition(mesh, 5, method=method, ghost_layers=ghost_layers)
    for part in parts:
        assert part.cells.global_ids[: part.cells.n_owned].tolist() == np.flatnonzero(labels == part.part).tolist()
    (third,) = partition(mesh, 5, method=method, ghost_layers=ghost_layers, only=[3])
    assert same(third, parts[3])


def test_parts_with_other_layers_are_of_another_run() -> None:
    runs = [{part.run for part in split(quads(4, 4), QUARTERS, ghost_layers=layers)} for layers in (0, 1, 2, 0)]
    assert [len(run) for run in runs] == [1, 1, 1, 1]
    assert runs[0] == runs[3]
    assert len(set.union(*runs)) == 3


# -- how many layers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ghost_layers", [7, 99, 2**31, 10**30, np.int64(12)])
def test_more_layers_than_the_mesh_has_are_no_error(ghost_layers: int) -> None:
    # part {3} of 7: layers 2 4, 1 5, 0 6
    part = split(strip(7), [0, 0, 0, 1, 0, 0, 0], ghost_layers=ghost_layers)[1]
    assert layers_of(part) == [[2, 4], [1, 5], [0, 6]]
    assert part.ghost_layers == ghost_layers


@pytest.mark.parametrize("ghost_layers", [-1, 1.0, True, "1", None])
def test_a_number_of_layers_that_is_none_is_refused(ghost_layers: Any) -> None:
    for cut in (
        lambda **options: split(strip(2), [0, 1], **options),
        lambda **options: partition(strip(2), 2, **options),
    ):
        with pytest.raises(ArgumentError, match="ghost_layers must be"):
            cut(ghost_layers=ghost_layers)


def test_a_part_that_is_the_whole_mesh_has_no_ghosts() -> None:
    (part,) = split(quads_with_lines(3, 2), np.zeros(16, int), ghost_layers=2)
    assert (part.cells.n_ghost, part.points.n_ghost) == (0, 0)
    assert part.mesh == quads_with_lines(3, 2)
    assert part.cells.complete.all()
    assert part.points.complete.all()


def test_an_empty_part_has_no_ghosts_and_is_nobodys_neighbour() -> None:
    parts = split(with_unused_points(strip(2)), [1, 3], 5, ghost_layers=2)
    for number in (0, 2, 4):
        part = parts[number]
        assert (part.cells.n_local, part.points.n_ghost) == (0, 0)
        assert part.points.global_ids.tolist() == ([6] if number == 0 else [])
        assert plan_of(part, "cell") == plan_of(part, "point") == {}
    assert plan_of(parts[1], "cell") == {3: ([0], [1])}
