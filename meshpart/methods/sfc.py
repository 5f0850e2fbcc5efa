"""Method `sfc`: a Hilbert curve through the centroids of the units, cut into consecutive pieces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from meshpart import _core
from meshpart.arrays import Labels, take_rows
from meshpart.mesh import TOP, Mesh
from meshpart.methods.problem import Problem

SAMPLE = 4096  # as many cells tell how the cells of a mesh are stretched
MARKED = 0.5  # an axis is drawn out where cells are less than this part of their longest extent along it


def sfc(problem: Problem) -> Labels:
    """Return labels whose parts are consecutive along a Hilbert curve.

    The heaviest piece is as light as it can be for that order, and no piece is empty; without weights their sizes
    differ by at most one. The curve has the dimension of the centroids' extent; see `hilbert_order` in the core. All
    axes have the same scale, except in meshes of markedly stretched cells; see `axis_scales`.

    Returns
    -------
    labels : ndarray of int32, (n_units,)
    """
    centroids = problem.centroids
    scales = axis_scales(problem.units.mesh)
    if np.any(scales != 1):
        centroids = centroids * scales
    order = _core.hilbert_order(centroids, problem.threads)
    along = np.zeros(0, np.int64) if problem.weights is None else problem.weights[order]
    cuts = _core.cut_chain(along, len(order), problem.nparts)
    labels = np.empty(len(order), np.int32)
    labels[order] = np.repeat(np.arange(problem.nparts, dtype=np.int32), np.diff(cuts))
    return labels


def axis_scales(mesh: Mesh) -> npt.NDArray[np.float64]:
    """Return by what to multiply each axis so that stretched cells become about as long on all of them.

    A cut through the long sides of flat cells crosses more facets than one of the same length through their short
    sides. Where cells that fill their space (solids, or faces in a plane of two axes) are, on average over a sample,
    less than half as long on an axis as on their longest one, the other axes are shrunk to make up for it. Cells nearer
    to isotropic, and curved surfaces, keep one scale: drawing those out was measured to cost, not to gain.

    Returns
    -------
    scales : ndarray of float64, (dim,), in (0, 1]
    """
    cells = np.flatnonzero(mesh.kinds == TOP)
    sample = cells[:: len(cells) // SAMPLE + 1]
    offsets, points = take_rows(mesh.cell_offsets, mesh.cell_points, sample)
    # Ids that have changed since they were checked are found by the core; halves, so that no extent overflows.
    halves = mesh.coordinates.take(points, axis=0, mode="clip") / 2
    extents = np.maximum.reduceat(halves, offsets[:-1]) - np.minimum.reduceat(halves, offsets[:-1])
    longest = extents.max(axis=1, keepdims=True)
    shares = np.divide(extents, longest, where=longest > 0, out=np.ones_like(extents)).mean(axis=0)
    if np.count_nonzero(shares) != mesh.dim:
        return np.ones(len(shares))
    shares[(shares >= MARKED) | (shares == 0)] = 1
    return np.asarray(shares.min() / shares)
