"""The benchmark of speed: a row for every kernel and rival, whatever a rival does, and marks on what grows too fast."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import growth
import numpy as np
import pytest
from processes import is_gone, waited

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks read memory from Linux's /proc")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)


def tables(text: str) -> dict[str, list[dict[str, str]]]:
    """Return the rows of each Markdown table by the first words above it, each a dict by head."""
    found = {}
    for title, body in re.findall(r"\*\*([^*\n]+)\*\*[^\n]*\n\n((?:\|.*\n)+)", text + "\n"):
        heads, _, *rows = (re.split(r" *\| *", line)[1:-1] for line in body.splitlines())
        found[title] = [dict(zip(heads, row, strict=True)) for row in rows]
    return found


# -- a whole run --------------------------------------------------------------------------------------------

LISTED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from kernels import TABLE
ways = [(kernel.name, way) for kernel in TABLE for way in (kernel.way, *kernel.rivals)]
print(json.dumps([(name, way.by, way.find is not None) for name, way in ways if not way.missing]))
"""


def test_every_kernel_and_every_installed_rival_has_a_row_and_rivals_find_the_same(tmp_path: Path) -> None:
    listed = json.loads(run("-c", LISTED, BENCHMARKS).stdout)
    assert len({kernel for kernel, *_ in listed}) > 20
    figures = tmp_path / "figures.json"
    script = BENCHMARKS / "speed.py"
    done = run(script, "--quick", "--cells", "1000", "--rounds", "1", "--tables", "rivals", "--json", figures)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {(row["kernel"], row["by"]): row for row in tables(done.stdout)["Beside rivals"]}
    assert sorted(rows) == sorted((kernel, by) for kernel, by, _ in listed)
    for kernel, by, compares in listed:
        row = rows[kernel, by]
        assert re.fullmatch(r"[\d.]+ \([\d.]+-[\d.]+\) (s|ms|µs)", row["first call"]), row
        if by != "meshpart":
            assert float(row["first: ours / theirs"].strip("*")) > 0
            assert row["result"] == ("the same" if compares else "not compared"), row
    told = json.loads(figures.read_text())
    assert {(entry["kernel"], entry["by"]) for entry in told["runs"]} == set(rows)
    assert all(len(entry["taken"]["seconds"]) >= 1 for entry in told["runs"])


def test_growth_is_told_over_cells_parts_layers_threads_and_shapes() -> None:
    script = BENCHMARKS / "speed.py"
    grown = ("cells", "parts", "layers", "threads", "shapes")
    done = run(script, "--quick", "--cells", "1000", "--only", "one ghost layer", "--tables", *grown)
    assert done.returncode == 0, done.stdout + done.stderr
    found = tables(done.stdout)
    beginnings = ["By cells", "By parts", "By ghost layers", "By threads", "Fan", "Strip", "Polygons", "Tets with"]
    for beginning in (*beginnings, "0.0001 M tets in many blocks", "0.0001 M tets in many sets"):
        rows = next(rows for title, rows in found.items() if title.startswith(beginning))
        assert [row["kernel"] for row in rows] == ["one ghost layer"]
        costs = list(rows[0].values())[1 : -1 if beginning == "By threads" else -2]
        assert all(re.fullmatch(r"[\d.]+ (s|ms|µs), \d+ MiB", cost) for cost in costs), rows


# -- rivals that fail ---------------------------------------------------------------------------------------

INJECTED = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, {benchmarks!r})
import kernels, speed
from ours import Job


def answers(case):
    return Job(lambda: 42)

def agrees(case):
    return Job(lambda: 42)

def crashes(case):
    return Job(os.abort)

def hangs(case):
    Path(__file__).with_name("pid").write_text(str(os.getpid()))
    return Job(lambda: time.sleep(1000))

def raises(case):
    return Job(lambda: [][3])

def errs(case):
    return Job(lambda: 43)

def itself(case, result):
    return result

ways = (answers, agrees, crashes, hangs, raises, errs)
ways = {{way.__name__: kernels.Way(way.__name__, way, itself) for way in ways}}
needy = kernels.Way("needy", answers, itself, ("no_such_module",))
mine, *theirs = (ways[name] for name in {names!r})
kernels.KERNELS.clear()
kernels.KERNELS["made up"] = kernels.Kernel("made up", mine, (*theirs, needy))

if __name__ == "__main__":
    speed.main()
"""


def program_with(folder: Path, *names: str) -> list[str]:
    """Write the script with one kernel, the ways of which have these names, ours first; return its command line."""
    program = folder / "injected.py"
    program.write_text(INJECTED.format(benchmarks=str(BENCHMARKS), names=names))
    return [str(program), "--quick", "--cells", "100", "--rounds", "2", "--tables", "rivals"]


def injected(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Run that program, with a time limit for each process."""
    return run(*program_with(folder, *names), "--limit", "4")


