"""Reading mesh files whatever their readers do, and writing parts so that nothing is lost and nothing half written."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import meshio
import numpy as np
import pytest
from meshes import overlapping_sets, quad_rows, quads

from meshpart import (
    ArgumentError,
    FormatError,
    Mesh,
    MeshpartWarning,
    MissingDependencyError,
    read,
    split,
    write_parts,
)
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS
from meshpart.meshio_bridge import patched_meshio

SU2 = "NDIME= 2\nNELEM= 1\n5 0 1 2\nNPOIN= 3\n0 0\n1 0\n0 1\nNMARK= 1\nMARKER_TAG= wall\nMARKER_ELEMS= 1\n3 0 1\n"

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


@pytest.fixture
def wall(tmp_path: Path) -> Path:
    """Return a file on whose marker's name meshio says something."""
    path = tmp_path / "wall.su2"
    path.write_text(SU2)
    return path


# -- reading ------------------------------------------------------------------------------------------------


def test_a_file_comes_back_as_the_mesh_that_was_written(tmp_path: Path) -> None:
    mesh = overlapping_sets()
    meshio.Mesh(mesh.points, [("quad", mesh.blocks[0].nodes)], cell_data={"a": [np.arange(3)]}).write(
        tmp_path / "m.xdmf"
    )
    got = read(tmp_path / "m.xdmf")
    assert got == Mesh(mesh.points, mesh.blocks, cell_data={"a": [np.arange(3)]})
    assert read(str(tmp_path / "m.xdmf")) == got


def test_arrays_of_the_other_byte_order_come_back_native(tmp_path: Path) -> None:
    quads(2, 1).to_meshio().write(tmp_path / "big.vtk")
    raw = meshio.read(tmp_path / "big.vtk")
    assert raw.points.dtype == ">f8"
    mesh = read(tmp_path / "big.vtk")
    assert mesh.points.dtype == np.float64
    assert mesh.blocks[0].nodes.tolist() == quad_rows(2, 1).tolist()


@pytest.mark.parametrize("type_", ["wedge15", "pyramid13", "triangle7"])
def test_types_that_meshio_refuses_to_build_are_read(type_: str, tmp_path: Path) -> None:
    n_points = CELL_TYPES[type_].n_points
    assert n_points is not None
    with patched_meshio() as module:
        given = module.Mesh(np.arange(3.0 * n_points).reshape(n_points, 3), [(type_, [range(n_points)])])
        given.write(tmp_path / "mesh.vtu")
    with pytest.raises(KeyError):
        meshio.read(tmp_path / "mesh.vtu")
    assert read(tmp_path / "mesh.vtu").blocks[0].type == type_


def test_what_the_reader_prints_is_one_warning_at_the_caller_and_nothing_else(
    wall: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.warns(MeshpartWarning, match="Surface tag wall will be replaced by 1") as caught:
        read(wall)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert str(wall) in str(caught[0].message)
    assert capfd.readouterr() == ("", "")


def test_other_threads_print_undisturbed_while_files_are_read(wall: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = threading.Event()

    def read_often() -> None:
        for _ in range(20):
            assert read(wall).n_cells == 2

    def talk() -> None:
        number = 0
        while not done.is_set():
            print(f"line {number}")  # noqa: T201
            number += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        talker = threading.Thread(target=talk)
        readers = [threading.Thread(target=read_often) for _ in range(2)]
        for thread in (talker, *readers):
            thread.start()
        for thread in readers:
            thread.join()
        done.set()
        talker.join()
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines == [f"line {number}" for number in range(len(lines))]
    assert captured.err == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("noise.vtu", b"no mesh\n"),
        ("noise.vtk", b"no mesh\n"),
        ("noise.msh", b"no mesh\n"),
        ("noise.inp", b"*ELEMENT, TYPE=CPE3\n"),
        ("noise.xdmf", b"no mesh\n"),
        ("noise.med", b"no mesh\n"),
        ("noise.e", b"no mesh\n"),
        ("noise.su2", b"no mesh\n"),
        ("noise.mesh", b"no mesh\n"),
        ("noise.bdf", b"no mesh\n"),
        ("noise.vol", b"no mesh\n"),
        ("noise.ply", b"no mesh\n"),
        ("noise.dat", b"no mesh\n"),
        ("noise.ele", b"no mesh\n"),
        ("noise.ugrid", b"no mesh\n"),
        ("noise.off", b"no mesh\n"),
        ("noise.obj", b"f 1 2 3\n"),
        ("noise.stl", b"\xff\xfe\x00"),
        ("noise.f3grid", b"\xff\xfe\x00"),
        ("range.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n"),
    ],
)
@pytest.mark.usefixtures("without_meshioplusplus")
def test_a_file_that_is_no_mesh_is_one_error_with_its_path_and_no_word_on_the_streams(
    name: str, content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=name) as caught:
        read(tmp_path / name)
    assert isinstance(caught.value.__cause__, BaseException)
    assert "meshioplusplus" in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cut.off", "OFF\n"),
        ("cut.ply", "ply\nformat ascii 1.0\nelement vertex 3\n"),
        ("cut.mdpa", "Begin Nodes\n1 0 0 0\n"),
        ("cut.bdf", "BEGIN BULK\n"),
        ("cut.dat", 'VARIABLES = "X" "Y"\nZONE N=3, E=1, F=FEPOINT, ET=TRIANGLE\n0 0\n'),
        ("cut.node", "# nothing but a comment\n"),
        ("cut.msh", "(10 (1 1 3 1 2)("),
    ],
)
@pytest.mark.usefixtures("without_meshioplusplus")
def test_a_file_that_is_cut_short_does_not_keep_its_reader_for_ever(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match="the file ends too early"):
        read(tmp_path / name)


