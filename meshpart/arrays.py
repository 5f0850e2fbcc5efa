"""Small tools for arrays and frozen dataclasses: coerce, check, compare. They know nothing of meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from meshpart.errors import MeshError

Array = npt.NDArray[Any]
Ids = npt.NDArray[np.int64]
T = TypeVar("T")


def set_field(instance: object, name: str, value: object) -> None:
    """Set a field of a frozen dataclass while it is being made."""
    object.__setattr__(instance, name, value)


def frozen(array: Array) -> Array:
    """Return a view that refuses writes; the array itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def native(values: Any) -> Array:
    """Return an array in this machine's byte order, read-only, its dtype and shape kept."""
    array = np.asarray(values)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return frozen(array)


def as_ids(what: str, values: Any) -> Ids:
    """Return ids as contiguous int64, read-only; an empty array may have any dtype, others must be integers."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise MeshError(f"{what} must be integers, got the dtype {array.dtype}")
    if array.dtype.kind == "u" and array.size > 0 and array.max() > np.iinfo(np.int64).max:
        raise MeshError(f"{what}: {array.max()} does not fit 64 bits")
    return frozen(np.ascontiguousarray(array, np.int64).reshape(array.shape))


def as_members(what: str, values: Any, count: int) -> Ids:
    """Return the ids of a set, in the given order; refuse those outside 0..count-1. None is the empty set."""
    members = as_ids(what, [] if values is None else values)
    if members.ndim != 1:
        raise MeshError(f"{what} must be flat, got the shape {members.shape}")
    outside = np.flatnonzero((members < 0) | (members >= count))
    if len(outside):
        raise MeshError(f"{what}: entry {outside[0]} is {members[outside[0]]}, there are {count} to choose from")
    return members


def check_length(what: str, values: Array, count: int) -> None:
    """Refuse an array whose first axis is not `count` long."""
    if values.ndim == 0 or len(values) != count:
        raise MeshError(f"{what} must have {count} rows, got the shape {values.shape}")


def check_offsets(what: str, offsets: Ids, end: int, *, least: int) -> None:
    """Refuse offsets that do not run from 0 to `end` in steps of at least `least`."""
    if offsets.ndim != 1 or len(offsets) == 0:
        raise MeshError(f"{what} must be flat and not empty, got the shape {offsets.shape}")
    if offsets[0] != 0 or offsets[-1] != end:
        raise MeshError(f"{what} must run from 0 to {end}, got {offsets[0]} to {offsets[-1]}")
    short = np.flatnonzero(np.diff(offsets) < least)
    if len(short):
        size = offsets[short[0] + 1] - offsets[short[0]]
        raise MeshError(f"{what}: row {short[0]} has {size} entries, it needs at least {least}")


def starts(lengths: npt.ArrayLike) -> Ids:
    """Return where each of a sequence of rows begins, and the end of the last: int64, (n + 1,)."""
    lengths = np.asarray(lengths, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def flatten(rows: Sequence[Array]) -> tuple[Ids, Ids]:
    """Return rows one after another, and where each begins."""
    return np.concatenate([np.zeros(0, np.int64), *rows]), starts([len(row) for row in rows])


def pieces(values: Array, offsets: Ids) -> list[Array]:
    """Return the pieces of an array between consecutive offsets, read-only views."""
    whole = frozen(values)
    return [whole[first:last] for first, last in pairwise(offsets.tolist())]


def take_rows(offsets: Ids, entries: Array, rows: npt.NDArray[np.integer]) -> tuple[Ids, Array]:
    """Return chosen rows of a CSR table: their offsets, and their entries one after another."""
    taken = starts((offsets[1:] - offsets[:-1])[rows])
    return taken, entries[np.arange(taken[-1]) + np.repeat(offsets[rows] - taken[:-1], np.diff(taken))]


def trusted(cls: type[T], **values: object) -> T:
    """Return a frozen dataclass made of checked values, without checking them again."""
    instance = object.__new__(cls)
    instance.__dict__.update(values)
    return instance


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal bit for bit: arrays with dtype and shape, and what holds arrays."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and _same_arrays(a, b)
    if type(a) is not type(b):
        return False
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def _same_arrays(a: Array, b: Array) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.hasobject:
        return all(map(same, a.ravel().tolist(), b.ravel().tolist()))
    return a is b or a.tobytes() == b.tobytes()
