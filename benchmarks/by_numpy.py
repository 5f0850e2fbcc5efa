"""What the kernels of speed.py find, found with NumPy and SciPy as one would write it down; for tets alone."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from found import in_any_order
from inputs import Case, Labels
from ours import Job, owned_values
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

Ids = npt.NDArray[np.int64]


# -- a mesh and its graphs ----------------------------------------------------------------------------------


def taking_over(case: Case) -> Job:
    """Copy the arrays and look whether all points are there."""
    points, tets = case.tets()
    return Job(partial(_taken_over, points, tets))


def _taken_over(points: Any, tets: Ids) -> tuple[Any, Ids]:
    if tets.min() < 0 or tets.max() >= len(points):
        raise ValueError("there is no such point")
    return points.astype(np.float64), tets.astype(np.int64)


def dual_graph(case: Case) -> Job:
    """Sort all facets."""
    _, tets = case.tets()
    return Job(partial(dual_rows, tets))


def dual_rows(tets: Ids) -> Any:
    """Return the dual graph as SciPy's rows."""
    facets = np.sort(tets[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3), axis=1)
    order = np.lexsort(facets.T[::-1])
    same = np.flatnonzero((facets[order[1:]] == facets[order[:-1]]).all(axis=1))
    return _rows_of(order[same] // 4, order[same + 1] // 4, len(tets))


def point_graph(case: Case) -> Job:
    """Find the unique edges."""
    points, tets = case.tets()
    return Job(lambda: _rows_of(*edges_of(tets, len(points)), len(points)))


def edges_of(tets: Ids, n_points: int) -> tuple[Ids, Ids]:
    """Return the ends of each edge, once, the lower one first."""
    ends = np.sort(tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2), axis=1)
    return np.divmod(np.unique(ends[:, 0] * n_points + ends[:, 1]), n_points)


def cells_sharing_points(case: Case) -> Job:
    """Multiply the incidence matrix with its transpose."""
    points, tets = case.tets()

    def call() -> Any:
        incidence = _incidence(tets, len(points))
        product = incidence @ incidence.T
        product.setdiag(0)
        product.eliminate_zeros()
        return product

    return Job(call)


def _rows_of(first: Ids, second: Ids, count: int) -> Any:
    """Return SciPy's rows of edges, each given once."""
    ends = np.append(first, second), np.append(second, first)
    rows = csr_array((np.ones(2 * len(first), np.int8), ends), shape=(count, count))
    rows.sort_indices()
    return rows


def _incidence(tets: Ids, n_points: int) -> Any:
    """Return the matrix of cells by points."""
    offsets = np.arange(0, tets.size + 1, 4)
    return csr_array((np.ones(tets.size, np.int32), tets.ravel(), offsets), shape=(len(tets), n_points))


# -- who sends what to whom ---------------------------------------------------------------------------------


class Plan(NamedTuple):
    """The sends of all parts: those of sender s to receiver r are consecutive, ids ascending."""

    senders: Ids
    receivers: Ids
    global_ids: Ids
    local_ids: Ids  # among what the sender owns
    starts: Ids  # where a pair of parts begins


def plans(case: Case) -> Job:
    """Find the ghosts of one layer, who owns which point, and the sends of cells and points."""
    points, tets = case.tets()
    return Job(partial(_plans, tets, len(points), case.labels(), case.nparts))


def _plans(tets: Ids, n_points: int, labels: Labels, nparts: int) -> tuple[Plan, Plan]:
    ghosts, receivers = ghosts_of(tets, n_points, labels, nparts)
    owners = owners_of_points(tets, labels, nparts)
    holders, cells = np.append(labels, receivers), np.append(np.arange(len(tets)), ghosts)
    parts, points = np.divmod(np.unique((holders[:, None] * n_points + tets[cells]).ravel()), n_points)
    foreign = owners[points] != parts
    return (
        _plan(labels, ghosts, receivers, nparts),
        _plan(owners, points[foreign], parts[foreign], nparts),
    )


def ghosts_of(tets: Ids, n_points: int, labels: Labels, nparts: int) -> tuple[Ids, Ids]:
    """Return the ghosts of one layer: cells, and the parts that have them."""
    incidence = _incidence(tets, n_points)
    membership = csr_array((np.ones(len(tets), np.int32), labels, np.arange(len(tets) + 1)), shape=(len(tets), nparts))
    cells, parts = (incidence @ (incidence.T @ membership)).nonzero()
    foreign = labels[cells] != parts
    return cells[foreign].astype(np.int64), parts[foreign].astype(np.int64)


def owners_of_points(tets: Ids, labels: Labels, nparts: int) -> Ids:
    """Return the part that has most of the cells on each point, the lowest on a tie; all points are used."""
    keys, counts = np.unique(tets.ravel() * nparts + np.repeat(labels, 4), return_counts=True)
    points, parts = np.divmod(keys, nparts)
    order = np.lexsort((parts, -counts, points))
    first = np.flatnonzero(np.diff(points[order], prepend=-1))
    return parts[order[first]]


