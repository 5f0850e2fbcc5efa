"""Pictures as files: their legend, size and format, and what is refused."""

from __future__ import annotations

import copy
import sys

import meshio
import numpy as np
import pytest
from meshes import no_cells, quads, tets, two_tets_with_triangles, with_unused_points

from meshpart import ArgumentError, FormatError, Mesh, MeshError, MissingDependencyError, plot, split
from meshpart.plotting.legend import figure_of
from meshpart.plotting.scene import Look

# -- legend and size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [0.1, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("count", [2, 12, 32, 33, 500])
@pytest.mark.parametrize("size", [None, (1200, 900), (700, 500), (2000, 400)])
def test_the_legend_names_at_most_32_and_lies_beside_the_picture(shape, count, size):
    looks = [Look(str(part), (0.5, 0.5, 0.5)) for part in range(count)]
    figure, axes = figure_of(looks, "part", shape, size)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    named = texts[:-1] if texts[-1].startswith("...") else texts
    assert named == [str(part) for part in range(len(named))]
    assert texts[len(named) :] == ([f"... and {count - len(named)} more"] if count > len(named) else [])
    if size in (None, (1200, 900)):  # the others may have no room for so many
        assert len(named) == min(count, 32)
    figure.canvas.draw()
    legend, picture = figure.legends[0].get_window_extent(), axes.get_window_extent()
    assert not legend.overlaps(picture)
    for box in (legend, picture):
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    assert picture.width > 300
    assert picture.height > 150


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
