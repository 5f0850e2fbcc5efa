"""Reading mesh files whatever their readers do, and writing parts so that nothing is lost and nothing half written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from meshes import empty_blocks, grid_points, interleaved, no_cells, overlapping_sets, polygons, quad_rows, quads

from meshpart import (
    ArgumentError,
    FormatError,
    Mesh,
    MeshpartWarning,
    MissingDependencyError,
    SubMesh,
    read,
    split,
    write_parts,
)
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS
from meshpart.meshio_bridge import patched_meshio
from meshpart.quiet import listening

SU2 = "NDIME= 2\nNELEM= 1\n5 0 1 2\nNPOIN= 3\n0 0\n1 0\n0 1\nNMARK= 1\nMARKER_TAG= wall\nMARKER_ELEMS= 1\n3 0 1\n"

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


@pytest.fixture
def without_meshioplusplus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the second reader."""
    monkeypatch.setitem(sys.modules, "meshioplusplus", None)


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


# -- writing: helpers ---------------------------------------------------------------------------------------


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return content


def files_of(folder: Path) -> Iterator[tuple[dict[str, Any], meshio.Mesh, dict[str, np.ndarray]]]:
    """Yield of each part what the manifest says, the mesh file as meshio reads it, and the arrays beside it."""
    content = manifest(folder)
    names = {"gmsh22": "gmsh", "vtk42": "vtk"}
    for entry in content["parts"]:
        with listening(), patched_meshio() as module:
            name = names.get(content["format"], content["format"])
            mesh = module.read(str(folder / entry["file"]), file_format=name)
        beside = dict(np.load(folder / entry["beside"])) if entry["beside"] else {}
        yield entry, mesh, beside


def array_of(kind: str, name: str, mesh: meshio.Mesh, beside: dict[str, np.ndarray]) -> np.ndarray:
    """Return an array of points or cells, in the order of the file, from the file or from beside it."""
    found = getattr(mesh, f"{kind}_data").get(name)
    if found is None:
        found = beside[f"{kind}_data/{name}"]
    return np.concatenate(found) if isinstance(found, list) else np.asarray(found)


def a_mesh_for(name: str) -> Mesh:
    """Return a mesh with random blocks of all types that a file of the format may have at once, sets and data."""
    holds = FORMATS[name]
    types = sorted(holds.types if holds.mixed is None else holds.mixed) or ["triangle"]
    types = [type_ for type_ in types if (CELL_TYPES[type_].n_points or 0) <= 27 and type_ != "polyhedron"]
    rng = np.random.default_rng(7)
    blocks = []
    for type_ in types + types[:2]:
        n_points = CELL_TYPES[type_].n_points or {"polygon": 5, "VTK_LAGRANGE_CURVE": 4}.get(type_, 10)
        blocks.append((type_, np.array([rng.permutation(40)[:n_points] for _ in range(4)])))
    lengths = [len(rows) for _, rows in blocks]
    return Mesh(
        rng.random((41, 3)),  # point 40 is in no cell
        blocks,
        point_data={"height": rng.random(41), "tag": np.arange(41, dtype=np.int16)},
        cell_data={"load": [rng.random(n) for n in lengths], "hot": [rng.random(n) < 0.5 for n in lengths]},
        point_sets={"low": np.arange(0, 41, 3)},
        cell_sets={"odd": [np.array([1, 3])] * len(blocks), "all": [np.arange(n) for n in lengths]},
    )


def written(mesh: Mesh, folder: Path, *, format: str = "vtu", nparts: int = 3, ghost_layers: int = 0) -> list[SubMesh]:
    """Write random parts of a mesh, whatever that warns of; return them."""
    labels = np.random.default_rng(5).integers(0, nparts, mesh.n_cells)
    labels[:nparts] = np.arange(nparts)
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(parts, folder, format=format)
    return parts


# -- writing: every format ----------------------------------------------------------------------------------


