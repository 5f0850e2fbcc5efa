"""The exchange over all parts in one process: what ghosts get, what owners get back, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from labelled import LabelledMesh, labelled
from meshes import DRAWN, QUARTERS, in_turn, quads, separate, strip, with_unused_points

from meshpart import ArgumentError, Mesh, SubMesh, exchange, reduce, split
from meshpart.arrays import same

ENTITIES = ["cells", "points"]
LAYERS = st.sampled_from([0, 1, 2, 99])
EVERY_ENTITY = pytest.mark.parametrize("entity", ENTITIES)


def ids_of(parts: list[SubMesh], entity: str) -> list[np.ndarray]:
    """Return the global ids of each part, in local order."""
    return [getattr(part, entity).global_ids for part in parts]


def owned_of(parts: list[SubMesh], entity: str, whole: np.ndarray | None = None) -> list[np.ndarray]:
    """Return each part's owned rows of an array over the whole mesh; their global ids, if there is none."""
    owned = [getattr(part, entity).global_ids[: getattr(part, entity).n_owned] for part in parts]
    return owned if whole is None else [whole[ids] for ids in owned]


# -- worked out by hand -------------------------------------------------------------------------------------


def test_ghosts_get_what_their_owners_have() -> None:
    # 4---5---6---7    part 0 owns cell 0 and the points 0 1 4 5, of which part 1 has 1 and 5 as ghosts;
    # | 0 | 1 | 2 |    part 1 owns cells 1 and 2 and the points 2 3 6 7
    # 0---1---2---3    one layer: part 0 has cell 1 and with it 2 and 6, part 1 has cell 0 and with it 0 1 4 5
    parts = split(strip(3), [0, 1, 1], ghost_layers=1)
    cells = exchange(parts, [[10.5], [11.5, 12.5]], "cells")
    assert [values.tolist() for values in cells] == [[10.5, 11.5], [11.5, 12.5, 10.5]]
    points = exchange(parts, [["a", "b", "e", "f"], ["c", "d", "g", "h"]], "points")
    assert [values.tolist() for values in points] == [list("abefcg"), list("cdghabef")]


def test_without_layers_points_on_the_interface_are_exchanged() -> None:
    parts = split(strip(3), [0, 1, 1])
    points = exchange(parts, [[0, 1, 4, 5], [2, 3, 6, 7]], "points")
    assert [values.tolist() for values in points] == [[0, 1, 4, 5], [2, 3, 6, 7, 1, 5]]
    assert [values.tolist() for values in exchange(parts, [[0], [1, 2]], "cells")] == [[0], [1, 2]]


def test_owners_get_what_others_have_for_their_ghosts() -> None:
    # Q(2, 2), a cell a part: point 4 in the middle is on all, and part 0's
    # 6---7---8    local points: part 0 owns 0 1 3 4; part 1 owns 2 5 and has 1 4; part 2 owns 6 7 and has 3 4;
    # | 2 | 3 |                  part 3 owns 8 and has 4, part 1's 5, part 2's 7
    # 3---4---5    what arrives at 0 1 3 4:  1 from part 1 (30), 3 from part 2 (500), 4 from all three
    # | 0 | 1 |
    # 0---1---2
    parts = split(quads(2, 2), [0, 1, 2, 3])
    local = [[1, 2, 3, 4], [10, 20, 30, 40], [100, 200, 500, 600], [1000, 2000, 3000, 4000]]
    # 1: 2 + 30, 3: 3 + 500, 4: 4 + 40 + 600 + 2000; 5: 20 + 3000; 7: 200 + 4000
    assert [v.tolist() for v in reduce(parts, local, "points")] == [[1, 32, 503, 2644], [10, 3020], [100, 4200], [1000]]
    assert [v.tolist() for v in reduce(parts, local, "points", "max")] == [
        [1, 30, 500, 2000],
        [10, 3000],
        [100, 4000],
        [1000],
    ]
    local[3] = [-1, -2, -3, -4]
    assert [v.tolist() for v in reduce(parts, local, "points", op="min")] == [[1, 2, 3, -2], [10, -3], [100, -4], [-1]]


