"""KaHIP's process: whatever happens to it or to its host, the other learns of it, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from grid_graphs import cut, grid
from processes import children, host, is_gone, name, waited

from meshpart import MethodError, _core
from meshpart.methods.kahip import HELPER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

LONG = "cut(grid(300, 300), 64, mode='strong')"  # takes minutes
PRELUDE = """
import os, resource, signal, sys, threading, time
from grid_graphs import cut, grid

def descriptors():
    return sorted(os.listdir("/proc/self/fd"))

def has_children():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True
"""


def output(code: str, *arguments: str) -> list[str]:
    """Return the words that Python code prints."""
    with host(PRELUDE + code, *arguments) as process:
        printed, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        return printed.split()


@contextmanager
def long_call() -> Iterator[tuple[Future[Any], int]]:
    """Run a call that takes minutes in a thread; give the future, and the number of its process."""
    square = grid(300, 300)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(cut, square, 64, mode="strong")
        helper = helper_of(os.getpid())
        try:
            yield future, helper
        finally:
            if not future.done():
                os.kill(helper, signal.SIGKILL)


def helper_of(process: int) -> int:
    """Return the number of the helper that a process has started, once it runs."""
    found = waited(lambda: [child for child in children(process) if name(child) == "kahip_helper"])
    assert len(found) == 1
    return found[0]


# -- the end of the host ------------------------------------------------------------------------------------


def test_ctrl_c_ends_a_call_at_once_and_leaves_nothing() -> None:
    code = f"""
before = descriptors()
try:
    {LONG}
except KeyboardInterrupt:
    print("interrupted", has_children(), descriptors() == before, flush=True)
"""
    with host(PRELUDE + code) as process:
        helper = helper_of(process.pid)
        start = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # to all of them, as a terminal does
        assert process.stdout is not None
        assert process.stdout.readline().split() == ["interrupted", "False", "True"]
        assert time.monotonic() - start < 1
        assert is_gone(helper)


def test_what_a_signal_handler_raises_ends_a_call_too() -> None:
    code = f"""
def handle(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    {LONG}
except TimeoutError:
    print("timeout", has_children())
"""
    assert output(code) == ["timeout", "False"]


def test_the_end_of_the_host_is_that_of_its_helper() -> None:
    with host(PRELUDE + LONG) as process:
        helper = helper_of(process.pid)
        assert not is_gone(helper)
        process.kill()
        assert waited(lambda: is_gone(helper), 2.0)


# -- the end of the helper ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (signal.SIGKILL, r"signal 9 \(Killed\), perhaps for want of memory"),
        (signal.SIGSEGV, r"signal 11 \(Segmentation fault\)$"),
        (signal.SIGILL, r"signal 4 \(Illegal instruction\): the processor lacks instructions .*AVX2"),
    ],
)
def test_a_helper_that_a_signal_ends_is_an_error_that_names_it(number: int, message: str) -> None:
    with long_call() as (future, helper):
        os.kill(helper, number)
        with pytest.raises(MethodError, match=message):
            future.result(timeout=10)
    assert is_gone(helper)
    assert len(cut(grid(4, 4), 2)) == 16


def test_a_helper_without_memory_is_an_error(tmp_path: Path) -> None:
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f"#!/bin/sh\nulimit -v 60000\nexec '{HELPER}'\n")
    wrapper.chmod(stat.S_IRWXU)
    assert len(_core.kahip(grid(4, 4).flat, 2, 0.03, 0, 0, str(wrapper))) == 16
    with pytest.raises(MethodError, match="too little memory"):
        _core.kahip(grid(700, 700).flat, 2, 0.03, 0, 0, str(wrapper))


def test_a_helper_that_does_not_do_its_work_is_an_error(tmp_path: Path) -> None:
    helper = tmp_path / "helper"
    helper.write_text("#!/bin/sh\nexit 3\n")
    helper.chmod(stat.S_IRWXU)
    with pytest.raises(MethodError, match="ended with status 3 and no result"):
        _core.kahip(grid(4, 4).flat, 2, 0.03, 0, 0, str(helper))


def test_a_helper_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    flat, before = grid(4, 4).flat, sorted(Path("/proc/self/fd").iterdir())
    with pytest.raises(MethodError, match=f"cannot start {tmp_path}/none: No such file"):
        _core.kahip(flat, 2, 0.03, 0, 0, str(tmp_path / "none"))
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(stat.S_IRUSR)
    with pytest.raises(MethodError, match=f"cannot start {tmp_path}/text: Permission denied"):
        _core.kahip(flat, 2, 0.03, 0, 0, str(tmp_path / "text"))
    assert sorted(Path("/proc/self/fd").iterdir()) == before


# -- hosts of all kinds -------------------------------------------------------------------------------------


def test_the_helper_gets_two_descriptors_and_signals_as_by_default() -> None:
    with host(PRELUDE + LONG) as process:
        helper = helper_of(process.pid)
        # A process that begins opens files for a moment.
        assert waited(lambda: {path.name for path in Path(f"/proc/{helper}/fd").iterdir()} == set("01234"))
        held = {int(path.name): str(path.readlink()) for path in Path(f"/proc/{helper}/fd").iterdir()}
        assert [held.pop(standard) for standard in (0, 1, 2)] == ["/dev/null"] * 3
        assert {number: place.partition(":")[0] for number, place in held.items()} == {3: "socket", 4: "/memfd"}

        def signals(what: str) -> int:
            lines = Path(f"/proc/{helper}/status").read_text().splitlines()
            return int(dict(line.split(":", 1) for line in lines)[what], 16)

        # Until the helper's program has begun, everything is blocked.
        assert waited(lambda: signals("SigBlk") == 1 << (signal.SIGINT - 1))
        assert signals("SigIgn") & 1 << (signal.SIGPIPE - 1) == 0  # which Python ignores
        assert waited(lambda: "core file size 0 0" in " ".join(Path(f"/proc/{helper}/limits").read_text().split()))


@pytest.mark.parametrize(
    "reaping",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        """
def steal():
    while True:
        if not has_children():
            time.sleep(0.0005)
threading.Thread(target=steal, daemon=True).start()
""",
    ],
    ids=["ignores SIGCHLD", "waits for any process"],
)
def test_a_host_that_leaves_no_status_to_others_gets_its_labels(reaping: str) -> None:
    code = f"""
{reaping}
for _ in range(5):
    labels = cut(grid(20, 20), 4)
print(*labels)
"""
    assert output(code) == [str(label) for label in cut(grid(20, 20), 4)]


def test_a_host_that_leaves_no_status_to_others_learns_of_a_crash() -> None:
    code = f"""
from meshpart import MethodError
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
try:
    {LONG}
except MethodError as error:
    print(str(error).replace(" ", "_"))
"""
    with host(PRELUDE + code) as process:
        os.kill(helper_of(process.pid), signal.SIGKILL)
        assert process.communicate(timeout=10)[0].split() == ["KaHIP's_process_ended_without_a_result"]


def test_a_host_without_standard_descriptors_gets_its_labels(tmp_path: Path) -> None:
    code = """
for standard in (0, 1, 2):
    os.close(standard)
labels = cut(grid(20, 20), 4)
open(sys.argv[1], "w").write(" ".join(map(str, labels)))
"""
    assert output(code, str(tmp_path / "labels")) == []
    assert (tmp_path / "labels").read_text().split() == [str(label) for label in cut(grid(20, 20), 4)]


def test_a_host_with_a_timer_gets_its_labels() -> None:
    code = """
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
labels = cut(grid(200, 200), 4, mode="eco")
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(ticks) > 0, hash(labels.tobytes()) == hash(cut(grid(200, 200), 4, mode="eco").tobytes()))
"""
    assert output(code) == ["True", "True"]


def test_a_process_forked_meanwhile_delays_nothing_and_can_call_too() -> None:
    code = """
