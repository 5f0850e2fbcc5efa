"""Labels from outside: checked against a mesh, read from files, written to files."""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from meshpart import arguments
from meshpart.arrays import Array, Labels, as_array
from meshpart.errors import ArgumentError, FormatError
from meshpart.one_file import complete_file, place_for_file
from meshpart.quiet import in_one_line

LINES_AT_ONCE = 1 << 20
MANY_PARTS = 1000  # for each cell, from where on a label is taken for a mistake


def as_labels(
    labels: Any, n_cells: int, nparts: Any = None, *, what: str = "labels", of: str = "cell"
) -> tuple[Labels, int]:
    """Check the labels of a mesh's cells.

    Parameters
    ----------
    labels : array_like of int, (n_cells,), or a sequence with one array for each block
    n_cells : int
    nparts : int, optional
        The highest label + 1 otherwise.
    what, of : str
        What messages call the labels, and what has them.

    Returns
    -------
    labels : ndarray of int32, (n_cells,)
        A copy.
    nparts : int

    Raises
    ------
    ArgumentError
        If they are no integers, as many as cells, in 0..nparts-1.
    """
    given = _flat(labels, what)
    if given.dtype.kind not in "iu" and given.size > 0:
        raise ArgumentError(f"{what} must be integers, got the dtype {given.dtype}")
    if given.shape != (n_cells,):
        raise ArgumentError(f"{what} must have the shape ({n_cells},), got {given.shape}")
    most = arguments.LARGEST_INT32 if nparts is None else arguments.integer("nparts", nparts, low=1)
    outside = _first_outside(given, most)
    if outside >= 0:
        allowed = "it must not be negative" if given[outside] < 0 else f"outside 0..{most - 1}"
        raise ArgumentError(f"{what}: {of} {outside} has {given[outside]}, {allowed}")
    if nparts is None:
        most = int(given.max(initial=0)) + 1
        if most > MANY_PARTS and most // MANY_PARTS > n_cells:
            raise ArgumentError(
                f"{what}: {of} {given.argmax()} of {n_cells} has {most - 1}; nparts={most} allows so many empty parts"
            )
    return given.astype(np.int32), most


def _flat(labels: Any, what: str = "labels") -> Array:
    """Return labels as an array, also where one is given for each block."""
    if isinstance(labels, list | tuple) and labels and all(isinstance(entry, np.ndarray) for entry in labels):
        labels = np.concatenate([np.atleast_1d(entry) for entry in labels])
    return as_array(what, labels, ArgumentError)


def read_labels(path: str | os.PathLike[str]) -> Labels:
    r"""Read labels from a file.

    Parameters
    ----------
    path : str or path-like
        .npy: a flat NumPy array of integers. .txt: one integer a line; blank lines, and what follows a `#`, are passed
        over. .epart, or METIS's own .epart.NPARTS and .part.NPARTS: one integer a line.

    Returns
    -------
    labels : ndarray of int32, (n,)

    Raises
    ------
    FormatError
        If the file is not there or holds anything else; the message names the line or the entry.
    ArgumentError
        If the path has another suffix.

    Examples
    --------
    >>> import meshpart, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "mesh.epart")
    ...     meshpart.write_labels(file, [0, 0, 2, 1])
    ...     (file.read_text(), meshpart.read_labels(file))
    ('0\n0\n2\n1\n', array([0, 0, 2, 1], dtype=int32))
    """
    file = arguments.path(path)
    kind = _kind_of(file)
    try:
        if not file.is_file():
            raise FormatError(f"{file}: {'it is no regular file' if file.exists() else 'No such file or directory'}")
        return _from_npy(file) if kind == ".npy" else _from_text(file, comments=kind == ".txt")
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{file}: {getattr(error, 'strerror', None) or error}") from error


