"""The command line, run as a user would, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import meshio
import numpy as np
import pytest
from meshes import quads, quads_with_lines

from meshpart import (
    merge,
    open_parts,
    partition,
    partition_labels,
    quality,
    read,
    read_labels,
    write_labels,
    write_parts,
)

EXAMPLE = Path(__file__).parent.parent / "examples" / "bracket.msh"


@pytest.fixture
def run(tmp_path):
    """Run `meshpart ARGS` in an empty folder; return the finished process."""

    def call(*args, **options):
        command = [str(Path(sys.executable).parent / "meshpart"), *map(str, args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, **options)

    return call


@pytest.fixture
def mesh_path(tmp_path):
    """Four quads in a row with a load and two overlapping sets, in a file."""
    mesh = quads(4, 1).to_meshio()
    mesh.cell_data["load"] = [np.array([3.0, 1.0, 1.0, 1.0])]
    mesh.cell_data["column"] = [np.array([0, 1, 1, 0])]
    meshio.write(tmp_path / "row.vtu", mesh)
    return tmp_path / "row.vtu"


def test_partition_writes_one_file_for_each_part_and_a_manifest(run, mesh_path, tmp_path):
    done = run("partition", mesh_path, 2, "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "written to out" in done.stdout
    index, folder = sorted((tmp_path / "out").iterdir())
    assert index.name == "manifest.json"
    assert sorted(path.name for path in folder.iterdir()) == ["part-00000.safetensors", "part-00001.safetensors"]
    parts = open_parts(tmp_path / "out")
    assert merge(parts) == read(mesh_path)
    judged = json.loads(run("quality", mesh_path, "out", "--json").stdout)
    assert judged.items() >= parts.manifest["quality"].items()


def test_parts_have_ghost_layers_where_asked_for(run, mesh_path, tmp_path):
    # four quads in a row, 0 0 1 1: each part has one ghost, and two of the other's points
    done = run("partition", mesh_path, 2, "--ghost-layers", 1, "-o", "out")
    assert done.stdout.endswith("cut by kahip (eco), 1 ghost layer, written to out\n")
    columns = open_parts(tmp_path / "out").manifest["parts"]
    assert [columns[name] for name in ("owned_cells", "ghost_cells", "ghost_points")] == [[2, 2], [1, 1], [2, 4]]
    assert run("quality", mesh_path, "out").stdout.startswith(
        "4 cells and 10 points in 2 parts\nedge cut              1\n"
    )
    refused = run("partition", mesh_path, 2, "--ghost-layers", -1, "-o", "other")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--ghost-layers" in refused.stderr


def test_json_is_all_that_stdout_holds(run, mesh_path):
    result = json.loads(run("partition", mesh_path, 2, "-o", "out", "--json").stdout)
    assert (result["method"], result["nparts"], result["cells"]) == ("kahip", 2, 4)
    assert [part["cells"] for part in result["parts"]] == [2, 2]
    assert sum(part["points"] for part in result["parts"]) == 10
    assert (result["edge_cut"], result["imbalance"], result["within_bound"]) == (1, 0.0, True)


def test_weights_come_from_an_array_or_by_type(run, mesh_path):
    by_name = json.loads(run("partition", mesh_path, 2, "-o", "a", "--weights", "load", "--json").stdout)
    assert sorted(part["cells"] for part in by_name["parts"]) == [1, 3]  # 3 and 1 + 1 + 1
    by_type = json.loads(run("partition", mesh_path, 2, "-o", "b", "--weights", "quad=7", "--json").stdout)
    assert [part["cells"] for part in by_type["parts"]] == [2, 2]


def test_groups_are_kept_together(run, mesh_path, tmp_path):
    assert run("partition", mesh_path, 2, "-o", "out", "--keep-together", "column").returncode == 0
    assert {frozenset(part.cells.global_ids.tolist()) for part in open_parts(tmp_path / "out")} == {
        frozenset({0, 3}),
        frozenset({1, 2}),
    }


def test_a_warning_is_one_line_on_stderr(run, mesh_path):
    done = run("partition", mesh_path, 3, "-o", "out", "--weights", "load")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: part ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["absent.vtu", "2"], "absent.vtu"),
        (["MESH", "0"], "nparts"),
        (["MESH", "-1"], ""),
        (["MESH", "2.5"], "2.5"),
        (["MESH", "5"], "5"),
        (["MESH", "2", "--method", "magic"], "magic"),
        (["MESH", "2", "--imbalance", "-1"], "imbalance"),
        (["MESH", "2", "--imbalance", "nan"], "imbalance"),
        (["MESH", "2", "--seed", "0.5"], "0.5"),
        (["MESH", "2", "--threads", "0"], "threads"),
        (["MESH", "2", "--weights", "nothing"], "nothing"),
        (["MESH", "2", "--weights", "quad=much"], "much"),
        (["MESH", "2", "--weights", "load", "--weights", "quad=1"], "--weights"),
        (["MESH", "2", "--weights", "load", "--weights", "column"], "--weights"),
        (["MESH", "2", "--keep-together", "nothing"], "nothing"),
        (["MESH", "2", "--format", "nothing"], "nothing"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2_and_leaves_nothing(run, mesh_path, tmp_path, arguments, named):
    done = run("partition", *(mesh_path if a == "MESH" else a for a in arguments), "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["row.vtu"]


# -- labels and quality -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["l.npy", "l.txt", "l.epart"])
def test_labels_are_written_to_a_file_and_judged(run, mesh_path, tmp_path, name):
    done = run("labels", mesh_path, 2, "-o", name, "--weights", "load")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("4 cells and 10 points in 2 parts\nedge cut              1\n")
    assert done.stdout.endswith(f"written to {name}\n")
    labels = read_labels(tmp_path / name).tolist()
    assert labels == partition_labels(read(mesh_path), 2, weights="load").tolist()
    told = json.loads(run("quality", mesh_path, name, "--weights", "load", "--json").stdout)
    assert [part["weight"] for part in told["parts"]] == [3.0, 3.0]
    assert told == {
        "mesh": str(mesh_path),
        "labels": name,
        **quality(read(mesh_path), labels, weights="load").to_dict(),
    }


def test_labels_say_in_json_what_quality_says(run, mesh_path):
    told = json.loads(run("labels", mesh_path, 2, "-o", "l.npy", "--json").stdout)
    assert (told["mesh"], told["out"], told["edge_cut"]) == (str(mesh_path), "l.npy", 1)
    assert [part["cells"] for part in told["parts"]] == [2, 2]


def test_balance_is_judged_by_what_is_asked(run, mesh_path, tmp_path):
    write_labels(tmp_path / "l.txt", [0, 1, 1, 1])

    def told(*options):
        return json.loads(run("quality", mesh_path, "l.txt", "--json", *options).stdout)

    assert (told()["imbalance"], told()["within_bound"], told()["bound"]) == (0.5, False, 2.06)
    assert (told("--imbalance", 0.5)["within_bound"], told("--imbalance", 0.5)["bound"]) == (True, 3.0)
    assert told("--weights", "load")["imbalance"] == 0.0
    assert told("--imbalance", 0)["guarantee"] == 2.5
    assert told("--imbalance", 0, "--keep-together", "column")["guarantee"] == 3.0
    assert told("--nparts", 3)["nparts"] == 3
    text = run("quality", mesh_path, "l.txt").stdout
    assert "heaviest part         3, above the bound of 2.06" in text


def test_given_labels_are_taken_literally(run, mesh_path, tmp_path):
    write_labels(tmp_path / "l.epart", [1, 0, 1, 1])
    done = run("partition", mesh_path, 3, "--labels", "l.epart", "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("cut along l.epart, written to out\n")
    told = open_parts(tmp_path / "out").manifest
    assert (told["method"], told["parts"]["owned_cells"]) == ("labels", [1, 3, 0])
    assert run("labels", mesh_path, 2, "--labels", "l.epart", "-o", "l.npy").returncode == 0
    assert read_labels(tmp_path / "l.npy").tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("form", ["store", "vtu", "inp", "msh"])
def test_a_folder_of_parts_gives_its_labels_back(run, tmp_path, form):
    meshio.write(tmp_path / "m.vtu", quads_with_lines(6, 4).to_meshio())
    assert run("partition", "m.vtu", 3, "-o", "out", "--format", form).returncode == 0
    written, judged = (
        json.loads(run(*line, "--json").stdout)
        for line in (["labels", "m.vtu", 3, "-o", "l.npy"], ["quality", "m.vtu", "out"])
    )
    assert (judged["edge_cut"], judged["parts"]) == (written["edge_cut"], written["parts"])
    assert run("labels", "m.vtu", 3, "--labels", "out", "-o", "again.npy").returncode == 0
    assert (tmp_path / "again.npy").read_bytes() == (tmp_path / "l.npy").read_bytes()


def test_a_folder_is_judged_by_the_balance_it_was_made_with(run, mesh_path):
    made = run("partition", mesh_path, 2, "-o", "out", "--weights", "load", "--imbalance", "0", "--json")
    judged = json.loads(run("quality", mesh_path, "out", "--json").stdout)
    assert judged["parts"] == json.loads(made.stdout)["parts"]
    assert [part["weight"] for part in judged["parts"]] == [3, 3]
    assert (judged["bound"], judged["within_bound"]) == (3, True)
    otherwise = json.loads(run("quality", mesh_path, "out", "--weights", "quad=2", "--json").stdout)
    assert sorted(part["weight"] for part in otherwise["parts"]) == [2, 6]


def test_weights_that_a_folder_does_not_hold_are_missed_aloud(run, mesh_path, tmp_path):
    mesh = read(mesh_path)
    write_parts(partition(mesh, 2, weights=[3, 1, 1, 1]), tmp_path / "out", format="vtu")
    done = run("quality", mesh_path, "out")
    assert done.returncode == 0
    assert done.stderr == ("warning: out was made with weights from an array, which it does not hold: judged without\n")
    assert run("quality", mesh_path, "out", "--weights", "load").stderr == ""


@pytest.mark.parametrize("command", [["partition", "-o", "out"], ["labels", "-o", "out.npy"]])
@pytest.mark.parametrize(
    "option",
    [
        ["--method", "auto"],
        ["--seed", "0"],
        ["--imbalance", "0.03"],
        ["--weights", "load"],
        ["--keep-together", "column"],
        ["--allow-empty"],
        ["--mode", "eco"],
        ["--edge-weights", "points"],
        ["--no-repair"],
    ],
)
def test_given_labels_and_a_method_contradict_each_other(run, mesh_path, tmp_path, command, option):
    write_labels(tmp_path / "l.txt", [0, 1, 1, 1])
    done = run(*command, mesh_path, 2, "--labels", "l.txt", *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: --labels takes labels as they are, so {option[0]} has nothing to say there\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.txt", "row.vtu"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["labels", "MESH", "2", "-o", "l.csv"], "label files are .npy, .txt or .epart"),
        (["labels", "MESH", "2", "-o", "absent/l.npy"], "there is no folder"),
        (["labels", "MESH", "2", "-o", "labels.txt"], "--overwrite"),
        (["labels", "MESH", "5", "-o", "l.npy"], "more than the number of cells"),
        (["labels", "MESH", "1", "--labels", "labels.txt", "-o", "l.npy"], "cell 1 has 1, outside 0..0"),
        (["labels", "MESH", "2", "--labels", "junk.txt", "-o", "l.npy"], "junk.txt, line 2: 'b' is no integer"),
        (["partition", "MESH", "2", "--labels", "short.txt", "-o", "out"], "labels must have the shape (4,), got (1,)"),
        (["partition", "MESH", "2", "--labels", "absent.txt", "-o", "out"], "absent.txt: No such file or directory"),
        (["quality", "MESH", "absent.npy"], "absent.npy: No such file or directory"),
        (["quality", "MESH", "row.vtu"], "label files are .npy, .txt or .epart"),
        (["quality", "MESH", "."], "is no folder of parts"),
        (["quality", "MESH", "labels.txt", "--nparts", "1"], "cell 1 has 1, outside 0..0"),
        (["quality", "MESH", "labels.txt", "--weights", "nothing"], "nothing"),
        (["quality", "MESH", "labels.txt", "--imbalance", "-1"], "imbalance"),
        (["quality", "MESH", "labels.txt", "--seed", "1"], "--seed"),
        (["quality", "absent.vtu", "labels.txt"], "absent.vtu"),
    ],
)
def test_bad_labels_are_one_line_and_exit_code_2_and_leave_nothing(run, mesh_path, tmp_path, arguments, named):
    for name, text in (("labels.txt", "0\n1\n1\n1\n"), ("junk.txt", "0\nb\n"), ("short.txt", "0\n")):
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.iterdir())
    done = run(*(mesh_path if a == "MESH" else a for a in arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "labels.txt").read_text() == "0\n1\n1\n1\n"


def test_a_label_file_is_replaced_only_when_asked(run, mesh_path, tmp_path):
    write_labels(tmp_path / "l.txt", [0] * 4)
    assert run("labels", mesh_path, 2, "-o", "l.txt").returncode == 2
    assert read_labels(tmp_path / "l.txt").tolist() == [0] * 4
    assert run("labels", mesh_path, 2, "-o", "l.txt", "--overwrite").returncode == 0
    assert sorted(read_labels(tmp_path / "l.txt").tolist()) == [0, 0, 1, 1]


# -- what goes wrong ----------------------------------------------------------------------------------------


def test_an_unreadable_file_is_named(run, tmp_path):
    (tmp_path / "broken.vtu").write_text("this is no mesh")
    done = run("info", "broken.vtu")
    assert (done.returncode, done.stdout) == (2, "")
    assert "broken.vtu" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_existing_folder_is_replaced_only_when_asked(run, mesh_path, tmp_path):
    assert run("partition", mesh_path, 4, "-o", "out").returncode == 0
    refused = run("partition", mesh_path, 2, "-o", "out")
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert len(list((tmp_path / "out").rglob("part-*"))) == 4
    assert run("partition", mesh_path, 2, "-o", "out", "--overwrite").returncode == 0
    assert len(list((tmp_path / "out").rglob("part-*"))) == 2


def test_info_says_what_is_in_a_mesh(run):
    facts = json.loads(run("info", EXAMPLE, "--json").stdout)
    assert facts["dimension"] == 3
    assert facts["kinds"]["free"] == 0
    assert facts["kinds"]["top"] + facts["kinds"]["attached"] == facts["cells"] > 40_000
    assert {"bracket", "boss", "base", "bore"} <= set(facts["cell_sets"])
    text = run("info", EXAMPLE).stdout
    assert f"{facts['kinds']['top']} of dimension 3" in text


def test_help_and_version(run):
    told = run("--help").stdout
    assert all(command in told for command in ("partition", "labels", "quality", "info"))
    assert run("--version").stdout.startswith("meshpart, version")


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    command = [str(Path(sys.executable).parent / "meshpart"), "partition", str(EXAMPLE), "2000", "-o", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not any(tmp_path.iterdir()) and process.poll() is None:  # until it begins to write
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_sigterm_leaves_nothing_behind(tmp_path):
    command = [str(Path(sys.executable).parent / "meshpart"), "partition", str(EXAMPLE), "2000", "-o", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not any(tmp_path.iterdir()) and process.poll() is None:  # until it begins to write
            time.sleep(0.01)
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, "", "terminated\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["partition", "row.vtu", "2"], "--output"),
        (["partition", "row.vtu", "-3", "-o", "out"], "-3"),
        (
            ["partition", "row.vtu", "2", "-o", "out", "--weights", "quad=1", "--weights", "quad=2"],
            "quad is given twice",
        ),
        (["cut"], "'cut'"),
        ([], "Missing command"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(run, mesh_path, arguments, said):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def shell(line, folder, **environment):
    """Run a line of shell in which meshpart is the command of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **environment}
    return subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="the shell is that of POSIX")
