"""How cost grows with what goes in and what comes out, and whether it grows faster than that.

A size is a number of numbers: of all that is given to a call and all that it returns. An array, however small, counts
as 100 numbers more, which is about what it costs to make one, and a file as 10 000.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ARRAY, FILE = 100, 10_000
LEAST_SECONDS, LEAST_MIB = 0.002, 4.0  # less is what any call has: it counts as that much
MOST = 2.0  # times as much for each number: more is growth, less may be caches


class Step(NamedTuple):
    """One measurement of several: how large it was, and what it cost."""

    size: int  # as `numbers` counts
    seconds: float
    mib: float


class Growth(NamedTuple):
    """How a cost grew over the steps."""

    factor: float  # the most by which cost for each number rose from one step to a larger one
    exponent: float | None  # of the cost over the size; None where either tells nothing

    @property
    def faster(self) -> bool:
        """Whether the cost grows faster than input plus output."""
        return self.factor > MOST

    def __str__(self) -> str:
        told = f"**▲ {self.factor:.1f}**" if self.faster else f"{self.factor:.1f}"
        return told if self.exponent is None else f"{told}, exponent {self.exponent:.2f}"


def of_time(steps: Sequence[Step]) -> Growth:
    """Return how seconds grew."""
    return _growth([step.size for step in steps], [step.seconds for step in steps], LEAST_SECONDS)


def of_memory(steps: Sequence[Step]) -> Growth:
    """Return how the peak of memory grew."""
    return _growth([step.size for step in steps], [step.mib for step in steps], LEAST_MIB)


def _growth(sizes: Sequence[int], costs: Sequence[float], least: float) -> Growth:
    """Compare the cost of each number with the cheapest of a smaller size."""
    factor, cheapest = 1.0, math.inf
    for size, cost in sorted(zip(sizes, costs, strict=True)):
        each = max(cost, least) / size
        cheapest = min(cheapest, each)
        factor = max(factor, each / cheapest)
    tells = [(size, cost) for size, cost in zip(sizes, costs, strict=True) if cost > least]
    if len(tells) < 2 or max(tells)[0] < 2 * min(tells)[0]:
        return Growth(factor, None)
    return Growth(factor, float(np.polyfit(*np.log(np.array(tells, float)).T, 1)[0]))


# -- sizes --------------------------------------------------------------------------------------------------


def numbers(*things: Any) -> int:
    """Return how many numbers things hold: arrays, and whatever holds arrays or is a file of them."""
    return sum(_sizes(things, set()))


def _sizes(thing: Any, seen: set[int]) -> Iterator[int]:
    """Yield the size of each array or file in a thing; what is held twice counts once."""
    if isinstance(thing, str | int | float | None) or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing.size + ARRAY
    elif isinstance(thing, Path):
        files = [file for file in thing.rglob("*") if file.is_file()] if thing.is_dir() else [thing]
        yield sum(file.stat().st_size // 8 + FILE for file in files)
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from _sizes(getattr(thing, field.name), seen)
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from _sizes(value, seen)
    elif isinstance(thing, Iterable):
        for value in thing:
            yield from _sizes(value, seen)
