"""Our .vtu files: meshio reads back what was written, bit for bit, and VTK reads the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import grid_points
from vtk_reading import arrays_of, ids_of, points_of, read_by_vtk, rows_of, types_of

from meshpart import FormatError, read
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS, REAL
from meshpart.meshio_bridge import patched_meshio
from meshpart.vtu import write_vtu

# Points of a cell, where the type does not tell.
VARYING = {
    "polygon": 7,
    "VTK_LAGRANGE_CURVE": 5,
    "VTK_LAGRANGE_TRIANGLE": 10,
    "VTK_LAGRANGE_QUADRILATERAL": 16,
    "VTK_LAGRANGE_TETRAHEDRON": 20,
    "VTK_LAGRANGE_HEXAHEDRON": 27,
    "VTK_LAGRANGE_WEDGE": 18,
    "VTK_LAGRANGE_PYRAMID": 5,
}
TYPES = sorted(FORMATS["vtu"].types - {"polyhedron"})

TET = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
WEDGE = [[4, 6, 5], [7, 8, 9], [4, 5, 8, 7], [5, 6, 9, 8], [6, 4, 7, 9]]


def meshio_mesh(points: Any, cells: Any, **data: Any) -> Any:
    with patched_meshio() as meshio:
        return meshio.Mesh(points, cells, **data)


def read_by_meshio(path: Path) -> Any:
    with patched_meshio() as meshio:
        return meshio.read(path)


def written(mesh: Any, folder: Path) -> Path:
    path = folder / "mesh.vtu"
    write_vtu(path, mesh)
    return path


def a_mesh_of(types: list[str], dtype: str = "float64") -> Any:
    """Return a mesh with a block of three cells of each type, with random rows and data on points and cells."""
    rng = np.random.default_rng(3)
    cells = []
    for type_ in types:
        n = CELL_TYPES[type_].n_points or VARYING[type_]
        cells.append((type_, np.stack([rng.permutation(40)[:n] for _ in range(3)])))
    return meshio_mesh(
        rng.random((40, 3)).astype(dtype),
        cells,
        point_data={"a": rng.random(40), "v": rng.random((40, 3)).astype(np.float32)},
        cell_data={
            "b": [rng.integers(-9, 9, 3).astype(np.int16) for _ in cells],
            "w": [rng.random((3, 2))] * len(cells),
        },
    )


def with_points(n: int, **data: Any) -> Any:
    """Return a mesh of so many points and as many vertex cells."""
    return meshio_mesh(np.arange(3.0 * n).reshape(n, 3), [("vertex", np.arange(n).reshape(n, 1))], **data)


def assert_equal(got: np.ndarray, expected: np.ndarray) -> None:
    """Assert that arrays are equal bit for bit."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.tobytes() == expected.tobytes()


def assert_meshio_reads(mesh: Any, path: Path) -> None:
    """Assert that meshio reads points, blocks and data of a mesh from a file."""
    got = read_by_meshio(path)
    assert_equal(got.points, mesh.points)
    assert [block.type for block in got.cells] == [block.type for block in mesh.cells]
    for block, expected in zip(got.cells, mesh.cells, strict=True):
        assert_equal(block.data, expected.data)
    assert got.point_data.keys() == mesh.point_data.keys()
    for name, values in mesh.point_data.items():
        assert_equal(got.point_data[name], values)
    assert got.cell_data.keys() == mesh.cell_data.keys()
    for name, blocks in mesh.cell_data.items():
        for block, values in zip(got.cell_data[name], blocks, strict=True):
            assert_equal(block, values)


# -- cells --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", TYPES)
def test_meshio_reads_the_cells_of_each_type_as_they_were(type_: str, tmp_path: Path) -> None:
    mesh = a_mesh_of([type_])
    assert_meshio_reads(mesh, written(mesh, tmp_path))


def test_meshio_reads_blocks_of_all_types_in_their_order(tmp_path: Path) -> None:
    mesh = a_mesh_of([*TYPES, *TYPES[::-1][1:]])
    assert_meshio_reads(mesh, written(mesh, tmp_path))


