"""Open files that end: to whom reads on and on after their end they say so, instead of nothing for ever."""

from __future__ import annotations

import io
import os
from typing import Any, TypeVar

MOST_READS_AFTER_THE_END = 1000


class _EndingBytes(io.BufferedReader):
    in_vain = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        return io.BufferedReader.readline(self, size) or _nothing(self, b"")

    def read(self, size: int | None = -1, /) -> bytes:
        return io.BufferedReader.read(self, size) or _nothing(self, b"")


class _EndingText(io.TextIOWrapper):
    in_vain = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return io.TextIOWrapper.readline(self, size) or _nothing(self, "")


Nothing = TypeVar("Nothing", str, bytes)


def _nothing(file: _EndingBytes | _EndingText, nothing: Nothing) -> Nothing:
    file.in_vain += 1
    if file.in_vain > MOST_READS_AFTER_THE_END:
        raise EOFError("the file ends too early")
    return nothing


def open_ending(file: str | os.PathLike[str], mode: str = "r") -> Any:
    """Open a file as `open` does; one that is opened for reading raises EOFError after 1000 reads past its end.

    A reader that waits for a word or a line which never comes would wait for ever.

    Parameters
    ----------
    file : str or path-like
    mode : str

    Returns
    -------
    file : io.TextIOWrapper or io.BufferedReader
    """
    if mode == "r":
        return _EndingText(io.BufferedReader(io.FileIO(file)))
    if mode == "rb":
        return _EndingBytes(io.FileIO(file))
    return open(file, mode)  # noqa: PTH123