def _plan(owners: Any, ids: Ids, receivers: Ids, nparts: int) -> Plan:
    """Order what is sent by sender, receiver and id, and number it as the sender does."""
    senders = owners[ids].astype(np.int64)
    order = np.lexsort((ids, receivers, senders))
    senders, receivers, ids = senders[order], receivers[order], ids[order]
    by_owner = np.argsort(owners, kind="stable")
    local = np.empty(len(owners), np.int64)
    local[by_owner] = np.arange(len(owners)) - np.searchsorted(owners[by_owner], owners[by_owner])
    _, starts = np.unique(senders * nparts + receivers, return_index=True)
    return Plan(senders, receivers, ids, local[ids], starts)


def sends(_: Case, plans: tuple[Plan, Plan]) -> tuple[Any, Any]:
    """Return the hash that `found.sends` gives of parts."""
    return tuple(in_any_order(plan.senders, plan.receivers, plan.global_ids) for plan in plans)


class Edges(NamedTuple):
    """Edges in one part, by local ids."""

    senders: Ids
    receivers: Ids


def local_graphs(case: Case) -> Job:
    """Find the unique edges of each part, and keep those into owned points."""
    parts = case.split()
    return Job(lambda: [_into_owned(part) for part in parts])


def _into_owned(part: Any) -> Edges:
    first, second = edges_of(part.mesh.blocks[0].nodes, part.points.n_local)
    senders, receivers = np.append(first, second), np.append(second, first)
    kept = receivers < part.points.n_owned
    return Edges(senders[kept], receivers[kept])


def exchange(case: Case) -> Job:
    """Take the local rows of all parts from an array of the whole mesh."""
    parts = case.split()
    owned = owned_values(parts)
    field = np.empty((parts[0].points.n_global, 8))
    for part, rows in zip(parts, owned, strict=True):
        field[part.points.global_ids[: part.points.n_owned]] = rows
    return Job(lambda: [field[part.points.global_ids] for part in parts])


# -- counting ------------------------------------------------------------------------------------------------


def quality(case: Case) -> Job:
    """Count again what the quality report has."""
    points, tets = case.tets()
    return Job(partial(_quality, tets, len(points), case.labels(), case.nparts))


class Recount(NamedTuple):
    """The numbers of a quality report."""

    edge_cut: int
    communication_volume: int
    shared_points: int
    part_cells: Ids
    part_points: Ids
    part_ghosts: Ids
    part_neighbours: Ids
    part_components: Ids


def _quality(tets: Ids, n_points: int, labels: Labels, nparts: int) -> Recount:
    rows = dual_rows(tets)
    within = rows.tocoo()
    same = labels[within.row] == labels[within.col]
    pieces = coo_array((within.data[same], (within.row[same], within.col[same])), shape=rows.shape)
    n_pieces, piece = connected_components(pieces, directed=False)
    part_of_piece = np.empty(n_pieces, np.int64)
    part_of_piece[piece] = labels
    on_points = np.unique(tets.ravel() * nparts + np.repeat(labels, 4)) // nparts
    ghosts, receivers = ghosts_of(tets, n_points, labels, nparts)
    meet = np.unique(receivers * nparts + labels[ghosts]) // nparts
    return Recount(
        *cut_and_volume(rows.indptr, rows.indices, labels, nparts),
        int(np.count_nonzero(np.bincount(on_points) > 1)),
        np.bincount(labels, minlength=nparts),
        np.bincount(owners_of_points(tets, labels, nparts), minlength=nparts),
        np.bincount(receivers, minlength=nparts),
        np.bincount(meet, minlength=nparts),
        np.bincount(part_of_piece, minlength=nparts),
    )


def cut(case: Case) -> Job:
    """Count the edge cut and the communication volume of a graph that is there."""
    rows, labels = dual_rows(case.tets()[1]), case.labels()
    return Job(partial(cut_and_volume, rows.indptr, rows.indices, labels, case.nparts))


def cut_and_volume(offsets: Any, targets: Any, labels: Labels, nparts: int) -> tuple[int, int]:
    """Return the edge cut and the communication volume."""
    cells = np.repeat(np.arange(len(labels)), np.diff(offsets))
    across = np.flatnonzero(labels[cells] != labels[targets])
    return len(across) // 2, len(np.unique(cells[across] * nparts + labels[targets[across]]))


# -- together again -----------------------------------------------------------------------------------------


class Merged(NamedTuple):
    """A mesh of tets."""

    points: Any
    cells: Any


class Block(NamedTuple):
    """Its cells."""

    data: Ids


def merge(case: Case) -> Job:
    """Put the rows of all parts where their global ids say."""
    parts = case.split()

    def call() -> Merged:
        points = np.empty((parts[0].points.n_global, 3))
        tets = np.empty((parts[0].cells.n_global, 4), np.int64)
        for part in parts:
            points[part.points.global_ids] = part.mesh.points
            owned = part.cells.global_ids[: part.cells.n_owned]
            tets[owned] = part.points.global_ids[part.mesh.blocks[0].nodes[: part.cells.n_owned]]
        return Merged(points, [Block(tets)])

    return Job(call)
