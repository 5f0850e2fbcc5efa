"""What readers read, and the lines between numbers that they are heard to read."""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path

import meshio
import numpy as np
import pytest
from meshes import tets

from meshpart import FormatError, Mesh, MeshpartWarning, read
from meshpart.heads import read_with_heads

GHOSTS = b"$GhostElements\n0\n$EndGhostElements\n"

VERSIONS = [("gmsh22", False), ("gmsh22", True), ("gmsh", False), ("gmsh", True)]


@pytest.mark.parametrize(("file_format", "binary"), VERSIONS)
def test_the_mesh_is_meshios_and_each_section_is_heard_of(file_format: str, binary: bool, tmp_path: Path) -> None:
    path = tmp_path / "mesh.msh"
    tets(2, 2, 2).to_meshio().write(path, file_format=file_format, binary=binary)
    with path.open("ab") as file:
        file.write(GHOSTS)
    given, heads = read_with_heads("gmsh", path)
    assert Mesh.from_meshio(given) == Mesh.from_meshio(meshio.read(path, file_format="gmsh"))
    sections = [b"MeshFormat", b"Nodes", b"Elements", b"GhostElements"]
    assert heads == b"\n" + b"".join(b"$%b\n$End%b\n" % (name, name) for name in sections)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("version", ["vtk42", "vtk"])
def test_what_a_vtk_file_has_is_heard_of(version: str, binary: bool, tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtk"
    mesh = dataclasses.replace(tets(2, 2, 2), point_data={"load": np.arange(27.0)})
    mesh.to_meshio().write(path, file_format=version, binary=binary)
    given, heads = read_with_heads("vtk", path)
    assert Mesh.from_meshio(given) == Mesh.from_meshio(meshio.read(path))
    table = ["CELLS", "OFFSETS", "CONNECTIVITY"] if version == "vtk" else ["CELLS"]
    kinds = ["DATASET", "POINTS", *table, "CELL_TYPES", "POINT_DATA", "FIELD"]
    assert re.findall(rb"\n((?!ASCII|BINARY|METADATA)[A-Z_]+)\b.*", heads) == [kind.encode() for kind in kinds]


def test_a_section_after_numbers_in_bytes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mesh.msh"
    tets(2, 2, 2).to_meshio().write(path, file_format="gmsh")
    with path.open("ab") as file:
        file.write(GHOSTS)
    with pytest.warns(MeshpartWarning, match="parts and ghosts of an earlier partition .GhostElements"):
        read(path)


def test_numbers_that_look_like_a_section_are_none(tmp_path: Path) -> None:
    path = tmp_path / "mesh.msh"
    points = np.array([[*np.frombuffer(b"\n$GhostElements\n"), 0], [1, 0, 0], [0, 1, 0]])
    meshio.Mesh(points, [("triangle", [[0, 1, 2]])]).write(path, file_format="gmsh")
    assert b"\n$GhostElements\n" in path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(read(path).points, points)


@pytest.mark.usefixtures("without_meshioplusplus")
@pytest.mark.parametrize("tags", ["strings", "numbers"])
def test_a_reader_that_asks_for_lines_without_end_is_stopped(tags: str, tmp_path: Path) -> None:
    path = tmp_path / "mesh.msh"
    tets(2, 2, 2).to_meshio().write(path, file_format="gmsh")
    with path.open("ab") as file:
        file.write(b"$NodeData\n" + (b"4294967295\n" if tags == "strings" else b'1\n"a"\n4294967295\n0.0\n'))
    with pytest.raises(FormatError, match="the file ends too early"):
        read(path)
