"""Weights of cells: the forms they are given in, what they come to, and the pieces that method `sfc` cuts by them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meshes import (
    no_cells,
    overlapping_sets,
    quads,
    quads_and_triangles,
    quads_with_lines,
    sfc_labels,
    strip,
    two_and_two,
)

from meshpart import ArgumentError, Mesh, MeshpartWarning, Problem, partition, partition_labels

Weights = Sequence[float] | npt.NDArray[Any]

ANY = 1e6  # an imbalance that everything keeps


# -- pieces -------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 6), min_size=2, max_size=9).filter(any), st.data())
def test_of_all_ways_to_cut_the_order_the_rule_picks_this_one(weights: list[int], data: st.DataObject) -> None:
    nparts = data.draw(st.integers(2, len(weights)))
    assert pieces(weights, nparts) == pieces_by_rule(weights, nparts)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=9).filter(any), st.data())
def test_the_heaviest_piece_is_the_lightest_that_any_cut_allows(weights: list[int], data: st.DataObject) -> None:
    nparts = data.draw(st.integers(2, len(weights)))
    assert max(map(sum, pieces(weights, nparts))) == min(max(map(sum, cut)) for cut in all_cuts(weights, nparts))


@pytest.mark.parametrize(
    ("weights", "nparts", "expected"),
    [
        # Ideal cuts after 1.5, 3 and 4.5; both ties go to the earlier one.
        ([1, 1, 1, 1, 1, 1], 4, [[1], [1, 1], [1], [1, 1]]),
        # No piece above 5, so the second cut is before the 5; the first, ideally after 10/3, is nearest after 3.
        ([1, 1, 1, 1, 1, 5], 3, [[1, 1, 1], [1, 1], [5]]),
        # Cells of no weight at the cut: the earliest of the three places where 3 lie before it.
        ([3, 0, 0, 3], 2, [[3], [0, 0, 3]]),
        # All weight at the end, and still no piece is empty.
        ([0, 0, 0, 5], 3, [[0], [0], [0, 5]]),
    ],
)
def test_these_chains_are_cut_as_worked_out_by_hand(weights: list[int], nparts: int, expected: list[list[int]]) -> None:
    assert pieces(weights, nparts) == expected


def test_a_part_may_have_no_weight_but_never_no_cell() -> None:  # case 11
    weights = np.ones(16)
    weights[0] = 100
    with pytest.warns(MeshpartWarning) as caught:
        labels = sfc_labels(quads(4, 4), 4, weights=weights)
    assert len(caught) == 1
    loads = np.bincount(labels, weights)
    assert loads.max() == 100
    assert np.sum(labels == labels[0]) == 1
    assert len(loads) == 4
    assert loads.min() > 0


# -- equal weights ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1, 7, 0.1, 1e-300, 5e-324, 1e308, 2**62, True, np.float32(0.3), np.uint64(2**63)])
def test_equal_weights_are_no_weights(weight: Any) -> None:
    mesh = quads_with_lines(7, 5)
    for nparts in (2, 3, 8, 34):
        labels = sfc_labels(mesh, nparts, weights=np.full(mesh.n_cells, weight))
        np.testing.assert_array_equal(labels, sfc_labels(mesh, nparts))


@given(st.integers(0, 2**32 - 1), st.integers(-300, 300))
def test_multiplying_all_weights_by_a_power_of_two_changes_no_label(seed: int, exponent: int) -> None:
    weights = np.random.default_rng(seed).lognormal(size=42)
    np.testing.assert_array_equal(labels_of(weights * 2.0**exponent), labels_of(weights))


@given(st.lists(st.integers(0, 100), min_size=42, max_size=42).filter(any), st.sampled_from([3, 7, 10**15, 2**53 + 1]))
def test_a_common_factor_of_integers_changes_no_label(weights: list[int], factor: int) -> None:
    multiplied = np.array(weights, np.uint64) * np.uint64(factor)
    np.testing.assert_array_equal(labels_of(multiplied), labels_of(weights))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "u8", "f2", "f4", "f8", "g", ">f8", ">i4"])
def test_the_dtype_of_weights_changes_no_label(dtype: npt.DTypeLike) -> None:
    weights = np.arange(42) % 5
    np.testing.assert_array_equal(labels_of(weights.astype(dtype)), labels_of(weights.tolist()))


# -- exactness ----------------------------------------------------------------------------------------------


def test_integers_above_2_to_the_53_are_exact() -> None:
    # {0, 1} and {2} weigh 2^54 + 1 each; {0} and {1, 2} would weigh 2^54 and 2^54 + 2.
    weights = np.array([2**54, 1, 2**54 + 1])
    assert sfc_labels(strip(3), 2, weights=weights).tolist() == [0, 0, 1]
    # Floats cannot tell 2^54 + 1 from 2^54: then both ways weigh the same, and the earlier cut is taken.
    assert sfc_labels(strip(3), 2, weights=weights.astype(np.float64)).tolist() == [0, 1, 1]


def test_integers_whose_sum_is_beyond_64_bits_are_no_trouble() -> None:
    weights = np.array([2**63, 2**62 + 1, 2**62], np.uint64)
    assert sfc_labels(strip(3), 2, weights=weights).tolist() == [0, 1, 1]


def test_weights_are_not_cut_to_integers() -> None:  # case 12
    assert sfc_labels(strip(4), 2, weights=[0.25, 0.25, 0.25, 0.75]).tolist() == [0, 0, 0, 1]


def test_a_weight_far_below_the_others_still_counts() -> None:
    assert sfc_labels(strip(4), 2, weights=[1, 1e-300, 1, 1e-300]).tolist() == [0, 0, 1, 1]
    assert sfc_labels(strip(4), 2, weights=[1, 0, 1, 0]).tolist() == [0, 1, 1, 1]


def test_weights_whose_sum_is_no_float_are_no_trouble() -> None:
    assert sfc_labels(strip(4), 2, weights=[1.5e308, 1e308, 1e308, 1.5e308]).tolist() == [0, 0, 1, 1]


# -- cells without a load -----------------------------------------------------------------------------------


@pytest.mark.parametrize("given_to_lines", [0.0, 1.0, 1000.0, -1.0, np.nan, np.inf])
def test_weights_of_attached_cells_are_ignored_whatever_they_are(given_to_lines: float) -> None:
    mesh = quads_with_lines(4, 1)
    labels = sfc_labels(mesh, 2, weights=[3, 1, 1, 1, *[given_to_lines] * 10])
    assert labels[:4].tolist() == [0, 1, 1, 1]


def test_weights_that_are_positive_on_attached_cells_only_are_all_zero() -> None:
    with pytest.raises(ArgumentError, match=r"weights: all .* zero"):
        sfc_labels(quads_with_lines(4, 1), 2, weights=[0] * 4 + [1] * 10)


def test_cells_of_no_weight_go_along() -> None:  # case 10
    weights = [1, 0, 0, 1]
    labels = sfc_labels(strip(4), 2, weights=weights)
    assert np.bincount(labels, weights).tolist() == [1, 1]


def test_a_mesh_without_cells_has_no_weights_to_be_wrong() -> None:
    assert sfc_labels(no_cells(3), 1, weights=[]).shape == (0,)
    assert sfc_labels(no_cells(3), 1, weights={"triangle": 2}).shape == (0,)


# -- forms --------------------------------------------------------------------------------------------------


def test_a_dict_by_cell_type_weighs_the_cells_of_each() -> None:  # case 16
    mesh = quads_and_triangles(4)
    labels = sfc_labels(mesh, 2, weights={"quad": 2, "triangle": 1})
    assert np.bincount(labels, [2] * 4 + [1] * 4).tolist() == [6, 6]
    np.testing.assert_array_equal(labels, sfc_labels(mesh, 2, weights=[2] * 4 + [1] * 4))


def test_a_dict_by_cell_set_weighs_its_cells_and_a_cell_that_is_not_named_weighs_1() -> None:
    # A holds the cells 0 and 1 of three.
    assert_same_labels(overlapping_sets(), {"A": 5}, [5, 5, 1])
    assert_same_labels(two_and_two(), {"A": 5}, [5, 1, 1, 5])


def test_a_set_beats_a_type() -> None:
    assert_same_labels(two_and_two(), {"A": 5, "triangle": 3, "quad": 2}, [5, 3, 2, 5])
    assert_same_labels(two_and_two(), {"quad": 2, "triangle": 3, "A": 5}, [5, 3, 2, 5])


def test_a_set_of_weight_0_beats_a_type_too() -> None:
    assert_same_labels(two_and_two(), {"A": 0, "quad": 2, "triangle": 3}, [0, 3, 2, 0])


def test_sets_that_share_a_cell_must_agree_on_its_weight() -> None:
    with pytest.raises(ArgumentError, match=r"cell 1 is in two sets of different weight, one is 'B'"):
        sfc_labels(overlapping_sets(), 2, weights={"A": 2, "B": 3})
    assert_same_labels(overlapping_sets(), {"A": 2, "B": 2.0}, [2, 2, 2])


def test_a_dict_may_name_a_type_that_the_mesh_lacks() -> None:
    assert_same_labels(two_and_two(), {"hexahedron": 8, "quad": 3}, [1, 1, 3, 3])


def test_the_name_of_a_cell_data_array_stands_for_its_values() -> None:
    mesh = two_and_two()
    named = Mesh(mesh.points, mesh.blocks, cell_data={"load": [np.array([1.0, 2.0]), np.array([3.0, 4.0])]})
    assert_same_labels(named, "load", [1, 2, 3, 4])


def test_a_name_that_nothing_bears_is_refused_with_those_that_there_are() -> None:
    mesh = two_and_two()
    named = Mesh(mesh.points, mesh.blocks, cell_data={"load": [np.ones(2), np.ones(2)]}, cell_sets=mesh.cell_sets)
    with pytest.raises(ArgumentError, match=r"weights: there is no cell_data array 'laod' \(there is: 'load'\)"):
        sfc_labels(named, 2, weights="laod")
    with pytest.raises(ArgumentError, match=r"weights: 'squad' is no cell type and no cell set .*'quad', 'A'"):
        sfc_labels(named, 2, weights={"squad": 2})


# -- the warning --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "imbalance", "heavy"),
    [
        ([3, 2], 0.0, False),  # 3 <= ceil(5 / 2)
        ([5, 2], 0.24, True),  # 5 > 1.24 * 4
        ([5, 2], 0.25, False),
        ([50, 20], 0.25, False),  # a common factor changes nothing
        ([103, 97], 0.03, False),  # 103 = 1.03 * 100: what the caller wrote, not the float next to it
        ([107, 94], 0.03, True),  # 107 > 1.03 * 101
        ([1, 1, 1, 100], 0.03, True),
    ],
)
def test_one_warning_comes_just_when_the_imbalance_is_not_kept(
    weights: list[int], imbalance: float, heavy: bool
) -> None:
    for cut in (partition, partition_labels):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cut(strip(len(weights)), 2, weights=weights, imbalance=imbalance)
        assert [warning.category for warning in caught] == [MeshpartWarning] * heavy


def test_the_warning_speaks_in_the_units_of_the_caller() -> None:
    # W = 1.75 / 2, in units of 0.25: ceil(7 / 2) = 4, so that 1.1 * 4 * 0.25 = 1.1 is allowed.
    with pytest.warns(
        MeshpartWarning, match=r"part 1 weighs 1\.25, more than the 1\.1 that an imbalance of 0\.1 allows"
    ):
        sfc_labels(strip(3), 2, weights=[0.25, 0.25, 1.25], imbalance=0.1)


def test_the_warning_about_vast_weights_comes_alone() -> None:
    with pytest.warns(MeshpartWarning) as caught:
        sfc_labels(strip(3), 2, weights=[1e308, 1.2e308, 1.5e308])
    assert len(caught) == 1


def test_the_warning_points_to_the_line_of_the_caller() -> None:
    with pytest.warns(MeshpartWarning) as caught:
        partition_labels(strip(2), 2, weights=[9, 1])
    assert caught[0].filename == __file__


# -- helpers ------------------------------------------------------------------------------------------------


def labels_of(weights: Weights, nparts: int = 5) -> npt.NDArray[np.int32]:
    """Partition Q(7, 6), 42 cells, by weights."""
    return sfc_labels(quads(7, 6), nparts, weights=weights, imbalance=ANY)


def assert_same_labels(mesh: Mesh, weights: Any, as_array: Weights) -> None:
    """Assert that weights in some form are these ones: what a method sees, whatever the labels."""
    seen = []

    def look(problem: Problem) -> list[int]:
        seen.append(problem.weights)
        return [0, *[1] * (mesh.n_cells - 1)]

    for form in (weights, np.array(as_array)):
        partition_labels(mesh, 2, weights=form, imbalance=ANY, method=look)
    np.testing.assert_array_equal(*seen)


def pieces(weights: list[int], nparts: int) -> list[list[int]]:
    """Return the weights of each part of a strip, whose cells the curve meets in order."""
    labels = sfc_labels(strip(len(weights)), nparts, weights=weights, imbalance=ANY)
    assert np.all(np.diff(labels) >= 0)
    return [[weights[cell] for cell in np.flatnonzero(labels == part)] for part in range(nparts)]


def all_cuts(weights: list[int], nparts: int) -> list[list[list[int]]]:
    """Return every way to cut a list into non-empty pieces."""
    inner = combinations(range(1, len(weights)), nparts - 1)
    return [[weights[a:b] for a, b in pairwise((0, *cuts, len(weights)))] for cuts in inner]


def pieces_by_rule(weights: list[int], nparts: int) -> list[list[int]]:
    """Return the pieces that DESIGN asks for, chosen cut by cut from all ways that keep the heaviest least."""
    total, before = sum(weights), list(accumulate(weights, initial=0))
    ways = all_cuts(weights, nparts)
    least = min(max(map(sum, way)) for way in ways)
    ways = [way for way in ways if max(map(sum, way)) == least]
    for cut in range(1, nparts):
        ends = [sum(map(len, way[:cut])) for way in ways]
        best = min(ends, key=lambda end: (abs(before[end] * nparts - cut * total), end))
        ways = [way for way, end in zip(ways, ends, strict=True) if end == best]
    (way,) = ways
    return way
