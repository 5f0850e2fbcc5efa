"""Building sub-meshes: from what the core finds of all parts to one object each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from meshpart import _core, carried
from meshpart.arguments import LARGEST_INT32
from meshpart.arrays import Array, Ids, Labels, frozen, pieces, restarted, row_positions, starts, trusted
from meshpart.blocks import CellBlock
from meshpart.carried import Places, per_block
from meshpart.halo import HaloPlan
from meshpart.mesh import Mesh
from meshpart.submesh import IndexMap, Provenance, SubMesh, run_of

NOTHING: Mapping[str, Any] = MappingProxyType({})

# The fields of a SubMesh that differ from part to part.
COLUMNS = (
    "part",
    "mesh",
    "cells",
    "points",
    "cell_halo",
    "point_halo",
    "point_set_positions",
    "cell_set_positions",
    "periodic",
    "periodic_positions",
)


def build_submeshes(
    mesh: Mesh, labels: Labels, parts: Labels, ghost_layers: int, provenance: Provenance, threads: int
) -> list[SubMesh]:
    """Build parts of a mesh, all in one pass.

    Parameters
    ----------
    mesh : Mesh
    labels : ndarray of int32, (n_cells,), in 0..provenance.nparts - 1
    parts : ndarray of int32, strictly ascending
        Which parts to build.
    ghost_layers : int
    provenance : Provenance
    threads : int

    Returns
    -------
    parts : list of SubMesh, as many as `parts`
    """
    layers = min(ghost_layers, mesh.n_cells, LARGEST_INT32)  # no cell is farther away
    built = _core.build_parts(mesh.flat, labels, provenance.nparts, parts, layers, threads)
    n_parts = len(parts)
    cells = Places(built["cells"]["ids"], built["cells"]["offsets"], mesh.n_cells)
    points = Places(built["points"]["ids"], built["points"]["offsets"], mesh.n_points)
    blocks = _block_places(mesh, built, cells)
    point_sets, point_set_positions = carried.point_sets(mesh, points, n_parts)
    cell_sets, cell_set_positions = carried.cell_sets(mesh, blocks, n_parts)
    periodic, periodic_positions = carried.periodic(mesh, points, built["points"]["n_owned"])
    columns = zip(
        parts.tolist(),
        _meshes(mesh, built, points, blocks, point_sets, cell_sets),
        index_maps(built["cells"], cells, mesh.n_cells, cells.take(mesh.kinds)),
        index_maps(built["points"], points, mesh.n_points, [None] * n_parts),
        halo_plans(built["cells"]),
        halo_plans(built["points"]),
        point_set_positions,
        cell_set_positions,
        periodic,
        periodic_positions,
        strict=True,
    )
    same_of_all = {
        "nparts": provenance.nparts,
        "ghost_layers": ghost_layers,
        "block_starts": mesh.block_starts,
        "run": run_of(mesh, labels, provenance.nparts, ghost_layers),
        "provenance": provenance,
        "row_starts": NOTHING,
        "graphs": NOTHING,
    }
    return [trusted(SubMesh, **dict(zip(COLUMNS, column, strict=True)), **same_of_all) for column in columns]


def _block_places(mesh: Mesh, built: Mapping[str, Array], cells: Places) -> list[Places]:
    """Return, for each block, which of its rows each part has."""
    if len(mesh.blocks) == 1:
        return [cells]
    n_parts = len(cells.offsets) - 1
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


def index_maps(found: Mapping[str, Array], places: Places, n_global: int, kinds: Iterable[Any]) -> Iterator[IndexMap]:
    """Yield the map of each part, from what the core found of all."""
    n_owned = found["n_owned"]
    ghosts = starts(np.diff(places.offsets) - n_owned)
    columns = zip(
        pieces(places.global_ids, places.offsets),
        n_owned.tolist(),
        pieces(found["ghost_owners"], ghosts),
        pieces(found["ghost_layers"], ghosts),
        pieces(found["complete"].view(np.bool_), places.offsets),
        kinds,
        strict=True,
    )
    for global_ids, count, owners, layers, complete, kind in columns:
        yield IndexMap(global_ids, count, owners, layers, complete, n_global, kind)


def halo_plans(found: Mapping[str, Array]) -> Iterator[HaloPlan]:
    """Yield the plan of each part, from what the core found of all."""
    slices = found["neighbour_offsets"]  # those of part i are slices[i] .. slices[i + 1]
    columns = zip(
        pieces(found["neighbours"].astype(np.int32), slices),
        restarted(found["send_offsets"], slices),
        pieces(found["send_indices"], found["send_offsets"][slices]),
        restarted(starts(found["receive_counts"]), slices),
        strict=True,
    )
    for neighbours, send_offsets, send_indices, recv_offsets in columns:
        yield HaloPlan(neighbours, send_offsets, send_indices, recv_offsets)
