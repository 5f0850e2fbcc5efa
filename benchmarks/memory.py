"""Resident memory of this process, from Linux's /proc: now, and at its peak since the last reset."""

from __future__ import annotations

from pathlib import Path


def resident() -> float:
    """Return the resident memory in MiB."""
    return _status("VmRSS")


def peak() -> float:
    """Return the most resident memory since `reset_peak` in MiB."""
    return _status("VmHWM")


def reset_peak() -> None:
    """Let the peak begin anew at what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":"))
