"""Sub-meshes: one part of a decomposition each, with the maps from its local ids to the input's global ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import _core, carried
from meshpart.arrays import Array, Frozen, Ids, Labels, frozen, pieces, row_positions, starts, take_rows, trusted
from meshpart.balance import Repair
from meshpart.blocks import CellBlock
from meshpart.carried import Places, per_block
from meshpart.mesh import Mesh, Periodic, fingerprint_of


@dataclass(frozen=True, eq=False)
class IndexMap(Frozen):
    """The local entities of one kind, cells or points, of one part: owned ones first, then ghosts.

    Owned entities ascend by global id, ghosts by owner and then global id.

    Parameters
    ----------
    global_ids : ndarray of int64, (n_local,)
        Positions in the input mesh.
    n_owned : int
    ghost_owners : ndarray of int32, (n_ghost,)
    ghost_layers : ndarray of int32, (n_ghost,)
        Of a cell, its distance from the owned cells; of a point, the least layer of a local cell on it.
    complete : ndarray of bool, (n_local,)
        Whether the entity's whole neighbourhood in the input mesh is local too: of a point, every cell on it;
        of a cell, every cell that shares a point with it.
    n_global : int
        How many the input mesh has.
    kind : ndarray of uint8, (n_local,), of cells only
        0 top, 1 attached, 2 free.
    """

    global_ids: Ids
    n_owned: int
    ghost_owners: Labels
    ghost_layers: Labels
    complete: npt.NDArray[np.bool_]
    n_global: int
    kind: npt.NDArray[np.uint8] | None = None

    @property
    def n_local(self) -> int:
        """Number of local entities."""
        return len(self.global_ids)

    @property
    def n_ghost(self) -> int:
        """Number of ghosts."""
        return self.n_local - self.n_owned

    def __repr__(self) -> str:
        return f"<IndexMap: {self.n_owned} owned + {self.n_ghost} ghosts of {self.n_global}>"

    def owners(self, part: int) -> Labels:
        """Return the owner of every local entity, `part` of the owned ones: int32, (n_local,)."""
        return np.concatenate([np.full(self.n_owned, part, np.int32), self.ghost_owners])

    def layers(self) -> Labels:
        """Return the layer of every local entity, 0 of the owned ones: int32, (n_local,)."""
        return np.concatenate([np.zeros(self.n_owned, np.int32), self.ghost_layers])


@dataclass(frozen=True)
class Provenance:
    """What made a decomposition: the method that really ran, and what it was given.

    Parameters
    ----------
    method : str
        "labels" for `split`, and "one part" where there was nothing to choose.
    nparts : int
    version : str
        meshpart's.
    mode : str, optional
        Of a method that has modes.
    imbalance : float, optional
    seed : int, optional
    weights, edge_weights, keep_together : str, dict or list of str, optional
        As they were given, and "array" for an array.
    repair : Repair, optional
        What was repaired in the method's labels; None where they are its own.
    """

    method: str
    nparts: int
    version: str
    mode: str | None = None
    imbalance: float | None = None
    seed: int | None = None
    weights: Any = None
    edge_weights: Any = None
    keep_together: Any = None
    repair: Repair | None = None


@dataclass(frozen=True, eq=False)
class SubMesh(Frozen):
    """One part of a decomposition.

    Parameters
    ----------
    part, nparts : int
        Which one of how many.
    ghost_layers : int
    mesh : Mesh
        The part's own mesh with local point ids. Its blocks are the input's, one to one, empty ones kept, and its
        points are in local order. Data and sets are carried along; every set is there, empty where the part has
        none of it.
    cells, points : IndexMap
        Local order and global ids.
    block_starts : ndarray of int64, (n_blocks + 1,)
        The global id of the first cell of each block of the input, and how many cells it has.
    run : str
        The same for all parts of one decomposition, and for no other: a hash of the mesh, the labels and the layers.
    provenance : Provenance
    point_set_positions : mapping of str to ndarray of int64
        Which entries of the input's set the entries of this part's set are, so that their order is not lost.
    cell_set_positions : mapping of str to sequence of ndarray of int64
        The same for the cell sets, block by block.
    periodic : tuple of Periodic
        The input's periodic pairs whose slave point this part owns, as global ids (the part's mesh has none).
    periodic_positions : tuple of ndarray of int64
        Which rows of the input's pairs they are.
    """

    part: int
    nparts: int
    ghost_layers: int
    mesh: Mesh
    cells: IndexMap
    points: IndexMap
    block_starts: Ids
    run: str
    provenance: Provenance
    point_set_positions: Mapping[str, Ids]
    cell_set_positions: Mapping[str, Sequence[Ids]]
    periodic: tuple[Periodic, ...]
    periodic_positions: tuple[Ids, ...]

    def __repr__(self) -> str:
        cells, points = self.cells, self.points
        return (
            f"<SubMesh {self.part} of {self.nparts}: {cells.n_owned} cells + {cells.n_ghost} ghosts, "
            f"{points.n_owned} points + {points.n_ghost} ghosts>"
        )


def run_of(mesh: Mesh, labels: Labels, nparts: int) -> str:
    """Return what all parts of one decomposition have as their `run`."""
    return fingerprint_of(mesh.fingerprint, labels, nparts)


def build_submeshes(mesh: Mesh, labels: Labels, parts: Labels, provenance: Provenance, threads: int) -> list[SubMesh]:
    """Build parts of a mesh, all in one pass.

    Parameters
    ----------
    mesh : Mesh
    labels : ndarray of int32, (n_cells,), in 0..provenance.nparts - 1
    parts : ndarray of int32
        Which parts to build.
    provenance : Provenance
    threads : int

    Returns
    -------
    parts : list of SubMesh, as many as `parts`
    """
    owned = _core.invert(labels, provenance.nparts)
    local = take_rows(*owned, parts)
    owners, cell_counts = _core.point_owners(mesh.flat, *owned, threads)
    built = _core.build_parts(mesh.flat, parts, *local, owners, cell_counts, threads)

    n_parts = len(parts)
    run = run_of(mesh, labels, provenance.nparts)
    cells = Places(local[1], local[0], mesh.n_cells)
    points = Places(built["point_ids"], built["point_offsets"], mesh.n_points)
    blocks = _block_places(mesh, built, n_parts)
    point_sets, point_set_positions = carried.point_sets(mesh, points, n_parts)
    cell_sets, cell_set_positions = carried.cell_sets(mesh, blocks, n_parts)
    periodic, periodic_positions = carried.periodic(mesh, owners, parts)
    columns = zip(
        parts.tolist(),
        _meshes(mesh, built, points, blocks, point_sets, cell_sets),
        _cell_maps(mesh, built, cells),
        _point_maps(mesh, built, points),
        point_set_positions,
        cell_set_positions,
        periodic,
        periodic_positions,
        strict=True,
    )
    return [
        SubMesh(part, provenance.nparts, 0, own_mesh, own_cells, own_points, mesh.block_starts, run, provenance, *rest)
        for part, own_mesh, own_cells, own_points, *rest in columns
    ]


def _block_places(mesh: Mesh, built: Mapping[str, Array], n_parts: int) -> list[Places]:
    """Return, for each block, which of its rows each part has."""
    places = []
    for number, block in enumerate(mesh.blocks):
        offsets = built["block_offsets"][number * n_parts : (number + 1) * n_parts + 1]
        rows = built["block_cells"][offsets[0] : offsets[-1]] - mesh.block_starts[number]
        places.append(Places(rows, offsets - offsets[0], len(block)))
    return places


def _meshes(
    mesh: Mesh,
    built: Mapping[str, Array],
    points: Places,
    blocks: list[Places],
    point_sets: list[Mapping[str, Ids]],
    cell_sets: list[Mapping[str, Sequence[Ids]]],
) -> Iterator[Mesh]:
    n_parts = len(point_sets)
    node_offsets = built["node_offsets"]
    by_block = [
        _blocks(block, places, built["nodes"], node_offsets[b * n_parts : (b + 1) * n_parts + 1])
        for b, (block, places) in enumerate(zip(mesh.blocks, blocks, strict=True))
    ]
    columns = zip(
        points.take(mesh.points),
        per_block(n_parts, by_block),
        carried.point_data(mesh, points, n_parts),
        carried.cell_data(mesh, blocks, n_parts),
        point_sets,
        cell_sets,
        strict=True,
    )
    for coordinates, own_blocks, point_data, cell_data, own_point_sets, own_cell_sets in columns:
        yield trusted(
            Mesh,
            points=coordinates,
            blocks=tuple(own_blocks),
            point_data=point_data,
            cell_data=cell_data,
            field_data=mesh.field_data,
            point_sets=own_point_sets,
            cell_sets=own_cell_sets,
            block_data=mesh.block_data,
            periodic=(),
            info=mesh.info,
        )


def _blocks(block: CellBlock, places: Places, nodes: Ids, node_offsets: Ids) -> list[CellBlock]:
    """Return each part's share of a block, part p's nodes are nodes[node_offsets[p]:node_offsets[p + 1]]."""
    own_nodes = pieces(nodes, node_offsets)
    if block.offsets is None:
        wide = block.nodes.shape[1]
        tables = [flat.reshape(-1, wide) for flat in own_nodes]
        return [
            trusted(CellBlock, type=block.type, nodes=table, offsets=None, faces=None, tags=block.tags)
            for table in tables
        ]
    return [
        trusted(
            CellBlock,
            type=block.type,
            nodes=flat,
            offsets=frozen(row_positions(block.offsets, rows)[0]),
            faces=None if block.faces is None else block.faces.take(rows),
            tags=block.tags,
        )
        for flat, rows in zip(own_nodes, pieces(places.global_ids, places.offsets), strict=True)
    ]


def _cell_maps(mesh: Mesh, built: Mapping[str, Array], cells: Places) -> Iterator[IndexMap]:
    none = frozen(np.zeros(0, np.int32))
    columns = zip(
        pieces(cells.global_ids, cells.offsets),
        pieces(built["cell_complete"].view(np.bool_), cells.offsets),
        cells.take(mesh.kinds),
        strict=True,
    )
    for global_ids, complete, kind in columns:
        yield IndexMap(global_ids, len(global_ids), none, none, complete, mesh.n_cells, kind)


def _point_maps(mesh: Mesh, built: Mapping[str, Array], points: Places) -> Iterator[IndexMap]:
    n_owned = built["n_owned_points"]
    ghost_owners = built["ghost_owners"]
    ghost_offsets = starts(np.diff(points.offsets) - n_owned)
    columns = zip(
        pieces(points.global_ids, points.offsets),
        n_owned.tolist(),
        pieces(ghost_owners, ghost_offsets),
        pieces(np.zeros_like(ghost_owners), ghost_offsets),
        pieces(built["point_complete"].view(np.bool_), points.offsets),
        strict=True,
    )
    for global_ids, count, owners, layers, complete in columns:
        yield IndexMap(global_ids, count, owners, layers, complete, mesh.n_points)
