"""Writing the parts of a decomposition: what is refused, what the folder holds, what is left when it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import grid_points, no_cells, quad_rows, quads
from part_folders import entries, manifest, part_file

from meshpart import (
    ArgumentError,
    FormatError,
    Mesh,
    MeshpartWarning,
    open_parts,
    quality,
    read,
    split,
    write_parts,
)
from meshpart.formats import FORMATS

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


# -- writing: the folder ------------------------------------------------------------------------------------


def test_the_manifest_says_how_the_parts_were_made_and_what_is_in_them(tmp_path: Path) -> None:
    mesh, labels = replace(quads(2, 1), point_data={"u": np.zeros((6, 3), np.float32)}), [0, 1]
    parts, found = split(mesh, labels), quality(mesh, labels)
    write_parts(parts, tmp_path / "parts", format="vtu", quality=found)
    content = manifest(tmp_path / "parts")
    assert content == {
        "what": "meshpart parts",
        "format_version": 2,
        "meshpart": version("meshpart"),
        "versions": {package: version(package) for package in ("numpy", "meshio", "kahip") if is_installed(package)},
        "format": "vtu",
        "suffix": ".vtu",
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
        "run": parts[0].run,
        "mesh": mesh.fingerprint,
        "n_cells": 2,
        "n_points": 6,
        "block_starts": [0, 2],
        "blocks": [{"type": "quad", "tags": []}],
        "point_data": {"u": "float32 x 3"},
        "cell_data": {},
        "point_sets": [],
        "cell_sets": [],
        "graphs": [],
        "field_data": {},
        "block_data": {},
        "periodic": [],
        "info": None,
        "arrays": {
            "points": {"name": "points", "dtypes": ["float64"], "shapes": [[2]]},
            "point_data": {"u": {"name": "u", "dtypes": ["float32"], "shapes": [[3]]}},
            **{kind: {} for kind in ("cell_data", "field_data", "block_data")},
        },
        "notes": ["points have 2 coordinates and are written with 3, the last 0"],
        "quality": found.to_dict(),
        "folder": part_file(tmp_path / "parts", 0).parent.name,
        "parts": {
            "part": [0, 1],
            "owned_cells": [1, 1],
            "ghost_cells": [0, 0],
            "owned_points": [4, 2],
            "ghost_points": [0, 2],
            "bytes": [part_file(tmp_path / "parts", part).stat().st_size for part in (0, 1)],
            "beside": [False, False],
        },
    }


def is_installed(package: str) -> bool:
    return find_spec(package) is not None


def test_parts_may_be_fewer_than_all_and_are_named_by_their_number(tmp_path: Path) -> None:
    parts = split(quads(4, 1), [0, 1, 2, 3], only=[2, 0])
    write_parts(parts, tmp_path / "parts", format="vtu")
    names = [entry["file"].name for entry in entries(tmp_path / "parts")]
    assert names == ["part-00002.vtu", "part-00000.vtu"]


def test_progress_counts_the_parts(tmp_path: Path) -> None:
    counted: list[int] = []
    write_parts(split(quads(3, 1), [0, 1, 2]), tmp_path / "parts", progress=counted.append, format="vtu")
    assert counted == [1, 2, 3]


def test_what_are_no_parts_of_one_decomposition_is_refused(tmp_path: Path) -> None:
    two, three, swapped = (split(quads(3, 1), labels) for labels in ([0, 1, 1], [0, 1, 2], [1, 0, 0]))
    for parts, reason in (
        ([], "no parts to write"),
        ([two[0], two[0]], "each part is written once, got part 0 twice"),
        ([two[0], three[1]], "not of one decomposition"),
        ([two[0], swapped[1]], "not of one decomposition"),
        ([replace(two[0], cells=replace(two[0].cells, n_owned=0)), two[1]], "own 2 cells together, the mesh has 3"),
        ([replace(two[0], points=replace(two[0].points, n_owned=3)), two[1]], "own 7 points together, the mesh has 8"),
        ([replace(two[0], part=7), two[1]], "there is no part 7 of 2"),
        (
            [replace(two[0], mesh=quads(2, 1)), two[1]],
            "part 0 has 2 cells in its mesh, and 1 owned of 1 in its map",
        ),
        ([two[0], 7], "got int"),
        (two[0], "got SubMesh"),
        (quads(1, 1), "got Mesh"),
    ):
        with pytest.raises(ArgumentError, match=reason):
            write_parts(parts, tmp_path / "parts", format="vtu")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a b", "ü", "a'b\"c", ".hidden", "x" * 200])
@pytest.mark.parametrize("format_", ["vtu", "xdmf", "med", "e", "msh"])
def test_folders_may_have_any_name_and_may_be_moved(name: str, format_: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(split(quads(2, 1), [0, 1]), tmp_path / name, format=format_)
    (tmp_path / name).rename(tmp_path / "moved")
    entry = entries(tmp_path / "moved")[0]
    assert read(entry["file"]).n_cells == 1


def test_a_relative_path_is_taken_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_parts(split(quads(2, 1), [0, 1]), "parts/", format="vtu")
    assert (tmp_path / "parts" / "manifest.json").is_file()


def test_nothing_is_created_beside_the_input(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    quads(2, 1).to_meshio().write(tmp_path / "in" / "mesh.vtk")
    (tmp_path / "in").chmod(0o555)
    (tmp_path / "out").mkdir()
    write_parts(split(read(tmp_path / "in" / "mesh.vtk"), [0, 1]), tmp_path / "out" / "parts", format="vtu")
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
        write_parts(split(beside, [0]), tmp_path / "parts", format="vtu")
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
        write_parts(split(mesh, [0]), tmp_path / "parts", format="vtu")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_no_text_stands_in_the_manifest(tmp_path: Path) -> None:
    field_data = {"Größe \ud800": "\udfff"}
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], field_data=field_data)
    write_parts(split(mesh, [0]), tmp_path / "parts", format="vtu")
    assert manifest(tmp_path / "parts")["field_data"] == field_data


def test_a_warning_that_is_an_error_comes_when_all_is_written(tmp_path: Path) -> None:
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], cell_data={"vtkGhostType": [np.zeros(1)]})
    with pytest.raises(MeshpartWarning):  # as warnings are errors in tests
        write_parts(split(mesh, [0]), tmp_path / "parts", format="vtu")
    assert (tmp_path / "parts" / "manifest.json").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_mesh_without_cells_is_written(tmp_path: Path) -> None:
    write_parts(split(no_cells(3), [], 1), tmp_path / "parts", format="vtu")
    assert manifest(tmp_path / "parts")["n_cells"] == 0
    assert entries(tmp_path / "parts")[0]["owned_points"] == 3


def test_a_folder_by_the_name_of_a_mesh_file_is_refused_unless_a_format_says_so(tmp_path: Path) -> None:
    parts = split(quads(2, 1), [0, 1])
    with pytest.raises(
        ArgumentError, match=r"a\.vtu would be a folder, a part store: leave out \.vtu, or say format='vtu'"
    ):
        write_parts(parts, tmp_path / "a.vtu")
    assert list(tmp_path.iterdir()) == []
    write_parts(parts, tmp_path / "a.vtu", format="vtu")
    write_parts(parts, tmp_path / "b.vtu", format="store")
    assert len(list(tmp_path.iterdir())) == 2


def test_a_link_is_what_it_leads_to(tmp_path: Path) -> None:
    parts = split(quads(2, 1), [0, 1])
    write_parts(parts, tmp_path / "t.pvtu")
    (tmp_path / "link").symlink_to(tmp_path / "t.pvtu")
    write_parts(parts, tmp_path / "link", overwrite=True)
    assert manifest(tmp_path / "t.pvtu")["format"] == "pvtu"
    (tmp_path / "folder").mkdir()
    (tmp_path / "l.pvtu").symlink_to(tmp_path / "folder")
    write_parts(parts, tmp_path / "l.pvtu")
    assert manifest(tmp_path / "folder")["format"] == "store"


def test_field_data_that_differs_is_refused_where_files_do_not_hold_it(tmp_path: Path) -> None:
    parts = split(replace(quads(2, 1), field_data={"t": 1.0}), [0, 1])
    parts[1] = replace(parts[1], mesh=replace(parts[1].mesh, field_data={"t": 2.0}))
    for name, options in (("a", {"format": "vtu"}), ("a.pvtu", {})):
        with pytest.raises(ArgumentError, match="field_data is not the same in parts 0 and 1"):
            write_parts(parts, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_parts_are_written_as_an_iterator_gives_them_and_a_failure_of_it_leaves_nothing(tmp_path: Path) -> None:
    def two_and_an_error():
        yield from split(quads(3, 1), [0, 1, 2])[:2]
        raise KeyError("third")

    with pytest.raises(KeyError, match="third"):
        write_parts(two_and_an_error(), tmp_path / "parts")
    assert list(tmp_path.iterdir()) == []
    write_parts(iter(split(quads(3, 1), [0, 1, 2])), tmp_path / "parts", graphs=iter(()))
    assert manifest(tmp_path / "parts")["parts"]["part"] == [0, 1, 2]


def test_graphs_may_be_an_iterator(tmp_path: Path) -> None:
    write_parts(split(quads(3, 1), [0, 1, 2], ghost_layers=1), tmp_path / "parts", graphs=iter(["points"]))
    assert [list(part.graphs) for part in open_parts(tmp_path / "parts")] == [["points edge 1"]] * 3
    assert manifest(tmp_path / "parts")["graphs"] == ["points edge 1"]


@pytest.mark.parametrize("name", ["a.pvtu", "a.parts"])
def test_a_set_that_was_renamed_or_copied_is_let_be_when_its_old_name_is_used_again(name: str, tmp_path: Path) -> None:
    two, three = split(quads(2, 1), [0, 1]), split(quads(3, 1), [0, 1, 2])
    write_parts(two, tmp_path / name)
    (tmp_path / name).rename(tmp_path / f"kept-{name}")
    for path in tmp_path.rglob("*"):
        os.utime(path, (0, 0))
    write_parts(three, tmp_path / name)
    assert manifest(tmp_path / f"kept-{name}")["nparts"] == 2
    assert all(entry["file"].is_file() for entry in entries(tmp_path / f"kept-{name}"))
    if name == "a.pvtu":
        shutil.copy(tmp_path / name, tmp_path / "copy.pvtu")
        write_parts(two, tmp_path / "copy.pvtu", overwrite=True)
        assert all(entry["file"].is_file() for entry in entries(tmp_path / name))


RACE = """if True:
    import sys, time, meshpart
    from meshes import quads
    parts = meshpart.split(quads(2, 1), [0, 1])
    for number in range(30):
        time.sleep(max(0, float(sys.argv[2]) + number * 0.1 - time.time()))
        try:
            meshpart.write_parts(parts, f"{sys.argv[1]}/{number}")
            print(number)
        except meshpart.FormatError:
            pass
"""


def test_of_two_who_write_to_a_new_place_one_succeeds(tmp_path: Path) -> None:
    start = str(time.time() + 3)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", RACE, str(tmp_path), start]
    writers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    done = [int(line) for writer in writers for line in writer.communicate(timeout=60)[0].split()]
    assert sorted(done) == list(range(30))
    for number in range(30):
        assert len(list((tmp_path / str(number)).iterdir())) == 2
