"""Pictures: what is drawn has the right colours, in the right place, of the right size."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.image
import meshio
import numpy as np
import numpy.typing as npt
import pytest
from meshes import (
    beam_between_shells,
    collapsed_hex,
    cubes,
    curved_triangles,
    hex_pyramid_tet,
    no_cells,
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
    two_tets_with_triangles,
    with_unused_points,
)

from meshpart import (
    ArgumentError,
    FormatError,
    Mesh,
    MeshError,
    MissingDependencyError,
    partition_labels,
    plot,
    read,
    split,
)
from meshpart.plotting.colours import shades
from meshpart.plotting.content import GHOSTS, OTHERS, OWNED, of_mesh
from meshpart.plotting.legend import figure_of
from meshpart.plotting.scene import Look, areas_and_normals, scene_of

Pixels = npt.NDArray[np.uint8]  # (height, width, 3)
Draw = Callable[..., Pixels]

SMALL = (560, 420)  # solids are drawn faster in it


@pytest.fixture
def drawn(tmp_path: Path) -> Draw:
    """Return what draws and reads the picture back."""

    def draw(what: Any, **options: Any) -> Pixels:
        file = tmp_path / "picture.png"
        plot(what, file, overwrite=True, **options)
        return np.rint(255 * matplotlib.image.imread(file)[..., :3]).astype(np.uint8)

    return draw


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
    row = picture[picture.shape[0] // 3]
    kinds = [int(np.argmin([np.abs(pixel - c * 255).max() for c in (*shades(2), np.ones(3))])) for pixel in row]
    order = [kind for at, kind in enumerate(kinds) if at == 0 or kind != kinds[at - 1]]
    assert order[:5] == [2, 0, 2, 1, 2]


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
    assert np.mean(np.any(one != drawn(parts, size=SMALL), axis=-1)) > 0.1


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


# -- legend and size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [0.1, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("count", [2, 12, 32, 33, 500])
@pytest.mark.parametrize("size", [None, (1200, 900)])
def test_the_legend_names_at_most_32_and_lies_beside_the_picture(shape, count, size):
    looks = [Look(str(part), (0.5, 0.5, 0.5)) for part in range(count)]
    figure, axes = figure_of(looks, "part", shape, size)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[:32] == [str(part) for part in range(min(count, 32))]
    assert texts[32:] == ([f"... and {count - 32} more"] if count > 32 else [])
    figure.canvas.draw()
    legend, picture = figure.legends[0].get_window_extent(), axes.get_window_extent()
    assert not legend.overlaps(picture)
    for box in (legend, picture):
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    assert picture.width > 300
    assert picture.height > 200


def test_a_single_colour_needs_no_legend():
    assert figure_of([Look("0", (0.5, 0.5, 0.5))], "part", 1.0, None)[0].legends == []


@pytest.mark.parametrize("mesh", [quads(3, 3), tets(1, 1, 1)], ids=["flat", "solid"])
def test_a_picture_has_the_size_that_was_asked_for(drawn, mesh):
    assert drawn(mesh, labels=np.arange(mesh.n_cells), size=(640, 480)).shape == (480, 640, 3)


# -- files and errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")]
)
@pytest.mark.parametrize("mesh", [quads(2, 2), tets(1, 1, 1)], ids=["flat", "solid"])
def test_the_suffix_says_the_format(tmp_path, mesh, suffix, start):
    plot(mesh, tmp_path / f"picture{suffix}")
    assert (tmp_path / f"picture{suffix}").read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_meshio_mesh_is_drawn_and_not_changed(drawn):
    given = meshio.Mesh(np.array(quads(2, 1).points), [("quad", np.array(quads(2, 1).blocks[0].nodes))])
    before = copy.deepcopy(given)
    assert np.array_equal(drawn(given, labels=[0, 1]), drawn(quads(2, 1), labels=[0, 1]))
    assert np.array_equal(given.points, before.points)
    assert np.array_equal(given.cells[0].data, before.cells[0].data)


def test_a_file_is_only_replaced_where_that_is_wanted(tmp_path):
    file = tmp_path / "picture.png"
    file.write_text("mine")
    with pytest.raises(FormatError, match="there already"):
        plot(quads(1, 1), file)
    assert file.read_text() == "mine"
    plot(quads(1, 1), file, overwrite=True)
    assert file.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [file]


PARTS = split(quads(4, 1), [0, 0, 1, 1], ghost_layers=1)
NOWHERE = Mesh([[0.0, 0], [1, 0], [np.nan, 1], [0, 1]], [("quad", [[0, 1, 2, 3]])])


@pytest.mark.parametrize(
    ("what", "options", "error", "message"),
    [
        ("no mesh", {"path": "a.bmp"}, ArgumentError, r"a\.bmp: pictures are \.png, \.pdf or \.svg"),
        ("no mesh", {"path": "a"}, ArgumentError, "pictures are"),
        ("no mesh", {"path": 3}, ArgumentError, "path"),
        ("no mesh", {"path": "nowhere/a.png"}, FormatError, "there is no folder"),
        ("no mesh", {}, ArgumentError, "what must be a list of parts"),
        (7, {}, ArgumentError, "what must be a list of parts"),
        ([quads(1, 1)], {}, ArgumentError, r"what\[0\] must be a SubMesh, got Mesh"),
        ([], {}, ArgumentError, "parts is empty"),
        (no_cells(3), {}, ArgumentError, "no cells"),
        (no_cells(3), {"labels": []}, ArgumentError, "no cells"),
        (quads(2, 1), {"labels": [0]}, ArgumentError, r"labels must have the shape \(2,\), got \(1,\)"),
        (quads(2, 1), {"labels": [0, -1]}, ArgumentError, "cell 1 has -1"),
        (quads(2, 1), {"labels": [0, 1], "ghosts_of": 2}, ArgumentError, "ghosts_of must be between 0 and 1, got 2"),
        (quads(2, 1), {"labels": [0, 1], "ghost_layers": 1}, ArgumentError, "ghost_layers needs ghosts_of"),
        (quads(2, 1), {"labels": [0, 1], "ghosts_of": 0, "ghost_layers": 0}, ArgumentError, "ghost_layers"),
        (quads(2, 1), {"ghosts_of": 0}, ArgumentError, "need the labels"),
        (PARTS, {"ghosts_of": 5}, ArgumentError, "ghosts_of must be between 0 and 1, got 5"),
        (PARTS[:1], {"ghosts_of": 1}, ArgumentError, "part 1 is not among the parts given"),
        (PARTS, {"labels": [0, 0, 1, 1]}, ArgumentError, "labels is for a mesh"),
        (PARTS, {"ghosts_of": 0, "ghost_layers": 2}, ArgumentError, "ghost_layers is for a mesh"),
        ([PARTS[0], PARTS[0]], {}, ArgumentError, "part 0 is given more than once"),
        ([PARTS[0], split(quads(4, 1), [0, 1, 1, 1])[1]], {}, ArgumentError, "different decompositions"),
        (split(quads(4, 1), [0, 0, 1, 1]), {"ghosts_of": 0}, ArgumentError, "no ghosts to show"),
        (NOWHERE, {}, MeshError, "point 2 is at"),
        (quads(1, 1), {"explode": -1}, ArgumentError, "explode"),
        (quads(1, 1), {"explode": float("nan")}, ArgumentError, "explode"),
        (quads(1, 1), {"explode": "far"}, ArgumentError, "explode"),
        (quads(1, 1), {"edges": 1}, ArgumentError, "edges must be True or False"),
        (quads(1, 1), {"overwrite": "no"}, ArgumentError, "overwrite"),
        (quads(1, 1), {"size": 3}, ArgumentError, "size must be a width and a height"),
        (quads(1, 1), {"size": (10, 3.5)}, ArgumentError, "size must be"),
        (quads(1, 1), {"size": (10, 500)}, ArgumentError, "size must be between 100 and"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_leaves_nothing(tmp_path, monkeypatch, what, options, error, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        plot(what, **{"path": "a.png", **options})
    assert list(tmp_path.iterdir()) == []


def test_points_that_nothing_uses_need_not_be_anywhere(drawn):
    mesh = with_unused_points(quads(2, 2))
    points = np.array(mesh.points)
    points[-1] = np.nan
    assert np.array_equal(drawn(Mesh(points, mesh.blocks)), drawn(quads(2, 2)))


def test_far_from_the_origin_a_mesh_looks_the_same(drawn):
    near = drawn(two_tets_with_triangles())
    far = drawn(Mesh(two_tets_with_triangles().points + 1e6, two_tets_with_triangles().blocks))
    assert np.mean(np.any(near != far, axis=-1)) < 0.01


@pytest.mark.parametrize(("package", "mesh"), [("matplotlib.figure", quads(1, 1)), ("pyvista", tets(1, 1, 1))])
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, package, mesh):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=rf"{package}.*meshpart\[plot\]"):
        plot(mesh, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


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
