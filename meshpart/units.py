"""Units: what a method partitions. A unit is a top or free cell, or a group of them that must stay together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import _core
from meshpart.arrays import Array, Ids, Labels, frozen, kept, row_positions
from meshpart.errors import ArgumentError
from meshpart.graph import Graph, contract, with_vertex_weights
from meshpart.mesh import ATTACHED, Mesh
from meshpart.weights import Weights, cell_array, per_cell


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a mesh, numbered by their lowest cell.

    Parameters
    ----------
    mesh : Mesh
    of_cell : ndarray of int64, (n_cells,), or None
        The unit of each cell, -1 of an attached one. None where every cell is a unit.
    count : int
    """

    mesh: Mesh
    of_cell: Ids | None
    count: int

    @classmethod
    def of(cls, mesh: Mesh, keep_together: Any = None) -> Units:
        """Return the units of a mesh.

        Parameters
        ----------
        mesh : Mesh
        keep_together : None, array_like of int (n_cells,), str, or sequence of str
            Group numbers, -1 for none; or names, each of a cell set, which is a group, or of a cell_data array of group
            numbers. Groups that share a cell are one; a group that names an attached cell holds all its parents.
        """
        groups, cells = _memberships(mesh, keep_together)
        partitioned = mesh.kinds != ATTACHED
        if len(cells) == 0 and partitioned.all():
            return cls(mesh, None, mesh.n_cells)
        lowest = np.arange(mesh.n_cells)
        if len(cells):
            grouped, lowest_of = _join(mesh, groups, cells)
            lowest[grouped] = lowest_of
        is_lowest = partitioned & (lowest == np.arange(mesh.n_cells))
        numbers = np.cumsum(is_lowest) - 1
        return cls(mesh, np.where(partitioned, numbers[lowest], -1), int(is_lowest.sum()))

    @kept
    def cells(self) -> Ids:
        """The partitioned cells, ascending: int64."""
        return np.arange(self.mesh.n_cells) if self.of_cell is None else np.flatnonzero(self.of_cell >= 0)

    @property
    def grouped(self) -> bool:
        """Whether some unit has more than one cell."""
        return self.count < len(self.cells)

    def weights(self, weights: Weights | None) -> Ids | None:
        """Return the weight of each unit, int64 (count,), or None where all weigh the same."""
        if self.of_cell is None or (weights is None and not self.grouped):
            return None if weights is None else weights.values
        total = np.zeros(self.count, np.int64)
        np.add.at(total, self.of_cell[self.cells], 1 if weights is None else weights.values[self.cells])
        return frozen(total)

    def centroids(self, weights: Weights | None, threads: int) -> npt.NDArray[np.float64]:
        """Return where each unit is: float64, (count, dim).

        Of a cell the mean of its corner points, of a group the weighted mean of its cells, or the plain one where all
        its weights are 0.
        """
        of_cells = _core.centroids(self.mesh.flat, self.mesh.coordinates, threads)
        if self.of_cell is None:
            return of_cells
        of_cells = of_cells[self.cells]
        if not self.grouped:
            return of_cells
        unit = self.of_cell[self.cells]
        load = np.ones(len(unit)) if weights is None else weights.values[self.cells].astype(np.float64)
        load = np.where(np.bincount(unit, load)[unit] > 0, load, 1.0)
        share = load / np.bincount(unit, load)[unit]
        means = np.stack([np.bincount(unit, share * x, self.count) for x in of_cells.T], axis=1)
        largest = np.finfo(np.float64).max  # beyond which rounding may carry a mean
        return np.clip(means, -largest, largest)

    def graph(self, cells: Graph, weights: Ids | None) -> Graph:
        """Return the graph of the units from that of the cells: edges between two units merged, their weights added.

        Parameters
        ----------
        cells : Graph
            The dual graph of the mesh.
        weights : ndarray of int64, (count,), or None
            The weights of the units.
        """
        if self.of_cell is not None:
            return contract(cells, self.of_cell, self.count, weights)
        return cells if weights is None else with_vertex_weights(cells, weights)

    def expand(self, unit_labels: Labels) -> Labels:
        """Return the label of every cell from those of the units: int32, (n_cells,)."""
        if self.of_cell is None:
            return unit_labels
        labels = np.zeros(self.mesh.n_cells, np.int32)
        labels[self.cells] = unit_labels[self.of_cell[self.cells]]
        attachment = self.mesh.attachment
        return _core.label_attached(
            attachment.cells, attachment.rows, attachment.parent_offsets, attachment.parents, labels
        )


