"""What the arrays of a mesh were before they were written to files: their names, dtypes and shapes, given back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshpart.arrays import Array, same


@dataclass(frozen=True)
class Was:
    """What an array was, and how it is called in the files."""

    name: str
    dtypes: list[np.dtype[Any]]  # of each block
    shapes: list[tuple[int, ...]]  # of each block, after the first axis


@dataclass(frozen=True)
class Were:
    """What all arrays of a mesh were, as `MeshFile.arrays` says; nothing, where that is not known."""

    coordinates: Was | None
    data: dict[str, dict[str, Was]]  # of "point" and "cell", by the mesh's own name
    dtypes: dict[str, dict[str, list[str | None]]]  # of "field_data", and of "block_data" for each block
    n_blocks: int

    @classmethod
    def of(cls, arrays: Mapping[str, Any], n_blocks: int) -> Were:
        """Return what the manifest says; raise KeyError, TypeError or ValueError where it is damaged."""
        return cls(
            _was(arrays["points"], 1) if "points" in arrays else None,
            {
                kind: {name: _was(was, count) for name, was in arrays.get(f"{kind}_data", {}).items()}
                for kind, count in (("point", 1), ("cell", n_blocks))
            },
            {field: arrays.get(field, {}) for field in ("field_data", "block_data")},
            n_blocks,
        )

    def has(self, kind: str, name: str) -> bool:
        """Whether an array of the files is one that the mesh had."""
        return name in self.names(kind)

    def names(self, kind: str) -> list[str]:
        """Return the names, in the files, of the arrays that the mesh had."""
        return [was.name for was in self.data[kind].values()]

    def field_data(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return field data of a manifest, where it was an array as that."""
        dtypes = self.dtypes["field_data"]
        return {name: _restored(value, *dtypes.get(name, [None])) for name, value in values.items()}

    def block_data(self, values: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Return block data of a manifest, where it was an array as that."""
        dtypes = self.dtypes["block_data"]
        return {
            name: [_restored(*was) for was in zip(blocks, dtypes.get(name, [None] * self.n_blocks), strict=True)]
            for name, blocks in values.items()
        }

    def points(self, values: Array) -> Array:
        """Return points with as many coordinates as they had, if the others are 0, and of the dtype they had."""
        if self.coordinates is None:
            return values
        (dtype,), ((dim,),) = self.coordinates.dtypes, self.coordinates.shapes
        values = values if np.any(values[:, dim:]) else values[:, :dim]
        return as_it_was(values, dtype, values.shape[1:])

    def arrays(self, kind: str, found: Mapping[str, Sequence[Array]]) -> dict[str, list[Array]]:
        """Return arrays of the files by the names, and of the dtypes and shapes, that they had; others as they are."""
        left = dict(found)
        result: dict[str, list[Array]] = {}
        for name, was in self.data[kind].items():
            if was.name in left:
                blocks = zip(left.pop(was.name), was.dtypes, was.shapes, strict=True)
                result[name] = [as_it_was(values, dtype, shape) for values, dtype, shape in blocks]
        return {**result, **{name: list(blocks) for name, blocks in left.items()}}


def as_it_was(values: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return values of a dtype, and of a shape after the first axis, if that changes none of them at all.

    Files of text have all digits of a number, so that what is not the same was changed by somebody.
    """
    if values.size == 0 and len(values) == 0:
        return np.zeros((0, *(shape or values.shape[1:])), dtype)
    if shape != values.shape[1:] and math.prod(shape) == math.prod(values.shape[1:]):
        values = values.reshape(len(values), *shape)
    if dtype == values.dtype:
        return values
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
        back = cast.astype(values.dtype)
    return cast if same(back, values) else values


def _restored(value: Any, dtype: str | None) -> Any:
    return value if dtype is None else np.array(value, dtype)


def _was(was: Mapping[str, Any], n_blocks: int) -> Was:
    dtypes = [np.dtype(name) for name in was["dtypes"]]
    shapes = [tuple(map(int, shape)) for shape in was["shapes"]]
    if not len(dtypes) == len(shapes) == n_blocks or not isinstance(was["name"], str):
        raise ValueError("an array has not one dtype and shape for each block")
    return Was(was["name"], dtypes, shapes)
