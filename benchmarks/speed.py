"""Seconds and memory of every kernel, beside its rivals in the same run, and how they grow. See README.md.

python benchmarks/speed.py [--quick] [--cells 1000000] [--rounds 3] [--limit 120] [--only KERNEL ...]
                           [--tables rivals cells parts layers threads shapes] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import growth
from inputs import Case, make
from kernels import CELLS, KERNELS, LAYERS, PARTS, SHAPES, THREADS, Kernel, Way
from measure import Failed, Taken, called, in_fresh_process
from report import duration, durations, heading, machine, table
from series import NUMBERED_IN_ORDER, Series, all_series, in_millions

RIVALS = "rivals"
TABLES = (RIVALS, CELLS, PARTS, LAYERS, THREADS, SHAPES)
SHUFFLED = "tets shuffled"


def main() -> None:
    """Run what the command line asks for, and print tables."""
    asked = arguments()
    about = machine("pymetis", "safetensors", "scipy")
    print(heading(about, sys.argv), flush=True)
    with TemporaryDirectory() as name:
        run = Run(Path(name), asked.limit, asked.rounds)
        chosen = [KERNELS[kernel] for kernel in asked.only]
        if RIVALS in asked.tables:
            print(f"\n{beside_rivals(run, chosen, settings(run.folder, asked))}", flush=True)
        wanted = [series for series in all_series(run.folder, asked.cells, asked.quick) if series.axis in asked.tables]
        if wanted:
            print(f"\n{GROWTH}", flush=True)
        for series in wanted:
            print(f"\n{grown(run, chosen, series)}", flush=True)
    print(f"\n{run.said()}")
    if asked.json:
        asked.json.write_text(json.dumps({"machine": about, "command": sys.argv, "runs": run.records}, indent=1))
    if run.faults:
        raise SystemExit(1)


def arguments() -> argparse.Namespace:
    """Return the checked command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the cells, fewer rounds and sizes")
    parser.add_argument("--cells", type=int, help="of the mesh beside rivals; growth is from a tenth to three times it")
    parser.add_argument("--rounds", type=int, help="processes of each rival, taking turns")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a process is ended")
    parser.add_argument("--only", nargs="+", choices=KERNELS, default=list(KERNELS), metavar="KERNEL")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--json", type=Path, help="write every single figure there")
    asked = parser.parse_args()
    asked.cells = asked.cells or (50_000 if asked.quick else 1_000_000)
    asked.rounds = asked.rounds or (2 if asked.quick else 3)
    return asked


# -- one measurement ----------------------------------------------------------------------------------------


class Run:
    """The measurements of one run, and what a reader of it must not miss."""

    def __init__(self, folder: Path, limit: float, rounds: int) -> None:
        self.folder, self.limit, self.rounds = folder, limit, rounds
        self.records: list[dict[str, Any]] = []
        self.slower: list[tuple[str, ...]] = []  # rows of the table of rivals
        self.growing: list[str] = []
        self.missing: set[str] = set()
        self.faults: list[str] = []
        self._made: set[tuple[str, Case]] = set()

    def taken(self, kernel: Kernel, way: Way, case: Case, within: float, compare: bool) -> Taken | Failed:
        """Return what a process of its own took, or why it gave nothing."""
        print(f"  {kernel.name}, {way.by}, {case.shape}, {case.cells} cells, {case.nparts} parts", file=sys.stderr)
        record = {"kernel": kernel.name, "by": way.by, "case": {**asdict(case), "folder": None}}
        self.records.append(record)
        try:
            self._make(kernel, case)
            taken = in_fresh_process(measure, way, case, kernel.later, within, compare, limit=self.limit)
        except Failed as failed:
            record["failed"] = str(failed)
            if way is kernel.way:
                self.faults.append(f"{kernel.name}, {case.shape}: {failed}")
            return failed
        finally:
            rmtree(case.scratch, ignore_errors=True)
        record["taken"] = asdict(taken)
        return taken

    def _make(self, kernel: Kernel, case: Case) -> None:
        """Make what the kernel wants, in a process of its own: a call must find the memory as it was."""
        if (kernel.name, case) not in self._made:
            in_fresh_process(make, kernel.wants, case)
            self._made.add((kernel.name, case))

    def said(self) -> str:
        """Return what a reader must not miss."""
        slower = (
            f"**Slower than a rival**\n\n{table(SLOWER, self.slower)}" if self.slower else "Slower than a rival: none"
        )
        lines = {
            "Grows faster than input plus output": self.growing,
            "Left out, since a module is not installed": sorted(self.missing),
            "FAILED": self.faults,
        }
        return "\n\n".join((slower, *(f"{what}: {'; '.join(told) or 'none'}." for what, told in lines.items())))