def test_commands_work_without_a_stderr(mesh_path, tmp_path):
    done = shell("meshpart partition row.vtu 3 -o out --weights load 2>&-", tmp_path)  # which warns
    assert (done.returncode, b"written to out" in done.stdout) == (0, True)
    assert shell("meshpart info absent.vtu 2>&-", tmp_path).returncode == 2
    assert shell("meshpart info row.vtu >&- 2>&- <&-", tmp_path).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("command", ["info row.vtu", "info row.vtu --json", "--help", "--version"])
def test_a_stdout_that_takes_nothing_is_one_line_and_exit_code_2(mesh_path, tmp_path, command):
    done = shell(f"meshpart {command} > /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr == b"error: cannot print the result: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="the shell is that of POSIX")
def test_what_an_encoding_lacks_is_escaped(tmp_path):
    mesh = quads(1, 1).to_meshio()
    mesh.point_data["Größe Ω"] = np.zeros(4)
    meshio.write(tmp_path / "m.vtu", mesh)
    done = shell("meshpart info m.vtu", tmp_path, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Größe \\u03a9: float64" in done.stdout.decode("latin-1")


def test_control_characters_in_names_do_not_reach_the_terminal(run, tmp_path):
    path = tmp_path / "m\x1b[31m.su2"
    path.write_text(
        "NDIME= 2\nNELEM= 1\n5 0 1 2\nNPOIN= 3\n0 0\n1 0\n0 1\nNMARK= 1\nMARKER_TAG= w\nMARKER_ELEMS= 1\n3 0 1\n"
    )
    done = run("info", path)  # meshio says something of the name w
    assert done.returncode == 0
    assert "\\x1b[31m" in done.stdout
    assert "\\x1b[31m" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
