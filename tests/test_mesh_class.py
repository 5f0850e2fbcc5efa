"""What the benchmarks say of mesh files: the class of a mesh by its measures, and the meshes of a folder."""

from __future__ import annotations

from pathlib import Path

import meshes
import numpy as np
import pytest
from cases import read_folder
from mesh_class import class_of, measures

import meshpart


def test_what_is_measured_of_a_plate() -> None:
    found = measures(meshes.cubes(10, 10, 2))
    assert (found.planar, found.largest_body, found.other_shapes) == (False, 1, 0)
    assert found.aspect == pytest.approx(1)
    assert found.grading == pytest.approx(1)
    assert found.layers == pytest.approx(10 / 7)  # volume 200 by surface 280, twice; a facet's area is 1
    assert found.width == pytest.approx(120**0.5 / (10 / 7))  # 11 rows of points: their variance is (11**2 - 1) / 12


@pytest.mark.parametrize(
    ("mesh", "kind"),
    [
        (meshes.quads(8, 8), "isotropic"),
        (meshes.cubes(6, 6, 6), "isotropic"),
        (meshes.cubes(20, 20, 3), "thin"),
        (meshes.cubes(3, 3, 20), "isotropic"),  # a bar is not wide in a second direction
        (meshes.separate(2), "assembly"),
        (meshes.quads_with_lines(4, 1), "isotropic"),  # lines have fewer dimensions
    ],
)
def test_the_class_of_a_small_mesh(mesh: meshpart.Mesh, kind: str) -> None:
    assert class_of(mesh) == kind


def test_stretched_cells_make_a_mesh_anisotropic_and_graded_ones_graded() -> None:
    square = meshes.quads(8, 8)
    assert class_of(meshpart.Mesh(square.points * [1, 6], square.blocks)) == "anisotropic"
    assert class_of(meshpart.Mesh(square.points * [1, 4], square.blocks)) == "isotropic"
    assert class_of(meshpart.Mesh(2.0**square.points, square.blocks)) == "graded"


def test_a_surface_is_thin_unless_it_lies_in_a_plane() -> None:
    square = meshes.quads(8, 8)
    x, y = square.points.T
    assert class_of(meshpart.Mesh(np.column_stack([x, y, 2 * x - y]), square.blocks)) == "isotropic"
    assert class_of(meshpart.Mesh(np.column_stack([x, y, np.sin(x)]), square.blocks)) == "thin"


def test_a_stray_cell_makes_no_assembly() -> None:
    square = meshes.quads(8, 8)
    points = np.concatenate([square.points, [[20, 0], [21, 0], [21, 1], [20, 1]]])
    rows = np.concatenate([square.blocks[0].nodes, [[81, 82, 83, 84]]])
    assert class_of(meshpart.Mesh(points, [("quad", rows)])) == "isotropic"


def test_quadratic_cells_are_of_the_class_of_linear_ones() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    edges = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
    middles = np.array([(points[a] + points[b]) / 2 for a, b in edges])
    linear = measures(meshpart.Mesh(points, [("tetra", [[0, 1, 2, 3]])]))
    quadratic = measures(meshpart.Mesh(np.concatenate([points, middles]), [("tetra10", [list(range(10))])]))
    assert quadratic._replace(width=0) == linear._replace(width=0)


# -- folders ------------------------------------------------------------------------------------------------


def test_the_mesh_files_of_a_folder_are_read_and_classed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meshpart.write(meshes.cubes(20, 20, 3), tmp_path / "plate.vtu")
    meshpart.write(meshes.cubes(6, 6, 6), tmp_path / "same.vtu")
    meshpart.write(meshes.tets(6, 6, 6), tmp_path / "same.vtk")
    (tmp_path / "broken.vtu").write_text("no mesh")
    meshpart.write(meshes.no_cells(3), tmp_path / "without_cells.vtk")
    (tmp_path / "README.md").write_text("no mesh either, and not meant to be one")
    (tmp_path / "folder.vtu").mkdir()
    found = [(name, kind, mesh.n_cells) for name, kind, mesh in read_folder(tmp_path)]
    assert found == [("plate", "thin", 1200), ("same.vtk", "isotropic", 1296), ("same.vtu", "isotropic", 216)]
    broken, empty = capsys.readouterr().err.splitlines()
    assert "broken.vtu" in broken
    assert "without_cells.vtk has no cells" in empty


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="missing"):
        next(read_folder(tmp_path / "missing"))
