"""Halos: which rows a part sends to its neighbours and which it receives, and the exchange in one process."""

from __future__ import annotations

from dataclasses import dataclass

from meshpart.arrays import Frozen, Ids, Labels


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
