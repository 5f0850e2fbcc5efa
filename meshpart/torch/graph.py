"""The graph of one part as tensors: a dict that loads and travels as it is, or PyTorch Geometric's Data."""

from __future__ import annotations

from typing import Any

import torch

from meshpart import arguments
from meshpart.errors import MissingDependencyError
from meshpart.graph_parts import SubGraph
from meshpart.halo import ENTITIES
from meshpart.local_graph import own_edges
from meshpart.submesh import IndexMap, SubMesh
from meshpart.torch.rows import from_numpy

FORMS = ("dict", "pyg")


def part_graph(
    part: SubMesh | SubGraph,
    entity: str | None = None,
    *,
    steps: int | None = None,
    adjacency: str | None = None,
    as_: str = "dict",
) -> Any:
    """Return the edges that message passing on a part needs, as tensors.

    Parameters
    ----------
    part : SubMesh or SubGraph
    entity : str, optional
        "points" (if left out) or "cells"; of a SubGraph "vertices".
    steps : int, optional
        How many steps of message passing the edges carry without an exchange. None: as many as the part has ghost
        layers, no exchange at all. 1: the edges into owned entities, ghosts to be refreshed before each step. 0: the
        edges that the part owns, what entities receive along them to be assembled.
    adjacency : str, optional
        What joins two entities: as `local_graph` takes it.
    as_ : str
        "dict", of tensors and ints alone: torch.load reads it with `weights_only=True`. Or "pyg", the same by the same
        names in a `torch_geometric.data.Data`, with `num_nodes`.

    Returns
    -------
    graph : dict of str to Tensor or int, or Data
        All tensors are copies.

        - edge_index : int64, (2, n_edges). Senders and receivers, as local ids: a message goes from edge_index[0] to
          edge_index[1], which is PyTorch Geometric's source_to_target.
        - edge_ids : int64, (n_edges,). The position of each edge in the `targets` of the whole graph. Only there if the
          part knows it: see `LocalGraph`.
        - edge_offsets : int64, (n_groups + 1,). Edges come in groups, edge_offsets[g] : edge_offsets[g + 1] is group g.
          Group 0 leads to owned entities that receive from owned ones only, and so can be worked on while ghosts are
          exchanged; group 1 to the other owned ones; group 1 + h to ghosts that are h edges away from an owned
          entity. In a group edges go by receiver.
        - part_node : int64, (n_local,). The global id of each local entity.
        - inner_node : int64, (n_owned,). Where the owned ones are among the local ones: 0, 1, ... n_owned - 1.
        - n_owned, n_local : int.
        - steps : int. As given, or found.

    Raises
    ------
    ArgumentError
        If the part does not have these edges.
    MissingDependencyError
        If as_="pyg" and torch_geometric is not installed.

    Examples
    --------
    >>> import meshpart, meshpart.torch as mt
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> part = meshpart.split(mesh, [0, 1], ghost_layers=1)[1]  # owns the points 2 and 5
    >>> graph = mt.part_graph(part, steps=1)
    >>> graph["part_node"][graph["edge_index"]]
    tensor([[1, 5, 2, 4],
            [2, 2, 5, 5]])
    """
    arguments.one_of("as_", as_, FORMS)
    edges = own_edges(part, entity, steps, adjacency)
    ids: IndexMap = getattr(part, ENTITIES[entity or ("vertices" if isinstance(part, SubGraph) else "points")][0])
    graph: dict[str, Any] = {
        "edge_index": torch.from_numpy(edges.ends),
        "edge_offsets": torch.from_numpy(edges.offsets),
        "part_node": from_numpy("part_node", ids.global_ids),
        "inner_node": torch.arange(edges.n_owned, device="cpu"),
        "n_owned": edges.n_owned,
        "n_local": edges.n_local,
        "steps": edges.steps,
    }
    if edges.edge_ids is not None:
        graph["edge_ids"] = torch.from_numpy(edges.edge_ids)
    return graph if as_ == "dict" else _as_data(graph)


def _as_data(graph: dict[str, Any]) -> Any:
    """Return a graph as PyTorch Geometric has it."""
    try:
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingDependencyError(f"as_=\"pyg\" needs {error.name or error}: pip install 'meshpart[pyg]'") from error
    return Data(**graph, num_nodes=graph["n_local"])
