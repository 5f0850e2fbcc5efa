"""Whether cost grows faster than input plus output, and the exponent with which it grows.

Input and output are numbers and arrays that hold them, since an array costs something however small it is. Cost that
is linear in both, whatever either costs, is at most what smaller cases leave room for: the largest a * numbers +
b * arrays that is within the cost of every case with no more numbers and no more arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Size(NamedTuple):
    """How large input and output are together."""

    numbers: int
    arrays: int


class Step(NamedTuple):
    """One case of several: how large it is, and what it cost."""

    size: Size
    seconds: float
    mib: float


FILE = 20  # arrays: what a file counts as
LEAST_SECONDS, LEAST_MIB = 0.002, 4.0  # less is what any call has: it counts as that much
MOST = 3.0  # times what smaller cases leave room for: more is growth, less may be caches


class Growth(NamedTuple):
    """How a cost grows over cases."""

    factor: float  # the most by which a case costs more than smaller ones leave room for; at least 1
    exponent: float | None  # of the cost over the numbers; None where either tells nothing

    @property
    def faster(self) -> bool:
        """Whether the cost grows faster than input plus output."""
        return self.factor > MOST

    def __str__(self) -> str:
        told = f"**▲ {self.factor:.1f}**" if self.faster else f"{self.factor:.1f}"
        return told if self.exponent is None else f"{told}, exponent {self.exponent:.2f}"


def of_time(steps: Sequence[Step]) -> Growth:
    """Return how seconds grow."""
    return _growth([step.size for step in steps], [step.seconds for step in steps], LEAST_SECONDS)


def of_memory(steps: Sequence[Step]) -> Growth:
    """Return how the peak of memory grows."""
    return _growth([step.size for step in steps], [step.mib for step in steps], LEAST_MIB)


def _growth(sizes: Sequence[Size], costs: Sequence[float], least: float) -> Growth:
    cases = [(size, max(cost, least)) for size, cost in zip(sizes, costs, strict=True)]
    factors = [1.0]
    for number, (size, cost) in enumerate(cases):
        others = cases[:number] + cases[number + 1 :]
        smaller = [(a, b) for a, b in others if a.numbers <= size.numbers and a.arrays <= size.arrays]
        factors += [cost / room(size, smaller)] if smaller else []
    return Growth(max(factors), _exponent(sizes, costs, least))


def _exponent(sizes: Sequence[Size], costs: Sequence[float], least: float) -> float | None:
    """Return the slope of the logarithms, if the cases ascend, have as many arrays, and one twice as many numbers."""
    numbers, arrays = [size.numbers for size in sizes], [size.arrays for size in sizes]
    tells = [(size.numbers, cost) for size, cost in zip(sizes, costs, strict=True) if cost > least]
    if (
        numbers != sorted(numbers)
        or len(tells) < 2
        or tells[-1][0] < 2 * tells[0][0]
        or max(arrays) > 1.5 * min(arrays)
    ):
        return None
    return float(np.polyfit(*np.log(np.array(tells, float)).T, 1)[0])


def room(size: Size, smaller: Sequence[tuple[Size, float]]) -> float:
    """Return the most that a size may cost, linear in numbers and in arrays, for smaller ones to cost no more."""
    numbers, arrays = (np.array([given[axis] for given, _ in smaller], float) for axis in (0, 1))
    costs = np.array([cost for _, cost in smaller])
    corners = [(min(costs / numbers), 0.0), (0.0, min(costs / arrays))]
    for i, j in combinations(range(len(smaller)), 2):
        determinant = numbers[i] * arrays[j] - numbers[j] * arrays[i]
        if determinant:
            a = (costs[i] * arrays[j] - costs[j] * arrays[i]) / determinant
            b = (numbers[i] * costs[j] - numbers[j] * costs[i]) / determinant
            corners.append((a, b))
    within = 1 + 1e-9  # of rounding
    return max(
        a * size.numbers + b * size.arrays
        for a, b in corners
        if a >= 0 and b >= 0 and np.all(a * numbers + b * arrays <= costs * within)
    )


# -- sizes --------------------------------------------------------------------------------------------------


def size_of(*things: Any) -> Size:
    """Return the numbers and the arrays that things hold, at least one of each; files hold numbers too."""
    held = np.array([(1, 1), *_arrays(things, set())])
    return Size(*held.sum(axis=0).tolist())


def _arrays(thing: Any, seen: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of each array or file, and how many arrays it counts as; what is held twice counts once."""
    if isinstance(thing, str | int | float | None) or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing.size, 1
    elif isinstance(thing, Path):
        for file in thing.rglob("*") if thing.is_dir() else [thing]:
            if file.is_file():
                yield file.stat().st_size // 8, FILE
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from _arrays(getattr(thing, field.name), seen)
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from _arrays(value, seen)
    elif isinstance(thing, Iterable):
        for value in thing:
            yield from _arrays(value, seen)