def measure(way: Way, case: Case, later: int, within: float, compare: bool) -> Taken:
    """Prepare a call and make it, in this process; find out what it found, or how large input and output are.

    After `within` seconds of calls no other is begun.
    """
    job = way.prepare(case)

    def find(result: Any) -> Any:
        if compare:
            return way.find and way.find(case, result)
        return growth.size_of(job.given, result)

    return called(job.call, find, later, within)


# -- beside rivals ------------------------------------------------------------------------------------------

RATIOS = ("first: ours / theirs", "later: ours / theirs", "CPU: ours / theirs")
BESIDE = ("kernel", "mesh", "parts", "by", "first call", "later calls", *RATIOS, "MiB", "result")
SLOWER = ("kernel", "mesh", "parts", "than", *RATIOS)
NOTE = (
    "Medians, and the least and the most. Ratios: of medians, pair by pair, bold where meshpart is slower; CPU: of "
    "later calls. MiB: peak of resident memory above the loaded mesh, first calls. meshpart is given a `meshio.Mesh`, "
    "takes it over in each call, and uses all cores."
)
ENOUGH = 4.0  # seconds of calls in a process that compares
SLOW = 10.0  # seconds: who takes longer has one turn alone


def settings(folder: Path, asked: argparse.Namespace) -> list[Case]:
    """Return the meshes of the comparison; kernels that are looked at with more parts are so on the last."""
    largest = Case(folder, SHUFFLED, asked.cells)
    small = replace(largest, cells=asked.cells // 10)
    return [largest] if asked.quick else [largest, replace(small, shape=NUMBERED_IN_ORDER), small]


def beside_rivals(run: Run, kernels: Iterable[Kernel], cases: list[Case]) -> str:
    """Return the table of all kernels; of those that have no rival, one row tells what they take."""
    rows: list[tuple[str, ...]] = []
    for kernel in kernels:
        for case in cases if kernel.rivals else cases[:1]:
            for parts in kernel.parts if case is cases[-1] else kernel.parts[:1]:
                rows += compared(run, kernel, kernel.of(replace(case, parts=parts)))
    return f"**Beside rivals**. {NOTE}\n\n{table(BESIDE, rows)}"


def compared(run: Run, kernel: Kernel, case: Case) -> Iterator[tuple[str, ...]]:
    """Yield a row for meshpart and for each rival that is installed; they take turns, A B A B."""
    run.missing |= {module for rival in kernel.rivals for module in rival.missing}
    ways = [kernel.way, *(rival for rival in kernel.rivals if not rival.missing)]
    taken: dict[str, list[Taken]] = {way.by: [] for way in ways}
    failures: dict[str, Failed] = {}
    for _ in range(run.rounds):
        for way in ways:
            if way.by in failures or any(result.first > SLOW for result in taken[way.by]):
                continue
            result = run.taken(kernel, way, case, ENOUGH, compare=True)
            if isinstance(result, Failed):
                failures[way.by] = result
            else:
                taken[way.by].append(result)
    ours = taken[kernel.way.by]
    for way in ways:
        what = kernel.name, f"{in_millions(case.cells)} {case.shape}", str(case.nparts), way.by
        if way.by in failures:
            yield *what, *[""] * (len(BESIDE) - len(what) - 1), str(failures[way.by])
            continue
        theirs = taken[way.by]
        ratios, same = ("", "", ""), ""
        if ours and way is not kernel.way:
            ratios, same = told_ratios(ours, theirs), agreement(way, ours, theirs)
        if any("**" in ratio for ratio in ratios):
            run.slower.append((*what, *ratios))
        if same == ANOTHER:
            run.faults.append(f"{', '.join(what)} finds {ANOTHER}")
        later = [seconds for result in theirs for seconds in result.later]
        extra = median(result.extra_first for result in theirs)
        first = durations([result.first for result in theirs])
        yield *what, first, durations(later) if later else "", *ratios, f"{extra:.0f}", same


def told_ratios(ours: list[Taken], theirs: list[Taken]) -> tuple[str, ...]:
    """Return ours / theirs of first calls, of later ones, and of the processor's seconds of these."""
    costs: tuple[Callable[[Taken], list[float]], ...] = (
        lambda taken: taken.seconds[:1],
        lambda taken: taken.later,
        lambda taken: taken.cpu[1:],
    )
    found = []
    for cost in costs:
        pairs = [(cost(a), cost(b)) for a, b in zip(ours, theirs, strict=False)]  # fewer, where one failed
        ratios = [median(a) / median(b) for a, b in pairs if a and b]
        found.append(in_bold(median(ratios)) if ratios else "")
    return tuple(found)


def in_bold(ratio: float) -> str:
    """Return a ratio, bold where meshpart is slower."""
    return f"**{ratio:.2f}**" if ratio > 1 else f"{ratio:.2f}"


SAME, ANOTHER, UNLIKE = "the same", "ANOTHER RESULT", "not compared"


def agreement(way: Way, ours: list[Taken], theirs: list[Taken]) -> str:
    """Say whether a rival found the same."""
    if way.find is None:
        return UNLIKE
    return SAME if {result.found for result in theirs} == {ours[0].found} else ANOTHER


# -- growth -------------------------------------------------------------------------------------------------

LONG = 20.0  # seconds of calls in a process that looks at growth
GROWTH = (
    "**Growth**. Seconds of the processor, one thread, later calls; MiB above the loaded mesh. Growth is the most by "
    "which a case costs more than smaller ones leave room for, if cost were linear in the numbers and the arrays of "
    f"input and output; ▲ above {growth.MOST:g}. Exponents are of the cost over the numbers."
)


def grown(run: Run, kernels: Iterable[Kernel], series: Series) -> str:
    """Return the table of one series: meshpart alone."""
    rows = []
    for kernel in kernels:
        if series.axis in kernel.grows:
            results = [run.taken(kernel, kernel.way, case, LONG, compare=False) for case in cases_of(kernel, series)]
            tell = by_threads if series.axis == THREADS else by_size
            rows.append((kernel.name, *tell(run, f"{kernel.name} ({series.title})", results)))
    heads = ("gain",) if series.axis == THREADS else ("growth of time", "growth of memory")
    note = ". Seconds on the clock" if series.axis == THREADS else ""
    return f"**{series.title}**{note}\n\n{table(('kernel', *series.heads, *heads), rows)}"


def cases_of(kernel: Kernel, series: Series) -> list[Case]:
    """Return the cases for a kernel; where layers are what differs, its own do not count."""
    if series.axis == LAYERS:
        return series.cases
    return [kernel.of(case) for case in series.cases]


def by_size(run: Run, what: str, results: list[Taken | Failed]) -> Iterator[str]:
    """Yield the cost of each case, and its growth."""
    steps = []
    for result in results:
        if isinstance(result, Failed):
            yield str(result)
        else:
            steps.append(growth.Step(result.found, median(result.cpu[1:] or result.cpu), result.extra))
            yield f"{duration(steps[-1].seconds)}, {steps[-1].mib:.0f} MiB"
    for name, of in (("time", growth.of_time), ("memory", growth.of_memory)):
        found = of(steps)
        if found.faster:
            run.growing.append(f"{name} of {what}, {found.factor:.1f}")
        yield str(found)


def by_threads(_: Run, __: str, results: list[Taken | Failed]) -> Iterator[str]:
    """Yield the seconds with each number of threads, and how much the most gain."""
    clock = []
    for result in results:
        if isinstance(result, Failed):
            yield str(result)
        else:
            clock.append(median(result.later or result.seconds))
            yield f"{duration(clock[-1])}, {result.extra:.0f} MiB"
    yield f"{clock[0] / clock[-1]:.2f}" if clock else ""


if __name__ == "__main__":
    main()
