"""The repair of labels of separate bodies: whole ones move before any is cut."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_balance import Case, bounds_of, check, cut, loads, make_graph, repaired


def bodies(sizes, width=1, weights=None):
    """Return a graph of separate grids of so many rows, and the body of each vertex."""
    body = np.repeat(np.arange(len(sizes)), np.multiply(sizes, width))
    n = len(body)
    right = [(i, i + 1) for i in range(n) if i % width + 1 < width]
    below = [(i, i + width) for i in range(n - width) if body[i] == body[i + width]]
    return make_graph(n, right + below, weights), body


def bodies_cut(body, labels):
    return sum(len(np.unique(labels[body == b])) > 1 for b in range(body[-1] + 1))


# -- by hand ------------------------------------------------------------------------------------------------


def test_a_body_moves_rather_than_that_one_is_cut():
    # Grids of 4 x 4, 4 x 3, 4 x 2 and 4 x 3 cells: 36 and 12, and at most 24
    graph, body = bodies([4, 3, 2, 3], width=4)
    labels, done = repaired(graph, np.array([0, 0, 0, 1])[body], 2)
    assert labels.tolist() == np.array([0, 1, 0, 1])[body].tolist()
    assert done == (0, 12, 0)


def test_a_body_is_cut_where_no_whole_one_fits():
    # Two of 4 x 4 and one of 4 x 2: 32 and 8, and at most 20; a row of 4 is the least cut
    graph, body = bodies([4, 4, 2], width=4)
    labels, _ = repaired(graph, np.array([0, 0, 1])[body], 2)
    assert np.bincount(labels).tolist() == [20, 20]
    assert bodies_cut(body, labels) == 1
    assert cut(graph, labels) == 4


def test_empty_parts_get_whole_bodies():
    graph, body = bodies([3, 1, 4, 1, 5, 2, 2, 3, 3], width=3)  # 24 rows for 4 parts: six each
    labels, done = repaired(graph, np.full(len(body), 2), 4, Fraction("0.17"), absorb=True)
    assert done.filled == 3
    assert np.bincount(labels).max() <= 21
    assert cut(graph, labels) == 0


def test_bodies_that_are_whole_are_left_alone_where_the_bounds_hold():
    graph, body = bodies([3, 1, 2])
    given = np.array([1, 0, 0])[body]
    assert repaired(graph, given, 2, absorb=True)[0].tolist() == given.tolist()


def test_single_vertices_move_where_whole_pieces_lead_to_labels_that_are_given_up():
    # 7 - 2 - 6 - 5 - 4    0 and 3 touch nothing, and the cut is 4. Labels that are made anew have one of 2 if single
    #     | /              vertices balance them; if whole pieces do, one that is no better than what is there.
    #     1
    graph = make_graph(8, [(1, 2), (1, 6), (2, 6), (2, 7), (4, 5), (5, 6)])
    labels, _ = repaired(graph, [0, 0, 0, 1, 1, 1, 2, 2], 3, absorb=True)
    assert sorted(np.bincount(labels)) == [2, 3, 3]
    assert cut(graph, labels) == 2


@pytest.mark.parametrize("nparts", [3, 4, 6])
def test_a_hair_of_balance_is_not_worth_a_multiple_of_the_cut(nparts):
    # Every second cell lies in part 0, alone: such pieces fit almost anywhere, and yet not exactly.
    random = np.random.default_rng(1)
    sizes = random.integers(2, 12, 12)
    graph, body = bodies(sizes, width=6, weights=random.integers(1, 10**6, sizes.sum() * 6))
    given = np.where(np.arange(len(body)) % 2, np.arange(len(body)) * nparts // len(body), 0)
    exact, near = (repaired(graph, given, nparts, imbalance)[0] for imbalance in (Fraction(0), Fraction("0.01")))
    assert loads(graph, exact, nparts).max() > bounds_of(graph, nparts).sought  # which is not kept either way
    assert cut(graph, exact) < 2 * cut(graph, near)


def test_whole_pieces_are_taken_where_only_they_end_light_enough():
    # 9-12, 5-8-8 and 4, and at most 24: whole ones alone leave 25, as do single vertices without them
    graph = make_graph(6, [(0, 1), (2, 3), (3, 4)], [9, 12, 5, 8, 8, 4])
    labels, _ = repaired(graph, [0] * 6, 2, Fraction("0.05"))
    assert sorted(loads(graph, labels, 2)) == [22, 24]


def test_whole_pieces_are_not_taken_for_a_heavier_part():
    # 17-28, 26 and 2: whole ones leave 45 and 28, which is more than 37 as 43 is, though without a cut
    graph = make_graph(4, [(0, 1)], [17, 28, 26, 2])
    labels, _ = repaired(graph, [0] * 4, 2)
    assert sorted(loads(graph, labels, 2)) == [30, 43]


def test_pieces_move_once_more_when_empty_parts_have_been_filled():
    # A star of eight, which is cut into three parts first
    graph = make_graph(9, [(i, 8) for i in range(8)], [1, 0, 0, 1, 2, 0, 3, 3, 0])
    labels, _ = repaired(graph, [0] * 9, 3)
    assert loads(graph, labels, 3).max() == 4
    assert cut(graph, labels) == 2


def test_no_piece_without_weight_moves_along():
    graph = make_graph(9, [], [3, 0, 5, 7, 6, 8, 6, 4, 2])
    labels, _ = repaired(graph, [0, 0, 1, 1, 1, 1, 2, 2, 2], 3)
    assert sorted(loads(graph, labels, 3)) == [13, 14, 14]
    assert labels[1] == 0


def test_what_room_there_is_in_few_large_pieces_is_made_use_of():
    # Bodies of about 1, 2 and 4 times 160 cells. The parts weigh 14 to 16 of these, and 15 is what a part can hold, so
    # that the two of 16 can be mended only over a third part that makes room for one.
    sizes = {"a": 160, "b": 325, "c": 637}
    parts = ["aaaaaaabbc", "abccc", "abccc", "bbccc", "abccc", "abbbbbc", "bbbcc", "bbbbcc"]
    weights = [sizes[size] for part in parts for size in part]
    given = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    graph, _ = bodies([1] * len(weights), weights=weights)
    sought = 1.03 * -(-sum(weights) // 8)
    assert np.count_nonzero(loads(graph, given, 8) > sought) == 2
    labels, _ = repaired(graph, given, 8, Fraction("0.03"))
    assert np.count_nonzero(loads(graph, labels, 8) > sought) <= 1


# -- of any bodies ------------------------------------------------------------------------------------------


@st.composite
def body_cases(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=20))
    width = draw(st.integers(1, 2))
    n = width * sum(sizes)
    heavy = st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any)
    graph, body = bodies(sizes, width, draw(st.none() | heavy))
    nparts = draw(st.integers(1, len(sizes)))
    labels = draw(st.lists(st.integers(0, nparts - 1), min_size=len(sizes), max_size=len(sizes)))
    imbalance = draw(st.sampled_from([Fraction(0), Fraction("0.01"), Fraction("0.03"), Fraction("0.1")]))
    return Case(graph, np.array(labels, np.int32)[body], nparts, imbalance)


@pytest.mark.parametrize("absorb", [False, True])
@given(case=body_cases())
def test_bodies_keep_what_is_guaranteed_and_the_same_comes_every_time(absorb, case):
    assert check(case, absorb=absorb).tolist() == check(case, absorb=absorb).tolist()


@given(data=st.data(), each=st.integers(1, 5), size=st.integers(1, 7), nparts=st.integers(1, 9))
def test_no_body_is_cut_where_all_are_alike_and_come_out_even(data, each, size, nparts):
    graph, body = bodies([size] * (each * nparts))
    labels = data.draw(st.lists(st.integers(0, nparts - 1), min_size=each * nparts, max_size=each * nparts))
    result, _ = repaired(graph, np.array(labels)[body], nparts, absorb=data.draw(st.booleans()))
    assert np.bincount(result).tolist() == [each * size] * nparts
    assert cut(graph, result) == 0


@given(data=st.data(), n=st.integers(1, 60))
def test_cells_that_touch_nothing_are_balanced_exactly(data, n):
    graph, _ = bodies([1] * n)
    nparts = data.draw(st.integers(1, n))
    labels, _ = repaired(graph, data.draw(st.lists(st.integers(0, nparts - 1), min_size=n, max_size=n)), nparts)
    assert np.bincount(labels).max() == -(-n // nparts)


def test_a_body_is_rarely_cut_where_none_has_to_be():
    random = np.random.default_rng(0)
    possible = cut_open = 0
    for _ in range(200):
        sizes, nparts = random.integers(1, 9, 8), int(random.integers(2, 4))
        graph, body = bodies(sizes)
        ways = np.array(list(product(range(nparts), repeat=8)))
        bound = bounds_of(graph, nparts, Fraction("0.03"))
        sums = [(ways == part) @ sizes for part in range(nparts)]
        if not np.any(np.all(np.array(sums) > 0, axis=0) & (np.max(sums, axis=0) <= bound.sought)):
            continue
        possible += 1
        labels, _ = repaired(graph, random.integers(0, nparts, 8)[body], nparts, Fraction("0.03"))
        cut_open += cut(graph, labels) > 0
    assert possible > 100
    assert cut_open <= possible / 10, f"{cut_open} of {possible}"


# -- cost ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nparts", [8, 20_000])
def test_many_bodies_do_not_cost_many_times_the_graph(nparts):
    n = 100_000  # times as many bodies would be 10^10
    graph, _ = bodies([1] * n, weights=np.random.default_rng(0).integers(1, 1000, n))
    given = (np.random.default_rng(1).random(n) ** 1.5 * nparts).astype(int)
    labels, _ = repaired(graph, given, nparts)
    assert loads(graph, labels, nparts).max() < loads(graph, given, nparts).max()
