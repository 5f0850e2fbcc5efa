"""Nested values as JSON and arrays apart, and back again, bit for bit: what a part store's files hold, without pickle.

In JSON, an array is a list of where it is: its dtype, which byte it begins at, and its shape. Another list is a tuple.
A string begins with "=", and is the rest. An object is a read-only mapping, unless it says by its key "" what it is: a
frozen dataclass or a named tuple of meshpart, with its fields, or one of a few words, by which its key "of" is to be
read. Numbers, true, false and null are themselves.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from meshpart.arrays import Array, frozen, trusted
from meshpart.errors import FormatError
from meshpart.tensors import COMPACT, NAMES, At, Tensors

KIND, TEXT = "", "="
ARRAYS = (np.ndarray, np.generic)


class Known:
    """The dataclasses and named tuples that may be packed.

    Parameters
    ----------
    classes : classes
    defaults : mapping of str to anything
        None, or something empty, by fields that are left out where they have it.
    """

    def __init__(self, *classes: Any, defaults: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.fields: dict[Any, dict[str, Any]] = {}  # of each class, and the types of their defaults
        self.by_name: dict[str, tuple[Any, frozenset[str], dict[str, Any]]] = {}
        for cls in classes:
            names = tuple(entry.name for entry in fields(cls)) if is_dataclass(cls) else cls._fields
            own = {name: defaults[name] for name in names if name in defaults}
            self.fields[cls] = {name: type(own[name]) if name in own else None for name in names}
            self.by_name[cls.__name__] = cls, frozenset(names), own

    def told(self, value: Any) -> dict[str, Any]:
        """Return the fields of a dataclass or named tuple that are not left out."""
        told = {}
        for name, of_default in self.fields[type(value)].items():
            item = getattr(value, name)
            if type(item) is not of_default or (item is not None and len(item)):
                told[name] = item
        return told


def pack(value: Any, classes: Known) -> tuple[str, Tensors]:
    """Return a value as JSON, and its arrays, which are named by a path, such as "mesh/point_data/u".

    Parameters
    ----------
    value : anything
    classes : Known
        What may be in it, besides what JSON has.

    Raises
    ------
    FormatError
        For what cannot be kept: an object of another class, an array of Python objects, what holds itself.
    """
    packer = _Packer(classes)
    try:
        packed = packer.packed(value, ())
        tensors = Tensors(packer.arrays)
        for name, node in packer.nodes.items():
            node[:] = tensors.at[name]
        return COMPACT.encode(packed), tensors
    except RecursionError as error:
        raise FormatError("field_data, block_data or info is too deep to be stored, or holds itself") from error


def unpack(text: str | bytes, array: Callable[..., Array], classes: Known) -> Any:
    """Return the value that was packed.

    Parameters
    ----------
    text : str or bytes
    array : callable
        Returns the array that is at a place in the file.
    classes : Known

    Raises
    ------
    ValueError, LookupError, TypeError, OverflowError
        If the text is not what `pack` returns.
    """
    return _unpacked(json.loads(text), array, classes.by_name)


class _Packer:
    def __init__(self, classes: Known) -> None:
        self._classes = classes
        self.arrays: dict[str, Array] = {}
        self.nodes: dict[str, At] = {}  # what stands for each array in JSON, to be filled when it is known where it is

    def packed(self, value: Any, path: tuple[str, ...]) -> Any:
        """Return what stands for a value in JSON."""
        kind = type(value)
        if kind is np.ndarray or (isinstance(value, ARRAYS) and not isinstance(value, np.ma.MaskedArray)):
            return self._array(value, path)
        if value is None or kind in (bool, int, float):
            return value
        if kind is str:
            return TEXT + value
        if kind in self._classes.fields:
            told = self._classes.told(value)
            return {KIND: kind.__name__, **{name: self.packed(item, (*path, name)) for name, item in told.items()}}
        if kind in (tuple, list):
            items = [self.packed(item, (*path, str(number))) for number, item in enumerate(value)]
            return items if kind is tuple else {KIND: "list", "of": items}
        if kind in (dict, MappingProxyType):
            return self._mapping(value, path)
        raise FormatError(f"{'.'.join(path)} cannot be stored: it is of the type {kind.__name__}")

    def _mapping(self, value: Mapping[Any, Any], path: tuple[str, ...]) -> dict[str, Any]:
        items = [self.packed(item, (*path, str(key))) for key, item in value.items()]
        if all(type(key) is str for key in value):
            of = dict(zip(value, items, strict=True))
            if type(value) is dict:
                return {KIND: "dict", "of": of}
            return {KIND: "frozen", "of": of} if KIND in of else of
        return {KIND: "pairs", "of": [self.packed(tuple(value), (*path, "keys")), items]}

    def _array(self, given: Array | np.generic, path: tuple[str, ...]) -> Any:
        values, name = np.asarray(given), _name(path)
        while name in self.arrays:
            name += "~"
        node: Any = self.nodes.setdefault(name, [])
        if values.dtype in NAMES:
            self.arrays[name] = values
        else:
            self.arrays[name], dtype = _apart(values, path)
            node = {KIND: "dtype", "of": [node, TEXT + dtype]}
        return node if isinstance(given, np.ndarray) else {KIND: "scalar", "of": node}


@lru_cache(4096)  # of one part after another, which have the same
def _name(path: tuple[str, ...]) -> str:
    """Return what the file calls an array: its path, in which a key's own slashes and such are quoted."""
    return "/".join(key.replace("%", "%25").replace("/", "%2F") for key in path)


