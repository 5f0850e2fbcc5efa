"""meshpart's calls, one for each kernel of speed.py, on a mesh object that its users have: meshio's, where it can be.

So every call takes the mesh over and checks it, and nothing is kept from one call for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from inputs import Case, Labels, mesh_of


class Job(NamedTuple):
    """A call that only has to be made, and what it is given."""

    call: Callable[[], Any]
    given: Any = ()


def reading(suffix: str, case: Case) -> Job:
    """Read a mesh file."""
    import meshpart

    return Job(lambda: meshpart.read(case.file(suffix)))


def taking_over(case: Case) -> Job:
    """Take over a mesh and check it."""
    shape = case.mesh()
    return Job(mesh_of(shape), shape)


def sfc(case: Case) -> Job:
    """Find labels along a Hilbert curve."""
    import meshpart

    shape = case.mesh()
    take = mesh_of(shape)
    return Job(lambda: meshpart.partition_labels(take(), case.nparts, method="sfc", threads=case.threads), shape)


def dual_graph(adjacency: str, case: Case) -> Job:
    """Find the dual graph, through facets or through points."""
    import meshpart

    shape = case.mesh()
    take = mesh_of(shape)
    return Job(lambda: meshpart.dual_graph(take(), adjacency=adjacency, threads=case.threads), shape)


def point_graph(case: Case) -> Job:
    """Find the graph of the points."""
    import meshpart

    shape = case.mesh()
    take = mesh_of(shape)
    return Job(lambda: meshpart.point_graph(take(), threads=case.threads), shape)


def partition(case: Case) -> Job:
    """Find labels along a Hilbert curve, and build all parts with ghosts, owners and plans."""
    import meshpart

    shape = case.mesh()
    take = mesh_of(shape)

    def call() -> Any:
        return meshpart.partition(take(), case.nparts, method="sfc", ghost_layers=case.layers, threads=case.threads)

    return Job(call, shape)


def split(case: Case) -> Job:
    """Build all parts along labels."""
    import meshpart

    shape, labels = case.mesh(), case.labels()
    take = mesh_of(shape)
    return Job(
        lambda: meshpart.split(take(), labels, case.nparts, ghost_layers=case.layers, threads=case.threads),
        (shape, labels),
    )


def one_part(case: Case) -> Job:
    """Build one part alone along labels, of a mesh that was taken over before."""
    import meshpart

    mesh, labels, one = mesh_of(case.mesh())(), case.labels(), [case.nparts // 2]
    return Job(
        lambda: meshpart.split(mesh, labels, case.nparts, ghost_layers=case.layers, only=one, threads=case.threads),
        (mesh, labels),
    )


def local_graphs(case: Case) -> Job:
    """Find the edges of the points that one step of message passing needs, in each part."""
    import meshpart

    parts = case.split()
    return Job(lambda: [meshpart.local_graph(part, "points", steps=1, threads=case.threads) for part in parts], parts)


def exchange(case: Case) -> Job:
    """Fill the ghosts of a point field in all parts."""
    import meshpart

    parts = case.split()
    owned = owned_values(parts)
    messages = [np.split(part.point_halo.send_indices, part.point_halo.send_offsets[1:-1]) for part in parts]
    return Job(lambda: meshpart.exchange(parts, owned, "points"), (messages, owned))


def owned_values(parts: list[Any]) -> list[Any]:
    """Return eight float64 for each owned point."""
    field = np.random.default_rng(5).random((parts[0].points.n_global, 8))
    return [field[part.points.global_ids[: part.points.n_owned]] for part in parts]


def quality(case: Case) -> Job:
    """Report how good labels are."""
    import meshpart

    shape, labels = case.mesh(), case.labels()
    take = mesh_of(shape)
    return Job(lambda: meshpart.quality(take(), labels, case.nparts, threads=case.threads), (shape, labels))


def cut(case: Case) -> Job:
    """Count the edge cut of a graph that is there, and what else is found on the way."""
    import meshpart
    from meshpart import _core

    mesh, labels = mesh_of(case.mesh())(), case.labels()
    graph = meshpart.dual_graph(mesh)
    owned = _core.invert(labels, case.nparts)
    return Job(lambda: _core.cut_metrics(graph.flat, mesh.kinds, labels, *owned), (graph, labels))


def repair(spoil: Callable[[Case], Labels], case: Case) -> Job:
    """Repair bad labels, on a graph that is there."""
    import meshpart
    from meshpart.balance import bounds, repair

    graph, labels = meshpart.dual_graph(mesh_of(case.mesh())()), spoil(case)
    limits = bounds(len(labels), 1, case.nparts, Fraction("0.03"))
    return Job(lambda: repair(graph, labels, case.nparts, limits, absorb_fragments=True), (graph, labels))


def all_in_one(case: Case) -> Labels:
    """Give all cells to one part; the others are empty."""
    return np.zeros(len(case.labels()), np.int32)


def at_random(case: Case) -> Labels:
    """Give each cell to any part: nearly as many fragments as cells."""
    return np.random.default_rng(6).integers(0, case.nparts, len(case.labels()), np.int32)


def uneven(case: Case) -> Labels:
    """Make every second part take over its successor: parts of two weights, the rest empty."""
    labels = case.labels()
    return labels - labels % 2


def merge(case: Case) -> Job:
    """Put all parts together again."""
    import meshpart

    parts = case.split()
    return Job(lambda: meshpart.merge(parts), parts)


def writing(case: Case) -> Job:
    """Write finished parts as a store."""
    import pickle

    import meshpart

    parts = [pickle.loads(pickle.dumps(part)) for part in meshpart.open_parts(case.store)]  # in memory, not mapped
    new = new_folders(case)

    def call() -> Path:
        folder = next(new)
        meshpart.write_parts(parts, folder / "mesh.parts")
        return folder

    return Job(call, parts)


def to_files(suffix: str, case: Case) -> Job:
    """Go from a mesh in memory to files, part by part: labels, ghosts, writing."""
    import meshpart

    shape = case.mesh()
    take = mesh_of(shape)
    new = new_folders(case)

    def call() -> Path:
        folder = next(new)
        parts = meshpart.iter_partition(
            take(), case.nparts, method="sfc", ghost_layers=case.layers, threads=case.threads
        )
        meshpart.write_parts(parts, folder / f"mesh{suffix}")
        return folder

    return Job(call, shape)


def new_folders(case: Case) -> Iterator[Path]:
    """Yield empty folders."""
    for number in count():
        folder = case.scratch / str(number)
        folder.mkdir(parents=True)
        yield folder


def loading(case: Case) -> Job:
    """Load one part of a store that is open."""
    import meshpart

    store = meshpart.open_parts(case.store)
    return Job(lambda: store.load(case.nparts // 2))


def opening(case: Case) -> Job:
    """Open a store and load one part."""
    import meshpart

    return Job(lambda: meshpart.open_parts(case.store).load(case.nparts // 2))
