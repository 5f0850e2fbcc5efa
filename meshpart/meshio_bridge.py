"""Between meshio's mesh and ours: nothing is lost on the way there and back, and the caller's mesh never changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from meshpart.arrays import Array
from meshpart.blocks import CellBlock
from meshpart.cells import cell_type
from meshpart.errors import MeshError
from meshpart.mesh import Mesh

if TYPE_CHECKING:
    import meshio

NO_CELL_SETS = ("gmsh:bounding_entities",)  # meshio keeps these among the cell sets; they hold no cells


def from_meshio(mesh: Any) -> Mesh:
    """Return the Mesh that a `meshio.Mesh`, or anything alike, holds; arrays are shared where they can be."""
    cells = mesh.cells
    cell_sets = optional(mesh, "cell_sets")
    return Mesh(
        points=mesh.points,
        blocks=tuple(cells.items()) if isinstance(cells, dict) else tuple(cells),
        point_data=optional(mesh, "point_data"),
        cell_data=optional(mesh, "cell_data"),
        field_data=optional(mesh, "field_data"),
        point_sets=optional(mesh, "point_sets"),
        cell_sets={name: rows for name, rows in cell_sets.items() if name not in NO_CELL_SETS},
        block_data={name: rows for name, rows in cell_sets.items() if name in NO_CELL_SETS},
        periodic=tuple(getattr(mesh, "gmsh_periodic", None) or ()),
        info=getattr(mesh, "info", None),
    )


def to_meshio(mesh: Mesh) -> meshio.Mesh:
    """Return a `meshio.Mesh` with the same content.

    Raises
    ------
    MeshError
        For a block of polygons of several sizes: meshio holds one size a block. `split_by_size` makes such blocks.
    """
    import meshio

    return meshio.Mesh(
        points=mesh.points,
        cells=[_to_meshio_block(meshio.CellBlock, block) for block in mesh.blocks],
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


def _to_meshio_block(make: Any, block: CellBlock) -> meshio.CellBlock:
    """Return a meshio block, also of the types whose dimension meshio's constructor does not know."""
    made: meshio.CellBlock = make.__new__(make)
    made.type = block.type
    made.data = block.nodes if block.offsets is None else _ragged_rows(block)
    made.dim = cell_type(block.type).dim
    made.tags = list(block.tags)
    return made


def _ragged_rows(block: CellBlock) -> Any:
    if block.faces is not None:
        return polyhedron_faces(block)
    lengths = block.row_lengths()
    if len(lengths) and lengths.min() != lengths.max():
        raise MeshError(
            f"a meshio block holds {block.type}s of one size, got {lengths.min()} to {lengths.max()} points"
        )
    return block.nodes.reshape(len(block), -1) if len(block) else np.zeros((0, 3), np.int64)


def polyhedron_faces(block: CellBlock) -> list[list[Array]]:
    """Return the faces of each polyhedron as arrays of point ids."""
    assert block.faces is not None
    assert block.offsets is not None
    faces = block.faces
    named = np.diff(faces.corner_offsets[faces.offsets])
    points = block.nodes[faces.corners + np.repeat(block.offsets[:-1], named)]
    of_faces = np.split(points, faces.corner_offsets[1:-1]) if len(faces.corners) else []
    return [of_faces[first:last] for first, last in zip(faces.offsets[:-1], faces.offsets[1:], strict=True)]
