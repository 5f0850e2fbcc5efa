"""What parts carry of the input (data, sets, periodic pairs), for all parts at once, at the cost of what they hold."""

from __future__ import annotations

from collections.abc import Iterable
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
        """Return each part's share of a set: local rows, and which entries of the set they are, in its order."""
        if self._held_by is None:
            self._held_by = _core.invert(self.global_ids, self._count)
        counts, places = take_rows(*self._held_by, members)
        ranks = np.repeat(np.arange(len(members)), np.diff(counts))
        part = np.searchsorted(self.offsets, places, "right") - 1
        by_part = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[by_part], np.arange(len(self.offsets)))
        return pieces((places - self.offsets[part])[by_part], bounds), pieces(ranks[by_part], bounds)


def by_part(n_parts: int, named: Iterable[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    """Turn lists over parts, by name, into a dict by name for each part."""
    result: list[dict[str, Any]] = [{} for _ in range(n_parts)]
    for name, values in named:
        for part, value in zip(result, values, strict=True):
            part[name] = value
    return result


def per_block(n_parts: int, blocks: list[list[Any]]) -> list[list[Any]]:
    """Turn lists over parts, by block, into a list over blocks for each part."""
    return [[block[part] for block in blocks] for part in range(n_parts)]


def point_data(mesh: Mesh, places: Places, n_parts: int) -> list[dict[str, Array]]:
    """Return each part's point_data."""
    return by_part(n_parts, ((name, places.take(values)) for name, values in mesh.point_data.items()))


def cell_data(mesh: Mesh, blocks: list[Places], n_parts: int) -> list[dict[str, list[Array]]]:
    """Return each part's cell_data."""
    named = (
        (name, per_block(n_parts, [places.take(v) for places, v in zip(blocks, arrays, strict=True)]))
        for name, arrays in mesh.cell_data.items()
    )
    return by_part(n_parts, named)


def point_sets(mesh: Mesh, places: Places, n_parts: int) -> tuple[list[dict[str, Ids]], list[dict[str, Ids]]]:
    """Return each part's point_sets, and their ranks in the input's."""
    shared = {name: places.members(members) for name, members in mesh.point_sets.items()}
    rows = by_part(n_parts, ((name, rows) for name, (rows, _) in shared.items()))
    return rows, by_part(n_parts, ((name, ranks) for name, (_, ranks) in shared.items()))


def cell_sets(
    mesh: Mesh, blocks: list[Places], n_parts: int
) -> tuple[list[dict[str, list[Ids]]], list[dict[str, list[Ids]]]]:
    """Return each part's cell_sets, and their ranks in the input's."""
    shared = {
        name: [places.members(members) for places, members in zip(blocks, sets, strict=True)]
        for name, sets in mesh.cell_sets.items()
    }
    rows = by_part(n_parts, ((n, per_block(n_parts, [rows for rows, _ in s])) for n, s in shared.items()))
    return rows, by_part(n_parts, ((n, per_block(n_parts, [ranks for _, ranks in s])) for n, s in shared.items()))


def periodic(mesh: Mesh, owners: Array, parts: Array) -> tuple[list[tuple[Periodic, ...]], list[tuple[Ids, ...]]]:
    """Return the periodic pairs whose slave point each part owns, as global ids, and their ranks in the input's."""
    entries: list[list[Periodic]] = [[] for _ in parts]
    ranks: list[list[Ids]] = [[] for _ in parts]
    for entry in mesh.periodic:
        owner = owners[entry.pairs[:, 0]]
        by_owner = np.argsort(owner, kind="stable")
        first = np.searchsorted(owner[by_owner], parts, "left").tolist()
        last = np.searchsorted(owner[by_owner], parts, "right").tolist()
        for i, (a, b) in enumerate(zip(first, last, strict=True)):
            ranks[i].append(frozen(by_owner[a:b]))
            entries[i].append(entry._replace(pairs=frozen(entry.pairs[by_owner[a:b]])))
    return [tuple(e) for e in entries], [tuple(r) for r in ranks]
