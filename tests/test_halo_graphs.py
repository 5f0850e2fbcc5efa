"""The exchange of values of a graph's vertices, over all its parts in one process."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshpart import ArgumentError, SubGraph, exchange, reduce, split_graph

RING = ([0, 1, 2, 3, 4], [1, 2, 3, 0])  # 0 -> 1 -> 2 -> 3 -> 0


@st.composite
def cut_graphs(draw: st.DrawFn) -> list[SubGraph]:
    """Draw the parts of a directed graph, in any order."""
    n = draw(st.integers(1, 12))
    rows = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n))
    nparts = draw(st.integers(1, 5))
    owners = draw(st.lists(st.integers(0, nparts - 1), min_size=n, max_size=n))
    graph = (np.cumsum([0, *map(len, rows)]), [target for row in rows for target in row])
    return draw(st.permutations(split_graph(graph, owners, nparts, layers=draw(st.integers(0, 3)))))


def owned(part: SubGraph) -> np.ndarray:
    """Return the global ids of the owned vertices."""
    return part.vertices.global_ids[: part.vertices.n_owned]


def test_ghosts_get_what_their_owners_have_and_give_it_back() -> None:
    # part 0 owns 0 1 and needs 3, which sends to 0; part 1 owns 2 3 and needs 1
    parts = split_graph(RING, [0, 0, 1, 1], layers=1)
    local = exchange(parts, [[0.5, 1.5], [2.5, 3.5]], "vertices")
    assert [values.tolist() for values in local] == [[0.5, 1.5, 3.5], [2.5, 3.5, 1.5]]
    assert [v.tolist() for v in reduce(parts, [[1, 2, 4], [8, 16, 32]], "vertices")] == [[1, 34], [8, 20]]


@given(cut_graphs())
def test_exchanging_global_ids_gives_them_back(parts: list[SubGraph]) -> None:
    for values, part in zip(exchange(parts, [owned(part) for part in parts], "vertices"), parts, strict=True):
        assert values.tolist() == part.vertices.global_ids.tolist()


@given(cut_graphs(), st.integers(0, 2**32 - 1))
def test_reduce_is_the_adjoint_of_exchange(parts: list[SubGraph], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = [rng.integers(-99, 99, len(owned(part))) for part in parts]
    y = [rng.integers(-99, 99, part.vertices.n_local) for part in parts]
    there, back = exchange(parts, x, "vertices"), reduce(parts, y, "vertices")
    assert sum(map(np.dot, there, y)) == sum(map(np.dot, x, back))


@pytest.mark.parametrize("entity", ["cells", "points"])
def test_sub_graphs_have_vertices_only(entity: str) -> None:
    parts = split_graph(RING, [0, 0, 1, 1])
    for function in (exchange, reduce):
        with pytest.raises(ArgumentError, match=f"entity is '{entity}', and a SubGraph has none"):
            function(parts, [[0, 1], [2, 3]], entity)


def test_parts_of_another_cut_are_refused() -> None:
    parts, others = split_graph(RING, [0, 0, 1, 1], layers=1), split_graph(RING, [0, 0, 1, 1], layers=2)
    with pytest.raises(ArgumentError, match=r"parts 0 of \d+ and 1 of \d+ are of different decompositions"):
        exchange([parts[0], others[1]], [[0, 1], [2, 3]], "vertices")
