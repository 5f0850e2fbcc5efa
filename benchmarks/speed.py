"""Seconds and memory of the Hilbert cut, beside meshioplusplus in the same run. See README.md.

python benchmarks/speed.py [--quick] [--cells 1000000] [--rounds 5] [--only labels partition scaling] [--large]
                           [--json FILE]
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import memory
import numpy as np
from cases import box_tets, shuffled, stored
from report import heading, machine, require_peer, spread, table

OURS, THEIRS = "meshpart", "meshioplusplus"
SECTIONS = ("labels", "partition", "scaling")


@dataclass(frozen=True)
class Task:
    """Calls of one function on one mesh, one after another in a process of their own."""

    library: str
    job: str  # "labels" or "partition"
    mesh: Path
    parts: int
    later: int  # calls after the first
    threads: int | None = None  # ours only; None is its default, all cores


@dataclass(frozen=True)
class Taken:
    """What the calls of a task took: seconds call by call, MiB above the loaded mesh, and MiB altogether."""

    seconds: list[float]
    cpu: list[float]
    extra_first: float
    extra: float
    peak: float


def main() -> None:
    """Run what the command line asks for, and print tables."""
    asked = arguments()
    require_peer()
    about = machine()
    print(heading(about, sys.argv), flush=True)
    taken: list[tuple[Task, Taken]] = []
    with TemporaryDirectory() as name:
        for title, rows in sections(asked, Path(name), taken):
            print(f"\n{title}\n\n{rows}", flush=True)
    if asked.json:
        record = [{"task": asdict(task), "taken": asdict(result)} for task, result in taken]
        asked.json.write_text(json.dumps({"machine": about, "runs": record}, indent=1, default=str))


def arguments() -> argparse.Namespace:
    """Return the checked command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells, fewer parts, 3 rounds")
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5, help="processes of each library, taking turns")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--large", action="store_true", help="10 million cells, ours only")
    parser.add_argument("--json", type=Path, help="write every single figure there")
    asked = parser.parse_args()
    if asked.quick:
        asked.cells, asked.rounds = asked.cells // 10, 3
    return asked


