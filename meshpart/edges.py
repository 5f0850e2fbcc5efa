"""The table of edges: which points of a cell's row lie along each of its edges.

After the corners a row has the points inside the first edge, then those inside the second, and so on; points of faces
and of the body come last. The order of the edges is VTK's wherever VTK has the type, and else gmsh's, as in
`meshpart.cells`. Some files differ, where meshio takes rows as they stand: wedge18 from gmsh is in gmsh's order,
hexahedron20 and hexahedron27 from Exodus have the edges between bottom and top before those of the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np

from meshpart.arrays import trusted
from meshpart.blocks import CellBlock
from meshpart.cells import COMPLETE, INCOMPLETE, VTK_SHAPES, CellType, cell_type, ring
from meshpart.errors import MeshError
from meshpart.mesh import Flat, Mesh
from meshpart.outline import Outline, outline

Edge = tuple[int, ...]  # positions in a row: a corner, the points inside the edge from there, the other corner
Edges = tuple[Edge, ...]


def edges(mesh: Mesh) -> tuple[Flat, Outline]:
    """Return the edges of the cells of each block, and the mesh whose blocks those are, as the core takes it.

    That mesh is the given one, but for types of any order (VTK_LAGRANGE_*, VTK_BEZIER_*): a block with rows of
    different lengths becomes one block for each length.

    Raises
    ------
    MeshError
        If a row of a type of any order has a number of points that no order has.
    """
    pieces = [piece for number, block in enumerate(mesh.blocks) for piece in pieces_of(block, number)]
    if len(pieces) > len(mesh.blocks):
        mesh = trusted(Mesh, points=mesh.points, blocks=tuple(block for block, _ in pieces))
    return mesh.flat, outline(mesh, [of_block for _, of_block in pieces])


def pieces_of(block: CellBlock, number: int) -> Iterator[tuple[CellBlock, Edges]]:
    """Yield a block and its edges; of a type of any order, the rows of each length as a block of their own."""
    kind = cell_type(block.type)
    if kind.n_points is not None or kind.n_corners is None:
        yield block, edges_of(kind, kind.n_points or 0)
        return
    lengths = block.row_lengths()
    by_length = np.argsort(lengths, kind="stable")
    changes = np.flatnonzero(np.diff(lengths[by_length])) + 1
    for rows in np.split(by_length, changes):
        try:
            of_piece = edges_of(kind, int(lengths[rows[0]])) if len(rows) else ()
        except MeshError as error:
            raise MeshError(f"block {number} ({block.type}), row {rows[0]}: {error}") from None
        yield (block.take(rows) if len(changes) else block), of_piece


# The edges of each shape from corner to corner, in the order and the direction in which VTK numbers the points inside:
# opposite sides of a square run the same way. VTK has no pyramid of order 3 and more, whose base is then like a quad.
SQUARE = ((0, 1), (1, 2), (3, 2), (0, 3))
IN_VTK: dict[str, Edges] = {
    "line": ((0, 1),),
    "triangle": ring(range(3)),
    "quad": SQUARE,
    "tetra": (*ring(range(3)), (0, 3), (1, 3), (2, 3)),
    "pyramid": (*SQUARE, (0, 4), (1, 4), (2, 4), (3, 4)),
    "wedge": (*ring(range(3)), *ring(range(3, 6)), (0, 3), (1, 4), (2, 5)),
    "hexahedron": (*SQUARE, (4, 5), (5, 6), (7, 6), (4, 7), (0, 4), (1, 5), (2, 6), (3, 7)),
}


def corner_edges(kind: CellType) -> Edges:
    """Return the edges from corner to corner: the facets of a surface, and those of a solid sorted by their corners."""
    assert kind.facets is not None
    if kind.dim == 3:
        return tuple(sorted({(min(side), max(side)) for face in kind.facets for side in ring(face)}))
    return kind.facets if kind.dim == 2 else IN_VTK["line"][: kind.dim]


# The same in gmsh.
IN_GMSH: dict[str, Edges] = {
    **{shape: corner_edges(cell_type(shape)) for shape in VTK_SHAPES},
    "tetra": (*ring(range(3)), (3, 0), (3, 2), (3, 1)),
}

# Which edges have a point inside, in types where others have none. Exodus' quad5 and hexahedron9 have a point in the
# middle, its tetra8 one on each face.
CURVED: dict[str, tuple[int, ...]] = {
    "quad5": (),
    "quad6": (0, 2),
    "tetra8": (),
    "hexahedron9": (),
    "wedge12": (0, 1, 2, 3, 4, 5),
}

# What VTK takes for a cell of order 2 besides: one with points in the middle of its faces and its body.
SECOND_ORDER = {"triangle": 7, "tetra": 15, "wedge": 21}


def edges_of(kind: CellType, n_points: int) -> Edges:
    """Return the edges of a cell with so many points; those of polygons and polyhedra are not in the table.

    Raises
    ------
    MeshError
        If a type has any order, but none with so many points.

    Examples
    --------
    >>> edges_of(cell_type("line4"), 4)
    ((0, 2, 3, 1),)
    >>> edges_of(cell_type("triangle6"), 6)
    ((0, 3, 1), (1, 4, 2), (2, 5, 0))
    """
    if kind.n_corners is None:
        return ()
    if n_points == kind.n_corners:
        return corner_edges(kind)
    if kind.name.startswith("quadratic_polygon"):
        return curved(corner_edges(kind), kind.n_corners, 1)
    shape = shape_of(kind)
    order = order_of(shape, n_points, any_order=kind.n_points is None)
    as_in_vtk = kind.n_points is None or (order == 2 and kind.name != "pyramid14")
    corners = (IN_VTK if as_in_vtk else IN_GMSH)[shape]
    return curved(corners, kind.n_corners, order - 1, CURVED.get(kind.name))


def curved(corners: Edges, first: int, n_inside: int, which: tuple[int, ...] | None = None) -> Edges:
    """Return edges with so many points inside each, or each of some, numbered from the first on."""
    inside = iter(range(first, first + len(corners) * n_inside))
    return tuple(
        (a, *islice(inside, n_inside if which is None or number in which else 0), b)
        for number, (a, b) in enumerate(corners)
    )


def shape_of(kind: CellType) -> str:
    """Return the name of the linear type that a curved type comes from."""
    family = re.fullmatch(r"VTK_(?:LAGRANGE|BEZIER)_([A-Z]+)", kind.name)
    return kind.name.rstrip("0123456789") if family is None else {v: k for k, v in VTK_SHAPES.items()}[family[1]]


def order_of(shape: str, n_points: int, *, any_order: bool) -> int:
    """Return the order of a cell of a shape; that of all cells with some points missing or besides is 2."""
    if n_points in ([SECOND_ORDER.get(shape)] if any_order else INCOMPLETE.get(shape, ())):
        return 2
    order = 1
    while COMPLETE[shape](order) < n_points:
        order += 1
    if COMPLETE[shape](order) != n_points:
        raise MeshError(
            f"no {shape} has {n_points} points: of order {order - 1} it has {COMPLETE[shape](order - 1)}, "
            f"of order {order} {COMPLETE[shape](order)}"
        )
    return order