def test_a_rival_that_crashes_hangs_or_raises_costs_its_row_and_not_the_run(tmp_path: Path) -> None:
    done = injected(tmp_path, "answers", "crashes", "hangs", "raises", "agrees")
    assert done.returncode == 0, done.stdout + done.stderr
    results = [(row["by"], row["result"]) for row in tables(done.stdout)["Beside rivals"]]
    assert results == [
        ("answers", ""),
        ("crashes", "crashed: SIGABRT"),
        ("hangs", "took more than 4 s"),
        ("raises", "IndexError: list index out of range"),
        ("agrees", "the same"),
    ]
    assert "Left out, since a module is not installed: no_such_module." in done.stdout


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("answers", "errs"), "made up, 0.0001 M tets shuffled, 25, errs finds ANOTHER RESULT"),
        (("crashes", "answers"), "made up, tets shuffled: crashed: SIGABRT"),
    ],
    ids=["another result", "meshpart crashes"],
)
def test_a_fault_ends_the_script_with_an_error(tmp_path: Path, names: tuple[str, ...], told: str) -> None:
    done = injected(tmp_path, *names)
    assert done.returncode == 1
    assert f"FAILED: {told}" in done.stdout


def test_no_process_outlives_a_script_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, *program_with(tmp_path, "answers", "hangs")]
    script = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pid_file = tmp_path / "pid"
    hanging = int(waited(lambda: pid_file.exists() and pid_file.read_text()))
    assert not is_gone(hanging)
    script.kill()
    script.wait()
    assert waited(lambda: is_gone(hanging))


# -- marks --------------------------------------------------------------------------------------------------

SIZES = [10_000, 40_000, 160_000, 640_000]


def steps(costs: Sequence[float]) -> list[Any]:
    """Return steps of given costs, in seconds, and a thousand times that in MiB."""
    return [growth.Step(growth.Size(size, 10), cost, 1000 * cost) for size, cost in zip(SIZES, costs, strict=True)]


def grown(given: list[Any]) -> list[Any]:
    """Return the growth of time and that of memory."""
    return [growth.of_time(given), growth.of_memory(given)]


@pytest.mark.parametrize(
    "costs",
    [
        [0.01 * (size / 10_000) ** 2 for size in SIZES],
        [0.01 * (size / 10_000) ** 1.5 for size in SIZES],
        [0.05 + 0.01 * (size / 10_000) ** 2 for size in SIZES],  # what any call takes hides nothing
        [0.01, 0.04, 0.16, 6.4],  # the last alone
    ],
    ids=["quadratic", "to the power of 1.5", "quadratic beside a constant", "a cliff"],
)
def test_what_grows_faster_than_input_plus_output_is_marked(costs: list[float]) -> None:
    for found in grown(steps(costs)):
        assert found.faster
        assert "▲" in str(found)


@pytest.mark.parametrize(
    "costs",
    [
        [1e-6 * size for size in SIZES],
        [1e-7 * size * np.log2(size) for size in SIZES],
        [0.05 + 1e-6 * size for size in SIZES],
        [0.02] * 4,
        [1e-5, 1e-5, 1e-5, 1e-3],  # less than any call has
    ],
    ids=["linear", "n log n", "linear beside a constant", "constant", "too short to tell"],
)
def test_what_grows_with_input_plus_output_is_not_marked(costs: list[float]) -> None:
    for found in grown(steps(costs)):
        assert not found.faster
        assert "▲" not in str(found)


def test_many_small_arrays_may_cost_something_each_but_not_what_the_mesh_costs() -> None:
    # a mesh of 1 M numbers in 8, 64 and 512 parts of 20 arrays each, and 512 parts of a mesh of 4000 numbers
    cases = [(1_000_000, 8), (1_000_000, 64), (1_000_000, 512), (4_000, 512)]

    def steps_at(each: float, by_part: float) -> list[Any]:
        """Return steps for a price of each part, and of each part for each number of the mesh."""
        costs = [1e-8 * n + parts * (each + by_part * n) for n, parts in cases]
        sizes = [growth.Size(n, 20 * parts) for n, parts in cases]
        return [growth.Step(size, cost, 1000 * cost) for size, cost in zip(sizes, costs, strict=True)]

    for found in grown(steps_at(each=1e-3, by_part=0)):
        assert not found.faster  # 0.5 s of 512 parts, where 8 take 0.018 s: all of it is what parts cost
    for found in grown(steps_at(each=1e-5, by_part=1e-10)):
        assert found.faster  # 0.06 s, where parts alone account for 0.005 s and the mesh for 0.01 s


def test_exponents_are_those_of_the_given_figures() -> None:
    for power in (1, 2):
        for found in grown(steps([0.01 * (size / 10_000) ** power for size in SIZES])):
            assert found.exponent == pytest.approx(power)
    alike = [growth.Step(growth.Size(1000, 1), 0.1, 9), growth.Step(growth.Size(1001, 1), 0.2, 9)]
    assert growth.of_time(alike).exponent is None


def test_sizes_count_what_arrays_and_files_hold_once(tmp_path: Path) -> None:
    array = np.zeros((5, 3))
    (tmp_path / "file").write_bytes(bytes(80))
    assert growth.size_of(array) == (1 + 15, 1 + 1)
    assert growth.size_of([array, {"again": array}], "text", 7, None) == (1 + 15, 1 + 1)
    assert growth.size_of(tmp_path) == (1 + 10, 1 + growth.FILE)
