"""The checks of plain arguments, each of which names its argument and the value it refuses."""

from __future__ import annotations

import math
import numbers
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart.errors import ArgumentError

LARGEST_INT32 = 2**31 - 1
LONGEST = 200  # characters of a value in a message


def integer(name: str, value: object, *, low: int, high: int | None = LARGEST_INT32) -> int:
    """Return `value` as int; refuse what is no integer (True and 2.0 too) or outside [low, high]."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ArgumentError(f"{name} must be an integer, got {shown(value)}")
    number = int(value)
    if high is None and number < low:
        raise ArgumentError(f"{name} must be at least {low}, got {shown(number)}")
    if high is not None and not low <= number <= high:
        raise ArgumentError(f"{name} must be between {low} and {high}, got {shown(number)}")
    return number


def shown(value: object) -> str:
    """Return the repr of a value, cut where it is long; Python refuses that of integers with thousands of digits."""
    try:
        text = repr(value)
    except ValueError:
        return "an integer of thousands of digits"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def flag(name: str, value: object) -> bool:
    """Return True or False; refuse what is neither."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ArgumentError(f"{name} must be True or False, got {shown(value)}")


def imbalance(value: object) -> Fraction:
    """Return the imbalance as an exact fraction; refuse what is negative, infinite or no number.

    A float stands for the decimal that it is written as: 0.03 is 3/100, so that 103 is within 0.03 of 100.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentError(f"imbalance must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise ArgumentError(f"imbalance must be finite and not negative, got {shown(value)}")
    return Fraction(str(value))


def positive(name: str, value: object) -> float:
    """Return a number above 0; refuse what is none, or infinite."""
    number = math.nan
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
    if not 0 < number < math.inf:
        raise ArgumentError(f"{name} must be a finite number above 0, got {shown(value)}")
    return number


def one_of(name: str, value: object, known: Iterable[str]) -> str:
    """Return a name; refuse what is not among the known ones."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise ArgumentError(f"{name} must be one of {', '.join(names)}, got {shown(value)}")
    return value


def listed(name: str, value: object, of: str = "parts") -> list[Any]:
    """Return what something iterable holds; refuse what is no list of that kind."""
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        try:
            return list(value)
        except TypeError:  # an array without dimensions
            pass
    raise ArgumentError(f"{name} must be a list of {of}, got {shown(value)}")


def path(value: Any) -> Path:
    """Return a path; refuse what is none."""
    try:
        return Path(value)
    except TypeError:
        raise ArgumentError(f"path must be a path, got {value!r}") from None


def chosen_parts(only: object, nparts: int) -> npt.NDArray[np.int32]:
    """Return the parts to build: all of them, for None; refuse what is no list of part numbers."""
    if only is None:
        return np.arange(nparts, dtype=np.int32)
    numbers_given = listed("only", only, "part numbers")
    return np.array([integer("only", part, low=0, high=nparts - 1) for part in numbers_given], np.int32)


def threads(value: object) -> int:
    """Return the number of threads to use: the processors this process may run on, for None."""
    if value is not None:
        return integer("threads", value, low=1, high=1024)
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
