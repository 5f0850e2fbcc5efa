"""Pictures: what is drawn has the right colours, in the right place, of the right size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from meshes import (
    beam_between_shells,
    collapsed_hex,
    cubes,
    curved_triangles,
    hex_pyramid_tet,
    polygons,
    polyhedron_under_pyramid,
    quads,
    quads_with_lines,
    separate,
    shell_beside_solid,
    strip,
    tets,
    triangles,
    two_cube_polyhedra,
)

from meshpart import (
    Mesh,
    partition_labels,
    read,
    split,
)
from meshpart.plotting.colours import shades
from meshpart.plotting.content import GHOSTS, OTHERS, OWNED, of_mesh
from meshpart.plotting.scene import areas_and_normals, scene_of

Pixels = npt.NDArray[np.uint8]  # (height, width, 3)
Draw = Callable[..., Pixels]

SMALL = (560, 420)  # solids are drawn faster in it


def share(picture: Pixels, colour: Any) -> float:
    """Return the share of the pixels that have a colour."""
    return float(np.mean(np.all(np.abs(picture - np.rint(255 * np.asarray(colour))) <= 1, axis=-1)))


def hues(picture: Pixels, nparts: int) -> list[int]:
    """Return how many pixels have the colour of each part, in any light."""
    flat = picture.reshape(-1, 3) / 255.0
    shown = []
    for colour in shades(nparts):
        light = flat @ colour / (colour @ colour)
        same = np.abs(flat - light[:, None] * colour).max(axis=1) < 0.012
        shown.append(int(np.count_nonzero(same & (light > 0.6) & (light < 1.01))))
    return shown


def scene(mesh: Mesh, labels: Any = None, explode: float = 0.0) -> Any:
    content = of_mesh(mesh, labels, None, 1)
    return scene_of(content.pieces, content.points, content.looks, explode=explode, around=None)


def area(seen: Any) -> float:
    points = np.pad(seen.points, ((0, 0), (0, 3 - seen.points.shape[1])))
    return float(areas_and_normals(points, seen.polygons.corners)[0].sum())


# -- flat pictures ------------------------------------------------------------------------------------------


def test_each_part_has_its_share_of_a_flat_picture(drawn):
    # 12 x 8 quads in three parts: 48, 32 and 16 of them
    labels = np.repeat([0, 1, 2], [48, 32, 16])
    picture = drawn(quads(12, 8), labels=labels, edges=False)
    shares = np.array([share(picture, colour) for colour in shades(3)])
    assert shares.sum() > 0.7
    np.testing.assert_allclose(shares / shares.sum(), [1 / 2, 1 / 3, 1 / 6], atol=0.01)


def test_a_part_lies_where_its_cells_are(drawn):
    picture = drawn(quads(2, 2), labels=[0, 1, 2, 3], edges=False, size=(800, 700))
    left = picture[:, : picture.shape[1] // 3]
    low, high = left[left.shape[0] // 2 :], left[: left.shape[0] // 2]
    assert share(low, shades(4)[0]) > 0.7  # the first cell is below, as the y axis points upwards
    assert share(high, shades(4)[2]) > 0.7
    assert share(left, shades(4)[1]) == share(left, shades(4)[3]) == 0


@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (1, 2)])
def test_a_plane_across_any_axis_is_drawn_flat(drawn, axes):
    mesh = triangles(6, 4)
    points = np.full((mesh.n_points, 3), 7.5)
    points[:, axes] = mesh.points
    labels = np.arange(mesh.n_cells) // 12
    lifted = Mesh(points, mesh.blocks)
    assert scene(lifted, labels).is_flat
    assert np.array_equal(drawn(lifted, labels=labels), drawn(mesh, labels=labels))


def test_an_oblique_plane_is_drawn_in_space(drawn):
    mesh = triangles(6, 4)
    points = np.concatenate([mesh.points, mesh.points[:, :1] * 0.5], axis=1)
    oblique = Mesh(points, mesh.blocks)
    labels = np.arange(mesh.n_cells) // 16
    assert not scene(oblique, labels).is_flat
    assert min(hues(drawn(oblique, labels=labels, size=SMALL), 3)) > 3000


def test_a_hundred_parts_have_twenty_colours(drawn):
    mesh = quads(40, 40)
    picture = drawn(mesh, labels=partition_labels(mesh, 100, method="sfc"), edges=False)
    shares = [share(picture, colour) for colour in shades(20)]
    assert min(shares) > 0.01
    assert sum(shares) > 0.6


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [(quads(3, 2), 6.0), (triangles(3, 2), 6.0), (curved_triangles(), None), (polygons(), None)],
    ids=["quads", "triangles", "curved", "polygons"],
)
def test_flat_cells_are_drawn_by_their_corners(drawn, mesh, expected):
    seen = scene(mesh, np.zeros(mesh.n_cells, int))
    assert seen.is_flat
    assert len(seen.polygons.corners) == sum(len(b) for b in mesh.blocks if b.type.startswith(("q", "tri", "poly")))
    if expected is not None:
        assert area(seen) == pytest.approx(expected)
    assert share(drawn(mesh), shades(1)[0]) > 0.2


def test_a_voxel_order_quad_is_no_bow_tie():
    mesh = Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], [("pixel", [[0, 1, 2, 3]])])
    assert area(scene(mesh)) == pytest.approx(1.0)


def test_bars_are_lines_in_the_colour_of_their_part(drawn):
    mesh = Mesh([[x / 4] for x in range(9)], [("line", [[x, x + 1] for x in range(8)])])
    picture = drawn(mesh, labels=np.arange(8) // 4)
    shares = [share(picture, colour) for colour in shades(2)]
    assert min(shares) > 0.002
    assert shares[0] == pytest.approx(shares[1], rel=0.3)


def test_a_free_beam_is_drawn_and_attached_lines_are_not(drawn):
    assert share(drawn(beam_between_shells(), labels=[0, 1, 2]), shades(3)[2]) > 0.001
    mesh = quads_with_lines(4, 3)
    labels = partition_labels(mesh, 3, method="sfc")
    assert len(scene(mesh, labels).lines.corners) == 0
    assert np.array_equal(drawn(mesh, labels=labels), drawn(quads(4, 3), labels=labels[:12]))


def test_edges_are_drawn_where_there_is_room(drawn):
    few, many = quads(6, 6), quads(300, 300)
    assert np.array_equal(drawn(few), drawn(few, edges=True))
    assert not np.array_equal(drawn(few), drawn(few, edges=False))
    assert np.array_equal(drawn(many), drawn(many, edges=False))


def test_a_mesh_without_labels_is_coloured_by_block(drawn):
    mesh = Mesh(
        quads(4, 1).points, [("quad", quads(4, 1).blocks[0].nodes[:3]), ("quad", quads(4, 1).blocks[0].nodes[3:])]
    )
    picture = drawn(mesh, edges=False)
    shares = [share(picture, colour) for colour in shades(2)]
    assert shares[0] / sum(shares) == pytest.approx(0.75, abs=0.02)
    assert share(drawn(quads(4, 1), edges=False), shades(2)[1]) == 0


# -- solids -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [
        (cubes(3, 2, 1), 22.0),
        (tets(3, 2, 1), 22.0),
        (two_cube_polyhedra(), 10.0),
        (Mesh(tets(2, 2, 2).points, [("tetra", tets(2, 2, 2).blocks[0].nodes)] * 2), 24.0),  # each cell twice
    ],
    ids=["cubes", "tets", "polyhedra", "twice"],
)
def test_of_solids_the_surface_is_seen(mesh, expected):
    assert area(scene(mesh, np.arange(mesh.n_cells) % 3)) == pytest.approx(expected)


@pytest.mark.parametrize("mesh", [hex_pyramid_tet(), polyhedron_under_pyramid(), collapsed_hex()])
def test_the_surface_of_mixed_solids_is_closed(mesh):
    seen = scene(mesh)
    sums = areas_and_normals(seen.points, seen.polygons.corners)
    assert len(seen.polygons.corners) > 6
    if mesh != polyhedron_under_pyramid():  # whose faces need not turn outwards
        np.testing.assert_allclose(np.sum(sums[0][:, None] * sums[1], axis=0), 0, atol=1e-12)


def test_parts_that_are_moved_apart_show_what_lies_between_them():
    # 4 cubes in a row, two and two: apart, each half has a surface of 10
    seen = scene(cubes(4, 1, 1), [0, 0, 1, 1], explode=1.0)
    assert area(seen) == pytest.approx(20.0)
    # their middles are 1 and 3, that of all is 2: each moves by 1
    assert [seen.points[:, 0].min(), seen.points[:, 0].max()] == pytest.approx([-1.0, 5.0])


def test_moved_apart_there_is_paper_between_parts(drawn):
    picture = drawn(strip(4), labels=[0, 0, 1, 1], explode=1.0, edges=False)
    row = picture[picture.shape[0] // 3].astype(int)
    kinds = [
        kind for pixel in row for kind, c in enumerate((*shades(2), np.ones(3))) if np.abs(pixel - 255 * c).max() < 1
    ]
    assert [kind for at, kind in enumerate(kinds) if at == 0 or kind != kinds[at - 1]] == [2, 0, 2, 1, 2]


def test_all_parts_of_a_solid_are_seen_and_more_of_them_apart(drawn):
    mesh = tets(6, 6, 6)
    labels = partition_labels(mesh, 8, method="sfc")
    together, apart = (drawn(mesh, labels=labels, edges=False, size=SMALL, explode=far) for far in (0.0, 1.0))
    assert sum(count > 300 for count in hues(together, 8)) >= 7  # of eight blocks of a cube, one is behind
    assert min(hues(apart, 8)) > 300


def test_shells_and_beams_beside_solids_are_drawn(drawn):
    picture = drawn(shell_beside_solid(), labels=[0, 0, 1])
    assert min(hues(picture, 2)) > 20000
    helix = [[np.cos(t), np.sin(t), t / 5] for t in np.linspace(0, 9, 31)]
    picture = drawn(Mesh(helix, [("line", [[i, i + 1] for i in range(30)])]), labels=np.arange(30) // 10)
    assert min(hues(picture, 3)) > 1000
    vertices = Mesh(helix, [("vertex", np.arange(31)[:, None])])
    assert hues(drawn(vertices), 1)[0] > 500


def test_nothing_is_printed(drawn, capfd):
    drawn(tets(1, 1, 1))
    drawn(quads(1, 1))
    assert capfd.readouterr() == ("", "")


def test_the_same_picture_is_drawn_twice(drawn):
    mesh = tets(2, 2, 2)
    labels = np.arange(mesh.n_cells) % 5
    assert np.array_equal(*(drawn(mesh, labels=labels, size=SMALL) for _ in range(2)))


# -- parts and ghosts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mesh", [quads_with_lines(6, 5), tets(3, 3, 2), two_cube_polyhedra(), separate(6)])
def test_parts_look_as_the_mesh_with_labels(drawn, mesh):
    labels = partition_labels(mesh, 2, method="sfc")
    parts = split(mesh, labels, ghost_layers=1)
    assert np.array_equal(drawn(parts[::-1], size=SMALL), drawn(mesh, labels=labels, size=SMALL))
    options = {"ghosts_of": 1, "explode": 0.3, "size": SMALL}
    one, other = drawn(parts, **options), drawn(mesh, labels=labels, **options)
    assert np.mean(np.any(one != other, axis=-1)) < 0.02  # the middles of parts differ in the last bit
    assert np.mean(np.any(one != drawn(parts, size=SMALL), axis=-1)) > 0.05


def test_some_of_the_parts_are_drawn_without_the_others(drawn):
    parts = split(quads(9, 2), np.tile(np.repeat([0, 1, 2], 3), 2), ghost_layers=1)
    picture = drawn(parts[1:], edges=False)
    shares = [share(picture, colour) for colour in shades(3)]
    assert shares[0] == 0
    assert shares[1] == pytest.approx(shares[2], rel=0.02)
    assert share(drawn(parts[2], edges=False), shades(3)[2]) > 0.5


def test_ghosts_are_shown_layer_by_layer_and_the_rest_palely(drawn):
    # a row of ten quads, the first four owned: two layers of ghosts are one quad each, and four are the others
    mesh, labels = strip(10), np.repeat([0, 1], [4, 6])
    picture = drawn(mesh, labels=labels, ghosts_of=0, ghost_layers=2, edges=False)
    owned, first, others = (share(picture, colour) for colour in (OWNED, GHOSTS, OTHERS))
    assert owned == pytest.approx(others, rel=0.02)
    assert 0.1 < first / owned < 0.25  # of a quarter; its hatching covers some
    assert not np.array_equal(picture, drawn(mesh, labels=labels, ghosts_of=0, edges=False))
    assert not np.array_equal(picture, drawn(mesh, labels=labels, edges=False))


def test_ghosts_of_a_solid_are_seen(drawn):
    mesh = tets(5, 4, 4)
    labels = partition_labels(mesh, 4, method="sfc")
    pictures = [drawn(mesh, labels=labels, ghosts_of=part) for part in (0, 1)]
    assert not np.array_equal(*(picture[:300, :300] for picture in pictures))
    for picture in pictures:
        orange = (picture[..., 0] > picture[..., 2] + 80).mean()
        blue = (picture[..., 2] > picture[..., 0] + 60).mean()
        assert min(orange, blue) > 0.02


def test_ghosts_are_drawn_also_where_their_owner_is_not_given(drawn):
    parts = split(strip(6), [0, 0, 0, 1, 1, 1], ghost_layers=1)
    picture = drawn(parts[:1], ghosts_of=0, edges=False)
    assert share(picture, GHOSTS) > 0.1
    assert share(picture, OTHERS) == 0


# -- real files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "nparts", "flat"),
    [
        ("mixed_tri_quad_groups.msh", 4, True),
        ("biquadratic_quads_uint32_ids.vtu", 5, True),
        ("venturi_2d_quad_markers.su2", 6, True),
        ("hex64_order3_torus.msh", 4, False),
        ("quadratic_sphere_tet10.msh", 5, False),
        ("mixed_p2_tet_hex_wedge.vtk", 3, False),
        ("tet_fault_surface_edges.msh", 6, False),
        ("fractured_cube_hex_wedge.vtu", 4, False),
    ],
)
@pytest.mark.filterwarnings("ignore::meshpart.MeshpartWarning")
def test_real_files_are_drawn(drawn, real_meshes, name, nparts, flat):
    mesh = read(real_meshes / name)
    labels = partition_labels(mesh, nparts, method="sfc")
    assert scene(mesh, labels).is_flat == flat
    assert min(hues(drawn(mesh, labels=labels, explode=1.0, size=SMALL), nparts)) > 300
