"""The edges of the parts of a directed graph, in the order of message passing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_local_graphs import Edge, seen

from meshpart import ArgumentError, SubGraph, local_graph, split_graph

# 0 -> 1 -> 2 -> 3 -> 0, and 3 -> 2 once more; the entries of the rows are the edges 0 | 1 | 2 | 3 4
OFFSETS, TARGETS = [0, 1, 2, 3, 5], [1, 2, 3, 0, 2]


def test_edges_into_what_is_owned_come_first_then_by_hop() -> None:
    # part 1 owns 2 and 3: 2 hears from the ghost 1 and from 3, 3 from 2; one hop on, 1 hears from 0
    part = split_graph((OFFSETS, TARGETS), [0, 0, 1, 1], layers=2)[1]
    assert part.vertices.global_ids.tolist() == [2, 3, 0, 1]
    graph = local_graph(part)
    assert graph.receivers.tolist() == [1, 0, 0, 3]  # 3 2 2 1
    assert graph.senders.tolist() == [0, 3, 1, 2]  # 2 1 3 0
    assert graph.edge_ids.tolist() == [2, 1, 4, 0]
    assert graph.offsets.tolist() == [0, 1, 3, 4]
    assert (graph.n_owned, graph.n_local, graph.steps) == (2, 4, 2)
    assert local_graph(part, "vertices", 1).edge_ids.tolist() == [2, 1, 4]


@st.composite
def digraphs(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Draw rows of targets, with loops and parallel edges, and owners."""
    n = draw(st.integers(1, 10))
    rows = [draw(st.lists(st.integers(0, n - 1), max_size=4)) for _ in range(n)]
    return rows, draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))


def expected(rows: list[list[int]], owners: list[int], part: int, steps: int) -> list[list[Edge]]:
    """Return the groups of edges (receiver, sender, id) from looking at all edges."""
    edges = [(b, a) for a, row in enumerate(rows) for b in row]
    hops = {vertex: 0 for vertex, owner in enumerate(owners) if owner == part}
    for hop in range(1, steps):
        hops |= {a: hop for b, a in edges if hops.get(b) == hop - 1 and a not in hops}
    waiting = {b for b, a in edges if owners[a] != part}
    groups = {vertex: 1 + hop if hop or vertex in waiting else 0 for vertex, hop in hops.items()}
    result: list[list[Edge]] = [[] for _ in range(max([1, *groups.values()]) + 1)]
    chosen = [(b, a, number) for number, (b, a) in enumerate(edges) if b in hops]
    for edge in sorted(chosen, key=lambda edge: (owners[edge[0]] != part, owners[edge[0]], edge[0], edge[2])):
        result[groups[edge[0]]].append(edge)
    return result


@given(digraphs(), st.integers(1, 4))
def test_edges_are_those_of_looking_at_all_of_them(case: tuple[list[list[int]], list[int]], layers: int) -> None:
    rows, owners = case
    offsets = np.cumsum([0, *map(len, rows)])
    targets = np.array([target for row in rows for target in row], np.int64)
    for part in split_graph((offsets, targets), owners, 3, layers=layers):
        for steps in range(1, layers + 1):
            assert seen(local_graph(part, steps=steps), part.vertices) == expected(rows, owners, part.part, steps)
        assert local_graph(part) == local_graph(part, "vertices", layers)


def some_part(layers: int) -> SubGraph:
    return split_graph((OFFSETS, TARGETS), [0, 0, 1, 1], layers=layers)[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 3}, "got steps=3, the part has 2"),
        ({"steps": 0}, "edges for 1 step or more, got steps=0"),
        ({"entity": "points"}, "entity must be one of vertices, got 'points'"),
        ({"adjacency": "edge"}, "has one graph, got adjacency='edge'"),
    ],
)
def test_what_a_part_of_a_graph_does_not_have_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        local_graph(some_part(2), **arguments)
    with pytest.raises(ArgumentError, match="a part without ghost layers carries no steps"):
        local_graph(some_part(0))