def test_a_sum_takes_the_owner_first_and_then_the_neighbours_in_ascending_order() -> None:
    # point 4 of Q(2, 2) as above: 1e16 + 1 is 1e16 in doubles, so ((1e16 + 1) - 1e16) + 3 is 3. All other orders give
    # 4 or more: 1e16 + 3 is 1e16 + 4, and -1e16 + 3 is -1e16 + 4
    parts = split(quads(2, 2), [0, 1, 2, 3])
    local = [np.zeros(4) for _ in parts]
    at_4 = [np.flatnonzero(ids == 4) for ids in ids_of(parts, "points")]
    for values, place, value in zip(local, at_4, [1e16, 1.0, -1e16, 3.0], strict=True):
        values[place] = value
    assert reduce(parts, local, "points")[0][at_4[0]] == 3.0
    order = [2, 0, 3, 1]  # of the parts, which is not the order of the sum
    shuffled = reduce([parts[i] for i in order], [local[i] for i in order], "points")
    assert same(shuffled, [reduce(parts, local, "points")[i] for i in order])


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
@EVERY_ENTITY
def test_parts_may_come_in_any_order(order: list[int], entity: str) -> None:
    parts = split(quads(4, 4), QUARTERS, ghost_layers=1)
    given_ = [parts[number] for number in order]
    for values, ids in zip(exchange(given_, owned_of(given_, entity), entity), ids_of(given_, entity), strict=True):
        assert values.tolist() == ids.tolist()


# -- what comes out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0,)])
@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f4", ">f8", "c16", "?", "U3", "S2", "M8[s]", "O", "i4,f8"])
@EVERY_ENTITY
def test_an_exchange_keeps_any_dtype_and_shape(entity: str, dtype: str, shape: tuple[int, ...]) -> None:
    mesh = with_unused_points(quads(3, 3))
    count = mesh.n_cells if entity == "cells" else mesh.n_points
    whole = np.random.default_rng(0).integers(0, 99, (count, *shape)).astype(dtype)
    parts = split(mesh, [0, 3, 1, 3, 1, 1, 0, 0, 3], 5, ghost_layers=1)  # parts 2 and 4 have no rows
    for values, ids in zip(exchange(parts, owned_of(parts, entity, whole), entity), ids_of(parts, entity), strict=True):
        assert same(values, whole[ids])


@pytest.mark.parametrize("op", ["sum", "min", "max"])
@pytest.mark.parametrize("dtype", ["i1", "u1", "u8", "f2", "f4", ">f8", "c16", "?"])
@EVERY_ENTITY
def test_a_reduction_keeps_the_dtype_as_an_operation_in_place_does(entity: str, dtype: str, op: str) -> None:
    parts = split(quads(4, 4), QUARTERS, ghost_layers=2)
    rng = np.random.default_rng(1)
    local = [rng.integers(0, 256, (len(ids), 2)).astype(np.uint8).astype(dtype) for ids in ids_of(parts, entity)]
    combine = {"sum": np.add, "min": np.minimum, "max": np.maximum}[op]
    expected: dict[int, np.ndarray] = {}
    for part, values in zip(parts, local, strict=True):  # the owner comes first
        ids = getattr(part, entity)
        expected.update((int(i), values[row].copy()) for row, i in enumerate(ids.global_ids[: ids.n_owned]))
    for part, values in zip(parts, local, strict=True):
        ids = getattr(part, entity)
        for row in range(ids.n_owned, ids.n_local):
            total = expected[int(ids.global_ids[row])]
            combine(total, values[row], out=total)
    for values, owned in zip(reduce(parts, local, entity, op), owned_of(parts, entity), strict=True):
        assert values.dtype == dtype
        assert values.tolist() == [expected[int(i)].tolist() for i in owned]


def test_integers_wrap_around_and_bools_say_whether_any_is_true() -> None:
    parts = split(strip(2), [0, 1])  # points 1 and 4 of part 0 are ghosts of part 1, local rows 1 3 and 2 3
    small = [np.array([0, 100, 0, 100], np.int8), np.array([0, 0, 100, 1], np.int8)]
    assert [v.tolist() for v in reduce(parts, small, "points")] == [[0, 200 - 256, 0, 101], [0, 0]]
    bools = [np.array([False, True, False, False]), np.array([False, False, True, True])]
    assert [v.tolist() for v in reduce(parts, bools, "points")] == [[False, True, False, True], [False, False]]


