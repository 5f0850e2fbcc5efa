"""The weights of cells: from an array, the name of one, or a dict by cell type or cell set, to exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from meshpart import _core
from meshpart.arrays import Array, Ids, Labels, as_array, frozen
from meshpart.cells import cell_type
from meshpart.errors import ArgumentError, MeshError
from meshpart.mesh import ATTACHED, Mesh

LARGEST_SUM = 2**62


class Weights(NamedTuple):
    """Weights of cells as integers without a common factor, 0 on attached cells."""

    values: Ids  # (n_cells,)
    unit: float  # what a weight of 1 stands for in the caller's units


def cell_weights(mesh: Mesh, weights: Any) -> Weights | None:
    """Return the weights of a mesh's cells as `exact_weights` does, None where they all weigh the same."""
    exact = exact_weights(mesh, weights)
    return exact if exact is not None and np.any(exact.values != exact.values[:1]) else None


def exact_weights(mesh: Mesh, weights: Any) -> Weights | None:
    """Return the weights of a mesh's cells, None where none are given or there are no cells.

    Parameters
    ----------
    mesh : Mesh
    weights : None, array_like (n_cells,), sequence of arrays, str, or mapping of str to number
        An array, one array for each block, the name of a cell_data array, or a dict by cell type or cell set: cells
        that it does not name weigh 1, and a set beats a type. Weights given for attached cells are ignored.

    Raises
    ------
    ArgumentError
        If the length is wrong, a weight is negative, NaN or infinite, all are zero, or a name is unknown.
    """
    if weights is None:
        return None
    if isinstance(weights, str):
        given = cell_array(mesh, "weights", weights)
    elif isinstance(weights, Mapping):
        given = _by_name(mesh, weights)
    else:
        given = per_cell(mesh, "weights", weights)
    if given.dtype.kind not in "biuf":
        raise ArgumentError(f"weights must be real numbers, got the dtype {given.dtype}")
    if given.shape != (mesh.n_cells,):
        raise ArgumentError(f"weights must have the shape ({mesh.n_cells},), got {given.shape}")
    if given.dtype.kind == "f":
        positive = given > 0
        with np.errstate(over="ignore", under="ignore"):  # what is too large for float64 is refused as infinite
            given = given.astype(np.float64)
        given[positive & (given == 0)] = np.nextafter(0.0, 1.0)  # what is too small stays positive
    given = np.where(mesh.kinds == ATTACHED, given.dtype.type(0), given) if np.any(mesh.kinds == ATTACHED) else given
    _check(given)
    return _as_integers(given) if len(given) else None


def summed(values: Ids | None, labels: Labels, nparts: int) -> Ids:
    """Return the sum of integers for each label, exact as bincount's floats are not: int64, (nparts,); None is ones."""
    if values is None:
        return np.bincount(labels, minlength=nparts)
    sums = np.zeros(nparts, np.int64)
    np.add.at(sums, labels, values)
    return sums


def per_cell(mesh: Mesh, argument: str, values: Any) -> Array:
    """Return an array over all cells, also where one is given for each block, as cell_data has them."""
    if isinstance(values, list | tuple) and values and all(isinstance(entry, np.ndarray) for entry in values):
        if [entry.shape for entry in values] != [(len(block),) for block in mesh.blocks]:
            given = ", ".join(str(entry.shape) for entry in values)
            raise ArgumentError(f"{argument}: arrays for each block must be as long as the block, got {given}")
        return np.concatenate(values)
    return as_array(argument, values, ArgumentError)


def cell_array(mesh: Mesh, argument: str, name: str) -> Array:
    """Return a cell_data array over all blocks: (n_cells, ...)."""
    if name not in mesh.cell_data:
        known = ", ".join(map(repr, mesh.cell_data)) or "none"
        raise ArgumentError(f"{argument}: there is no cell_data array {name!r} (there is: {known})")
    arrays = mesh.cell_data[name]
    if len({values.shape[1:] for values in arrays}) > 1:
        raise ArgumentError(f"{argument}: the cell_data array {name!r} has different shapes in different blocks")
    return np.concatenate(arrays) if arrays else np.zeros(0)


def _by_name(mesh: Mesh, weights: Mapping[Any, Any]) -> Array:
    result = np.ones(mesh.n_cells)
    by_set = np.full(mesh.n_cells, np.nan)
    for name, weight in weights.items():
        value = as_array(f"weights[{name!r}]", weight, ArgumentError)
        if value.shape != () or value.dtype.kind not in "biuf":
            raise ArgumentError(f"weights[{name!r}] must be a number, got {weight!r}")
        if not 0 <= value < np.inf:
            raise ArgumentError(f"weights[{name!r}] must be finite and not negative, got {weight!r}")
        if name in mesh.cell_sets:
            cells = mesh.cells_of_set(name)
            clash = cells[~np.isnan(by_set[cells]) & (by_set[cells] != value)]
            if len(clash):
                raise ArgumentError(f"weights: cell {clash[0]} is in two sets of different weight, one is {name!r}")
            by_set[cells] = value
        else:
            _require_type(mesh, name)
            for number, block in enumerate(mesh.blocks):
                if block.type == name:
                    result[mesh.block_starts[number] : mesh.block_starts[number + 1]] = value
    return np.where(np.isnan(by_set), result, by_set)


def _require_type(mesh: Mesh, name: Any) -> None:
    try:
        cell_type(name)
    except (MeshError, AttributeError, TypeError):
        known = ", ".join(map(repr, {block.type: 0 for block in mesh.blocks} | dict(mesh.cell_sets)))
        raise ArgumentError(f"weights: {name!r} is no cell type and no cell set (there is: {known})") from None


def _check(given: Array) -> None:
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if len(wrong):
        raise ArgumentError(f"weights must be finite and not negative, entry {wrong[0]} is {given[wrong[0]]}")
    if len(given) and not np.any(given > 0):
        raise ArgumentError("weights: all are zero on top and free cells, at least one must be positive")


def _as_integers(given: Array) -> Weights:
    factor = 1
    if given.dtype.kind in "biu":
        exact = given.astype(np.uint64)
        factor = int(np.gcd.reduce(exact))
        given = exact // np.uint64(factor)
        if np.sum(given, dtype=np.float64) < LARGEST_SUM / 2:
            return Weights(frozen(given.astype(np.int64)), float(factor))
    values, unit = _core.integer_weights(np.ascontiguousarray(given, np.float64))
    return Weights(frozen(values), unit * factor)
