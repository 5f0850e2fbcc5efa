"""`meshpart compare`, run as a user would: its table, JSON, Markdown and picture, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib.image
import meshio
import numpy as np
import pytest
from meshes import quads
from processes import children, descendants, is_gone, name, waited

from meshpart.compare import USUAL
from meshpart.methods import METHODS

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SCRIPT = str(Path(sys.executable).parent / "meshpart")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `meshpart compare ARGS` in a folder with a row of six quads; return the finished process."""
    mesh = quads(6, 1).to_meshio()
    mesh.cell_data["load"] = [np.array([5.0, 1, 1, 1, 1, 1])]
    meshio.write(tmp_path / "row.vtu", mesh)

    def call(*args: object) -> subprocess.CompletedProcess[str]:
        command = [SCRIPT, "compare", *map(str, args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


def no_constant(text: str) -> None:
    raise AssertionError(f"{text} is not JSON")


def test_the_table_has_a_row_for_each_method_and_number_of_parts(run: Run) -> None:
    done = run("row.vtu", 2, 3, "--methods", "sfc,kahip:fast")
    assert (done.returncode, done.stderr) == (0, "")
    first, head, *rows, note = done.stdout.splitlines()
    assert first == "6 cells and 14 points"
    assert head.split()[:4] == ["parts", "method", "edge", "cut"]
    assert [row.split()[:3] for row in rows] == [
        ["2", "sfc", "1*"],
        ["2", "kahip:fast", "1*"],
        ["3", "sfc", "2*"],
        ["3", "kahip:fast", "2*"],
    ]
    assert note == "* the least of repaired labels into as many parts"


def test_options_reach_the_methods(run: Run) -> None:
    done = run("row.vtu", 2, "--methods", "sfc", "--methods", "kahip:fast", "--weights", "load", "--json", "--seed", 3)
    assert [entry["imbalance"] for entry in json.loads(done.stdout)["runs"]][::2] == [0, 0]  # 5 and 1 + 1 + 1 + 1 + 1


def test_json_is_all_that_stdout_holds_and_strict(run: Run) -> None:
    done = run("row.vtu", 2, "--methods", "sfc", "--json")
    result = json.loads(done.stdout, parse_constant=no_constant)
    assert (result["mesh"], result["cells"], result["points"]) == ("row.vtu", 6, 14)
    assert [(entry["method"], entry["repaired"], entry["edge_cut"]) for entry in result["runs"]] == [
        ("sfc", False, 1),
        ("sfc", True, 1),
    ]


def test_markdown_raw_labels_and_a_picture(run: Run, tmp_path: Path) -> None:
    done = run("row.vtu", 2, "--methods", "sfc", "--raw", "--markdown", "--plot", "cut.png")
    assert done.returncode == 0
    rows = [line.split(" | ")[:3] for line in done.stdout.splitlines()]
    assert rows == [
        ["| parts", "method", "edge cut"],
        ["| --:", ":--", "--:"],
        ["| 2", "sfc, raw", "1"],
        ["| 2", "sfc", "1"],
    ]
    assert matplotlib.image.imread(tmp_path / "cut.png").std() > 0
    again = run("row.vtu", 2, "--methods", "sfc", "--plot", "cut.png")
    assert (again.returncode, again.stdout) == (2, "")
    assert "--overwrite" in again.stderr
    assert run("row.vtu", 2, "--methods", "sfc", "--plot", "cut.png", "--overwrite").returncode == 0


def test_what_is_not_installed_is_named_in_one_line(run: Run) -> None:
    missing = [method.name for method in METHODS.values() if not method.is_installed]
    done = run("row.vtu", 2, "--json")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["missing"] == missing
    assert {entry["method"].split(":")[0] for entry in result["runs"]} == {
        name.split(":")[0] for name in USUAL if name not in missing
    }
    expected = f"not installed, and left out: {', '.join(missing)}; pip install 'meshpart[peers]'\n" if missing else ""
    assert done.stderr == expected


def test_a_row_that_failed_says_why_and_all_of_them_are_exit_code_1(run: Run) -> None:
    done = run("row.vtu", 2, 3, "--methods", "sfc", "--time-limit", 0.001)
    assert done.returncode == 1
    assert done.stderr == "warning: 2 of 2 failed: sfc into 2, sfc into 3\n"
    rows = done.stdout.splitlines()[2:]
    assert [row.split()[:2] for row in rows] == [["2", "sfc"], ["3", "sfc"]]
    assert all(row.endswith("  failed: took longer than 0.001 s") for row in rows)


def test_one_row_that_failed_leaves_exit_code_0(run: Run, tmp_path: Path) -> None:
    points = quads(6, 1).points.copy()
    points[0, 0] = np.nan
    meshio.write(tmp_path / "nan.vtu", meshio.Mesh(np.pad(points, ((0, 0), (0, 1))), quads(6, 1).to_meshio().cells))
    done = run("nan.vtu", 2, "--methods", "sfc,kahip:fast")
    assert (done.returncode, done.stderr) == (0, "warning: 1 of 2 failed: sfc into 2\n")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("row.vtu",), "NPARTS"),
        (("row.vtu", 0), "nparts must be between 1"),
        (("row.vtu", 2, 2), "nparts: 2 is there twice"),
        (("row.vtu", 7), "nparts is 7, more than"),
        (("row.vtu", 2, "--methods", "nobody"), "method must be one of"),
        (("row.vtu", 2, "--methods", "sfc,"), "method must be one of"),
        (("row.vtu", 2, "--methods", "kahip:slow"), "mode must be one of"),
        (("row.vtu", 2, "--time-limit", 0), "time_limit must be a finite number above 0"),
        (("row.vtu", 2, "--imbalance", -1), "imbalance must be finite"),
        (("row.vtu", 2, "--plot", "cut.gif"), "pictures are .png, .pdf or .svg"),
        (("row.vtu", 2, "--json", "--markdown"), "give one of them"),
        (("none.vtu", 2), "none.vtu"),
    ],
    ids=str,
)
def test_bad_input_is_one_line_and_exit_code_2(run: Run, args: tuple[object, ...], told: str) -> None:
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


