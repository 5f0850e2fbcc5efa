"""The dual graph, the graphs of points, and graphs from elsewhere."""

from __future__ import annotations

import warnings
from itertools import combinations

import meshes as drawn
import networkx as nx
import numpy as np
import pytest
import reference_graphs as slow
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import meshpart
from meshpart import (
    ArgumentError,
    Graph,
    Mesh,
    MeshpartWarning,
    dual_graph,
    partition_labels,
    point_graph,
    quality,
    split,
)


def edges(graph):
    return sorted(slow.edges_of(graph))


# -- the dual graph -----------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(drawn.meshes())
def test_the_dual_graph_is_that_of_comparing_all_pairs_of_cells(mesh):
    for threads in (1, 3):
        assert slow.edges_of(dual_graph(mesh, threads=threads)) == slow.dual_edges(mesh)


@pytest.mark.parametrize("mesh", drawn.DRAWN, ids=repr)
def test_the_dual_graph_of_drawn_meshes_is_that_of_comparing_all_pairs(mesh):
    assert slow.edges_of(dual_graph(mesh)) == slow.dual_edges(mesh)


def test_quads_are_neighbours_across_a_side():
    # 2 3
    # 0 1
    assert edges(dual_graph(drawn.quads(2, 2))) == [(0, 1), (0, 2), (1, 3), (2, 3)]


def test_a_hex_a_pyramid_on_it_and_a_tet_on_that_are_a_path():
    assert edges(dual_graph(drawn.hex_pyramid_tet())) == [(0, 1), (1, 2)]


def test_boundary_triangles_are_joined_with_nothing():
    graph = dual_graph(drawn.two_tets_with_triangles())
    assert edges(graph) == [(0, 1)]
    assert graph.n_vertices == 8


def test_a_collapsed_hex_is_a_neighbour_once():
    assert edges(dual_graph(drawn.collapsed_hex())) == [(0, 1)]


def test_hanging_nodes_join_nothing():
    assert edges(dual_graph(drawn.hanging_node())) == [(0, 1)]


def test_the_same_quad_twice_is_one_edge():
    assert edges(dual_graph(drawn.twice_the_same_quad())) == [(0, 1)]


def test_polyhedra_and_polygons_meet_cells_of_other_types():
    assert edges(dual_graph(drawn.two_cube_polyhedra())) == [(0, 1)]
    assert edges(dual_graph(drawn.polyhedron_under_pyramid())) == [
        (0, 2)
    ]  # cell 1 has but three corners of a face of cell 0
    points = [[0, 0], [1, 0], [1, 1], [0.5, 1.5], [0, 1], [2, 0], [2, 1]]
    pentagon_and_quad = Mesh(points, [("polygon5", [[0, 1, 2, 3, 4]]), ("quad", [[1, 5, 6, 2]])])
    assert edges(dual_graph(pentagon_and_quad)) == [(0, 1)]


def prism_polyhedron(base, top):
    sides = [[a, b, d, c] for a, b, c, d in zip(base, np.roll(base, -1), top, np.roll(top, -1), strict=True)]
    return [list(base), list(top), *sides]


