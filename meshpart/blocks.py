"""Blocks: cells of one type, as a table of points, as rows of different lengths, or as polyhedra."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshpart.arrays import (
    Frozen,
    Ids,
    as_ids,
    as_row,
    check_offsets,
    flatten,
    frozen,
    row_positions,
    set_field,
    starts,
    take_rows,
    trusted,
)
from meshpart.cells import CellType, cell_type
from meshpart.errors import MeshError


@dataclass(frozen=True, eq=False)
class Faces(Frozen):
    """The faces of a block of polyhedra.

    Parameters
    ----------
    offsets : ndarray of int64, (n_cells + 1,)
        Cell c has the faces offsets[c] .. offsets[c + 1] - 1.
    corner_offsets : ndarray of int64, (n_faces + 1,)
        Face f has the corners corners[corner_offsets[f]:corner_offsets[f + 1]].
    corners : ndarray of int64
        Positions in the cell's own row of nodes, so that a face needs no renumbering when its cell moves.
    """

    offsets: Ids
    corner_offsets: Ids
    corners: Ids

    def __post_init__(self) -> None:
        for name in ("offsets", "corner_offsets", "corners"):
            set_field(self, name, frozen(as_row(f"faces.{name}", getattr(self, name)).copy()))
        check_offsets("faces.offsets", self.offsets, len(self.corner_offsets) - 1, least=1)
        check_offsets("faces.corner_offsets", self.corner_offsets, self.corners.size, least=3)

    def take(self, cells: Ids) -> Faces:
        """Return the faces of chosen cells."""
        offsets, faces = row_positions(self.offsets, cells)
        return Faces(offsets, *take_rows(self.corner_offsets, self.corners, faces))


@dataclass(frozen=True, eq=False)
class CellBlock(Frozen):
    """Cells of one type.

    Parameters
    ----------
    type : str
        A name of `meshpart.cells`.
    nodes : ndarray of int64, (n_cells, k), or (m,) with `offsets`
        The points of each cell, corner points first. Of a polyhedron, each of its points once.
    offsets : ndarray of int64, (n_cells + 1,), optional
        Where each cell's nodes begin, of a type whose cells may have different numbers of points. A table of such
        cells gets them too, so that the same cells are the same block however they were given.
    faces : Faces, optional
        Of polyhedra only, and always of them.
    tags : tuple of str
        Names given to the whole block.

    Raises
    ------
    MeshError
        If the type is unknown, or the arrays do not have its shape.
    """

    type: str
    nodes: Ids
    offsets: Ids | None = None
    faces: Faces | None = None
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kind = cell_type(self.type)
        set_field(self, "nodes", as_ids(f"{self.type} nodes", self.nodes))
        if isinstance(self.tags, str) or not isinstance(self.tags, Iterable):
            raise MeshError(f"{self.type}: tags must be a sequence of names, got {self.tags!r}")
        set_field(self, "tags", tuple(self.tags))
        if self.offsets is None:
            self._check_table(kind)
        else:  # a copy, because the core trusts offsets
            set_field(self, "offsets", frozen(as_ids(f"{self.type} offsets", self.offsets).copy()))
        if kind.n_points is None:
            self._check_rows(kind)
        elif self.offsets is not None:
            raise MeshError(f"{self.type}: every cell has {kind.n_points} points, so it takes no offsets")
        if isinstance(self.faces, Faces) != is_polyhedron(self.type) or not isinstance(self.faces, Faces | None):
            raise MeshError(f"{self.type}: polyhedra have Faces, and nothing else has")
        if self.faces is not None:
            self._check_faces(self.faces)

    def __len__(self) -> int:
        return len(self.nodes) if self.offsets is None else len(self.offsets) - 1

    @classmethod
    def from_rows(cls, type: str, rows: Any, tags: Iterable[str] = ()) -> CellBlock:
        """Build a block from rows of point ids.

        Parameters
        ----------
        type : str
            A name of `meshpart.cells`.
        rows : array_like of int, (n_cells, k), or a sequence of rows of different lengths
            Of polyhedra: for each cell its faces, each a sequence of point ids.
        tags : iterable of str
            Names given to the whole block.
        """
        if not isinstance(rows, Iterable):
            raise MeshError(f"{type}: rows must be a sequence, got {rows!r}")
        if is_polyhedron(type):
            return cls._from_faces(type, rows, tuple(tags))
        if isinstance(rows, np.ndarray) and rows.dtype != object and rows.shape != (0,):
            return cls(type, rows, tags=tuple(tags))
        rows = [as_row(f"{type} row {number}", row) for number, row in enumerate(rows)]
        wide = cell_type(type).n_points
        if wide is None:
            return cls(type, *flatten(rows), tags=tuple(tags))
        for number, row in enumerate(rows):
            if len(row) != wide:
                raise MeshError(f"{type}: a cell has {wide} points, row {number} has {len(row)}")
        return cls(type, flatten(rows)[0].reshape(-1, wide), tags=tuple(tags))

    def __repr__(self) -> str:
        return f"<CellBlock: {len(self)} {self.type}>"

    def row_lengths(self) -> Ids:
        """Return the number of points of each cell: int64, (n_cells,)."""
        if self.offsets is None:
            return np.full(len(self.nodes), self.nodes.shape[1], np.int64)
        return np.diff(self.offsets)

    def row_of(self, position: int) -> int:
        """Return the row that holds `nodes.reshape(-1)[position]`."""
        if self.offsets is None:
            return int(position // self.nodes.shape[1])
        return int(np.searchsorted(self.offsets, position, "right")) - 1

    def take(self, rows: Ids) -> CellBlock:
        """Return chosen rows as a block, in the given order."""
        if self.offsets is None:
            offsets, nodes = None, self.nodes[rows]
        else:
            offsets, nodes = take_rows(self.offsets, self.nodes, rows)
        return trusted(
            CellBlock,
            type=self.type,
            nodes=frozen(nodes),
            offsets=None if offsets is None else frozen(offsets),
            faces=None if self.faces is None else self.faces.take(rows),
            tags=self.tags,
        )

    @classmethod
    def _from_faces(cls, type: str, cells: Iterable[Sequence[Any]], tags: tuple[str, ...]) -> CellBlock:
        nodes, corners, faces_of, sizes = [], [], [], []
        for cell, faces in enumerate(cells):
            named, offsets = flatten([as_row(f"{type} cell {cell}", face) for face in faces])
            unique, first, inverse = np.unique(named, return_index=True, return_inverse=True)
            order = np.argsort(first)  # a cell's points in the order in which its faces name them
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            nodes.append(unique[order])
            corners.append(rank[inverse])
            faces_of.append(len(faces))
            sizes.append(np.diff(offsets))
        flat_nodes, offsets = flatten(nodes)
        flat_corners, _ = flatten(corners)
        return cls(type, flat_nodes, offsets, Faces(starts(faces_of), starts(flatten(sizes)[0]), flat_corners), tags)

    def _check_table(self, kind: CellType) -> None:
        if self.nodes.ndim != 2:
            raise MeshError(f"{self.type}: nodes must be (n_cells, k), got the shape {self.nodes.shape}")
        rows, wide = self.nodes.shape
        if kind.n_points is None:
            set_field(self, "nodes", self.nodes.reshape(-1))
            set_field(self, "offsets", frozen(wide * np.arange(rows + 1)))
        elif wide != kind.n_points:
            raise MeshError(f"{self.type}: a cell has {kind.n_points} points, got rows of {wide}")

    def _check_rows(self, kind: CellType) -> None:
        assert self.offsets is not None
        if self.nodes.ndim != 1:
            raise MeshError(f"{self.type}: nodes with offsets must be flat, got the shape {self.nodes.shape}")
        check_offsets(f"{self.type} offsets", self.offsets, len(self.nodes), least=kind.n_corners or 3)

    def _check_faces(self, faces: Faces) -> None:
        if self.offsets is None or len(faces.offsets) != len(self.offsets):
            raise MeshError(f"{self.type}: offsets and faces must speak of the same cells")
        named = np.diff(faces.corner_offsets[faces.offsets])  # how many corners the faces of each cell name
        if np.any((faces.corners < 0) | (faces.corners >= np.repeat(np.diff(self.offsets), named))):
            raise MeshError(f"{self.type}: a face names a corner that its cell does not have")


def is_polyhedron(type: str) -> bool:
    """Whether cells of this type are given by their faces."""
    return isinstance(type, str) and type.startswith("polyhedron")


def as_block(block: Any) -> CellBlock:
    """Return a CellBlock: itself, or one made of (type, rows) or of an object with `type` and `data`."""
    if isinstance(block, CellBlock):
        return block
    if isinstance(block, tuple | list) and len(block) == 2:
        return CellBlock.from_rows(*block)
    if hasattr(block, "type") and hasattr(block, "data"):
        return CellBlock.from_rows(block.type, block.data, getattr(block, "tags", None) or ())
    raise MeshError(f"a block of cells is a CellBlock or (type, rows), got {block!r}")
