"""Method `kahip`: what it hands to KaHIP, and what KaHIP gets wrong when it is not helped."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from grid_graphs import cut, edge_cut, graph, grid, grid_edges, posed, unchecked
from hypothesis import given
from hypothesis import strategies as st

from meshpart import ArgumentError, MeshError, MeshpartError, MethodError, _core
from meshpart.graph import Graph
from meshpart.methods.job import LARGEST_SUM, _capped, _edges, _loads, _scaled, asked_imbalance
from meshpart.methods.kahip import HELPER, MODES, kahip

BROKEN = {"off the end": [1, 2], "negative": [1, -1]}


# -- what it gives ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_cuts_a_grid_well(mode: str) -> None:
    square = grid(20, 20)
    labels = cut(square, 4, mode=mode)
    assert labels.dtype == np.int32
    assert set(np.bincount(labels, minlength=4)) <= set(range(90, 104))  # 103 = 1.03 * 400 / 4
    assert edge_cut(square, labels) <= 60  # quarters cut 40, strips 60


def test_a_better_mode_cuts_no_more() -> None:
    square = grid(40, 40)
    fast, strong = (edge_cut(square, cut(square, 8, mode=mode)) for mode in ("fast", "strong"))
    assert strong < fast


def test_the_seed_decides() -> None:
    square = grid(30, 30)
    first, again, other = cut(square, 5, seed=0), cut(square, 5, seed=0), cut(square, 5, seed=1)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_calls_side_by_side_give_what_calls_in_turn_give() -> None:
    square, seeds = grid(60, 60), [seed % 4 for seed in range(12)]
    in_turn = [cut(square, 7, seed=seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        side_by_side = list(pool.map(lambda seed: cut(square, 7, seed=seed), seeds))
    assert all(np.array_equal(labels, in_turn[seed]) for seed, labels in zip(seeds, side_by_side, strict=True))
    assert not np.array_equal(in_turn[0], in_turn[1])


def test_fresh_processes_give_the_same_labels() -> None:
    code = """
