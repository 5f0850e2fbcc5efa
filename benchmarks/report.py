"""What the scripts print around their figures: Markdown tables, and the machine they ran on."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median


def require_peer(name: str = "meshioplusplus", extra: str = "peers") -> None:
    """End the script with a clear message where a rival, which comes with an extra of meshpart, is not installed."""
    try:
        version(name)
    except PackageNotFoundError:
        raise SystemExit(f'This benchmark needs {name}: pip install "meshpart[{extra}]"') from None


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, all but the first column to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spread(seconds: Sequence[float]) -> str:
    """Return the median, and the least and the most."""
    return f"{median(seconds):.3f} ({min(seconds):.3f}-{max(seconds):.3f})"


def machine(*packages: str) -> dict[str, str]:
    """Return what the figures depend on, besides the script; of more packages too."""
    return {
        "date": dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": _cpu_model(),
        "cores": str(len(os.sched_getaffinity(0))),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "meshio", "meshpart", "meshioplusplus", *packages)},
    }


def heading(about: dict[str, str], command: Sequence[str]) -> str:
    """Return the lines above the tables: the command and the machine."""
    return f"`python {' '.join(command)}`\n\n" + ", ".join(f"{key} {value}" for key, value in about.items())


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
