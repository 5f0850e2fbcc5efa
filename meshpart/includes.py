"""Follow the files that an Abaqus file includes: their reader would read for ever in a device, and wait for a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from meshpart.errors import FormatError

INCLUDE = re.compile(rb"\n[ \t]*\*[ \t]*(?i:INCLUDE)\b([^\n]*)")
INPUT = re.compile(rb"(?i)\bINPUT[ \t]*=([^,]*)")


def refuse_odd_includes(file: Path) -> None:
    """Raise FormatError if a file includes, itself or by others, what is there and is no regular file."""
    seen, to_read = {file}, [file]
    while to_read:
        including = to_read.pop()
        for included in _included(including):
            if included not in seen:
                seen.add(included)
                if not included.is_file():
                    raise FormatError(f"{including} includes {included}, which is no regular file")
                to_read.append(included)


def _included(file: Path) -> Iterator[Path]:
    """Yield each path that a reader may take an *INCLUDE for: from the working folder or the file's own."""
    try:
        content = file.read_bytes()
    except OSError:  # of which the reader will speak
        return
    for line in INCLUDE.findall(b"\n" + content):
        for name in {line.rpartition(b"=")[2], *INPUT.findall(line)}:
            given = name.decode(errors="surrogateescape").strip().strip("\"'")
            for path in (Path(given), file.parent / given):
                if given and _is_there(path):
                    yield path


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, or none
        return False