@EVERY_FORMAT
def test_a_row_of_a_file_is_the_cell_of_the_input_that_its_id_names(name: str, tmp_path: Path) -> None:
    mesh = a_mesh_for(name)
    written(mesh, tmp_path / "parts", format=name)
    rows = np.split(mesh.cell_points, mesh.cell_offsets[1:-1])
    types = [block.type for block in mesh.blocks for _ in range(len(block))]
    seen: list[int] = []
    n_points = 0
    for entry, file, beside in files_of(tmp_path / "parts"):
        cells = array_of("cell", "GlobalCellIds", file, beside)
        points = array_of("point", "GlobalPointIds", file, beside)
        in_file = [(block.type, row) for block in file.cells for row in np.asarray(block.data)]
        assert [type_ for type_, _ in in_file] == [types[cell] for cell in cells]
        for cell, (_, row) in zip(cells, in_file, strict=True):
            assert points[row].tolist() == rows[cell].tolist()
        np.testing.assert_allclose(file.points, mesh.points[points], rtol=1e-11)
        seen += cells.tolist()
        owned = array_of("point", "vtkGhostType", file, beside) == 0
        assert np.count_nonzero(owned) == entry["owned_points"]
        assert np.array_equal(owned, array_of("point", "PointOwner", file, beside) == entry["part"])
        n_points += np.count_nonzero(owned)
    assert sorted(seen) == list(range(mesh.n_cells))
    assert n_points == mesh.n_points


@EVERY_FORMAT
def test_data_and_sets_are_in_the_file_or_beside_it_and_with_the_right_rows(name: str, tmp_path: Path) -> None:
    mesh = a_mesh_for(name)
    written(mesh, tmp_path / "parts", format=name)
    for _, file, beside in files_of(tmp_path / "parts"):
        cells = array_of("cell", "GlobalCellIds", file, beside)
        points = array_of("point", "GlobalPointIds", file, beside)
        assert np.array_equal(array_of("point", "height", file, beside), mesh.point_data["height"][points])
        assert np.array_equal(array_of("point", "tag", file, beside), mesh.point_data["tag"][points])
        assert np.array_equal(array_of("cell", "load", file, beside), np.concatenate(mesh.cell_data["load"])[cells])
        hot = array_of("cell", "hot", file, beside)
        assert np.array_equal(hot, np.concatenate(mesh.cell_data["hot"])[cells])
        assert hot.dtype == np.uint8
        if "low" in file.point_sets:
            low = np.isin(np.arange(len(points)), file.point_sets["low"])
        else:
            low = array_of("point", "set:low", file, beside) == 1
        assert sorted(points[low]) == sorted(set(points) & set(range(0, 41, 3)))
        if not FORMATS[name].cell_sets:  # of a set over several blocks meshio reads the last share only
            assert np.array_equal(array_of("cell", "set:odd", file, beside), cells % 2)
            assert array_of("cell", "set:all", file, beside).all()