@pytest.mark.usefixtures("without_meshioplusplus")
def test_the_reason_for_which_a_reader_ended_the_process_is_given(tmp_path: Path) -> None:
    (tmp_path / "plane.inp").write_text("*NODE\n1,0,0\n2,1,0\n3,0,1\n*ELEMENT, TYPE=CPE3\n1,1,2,3\n")
    with pytest.raises(FormatError, match="Element type not available: CPE3") as caught:
        read(tmp_path / "plane.inp")
    assert isinstance(caught.value.__cause__, SystemExit)


@pytest.mark.usefixtures("without_meshioplusplus")
def test_a_metis_mesh_is_not_taken_for_a_medit_mesh(tmp_path: Path) -> None:
    (tmp_path / "metis.mesh").write_text("2\n1 2 3\n2 3 4\n")
    with pytest.raises(FormatError, match="as METIS meshes do"):
        read(tmp_path / "metis.mesh")


def test_what_is_no_file_is_refused_clearly(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"absent\.vtu: No such file"):
        read(tmp_path / "absent.vtu")
    with pytest.raises(FormatError, match="is a folder"):
        read(tmp_path)
    (tmp_path / "empty.vtu").touch()
    with pytest.raises(FormatError, match=r"empty\.vtu is empty"):
        read(tmp_path / "empty.vtu")
    with pytest.raises(FormatError, match=r"Not a directory"):
        read(tmp_path / "empty.vtu" / "mesh.vtu")
    with pytest.raises(FormatError, match="null"):
        read("nul\0.vtu")
    with pytest.raises(ArgumentError, match="path must be a path, got 3"):
        read(3)  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.vtu")
    with pytest.raises(FormatError, match="is no regular file"):
        read(tmp_path / "pipe.vtu")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_an_included_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "first.inp").write_text("*NODE\n1,0,0\n*Include, input=second.inp\n")
    (tmp_path / "second.inp").write_text("*INCLUDE, INPUT=first.inp\n*INCLUDE, INPUT=pipe\n")
    with pytest.raises(FormatError, match=r"second\.inp includes .*pipe, which is no regular file"):
        read(tmp_path / "first.inp")


@pytest.mark.parametrize("name", ["absent", "x" * 1000, "nul\0", ""])
def test_an_included_file_that_is_not_there_is_an_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "mesh.inp").write_text(f"*NODE\n1,0,0\n*INCLUDE, INPUT={name}\n")
    with pytest.raises(FormatError, match=r"mesh\.inp"):
        read(tmp_path / "mesh.inp")


