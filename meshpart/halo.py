"""Halos: which rows a part sends to its neighbours and which it receives, and the exchange in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from meshpart import arguments
from meshpart.arrays import Array, Frozen, Ids, Labels, as_array
from meshpart.errors import ArgumentError
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
    sides = _sides(parts, entity)
    values = _values("owned_values", owned_values, sides, [side.ids.n_owned for side in sides])
    at = {side.part: number for number, side in enumerate(sides)}
    result = []
    for side, own in zip(sides, values, strict=True):
        local = np.empty((side.ids.n_local, *own.shape[1:]), own.dtype)
        local[: side.ids.n_owned] = own
        for neighbour in side.places:
            other = at[neighbour]
            local[side.received_from(neighbour)] = values[other][sides[other].sent_to(side.part)]
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
    sides = _sides(parts, entity)
    values = _values("local_values", local_values, sides, [side.ids.n_local for side in sides])
    _check_operation(op, values[0].dtype)
    at = {side.part: number for number, side in enumerate(sides)}
    result = []
    for side, local in zip(sides, values, strict=True):
        total = local[: side.ids.n_owned].copy()
        for neighbour in side.places:
            other, rows = at[neighbour], side.sent_to(neighbour)
            total[rows] = combine(total[rows], values[other][sides[other].received_from(side.part)])
        result.append(total)
    return result


# -- one part's side of an exchange -------------------------------------------------------------------------


class _Side(NamedTuple):
    """The map and the plan of one part, for the entity of an exchange; what is asked for each neighbour, as lists."""

    part: int
    ids: IndexMap
    plan: HaloPlan
    places: dict[int, int]  # of each neighbour, among them
    send_offsets: list[int]
    recv_offsets: list[int]

    @classmethod
    def of(cls, part: int, ids: IndexMap, plan: HaloPlan) -> _Side:
        """Return a side, of a plan that fits the map."""
        neighbours, sends, receives = (
            np.asarray(column).tolist() for column in (plan.neighbours, plan.send_offsets, plan.recv_offsets)
        )
        return cls(part, ids, plan, {number: place for place, number in enumerate(neighbours)}, sends, receives)

    def sent_to(self, neighbour: int) -> Ids:
        """Return the owned rows that a neighbour has as ghosts."""
        place = self.places[neighbour]
        return self.plan.send_indices[self.send_offsets[place] : self.send_offsets[place + 1]]

    def received_from(self, neighbour: int) -> slice:
        """Return the rows of the ghosts that a neighbour owns."""
        place = self.places[neighbour]
        return slice(self.ids.n_owned + self.recv_offsets[place], self.ids.n_owned + self.recv_offsets[place + 1])

    def n_received_from(self, neighbour: int) -> int | None:
        """Return how many ghosts a neighbour owns; None if it is none."""
        place = self.places.get(neighbour)
        return None if place is None else self.recv_offsets[place + 1] - self.recv_offsets[place]


# -- checks -------------------------------------------------------------------------------------------------


def _sides(parts: Sequence[Part], entity: str | None) -> list[_Side]:
    """Return each part's side, after checking that the parts are all of one decomposition and have the entity."""
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
    for given in parts:
        check_plan(entity, given.part, getattr(given, ids), getattr(given, plan))
    sides = [_Side.of(given.part, getattr(given, ids), getattr(given, plan)) for given in parts]
    _check_plans(sides, entity)
    return sides


def check_plan(entity: str, part: int, ids: IndexMap, plan: HaloPlan) -> None:
    """Refuse a plan that does not fit the map of its part."""
    neighbours = np.asarray(plan.neighbours).tolist()
    ascending = all(first < second for first, second in pairwise(neighbours))
    bounds = [np.asarray(offsets).tolist() for offsets in (plan.send_offsets, plan.recv_offsets)]
    fits = (
        ascending
        and part not in neighbours
        and all(
            len(offsets) == len(neighbours) + 1 and offsets[0] == 0 and offsets == sorted(offsets) for offsets in bounds
        )
    )
    rows = np.asarray(plan.send_indices)
    if not fits or (bounds[0][-1], bounds[1][-1]) != (len(rows), ids.n_ghost):
        raise ArgumentError(f"the plan for the {entity} of part {part} does not fit its map")
    if rows.size and not 0 <= rows.min() <= rows.max() < ids.n_owned:
        raise ArgumentError(f"the plan for the {entity} of part {part} sends rows that the part does not own")


def _check_plans(sides: Sequence[_Side], entity: str) -> None:
    """Refuse plans that do not fit each other."""
    at = {side.part: side for side in sides}
    for side in sides:
        for neighbour, place in side.places.items():
            other = at.get(neighbour)
            expected = None if other is None else other.n_received_from(side.part)
            if expected != side.send_offsets[place + 1] - side.send_offsets[place]:
                raise ArgumentError(
                    f"the plans of parts {side.part} and {neighbour} for {entity} do not fit each other"
                )


def _values(what: str, values: Sequence[npt.ArrayLike], sides: Sequence[_Side], lengths: Sequence[int]) -> list[Array]:
    """Return the values of each part as arrays, after checking that they fit the parts and each other."""
    given = arguments.listed(what, values, "arrays")
    if len(given) != len(sides):
        raise ArgumentError(f"{what} must hold an array for each of {len(sides)} parts, got {len(given)}")
    arrays: list[Array] = []
    for side, rows_given, length in zip(sides, given, lengths, strict=True):
        rows = as_array(f"{what} of part {side.part}", rows_given, ArgumentError)
        arrays.append(rows)
        first = arrays[0]
        if rows.ndim == 0 or len(rows) != length:
            kind = "n_owned" if what.startswith("owned") else "n_local"
            raise ArgumentError(
                f"{what} of part {side.part} must have {kind} = {length} rows, got the shape {rows.shape}"
            )
        if rows.dtype != first.dtype:
            raise ArgumentError(
                f"{what} must have one dtype, got {first.dtype} of part {sides[0].part} "
                f"and {rows.dtype} of part {side.part}"
            )
        if rows.shape[1:] != first.shape[1:]:
            raise ArgumentError(
                f"{what} must have rows of one shape, got {first.shape[1:]} of part {sides[0].part} "
                f"and {rows.shape[1:]} of part {side.part}"
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
