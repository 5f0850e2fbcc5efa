"""Write a folder of files so that it is complete or not there, whatever happens on the way."""

from __future__ import annotations

import ctypes
import json
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from meshpart import arguments
from meshpart.errors import FormatError

MANIFEST = "manifest.json"
WHAT = "meshpart parts"  # by this a manifest is known

NEW = re.compile(r"\.meshpart-[0-9a-f]{16}\.new")  # the name of a folder that is being filled
SECONDS_TO_LOCK = 60  # in which who makes a folder has locked it


@contextmanager
def new_folder(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[Path]:
    """Make a folder to fill, which takes its place when the block ends and vanishes when the block fails.

    Parameters
    ----------
    path : str or path-like
        Its place. Whatever is there stays as it is until the new folder is complete.
    overwrite : bool
        Replace a folder of parts that is there; what else is there is never replaced.

    Yields
    ------
    folder : pathlib.Path
        A hidden folder beside the place. It needs a manifest in the end, see `write_manifest`.

    Raises
    ------
    FormatError
        If something is there that must not be replaced, or the folder cannot be made or moved.
    """
    place = _place(path)
    _refuse_to_replace(place, overwrite)
    _remove_abandoned(place.parent)
    folder = place.with_name(f".meshpart-{secrets.token_hex(8)}.new")
    lock = None
    try:
        try:
            folder.mkdir()
        except OSError as error:
            raise FormatError(f"{path}: cannot write there: {error.strerror}") from error
        lock = _lock(folder)
        yield folder
        _refuse_to_replace(place, overwrite)
        _move(folder, place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write the manifest of a complete folder: `content`, and which files belong to it."""
    files = sorted(entry.name for entry in folder.iterdir())
    text = json.dumps({"what": WHAT, **content, "files": files}, indent=1)
    try:
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{MANIFEST} cannot be written: {error.strerror}") from error


def _place(path: Any) -> Path:
    given = arguments.path(path)
    try:
        place = given.resolve()
        if not place.parent.is_dir():
            raise FormatError(f"{given}: there is no folder {place.parent}")
    except (OSError, ValueError, RuntimeError) as error:
        raise error if isinstance(error, FormatError) else FormatError(f"{given}: {error}") from error
    return place


def _refuse_to_replace(place: Path, overwrite: bool) -> None:
    if not os.path.lexists(place):
        return
    if not overwrite:
        raise FormatError(f"{place} is there already; overwrite=True (--overwrite) replaces a folder of parts")
    try:
        manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        ours = {MANIFEST, *manifest["files"]} if manifest["what"] == WHAT else set()
    except (OSError, ValueError, LookupError, TypeError):
        ours = set()
    if not ours:
        raise FormatError(f"{place} is no folder of parts, and is not replaced")
    if others := sorted({entry.name for entry in place.iterdir()} - ours):
        raise FormatError(f"{place} has files that are no parts, and is not replaced: {', '.join(others)}")


def _move(folder: Path, place: Path) -> None:
    """Put a folder in its place; what was there vanishes, or has the folder's name afterwards."""
    if os.path.lexists(place) and _exchange(folder, place):
        return
    old = folder.with_suffix(".old")
    try:
        if os.path.lexists(place):
            place.rename(old)
        folder.rename(place)
    except OSError as error:
        raise FormatError(f"{place}: cannot write there: {error.strerror}") from error
    finally:
        if os.path.lexists(place):
            shutil.rmtree(old, ignore_errors=True)
        elif old.exists():
            old.rename(place)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places at one stroke; return whether the system and the file system could."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0


# -- what killed processes left -----------------------------------------------------------------------------


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders that processes which are gone were filling: a process locks its folder while it lives."""
    with suppress(OSError):
        for entry in parent.iterdir():
            if NEW.fullmatch(entry.name) and time.time() - entry.lstat().st_mtime > SECONDS_TO_LOCK:
                lock = _lock(entry)
                if lock is not None:
                    shutil.rmtree(entry, ignore_errors=True)
                    os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder and return what keeps it locked until it is closed; None where that cannot be."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