@pytest.mark.parametrize("name", ["blank.su2", "blank.mesh"])
def test_blank_lines_cost_no_more_than_others(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("\n" * 100_000)
    script = (
        "import sys, meshpart\ntry:\n    meshpart.read(sys.argv[1])\nexcept meshpart.FormatError:\n    sys.exit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / name], check=False, timeout=60)
    assert done.returncode == 7


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(wall: Path) -> None:
    wall.chmod(0)
    with pytest.raises(FormatError, match="Permission denied"):
        read(wall)


@pytest.mark.usefixtures("without_meshioplusplus")
def test_an_unknown_suffix_names_the_package_that_reads_more(tmp_path: Path) -> None:
    (tmp_path / "cube.pvtu").write_text("<VTKFile/>")
    with pytest.raises(FormatError, match=r"no file with the suffix '\.pvtu'.*pip install meshioplusplus"):
        read(tmp_path / "cube.pvtu")


@pytest.mark.parametrize(("suffix", "package"), [("med", "h5py"), ("e", "netCDF4")])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    suffix: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    quads(1, 1).to_meshio().write(tmp_path / f"mesh.{suffix}")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=rf"needs {package}: pip install 'meshpart\[formats\]'"):
        read(tmp_path / f"mesh.{suffix}")
    with pytest.raises(MissingDependencyError, match=rf"needs {package}: pip install 'meshpart\[formats\]'"):
        write_parts(split(quads(2, 1), [0, 1]), tmp_path / "parts", format=suffix)
    assert not (tmp_path / "parts").exists()


def test_reading_leaves_nothing_beside_the_file(wall: Path) -> None:
    with pytest.warns(MeshpartWarning):
        read(wall)
    assert list(wall.parent.iterdir()) == [wall]


def test_what_meshio_cannot_read_the_other_reader_reads_and_a_warning_says_so(tmp_path: Path) -> None:
    pytest.importorskip("meshioplusplus")
    for number in range(2):
        quads(2, 1).to_meshio().write(tmp_path / f"piece{number}.vtu")
    (tmp_path / "whole.pvtu").write_text(
        '<VTKFile type="PUnstructuredGrid" version="1.0"><PUnstructuredGrid GhostLevel="0">'
        '<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints>'
        '<Piece Source="piece0.vtu"/><Piece Source="piece1.vtu"/></PUnstructuredGrid></VTKFile>'
    )
    with pytest.warns(MeshpartWarning, match=r"read by meshioplusplus .*no file with the suffix '\.pvtu'") as caught:
        mesh = read(tmp_path / "whole.pvtu")
    assert len(caught) == 1
    assert (mesh.n_points, mesh.n_cells) == (12, 4)


def test_a_crash_of_the_other_reader_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meshioplusplus.py").write_text("import os\nos.kill(os.getpid(), 11)\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "noise.vtk").write_text("no mesh\n")
    with pytest.raises(FormatError, match=r"meshioplusplus crashed \(SIGSEGV\)"):
        read(tmp_path / "noise.vtk")


def test_what_the_other_reader_prints_is_in_the_warning_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meshioplusplus.py").write_text(
        "import os\nfrom types import SimpleNamespace\n__version__ = '0'\ndef read(path):\n"
        "    print('said')\n    os.write(2, b'said below')\n"
        "    block = SimpleNamespace(type='line', data=[[0, 1]])\n"
        "    side = SimpleNamespace(kind='side', name='wall')\n"
        "    return SimpleNamespace(points=[[0.0], [1.0]], cells=[block], point_data={}, cell_data={}, field_data={},\n"
        "        point_sets={}, cell_sets={}, gmsh_periodic=None, regions=[side])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mesh.own").write_text("mesh")
    with pytest.warns(MeshpartWarning, match="said said below; sets of sides are left out: wall"):
        assert read(tmp_path / "mesh.own").n_cells == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["noise.inp", "noise.obj"])
def test_what_the_other_reader_makes_of_noise_is_an_error(name: str, tmp_path: Path) -> None:
    pytest.importorskip("meshioplusplus")
    (tmp_path / name).write_bytes(np.random.default_rng(0).bytes(3000))
    with pytest.raises(FormatError, match="meshioplusplus"):
        read(tmp_path / name)


def test_the_reasons_of_both_readers_are_given(tmp_path: Path) -> None:
    pytest.importorskip("meshioplusplus")
    (tmp_path / "noise.vtk").write_text("no mesh\n")
    with pytest.raises(FormatError, match=r"noise\.vtk: meshio cannot read it as vtk: .*; meshioplusplus: "):
        read(tmp_path / "noise.vtk")


def test_a_partitioned_file_is_read_by_the_other_reader(real_meshes: Path) -> None:
    pytest.importorskip("meshioplusplus")
    with pytest.warns(MeshpartWarning, match="read by meshioplusplus"):
        mesh = read(real_meshes / "cube.pvtu")
    assert mesh.n_cells == 27
    assert sorted(np.concatenate(mesh.cell_data["GLOBAL_IDS_CELLS"]).tolist()) == list(range(27))
    with pytest.warns(MeshpartWarning, match="read by meshioplusplus"):
        mixed = read(real_meshes / "pyramid_polyhedron_two_pieces.vtu")
    assert [block.type for block in mixed.blocks] == ["pyramid", "polyhedron8"] * 2
