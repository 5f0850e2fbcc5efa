"""The command that draws, run as a user would, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import meshio
import numpy as np
import pytest
from meshes import quads, tets

from meshpart import plot, read, split, write_labels, write_parts


@pytest.fixture
def run(tmp_path):
    """Run `meshpart ARGS` in a folder that has a mesh of 4 x 3 quads and labels; return the finished process."""
    meshio.write(tmp_path / "mesh.vtu", quads(4, 3).to_meshio())
    write_labels(tmp_path / "labels.npy", np.arange(12) // 4)

    def call(*args):
        command = [str(Path(sys.executable).parent / "meshpart"), *map(str, args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


def test_the_command_draws_what_the_function_draws(run, tmp_path):
    labels, mesh = np.arange(12) // 4, read(tmp_path / "mesh.vtu")
    for given, options, told in (
        ([], {}, "12 cells"),
        (["--labels", "labels.npy"], {"labels": labels}, "12 cells in 3 parts"),
        (
            [
                "--labels",
                "labels.npy",
                "--ghosts-of",
                1,
                "--ghost-layers",
                2,
                "--explode",
                0.5,
                "--no-edges",
                "--size",
                "500x400",
            ],
            {"labels": labels, "ghosts_of": 1, "ghost_layers": 2, "explode": 0.5, "edges": False, "size": (500, 400)},
            "12 cells in 3 parts",
        ),
    ):
        done = run("plot", "mesh.vtu", "-o", "picture.png", "--overwrite", *given)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{told}, drawn to picture.png\n", "")
        plot(mesh, tmp_path / "own.png", overwrite=True, **options)
        assert (tmp_path / "picture.png").read_bytes() == (tmp_path / "own.png").read_bytes()


def test_the_command_takes_the_labels_of_written_parts(run, tmp_path):
    mesh = read(tmp_path / "mesh.vtu")
    write_parts(split(mesh, np.arange(12) // 4), tmp_path / "out", format="vtu")
    for labels in ("out", "labels.npy"):
        assert run("plot", "mesh.vtu", "--labels", labels, "-o", f"{labels}.png").returncode == 0
    assert (tmp_path / "out.png").read_bytes() == (tmp_path / "labels.npy.png").read_bytes()


def test_the_command_draws_a_store_of_parts(run, tmp_path):
    parts = split(read(tmp_path / "mesh.vtu"), np.arange(12) // 4, ghost_layers=1)
    write_parts(parts, tmp_path / "out")
    done = run("plot", "out", "-o", "picture.png", "--ghosts-of", 1)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 parts, drawn to picture.png\n", "")
    plot(parts, tmp_path / "own.png", ghosts_of=1)
    assert (tmp_path / "picture.png").read_bytes() == (tmp_path / "own.png").read_bytes()


def test_a_solid_is_drawn_without_a_word_on_stderr(run, tmp_path):
    meshio.write(tmp_path / "solid.vtu", tets(2, 2, 2).to_meshio())
    done = run("plot", "solid.vtu", "-o", "picture.png")
    assert (done.returncode, done.stdout, done.stderr) == (0, "48 cells, drawn to picture.png\n", "")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["mesh.vtu"], "-o"),
        (["mesh.vtu", "-o", "a.bmp"], "a.bmp"),
        (["nothing.vtu", "-o", "a.bmp"], "a.bmp"),
        (["nothing.vtu", "-o", "a.png"], "nothing.vtu"),
        (["mesh.vtu", "-o", "mesh.vtu.png", "--labels", "nothing.npy"], "nothing.npy"),
        (["mesh.vtu", "-o", "a.png", "--ghosts-of", 0], "labels"),
        (["mesh.vtu", "-o", "a.png", "--labels", "labels.npy", "--ghosts-of", 3], "ghosts_of"),
        (["mesh.vtu", "-o", "a.png", "--size", "big"], "--size"),
        (["mesh.vtu", "-o", "a.png", "--size", "50x50"], "size"),
        (["mesh.vtu", "-o", "a.png", "--explode", "-1"], "explode"),
        ([".", "-o", "a.png", "--labels", "labels.npy"], "--labels"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, tmp_path, arguments, named):
    done = run("plot", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.npy", "mesh.vtu"]
