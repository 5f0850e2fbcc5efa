"""What VTK reads from a file, and files that it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def read_by_vtk(path: Path) -> Any:
    """Return the vtkUnstructuredGrid of a .vtu or .pvtu file, on which VTK has nothing to say."""
    vtk = pytest.importorskip("vtk")
    reader = vtk.vtkXMLUnstructuredGridReader() if path.suffix == ".vtu" else vtk.vtkXMLPUnstructuredGridReader()
    said: list[str] = []
    for event in ("ErrorEvent", "WarningEvent"):
        reader.AddObserver(event, lambda _, name: said.append(name))
    reader.SetFileName(str(path))
    reader.Update()
    assert said == []
    return reader.GetOutput()


def write_by_vtk(path: Path, prepare: Callable[[Any], object]) -> bytes:
    """Let VTK write a .vtu file anew, by a writer that is prepared; return the file."""
    writer = pytest.importorskip("vtk").vtkXMLUnstructuredGridWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(read_by_vtk(path))
    prepare(writer)
    assert writer.Write() == 1
    return path.read_bytes()


def arrays_of(data: Any) -> dict[str, np.ndarray]:
    """Return the arrays of vtkPointData or vtkCellData by their names."""
    numpy_support = pytest.importorskip("vtk.util.numpy_support")
    arrays = [data.GetArray(number) for number in range(data.GetNumberOfArrays())]
    return {array.GetName(): numpy_support.vtk_to_numpy(array) for array in arrays}


def points_of(grid: Any) -> np.ndarray:
    """Return the coordinates of the points."""
    points: np.ndarray = pytest.importorskip("vtk.util.numpy_support").vtk_to_numpy(grid.GetPoints().GetData())
    return points


def rows_of(grid: Any) -> list[list[int]]:
    """Return the points of each cell."""
    ids = pytest.importorskip("vtk").vtkIdList()
    rows = []
    for number in range(grid.GetNumberOfCells()):
        grid.GetCellPoints(number, ids)
        rows.append([ids.GetId(place) for place in range(ids.GetNumberOfIds())])
    return rows


def ids_of(cell: Any) -> list[int]:
    """Return the points of a cell or a face, which VTK forgets as soon as it is asked for another."""
    return [cell.GetPointId(number) for number in range(cell.GetNumberOfPoints())]


def types_of(grid: Any) -> list[int]:
    """Return VTK's number of the type of each cell."""
    return [grid.GetCellType(number) for number in range(grid.GetNumberOfCells())]


def sizes_of(grid: Any, measure: str) -> np.ndarray:
    """Return "Length", "Area" or "Volume" of each cell, 0 of cells of other dimensions."""
    sizes = pytest.importorskip("vtk").vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    return arrays_of(sizes.GetOutput().GetCellData())[measure]
