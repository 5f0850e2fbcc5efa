"""The edges that message passing walks on one part, ordered so that what waits for no ghost comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshpart import _core, arguments
from meshpart.arrays import Frozen, Ids, check_offsets, frozen, trusted
from meshpart.errors import ArgumentError
from meshpart.graph import Graph, dual_graph, point_graph
from meshpart.graph_parts import SubGraph
from meshpart.mesh import Mesh
from meshpart.submesh import IndexMap, SubMesh

# The graphs of a part: by the entity that they join, how, and in the first place the one whose edges have ids.
ADJACENCIES = {"points": ("edge", "cell"), "cells": ("facet", "point")}
Graphs = str | Iterable[str | tuple[str, int]]  # which graphs of a part to store: entities, with steps or without
StoredGraph = tuple[str, int | None]  # one of them
NO_IDS = frozen(np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False)
class LocalGraph(Frozen):
    """Directed edges between the entities of one part: a message goes from each sender to its receiver.

    Edges come in groups. In a group they go by receiver, and those to one receiver by the global id of the sender: a
    sum over them in this order is the serial run's to the last bit.

    Parameters
    ----------
    senders, receivers : ndarray of int64, (n_edges,)
        Local ids.
    edge_ids : ndarray of int64, (n_edges,), or None
        The position of each edge in the `targets` of the whole graph. That of a mesh is symmetric, and of its two
        entries for an edge this is the one in the row of the receiver: targets[edge_id] is the sender. Of a part of
        `split_graph` it is the edge itself, in the row of the sender: targets[edge_id] is the receiver. None where the
        part does not know them: without `graphs`, and for other adjacencies than "edge" and "facet".
    offsets : ndarray of int64, (n_groups + 1,)
        Group g is the edges offsets[g] : offsets[g + 1]. Group 0 leads to owned entities that receive from owned ones
        only, and so can be worked on while ghosts are exchanged; group 1 to the other owned ones; group 1 + h to ghosts
        that are h edges away from an owned entity, for as many h as there are. With steps=0 there are three groups, the
        last to all ghosts.
    n_owned, n_local : int
        Of the entities.
    steps : int
        How many steps of message passing these edges carry without an exchange; 0 for the edges that the part owns.
    """

    senders: Ids
    receivers: Ids
    edge_ids: Ids | None
    offsets: Ids
    n_owned: int
    n_local: int
    steps: int

    def __repr__(self) -> str:
        return f"<LocalGraph: {self.n_edges} edges, {self.n_owned} owned of {self.n_local}, {self.steps} steps>"

    @property
    def n_edges(self) -> int:
        """Number of directed edges."""
        return len(self.senders)


def local_graph(
    part: SubMesh | SubGraph,
    entity: str | None = None,
    steps: int | None = None,
    *,
    adjacency: str | None = None,
    threads: int | None = None,
) -> LocalGraph:
    """Return the edges that message passing on a part needs.

    Parameters
    ----------
    part : SubMesh or SubGraph
    entity : str, optional
        "points" (if left out) or "cells"; of a SubGraph "vertices".
    steps : int, optional
        s >= 1: the edges into owned entities and into the ghosts up to s - 1 edges away from one. Values of all local
        entities then give the serial run's values of the owned ones after s steps, without an exchange between them.
        With 1, each edge of the whole graph is in one part, its receiver's owner. At most as many as the part has ghost
        layers.
        0: the edges that the part owns, in both directions. An edge of points belongs to the lowest part that owns a
        cell with it (for "cell" with both points), an edge of cells to the lower owner of the two. What a part's
        entities receive along them has to be added up over the parts that have a copy. For cells and for
        adjacency="cell" the part needs a ghost layer; without one it knows the point graph's edges if `graphs="points"`
        was given to `split` or `partition`.
        None: as many as the part has ghost layers, of which there must be one.
    adjacency : str, optional
        As `point_graph` takes it ("edge" if left out, or "cell"), or `dual_graph` ("facet", or "point").
    threads : int, optional
        The edges do not depend on it.

    Returns
    -------
    graph : LocalGraph
        With `edge_ids` for the adjacency that may be left out, where `graphs` named the entity. Those of steps=0 need,
        for cells, two ghost layers.

    Raises
    ------
    ArgumentError
        If the part does not have these edges.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> part = meshpart.split(mesh, [0, 1], ghost_layers=1)[1]  # owns the points 2 and 5
    >>> graph = meshpart.local_graph(part, steps=1)
    >>> part.points.global_ids[graph.senders], part.points.global_ids[graph.receivers]
    (array([1, 5, 2, 4]), array([2, 2, 5, 5]))
    """
    found = _found(part, entity, steps, adjacency, arguments.threads(threads))
    return found if isinstance(found, LocalGraph) else found.frozen()


class OwnEdges(NamedTuple):
    """The edges of a `LocalGraph` in arrays that nobody else has."""

    ends: Ids  # (2, n_edges): senders and receivers
    edge_ids: Ids | None
    offsets: Ids
    n_owned: int
    n_local: int
    steps: int

    def frozen(self) -> LocalGraph:
        """Return them with arrays that refuse writes."""
        senders, receivers = frozen(self.ends)
        ids = None if self.edge_ids is None else frozen(self.edge_ids)
        return LocalGraph(senders, receivers, ids, frozen(self.offsets), self.n_owned, self.n_local, self.steps)


def own_edges(part: SubMesh | SubGraph, entity: str | None, steps: int | None, adjacency: str | None) -> OwnEdges:
    """Return the edges that `local_graph` returns, of a graph that is stored with the part as copies."""
    found = _found(part, entity, steps, adjacency, arguments.threads(None))
    if isinstance(found, OwnEdges):
        return found
    ids = None if found.edge_ids is None else found.edge_ids.copy()
    ends = np.stack([found.senders, found.receivers])
    return OwnEdges(ends, ids, found.offsets.copy(), found.n_owned, found.n_local, found.steps)


def graph_name(entity: str, adjacency: str, steps: int) -> str:
    """Return under which name a part has such a graph stored."""
    return f"{entity} {adjacency} {steps}"


def with_local_graphs(part: SubMesh, graphs: Iterable[StoredGraph]) -> SubMesh:
    """Return a part that has graphs stored, so that `local_graph` need not build them."""
    stored = dict(part.graphs)
    for entity, steps in graphs:
        graph = local_graph(part, entity, steps if steps is not None else part.ghost_layers, threads=1)
        stored[graph_name(entity, ADJACENCIES[entity][0], graph.steps)] = graph
    return replace(part, graphs=MappingProxyType(stored)) if len(stored) > len(part.graphs) else part


def as_stored(graphs: Graphs) -> list[StoredGraph]:
    """Return which graphs to store: entities, and steps where they are given."""
    wanted: list[StoredGraph] = []
    for entry in [graphs] if isinstance(graphs, str) else arguments.listed("graphs", graphs, "names"):
        entity, steps = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
        if steps is not None:
            arguments.integer("steps of graphs", steps, low=0)
        wanted.append((arguments.one_of("graphs", entity, ADJACENCIES), steps))
    return wanted


class GraphRows:
    """The graphs of a mesh that its parts are to know: where the row of each entity begins.

    Parameters
    ----------
    mesh : Mesh
    graphs : iterable of str
        Of what: "points", "cells" or both.
    threads : int
    """

    def __init__(self, mesh: Mesh, graphs: Iterable[str], threads: int) -> None:
        self._threads = threads
        self._offsets = {
            entity: (point_graph if entity == "points" else dual_graph)(mesh, threads=threads).offsets
            for entity in graphs
        }

    def kept_by(self, parts: Sequence[SubMesh], one_layer: Callable[[], Sequence[SubMesh]]) -> list[SubMesh]:
        """Return parts of the mesh that know them, as `local_graph` needs it.

        Parameters
        ----------
        parts : sequence of SubMesh
        one_layer : callable
            Returns the same parts with one ghost layer; called where the given ones have none.
        """
        owned: Sequence[LocalGraph | None] = [None for _ in parts]
        if "points" in self._offsets and any(part.ghost_layers == 0 for part in parts):
            owned = [_owned_points_edges(part, self._offsets["points"], self._threads) for part in one_layer()]
        return [self._kept_by(part, edges) for part, edges in zip(parts, owned, strict=True)]

    def _kept_by(self, part: SubMesh, owned: LocalGraph | None) -> SubMesh:
        maps = {"points": part.points, "cells": part.cells}
        row_starts = {entity: frozen(offsets[maps[entity].global_ids]) for entity, offsets in self._offsets.items()}
        graphs = {} if owned is None else {graph_name("points", "edge", 0): owned}
        return replace(part, row_starts=MappingProxyType(row_starts), graphs=MappingProxyType(graphs))


def as_graphs(graphs: str | Iterable[str]) -> tuple[str, ...]:
    """Return the entities whose graphs parts are to know, each once: "points", "cells" or both."""
    names = [graphs] if isinstance(graphs, str) else arguments.listed("graphs", graphs, "names")
    return tuple(dict.fromkeys(arguments.one_of("graphs", name, ADJACENCIES) for name in names))


def _owned_points_edges(part: SubMesh, offsets: Ids, threads: int) -> LocalGraph:
    """Return the point edges that a part owns, as the same part without its ghost layer numbers them.

    Without the layer the part has the points of layer 0, in the same order.
    """
    row_starts = {"points": offsets[part.points.global_ids]}
    edges = local_graph(replace(part, row_starts=row_starts), "points", 0, threads=threads)
    on_own_cells = part.points.layers() == 0
    numbers = np.cumsum(on_own_cells) - 1
    return replace(
        edges,
        senders=frozen(numbers[edges.senders]),
        receivers=frozen(numbers[edges.receivers]),
        n_local=int(np.count_nonzero(on_own_cells)),
    )


# -- finding edges ------------------------------------------------------------------------------------------


def _found(
    part: SubMesh | SubGraph, entity: str | None, steps: int | None, adjacency: str | None, threads: int
) -> LocalGraph | OwnEdges:
    """Return the edges that a part needs: a graph that is stored with it, or else what is found now."""
    if isinstance(part, SubGraph):
        return _of_subgraph(part, entity, steps, adjacency, threads)
    if not isinstance(part, SubMesh):
        raise ArgumentError(f"part must be a SubMesh or a SubGraph, got {type(part).__name__}")
    entity = arguments.one_of("entity", "points" if entity is None else entity, ADJACENCIES)
    known = ADJACENCIES[entity]
    adjacency = arguments.one_of("adjacency", known[0] if adjacency is None else adjacency, known)
    steps = _as_steps(steps, part.ghost_layers)
    stored = part.graphs.get(graph_name(entity, adjacency, steps))
    if stored is not None:
        return stored
    if part.ghost_layers == 0:
        raise _unknown_edges(entity, adjacency)
    whole = _graph_of(part.mesh if entity == "points" else part, adjacency, threads)
    row_starts = part.row_starts.get(entity) if adjacency == known[0] else None
    rows = _Rows(whole.offsets, whole.targets, part.points if entity == "points" else part.cells, row_starts)
    if steps > 0:
        return _within(rows, steps, threads)
    if entity == "points":
        return _chosen(rows, _of_own_cells(part, whole, adjacency, threads), threads)
    if part.ghost_layers == 1:  # some edges lead to ghosts of layer 1, whose rows are then not whole
        rows = rows._replace(row_starts=None)
    return _chosen(rows, _of_lower_owner(part, whole), threads)


# -- what the edges are chosen from -------------------------------------------------------------------------


class _Rows(NamedTuple):
    """A graph of a part's entities: row i names those that send to entity i."""

    offsets: Ids
    senders: Ids
    entities: IndexMap
    row_starts: Ids | None  # of the whole rows of the whole graph
    edge_ids: Ids | None = None  # of all entries, where they do not follow from these

    def for_core(self) -> tuple[Ids, Ids, int, Ids, Ids, Ids]:
        starts = NO_IDS if self.row_starts is None else self.row_starts
        ids = NO_IDS if self.edge_ids is None else self.edge_ids
        return self.offsets, self.senders, self.entities.n_owned, self.entities.global_ids, starts, ids


