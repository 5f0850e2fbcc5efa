"""Methods that do what they should not, each in its own way; other processes find them here."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import Problem
from meshpart.methods import METHODS

Labels = npt.NDArray[np.int32]
LONG = 600  # seconds


def stripes(problem: Problem) -> Labels:
    """The good one: parts of equal size in the order of the cells."""
    return (np.arange(problem.n_units) * problem.nparts // problem.n_units).astype(np.int32)


class Stripes:
    """A callable, and a method of it, that another process can have."""

    def __call__(self, problem: Problem) -> Labels:
        return stripes(problem)

    def bound(self, problem: Problem) -> Labels:
        return stripes(problem)


def aborts(_: Problem) -> Labels:
    os.write(2, b"something is terribly wrong")
    os.abort()


def leaves(_: Problem) -> Labels:
    os._exit(0)


def leaves_with_3(_: Problem) -> Labels:
    os._exit(3)


def exits(_: Problem) -> Labels:
    sys.exit("no more")


def is_interrupted(_: Problem) -> Labels:
    raise KeyboardInterrupt


def is_killed(_: Problem) -> Labels:
    os.kill(os.getpid(), signal.SIGKILL)
    return np.zeros(0, np.int32)


def raises(_: Problem) -> Labels:
    raise ValueError("two\nlines, " + 1000 * "long")


class TwoArgumentsError(Exception):
    """An error that no pickle brings back."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def raises_its_own(_: Problem) -> Labels:
    raise TwoArgumentsError("this", "that")


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def raises_in_silence(_: Problem) -> Labels:
    raise SilentError


def returns_text(_: Problem) -> Any:
    return "labels"


def returns_too_few(problem: Problem) -> Labels:
    return stripes(problem)[1:]


def returns_too_large(problem: Problem) -> Labels:
    return stripes(problem) + 1


def fills_memory(_: Problem) -> Labels:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    filled = [np.ones(1 << 20) for _ in range(1 << 12)]
    return np.concatenate(filled).astype(np.int32)


def prints(problem: Problem) -> Labels:
    sys.stdout.write("on stdout\n")
    sys.stderr.write("on stderr\n")
    for descriptor in (1, 2):
        os.write(descriptor, (1 << 18) * b"from native code ")
    return stripes(problem)


def warns(problem: Problem) -> Labels:
    warnings.warn("take care", stacklevel=1)
    return stripes(problem)


def leaves_a_thread(problem: Problem) -> Labels:
    threading.Thread(target=time.sleep, args=(LONG,)).start()
    return stripes(problem)


def leaves_a_process(problem: Problem, note: Path) -> Labels:
    """Start a process that holds what this one prints to open, and leave its number in a file."""
    note.write_text(str(subprocess.Popen(["sleep", str(LONG)]).pid))
    return stripes(problem)


def hangs_with_a_process(problem: Problem, note: Path) -> Labels:
    leaves_a_process(problem, note)
    time.sleep(LONG)
    return stripes(problem)


def tells_its_score(_: Problem) -> Labels:
    raise ValueError(Path("/proc/self/oom_score_adj").read_text())


def takes_100_mib(problem: Problem) -> Labels:
    """Take as much memory, and give it back."""
    np.ones(100 << 17)
    return stripes(problem)


def starts_kahip_often(problem: Problem) -> Labels:
    """Start KaHIP's process 300 times, which has next to nothing to do."""
    for _ in range(300):
        labels = METHODS["kahip"].run(problem)
    return labels
