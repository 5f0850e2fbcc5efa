"""Kinds and parents: which cells are attached, and to what."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from meshes import (
    QUAD,
    SQUARE,
    beam_between_shells,
    curved_triangles,
    hex_pyramid_tet,
    internal_surface,
    no_cells,
    quads_with_lines,
    shell_beside_solid,
    two_tets_with_triangles,
    vertex_in_attached_line,
)

from meshpart import Mesh

TOP, ATTACHED, FREE = 0, 1, 2


def parents_of(mesh: Mesh) -> dict[int, list[int]]:
    """Return the parents of each attached cell."""
    found = mesh.attachment
    rows = np.split(found.parents, found.parent_offsets[1:-1])
    return {cell: rows[row].tolist() for cell, row in zip(found.cells.tolist(), found.rows.tolist(), strict=True)}


@pytest.mark.parametrize(
    ("mesh", "kinds", "parents"),
    [
        # each line lies in the one quad beside it: below 0 1, right 1, above 1 0, left 0
        (quads_with_lines(2, 1), [TOP] * 2 + [ATTACHED] * 6, {2: [0], 3: [1], 4: [1], 5: [1], 6: [0], 7: [0]}),
        # the triangles with 0 lie in tet 0, those with 4 in tet 1; triangles do not lie in each other
        (
            two_tets_with_triangles(),
            [TOP] * 2 + [ATTACHED] * 6,
            {2: [0], 3: [0], 4: [0], 5: [1], 6: [1], 7: [1]},
        ),
        # a surface inside has a cube on either side
        (internal_surface(), [TOP, TOP, ATTACHED], {2: [0, 1]}),
        # the beam's ends are points of quads, but of two different ones
        (beam_between_shells(), [TOP, TOP, FREE], {}),
        (shell_beside_solid(), [TOP, ATTACHED, FREE], {1: [0]}),
        # line3 (0, 1) and line (4, 5), mid-side points, in triangle 0; vertex 6, mid-side, in both; vertex 9 in none
        (curved_triangles(), [TOP, TOP, ATTACHED, ATTACHED, ATTACHED, FREE], {2: [0], 3: [0], 4: [0, 1]}),
        # point 4 is the middle of the line3 and no point of the quad
        (vertex_in_attached_line(), [TOP, ATTACHED, ATTACHED], {1: [0], 2: [1]}),
        (hex_pyramid_tet(), [TOP] * 3, {}),
        (no_cells(3), [], {}),
    ],
    ids=lambda value: repr(value) if isinstance(value, Mesh) else "",
)
def test_kinds_and_parents_are_those_worked_out_by_hand(
    mesh: Mesh, kinds: list[int], parents: dict[int, list[int]]
) -> None:
    assert mesh.kinds.dtype == np.uint8
    assert mesh.kinds.tolist() == kinds
    assert parents_of(mesh) == parents
    assert (kinds, parents) == reference.kinds_and_parents(mesh)


def test_a_vertex_on_a_point_that_nothing_else_uses_is_free() -> None:
    # 3---2  4      points 1 and 4 lie in one place, and the vertex names the one without a triangle
    # | / |
    # 0---1
    points = [*SQUARE, SQUARE[1]]
    mesh = Mesh(points, [("triangle", [[0, 1, 2], [0, 2, 3]]), ("vertex", [[1], [4]])])
    assert mesh.kinds.tolist() == [TOP, TOP, ATTACHED, FREE]
    assert parents_of(mesh) == {2: [0]}


def test_a_line_in_a_free_shell_is_attached_to_the_shell() -> None:
    # a tet 0 1 2 3 and beside it a triangle 1 4 5; line 4 5 lies in the triangle only, vertex 5 too, vertex 1 in both
    points = np.arange(18.0).reshape(6, 3)
    blocks = [("tetra", [[0, 1, 2, 3]]), ("triangle", [[1, 4, 5]]), ("line", [[4, 5]]), ("vertex", [[5], [1]])]
    mesh = Mesh(points, blocks)
    assert mesh.kinds.tolist() == [TOP, FREE, ATTACHED, ATTACHED, ATTACHED]
    # the line is attached itself and so no parent of vertex 5
    assert parents_of(mesh) == {2: [1], 3: [1], 4: [0, 1]}


def test_the_diagonal_of_a_quad_is_attached_though_it_is_no_side() -> None:
    mesh = Mesh(SQUARE, [("line", [[0, 2]]), ("quad", [[0, 1, 2, 3]])])
    assert mesh.kinds.tolist() == [ATTACHED, TOP]


def test_mid_side_points_of_the_lower_cell_do_not_matter() -> None:
    # the middle, point 4, of the line3 is in no quad
    mesh = Mesh([*SQUARE, [0.5, 0.0]], [("quad", [[0, 1, 2, 3]]), ("line3", [[0, 1, 4]])])
    assert mesh.kinds.tolist() == [TOP, ATTACHED]


def test_attached_cells_with_the_same_corners_share_their_parents() -> None:
    # the same line three times: once more, and turned round
    mesh = Mesh(SQUARE, [*QUAD, ("line", [[0, 1], [0, 1], [1, 0]])])
    assert len(mesh.attachment.parent_offsets) == 2
    assert parents_of(mesh) == {1: [0], 2: [0], 3: [0]}


def test_a_block_of_higher_dimension_without_cells_changes_no_kind() -> None:
    mesh = Mesh(SQUARE, [("hexahedron", []), *QUAD, ("line", [[0, 1]])])
    assert mesh.kinds.tolist() == [TOP, ATTACHED]