def _apart(values: Array, path: tuple[str, ...]) -> tuple[Array, str]:
    """Return the bare bytes of an array, which the last axis counts, and its dtype as a Python literal."""
    described = np.lib.format.dtype_to_descr(values.dtype)
    if values.dtype.hasobject or np.lib.format.descr_to_dtype(described) != values.dtype:
        raise FormatError(f"{'.'.join(path)} cannot be stored: it is an array of the dtype {values.dtype}")
    if values.dtype.itemsize == 0:
        return np.zeros((*values.shape, 0), np.uint8), repr(described)
    return np.ascontiguousarray(values).reshape(*values.shape, 1).view(np.uint8), repr(described)


def _unpacked(node: Any, array: Callable[..., Array], classes: Mapping[str, Any]) -> Any:
    """Return the value that a part of the JSON, which is used up, stands for."""
    if type(node) is list:
        if node and type(node[0]) is str and node[0][0] != TEXT:
            return array(*node)
        return tuple([_unpacked(item, array, classes) for item in node])
    if type(node) is not dict:
        return node[1:] if type(node) is str else node
    kind = node.pop(KIND, None)
    if kind in classes:
        cls, names, defaults = classes[kind]
        return _instance(cls, names, {**defaults, **_values(node, array, classes)})
    if kind is None:
        return MappingProxyType(_values(node, array, classes))
    of = _values(node["of"], array, classes) if kind in ("dict", "frozen") else _unpacked(node["of"], array, classes)
    return WORDS[kind](of)


def _values(node: dict[str, Any], array: Callable[..., Array], classes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of JSON with the values that its entries stand for."""
    for name, item in node.items():
        kind = type(item)
        if kind is list and item and type(item[0]) is str and item[0][0] != TEXT:  # most are arrays
            node[name] = array(*item)
        elif kind is str and item[0] == TEXT:
            node[name] = item[1:]
        elif kind is str:
            raise ValueError(f"{item!r} is no text")
        elif kind is list or kind is dict:
            node[name] = _unpacked(item, array, classes)
    return node


def _instance(cls: Any, names: frozenset[str], values: dict[str, Any]) -> Any:
    if values.keys() != names:
        raise ValueError(f"a {cls.__name__} cannot have the fields {', '.join(values)}")
    return cls(**values) if issubclass(cls, tuple) else trusted(cls, **values)


def _viewed(apart: Array, described: str) -> Array:
    """Return an array of a dtype that the file does not have, from its bare bytes."""
    dtype = np.lib.format.descr_to_dtype(ast.literal_eval(described))
    shape = apart.shape[:-1]
    return frozen(apart.view(dtype).reshape(shape) if apart.size else np.zeros(shape, dtype))


# What the words say of what "of" holds.
WORDS: Mapping[str, Callable[[Any], Any]] = {
    "dict": dict,
    "frozen": MappingProxyType,
    "list": list,
    "pairs": lambda of: dict(zip(*of, strict=True)),
    "scalar": itemgetter(()),
    "dtype": lambda of: _viewed(*of),
}
