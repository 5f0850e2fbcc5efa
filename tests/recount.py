"""The figures of a comparison once more, by networkx and by sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import networkx as nx
from reference import ATTACHED, cells_on_points, kinds_and_parents, rows_of
from reference_graphs import dual_edges

from meshpart import Mesh


def recount(mesh: Mesh, labels: Sequence[int], nparts: int, weights: Sequence[int] | None = None) -> dict[str, Any]:
    """Return what `Run` says of labels."""
    rows, cells_on = rows_of(mesh), cells_on_points(mesh)
    kinds, _ = kinds_and_parents(mesh)
    graph = nx.Graph()
    graph.add_nodes_from(cell for cell, kind in enumerate(kinds) if kind != ATTACHED)
    graph.add_edges_from(dual_edges(mesh))
    part = dict(enumerate(labels))
    load: Counter[int] = Counter()
    for cell in graph:
        load[part[cell]] += 1 if weights is None else weights[cell]
    pieces = [
        nx.number_connected_components(graph.subgraph([cell for cell in graph if part[cell] == p]))
        for p in set(map(part.get, graph))
    ]
    around = {cell: {other for point in row for other in cells_on[point]} for cell, row in enumerate(rows)}
    ghosts = {(part[cell], other) for cell in around for other in around[cell] if part[other] != part[cell]}
    return {
        "edge_cut": sum(part[a] != part[b] for a, b in graph.edges),
        "communication_volume": sum(len({part[other] for other in graph[cell]} - {part[cell]}) for cell in graph),
        "shared_points": sum(len({part[cell] for cell in cells}) > 1 for cells in cells_on),
        "ghosts": len(ghosts),
        "imbalance": max(load.values()) * nparts / sum(load.values()) - 1,
        "empty_parts": nparts - len(pieces),
        "fragments": sum(pieces) - len(pieces),
        "neighbours": len({(p, part[other]) for p, other in ghosts}) / nparts,
    }
