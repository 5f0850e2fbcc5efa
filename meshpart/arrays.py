"""Small tools for arrays and frozen dataclasses: coerce, check, compare. They know nothing of meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.ma import is_masked

from meshpart.errors import MeshError, MeshpartError

Array = npt.NDArray[Any]
Ids = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]  # part numbers of cells or units, owners of points
T = TypeVar("T")


if TYPE_CHECKING:
    import functools

    kept = functools.cached_property
else:

    class kept:
        """A property that is computed once and then kept, as functools.cached_property is, but without a lock.

        Before Python 3.12 that one holds one lock for all instances while it computes: threads wait for each other's
        meshes, and a process forked meanwhile waits for ever.
        """

        def __init__(self, compute):
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.name, self.compute(instance))


def set_field(instance: object, name: str, value: object) -> None:
    """Set a field of a frozen dataclass while it is being made."""
    object.__setattr__(instance, name, value)


def frozen(array: Array) -> Array:
    """Return a view that refuses writes; the array itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


class Frozen:
    """A base of frozen dataclasses that hold arrays: equal bit for bit, and read-only still when copied or pickled."""

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, without what was computed from them and kept."""
        return {entry.name: _thawed(getattr(self, entry.name)) for entry in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: _refrozen(value) for name, value in state.items()})


class _Thawed(dict[str, Any]):
    """A read-only mapping on its way through a copy or a pickle, which know none."""


def _thawed(value: Any) -> Any:
    return _Thawed(value) if isinstance(value, MappingProxyType) else value


def _refrozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return frozen(value)
    if isinstance(value, _Thawed):
        return MappingProxyType({name: _refrozen(item) for name, item in value.items()})
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(_refrozen, value))
    return value


def as_array(what: str, values: Any, error: type[MeshpartError] = MeshError) -> Array:
    """Return anything array-like as an array; refuse rows of different lengths, and values that are masked."""
    if type(values) is np.ndarray:
        return values
    if is_masked(values):
        raise error(f"{what} has masked values, which would be lost")
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as reason:
        raise error(f"{what} is not an array: {reason}") from None


def native(what: str, values: Any) -> Array:
    """Return an array in this machine's byte order, read-only, its dtype and shape kept."""
    array = as_array(what, values)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return frozen(array)


def as_ids(what: str, values: Any, error: type[MeshpartError] = MeshError) -> Ids:
    """Return ids as int64 as the core takes them, read-only; an empty array may have any dtype, others are integers."""
    array = as_array(what, values, error)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise error(f"{what} must be integers, got the dtype {array.dtype}")
    if array.dtype.kind == "u" and array.size > 0 and array.max() > np.iinfo(np.int64).max:
        raise error(f"{what}: {array.max()} does not fit 64 bits")
    return frozen(np.require(array, np.int64, ["C", "ALIGNED"]))


def as_row(what: str, values: Any, error: type[MeshpartError] = MeshError) -> Ids:
    """Return a flat row of ids."""
    row = as_ids(what, values, error)
    if row.ndim != 1:
        raise error(f"{what} must be flat, got the shape {row.shape}")
    return row


def as_members(what: str, values: Any, count: int) -> Ids:
    """Return the ids of a set, in the given order; refuse those outside 0..count-1. None is the empty set."""
    members = frozen(as_row(what, [] if values is None else values).copy())
    outside = np.flatnonzero((members < 0) | (members >= count))
    if len(outside):
        raise MeshError(f"{what}: entry {outside[0]} is {members[outside[0]]}, there are {count} to choose from")
    return members


def as_data(what: str, values: Any, count: int) -> Array:
    """Return data as `native` does; refuse an array whose first axis is not `count` long."""
    array = native(what, values)
    if array.ndim == 0 or len(array) != count:
        raise MeshError(f"{what} must have {count} rows, got the shape {array.shape}")
    return array


def as_mapping(what: str, values: Any, error: type[MeshpartError] = MeshError) -> Mapping[str, Any]:
    """Return a mapping by name; None is an empty one."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise error(f"{what} must be a mapping, got {type(values).__name__}")
    for name in values:
        if not isinstance(name, str):
            raise error(f"{what}: names must be str, got {name!r}")
    return values


def check_offsets(what: str, offsets: Ids, end: int, *, least: int, error: type[MeshpartError] = MeshError) -> None:
    """Refuse offsets that do not run from 0 to `end` in steps of at least `least`."""
    if offsets.ndim != 1 or len(offsets) == 0:
        raise error(f"{what} must be flat and not empty, got the shape {offsets.shape}")
    if offsets[0] != 0 or offsets[-1] != end:
        raise error(f"{what} must run from 0 to {end}, got {offsets[0]} to {offsets[-1]}")
    begins, ends = offsets[:-1], offsets[1:]
    short = np.flatnonzero((ends < begins) | (ends - begins < least))  # far apart, they differ by more than 64 bits
    if len(short):
        size = int(ends[short[0]]) - int(begins[short[0]])
        raise error(f"{what}: row {short[0]} has {size} entries, it needs at least {least}")


def told(array: Array) -> str:
    """Return the dtype of data and its shape after the first axis: "float64 x 3"."""
    return " ".join([str(array.dtype), *(f"x {n}" for n in array.shape[1:])])


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


def restarted(offsets: Ids, bounds: Ids) -> list[Array]:
    """Return the offsets from each bound to the next, both included, each piece counted from 0 on."""
    lengths = np.diff(bounds) + 1
    positions = np.arange(lengths.sum()) - np.repeat(np.arange(len(lengths)), lengths)
    return pieces(offsets[positions] - np.repeat(offsets[bounds[:-1]], lengths), starts(lengths))


def row_positions(offsets: Ids, rows: npt.NDArray[np.integer]) -> tuple[Ids, Ids]:
    """Return the offsets of chosen rows of a CSR table, one after another, and the positions of their entries."""
    begins = offsets[rows]
    lengths = offsets[rows + 1] - begins
    taken = starts(lengths)
    return taken, np.arange(taken[-1]) + np.repeat(begins - taken[:-1], lengths)


def take_rows(offsets: Ids, entries: Array, rows: npt.NDArray[np.integer]) -> tuple[Ids, Array]:
    """Return chosen rows of a CSR table: their offsets, and their entries one after another."""
    taken, positions = row_positions(offsets, rows)
    return taken, entries[positions]


def trusted(cls: type[T], **values: object) -> T:
    """Return a frozen dataclass made of checked values, without checking them again."""
    instance = object.__new__(cls)
    instance.__dict__.update(values)
    return instance


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal bit for bit: arrays with dtype and shape, and what holds arrays."""
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    if arrays or (type(a) is type(b) and isinstance(a, float | complex | np.generic)):
        return _same_arrays(np.asarray(a), np.asarray(b))  # NaN is itself, and -0.0 is not 0.0
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