@EVERY_FORMAT
def test_the_callers_parts_are_as_they_were(name: str, tmp_path: Path) -> None:
    mesh = a_mesh_for(name)
    parts, untouched = (split(mesh, np.arange(mesh.n_cells) % 2) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(parts, tmp_path / "parts", format=name)
    assert [part.mesh for part in parts] == [part.mesh for part in untouched]
    assert parts[0].mesh.cell_sets.keys() == {"odd", "all"}


@EVERY_FORMAT
def test_a_part_without_cells_is_written_or_refused_before_anything_is_there(name: str, tmp_path: Path) -> None:
    type_ = "triangle" if "triangle" in FORMATS[name].types else "tetra"
    rows = [[0, 1, 2, 3][: CELL_TYPES[type_].n_points]]
    mesh = Mesh(np.eye(4, 3), [(type_, rows)], cell_data={"a": [np.ones(1)]})
    parts = split(mesh, [1], 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        if not FORMATS[name].empty:
            with pytest.raises(FormatError, match=f"part 0 has no cells, and {name} files must have some"):
                write_parts(parts, tmp_path / "parts", format=name)
            assert list(tmp_path.iterdir()) == []
            return
        write_parts(parts, tmp_path / "parts", format=name)
    entries = manifest(tmp_path / "parts")["parts"]
    assert [entry["owned_cells"] for entry in entries] == [0, 1, 0]
    assert [entry["cells_of_blocks"] for entry in entries] == [[0], [1], [0]]
    if name != "vtu":  # VTK reads it, see below, and meshio does not
        with listening(), patched_meshio() as module:
            reader = {"gmsh22": "gmsh", "vtk42": "vtk"}.get(name, name)
            file = tmp_path / "parts" / entries[0]["file"]
            if name != "gmsh22" or entries[0]["owned_points"]:
                assert sum(len(block.data) for block in module.read(str(file), file_format=reader).cells) == 0


# -- writing: what is in a file -----------------------------------------------------------------------------


def test_a_file_carries_ids_owners_layers_and_ghosts_with_their_dtypes(tmp_path: Path) -> None:
    # Q(3, 1): part 0 owns cells 0 and 1 with all of their points, cell 2 with its points 3 and 7 is part 4's
    write_parts(split(quads(3, 1), [0, 0, 4], 5, ghost_layers=1, only=[0]), tmp_path / "parts")
    ((entry, file, _),) = files_of(tmp_path / "parts")
    expected = {
        "GlobalCellIds": ([0, 1, 2], np.int64),
        "CellOwner": ([0, 0, 4], np.int32),
        "CellLayer": ([0, 0, 1], np.int32),
        "vtkGhostType": ([0, 0, 1], np.uint8),
    }
    for name, (values, dtype) in expected.items():
        assert file.cell_data[name][0].tolist() == values
        assert file.cell_data[name][0].dtype == dtype
    assert file.point_data["GlobalPointIds"].tolist() == [0, 1, 2, 4, 5, 6, 3, 7]
    assert file.point_data["PointOwner"].tolist() == [0] * 6 + [4, 4]
    assert file.point_data["PointLayer"].tolist() == [0] * 6 + [1, 1]
    assert file.point_data["vtkGhostType"].tolist() == [0] * 6 + [1, 1]
    assert (entry["owned_cells"], entry["ghost_cells"], entry["owned_points"], entry["ghost_points"]) == (2, 1, 6, 2)


def test_rows_of_interleaved_blocks_keep_their_ids(tmp_path: Path) -> None:
    parts = written(interleaved(), tmp_path / "parts", nparts=2)
    for part, (_, file, _) in zip(parts, files_of(tmp_path / "parts"), strict=True):
        assert np.concatenate(file.cell_data["GlobalCellIds"]).tolist() == sorted(part.cells.global_ids.tolist())


def test_sets_stay_apart_where_they_overlap(tmp_path: Path) -> None:
    written(overlapping_sets(), tmp_path / "parts", nparts=1)
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert file.cell_data["set:A"][0].tolist() == [1, 1, 0]
    assert file.cell_data["set:B"][0].tolist() == [0, 1, 1]
    assert file.point_data["set:left"].tolist() == [1, 1, 0, 0, 1, 1, 0, 0]
    assert "the cell set 'A' is written as the array 'set:A'" in manifest(tmp_path / "parts")["notes"]


def test_arrays_of_the_input_with_our_names_are_renamed_and_said(tmp_path: Path) -> None:
    mesh = Mesh(
        grid_points(2, 1),
        [("quad", quad_rows(2, 1))],
        point_data={"GlobalPointIds": np.arange(6) * 10},
        cell_data={"vtkGhostType": [np.array([1, 0], np.uint8)], "set:A": [np.array([7, 8])]},
        cell_sets={"A": [[1]]},
    )
    with pytest.warns(MeshpartWarning, match="'vtkGhostType' is written as 'input_vtkGhostType'"):
        write_parts(split(mesh, [0, 0]), tmp_path / "parts")
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert file.point_data["GlobalPointIds"].tolist() == list(range(6))
    assert file.point_data["input_GlobalPointIds"].tolist() == [0, 10, 20, 30, 40, 50]
    assert file.cell_data["vtkGhostType"][0].tolist() == [0, 0]
    assert file.cell_data["input_vtkGhostType"][0].tolist() == [1, 0]
    assert file.cell_data["input_set:A"][0].tolist() == [7, 8]
    assert file.cell_data["set:A"][0].tolist() == [0, 1]


def test_a_part_of_a_part_file_can_be_partitioned_and_written_again(tmp_path: Path) -> None:
    written(quads(4, 1), tmp_path / "first", nparts=2)
    again = read(tmp_path / "first" / "part-00000.vtu")
    with pytest.warns(MeshpartWarning, match="input_GlobalCellIds"):
        write_parts(split(again, np.arange(again.n_cells) % 2), tmp_path / "second")
    twice = read(tmp_path / "second" / "part-00000.vtu")
    with pytest.warns(MeshpartWarning, match="input_input_GlobalCellIds"):
        write_parts(split(twice, [0] * twice.n_cells), tmp_path / "third")


def test_dtypes_that_files_do_not_know_are_converted_and_said(tmp_path: Path) -> None:
    mesh = Mesh(
        grid_points(1, 1).astype(np.float16),
        [("quad", quad_rows(1, 1))],
        point_data={"half": np.arange(4, dtype=np.float16)},
        cell_data={"flag": [np.array([True])], "tensor": [np.arange(9.0).reshape(1, 3, 3)]},
    )
    write_parts(split(mesh, [0]), tmp_path / "parts")  # without a warning: no value is changed
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert file.points.dtype == np.float32
    assert file.point_data["half"].dtype == np.float32
    assert file.cell_data["flag"][0].dtype == np.uint8
    assert file.cell_data["tensor"][0].tolist() == [list(range(9))]
    assert set(manifest(tmp_path / "parts")["notes"]) == {
        "points have 2 coordinates and are written with 3, the last 0",
        "points are float16 and are written as float32",
        "point_data 'half' is float16 and is written as float32",
        "cell_data 'flag' is bool and is written as uint8",
        "cell_data 'tensor' is 3 x 3 numbers and is written as 9",
    }


@pytest.mark.parametrize("values", [[1j], ["a"], [np.longdouble(1)], [None], [np.datetime64("2000-01-01")]])
def test_numbers_that_no_file_holds_are_refused_before_anything_is_there(values: list[object], tmp_path: Path) -> None:
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], cell_data={"odd": [np.array(values)]})
    with pytest.raises(FormatError, match=r"hold no numbers of dtype .*: cell_data\['odd'\]"):
        write_parts(split(mesh, [0]), tmp_path / "parts")
    assert list(tmp_path.iterdir()) == []


