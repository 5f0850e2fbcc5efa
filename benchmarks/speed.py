"""Seconds and memory of the Hilbert cut, beside meshioplusplus in the same run. See README.md.

python benchmarks/speed.py [--quick] [--cells 1000000] [--rounds 5] [--only labels partition scaling] [--large]
                           [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from cases import box_tets, shuffled, stored
from measure import BESIDE, NOTE, Taken, beside, measured, taking_turns
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

    def run(task: Task) -> Taken:
        print(f"  {task.library} {task.job} {task.mesh.stem} {task.parts} parts", file=sys.stderr, flush=True)
        result = measured(prepared, task, later=task.later)
        taken.append((task, result))
        return result

    mesh = box_tets(asked.cells)
    ordered = stored(mesh, folder)
    mixed_up = stored(shuffled(mesh, 0), folder, "shuffled")
    del mesh
    for job, parts in (("labels", 64), ("partition", 128 if asked.quick else 1024)):
        if job in asked.only:
            rows = [row for file in (ordered, mixed_up) for row in compared(job, file, parts, asked.rounds, run)]
            yield f"**{job}, {parts} parts**. {NOTE}", table(("mesh", *BESIDE), rows)
    if "scaling" in asked.only:
        parts_of = (8, 64) if asked.quick else (8, 64, 512, 4096)
        runs = [(mixed_up, parts, threads) for parts in parts_of for threads in (1, 2)]
        smaller = stored(shuffled(box_tets(asked.cells // 10), 0), folder, "shuffled")
        runs += [(smaller, 64, threads) for threads in (1, 2)]
        yield "**meshpart alone**", table(SCALED, (scaled(*setting, asked.rounds, run) for setting in runs))
    if asked.large:
        large = stored(shuffled(box_tets(10_000_000), 0), folder, "shuffled")
        tasks = [Task(OURS, job, large, 64, later=1) for job in ("labels", "partition")]
        yield "**meshpart alone, large**", table(LARGE, (large_row(task, run(task)) for task in tasks))


# -- tables -------------------------------------------------------------------------------------------------

SCALED = ("mesh", "parts", "threads", "labels s", "partition s", "partition, first call s", "partition MiB")
LARGE = ("job", "parts", "first call s", "second call s", "MiB above the mesh", "peak MiB", "within 8 GB")


def compared(job: str, mesh: Path, parts: int, rounds: int, run: Callable[[Task], Taken]) -> Iterator[tuple[str, ...]]:
    """Yield a row for the first calls in a process and one for the later ones; the libraries take turns."""
    tasks = (Task(library, job, mesh, parts, later=2) for library in (OURS, THEIRS))
    results = taking_turns(rounds, *(partial(run, task) for task in tasks))
    yield from ((mesh.stem, *row) for row in beside(*results))


def scaled(mesh: Path, parts: int, threads: int, rounds: int, run: Callable[[Task], Taken]) -> tuple[str, ...]:
    """Return the row of one number of parts and threads."""
    labels, partition = (run(Task(OURS, job, mesh, parts, rounds, threads)) for job in ("labels", "partition"))
    times = spread(labels.seconds[1:]), spread(partition.seconds[1:]), f"{partition.seconds[0]:.3f}"
    return mesh.stem, str(parts), str(threads), *times, f"{partition.extra:.0f}"


def large_row(task: Task, taken: Taken) -> tuple[str, ...]:
    """Return the row of one job on the large mesh."""
    fits = "yes" if taken.peak * 2**20 <= 8e9 else "no"
    seconds = (f"{second:.2f}" for second in taken.seconds)
    return task.job, str(task.parts), *seconds, f"{taken.extra:.0f}", f"{taken.peak:.0f}", fits


# -- what is measured ---------------------------------------------------------------------------------------


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