def test_large_faces_are_compared_corner_by_corner():
    # Three prisms over a 12-gon in a pile: faces of 12 corners; the middle one names its corners in other orders.
    rings = np.arange(48).reshape(4, 12)
    points = np.array([[np.cos(k % 12), np.sin(k % 12), k // 12] for k in range(48)])
    lower = prism_polyhedron(rings[0], rings[1])
    middle = prism_polyhedron(np.roll(rings[1], 5)[::-1], np.roll(rings[2], 5)[::-1])
    upper = prism_polyhedron(rings[2], rings[3])
    assert edges(dual_graph(Mesh(points, [("polyhedron", [upper, middle, lower])]))) == [(0, 1), (1, 2)]
    # The same first corner and number of corners, one corner other: no neighbours.
    other = prism_polyhedron([*rings[1][:-1], 47], rings[3])
    assert edges(dual_graph(Mesh(points, [("polyhedron", [lower, other])]))) == []


def test_hexagonal_prisms_share_their_large_face():
    points = np.zeros((18, 3))
    mesh = Mesh(points, [("hexa_prism", [range(12), [*range(6, 12), *range(12, 18)]])])
    assert edges(dual_graph(mesh)) == [(0, 1)]


@pytest.mark.parametrize(
    ("linear", "curved"), [("tetra", "tetra10"), ("hexahedron", "hexahedron27"), ("quad", "quad9")]
)
def test_mid_side_points_change_nothing(linear, curved):
    mesh = {"tetra": drawn.tets(2, 2, 1), "hexahedron": drawn.cubes(3, 2, 2), "quad": drawn.quads(3, 3)}[linear]
    corners = mesh.blocks[0].nodes
    extra = meshpart.cells.cell_type(curved).n_points - corners.shape[1]
    own = mesh.n_points + np.arange(len(corners) * extra).reshape(-1, extra)  # shared by no two cells
    points = np.concatenate([mesh.points, np.zeros((own.size, mesh.points.shape[1]))])
    assert dual_graph(Mesh(points, [(curved, np.hstack([corners, own]))])) == dual_graph(mesh)


def book(pages: int) -> Mesh:
    """Return triangles that all share the edge (0, 1)."""
    points = [[0, 0, 0], [0, 0, 1], *([np.cos(k), np.sin(k), 0] for k in range(pages))]
    return Mesh(points, [("triangle", [[0, 1, 2 + k] for k in range(pages)])])


def test_all_pairs_are_joined_on_a_facet_of_64_cells():
    assert edges(dual_graph(book(64))) == list(combinations(range(64), 2))


def test_a_facet_of_65_cells_makes_a_chain_and_a_warning():
    with pytest.warns(MeshpartWarning, match="more than 64 cells lie on each of 1 facets"):
        graph = dual_graph(book(65))
    assert edges(graph) == [(k, k + 1) for k in range(64)]


def test_the_warning_points_to_the_line_of_the_caller_however_deep_it_is_found():
    pages = book(65)
    for call in (dual_graph, lambda mesh: quality(mesh, [0] * 65), lambda mesh: partition_labels(mesh, 2)):
        with pytest.warns(MeshpartWarning) as caught:
            call(pages)
        assert [warning.filename for warning in caught] == [__file__]


def test_a_thousand_copies_of_a_cell_cost_no_square():
    mesh = Mesh(np.eye(3), [("triangle", [[0, 1, 2]] * 1000)])
    with pytest.warns(MeshpartWarning, match="each of 3 facets"):
        assert dual_graph(mesh).n_edges == 999


def test_a_beam_is_joined_with_the_shells_at_its_ends():
    assert edges(dual_graph(drawn.beam_between_shells())) == sorted(slow.dual_edges(drawn.beam_between_shells()))
    assert len(edges(dual_graph(drawn.beam_between_shells()))) >= 2


def test_many_beams_at_a_point_of_many_triangles_are_joined_without_a_square():
    fan = drawn.fan(100)  # all share the point 0
    far = np.random.default_rng(0).random((200, 2)) + 5
    beams = [[0, fan.n_points + k] for k in range(200)]
    mesh = Mesh(np.concatenate([fan.points, far]), [*fan.blocks, ("line", beams)])
    with pytest.warns(MeshpartWarning, match="each of 2 facets"):  # the beams among themselves, and with the fan
        graph = dual_graph(mesh)
    # Triangle i meets line i and line i + 1, until the triangles end: the last one meets all lines that are left.
    stairs = [*((i, 100 + i) for i in range(100)), *((i, 101 + i) for i in range(100))]
    expected = {*stairs, *((99, 100 + k) for k in range(101, 200))}
    assert {(a, b) for a, b in edges(graph) if a < 100 <= b} == expected


@pytest.mark.parametrize(("shells", "beams", "chains"), [(32, 32, 0), (33, 32, 1), (1, 64, 0), (64, 1, 0), (65, 1, 0)])
def test_shells_and_beams_at_a_point_are_all_joined_up_to_64_of_them(shells, beams, chains):
    # Shells that share the point 0 alone, and beams from there.
    n = 1 + 2 * shells
    points = np.random.default_rng(0).random((n + beams, 3))
    triangles = [[0, 1 + 2 * k, 2 + 2 * k] for k in range(shells)]
    mesh = Mesh(points, [("triangle", triangles), ("line", [[0, n + k] for k in range(beams)])])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        graph = dual_graph(mesh)
    across = [(a, b) for a, b in edges(graph) if a < shells <= b]
    assert len(across) == (shells + beams - 1 if chains else shells * beams)
    assert len(told) == chains  # up to 64 beams are paired among themselves


def test_renumbering_cells_renumbers_the_graph():
    mesh = drawn.tets(3, 3, 3)
    order = np.random.default_rng(0).permutation(mesh.n_cells)  # new cell i is old order[i]
    shuffled = dual_graph(Mesh(mesh.points, [("tetra", mesh.blocks[0].nodes[order])]))
    renamed = {tuple(sorted((order[a], order[b]))) for a, b in slow.edges_of(shuffled)}
    assert renamed == slow.edges_of(dual_graph(mesh))


def test_threads_change_nothing_in_a_mesh_of_many_buckets():
    mesh = drawn.tets(20, 20, 20)
    graph = dual_graph(mesh, threads=1)
    assert dual_graph(mesh, threads=4) == graph
    # 6 tets a cube, 4 facets a tet; of the 6 * 20 * 20 outer squares each has two facets that are no one else's.
    assert graph.n_edges == (4 * 6 * 20**3 - 2 * 6 * 20**2) // 2


def test_an_array_that_changes_after_the_check_is_an_error_and_no_crash():
    nodes = drawn.quads(3, 3).blocks[0].nodes.copy()
    mesh = Mesh(drawn.quads(3, 3).points, [("quad", nodes)])
    assert mesh.kinds.sum() == 0
    nodes[4, 2] = 10**12
    with pytest.raises(meshpart.MeshError, match="1000000000000"):
        dual_graph(mesh)
    with pytest.raises(meshpart.MeshError, match="1000000000000"):
        dual_graph(mesh, adjacency="point")
    with pytest.raises(meshpart.MeshError, match="1000000000000"):
        point_graph(mesh, adjacency="cell")


# -- by points, and points ----------------------------------------------------------------------------------


@given(drawn.meshes())
def test_cells_by_point_and_points_by_cell_are_those_of_looking_at_all_pairs(mesh):
    for threads in (1, 3):
        by_point = dual_graph(mesh, adjacency="point", threads=threads)
        assert slow.edges_of(by_point) == slow.cell_edges_by_point(mesh)
        by_cell = point_graph(mesh, adjacency="cell", threads=threads)
        assert slow.edges_of(by_cell) == slow.point_edges_by_cell(mesh)


def test_four_quads_at_a_point_have_six_edges():
    assert edges(dual_graph(drawn.quads(2, 2), adjacency="point")) == list(combinations(range(4), 2))


@given(drawn.meshes())
def test_edges_may_weigh_the_number_of_shared_points(mesh):
    graph = dual_graph(mesh, edge_weights="points")
    rows = slow.rows_of(mesh)
    sources = np.repeat(np.arange(graph.n_vertices), np.diff(graph.offsets))
    expected = [len(set(rows[a]) & set(rows[b])) for a, b in zip(sources, graph.targets, strict=True)]
    assert graph.edge_weights.tolist() == expected


def test_edge_weights_may_be_given_and_are_checked():
    mesh = drawn.strip(3)
    assert dual_graph(mesh, edge_weights=[5, 5, 7, 7]).edge_weights.tolist() == [5, 5, 7, 7]
    with pytest.raises(ArgumentError, match="edge from 0 to 1 weighs otherwise"):
        dual_graph(mesh, edge_weights=[5, 6, 7, 7])
    with pytest.raises(ArgumentError, match=r"shape \(4,\), got \(3,\)"):
        dual_graph(mesh, edge_weights=[5, 5, 7])


@pytest.mark.parametrize("call", [dual_graph, point_graph])
def test_an_unknown_adjacency_is_refused(call):
    with pytest.raises(ArgumentError, match="adjacency must be one of"):
        call(drawn.quads(1, 1), adjacency="face")
    with pytest.raises(ArgumentError, match="edge_weights must be 'points' or an array, got 'area'"):
        dual_graph(drawn.quads(1, 1), edge_weights="area")


@given(drawn.meshes(), st.data())
def test_of_a_part_the_graphs_are_in_local_order_and_know_what_was_attached(mesh, data):
    labels, nparts = data.draw(drawn.labels_of(mesh.n_cells))
    whole, rows = slow.dual_edges(mesh), slow.rows_of(mesh)
    for part in split(mesh, labels, nparts):
        local = {int(cell): number for number, cell in enumerate(part.cells.global_ids)}
        within = {(local[a], local[b]) for a, b in whole if a in local and b in local}
        assert slow.edges_of(dual_graph(part)) == within
        points = part.points.global_ids.tolist()
        along = slow.edges_of(point_graph(part, adjacency="cell"))
        pairs = {pair for cell in local for pair in combinations(sorted(set(rows[cell])), 2)}
        assert {tuple(sorted((points[a], points[b]))) for a, b in along} == pairs


# -- graphs from elsewhere ----------------------------------------------------------------------------------


def random_graph(draw):
    n = draw(st.integers(0, 8))
    pairs = draw(st.sets(st.sampled_from(list(combinations(range(n), 2))))) if n > 1 else set()
    return nx.Graph([*pairs]), n


@given(st.data())
def test_a_graph_is_the_same_in_scipy_and_networkx_and_back(data):
    plain, n = random_graph(data.draw)
    plain.add_nodes_from(range(n))
    weighted = data.draw(st.booleans())
    for a, b in plain.edges:
        plain[a][b]["weight"] = data.draw(st.integers(2, 9)) if weighted else 1
    matrix = scipy.sparse.coo_array((n, n), dtype=float)
    if plain.number_of_edges():
        matrix = nx.to_scipy_sparse_array(plain, nodelist=range(n), dtype=float, format="coo")
    graph = Graph.from_scipy(matrix)
    assert_array_equal(graph.to_scipy().toarray(), matrix.toarray())
    assert Graph.from_scipy(graph.to_scipy()) == graph
    back = graph.to_networkx()
    assert sorted(back.nodes) == list(range(n))
    assert {(*sorted(pair),): back.edges[pair].get("weight", 1) for pair in back.edges} == {
        (*sorted(pair),): plain.edges[pair]["weight"] for pair in plain.edges
    }


def test_to_scipy_shares_the_graphs_arrays():
    graph = dual_graph(drawn.cubes(3, 3, 3), edge_weights="points")
    matrix = graph.to_scipy()
    assert isinstance(matrix, scipy.sparse.csr_array)
    for mine, theirs in [
        (graph.offsets, matrix.indptr),
        (graph.targets, matrix.indices),
        (graph.edge_weights, matrix.data),
    ]:
        assert np.shares_memory(mine, theirs)
    assert_array_equal((matrix @ np.ones(27)), np.add.reduceat(graph.edge_weights, graph.offsets[:-1]))
    assert (matrix + matrix.T).nnz == matrix.nnz


def test_weights_arrive_in_networkx():
    graph = Graph([0, 1, 2], [1, 0], vertex_weights=[3, 4], edge_weights=[5, 5]).to_networkx()
    assert dict(graph.nodes(data="weight")) == {0: 3, 1: 4}
    assert graph.edges[0, 1]["weight"] == 5


WRONG = {
    "row 0 names vertex 2, there are 2": ([0, 1, 2], [2, 0]),
    "row 0 names vertex -1, there are 2": ([0, 1, 2], [-1, 0]),
    "row 0 is not strictly ascending at 1": ([0, 2, 3, 4], [2, 1, 0, 0]),
    "row 0 is not strictly ascending at 1; Graph": ([0, 2, 4], [1, 1, 0, 0]),
    "vertex 1 is joined with itself": ([0, 0, 1], [1]),
    "row 0 names 1, but row 1 does not name 0": ([0, 1, 1], [1]),
    "row 1 names 2, but row 2 does not name 1": ([0, 1, 3, 3], [1, 0, 2]),
    "row 2 names 0, but row 0 does not name 2": ([0, 1, 2, 3], [1, 0, 0]),
    "offsets must run from 0 to 2, got 0 to 3": ([0, 1, 3], [1, 0]),
    "offsets: row 0 has -1 entries": ([0, -1, 2], [1, 0]),
    "targets must be integers, got the dtype float64": ([0, 1, 2], [1.0, 0.0]),
    "targets must be flat": ([0, 1, 2], [[1], [0]]),
    "offsets must be flat and not empty": ([], []),
}


@pytest.mark.parametrize(("message", "arrays"), WRONG.items(), ids=WRONG)
def test_what_is_no_graph_is_refused(message, arrays):
    with pytest.raises(ArgumentError, match=message.replace("(", r"\(")):
        Graph(*arrays)


WRONG_WEIGHTS = {
    "vertex_weights must have the shape": {"vertex_weights": [1]},
    "vertex_weights must not be negative, got -1": {"vertex_weights": [1, -1]},
    "edge_weights must be integers in value": {"edge_weights": [0.5, 0.5]},
    "edge_weights must be integers in value ": {"edge_weights": [np.nan, np.nan]},
    "edge_weights must not be negative": {"edge_weights": [-1, -1]},
    "the edge from 0 to 1 weighs otherwise": {"edge_weights": [1, 2]},
    "sum below": {"edge_weights": [2**62, 2**62]},
}


@pytest.mark.parametrize(("message", "weights"), WRONG_WEIGHTS.items(), ids=WRONG_WEIGHTS)
def test_weights_that_are_none_are_refused(message, weights):
    with pytest.raises(ArgumentError, match=message.strip()):
        Graph([0, 1, 2], [1, 0], **weights)


@pytest.mark.parametrize("matrix", [np.eye(2), scipy.sparse.csr_array((2, 3)), None, "graph"], ids=str)
def test_from_scipy_takes_square_sparse_matrices_only(matrix):
    with pytest.raises(ArgumentError, match="must be sparse and square"):
        Graph.from_scipy(matrix)


def test_from_scipy_survives_a_matrix_that_was_spoilt():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    spoilt = []
    for form in (scipy.sparse.csr_array, scipy.sparse.csc_array):
        for offsets in ([0, 1, 100, 4], [0, -5, 3, 4], [0, 1, 3]):
            spoilt.append(form(path))
            spoilt[-1].indptr = np.array(offsets, np.int32)
        for indices in ([1, 0, 7, 1], [1, 0, -1, 1]):
            spoilt.append(form(path))
            spoilt[-1].indices = np.array(indices, np.int32)
    spoilt.append(scipy.sparse.coo_array(path))
    spoilt[-1].coords[0][0] = 2**30
    for matrix in spoilt:
        with pytest.raises(ArgumentError, match="no sparse matrix"):
            Graph.from_scipy(matrix)


@pytest.mark.parametrize(("value", "dtype"), [(200, np.uint8), (100, np.int8), (2**31 - 1, np.int32)])
def test_entries_given_twice_are_added_up_without_wrapping(value, dtype):
    ends = ([0, 0, 1, 1], [1, 1, 0, 0])
    matrix = scipy.sparse.coo_array((np.array([value] * 4, dtype), ends), shape=(2, 2))
    assert Graph.from_scipy(matrix).edge_weights.tolist() == [2 * value] * 2


def test_entries_that_cancel_or_overflow_are_refused():
    ends = ([0, 0, 1, 1], [1, 1, 0, 0])
    for values in ([2, -2, 2, -2], [2**62] * 4):
        matrix = scipy.sparse.coo_array((np.array(values), ends), shape=(2, 2))
        with pytest.raises(ArgumentError):
            Graph.from_scipy(matrix)


def test_from_scipy_leaves_the_matrix_as_it_is():
    indices = np.array([2, 1, 1, 0, 0])  # row 0 is unsorted and names 1 twice
    matrix = scipy.sparse.csr_array((np.array([1.0, 1.0, 1.0, 2.0, 1.0]), indices, [0, 3, 4, 5]), shape=(3, 3))
    before = matrix.copy()
    graph = Graph.from_scipy(matrix)
    assert edges(graph) == [(0, 1), (0, 2)]
    assert_array_equal(matrix.indices, before.indices)
    assert matrix.nnz == 5


@pytest.mark.parametrize("vertex", [-1, 2, 2.0, True])
def test_a_vertex_that_is_none_has_no_neighbours_but_an_error(vertex):
    with pytest.raises(ArgumentError, match=r"vertex must be (between 0 and 1|an integer), got"):
        Graph([0, 1, 2], [1, 0]).neighbours(vertex)


def test_a_graph_is_frozen():
    graph = Graph([0, 1, 2], [1, 0])
    with pytest.raises(ValueError, match="read-only"):
        graph.targets[0] = 0
    given = np.array([0, 1, 2])
    own = Graph(given, [1, 0])
    given[1] = 7
    assert own.offsets.tolist() == [0, 1, 2]