def write_labels(path: str | os.PathLike[str], labels: npt.ArrayLike, *, overwrite: bool = False) -> None:
    """Write labels to a file, which is there when it is complete.

    Parameters
    ----------
    path : str or path-like
        .npy for a NumPy array of int32; .txt or .epart (or METIS's .epart.NPARTS, .part.NPARTS) for one integer a
        line.
    labels : array_like of int, (n,)
    overwrite : bool
        Replace a file that is there.

    Raises
    ------
    FormatError
        If something is there that must not be replaced, or the file cannot be written.
    ArgumentError
        If the path has another suffix, or the labels are none.
    """
    given = _flat(labels)
    checked, _ = as_labels(given, given.size, arguments.LARGEST_INT32)
    kind = _kind_of(arguments.path(path))
    with complete_file(path, overwrite=overwrite) as unfinished, unfinished.open("xb") as stream:
        (_to_npy if kind == ".npy" else _to_text)(stream, checked)


def place_for_labels(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Return where `write_labels` will write, or raise what it would raise of the path."""
    _kind_of(arguments.path(path))
    return place_for_file(path, overwrite=overwrite)


def _kind_of(path: Path) -> str:
    """Return .npy, .txt, or .epart for METIS's files."""
    name = path.name.lower()
    if re.search(r"\.(epart(\.[0-9]+)?|part\.[0-9]+)$", name):
        return ".epart"
    if path.suffix.lower() in (".npy", ".txt"):
        return path.suffix.lower()
    raise ArgumentError(f"{path}: label files are .npy, .txt or .epart, or METIS's .epart.N and .part.N")


def _first_outside(values: Array, count: int) -> int:
    """Return the position of the first value outside 0..count-1, or -1."""
    outside = np.flatnonzero((values < 0) | (values >= count))
    return int(outside[0]) if len(outside) else -1


# -- NumPy's files ------------------------------------------------------------------------------------------


def _from_npy(file: Path) -> Labels:
    try:
        values = np.lib.format.open_memmap(file, mode="r")  # which refuses pickles, and more values than the file has
    except Exception as error:  # of a damaged header, whatever its parser raises
        raise FormatError(f"{file}: {getattr(error, 'strerror', None) or in_one_line(error)}") from error
    if values.dtype.kind not in "iu":
        raise FormatError(f"{file}: labels must be integers, got the dtype {values.dtype}")
    if values.ndim != 1:
        raise FormatError(f"{file}: labels must be flat, got the shape {values.shape}")
    outside = _first_outside(values, arguments.LARGEST_INT32)
    if outside >= 0:
        raise FormatError(f"{file}: cell {outside} has {values[outside]}, no number of a part")
    return np.array(values, np.int32)


def _to_npy(stream: BinaryIO, labels: Labels) -> None:
    np.save(stream, labels, allow_pickle=False)


# -- text ---------------------------------------------------------------------------------------------------


def _from_text(file: Path, *, comments: bool) -> Labels:
    text = file.read_bytes().removeprefix(codecs.BOM_UTF8)
    if text.strip() and not text.translate(
        None, b"0123456789\r\n"
    ):  # then each line is a number, and NumPy reads them all at once
        values = np.fromstring(text, np.int64, sep=" ")
        if _first_outside(values, arguments.LARGEST_INT32) < 0:
            return values.astype(np.int32)
    numbers = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = (line.partition(b"#")[0] if comments else line).strip()
        if entry:
            numbers.append(_number(entry, f"{file}, line {number}"))
    return np.array(numbers, np.int32)


def _number(entry: bytes, where: str) -> int:
    shown = ascii(entry[:40].decode("latin-1"))
    if re.fullmatch(rb"[+-]?[0-9]+", entry) is None:
        raise FormatError(f"{where}: {shown} is no integer")
    if len(entry) > 20 or not 0 <= int(entry) < arguments.LARGEST_INT32:
        raise FormatError(f"{where}: {shown} is no number of a part")
    return int(entry)


def _to_text(stream: BinaryIO, labels: Labels) -> None:
    for first in range(0, len(labels), LINES_AT_ONCE):
        lines = "\n".join(map(str, labels[first : first + LINES_AT_ONCE].tolist()))
        stream.write(f"{lines}\n".encode())
