"""The pieces and the index of .pvtu files: VTK reads from them the mesh that was cut, each cell and point once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from carrying import carrying
from meshes import (
    DRAWN,
    QUARTERS,
    cubes,
    empty_blocks,
    grid_points,
    hex_pyramid_tet,
    in_turn,
    no_cells,
    polygons,
    polyhedron_under_pyramid,
    quads,
    sfc_labels,
    tets,
    triangles,
)
from part_folders import part_file
from pieces import assert_each_once, written
from vtk_reading import arrays_of, ids_of, points_of, read_by_vtk, sizes_of

from meshpart import FormatError, Mesh, merge_files, split
from meshpart.manifest import read_manifest


def prisms(nx: int, ny: int, nz: int) -> Mesh:
    """Return each cube of a grid cut into two wedges, which stand on its lower face."""
    cube = cubes(nx, ny, nz)
    rows = cube.blocks[0].nodes
    return Mesh(cube.points, [("wedge", rows[:, [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]].reshape(-1, 6))])


def pyramids(nx: int, ny: int, nz: int) -> Mesh:
    """Return each cube of a grid cut into six pyramids, which meet in its centre."""
    cube = cubes(nx, ny, nz)
    rows = cube.blocks[0].nodes
    centres = len(cube.points) + np.arange(len(rows))
    faces = [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    cells = [np.column_stack([rows[:, face], centres]) for face in faces]
    return Mesh(np.vstack([cube.points, cube.points[rows].mean(axis=1)]), [("pyramid", np.vstack(cells))])


def only_owned(grid: Any) -> Any:
    """Return the grid without its ghost cells."""
    owned = pytest.importorskip("vtk").vtkUnstructuredGrid()
    owned.DeepCopy(grid)
    owned.RemoveGhostCells()
    return owned


# -- what VTK reads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ghost_layers", [0, 1, 2])
@pytest.mark.parametrize("number", range(len(DRAWN)))
def test_each_cell_and_point_is_there_once_and_the_others_are_ghosts(
    number: int, ghost_layers: int, tmp_path: Path
) -> None:
    mesh = DRAWN[number]
    path = written(split(mesh, in_turn(mesh), 4, ghost_layers=ghost_layers), tmp_path)
    assert_each_once(read_by_vtk(path), mesh)


@pytest.mark.parametrize(
    ("mesh", "measure", "total"),
    [
        (quads(5, 4), "Area", 20),
        (triangles(5, 4), "Area", 20),
        (Mesh(grid_points(2, 1), [("polygon", [[0, 1, 4, 3], [1, 2, 5], [1, 5, 4]])]), "Area", 2),
        (tets(3, 2, 2), "Volume", 12),
        (cubes(3, 2, 2), "Volume", 12),
        (prisms(3, 2, 2), "Volume", 12),
        (pyramids(3, 2, 2), "Volume", 12),
        (hex_pyramid_tet(), "Volume", 1 + 1 / 3 + 5 / 24),
    ],
    ids=["quads", "triangles", "polygons", "tets", "cubes", "prisms", "pyramids", "mixed"],
)
def test_cells_fill_the_mesh_once_when_ghosts_are_taken_away(
    mesh: Mesh, measure: str, total: float, tmp_path: Path
) -> None:
    grid = read_by_vtk(written(split(mesh, sfc_labels(mesh, 3), 3, ghost_layers=1), tmp_path))
    # the sign is that of the wedges, which VTK 9.7 turned inside out, and of every other tet of `tets`
    assert np.abs(sizes_of(only_owned(grid), measure)).sum() == pytest.approx(total)
    assert np.abs(sizes_of(grid, measure)).sum() > total + 0.1


def test_hexahedra_and_pyramids_have_positive_volumes(tmp_path: Path) -> None:
    for name, mesh in (("cubes", cubes(2, 2, 2)), ("pyramids", pyramids(2, 1, 1))):
        grid = read_by_vtk(written(split(mesh, in_turn(mesh), 3), tmp_path, name))
        assert sizes_of(grid, "Volume").min() > 0


@pytest.mark.parametrize("ghost_layers", [0, 1])
def test_points_of_several_parts_are_points_of_one(ghost_layers: int, tmp_path: Path) -> None:
    # Q(2, 1): part 0 owns the left quad and, as the lowest of two, the points 1 and 4 in the middle
    grid = read_by_vtk(written(split(quads(2, 1), [0, 1], ghost_layers=ghost_layers), tmp_path))
    points = arrays_of(grid.GetPointData())
    ids = points["GlobalPointIds"][points["vtkGhostType"] == 0]
    assert ids.tolist() == [0, 1, 3, 4, 2, 5]
    assert points["PointOwner"][points["vtkGhostType"] == 0].tolist() == [0] * 4 + [1] * 2


def test_arrays_have_their_dtypes_and_sizes(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    dtypes = ["int8", "uint16", "int64", "uint64", "float32", "float64", "bool", "float16", ">f8"]
    data = {f"{dtype} {size}": (dtype, size) for dtype in dtypes for size in ((), (2,), (3,), (3, 3))}
    mesh = replace(
        quads(4, 2),
        point_data={name: rng.integers(0, 2, (15, *size)).astype(dtype) for name, (dtype, size) in data.items()},
        cell_data={name: [rng.integers(0, 2, (8, *size)).astype(dtype)] for name, (dtype, size) in data.items()},
        point_sets={"P": [3, 1]},
        cell_sets={"C": [[7, 0]]},
    )
    grid = read_by_vtk(written(split(mesh, [0, 0, 1, 1, 0, 0, 1, 1], 3, ghost_layers=1), tmp_path))
    for arrays, ids, given in (
        (arrays_of(grid.GetPointData()), "GlobalPointIds", mesh.point_data),
        (arrays_of(grid.GetCellData()), "GlobalCellIds", {name: blocks[0] for name, blocks in mesh.cell_data.items()}),
    ):
        for name, (dtype, size) in data.items():
            expected = {"bool": "uint8", "float16": "float32", ">f8": "float64"}.get(dtype, dtype)
            assert (arrays[name].dtype, arrays[name].shape[1:]) == (expected, (np.prod(size),) if size else ())
            assert np.array_equal(arrays[name], given[name][arrays[ids]].reshape(arrays[name].shape))
        assert (arrays[ids].dtype, arrays["vtkGhostType"].dtype) == ("int64", "uint8")
        owners = {name: array.dtype for name, array in arrays.items() if name.endswith(("Owner", "Layer"))}
        assert list(owners.values()) == ["int32", "int32"]
    points, cells = arrays_of(grid.GetPointData()), arrays_of(grid.GetCellData())
    assert np.array_equal(points["set:P"], np.isin(points["GlobalPointIds"], [3, 1]))
    assert np.array_equal(cells["set:C"], np.isin(cells["GlobalCellIds"], [7, 0]))
    assert cells["set:C"].dtype == "uint8"


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint64"])
def test_points_keep_their_dtype_in_two_dimensions_too(dtype: str, tmp_path: Path) -> None:
    mesh = Mesh(quads(3, 1).points.astype(dtype), quads(3, 1).blocks)
    points = points_of(read_by_vtk(written(split(mesh, [0, 1, 3], 4), tmp_path)))
    assert points.dtype == mesh.points.dtype
    assert points.max(axis=0).tolist() == [3, 1, 0]


def test_vtk_takes_global_ids_and_ghosts_for_what_they_are(tmp_path: Path) -> None:
    grid = read_by_vtk(written(split(quads(3, 1), [0, 1, 2], ghost_layers=1), tmp_path))
    assert grid.GetPointData().GetGlobalIds().GetName() == "GlobalPointIds"
    assert grid.GetCellData().GetGlobalIds().GetName() == "GlobalCellIds"
    assert grid.GetGhostArray(0).GetName() == grid.GetGhostArray(1).GetName() == "vtkGhostType"


@pytest.mark.parametrize("name", ["a b", "a&b", "a'\"<c>", "ü ß", "#%41;", "a\nb\tc", "~", "x.pvtu", "\U0001f600"])
def test_folders_and_arrays_may_have_any_name(name: str, tmp_path: Path) -> None:
    array = name.replace("\n", "").replace("\t", "")
    mesh = replace(
        quads(3, 1),
        point_data={array: np.arange(8)},
        cell_data={array: [np.arange(3)]},
        cell_sets={array: [[1]]},
        point_sets={array: [0]},
    )
    path = written(split(mesh, [0, 1, 2]), tmp_path, name)
    path = path.rename(tmp_path / "mesh.pvtu") if "\n" in name else path  # VTK's own file names have lines of text
    grid = read_by_vtk(path)
    assert_each_once(grid, mesh)
    assert {array, f"set:{array}"} < arrays_of(grid.GetPointData()).keys() & arrays_of(grid.GetCellData()).keys()


def test_an_index_and_its_folder_may_be_moved_together(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    written(split(quads(2, 1), [0, 1]), tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    assert_each_once(read_by_vtk(tmp_path / "second" / "mesh.pvtu"), quads(2, 1))


def test_vtk_reads_a_piece_alone_with_its_ghosts(tmp_path: Path) -> None:
    vtk = pytest.importorskip("vtk")
    path = written(split(quads(3, 1), [0, 1, 2], ghost_layers=1), tmp_path)
    reader = vtk.vtkXMLPUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.UpdatePiece(1, 3, 1)  # as the second of three processes asks for its part
    assert arrays_of(reader.GetOutput().GetCellData())["GlobalCellIds"].tolist() == [1, 0, 2]


# -- what is odd in a mesh ----------------------------------------------------------------------------------


def test_pieces_without_cells_and_points_have_all_arrays(tmp_path: Path) -> None:
    mesh = replace(carrying(quads(3, 1)), periodic=())
    grid = read_by_vtk(written(split(mesh, [1, 1, 3], 5), tmp_path))
    assert_each_once(grid, mesh)
    cells = arrays_of(grid.GetCellData())
    ids = cells["GlobalCellIds"]
    assert np.array_equal(cells["b"], mesh.cell_data["b"][0][ids])
    assert cells["set:repeated"].dtype == "uint8"
    empty = read_by_vtk(part_file(tmp_path / "mesh.pvtu", 4))
    assert (empty.GetNumberOfCells(), empty.GetNumberOfPoints()) == (0, 0)
    for data, filled in ((empty.GetPointData(), grid.GetPointData()), (empty.GetCellData(), grid.GetCellData())):
        shapes = [
            {name: (array.dtype, array.shape[1:]) for name, array in arrays_of(d).items()} for d in (data, filled)
        ]
        assert shapes[0] == shapes[1]


@pytest.mark.parametrize("mesh", [no_cells(3), no_cells(0), no_cells(0, 2)])
def test_a_mesh_without_cells_has_points_alone(mesh: Mesh, tmp_path: Path) -> None:
    assert_each_once(read_by_vtk(written(split(mesh, [], 2), tmp_path)), mesh)


def test_empty_blocks_leave_no_trace_and_no_gap(tmp_path: Path) -> None:
    assert_each_once(read_by_vtk(written(split(empty_blocks(), [0, 1]), tmp_path)), empty_blocks())


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 0, 1], [2, 1, 1]])
def test_polyhedra_stand_beside_other_cells_with_their_faces(labels: list[int], tmp_path: Path) -> None:
    mesh = polyhedron_under_pyramid()
    grid = read_by_vtk(written(split(mesh, labels, 3, ghost_layers=1), tmp_path))
    assert_each_once(grid, mesh)
    points, cells = (arrays_of(data) for data in (grid.GetPointData(), grid.GetCellData()))
    sizes = {0: [4] * 6, 1: [3] * 4}  # of the faces of the cube and of the tet
    for number, cell in enumerate(cells["GlobalCellIds"].tolist()):
        if cell in sizes:
            found = [ids_of(grid.GetCell(number).GetFace(face)) for face in range(len(sizes[cell]))]
            assert grid.GetCell(number).GetNumberOfFaces() == len(sizes[cell])
            assert [len(face) for face in found] == sizes[cell]
            named = sorted({int(points["GlobalPointIds"][point]) for face in found for point in face})
            assert named == ([0, 1, 2, 3, 4, 5, 6, 7] if cell == 0 else [1, 2, 6, 9])


def test_polygons_of_several_sizes_are_one_mesh(tmp_path: Path) -> None:
    mesh = replace(polygons(), cell_data={"a": [np.array([30, 40, 50])]})
    assert_each_once(read_by_vtk(written(split(mesh, [1, 0, 1], ghost_layers=1), tmp_path)), mesh)


def test_voxels_are_pieces_too(tmp_path: Path) -> None:
    rows = cubes(2, 1, 1).blocks[0].nodes[:, [0, 1, 3, 2, 4, 5, 7, 6]]
    mesh = Mesh(cubes(2, 1, 1).points, [("voxel", rows)])
    grid = read_by_vtk(written(split(mesh, [0, 1]), tmp_path))
    assert_each_once(grid, mesh)
    assert sizes_of(grid, "Volume").tolist() == [1, 1]


def test_vtk_reads_of_a_piece_and_keeps_of_which_run_it_is(tmp_path: Path) -> None:
    vtk = pytest.importorskip("vtk")
    parts = split(quads(4, 4), QUARTERS)
    path = written(parts, tmp_path)
    piece = read_manifest(path).file(2)
    grid = read_by_vtk(piece)
    assert bytes(arrays_of(grid.GetFieldData())["meshpart:run"].astype(np.uint8)).decode() == parts[0].run
    assert read_by_vtk(path).GetNumberOfCells() == 16
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetFileName(str(piece))
    writer.SetInputData(grid)
    assert writer.Write() == 1
    assert merge_files(path) == quads(4, 4)
    content = json.loads((piece.parent / "manifest.json").read_text())
    (piece.parent / "manifest.json").write_text(json.dumps({**content, "run": "0" * 32}))
    with pytest.raises(FormatError, match="is of another decomposition: its run is"):
        merge_files(path)