@pytest.mark.parametrize("op", ["min", "max"])
def test_nan_is_the_least_and_the_greatest(op: str) -> None:
    parts = split(strip(2), [0, 1])
    (owned, _) = reduce(parts, [[0.0, np.nan, 0.0, 0.0], [0.0, 0.0, 0.0, np.nan]], "points", op)
    np.testing.assert_array_equal(owned, [0, np.nan, 0, np.nan])


@EVERY_ENTITY
def test_what_is_given_stays_as_it_is_and_what_comes_out_is_new(entity: str) -> None:
    for labels in (QUARTERS, [0] * 16):  # with ghosts, and without
        parts = split(quads(4, 4), labels, ghost_layers=1)
        owned = [ids.astype(float) for ids in owned_of(parts, entity)]
        local = [ids.astype(float) for ids in ids_of(parts, entity)]
        before = pickle.dumps((owned, local))
        for array in (*owned, *local):
            array.flags.writeable = False
        for results, given_ in ((exchange(parts, owned, entity), owned), (reduce(parts, local, entity), local)):
            for result, array in zip(results, given_, strict=True):
                assert not np.shares_memory(result, array)
                np.add(result, 1, out=result)  # it may be written to
        assert pickle.dumps((owned, local)) == before


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
@EVERY_ENTITY
def test_parts_without_rows_take_part(entity: str, mesh: Mesh) -> None:
    parts = split(mesh, in_turn(mesh) * 2, 7, ghost_layers=1)
    owned = owned_of(parts, entity)
    assert same(exchange(parts, owned, entity), [np.array(ids) for ids in ids_of(parts, entity)])
    back = reduce(parts, ids_of(parts, entity), entity, op="max")
    assert same(back, [np.array(ids) for ids in owned])


def test_parts_that_share_nothing_exchange_nothing() -> None:  # case 38
    parts = split(separate(2), [0, 1], ghost_layers=1)
    for part in parts:
        for plan in (part.cell_halo, part.point_halo):
            assert plan.neighbours.tolist() == plan.send_indices.tolist() == []
            assert plan.send_offsets.tolist() == plan.recv_offsets.tolist() == [0]
    assert [v.tolist() for v in exchange(parts, [[1], [2]], "cells")] == [[1], [2]]


def test_of_sub_meshes_the_entity_must_be_said() -> None:
    parts = split(quads(4, 4), QUARTERS, ghost_layers=1)
    for call in (lambda: exchange(parts, owned_of(parts, "cells")), lambda: reduce(parts, ids_of(parts, "cells"))):
        with pytest.raises(ArgumentError, match='entity must be "cells" or "points", it was not given'):
            call()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"neighbours": []}, "the plan for the points of part 0 does not fit its map"),
        ({"neighbours": [0]}, "the plan for the points of part 0 does not fit its map"),
        ({"neighbours": [5]}, "the plans of parts 0 and 5 for points do not fit each other"),
        ({"send_offsets": [0, 3]}, "the plan for the points of part 0 does not fit its map"),
        ({"send_offsets": [1, 2]}, "the plan for the points of part 0 does not fit its map"),
        ({"recv_offsets": [0, 1]}, "the plan for the points of part 0 does not fit its map"),
        ({"send_indices": [1]}, "the plan for the points of part 0 does not fit its map"),
        ({"send_indices": [1, -1]}, "the plan for the points of part 0 sends rows that the part does not own"),
        ({"send_indices": [1, 4]}, "the plan for the points of part 0 sends rows that the part does not own"),
        ({"send_offsets": [0, 1], "send_indices": [1]}, "the plans of parts 0 and 1 for points do not fit each other"),
    ],
)
def test_plans_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    # part 0 sends its local points 1 and 3 of 4 to part 1, and receives nothing
    parts = split(quads(2, 1), [0, 1])
    plan = replace(parts[0].point_halo, **{name: np.array(value, np.int64) for name, value in change.items()})
    parts[0] = replace(parts[0], point_halo=plan)
    for function, values in ((exchange, owned_of(parts, "points")), (reduce, ids_of(parts, "points"))):
        with pytest.raises(ArgumentError, match=message):
            function(parts, values, "points")


