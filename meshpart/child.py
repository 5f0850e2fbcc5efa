"""Another Python process with this one's modules, for what may print, crash or hang."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from multiprocessing.spawn import get_executable

SAME_MODULES = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
"""
MOST_SAID = 500  # characters of what a process said before it failed


class Failed(Exception):
    """A process that did not end well: its message says how it ended."""


def command(code: str, *arguments: str) -> list[str]:
    """Return the command line of a process that finds the modules that this one finds, and runs `code`.

    Its sys.argv has the arguments from place 2 on.
    """
    search_path = json.dumps([entry for entry in sys.path if isinstance(entry, str)])
    return [get_executable(), "-I", "-c", SAME_MODULES + code, search_path, *arguments]


def answer(code: str, *arguments: str, given: bytes = b"", time_limit: float | None = None) -> bytes:
    """Run a process, and return what it writes to its standard output.

    Parameters
    ----------
    code : str
    *arguments : str
        As `command` takes them.
    given : bytes
        For its standard input.
    time_limit : float, optional
        Seconds after which it is killed.

    Raises
    ------
    Failed
        If it cannot be started, crashes, fails, or takes longer; with a message that goes on from a name.
    """
    try:
        done = subprocess.run(
            command(code, *arguments), input=given, capture_output=True, check=False, timeout=time_limit
        )
    except OSError as error:
        raise Failed(f"cannot be started: {error}") from error
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than {time_limit:g} s") from None
    if done.returncode < 0:
        raise Failed(f"crashed ({signal.Signals(-done.returncode).name})")
    if done.returncode > 0:
        said = " ".join((done.stdout + done.stderr).decode(errors="replace").split())
        raise Failed(f"failed: {said[-MOST_SAID:] or f'exit code {done.returncode}'}")
    return done.stdout
