"""Between meshio's mesh and ours: nothing is lost on the way there and back, and the caller's mesh never changes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from meshpart.arrays import Array, Ids
from meshpart.blocks import CellBlock
from meshpart.cells import CELL_TYPES, cell_type
from meshpart.ending import open_ending
from meshpart.errors import MeshError
from meshpart.mesh import Mesh

if TYPE_CHECKING:
    import meshio

MODULES_THAT_OPEN = ("meshio._files", "meshio.tetgen._tetgen")  # the files of readers that may miss the end
NO_CELL_SETS = ("gmsh:bounding_entities",)  # meshio keeps these among the cell sets; they hold no cells


@contextmanager
def patched_meshio() -> Iterator[Any]:
    """Import meshio, and lend it what it lacks until the last user leaves.

    Lent are the cell types whose size or dimension is not in its tables: its readers and writers know types, such as
    wedge15, pyramid13 and tetra4, that its classes then refuse with a KeyError. And files that end: several of its
    readers would read on for ever in a file that is cut short.

    Yields
    ------
    meshio : module
    """
    module = import_module("meshio")
    _loan.take()
    try:
        yield module
    finally:
        _loan.give_back()


def from_meshio(mesh: Any) -> Mesh:
    """Return the Mesh that a `meshio.Mesh`, or anything alike, holds; arrays are shared where they can be.

    MED's families, which meshio keeps beside the mesh, become point and cell sets.
    """
    cells = mesh.cells
    blocks: Any = tuple(cells.items()) if isinstance(cells, dict) else tuple(cells)
    point_data, cell_data = optional(mesh, "point_data"), optional(mesh, "cell_data")
    cell_sets = optional(mesh, "cell_sets")
    point_families = _families(optional(mesh, "point_tags"), [point_data.get("point_tags")])
    cell_families = _families(optional(mesh, "cell_tags"), cell_data.get("cell_tags"))
    return Mesh(
        points=mesh.points,
        blocks=blocks,
        point_data=point_data,
        cell_data=cell_data,
        field_data=optional(mesh, "field_data"),
        point_sets={
            **{name: members for name, (members,) in point_families.items()},
            **optional(mesh, "point_sets"),
        },
        cell_sets={
            **cell_families,
            **{name: rows for name, rows in cell_sets.items() if name not in NO_CELL_SETS},
        },
        block_data={name: rows for name, rows in cell_sets.items() if name in NO_CELL_SETS},
        periodic=tuple(getattr(mesh, "gmsh_periodic", None) or ()),
        info=getattr(mesh, "info", None),
    )


def to_meshio(mesh: Mesh) -> meshio.Mesh:
    """Return a `meshio.Mesh` with the same content.

    Raises
    ------
    MeshError
        For a block of polygons of several sizes: meshio holds one size a block.
    """
    import meshio

    return meshio.Mesh(
        points=mesh.points,
        cells=[_block(meshio.CellBlock, block) for block in mesh.blocks],
        point_data=dict(mesh.point_data),
        cell_data={name: list(arrays) for name, arrays in mesh.cell_data.items()},
        field_data=dict(mesh.field_data),
        point_sets=dict(mesh.point_sets),
        cell_sets={name: list(rows) for name, rows in (*mesh.cell_sets.items(), *mesh.block_data.items())},
        gmsh_periodic=[[p.dim, p.tags, p.affine, p.pairs] for p in mesh.periodic] or None,
        info=mesh.info,
    )


def optional(mesh: Any, name: str) -> dict[str, Any]:
    """Return a dict attribute of a meshio-like object, empty where it has none."""
    return getattr(mesh, name, None) or {}


def polyhedron_faces(block: CellBlock) -> list[list[Array]]:
    """Return the faces of each polyhedron as arrays of point ids."""
    assert block.faces is not None
    assert block.offsets is not None
    faces = block.faces
    named = np.diff(faces.corner_offsets[faces.offsets])
    points = block.nodes[faces.corners + np.repeat(block.offsets[:-1], named)]
    of_faces = np.split(points, faces.corner_offsets[1:-1]) if len(faces.corners) else []
    return [of_faces[first:last] for first, last in zip(faces.offsets[:-1], faces.offsets[1:], strict=True)]


def _block(make: Any, block: CellBlock) -> meshio.CellBlock:
    """Return a meshio block, also of the types whose dimension meshio's constructor does not know."""
    made: meshio.CellBlock = make.__new__(make)
    made.type = block.type
    made.data = _rows(block)
    made.dim = cell_type(block.type).dim
    made.tags = list(block.tags)
    return made


def _rows(block: CellBlock) -> Any:
    if block.faces is not None:
        return polyhedron_faces(block)
    if block.offsets is None:
        return block.nodes
    lengths = block.row_lengths()
    if len(lengths) and lengths.min() != lengths.max():
        least, most = lengths.min(), lengths.max()
        raise MeshError(f"a meshio block holds {block.type}s of one size, got {least} to {most} points")
    return block.nodes.reshape(len(block), -1) if len(block) else np.zeros((0, 3), np.int64)


def _families(names_of: Mapping[Any, Sequence[str]], tags: Any) -> dict[str, list[Ids]]:
    """Return the members of each named group: a family's number stands at its members and names their groups.

    Parameters
    ----------
    names_of : mapping of a family's number to the names of its groups
    tags : list of ndarray of int
        The family of each entity, an array for each block.
    """
    families: dict[str, list[Any]] = {}
    if tags is None or any(array is None for array in tags):
        return {}
    for family, names in names_of.items():
        for name in names:
            families.setdefault(name, []).append(family)
    return {name: [np.flatnonzero(np.isin(array, numbers)) for array in tags] for name, numbers in families.items()}


class _Loan:
    """What meshio's modules lack, lent to them while anyone needs it; what they have stays as it is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: list[int] = []  # the threads, once for each time
        self._lent: list[tuple[dict[str, Any], str]] = []

    def take(self) -> None:
        with self._lock:
            self._users.append(threading.get_ident())
            for module in MODULES_THAT_OPEN:
                self._lend(vars(import_module(module)), "open", open_ending)
            dims = import_module("meshio._mesh").topological_dimension
            sizes = import_module("meshio._common").num_nodes_per_cell
            for name, kind in CELL_TYPES.items():
                self._lend(dims, name, kind.dim)
                if kind.n_points is not None:
                    self._lend(sizes, name, kind.n_points)

    def give_back(self) -> None:
        with self._lock:
            self._users.remove(threading.get_ident())
            self._take_back_unless_used()

    def forget_other_threads(self) -> None:
        """Go on in a forked process, which has the thread that forked alone, and the lock as others held it."""
        self._lock = threading.Lock()
        self._users = [thread for thread in self._users if thread == threading.get_ident()]
        self._take_back_unless_used()

    def _take_back_unless_used(self) -> None:
        if not self._users:
            for table, name in self._lent:
                table.pop(name, None)
            self._lent.clear()

    def _lend(self, table: dict[str, Any], name: str, value: object) -> None:
        if name not in table:
            self._lent.append((table, name))
            table[name] = value


_loan = _Loan()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_loan.forget_other_threads)
