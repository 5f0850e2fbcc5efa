"""One file that is there when it is complete, and replaced only when that is asked for."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from meshpart import arguments
from meshpart.errors import FormatError

UNFINISHED = re.compile(r"\.meshpart-[0-9a-f]{16}(\..*)?", re.DOTALL)  # the name of a file that is being written
SECONDS_TO_WRITE = 3600  # after which a file that nobody writes to is abandoned


def place_for_file(path: Any, *, overwrite: bool) -> Path:
    """Return where a file will be, without symbolic links; refuse what cannot be written, or must not be replaced."""
    given = arguments.path(path)
    try:
        place = given.resolve()
        there, replaceable = os.path.lexists(place), place.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise cannot_write(given, error) from error
    if there and not replaceable:
        raise FormatError(f"{given} is no regular file, and is not replaced")
    if there and not overwrite:
        raise FormatError(f"{given} is there already; overwrite=True (--overwrite) replaces it")
    if not place.parent.is_dir():
        raise FormatError(f"{given}: there is no folder {place.parent}")
    return place


@contextmanager
def complete_file(path: Any, *, overwrite: bool) -> Iterator[Path]:
    """Yield a hidden path to write to, which takes its place when the block ends and vanishes when the block fails.

    It has the suffix of the file, and the permissions of one that it replaces.

    Raises
    ------
    FormatError
        If something is there that must not be replaced, or for an OSError of the block.
    """
    place = place_for_file(path, overwrite=overwrite)
    unfinished = place.with_name(f".meshpart-{secrets.token_hex(8)}{place.suffix.lower()}")
    try:
        yield unfinished
        if place.exists():
            shutil.copymode(place, unfinished)
        place_for_file(path, overwrite=overwrite)
        if overwrite:
            unfinished.replace(place)
        else:
            put_where_nothing_is(unfinished, place)
    except FormatError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def put_where_nothing_is(file: Path, place: Path) -> None:
    """Move a file; fail if something has come to be there meanwhile, where the file system can tell."""
    try:
        os.link(file, place)
    except FileExistsError as error:
        raise FormatError(f"{place} has come to be there meanwhile, and is not replaced") from error
    except OSError:  # no hard links
        file.replace(place)
    else:
        file.unlink()


def remove_abandoned(folder: Path) -> None:
    """Remove the hidden files that processes which are gone were writing: such as nobody has written to for long."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if UNFINISHED.fullmatch(entry.name) and time.time() - entry.lstat().st_mtime > SECONDS_TO_WRITE:
                entry.unlink()


def cannot_write(path: Any, error: Exception) -> FormatError:
    """Return why a file cannot be written."""
    return FormatError(f"{path}: cannot write there: {getattr(error, 'strerror', None) or error}")
