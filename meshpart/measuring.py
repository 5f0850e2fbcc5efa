"""One method at work on one mesh, measured: what the process runs that `compare` starts for it. Linux tells memory."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from meshpart.arrays import Labels
from meshpart.errors import MeshpartWarning
from meshpart.mesh import Mesh
from meshpart.methods import Function, Method, Peer, Problem
from meshpart.partition import partition_labels
from meshpart.quality import Quality, quality

MIB = 1024  # KiB, in which /proc tells memory


class Task(NamedTuple):
    """What is measured."""

    mesh: Mesh
    method: Method
    nparts: int
    options: dict[str, Any]  # of partition_labels


class Measured(NamedTuple):
    """What was found: of the method's own labels, and of those that were repaired."""

    raw: Quality
    repaired: Quality
    raw_seconds: float
    seconds: float
    mib: float | None  # the peak of resident memory above the loaded mesh, its helpers' included


def measured(task: Task) -> Measured:
    """Cut a mesh by a method, and say how good the labels are and what they took."""
    mesh, method, nparts, options = task
    _ = mesh.kinds  # what is computed once and kept belongs to no method
    watched = _Watched(method.run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)  # of parts that are empty or too heavy: the figures tell
        with _memory() as memory:
            start = time.perf_counter()
            labels = partition_labels(mesh, nparts, method=replace(method, run=watched), **options)
            seconds = time.perf_counter() - start
        again = Method("raw", watched.again)
        raw = partition_labels(mesh, nparts, method=again, repair=False, **options | {"mode": "eco"})
    judged = {name: options[name] for name in ("weights", "edge_weights", "imbalance", "keep_together", "threads")}
    return Measured(
        raw=quality(mesh, raw, nparts, **judged),
        repaired=quality(mesh, labels, nparts, **judged),
        raw_seconds=watched.end - start - watched.overhead,
        seconds=seconds - watched.overhead,
        mib=memory.mib,
    )


@dataclass
class _Watched:
    """A method's function that keeps what it returned, and when."""

    run: Function
    labels: Labels | None = None
    end: float = 0.0
    overhead: float = 0.0  # of the start of a peer's process, and of handing the graph over, which no user of it has

    def __call__(self, problem: Problem) -> Labels:
        """Run the method."""
        _ = problem.graph if isinstance(self.run, Peer) else None  # which counts
        start = time.perf_counter()
        if isinstance(self.run, Peer):
            self.labels, within = self.run.outcome(problem)
        else:
            self.labels = self.run(problem)
        self.end = time.perf_counter()
        if isinstance(self.run, Peer):
            self.overhead = self.end - start - within
        return self.labels

    def again(self, _: Problem) -> Labels:
        """Return the same labels."""
        assert self.labels is not None
        return self.labels


# -- memory -------------------------------------------------------------------------------------------------


@dataclass
class _Memory:
    mib: float | None = None
    helpers: dict[str, int] = field(default_factory=dict)  # the peak of each child process, KiB


@contextmanager
def _memory() -> Iterator[_Memory]:
    """Find the peak of resident memory within the block, above what was resident before, with that of children."""
    found = _Memory()
    if sys.platform != "linux":
        yield found
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch_children, args=(found.helpers, done), daemon=True)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _status("self", "VmRSS")
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()
    found.mib = (_status("self", "VmHWM") - before + sum(found.helpers.values())) / MIB


def _watch_children(peaks: dict[str, int], done: threading.Event) -> None:
    """Note the peak of each child process until it is done; what lives for less than a hundredth second is missed."""
    while not done.wait(0.01):
        for thread in Path("/proc/self/task").iterdir():
            for process in _children(thread):
                peaks[process] = max(peaks.get(process, 0), _status(process, "VmHWM"))


def _children(thread: Path) -> list[str]:
    try:
        return (thread / "children").read_text().split()
    except OSError:
        return []


def _status(process: str, entry: str) -> int:
    """Return a line of a process' status in KiB; 0 where the process is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(entry + ":")), 0)


# -- the process --------------------------------------------------------------------------------------------


def serve() -> None:
    """Read a task from standard input, and write to standard output what was measured, or the error."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what native code prints
        found: Measured | Exception
        try:
            found = measured(pickle.load(sys.stdin.buffer))
        except Exception as error:
            found = error
        pickle.dump(found, answer, protocol=5)
