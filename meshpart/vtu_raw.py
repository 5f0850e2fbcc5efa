"""Read .vtu files whose arrays stand as bare bytes behind the XML: each array once; meshio does the rest."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from meshpart.arrays import Array
from meshpart.vtu_version import with_known_version
from meshpart.words import find_words

BEGINNING = rb"<(AppendedData\b[^>]*\bencoding\s*=\s*[\"']raw[\"'][^>]*>\s*_)"
END = b"</AppendedData"
BLANK = re.compile(rb"\0*(\r?\n)?[ \t]*")  # no more: 10, the type of a tetrahedron, is a newline too

Dtype = np.dtype[Any]


def read_raw(path: Path) -> Any:
    """Return the mesh in a .vtu file with bare bytes, as VTK writes them.

    meshio alone would turn all of them into base64, and all that follow an array back again, once for each array.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    mesh : meshio.Mesh or None
        None where there are no bare bytes, or polyhedra that meshio does not know.

    Raises
    ------
    Whatever meshio's reader raises.
    """
    beginnings = find_words(path, b"<", b"A", [BEGINNING])[BEGINNING]
    if not beginnings:
        return None
    content = path.read_bytes()
    tag = content.index(b"<" + beginnings[0])
    begin, end = tag + 1 + len(beginnings[0]), content.rfind(END)
    if end < begin:
        return None
    xml = with_known_version(content[:tag] + b'<AppendedData encoding="base64">_' + content[end:])
    return None if xml is None else _read(path, xml, memoryview(content)[begin:end])


def _read(path: Path, xml: bytes, appended: memoryview) -> Any:
    """Return the mesh that a file is of, given its XML and its bytes apart."""
    module = import_module("meshio.vtu._vtu")
    taken: list[tuple[int, int]] = []  # the places of the arrays among the bytes

    class Reader(module.VtuReader):  # type: ignore[misc, name-defined]
        """meshio's reader, which takes what is appended for text, given bytes instead."""

        appended_data = property(lambda self: appended, lambda self, text: None)

        def read_uncompressed_binary(self, data: str | memoryview, dtype: Dtype) -> Array:
            if isinstance(data, str):
                return super().read_uncompressed_binary(data, dtype)  # type: ignore[no-any-return]
            return self.placed(data, *_bare(data, self.length, self.ordered(dtype)))

        def read_compressed_binary(self, data: str | memoryview, dtype: Dtype) -> Array:
            if isinstance(data, str):
                return super().read_compressed_binary(data, dtype)  # type: ignore[no-any-return]
            decompress = module.lzma.decompress if self.compression == "vtkLZMADataCompressor" else zlib.decompress
            return self.placed(data, *_unpacked(data, self.length, self.ordered(dtype), decompress))

        def placed(self, data: memoryview, array: Array, size: int) -> Array:
            begin = len(appended) - len(data)
            taken.append((begin, begin + size))
            return array

        @property
        def length(self) -> Dtype:
            return self.ordered(np.dtype(f"u{module.vtu_to_numpy_type[self.header_type].itemsize}"))

        def ordered(self, dtype: Dtype) -> Dtype:
            return dtype if self.byte_order is None else dtype.newbyteorder(self.byte_order[0])

    reader = Reader(_Opened(path, xml))
    _refuse_left_over(appended, taken, module.ReadError)
    return import_module("meshio").Mesh(
        reader.points,
        reader.cells,
        point_data=reader.point_data,
        cell_data=reader.cell_data,
        field_data=reader.field_data,
    )


class _Opened(str):
    """A path, and what is to be read there: meshio takes a path alone, the parser of XML what has a `read` too."""

    read: Callable[[int], bytes]

    def __new__(cls, path: Path, content: bytes) -> _Opened:
        opened = super().__new__(cls, path)
        opened.read = io.BytesIO(content).read
        return opened

    def __str__(self) -> str:
        return self


def _bare(data: memoryview, length: Dtype, dtype: Dtype) -> tuple[Array, int]:
    """Return the array at the beginning of some bytes, after its length in bytes, and how many it takes."""
    n_bytes = int(np.frombuffer(data, length, 1)[0])
    return np.frombuffer(data, np.uint8, n_bytes, length.itemsize).copy().view(dtype), length.itemsize + n_bytes


def _unpacked(
    data: memoryview, length: Dtype, dtype: Dtype, decompress: Callable[[memoryview], bytes]
) -> tuple[Array, int]:
    """Return the array at the beginning of some bytes, and how many it takes.

    It is in packed blocks, after their number, two sizes, and their lengths.
    """
    n_blocks = int(np.frombuffer(data, length, 1)[0])
    if n_blocks == 0:
        return np.zeros(0, dtype), 3 * length.itemsize
    lengths = np.frombuffer(data, length, 3 + n_blocks)[3:].tolist()
    ends = list(accumulate(lengths, initial=length.itemsize * (3 + n_blocks)))
    content = b"".join([decompress(data[begin:end]) for begin, end in pairwise(ends)])
    return np.frombuffer(content, dtype), ends[-1]


def _refuse_left_over(appended: memoryview, taken: list[tuple[int, int]], refusal: type[Exception]) -> None:
    """Raise if there are bytes, not blank, that no array takes: some were put in, or an array is read elsewhere."""
    n_taken = 0
    for begin, end in sorted([*taken, (len(appended), len(appended))]):
        if not BLANK.fullmatch(appended[n_taken:begin]):
            raise refusal(f"the appended bytes from {n_taken} to {begin} belong to no array")
        n_taken = max(n_taken, end)