def _memberships(mesh: Mesh, keep_together: Any) -> tuple[Ids, Ids]:
    """Return (group, cell) pairs."""
    if keep_together is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if (names := as_names(keep_together)) is None:
        return _array_memberships(mesh, per_cell(mesh, "keep_together", keep_together))
    groups, cells, count = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for name in names:
        own_groups, own_cells = _named_memberships(mesh, name)
        groups.append(own_groups + count)
        cells.append(own_cells)
        count += int(own_groups.max(initial=-1)) + 1
    return np.concatenate(groups), np.concatenate(cells)


def as_names(given: Any) -> list[str] | None:
    """Return the names that are given: one, or any collection of them; None for anything else."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, np.ndarray):
        given = given.tolist() if given.dtype.kind in "UO" else [0]
    if isinstance(given, list | tuple | set | frozenset) and all(isinstance(name, str) for name in given):
        return sorted(given) if isinstance(given, set | frozenset) else list(given)
    return None


def _named_memberships(mesh: Mesh, name: str) -> tuple[Ids, Ids]:
    if name in mesh.cell_data and name in mesh.cell_sets:
        raise ArgumentError(f"keep_together: {name!r} is a cell_data array and a cell set")
    if name in mesh.cell_data:
        return _array_memberships(mesh, cell_array(mesh, "keep_together", name))
    if name in mesh.cell_sets:
        cells = mesh.cells_of_set(name)
        return np.zeros_like(cells), cells
    known = ", ".join(map(repr, [*mesh.cell_sets, *mesh.cell_data])) or "none"
    raise ArgumentError(f"keep_together: there is no cell set or cell_data array {name!r} (there is: {known})")


def _array_memberships(mesh: Mesh, groups: Array) -> tuple[Ids, Ids]:
    if groups.dtype.kind not in "iu" and groups.size > 0:
        raise ArgumentError(f"keep_together must hold integers, got the dtype {groups.dtype}")
    if groups.shape != (mesh.n_cells,):
        raise ArgumentError(f"keep_together must have the shape ({mesh.n_cells},), got {groups.shape}")
    if groups.size and groups.min() < -1:
        raise ArgumentError(f"keep_together: a group number is -1 for none, or not negative, got {groups.min()}")
    cells = np.flatnonzero(groups != -1)
    return np.unique(groups[cells], return_inverse=True)[1].astype(np.int64), cells


def _join(mesh: Mesh, groups: Ids, cells: Ids) -> tuple[Ids, Ids]:
    """Return the partitioned cells of all groups, and for each the lowest cell that it is joined with.

    An attached cell stands for its parents. Cells that share a row of parents share a node of the graph, so that each
    row is gone through once, however many groups name it.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    attachment = mesh.attachment
    node_of = np.arange(mesh.n_cells)  # cells, then rows of parents, then groups
    node_of[attachment.cells] = mesh.n_cells + attachment.rows
    ends = [mesh.n_cells + len(attachment.parent_offsets) - 1 + groups]
    nodes = [node_of[cells]]
    rows = np.unique(attachment.rows[np.isin(attachment.cells, cells)])
    while len(rows):  # parents are attached cells only where there is nothing else
        offsets, entries = row_positions(attachment.parent_offsets, rows)
        ends.append(np.repeat(mesh.n_cells + rows, np.diff(offsets)))
        nodes.append(node_of[attachment.parents[entries]])
        rows = np.unique(nodes[-1][nodes[-1] >= mesh.n_cells]) - mesh.n_cells
    named, pairs = np.unique(np.concatenate([*ends, *nodes]), return_inverse=True)
    first, second = pairs.reshape(2, -1)
    graph = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(len(named), len(named)))
    component = connected_components(graph, directed=False)[1][named < mesh.n_cells]
    members = named[named < mesh.n_cells]
    lowest = np.full(component.max(initial=-1) + 1, mesh.n_cells)
    np.minimum.at(lowest, component, members)
    return members, lowest[component]
