"""Measurements, each in a Python process of its own, and what a table says of them: first and later calls, ratios."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median
from typing import Any, NamedTuple, TypeVar

import memory
from report import spread

Result = TypeVar("Result")


@dataclass(frozen=True)
class Taken:
    """What calls took: seconds call by call, MiB above what was loaded before, MiB altogether, and what was found."""

    seconds: list[float]
    cpu: list[float]
    extra_first: float
    extra: float
    peak: float
    found: Any = None

    @property
    def first(self) -> float:
        """Seconds of the first call."""
        return self.seconds[0]

    @property
    def later(self) -> list[float]:
        """Seconds of the calls after the first."""
        return self.seconds[1:]


def in_fresh_process(function: Callable[..., Result], *given: Any) -> Result:
    """Call a function of a module in a Python process that has done nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *given).result()


def measured(
    prepare: Callable[..., Callable[[], Any]], *given: Any, later: int = 0, find: Callable[[Any], Any] | None = None
) -> Taken:
    """Let a fresh process load what `prepare(*given)` needs, then make the call that it returned.

    The call is made once and then `later` times again. `find` says what is kept of its result.
    """
    return in_fresh_process(_measured, prepare, given, later, find)


def _measured(
    prepare: Callable[..., Callable[[], Any]], given: tuple[Any, ...], later: int, find: Callable[[Any], Any] | None
) -> Taken:
    """Prepare, then call, and look at the clock and the memory around each call."""
    call = prepare(*given)
    gc.collect()
    memory.reset_peak()
    loaded = memory.resident()
    seconds, cpu, peaks = [], [], []
    found = None
    for number in range(1 + later):
        start, start_cpu = time.perf_counter(), time.process_time()
        result = call()
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
        peaks.append(memory.peak())
        if find and number == later:
            found = find(result)
        del result
        gc.collect()
    return Taken(seconds, cpu, peaks[0] - loaded, peaks[-1] - loaded, peaks[-1], found)


def taking_turns(rounds: int, *calls: Callable[[], Result]) -> Iterator[tuple[Result, ...]]:
    """Return the results of each call, made in turns: A B A B."""
    return zip(*[[call() for call in calls] for _ in range(rounds)], strict=True)


# -- in one process -----------------------------------------------------------------------------------------


class Timed(NamedTuple):
    """The seconds of calls, on the clock and of the processor."""

    wall: list[float]
    cpu: list[float]

    def ratios(self, other: Timed, digits: int = 2) -> tuple[str, str]:
        """Return the medians of the ratios to other calls, pair by pair."""
        return ratio(self.wall, other.wall, digits), ratio(self.cpu, other.cpu, digits)


def in_turns(
    rounds: int, ways: Mapping[str, Callable[[], Any]], processor: Callable[[], float] = time.process_time
) -> dict[str, Timed]:
    """Return what calls take that this process makes in turns: A B, B A, A B."""
    taken = {name: Timed([], []) for name in ways}
    for number in range(rounds):
        for name in list(ways)[:: -1 if number % 2 else 1]:
            start, start_cpu = time.perf_counter(), processor()
            result = ways[name]()
            taken[name].cpu.append(processor() - start_cpu)
            taken[name].wall.append(time.perf_counter() - start)
            del result
    return taken


# -- ours beside theirs -------------------------------------------------------------------------------------

BESIDE = ("call", "ours s", "theirs s", "ours / theirs", "CPU ours / theirs", "ours MiB", "theirs MiB")
FIRST, LATER = "first in its process", "later, in freed memory"
NOTE = (
    "MiB: peak of resident memory above the loaded mesh. Later calls of a process reuse what its first call freed, "
    "which spares meshioplusplus most of its page faults. meshpart uses all cores, its default."
)


def beside(ours: Sequence[Taken], theirs: Sequence[Taken]) -> Iterator[tuple[str, ...]]:
    """Yield a row for the first calls in a process and one for the later ones, with the columns of `BESIDE`."""
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
        yield call, spread(wall), spread(their_wall), ratio(wall, their_wall), ratio(cpu, their_cpu), *extra


def ratio(ours: Sequence[float], theirs: Sequence[float], digits: int = 2) -> str:
    """Return the median of the ratios, pair by pair."""
    return f"{median(a / b for a, b in zip(ours, theirs, strict=True)):.{digits}f}"
