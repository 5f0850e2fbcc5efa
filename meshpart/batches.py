"""Build parts a few at a time, so that what is in memory at once is small beside the mesh, however many there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from meshpart.arrays import Labels
from meshpart.submesh import SubMesh

# A batch has about this share of the mesh's cells, ghosts included, or this many parts. So there are about as many as
# the parts are larger than it together, and each costs some looks at the mesh.
SHARE = 1 / 4
PARTS = 1024

GUESS = 16  # how many cells a part has for each that it owns, before that is known


def one_after_another(build: Callable[[Labels], list[SubMesh]], labels: Labels, nparts: int) -> Iterator[SubMesh]:
    """Yield all parts of a mesh.

    Parameters
    ----------
    build : callable
        Builds parts, given their numbers, which ascend.
    labels : ndarray of int32, (n_cells,), in 0..nparts - 1
    nparts : int
    """
    ends = np.cumsum(np.bincount(labels, minlength=nparts))
    most = max(PARTS, nparts // 64)  # the looks at the mesh stay few, even where each part has a cell or two
    per_owned, first = float(GUESS), 0
    while first < nparts:
        before = ends[first - 1] if first else 0
        fitting = int(np.searchsorted(ends, before + SHARE * len(labels) / per_owned, "right"))
        last = min(max(fitting, first + 1), first + most, nparts)
        batch = deque(build(np.arange(first, last, dtype=np.int32)))
        owned = sum(part.cells.n_owned for part in batch)
        if owned:
            per_owned = sum(part.cells.n_local for part in batch) / owned
        while batch:
            yield batch.popleft()
        first = last
