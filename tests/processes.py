"""Processes that tests start, and what runs on this machine, as Linux tells it in /proc."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def host(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python code in a process and a session of its own, whose end is certain."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def children(process: int) -> list[int]:
    return [
        int(child) for path in Path(f"/proc/{process}/task").glob("*/children") for child in path.read_text().split()
    ]


def name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_gone(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"  # an orphan that nobody waits for


def waited(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Return what a condition gives as soon as it gives something true, or at last what it gives in the end."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.005)
    return found


def descendants(process: int) -> list[int]:
    """Return the children of a process, and theirs."""
    return [found for child in children(process) for found in (child, *descendants(child))]
