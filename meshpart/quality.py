"""How good a decomposition is: `quality` measures it, `Quality` says in words what each number means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import _core, arguments
from meshpart.arrays import Frozen, Ids, frozen
from meshpart.balance import bounds
from meshpart.graph import Graph, dual_graph
from meshpart.labels import as_labels
from meshpart.mesh import ATTACHED, Mesh, MeshLike, as_mesh
from meshpart.tables import table
from meshpart.units import Units
from meshpart.weights import Weights, exact_weights, summed


@dataclass(frozen=True, eq=False, repr=False)
class Quality(Frozen):
    """How good a decomposition is.

    Every number follows from the mesh, the labels and the weights. Three quads of part 0 and one of part 1, and their
    dual graph, in which cells that share a facet are joined:

        6-----7-----8
        |  2  |  3  |      2 --- 3      labels 0 0 0 1
        3-----4-----5      |     |
        |  0  |  1  |      0 --- 1
        0-----1-----2

    - **Edge cut**: the weight of the dual graph's edges between parts, each counted once: 1-3 and 2-3, so 2.
    - **Communication volume**: over all cells, the number of other parts among a cell's neighbours in the dual graph: 1
      for each of the cells 1, 2 and 3, so 3. It is what a solver sends that exchanges one value a cell across facets.
    - **Imbalance**: the heaviest part over the mean part, less 1. Here the parts weigh 3 and 1 and the mean is 2: 0.5.
      Attached cells weigh nothing. The same of cells and of owned points, with counts instead of weights.
    - **Bound**: the weight that a part should not exceed, (1 + imbalance asked for) * ceil(total weight / nparts). It
      rounds up to a multiple of what all weights are multiples of. Where single cells, or groups that stay together,
      are heavy, no labels may keep it. The **guarantee** is what methods promise: the bound, or the mean plus
      (1 - 1/nparts) times the heaviest of these, whichever is more.
    - **Shared points**: points whose cells lie in more than one part: 4, 5 and 7, so 3.

    And of each part:

    - **weight**, **cells**, **points**: what it owns. A point belongs to the part that owns most of the cells on it,
      the lowest part on a tie. Part 0 owns all points but 8: of 5 and 7 the parts own one cell each.
    - **ghosts**: cells of other parts that share a point with one of its cells, which one layer of ghosts would be: of
      part 0 it is cell 3, of part 1 the cells 0, 1 and 2. Their sum is the communication volume over cells that share a
      point.
    - **neighbours**: the parts that these ghosts belong to.
    - **components**: the pieces into which its top and free cells fall in the dual graph: one each. Cells that touch in
      a point alone are not joined.

    The **quotient graph** has the parts as vertices, weighing as many cells as they own, and an edge between parts that
    the edge cut runs between, weighing what is cut: here one edge of weight 2.

    Parameters
    ----------
    nparts, n_cells, n_points : int
    edge_cut : int
        Of the dual graph.
    communication_volume : int
        Of the dual graph.
    imbalance : float
        Heaviest part / mean part - 1, by weight; 0 where nothing weighs anything.
    cell_imbalance, point_imbalance : float
        The same by the number of cells, and of owned points.
    bound : float
        The weight that is sought for the heaviest part, in the units of the weights.
    guarantee : float
        The weight that is promised for it.
    within_bound : bool
        Whether the heaviest part is within `bound`, compared exactly.
    shared_points : int
        Points whose cells lie in more than one part.
    part_weights : ndarray of float64, (nparts,)
        In the units of the weights: of top and free cells.
    part_cells, part_points : ndarray of int64, (nparts,)
        How many each part owns.
    part_ghosts : ndarray of int64, (nparts,)
        Cells of other parts that share a point with the part: one layer.
    part_neighbours : ndarray of int64, (nparts,)
        How many parts own those.
    part_components : ndarray of int64, (nparts,)
        Connected pieces of its top and free cells in the dual graph.
    quotient : Graph
        Vertices are parts, weighing their cells; edges weigh the cut between two parts.
    """

    nparts: int
    n_cells: int
    n_points: int
    edge_cut: int
    communication_volume: int
    imbalance: float
    cell_imbalance: float
    point_imbalance: float
    bound: float
    guarantee: float
    within_bound: bool
    shared_points: int
    part_weights: npt.NDArray[np.float64]
    part_cells: Ids
    part_points: Ids
    part_ghosts: Ids
    part_neighbours: Ids
    part_components: Ids
    quotient: Graph

    def __repr__(self) -> str:
        return f"<Quality: {self.nparts} parts, edge cut {self.edge_cut}, imbalance {100 * self.imbalance:.2f} %>"

    def __str__(self) -> str:
        """Return the summary, and a table of the parts."""
        return "\n".join([*self._summary(), "", *table("part", self._columns())])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it: the quotient graph as a list of (part, part, weight of the cut).

        None stands for what is beyond floating point.
        """
        columns = {name: list(map(_finite, values.tolist())) for name, values in self._columns().items()}
        lower = np.repeat(np.arange(self.nparts), np.diff(self.quotient.offsets))
        edges = np.stack([lower, self.quotient.targets, self.quotient.flat.edge_weights], axis=1)
        return {
            "nparts": self.nparts,
            "cells": self.n_cells,
            "points": self.n_points,
            "edge_cut": self.edge_cut,
            "communication_volume": self.communication_volume,
            "imbalance": self.imbalance,
            "cell_imbalance": self.cell_imbalance,
            "point_imbalance": self.point_imbalance,
            "bound": _finite(self.bound),
            "guarantee": _finite(self.guarantee),
            "within_bound": self.within_bound,
            "shared_points": self.shared_points,
            "parts": [
                {"part": part, **dict(zip(columns, row, strict=True))}
                for part, row in enumerate(zip(*columns.values(), strict=True))
            ],
            "quotient": edges[lower < self.quotient.targets].tolist(),
        }

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "weight": self.part_weights,
            "cells": self.part_cells,
            "points": self.part_points,
            "ghosts": self.part_ghosts,
            "neighbours": self.part_neighbours,
            "components": self.part_components,
        }

    def _summary(self) -> list[str]:
        by_weight, by_cells, by_points = (
            f"{100 * value:.2f} %" for value in (self.imbalance, self.cell_imbalance, self.point_imbalance)
        )
        within = "within" if self.within_bound else "above"
        return [
            f"{self.n_cells} cells and {self.n_points} points in {self.nparts} parts",
            f"edge cut              {self.edge_cut}",
            f"communication volume  {self.communication_volume}",
            f"shared points         {self.shared_points}",
            f"imbalance             {by_weight} by weight, {by_cells} by cells, {by_points} by points",
            f"heaviest part         {self.part_weights.max():.10g}, {within} the bound of {self.bound:.10g}",
        ]


