"""Method `sfc`: a Hilbert curve through the centroids of the units, cut into consecutive pieces."""

from __future__ import annotations

import numpy as np

from meshpart import _core
from meshpart.methods.problem import Problem, UnitLabels


def sfc(problem: Problem) -> UnitLabels:
    """Return labels whose parts are consecutive along a Hilbert curve.

    The heaviest piece is as light as it can be for that order, and no piece is empty; without weights their sizes
    differ by at most one. The curve has the dimension of the centroids' extent; see `hilbert_order` in the core.

    Returns
    -------
    labels : ndarray of int32, (n_units,)
    """
    order = _core.hilbert_order(problem.centroids, problem.threads)
    along = np.zeros(0, np.int64) if problem.weights is None else problem.weights[order]
    cuts = _core.cut_chain(along, len(order), problem.nparts)
    labels = np.empty(len(order), np.int32)
    labels[order] = np.repeat(np.arange(problem.nparts, dtype=np.int32), np.diff(cuts))
    return labels
