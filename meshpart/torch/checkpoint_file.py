"""One file of tensors and plain values: complete or not there, checked before it is written and when it is read."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn

from meshpart import arguments
from meshpart.errors import ArgumentError, FormatError
from meshpart.one_file import complete_file, remove_abandoned
from meshpart.quiet import in_one_line
from meshpart.torch.layouts import check_dense

WHAT = "meshpart checkpoint"  # by this a file is known
VERSION = 1
PLAIN = (type(None), bool, int, float, complex, str, bytes)
SEQUENCES = (list, tuple, set)
MOST_BITS = 2039  # of an integer that the safe loader reads
LEVELS = 100  # of lists and dicts within each other
MAPPINGS = (dict, OrderedDict, Counter)


def write(path: Any, content: dict[str, Any]) -> None:
    """Write a file, at one stroke, in the place of an older one.

    Raises
    ------
    FormatError
        If it cannot be written; what was there stays as it was.
    """
    with complete_file(path, overwrite=True) as unfinished, _with_checksums():
        remove_abandoned(unfinished.parent)
        with unfinished.open("wb") as file:
            try:
                torch.save({"what": WHAT, "version": VERSION, **content}, file)
            except RuntimeError as error:  # torch's own, about the file it could not finish
                raise error if not isinstance(error.__context__, OSError) else error.__context__ from None
            file.flush()
            os.fsync(file.fileno())
    with suppress(OSError):  # where folders cannot be opened
        folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # so that the new name outlives a power cut
        finally:
            os.close(folder)


def read(path: Any) -> dict[str, Any]:
    """Return the content of a file, its tensors on the CPU. No code in it is run.

    Raises
    ------
    FormatError
        If it cannot be read, is not whole or is none of these files.
    """
    place = arguments.path(path)
    try:
        if not (place.is_file() or place.is_dir()) and place.exists():  # a pipe or a device, which may never end
            raise FormatError(f"{place} is no regular file")
        with zipfile.ZipFile(place) as entries:
            damaged = entries.testzip()  # torch.load looks at no checksum
        if damaged is not None:
            raise FormatError(f"{place} is damaged: {damaged} is not what was written")
        content = torch.load(place, map_location="cpu", weights_only=True)
    except FormatError:
        raise
    except zipfile.BadZipFile as error:
        raise FormatError(f"{place} is no checkpoint, or not all of one: {error}") from error
    except OSError as error:
        raise FormatError(f"{place}: {error.strerror or error}") from error
    except pickle.UnpicklingError as error:
        raise FormatError(f"{place} is no checkpoint: it holds more than tensors and plain values") from error
    except Exception as error:  # a file from elsewhere may hold anything
        raise FormatError(f"{place} is no checkpoint: {arguments.shown(in_one_line(error))}") from error
    if not isinstance(content, dict) or content.get("what") != WHAT:
        raise FormatError(f"{place} is no checkpoint of meshpart")
    if content.get("version") != VERSION:
        raise FormatError(f"{place} is a checkpoint of version {content.get('version')}, this meshpart knows {VERSION}")
    try:
        check_plain(f"{place}: content", content, 2 * LEVELS)
    except ArgumentError as error:
        raise FormatError(str(error)) from error
    return content


def check_plain(name: str, value: Any, levels: int = LEVELS) -> None:
    """Refuse a value that `torch.load(weights_only=True)` would refuse, that is in shards, or nested deeper."""
    kind = type(value)
    if levels < 0:
        raise ArgumentError(f"{name.partition('[')[0]} is nested more than {LEVELS} deep, or holds itself")
    if kind is int and value.bit_length() > MOST_BITS:
        raise ArgumentError(f"{name} is an integer of {value.bit_length()} bits, a safe loader reads {MOST_BITS}")
    if kind in PLAIN:
        return
    if isinstance(value, torch.Tensor):
        if kind not in (torch.Tensor, nn.Parameter):
            raise ArgumentError(f"{name} is a {kind.__name__}, not a plain tensor: give its full_tensor()")
        check_dense(name, value)
    elif kind in MAPPINGS:
        for key, item in value.items():
            check_plain(f"a key of {name}", key, levels)
            check_plain(f"{name}[{arguments.shown(key)}]", item, levels - 1)
    elif kind in SEQUENCES:
        for at, item in enumerate(value):
            check_plain(f"{name}[{at}]", item, levels - 1)
    elif not _is_loadable(value):
        raise ArgumentError(
            f"{name} is a {kind.__name__}, which a safe loader refuses: give tensors, numbers, text, lists and dicts"
        )


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Return a value with its tensors changed, however deep in dicts, lists and tuples."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (dict, OrderedDict):
        return type(value)((key, mapped(item, change)) for key, item in value.items())
    if type(value) in (list, tuple):
        return type(value)(mapped(item, change) for item in value)
    return value


def for_file(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor on the CPU, without history, and without what else is in its memory."""
    plain = tensor.detach().cpu()
    return plain.clone() if plain.untyped_storage().nbytes() > plain.nbytes else plain


def _is_loadable(value: Any) -> bool:
    file = io.BytesIO()
    try:
        torch.save(value, file)
        file.seek(0)
        torch.load(file, weights_only=True)
    except Exception:  # whatever pickling a foreign object raises
        return False
    return True


@contextmanager
def _with_checksums() -> Iterator[None]:
    """Let torch.save write checksums, whatever the process chose."""
    chosen = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(True)
    try:
        yield
    finally:
        torch.serialization.set_crc32_options(chosen)