import hashlib
from grid_graphs import cut, grid
print(hashlib.sha256(cut(grid(40, 40), 6, mode="eco", seed=3).tobytes()).hexdigest())
"""
    here = hashlib.sha256(cut(grid(40, 40), 6, mode="eco", seed=3).tobytes()).hexdigest()
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    for hash_seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env=environment | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        )
        assert run.stdout.decode().split() == [here]


def test_the_labels_are_read_only() -> None:
    assert not cut(grid(4, 4), 2).flags.writeable


# -- what KaHIP gets wrong by itself ------------------------------------------------------------------------


def test_no_imbalance_ends() -> None:
    # KaHIP runs for ever on this with an imbalance of 0.
    labels = cut(grid(390, 390), 32, imbalance=Fraction(0))
    assert np.bincount(labels, minlength=32).max() <= 1.03 * 390 * 390 / 32


@pytest.mark.parametrize("imbalance", [Fraction(1, 10**9), Fraction(10**6)])
def test_the_imbalance_that_KaHIP_gets_is_neither_tiny_nor_huge(imbalance: Fraction) -> None:
    loads = np.bincount(cut(grid(40, 40), 4, imbalance=imbalance), minlength=4)
    assert 400 <= loads.max() <= 480


@pytest.mark.parametrize(
    ("allowed", "asked"), [(0, 0.02), ("0.01", 0.02), ("0.03", 0.03), ("0.5", 0.2), (10**400, 0.2)]
)
def test_the_repair_keeps_what_is_tight_and_more_than_a_fifth_gains_nothing(allowed: int | str, asked: float) -> None:
    assert asked_imbalance(min(Fraction(allowed), Fraction(10**300))) == asked


def test_edges_without_weight_are_left_out() -> None:
    path = graph(4, [[0, 1], [1, 2], [2, 3]], [5, 0, 7])
    offsets, targets, weights = _edges(path)
    assert offsets.tolist() == [0, 1, 2, 3, 4]
    assert targets.tolist() == [1, 0, 3, 2]
    assert weights is not None
    assert weights.tolist() == [5, 5, 7, 7]


@pytest.mark.parametrize("nparts", [0, -1, 17, -(2**31)])
def test_no_parts_and_more_parts_than_vertices_are_refused(nparts: int) -> None:
    with pytest.raises(ArgumentError, match=f"{nparts} parts"):
        _core.kahip(grid(4, 4).flat, nparts, 0.03, 0, 0, HELPER)


@pytest.mark.parametrize("imbalance", [0.0, -1.0, float("nan"), float("inf")])
def test_an_imbalance_that_may_hang_is_refused(imbalance: float) -> None:
    with pytest.raises(ArgumentError, match="the imbalance"):
        _core.kahip(grid(4, 4).flat, 2, imbalance, 0, 0, HELPER)


@pytest.mark.parametrize("mode", [-1, 6])
def test_a_mode_that_would_silently_mean_another_is_refused(mode: int) -> None:
    with pytest.raises(ArgumentError, match="the mode"):
        _core.kahip(grid(4, 4).flat, 2, 0.03, 0, mode, HELPER)


@pytest.mark.parametrize("targets", BROKEN.values(), ids=BROKEN)
def test_ids_out_of_range_are_refused(targets: list[int]) -> None:
    with pytest.raises(MeshError, match=r"outside 0\.\.1"):
        cut(unchecked([0, 1, 2], targets), 2)


@pytest.mark.parametrize("offsets", [[0, 3, 2], [0, -1, 2], [0, 2, 1], [0, 1, 1], [0, 1, 2**40]])
def test_offsets_out_of_order_are_refused(offsets: list[int]) -> None:
    with pytest.raises(MeshError, match="an array has changed"):
        cut(unchecked(offsets, [1, 0]), 2)


@pytest.mark.parametrize("weights", [[1, 0], [1, -5], [-(2**40), 1]])
def test_weights_below_one_do_not_reach_KaHIP(weights: list[int]) -> None:
    pair = graph(2, [(0, 1)]).flat
    with pytest.raises(MeshError, match="vertex weight of"):
        _core.kahip(pair._replace(vertex_weights=np.array(weights)), 2, 0.03, 0, 0, HELPER)
    with pytest.raises(MeshError, match="edge weight of"):
        _core.kahip(pair._replace(edge_weights=np.array(weights)), 2, 0.03, 0, 0, HELPER)


@pytest.mark.parametrize("weights", [[2**30, 2**30], [1, 2**31 - 1], [2**62, 2**62]])
def test_sums_of_weights_that_KaHIP_cannot_hold_are_refused(weights: list[int]) -> None:
    pair = graph(2, [(0, 1)]).flat
    for name in ("vertex_weights", "edge_weights"):
        with pytest.raises(MeshpartError, match='limit is 2147483647; the method "sfc" has no such limit'):
            _core.kahip(pair._replace(**{name: np.array(weights)}), 2, 0.03, 0, 0, HELPER)


@pytest.mark.parametrize("name", ["vertex_weights", "edge_weights"])
def test_weights_of_a_wrong_length_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"3 {name.replace('_', ' ')}"):
        _core.kahip(grid(2, 2).flat._replace(**{name: np.ones(3, np.int64)}), 2, 0.03, 0, 0, HELPER)


def test_graphs_that_KaHIP_cannot_number_are_refused() -> None:
    _core.require_kahip_can_number(2**31 - 2, 2**31 - 1)
    with pytest.raises(MeshpartError, match=r"2147483647 vertices .* limit is 2147483646; the method"):
        _core.require_kahip_can_number(2**31 - 1, 0)
    with pytest.raises(MeshpartError, match=r"2147483648 entries, two an edge, .* limit is 2147483647"):
        _core.require_kahip_can_number(1, 2**31)


@pytest.mark.parametrize("mode", MODES)
def test_edges_of_no_weight_are_no_edges(mode: str) -> None:
    # Two squares joined by edges that cost nothing; all others cost.
    n, edges = grid_edges(8, 16)
    between = edges[:, 1] - edges[:, 0] == 1
    free = between & (edges[:, 0] % 16 == 7)
    labels = cut(graph(n, edges, np.where(free, 0, 3)), 2, mode=mode).reshape(8, 16)
    assert np.ptp(labels[:, :8]) == np.ptp(labels[:, 8:]) == 0
    assert labels[0, 0] != labels[0, 8]


@pytest.mark.parametrize("mode", MODES)
def test_edges_may_all_weigh_nothing(mode: str) -> None:
    n, edges = grid_edges(8, 8)
    labels = cut(graph(n, edges, np.zeros(len(edges))), 4, mode=mode)
    assert np.bincount(labels, minlength=4).max() <= 20


def test_large_edge_weights_keep_their_proportions() -> None:
    # Along a path of heavy edges a light one is cut, though it lies off the middle.
    weights = np.full(99, 2**50)
    weights[51] = 2**40
    labels = cut(graph(100, np.stack([np.arange(99), np.arange(1, 100)], 1), weights), 2, imbalance=Fraction(1, 10))
    assert np.flatnonzero(np.diff(labels)).tolist() == [51]


def test_large_weights_are_balanced() -> None:
    weights = np.random.default_rng(0).integers(1, 2**50, 40 * 40)
    loads = np.bincount(cut(grid(40, 40), 8, weights=weights), weights, minlength=8)
    assert loads.max() <= 1.05 * loads.mean()


def test_units_of_no_weight_do_not_count() -> None:
    weights = np.zeros(30 * 30, np.int64)
    weights[:300] = 1
    loads = np.bincount(cut(grid(30, 30), 3, weights=weights), weights, minlength=3)
    assert loads.max() <= 104


def test_a_giant_leaves_the_other_parts_balanced() -> None:
    weights = np.ones(20 * 20, np.int64)
    weights[210] = 10**6
    labels = cut(grid(20, 20), 5, weights=weights)
    others = np.delete(np.bincount(labels, minlength=5), labels[210])
    assert others.max() <= 1.05 * 400 / 4


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("given_graph", [grid(9, 9), grid(81), graph(81, []), graph(81, grid_edges(3, 9)[1])])
def test_many_parts_of_any_graph_end(given_graph: Graph, mode: str) -> None:
    for nparts in (40, 80, 81):
        labels = cut(given_graph, nparts, mode=mode, imbalance=Fraction(0))
        assert labels.min() >= 0
        assert labels.max() < nparts


def test_graphs_that_crash_KaHIP_cost_its_process_only() -> None:
    loops, one_way = ([0, 2, 4], [0, 1, 0, 1]), ([0, 2, 2, 2], [1, 2])
    for offsets, targets in (loops, one_way):
        for mode in MODES:
            try:
                labels = cut(unchecked(offsets, targets), 2, mode=mode)
            except MethodError as error:
                assert "KaHIP" in str(error)  # noqa: PT017
            else:
                assert set(labels) <= {0, 1}
    assert len(cut(grid(4, 4), 2)) == 16


# -- weights ------------------------------------------------------------------------------------------------


def test_weights_that_fit_stay_as_they_are() -> None:
    assert _scaled(np.array([1, 2, LARGEST_SUM - 3]), LARGEST_SUM).tolist() == [1, 2, LARGEST_SUM - 3]


def test_zeros_become_next_to_nothing() -> None:
    scaled = _scaled(np.array([0, 1, 3, 0]), LARGEST_SUM)
    unit = (LARGEST_SUM - 4) // 4
    assert scaled.tolist() == [1, unit, 3 * unit, 1]


@given(st.lists(st.integers(0, 2**57), min_size=1, max_size=30))
def test_scaled_weights_are_positive_and_their_sum_fits(weights: list[int]) -> None:
    scaled = _scaled(np.array(weights), LARGEST_SUM)
    assert scaled.min() >= 1
    assert scaled.sum() <= LARGEST_SUM
    if max(weights) > 0:
        shares = np.array(weights) / sum(weights)
        assert np.abs(scaled / scaled.sum() - shares).max() < 1e-6


@pytest.mark.parametrize(
    ("weights", "nparts", "capped"),
    [
        ([2, 2, 2, 2], 2, [2, 2, 2, 2]),
        ([9, 1, 1, 1, 1], 2, [4, 1, 1, 1, 1]),  # the giant's part, and 4 in the other
        ([9, 1, 1, 1, 1], 3, [2, 1, 1, 1, 1]),  # 4 in two others
        ([99, 9, 1, 1, 1, 1], 3, [4, 4, 1, 1, 1, 1]),  # the mean is over 9 until the first giant is set apart
        ([5, 5, 0, 0], 3, [1, 1, 0, 0]),
        ([7, 6], 2, [7, 6]),
    ],
)
def test_a_unit_heavier_than_a_part_is_capped(weights: list[int], nparts: int, capped: list[int]) -> None:
    assert _capped(np.array(weights), nparts).tolist() == capped


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.data())
def test_capped_weights_are_no_heavier_than_their_mean_and_what_is_capped_no_lighter(
    weights: list[int], data: st.DataObject
) -> None:
    nparts = data.draw(st.integers(1, len(weights)))
    capped = _capped(np.array(weights), nparts)
    assert np.all(capped <= -(-capped.sum() // nparts))
    lowered = capped < np.array(weights)
    assert np.all(nparts * capped[lowered] >= capped.sum())
    assert np.array_equal(capped[~lowered], np.array(weights)[~lowered])


@pytest.mark.parametrize("count", [50, 10_000])
def test_loads_are_as_fine_as_they_need_be_and_no_finer(count: int) -> None:
    weights = np.random.default_rng(0).integers(2**48, 2**50, count)
    loads = _loads(weights, 4)
    assert loads.sum() <= max(2**20, 2**8 * count)
    assert np.abs(loads / loads.mean() * weights.mean() / weights - 1).max() < 0.01


def test_loads_of_giants_and_zeros_fill_all_parts() -> None:
    loads = _loads(np.array([5, 5, 0, 0, 0]), 3)
    assert loads.tolist() == [3, 3, 1, 1, 1]


# -- a guest that leaves no trace ---------------------------------------------------------------------------


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for mode in MODES:
        cut(grid(12, 12), 3, mode=mode)
    assert capfd.readouterr() == ("", "")


def test_the_random_state_of_the_process_stays_as_it_was() -> None:
    library = ctypes.CDLL(None)
    library.srand(42)
    expected = [library.rand() for _ in range(3)]
    library.srand(42)
    found = [library.rand()]
    cut(grid(12, 12), 3)
    found.append(library.rand())
    cut(grid(12, 12), 3, mode="eco")
    found.append(library.rand())
    assert found == expected


def test_a_problem_needs_no_more_than_its_graph_and_weights() -> None:
    problem = posed(grid(6, 6), 2)
    assert problem.units is None
    assert set(kahip(problem)) == {0, 1}
