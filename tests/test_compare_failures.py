"""Methods that fail: each costs its own row, which says why, and nothing of it is left."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import failing_methods as failing
import numpy as np
import pytest
from failing_methods import stripes
from meshes import quads, strip
from processes import is_gone, waited

from meshpart import Mesh, compare
from meshpart.compare import Run

WHY: dict[Any, str] = {
    failing.aborts: "crashed (SIGABRT): something is terribly wrong",
    failing.leaves: "ended without an answer",
    failing.leaves_with_3: "failed with exit code 3",
    failing.exits: "SystemExit: no more",
    failing.is_interrupted: "KeyboardInterrupt",
    failing.is_killed: "was killed (SIGKILL), as happens where memory runs out",
    failing.raises: "ValueError: two lines, longlong",
    failing.raises_its_own: "TwoArgumentsError: this and that",
    failing.raises_in_silence: "SilentError",
    failing.returns_text: "the method must return integers of shape (6,)",
    failing.returns_too_few: "the method must return integers of shape (6,)",
    failing.returns_too_large: "the method's labels must be in 0..1, got 1..2",
}
if sys.platform == "linux":  # elsewhere the limit, or the score, is none
    WHY |= {failing.fills_memory: "MemoryError", failing.tells_its_score: "ValueError: 1000"}
WORK = [failing.prints, failing.warns, failing.leaves_a_thread]


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[Run, Run]]:
    """What became of all methods in one comparison, by name."""
    found = compare(strip(6), 2, methods=[*WHY, *WORK, stripes], time_limit=120).runs
    return {raw.method: (raw, repaired) for raw, repaired in zip(found[::2], found[1::2], strict=True)}


@pytest.mark.parametrize("method", WHY, ids=lambda method: method.__name__)
def test_a_method_that_fails_costs_its_row_which_says_why(runs: dict[str, tuple[Run, Run]], method: Any) -> None:
    raw, repaired = runs[method.__name__]
    assert raw.failure is not None
    assert raw.failure.startswith(WHY[method])
    assert "\n" not in raw.failure
    assert len(raw.failure) <= 600
    assert (repaired.failure, repaired.edge_cut, repaired.seconds) == (raw.failure, None, None)


@pytest.mark.parametrize("method", [*WORK, stripes], ids=lambda method: method.__name__)
def test_the_others_have_theirs(runs: dict[str, tuple[Run, Run]], method: Any) -> None:
    for run in runs[method.__name__]:
        assert (run.failure, run.edge_cut, run.imbalance) == (None, 1, 0)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    compare(strip(6), 2, methods=[failing.prints, failing.aborts])
    assert capfd.readouterr() == ("", "")


def test_a_mesh_that_one_method_cannot_cut_costs_that_one() -> None:
    points = strip(4).points.copy()
    points[0, 0] = np.nan
    found = compare(Mesh(points, [("quad", strip(4).blocks[0].nodes)]), 2, methods=["sfc", "kahip:fast"]).runs
    assert found[1].failure is not None
    assert "point 0, used by cell 0" in found[1].failure
    assert (found[3].failure, found[3].edge_cut) == (None, 1)


def test_a_method_of_a_module_that_other_processes_lack_costs_its_row(tmp_path: Path) -> None:
    file = tmp_path / "here_only.py"
    file.write_text("from failing_methods import stripes\ndef mine(problem):\n    return stripes(problem)\n")
    sys.path.insert(0, str(tmp_path))
    try:
        from here_only import mine  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(tmp_path))
    run = compare(strip(6), 2, methods=[mine]).runs[1]
    assert run.failure == "ModuleNotFoundError: No module named 'here_only'"


def test_what_cannot_be_started_costs_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "not there"))
    for run in compare(strip(6), 2, methods=["sfc"]).runs:
        assert run.failure is not None
        assert run.failure.startswith("cannot be started: [Errno 2] No such file or directory")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("method", [failing.leaves_a_process, failing.hangs_with_a_process], ids=["left", "hangs"])
def test_what_a_method_has_started_ends_with_it(method: Any, tmp_path: Path) -> None:
    note = tmp_path / "process"
    (raw, _) = compare(strip(6), 2, methods=[partial(method, note=note)], time_limit=10).runs
    assert raw.failure == (None if method is failing.leaves_a_process else "took longer than 10 s")
    assert waited(lambda: is_gone(int(note.read_text())))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by Linux alone")
def test_memory_is_that_of_the_method_and_not_of_the_mesh() -> None:
    small, large = quads(10, 10), quads(300, 300)
    for mesh in (small, large):
        light, heavy = compare(mesh, 2, methods=[stripes, failing.takes_100_mib]).runs[1::2]
        assert light.mib is not None
        assert heavy.mib is not None
        assert 0 <= light.mib < 40
        assert 90 < heavy.mib - light.mib < 130


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by Linux alone")
def test_memory_is_not_that_of_this_process_which_a_helper_has_until_it_begins_its_program() -> None:
    run = compare(strip(6), 2, methods=[failing.starts_kahip_often]).runs[1]
    assert run.mib is not None
    assert run.mib < 20  # a process of Python and NumPy alone takes more