expected, results = cut(grid(60, 60), 4).tolist(), []
large = grid(200, 200)
thread = threading.Thread(target=lambda: results.append(cut(large, 8, mode="eco")))
thread.start()
time.sleep(0.05)
ours, theirs = os.pipe()
forked = os.fork()
if forked == 0:
    os.write(theirs, b"same" if cut(grid(60, 60), 4).tolist() == expected else b"other")
    time.sleep(100)
thread.join()
print(len(results), os.read(ours, 10).decode(), os.waitpid(forked, os.WNOHANG)[0])
os.kill(forked, signal.SIGKILL)
"""
    assert output(code) == ["1", "same", "0"]


def test_a_daemon_thread_in_a_call_ends_with_its_process() -> None:
    code = """
import meshes, meshpart
mesh = meshes.quads(200, 200)
def for_ever(call):
    while True:
        call()
for call in (lambda: cut(grid(200, 200), 64, mode="strong"), lambda: meshpart.dual_graph(mesh)):
    threading.Thread(target=for_ever, args=[call], daemon=True).start()
time.sleep(0.3)
"""
    for _ in range(3):
        assert output(code) == []


def test_calls_leave_no_descriptor_no_process_and_no_memory() -> None:
    code = """
square, before = grid(12, 12), descriptors()
for _ in range(50):
    cut(square, 3)
print(has_children(), descriptors() == before, "memfd:" in open("/proc/self/maps").read())
"""
    assert output(code) == ["False", "True", "False"]


def test_want_of_memory_and_of_descriptors_is_an_error_and_passes() -> None:
    code = """
from meshpart import MethodError
def limited(limit, value, expected):
    before = resource.getrlimit(limit)
    resource.setrlimit(limit, (value, before[1]))
    try:
        cut(square, 2)
    except expected as error:
        return type(error).__name__
    finally:
        resource.setrlimit(limit, before)

square = grid(700, 700)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
print(limited(resource.RLIMIT_AS, size + 2**20, MemoryError))
print(limited(resource.RLIMIT_NOFILE, 6, MethodError))
print(has_children(), len(cut(square, 2)))
"""
    assert output(code) == ["MemoryError", "MethodError", "False", str(700 * 700)]
