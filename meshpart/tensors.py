"""Files of arrays in the safetensors format: the length of a header, the header, which is JSON, and the bare bytes."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from meshpart import _core
from meshpart.arrays import Array, frozen
from meshpart.errors import FormatError

# The dtypes that the format has, by its names.
DTYPES = {
    name: np.dtype(dtype)
    for name, dtype in {
        "F64": "<f8",
        "F32": "<f4",
        "F16": "<f2",
        "I64": "<i8",
        "I32": "<i4",
        "I16": "<i2",
        "I8": "i1",
        "U64": "<u8",
        "U32": "<u4",
        "U16": "<u2",
        "U8": "u1",
        "BOOL": "?",
    }.items()
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

LENGTH = 8  # bytes, of the length of the header
ALIGNMENT = 64  # of the first byte after the header
LARGEST_HEADER = 100_000_000  # as safetensors has it
LARGEST_BUFFER = 2**20  # bytes, in which small arrays are gathered
METADATA = "__metadata__"


def write_tensors(path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write arrays to a file.

    Parameters
    ----------
    path : Path
    arrays : mapping of str to ndarray
        Of dtypes that the format has. What needs the most alignment comes first, so that all are aligned.
    metadata : mapping of str to str

    Raises
    ------
    FormatError
        If the file cannot be written, or the header is longer than the format allows.
    """
    header: dict[str, Any] = {METADATA: dict(metadata)}
    end = 0
    ordered = sorted(arrays.items(), key=lambda entry: -entry[1].dtype.itemsize)
    for name, array in ordered:
        dtype = NAMES[array.dtype]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": (end, end := end + array.nbytes)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(LENGTH + len(text)) % ALIGNMENT)
    if len(text) > LARGEST_HEADER:
        raise FormatError(f"{path.name} would have a header of {len(text)} bytes, it may have {LARGEST_HEADER}")
    try:
        with path.open("wb", buffering=min(LENGTH + len(text) + end, LARGEST_BUFFER)) as file:
            file.write(len(text).to_bytes(LENGTH, "little"))
            file.write(text)
            for _, array in ordered:
                if array.size:
                    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    except OSError as error:
        raise FormatError(f"{path.name} cannot be written: {error.strerror}") from error


def map_tensors(path: Path, size: int | None = None) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays of a file, which are mapped into memory and read-only, and its metadata.

    Nothing is read but the header, until an array is used.

    Parameters
    ----------
    path : Path
    size : int, optional
        How many bytes the file should have.

    Raises
    ------
    FormatError
        If there is no such file, or it is not of this format, or not whole.
    """
    try:
        mapped = _core.map_file(os.fsencode(path))
    except (OSError, UnicodeError) as error:
        raise FormatError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if size is not None and len(mapped) != size:
        raise FormatError(f"{path} is damaged, or of another run: it has {len(mapped)} bytes, not {size}")
    begin = LENGTH + int.from_bytes(mapped[:LENGTH].tobytes(), "little")
    if not LENGTH < begin <= len(mapped):
        raise FormatError(f"{path} is damaged: its header would end at byte {begin} of {len(mapped)}")
    arrays: dict[str, Array] = {}
    try:
        header = json.loads(mapped[LENGTH:begin].tobytes())
        metadata = header.pop(METADATA, {})
        for name, told in header.items():
            dtype, shape, (first, last) = DTYPES[told["dtype"]], told["shape"], told["data_offsets"]
            if math.prod(shape) * dtype.itemsize != last - first or first < 0:
                raise ValueError(f"{name} cannot be at {first}:{last}")
            if first == last:
                arrays[name] = frozen(np.zeros(shape, dtype))
            else:
                arrays[name] = np.ndarray(shape, dtype, mapped, begin + first)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(f"{path} is damaged: its header is not one of safetensors ({error})") from error
    return arrays, metadata
