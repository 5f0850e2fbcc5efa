"""What parts carry of the input (data, sets, periodic pairs), for all parts at once, at the cost of what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from meshpart import _core
from meshpart.arrays import Array, Ids, frozen, pieces, take_rows
from meshpart.mesh import Mesh, Periodic


class Places:
    """Where the entities of the input went: the local rows that parts hold of them.

    Parameters
    ----------
    global_ids : ndarray of int64
        The entities that the parts hold, part after part.
    offsets : ndarray of int64, (n_parts + 1,)
        Where each part begins.
    count : int
        How many entities the input has.
    """

    def __init__(self, global_ids: Ids, offsets: Ids, count: int) -> None:
        self.global_ids = global_ids
        self.offsets = offsets
        self._count = count
        self._held_by: tuple[Ids, Ids] | None = None

    def take(self, values: Array) -> list[Array]:
        """Return each part's rows of an array over the input's entities."""
        return pieces(np.take(values, self.global_ids, axis=0), self.offsets)

    def members(self, members: Ids) -> tuple[list[Ids], list[Ids]]:
        """Return each part's share of a set: local rows, and their positions in the set, in its order."""
        if self._held_by is None:
            self._held_by = _core.invert(self.global_ids, self._count)
        counts, places = take_rows(*self._held_by, members)
        positions = np.repeat(np.arange(len(members)), np.diff(counts))
        part = np.searchsorted(self.offsets, places, "right") - 1
        narrow = part.astype(np.min_scalar_type(len(self.offsets)))  # 16 bits are sorted in linear time
        by_part = np.argsort(narrow, kind="stable")
        bounds = np.searchsorted(part[by_part], np.arange(len(self.offsets)))
        return pieces((places - self.offsets[part])[by_part], bounds), pieces(positions[by_part], bounds)


def by_part(n_parts: int, named: Iterable[tuple[str, Sequence[Any]]]) -> list[Mapping[str, Any]]:
    """Turn values over parts, by name, into a mapping by name for each part."""
    result: list[dict[str, Any]] = [{} for _ in range(n_parts)]
    for name, values in named:
        for part, value in zip(result, values, strict=True):
            part[name] = value
    return [MappingProxyType(part) for part in result]


def per_block(n_parts: int, blocks: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Turn values over parts, by block, into values over blocks for each part."""
    return [tuple(block[part] for block in blocks) for part in range(n_parts)]


def point_data(mesh: Mesh, places: Places, n_parts: int) -> list[Mapping[str, Array]]:
    """Return each part's point_data."""
    return by_part(n_parts, ((name, places.take(values)) for name, values in mesh.point_data.items()))


def cell_data(mesh: Mesh, blocks: list[Places], n_parts: int) -> list[Mapping[str, Sequence[Array]]]:
    """Return each part's cell_data."""
    named = (
        (name, per_block(n_parts, [places.take(values) for places, values in zip(blocks, arrays, strict=True)]))
        for name, arrays in mesh.cell_data.items()
    )
    return by_part(n_parts, named)


def point_sets(mesh: Mesh, places: Places, n_parts: int) -> tuple[list[Mapping[str, Ids]], list[Mapping[str, Ids]]]:
    """Return each part's point_sets, and the positions of their entries in the input's."""
    rows, positions = {}, {}
    for name, members in mesh.point_sets.items():
        rows[name], positions[name] = places.members(members)
    return by_part(n_parts, rows.items()), by_part(n_parts, positions.items())


def cell_sets(
    mesh: Mesh, blocks: list[Places], n_parts: int
) -> tuple[list[Mapping[str, Sequence[Ids]]], list[Mapping[str, Sequence[Ids]]]]:
    """Return each part's cell_sets, and the positions of their entries in the input's."""
    rows, positions = {}, {}
    for name, sets in mesh.cell_sets.items():
        shares = [places.members(members) for places, members in zip(blocks, sets, strict=True)]
        rows[name] = per_block(n_parts, [share for share, _ in shares])
        positions[name] = per_block(n_parts, [found for _, found in shares])
    return by_part(n_parts, rows.items()), by_part(n_parts, positions.items())


def periodic(mesh: Mesh, points: Places, n_owned: Ids) -> tuple[list[tuple[Periodic, ...]], list[tuple[Ids, ...]]]:
    """Return the periodic pairs whose slave point each part owns, as global ids, and their positions in the input's.

    Parameters
    ----------
    mesh : Mesh
    points : Places
        In local order.
    n_owned : ndarray of int64, (n_parts,)
    """
    n_parts = len(n_owned)
    entries: list[list[Periodic]] = [[] for _ in range(n_parts)]
    positions: list[list[Ids]] = [[] for _ in range(n_parts)]
    if mesh.periodic:
        owner = np.full(mesh.n_points, n_parts)  # which of the parts
        for i, (first, count) in enumerate(zip(points.offsets.tolist(), n_owned.tolist(), strict=False)):
            owner[points.global_ids[first : first + count]] = i
    for entry in mesh.periodic:
        owner_of_slave = owner[entry.pairs[:, 0]]
        by_owner = np.argsort(owner_of_slave, kind="stable")
        bounds = np.searchsorted(owner_of_slave[by_owner], np.arange(n_parts + 1)).tolist()
        for i, (first, last) in enumerate(pairwise(bounds)):
            positions[i].append(frozen(by_owner[first:last]))
            entries[i].append(entry._replace(pairs=frozen(entry.pairs[by_owner[first:last]])))
    return [tuple(e) for e in entries], [tuple(r) for r in positions]