def test_what_is_no_list_of_parts_or_arrays_is_refused() -> None:
    parts = split(quads(4, 4), QUARTERS)
    for given_ in (parts[0], 3, np.array(1), "parts"):
        with pytest.raises(ArgumentError, match="parts must be a list of parts, got"):
            exchange(given_, [], "cells")
    for values in (None, 1.0, np.array(1)):
        with pytest.raises(ArgumentError, match="owned_values must be a list of arrays, got"):
            exchange(parts, values, "cells")
    with pytest.raises(ArgumentError, match="parts 1, 2, 3, 4, 5 and 2147483641 more of 2147483647 are missing"):
        exchange(split(strip(1), [0], 2**31 - 1, only=[0]), [[1]], "cells")


# -- on random meshes ---------------------------------------------------------------------------------------


@given(labelled(), LAYERS)
def test_exchanging_global_ids_gives_them_back(case: LabelledMesh, ghost_layers: int) -> None:
    parts = split(*case, ghost_layers=ghost_layers)
    for entity in ENTITIES:
        values = exchange(parts, owned_of(parts, entity), entity)
        assert [of_part.tolist() for of_part in values] == [ids.tolist() for ids in ids_of(parts, entity)]


@given(labelled(), LAYERS, st.integers(0, 2**32 - 1))
def test_reduce_is_the_adjoint_of_exchange(case: LabelledMesh, ghost_layers: int, seed: int) -> None:
    parts = split(*case, ghost_layers=ghost_layers)
    rng = np.random.default_rng(seed)
    for entity in ENTITIES:
        x = [rng.integers(-99, 99, (len(ids), 2)) for ids in owned_of(parts, entity)]
        y = [rng.integers(-99, 99, (len(ids), 2)) for ids in ids_of(parts, entity)]
        there, back = exchange(parts, x, entity), reduce(parts, y, entity)
        assert sum(np.vdot(a, b) for a, b in zip(there, y, strict=True)) == sum(
            np.vdot(a, b) for a, b in zip(x, back, strict=True)
        )


@given(labelled(), LAYERS)
def test_reducing_ones_counts_the_parts_that_have_an_entity(case: LabelledMesh, ghost_layers: int) -> None:
    parts = split(*case, ghost_layers=ghost_layers)
    for entity in ENTITIES:
        counts: dict[int, int] = {}
        for ids in ids_of(parts, entity):
            for entry in ids.tolist():
                counts[entry] = counts.get(entry, 0) + 1
        ones = [np.ones(len(ids), int) for ids in ids_of(parts, entity)]
        for values, owned in zip(reduce(parts, ones, entity), owned_of(parts, entity), strict=True):
            assert values.tolist() == [counts[entry] for entry in owned.tolist()]


# -- steps of message passing -------------------------------------------------------------------------------


def step(mesh: Mesh, values: np.ndarray) -> np.ndarray:
    """Return, of every cell, the sum of the values of the cells around each of its points."""
    rows = reference.rows_of(mesh)
    at_points = np.zeros(mesh.n_points, values.dtype)
    for row, value in zip(rows, values.tolist(), strict=True):
        at_points[list(set(row))] += value
    return np.array([at_points[list(set(row))].sum() for row in rows], values.dtype)


def cells_in_order(part: SubMesh, values: np.ndarray) -> np.ndarray:
    """Return values after a step over the part's own mesh, in local order."""
    by_block = np.concatenate([np.zeros(0, values.dtype), *part.to_blocks(values)])
    stepped = step(part.mesh, by_block)
    return part.to_local(np.split(stepped, part.mesh.block_starts[1:-1])) if part.mesh.blocks else stepped


