"""Parts of directed graphs: against sets and dicts, and against message passing on the whole graph."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from meshpart import SubGraph, split_graph
from meshpart.arrays import same

Ids = npt.NDArray[np.int64]
Rows = tuple[list[int], list[int]]  # offsets, targets

RING = ([0, 1, 2, 3, 4], [1, 2, 3, 0])

# -- slow and obvious ---------------------------------------------------------------------------------------


@st.composite
def digraphs(draw: st.DrawFn) -> Rows:
    """Draw a directed graph with whatever loops, parallel edges and isolated vertices come."""
    n = draw(st.integers(0, 9))
    vertex = st.integers(0, n - 1)
    rows = draw(st.lists(st.lists(vertex, max_size=4), min_size=n, max_size=n)) if n else []
    return np.cumsum([0, *map(len, rows)]).tolist(), [target for row in rows for target in row]


@st.composite
def split_digraphs(draw: st.DrawFn) -> tuple[Rows, list[int], int, int]:
    """Draw a graph, owners of its vertices, how many parts, and how many layers."""
    graph = draw(digraphs())
    n = len(graph[0]) - 1
    owners = draw(
        st.one_of(
            st.lists(st.integers(0, 3), min_size=n, max_size=n),
            st.permutations(range(n)).map(list),  # one vertex a part
        )
    )
    return graph, owners, max(owners, default=0) + draw(st.integers(1, 3)), draw(st.integers(0, 4))


def edges_of(graph: Rows) -> list[tuple[int, int]]:
    """Return (sender, receiver) of every edge, by id."""
    offsets, targets = graph
    return [(v, targets[e]) for v in range(len(offsets) - 1) for e in range(offsets[v], offsets[v + 1])]


def layers_of(graph: Rows, owners: list[int], part: int, layers: int) -> dict[int, int]:
    """Return the layer of every local vertex."""
    layer = {v: 0 for v, owner in enumerate(owners) if owner == part}
    for k in range(1, layers + 1):
        taken = {a for a, b in edges_of(graph) if a not in layer and layer.get(b) == k - 1}
        layer.update(dict.fromkeys(taken, k))
    return layer


def check_part(part: SubGraph, graph: Rows, owners: list[int], layers: int) -> None:
    """Compare all fields but the plan with the reference."""
    layer = layers_of(graph, owners, part.part, layers)
    order = sorted(layer, key=lambda v: (layer[v] > 0, owners[v] if layer[v] else part.part, v))
    vertices = part.vertices
    assert vertices.global_ids.tolist() == order
    assert vertices.n_owned == owners.count(part.part)
    assert vertices.n_global == len(owners)
    assert vertices.kind is None
    assert vertices.layers().tolist() == [layer[v] for v in order]
    assert vertices.owners(part.part).tolist() == [owners[v] for v in order]
    edges = edges_of(graph)
    assert vertices.complete.tolist() == [all(a in layer for a, b in edges if b == v) for v in order]
    rows = [[e for e, (_, b) in enumerate(edges) if b == v and layer[v] < layers] for v in order]
    assert part.offsets.tolist() == np.cumsum([0, *map(len, rows)]).tolist()
    assert part.edge_ids.tolist() == [e for row in rows for e in row]
    assert [order[sender] for sender in part.senders] == [edges[e][0] for row in rows for e in row]
    assert [order[receiver] for receiver in part.receivers] == [edges[e][1] for row in rows for e in row]
    dtypes = [array.dtype for array in (part.offsets, part.senders, part.edge_ids, vertices.global_ids)]
    assert dtypes == [np.int64] * 4
    assert (vertices.ghost_owners.dtype, vertices.ghost_layers.dtype) == (np.int32, np.int32)
    assert (vertices.complete.dtype, part.halo.neighbours.dtype) == (np.bool_, np.int32)


def slices(part: SubGraph) -> dict[int, tuple[Ids, Ids]]:
    """Return, for each neighbour, the global ids that the part sends to it and receives from it."""
    halo, ids = part.halo, part.vertices.global_ids
    result = {}
    for i, neighbour in enumerate(halo.neighbours.tolist()):
        sent = ids[halo.send_indices[halo.send_offsets[i] : halo.send_offsets[i + 1]]]
        first = part.vertices.n_owned
        result[neighbour] = sent, ids[first + halo.recv_offsets[i] : first + halo.recv_offsets[i + 1]]
    return result


# -- parts --------------------------------------------------------------------------------------------------


@given(split_digraphs())
def test_parts_are_those_of_looking_at_all_edges(case: tuple[Rows, list[int], int, int]) -> None:
    graph, owners, nparts, layers = case
    parts = split_graph(graph, owners, nparts, layers=layers)
    assert [(part.part, part.nparts, part.layers) for part in parts] == [(p, nparts, layers) for p in range(nparts)]
    for part in parts:
        check_part(part, graph, owners, layers)
    owned = np.concatenate([part.vertices.global_ids[: part.vertices.n_owned] for part in parts])
    assert sorted(owned) == list(range(len(owners)))


@given(split_digraphs())
def test_what_is_sent_is_what_is_received_in_the_same_order(case: tuple[Rows, list[int], int, int]) -> None:
    graph, owners, nparts, layers = case
    found = [slices(part) for part in split_graph(graph, owners, nparts, layers=layers)]
    for p, of_part in enumerate(found):
        assert list(of_part) == sorted(of_part)
        for q, (sent, received) in of_part.items():
            assert len(sent) + len(received) > 0
            assert_array_equal(found[q][p][1], sent)
            assert_array_equal(found[q][p][0], received)


@given(split_digraphs())
def test_exchanging_global_ids_gives_them_back(case: tuple[Rows, list[int], int, int]) -> None:
    graph, owners, nparts, layers = case
    parts = split_graph(graph, owners, nparts, layers=layers)
    local = [np.full(part.vertices.n_local, -1) for part in parts]
    for part, values in zip(parts, local, strict=True):
        values[: part.vertices.n_owned] = part.vertices.global_ids[: part.vertices.n_owned]
    for part in parts:
        halo = part.halo
        for i, neighbour in enumerate(halo.neighbours):
            to = parts[neighbour]
            slot = to.halo.neighbours.tolist().index(part.part)
            first, last = to.vertices.n_owned + to.halo.recv_offsets[slot : slot + 2]
            sent = halo.send_indices[halo.send_offsets[i] : halo.send_offsets[i + 1]]
            local[neighbour][first:last] = local[part.part][sent]
    for part, values in zip(parts, local, strict=True):
        assert_array_equal(values, part.vertices.global_ids)


@given(split_digraphs(), st.data())
def test_some_parts_are_the_same_as_among_all(case: tuple[Rows, list[int], int, int], data: st.DataObject) -> None:
    graph, owners, nparts, layers = case
    only = data.draw(st.lists(st.integers(0, nparts - 1), max_size=4))
    parts = split_graph(graph, owners, nparts, layers=layers)
    assert same(split_graph(graph, owners, nparts, layers=layers, only=iter(only)), [parts[p] for p in only])


def many_edges(n: int, n_edges: int) -> tuple[Rows, Ids]:
    """Return a random graph, with a vertex into which a third of the edges lead, and owners in seven parts."""
    random = np.random.default_rng(0)
    lengths = random.multinomial(n_edges, np.full(n, 1 / n))
    targets = random.integers(0, n, n_edges)
    targets[random.random(n_edges) < 1 / 3] = n // 2
    near = (np.arange(n) + random.integers(-n // 20, n // 20, n)) % n
    return (np.cumsum([0, *lengths]), targets), near * 7 // n


def test_threads_change_nothing_in_a_graph_of_many_buckets() -> None:
    graph, owners = many_edges(20_000, 60_000)
    for layers, only in [(1, None), (3, None), (2, [4, 1])]:
        alone = split_graph(graph, owners, layers=layers, only=only, threads=1)
        assert same(split_graph(graph, owners, layers=layers, only=only, threads=4), alone)
        if only:
            every = split_graph(graph, owners, layers=layers)
            assert same(alone, [every[p] for p in only])


def test_a_row_of_a_large_part_is_a_column_of_the_matrix() -> None:
    (offsets, targets), owners = many_edges(20_000, 60_000)
    senders = np.repeat(np.arange(20_000), np.diff(offsets))
    for part in split_graph((offsets, targets), owners, layers=1):
        ids = part.vertices.global_ids
        assert_array_equal(targets[part.edge_ids], ids[part.receivers])
        assert_array_equal(senders[part.edge_ids], ids[part.senders])
        assert_array_equal(np.sort(part.edge_ids), np.flatnonzero(owners[targets] == part.part))
        assert np.all((np.diff(part.edge_ids) > 0) | (np.diff(part.receivers) > 0))


def test_a_ring_in_one_direction() -> None:
    # 0 -> 1 | -> 2 -> 3 | -> 0: part 0 needs 3, and of it 2 in the second layer
    part, other = split_graph(RING, [0, 0, 1, 1], layers=2)
    assert part.vertices.global_ids.tolist() == [0, 1, 2, 3]
    assert part.vertices.ghost_layers.tolist() == [2, 1]
    assert part.vertices.complete.tolist() == [True] * 4  # 1, which sends to 2, is local
    assert part.offsets.tolist() == [0, 1, 2, 2, 3]
    assert part.senders.tolist() == [3, 0, 2]
    assert part.edge_ids.tolist() == [3, 0, 2]
    assert part.halo.neighbours.tolist() == [1]
    assert part.halo.send_indices.tolist() == [0, 1]
    assert other.halo.recv_offsets.tolist() == [0, 2]


def test_more_layers_than_the_graph_has_are_no_error() -> None:
    for layers in (3, 2**31 - 1):
        part = split_graph(RING, [0, 1, 1, 1], layers=layers, only=[0])[0]
        assert part.vertices.ghost_layers.tolist() == [3, 2, 1]
        assert (part.layers, part.n_edges) == (layers, 3 if layers == 3 else 4)


def test_without_layers_no_edges_are_listed_but_rows_may_be_complete() -> None:
    part, other = split_graph(([0, 1, 2, 3], [1, 2, 2]), [0, 0, 1], layers=0)
    assert part.vertices.complete.tolist() == [True, True]
    assert other.vertices.complete.tolist() == [False]
    assert part.n_edges == other.n_edges == 0
    assert part.offsets.tolist() == [0, 0, 0]
    assert len(part.halo.neighbours) == 0


def test_a_graph_without_vertices_has_an_empty_part() -> None:
    (part,) = split_graph(([0], []), [])
    assert repr(part) == "<SubGraph 0 of 1: 0 vertices + 0 ghosts, 0 edges>"
    assert split_graph(([0], []), [], 3, only=[]) == []


# -- messages -----------------------------------------------------------------------------------------------

Step = Callable[[npt.NDArray[np.float64], Ids, Ids], npt.NDArray[np.float64]]


def add(values: npt.NDArray[np.float64], senders: Ids, receivers: Ids) -> npt.NDArray[np.float64]:
    """Return half of each value, and what it is sent, added up edge by edge."""
    result = values / 2
    np.add.at(result, receivers, values[senders])
    return result


def mean(values: npt.NDArray[np.float64], senders: Ids, receivers: Ids) -> npt.NDArray[np.float64]:
    """Return the mean of what each vertex is sent, and 0 where that is nothing."""
    sums = np.zeros_like(values)
    np.add.at(sums, receivers, values[senders])
    return sums / np.maximum(np.bincount(receivers, minlength=len(values)), 1)


def largest(values: npt.NDArray[np.float64], senders: Ids, receivers: Ids) -> npt.NDArray[np.float64]:
    """Return the largest of what each vertex is sent, and -1 where that is nothing."""
    result = np.full_like(values, -1)
    np.maximum.at(result, receivers, values[senders])
    return result


def rows_that_differ(part: SubGraph, graph: Rows, step: Step, steps: int) -> Ids:
    """Return the local vertices whose values after some steps on the part's edges are not those on the whole graph."""
    offsets, targets = np.array(graph[0]), np.array(graph[1], np.int64)
    senders = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    whole = np.random.default_rng(0).random(len(offsets) - 1)
    local = whole[part.vertices.global_ids]
    for _ in range(steps):
        whole = step(whole, senders, targets)
        local = step(local, part.senders, part.receivers)
    return np.flatnonzero(local != whole[part.vertices.global_ids])


