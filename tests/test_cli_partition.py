"""`meshpart partition`: what it writes where, in which format, for one number of parts and for several."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import quads_with_lines
from part_folders import entries, files_of

from meshpart import local_graph, open_parts, partition, read, write_labels

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `meshpart partition ARGS` in a folder with m.vtu, 24 quads and their outer lines."""
    quads_with_lines(6, 4).to_meshio().write(tmp_path / "m.vtu")

    def call(*args: Any) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).parent / "meshpart"), "partition", *map(str, args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


def test_a_store_is_written_unless_something_else_is_asked_for(run: Run, tmp_path: Path) -> None:
    done = run("m.vtu", 3, "--ghost-layers", 1, "-o", "out.parts")
    assert (done.returncode, done.stderr) == (0, "")
    store = open_parts(tmp_path / "out.parts")
    assert list(store) == partition(read(tmp_path / "m.vtu"), 3, ghost_layers=1)
    assert (store.manifest["format"], store.manifest["method"], store.manifest["mode"]) == ("store", "kahip", "eco")
    assert store.manifest["mesh"] == read(tmp_path / "m.vtu").fingerprint


def test_the_suffix_or_an_option_says_otherwise(run: Run, tmp_path: Path) -> None:
    assert run("m.vtu", 3, "-o", "out.pvtu").returncode == 0
    assert [entry["file"].suffix for entry in entries(tmp_path / "out.pvtu")] == [".vtu"] * 3
    assert run("m.vtu", 3, "-o", "out", "--format", "xdmf").returncode == 0
    assert sum(len(block) for _, mesh, _ in files_of(tmp_path / "out") for block in mesh.cells) == 44
    for line in (["-o", "other", "--format", "pvtu"], ["-o", "other.pvtu", "--format", "store"]):
        refused = run("m.vtu", 3, *line)
        assert refused.returncode == 2
        assert "end in .pvtu" in refused.stderr


def test_several_numbers_of_parts_are_cut_in_one_go(run: Run, tmp_path: Path) -> None:
    done = run("m.vtu", 2, 3, 8, "-o", "out", "--method", "sfc")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["2.parts", "3.parts", "8.parts"]
    mesh = read(tmp_path / "m.vtu")
    for nparts in (2, 3, 8):
        assert list(open_parts(tmp_path / "out" / f"{nparts}.parts")) == partition(mesh, nparts, method="sfc")
        assert f"44 cells and 35 points in {nparts} parts" in done.stdout
        assert f"written to out/{nparts}.parts\n" in done.stdout


def test_several_numbers_of_parts_can_be_any_kind_of_files_and_are_told_in_json(run: Run, tmp_path: Path) -> None:
    told = json.loads(run("m.vtu", 2, 3, "-o", "out", "--format", "pvtu", "--json").stdout)
    assert [(found["nparts"], found["out"]) for found in told["decompositions"]] == [
        (2, "out/2.pvtu"),
        (3, "out/3.pvtu"),
    ]
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_file()} == {"2.pvtu", "3.pvtu"}


def test_more_numbers_can_be_added_and_none_is_cut_before_all_places_are_free(run: Run, tmp_path: Path) -> None:
    assert run("m.vtu", 2, 3, "-o", "out").returncode == 0
    assert run("m.vtu", 4, 5, "-o", "out").returncode == 0
    refused = run("m.vtu", 6, 3, "-o", "out")
    assert refused.returncode == 2
    assert "3.parts is there already" in refused.stderr
    assert not (tmp_path / "out" / "6.parts").exists()
    assert run("m.vtu", 6, 3, "-o", "out", "--overwrite").returncode == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["2", "2"], "each number of parts is cut once, got 2, 2"),
        (["2", "3", "--labels", "l.txt"], "--labels are for one number of parts, got 2, 3"),
        (["2", "0"], "nparts"),
        (["100", "2"], "more than the number of cells"),
        (["2", "100"], "more than the number of cells"),
        (["2", "--format", "magic"], "magic"),
        (["2", "--graphs", "cells"], "--graphs cells needs --ghost-layers 1 or more"),
        (["2", "--graphs", "points", "--format", "vtu"], "graphs are kept in a part store only"),
        (["2", "--graphs", "edges"], "edges"),
        ([], "NPARTS"),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(run: Run, tmp_path: Path, line: list[str], said: str) -> None:
    write_labels(tmp_path / "l.txt", np.zeros(44, int))
    done = run("m.vtu", *line, "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_several_numbers_need_a_folder(run: Run, tmp_path: Path) -> None:
    refused = run("m.vtu", 2, 3, "-o", "out.pvtu")
    assert refused.returncode == 2
    assert "with several NPARTS OUT is a folder: --format pvtu -o out for .pvtu files" in refused.stderr
    assert run("m.vtu", 2, 3, "-o", "out", "--format", ".PVTU").returncode == 0
    assert (tmp_path / "out" / "3.pvtu").is_file()


def test_graphs_are_stored_with_the_parts(run: Run, tmp_path: Path) -> None:
    done = run("m.vtu", 3, "--ghost-layers", 1, "--graphs", "points", "--graphs", "cells", "-o", "out")
    assert done.returncode == 0
    expected = partition(read(tmp_path / "m.vtu"), 3, ghost_layers=1, graphs=["points", "cells"])
    for part, other in zip(open_parts(tmp_path / "out"), expected, strict=True):
        assert list(part.graphs) == ["points edge 1", "cells facet 1"]
        for entity in ("points", "cells"):
            assert local_graph(part, entity) == local_graph(other, entity)
            assert local_graph(part, entity) is local_graph(part, entity)
