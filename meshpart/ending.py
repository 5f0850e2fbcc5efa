"""Open files that end: to whom reads on and on after their end they say so, instead of nothing for ever."""

from __future__ import annotations

import io
import os
from typing import Any

MOST_READS_AFTER_THE_END = 1000


class _Ending:
    """Counts the reads in a row that brought nothing."""

    _in_vain = 0

    def _counted(self, read: Any) -> Any:
        self._in_vain = 0 if read else self._in_vain + 1
        if self._in_vain > MOST_READS_AFTER_THE_END:
            raise EOFError("the file ends too early")
        return read


class _EndingBytes(_Ending, io.BufferedReader):
    def readline(self, size: int | None = -1, /) -> bytes:
        line: bytes = self._counted(super().readline(size))
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        read: bytes = self._counted(super().read(size))
        return read


class _EndingText(_Ending, io.TextIOWrapper):
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line: str = self._counted(super().readline(size))
        return line


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