@pytest.mark.parametrize("step", [add, mean, largest])
@given(case=split_digraphs())
def test_messages_reach_as_many_steps_as_there_are_layers(step: Step, case: tuple[Rows, list[int], int, int]) -> None:
    graph, owners, nparts, layers = case
    for part in split_graph(graph, owners, nparts, layers=layers):
        for steps in range(layers + 1):
            wrong = rows_that_differ(part, graph, step, steps)
            assert np.all(part.vertices.layers()[wrong] > layers - steps)


@pytest.mark.parametrize("step", [add, mean, largest])
def test_messages_are_exact_on_a_large_graph_and_not_for_one_step_more(step: Step) -> None:
    graph, owners = many_edges(5_000, 15_000)
    for layers in (1, 2, 3):
        part = split_graph(graph, owners, layers=layers, only=[2])[0]
        assert np.all(rows_that_differ(part, graph, step, layers) >= part.vertices.n_owned)
        assert np.any(rows_that_differ(part, graph, step, layers + 1) < part.vertices.n_owned)


@pytest.mark.parametrize("step", [add, mean, largest])
@pytest.mark.parametrize("layers", [0, 1, 2, 3])
def test_on_a_path_one_step_more_goes_wrong(step: Step, layers: int) -> None:
    path = ([*range(9), 8], [*range(1, 9)])  # 0 -> 1 -> ... -> 8, of which part 1 owns the last
    part = split_graph(path, [0] * 8 + [1], layers=layers, only=[1])[0]
    assert 0 not in rows_that_differ(part, path, step, layers)
    assert 0 in rows_that_differ(part, path, step, layers + 1)


