"""Find words where the lines or the tags of a file begin, at little more than the cost of reading it once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from meshpart import _core

WINDOW = 1 << 17  # bytes of a file that are looked at together: they stay in the cache
MARGIN = 1 << 12  # bytes beyond them, for what begins in a window and ends after it


def find_words(path: Path, opener: bytes, firsts: bytes, patterns: Iterable[bytes]) -> dict[bytes, list[bytes]]:
    r"""Return what each pattern finds in a file, as `re.findall` would, where one of few bytes opens a line or a tag.

    Parameters
    ----------
    path : pathlib.Path
    opener : bytes
        The byte before a line or a tag: b"\n", of which there is one before the first line too, or b"<".
    firsts : bytes
        The bytes that, spaces and tabs aside, may come after the opener of a match.
    patterns : iterable of bytes
        Regular expressions that begin with the opener, with one group each. A match is at most `MARGIN` long.

    Returns
    -------
    found : dict of bytes to list of bytes
        The group of each match, by pattern.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    found: dict[bytes, list[bytes]] = {pattern: [] for pattern in patterns}
    compiled = [(re.compile(pattern), groups) for pattern, groups in found.items()]
    for text in _windows(path, opener):
        for place in _core.openings(text, opener[0], firsts).tolist():
            if place >= WINDOW:
                break  # the next window has it
            for pattern, groups in compiled:
                if match := pattern.match(text, place):
                    groups.append(match[1])
    return found


def _windows(path: Path, opener: bytes) -> Iterator[bytes]:
    """Yield an opener and the file, window by window, each with a margin that is the beginning of the next."""
    with path.open("rb", buffering=0) as file:
        text = opener + file.read(WINDOW + MARGIN)
        for beginning in count(WINDOW - len(opener), WINDOW):
            if not text:
                return
            yield text
            file.seek(beginning)
            text = file.read(WINDOW + MARGIN)
