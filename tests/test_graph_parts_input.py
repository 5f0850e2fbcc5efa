"""What `split_graph` takes for a graph and for owners, and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from meshes import tets

from meshpart import ArgumentError, Graph, point_graph, split_graph
from meshpart.arrays import same

RING = ([0, 1, 2, 3, 4], [1, 2, 3, 0])


def test_a_graph_a_matrix_and_a_pair_of_arrays_are_the_same() -> None:
    graph = point_graph(tets(3, 3, 3))
    owners = np.arange(graph.n_vertices) * 3 // graph.n_vertices
    parts = split_graph(graph, owners)
    matrix = graph.to_scipy()
    matrix.data = np.zeros_like(matrix.data)  # an entry is an edge, whatever it says
    ends = graph.targets.astype(np.int32), graph.offsets.astype(np.int32)
    narrow = scipy.sparse.csr_matrix((np.ones(len(ends[0])), *ends), shape=matrix.shape)
    assert narrow.indices.dtype == np.int32
    for other in (matrix, narrow, (graph.offsets, graph.targets), [graph.offsets.tolist(), graph.targets.tolist()]):
        assert same(split_graph(other, owners.tolist()), parts)


def test_a_matrix_may_have_room_for_more_entries() -> None:
    matrix = scipy.sparse.csr_array(np.eye(3, k=1))
    matrix.indices = np.append(matrix.indices, [7, 7])
    matrix.data = np.append(matrix.data, [0.0, 0.0])
    assert same(split_graph(matrix, [0, 1, 1]), split_graph(([0, 1, 2, 2], [1, 2]), [0, 1, 1]))


def test_what_is_given_stays_as_it_is() -> None:
    offsets, targets, owners = np.array([0, 3, 3, 4]), np.array([2, 0, 2, 1]), np.array([1, 0, 1])
    matrix = scipy.sparse.csr_array((np.ones(4), targets.copy(), offsets.copy()), shape=(3, 3))
    parts = split_graph((offsets, targets), owners)
    assert same(split_graph(matrix, owners), parts)
    assert (offsets.tolist(), targets.tolist(), owners.tolist()) == ([0, 3, 3, 4], [2, 0, 2, 1], [1, 0, 1])
    assert (matrix.nnz, matrix.indices.tolist()) == (4, [2, 0, 2, 1])
    assert parts[1].edge_ids.tolist() == [1, 0, 2]  # into 0 the loop, into 2 twice from 0
    assert targets.flags.writeable


def test_the_run_tells_graphs_owners_and_layers_apart() -> None:
    runs = [
        split_graph(RING, [0, 0, 1, 1], layers=1),
        split_graph(RING, [0, 0, 1, 1], layers=2),
        split_graph(RING, [0, 0, 1, 1], 3),
        split_graph(RING, [0, 1, 1, 1]),
        split_graph(([0, 1, 2, 3, 4], [1, 2, 3, 1]), [0, 0, 1, 1]),
        split_graph(([0, 2, 2, 3, 4], [1, 2, 3, 0]), [0, 0, 1, 1]),
    ]
    assert len({part.run for parts in runs for part in parts}) == len(runs)
    assert split_graph(RING, [0, 0, 1, 1], only=[1], threads=2)[0].run == runs[0][0].run


def test_a_part_is_frozen_and_survives_a_pickle() -> None:
    part = split_graph(RING, [0, 0, 1, 1])[0]
    back = pickle.loads(pickle.dumps(part))
    assert back == part
    assert repr(part) == "<SubGraph 0 of 2: 2 vertices + 1 ghosts, 2 edges>"
    for own in (part, back):
        halo, vertices = own.halo, own.vertices
        arrays = [own.offsets, own.senders, own.edge_ids, vertices.global_ids, vertices.complete, halo.neighbours]
        arrays += [vertices.ghost_owners, vertices.ghost_layers, halo.send_offsets, halo.send_indices]
        for array in (*arrays, halo.recv_offsets):
            assert not array.flags.writeable


WRONG = {
    "targets: row 1 names vertex 3, there are 3": ([0, 1, 2, 3], [0, 3, 0]),
    "targets: row 2 names vertex -1, there are 3": ([0, 1, 1, 3], [0, 1, -1]),
    "offsets must run from 0 to 3, got 0 to 2": ([0, 1, 1, 2], [0, 1, 1]),
    "offsets must run from 0 to 3, got 1 to 3": ([1, 1, 1, 3], [0, 1, 1]),
    "offsets: row 1 has -1 entries": ([0, 2, 1, 3], [0, 1, 1]),
    "offsets must be flat and not empty": ([], []),
    "offsets must be flat, got the shape": ([[0, 1, 2, 3]], [0, 1, 1]),
    "offsets must be integers, got the dtype float64": ([0.0, 1.0, 2.0, 3.0], [0, 1, 1]),
    "targets must be integers, got the dtype bool": ([0, 1, 2, 3], [True, False, True]),
    "targets is not an array": ([0, 1, 2, 3], [[1, 2], [3]]),
    "targets: 18446744073709551615 does not fit 64 bits": ([0, 1, 1, 1], np.array([2**64 - 1], np.uint64)),
    r"or a pair \(offsets, targets\), got tuple": ([0, 1], [1], [1]),
    "or a pair .* got ndarray": np.array([[0, 1], [1, 0]]),
    "or a pair .* got NoneType": None,
    "or a pair .* got str": "graph",
    r"must be in the csr format \(its tocsr\(\) is\), got coo": scipy.sparse.coo_array(np.eye(3)),
    r"must be square, got the shape \(3, 2\)": scipy.sparse.csr_array((3, 2)),
}


@pytest.mark.parametrize(("message", "graph"), WRONG.items(), ids=WRONG)
def test_what_is_no_graph_is_refused(message: str, graph: Any) -> None:
    graph = tuple(graph) if isinstance(graph, list) else graph
    with pytest.raises(ArgumentError, match=message):
        split_graph(graph, [0, 0, 1])


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("indptr", [0, 1, 100, 2], "offsets: row 2 has -98 entries"),
        ("indptr", [0, 1, 2], r"indptr must have the shape \(4,\), got \(3,\)"),
        ("indptr", [0, 1, 1, 9], "offsets must run from 0 to 2, got 0 to 9"),
        ("indptr", [0, 1, 1, -9], "offsets must run from 0 to 0, got 0 to -9"),
        ("indices", [1, 7], "targets: row 1 names vertex 7, there are 3"),
    ],
)
def test_a_matrix_that_was_spoilt_is_refused(name: str, values: list[int], message: str) -> None:
    matrix = scipy.sparse.csr_array(np.eye(3, k=1))
    setattr(matrix, name, np.array(values, np.int32))
    with pytest.raises(ArgumentError, match=message):
        split_graph(matrix, [0, 0, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"owners": [0, 1]}, r"owners must have the shape \(4,\), got \(2,\)"),
        ({"owners": [0, 1, -1, 0]}, "owners: vertex 2 has -1, it must not be negative"),
        ({"owners": [0, 1, 2, 0], "nparts": 2}, "owners: vertex 2 has 2, outside 0..1"),
        ({"owners": [0.0] * 4}, "owners must be integers, got the dtype float64"),
        ({"owners": [0, 0, 0, 10**6]}, "owners: vertex 3 of 4 has 1000000; nparts=1000001 allows"),
        ({"nparts": 0}, "nparts must be between 1 and 2147483647, got 0"),
        ({"nparts": 2.0}, "nparts must be an integer, got 2.0"),
        ({"layers": -1}, "layers must be at least 0, got -1"),
        ({"layers": True}, "layers must be an integer, got True"),
        ({"layers": None}, "layers must be an integer, got None"),
        ({"only": [2]}, "only must be between 0 and 1, got 2"),
        ({"only": 1}, "only must be a list of part numbers, got 1"),
        ({"threads": 0}, "threads must be between 1 and 1024, got 0"),
    ],
)
def test_arguments_that_cannot_be_right_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        split_graph(RING, **{"owners": [0, 0, 1, 1], **arguments})


def test_a_weighted_graph_is_cut_along_its_rows_alone() -> None:
    plain = Graph([0, 1, 2], [1, 0])
    weighted = Graph([0, 1, 2], [1, 0], vertex_weights=[3, 4], edge_weights=[5, 5])
    assert same(split_graph(plain, [0, 1]), split_graph(weighted, [0, 1]))