def sections(asked: argparse.Namespace, folder: Path, taken: list[tuple[Task, Taken]]) -> Iterator[tuple[str, str]]:
    """Yield a title and a table for each section, and add every single measurement to `taken`."""

    def measured(task: Task) -> Taken:
        print(f"  {task.library} {task.job} {task.mesh.stem} {task.parts} parts", file=sys.stderr, flush=True)
        result = in_fresh_process(measure, task)
        taken.append((task, result))
        return result

    mesh = box_tets(asked.cells)
    ordered = stored(mesh, folder)
    mixed_up = stored(shuffled(mesh, 0), folder, "shuffled")
    del mesh
    for job, parts in (("labels", 64), ("partition", 128 if asked.quick else 1024)):
        if job in asked.only:
            rows = [row for file in (ordered, mixed_up) for row in compared(job, file, parts, asked.rounds, measured)]
            yield f"**{job}, {parts} parts**. {NOTE}", table(COMPARED, rows)
    if "scaling" in asked.only:
        parts_of = (8, 64) if asked.quick else (8, 64, 512, 4096)
        runs = [(mixed_up, parts, threads) for parts in parts_of for threads in (1, 2)]
        smaller = stored(shuffled(box_tets(asked.cells // 10), 0), folder, "shuffled")
        runs += [(smaller, 64, threads) for threads in (1, 2)]
        yield "**meshpart alone**", table(SCALED, (scaled(*run, asked.rounds, measured) for run in runs))
    if asked.large:
        large = stored(shuffled(box_tets(10_000_000), 0), folder, "shuffled")
        tasks = [Task(OURS, job, large, 64, later=1) for job in ("labels", "partition")]
        yield "**meshpart alone, large**", table(LARGE, (large_row(task, measured(task)) for task in tasks))


# -- tables -------------------------------------------------------------------------------------------------

COMPARED = ("mesh", "call", "ours s", "theirs s", "ours / theirs", "CPU ours / theirs", "ours MiB", "theirs MiB")
SCALED = ("mesh", "parts", "threads", "labels s", "partition s", "partition, first call s", "partition MiB")
LARGE = ("job", "parts", "first call s", "second call s", "MiB above the mesh", "peak MiB", "within 8 GB")

FIRST, LATER = "first in its process", "later, in freed memory"
NOTE = (
    "MiB: peak of resident memory above the loaded mesh. Later calls of a process reuse what its first call freed, "
    "which spares meshioplusplus most of its page faults. meshpart uses all cores, its default."
)


def compared(
    job: str, mesh: Path, parts: int, rounds: int, measured: Callable[[Task], Taken]
) -> Iterator[tuple[str, ...]]:
    """Yield a row for the first calls in a process and one for the later ones; the libraries take turns."""
    tasks = [Task(library, job, mesh, parts, later=2) for library in (OURS, THEIRS)]
    ours, theirs = zip(*[[measured(task) for task in tasks] for _ in range(rounds)], strict=True)
    for call, which in ((FIRST, slice(0, 1)), (LATER, slice(1, None))):
        columns = []
        for results in (ours, theirs):
            columns.append([seconds for result in results for seconds in result.seconds[which]])
            columns.append([seconds for result in results for seconds in result.cpu[which]])
        extra = [
            f"{median(result.extra_first if call == FIRST else result.extra for result in results):.0f}"
            for results in (ours, theirs)
        ]
        wall, cpu, their_wall, their_cpu = columns
        yield mesh.stem, call, spread(wall), spread(their_wall), ratio(wall, their_wall), ratio(cpu, their_cpu), *extra


def scaled(mesh: Path, parts: int, threads: int, rounds: int, measured: Callable[[Task], Taken]) -> tuple[str, ...]:
    """Return the row of one number of parts and threads."""
    labels, partition = (measured(Task(OURS, job, mesh, parts, rounds, threads)) for job in ("labels", "partition"))
    times = spread(labels.seconds[1:]), spread(partition.seconds[1:]), f"{partition.seconds[0]:.3f}"
    return mesh.stem, str(parts), str(threads), *times, f"{partition.extra:.0f}"


def large_row(task: Task, taken: Taken) -> tuple[str, ...]:
    """Return the row of one job on the large mesh."""
    fits = "yes" if taken.peak * 2**20 <= 8e9 else "no"
    seconds = (f"{second:.2f}" for second in taken.seconds)
    return task.job, str(task.parts), *seconds, f"{taken.extra:.0f}", f"{taken.peak:.0f}", fits


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Return the median of the ratios, pair by pair."""
    return f"{median(a / b for a, b in zip(ours, theirs, strict=True)):.2f}"


# -- one measurement, in a process of its own ---------------------------------------------------------------


def in_fresh_process(function: Callable[[Task], Taken], task: Task) -> Taken:
    """Call a function in a Python process that has done nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, task).result()


def measure(task: Task) -> Taken:
    """Load the library and the mesh, then call, and look at the clock and the memory around each call."""
    call = prepared(task)
    gc.collect()
    memory.reset_peak()
    loaded = memory.resident()
    seconds, cpu, peaks = [], [], []
    for _ in range(1 + task.later):
        start, start_cpu = time.perf_counter(), time.process_time()
        result = call()
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
        peaks.append(memory.peak())
        del result
        gc.collect()
    return Taken(seconds, cpu, peaks[0] - loaded, peaks[-1] - loaded, peaks[-1])


def prepared(task: Task) -> Callable[[], Any]:
    """Return the call to be measured, on the mesh object that the library's users have: meshio's, or its own."""
    with np.load(task.mesh) as arrays:
        points, cells = arrays["points"], [(kind, arrays[kind]) for kind in arrays if kind != "points"]
    if task.library == OURS:
        import meshio

        import meshpart

        mesh = meshio.Mesh(points, cells)
        function = meshpart.partition_labels if task.job == "labels" else meshpart.partition
        return lambda: function(mesh, task.parts, method="sfc", threads=task.threads)
    import meshioplusplus

    their_mesh = meshioplusplus.Mesh(points, cells)
    their_function = meshioplusplus.partition_labels if task.job == "labels" else meshioplusplus.partition
    return lambda: their_function(their_mesh, task.parts, method="sfc")


if __name__ == "__main__":
    main()
