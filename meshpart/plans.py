"""The plans of several parts as one: whether they fit their maps and each other, and who is whose counterpart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from meshpart.arrays import Array, Ids, starts
from meshpart.errors import ArgumentError

if TYPE_CHECKING:
    from meshpart.halo import HaloPlan
    from meshpart.submesh import IndexMap

NO_ROW = np.array([-1, -1])  # neighbours that do not ascend, offsets that do not begin with 0


class Plans(NamedTuple):
    """The plans of several parts, part after part. A pair is a part with one of its neighbours."""

    numbers: Ids  # (n_parts,): of the parts
    n_owned: Ids  # (n_parts,)
    pair_offsets: Ids  # (n_parts + 1,): which pairs are those of each part
    neighbours: Ids  # (n_pairs,)
    send_offsets: Ids  # (n_pairs + 1,): the part of pair i sends send_indices[send_offsets[i]:send_offsets[i + 1]]
    send_indices: Ids  # local ids
    recv_offsets: Ids  # (n_pairs + 1,): the ghosts of all parts, one after another, by pair

    @property
    def parts(self) -> Ids:
        """Which of the parts that of each pair is."""
        return np.repeat(np.arange(len(self.numbers)), np.diff(self.pair_offsets))

    @property
    def first_ghosts(self) -> Ids:
        """The local id of the first ghost of each pair, whether it has any or not."""
        first_of_part = self.recv_offsets[self.pair_offsets[:-1]]
        return self.recv_offsets[:-1] + (self.n_owned - first_of_part)[self.parts]


def join_plans(entity: str, numbers: Sequence[int], maps: Sequence[IndexMap], plans: Sequence[HaloPlan]) -> Plans:
    """Return the plans of parts as one; raise ArgumentError for one that does not fit the map of its part."""
    n_owned, n_ghost = np.array([(ids.n_owned, ids.n_ghost) for ids in maps], np.int64).T
    neighbours, n_pairs = _joined([plan.neighbours for plan in plans])
    rows, n_sent = _joined([plan.send_indices for plan in plans])
    of_pair = np.repeat(np.arange(len(plans)), n_pairs)
    send_counts, unlike_sends = _counts([plan.send_offsets for plan in plans], n_pairs, of_pair, n_sent)
    recv_counts, unlike_receives = _counts([plan.recv_offsets for plan in plans], n_pairs, of_pair, n_ghost)
    misfits = unlike_sends | unlike_receives
    misfits[of_pair[neighbours == np.array(numbers)[of_pair]]] = True
    misfits[of_pair[1:][(neighbours[1:] <= neighbours[:-1]) & (of_pair[1:] == of_pair[:-1])]] = True
    if misfits.any():
        raise ArgumentError(f"the plan for the {entity} of part {numbers[int(misfits.argmax())]} does not fit its map")
    foreign = (rows < 0) | (rows >= np.repeat(n_owned, n_sent))
    if foreign.any():
        part = np.repeat(numbers, n_sent)[foreign.argmax()]
        raise ArgumentError(f"the plan for the {entity} of part {part} sends rows that the part does not own")
    return Plans(
        np.array(numbers), n_owned, starts(n_pairs), neighbours, starts(send_counts), rows, starts(recv_counts)
    )


def counterparts(entity: str, plans: Plans) -> Ids:
    """Return which pair is that of a pair's neighbour with its part, of all parts 0..n_parts-1 in any order.

    Raises
    ------
    ArgumentError
        If the neighbour does not know of the part, or expects another number of rows.
    """
    parts, neighbours = plans.numbers[plans.parts], plans.neighbours
    if len(parts) == 0:
        return parts
    known = (neighbours >= 0) & (neighbours < len(plans.numbers))
    pairs = np.where(known, parts * len(plans.numbers) + neighbours, -1)
    sought = np.where(known, neighbours * len(plans.numbers) + parts, -2)
    order = np.argsort(pairs)
    found = order[np.searchsorted(pairs, sought, sorter=order) % len(order)]
    misfits = (pairs[found] != sought) | (np.diff(plans.recv_offsets)[found] != np.diff(plans.send_offsets))
    if misfits.any():
        pair = misfits.argmax()
        raise ArgumentError(
            f"the plans of parts {parts[pair]} and {neighbours[pair]} for {entity} do not fit each other"
        )
    return found


def _counts(offsets: Sequence[Any], n_pairs: Ids, of_pair: Ids, totals: Ids) -> tuple[Ids, Array]:
    """Return the counts of pairs that the offsets of each part tell, and of which parts they cannot be."""
    flat, lengths = _joined(offsets)
    misfits = lengths != n_pairs + 1
    if misfits.any():
        return flat[:0], misfits
    lasts = np.cumsum(lengths) - 1
    misfits = (flat[lasts - n_pairs] != 0) | (flat[lasts] != totals)
    places = np.arange(len(of_pair)) + of_pair  # each part before has one entry more than pairs
    begins, ends = flat[places], flat[places + 1]
    misfits[of_pair[ends < begins]] = True
    return ends - begins, misfits


def _joined(rows: Sequence[Any]) -> tuple[Ids, Ids]:
    """Return rows of integers one after another, and the length of each."""
    arrays = [row if row.ndim == 1 and row.dtype.kind in "iu" else NO_ROW for row in map(np.asarray, rows)]
    return np.concatenate(arrays, dtype=np.int64, casting="unsafe"), np.array([len(array) for array in arrays])
