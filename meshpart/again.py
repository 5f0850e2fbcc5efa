"""A part cut again: the mesh of its owned cells, and what is cut from that in the numbers of the original mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Array, Ids, frozen
from meshpart.blocks import CellBlock
from meshpart.errors import ArgumentError
from meshpart.mesh import Mesh, as_mesh, fingerprint_of
from meshpart.submesh import IndexMap, SubMesh

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cut:
    """What is cut into parts.

    Parameters
    ----------
    mesh : Mesh
        As it was given, or the owned cells of a part.
    origin : Origin, optional
        Where the mesh of a part comes from.
    """

    mesh: Mesh
    origin: Origin | None = None

    @classmethod
    def of(cls, given: Any) -> Cut:
        """Return what is cut, given a mesh or a part."""
        return owned_cells(given) if isinstance(given, SubMesh) else cls(as_mesh(given))

    def in_original(self, parts: list[SubMesh]) -> list[SubMesh]:
        """Return what was cut from the mesh, in the numbers of the original mesh."""
        origin = self.origin
        return parts if origin is None else [in_original(part, origin) for part in parts]


@dataclass(frozen=True)
class Origin:
    """Where the mesh of a part's owned cells comes from.

    Parameters
    ----------
    part : SubMesh
        Its owned cells are those of the mesh, in their order.
    points : ndarray of int64, (n_points of the mesh,)
        The global ids of the mesh's points, ascending.
    point_set_positions : mapping of str to ndarray of int64
        Which entries of the original's set those of the mesh's are.
    cell_set_positions : mapping of str to sequence of ndarray of int64
        The same for the cell sets, block by block.
    """

    part: SubMesh
    points: Ids
    point_set_positions: Mapping[str, Ids]
    cell_set_positions: Mapping[str, Sequence[Ids]]


def owned_cells(part: SubMesh) -> Cut:
    """Return the mesh of a part's owned cells, with their points and those that the part owns besides.

    Cells and points come by ascending global id, in the part's blocks, so that what depends on an order depends on that
    of the original mesh. Data and sets are carried along. In place of each periodic pair stands its slave point, twice:
    the master may be in another part.
    """
    counts = _owned_rows(part)
    kept = _kept_points(part, counts)
    local = np.flatnonzero(kept)
    local = local[np.argsort(part.points.global_ids[local], kind="stable")]
    number = np.full(part.points.n_local, -1)  # of a local point, which one it is in the mesh
    number[local] = np.arange(len(local))
    by_id = frozen(part.points.global_ids[local])
    point_sets, point_set_positions = _point_sets(part, kept, number)
    cell_sets, cell_set_positions = _cell_sets(part, counts)
    mesh = part.mesh
    slaves = [np.searchsorted(by_id, entry.pairs[:, 0]) for entry in part.periodic]
    owned = Mesh(
        points=mesh.points[local],
        blocks=[_rows(block, count, number) for block, count in zip(mesh.blocks, counts, strict=True)],
        point_data={name: values[local] for name, values in mesh.point_data.items()},
        cell_data={
            name: [values[:count] for values, count in zip(blocks, counts, strict=True)]
            for name, blocks in mesh.cell_data.items()
        },
        field_data=mesh.field_data,
        point_sets=point_sets,
        cell_sets=cell_sets,
        block_data=mesh.block_data,
        periodic=[
            entry._replace(pairs=np.stack([slave, slave], axis=1))
            for entry, slave in zip(part.periodic, slaves, strict=True)
        ],
        info=mesh.info,
    )
    return Cut(owned, Origin(part, by_id, point_set_positions, cell_set_positions))


def in_original(sub: SubMesh, origin: Origin) -> SubMesh:
    """Return a part of the mesh of a part's owned cells, in the numbers of the original mesh.

    Global ids, their number, kinds, starts of blocks and positions in sets are those of the original mesh. What is
    complete, and the rows of graphs, are those of the mesh that was cut.
    """
    part, cells = origin.part, sub.cells.global_ids
    positions = list(zip(part.periodic_positions, sub.periodic_positions, strict=True))
    return replace(
        sub,
        cells=replace(_numbered(sub.cells, part.cells, part.cells.global_ids), kind=_taken(part.cells.kind, cells)),
        points=_numbered(sub.points, part.points, origin.points),
        block_starts=part.block_starts,
        run=fingerprint_of(part.run, part.part, sub.run),
        point_set_positions=MappingProxyType(
            {name: _taken(whole, sub.point_set_positions[name]) for name, whole in origin.point_set_positions.items()}
        ),
        cell_set_positions=MappingProxyType(
            {
                name: tuple(map(_taken, blocks, sub.cell_set_positions[name]))
                for name, blocks in origin.cell_set_positions.items()
            }
        ),
        periodic=tuple(
            entry._replace(pairs=_taken(entry.pairs, rows))
            for entry, (_, rows) in zip(part.periodic, positions, strict=True)
        ),
        periodic_positions=tuple(_taken(whole, rows) for whole, rows in positions),
    )


def _numbered(entities: IndexMap, whole: IndexMap, global_ids: Ids) -> IndexMap:
    return replace(entities, global_ids=_taken(global_ids, entities.global_ids), n_global=whole.n_global)


def _taken(values: Any, rows: Ids) -> Any:
    return None if values is None else frozen(values[rows])


# -- the mesh of the owned cells ----------------------------------------------------------------------------


def _owned_rows(part: SubMesh) -> list[int]:
    """Return how many rows of each block the part owns; they are the first ones."""
    owned = part.cells.global_ids[: part.cells.n_owned]
    counts: list[int] = np.diff(np.searchsorted(owned, part.block_starts)).tolist()
    return counts


def _kept_points(part: SubMesh, counts: list[int]) -> Flags:
    """Return which local points an owned cell has, or the part owns."""
    kept = np.zeros(part.points.n_local, np.bool_)
    kept[: part.points.n_owned] = True
    for block, count in zip(part.mesh.blocks, counts, strict=True):
        kept[_nodes(block, count)] = True
    return kept


def _nodes(block: CellBlock, count: int) -> Ids:
    return block.nodes[: count if block.offsets is None else block.offsets[count]]


def _rows(block: CellBlock, count: int, number: Array) -> CellBlock:
    """Return the first rows of a block, their points numbered anew."""
    return CellBlock(
        type=block.type,
        nodes=number[_nodes(block, count)],
        offsets=None if block.offsets is None else block.offsets[: count + 1],
        faces=None if block.faces is None else block.faces.take(np.arange(count)),
        tags=block.tags,
    )


def _point_sets(part: SubMesh, kept: Flags, number: Ids) -> tuple[dict[str, Ids], dict[str, Ids]]:
    sets, positions = {}, {}
    for name, rows in part.mesh.point_sets.items():
        sets[name] = number[rows[kept[rows]]]
        if name in part.point_set_positions:
            whole = _fitting(f"point_sets[{name!r}]", rows, part.point_set_positions[name])
            positions[name] = whole[kept[rows]]
    return sets, positions


def _cell_sets(part: SubMesh, counts: list[int]) -> tuple[dict[str, list[Ids]], dict[str, list[Ids]]]:
    sets, positions = {}, {}
    for name, blocks in part.mesh.cell_sets.items():
        sets[name] = [rows[rows < count] for rows, count in zip(blocks, counts, strict=True)]
        if name in part.cell_set_positions:
            positions[name] = [
                _fitting(f"cell_sets[{name!r}]", rows, whole)[rows < count]
                for rows, whole, count in zip(blocks, part.cell_set_positions[name], counts, strict=True)
            ]
    return sets, positions


def _fitting(what: str, rows: Ids, positions: Ids) -> Ids:
    if len(rows) != len(positions):
        raise ArgumentError(
            f"{what} has {len(rows)} members in the part and {len(positions)} positions "
            "(a set that was changed needs a name of its own, without positions)"
        )
    return positions
