"""What is promised of the labels of every method: no part empty, the bound kept, attached cells with their parents.

The number beside a test is that of the case in other projects' reports.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import (
    cubes,
    interface,
    meshes,
    no_cells,
    quads,
    quads_and_triangles,
    quads_with_lines,
    separate,
    strip,
    tets,
    two_tets_with_triangles,
)
from peers import INSTALLED, each, enough
from reference import kinds_and_parents, with_attached

import meshpart
from meshpart import ArgumentError, Mesh, MeshpartWarning, Problem, dual_graph, partition, partition_labels, quality
from meshpart.methods import METHODS

Labels = npt.NDArray[np.int32]
EXAMPLE = Path(__file__).parent.parent / "examples" / "bracket.msh"


def at_random(problem: Problem) -> Labels:
    """A bad method: labels drawn at random, which leave parts empty, too heavy and in pieces."""
    return np.random.default_rng(problem.seed).integers(0, problem.nparts, problem.n_units).astype(np.int32)


def all_in_one(problem: Problem) -> Labels:
    """A worse method: everything in part 0."""
    return np.zeros(problem.n_units, np.int32)


EVERY_METHOD = pytest.mark.parametrize("method", [*each(METHODS), at_random, all_in_one], ids=str)
METHOD = st.sampled_from([*INSTALLED, at_random, all_in_one])


def counts(labels: Labels, nparts: int) -> list[int]:
    return np.bincount(labels, minlength=nparts).tolist()


# -- no part empty, sizes even ------------------------------------------------------------------------------


@EVERY_METHOD
@pytest.mark.parametrize("side", [2, 3])
def test_as_many_parts_as_cells_are_one_cell_each(side: int, method: Any) -> None:  # case 1
    labels = partition_labels(quads(side, side), side * side, method=method)
    assert counts(labels, side * side) == [1] * side * side


@EVERY_METHOD
def test_no_part_is_empty_and_none_too_heavy_whatever_their_number(method: Any) -> None:  # cases 1, 5
    for nparts in enough(method, range(2, 65), 2, 7, 33, 63, 64):
        sizes = counts(partition_labels(quads(8, 8), nparts, method=method), nparts)
        assert min(sizes) >= 1
        assert max(sizes) <= 1.03 * -(-64 // nparts)


@EVERY_METHOD
def test_every_number_of_parts_of_a_strip_is_delivered(method: Any) -> None:  # case 5
    for nparts in enough(method, range(1, 35), 5, 31, 34):
        assert set(partition_labels(strip(34), nparts, method=method).tolist()) == set(range(nparts))


@EVERY_METHOD
def test_more_parts_than_cells_are_an_error_or_empty_parts_that_were_asked_for(method: Any) -> None:  # case 2
    with pytest.raises(ArgumentError, match=r"nparts is 5, more than .* 2;"):
        partition_labels(quads(2, 1), 5, method=method)
    labels = partition_labels(quads(2, 1), 5, method=method, allow_empty=True)
    assert sorted(counts(labels, 5)) == [0, 0, 0, 1, 1]


@EVERY_METHOD
def test_the_bound_is_that_of_all_parts_asked_for_also_where_some_stay_empty(method: Any) -> None:
    with pytest.warns(MeshpartWarning, match=r"weighs 9, more than the 3\.09 that .* allows for 5 parts"):
        partition_labels(quads(2, 1), 5, method=method, allow_empty=True, weights=[9, 4])  # 1.03 * ceil(13 / 5)


@EVERY_METHOD
def test_one_part_and_no_cells(method: Any) -> None:  # cases 3, 4
    assert partition_labels(quads(3, 3), 1, method=method).tolist() == [0] * 9
    assert partition_labels(no_cells(3), 1, method=method).shape == (0,)
    assert quality(quads(3, 3), [0] * 9).edge_cut == 0


@pytest.mark.parametrize("method", each(METHODS))
def test_bodies_that_do_not_touch_are_shared_out_evenly(method: Any) -> None:  # case 7
    labels = partition_labels(separate(10), 3, method=method)
    assert sorted(counts(labels, 3)) == [3, 3, 4]
    assert quality(separate(10), labels).edge_cut == 0


@EVERY_METHOD
def test_one_cell_more_than_parts_makes_one_part_of_two(method: Any) -> None:  # case 8
    assert sorted(counts(partition_labels(strip(40), 39, method=method), 39)) == [1] * 38 + [2]


@EVERY_METHOD
@pytest.mark.parametrize(("nparts", "most"), [(3, 22), (5, 13), (7, 10)])
def test_imbalance_0_is_kept_to_the_cell(method: Any, nparts: int, most: int) -> None:  # case 9
    labels = partition_labels(quads(8, 8), nparts, method=method, imbalance=0)
    assert max(counts(labels, nparts)) <= most  # ceil(64 / nparts)
    assert quality(quads(8, 8), labels, imbalance=0).within_bound


@EVERY_METHOD
def test_a_complete_graph_is_halved(method: Any) -> None:  # case 70
    pages = Mesh(np.random.default_rng(0).random((12, 3)), [("triangle", [[0, 1, 2 + k] for k in range(10)])])
    assert counts(partition_labels(pages, 2, method=method), 2) == [5, 5]


# -- weights ------------------------------------------------------------------------------------------------


@EVERY_METHOD
def test_a_giant_leaves_no_part_empty(method: Any) -> None:  # case 3 of what KaHIP does
    with pytest.warns(MeshpartWarning, match="weighs 100"):
        labels = partition_labels(quads(4, 4), 4, method=method, weights=[100, *[1] * 15])
    assert min(counts(labels, 4)) >= 1
    assert np.bincount(labels, [100, *[1] * 15]).max() == 100  # the giant alone


@EVERY_METHOD
def test_the_same_weight_everywhere_is_no_weight(method: Any) -> None:
    plain = partition_labels(tets(3, 3, 3), 5, method=method)
    for weight in (1, 7, 0.1):
        np.testing.assert_array_equal(partition_labels(tets(3, 3, 3), 5, method=method, weights=[weight] * 162), plain)


@EVERY_METHOD
def test_weights_by_type_balance_the_types(method: Any) -> None:  # case 16
    labels = partition_labels(quads_and_triangles(4), 2, method=method, weights={"quad": 2, "triangle": 1})
    assert quality(quads_and_triangles(4), labels, weights={"quad": 2, "triangle": 1}).part_weights.tolist() == [6, 6]


@settings(max_examples=80)
@given(st.data())
def test_the_guarantee_holds_for_any_mesh_weights_and_method(data: st.DataObject) -> None:
    mesh, method = data.draw(meshes()), data.draw(METHOD)
    kinds, _ = kinds_and_parents(mesh)
    units = [cell for cell, kind in enumerate(kinds) if kind != 1]
    weight = st.integers(0, 3) | st.integers(0, 10**6) | st.sampled_from([2**40, 2**50])
    weights = np.array(data.draw(st.lists(weight, min_size=mesh.n_cells, max_size=mesh.n_cells)), np.int64)
    if not units:
        return
    if not weights[units].any():
        weights[units] = 1
    nparts = data.draw(st.integers(1, len(units)))
    imbalance = data.draw(st.sampled_from([0, 0.03, 0.5]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        labels = partition_labels(mesh, nparts, method=method, weights=weights, imbalance=imbalance)
    loads = np.array([int(weights[units][labels[units] == part].sum()) for part in range(nparts)], object)
    total, heaviest = int(weights[units].sum()), int(weights[units].max())
    # A common factor of all weights changes nothing: neither does it change the rounding up of the mean.
    factor = int(np.gcd.reduce(weights[units]))
    sought = (1 + Fraction(str(imbalance))) * -(-total // factor // nparts) * factor
    guaranteed = max(sought, Fraction(total, nparts) + (1 - Fraction(1, nparts)) * heaviest)
    assert set(labels[units].tolist()) == set(range(nparts))
    assert max(loads) <= guaranteed
    assert [warning.category for warning in told] == [MeshpartWarning] * (max(loads) > sought)
    assert labels.tolist() == with_attached(mesh, labels)


# -- groups -------------------------------------------------------------------------------------------------


def test_glued_cells_stay_together_at_any_price() -> None:  # case 14
    glued = [-1, -1, 0, 0, -1, -1]
    even = partition_labels(strip(6), 2, keep_together=glued, imbalance=0)
    assert even[2] == even[3]
    assert counts(even, 2) == [3, 3]
    assert quality(strip(6), even).edge_cut == 2
    loose = partition_labels(strip(6), 2, keep_together=glued, imbalance=0.34)
    assert sorted(counts(loose, 2)) == [2, 4]
    assert quality(strip(6), loose).edge_cut == 1


@EVERY_METHOD
def test_cells_beside_an_interface_have_its_label(method: Any) -> None:  # case 31
    mesh = interface()
    groups = [0, 1, 0, 1, 0, 1]
    labels = partition_labels(mesh, 2, method=method, keep_together=groups)
    assert len(set(zip(groups, labels.tolist(), strict=True))) == 2


def test_a_periodic_pair_is_on_one_part() -> None:  # case 32
    labels = partition_labels(strip(6), 2, keep_together=[0, -1, -1, -1, -1, 0])
    assert labels[0] == labels[5]
    assert counts(labels, 2) == [3, 3]


def test_columns_stay_whole_and_are_cut_where_it_costs_least() -> None:  # case 33
    columns = np.arange(12) % 4
    labels = partition_labels(quads(4, 3), 2, keep_together=columns)
    assert len(set(zip(columns.tolist(), labels.tolist(), strict=True))) == 4
    assert counts(labels, 2) == [6, 6]
    assert quality(quads(4, 3), labels).edge_cut == 3


# -- attached cells -----------------------------------------------------------------------------------------


@EVERY_METHOD
def test_boundary_cells_go_with_their_cell(method: Any) -> None:  # cases 19, 29
    labels = partition_labels(two_tets_with_triangles(), 2, method=method)
    assert sorted(labels[:2].tolist()) == [0, 1]
    assert counts(labels[2:], 2) == [3, 3]
    mesh = quads_with_lines(4, 1)
    labels = partition_labels(mesh, 2, method=method)
    assert labels.tolist() == with_attached(mesh, labels)


@pytest.mark.parametrize("nparts", [2, 3, 16, 100, 317, 1024])
def test_kahip_cuts_the_example_as_promised(nparts: int) -> None:
    mesh = meshpart.read(EXAMPLE)
    labels = partition_labels(mesh, nparts, method="kahip")
    found = quality(mesh, labels)
    assert found.nparts == nparts
    assert found.within_bound
    assert found.part_weights.min() >= 1
    attachment = mesh.attachment
    for cell, row in zip(attachment.cells[::17], attachment.rows[::17], strict=True):
        start, end = attachment.parent_offsets[row : row + 2]
        assert labels[cell] == labels[attachment.parents[start:end]].min()
    assert found.edge_cut < quality(mesh, partition_labels(mesh, nparts, method="sfc")).edge_cut


# -- the raw method, the modes, the edges -------------------------------------------------------------------


def test_without_repair_the_method_has_its_way_and_a_warning_says_what_is_wrong() -> None:
    with pytest.warns(MeshpartWarning, match="3 of 4 parts are empty, the first is part 1; part 0 weighs 16"):
        labels = partition_labels(quads(4, 4), 4, method=all_in_one, repair=False)
    assert counts(labels, 4) == [16, 0, 0, 0]


@pytest.mark.parametrize("wrong", ["no", None, 1, 0.0])
def test_flags_are_true_or_false(wrong: Any) -> None:
    for name in ("repair", "allow_empty"):
        with pytest.raises(ArgumentError, match=f"{name} must be True or False, got"):
            partition_labels(quads(2, 2), 2, **{name: wrong})


def test_the_record_says_what_was_repaired() -> None:
    made = partition(quads(4, 4), 4, method=all_in_one)[0].provenance
    assert made.method == "all_in_one"
    assert made.repair is not None
    assert made.repair.filled == 3
    assert made.repair.moved == 12
    raw = partition(quads(4, 4), 4, method="kahip", mode="fast", repair=False)[0].provenance
    assert (raw.method, raw.mode, raw.repair) == ("kahip", "fast", None)
    assert partition(quads(4, 4), 4, method="sfc")[0].provenance.mode is None


def test_auto_is_kahip_in_mode_eco() -> None:
    made = partition(quads(6, 6), 4)[0].provenance
    assert (made.method, made.mode) == ("kahip", "eco")
    np.testing.assert_array_equal(
        partition_labels(tets(4, 4, 4), 6), partition_labels(tets(4, 4, 4), 6, method="kahip", mode="eco")
    )


def test_an_unknown_mode_is_refused_whatever_the_method() -> None:
    for method in METHODS:
        with pytest.raises(ArgumentError, match="mode must be one of fast, eco, strong, fastsocial"):
            partition_labels(quads(2, 2), 2, method=method, mode="slow")


def test_kahip_does_not_look_at_coordinates() -> None:  # case 27
    mesh = quads(6, 6)
    points = np.full_like(mesh.points, np.nan)
    np.testing.assert_array_equal(
        partition_labels(Mesh(points, mesh.blocks), 4, method="kahip"), partition_labels(mesh, 4, method="kahip")
    )


def test_edge_weights_move_the_cut_to_where_it_is_cheap() -> None:
    # Dear edges run along the rows of a square, cheap ones between rows.
    mesh = quads(12, 12)
    graph = dual_graph(mesh)
    sources = np.repeat(np.arange(graph.n_vertices), np.diff(graph.offsets))
    weights = np.where(abs(sources - graph.targets) == 1, 50, 1)
    heeded = quality(mesh, partition_labels(mesh, 4, edge_weights=weights), edge_weights=weights)
    unheeded = quality(mesh, partition_labels(mesh, 4), edge_weights=weights)
    assert heeded.edge_cut == 36  # four slices of three rows: three cuts of 12
    assert unheeded.edge_cut > 100
    assert heeded.quotient.edge_weights.sum() == 2 * 36
    assert unheeded.quotient.edge_weights.sum() == 2 * unheeded.edge_cut
    pairs = partition_labels(mesh, 4, edge_weights=weights, keep_together=np.arange(144) // 2)
    assert quality(mesh, pairs, edge_weights=weights).edge_cut == 36
    with pytest.raises(ArgumentError, match="edge_weights"):
        partition_labels(mesh, 2, method="sfc", edge_weights=[1, 2])


def test_edges_may_weigh_their_points_and_the_quality_says_so() -> None:
    mesh = cubes(4, 3, 3)
    labels = partition_labels(mesh, 2, edge_weights="points", imbalance=0)
    assert quality(mesh, labels, edge_weights="points").edge_cut == 4 * quality(mesh, labels).edge_cut
    assert partition(mesh, 2, edge_weights="points")[0].provenance.edge_weights == "points"


# -- determinism, output, threads ---------------------------------------------------------------------------


def digest(make: Callable[[], Labels]) -> str:
    return hashlib.sha256(make().tobytes()).hexdigest()


@pytest.mark.parametrize("method", each(METHODS))
def test_fresh_processes_and_any_threads_give_the_same_labels(method: str) -> None:  # case 67
    code = f"""
import hashlib, meshes, meshpart
labels = meshpart.partition_labels(meshes.tets(6, 6, 6), 7, method={method!r}, seed=5)
print(hashlib.sha256(labels.tobytes()).hexdigest())
"""
    expected = digest(lambda: partition_labels(tets(6, 6, 6), 7, method=method, seed=5, threads=1))
    assert digest(lambda: partition_labels(tets(6, 6, 6), 7, method=method, seed=5, threads=4)) == expected
    for omp_threads in ("1", "2"):
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": omp_threads}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
        assert (run.stdout.strip(), run.stderr) == (expected, "")  # case 68


@pytest.mark.parametrize("method", each(METHODS))
def test_threads_calling_at_once_get_the_serial_labels(method: str) -> None:  # case 69
    mesh = quads(20, 20)
    expected = partition_labels(mesh, 6, method=method)
    calls = enough(method, range(20), *range(6))
    with ThreadPoolExecutor(4) as pool:
        for labels in pool.map(lambda _: partition_labels(mesh, 6, method=method), calls):
            np.testing.assert_array_equal(labels, expected)