@pytest.mark.parametrize("type_", [*TYPES, "voxel"])
def test_vtk_reads_the_cells_of_each_type(type_: str, tmp_path: Path) -> None:
    mesh = a_mesh_of([type_])
    grid = read_by_vtk(written(mesh, tmp_path))
    assert types_of(grid) == [CELL_TYPES[type_].vtk or 0] * 3
    rows = mesh.cells[0].data
    if type_ == "wedge":  # which meshio turns around
        rows = rows[:, [0, 2, 1, 3, 5, 4]]
    if type_ == "VTK_LAGRANGE_HEXAHEDRON":  # two of whose edges VTK 9.0 let change places
        rows = rows[:, [*range(18), 19, 18, *range(20, 27)]]
    assert rows_of(grid) == rows.tolist()
    assert_equal(points_of(grid), mesh.points)
    assert_equal(arrays_of(grid.GetPointData())["v"], mesh.point_data["v"])
    assert_equal(arrays_of(grid.GetCellData())["w"], mesh.cell_data["w"][0])


def test_types_that_vtk_reads_with_any_number_of_points_are_known_by_their_other_names(tmp_path: Path) -> None:
    path = written(meshio_mesh(np.zeros((10, 3)), [("triangle10", [range(10)])]), tmp_path)
    assert read_by_meshio(path).cells[0].type == "VTK_LAGRANGE_TRIANGLE"


def test_polyhedra_come_back_with_their_faces(tmp_path: Path) -> None:
    points, data = np.random.default_rng(1).random((10, 3)), {"a": [np.array([1, 2, 3])]}
    path = written(meshio_mesh(points, [("polyhedron", [TET, WEDGE, TET])], cell_data=data), tmp_path)
    grid = read_by_vtk(path)
    assert types_of(grid) == [42] * 3
    assert [faces_of(grid.GetCell(i)) for i in range(3)] == [TET, WEDGE, TET]
    assert [sorted(row) for row in rows_of(grid)] == [[0, 1, 2, 3], [4, 5, 6, 7, 8, 9], [0, 1, 2, 3]]
    assert arrays_of(grid.GetCellData())["a"].tolist() == [1, 2, 3]
    got = {
        block.type: [[face.tolist() for face in cell] for cell in block.data] for block in read_by_meshio(path).cells
    }
    assert got == {"polyhedron4": [TET, TET], "polyhedron6": [WEDGE]}


def test_vtk_reads_polyhedra_between_other_cells(tmp_path: Path) -> None:
    cells = [("tetra", [[3, 2, 1, 0]]), ("polyhedron", [WEDGE, TET]), ("quad", [[0, 1, 4, 5]]), ("polyhedron", [TET])]
    grid = read_by_vtk(written(meshio_mesh(np.random.default_rng(1).random((10, 3)), cells), tmp_path))
    assert types_of(grid) == [10, 42, 42, 9, 42]
    assert [faces_of(grid.GetCell(i)) for i in (1, 2, 4)] == [WEDGE, TET, TET]
    assert [rows_of(grid)[i] for i in (0, 3)] == [[3, 2, 1, 0], [0, 1, 4, 5]]


def faces_of(cell: Any) -> list[list[int]]:
    return [ids_of(cell.GetFace(number)) for number in range(cell.GetNumberOfFaces())]


def test_vtk_reads_files_without_cells_and_points_and_finds_their_arrays(tmp_path: Path) -> None:
    mesh = meshio_mesh(
        np.zeros((0, 3), np.float32),
        [("vertex", np.zeros((0, 1), np.int64))],
        point_data={"p": np.zeros((0, 2), np.int8)},
        cell_data={"c": [np.zeros((0, 9))], "d": [np.zeros(0, np.uint32)]},
    )
    grid = read_by_vtk(written(mesh, tmp_path))
    assert (grid.GetNumberOfPoints(), grid.GetNumberOfCells()) == (0, 0)
    found = {**arrays_of(grid.GetPointData()), **arrays_of(grid.GetCellData())}
    assert {name: (array.dtype.name, array.shape) for name, array in found.items()} == {
        "p": ("int8", (0, 2)),
        "c": ("float64", (0, 9)),
        "d": ("uint32", (0,)),
    }


# -- points and arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", sorted(REAL))
def test_points_keep_their_dtype(dtype: str, tmp_path: Path) -> None:
    mesh = a_mesh_of(["triangle", "wedge"], dtype)
    path = written(mesh, tmp_path)
    assert_meshio_reads(mesh, path)
    assert_equal(points_of(read_by_vtk(path)), mesh.points)


