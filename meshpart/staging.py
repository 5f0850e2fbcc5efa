"""Write sets of part files so that each is complete or not there, whatever happens on the way.

The files of a set lie in a folder of their own, and an index beside it names that folder: manifest.json in a folder of
parts, or an X.pvtu. Replacing the index, at one stroke, makes the new set valid and the old one stale.
"""

from __future__ import annotations

import html
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meshpart import arguments
from meshpart.errors import FormatError
from meshpart.one_file import put_where_nothing_is

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"
PVTU = "pvtu"  # the suffix of the other kind of index, and the format of its parts
WHAT = "meshpart parts"  # by this a manifest is known
UNFINISHED = "unfinished"  # a file that a folder has until its files are valid
FIELDS = "fields"  # the folder, among the files of a set, of what was added to the parts
SECONDS_TO_LOCK = 60  # in which who makes a folder has locked it

RUN_FOLDER = r"run-[0-9a-f]{8}-[0-9a-f]{8}"


@dataclass(frozen=True)
class Place:
    """Where a set of part files goes.

    Parameters
    ----------
    path : Path
        As it was given, without symbolic links.
    index : Path
        The file that says which folder holds the part files.
    """

    path: Path
    index: Path

    @classmethod
    def of(cls, path: Any) -> Place:
        """Return the place of an X.pvtu, or of a folder of parts."""
        given = arguments.path(path)
        try:
            place = given.resolve()
            place.exists()  # which fails for a name that is too long
        except (OSError, ValueError, RuntimeError) as error:
            raise FormatError(f"{given}: {error}") from error
        return cls(place, place if is_pvtu(place) else place / MANIFEST)

    @property
    def parent(self) -> Path:
        """The folder with the index and the folders of part files."""
        return self.index.parent

    def new_name(self, run: str) -> str:
        """Return the name of a new folder of part files."""
        return f"{self._prefix}run-{run[:8]}-{secrets.token_hex(4)}"

    def is_run_folder(self, name: str) -> bool:
        """Whether a name is one of a folder of part files."""
        return re.fullmatch(re.escape(self._prefix) + RUN_FOLDER, name) is not None

    @property
    def _prefix(self) -> str:
        return f"{self.path.stem}-" if is_pvtu(self.path) else ""


@dataclass(frozen=True)
class Draft:
    """A set of part files that is being written.

    Parameters
    ----------
    place : Place
    folder : Path
        Where the part files go.
    run : str
        Of the parts.
    overwrite : bool
    """

    place: Place
    folder: Path
    run: str
    overwrite: bool

    def commit(self, index: bytes) -> None:
        """Make the files valid, and remove those that are stale then."""
        new = self.folder / f"{self.place.index.name}.new"
        lock = None
        try:
            with new.open("wb") as file:
                file.write(index)
                file.flush()
                os.fsync(file.fileno())
            lock = _lock(self.place.parent, wait=True)  # of two who commit, the later one sees what the earlier one did
            _refuse_to_replace(self.place, overwrite=self.overwrite)
            stale, stale_run = _what_becomes_stale(self.place)
            if self.overwrite:
                new.replace(self.place.index)
            else:
                put_where_nothing_is(new, self.place.index)
            if stale is not None:
                with suppress(OSError):  # should this process be killed before all of it is removed
                    (stale / UNFINISHED).touch()
            (self.folder / UNFINISHED).unlink()
        except FormatError:
            raise
        except OSError as error:
            raise FormatError(f"{self.place.index} cannot be written: {error.strerror}") from error
        finally:
            if lock is not None:
                os.close(lock)
        if stale is not None:
            if stale_run == self.run:
                with suppress(OSError):  # where there are no fields
                    (stale / FIELDS).rename(self.folder / FIELDS)
            _remove_parts(stale)


@contextmanager
def draft(path: str | os.PathLike[str], run: str, *, overwrite: bool) -> Iterator[Draft]:
    """Make a folder for part files, which vanishes when the block ends without having committed it.

    Parameters
    ----------
    path : str or path-like
        The folder of parts, or the X.pvtu. What is valid there stays so until the commit.
    run : str
        Of the parts; names the folder.
    overwrite : bool
        Replace parts that are there; whatever else is there stays.

    Raises
    ------
    FormatError
        If something is there that must not be replaced, or nothing can be written there.
    """
    place = check_place(path, overwrite=overwrite)
    is_new = False
    folder = place.parent / place.new_name(run)
    lock = None
    try:
        try:
            is_new = _make(place.parent)
            folder.mkdir(parents=True)  # for whoever made the folder above may have left it again
            (folder / UNFINISHED).touch()
        except OSError as error:
            raise FormatError(f"{place.path}: cannot write there: {error.strerror}") from error
        lock = _lock(folder)
        _remove_abandoned(place)
        yield Draft(place, folder, run, overwrite)
    finally:
        if not _is_committed(place.index, folder):
            shutil.rmtree(folder, ignore_errors=True)
            if is_new:
                with suppress(OSError):
                    place.parent.rmdir()
        if lock is not None:
            os.close(lock)


