"""Graphs: the dual graph of a mesh's cells, the graph of its points, and graphs from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshpart.arrays import Frozen, Ids, kept


class FlatGraph(NamedTuple):
    """A graph as the core takes it."""

    offsets: Ids
    targets: Ids
    vertex_weights: Ids  # empty where all are 1
    edge_weights: Ids


@dataclass(frozen=True, eq=False)
class Graph(Frozen):
    """A graph: symmetric, no loops, each row strictly ascending."""

    offsets: Ids
    targets: Ids
    vertex_weights: Ids | None = None
    edge_weights: Ids | None = None

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.offsets) - 1

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