def _within(rows: _Rows, steps: int, threads: int) -> OwnEdges:
    farthest = min(steps, rows.entities.n_local + 1)
    return _own(rows, _core.edges_within(*rows.for_core(), farthest, threads), steps)


def _chosen(rows: _Rows, chosen: npt.NDArray[np.uint8], threads: int) -> OwnEdges:
    return _own(rows, _core.chosen_edges(*rows.for_core(), chosen, threads), 0)


def _own(rows: _Rows, edges: tuple[Ids, Ids, Ids], steps: int) -> OwnEdges:
    ends, ids, offsets = edges
    known = None if rows.row_starts is None and rows.edge_ids is None else ids
    return OwnEdges(ends.reshape(2, -1), known, offsets, rows.entities.n_owned, rows.entities.n_local, steps)


def _graph_of(mesh: Mesh | SubMesh, adjacency: str, threads: int) -> Graph:
    build = point_graph if adjacency in ADJACENCIES["points"] else dual_graph
    return build(mesh, adjacency=adjacency, threads=threads)


def _of_own_cells(part: SubMesh, whole: Graph, adjacency: str, threads: int) -> npt.NDArray[np.uint8]:
    """Return which edges of a part's points its own cells have, and no local cell of a lower part: uint8.

    All cells on a point of an own cell are local.
    """
    owners = part.cells.owners(part.part)
    of_blocks = [owners[part.cell_rows(block)] for block in range(len(part.mesh.blocks))]

    def graph_of(chosen: list[npt.NDArray[np.bool_]]) -> Graph:
        rows = map(np.flatnonzero, chosen)
        blocks = tuple(block.take(own) for block, own in zip(part.mesh.blocks, rows, strict=True))
        return _graph_of(trusted(Mesh, points=part.mesh.points, blocks=blocks), adjacency, threads)

    own = graph_of([of_block == part.part for of_block in of_blocks])
    lower = graph_of([of_block < part.part for of_block in of_blocks])
    return _core.edges_of_own_alone(
        whole.offsets, whole.targets, own.offsets, own.targets, lower.offsets, lower.targets, threads
    )


