"""Units, what a method partitions: cells, groups that `keep_together` joins, their weights and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import meshes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meshes import interface, overlapping_sets, quads, quads_with_lines, sfc_labels, strip
from reference import ATTACHED, kinds_and_parents, with_attached

from meshpart import ArgumentError, Mesh, MeshpartWarning, Problem, partition_labels

ANY = 1e6  # an imbalance that everything keeps

near = pytest.approx


# -- who is in a unit ---------------------------------------------------------------------------------------


@given(meshes.meshes(), st.data())
def test_units_are_those_of_the_slow_reference(mesh: Mesh, data: st.DataObject) -> None:
    group = st.integers(-1, 3)
    groups = data.draw(st.lists(group, min_size=mesh.n_cells, max_size=mesh.n_cells))
    assert units_of(mesh, np.array(groups, np.int64)) == reference_units(mesh, groups)


@given(meshes.grid_meshes(), st.data())
def test_the_cells_of_a_group_get_one_label_from_the_curve(mesh: Mesh, data: st.DataObject) -> None:
    groups = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=mesh.n_cells, max_size=mesh.n_cells)), np.int64)
    n_units = max(units_of(mesh, groups)) + 1
    nparts = data.draw(st.integers(1, n_units))
    labels = sfc_labels(mesh, nparts, keep_together=groups, imbalance=ANY)
    partitioned = mesh.kinds != ATTACHED
    for group in range(3):
        assert len(set(labels[partitioned & (groups == group)])) <= 1
    assert set(labels) == set(range(nparts))
    assert labels.tolist() == with_attached(mesh, labels.tolist())


def test_without_groups_every_cell_is_a_unit_unless_it_is_attached() -> None:
    assert units_of(strip(4), None) == [0, 1, 2, 3]
    assert units_of(strip(4), [-1, -1, -1, -1]) == [0, 1, 2, 3]
    # Lines 4 5 6 7 below, 8 right, 9 10 11 12 above, 13 left have the units of their quads.
    assert units_of(quads_with_lines(4, 1), None) == [0, 1, 2, 3, 0, 1, 2, 3, 3, 3, 2, 1, 0, 0]


def test_a_unit_is_numbered_by_its_lowest_cell() -> None:
    assert units_of(strip(6), [7, -1, 2, 7, 2, -1]) == [0, 1, 2, 0, 2, 3]


@pytest.mark.parametrize("groups", [[0, 1, 0, 1], [1, 0, 1, 0], [10**18, 3, 10**18, 3]])
def test_what_a_group_is_called_does_not_matter(groups: list[int]) -> None:
    assert units_of(strip(4), groups) == [0, 1, 0, 1]


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", ">i8"])
def test_group_numbers_may_be_any_integers(dtype: str) -> None:
    assert units_of(strip(4), np.array([0, 1, 0, 1], dtype)) == [0, 1, 0, 1]


def test_a_group_of_one_cell_changes_nothing() -> None:
    assert units_of(strip(4), [-1, 0, -1, 1]) == [0, 1, 2, 3]


def test_all_cells_in_one_group_go_to_one_part() -> None:
    assert sfc_labels(strip(4), 1, keep_together=[0] * 4).tolist() == [0] * 4
    with pytest.raises(ArgumentError, match=r"nparts is 2, .* share out, 1;"):
        sfc_labels(strip(4), 2, keep_together=[0] * 4)


# -- names --------------------------------------------------------------------------------------------------


def test_the_name_of_a_cell_data_array_stands_for_its_group_numbers() -> None:
    mesh = meshes.interleaved()  # blocks of 2, 2, 1, 2, 1 cells
    column = [np.array(rows) for rows in ([-1, -1], [2, 2], [-1], [4, 4], [-1])]
    named = Mesh(mesh.points, mesh.blocks, cell_data={"column": column})
    assert units_of(named, "column") == [0, 1, 2, 2, 3, 4, 4, 5]


def test_names_of_cell_sets_are_groups() -> None:
    mesh = Mesh(strip(6).points, strip(6).blocks, cell_sets={"A": [[5, 0]], "B": [[2, 3]], "C": [[]]})
    assert units_of(mesh, ["A"]) == [0, 1, 2, 3, 4, 0]
    assert units_of(mesh, "A") == [0, 1, 2, 3, 4, 0]
    assert units_of(mesh, ("B", "C", "A")) == [0, 1, 2, 2, 3, 0]


def test_a_set_over_several_blocks_is_one_group() -> None:
    assert units_of(meshes.two_and_two(), ["A"]) == [0, 1, 2, 0]


def test_a_name_of_a_cell_data_array_and_of_a_set_is_refused() -> None:
    mesh = Mesh(strip(3).points, strip(3).blocks, cell_data={"A": [np.array([-1, 0, 0])]}, cell_sets={"A": [[0, 1]]})
    with pytest.raises(ArgumentError, match="'A' is a cell_data array and a cell set"):
        units_of(mesh, "A")


def test_arrays_and_sets_can_be_named_together() -> None:
    mesh = Mesh(
        strip(5).points, strip(5).blocks, cell_data={"A": [np.array([0, 0, -1, 1, -1])]}, cell_sets={"B": [[3, 4]]}
    )
    assert units_of(mesh, ["A", "B"]) == [0, 0, 1, 2, 2]
    assert units_of(mesh, {"B"}) == [0, 1, 2, 3, 3]
    assert units_of(mesh, np.array(["B"])) == [0, 1, 2, 3, 3]
    assert units_of(mesh, []) == [0, 1, 2, 3, 4]


def test_group_numbers_can_be_given_block_by_block() -> None:
    mesh = meshes.interleaved()  # blocks of 2, 2, 1, 2, 1 cells
    flat = np.array([0, 1, 2, 2, 1, -1, -1, 0])
    blocks = np.split(flat, [2, 4, 5, 7])
    assert units_of(mesh, blocks) == units_of(mesh, flat)
    with pytest.raises(ArgumentError, match="as long as the block"):
        units_of(mesh, blocks[1:])


def test_sets_that_share_a_cell_are_one_group() -> None:
    # A = 0 1, B = 1 2
    assert units_of(overlapping_sets(), ["A", "B"]) == [0, 0, 0]
    assert units_of(overlapping_sets(), ["A"]) == [0, 0, 1]


def test_groups_that_share_a_cell_only_through_a_third_are_one_group() -> None:
    sets = {"low": [[0, 1]], "high": [[4, 5]], "between": [[1, 4]], "apart": [[2, 3]]}
    mesh = Mesh(strip(6).points, strip(6).blocks, cell_sets=sets)
    assert units_of(mesh, ["low", "high", "apart"]) == [0, 0, 1, 1, 2, 2]
    assert units_of(mesh, ["low", "high", "apart", "between"]) == [0, 0, 1, 1, 0, 0]


# -- attached cells -----------------------------------------------------------------------------------------


def test_a_group_that_names_an_attached_cell_holds_its_parent() -> None:
    # The lines 4 and 6 are the lower sides of the quads 0 and 2.
    groups = [-1, -1, -1, -1, 0, -1, 0, *[-1] * 7]
    assert units_of(quads_with_lines(4, 1), groups)[:4] == [0, 1, 0, 2]


def test_a_group_that_names_a_surface_inside_holds_the_cells_on_both_sides() -> None:
    assert units_of(meshes.internal_surface(), [-1, -1, 0]) == [0, 0, 0]
    assert units_of(meshes.internal_surface(), [-1, -1, -1]) == [0, 1, 0]


def test_groups_that_name_lines_of_one_quad_are_one_group() -> None:
    # Line 5 is below quad 1, line 11 above it; with quad 0 in the one group and quad 3 in the other.
    groups = [0, -1, -1, 1, -1, 0, -1, -1, -1, -1, -1, 1, -1, -1]
    assert units_of(quads_with_lines(4, 1), groups)[:4] == [0, 0, 1, 0]


def test_a_group_that_names_a_cell_attached_to_an_attached_cell_holds_what_that_is_attached_to() -> None:
    # Cell 2, a vertex, lies in cell 1, a line, alone, and that in cell 0.
    mesh = meshes.vertex_in_attached_line()
    assert units_of(mesh, [-1, -1, 0]) == [0, 0, 0]
    beside = Mesh(
        np.vstack([mesh.points, [[4, 0], [4, 2]]]),
        [("quad", [[0, 1, 2, 3], [1, 5, 6, 2]]), ("line3", [[0, 1, 4]]), ("vertex", [[4]])],
    )
    assert units_of(beside, [-1, 0, -1, 0])[:2] == [0, 0]
    assert units_of(beside, [-1, 0, -1, -1])[:2] == [0, 1]


# -- weights and centroids ----------------------------------------------------------------------------------


def test_a_unit_weighs_what_its_cells_weigh_together() -> None:
    problem = problem_of(strip(4), keep_together=[0, 0, -1, 0], weights=[1, 2, 3, 4])
    np.testing.assert_array_equal(problem.weights, [7, 3])


def test_without_weights_a_unit_weighs_as_many_as_its_cells() -> None:
    problem = problem_of(quads_with_lines(4, 1), keep_together=[0, 0, -1, 0, 0, *[-1] * 9])
    np.testing.assert_array_equal(problem.weights, [3, 1])  # line 4 has no weight


def test_units_of_one_cell_have_no_weights_without_weights() -> None:
    assert problem_of(strip(4), keep_together=[0, 1, -1, 2]).weights is None


def test_the_pieces_are_cut_by_the_weights_of_units() -> None:
    with pytest.warns(MeshpartWarning):  # 4 of 6, more than 1.03 * 3
        labels = sfc_labels(strip(6), 2, keep_together=[0, 0, 0, 0, -1, -1])
    assert labels.tolist() == [0, 0, 0, 0, 1, 1]


def test_a_unit_lies_at_the_weighted_mean_of_its_cells() -> None:
    # The centroids of the cells are at 0.5, 1.5, 2.5, 3.5.
    assert places(strip(4), keep_together=[0, 0, -1, 0]) == near([(0.5 + 1.5 + 3.5) / 3, 2.5])
    assert places(strip(4), keep_together=[0, 0, -1, 0], weights=[1, 0, 5, 3]) == near([(0.5 + 3 * 3.5) / 4, 2.5])
    assert places(strip(4), keep_together=[0, 0, -1, 0], weights=[8, 8, 0, 8]) == near([(0.5 + 1.5 + 3.5) / 3, 2.5])


def test_a_unit_whose_weights_are_all_0_lies_at_the_plain_mean() -> None:
    assert places(strip(4), keep_together=[0, 0, 1, 1], weights=[0, 0, 1, 3]) == near([1.0, (2.5 + 3 * 3.5) / 4])


@pytest.mark.parametrize(
    "mesh",
    [quads(3, 2), meshes.cubes(3, 1, 1), Mesh([[0.0], [1.0], [3.0], [4.0]], [("line", [[0, 1], [1, 2], [2, 3]])])],
    ids=["quads", "cubes", "lines in 1-D"],
)
def test_the_mean_is_taken_on_every_axis(mesh: Mesh) -> None:
    groups = [0, 0, *[-1] * (mesh.n_cells - 2)]
    cells = mesh.points[mesh.blocks[0].nodes].mean(axis=1)
    expected = np.vstack([cells[:2].mean(axis=0), cells[2:]])
    np.testing.assert_allclose(problem_of(mesh, keep_together=groups).centroids, expected)


def test_a_cell_lies_at_the_mean_of_its_corner_points() -> None:
    mesh = meshes.curved_triangles()  # whose corners are 0 1 2 and 0 2 3 of a square of side 2
    points = mesh.points.copy()
    points[4:] = 1000  # mid-side points
    moved = Mesh(points, mesh.blocks[:1])
    np.testing.assert_allclose(problem_of(moved).centroids, [[4 / 3, 2 / 3], [2 / 3, 4 / 3]])


def test_attached_cells_are_nowhere_in_the_problem() -> None:
    assert len(problem_of(quads_with_lines(4, 1)).centroids) == 4


# -- cases --------------------------------------------------------------------------------------------------


def test_the_cells_across_a_cohesive_interface_stay_together() -> None:  # case 31
    groups = np.array([0, 1, 0, 1, 0, 1])  # below, above and between
    labels = sfc_labels(interface(), 2, keep_together=groups)
    assert sorted(map(tuple, (labels[groups == 0], labels[groups == 1]))) == [(0, 0, 0), (1, 1, 1)]


def test_a_periodic_pair_stays_together() -> None:  # case 32, with the curve
    # The pair lies in the middle, at 3.0: the order is 1 2 (0 5) 3 4, and one piece of it weighs 4 of 6.
    with pytest.warns(MeshpartWarning) as caught:
        labels = sfc_labels(strip(6), 2, keep_together=[0, -1, -1, -1, -1, 0])
    assert labels.tolist() == [1, 0, 0, 1, 1, 1]
    assert len(caught) == 1


def test_columns_stay_whole() -> None:  # case 33
    groups = np.tile(np.arange(4), 3)
    labels = sfc_labels(quads(4, 3), 2, keep_together=groups)
    assert np.bincount(labels).tolist() == [6, 6]
    assert np.all(labels.reshape(3, 4) == labels[:4])


# -- helpers ------------------------------------------------------------------------------------------------


def units_of(mesh: Mesh, keep_together: Any) -> list[int]:
    """Return the unit of each cell, of an attached one its lowest parent's: every unit is a part of its own."""
    return partition_labels(
        mesh,
        max(mesh.n_cells, 1),
        keep_together=keep_together,
        allow_empty=True,
        imbalance=ANY,
        method=lambda problem: np.arange(problem.units.count),
    ).tolist()


