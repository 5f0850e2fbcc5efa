"""Resident memory of this process, from Linux's /proc: now, and at its peak since the last reset."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path


def resident() -> float:
    """Return the resident memory in MiB."""
    return _status("VmRSS")


def peak() -> float:
    """Return the most resident memory since `reset_peak` in MiB."""
    return _status("VmHWM")


def reset_peak() -> None:
    """Let the peak begin anew, at what is in use: what was freed goes back to the system, where glibc can do that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":"))
