"""What VTK sees of parts that were written as its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import grid_points, quad_rows, quads
from part_folders import a_mesh_for, entries, part_file, written

from meshpart import (
    Mesh,
    split,
    write_parts,
)
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


# -- VTK ----------------------------------------------------------------------------------------------------


def vtk_grid(path: Path) -> Any:
    """Return what VTK reads; it says nothing on a file that it finds right."""
    vtk = pytest.importorskip("vtk")
    reader = vtk.vtkXMLUnstructuredGridReader() if path.suffix == ".vtu" else vtk.vtkUnstructuredGridReader()
    errors: list[str] = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: errors.append("warning"))
    reader.SetFileName(str(path))
    reader.Update()
    assert errors == []
    return reader.GetOutput()


@pytest.mark.parametrize("ghost_layers", [0, 1, 2])
@pytest.mark.parametrize("format_", ["vtu", "vtk42"])
def test_vtk_sees_the_cells_points_and_ghosts_of_each_part(
    format_: str, ghost_layers: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    numpy_support = pytest.importorskip("vtk.util.numpy_support")
    mesh = a_mesh_for(format_)
    parts = written(mesh, tmp_path / "parts", format=format_, ghost_layers=ghost_layers)
    n_owned = n_cells = 0
    numbers = np.repeat([vtk_number(block.type) for block in mesh.blocks], [len(block) for block in mesh.blocks])
    for part, entry in zip(parts, entries(tmp_path / "parts"), strict=True):
        grid = vtk_grid(entry["file"])
        points, cells = grid.GetPointData(), grid.GetCellData()
        cell_ids = numpy_support.vtk_to_numpy(cells.GetArray("GlobalCellIds"))
        assert [grid.GetCellType(i) for i in range(grid.GetNumberOfCells())] == numbers[cell_ids].tolist()
        assert grid.GetNumberOfPoints() == part.points.n_local
        ghosts = numpy_support.vtk_to_numpy(points.GetArray("vtkGhostType"))
        assert points.GetArray("vtkGhostType").GetDataTypeAsString() == "unsigned char"
        n_owned += np.count_nonzero(ghosts == 0)
        ghosts = numpy_support.vtk_to_numpy(cells.GetArray("vtkGhostType"))
        assert (len(ghosts), np.count_nonzero(ghosts)) == (part.cells.n_local, part.cells.n_ghost)
        n_cells += np.count_nonzero(ghosts == 0)
        assert grid.GetGhostArray(0) is not None  # VTK takes the array for what it is
    assert (n_owned, n_cells) == (mesh.n_points, mesh.n_cells)
    assert capfd.readouterr() == ("", "")


def vtk_number(type_: str) -> int:
    number = CELL_TYPES[type_].vtk
    return {"VTK_LAGRANGE_CURVE": 68}.get(type_, 0) if number is None else number


@pytest.mark.parametrize("format_", ["vtu", "vtk42"])
def test_vtk_reads_a_part_without_cells(format_: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("vtk")
    data = {"a": [np.ones(1)], "v": [np.ones((1, 3))]}
    mesh = Mesh(quads(1, 1).points, quads(1, 1).blocks, cell_data=data, cell_sets={"A": [[0]]})
    write_parts(split(mesh, [1], 3), tmp_path / "parts", format=format_)
    for entry, n_points in zip(entries(tmp_path / "parts"), (0, 4, 0), strict=True):
        grid = vtk_grid(entry["file"])
        assert (grid.GetNumberOfPoints(), grid.GetNumberOfCells()) == (n_points, entry["owned_cells"])
        if format_ == "vtu":  # as all pieces of a .pvtu file must have the same arrays
            arrays = [grid.GetCellData().GetArray(i) for i in range(grid.GetCellData().GetNumberOfArrays())]
            found = {array.GetName(): (array.GetDataTypeAsString(), array.GetNumberOfComponents()) for array in arrays}
            assert found.items() >= {"a": ("double", 1), "v": ("double", 3), "set:A": ("unsigned char", 1)}.items()
            assert found.keys() > {"GlobalCellIds", "CellOwner", "CellLayer", "vtkGhostType"}
    assert capfd.readouterr() == ("", "")


def test_vtk_decodes_the_names_of_both_its_formats(tmp_path: Path) -> None:
    pytest.importorskip("vtk")
    name = 'Nodal "Displacement" & <ß>'
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], point_data={name: np.arange(4.0)})
    for format_ in ("vtu", "vtk"):
        write_parts(split(mesh, [0]), tmp_path / format_, format=format_)
        grid = vtk_grid(part_file(tmp_path / format_, 0))
        assert grid.GetPointData().GetArray(name) is not None


def test_vtk_sees_polyhedra_with_their_faces_and_data(tmp_path: Path) -> None:
    numpy_support = pytest.importorskip("vtk.util.numpy_support")
    tet = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
    wedge = [[4, 5, 6], [7, 8, 9], [4, 5, 8, 7], [5, 6, 9, 8], [6, 4, 7, 9]]
    mesh = Mesh(
        np.random.default_rng(1).random((10, 3)), [("polyhedron", [tet, wedge, tet])], cell_data={"a": [[1, 2, 3]]}
    )
    write_parts(split(mesh, [0, 0, 0]), tmp_path / "parts", format="vtu")
    grid = vtk_grid(part_file(tmp_path / "parts", 0))
    assert [grid.GetCellType(i) for i in range(3)] == [42] * 3
    assert [grid.GetCell(i).GetNumberOfFaces() for i in range(3)] == [4, 5, 4]
    assert numpy_support.vtk_to_numpy(grid.GetCellData().GetArray("a")).tolist() == [1, 2, 3]
