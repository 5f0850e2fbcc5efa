"""What calls found, made comparable: the same mesh, graph, halo or labels gives the same value, whoever found it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from inputs import Case

Ids = npt.NDArray[np.int64]


def hashed(*arrays: Any) -> str:
    """Return a hash of arrays, in their order: of integers as int64, of others as float64."""
    digest = hashlib.blake2b(digest_size=8)
    for array in map(np.asarray, arrays):
        digest.update(np.ascontiguousarray(array, np.int64 if array.dtype.kind in "iub" else np.float64))
    return digest.hexdigest()


def in_any_order(*columns: Any) -> tuple[int, int]:
    """Return how many rows there are, and a hash of them that does not depend on their order."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mixed = (mixed ^ np.asarray(column).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return len(mixed), int(np.sum(mixed, dtype=np.uint64))


def mesh(_: Case, found: Any) -> str:
    """Return a hash of the points and cells of anybody's mesh."""
    blocks = (
        [block.nodes for block in found.blocks] if hasattr(found, "blocks") else [block.data for block in found.cells]
    )
    return hashed(found.points, *blocks)


def sizes_of_parts(case: Case, labels: Any) -> str:
    """Return a hash of how many cells the parts have, in ascending order: labels themselves differ."""
    flat = np.concatenate(labels) if isinstance(labels, list) else labels
    return hashed(np.sort(np.bincount(flat, minlength=case.nparts)))


def rows(_: Case, graph: Any) -> tuple[int, int]:
    """Return a hash of the entries of a graph in rows: meshpart's, SciPy's, or (offsets, targets)."""
    if hasattr(graph, "indptr"):
        offsets, targets = graph.indptr, graph.indices
    else:
        offsets, targets = (graph.offsets, graph.targets) if hasattr(graph, "offsets") else graph
    return in_any_order(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), targets)


def pairs(_: Case, ends: Any) -> tuple[int, int]:
    """Return the same hash of pairs (2, n), each edge in both directions."""
    return in_any_order(*ends)


def true(_: Case, __: Any) -> bool:
    """Return what a rival finds that agrees, where the rival itself has to be asked."""
    return True


def pieces_agree(case: Case, pieces: Any) -> bool:
    """Return whether meshioplusplus' pieces have the cells, in the layers, of parts along its own labels."""
    import meshioplusplus

    import meshpart

    points, cells, *_ = case.mesh()
    given = meshioplusplus.Mesh(points, cells)
    labels = np.concatenate(meshioplusplus.partition_labels(given, case.nparts, method="sfc"))
    parts = meshpart.split(meshpart.Mesh(points, cells), labels, case.nparts, ghost_layers=case.layers)
    return len(pieces) == len(parts) and all(map(_agrees, pieces, parts))


def _agrees(piece: Any, part: Any) -> bool:
    ids = piece.cell_data["partition:original_cell_id"][0]
    layers = piece.cell_data.get("partition:ghost", [np.zeros(len(ids))])[0]
    theirs, ours = np.argsort(ids), np.argsort(part.cells.global_ids)
    return np.array_equal(ids[theirs], part.cells.global_ids[ours]) and np.array_equal(
        layers[theirs], part.cells.layers()[ours]
    )


def sends(_: Case, parts: list[Any]) -> tuple[Any, Any]:
    """Return a hash of who sends which cell, and which point, to whom."""
    return tuple(
        in_any_order(*map(np.concatenate, zip(*(_sends_of(part, *names) for part in parts), strict=True)))
        for names in (("cells", "cell_halo"), ("points", "point_halo"))
    )


def _sends_of(part: Any, entity: str, halo: str) -> tuple[Ids, Ids, Ids]:
    """Return the columns sender, receiver, global id."""
    ids, plan = getattr(part, entity), getattr(part, halo)
    receivers = np.repeat(plan.neighbours.astype(np.int64), np.diff(plan.send_offsets))
    return np.full(len(receivers), part.part), receivers, ids.global_ids[plan.send_indices]


def report(_: Case, quality: Any) -> tuple[Any, ...]:
    """Return the numbers of a quality report."""
    return (
        quality.edge_cut,
        quality.communication_volume,
        quality.shared_points,
        hashed(quality.part_cells, quality.part_points, quality.part_ghosts),
        hashed(quality.part_neighbours, quality.part_components),
    )


def edges_of_parts(_: Case, graphs: Iterable[Any]) -> tuple[int, int]:
    """Return a hash of the edges in all parts: part, sender, receiver."""
    columns = [(np.full(len(graph.senders), part), graph.senders, graph.receivers) for part, graph in enumerate(graphs)]
    return in_any_order(*map(np.concatenate, zip(*columns, strict=True)))


def first_two(_: Case, metrics: Any) -> tuple[int, int]:
    """Return the edge cut and the communication volume, which come first."""
    edge_cut, volume, *_ = metrics
    return edge_cut, volume


def size_of_files(_: Case, folder: Any) -> int:
    """Return the bytes of the parts' files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("part-*"))


def part(_: Case, loaded: Any) -> str:
    """Return a hash of a part's points and ids."""
    return hashed(loaded.mesh.points, loaded.cells.global_ids)


def part_arrays(_: Case, arrays: dict[str, Any]) -> str:
    """Return the same hash of the arrays of a part's file, by name."""
    return hashed(arrays["mesh/points"], arrays["cells/global_ids"])


def hashed_all(_: Case, arrays: Iterable[Any]) -> str:
    """Return a hash of several arrays."""
    return hashed(*arrays)