def quality(
    mesh: Mesh | MeshLike,
    labels: npt.ArrayLike,
    nparts: int | None = None,
    *,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    edge_weights: str | npt.ArrayLike | None = None,
    imbalance: float = 0.03,
    keep_together: npt.ArrayLike | str | Sequence[str] | None = None,
    threads: int | None = None,
) -> Quality:
    """Say how good a decomposition is, whoever made it.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, or anything with `points` and `cells` alike
    labels : array_like of int, (n_cells,)
        The part of each cell, as `partition_labels` returns them.
    nparts : int, optional
        The highest label + 1 otherwise. Parts without a cell count.
    weights, edge_weights, imbalance, keep_together
        As they were given to `partition_labels`: the balance, and the edge cut, are judged by them.
    threads : int, optional
        The result does not depend on it.

    Returns
    -------
    quality : Quality
        Says in words what each number means: `help(meshpart.Quality)`. `print(quality)` shows a table, and
        `quality.to_dict()` is for JSON.

    Raises
    ------
    ArgumentError, MeshError
        If an argument or the mesh cannot be right.

    Examples
    --------
    >>> import meshpart
    >>> points = [[x, y] for y in range(3) for x in range(3)]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]])])
    >>> found = meshpart.quality(mesh, [0, 0, 0, 1])
    >>> found.edge_cut, found.communication_volume, found.imbalance, found.part_ghosts
    (2, 3, 0.5, array([1, 3]))
    """
    mesh = as_mesh(mesh)
    labels, nparts = as_labels(labels, mesh.n_cells, nparts)
    load = exact_weights(mesh, weights)
    units = Units.of(mesh, keep_together)
    allowed = arguments.imbalance(imbalance)
    n_threads = arguments.threads(threads)

    unit = 1.0 if load is None else load.unit
    if load is None:
        loads = summed(None, labels[mesh.kinds != ATTACHED], nparts)
    else:
        loads = summed(load.values, labels, nparts)
    with np.errstate(over="ignore"):  # parts may weigh more than float64 holds
        part_weights = loads * unit
    total, heaviest = sum(loads.tolist()), int(loads.max())
    limits = bounds(total, _heaviest_unit(units, load), nparts, allowed)
    shared_points, points, ghosts, neighbours = _core.halo_metrics(mesh.flat, labels, nparts, n_threads)
    owned = _core.invert(labels, nparts)
    cells = np.diff(owned[0])
    dual = dual_graph(mesh, edge_weights=edge_weights, threads=n_threads)
    cut, volume, components, *quotient = _core.cut_metrics(dual.flat, mesh.kinds, labels, *owned)
    offsets, targets, edge_weights = map(frozen, quotient)
    return Quality(
        nparts=nparts,
        n_cells=mesh.n_cells,
        n_points=mesh.n_points,
        edge_cut=cut,
        communication_volume=volume,
        imbalance=_imbalance(heaviest, total, nparts),
        cell_imbalance=_imbalance(int(cells.max()), mesh.n_cells, nparts),
        point_imbalance=_imbalance(int(points.max()), mesh.n_points, nparts),
        bound=_in_units(limits.sought, unit),
        guarantee=_in_units(limits.guaranteed, unit),
        within_bound=heaviest <= limits.sought,
        shared_points=shared_points,
        part_weights=frozen(part_weights),
        part_cells=frozen(cells),
        part_points=frozen(points),
        part_ghosts=frozen(ghosts),
        part_neighbours=frozen(neighbours),
        part_components=frozen(components),
        quotient=Graph(offsets, targets, frozen(cells), edge_weights),
    )


def _heaviest_unit(units: Units, load: Weights | None) -> int:
    weights = units.weights(load)
    return min(units.count, 1) if weights is None else int(weights.max(initial=0))


def _imbalance(heaviest: int, total: int, nparts: int) -> float:
    return float(Fraction(heaviest * nparts, total) - 1) if total else 0.0


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None


def _in_units(weight: Fraction, unit: float) -> float:
    try:
        return float(weight * Fraction(unit))
    except OverflowError:  # of an imbalance without measure
        return float("inf")