def check_place(path: str | os.PathLike[str], *, overwrite: bool) -> Place:
    """Return where parts go; raise FormatError if something is there that must not be replaced."""
    place = Place.of(path)
    _refuse_to_replace(place, overwrite=overwrite)
    return place


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder for several sets of parts, if it is not there."""
    folder = arguments.path(path)
    try:
        folder.mkdir(exist_ok=True)
    except (OSError, ValueError) as error:
        raise FormatError(f"{folder}: cannot write there: {getattr(error, 'strerror', None) or error}") from error


def committed_folder(index: Path) -> Path:
    """Return the folder of the part files that an index names.

    Raises
    ------
    FormatError
        If the file is no index of parts.
    """
    if not is_pvtu(index):
        return folder_named_by(index, read_json(index))
    folder = _checked_folder(index, _folder_of_pvtu(index))
    try:
        if folder.is_dir():
            read_json(folder / MANIFEST)
    except FormatError:
        if _folder_of_pvtu(index) == folder.name:
            raise
        return committed_folder(index)  # another set has taken its place meanwhile
    return folder


def folder_named_by(manifest: Path, content: Mapping[str, Any]) -> Path:
    """Return the folder of the part files that the content of a manifest.json names."""
    return _checked_folder(manifest, content.get("folder"))


def read_json(file: Path) -> dict[str, Any]:
    """Return what a manifest says."""
    try:
        if file.exists() and not file.is_file():
            raise FormatError(f"{file} is no regular file")
        content = json.loads(file.read_text(encoding="utf-8"))
    except FormatError:
        raise
    except OSError as error:
        raise FormatError(f"{file.parent} is no folder of parts: {MANIFEST}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{file.parent} is no folder of parts: {MANIFEST} is not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("what") != WHAT:
        raise FormatError(f"{file.parent} is no folder of parts: its {MANIFEST} is another program's")
    return content


def is_pvtu(path: Path) -> bool:
    """Whether a path is that of a .pvtu file."""
    return path.suffix.lower() == f".{PVTU}"


def _checked_folder(index: Path, name: Any) -> Path:
    if not isinstance(name, str) or re.fullmatch(rf"([^/\\]+-)?{RUN_FOLDER}", name) is None:
        raise FormatError(f"{index} names no folder of part files")
    return index.parent / name


def _folder_of_pvtu(index: Path) -> str | None:
    """Return the folder of the first piece."""
    try:
        if not index.is_file():
            raise FormatError(f"{index} is no regular file")
        source = re.search(r'<Piece Source="([^"/]*)/[^"/]*"', index.read_text(encoding="utf-8"))
    except FormatError:
        raise
    except OSError as error:
        raise FormatError(f"{index}: {error.strerror}") from error
    except ValueError as error:
        raise FormatError(f"{index} is no .pvtu file: {error}") from error
    return None if source is None else html.unescape(source[1])


# -- what must not be replaced ------------------------------------------------------------------------------


def _refuse_to_replace(place: Place, *, overwrite: bool) -> None:
    if not place.path.parent.is_dir():
        raise FormatError(f"{place.path}: there is no folder {place.path.parent}")
    if os.path.lexists(place.index):
        try:
            committed_folder(place.index)
        except FormatError as error:
            raise FormatError(f"{error}, and is not replaced (remove it to write there)") from error
        if not overwrite:
            raise FormatError(f"{place.path} is there already; overwrite=True (--overwrite) replaces its parts")
        return
    if is_pvtu(place.path) or not os.path.lexists(place.path):
        return
    if not place.path.is_dir():
        raise FormatError(f"{place.path} is no folder of parts, and is not replaced")
    try:
        others = sorted(entry.name for entry in place.path.iterdir() if not place.is_run_folder(entry.name))
    except OSError as error:
        raise FormatError(f"{place.path}: {error.strerror}") from error
    if others and not overwrite:
        raise FormatError(
            f"{place.path} is there already and has {others[0]} in it; "
            "overwrite=True (--overwrite) writes parts beside what is there"
        )


def _make(folder: Path) -> bool:
    """Make a folder, and return whether it was not there."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


# -- what is stale ------------------------------------------------------------------------------------------


def _what_becomes_stale(place: Place) -> tuple[Path | None, str | None]:
    """Return the folder of the valid set, and its run; None if there is none, or the index is a copy of another."""
    if not place.index.exists():
        return None, None
    folder = committed_folder(place.index)
    if not place.is_run_folder(folder.name):
        return None, None
    try:
        return folder, read_json(folder / MANIFEST if is_pvtu(place.index) else place.index).get("run")
    except FormatError:  # the folder is gone
        return folder, None


def _is_committed(index: Path, folder: Path) -> bool:
    try:
        return committed_folder(index) == folder
    except FormatError:
        return False


def _remove_parts(folder: Path) -> None:
    """Remove the part files in a folder, and the folder too if nothing else is in it."""
    if folder.is_symlink():  # to files that are not ours
        return
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name == FIELDS:
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name.startswith(MANIFEST) or re.match(r"part-[0-9]{5,}\.|.*\.pvtu\.new$", entry.name):
                entry.unlink()
        (folder / UNFINISHED).unlink(missing_ok=True)
        folder.rmdir()


def _remove_abandoned(place: Place) -> None:
    """Remove the folders that processes which are gone were filling: a process locks its folder while it lives."""
    with suppress(OSError):
        for entry in place.parent.iterdir():
            is_new = time.time() - entry.lstat().st_mtime <= SECONDS_TO_LOCK
            if place.is_run_folder(entry.name) and not is_new and (entry / UNFINISHED).exists():
                lock = _lock(entry)
                if lock is not None:
                    if not _is_committed(place.index, entry):  # asked now: who commits holds the lock
                        _remove_parts(entry)
                    os.close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int | None:
    """Lock a folder and return what keeps it locked until it is closed; None where that cannot be."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
