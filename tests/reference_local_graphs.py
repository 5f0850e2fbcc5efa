"""The edges of parts once more, from the whole graph and its labels: slow and obvious."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import reference
from reference_graphs import cell_edges_by_point, dual_edges, point_edges_by_cell

from meshpart import IndexMap, LocalGraph, Mesh

Edge = tuple[int, int, int]  # receiver and sender as global ids, and the edge's own id
Pairs = set[tuple[int, int]]
Rows = list[list[int]]


def rows_of(mesh: Mesh, entity: str, adjacency: str) -> Rows:
    """Return the neighbours of every point or cell of the whole mesh, ascending."""
    if adjacency == "edge":
        return reference.point_graph(mesh)
    find = {"cell": point_edges_by_cell, "facet": dual_edges, "point": cell_edges_by_point}[adjacency]
    rows: Rows = [[] for _ in range(mesh.n_points if entity == "points" else mesh.n_cells)]
    for a, b in find(mesh):
        rows[a].append(b)
        rows[b].append(a)
    return [sorted(row) for row in rows]


def owners_of(mesh: Mesh, labels: Sequence[int], entity: str) -> list[int]:
    """Return the part that owns each point or cell."""
    return reference.point_owners(mesh, labels) if entity == "points" else [int(label) for label in labels]


def edge_owners(mesh: Mesh, labels: Sequence[int], adjacency: str, rows: Rows) -> dict[tuple[int, int], int]:
    """Return the part that owns each pair a < b: of points the lowest with a cell that has it, of cells the lower."""
    if adjacency in ("facet", "point"):
        return {(a, b): int(min(labels[a], labels[b])) for a, row in enumerate(rows) for b in row if a < b}
    owners: dict[tuple[int, int], int] = {}
    for cell, row in enumerate(reference.rows_of(mesh)):
        of_cell = edges_of_cell(mesh, cell) if adjacency == "edge" else set(combinations(sorted(set(row)), 2))
        for edge in of_cell:
            owners[edge] = min(int(labels[cell]), owners.get(edge, int(labels[cell])))
    return owners


def edges_of_cell(mesh: Mesh, cell: int) -> Pairs:
    """Return the edges of one cell, as the point graph of that cell alone has them."""
    block = reference.blocks_of(mesh)[cell]
    alone = mesh.blocks[block].take(np.array([cell - mesh.block_starts[block]]))
    rows = reference.point_graph(Mesh(mesh.points, [alone]))
    return {(a, b) for a, row in enumerate(rows) for b in row if a < b}


def within(rows: Rows, owners: Sequence[int], part: int, steps: int) -> list[list[Edge]]:
    """Return, group by group, all edges into what is owned and what is up to steps - 1 edges away from it."""
    hops = {entity: 0 for entity, owner in enumerate(owners) if owner == part}
    for hop in range(1, steps):
        near = [entity for entity, distance in hops.items() if distance == hop - 1]
        hops |= {sender: hop for entity in near for sender in rows[entity] if sender not in hops}
    groups = {entity: 1 + hop for entity, hop in hops.items()}
    groups |= {e: 0 for e, hop in hops.items() if hop == 0 and all(owners[sender] == part for sender in rows[e])}
    chosen = {(entity, sender) for entity in hops for sender in rows[entity]}
    return in_order(rows, owners, part, chosen, groups, max([1, *groups.values()]) + 1)


def owned(rows: Rows, owners: Sequence[int], edges: dict[tuple[int, int], int], part: int) -> list[list[Edge]]:
    """Return, group by group, both directions of the edges that a part owns."""
    chosen = {pair for (a, b), owner in edges.items() if owner == part for pair in ((a, b), (b, a))}
    waiting = {receiver for receiver, sender in chosen if owners[sender] != part}
    groups = {receiver: (receiver in waiting if owners[receiver] == part else 2) for receiver, _ in chosen}
    return in_order(rows, owners, part, chosen, groups, 3)


def in_order(
    rows: Rows, owners: Sequence[int], part: int, chosen: Pairs, groups: dict[int, int], n_groups: int
) -> list[list[Edge]]:
    """Return chosen (receiver, sender) in groups of receivers, by the receiver's place in the part, then by sender."""
    starts = [sum(map(len, rows[:entity])) for entity in range(len(rows))]
    edges = [(r, s, starts[r] + rows[r].index(s)) for r, s in chosen]
    edges.sort(key=lambda edge: (owners[edge[0]] != part, owners[edge[0]], edge[0], edge[1]))
    return [[edge for edge in edges if groups[edge[0]] == group] for group in range(n_groups)]


def seen(graph: LocalGraph, entities: IndexMap) -> list[list[Edge]]:
    """Return the groups of edges of a local graph in global ids; an edge without an id has -1."""
    ids = entities.global_ids
    edge_ids = np.full(graph.n_edges, -1) if graph.edge_ids is None else graph.edge_ids
    edges = list(zip(ids[graph.receivers].tolist(), ids[graph.senders].tolist(), edge_ids.tolist(), strict=True))
    return [edges[first:last] for first, last in pairwise(graph.offsets.tolist())]


def without_ids(groups: list[list[Edge]]) -> list[list[Edge]]:
    """Return groups of edges as `seen` gives them where edges have no ids."""
    return [[(receiver, sender, -1) for receiver, sender, _ in group] for group in groups]
