"""What the scripts print around their figures: Markdown tables, and the machine they ran on."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
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


def duration(seconds: float) -> str:
    """Return seconds in a unit that suits them."""
    return _in_unit(seconds, seconds)


def durations(seconds: Sequence[float]) -> str:
    """Return the median, and the least and the most."""
    middle = median(seconds)
    least, most = (_in_unit(value, middle).split()[0] for value in (min(seconds), max(seconds)))
    value, unit = _in_unit(middle, middle).split()
    return f"{value} ({least}-{most}) {unit}"


def _in_unit(seconds: float, like: float) -> str:
    """Return seconds with three digits, in the unit that suits `like`."""
    scale, unit = next((scale, unit) for least, scale, unit in UNITS if like >= least)
    value = seconds * scale
    return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"


UNITS = ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (0.0, 1e6, "µs"))  # from how many seconds on


def machine(*packages: str) -> dict[str, str]:
    """Return what the figures depend on, besides the script; of more packages too, of all that are installed."""
    return {
        "date": dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": _cpu_model(),
        "cores": str(len(os.sched_getaffinity(0))),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "Python": platform.python_version(),
        **_versions("numpy", "meshio", "meshpart", "meshioplusplus", *packages),
    }


def heading(about: dict[str, str], command: Sequence[str]) -> str:
    """Return the lines above the tables: the command and the machine."""
    return f"`python {' '.join(command)}`\n\n" + ", ".join(f"{key} {value}" for key, value in about.items())


def _versions(*packages: str) -> dict[str, str]:
    """Return the versions of those that are installed."""
    found = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
