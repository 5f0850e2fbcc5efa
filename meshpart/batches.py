"""Build parts a few at a time, so that what is in memory at once is small, or small beside the mesh."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from math import ceil

import numpy as np

from meshpart.arrays import Labels
from meshpart.mesh import Mesh
from meshpart.submesh import SubMesh

# A batch has about this share of the mesh's cells, ghosts included, or so many bytes of points, cells and data, if that
# is more; and no more parts than that. So there are few batches, each of which costs some looks at the mesh.
SHARE = 1 / 4
BYTES = 2**28
PARTS = 1024

GUESS = 16  # how many cells a part has for each that it owns, at most, before that is known
FIRST = 1 / 64  # of the cells are owned by the first batch, which tells it, where such parts would not fit one batch


def room_beside(mesh: Mesh) -> float:
    """Return how many cells a batch of the parts of a mesh may have, ghosts included."""
    arrays = [mesh.points, *mesh.point_data.values(), *(block.nodes for block in mesh.blocks)]
    for by_block in mesh.cell_data.values():
        arrays += by_block
    per_cell = sum(array.nbytes for array in arrays) / max(mesh.n_cells, 1)
    return max(SHARE * mesh.n_cells, BYTES / max(per_cell, 1))


def one_after_another(
    build: Callable[[Labels], list[SubMesh]], labels: Labels, nparts: int, room: float
) -> Iterator[SubMesh]:
    """Yield all parts of a mesh.

    Parameters
    ----------
    build : callable
        Builds parts, given their numbers, which ascend.
    labels : ndarray of int32, (n_cells,), in 0..nparts - 1
    nparts : int
    room : float
        How many cells a batch may have, ghosts included.
    """
    ends = np.cumsum(np.bincount(labels, minlength=nparts))
    most = max(PARTS, nparts // 64)  # the looks at the mesh stay few, even where each part has a cell or two
    may_own = len(labels) * (1 if GUESS * len(labels) <= room else FIRST)
    first = before = 0  # how many parts were built, and how many cells they own
    while first < nparts:
        fitting = int(np.searchsorted(ends, before + may_own, "right"))
        last = min(max(fitting, first + 1), first + most, nparts)
        batch = deque(build(np.arange(first, last, dtype=np.int32)))
        first, before = last, int(ends[last - 1])
        owned = sum(part.cells.n_owned for part in batch)
        if owned:
            left = len(labels) - before
            more = ceil(left * sum(part.cells.n_local for part in batch) / owned / room)
            may_own = left / max(more, 1)  # so many more batches, of the same size
        while batch:
            yield batch.popleft()
