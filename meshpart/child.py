"""Another Python process with this one's modules, for what may print, crash or hang."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import IO

SAME_MODULES = """
import json, os, select, sys
sys.path[:] = json.loads(sys.argv[1])
pipe = select.poll()
pipe.register(2, 0)
if any(event & select.POLLERR for _, event in pipe.poll(0)):
    os._exit(1)  # nobody reads what this one says: who started it was interrupted before knowing of it
"""
END_WITH_THE_PARENT = """
import ctypes, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
if os.getppid() != parent:
    os._exit(1)  # it has ended before this one could say so
"""
MOST_SAID = 500  # characters of what a process said before it failed
SECONDS_TO_SAY_IT = 1.0  # once the process has ended; others may hold its pipe


class Failed(Exception):
    """A process that did not end well: its message says how it ended."""


def command(code: str, *arguments: str) -> list[str]:
    """Return the command line of a process that finds the modules that this one finds, and runs `code`.

    Its sys.argv has the arguments from place 2 on. Raises FileNotFoundError where this process knows of no Python.
    """
    python = get_executable()
    if not python:  # where a program has Python inside
        raise FileNotFoundError("sys.executable does not name a Python to start")
    search_path = json.dumps([entry for entry in sys.path if isinstance(entry, str)])
    return [python, "-I", "-c", SAME_MODULES + code, search_path, *arguments]


def answer(code: str, *arguments: str, given: Sequence[bytes] = (), time_limit: float | None = None) -> bytes:
    """Run a process, and return what it writes to its standard output; whatever it has started ends with it.

    It has a session of its own, which a Ctrl-C on the terminal does not reach: what interrupts this call ends it. So
    does the end of this process, on Linux, however it ends. It leaves no core file behind.

    Parameters
    ----------
    code : str
    *arguments : str
        As `command` takes them.
    given : sequence of bytes
        For its standard input, one after another.
    time_limit : float, optional
        Seconds after which it is killed.

    Raises
    ------
    Failed
        If it cannot be started, crashes, fails, or takes longer; with a message that goes on from a name.
    """
    with contextlib.ExitStack() as files:
        try:
            # No pipes, into which 20 MB would go in 5000 pieces, and which a process may leave full.
            asked, answered = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            asked.writelines(given)
            asked.seek(0)
            process = subprocess.Popen(
                command(f"parent = {os.getpid()}{END_WITH_THE_PARENT}{code}", *arguments),
                stdin=asked,
                stdout=answered,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise Failed(f"cannot be started: {error}") from error
        with _ended(process):
            said = _Said(process.stderr)
            try:
                process.wait(time_limit)
            except subprocess.TimeoutExpired:
                raise Failed(f"took longer than {time_limit:g} s") from None
        answered.seek(0)
        found = answered.read()
    if process.returncode != 0:
        raise Failed(how_it_ended(process.returncode, said.text()))
    if not found:
        raise Failed("ended without an answer")
    return found


def how_it_ended(code: int, said: str) -> str:
    """Return what an exit code other than 0 means, with the last words of the process."""
    words = f": {said[-MOST_SAID:]}" if said else ""
    if code > 0:
        return f"failed with exit code {code}{words}"
    if -code == signal.SIGKILL:
        return "was killed (SIGKILL), as happens where memory runs out"
    known = {number.value: number.name for number in signal.Signals}
    return f"crashed ({known.get(-code, f'signal {-code}')}){words}"


def be_the_first_to_go() -> None:
    """Tell Linux to end this process, and those that it starts, before others where memory runs out."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a process and those that it has started when the block ends, however it ends."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Said:
    """The last words of a process, which are read while it runs, so that it never waits for a reader."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._last = b""
        self._pipe = pipe
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def text(self) -> str:
        """Return them in one line."""
        self._reader.join(SECONDS_TO_SAY_IT)
        return " ".join(self._last.decode(errors="replace").split())[-MOST_SAID:]

    def _read(self) -> None:
        with self._pipe:
            while piece := os.read(self._pipe.fileno(), 1 << 16):
                self._last = (self._last + piece)[-4 * MOST_SAID :]
