"""The problem: all that a method may look at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Ids, kept
from meshpart.errors import MeshError
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
    seed : int
        For methods that draw at random.
    threads : int
        How many may be used; the labels do not depend on it.
    """

    units: Units
    nparts: int
    cell_weights: Weights | None
    imbalance: Fraction
    seed: int
    threads: int

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
