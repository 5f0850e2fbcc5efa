"""The graph of points joined by mesh edges, as the core gives it."""

from __future__ import annotations

from typing import Any

import meshes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import point_graph as slow_point_graph

from meshpart import Mesh, MeshError, _core
from meshpart.cells import CELL_TYPES, COMPLETE, VTK_SHAPES, cell_type
from meshpart.edges import edges

SMALL = [name for name, kind in CELL_TYPES.items() if kind.n_points is not None and kind.n_points <= 64]
ANY_ORDER = {f"VTK_{family}_{VTK_SHAPES[shape]}": shape for family in ("LAGRANGE", "BEZIER") for shape in VTK_SHAPES}


def point_graph(mesh: Mesh, threads: int = 1) -> list[list[int]]:
    """Return the neighbours of every point."""
    offsets, targets = _core.point_graph(*edges(mesh), threads)
    assert offsets[-1] == len(targets)
    return [row.tolist() for row in np.split(targets, offsets[1:-1])][: mesh.n_points]


def one(type_: str, row: Any = None) -> list[list[int]]:
    """Return the neighbours of every point in a mesh of one cell, whose points are 0, 1, 2, ... where not given."""
    row = range(cell_type(type_).n_points or 0) if row is None else row
    return point_graph(Mesh(np.zeros((max(row) + 1, 3)), [(type_, [row])]))


# -- drawn --------------------------------------------------------------------------------------------------


def test_points_of_quads_are_joined_along_their_sides() -> None:
    # 6---7---8
    # |   |   |
    # 3---4---5
    # |   |   |
    # 0---1---2
    expected = [[1, 3], [0, 2, 4], [1, 5], [0, 4, 6], [1, 3, 5, 7], [2, 4, 8], [3, 7], [4, 6, 8], [5, 7]]
    assert point_graph(meshes.quads(2, 2)) == expected


def test_a_mid_side_point_stands_between_the_ends_of_its_edge() -> None:
    assert one("line3") == [[2], [2], [0, 1]]
    assert one("line4") == [[2], [3], [0, 3], [1, 2]]


def test_cells_of_all_dimensions_take_part() -> None:
    # 3---7---2      the sides of two triangle6, and the line 4-5 across a corner of one of them
    # | 1   / |
    # 8  6    5
    # |/   0  |
    # 0---4---1  9
    expected = [[4, 6, 8], [4, 5], [5, 6, 7], [7, 8], [0, 1, 5], [1, 2, 4], [0, 2], [2, 3], [0, 3], []]
    assert point_graph(meshes.curved_triangles()) == expected


def test_polygons_are_rings() -> None:
    # 6-------5
    # |   2    \
    # |  __3-----4
    # | /   \ 1 |
    # |/  0  \  |
    # 0-------1--2
    expected = [[1, 3, 6], [0, 2, 3], [1, 4], [0, 1, 4], [2, 3, 5], [4, 6], [0, 5]]
    assert point_graph(meshes.polygons()) == expected


def test_polyhedra_are_joined_around_their_faces() -> None:
    assert point_graph(meshes.two_cube_polyhedra()) == point_graph(meshes.cubes(2, 1, 1))


def test_a_tetra10_has_six_edges_of_two_steps() -> None:
    graph = one("tetra10")
    assert sum(map(len, graph)) == 2 * 12
    assert graph == [[4, 6, 7], [4, 5, 8], [5, 6, 9], [7, 8, 9], [0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]


@pytest.mark.parametrize(
    ("type_", "first"),
    [("quad9", 8), ("hexahedron27", 20), ("hexahedron24", 20), ("triangle7", 6), ("tetra8", 4), ("wedge18", 15)],
)
def test_points_of_faces_and_of_the_body_are_joined_to_nobody(type_: str, first: int) -> None:
    graph = one(type_)
    assert all(graph[:first])
    assert not any(graph[first:])


def test_edges_of_a_collapsed_cell_between_equal_points_are_dropped() -> None:
    # A quad 0 1 2 2, and a line3 on one point and its middle.
    assert one("quad", [0, 1, 2, 2]) == [[1, 2], [0, 2], [0, 1]]
    assert one("line3", [0, 0, 1]) == [[1], [0]]
    assert one("line", [1, 1]) == [[], []]


def test_edges_that_several_cells_have_are_there_once() -> None:
    mesh = meshes.tets(1, 1, 1)
    assert sum(map(len, point_graph(mesh))) == 2 * (12 + 6 + 1)  # of the cube, across its faces, through its middle


def test_rows_of_several_orders_in_one_block_each_have_their_own_edges() -> None:
    # 0-3-4-1   and   1-2   in one block, beside a polyhedron in front of it
    tetra = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    lines = ("VTK_LAGRANGE_CURVE", [[4, 5, 7, 8], [5, 6], [5, 6]])
    graph = point_graph(Mesh(np.zeros((9, 3)), [("polyhedron", [tetra]), lines, ("polyhedron", [tetra])]))
    assert graph == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [7], [6, 8], [5], [4, 8], [5, 7]]