@pytest.mark.parametrize("dim", [1, 2])
def test_points_get_three_coordinates(dim: int, tmp_path: Path) -> None:
    points = np.arange(3.0 * dim, dtype=np.float32).reshape(3, dim)
    path = written(meshio_mesh(points, [("line", [[0, 1], [1, 2]])]), tmp_path)
    assert_equal(read_by_meshio(path).points, np.pad(points, ((0, 0), (0, 3 - dim))))
    assert_equal(points_of(read_by_vtk(path)), np.pad(points, ((0, 0), (0, 3 - dim))))


@pytest.mark.parametrize("dtype", sorted(REAL))
@pytest.mark.parametrize("size", [(), (1,), (2,), (3,), (7,)])
def test_arrays_of_all_dtypes_and_sizes_come_back_bit_for_bit(
    dtype: str, size: tuple[int, ...], tmp_path: Path
) -> None:
    rng = np.random.default_rng(4)
    values = np.frombuffer(rng.bytes(5 * int(np.prod(size)) * 8), dtype)[: 5 * int(np.prod(size))].reshape(5, *size)
    mesh = with_points(5, point_data={"p": values}, cell_data={"c": [values[::-1].copy()]})
    path = written(mesh, tmp_path)
    assert_meshio_reads(mesh, path)
    grid = read_by_vtk(path)
    shape = values.shape if size != (1,) else (5,)  # as VTK's own functions hand it out
    assert_equal(arrays_of(grid.GetPointData())["p"], values.reshape(shape))
    assert_equal(arrays_of(grid.GetCellData())["c"], values[::-1].reshape(shape))


def test_arrays_of_any_lengths_come_back_from_behind_each_other(tmp_path: Path) -> None:
    # meshio gives the arrays new offsets while it looks for old ones, and so must not meet a new one first
    rng = np.random.default_rng(5)
    for n in range(1, 60):
        dtypes = rng.choice(sorted(REAL), 6)
        values = {str(i): rng.integers(0, 99, n).astype(dtype) for i, dtype in enumerate(dtypes)}
        mesh = with_points(n, point_data=values, cell_data={name: [array] for name, array in values.items()})
        assert_meshio_reads(mesh, written(mesh, tmp_path))


@pytest.mark.parametrize(
    "text", [b"_", b"__", b"\n", b"\n\n", b"</AppendedData>", b'<Piece NumberOfCells="9"', b"\0=="]
)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_arrays_may_hold_any_bytes(text: bytes, count: int, tmp_path: Path) -> None:
    values = np.frombuffer(text * count, np.uint8)
    n = len(values)
    mesh = with_points(n, point_data={"first": values, "last": values}, cell_data={"c": [values]})
    path = written(mesh, tmp_path)
    assert_meshio_reads(mesh, path)
    grid = read_by_vtk(path)
    assert_equal(arrays_of(grid.GetPointData())["last"], values)
    assert grid.GetNumberOfCells() == n
    assert_equal(read(path).point_data["first"], values)
    wide = np.frombuffer((text + b"abc") * 8, np.float64)
    mesh = with_points(len(wide), point_data={"d": wide})
    assert_meshio_reads(mesh, written(mesh, tmp_path))


def test_what_stands_in_memory_in_another_way_is_written_and_left_as_it_is(tmp_path: Path) -> None:
    values = np.arange(24, dtype=">f8").reshape(3, 8)[:, ::3]
    rows = np.asfortranarray([[0, 1], [1, 2]], dtype=np.int32)
    mesh = meshio_mesh(np.asfortranarray(np.eye(3)), [("line", rows)], point_data={"v": values})
    for array in (values, rows, mesh.points):
        array.flags.writeable = False
    got = read_by_meshio(written(mesh, tmp_path))
    assert_equal(got.point_data["v"], values.astype("=f8", order="C"))
    assert got.cells[0].data.tolist() == [[0, 1], [1, 2]]
    assert mesh.cells[0].data is rows or np.shares_memory(mesh.cells[0].data, rows)
    assert mesh.point_data["v"].dtype == np.dtype(">f8")


def test_a_file_is_as_large_as_its_arrays(tmp_path: Path) -> None:
    mesh = with_points(10_000, point_data={"a": np.zeros(10_000)})
    arrays = 10_000 * (24 + 8 + 8 + 8 + 1)  # points, a, connectivity, offsets, types
    assert 0 < written(mesh, tmp_path).stat().st_size - arrays < 2000