# -- cost ---------------------------------------------------------------------------------------------------


def path(n: int) -> tuple[Ids, Ids]:
    """Return the graph 0 -> 1 -> ... -> n - 1 -> 0."""
    return np.arange(n + 1), np.roll(np.arange(n), -1)


def star(n: int) -> tuple[Ids, Ids]:
    """Return n - 1 vertices, each joined with vertex 0 in both directions."""
    return np.concatenate([[0], np.arange(n - 1, 2 * n - 1)]), np.concatenate([np.arange(1, n), np.zeros(n - 1, int)])


def seconds_of_splitting(graph: tuple[Ids, Ids], nparts: int) -> float:
    """Return how long a processor works to split a graph into pieces in a row, the better of two tries."""
    n = len(graph[0]) - 1
    owners, seconds = np.arange(n) * nparts // n, []
    for _ in range(2):
        start = time.process_time()
        split_graph(graph, owners, threads=1)
        seconds.append(time.process_time() - start)
    return min(seconds)


@pytest.mark.parametrize("make", [path, star])
def test_the_time_does_not_grow_as_parts_times_graph(make: Callable[[int], tuple[Ids, Ids]]) -> None:
    # a large graph in many parts costs what the large graph in few and a small one in many cost together
    large, small = make(300_000), make(3_000)
    together = seconds_of_splitting(large, 4) + seconds_of_splitting(small, 3_000)
    assert seconds_of_splitting(large, 3_000) < 2 * together


def test_numbers_of_parts_without_measure_cost_nothing() -> None:
    # the edges 0 -> 1 -> 2; the last part owns 1 and 2
    last = 2**31 - 2
    part = split_graph(([0, 1, 2, 2], [1, 2]), [5, last, last], 2**31 - 1, only=[last])[0]
    assert part.vertices.global_ids.tolist() == [1, 2, 0]
    assert part.vertices.ghost_owners.tolist() == part.halo.neighbours.tolist() == [5]
    assert (part.part, part.nparts, part.edge_ids.tolist()) == (last, 2**31 - 1, [0, 1])