def test_a_mesh_without_points_or_cells_has_no_edges() -> None:
    assert point_graph(meshes.no_cells(0)) == []
    assert point_graph(meshes.no_cells(3)) == [[], [], []]


# -- random -------------------------------------------------------------------------------------------------


@st.composite
def curved_meshes(draw: st.DrawFn) -> Mesh:
    """Draw cells of any types with points at random, those of any order with several orders in a block."""
    n_points = draw(st.integers(1, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    blocks = []
    for name in draw(st.lists(st.sampled_from([*SMALL, *ANY_ORDER, "quadratic_polygon8"]), max_size=4)):
        orders = draw(st.lists(st.integers(1, 4), max_size=4))
        sizes = [cell_type(name).n_points or COMPLETE[ANY_ORDER[name]](order) for order in orders]
        blocks.append((name, [random.integers(n_points, size=size) for size in sizes]))
    return Mesh(np.zeros((n_points, 3)), blocks)


@pytest.mark.parametrize("mesh", meshes.DRAWN)
def test_the_graph_of_a_drawn_mesh_is_what_a_walk_along_its_edges_finds(mesh: Mesh) -> None:
    assert point_graph(mesh) == slow_point_graph(mesh)


@settings(max_examples=300, deadline=None)
@given(meshes.meshes() | curved_meshes(), st.integers(1, 5))
def test_the_graph_is_what_a_walk_along_the_edges_finds_for_any_number_of_threads(mesh: Mesh, threads: int) -> None:
    assert point_graph(mesh, threads) == slow_point_graph(mesh)


def test_a_large_mesh_gives_the_same_for_any_number_of_threads() -> None:
    mesh = meshes.tets(12, 11, 10)
    shuffled = np.random.default_rng(0).permutation(mesh.n_points)[mesh.blocks[0].nodes]
    mesh = Mesh(mesh.points, [("tetra", shuffled)])
    offsets, targets = _core.point_graph(*edges(mesh), 1)
    assert [row.tolist() for row in np.split(targets, offsets[1:-1])] == slow_point_graph(mesh)
    for threads in (2, 3, 8):
        again = _core.point_graph(*edges(mesh), threads)
        assert np.array_equal(again[0], offsets)
        assert np.array_equal(again[1], targets)


# -- bad input ----------------------------------------------------------------------------------------------


def test_a_point_that_is_not_there_any_more_is_refused() -> None:
    rows = np.array([[0, 1, 2, 3]])
    flat, outline = edges(Mesh(np.eye(4, 3), [("quad", rows)]))
    _core.point_graph(flat, outline, 1)
    rows[0, 2] = 4
    with pytest.raises(MeshError, match=r"id 4 is outside 0\.\.3"):
        _core.point_graph(flat, outline, 1)


def test_a_position_that_a_row_does_not_have_is_refused() -> None:
    flat, outline = edges(Mesh(np.eye(4, 3), [("quad", [range(4)])]))
    patterns = outline.patterns + 1
    with pytest.raises(MeshError, match=r"id 4 is outside 0\.\.3"):
        _core.point_graph(flat, outline._replace(patterns=patterns), 1)


def test_edges_of_another_mesh_are_refused() -> None:
    flat, _ = edges(meshes.quads(1, 1))
    _, outline = edges(meshes.two_and_two())
    with pytest.raises(ValueError, match="edges of 2 blocks do not fit a mesh of 1"):
        _core.point_graph(flat, outline, 1)
