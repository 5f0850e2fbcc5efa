"""Parts written as the pieces of a .pvtu file, and what must hold of the mesh that VTK reads from them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from vtk_reading import arrays_of, points_of, rows_of, types_of

from meshpart import Mesh, MeshpartWarning, SubMesh, write_parts
from meshpart.cells import CELL_TYPES, cell_type

WEDGE = [0, 2, 1, 3, 5, 4]  # how VTK's files have the points of a wedge
POLYHEDRON = CELL_TYPES["polyhedron"].vtk


def written(parts: Sequence[SubMesh], folder: Path, name: str = "mesh") -> Path:
    """Write parts as pieces, whatever that warns of, and return the path of the index."""
    path = folder / f"{name}.pvtu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(parts, path)
    return path


def assert_each_once(grid: Any, mesh: Mesh) -> None:
    """Assert that the cells and points of a grid that are no ghosts are those of a mesh, with its data."""
    points, cells = arrays_of(grid.GetPointData()), arrays_of(grid.GetCellData())
    if not mesh.blocks:  # and so no arrays on cells
        assert cells == {}
        cells = {"GlobalCellIds": np.zeros(0, np.int64), "vtkGhostType": np.zeros(0, np.uint8)}
    own_points, own_cells = (np.flatnonzero(data["vtkGhostType"] == 0) for data in (points, cells))
    point_ids, cell_ids = points["GlobalPointIds"], cells["GlobalCellIds"]
    assert sorted(point_ids[own_points]) == list(range(mesh.n_points))
    assert sorted(cell_ids[own_cells]) == list(range(mesh.n_cells))
    types = [cell_type(block.type).vtk for block in mesh.blocks for _ in range(len(block))]
    assert types_of(grid) == [types[cell] for cell in cell_ids]
    rows = [row.tolist() for row in np.split(mesh.cell_points, mesh.cell_offsets[1:-1])]
    for cell, type_, row in zip(cell_ids, types_of(grid), rows_of(grid), strict=True):
        expected, found = rows[cell], point_ids[row].tolist()
        if type_ == POLYHEDRON:
            expected, found = sorted(expected), sorted(found)
        assert found == ([expected[place] for place in WEDGE] if type_ == CELL_TYPES["wedge"].vtk else expected)
    if mesh.n_points:
        expected_points = np.zeros((len(point_ids), 3), mesh.points.dtype)
        expected_points[:, : mesh.points.shape[1]] = mesh.points[point_ids]
        assert np.array_equal(points_of(grid), expected_points, equal_nan=True)
    for name, values in mesh.point_data.items():
        if values.dtype.kind in "iuf" and values.shape[1:] != (0,):
            assert np.array_equal(points[name].ravel(), values[point_ids].ravel(), equal_nan=True)
    for name, blocks in mesh.cell_data.items():
        values = np.concatenate(blocks)
        if values.dtype.kind in "iuf" and values.shape[1:] != (0,):
            assert np.array_equal(cells[name].ravel(), values[cell_ids].ravel(), equal_nan=True)
