"""Graphs: the dual graph of a mesh's cells, the graph of its points, and graphs from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from meshpart import _core, arguments
from meshpart.arrays import Array, Frozen, Ids, as_array, as_row, check_offsets, frozen, kept, set_field, trusted
from meshpart.edges import edges
from meshpart.errors import ArgumentError, warn
from meshpart.mesh import Mesh, MeshLike
from meshpart.numbered import cells_by_global_id, cells_of, mesh_of
from meshpart.outline import facets

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse

    from meshpart.submesh import SubMesh

# What `_core.check_graph` finds, in its order; the names are those of the row and of its entry.
FLAWS = (
    "",
    "row {vertex} names vertex {target}, there are {count}",
    "row {vertex} is not strictly ascending at {target}; Graph.from_scipy sorts rows",
    "vertex {vertex} is joined with itself",
    "row {vertex} names {target}, but row {target} does not name {vertex}",
    "the edge from {vertex} to {target} has a negative weight",
    "the edge from {vertex} to {target} weighs otherwise than the one back",
)


class FlatGraph(NamedTuple):
    """A graph as the core takes it."""

    offsets: Ids
    targets: Ids
    vertex_weights: Ids  # empty where all are 1
    edge_weights: Ids


@dataclass(frozen=True, eq=False)
class Graph(Frozen):
    """An undirected graph, in rows: row i lists the neighbours of vertex i.

    Parameters
    ----------
    offsets : ndarray of int64, (n_vertices + 1,)
        Row i is targets[offsets[i]:offsets[i + 1]].
    targets : ndarray of int64, (2 * n_edges,)
        Each row strictly ascending. Every edge stands in the rows of both its ends, and none is a loop.
    vertex_weights : ndarray of int64, (n_vertices,), optional
        Not negative; all 1 otherwise.
    edge_weights : ndarray of int64, (2 * n_edges,), optional
        Not negative, the same in both directions; all 1 otherwise.

    Raises
    ------
    ArgumentError
        If the arrays are no such graph; the message names the row.

    Examples
    --------
    >>> import meshpart
    >>> path = meshpart.Graph([0, 1, 3, 4], [1, 0, 2, 1])
    >>> path.to_scipy().toarray()
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """

    offsets: Ids
    targets: Ids
    vertex_weights: Ids | None = None
    edge_weights: Ids | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            offsets: npt.ArrayLike,
            targets: npt.ArrayLike,
            vertex_weights: npt.ArrayLike | None = ...,
            edge_weights: npt.ArrayLike | None = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        offsets = as_row("offsets", self.offsets, ArgumentError).copy()  # because the core trusts them
        set_field(self, "offsets", frozen(offsets))
        set_field(self, "targets", as_row("targets", self.targets, ArgumentError))
        check_offsets("offsets", self.offsets, len(self.targets), least=0, error=ArgumentError)
        for name, count in (("vertex_weights", self.n_vertices), ("edge_weights", len(self.targets))):
            if getattr(self, name) is not None:
                set_field(self, name, _weights(name, getattr(self, name), count))
        flaw, vertex, target = _core.check_graph(self.flat)
        if flaw:
            raise ArgumentError(
                f"not a graph: {FLAWS[flaw].format(vertex=vertex, target=target, count=self.n_vertices)}"
            )

    def __repr__(self) -> str:
        return f"<Graph: {self.n_vertices} vertices, {self.n_edges} edges>"

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.offsets) - 1

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return len(self.targets) // 2

    def neighbours(self, vertex: int) -> Ids:
        """Return the neighbours of a vertex, ascending: int64."""
        vertex = arguments.integer("vertex", vertex, low=0, high=self.n_vertices - 1)
        return self.targets[self.offsets[vertex] : self.offsets[vertex + 1]]

    @kept
    def flat(self) -> FlatGraph:
        """The graph as the core takes it."""
        none = np.zeros(0, np.int64)
        return FlatGraph(
            self.offsets,
            self.targets,
            none if self.vertex_weights is None else self.vertex_weights,
            none if self.edge_weights is None else self.edge_weights,
        )

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the adjacency matrix, entries the edge weights or 1: int64, (n_vertices, n_vertices).

        It shares this graph's arrays, which are read-only; only the ones of a graph without edge weights are its own.
        """
        from scipy.sparse import csr_array

        matrix: Any = csr_array((self.n_vertices, self.n_vertices), dtype=np.int64)
        # Set, not passed: the constructor would copy ids that fit 32 bits into such.
        matrix.indptr, matrix.indices = self.offsets, self.targets
        matrix.data = np.ones(len(self.targets), np.int64) if self.edge_weights is None else self.edge_weights
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return cast("scipy.sparse.csr_array", matrix)

    def to_networkx(self) -> nx.Graph:
        """Return a `networkx.Graph`; vertices and edges have a `weight` where this graph has weights."""
        import networkx as nx

        result = nx.Graph()
        result.add_nodes_from(range(self.n_vertices))
        sources = np.repeat(np.arange(self.n_vertices), np.diff(self.offsets))
        once = sources < self.targets
        ends = zip(sources[once].tolist(), self.targets[once].tolist(), strict=True)
        if self.edge_weights is None:
            result.add_edges_from(ends)
        else:
            weights = self.edge_weights[once].tolist()
            result.add_weighted_edges_from((a, b, weight) for (a, b), weight in zip(ends, weights, strict=True))
        if self.vertex_weights is not None:
            nx.set_node_attributes(result, dict(enumerate(self.vertex_weights.tolist())), "weight")
        return result

    @classmethod
    def from_scipy(cls, matrix: Any, vertex_weights: npt.ArrayLike | None = None) -> Graph:
        """Build a graph from a sparse adjacency matrix.

        Parameters
        ----------
        matrix : scipy sparse array or matrix, (n_vertices, n_vertices)
            Symmetric, with nothing on its diagonal. Its entries are the edge weights, integers in value and not
            negative; all ones, or all True, are none. Entries given twice are added up.
        vertex_weights : array_like of int, (n_vertices,), optional
        """
        from scipy.sparse import coo_array, csr_array, issparse

        sparse: bool = issparse(matrix)
        if not sparse or len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ArgumentError(f"the matrix must be sparse and square, got {matrix!r}")
        try:  # before SciPy's compiled code sees what may have been changed since it was made
            own = matrix.copy()
            if hasattr(own, "check_format"):
                own.check_format(full_check=True)
            entries = own.tocoo()
            weights = _weights("the matrix", entries.data, entries.nnz)  # wide enough to be added up
            rows = csr_array(coo_array((weights, entries.coords), shape=entries.shape))
        except ArgumentError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise ArgumentError(f"the matrix is no sparse matrix: {error}") from None
        plain = bool(np.all(rows.data == 1))
        return cls(rows.indptr, rows.indices, vertex_weights, None if plain else rows.data)


