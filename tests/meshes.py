"""Tiny meshes, each drawn, and hypothesis strategies for random meshes and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from meshpart import Mesh, partition_labels

Labels = npt.NDArray[np.int32]

SQUARE = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]  # the points of one quad
QUAD = [("quad", [[0, 1, 2, 3]])]

# -- grids --------------------------------------------------------------------------------------------------


def grid_points(*counts: int) -> npt.NDArray[np.float64]:
    """Return the points of a grid of unit cells, x fastest: float64, ((nx + 1) * ..., dim)."""
    axes = np.meshgrid(*(np.arange(count + 1.0) for count in counts[::-1]), indexing="ij")
    return np.stack([axis.ravel() for axis in axes[::-1]], axis=1)


def quad_rows(nx: int, ny: int) -> npt.NDArray[np.int64]:
    """Return the points of each quad of a grid: int64, (nx * ny, 4)."""
    first = np.array([i + j * (nx + 1) for j in range(ny) for i in range(nx)], np.int64).reshape(-1, 1)
    return first + np.array([0, 1, nx + 2, nx + 1])


def quads(nx: int, ny: int) -> Mesh:
    """Q(nx, ny): nx * ny unit quads with 2-D points; quads(2, 2) is

    6---7---8
    | 2 | 3 |
    3---4---5
    | 0 | 1 |
    0---1---2
    """
    return Mesh(grid_points(nx, ny), [("quad", quad_rows(nx, ny))])


def strip(n: int) -> Mesh:
    """Return n quads in a row; strip(3) is

    4---5---6---7
    | 0 | 1 | 2 |
    0---1---2---3
    """
    return quads(n, 1)


def triangles(nx: int, ny: int) -> Mesh:
    """Return the quads of a grid, each cut along one diagonal; triangles(2, 1) is

    3---4---5
    |1 /|3 /|
    | / | / |
    |/ 0|/ 2|
    0---1---2
    """
    rows = quad_rows(nx, ny)
    return Mesh(grid_points(nx, ny), [("triangle", rows[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))])


def cube_rows(nx: int, ny: int, nz: int) -> npt.NDArray[np.int64]:
    """Return the points of each cube of a grid: int64, (nx * ny * nz, 8)."""
    layer = (nx + 1) * (ny + 1)
    bottom = np.concatenate([np.zeros((0, 4), np.int64), *(quad_rows(nx, ny) + k * layer for k in range(nz))])
    return np.hstack([bottom, bottom + layer])


def cubes(nx: int, ny: int, nz: int) -> Mesh:
    """Return unit hexahedra, x fastest; cubes(2, 1, 1) is

      9---10--11
     /|  /|  /|
    6---7---8 |       z y
    | 3-|-4-|-5       |/
    |/ 0|/ 1|/        +-- x
    0---1---2
    """
    return Mesh(grid_points(nx, ny, nz), [("hexahedron", cube_rows(nx, ny, nz))])


def tets(nx: int, ny: int, nz: int) -> Mesh:
    """Return each cube of a grid cut into six tets around its diagonal from the lowest to the highest corner.

    Tet t of a cube walks from corner to corner along the axes in their t-th order: 0 along x y z, 1 along x z y,
    2 along y x z, ...

         6---7
        /|  /|        tet 0 = 0 1 3 7
       4---5 |  z y   tet 1 = 0 1 5 7
       | 2-|-3  |/    tet 2 = 0 2 3 7
       |/  |/   +-x   tet 3 = 0 2 6 7
       0---1          tet 4 = 0 4 5 7, tet 5 = 0 4 6 7
    """
    corner = [0, 1, 3, 2, 4, 5, 7, 6]  # the place of corner number x + 2y + 4z in a row of a hexahedron
    walks = [[0, *np.cumsum([1 << axis for axis in order]).tolist()] for order in permutations(range(3))]
    places = [corner[number] for walk in walks for number in walk]
    return Mesh(grid_points(nx, ny, nz), [("tetra", cube_rows(nx, ny, nz)[:, places].reshape(-1, 4))])


def fan(n: int) -> Mesh:
    """Return n triangles around the point 0; fan(4) is

          2
         /|\\
        /1|0\\
       3--0--1      triangle i is (0, i + 1, i + 2), and the last one closes the circle
        \\2|3/
         \\|/
          4
    """
    angle = 2 * np.pi * np.arange(n) / n
    points = np.vstack([np.zeros((1, 2)), np.stack([np.cos(angle), np.sin(angle)], axis=1)])
    return Mesh(points, [("triangle", [[0, i + 1, (i + 1) % n + 1] for i in range(n)])])


def spindle(n: int) -> Mesh:
    """Return n tets around the edge from point 0 to point 1; spindle(4) seen along it is

        3
       /|\\
      /1|0\\
     4-0,1-2      tet i is (0, 1, i + 2, i + 3), and the last one closes the circle
      \\2|3/
       \\|/
        5
    """
    angle = 2 * np.pi * np.arange(n) / n
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    points = np.vstack([[[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], rim])
    return Mesh(points, [("tetra", [[0, 1, i + 2, (i + 1) % n + 2] for i in range(n)])])


def separate(n: int) -> Mesh:
    """Return n quads that share no point; separate(2) is

    3---2  7---6
    | 0 |  | 1 |
    0---1  4---5
    """
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    points = np.concatenate([np.zeros((0, 2)), *(square + np.array([2.0 * i, 0.0]) for i in range(n))])
    return Mesh(points, [("quad", np.arange(4 * n).reshape(n, 4))])


def no_cells(n_points: int, dim: int = 3) -> Mesh:
    """Return points and nothing else: . . ."""
    return Mesh(np.arange(float(n_points * dim)).reshape(n_points, dim), [])


# -- boundaries, and cells of several dimensions ------------------------------------------------------------


def quads_with_lines(nx: int, ny: int) -> Mesh:
    """Return Q(nx, ny) and a second block, the lines around it, counterclockwise from point 0.

    quads_with_lines(4, 1) has the cells 0..3, quads, and 4..13, lines:

        12  11  10   9
      5---6---7---8---9
    13| 0 | 1 | 2 | 3 |8
      0---1---2---3---4
        4   5   6   7
    """
    wide = nx + 1
    around = [
        *range(nx),
        *(nx + j * wide for j in range(ny)),
        *(ny * wide + i for i in range(nx, 0, -1)),
        *(j * wide for j in range(ny, 0, -1)),
    ]
    lines = np.stack([around, np.roll(around, -1)], axis=1)
    return Mesh(grid_points(nx, ny), [("quad", quad_rows(nx, ny)), ("line", lines)])


def two_tets_with_triangles() -> Mesh:
    """Return two tets on one triangle (1, 2, 3), cells 0 and 1, and their six outer triangles, cells 2..7.

        3
       /|\\
      / | \\
     0--|--4     cells 2, 3, 4 are on tet 0, cells 5, 6, 7 on tet 1
      \\ | /
       \\|/
      1   2
    """
    points = np.array([[0, 0, 0], [1, -1, 0], [1, 1, 0], [1, 0, 1], [2, 0, 0]], np.float64)
    outer = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [4, 1, 2], [4, 1, 3], [4, 2, 3]]
    return Mesh(points, [("tetra", [[0, 1, 2, 3], [1, 2, 3, 4]]), ("triangle", outer)])


def hex_pyramid_tet() -> Mesh:
    """Return a cube, a pyramid on its top and a tet on one side of the pyramid: cells 0, 1, 2.

         8
        /|\\  9
     7-------6
    4-------5      cell 0 below, cell 1 = 4 5 6 7 8, cell 2 = 4 5 8 9
    | 3     | 2
    0-------1
    """
    points = np.vstack([grid_points(1, 1, 1)[[0, 1, 3, 2, 4, 5, 7, 6]], [[0.5, 0.5, 2.0], [0.5, -1.0, 1.5]]])
    blocks = [("hexahedron", [range(8)]), ("pyramid", [[4, 5, 6, 7, 8]]), ("tetra", [[4, 5, 8, 9]])]
    return Mesh(points, blocks)


def beam_between_shells() -> Mesh:
    """Return two quads, cells 0 and 1, and between them a line that lies in neither, cell 2, which is free.

    3---2       7---6
    | 0 |   2   | 1 |
    0---1-------4---5
    """
    mesh = separate(2)
    return Mesh(mesh.points, [*mesh.blocks, ("line", [[1, 4]])])


def shell_beside_solid() -> Mesh:
    """Return a cube, a quad on its top (attached) and a quad beside it (free): cells 0, 1, 2.

     7-----6
    4--1--5-----9    cell 1 = 4 5 6 7, cell 2 = 1 8 9 5
    | 3   | 2 2 |
    0-----1-----8
    """
    points = np.vstack([grid_points(1, 1, 1)[[0, 1, 3, 2, 4, 5, 7, 6]], [[2.0, 0.0, 0.0], [2.0, 0.0, 1.0]]])
    return Mesh(points, [("hexahedron", [range(8)]), ("quad", [[4, 5, 6, 7], [1, 8, 9, 5]])])


def curved_triangles() -> Mesh:
    """Return two triangle6 with a common side, lines on and of mid-side points, and vertices.

    3---7---2      cell 0 = 0 1 2 4 5 6, cell 1 = 0 2 3 6 7 8, both triangle6
    | 1   / |
    |   /   |      cell 2 = line3 (0, 1, 4), a side of cell 0
    8  6    5      cell 3 = line (4, 5), across a corner of cell 0
    | /     |      cell 4 = vertex 6, on both triangles
    |/   0  |
    0---4---1  9   cell 5 = vertex 9, in nothing else and so free
    """
    points = np.array(
        [[0, 0], [2, 0], [2, 2], [0, 2], [1, 0], [2, 1], [1, 1], [1, 2], [0, 1], [3, 0]],
        np.float64,
    )
    return Mesh(
        points,
        [
            ("triangle6", [[0, 1, 2, 4, 5, 6], [0, 2, 3, 6, 7, 8]]),
            ("line3", [[0, 1, 4]]),
            ("line", [[4, 5]]),
            ("vertex", [[6], [9]]),
        ],
    )


def vertex_in_attached_line() -> Mesh:
    """Return a quad, a line3 along its lower side and a vertex on the line's middle, which the quad does not have.

    3-------2
    |   0   |      cells 0 = quad, 1 = line3 (0, 1, 4), 2 = vertex 4: attached to cell 1 only
    0---4---1
    """
    points = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 0]], np.float64)
    return Mesh(points, [("quad", [[0, 1, 2, 3]]), ("line3", [[0, 1, 4]]), ("vertex", [[4]])])


def internal_surface() -> Mesh:
    """Return two cubes, cells 0 and 1, and the quad between them, cell 2, with both as parents.

     9---10--11
    6---7---8      cell 2 = 1 4 10 7
    | 0 2 1 |
    0---1---2
    """
    mesh = cubes(2, 1, 1)
    return Mesh(mesh.points, [*mesh.blocks, ("quad", [[1, 4, 10, 7]])])


# -- blocks -------------------------------------------------------------------------------------------------


def interleaved() -> Mesh:
    """Return the blocks quad, triangle, quad, triangle, quad along a strip.

    8---9--10--11--12--13--14  15     blocks: quads 0 1, triangles 2 3, quad 4, triangles 5 6, quad 7
    |   |   |2 /|   |5 /|   |
    | 0 | 1 | / | 4 | / | 7 |         points 7 and 15 are in no cell
    |   |   |/ 3|   |/ 6|   |
    0---1---2---3---4---5---6   7
    """
    square = quad_rows(7, 1)
    first, second = square[:, [0, 2, 3]], square[:, [0, 1, 2]]
    blocks = [
        ("quad", square[[0, 1]]),
        ("triangle", [first[2], second[2]]),
        ("quad", square[[3]]),
        ("triangle", [first[4], second[4]]),
        ("quad", square[[5]]),
    ]
    return Mesh(grid_points(7, 1), blocks)


def two_and_two() -> Mesh:
    """Return a block of two triangles and one of two quads, and a cell set over both.

    4---5---6---7
    |1 /| 2 | 3 |     A = triangle 0 and quad 1, that is cells 0 and 3
    | / |   |   |
    |/ 0|   |   |
    0---1---2---3
    """
    blocks = [("triangle", [[0, 1, 5], [0, 5, 4]]), ("quad", [[1, 2, 6, 5], [2, 3, 7, 6]])]
    return Mesh(grid_points(3, 1), blocks, cell_sets={"A": [[0], [1]]})


def overlapping_sets() -> Mesh:
    """Return Q(3, 1) with two cell sets that share a cell, and two point sets that share a point.

    4---5---6---7
    | A |A B| B |     A = cells 0 1, B = cells 1 2; left = points 0 4 5 1, low = points 3 2 1 0
    0---1---2---3
    """
    return Mesh(
        grid_points(3, 1),
        [("quad", quad_rows(3, 1))],
        cell_sets={"A": [[0, 1]], "B": [[1, 2]]},
        point_sets={"left": [0, 4, 5, 1], "low": [3, 2, 1, 0]},
    )


def empty_blocks() -> Mesh:
    """Return Q(2, 1) between two empty blocks: triangles before, lines after.

    3---4---5
    | 0 | 1 |
    0---1---2
    """
    none = np.zeros((0, 3), np.int64)
    return Mesh(grid_points(2, 1), [("triangle", none), ("quad", quad_rows(2, 1)), ("line", none[:, :2])])


# -- polygons and polyhedra ---------------------------------------------------------------------------------


def polygons() -> Mesh:
    """Return polygons with 3, 4 and 5 points in one block: cells 0, 1, 2.

    6-------5
    |   2    \\       cell 0 = 0 1 3, cell 1 = 1 2 4 3, cell 2 = 0 3 4 5 6
    |  __3-----4
    | /   \\ 1 |
    |/  0  \\  |
    0-------1--2
    """
    points = np.array([[0, 0], [2, 0], [4, 0], [1.5, 1], [4, 1], [3, 2], [0, 2]], np.float64)
    return Mesh(points, [("polygon", [[0, 1, 3], [1, 2, 4, 3], [0, 3, 4, 5, 6]])])


HEX_FACES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def faces_of_cubes(rows: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """Return the six faces of each hexahedron, as polyhedra are given."""
    return [[[int(row[corner]) for corner in face] for face in HEX_FACES] for row in rows]


def two_cube_polyhedra() -> Mesh:
    """Return cubes(2, 1, 1) as polyhedra of six quads, which share a face.

     9---10--11
    6---7---8
    | 0 | 1 |
    0---1---2
    """
    return Mesh(grid_points(2, 1, 1), [("polyhedron", faces_of_cubes(cube_rows(2, 1, 1)))])


def polyhedron_under_pyramid() -> Mesh:
    """Return a polyhedron of 6 faces, one of 4 faces beside it, and a pyramid on the first: cells 0, 1, 2.

          8
         /|\\
      7-------6
     4-------5 \\      cell 0 = the cube, cell 1 = the tet 1 2 6 9, cell 2 = 4 5 6 7 8
     | 3     | 2 9
     0-------1
    """
    points = np.vstack([grid_points(1, 1, 1)[[0, 1, 3, 2, 4, 5, 7, 6]], [[0.5, 0.5, 2.0], [2.0, 1.0, 0.5]]])
    tet = [[1, 2, 6], [1, 6, 9], [2, 9, 6], [1, 9, 2]]
    return Mesh(points, [("polyhedron", [*faces_of_cubes([range(8)]), tet]), ("pyramid", [[4, 5, 6, 7, 8]])])


# -- what goes wrong elsewhere ------------------------------------------------------------------------------


def with_unused_points(mesh: Mesh, n: int = 1) -> Mesh:
    """Return a mesh of points and blocks alone, with n more points, which no cell uses, after the others."""
    far = np.full((n, mesh.points.shape[1]), 99.0) + np.arange(n).reshape(-1, 1)
    return Mesh(np.vstack([mesh.points, far]), mesh.blocks)


def collapsed_hex() -> Mesh:
    """Return a cube and a hexahedron that repeats two nodes and so is a wedge: cells 0, 1.

     7-----6
    4-----5 \\       cell 1 = 1 8 8 2 5 9 9 6
    | 3   | 2  9
    0-----1   8
    """
    points = np.vstack([grid_points(1, 1, 1)[[0, 1, 3, 2, 4, 5, 7, 6]], [[2.0, 0.5, 0.0], [2.0, 0.5, 1.0]]])
    return Mesh(points, [("hexahedron", [range(8), [1, 8, 8, 2, 5, 9, 9, 6]])])


def hanging_node() -> Mesh:
    """Return three quads: the left side of cell 2 is as long as the sides of cells 0 and 1 together.

    5---6-------7
    | 0 |       |      cell 0 = 3 4 6 5, cell 1 = 0 1 4 3, cell 2 = 1 2 7 6
    3---4   2   |
    | 1 |       |
    0---1-------2
    """
    points = np.array([[0, 0], [1, 0], [3, 0], [0, 1], [1, 1], [0, 2], [1, 2], [3, 2]], np.float64)
    return Mesh(points, [("quad", [[3, 4, 6, 5], [0, 1, 4, 3], [1, 2, 7, 6]])])


def coincident_points() -> Mesh:
    """Return two quads with separate copies of their common side: points 1 and 4, 2 and 7 lie in one place.

    3---27---6
    | 0 || 1 |
    0---14---5
    """
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [1, 0], [2, 0], [2, 1], [1, 1]], np.float64)
    return Mesh(points, [("quad", [[0, 1, 2, 3], [4, 5, 6, 7]])])


def twice_the_same_quad() -> Mesh:
    """Return one quad, listed twice.

    3---2
    |0 1|
    0---1
    """
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float64)
    return Mesh(points, [("quad", [[0, 1, 2, 3], [0, 1, 2, 3]])])


def interface() -> Mesh:
    """Return Q(2, 2) whose rows are joined by two quads of no thickness: block 1, cells 4 and 5.

    9--10--11
    | 2 | 3 |
    6---7---8     points 6 7 8 lie on 3 4 5; cell 4 = 3 4 7 6, cell 5 = 4 5 8 7
      4   5
    3---4---5
    | 0 | 1 |
    0---1---2
    """
    points = grid_points(2, 2)[[0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7, 8]]
    rows = quad_rows(2, 3)
    return Mesh(points, [("quad", rows[[0, 1, 4, 5]]), ("quad", rows[[2, 3]])])


def quads_and_triangles(n: int) -> Mesh:
    """Return n quads in a strip, then 2 * (n // 2) triangles in n // 2 columns; quads_and_triangles(2) is

    4---5---6---7
    |   |   |3 /|
    | 0 | 1 | / |
    |   |   |/ 2|
    0---1---2---3
    """
    columns = n + n // 2
    rows = quad_rows(columns, 1)
    cut = rows[n:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    return Mesh(grid_points(columns, 1), [("quad", rows[:n]), ("triangle", cut)])


# One or two of each, small enough for brute force.
DRAWN = [
    strip(7),
    quads(3, 3),
    cubes(2, 2, 1),
    tets(1, 1, 1),
    fan(6),
    separate(3),
    quads_with_lines(3, 2),
    two_tets_with_triangles(),
    hex_pyramid_tet(),
    beam_between_shells(),
    shell_beside_solid(),
    curved_triangles(),
    vertex_in_attached_line(),
    internal_surface(),
    interleaved(),
    two_and_two(),
    overlapping_sets(),
    empty_blocks(),
    polygons(),
    two_cube_polyhedra(),
    polyhedron_under_pyramid(),
    with_unused_points(quads(2, 2), 3),
    collapsed_hex(),
    hanging_node(),
    coincident_points(),
    twice_the_same_quad(),
    interface(),
    no_cells(3),
    no_cells(0),
]


# -- labels -------------------------------------------------------------------------------------------------

QUARTERS = [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]  # of Q(4, 4): four parts of 2 x 2


def sfc_labels(mesh: Mesh, nparts: int, **options: Any) -> Labels:
    """Return the labels of the Hilbert curve's pieces, which are easy to tell beforehand."""
    return partition_labels(mesh, nparts, method="sfc", **options)


def in_turn(mesh: Mesh) -> Labels:
    """Return labels 0 1 2 0 1 2 ... of the cells."""
    return np.arange(mesh.n_cells, dtype=np.int32) % 3


# -- random meshes and labels -------------------------------------------------------------------------------

SIZES = {
    "vertex": 1,
    "line": 2,
    "line3": 3,
    "triangle": 3,
    "triangle6": 6,
    "quad": 4,
    "tetra": 4,
    "tetra10": 10,
    "pyramid": 5,
    "wedge": 6,
    "hexahedron": 8,
}


def rows_on(n_points: int) -> dict[str, st.SearchStrategy[Any]]:
    """Return, by type, how to draw a cell on the points 0..n_points-1; a polyhedron is a list of faces."""
    point = st.integers(0, n_points - 1)
    rows: dict[str, st.SearchStrategy[Any]] = {
        type_: st.lists(point, min_size=size, max_size=size) for type_, size in SIZES.items()
    }
    rows["polygon"] = st.lists(point, min_size=3, max_size=6)
    if n_points >= 3:  # a polyhedron has as many points, however its faces repeat them
        rows["polyhedron"] = st.builds(
            lambda first, others: [first, *others],
            st.lists(point, min_size=3, max_size=3, unique=True),
            st.lists(st.lists(point, min_size=3, max_size=4), max_size=3),
        )
    return rows


@st.composite
def mixed_meshes(draw: st.DrawFn, max_points: int = 12, max_blocks: int = 5, max_cells: int = 6) -> Mesh:
    """Draw a mesh of any types on few points, so that cells lie in each other, share and repeat points."""
    n_points = draw(st.integers(1, max_points))
    rows = rows_on(n_points)
    types = draw(st.lists(st.sampled_from(sorted(rows)), max_size=max_blocks))
    blocks = [(type_, draw(st.lists(rows[type_], max_size=max_cells))) for type_ in types]
    dim = draw(st.integers(1, 3))
    return Mesh(np.arange(float(n_points * dim)).reshape(n_points, dim) / 7, blocks)


@st.composite
def grid_meshes(draw: st.DrawFn) -> Mesh:
    """Draw one of the grids above, with few cells."""
    one = st.integers(1, 4)
    make: Callable[..., Mesh] = draw(st.sampled_from([quads, triangles, quads_with_lines, cubes, tets]))
    sizes = [draw(one) for _ in range(3 if make in (cubes, tets) else 2)]
    return make(*sizes[:2], min(sizes[2], 2)) if len(sizes) == 3 else make(*sizes)


def meshes() -> st.SearchStrategy[Mesh]:
    """Draw a mesh: a mixed one or a grid."""
    return mixed_meshes() | grid_meshes()


@st.composite
def labels_of(draw: st.DrawFn, n_cells: int) -> tuple[Labels, int]:
    """Draw labels and a number of parts: random ones, a checkerboard, one cell a part, empty parts."""
    kind = draw(st.sampled_from(["random", "checkerboard", "one cell a part", "empty parts"]))
    if kind == "checkerboard":
        return np.arange(n_cells, dtype=np.int32) % 2, 2
    if kind == "one cell a part":
        order = draw(st.permutations(range(n_cells)))
        return np.array(order, np.int32), max(n_cells, 1)
    nparts = draw(st.integers(1, 5))
    used = draw(st.sets(st.integers(0, nparts - 1), min_size=1)) if kind == "empty parts" else range(nparts)
    part = st.sampled_from(sorted(used))
    return np.array(draw(st.lists(part, min_size=n_cells, max_size=n_cells)), np.int32), nparts
