"""Pieces of .pvtu files: what they cannot hold, what meshio reads of them, and those of real meshes."""

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
from meshes import quads
from part_folders import part_file
from pieces import assert_each_once, written
from test_real_files import FACTS, read_or_skip
from test_vtu import VARYING
from vtk_reading import read_by_vtk

from meshpart import FormatError, Mesh, SubMesh, partition_labels, split
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS
from meshpart.meshio_bridge import patched_meshio
from meshpart.part_files import fit
from meshpart.pvtu import PIECE, PieceWriter, index

TOO_LARGE = "hex64_order3_torus.msh"  # of order 3, whose points gmsh orders as VTK does not


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
    with pytest.raises(FormatError, match=r"vtu files hold no .*: point_data\['d'\]"):
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
    n = CELL_TYPES[type_].n_points or VARYING[type_]
    rng = np.random.default_rng(n)
    rows = np.array([rng.permutation(40)[:n] for _ in range(9)])
    mesh = carrying(Mesh(rng.random((41, 3)), [(type_, rows[:5]), ("line", rows[:, :1] + [[0, 1]]), (type_, rows[5:])]))
    parts = split(mesh, np.arange(mesh.n_cells) % 3, ghost_layers=1)
    path = written(parts, tmp_path)
    for part in parts:
        assert_meshio_reads_what_was_fitted(part, part_file(tmp_path / "mesh.pvtu", part.part))
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
            assert_meshio_reads_what_was_fitted(part, part_file(tmp_path / "mesh.pvtu", part.part))


@pytest.mark.parametrize("name", ["pyramid_polyhedron_two_pieces.vtu", "cube.pvtu"])
def test_real_meshes_that_only_another_reader_reads_come_back_too(real_meshes: Path, name: str, tmp_path: Path) -> None:
    pytest.importorskip("meshioplusplus")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = read_or_skip(real_meshes, name)
    parts = split(mesh, partition_labels(mesh, 3, method="sfc"), 3, ghost_layers=1)
    assert_each_once(read_by_vtk(written(parts, tmp_path)), mesh)
