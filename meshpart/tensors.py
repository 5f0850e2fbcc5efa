"""Files of arrays in the safetensors format: the length of a header, the header, which is JSON, and the bare bytes.

The first entry of the header is a text of ours, which says itself where the arrays are that it speaks of: to read it is
enough. A hash of it and of the rest of the header, which other programs go by, tells whether both are as written.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
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
HASH = 8  # characters
ALIGNMENT = 64  # of the first byte after the header
LARGEST_HEADER = 100_000_000  # as safetensors has it
LARGEST_BUFFER = 2**20  # bytes, in which small arrays are gathered
FIRST = b'{"__metadata__":{"meshpart":"'  # how a header begins, up to a hash of what follows, the text first
COMPACT = json.JSONEncoder(separators=(",", ":"))
SWAPPED = bytes.maketrans(b"\"'", b"'\"")  # in the header: JSON in JSON would be full of escapes

At = list[Any]  # where an array is in a file: its dtype, its first byte after the header, its shape


class Tensors:
    """Arrays on their way to a file.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Of dtypes that the format has.
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        # What needs the most alignment comes first, so that all are aligned.
        self._ordered = sorted(arrays.items(), key=lambda entry: -entry[1].dtype.itemsize)
        self._header: dict[str, Any] = {}
        self.at: dict[str, At] = {}
        self._end = 0
        for name, array in self._ordered:
            dtype, first = NAMES[array.dtype], self._end
            self._end += array.nbytes
            self._header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": (first, self._end)}
            self.at[name] = [dtype, first, *array.shape]

    def write(self, path: Path, text: str) -> None:
        """Write the arrays, and a text that speaks of them.

        Raises
        ------
        FormatError
            If the file cannot be written, or the header is longer than the format allows.
        """
        rest = COMPACT.encode(self._header).encode()[1:]
        rest = b'"},' + rest if self._header else b'"}}'
        told = json.dumps(text.encode().translate(SWAPPED).decode())[1:-1].encode()
        header = FIRST + f"{zlib.crc32(told + rest):08x}".encode() + told + rest
        header += b" " * (-(LENGTH + len(header)) % ALIGNMENT)
        if len(header) > LARGEST_HEADER:
            raise FormatError(f"{path.name} would have a header of {len(header)} bytes, it may have {LARGEST_HEADER}")
        try:
            with path.open("wb", buffering=min(LENGTH + len(header) + self._end, LARGEST_BUFFER)) as file:
                file.write(len(header).to_bytes(LENGTH, "little"))
                file.write(header)
                file.writelines(np.ascontiguousarray(array).data for _, array in self._ordered)
        except OSError as error:
            raise FormatError(f"{path.name} cannot be written: {error.strerror}") from error


def map_tensors(path: str | Path, size: int | None = None) -> tuple[bytes, Callable[..., Array]]:
    """Return the text of a file, and what returns the arrays that it speaks of, given their places.

    The arrays are mapped into memory, and read-only: nothing of them is read until it is used.

    Parameters
    ----------
    path : str or Path
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

    def array(dtype: str, first: int, *shape: int) -> Array:
        """Return an array; ValueError, TypeError, LookupError or OverflowError if it cannot be there."""
        if first < 0:
            raise ValueError(f"an array cannot begin at byte {first}")
        if 0 in shape:
            return frozen(np.zeros(shape, DTYPES[dtype]))
        return np.ndarray(shape, DTYPES[dtype], mapped, begin + first)

    return _text_of(mapped[LENGTH:begin].tobytes(), path), array


def _text_of(header: bytes, path: str | Path) -> bytes:
    """Return the text that is the first entry of a header."""
    begin = len(FIRST) + HASH
    end = header.find(b'"', begin)
    told = header[begin:end]
    try:
        hashed = int(header[len(FIRST) : begin], 16)
        if not header.startswith(FIRST) or zlib.crc32(header[begin:].rstrip(b" ")) != hashed:
            raise ValueError("its header is not as it was written")
        if b"\\" in told:
            told = scanstring(header.decode("ascii"), begin)[0].encode()
    except ValueError as error:
        raise FormatError(f"{path} is damaged, or was written by another program: {error}") from error
    return told.translate(SWAPPED)
