"""Who finds the plans and graphs of given parts, for `torch_halo.py`: all made to tell what they found in one way."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cases import loaded
from cutters import digest, members
from measure import Timed, in_turns

Call = Callable[[], Any]
PARTS = 8
OURS, FROM_MESH = "meshpart: `split_graph`, `part_graph`", "meshpart: `split`, `part_graph(steps=1)`"
PYG, DIRECTED = "PyG: `k_hop_subgraph`", "PyG: `k_hop_subgraph(directed=True)`"
BY_MAPPING, BY_ROWS = "PhysicsNeMo: `partition_graph_with_id_mapping`", "PhysicsNeMo: matrix decomposition"


class Given(NamedTuple):
    """What is cut: a mesh, the labels of its cells, its point graph, and the owner of each point."""

    mesh: Any
    labels: Any
    graph: Any
    owners: Any


def given_by(file: Path, *, by_part: bool = False) -> Given:
    """Return what is cut; with `by_part` the points are numbered part by part."""
    import meshpart

    points, cells = loaded(file)
    mesh = meshpart.Mesh(points, cells)
    labels = meshpart.partition_labels(mesh, PARTS, method="sfc")
    owners = np.empty(len(points), np.int32)
    for part in meshpart.split(mesh, labels, PARTS):
        owners[part.points.global_ids[: part.points.n_owned]] = part.part
    if by_part:
        order = np.argsort(owners, kind="stable")
        number = np.argsort(order)
        mesh = meshpart.Mesh(points[order], [(kind, number[rows]) for kind, rows in cells])
        owners = owners[order]
    return Given(mesh, labels, meshpart.point_graph(mesh), owners)


# -- what they found ----------------------------------------------------------------------------------------


class Found(NamedTuple):
    """What is there of a part, as global ids: its owned points, all its points, and its edges."""

    owned: Any
    points: Any
    senders: Any
    receivers: Any


class Seen(NamedTuple):
    """Hashes of all parts: the owned points, all points, and the edges into owned points."""

    owned: str
    points: str
    into: str


def seen(n: int, parts: Sequence[Found]) -> Seen:
    """Return the hashes of what was found in a mesh of n points."""
    into = []
    for part in parts:
        chosen = np.isin(part.receivers, part.owned)
        into.append(part.senders[chosen] * n + part.receivers[chosen])
    return Seen(digest(part.owned for part in parts), digest(part.points for part in parts), digest(into))


def found_by_us(graph: Mapping[str, Any]) -> Found:
    """Return what is in a graph of `part_graph`."""
    ids = graph["part_node"].numpy()
    return Found(ids[: graph["n_owned"]], ids, *ids[graph["edge_index"].numpy()])


def found_by_pyg(result: tuple[Any, Any, Any, Any]) -> Found:
    """Return what `k_hop_subgraph` found."""
    subset, edges, places, _ = result
    ids = subset.numpy()
    return Found(ids[places.numpy()], ids, *ids[edges.numpy()])


def found_by_physicsnemo(result: Any, senders: Any) -> Found:
    """Return what is in a `GraphPartition`; its edges are named by their places among all senders."""
    owned = result.map_partitioned_dst_ids_to_global.numpy()
    sent_from = senders[result.map_partitioned_edge_ids_to_global].numpy()
    return Found(
        owned, np.union1d(owned, sent_from), sent_from, np.repeat(owned, np.diff(result.local_offsets.numpy()))
    )


# -- calls in turns -----------------------------------------------------------------------------------------


def beside_pyg(file: Path, layers: int, rounds: int, threads: int) -> tuple[tuple[str, str], dict[str, Timed]]:
    """Return the numbers of points and directed edges, and what all take for all parts, who find the same."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # from which libraries take how many to start
    import torch
    from torch_geometric.utils import k_hop_subgraph

    import meshpart
    import meshpart.torch as mt

    assert torch.get_num_threads() == threads
    given = given_by(file)
    n = len(given.owners)
    senders = np.repeat(np.arange(n), np.diff(given.graph.offsets))
    edges = torch.from_numpy(np.stack([senders, given.graph.targets]))
    seeds = [torch.from_numpy(own) for own in members(given.owners)]

    def ours() -> list[Any]:
        return [mt.part_graph(part) for part in meshpart.split_graph(given.graph, given.owners, PARTS, layers=layers)]

    def from_mesh() -> list[Any]:
        return [mt.part_graph(part, steps=1) for part in meshpart.split(given.mesh, given.labels, ghost_layers=1)]

    def theirs(directed: bool) -> list[Any]:
        return [k_hop_subgraph(own, layers, edges, relabel_nodes=True, num_nodes=n, directed=directed) for own in seeds]

    graphs, subgraphs = ours(), theirs(True)
    expected = seen(n, [found_by_us(graph) for graph in graphs])
    assert seen(n, [found_by_pyg(result) for result in subgraphs]) == expected
    assert seen(n, [found_by_pyg(result) for result in theirs(False)]) == expected
    assert [graph["edge_index"].shape for graph in graphs] == [result[1].shape for result in subgraphs]
    ways: dict[str, Call] = {OURS: ours, PYG: partial(theirs, False), DIRECTED: partial(theirs, True)}
    if layers == 1:  # ghosts of a mesh are points of cells that share a point: more than the graph's
        assert seen(n, [found_by_us(graph) for graph in from_mesh()])._replace(points=expected.points) == expected
        ways[FROM_MESH] = from_mesh
    return (str(n), str(edges.shape[1])), in_turns(rounds, ways)


def beside_physicsnemo(file: Path, by_part: bool, rounds: int) -> dict[str, Timed]:
    """Return what we take for all parts, and PhysicsNeMo for one rank in the middle, where it finds the same."""
    import torch
    from physicsnemo.nn.module.gnn_layers import partition_graph_with_id_mapping
    from physicsnemo.nn.module.gnn_layers.distributed_graph import partition_graph_with_matrix_decomposition

    import meshpart
    import meshpart.torch as mt

    given = given_by(file, by_part=by_part)
    n, rank, device = len(given.owners), PARTS // 2, torch.device("cpu")
    offsets, senders = (torch.from_numpy(rows.copy()) for rows in (given.graph.offsets, given.graph.targets))
    ranks = torch.from_numpy(given.owners.astype(np.int64))
    firsts = torch.from_numpy(np.searchsorted(given.owners, np.arange(PARTS + 1)))

    def ours() -> list[Any]:
        return [(part, mt.part_graph(part)) for part in meshpart.split_graph(given.graph, given.owners, PARTS)]

    def by_mapping() -> Any:
        return partition_graph_with_id_mapping(offsets, senders, ranks, ranks, PARTS, rank, device)

    def by_rows() -> Any:
        return partition_graph_with_matrix_decomposition(offsets, senders, n, firsts, PARTS, rank, device)

    name, theirs = (BY_ROWS, by_rows) if by_part else (BY_MAPPING, by_mapping)
    (part, graph), result = ours()[rank], theirs()
    assert seen(n, [found_by_physicsnemo(result, senders)]) == seen(n, [found_by_us(graph)])
    sent = dict(
        zip(part.halo.neighbours.tolist(), np.split(part.halo.send_indices, part.halo.send_offsets[1:-1]), strict=True)
    )
    for other in {*range(PARTS)} - {rank}:
        assert np.array_equal(result.scatter_indices[other].numpy(), sent.get(other, []))
    return in_turns(rounds, {OURS: ours, name: theirs})
