"""The .vtu files of today's VTK, whose version meshio does not know, in the version that it reads."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

from meshpart.errors import FormatError
from meshpart.words import find_words

HEAD = 4096  # bytes in which the tag of the file stands
PIECE = 1 << 20  # bytes that are copied at once
VERSION = re.compile(rb"(<VTKFile\b[^>]*?\bversion\s*=\s*[\"'])2\.[0-9]+(?=[\"'])")
POLYHEDRA = rb"<DataArray\b[^>]*\bName\s*=\s*[\"'](face_connectivity)[\"']"


def with_known_version(content: bytes) -> bytes | None:
    """Return the content of a .vtu file in a version that meshio reads; None if it has polyhedra that meshio cannot."""
    if not VERSION.search(content[:HEAD]):
        return content
    return None if re.search(POLYHEDRA, content) else VERSION.sub(rb"\g<1>1.0", content, count=1)


@contextmanager
def in_known_version(file: Path) -> Iterator[Path]:
    """Yield a .vtu file that meshio reads, with the same content.

    Version 2 differs from version 1 in how it stores polyhedra, and in nothing else that grids of points and cells
    have. So it is a copy with another number, which vanishes when the block ends; the file itself if it is of an older
    version, or has polyhedra.
    """
    with file.open("rb") as stream:
        head = stream.read(HEAD)
        if not VERSION.search(head) or find_words(file, b"<", b"D", [POLYHEDRA])[POLYHEDRA]:
            yield file
            return
        newly_headed = chain([VERSION.sub(rb"\g<1>1.0", head, count=1)], iter(partial(stream.read, PIECE), b""))
        with _temporary_file(file.name, newly_headed) as copy:
            yield copy


@contextmanager
def _temporary_file(name: str, content: Iterable[bytes]) -> Iterator[Path]:
    """Yield a file of that name and content, which vanishes when the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        try:
            with file.open("wb") as target:
                target.writelines(content)
        except OSError as error:
            raise FormatError(f"{file} cannot be written: {error.strerror}") from error
        yield file
