"""Who cuts a directed graph: `split_graph` and its rivals, all made to tell what they found in the same way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Call = Callable[[], Any]


def store_neighbours(n: int, nparts: int, file: Path) -> None:
    """Write the rows of a graph, targets of the edges that leave each vertex, and the owners along a Hilbert curve."""
    import scipy.sparse
    from scipy.spatial import cKDTree

    import meshpart

    points = np.random.default_rng(4).random((n, 3))
    _, nearest = cKDTree(points).query(points, 9)
    senders, receivers = nearest[:, 1:].ravel(), np.repeat(np.arange(n), 8)
    rows = scipy.sparse.csr_array((np.ones(8 * n, np.int8), (senders, receivers)), shape=(n, n))
    mesh = meshpart.Mesh(points, [("vertex", np.arange(n)[:, None])])
    owners = meshpart.partition_labels(mesh, nparts, method="sfc")
    np.savez(file, offsets=rows.indptr.astype(np.int64), targets=rows.indices.astype(np.int64), owners=owners)


class Seen(NamedTuple):
    """Hashes of the vertices and of the edges of all parts; None where a rival finds other edges."""

    vertices: str
    edges: str | None


class Cutter(NamedTuple):
    """Who cuts a graph: by what name, with which modules, how, and how what it found is made comparable."""

    name: str
    needs: tuple[str, ...]
    prepare: Callable[[Path, int], Call]
    find: Callable[[Any], Seen]


def installed() -> list[Cutter]:
    """Return those whose modules are there, meshpart first."""
    return [cutter for cutter in CUTTERS if all(map(find_spec, cutter.needs))]


def assert_same(name: str, found: set[Seen], ours: Seen) -> None:
    """Compare what a rival found with what meshpart did."""
    assert {seen.vertices for seen in found} == {ours.vertices}, name
    assert {seen.edges for seen in found} <= {ours.edges, None}, name


# -- calls --------------------------------------------------------------------------------------------------


def by_meshpart(file: Path, layers: int) -> Call:
    """Return a call that finds vertices, edges, owners and plans."""
    import meshpart

    offsets, targets, owners = rows_of(file)
    return lambda: meshpart.split_graph((offsets, targets), owners, layers=layers)


def by_sets(file: Path, layers: int) -> Call:
    """Return a call that finds the vertices and the edges of each part with SciPy's rows and NumPy's sets."""
    import scipy.sparse

    offsets, targets, owners = rows_of(file)

    def call() -> list[tuple[Ids, Ids]]:
        edge_ids = np.arange(len(targets))
        incoming = scipy.sparse.csr_array((edge_ids, targets, offsets), shape=(len(owners), len(owners))).tocsc()
        found = []
        for owned in members(owners):
            vertices = frontier = owned
            edges = []
            for _ in range(layers):
                into = incoming[:, frontier]
                edges.append(into.data)
                frontier = np.setdiff1d(into.indices, vertices)
                vertices = np.union1d(vertices, frontier)
            found.append((vertices, np.concatenate(edges)))
        return found

    return call


def by_pyg(file: Path, layers: int) -> Call:
    """Return a call of PyTorch Geometric's function for each part."""
    import torch
    from torch_geometric.utils import k_hop_subgraph

    offsets, targets, owners = rows_of(file)
    senders = np.repeat(np.arange(len(owners)), np.diff(offsets))
    edges = torch.from_numpy(np.stack([senders, targets]))
    seeds = [torch.from_numpy(owned) for owned in members(owners)]
    return lambda: [k_hop_subgraph(own, layers, edges, relabel_nodes=True, num_nodes=len(owners)) for own in seeds]


# -- what they found ----------------------------------------------------------------------------------------


def seen_by_meshpart(parts: list[Any]) -> Seen:
    """Return what the parts have."""
    return Seen(digest(part.vertices.global_ids for part in parts), digest(part.edge_ids for part in parts))


def seen_by_sets(found: list[Any]) -> Seen:
    """Return what the sets have."""
    return Seen(digest(vertices for vertices, _ in found), digest(edges for _, edges in found))


def seen_by_pyg(found: list[Any]) -> Seen:
    """Return the vertices; the edges are all those between them."""
    return Seen(digest(vertices.numpy() for vertices, *_ in found), None)


def members(owners: npt.NDArray[np.int32]) -> list[Ids]:
    """Return the vertices of each part, ascending."""
    return np.split(np.argsort(owners, kind="stable"), np.cumsum(np.bincount(owners))[:-1])


def rows_of(file: Path) -> tuple[Any, Any, Any]:
    """Return the offsets, targets and owners of a file."""
    with np.load(file) as arrays:
        return arrays["offsets"], arrays["targets"], arrays["owners"]


def digest(sets: Iterable[Ids]) -> str:
    """Return a hash of sets of ids, in the order of the parts."""
    hashed = hashlib.blake2b()
    for ids in sets:
        hashed.update(np.sort(ids).astype(np.int64).tobytes() + b"|")
    return hashed.hexdigest()


CUTTERS = (
    Cutter("meshpart", ("meshpart",), by_meshpart, seen_by_meshpart),
    Cutter("SciPy's rows and NumPy's sets", ("scipy",), by_sets, seen_by_sets),
    Cutter("PyTorch Geometric", ("torch", "torch_geometric"), by_pyg, seen_by_pyg),
)
