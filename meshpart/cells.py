"""The table of cell types: how many points a cell has, which of them are corners, which corners make a facet.

The names and the order of a cell's points are meshio's, which is VTK's wherever VTK has the type; its linear
wedge is gmsh's and that of VTK 9.7, older VTK has the mirror image. The table is made by rule from the linear
types: `ring`, `cone` and `prism` give their facets, and whatever has more points keeps the corners and facets
of its linear type, since corners come first in every row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb

from meshpart.errors import MeshError

Facet = tuple[int, ...]

MOST_POINTS = 10**6  # of a cell whose number of points its name tells


@dataclass(frozen=True, slots=True)
class CellType:
    """What all cells of one type have in common.

    Parameters
    ----------
    name : str
        meshio's name where meshio has one.
    dim : int
        Topological dimension, 0..3.
    n_points : int or None
        Points of a cell. None where it varies: polygon, polyhedron, VTK_LAGRANGE_*, VTK_BEZIER_*.
    n_corners : int or None
        Corner points, which come first in every row. None where all points are corners: polygon, polyhedron.
    facets : tuple of tuples of int, or None
        The corners of each facet, as positions in the row. Those of a 3-D cell are rings whose normals, by
        the right hand rule, point outwards; those of a 2-D cell follow each other around it. None where they
        are read from the data: polygon, polyhedron.
    vtk : int or None
        VTK's number of the type. None where VTK has no such cell (pyramid14) or orders its points otherwise:
        from order 3 on, meshio hands out gmsh's order, which is VTK's in lines and triangles (then the number
        of the VTK_LAGRANGE type, which takes any order) and in nothing else (quad16, tetra20, wedge40, ...).
    """

    name: str
    dim: int
    n_points: int | None
    n_corners: int | None
    facets: tuple[Facet, ...] | None
    vtk: int | None


def cell_type(name: str) -> CellType:
    """Look a cell type up by its name.

    Parameters
    ----------
    name : str
        A key of `CELL_TYPES`. A number after polygon or polyhedron is kept in the name and means nothing; a
        quadratic polygon needs one, its number of points (quadratic_polygon8 has 4 corners), since meshio has
        no name for it and its rows alone tell how many of them are corners.

    Raises
    ------
    MeshError
        If the name is unknown, or is that of a VTK type which is no single cell with facets.

    Examples
    --------
    >>> cell_type("tetra10").n_corners
    4
    >>> cell_type("triangle").facets
    ((0, 1), (1, 2), (2, 0))
    >>> cell_type("polyhedron8").name
    'polyhedron8'
    """
    if not isinstance(name, str):
        raise MeshError(f"unknown cell type {name!r}: it is no name")
    if name in CELL_TYPES:
        return CELL_TYPES[name]
    if name in REFUSED:
        raise MeshError(f"cell type {name!r} is not supported: {REFUSED[name]}")
    if varying := re.fullmatch(r"(polygon|polyhedron)[0-9]+", name):
        return replace(CELL_TYPES[varying[1]], name=name)
    if quadratic := re.fullmatch(r"quadratic_polygon0*([0-9]+)", name):
        if len(quadratic[1]) > len(str(MOST_POINTS)) or int(quadratic[1]) > MOST_POINTS:
            raise MeshError(f"{name[:40]}: a cell has at most {MOST_POINTS} points")
        return quadratic_polygon(name, int(quadratic[1]))
    raise MeshError(f"unknown cell type {name!r}: it is neither a type of meshio nor a cell of VTK")


def quadratic_polygon(name: str, n_points: int) -> CellType:
    """Return VTK's quadratic polygon of that many points: its corners, then one point on each side."""
    if n_points % 2 or n_points in range(6):
        raise MeshError(f"{name}: half of its points are corners, at least 3, got {n_points} points")
    corners = range(n_points // 2)
    return CellType(name, 2, n_points, len(corners), ring(corners), 36)


def ring(corners: Sequence[int]) -> tuple[Facet, ...]:
    """Return the sides of a 2-D cell with these corners around it."""
    return tuple(zip(corners, (*corners[1:], corners[0]), strict=True))


def cone(base: Sequence[int], apex: int) -> tuple[Facet, ...]:
    """Return the faces of a pyramid: base (counterclockwise as seen from the apex), then sides."""
    return (tuple(base[::-1]), *((a, b, apex) for a, b in ring(base)))


def prism(base: Sequence[int], top: Sequence[int]) -> tuple[Facet, ...]:
    """Return the faces of a prism: base (counterclockwise as seen from the top), top, sides."""
    sides = ((a, b, d, c) for (a, b), (c, d) in zip(ring(base), ring(top), strict=True))
    return (tuple(base[::-1]), tuple(top), *sides)


LINEAR = (
    CellType("vertex", 0, 1, 1, (), 1),
    CellType("line", 1, 2, 2, ((0,), (1,)), 3),
    CellType("triangle", 2, 3, 3, ring(range(3)), 5),
    CellType("quad", 2, 4, 4, ring(range(4)), 9),
    CellType("pixel", 2, 4, 4, ring((0, 1, 3, 2)), 8),
    CellType("tetra", 3, 4, 4, cone(range(3), 3), 10),
    CellType("pyramid", 3, 5, 5, cone(range(4), 4), 14),
    CellType("wedge", 3, 6, 6, prism(range(3), range(3, 6)), 13),
    CellType("hexahedron", 3, 8, 8, prism(range(4), range(4, 8)), 12),
    CellType("voxel", 3, 8, 8, prism((0, 1, 3, 2), (4, 5, 7, 6)), 11),
    CellType("penta_prism", 3, 10, 10, prism(range(5), range(5, 10)), 15),
    CellType("hexa_prism", 3, 12, 12, prism(range(6), range(6, 12)), 16),
)

VARYING = (
    CellType("polygon", 2, None, None, None, 7),
    CellType("polyhedron", 3, None, None, None, 42),
)

# The points of a cell that has all those of order p.
COMPLETE: dict[str, Callable[[int], int]] = {
    "line": lambda p: p + 1,
    "triangle": lambda p: comb(p + 2, 2),
    "quad": lambda p: (p + 1) ** 2,
    "tetra": lambda p: comb(p + 3, 3),
    "pyramid": lambda p: (p + 1) * (p + 2) * (2 * p + 3) // 6,
    "wedge": lambda p: (p + 1) * comb(p + 2, 2),
    "hexahedron": lambda p: (p + 1) ** 3,
}

# The points of cells that have others: none in faces or body, orders mixed, one more in the middle. quad5,
# tetra8, tetra14 and hexahedron9 are Exodus types as meshio spells them; tetra4 is how it spells tetra there.
INCOMPLETE = {
    "triangle": (7,),
    "quad": (5, 6, 8),
    "tetra": (4, 8, 14),
    "pyramid": (13, 19),
    "wedge": (12, 15),
    "hexahedron": (9, 20, 24),
}

HIGHEST_ORDER = 10

# VTK's own numbers of types in COMPLETE and INCOMPLETE.
VTK_FIXED = {
    "tetra4": 10,
    "line3": 21,
    "triangle6": 22,
    "quad8": 23,
    "tetra10": 24,
    "hexahedron20": 25,
    "wedge15": 26,
    "pyramid13": 27,
    "quad9": 28,
    "hexahedron27": 29,
    "quad6": 30,
    "wedge12": 31,
    "wedge18": 32,
    "hexahedron24": 33,
    "triangle7": 34,
    "line4": 35,
    "pyramid19": 37,
}

# VTK's types of any order: seven in a row in each of two families, under VTK's own names.
VTK_ANY_ORDER = {"LAGRANGE": 68, "BEZIER": 75}
VTK_SHAPES = {
    "line": "CURVE",
    "triangle": "TRIANGLE",
    "quad": "QUADRILATERAL",
    "tetra": "TETRAHEDRON",
    "hexahedron": "HEXAHEDRON",
    "wedge": "WEDGE",
    "pyramid": "PYRAMID",
}

REFUSED = {
    "empty": "it has no points",
    "poly_vertex": "it is several cells in one, write it as cells of type vertex",
    "poly_line": "it is several cells in one, write it as cells of type line",
    "triangle_strip": "it is several cells in one, write it as cells of type triangle",
    "convex_point_set": "it has no facets before its hull is computed, write it as a polyhedron",
    "quadratic_polygon": "its name must say how many points it has, such as quadratic_polygon8",
}


def curved(linear: CellType) -> Iterator[CellType]:
    """Yield the types with the corners of a linear one and other points besides."""
    shape = linear.name
    numbers = {family: first + list(VTK_SHAPES).index(shape) for family, first in VTK_ANY_ORDER.items()}
    ordered_as_vtk = shape in ("line", "triangle")
    counts = [COMPLETE[shape](order) for order in range(2, HIGHEST_ORDER + 1)]
    for n_points in (*counts, *INCOMPLETE.get(shape, ())):
        name = f"{shape}{n_points}"
        vtk = VTK_FIXED.get(name, numbers["LAGRANGE"] if ordered_as_vtk else None)
        yield replace(linear, name=name, n_points=n_points, vtk=vtk)
    for family, vtk in numbers.items():
        yield replace(linear, name=f"VTK_{family}_{VTK_SHAPES[shape]}", n_points=None, vtk=vtk)


def every_type() -> Iterator[CellType]:
    """Yield the types that have a name of their own, which is all but the numbered polygons and polyhedra."""
    yield from LINEAR
    yield from VARYING
    for linear in LINEAR:
        if linear.name in COMPLETE:
            yield from curved(linear)


CELL_TYPES = {kind.name: kind for kind in every_type()}
