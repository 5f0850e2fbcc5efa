"""The mesh: points, blocks of cells of one type, data and sets; frozen, and checked once, at the door.

The layout is meshio's, and it holds what meshio's own class cannot: wedge15, polygons of several sizes,
polyhedra. Cells are numbered through the blocks in order, 0..n_cells-1; points 0..n_points-1.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from meshpart import _core
from meshpart.arguments import threads
from meshpart.arrays import (
    Array,
    Frozen,
    Ids,
    as_data,
    as_ids,
    as_mapping,
    as_members,
    frozen,
    kept,
    native,
    set_field,
    starts,
)
from meshpart.blocks import CellBlock, Faces, as_block
from meshpart.cells import cell_type
from meshpart.errors import MeshError

if TYPE_CHECKING:
    import meshio

TOP, ATTACHED, FREE = 0, 1, 2  # the kinds of cells


class Attachment(NamedTuple):
    """Which lower-dimensional cells hang on higher ones.

    Parents are top or free cells; only where a cell lies in attached cells alone, those.
    """

    kinds: npt.NDArray[np.uint8]  # (n_cells,)
    cells: Ids  # the attached cells, those of higher dimension first, then ascending
    rows: Ids  # of each attached cell, its row of parents; cells with the same corners share a row
    parent_offsets: Ids
    parents: Ids  # ascending in a row


class Flat(NamedTuple):
    """A mesh as the core takes it."""

    n_points: int
    cell_offsets: Ids  # (n_cells + 1,): where each cell's points begin
    cell_points: Ids
    block_starts: Ids  # (n_blocks + 1,): the first cell of each block, and n_cells
    block_dims: npt.NDArray[np.int32]  # (n_blocks,)
    block_corners: npt.NDArray[np.int32]  # (n_blocks,): -1 where cells have corners only
    block_widths: Ids  # (n_blocks,): points of each cell, -1 where they differ


class Periodic(NamedTuple):
    """Points of two matching sides of a periodic mesh, as gmsh writes them."""

    dim: int
    tags: tuple[int, int]  # the slave entity and its master
    affine: Array | None  # how the master's coordinates become the slave's
    pairs: Ids  # (n, 2): slave point, master point


@dataclass(frozen=True, eq=False)
class Mesh(Frozen):
    """A mesh, frozen and checked.

    Parameters
    ----------
    points : ndarray of a real dtype, (n_points, 1|2|3)
        Kept in the caller's dtype; `coordinates` gives float64.
    blocks : sequence of CellBlock, or of (type, rows)
    point_data : mapping of str to ndarray, (n_points, ...)
    cell_data : mapping of str to a sequence with one ndarray for each block, (n_cells of the block, ...)
    field_data : mapping of str to anything
    point_sets : mapping of str to ndarray of int, ids of points
    cell_sets : mapping of str to a sequence with one ndarray of int for each block, rows of that block
    block_data : mapping of str to a sequence with something for each block (gmsh's bounding entities)
    periodic : sequence of Periodic
    info : anything that the reader left

    Raises
    ------
    MeshError
        If anything does not fit together; the message names the block, the row and the number.

    Notes
    -----
    `dataclasses.replace(mesh, cell_data={...})` makes a mesh with other data.
    """

    points: Array
    blocks: tuple[CellBlock, ...]
    point_data: Mapping[str, Array] = field(default_factory=dict)
    cell_data: Mapping[str, Sequence[Array]] = field(default_factory=dict)
    field_data: Mapping[str, Any] = field(default_factory=dict)
    point_sets: Mapping[str, Ids] = field(default_factory=dict)
    cell_sets: Mapping[str, Sequence[Ids]] = field(default_factory=dict)
    block_data: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    periodic: tuple[Periodic, ...] = ()
    info: Any = None

    if TYPE_CHECKING:  # what may be given is more than what the fields then are

        def __init__(
            self,
            points: npt.ArrayLike,
            blocks: Iterable[CellBlock | tuple[str, Any]],
            point_data: Mapping[str, npt.ArrayLike] = ...,
            cell_data: Mapping[str, Sequence[npt.ArrayLike]] = ...,
            field_data: Mapping[str, Any] = ...,
            point_sets: Mapping[str, npt.ArrayLike | None] = ...,
            cell_sets: Mapping[str, Sequence[npt.ArrayLike | None]] = ...,
            block_data: Mapping[str, Sequence[Any]] = ...,
            periodic: Sequence[Any] = ...,
            info: Any = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        set_field(self, "points", as_points(self.points))
        set_field(self, "blocks", as_blocks(self.blocks))
        self._check_nodes()
        self._check_data()
        self._check_sets()

    def __repr__(self) -> str:
        blocks = ", ".join(f"{len(block)} {block.type}" for block in self.blocks)
        return f"<Mesh: {self.n_points} points, {self.n_cells} cells ({blocks})>"

    # -- numbers -----------------------------------------------------------------------------------------

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.points)

    @property
    def n_cells(self) -> int:
        """Number of cells, over all blocks."""
        return int(self.block_starts[-1])

    @property
    def dim(self) -> int:
        """The highest topological dimension of its cells, -1 without cells."""
        return max((cell_type(block.type).dim for block in self.blocks if len(block)), default=-1)

    @kept
    def block_starts(self) -> Ids:
        """The id of each block's first cell, and n_cells: int64, (n_blocks + 1,)."""
        return frozen(starts(np.array([len(block) for block in self.blocks], np.int64)))

    def cells_of_set(self, name: str) -> Ids:
        """Return the ids of the cells in a cell set, block after block: int64."""
        rows_of_blocks = zip(self.block_starts[:-1], self.cell_sets[name], strict=True)
        return np.concatenate([np.zeros(0, np.int64), *(start + rows for start, rows in rows_of_blocks)])

    # -- the flat view that the core takes ---------------------------------------------------------------

    @kept
    def cell_offsets(self) -> Ids:
        """Where each cell's points begin in `cell_points`: int64, (n_cells + 1,)."""
        if len(self.blocks) == 1 and self.blocks[0].offsets is None:
            rows, wide = self.blocks[0].nodes.shape
            return frozen(np.arange(0, rows * wide + 1, wide, dtype=np.int64))
        return frozen(starts(np.concatenate([np.zeros(0, np.int64), *(block.row_lengths() for block in self.blocks)])))

    @kept
    def cell_points(self) -> Ids:
        """The points of all cells, one after another: int64, (cell_offsets[-1],)."""
        if len(self.blocks) == 1:
            return self.blocks[0].nodes.reshape(-1)
        return frozen(np.concatenate([np.zeros(0, np.int64), *(block.nodes.reshape(-1) for block in self.blocks)]))

    @kept
    def flat(self) -> Flat:
        """The mesh as the core takes it."""
        kinds = [cell_type(block.type) for block in self.blocks]
        corners = [-1 if kind.n_corners is None else kind.n_corners for kind in kinds]
        widths = [-1 if block.offsets is not None else block.nodes.shape[1] for block in self.blocks]
        return Flat(
            self.n_points,
            self.cell_offsets,
            self.cell_points,
            self.block_starts,
            frozen(np.array([kind.dim for kind in kinds], np.int32)),
            frozen(np.array(corners, np.int32)),
            frozen(np.array(widths, np.int64)),
        )

    @kept
    def coordinates(self) -> npt.NDArray[np.float64]:
        """The points as float64, row after row in memory: (n_points, 1|2|3)."""
        with np.errstate(over="ignore"):  # what float64 cannot hold is infinite, which is refused where it matters
            return frozen(np.require(self.points, np.float64, ["C", "ALIGNED"]))

    @kept
    def attachment(self) -> Attachment:
        """The kind of each cell, and the parents of the attached ones."""
        return Attachment(*(frozen(array) for array in _core.attachment(self.flat)))

    @kept
    def fingerprint(self) -> str:
        """A hash of the points and the cells, not of data or sets: 32 hexadecimal digits."""
        arrays = [self.points, self.cell_points]
        for block in self.blocks:
            arrays += [] if block.offsets is None else [block.offsets]
            arrays += [] if block.faces is None else [getattr(block.faces, entry.name) for entry in fields(Faces)]
        return fingerprint_of([block.type for block in self.blocks], self.block_starts.tolist(), *arrays)

    @property
    def kinds(self) -> npt.NDArray[np.uint8]:
        """The kind of each cell, TOP, ATTACHED or FREE: uint8, (n_cells,)."""
        return self.attachment.kinds

    # -- meshio ------------------------------------------------------------------------------------------

    @classmethod
    def from_meshio(cls, mesh: Any) -> Mesh:
        """Take over a `meshio.Mesh`, or anything with `points` and `cells` alike, without changing it."""
        from meshpart.meshio_bridge import from_meshio

        return from_meshio(mesh)

    def to_meshio(self) -> meshio.Mesh:
        """Return a `meshio.Mesh` that shares this mesh's arrays where it can."""
        from meshpart.meshio_bridge import to_meshio

        return to_meshio(self)

    # -- checks ------------------------------------------------------------------------------------------

    def _check_nodes(self) -> None:
        for number, block in enumerate(self.blocks):
            flat = block.nodes.reshape(-1)
            position = _core.first_outside(flat, self.n_points, threads(None))
            if position >= 0:
                raise MeshError(
                    f"block {number} ({block.type}), row {block.row_of(position)}: there is no point "
                    f"{flat[position]}, the mesh has {self.n_points} points"
                )

    def _check_data(self) -> None:
        point_data = {}
        for name, values in as_mapping("point_data", self.point_data).items():
            point_data[name] = as_data(f"point_data[{name!r}]", values, self.n_points)
        set_field(self, "point_data", MappingProxyType(point_data))
        cell_data = {}
        for name, arrays in self._per_block("cell_data"):
            cell_data[name] = tuple(
                as_data(f"cell_data[{name!r}][{number}]", values, len(block))
                for number, (block, values) in enumerate(zip(self.blocks, arrays, strict=True))
            )
        set_field(self, "cell_data", MappingProxyType(cell_data))
        set_field(self, "field_data", MappingProxyType(dict(as_mapping("field_data", self.field_data))))
        set_field(self, "block_data", MappingProxyType(dict(self._per_block("block_data"))))

    def _check_sets(self) -> None:
        point_sets = {}
        for name, members in as_mapping("point_sets", self.point_sets).items():
            point_sets[name] = as_members(f"point_sets[{name!r}]", members, self.n_points)
        set_field(self, "point_sets", MappingProxyType(point_sets))
        cell_sets = {}
        for name, rows in self._per_block("cell_sets"):
            cell_sets[name] = tuple(
                as_members(f"cell_sets[{name!r}][{number}]", members, len(block))
                for number, (block, members) in enumerate(zip(self.blocks, rows, strict=True))
            )
        set_field(self, "cell_sets", MappingProxyType(cell_sets))
        if not isinstance(self.periodic, list | tuple):
            raise MeshError(f"periodic must be a sequence, got {type(self.periodic).__name__}")
        periodic = [as_periodic(f"periodic[{i}]", entry, self.n_points) for i, entry in enumerate(self.periodic)]
        set_field(self, "periodic", tuple(periodic))

    def _per_block(self, what: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
        for name, values in as_mapping(what, getattr(self, what)).items():
            if not isinstance(values, list | tuple) or len(values) != len(self.blocks):
                given = f"{len(values)} entries" if isinstance(values, list | tuple) else type(values).__name__
                raise MeshError(
                    f"{what}[{name!r}] must list one entry for each of {len(self.blocks)} blocks, got {given}"
                )
            yield name, tuple(values)


class MeshLike(Protocol):
    """Anything with points and cells as meshio has them; sets, data and the like are taken where they are."""

    points: Any
    cells: Any


def fingerprint_of(*values: Any) -> str:
    """Return a hash of arrays, dtype and shape included, and of what has a repr that tells it apart."""
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        if isinstance(value, np.ndarray):
            flat = np.ascontiguousarray(value).reshape(-1)
            number = _core.fingerprint(flat.view(np.uint8), threads(None))
            digest.update(f"{value.dtype.str}{value.shape}{number};".encode())
        else:
            digest.update(f"{value!r};".encode())
    return digest.hexdigest()


def as_points(values: Any) -> Array:
    """Return points in their own dtype, contiguous, read-only; refuse what is not real or not (n, 1|2|3)."""
    points = native("points", values)
    if points.dtype.kind not in "iuf":
        raise MeshError(f"points must be real numbers, got the dtype {points.dtype}")
    if points.ndim != 2 or points.shape[1] not in (1, 2, 3):
        raise MeshError(f"points must be (n_points, 1|2|3), got the shape {points.shape}")
    return frozen(np.ascontiguousarray(points))


def as_blocks(blocks: Iterable[Any]) -> tuple[CellBlock, ...]:
    """Return blocks from anything that `as_block` takes; an error names the block."""
    if not isinstance(blocks, Iterable):
        raise MeshError(f"blocks must be a sequence of blocks, got {type(blocks).__name__}")
    result = []
    for number, block in enumerate(blocks):
        try:
            result.append(as_block(block))
        except (MeshError, TypeError) as error:  # TypeError: rows that are no sequence
            raise MeshError(f"block {number}: {error}") from None
    return tuple(result)


def as_periodic(what: str, entry: Any, n_points: int) -> Periodic:
    """Return a checked Periodic from anything of its shape."""
    try:
        dim, (slave, master), affine, pairs = entry
        dim, tags = int(dim), (int(slave), int(master))
    except (TypeError, ValueError, OverflowError):
        raise MeshError(f"{what} must be (dim, (slave tag, master tag), affine, pairs), got {entry!r}") from None
    pairs = as_ids(f"{what}.pairs", pairs)
    if pairs.size == 0:
        pairs = pairs.reshape(0, 2)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise MeshError(f"{what}.pairs must be (n, 2), slave point and master point, got the shape {pairs.shape}")
    pairs = as_members(f"{what}.pairs", pairs.reshape(-1), n_points).reshape(-1, 2)
    return Periodic(dim, tags, None if affine is None else native(f"{what}.affine", affine), frozen(pairs))


def as_mesh(mesh: Any) -> Mesh:
    """Return `mesh` as a Mesh: itself, or what a meshio-like object holds."""
    if isinstance(mesh, Mesh):
        return mesh
    if not hasattr(mesh, "points") or not hasattr(mesh, "cells"):
        hint = " (meshpart.read reads a file)" if isinstance(mesh, str | os.PathLike) else ""
        raise MeshError(f"a mesh needs points and cells, got {type(mesh).__name__}{hint}")
    if not isinstance(mesh.cells, dict | list | tuple):
        raise MeshError(
            f"cells must be a list of blocks, got {type(mesh.cells).__name__} (of a SubMesh, give its mesh)"
        )
    return Mesh.from_meshio(mesh)
