"""The file of a picture: what it may be, and how it is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.one_file import complete_file, place_for_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".pdf", ".svg")


def check_picture(path: Any, *, overwrite: bool) -> Path:
    """Return where the picture is written, or raise what writing would raise of the path."""
    given = arguments.path(path)
    if given.suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"{given}: pictures are {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    return place_for_file(path, overwrite=overwrite)


def write_picture(figure: Figure, path: Any, *, overwrite: bool) -> None:
    """Write a figure to its file, which is there when it is complete."""
    with complete_file(path, overwrite=overwrite) as unfinished:
        dated = {".pdf": "CreationDate", ".svg": "Date"}.get(unfinished.suffix)
        figure.savefig(
            unfinished, dpi=figure.dpi, bbox_inches=figure.bbox_inches, metadata={dated: None} if dated else None
        )