def problem_of(mesh: Mesh, **options: Any) -> Problem:
    """Return the problem that a method sees."""
    seen: list[Problem] = []

    def look(problem: Problem) -> npt.NDArray[np.int64]:
        seen.append(problem)
        return np.arange(problem.units.count) % problem.nparts

    partition_labels(mesh, mesh.n_cells, method=look, allow_empty=True, imbalance=ANY, **options)
    return seen[0]


def places(mesh: Mesh, **options: Any) -> list[float]:
    """Return where units are along the first axis."""
    return problem_of(mesh, **options).centroids[:, 0].tolist()


def reference_units(mesh: Mesh, groups: Sequence[int]) -> list[int]:
    """Return the unit of each cell by joining, over and over, all cells that share a group."""
    kinds, parents = kinds_and_parents(mesh)

    def loaded(cell: int) -> set[int]:
        return {cell} if kinds[cell] != ATTACHED else set().union(*map(loaded, parents[cell]))

    joined = [set().union(*(loaded(cell) for cell in range(mesh.n_cells) if groups[cell] == g)) for g in range(4)]
    unit = list(range(mesh.n_cells))
    for _ in range(mesh.n_cells):
        for members in joined:
            for cell in members:
                unit[cell] = min(unit[other] for other in members)
    numbers = sorted({unit[cell] for cell in range(mesh.n_cells) if kinds[cell] != ATTACHED})
    loads = [numbers.index(unit[cell]) if kinds[cell] != ATTACHED else -1 for cell in range(mesh.n_cells)]
    return with_attached(mesh, loads)
