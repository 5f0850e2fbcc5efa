"""One method at work on one mesh, measured: what the process runs that `compare` starts for it. Linux tells memory."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from meshpart import child
from meshpart.arrays import Labels
from meshpart.errors import MeshpartError
from meshpart.graph import dual_graph
from meshpart.mesh import Mesh
from meshpart.methods import METHODS, Function, Method, Peer, Problem
from meshpart.partition import partition_labels
from meshpart.quality import quality
from meshpart.quiet import in_one_line

MIB = 1024  # KiB, in which /proc tells memory
PF_FORKNOEXEC = 0x40  # of the flags of a process: it runs no program of its own yet


class Case(NamedTuple):
    """What all methods of a comparison are given."""

    mesh: Mesh
    options: dict[str, Any]  # of partition_labels, without method and mode


class Task(NamedTuple):
    """What one of them is to do."""

    method: Method
    mode: str
    nparts: int


class Figures(NamedTuple):
    """What was measured of some labels: see `Run`, which holds them."""

    edge_cut: int
    communication_volume: int
    shared_points: int
    ghosts: int
    imbalance: float
    within_bound: bool
    empty_parts: int
    fragments: int
    neighbours: float
    seconds: float
    mib: float | None


class Measured(NamedTuple):
    """What was found: of the method's own labels, and of those that were repaired."""

    raw: Figures
    repaired: Figures


def measured(case: Case, task: Task) -> Measured:
    """Cut a mesh by a method, and say how good the labels are and what they took."""
    warm_up(groups=case.options.get("keep_together") is not None, graphs=task.method not in METHODS.values())
    mesh, nparts = case.mesh, task.nparts
    _ = mesh.kinds  # what is computed once and kept belongs to no method
    watched = _Watched(task.method.run)
    method = replace(task.method, run=watched)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts that are empty or too heavy: the figures tell
        with _memory() as memory:
            start = time.perf_counter()
            labels = partition_labels(mesh, nparts, method=method, mode=task.mode, **case.options)
            end = time.perf_counter()
        raw, raw_end = labels, end
        if watched.labels is not None:  # of one part nobody is asked
            again = Method("raw", watched.again)
            raw, raw_end = partition_labels(mesh, nparts, method=again, repair=False, **case.options), watched.end
        start += watched.overhead
        return Measured(
            _figures(case, raw, nparts, raw_end - start, memory.mib),
            _figures(case, labels, nparts, end - start, memory.mib),
        )


def warm_up(*, groups: bool, graphs: bool) -> None:
    """Run what is the library's own on a few quads: its first call in a process takes longer.

    Parameters
    ----------
    groups : bool
        Whether there will be groups of cells, whose first ones take half a second and 25 MiB, for SciPy's modules.
    graphs : bool
        Whether SciPy's arrays of graphs may be asked for, as functions of a caller do.
    """
    size = 8
    points = [[x, y] for y in range(size + 1) for x in range(size + 1)]
    first = np.arange((size + 1) * size).reshape(size, size + 1)[:, :-1].reshape(-1, 1)
    quads = Mesh(points, [("quad", first + np.array([0, 1, size + 2, size + 1]))])
    alternating = Method(
        "alternating", lambda problem: np.arange(problem.n_units, dtype=np.int32) % 2, leaves_fragments=True
    )
    together = np.arange(size * size) // 2 if groups else None
    for method in (METHODS["sfc"], alternating):
        quality(quads, partition_labels(quads, 2, method=method, keep_together=together), keep_together=together)
    if graphs:
        dual_graph(quads).to_scipy()


def _figures(case: Case, labels: Labels, nparts: int, seconds: float, mib: float | None) -> Figures:
    judged = {name: value for name, value in case.options.items() if name != "seed"}
    found = quality(case.mesh, labels, nparts, **judged)
    filled = int(np.count_nonzero(found.part_components))
    return Figures(
        edge_cut=found.edge_cut,
        communication_volume=found.communication_volume,
        shared_points=found.shared_points,
        ghosts=int(found.part_ghosts.sum()),
        imbalance=found.imbalance,
        within_bound=found.within_bound,
        empty_parts=nparts - filled,
        fragments=int(found.part_components.sum()) - filled,
        neighbours=float(found.part_neighbours.mean()),
        seconds=seconds,
        mib=mib,
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
        if isinstance(self.run, Peer):
            _ = problem.graph  # which counts
            start = time.perf_counter()
            self.labels, within = self.run.outcome(problem)
            self.end = time.perf_counter()
            self.overhead = self.end - start - within
        else:
            self.labels = self.run(problem)
            self.end = time.perf_counter()
        return self.labels

    def again(self, _: Problem) -> Labels:
        """Return the same labels."""
        assert self.labels is not None
        return self.labels


# -- memory -------------------------------------------------------------------------------------------------


@dataclass
class _Memory:
    mib: float | None = None
    helpers: int = 0  # the most that child processes had at one time, KiB


@contextmanager
def _memory() -> Iterator[_Memory]:
    """Find the peak of resident memory within the block, above what was resident before, with that of children."""
    found = _Memory()
    if not _peak_begins_anew():
        yield found
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch_children, args=(found, done), daemon=True)
    before = _status("self", "VmRSS")
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()
    peak = _status("self", "VmHWM")
    if before is not None and peak is not None:
        found.mib = (peak - before + found.helpers) / MIB


def _peak_begins_anew() -> bool:
    """Begin the peak of resident memory anew; say whether the system can."""
    if sys.platform != "linux":
        return False
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # as in some containers
        return False
    return True


def _watch_children(found: _Memory, done: threading.Event) -> None:
    """Note what child processes have until they are done; what lives for less than a hundredth second is missed."""
    while not done.wait(0.01):
        children = [process for thread in Path("/proc/self/task").iterdir() for process in _children(thread)]
        found.helpers = max(found.helpers, sum(map(_own_peak, children)))


def _children(thread: Path) -> list[str]:
    try:
        return (thread / "children").read_text().split()
    except OSError:
        return []


def _own_peak(child: str) -> int:
    """Return a child's peak in KiB, without what it has of this process until it begins a program, if it does."""
    begun = not _flags(child) & PF_FORKNOEXEC  # asked first: whoever has begun one has memory of its own
    peak = _status(child, "VmHWM") or 0
    return peak if begun else max(peak - (_status("self", "VmHWM") or 0), 0)


def _flags(process: str) -> int:
    """Return the flags that Linux has of a process; none where it is gone."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[6])
    except OSError:
        return 0


def _status(process: str, entry: str) -> int | None:
    """Return a line of a process' status in KiB; None where the process is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(entry + ":")), None)


# -- the process --------------------------------------------------------------------------------------------


def serve() -> None:
    """Read a case and a task from standard input, and write to standard output what was measured, or why nothing was.

    What a method prints goes to standard error.
    """
    child.be_the_first_to_go()
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)
        found: Measured | str
        try:
            case, task = pickle.load(sys.stdin.buffer), pickle.load(sys.stdin.buffer)
            found = measured(case, task)
        except BaseException as error:  # SystemExit, too, ends this task only
            found = _told(error)
        pickle.dump(found, answer, protocol=5)
    os._exit(0)  # without waiting for threads that a method has left


def _told(error: BaseException) -> str:
    """Return what an error says in one line, cut where it is long; some fail to say anything."""
    try:
        said = " ".join(str(error).split()) if isinstance(error, MeshpartError) else in_one_line(error)
    except Exception:
        return type(error).__name__
    return said[: child.MOST_SAID]
