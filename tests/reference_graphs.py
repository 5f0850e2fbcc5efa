"""The graphs once more: slow and obvious, every pair of cells compared."""

from __future__ import annotations

from itertools import combinations

from reference import ATTACHED, cells_on_points, faces_of_block, kinds_and_parents, rows_of, types_of

from meshpart import Graph, Mesh

Edges = set[tuple[int, int]]


def facets_of(mesh: Mesh) -> list[set[frozenset[int]]]:
    """Return the facets of every cell as sets of corners, without those that have too few."""
    faces = {
        int(mesh.block_starts[block]) + row: named
        for block, given in enumerate(mesh.blocks)
        if given.faces is not None
        for row, named in enumerate(faces_of_block(mesh, block))
    }
    result = []
    for cell, (row, kind) in enumerate(zip(rows_of(mesh), types_of(mesh), strict=True)):
        if cell in faces:
            sides = [frozenset(face) for face in faces[cell]]
        elif kind.facets is None:
            sides = [frozenset(pair) for pair in zip(row, (*row[1:], row[0]), strict=True)]
        else:
            sides = [frozenset(row[corner] for corner in facet) for facet in kind.facets]
        result.append({side for side in sides if len(side) >= kind.dim > 0})
    return result


def dual_edges(mesh: Mesh) -> Edges:
    """Return the pairs of top and free cells that share a facet, or of which the higher one holds one of the lower."""
    kinds, _ = kinds_and_parents(mesh)
    rows, types, facets = rows_of(mesh), types_of(mesh), facets_of(mesh)
    corners = [set(row[: kind.n_corners]) for row, kind in zip(rows, types, strict=True)]
    edges = set()
    for a, b in combinations([cell for cell, kind in enumerate(kinds) if kind != ATTACHED], 2):
        low, high = sorted((a, b), key=lambda cell: types[cell].dim)
        if types[low].dim == types[high].dim:
            joined = bool(facets[low] & facets[high])
        else:
            joined = any(facet <= corners[high] for facet in facets[low])
        if joined:
            edges.add((a, b))
    return edges


def cell_edges_by_point(mesh: Mesh) -> Edges:
    """Return the pairs of top and free cells that share a point."""
    kinds, _ = kinds_and_parents(mesh)
    pairs = {pair for cells in cells_on_points(mesh) for pair in combinations(sorted(cells), 2)}
    return {(a, b) for a, b in pairs if ATTACHED not in (kinds[a], kinds[b])}


def point_edges_by_cell(mesh: Mesh) -> Edges:
    """Return the pairs of points that a cell has both of."""
    return {pair for row in rows_of(mesh) for pair in combinations(sorted(set(row)), 2)}


def edges_of(graph: Graph) -> Edges:
    """Return the edges of a graph, after looking at its rows by hand."""
    rows = [graph.neighbours(vertex).tolist() for vertex in range(graph.n_vertices)]
    directed = [(vertex, target) for vertex, row in enumerate(rows) for target in row]
    assert directed == sorted(set(directed))
    assert all((b, a) in set(directed) for a, b in directed)
    return {(a, b) for a, b in directed if a < b}