def test_cell_types_that_a_format_lacks_are_refused_before_anything_is_there(tmp_path: Path) -> None:
    mesh = Mesh(np.eye(5, 3), [("triangle", [[0, 1, 2]]), ("pyramid", [[0, 1, 2, 3, 4]])])
    for format_ in ("off", "inp", "ply"):
        with pytest.raises(FormatError, match="hold no cells of type pyramid"):
            write_parts(split(mesh, [0, 1]), tmp_path / "parts", format=format_)
    with pytest.raises(FormatError, match=r"tecplot files, .*hold no cells of type pyramid"):
        write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="tecplot")
    assert list(tmp_path.iterdir()) == []


def test_types_that_may_not_stand_together_are_refused_before_anything_is_there(tmp_path: Path) -> None:
    mesh = Mesh(np.eye(6, 3), [("triangle", [[0, 1, 2]]), ("triangle6", [range(6)])])
    with pytest.raises(FormatError, match="hold no cells beside triangle6, got triangle, triangle6"):
        write_parts(split(mesh, [0, 0]), tmp_path / "parts", format="xdmf")
    write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="xdmf")  # each in a file of its own
    assert [file.cells[0].type for _, file, _ in files_of(tmp_path / "parts")] == ["triangle", "triangle6"]


def test_what_a_format_does_not_hold_is_beside_it_and_one_warning_names_what_is_the_inputs(tmp_path: Path) -> None:
    mesh = Mesh(
        grid_points(2, 1),
        [("quad", quad_rows(2, 1))],
        point_data={"height": np.arange(6.0)},
        cell_data={"load": [np.array([3.0, 4.0])]},
        cell_sets={"A": [[1]]},
    )
    with pytest.warns(MeshpartWarning) as caught:
        write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="inp")
    assert len(caught) == 1
    said = str(caught[0].message)
    assert "'height'" in said
    assert "'load'" in said
    assert "GlobalCellIds" not in said
    assert caught[0].filename == __file__
    content = manifest(tmp_path / "parts")
    assert [entry["beside"] for entry in content["parts"]] == ["part-00000.npz", "part-00001.npz"]
    assert "cell_data 'load' is in the .npz files, since abaqus files do not hold it" in content["notes"]
    (_, first, _), (_, file, beside) = files_of(tmp_path / "parts")
    assert file.cell_sets["A"][0].tolist() == [0]
    assert "A" not in first.cell_sets  # it has none of it; the manifest names the set
    assert content["cell_sets"] == ["A"]
    assert beside["cell_data/load"].tolist() == [4.0]
    assert beside["cell_data/GlobalCellIds"].tolist() == [1]


def test_gmsh_tags_and_names_are_kept(tmp_path: Path) -> None:
    mesh = Mesh(
        np.column_stack([grid_points(2, 1), np.zeros(6)]),
        [("quad", quad_rows(2, 1))],
        cell_data={"gmsh:physical": [np.array([5, 6])], "gmsh:geometrical": [np.array([1, 2])]},
        field_data={"left": np.array([5, 2]), "right": np.array([6, 2])},
    )
    write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="msh")
    for part, (_, file, _) in enumerate(files_of(tmp_path / "parts")):
        assert file.cell_data["gmsh:physical"][0].tolist() == [5 + part]
        assert file.field_data["right"].tolist() == [6, 2]
    assert manifest(tmp_path / "parts")["field_data"] == {"left": [5, 2], "right": [6, 2]}


