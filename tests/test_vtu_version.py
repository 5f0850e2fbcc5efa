"""Files of today's VTK are read, whatever number they bear, and none is read wrongly."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from meshes import tets, two_cube_polyhedra
from vtk_reading import write_by_vtk

from meshpart import FormatError, read, write
from meshpart.vtu_version import HEAD, in_known_version


def by_vtk(path: Path, mode: str) -> bytes:
    """Let VTK write a file anew; return it."""
    return write_by_vtk(path, lambda writer: getattr(writer, f"SetDataModeTo{mode.capitalize()}")())


@pytest.mark.parametrize("encode", [True, False])
@pytest.mark.parametrize("version", [b"0.1", b"1.0", b"2.0", b"2.3"])
@pytest.mark.parametrize("mode", ["ascii", "binary", "appended"])
def test_every_version_is_read_alike(mode: str, version: bytes, encode: bool, tmp_path: Path) -> None:
    path, mesh = tmp_path / "mesh.vtu", tets(2, 1, 1)
    write(mesh, path)
    content = by_vtk(path, mode)
    if not encode:
        content = content.replace(b'"', b"'", 8)  # of the attributes in front
    path.write_bytes(re.sub(rb"""version=(["'])[0-9.]+""", rb"version=\g<1>" + version, content, count=1))
    np.testing.assert_allclose(read(path).points, mesh.points, rtol=1e-5)
    assert read(path).blocks == mesh.blocks
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("n", [1, 20], ids=["a small file", "a large file"])
def test_a_copy_is_made_only_where_the_number_is_new_and_vanishes(n: int, tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    write(tets(2, n, n), path)
    assert (path.stat().st_size > HEAD) == (n > 1)
    with in_known_version(path) as known:
        assert known == path
    content = (
        path.read_bytes().replace(b'version="1.0"', b'version="2.2"', 2).replace(b'version="2.2"', b'version="1.0"', 1)
    )
    path.write_bytes(content)
    with in_known_version(path) as known:
        assert known != path
        assert known.read_bytes() == content.replace(b'version="2.2"', b'version="1.0"')
    assert not known.exists()
    assert path.read_bytes() == content


@pytest.mark.usefixtures("without_meshioplusplus")
def test_polyhedra_of_the_new_version_are_left_to_another_reader(tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    write(two_cube_polyhedra(), path)
    assert read(path).n_cells == 2
    if b"face_connectivity" not in by_vtk(path, "ascii"):
        pytest.skip("this VTK stores polyhedra as before")
    with pytest.raises(FormatError, match="Unknown VTU file version"):
        read(path)