def _of_lower_owner(part: SubMesh, whole: Graph) -> npt.NDArray[np.uint8]:
    """Return which edges of a part's cells it owns, being the lower owner of their two ends: uint8."""
    owners = part.cells.owners(part.part)
    receivers = np.repeat(owners, np.diff(whole.offsets))
    owned: npt.NDArray[np.bool_] = np.minimum(receivers, owners[whole.targets]) == part.part
    return owned.astype(np.uint8)


def _unknown_edges(entity: str, adjacency: str) -> ArgumentError:
    """Return why a part without ghost layers does not know the edges that it owns."""
    if (entity, adjacency) != ("points", "edge"):
        return ArgumentError(
            f"steps=0 for {entity} joined by {adjacency} needs a ghost layer, the part has ghost_layers=0"
        )
    return ArgumentError(
        "which point edges a part without ghost layers owns is known only if "
        'graphs="points" is given to split or partition'
    )


def _of_subgraph(
    part: SubGraph, entity: str | None, steps: int | None, adjacency: str | None, threads: int
) -> OwnEdges:
    arguments.one_of("entity", "vertices" if entity is None else entity, ("vertices",))
    if adjacency is not None:
        raise ArgumentError(f"a part of split_graph has one graph, got adjacency={adjacency!r}")
    steps = _as_steps(steps, part.layers)
    if steps == 0:
        raise ArgumentError(
            f"a part of split_graph has edges for 1 step or more, got steps=0, it has {part.layers} layers"
        )
    check_offsets("offsets of the part", part.offsets, len(part.senders), least=0, error=ArgumentError)
    if (len(part.offsets), len(part.edge_ids)) != (part.vertices.n_local + 1, len(part.senders)):
        raise ArgumentError(f"the rows of part {part.part} do not fit its vertices and edges")
    return _within(_Rows(part.offsets, part.senders, part.vertices, None, part.edge_ids), steps, threads)


def _as_steps(steps: int | None, layers: int) -> int:
    if steps is None:
        if layers == 0:
            raise ArgumentError(
                "a part without ghost layers carries no steps: cut with a layer, or give steps=0 for the edges that "
                "the part owns, and add up what the copies of its entities receive"
            )
        return layers
    steps = arguments.integer("steps", steps, low=0)
    if steps > layers:
        raise ArgumentError(
            f"steps must be at most the number of ghost layers, got steps={steps}, the part has {layers}"
        )
    return steps
