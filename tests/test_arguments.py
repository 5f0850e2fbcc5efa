"""Bad input: refused at the door by an exception of ours that names the argument, and the interpreter lives on."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import meshio
import numpy as np
import pytest
from meshes import no_cells, overlapping_sets, quads, quads_with_lines, strip

import meshpart
from meshpart import (
    ArgumentError,
    Mesh,
    MeshError,
    MeshpartError,
    MethodError,
    Problem,
    partition,
    partition_labels,
    split,
)

Cut = Callable[..., Any]

VAST = 10**400  # an integer that no float is near to

BOTH = pytest.mark.parametrize("cut", [partition_labels, partition])


@pytest.fixture(autouse=True)
def _the_mesh_of_four_is_still_cut() -> Any:
    """After every test, whatever it passed in, the library gives the labels that it gave before."""
    yield
    assert partition_labels(strip(4), 2, method="sfc").tolist() == [0, 0, 1, 1]


# -- nparts -------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "nparts", [2.5, True, "4", None, np.float64(4), np.True_, [2], np.array(2), 2j, Fraction(4)], ids=repr
)
def test_nparts_that_is_no_integer_is_refused(cut: Cut, nparts: Any) -> None:  # case 4
    with pytest.raises(ArgumentError, match=r"nparts must be an integer, got"):
        cut(strip(4), nparts)


@BOTH
@pytest.mark.parametrize("nparts", [0, -1, 2**31, 2**64, -(2**63), np.int64(0)])
def test_nparts_that_is_too_small_or_too_large_is_refused_with_its_value(cut: Cut, nparts: int) -> None:  # case 4
    for allow_empty in (False, True):
        with pytest.raises(ArgumentError, match=rf"nparts must be between 1 and 2147483647, got {nparts}"):
            cut(strip(4), nparts, allow_empty=allow_empty)


@pytest.mark.parametrize("integer", [int, np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_an_integer_of_numpy_is_an_integer(integer: Callable[[int], Any]) -> None:
    options = {"seed": integer(0), "threads": integer(1)}
    assert partition_labels(strip(4), integer(2), ghost_layers=integer(0), **options).tolist() in (
        [0, 0, 1, 1],
        [1, 1, 0, 0],
    )
    (part,) = partition(strip(4), integer(2), only=[integer(1)], **options)
    assert part.part == 1
    assert pickle.loads(pickle.dumps(part.provenance)) == partition(strip(4), 2)[0].provenance
    assert len(split(strip(4), [0, 0, 1, 1], integer(3))) == 3


@BOTH
def test_more_parts_than_units_are_refused_with_both_numbers(cut: Cut) -> None:  # case 2
    with pytest.raises(ArgumentError, match=r"nparts is 5, .* share out, 2; "):
        cut(quads(2, 1), 5)
    with pytest.raises(ArgumentError, match=r"nparts is 3, .* share out, 2;"):
        cut(strip(4), 3, keep_together=[0, 0, 1, 1])  # two groups
    with pytest.raises(ArgumentError, match=r"nparts is 5, .* share out, 4;"):
        cut(quads_with_lines(4, 1), 5)  # lines are no units
    with pytest.raises(ArgumentError, match=r"nparts is 2, .* share out, 0;"):
        cut(no_cells(3), 2)  # case 3


def test_allow_empty_leaves_the_highest_parts_empty() -> None:
    assert sorted(partition_labels(quads(2, 1), 5, allow_empty=True)) == [0, 1]
    assert set(partition_labels(quads_with_lines(4, 1), 100, allow_empty=True)) == {0, 1, 2, 3}
    assert [part.cells.n_owned for part in partition(quads(2, 1), 5, allow_empty=True)] == [1, 1, 0, 0, 0]
    assert partition_labels(quads(2, 1), 2**31 - 1, allow_empty=True).max() == 1


def test_allow_empty_changes_nothing_where_there_are_enough_units() -> None:
    np.testing.assert_array_equal(partition_labels(quads(5, 5), 7, allow_empty=True), partition_labels(quads(5, 5), 7))


# -- ghost_layers, seed, threads, only ----------------------------------------------------------------------


@pytest.mark.parametrize("layers", [1, 2, -1, True, 1.0, "0", None], ids=repr)
def test_labels_refuse_ghost_layers_other_than_0(layers: Any) -> None:
    with pytest.raises(ValueError, match="ghost_layers"):
        partition_labels(strip(4), 2, ghost_layers=layers)


@pytest.mark.parametrize("layers", [-1, True, 1.0, "0", None, [1]], ids=repr)
def test_ghost_layers_that_are_no_number_of_layers_are_refused(layers: Any) -> None:
    with pytest.raises(ArgumentError, match="ghost_layers must be"):
        partition(strip(4), 2, ghost_layers=layers)
    with pytest.raises(ArgumentError, match="ghost_layers must be"):
        split(strip(4), [0, 0, 1, 1], ghost_layers=layers)


@BOTH
@pytest.mark.parametrize("seed", [1.5, True, -1, None, "0", 2**64, np.float32(1)], ids=repr)
def test_a_seed_that_is_no_integer_from_0_on_is_refused(cut: Cut, seed: Any) -> None:
    with pytest.raises(ArgumentError, match="seed must be"):
        cut(strip(4), 2, seed=seed)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", 10**9], ids=repr)
def test_threads_that_are_no_number_of_threads_are_refused(threads: Any) -> None:
    for cut in (partition_labels, partition, split):
        with pytest.raises(ArgumentError, match="threads must be"):
            cut(strip(4), [0, 0, 1, 1] if cut is split else 2, threads=threads)


@pytest.mark.parametrize("only", [[99], [0, 2], [-1], [True], [0.0], ["0"], [None], "12", "", b"01", 0, 1.5], ids=repr)
def test_only_that_names_no_parts_is_refused_before_anything_is_cut(only: Any) -> None:
    with pytest.raises(ArgumentError, match="only must"):
        partition(strip(4), 2, only=only, method=must_not_run)
    with pytest.raises(ArgumentError, match="only must"):
        split(strip(4), [0, 0, 1, 1], only=only)


@pytest.mark.parametrize(
    "only", [[1], (1,), {1}, range(1, 2), np.array([1]), iter([1])], ids=lambda o: type(o).__name__
)
def test_only_may_be_anything_that_lists_parts(only: Any) -> None:
    assert [part.part for part in partition(strip(4), 2, only=only)] == [1]


# -- imbalance ----------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("imbalance", [-0.1, np.nan, np.inf, -np.inf, VAST, -1, Fraction(-1, 3)])
def test_an_imbalance_that_is_negative_or_not_finite_is_refused(cut: Cut, imbalance: Any) -> None:
    with pytest.raises(ArgumentError, match="imbalance must be finite and not negative, got"):
        cut(strip(4), 2, imbalance=imbalance)


@BOTH
@pytest.mark.parametrize("imbalance", ["a", "0.1", True, None, [0.1], 1j])
def test_an_imbalance_that_is_no_number_is_refused(cut: Cut, imbalance: Any) -> None:
    with pytest.raises(ArgumentError, match="imbalance must be a number, got"):
        cut(strip(4), 2, imbalance=imbalance)


@BOTH
@pytest.mark.parametrize("imbalance", [0, 0.0, 5e-324, 1e-5, 1, 1e308, np.float32(0.1), np.int8(1), Fraction(1, 3)])
def test_an_imbalance_may_be_any_number_from_0_on(cut: Cut, imbalance: Any) -> None:
    cut(strip(4), 2, imbalance=imbalance)


# -- weights ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], r"weights must have the shape \(4,\), got \(3,\)"),  # case 13
        ([1, 1, 1, 1, 1], r"weights must have the shape \(4,\), got \(5,\)"),
        ([[1, 1, 1, 1]], r"weights must have the shape \(4,\), got \(1, 4\)"),
        (1.0, r"weights must have the shape \(4,\), got \(\)"),
        ([1, np.nan, 1, 1], "weights must be finite and not negative, entry 1 is nan"),
        ([1, 1, np.inf, 1], "weights must be finite and not negative, entry 2 is inf"),
        ([1, 1, 1, -1], "weights must be finite and not negative, entry 3 is -1"),
        (np.array([1, 1, 1, 1e300], np.longdouble) ** 2, "weights must be finite and not negative, entry 3 is inf"),
        ([0, 0, 0, 0], "weights: all are zero"),
        ([1j, 1, 1, 1], "weights must be real numbers, got the dtype complex"),
        (["1", "1", "1", "1"], "weights must be real numbers, got the dtype <U1"),
        ([1, None, 1, 1], "weights must be real numbers, got the dtype object"),
        ([VAST, 1, 1, 1], "weights must be real numbers, got the dtype object"),
        (np.zeros(4, "M8[s]"), "weights must be real numbers, got the dtype datetime"),
        ([1, [1, 1], 1, 1], "weights is not an array"),
        ({1, 2}, "weights must be real numbers, got the dtype object"),
        ("load", "weights: there is no cell_data array 'load'"),
        ({"quad": "2"}, r"weights\['quad'\] must be a number, got '2'"),
        ({"quad": None}, r"weights\['quad'\] must be a number, got None"),
        ({"quad": [1, 2]}, r"weights\['quad'\] must be a number, got \[1, 2\]"),
        ({"quad": [1, [2]]}, r"weights\['quad'\] is not an array"),
        ({"quad": VAST}, r"weights\['quad'\] must be a number, got 1000"),
        ({"quad": -1}, r"weights\['quad'\] must be finite and not negative, .* -1"),
        ({"quad": np.nan}, r"weights\['quad'\] must be finite and not negative, .* nan"),
        ({"quad": np.inf}, r"weights\['quad'\] must be finite and not negative, .* inf"),
        ({"quad": 0}, "weights: all are zero"),
        ({"squad": 1}, "weights: 'squad' is no cell type and no cell set"),
        ({4: 1}, "weights: 4 is no cell type and no cell set"),
        ({("quad",): 1}, r"weights: \('quad',\) is no cell type and no cell set"),
    ],
)
def test_weights_of_every_wrong_sort_are_refused(cut: Cut, weights: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        cut(strip(4), 2, weights=weights, method=must_not_run)


def test_weights_in_cell_data_are_checked_like_others() -> None:
    mesh = quads_with_lines(4, 1)
    data = {"pairs": [np.ones((4, 2)), np.ones((10, 2))], "mixed": [np.ones((4, 2)), np.ones(10)]}
    named = Mesh(mesh.points, mesh.blocks, cell_data=data)
    with pytest.raises(ArgumentError, match=r"weights must have the shape \(14,\), got \(14, 2\)"):
        partition_labels(named, 2, weights="pairs")
    with pytest.raises(ArgumentError, match="weights: the cell_data array 'mixed' has different shapes"):
        partition_labels(named, 2, weights="mixed")


# -- keep_together ------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("keep_together", "message"),
    [
        ([0, 0, 1], r"keep_together must have the shape \(4,\), got \(3,\)"),
        ([[0, 0, 1, 1]], r"keep_together must have the shape \(4,\), got \(1, 4\)"),
        (3, r"keep_together must have the shape \(4,\), got \(\)"),
        ([0.0, 0.0, 1.0, 1.0], "keep_together must hold integers, got the dtype float64"),
        ([True, True, False, False], "keep_together must hold integers, got the dtype bool"),
        ([None] * 4, "keep_together must hold integers, got the dtype object"),
        ([0, 0, -2, 1], "keep_together: .* got -2"),
        ([0, [0], 1, 1], "keep_together is not an array"),
        ("C", r"keep_together: there is no cell set or cell_data array 'C' \(there is: 'A'\)"),
        (["A", "C"], r"keep_together: there is no cell set or cell_data array 'C' \(there is: 'A'\)"),
        (["A", 3], "keep_together must hold integers, got the dtype <U"),
        (["A", ["A"]], "keep_together is not an array"),
        ([3, "A"], "keep_together must hold integers, got the dtype <U"),
        ({3}, "keep_together must hold integers, got the dtype object"),
    ],
)
def test_keep_together_of_every_wrong_sort_is_refused(cut: Cut, keep_together: Any, message: str) -> None:
    mesh = Mesh(strip(4).points, strip(4).blocks, cell_sets={"A": [[0, 1]]})
    with pytest.raises(ArgumentError, match=message):
        cut(mesh, 2, keep_together=keep_together, method=must_not_run)


# -- methods ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("method", ["metis?", "SFC", "", None, 3, ["sfc"], b"sfc", np.array(["sfc", "auto"])], ids=repr)
def test_a_method_that_is_not_there_is_refused_and_never_replaced(cut: Cut, method: Any) -> None:  # case 76
    with pytest.raises(ArgumentError, match="method must be one of auto, sfc, "):
        cut(strip(4), 2, method=method)


@BOTH
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], r"integers of shape \(4,\), .* got int64 \(2,\)"),
        ([[0, 0, 1, 1]], r"integers of shape \(4,\), .* got int64 \(1, 4\)"),
        ([0.0, 0.0, 1.0, 1.0], r"integers of shape \(4,\), .* got float64 \(4,\)"),
        ([True, True, False, False], r"integers of shape \(4,\), .* got bool \(4,\)"),
        (None, r"integers of shape \(4,\), .* got object \(\)"),
        ("0011", r"integers of shape \(4,\), .* got <U4 \(\)"),
        ([0, 0, 1, 2], r"labels must be in 0\.\.1, got 0\.\.2"),
        ([0, 0, 1, -1], r"labels must be in 0\.\.1, got -1\.\.1"),
        (np.array([0, 0, 1, 2**63], np.uint64), r"labels must be in 0\.\.1, got 0\.\.9223372036854775808"),
        ([0, [0], 1, 1], "what the method returned is not an array"),
    ],
)
def test_a_method_that_returns_no_labels_is_an_error(cut: Cut, labels: Any, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        cut(strip(4), 2, method=lambda _: labels)


@pytest.mark.parametrize("dtype", ["i1", "u1", "u8", "i4", ">i8"])
def test_a_method_may_return_any_integers(dtype: str) -> None:
    labels = partition_labels(strip(4), 2, method=lambda _: np.array([1, 0, 0, 1], dtype))
    assert labels.tolist() == [1, 0, 0, 1]
    assert labels.dtype == np.int32


def test_what_a_method_raises_reaches_the_caller() -> None:
    def fail(problem: Problem) -> Any:
        raise ZeroDivisionError("of the method's own")

    with pytest.raises(ZeroDivisionError, match="of the method's own"):
        partition_labels(strip(4), 2, method=fail)


def test_labels_do_not_share_memory_with_what_the_method_returned() -> None:
    kept = np.array([0, 0, 1, 1], np.int32)
    kept.flags.writeable = False
    labels = partition_labels(strip(4), 2, method=lambda _: kept)
    labels[:] = 7
    assert kept.tolist() == [0, 0, 1, 1]


def test_a_method_sees_the_problem() -> None:
    seen: list[Problem] = []

    def look(problem: Problem) -> list[int]:
        seen.append(problem)
        return [0, 1, 1]

    weights = [2, 2, 4, 4, *[1] * 10]
    partition_labels(
        quads_with_lines(4, 1),
        2,
        method=look,
        weights=weights,
        keep_together=[0, 0, *[-1] * 12],
        seed=5,
        imbalance=1,
        threads=3,
    )
    (problem,) = seen
    assert (problem.nparts, problem.seed, problem.threads, problem.imbalance) == (2, 5, 3, 1)
    assert problem.units.count == 3
    np.testing.assert_array_equal(problem.weights, [2, 2, 2])  # 4, 4 and 4, divided by what the four have in common
    np.testing.assert_allclose(problem.centroids, [[1.0, 0.5], [2.5, 0.5], [3.5, 0.5]])


def test_a_method_cannot_change_the_weights_that_it_sees() -> None:
    def cheat(problem: Problem) -> list[int]:
        with pytest.raises(ValueError, match="read-only"):
            problem.weights[:] = 1
        return [0, 0, 1, 1]

    partition_labels(strip(4), 2, weights=[1, 2, 2, 1], method=cheat)


def test_the_method_that_ran_is_recorded() -> None:
    def alternate(problem: Problem) -> Any:
        return np.arange(problem.units.count) % problem.nparts

    assert partition(strip(4), 2)[0].provenance.method == "kahip"  # what auto stands for
    assert "alternate" in partition(strip(4), 2, method=alternate)[0].provenance.method


# -- labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "nparts", "message"),
    [
        ([0, 0, 1], None, r"labels must have the shape \(4,\), got \(3,\)"),
        ([0, 0, 1, 1, 1], 2, r"labels must have the shape \(4,\), got \(5,\)"),
        ([[0, 0, 1, 1]], 2, r"labels must have the shape \(4,\), got \(1, 4\)"),
        ([0, 0, 1, 2], 2, r"labels: cell 3 has 2, outside 0\.\.1"),
        ([0, 0, -1, 1], None, "labels: cell 2 has -1, it must not be negative"),
        ([0, 0, -1, 1], 2, "labels: cell 2 has -1, it must not be negative"),
        ([0, 2**40, 1, 1], None, r"labels: cell 1 has 1099511627776, outside 0\.\.2147483646"),
        (np.array([0, 0, 0, 2**63], np.uint64), None, r"labels: cell 3 has 9223372036854775808"),
        ([0.0, 0.0, 1.0, 1.0], 2, "labels must be integers, got the dtype float64"),
        ([True, False, True, False], None, "labels must be integers, got the dtype bool"),
        ("0011", None, "labels must be integers, got the dtype <U4"),
        (None, None, "labels must be integers, got the dtype object"),
        ([0, [0], 1, 1], None, "labels is not an array"),
        ([0, 0, 1, 1], 0, "nparts must be between 1 and 2147483647, got 0"),
        ([0, 0, 1, 1], 2.0, r"nparts must be an integer, got 2\.0"),
        ([0, 0, 1, 1], True, "nparts must be an integer, got True"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: Any, nparts: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        split(strip(4), labels, nparts)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8", ">i4"])
def test_labels_may_be_any_integers(dtype: str) -> None:
    parts = split(strip(4), np.array([2, 0, 0, 2], dtype))
    assert [part.cells.global_ids.tolist() for part in parts] == [[1, 2], [], [0, 3]]


def test_split_takes_labels_literally() -> None:
    mesh = quads_with_lines(4, 1)  # of which the lines would follow their quads
    labels = [0, 0, 0, 0, *[1] * 10]
    assert split(mesh, labels)[0].cells.global_ids.tolist() == [0, 1, 2, 3]


# -- meshes -------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("mesh", [None, 3, "mesh.msh", [1, 2], {"points": 1}, np.zeros((3, 2)), object()], ids=repr)
def test_what_is_no_mesh_is_refused(cut: Cut, mesh: Any) -> None:
    with pytest.raises(MeshError, match="a mesh needs points and cells"):
        cut(mesh, 2)
    with pytest.raises(MeshError, match="a mesh needs points and cells"):
        split(mesh, [0, 1])


@pytest.mark.parametrize("cut", [partition_labels, partition, lambda mesh, n: split(mesh, [i % n for i in range(8)])])
def test_nothing_is_changed_in_the_mesh_of_the_caller(cut: Cut) -> None:
    mesh = full_meshio_mesh()
    before = pickle.dumps(mesh)
    cut(mesh, 3)
    assert pickle.dumps(mesh) == before
    assert mesh.points.flags.writeable
    assert all(block.data.flags.writeable for block in mesh.cells)
    assert mesh.cell_data["load"][0].flags.writeable


def test_the_comparison_of_the_mesh_with_itself_sees_a_change() -> None:
    mesh = full_meshio_mesh()
    before = pickle.dumps(mesh)
    mesh.cell_data["load"][0][0] += 1
    assert pickle.dumps(mesh) != before


def test_nothing_is_changed_in_the_other_arguments_of_the_caller() -> None:
    mesh = overlapping_sets()
    arguments = {"weights": np.array([1.0, 2.0, 1.0]), "keep_together": np.array([0, 0, -1])}
    before = pickle.dumps(arguments)
    partition(mesh, 2, imbalance=1, **arguments)
    by_name = {"weights": {"A": 2, "quad": 1}, "keep_together": ["B"]}
    partition(mesh, 2, imbalance=1, **by_name)
    split(mesh, labels := np.array([0, 1, 1]))
    assert pickle.dumps(arguments) == before
    assert by_name == {"weights": {"A": 2, "quad": 1}, "keep_together": ["B"]}
    assert labels.tolist() == [0, 1, 1]


# -- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (meshpart.ArgumentError, ValueError),
        (meshpart.MeshError, ValueError),
        (meshpart.FormatError, OSError),
        (meshpart.MethodError, RuntimeError),
        (meshpart.MissingDependencyError, ImportError),
    ],
)
def test_an_error_of_ours_is_also_the_builtin_that_a_caller_would_expect(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, MeshpartError)
    assert issubclass(error, builtin)


# -- helpers ------------------------------------------------------------------------------------------------


def must_not_run(problem: Problem) -> Any:
    """Fail: a method may only run when all arguments are right."""
    pytest.fail("the method ran before the arguments were checked")


def full_meshio_mesh() -> meshio.Mesh:
    """Return Q(3, 1) with five lines around it, and something of all that a meshio mesh can hold."""
    cells = [("quad", np.array([[0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6]]))]
    cells += [("line", np.array([[0, 1], [1, 2], [2, 3], [3, 7], [7, 6]]))]
    mesh = meshio.Mesh(
        points=strip(3).points.copy(),
        cells=cells,
        point_data={"temperature": np.arange(8.0), "velocity": np.ones((8, 3), np.float32)},
        cell_data={"load": [np.array([1.0, np.nan, 3.0]), np.zeros(5)]},
        field_data={"wall": np.array([1, 2])},
        point_sets={"left": np.array([0, 4])},
        cell_sets={"A": [np.array([0, 1]), np.array([2])]},
        gmsh_periodic=[[0, (1, 2), None, np.array([[3, 0]])]],
        info={"from": "here"},
    )
    mesh.cell_sets["gmsh:bounding_entities"] = [np.array([-1, 2]), None]
    return mesh