# -- how it ends --------------------------------------------------------------------------------------------


@contextmanager
def comparing(folder: Path, method: str) -> Iterator[subprocess.Popen[str]]:
    """Compare one method on many quads; gives the process while it runs."""
    mesh = quads(300, 300).to_meshio()
    mesh.points = np.pad(mesh.points, ((0, 0), (0, 1)))
    meshio.write(folder / "many.vtu", mesh)
    command = [SCRIPT, "compare", "many.vtu", "64", "--methods", method]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def helper_of(process: int) -> int:
    """Return KaHIP's helper, which is a child of the process that measures."""
    found = waited(lambda: [child for child in descendants(process) if name(child) == "kahip_helper"])
    assert len(found) == 1
    return int(found[0])


def peer_of(process: int) -> int:
    """Return the process of a peer, once that is loaded, and stop it there: it does not end by itself."""

    def loaded() -> list[int]:
        return [child for child in descendants(process) if "pymetis/_internal" in maps(child) and not children(child)]

    found = waited(loaded)
    assert len(found) == 1
    os.kill(found[0], signal.SIGSTOP)
    return int(found[0])


def maps(process: int) -> str:
    try:
        return Path(f"/proc/{process}/maps").read_text()
    except (OSError, UnicodeDecodeError):
        return ""


ENDED = [(signal.SIGINT, 130, "\ninterrupted\n"), (signal.SIGTERM, 143, "terminated\n"), (signal.SIGKILL, -9, "")]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("signal_number", "code", "said"), ENDED, ids=["ctrl-c", "terminate", "kill"])
@pytest.mark.parametrize("method", ["kahip:strong", "metis"])
def test_whatever_ends_it_ends_all_that_it_has_started(
    tmp_path: Path, method: str, signal_number: int, code: int, said: str
) -> None:
    if method == "metis":
        pytest.importorskip("pymetis", reason="needs the peer pymetis")
    with comparing(tmp_path, method) as process:
        last = helper_of(process.pid) if method.startswith("kahip") else peer_of(process.pid)
        everything = descendants(process.pid)
        assert len(everything) >= 2
        assert last in everything
        assert not is_gone(last)
        process.send_signal(signal_number)
        assert process.communicate(timeout=60) == ("", said)
        assert process.returncode == code
        assert waited(lambda: all(map(is_gone, everything)))
