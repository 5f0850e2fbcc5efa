"""Measurements, each in a Python process of its own and within a time limit, and ratios of what they give."""

from __future__ import annotations

import fcntl
import gc
import math
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from statistics import median
from typing import Any, NamedTuple, TypeVar

import memory

Result = TypeVar("Result")
CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["meshio", "meshpart", "scipy.sparse.csgraph"])  # imported once, not by each process


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


# -- a process ----------------------------------------------------------------------------------------------


class Failed(Exception):
    """A process that gave no result; the message says why."""


def in_fresh_process(function: Callable[..., Result], *given: Any, limit: float | None = None) -> Result:
    """Call a function of a module in a Python process that has done nothing but imports.

    What it prints goes to stderr. Raise `Failed` if it raises, crashes, or takes more than `limit` seconds.
    """
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_answer, args=(sender, function, given))
    process.start()
    sender.close()
    try:
        if not connection.wait([receiver, process.sentinel], limit):
            raise Failed(f"took more than {limit:g} s")
        answer = _received(receiver)
        if answer is None:
            process.join()
            raise Failed(_ending(process.exitcode))
    finally:
        if process.is_alive():  # it has answered, or never will
            process.kill()
        with suppress(ProcessLookupError):  # and what it started
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
        receiver.close()
    fine, result = answer
    if not fine:
        raise Failed(result)
    return result  # type: ignore[no-any-return]


def _received(receiver: Any) -> Any:
    """Return what a process sent, None if it ended before it could."""
    try:
        return receiver.recv() if receiver.poll() else None
    except EOFError:
        return None


def _answer(sender: Any, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Send what a call returns, or what it raises."""
    os.setpgid(0, 0)
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _end_unless_read(sender.fileno(), True)
    try:
        answer = True, function(*given)
    except Exception as error:
        answer = False, " ".join(f"{type(error).__name__}: {error}".split())[:200]
    _end_unless_read(sender.fileno(), False)  # or else reading itself would
    sender.send(answer)


def _end_unless_read(pipe: int, ends: bool) -> None:
    """Let Linux end this process, by SIGIO, when nobody is left who would read from a pipe; or not any more."""
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC if ends else flags & ~os.O_ASYNC)


def _ending(code: int | None) -> str:
    """Say how a process ended."""
    if code is not None and code < 0:
        return f"crashed: {signal.Signals(-code).name}"
    return f"ended with the exit code {code}"


# -- calls --------------------------------------------------------------------------------------------------


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
    return called(prepare(*given), find, later)


def called(
    call: Callable[[], Any], find: Callable[[Any], Any] | None = None, later: int = 0, within: float = math.inf
) -> Taken:
    """Make a call once, and up to `later` times more, until `within` seconds are spent.

    Look at the clock and the memory around each of them. `find` says what is kept of the last result.
    """
    gc.collect()
    memory.reset_peak()
    loaded = memory.resident()
    seconds, cpu, peaks = [], [], []
    found = None
    while True:
        start, start_cpu = time.perf_counter(), time.process_time()
        result = call()
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
        peaks.append(memory.peak())
        last = len(seconds) > later or sum(seconds) > within
        if find and last:
            found = find(result)
        del result
        if seconds[-1] > 0.01:  # or collecting would take longer than the call
            gc.collect()
        if last:
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


def ratio(ours: Sequence[float], theirs: Sequence[float], digits: int = 2) -> str:
    """Return the median of the ratios, pair by pair."""
    return f"{median(a / b for a, b in zip(ours, theirs, strict=True)):.{digits}f}"
