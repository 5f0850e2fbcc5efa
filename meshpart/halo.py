"""Halos: which rows a part sends to its neighbours and which it receives, and the exchange in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from meshpart import arguments
from meshpart.arrays import Array, Frozen, Ids, Labels, as_array, pieces, starts, take_rows
from meshpart.errors import ArgumentError
from meshpart.plans import Plans, counterparts, join_plans
from meshpart.whole import Part, check_all_there

if TYPE_CHECKING:
    from meshpart.submesh import IndexMap

# By entity, what a part calls its map and its plan.
ENTITIES = {"cells": ("cells", "cell_halo"), "points": ("points", "point_halo"), "vertices": ("vertices", "halo")}

OPERATIONS: dict[str, Callable[..., Any]] = {"sum": np.add, "min": np.minimum, "max": np.maximum}


@dataclass(frozen=True, eq=False)
class HaloPlan(Frozen):
    """Who sends what to whom, for the cells or the points of one part. It holds no buffers and no state.

    What is sent fills the ghosts of others: owned rows, chosen by `send_indices`. What is received fills the part's own
    ghosts, which lie in slices, one for each neighbour, since ghosts are ordered by owner. Both sides list the same
    entities in the same order, by ascending global id.

    Parameters
    ----------
    neighbours : ndarray of int32, (n_neighbours,)
        The parts that this one sends to or receives from, ascending. A slice may be empty.
    send_offsets : ndarray of int64, (n_neighbours + 1,)
        Neighbour i is sent the rows send_indices[send_offsets[i]:send_offsets[i + 1]].
    send_indices : ndarray of int64, (send_offsets[-1],)
        Local ids of owned entities.
    recv_offsets : ndarray of int64, (n_neighbours + 1,)
        Neighbour i owns the local rows n_owned + recv_offsets[i] : n_owned + recv_offsets[i + 1].
    """

    neighbours: Labels
    send_offsets: Ids
    send_indices: Ids
    recv_offsets: Ids

    def __repr__(self) -> str:
        return (
            f"<HaloPlan: {len(self.neighbours)} neighbours, "
            f"{len(self.send_indices)} rows sent, {int(self.recv_offsets[-1])} received>"
        )


def exchange(parts: Sequence[Part], owned_values: Sequence[npt.ArrayLike], entity: str | None = None) -> list[Array]:
    """Fill the ghosts of every part with what their owners have, all parts in one process.

    This is what an exchange between processes means. Who has the values of the whole mesh in one array gets the same
    from `values[part.cells.global_ids]`.

    Parameters
    ----------
    parts : sequence of SubMesh or SubGraph
        All parts of one decomposition, in any order.
    owned_values : sequence of array_like, (n_owned, ...)
        Of each part, in the order of `parts`, the values of its owned entities: any dtype and any trailing shape, the
        same for all.
    entity : str
        "cells" or "points" of sub-meshes. Of sub-graphs "vertices", which may be left out.

    Returns
    -------
    local_values : list of ndarray, (n_local, ...)
        Of each part, the owned values and then those of its ghosts, in new arrays of the same dtype.

    Raises
    ------
    ArgumentError
        If parts are missing, there twice, or of several decompositions; or values do not fit them or each other.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> parts = meshpart.split(mesh, [0, 1])
    >>> owned = [part.points.global_ids[: part.points.n_owned] * 10 for part in parts]
    >>> owned
    [array([ 0, 10, 30, 40]), array([20, 50])]
    >>> meshpart.exchange(parts, owned, "points")
    [array([ 0, 10, 30, 40]), array([20, 50, 10, 40])]
    """
    known, _, plans = _joined(parts, entity)
    values = _values("owned_values", owned_values, plans.numbers.tolist(), plans.n_owned.tolist())
    begins = starts(plans.n_owned)
    sent = plans.send_offsets[plans.pair_offsets]
    sent_rows = plans.send_indices + np.repeat(begins[:-1], np.diff(sent))
    _, ghosts = take_rows(plans.send_offsets, sent_rows, counterparts(known, plans))
    together = np.concatenate(values)
    result = []
    for own, rows in zip(values, pieces(ghosts, plans.recv_offsets[plans.pair_offsets]), strict=True):
        local = np.empty((len(own) + len(rows), *own.shape[1:]), own.dtype)
        local[: len(own)] = own
        together.take(rows, axis=0, out=local[len(own) :], mode="clip")  # they are there, and "raise" would copy
        result.append(local)
    return result


def reduce(
    parts: Sequence[Part], local_values: Sequence[npt.ArrayLike], entity: str | None = None, op: str = "sum"
) -> list[Array]:
    """Combine what every part has for its ghosts into their owners' values, all parts in one process.

    With "sum" it is the adjoint of `exchange`. The owner's value comes first, then those of its neighbours in ascending
    order, so that sums repeat bit for bit.

    Parameters
    ----------
    parts : sequence of SubMesh or SubGraph
        All parts of one decomposition, in any order.
    local_values : sequence of array_like, (n_local, ...)
        Of each part, in the order of `parts`, the values of its local entities: any trailing shape and any dtype that
        has the operation, the same for all.
    entity : str
        "cells" or "points" of sub-meshes. Of sub-graphs "vertices", which may be left out.
    op : str
        "sum", "min" or "max". As with NumPy's `+=` the values keep their dtype: integers wrap around, and the sum of
        bools is whether any is true. NaN makes a minimum or maximum NaN.

    Returns
    -------
    owned_values : list of ndarray, (n_owned, ...)
        In new arrays of the same dtype.

    Raises
    ------
    ArgumentError
        If parts are missing, there twice, or of several decompositions; or values do not fit them or each other, or
        their dtype does not have the operation.

    Examples
    --------
    How many cells are on each point, every cell counted by the part that owns it:

    >>> import numpy as np
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> parts = meshpart.split(mesh, [0, 1])
    >>> counts = [np.bincount(part.mesh.cell_points) for part in parts]
    >>> counts
    [array([1, 1, 1, 1]), array([1, 1, 1, 1])]
    >>> meshpart.reduce(parts, counts, "points")
    [array([1, 2, 1, 2]), array([1, 1])]
    """
    combine = OPERATIONS[arguments.one_of("op", op, OPERATIONS)]
    known, maps, plans = _joined(parts, entity)
    values = _values("local_values", local_values, plans.numbers.tolist(), [ids.n_local for ids in maps])
    _check_operation(op, values[0].dtype)
    there = counterparts(known, plans)
    holders, ghosts = plans.parts[there].tolist(), plans.first_ghosts[there].tolist()
    sends = plans.send_offsets.tolist()
    result = []
    for place, pairs in enumerate(pairwise(plans.pair_offsets.tolist())):
        total = values[place][: plans.n_owned[place]].copy()
        for pair in range(*pairs):
            rows = plans.send_indices[sends[pair] : sends[pair + 1]]
            theirs = values[holders[pair]][ghosts[pair] : ghosts[pair] + len(rows)]
            total[rows] = combine(total[rows], theirs)
        result.append(total)
    return result


# -- checks -------------------------------------------------------------------------------------------------


def _joined(parts: Sequence[Part], entity: str | None) -> tuple[str, list[IndexMap], Plans]:
    """Return the entity, and the maps and plans of parts, after checking that these are all of one decomposition."""
    parts = arguments.listed("parts", parts)
    if entity is None:
        entity = "vertices"
        if any(hasattr(given, "cell_halo") for given in parts):
            raise ArgumentError('entity must be "cells" or "points", it was not given')
    ids, plan = ENTITIES[arguments.one_of("entity", entity, ENTITIES)]
    for given in parts:
        if not hasattr(given, plan):
            raise ArgumentError(f"entity is {entity!r}, and a {type(given).__name__} has none")
    check_all_there(parts)
    maps = [getattr(given, ids) for given in parts]
    return entity, maps, join_plans(entity, [p.part for p in parts], maps, [getattr(given, plan) for given in parts])


def check_plan(entity: str, part: int, ids: IndexMap, plan: HaloPlan) -> None:
    """Refuse a plan that does not fit the map of its part."""
    join_plans(entity, [part], [ids], [plan])


def _values(what: str, values: Sequence[npt.ArrayLike], numbers: Sequence[int], lengths: Sequence[int]) -> list[Array]:
    """Return the values of each part as arrays, after checking that they fit the parts and each other."""
    given = arguments.listed(what, values, "arrays")
    if len(given) != len(numbers):
        raise ArgumentError(f"{what} must hold an array for each of {len(numbers)} parts, got {len(given)}")
    arrays: list[Array] = []
    for part, rows_given, length in zip(numbers, given, lengths, strict=True):
        rows = as_array(f"{what} of part {part}", rows_given, ArgumentError)
        arrays.append(rows)
        first = arrays[0]
        if rows.ndim == 0 or len(rows) != length:
            kind = "n_owned" if what.startswith("owned") else "n_local"
            raise ArgumentError(f"{what} of part {part} must have {kind} = {length} rows, got the shape {rows.shape}")
        if rows.dtype != first.dtype:
            raise ArgumentError(
                f"{what} must have one dtype, got {first.dtype} of part {numbers[0]} and {rows.dtype} of part {part}"
            )
        if rows.shape[1:] != first.shape[1:]:
            raise ArgumentError(
                f"{what} must have rows of one shape, got {first.shape[1:]} of part {numbers[0]} "
                f"and {rows.shape[1:]} of part {part}"
            )
    return arrays


def _check_operation(op: str, dtype: np.dtype[Any]) -> None:
    """Refuse an operation that a dtype does not have, or that gives another one."""
    none = np.empty(0, dtype)
    try:
        fits = np.can_cast(OPERATIONS[op](none, none).dtype, dtype, "equiv")
    except TypeError:
        fits = False
    if not fits:
        raise ArgumentError(f"local_values of the dtype {dtype} have no {op}")