def test_names_are_written_so_that_their_readers_get_them_back(tmp_path: Path) -> None:
    name = 'Nodal "Displacement" & <Größe>'
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], point_data={name: np.arange(4.0)})
    write_parts(split(mesh, [0]), tmp_path / "vtu")
    assert read(tmp_path / "vtu" / "part-00000.vtu").point_data[name].tolist() == [0, 1, 2, 3]
    write_parts(split(mesh, [0]), tmp_path / "vtk", format="vtk")
    encoded = "Nodal%20%22Displacement%22%20&%20<Gr%C3%B6%C3%9Fe>"
    assert encoded in read(tmp_path / "vtk" / "part-00000.vtk").point_data
    assert f"point_data {name!r} is named {encoded!r} in the file" in manifest(tmp_path / "vtk")["notes"]


def test_polygons_of_several_sizes_are_written_in_runs_and_in_order(tmp_path: Path) -> None:
    mesh = Mesh(polygons().points, polygons().blocks, cell_data={"a": [np.array([30, 40, 50])]}, cell_sets={"S": [[2]]})
    write_parts(split(mesh, [0, 0, 0]), tmp_path / "parts")
    got = read(tmp_path / "parts" / "part-00000.vtu")
    assert [block.nodes.ravel().tolist() for block in got.blocks] == [[0, 1, 3], [1, 2, 4, 3], [0, 3, 4, 5, 6]]
    assert np.concatenate(got.cell_data["a"]).tolist() == [30, 40, 50]
    assert np.concatenate(got.cell_data["set:S"]).tolist() == [0, 0, 1]
    assert (
        "blocks of polygon cells of several sizes are written as runs of one size"
        in manifest(tmp_path / "parts")["notes"]
    )


def test_polyhedra_are_written_alone_or_not_at_all(tmp_path: Path) -> None:
    faces = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
    tet = ("polyhedron", [faces])
    mesh = Mesh(np.eye(4, 3), [tet, tet])
    write_parts(split(mesh, [0, 1]), tmp_path / "parts")
    assert read(tmp_path / "parts" / "part-00001.vtu").blocks[0].type == "polyhedron4"
    mixed = Mesh(np.eye(4, 3), [tet, ("tetra", [[0, 1, 2, 3]])])
    with pytest.raises(FormatError, match="hold no cells beside polyhedron, got polyhedron, tetra"):
        write_parts(split(mixed, [0, 0]), tmp_path / "mixed")
    with pytest.raises(FormatError, match=r"vtk42 files, .* hold no cells of type polyhedron"):
        write_parts(split(mesh, [0, 1]), tmp_path / "mixed", format="vtk")
    assert not (tmp_path / "mixed").exists()


def test_types_with_another_name_in_a_format_are_written_under_it_and_said(tmp_path: Path) -> None:
    mesh = Mesh(np.random.default_rng(0).random((10, 3)), [("triangle10", [range(10)]), ("tetra4", [range(4)])])
    write_parts(split(mesh, [0, 0]), tmp_path / "parts")
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert [block.type for block in file.cells] == ["VTK_LAGRANGE_TRIANGLE", "tetra"]
    assert "cells of type triangle10 are written as VTK_LAGRANGE_TRIANGLE" in manifest(tmp_path / "parts")["notes"]


def test_empty_blocks_are_left_out_of_files_and_named_in_the_manifest(tmp_path: Path) -> None:
    write_parts(split(empty_blocks(), [0, 1]), tmp_path / "parts")
    content = manifest(tmp_path / "parts")
    assert [block["type"] for block in content["blocks"]] == ["triangle", "quad", "line"]
    assert [entry["cells_of_blocks"] for entry in content["parts"]] == [[0, 1, 0], [0, 1, 0]]
    assert [block.type for block in read(tmp_path / "parts" / "part-00000.vtu").blocks] == ["quad"]


def test_periodic_pairs_are_beside_the_file_as_global_ids(tmp_path: Path) -> None:
    mesh = replace_periodic(quads(2, 1), [(2, 0), (5, 3)])
    parts = split(mesh, [0, 1])
    write_parts(parts, tmp_path / "parts")
    pairs = [beside["periodic/0"].tolist() for _, _, beside in files_of(tmp_path / "parts")]
    assert sorted(pair for share in pairs for pair in share) == [[2, 0], [5, 3]]
    assert manifest(tmp_path / "parts")["periodic"] == [{"dim": 1, "tags": [7, 5], "affine": None}]


def replace_periodic(mesh: Mesh, pairs: list[tuple[int, int]]) -> Mesh:
    return Mesh(mesh.points, mesh.blocks, periodic=[(1, (7, 5), None, pairs)])


