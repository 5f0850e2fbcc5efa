"""The way back on the command line: parts in, one mesh file out."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import meshio
import numpy as np
import pytest
from meshes import QUARTERS, quads

import meshpart
from meshpart import read, split, write, write_parts
from meshpart.manifest import read_manifest

STORES = pytest.mark.skipif(not hasattr(meshpart, "open_parts"), reason="there are no part stores here")


@pytest.fixture
def run(tmp_path):
    """Run `meshpart ARGS` in an empty folder; return the finished process."""

    def call(*args):
        command = [str(Path(sys.executable).parent / "meshpart"), *map(str, args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


@pytest.fixture
def mesh():
    """Return Q(4, 4) with a load on its cells, in three dimensions as .vtu files have them."""
    grid = quads(4, 4)
    points = np.column_stack([grid.points, np.zeros(25)])
    return replace(grid, points=points, cell_data={"load": [np.arange(16.0)]}, point_data={"height": np.arange(25)})


@pytest.fixture
def parts(mesh, tmp_path):
    """Write the quarters of the mesh as .vtu files, with a layer of ghosts; return the name of their folder."""
    write_parts(split(mesh, QUARTERS, ghost_layers=1), tmp_path / "parts", format="vtu")
    return "parts"


def test_a_mesh_that_was_cut_comes_back(run, mesh, tmp_path):
    write(mesh, tmp_path / "mesh.vtu")
    assert run("partition", "mesh.vtu", 3, "-o", "parts", "--format", "vtu", "--ghost-layers", 1).returncode == 0
    done = run("merge", "parts", "-o", "back.vtu")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "16 cells and 25 points of 3 parts merged, written to back.vtu\n"
    assert read(tmp_path / "back.vtu") == mesh


def test_json_is_all_that_stdout_holds(run, parts):
    assert json.loads(run("merge", parts, "-o", "mesh.vtu", "--json").stdout) == {
        "parts": "parts",
        "out": "mesh.vtu",
        "nparts": 4,
        "cells": 16,
        "points": 25,
        "point_data": ["height"],
        "cell_data": ["load"],
    }


def test_what_a_solver_added_comes_along(run, parts, tmp_path):
    for part in range(4):
        file = read_manifest(tmp_path / parts).file(part)
        piece = meshio.read(file)
        piece.point_data["u"] = piece.point_data["GlobalPointIds"] * 2.0
        piece.write(file)
    assert run("merge", parts, "-o", "mesh.xdmf").returncode == 0
    assert read(tmp_path / "mesh.xdmf").point_data["u"].tolist() == [2.0 * point for point in range(25)]


def test_what_the_format_does_not_hold_is_beside_it_and_said(run, parts, tmp_path):
    done = run("merge", parts, "-o", "mesh.inp")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: mesh.inp: point_data 'height' is in the .npz files")
    assert done.stderr.count("\n") == 1
    assert np.load(tmp_path / "mesh.npz")["cell_data/load"].tolist() == list(range(16))


def test_the_format_may_be_named(run, parts, tmp_path):
    assert run("merge", parts, "-o", "mesh.out", "--format", "vtu").returncode == 0
    assert (tmp_path / "mesh.out").read_bytes().startswith(b"<?xml")


def test_a_file_is_replaced_only_when_asked(run, parts, tmp_path):
    (tmp_path / "mesh.vtu").write_text("before")
    refused = run("merge", parts, "-o", "mesh.vtu")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--overwrite" in refused.stderr
    assert (tmp_path / "mesh.vtu").read_text() == "before"
    assert run("merge", parts, "-o", "mesh.vtu", "--overwrite").returncode == 0
    assert read(tmp_path / "mesh.vtu").n_cells == 16


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["merge", "absent", "-o", "mesh.vtu"], "absent"),
        (["merge", ".", "-o", "mesh.vtu"], "no folder of parts"),
        (["merge", "parts"], "--output"),
        (["merge", "parts", "-o", "mesh"], "tells no format"),
        (["merge", "parts", "-o", "mesh.off"], "hold no cells of type quad"),
        (["merge", "parts", "-o", "absent/mesh.vtu"], "there is no folder"),
        (["merge", "parts", "-o", "mesh.vtu", "--format", "magic"], "magic"),
        (["merge", "parts", "-o", "mesh.vtu", "--fields", "u"], "--fields are those of a part store"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2_and_leaves_nothing(run, parts, tmp_path, arguments, named):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_missing_part_is_named(run, parts, tmp_path):
    read_manifest(tmp_path / parts).file(2).unlink()
    done = run("merge", parts, "-o", "mesh.vtu")
    assert done.returncode == 2
    assert "part-00002.vtu: No such file" in done.stderr


def test_the_command_is_in_the_help(run):
    assert "merge" in run("--help").stdout
    assert "--fields" in run("merge", "--help").stdout


@STORES
def test_a_store_gives_the_mesh_back_exactly(run, mesh, tmp_path):
    write_parts(split(mesh, QUARTERS, ghost_layers=1), tmp_path / "store")
    assert run("merge", "store", "-o", "mesh.vtu").returncode == 0
    assert read(tmp_path / "mesh.vtu") == mesh


@STORES
def test_fields_of_a_store_come_along_and_of_several_names_each_under_its_own(run, mesh, tmp_path):
    cut = split(mesh, QUARTERS, ghost_layers=1)
    write_parts(cut, tmp_path / "store")
    store = meshpart.open_parts(tmp_path / "store")
    for part in cut:
        for name, factor in (("first", 1.0), ("second", 2.0)):
            fields = {
                "points": {"u": factor * part.points.global_ids},
                "cells": {"f": factor * part.cells.global_ids[: part.cells.n_owned]},
            }
            store.write_fields(name, fields, part.part)
    assert run("merge", "store", "-o", "one.vtu", "--fields", "first").returncode == 0
    one = read(tmp_path / "one.vtu")
    assert (one.point_data["u"].tolist(), one.cell_data["f"][0].tolist()) == (list(range(25)), list(range(16)))
    assert run("merge", "store", "-o", "two.vtu", "--fields", "first", "--fields", "second").returncode == 0
    two = read(tmp_path / "two.vtu")
    assert sorted(two.point_data) == ["first/u", "height", "second/u"]
    assert two.cell_data["second/f"][0].tolist() == [2.0 * cell for cell in range(16)]


@STORES
def test_fields_that_some_parts_lack_or_that_are_asked_for_twice_are_named(run, mesh, tmp_path):
    cut = split(mesh, QUARTERS)
    write_parts(cut, tmp_path / "store")
    store = meshpart.open_parts(tmp_path / "store")
    for part in cut:
        cells = {"c": np.zeros(part.cells.n_owned)} if part.part != 1 else {}
        store.write_fields("step 1", {"cells": cells}, part.part)
    done = run("merge", "store", "-o", "one.vtu", "--fields", "step 1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "fields 'step 1': part 1 has no cells 'c', part 0 has it" in done.stderr
    done = run("merge", "store", "-o", "one.vtu", "--fields", "step 1", "--fields", "step 1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--fields 'step 1' is given twice" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


@STORES
def test_a_store_without_some_of_the_parts_is_refused(run, mesh, tmp_path):
    write_parts(split(mesh, QUARTERS, only=[0, 3]), tmp_path / "store")
    done = run("merge", "store", "-o", "one.vtu")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "store has 2 of 4 parts, the first that it lacks is part 1" in done.stderr
