"""The problem: all that a method may look at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Ids, kept
from meshpart.errors import MeshError
from meshpart.graph import Graph, dual_graph
from meshpart.units import Units
from meshpart.weights import Weights


@dataclass(frozen=True, eq=False)
class Problem:
    """Units to be given to parts.

    Parameters
    ----------
    units : Units
        The method labels these, 0..units.count - 1.
    nparts : int
        At most as many as units.
    cell_weights : Weights or None
        The weights of the cells; `weights` has those of the units.
    imbalance : Fraction
        How far the heaviest part may exceed the mean.
    mode : str
        For methods that have modes: "fast", "eco", "strong", "fastsocial", "ecosocial" or "strongsocial".
    seed : int
        For methods that draw at random.
    threads : int
        How many may be used; the labels do not depend on it.
    edge_weights : None, "points", or array_like of int
        Of the mesh's dual graph, as `dual_graph` takes them.
    """

    units: Units
    nparts: int
    cell_weights: Weights | None
    imbalance: Fraction
    mode: str
    seed: int
    threads: int
    edge_weights: Any = None

    @property
    def n_units(self) -> int:
        """How many labels a method returns."""
        return self.units.count

    @kept
    def weights(self) -> Ids | None:
        """The weight of each unit, int64 (n_units,), or None where all weigh the same.

        Integers in proportion to what was given, without a common factor, so that sums are exact.
        """
        return self.units.weights(self.cell_weights)

    @property
    def total(self) -> int:
        """The weight of all units together."""
        return self.n_units if self.weights is None else int(self.weights.sum())

    @property
    def heaviest(self) -> int:
        """The weight of the heaviest unit."""
        return 1 if self.weights is None else int(self.weights.max())

    @kept
    def graph(self) -> Graph:
        """The dual graph of the units: vertex i is unit i, with its weight where `weights` is not None."""
        cells = dual_graph(self.units.mesh, edge_weights=self.edge_weights, threads=self.threads)
        return self.units.graph(cells, self.weights)

    @kept
    def centroids(self) -> npt.NDArray[np.float64]:
        """Where each unit is: float64, (n_units, dim). Raises MeshError if a used point is NaN or infinite."""
        _check_coordinates(self.units)
        return self.units.centroids(self.cell_weights, self.threads)


def _check_coordinates(units: Units) -> None:
    mesh = units.mesh
    wrong = np.flatnonzero(~np.isfinite(mesh.coordinates).all(axis=1))
    if len(wrong) == 0:
        return
    entries = np.flatnonzero(np.isin(mesh.cell_points, wrong))
    if len(entries):
        point = mesh.cell_points[entries[0]]
        cell = int(np.searchsorted(mesh.cell_offsets, entries[0], "right")) - 1
        raise MeshError(f"point {point}, used by cell {cell}, lies at {mesh.coordinates[point].tolist()}")
