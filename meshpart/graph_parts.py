"""The parts of a directed graph: halos that follow edges backwards, so that messages along the edges come out right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from meshpart import _core, arguments
from meshpart.arrays import Frozen, Ids, Labels, as_row, check_offsets, frozen, kept, pieces
from meshpart.build import halo_plans, index_maps
from meshpart.carried import Places
from meshpart.errors import ArgumentError
from meshpart.graph import Graph
from meshpart.halo import HaloPlan
from meshpart.labels import as_labels
from meshpart.mesh import fingerprint_of
from meshpart.submesh import IndexMap

if TYPE_CHECKING:
    import scipy.sparse

    CsrMatrix = scipy.sparse.csr_array[Any] | scipy.sparse.csr_matrix[Any]


@dataclass(frozen=True, eq=False)
class SubGraph(Frozen):
    """One part of a directed graph.

    A message goes along an edge, from its sender to its receiver. The edges of a part are all those into its vertices
    of layer < `layers`, sorted by receiver: vertex v receives along the edges offsets[v] : offsets[v + 1]. Into the
    vertices of the last layer none are listed, so with `layers` = 0 there are none at all.

    Parameters
    ----------
    part, nparts : int
        Which one of how many.
    layers : int
        How many were asked for; where the graph has no more vertices to offer there are fewer.
    vertices : IndexMap
        Local order and global ids. The layer of a ghost is the least number of edges from it to an owned vertex; a
        vertex is complete if all senders of edges into it are local.
    halo : HaloPlan
    run : str
        The same for all parts of one decomposition, and for no other: a hash of the graph, the owners and the layers.
    offsets : ndarray of int64, (n_local + 1,)
    senders : ndarray of int64, (n_edges,)
        Local ids.
    edge_ids : ndarray of int64, (n_edges,)
        The position of each edge in the `targets` of the graph, ascending among those into one vertex.
    """

    part: int
    nparts: int
    layers: int
    vertices: IndexMap
    halo: HaloPlan
    run: str
    offsets: Ids
    senders: Ids
    edge_ids: Ids

    def __repr__(self) -> str:
        vertices = self.vertices
        return (
            f"<SubGraph {self.part} of {self.nparts}: {vertices.n_owned} vertices + {vertices.n_ghost} ghosts, "
            f"{self.n_edges} edges>"
        )

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.senders)

    @kept
    def receivers(self) -> Ids:
        """The local id of the vertex that each edge leads into, ascending: int64, (n_edges,)."""
        return np.repeat(np.arange(self.vertices.n_local), np.diff(self.offsets))


def split_graph(
    graph: Graph | CsrMatrix | tuple[npt.ArrayLike, npt.ArrayLike],
    owners: npt.ArrayLike,
    nparts: int | None = None,
    *,
    layers: int = 1,
    only: Iterable[int] | None = None,
    threads: int | None = None,
) -> list[SubGraph]:
    """Cut any directed graph along the owners of its vertices.

    A part has the vertices that it owns and, as ghosts, those from which an edge leads to one of them (layer 1), those
    from which one leads to layer 1 (layer 2), and so on. So message passing needs no exchange for as many steps as
    there are layers: s steps along a part's edges give, in all rows of layer <= `layers` - s, what they give on the
    whole graph; to the last bit, where each vertex adds up its messages in the order of the edges.

    Parameters
    ----------
    graph : Graph, scipy csr matrix or array (n_vertices, n_vertices), or pair of array_like of int (offsets, targets)
        Row i lists the targets of the edges that leave vertex i: targets[offsets[i]:offsets[i + 1]], in any order. Of
        a matrix, each stored entry (i, j) is an edge from i to j, whatever its value. Loops and parallel edges are
        kept. An edge's id is its position in the targets.
    owners : array_like of int, (n_vertices,)
        The part of each vertex.
    nparts : int, optional
        The highest owner + 1 otherwise. Parts without a vertex are empty.
    layers : int
        How many layers of ghosts; more than the graph has is no error.
    only : iterable of int, optional
        The parts to build, in this order; all of them otherwise.
    threads : int, optional
        The parts do not depend on it.

    Returns
    -------
    parts : list of SubGraph
        Part i at place i, or those of `only`.

    Raises
    ------
    ArgumentError
        If the arrays are no graph (the message names the row), the owners do not fit it or are outside 0..nparts-1,
        or another argument cannot be right.

    Examples
    --------
    The ring 0 -> 1 -> 2 -> 3 -> 0, cut in two. Part 0 needs vertex 3, which sends to vertex 0, and sends vertex 1:

    >>> import meshpart
    >>> ring = ([0, 1, 2, 3, 4], [1, 2, 3, 0])
    >>> part, other = meshpart.split_graph(ring, [0, 0, 1, 1])
    >>> part
    <SubGraph 0 of 2: 2 vertices + 1 ghosts, 2 edges>
    >>> part.vertices.global_ids
    array([0, 1, 3])
    >>> part.senders, part.receivers, part.edge_ids
    (array([2, 0]), array([0, 1]), array([3, 0]))
    >>> part.vertices.global_ids[part.halo.send_indices]
    array([1])
    """
    offsets, targets = _rows_of(graph)
    given, nparts = as_labels(owners, len(offsets) - 1, nparts, what="owners", of="vertex")
    layers = arguments.integer("layers", layers, low=0, high=None)
    chosen = arguments.chosen_parts(only, nparts)
    workers = arguments.threads(threads)
    _check_targets(offsets, targets, workers)

    parts, places = np.unique(chosen, return_inverse=True)
    there = _those_there(given, nparts, parts)
    owned = _core.invert(_numbers(there, given), len(there))
    farthest = min(layers, len(given), arguments.LARGEST_INT32)  # no vertex is farther away
    built = _core.graph_parts(offsets, targets, *owned, _numbers(there, parts), farthest, workers)
    for name in ("ghost_owners", "neighbours"):
        built["vertices"][name] = there[built["vertices"][name]]
    run = fingerprint_of("graph", offsets, targets, given, nparts, layers)
    columns = _columns(built, parts, len(given))
    own = [SubGraph(part, nparts, layers, vertices, halo, run, *edges) for part, vertices, halo, *edges in columns]
    return [own[place] for place in places.tolist()]


def _those_there(owners: Labels, nparts: int, parts: Labels) -> Labels:
    """Return all parts, or where they are many, those that own something or are wanted; ascending."""
    if nparts <= len(owners) + len(parts):
        return np.arange(nparts, dtype=np.int32)
    return np.unique(np.concatenate([owners, parts]))


def _numbers(there: Labels, parts: Labels) -> Labels:
    """Return where parts are among those that are there."""
    return parts if len(there) == 0 or len(there) == there[-1] + 1 else np.searchsorted(there, parts).astype(np.int32)


def _rows_of(graph: Any) -> tuple[Ids, Ids]:
    """Return the offsets and targets of a graph as the core takes them: offsets that nobody can change."""
    if isinstance(graph, Graph):
        return graph.offsets, graph.targets
    if isinstance(graph, tuple | list) and len(graph) == 2:
        offsets, targets = (
            as_row(name, row, ArgumentError) for name, row in zip(("offsets", "targets"), graph, strict=True)
        )
    else:
        offsets, targets = _rows_of_matrix(graph)
    offsets = frozen(offsets.copy())
    check_offsets("offsets", offsets, len(targets), least=0, error=ArgumentError)
    return offsets, targets


def _rows_of_matrix(matrix: Any) -> tuple[Ids, Ids]:
    from scipy.sparse import issparse

    sparse: bool = issparse(matrix)
    if not sparse:
        raise ArgumentError(
            "graph must be a meshpart.Graph, a SciPy csr matrix or a pair (offsets, targets), "
            f"got {type(matrix).__name__}"
        )
    if matrix.format != "csr":  # in which an edge has another position
        raise ArgumentError(f"graph: a matrix must be in the csr format (its tocsr() is), got {matrix.format}")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(f"graph: a matrix must be square, got the shape {matrix.shape}")
    offsets = as_row("indptr", matrix.indptr, ArgumentError)
    targets = as_row("indices", matrix.indices, ArgumentError)
    if len(offsets) != matrix.shape[0] + 1:
        raise ArgumentError(f"indptr must have the shape ({matrix.shape[0] + 1},), got {offsets.shape}")
    return offsets, targets[: max(int(offsets[-1]), 0)]  # a matrix may have room for more entries


def _check_targets(offsets: Ids, targets: Ids, threads: int) -> None:
    n_vertices = len(offsets) - 1
    outside = _core.first_outside(targets, n_vertices, threads)
    if outside >= 0:
        row = int(np.searchsorted(offsets, outside, side="right")) - 1
        raise ArgumentError(f"targets: row {row} names vertex {targets[outside]}, there are {n_vertices}")


def _columns(built: Mapping[str, Any], parts: Labels, n_vertices: int) -> Iterator[tuple[Any, ...]]:
    """Yield what differs from part to part: its number, vertices and halo, and the rows of its edges."""
    found = built["vertices"]
    vertices = Places(found["ids"], found["offsets"], n_vertices)
    yield from zip(
        parts.tolist(),
        index_maps(found, vertices, n_vertices, [None] * len(parts)),
        halo_plans(found),
        pieces(built["row_offsets"], vertices.offsets + np.arange(len(parts) + 1)),
        pieces(built["senders"], built["edge_offsets"]),
        pieces(built["edge_ids"], built["edge_offsets"]),
        strict=True,
    )
