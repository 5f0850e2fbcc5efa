"""The pieces and the index of .pvtu files: VTK reads from them the mesh that was cut, each cell and point once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from carrying import carrying, interleaved_with, with_everything
from meshes import (
    DRAWN,
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
from test_real_files import FACTS, read_or_skip
from vtk_reading import arrays_of, ids_of, points_of, read_by_vtk, rows_of, sizes_of, types_of

from meshpart import FormatError, Mesh, SubMesh, partition_labels, split
from meshpart.cells import CELL_TYPES, cell_type
from meshpart.formats import FORMATS
from meshpart.meshio_bridge import patched_meshio
from meshpart.part_files import fit
from meshpart.pvtu import PIECE, PieceWriter, index

WEDGE = [0, 2, 1, 3, 5, 4]  # how VTK's files have the points of a wedge
POLYHEDRON = CELL_TYPES["polyhedron"].vtk
TOO_LARGE = "hex64_order3_torus.msh"  # of order 3, whose points gmsh orders as VTK does not


def written(parts: Sequence[SubMesh], folder: Path, name: str = "mesh") -> Path:
    """Write parts as pieces in a folder beside an index, and return the path of the index."""
    writer = PieceWriter()
    run = folder / f"{name}-run"
    run.mkdir()
    for part in parts:
        writer.check(part)
        writer.write(part, run)
    assert writer.schema is not None
    path = folder / f"{name}.pvtu"
    pieces = [f"{run.name}/part-{part.part:05}.vtu" for part in parts]
    path.write_bytes(index(pieces, writer.schema, parts[0].ghost_layers))
    return path


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
    empty = read_by_vtk(tmp_path / "mesh-run" / "part-00004.vtu")
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


# -- what a piece does not hold -----------------------------------------------------------------------------


def test_what_a_piece_does_not_hold_stands_beside_it_and_is_said(tmp_path: Path) -> None:
    mesh = with_everything()
    writer = PieceWriter()
    columns = [writer.write(part, tmp_path) for part in split(mesh, [0, 1, 1])]
    assert columns == [{"beside": True}] * 2
    pairs = [np.load(tmp_path / f"part-0000{part}.npz")["periodic/0"].tolist() for part in (0, 1)]
    assert sorted(pair for share in pairs for pair in share) == [[2, 0], [3, 5]]
    assert "periodic pairs of points are in the .npz files, as global ids" in writer.notes
    mesh = replace(quads(2, 1), point_data={"\n": np.arange(6), "none": np.zeros((6, 0))})
    writer = PieceWriter()
    assert [writer.write(part, tmp_path) for part in split(mesh, [0, 1])] == [{"beside": True}] * 2
    assert np.load(tmp_path / "part-00001.npz")["point_data/\n"].tolist() == [2, 5, 1, 4]
    assert [note for note, loud in writer.notes.items() if loud] == [
        "point_data '\\n' is in the .npz files, since vtu files do not hold it",
        "point_data 'none' is in the .npz files, since vtu files do not hold it",
    ]
    assert PieceWriter().write(split(quads(2, 1), [0, 1])[0], tmp_path) == {"beside": False}


@pytest.mark.parametrize("dtype", ["complex128", "U3", "longdouble", "M8[D]"])
def test_numbers_that_a_piece_cannot_hold_are_refused(dtype: str) -> None:
    (part,) = split(replace(quads(1, 1), point_data={"d": np.zeros(4, dtype)}), [0])
    with pytest.raises(FormatError, match=r"vtu files hold no numbers of dtype .*: point_data\['d'\]"):
        PieceWriter().check(part)


def test_cells_that_a_piece_cannot_hold_are_refused() -> None:
    (part,) = split(Mesh(np.zeros((64, 3)), [("hexahedron64", [range(64)])]), [0])
    with pytest.raises(FormatError, match="hold no cells of type hexahedron64"):
        PieceWriter().check(part)


def test_a_part_with_other_arrays_than_the_first_is_refused(tmp_path: Path) -> None:
    first, second = split(replace(quads(2, 1), cell_data={"a": [np.arange(2)]}), [0, 1])
    changes: list[tuple[dict[str, Any], str]] = [
        ({"cell_data": {"a": [np.zeros(1)]}}, r'cell_data\[.a.\] is type="Float64", and type="Int64" in the first'),
        (
            {"cell_data": {"a": [np.zeros((1, 3), np.int64)]}},
            r'cell_data\[.a.\] is type="Int64" NumberOfComponents="3", and type="Int64" in the first part',
        ),
        ({"cell_data": {}}, r"cell_data\[.a.\] is absent, and .*Int64.* in the first"),
        ({"point_data": {"p": np.zeros(4)}}, r"point_data\[.p.\] is .*Float64.*, and absent in the first"),
        ({"points": second.mesh.points.astype(np.float32)}, r"points\[.Points.\] is .*Float32.*, and .*Float64"),
    ]
    for change, told in changes:
        writer = PieceWriter()
        writer.write(first, tmp_path)
        with pytest.raises(FormatError, match=f"part 1 cannot be written as a piece of a .pvtu file: {told}"):
            writer.write(replace(second, mesh=replace(second.mesh, **change)), tmp_path)
    writer.write(second, tmp_path)


def test_data_of_another_shape_in_each_block_is_refused(tmp_path: Path) -> None:
    mesh = interleaved_with(np.arange(16))
    data = [
        np.zeros((last - first, 2 + number % 2)) for number, (first, last) in enumerate(pairwise(mesh.block_starts))
    ]
    mesh = replace(mesh, point_data={}, cell_data={"d": data})
    writer = PieceWriter()
    with pytest.raises(FormatError, match=r"cell_data .d.* a different shape in each block"):
        writer.write(split(mesh, [0] * 8)[0], tmp_path)
    by_block = split(mesh, [0, 0, 1, 1, 0, 1, 1, 0])  # of which each has one shape
    writer.write(by_block[0], tmp_path)
    with pytest.raises(FormatError, match=r"part 1 .*cell_data\[.d.\] is .*=\"3\", and .*=\"2\" in the first part"):
        writer.write(by_block[1], tmp_path)


def test_a_piece_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    first, second = split(quads(2, 1), [0, 1])
    writer = PieceWriter()
    writer.write(first, tmp_path)
    (tmp_path / "part-00001.vtu").mkdir()
    with pytest.raises(FormatError, match=r"part 1 .*: part-00001\.vtu cannot be written: IsADirectoryError"):
        writer.write(second, tmp_path)


@pytest.mark.parametrize("name", ["\0", "\x1b", "\udcff", "\uffff"])
def test_paths_that_xml_cannot_hold_are_refused(name: str, tmp_path: Path) -> None:
    writer = PieceWriter()
    writer.write(split(quads(1, 1), [0])[0], tmp_path)
    assert writer.schema is not None
    with pytest.raises(FormatError, match=r"\.pvtu files cannot name a file"):
        index([f"{name}/part-00000.vtu"], writer.schema, 0)


# -- what meshio reads of a piece ---------------------------------------------------------------------------


def read_by_meshio(path: Path) -> meshio.Mesh:
    with patched_meshio() as module:
        return module.read(path)


def assert_meshio_reads_what_was_fitted(part: SubMesh, path: Path) -> None:
    """Assert that points, rows and all arrays of a piece are bit for bit those that were to be written."""
    expected, got = fit(part, "vtu", PIECE).mesh, read_by_meshio(path)
    assert got.points.tobytes() == expected.points.tobytes()
    assert flat(got.cells) == flat(expected.cells)
    assert got.point_data.keys() == expected.point_data.keys()
    assert got.cell_data.keys() == expected.cell_data.keys()
    for name, values in expected.point_data.items():
        assert (got.point_data[name].dtype, got.point_data[name].tobytes()) == (values.dtype, values.tobytes())
    for name, blocks in expected.cell_data.items():
        found, values = np.concatenate(got.cell_data[name]), np.concatenate(blocks)
        assert (found.dtype, found.shape, found.tobytes()) == (values.dtype, values.shape, values.tobytes())


def flat(blocks: Sequence[meshio.CellBlock]) -> list[tuple[str, list[int]]]:
    """Return the cells without their blocks: meshio makes one of two of the same type."""
    return [(block.type, row) for block in blocks for row in block.data.tolist()]


@pytest.mark.parametrize("type_", sorted(FORMATS["vtu"].types - {"polyhedron"}))
def test_meshio_reads_pieces_of_each_type_bit_for_bit(type_: str, tmp_path: Path) -> None:
    n = CELL_TYPES[type_].n_points or 10
    rng = np.random.default_rng(n)
    rows = np.array([rng.permutation(40)[:n] for _ in range(9)])
    mesh = carrying(Mesh(rng.random((41, 3)), [(type_, rows[:5]), ("line", rows[:, :1] + [[0, 1]]), (type_, rows[5:])]))
    parts = split(mesh, np.arange(mesh.n_cells) % 3, ghost_layers=1)
    path = written(parts, tmp_path)
    for part in parts:
        assert_meshio_reads_what_was_fitted(part, tmp_path / "mesh-run" / f"part-{part.part:05}.vtu")
    if type_ != "VTK_LAGRANGE_HEXAHEDRON":  # of which VTK 9.0 turned two edges around
        assert_each_once(read_by_vtk(path), replace(mesh, periodic=()))


# -- real files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FACTS)
def test_real_meshes_come_back_from_their_pieces(real_meshes: Path, name: str, tmp_path: Path) -> None:
    mesh = read_or_skip(real_meshes, name)
    labels = partition_labels(mesh, 3, method="sfc", allow_empty=True)
    parts = split(mesh, labels, 3, ghost_layers=1)
    if name == TOO_LARGE:
        with pytest.raises(FormatError, match="hold no cells of type hexahedron64"):
            PieceWriter().check(parts[0])
        return
    path = written(parts, tmp_path)
    assert_each_once(read_by_vtk(path), mesh)
    for part in parts:
        if part.mesh.n_cells:  # meshio reads no file without cells
            assert_meshio_reads_what_was_fitted(part, tmp_path / "mesh-run" / f"part-{part.part:05}.vtu")


@pytest.mark.parametrize("name", ["pyramid_polyhedron_two_pieces.vtu", "cube.pvtu"])
def test_real_meshes_that_only_another_reader_reads_come_back_too(real_meshes: Path, name: str, tmp_path: Path) -> None:
    pytest.importorskip("meshioplusplus")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = read_or_skip(real_meshes, name)
    parts = split(mesh, partition_labels(mesh, 3, method="sfc"), 3, ghost_layers=1)
    assert_each_once(read_by_vtk(written(parts, tmp_path)), mesh)


def test_grid_points_are_where_they_were(tmp_path: Path) -> None:
    mesh = quads(2, 2)
    grid = read_by_vtk(written(split(mesh, [0, 1, 2, 3]), tmp_path))
    owned = arrays_of(grid.GetPointData())["vtkGhostType"] == 0
    assert sorted(points_of(grid)[owned][:, :2].tolist()) == sorted(grid_points(2, 2).tolist())
