"""Graphs without a mesh, and problems posed on them; also for processes that tests start."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Labels, starts, trusted
from meshpart.graph import Graph
from meshpart.methods.kahip import kahip
from meshpart.methods.problem import Problem

Ids = npt.NDArray[np.int64]


def graph(n_vertices: int, edges: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Graph:
    """Return the graph of edges (n_edges, 2), each named once."""
    first, second = np.asarray(edges, np.int64).reshape(-1, 2).T
    rows, targets = np.r_[first, second], np.r_[second, first]
    order = np.lexsort((targets, rows))
    own = None if weights is None else np.tile(np.asarray(weights, np.int64), 2)[order]
    return Graph(starts(np.bincount(rows, minlength=n_vertices)), targets[order], edge_weights=own)


def unchecked(offsets: npt.ArrayLike, targets: npt.ArrayLike) -> Graph:
    """Return what is no graph, as arrays that have changed since they were checked would be one."""
    arrays = {"offsets": np.array(offsets, np.int64), "targets": np.array(targets, np.int64)}
    return trusted(Graph, **arrays, vertex_weights=None, edge_weights=None)


def grid_edges(*sides: int) -> tuple[int, Ids]:
    """Return the number of vertices of a grid, and its edges."""
    number = np.arange(np.prod(sides)).reshape(sides)
    pairs = [(number.take(range(n - 1), axis), number.take(range(1, n), axis)) for axis, n in enumerate(sides)]
    return number.size, np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])


def grid(*sides: int) -> Graph:
    """Return a grid of vertices joined along the axes."""
    return graph(*grid_edges(*sides))


def posed(given: Graph, nparts: int, **options: Any) -> Problem:
    """Return the problem to cut a graph that comes from no mesh."""
    fields = {"imbalance": Fraction(3, 100), "seed": 0, "threads": 1, "mode": "fast", "weights": None}
    return trusted(Problem, units=None, graph=given, nparts=nparts, **fields | options)


def cut(given: Graph, nparts: int, **options: Any) -> Labels:
    """Return KaHIP's labels."""
    return kahip(posed(given, nparts, **options))


def edge_cut(given: Graph, labels: Labels) -> int:
    """Return the number of edges between parts."""
    rows = np.repeat(np.arange(given.n_vertices), np.diff(given.offsets))
    return int(np.count_nonzero(labels[rows] != labels[given.targets])) // 2