# -- writing: the folder ------------------------------------------------------------------------------------


def test_the_manifest_says_how_the_parts_were_made_and_what_is_in_them(tmp_path: Path) -> None:
    write_parts(split(quads(2, 1), [0, 1]), tmp_path / "parts")
    content = manifest(tmp_path / "parts")
    part = {"owned_cells": 1, "ghost_cells": 0, "beside": None, "cells_of_blocks": [1]}
    assert content == {
        "what": "meshpart parts",
        "format_version": 1,
        "meshpart": content["meshpart"],
        "format": "vtu",
        "nparts": 2,
        "ghost_layers": 0,
        "method": "labels",
        "mode": None,
        "seed": None,
        "imbalance": None,
        "weights": None,
        "edge_weights": None,
        "keep_together": None,
        "repair": None,
        "run": content["run"],
        "n_cells": 2,
        "n_points": 6,
        "blocks": [{"type": "quad", "tags": []}],
        "point_sets": [],
        "cell_sets": [],
        "field_data": {},
        "block_data": {},
        "periodic": [],
        "info": None,
        "notes": ["points have 2 coordinates and are written with 3, the last 0"],
        "parts": [
            {"part": 0, "file": "part-00000.vtu", "owned_points": 4, "ghost_points": 0, **part},
            {"part": 1, "file": "part-00001.vtu", "owned_points": 2, "ghost_points": 2, **part},
        ],
        "files": ["part-00000.vtu", "part-00001.vtu"],
    }


def test_parts_may_be_fewer_than_all_and_are_named_by_their_number(tmp_path: Path) -> None:
    parts = split(quads(4, 1), [0, 1, 2, 3], only=[2, 0])
    write_parts(parts, tmp_path / "parts")
    assert [entry["file"] for entry in manifest(tmp_path / "parts")["parts"]] == ["part-00002.vtu", "part-00000.vtu"]


def test_progress_counts_the_parts(tmp_path: Path) -> None:
    counted: list[int] = []
    write_parts(split(quads(3, 1), [0, 1, 2]), tmp_path / "parts", progress=counted.append)
    assert counted == [1, 2, 3]


def test_what_are_no_parts_of_one_decomposition_is_refused(tmp_path: Path) -> None:
    two, three, swapped = (split(quads(3, 1), labels) for labels in ([0, 1, 1], [0, 1, 2], [1, 0, 0]))
    for parts, reason in (
        ([], "no parts to write"),
        ([two[0], two[0]], "each part is written once, got the parts 0, 0"),
        ([two[0], three[1]], "not of one decomposition"),
        ([two[0], swapped[1]], "not of one decomposition"),
        ([replace(two[0], cells=replace(two[0].cells, n_owned=0)), two[1]], "own 2 cells together, the mesh has 3"),
        ([replace(two[0], points=replace(two[0].points, n_owned=3)), two[1]], "own 7 points together, the mesh has 8"),
        ([two[0], 7], "got int"),
        (two[0], "got SubMesh"),
        (quads(1, 1), "got Mesh"),
    ):
        with pytest.raises(ArgumentError, match=reason):
            write_parts(parts, tmp_path / "parts")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a b", "ü", "a'b\"c", ".hidden", "x" * 200])