@pytest.mark.parametrize(
    "name",
    ['"a" & <b>', "ü ß \u2028 \U0001f600", "a'b", " a  b ", "&amp;", "&#252;", "]]>", "x" * 3000, "--", "\x85\ufffd"],
)
def test_names_come_back(name: str, tmp_path: Path) -> None:
    mesh = with_points(2, point_data={name: np.arange(2.0)}, cell_data={name: [np.arange(2)]})
    path = written(mesh, tmp_path)
    assert_meshio_reads(mesh, path)
    grid = read_by_vtk(path)
    assert arrays_of(grid.GetPointData()).keys() == arrays_of(grid.GetCellData()).keys() == {name}


def test_vtk_takes_global_ids_for_what_they_are(tmp_path: Path) -> None:
    ids = np.array([7, 5])
    mesh = with_points(2, point_data={"a": ids, "GlobalPointIds": ids}, cell_data={"GlobalCellIds": [ids], "a": [ids]})
    grid = read_by_vtk(written(mesh, tmp_path))
    assert grid.GetPointData().GetGlobalIds().GetName() == "GlobalPointIds"
    assert grid.GetCellData().GetGlobalIds().GetName() == "GlobalCellIds"
    assert arrays_of(grid.GetCellData())["GlobalCellIds"].tolist() == [7, 5]
    mesh = with_points(2, point_data={"GlobalPointIds": ids / 2}, cell_data={"GlobalCellIds": [np.eye(2, dtype=int)]})
    grid = read_by_vtk(written(mesh, tmp_path))
    assert grid.GetPointData().GetGlobalIds() is None
    assert grid.GetCellData().GetGlobalIds() is None


# -- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "a\nb", "\t", "\0", "\x7f", "\ud800", "\uffff"])
def test_names_that_xml_cannot_hold_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="vtu files hold no array of the name"):
        written(with_points(2, point_data={name: np.zeros(2)}), tmp_path)
    with pytest.raises(FormatError, match="vtu files hold no array of the name"):
        written(with_points(2, cell_data={name: [np.zeros(2)]}), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["bool", "float16", "complex128", "U3", "M8[D]", "longdouble", "O"])
def test_numbers_that_vtk_has_no_type_for_are_refused(dtype: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"vtu files hold no numbers of dtype .*: 'a'"):
        written(with_points(2, point_data={"a": np.zeros(2, dtype)}), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shape", [(2, 0), (2, 3, 3)])
def test_arrays_that_are_no_tables_of_numbers_are_refused(shape: tuple[int, ...], tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"one axis of numbers for each point or cell, 'a' is \(2, "):
        written(with_points(2, point_data={"a": np.zeros(shape)}), tmp_path)


def test_what_would_be_left_out_is_refused(tmp_path: Path) -> None:
    for name in ("point_sets", "cell_sets", "field_data"):
        value = [np.array([0])] if name == "cell_sets" else np.array([0])
        with pytest.raises(FormatError, match=f"vtu files hold no {name.replace('_', ' ')}: left"):
            written(with_points(2, **{name: {"left": value}}), tmp_path)
    with pytest.raises(FormatError, match="vtu files hold no cells of type hexahedron64"):
        written(meshio_mesh(np.zeros((64, 3)), [("hexahedron64", [range(64)])]), tmp_path)
    cells = [("line", [[0, 1]]), ("line", [[1, 2]])]
    for second in (np.array([0.5]), np.array([[2]])):
        mesh = meshio_mesh(np.eye(3), cells, cell_data={"a": [np.array([2**60]), second]})
        with pytest.raises(FormatError, match=r"one dtype and one shape in all blocks, 'a' is .*int64 x \(\)"):
            written(mesh, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    mesh = meshio_mesh(grid_points(1, 1), [("quad", [[0, 1, 3, 2]])])
    with pytest.raises(FormatError, match=r"mesh\.vtu cannot be written: FileNotFoundError"):
        written(mesh, tmp_path / "absent")
    with pytest.raises(FormatError, match=r"cannot be written: IsADirectoryError"):
        write_vtu(tmp_path, mesh)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no file that is always full here")
def test_a_full_disk_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"full cannot be written: OSError: .*No space left"):
        write_vtu(Path("/dev/full"), meshio_mesh(grid_points(1, 1), [("quad", [[0, 1, 3, 2]])]))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FormatError, match=r"mesh\.vtu cannot be written: PermissionError"):
        written(meshio_mesh(grid_points(1, 1), [("quad", [[0, 1, 3, 2]])]), tmp_path)