def dual_graph(
    mesh: Mesh | MeshLike | SubMesh,
    *,
    adjacency: str = "facet",
    edge_weights: str | npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Graph:
    """Return the dual graph of a mesh: its vertices are the cells, row i is cell i.

    Top and free cells are joined; attached cells, which lie in a higher-dimensional one, have empty rows. Another
    partitioner would take these for cells to share out: `Problem.graph`, which a method given as a function sees, has
    none of them, and their labels then come from the cells that hold them.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, anything with `points` and `cells` alike, or SubMesh
        Of a part, the graph of its own cells and points, in local order; attached is what was so in the input mesh.
    adjacency : str
        "facet": cells of equal dimension are neighbours when they share a facet, by its corner points; more than two
        cells on a facet all are, and more than 64 are joined in a chain, with a warning. A facet of a d-dimensional
        cell with fewer than d distinct corners (of a collapsed cell) is none. Cells of different dimension are
        neighbours when a facet of the lower one lies in the corner points of the higher one.
        "point": cells are neighbours when they share a point, mid-side points too.
    edge_weights : str, or array_like of int (2 * n_edges,), optional
        "points": an edge weighs as much as the number of points that its two cells share. Or a weight for each entry of
        the graph's targets, the same in both directions.
    threads : int, optional
        The graph does not depend on it.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3]]), ("triangle", [[1, 2, 4], [2, 5, 4]])])
    >>> meshpart.dual_graph(mesh).neighbours(1)
    array([0, 2])
    """
    workers = arguments.threads(threads)
    arguments.one_of("adjacency", adjacency, ("facet", "point"))
    if isinstance(edge_weights, str) and edge_weights != "points":
        raise ArgumentError(f"edge_weights must be 'points' or an array, got {edge_weights!r}")
    cells = cells_of(mesh)
    if adjacency == "point":
        offsets, targets = _core.cells_sharing_points(cells.mesh.flat, cells.kinds, workers)
    else:
        offsets, targets, n_chained = _core.dual_graph(cells.mesh.flat, facets(cells.mesh), cells.kinds, workers)
        if n_chained:
            warn(f"more than 64 cells lie on each of {n_chained} facets: joined in a chain, not all with each other")
        if n_chained and cells.part is not None:  # by global id, or it would be another chain than the input's
            cells = cells_by_global_id(cells.part)
            offsets, targets, _ = _core.dual_graph(cells.mesh.flat, facets(cells.mesh), cells.kinds, workers)
    if cells.numbers is not None:
        offsets, targets = _core.renumbered(offsets, targets, cells.numbers, workers)
    if edge_weights is None:
        return _trusted(offsets, targets)
    if isinstance(edge_weights, str):
        return _trusted(offsets, targets, _core.shared_point_counts(cells.by_number(), offsets, targets, workers))
    return Graph(offsets, targets, edge_weights=edge_weights)


def point_graph(mesh: Mesh | MeshLike | SubMesh, *, adjacency: str = "edge", threads: int | None = None) -> Graph:
    """Return the graph of a mesh's points: row i is point i. Cells of all dimensions take part.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, anything with `points` and `cells` alike, or SubMesh
        Of a part, the graph of its own cells and points, in local order.
    adjacency : str
        "edge": points are neighbours when they follow each other along an edge of a cell: mid-side points lie between
        the corners, and points in faces and bodies have no neighbours.
        "cell": points are neighbours when a cell has both, which is where a matrix assembled over cells has entries.
    threads : int, optional
        The graph does not depend on it.
    """
    mesh = mesh_of(mesh)
    workers = arguments.threads(threads)
    arguments.one_of("adjacency", adjacency, ("edge", "cell"))
    if adjacency == "cell":
        offsets, targets = _core.points_sharing_cells(mesh.flat, workers)
    else:
        offsets, targets = _core.point_graph(*edges(mesh), workers)
    return _trusted(offsets, targets)


def with_vertex_weights(graph: Graph, weights: Ids) -> Graph:
    """Return a graph with other vertex weights, int64, (n_vertices,), which are not checked."""
    return _trusted(graph.offsets, graph.targets, graph.edge_weights, weights)


def contract(graph: Graph, groups: Ids, n_groups: int, vertex_weights: Ids | None) -> Graph:
    """Return the graph of groups of vertices, edges merged and their weights added.

    Parameters
    ----------
    graph : Graph
    groups : ndarray of int64, (n_vertices,), in -1..n_groups - 1
        The vertices of group -1 are left out.
    n_groups : int
    vertex_weights : ndarray of int64, (n_groups,), or None
    """
    offsets, targets, weights = _core.contract(graph.flat, groups, n_groups)
    plain = graph.edge_weights is None and bool(np.all(weights == 1))
    return _trusted(offsets, targets, None if plain else weights, vertex_weights)


def _trusted(offsets: Ids, targets: Ids, edge_weights: Ids | None = None, vertex_weights: Ids | None = None) -> Graph:
    """Return a graph made by the core, without checking it again."""
    return trusted(
        Graph,
        offsets=frozen(offsets),
        targets=frozen(targets),
        vertex_weights=None if vertex_weights is None else frozen(vertex_weights),
        edge_weights=None if edge_weights is None else frozen(edge_weights),
    )


def _weights(what: str, values: Any, count: int) -> Ids:
    array: Array = as_array(what, values, ArgumentError)
    if array.dtype.kind in "fb":
        array = array.astype(np.float64) if array.dtype.kind == "f" else array
        whole = array.astype(np.int64) if array.dtype.kind == "b" or np.all(abs(array) < 2**53) else None
        if whole is None or np.any(whole != array):
            raise ArgumentError(f"{what} must be integers in value")
        array = whole
    weights = as_row(what, array, ArgumentError)
    if weights.shape != (count,):
        raise ArgumentError(f"{what} must have the shape ({count},), got {weights.shape}")
    if weights.size and weights.min() < 0:
        raise ArgumentError(f"{what} must not be negative, got {weights.min()}")
    if float(np.sum(weights, dtype=np.float64)) >= 2.0**62:
        raise ArgumentError(f"{what} must have a sum below 2**62")
    return weights
