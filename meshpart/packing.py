"""Nested values as JSON and arrays apart, and back again, bit for bit: what a part store's files hold, without pickle.

In JSON, an array is a string, its name among the arrays: a path such as "mesh/point_data/u". A string that begins with
"=" is the rest of it. A list is a tuple. An object is a read-only mapping, unless it says by its key "" what it is: a
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
from meshpart.tensors import NAMES

KIND, TEXT = "", "="

Classes = Mapping[Any, tuple[str, ...]]  # which classes may be packed, and the names of their fields
ByName = Mapping[str, tuple[Any, tuple[str, ...]]]  # the same by the names of the classes


def pack(value: Any, classes: Classes) -> tuple[str, dict[str, Array]]:
    """Return a value as JSON, and its arrays by name.

    Parameters
    ----------
    value : anything
    classes : mapping of type to tuple of str
        The dataclasses and named tuples that may be in it, from `known`.

    Raises
    ------
    FormatError
        For what cannot be kept: an object of another class, an array of Python objects, what holds itself.
    """
    packer = _Packer(classes)
    try:
        return json.dumps(packer.packed(value, ()), separators=(",", ":")), packer.arrays
    except RecursionError as error:
        raise FormatError("field_data, block_data or info is too deep to be stored, or holds itself") from error


def unpack(text: str, arrays: Mapping[str, Array], classes: Classes) -> Any:
    """Return the value that was packed, with the arrays given.

    Raises
    ------
    ValueError, LookupError, TypeError
        If the text is not what `pack` returns.
    """
    by_name = {cls.__name__: (cls, names) for cls, names in classes.items()}
    return _unpacked(json.loads(text), arrays, by_name)


def known(*classes: Any) -> Classes:
    """Return the fields of dataclasses and named tuples, as the functions here take them."""
    return {cls: tuple(entry.name for entry in fields(cls)) if is_dataclass(cls) else cls._fields for cls in classes}


class _Packer:
    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self.arrays: dict[str, Array] = {}

    def packed(self, value: Any, path: tuple[str, ...]) -> Any:
        """Return what stands for a value in JSON."""
        kind = type(value)
        if value is None or kind in (bool, int, float):
            return value
        if kind is str:
            return TEXT + value
        if isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.ma.MaskedArray):
            return self._array(value, path)
        if kind in self._classes:
            return {KIND: kind.__name__, **{f: self.packed(getattr(value, f), (*path, f)) for f in self._classes[kind]}}
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
        node: Any = name
        if values.dtype in NAMES:
            self.arrays[name] = values
        else:
            self.arrays[name], dtype = _apart(values, path)
            node = {KIND: "dtype", "of": [name, TEXT + dtype]}
        return node if isinstance(given, np.ndarray) else {KIND: "scalar", "of": node}


@lru_cache(4096)  # of one part after another, which have the same
def _name(path: tuple[str, ...]) -> str:
    """Return what the file calls an array: its path, in which a key's own slashes and such are quoted."""
    return "/".join(key.replace("%", "%25").replace("/", "%2F").replace(TEXT, "%3D") for key in path)


def _apart(values: Array, path: tuple[str, ...]) -> tuple[Array, str]:
    """Return the bare bytes of an array, which the last axis counts, and its dtype as a Python literal."""
    described = np.lib.format.dtype_to_descr(values.dtype)
    if values.dtype.hasobject or np.lib.format.descr_to_dtype(described) != values.dtype:
        raise FormatError(f"{'.'.join(path)} cannot be stored: it is an array of the dtype {values.dtype}")
    if values.dtype.itemsize == 0:
        return np.zeros((*values.shape, 0), np.uint8), repr(described)
    return np.ascontiguousarray(values).reshape(*values.shape, 1).view(np.uint8), repr(described)


def _unpacked(node: Any, arrays: Mapping[str, Array], classes: ByName) -> Any:
    """Return the value that a part of the JSON, which is used up, stands for."""
    if type(node) is str:
        return arrays[node] if node[0] != TEXT else node[1:]
    if type(node) is list:
        return tuple([_unpacked(item, arrays, classes) for item in node])
    if type(node) is not dict:
        return node
    kind = node.pop(KIND, None)
    if kind is None:
        return MappingProxyType(_values(node, arrays, classes))
    if kind in classes:
        return _instance(*classes[kind], _values(node, arrays, classes))
    of = _values(node["of"], arrays, classes) if kind in ("dict", "frozen") else _unpacked(node["of"], arrays, classes)
    return WORDS[kind](of)


def _values(node: dict[str, Any], arrays: Mapping[str, Array], classes: ByName) -> dict[str, Any]:
    """Return an object of JSON with the values that its entries stand for."""
    for name, item in node.items():
        if type(item) is str:
            node[name] = arrays[item] if item[0] != TEXT else item[1:]
        elif type(item) in (dict, list):
            node[name] = _unpacked(item, arrays, classes)
    return node


def _instance(cls: Any, names: tuple[str, ...], values: dict[str, Any]) -> Any:
    if tuple(values) != names:
        raise ValueError(f"a {cls.__name__} has the fields {', '.join(names)}, not {', '.join(values)}")
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