def steps_without_exchange(parts: list[SubMesh], whole: np.ndarray, steps: int) -> list[np.ndarray]:
    """Return the local values after an exchange and then some steps of each part by itself."""
    local = exchange(parts, owned_of(parts, "cells", whole), "cells")
    for _ in range(steps):
        local = [cells_in_order(part, values) for part, values in zip(parts, local, strict=True)]
    return local


@given(labelled(), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_k_layers_carry_k_steps(case: LabelledMesh, layers: int, seed: int) -> None:
    parts = split(*case, ghost_layers=layers)
    serial = start = np.random.default_rng(seed).integers(0, 99, case[0].n_cells)
    for steps in range(layers + 1):
        for part, values in zip(parts, steps_without_exchange(parts, start, steps), strict=True):
            exact = part.cells.layers() <= layers - steps
            assert exact[: part.cells.n_owned].all()
            assert values[exact].tolist() == serial[part.cells.global_ids[exact]].tolist()
        serial = step(case[0], serial)


@pytest.mark.parametrize("layers", [0, 1, 2, 3])
def test_k_layers_do_not_carry_a_step_more(layers: int) -> None:
    mesh, start = strip(12), np.arange(1, 13)
    parts = split(mesh, [0] * 6 + [1] * 6, ghost_layers=layers)
    serial = start
    for _ in range(layers + 1):
        serial = step(mesh, serial)
    for part, values in zip(parts, steps_without_exchange(parts, start, layers + 1), strict=True):
        wrong = values[:6] != serial[part.cells.global_ids[:6]]
        assert np.flatnonzero(wrong).tolist() == ([5] if part.part == 0 else [0])  # the owned cell at the interface


@given(labelled(), st.integers(0, 2**32 - 1))
def test_one_layer_that_is_exchanged_carries_any_number_of_steps(case: LabelledMesh, seed: int) -> None:
    parts = split(*case, ghost_layers=1)
    serial = np.random.default_rng(seed).integers(0, 99, case[0].n_cells)
    owned = owned_of(parts, "cells", serial)
    for _ in range(4):
        serial = step(case[0], serial)
        local = exchange(parts, owned, "cells")
        owned = [cells_in_order(part, values)[: part.cells.n_owned] for part, values in zip(parts, local, strict=True)]
    assert [v.tolist() for v in owned] == [v.tolist() for v in owned_of(parts, "cells", serial)]


# -- what is refused ----------------------------------------------------------------------------------------


def quarters(**options: Any) -> list[SubMesh]:
    """Return Q(4, 4) in four parts of four cells; they own 9, 6, 6 and 4 points."""
    return split(quads(4, 4), QUARTERS, **options)


FOURS = [np.zeros(4)] * 4

BAD_PARTS = {
    "none": ([], r"parts is empty, it must hold all parts of a decomposition"),
    "one missing": ([0, 1, 3], r"part 2 of 4 is missing"),
    "two missing": ([1, 2], r"parts 0 and 3 of 4 are missing"),
    "one twice": ([0, 1, 2, 3, 1], r"part 1 is given more than once"),
    "one for another": ([0, 1, 1, 3], r"part 1 is given more than once"),
    "two twice": ([3, 0, 0, 1, 2, 3], r"parts 0 and 3 are given more than once"),
}


@pytest.mark.parametrize(("numbers", "message"), BAD_PARTS.values(), ids=BAD_PARTS)
def test_parts_must_all_be_there_once(numbers: list[int], message: str) -> None:
    parts = [quarters()[number] for number in numbers]
    for function in (exchange, reduce):
        with pytest.raises(ArgumentError, match=message):
            function(parts, [np.zeros(4)] * len(parts), "cells")


@pytest.mark.parametrize(
    "others",
    [quarters(ghost_layers=1), split(quads(4, 4), QUARTERS[::-1]), split(with_unused_points(quads(4, 4)), QUARTERS)],
    ids=["other layers", "other labels", "another mesh"],
)
def test_parts_of_several_decompositions_are_refused(others: list[SubMesh]) -> None:
    for function in (exchange, reduce):
        with pytest.raises(ArgumentError, match="parts 3 of 4 and 2 of 4 are of different decompositions"):
            function([quarters()[3], quarters()[1], others[2], others[0]], FOURS, "cells")


def test_many_missing_parts_are_named_in_short() -> None:
    parts = split(strip(50), np.arange(50))
    with pytest.raises(ArgumentError, match="parts 1, 2, 3, 4, 5 and 44 more of 50 are missing"):
        exchange(parts[:1], [[0]], "cells")


BAD_VALUES = {
    "too few arrays": (FOURS[:3], r"must hold an array for each of 4 parts, got 3"),
    "too many arrays": ([*FOURS, FOURS[0]], r"must hold an array for each of 4 parts, got 5"),
    "a row too few": (
        [*FOURS[:2], np.zeros(3), FOURS[0]],
        r"of part 2 must have n_\w+ = 4 rows, got the shape \(3,\)",
    ),
    "a row too many": ([np.zeros((5, 2))] * 4, r"of part 0 must have n_\w+ = 4 rows, got the shape \(5, 2\)"),
    "a number": ([*FOURS[:3], 0.0], r"of part 3 must have n_\w+ = 4 rows, got the shape \(\)"),
    "dtypes": ([*FOURS[:3], np.zeros(4, "i4")], r"must have one dtype, got float64 of part 0 and int32 of part 3"),
    "shapes": (
        [*FOURS[:1], *[np.zeros((4, 2))] * 3],
        r"must have rows of one shape, got \(\) of part 0 and \(2,\) of part 1",
    ),
    "ragged": ([*FOURS[:3], [[1], [1, 2], [], []]], r"of part 3 is not an array"),
    "masked": ([*FOURS[:3], np.ma.masked_equal([0, 1, 2, 3], 1)], r"of part 3 has masked values"),
}


@pytest.mark.parametrize(("values", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_values_must_fit_the_parts_and_each_other(values: list[Any], message: str) -> None:
    for function, name in ((exchange, "owned_values"), (reduce, "local_values")):
        with pytest.raises(ArgumentError, match=f"{name} {message}"):
            function(quarters(), values, "cells")


def test_a_message_names_the_part_and_not_its_place() -> None:
    with pytest.raises(ArgumentError, match=r"of part 3 must have n_\w+ = 4 rows, got the shape \(2,\)"):
        exchange(quarters()[::-1], [np.zeros(2), *FOURS[1:]], "cells")


def test_values_of_ghosts_too_are_no_owned_values() -> None:
    parts = quarters()  # with 9 local points each
    with pytest.raises(ArgumentError, match=r"owned_values of part 1 must have n_owned = 6 rows, got the shape \(9,\)"):
        exchange(parts, [np.zeros(9)] * 4, "points")
    with pytest.raises(ArgumentError, match=r"local_values of part 1 must have n_local = 9 rows, got the shape \(6,\)"):
        reduce(parts, [np.zeros(9), np.zeros(6), np.zeros(6), np.zeros(4)], "points")


@pytest.mark.parametrize("entity", ["facets", "cell", "", 3, ["cells"]])
def test_an_entity_that_is_none_is_refused(entity: Any) -> None:
    for function in (exchange, reduce):
        with pytest.raises(ArgumentError, match="entity must be one of cells, points, vertices"):
            function(quarters(), FOURS, entity)


def test_sub_meshes_have_no_vertices() -> None:
    with pytest.raises(ArgumentError, match="entity is 'vertices', and a SubMesh has none"):
        exchange(quarters(), FOURS, "vertices")


@pytest.mark.parametrize("op", ["mean", "add", "", None, np.add])
def test_an_operation_that_is_none_is_refused(op: Any) -> None:
    with pytest.raises(ArgumentError, match="op must be one of sum, min, max"):
        reduce(quarters(), FOURS, "cells", op)


@pytest.mark.parametrize(
    ("dtype", "op"), [("M8[s]", "sum"), ("U3", "sum"), ("i4,f8", "sum"), ("i4,f8", "max"), ("V3", "min")]
)
def test_a_dtype_that_does_not_have_the_operation_is_refused(dtype: str, op: str) -> None:
    with pytest.raises(ArgumentError, match=f"local_values of the dtype .* have no {op}"):
        reduce(quarters(), [np.zeros(4, dtype)] * 4, "cells", op)
