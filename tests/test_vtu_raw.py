"""Files of VTK with bare bytes: every array is what was written, and none is read where the file lies."""

from __future__ import annotations

import base64
import dataclasses
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from meshes import hex_pyramid_tet, quads, tets, two_cube_polyhedra
from vtk_reading import write_by_vtk

from meshpart import FormatError, Mesh, read, write
from meshpart.vtu_raw import read_raw


def save(mesh: Mesh, path: Path, prepare: Callable[[Any], object] = lambda writer: None) -> bytes:
    """Let VTK write a mesh with bare bytes; return the file."""

    def with_bare_bytes(writer: Any) -> None:
        writer.SetDataModeToAppended()
        writer.EncodeAppendedDataOff()
        writer.SetBlockSize(256)  # so that there are several
        prepare(writer)

    write(mesh, path, overwrite=True)
    return write_by_vtk(path, with_bare_bytes)


def with_data(mesh: Mesh) -> Mesh:
    rng = np.random.default_rng(0)
    n, counts = mesh.n_points, [len(block) for block in mesh.blocks]
    return dataclasses.replace(
        mesh,
        point_data={"a": rng.random(n), "b": rng.random((n, 3)).astype(np.float32), "c": np.arange(n, dtype=np.int32)},
        cell_data={"d": [rng.integers(0, 9, count).astype(np.uint8) for count in counts]},
    )


@pytest.mark.parametrize("compressor", ["None", "ZLib", "LZMA"])
@pytest.mark.parametrize("header", ["UInt32", "UInt64"])
@pytest.mark.parametrize("order", ["LittleEndian", "BigEndian"])
@pytest.mark.parametrize(
    "make", [lambda: tets(4, 4, 4), hex_pyramid_tet, lambda: quads(1, 1)], ids=["tets", "kinds", "quad"]
)
def test_what_was_written_is_read(
    make: Callable[[], Mesh], order: str, header: str, compressor: str, tmp_path: Path
) -> None:
    def prepare(writer: Any) -> None:
        getattr(writer, f"SetCompressorTypeTo{compressor}")()
        getattr(writer, f"SetHeaderTypeTo{header}")()
        getattr(writer, f"SetByteOrderTo{order}")()

    mesh, path = with_data(make()), tmp_path / "mesh.vtu"
    write(mesh, path)
    before = read(path)
    save(mesh, path, prepare)
    assert read_raw(path) is not None
    assert read(path) == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_meshio_reads_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    content = save(with_data(tets(4, 4, 4)), path)
    path.write_bytes(content.replace(b'version="2.2"', b'version="1.0"', 1))
    assert Mesh.from_meshio(read_raw(path)) == Mesh.from_meshio(meshio.read(path))


def test_no_bytes_become_base64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mesh.vtu"
    save(tets(2, 2, 2), path)
    for name in ("b64encode", "b64decode"):
        monkeypatch.delattr(base64, name)
    assert read(path).n_cells == tets(2, 2, 2).n_cells


@pytest.mark.parametrize("mode", ["Ascii", "Binary", "Appended"])
def test_a_file_without_bare_bytes_is_left_alone(mode: str, tmp_path: Path) -> None:
    def prepare(writer: Any) -> None:
        getattr(writer, f"SetDataModeTo{mode}")()
        writer.EncodeAppendedDataOn()

    path = tmp_path / "mesh.vtu"
    save(tets(2, 2, 2), path, prepare)
    assert read_raw(path) is None


def test_polyhedra_of_a_new_version_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    content = save(two_cube_polyhedra(), path)
    if b"face_connectivity" not in content:
        pytest.skip("this VTK stores polyhedra as before")
    assert read_raw(path) is None


@pytest.mark.usefixtures("without_meshioplusplus")
@pytest.mark.parametrize("compressor", ["None", "ZLib"])
def test_a_damaged_file_is_refused_wherever_it_is_damaged(compressor: str, tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    content = save(tets(2, 2, 2), path, lambda writer: getattr(writer, f"SetCompressorTypeTo{compressor}")())
    begin, end = content.index(b"_", content.index(b"<AppendedData")) + 1, content.rindex(b"</AppendedData")
    for length in (0, 3, 4, 11, 12, 50, end - begin - 40):
        path.write_bytes(content[: begin + length] + content[end:])
        with pytest.raises(FormatError):
            read(path)
    for number in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\xfd\xff\xff\xff"):
        path.write_bytes(content[:begin] + number + content[begin + 4 :])
        with pytest.raises(FormatError):
            read(path)
    path.write_bytes(content[:end])
    with pytest.raises(FormatError):
        read(path)


@pytest.mark.usefixtures("without_meshioplusplus")
@pytest.mark.parametrize("compressor", ["None", "ZLib"])
def test_bytes_of_no_array_are_refused(compressor: str, tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    mesh = dataclasses.replace(tets(2, 2, 2), point_data={"a": np.arange(27.0), "b": np.arange(27.0) + 1})
    content = save(mesh, path, lambda writer: getattr(writer, f"SetCompressorTypeTo{compressor}")())
    end = content.rindex(b"</AppendedData")
    path.write_bytes(content)
    before = read(path)
    for more in (b"more", b"\n\n", b"\r"):
        path.write_bytes(content[:end] + more + content[end:])
        with pytest.raises(FormatError, match="belong to no array"):
            read(path)
    first, second = re.findall(rb'offset="\d+"', content)[:2]
    path.write_bytes(content.replace(second, first, 1))  # b is read where a lies
    with pytest.raises(FormatError, match="belong to no array"):
        read(path)
    assert np.array_equal(before.point_data["b"], np.arange(27.0) + 1)


@pytest.mark.usefixtures("without_meshioplusplus")
def test_an_array_of_half_a_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    content = save(tets(2, 2, 2), path, lambda writer: writer.SetCompressorTypeToNone())
    begin = content.index(b"_", content.index(b"<AppendedData")) + 1
    n_bytes = int.from_bytes(content[begin : begin + 4], sys.byteorder)
    path.write_bytes(content[:begin] + (n_bytes + 3).to_bytes(4, sys.byteorder) + content[begin + 4 :])
    with pytest.raises(FormatError, match="divisor"):
        read(path)


def test_no_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mesh.vtu"
    save(tets(2, 2, 2), path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert read(path).n_cells == tets(2, 2, 2).n_cells


@pytest.mark.usefixtures("without_meshioplusplus")
@pytest.mark.parametrize("encoded", [0, 1])
def test_a_file_packed_in_a_way_that_meshio_does_not_know_says_so(encoded: int, tmp_path: Path) -> None:

    def prepare(writer: Any) -> None:
        writer.SetCompressorTypeToLZ4()
        writer.SetEncodeAppendedData(encoded)

    path = tmp_path / "mesh.vtu"
    save(tets(2, 2, 2), path, prepare)
    with pytest.raises(FormatError, match="packed by vtkLZ4DataCompressor, which meshio"):
        read(path)
