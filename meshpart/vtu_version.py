"""The .vtu files of today's VTK, whose version meshio does not know, in the version that it reads."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from meshpart.errors import FormatError
from meshpart.words import find_words

HEAD = 4096  # bytes in which the tag of the file stands
VERSION = re.compile(rb"(<VTKFile\b[^>]*?\bversion\s*=\s*[\"'])2\.[0-9]+(?=[\"'])")
POLYHEDRA = rb"<DataArray\b[^>]*\bName\s*=\s*[\"'](face_connectivity)[\"']"


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
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / file.name
            try:
                with copy.open("wb") as target:
                    target.write(VERSION.sub(rb"\g<1>1.0", head, count=1))
                    shutil.copyfileobj(stream, target)
            except OSError as error:
                raise FormatError(f"{copy} cannot be written: {error.strerror}") from error
            yield copy
