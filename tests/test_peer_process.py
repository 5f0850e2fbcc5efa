"""The process of another partitioner: whatever becomes of it, the caller learns of it and is left as it was."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from grid_graphs import grid, posed
from meshes import quads
from peers import PEERS, each
from processes import children, host, is_gone, waited

from meshpart import Method, MethodError, child, partition_labels
from meshpart.methods import METHODS
from meshpart.methods.peer import Peer

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ALMOST = "def prepared(job):\n    import os, sys, signal, ctypes, time\n"
PROCESS = {
    "abort": ("os.abort()", r"rogue crashed \(SIGABRT\)$"),
    "a bad pointer": ("ctypes.string_at(0)", r"rogue crashed \(SIGSEGV\)$"),
    "a kill": (
        "os.kill(os.getpid(), signal.SIGKILL)",
        r"rogue was killed \(SIGKILL\), as happens where memory",
    ),
    "a signal without a name": (f"os.kill(os.getpid(), {signal.SIGRTMIN + 1})", rf"\(signal {signal.SIGRTMIN + 1}\)$"),
    "exit": ("sys.exit(3)", "rogue failed with exit code 3$"),
    "exit, with words": ("sys.exit('no\\n licence')", "rogue failed with exit code 1: no licence$"),
    "printed, and exit": ("os.system('echo too large'); os._exit(7)", "with exit code 7: too large$"),
    "exit as if all were well": ("os._exit(0)", "rogue ended without an answer$"),
    "an exception": ("raise ValueError('no\\n licence')", "rogue failed: ValueError: no licence$"),
    "no labels": ("return lambda: None", "rogue failed: TypeError"),
    "numbers that are no labels": ("return lambda: [0.5] * 25", "rogue failed: TypeError: .*float64"),
    "too few labels": ("return lambda: [0, 1]", r"must return integers of shape \(25,\), .* got int32 \(2,\)"),
    "a label too high": ("return lambda: [2] * 25", r"labels must be in 0\.\.1, got 2\.\.2"),
}


def rogue(folder: Path, body: str) -> Method:
    """Return a method whose partitioner does what `body` says when it is handed a graph."""
    file = folder / "rogue.py"
    file.write_text(ALMOST + f"    {body}\n")
    return Method("rogue", Peer("rogue", file), leaves_fragments=True)


@pytest.mark.parametrize("what", PROCESS)
def test_a_peer_that_fails_is_an_error_that_says_how(what: str, tmp_path: Path) -> None:
    body, message = PROCESS[what]
    with pytest.raises(MethodError, match=message):
        partition_labels(quads(5, 5), 2, method=rogue(tmp_path, body))


def test_a_file_that_is_no_program_or_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MethodError, match=r"exit code 1: .*SyntaxError"):
        partition_labels(quads(5, 5), 2, method=rogue(tmp_path, "return ("))
    with pytest.raises(MethodError, match=r"exit code 1: .*elsewhere\.py"):
        partition_labels(quads(5, 5), 2, method=Method("lost", Peer("lost", tmp_path / "elsewhere.py")))


def test_what_a_peer_prints_and_draws_at_random_stays_in_its_process(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    library = ctypes.CDLL(None)
    library.srand(42)
    expected = [library.rand() for _ in range(2)]
    library.srand(42)
    first = library.rand()
    noise = "print('a', flush=True); print('b', file=sys.stderr); os.system('echo c'); ctypes.CDLL(None).srand(1)"
    labels = partition_labels(quads(5, 5), 2, method=rogue(tmp_path, noise + "; return lambda: [0] * 12 + [1] * 13"))
    assert sorted(np.bincount(labels)) == [12, 13]
    assert [first, library.rand()] == expected
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("peer", each(PEERS))
def test_no_peer_prints(peer: str, capfd: pytest.CaptureFixture[str]) -> None:
    for mode in METHODS[peer].modes or ("eco",):
        METHODS[peer].run(posed(grid(12, 12), 3, mode=mode))
    assert capfd.readouterr() == ("", "")


SLEEP = """
import sys, time
from pathlib import Path
from meshes import quads
from meshpart import child
from meshpart import Method, partition_labels
from meshpart.methods.peer import Peer
try:
    partition_labels(quads(5, 5), 2, method=Method("rogue", Peer("rogue", Path(sys.argv[1]))))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    time.sleep(60)
"""


def asleep(process: int, begun: Path) -> int:
    """Return the number of the peer's process, once the peer works on its graph."""
    assert waited(begun.exists)
    (peer,) = children(process)
    return peer


@ON_LINUX
@pytest.mark.parametrize("stop", ["Ctrl-C", "Ctrl-C to the caller alone", "kill -9"])
def test_the_end_of_a_call_is_that_of_the_peers_process(stop: str, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    rogue(tmp_path, f"open({str(begun)!r}, 'w').close(); time.sleep(100)")
    with host(SLEEP, str(tmp_path / "rogue.py")) as process:
        peer = asleep(process.pid, begun)
        assert not is_gone(peer)
        if stop == "kill -9":
            process.kill()
        else:
            (os.killpg if stop == "Ctrl-C" else os.kill)(process.pid, signal.SIGINT)
            assert process.stdout is not None
            assert process.stdout.readline() == "interrupted\n"
            assert children(process.pid) == []
        assert waited(lambda: is_gone(peer), 5.0)


@ON_LINUX
def test_a_process_that_nobody_listens_to_ends_before_it_begins(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    for listens in (False, True):  # an interrupt while a process is started closes what would be listened to
        listener, speaker = os.pipe()
        if not listens:
            os.close(listener)
        command = child.command("open(sys.argv[2], 'w').close()", str(begun))
        assert subprocess.run(command, stderr=speaker, check=False).returncode == int(not listens)
        assert begun.exists() == listens
        os.close(speaker)
    os.close(listener)


def test_a_program_that_knows_of_no_python_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiprocessing.spawn._python_exe", None)  # as where a program has Python inside
    with pytest.raises(MethodError, match=r"metis cannot be started: sys\.executable does not"):
        Peer("metis")(posed(grid(4, 4), 2))


def test_a_want_of_descriptors_is_an_error_and_passes() -> None:
    code = """
import os, resource
from grid_graphs import grid, posed
from meshpart import MethodError
from meshpart.methods.peer import Peer
before = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 1, before[1]))
try:
    Peer("metis")(posed(grid(4, 4), 2))
except MethodError as error:
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    print(error)
"""
    with host(code) as process:
        assert "metis cannot be started: [Errno 24]" in process.communicate(timeout=60)[0]


@pytest.mark.parametrize("peer", each(PEERS[:1]))
def test_calls_leave_neither_process_nor_descriptor_nor_file(peer: str, tmp_path: Path) -> None:
    code = f"""
import os, tempfile
from grid_graphs import grid, posed
from meshpart.methods import METHODS
tempfile.tempdir = {str(tmp_path)!r}
before = sorted(os.listdir("/proc/self/fd"))
for _ in range(3):
    METHODS[{peer!r}].run(posed(grid(9, 9), 3))
print(sorted(os.listdir("/proc/self/fd")) == before, os.listdir(tempfile.tempdir))
"""
    with host(code) as process:
        assert process.communicate(timeout=60)[0].split() == ["True", "[]"]
