"""Open files that end: to whom reads on and on after their end they say so, instead of nothing for ever."""

from __future__ import annotations

import io
import os
from typing import Any

MOST_READS_AFTER_THE_END = 1000


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
        return io.TextIOWrapper(io.BufferedReader(Ending(file)))
    if mode == "rb":
        return io.BufferedReader(Ending(file))
    return open(file, mode)  # noqa: PTH123


class Ending(io.FileIO):
    """A file below its buffer, which asks it for more once in many lines, and each time after the end."""

    in_vain = 0

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill a buffer; return how many bytes."""
        return io.FileIO.readinto(self, buffer) or self._nothing(0)

    def readall(self) -> bytes:
        """Return all that is left."""
        return io.FileIO.readall(self) or self._nothing(b"")

    def _nothing(self, nothing: Any) -> Any:
        self.in_vain += 1
        if self.in_vain > MOST_READS_AFTER_THE_END:
            raise EOFError("the file ends too early")
        return nothing