@pytest.mark.parametrize("format_", ["vtu", "xdmf", "med", "e", "msh"])
def test_folders_may_have_any_name_and_may_be_moved(name: str, format_: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(split(quads(2, 1), [0, 1]), tmp_path / name, format=format_)
    (tmp_path / name).rename(tmp_path / "moved")
    entry = manifest(tmp_path / "moved")["parts"][0]
    assert read(tmp_path / "moved" / entry["file"]).n_cells == 1


def test_a_relative_path_is_taken_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_parts(split(quads(2, 1), [0, 1]), "parts/")
    assert (tmp_path / "parts" / "manifest.json").is_file()


def test_nothing_is_created_beside_the_input(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    quads(2, 1).to_meshio().write(tmp_path / "in" / "mesh.vtk")
    (tmp_path / "in").chmod(0o555)
    (tmp_path / "out").mkdir()
    write_parts(split(read(tmp_path / "in" / "mesh.vtk"), [0, 1]), tmp_path / "out" / "parts")
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["mesh.vtk"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["parts"]


def test_nothing_reaches_the_streams_while_parts_are_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("dolfin-xml", "ply", "gmsh22", "vtu"):
        mesh = Mesh(grid_points(1, 1), [("triangle", [[0, 1, 2]]), ("triangle", [[1, 3, 2]])])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MeshpartWarning)
            write_parts(split(mesh, [0, 1]), tmp_path / name, format=name)
    assert capfd.readouterr() == ("", "")
    assert any("DOLFIN XML is a legacy format" in note for note in manifest(tmp_path / "dolfin-xml")["notes"])


def test_a_failure_of_a_writer_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    name = "\ud800"  # no text in UTF-8, so that no file can hold it
    mesh = Mesh(np.eye(3), [("triangle", [[0, 1, 2]])], field_data={name: np.array([1, 2])})
    with pytest.raises(FormatError, match="part 0 cannot be written as gmsh22: UnicodeEncodeError") as caught:
        write_parts(split(mesh, [0]), tmp_path / "parts", format="msh")
    assert isinstance(caught.value.__cause__, UnicodeEncodeError)
    beside = Mesh(np.eye(3), [("triangle", [[0, 1, 2]])], point_data={name: np.ones(3)})
    with pytest.raises(FormatError, match=r"part-00000\.npz cannot be written: UnicodeEncodeError"):
        write_parts(split(beside, [0]), tmp_path / "parts")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="it limits the size of files as Linux does")
@pytest.mark.parametrize("format_", ["xdmf", "med", "exodus", "h5m", "vtu", "inp"])
def test_a_file_that_finds_no_room_is_an_error_and_leaves_nothing(format_: str, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    pytest.importorskip("netCDF4")
    script = """if True:
        import resource, sys, meshpart, numpy
        mesh = meshpart.Mesh(numpy.eye(10_000, 3), [("triangle", numpy.arange(9999).reshape(-1, 3))])
        parts = meshpart.split(mesh, [0] * 3333)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        try:
            meshpart.write_parts(parts, sys.argv[1], format=sys.argv[2])
        except meshpart.FormatError:
            sys.exit(7)
    """
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "parts", format_], check=False, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_names_that_an_npz_file_would_confuse_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    for names in (["b\0c", "b\0d"], ["b", "b.npy"]):
        mesh = Mesh(np.eye(3), [("triangle", [[0, 1, 2]])], point_data={name: np.ones(3) for name in names})
        with pytest.raises(FormatError, match=r"\.npz files cannot hold the name 'point_data/b"):
            write_parts(split(mesh, [0]), tmp_path / "parts", format="inp")
    assert list(tmp_path.iterdir()) == []


def test_what_no_manifest_can_hold_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    endless: dict[str, Any] = {}
    endless["itself"] = endless
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], field_data=endless)
    with pytest.raises(FormatError, match="holds itself"):
        write_parts(split(mesh, [0]), tmp_path / "parts")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_no_text_stands_in_the_manifest(tmp_path: Path) -> None:
    field_data = {"Größe \ud800": "\udfff"}
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], field_data=field_data)
    write_parts(split(mesh, [0]), tmp_path / "parts")
    assert manifest(tmp_path / "parts")["field_data"] == field_data


def test_a_warning_that_is_an_error_comes_when_all_is_written(tmp_path: Path) -> None:
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], cell_data={"vtkGhostType": [np.zeros(1)]})
    with pytest.raises(MeshpartWarning):  # as warnings are errors in tests
        write_parts(split(mesh, [0]), tmp_path / "parts")
    assert (tmp_path / "parts" / "manifest.json").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_mesh_without_cells_is_written(tmp_path: Path) -> None:
    write_parts(split(no_cells(3), [], 1), tmp_path / "parts")
    assert manifest(tmp_path / "parts")["n_cells"] == 0
    assert manifest(tmp_path / "parts")["parts"][0]["owned_points"] == 3


# -- VTK ----------------------------------------------------------------------------------------------------


def vtk_grid(path: Path) -> Any:
    """Return what VTK reads; it says nothing on a file that it finds right."""
    vtk = pytest.importorskip("vtk")
    reader = vtk.vtkXMLUnstructuredGridReader() if path.suffix == ".vtu" else vtk.vtkUnstructuredGridReader()
    errors: list[str] = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: errors.append("warning"))
    reader.SetFileName(str(path))
    reader.Update()
    assert errors == []
    return reader.GetOutput()


@pytest.mark.parametrize("ghost_layers", [0, 1, 2])
@pytest.mark.parametrize("format_", ["vtu", "vtk42"])
def test_vtk_sees_the_cells_points_and_ghosts_of_each_part(
    format_: str, ghost_layers: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    numpy_support = pytest.importorskip("vtk.util.numpy_support")
    mesh = a_mesh_for(format_)
    parts = written(mesh, tmp_path / "parts", format=format_, ghost_layers=ghost_layers)
    n_owned = n_cells = 0
    numbers = np.repeat([vtk_number(block.type) for block in mesh.blocks], [len(block) for block in mesh.blocks])
    for part, entry in zip(parts, manifest(tmp_path / "parts")["parts"], strict=True):
        grid = vtk_grid(tmp_path / "parts" / entry["file"])
        points, cells = grid.GetPointData(), grid.GetCellData()
        cell_ids = numpy_support.vtk_to_numpy(cells.GetArray("GlobalCellIds"))
        assert [grid.GetCellType(i) for i in range(grid.GetNumberOfCells())] == numbers[cell_ids].tolist()
        assert grid.GetNumberOfPoints() == part.points.n_local
        ghosts = numpy_support.vtk_to_numpy(points.GetArray("vtkGhostType"))
        assert points.GetArray("vtkGhostType").GetDataTypeAsString() == "unsigned char"
        n_owned += np.count_nonzero(ghosts == 0)
        ghosts = numpy_support.vtk_to_numpy(cells.GetArray("vtkGhostType"))
        assert (len(ghosts), np.count_nonzero(ghosts)) == (part.cells.n_local, part.cells.n_ghost)
        n_cells += np.count_nonzero(ghosts == 0)
        assert grid.GetGhostArray(0) is not None  # VTK takes the array for what it is
    assert (n_owned, n_cells) == (mesh.n_points, mesh.n_cells)
    assert capfd.readouterr() == ("", "")


def vtk_number(type_: str) -> int:
    number = CELL_TYPES[type_].vtk
    return {"VTK_LAGRANGE_CURVE": 68}.get(type_, 0) if number is None else number


@pytest.mark.parametrize("format_", ["vtu", "vtk42"])
def test_vtk_reads_a_part_without_cells(format_: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("vtk")
    data = {"a": [np.ones(1)], "v": [np.ones((1, 3))]}
    mesh = Mesh(quads(1, 1).points, quads(1, 1).blocks, cell_data=data, cell_sets={"A": [[0]]})
    write_parts(split(mesh, [1], 3), tmp_path / "parts", format=format_)
    for entry, n_points in zip(manifest(tmp_path / "parts")["parts"], (0, 4, 0), strict=True):
        grid = vtk_grid(tmp_path / "parts" / entry["file"])
        assert (grid.GetNumberOfPoints(), grid.GetNumberOfCells()) == (n_points, entry["owned_cells"])
        if format_ == "vtu":  # as all pieces of a .pvtu file must have the same arrays
            arrays = [grid.GetCellData().GetArray(i) for i in range(grid.GetCellData().GetNumberOfArrays())]
            found = {array.GetName(): (array.GetDataTypeAsString(), array.GetNumberOfComponents()) for array in arrays}
            assert found.items() >= {"a": ("double", 1), "v": ("double", 3), "set:A": ("unsigned char", 1)}.items()
            assert found.keys() > {"GlobalCellIds", "CellOwner", "CellLayer", "vtkGhostType"}
    assert capfd.readouterr() == ("", "")


def test_vtk_decodes_the_names_of_both_its_formats(tmp_path: Path) -> None:
    pytest.importorskip("vtk")
    name = 'Nodal "Displacement" & <ß>'
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], point_data={name: np.arange(4.0)})
    for format_ in ("vtu", "vtk"):
        write_parts(split(mesh, [0]), tmp_path / format_, format=format_)
        grid = vtk_grid(tmp_path / format_ / f"part-00000.{format_}")
        assert grid.GetPointData().GetArray(name) is not None


def test_vtk_sees_polyhedra_with_their_faces_and_data(tmp_path: Path) -> None:
    numpy_support = pytest.importorskip("vtk.util.numpy_support")
    tet = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
    wedge = [[4, 5, 6], [7, 8, 9], [4, 5, 8, 7], [5, 6, 9, 8], [6, 4, 7, 9]]
    mesh = Mesh(
        np.random.default_rng(1).random((10, 3)), [("polyhedron", [tet, wedge, tet])], cell_data={"a": [[1, 2, 3]]}
    )
    write_parts(split(mesh, [0, 0, 0]), tmp_path / "parts")
    grid = vtk_grid(tmp_path / "parts" / "part-00000.vtu")
    assert [grid.GetCellType(i) for i in range(3)] == [42] * 3
    assert [grid.GetCell(i).GetNumberOfFaces() for i in range(3)] == [4, 5, 4]
    assert numpy_support.vtk_to_numpy(grid.GetCellData().GetArray("a")).tolist() == [1, 2, 3]
