"""What the manifest of a set of part files says: how they were made, what is in each, what became of the data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from meshpart.arrays import told
from meshpart.errors import FormatError
from meshpart.staging import FIELDS, MANIFEST, PVTU, Place, committed_folder, folder_named_by, is_pvtu, read_json
from meshpart.submesh import SubMesh
from meshpart.version import __version__

FORMAT_VERSION = 2

# The packages that have a hand in what is written.
PACKAGES = ("numpy", "meshio", "kahip")

# What a manifest must have, and of which type.
NEEDED = {
    "format": str,
    "suffix": str,
    "nparts": int,
    "ghost_layers": int,
    "run": str,
    "n_cells": int,
    "n_points": int,
    "block_starts": list,
    "parts": dict,
}

# The columns of its table of parts, one entry for each part that was written.
COLUMNS = ("part", "owned_cells", "ghost_cells", "owned_points", "ghost_points", "bytes")


@dataclass(frozen=True)
class Manifest:
    """The manifest of a set of part files.

    Parameters
    ----------
    path : Path
        The folder of parts, or the X.pvtu, without symbolic links.
    folder : Path
        Where the part files are.
    content : mapping of str to anything
        What the file says.
    """

    path: Path
    folder: Path
    content: Mapping[str, Any]

    @property
    def format(self) -> str:
        """Return "store", "pvtu", or meshio's name of a format."""
        return str(self.content["format"])

    @property
    def nparts(self) -> int:
        """How many parts the decomposition has."""
        return int(self.content["nparts"])

    @property
    def parts(self) -> list[int]:
        """Which parts were written."""
        numbers: list[int] = self.content["parts"]["part"]
        return numbers

    def file(self, part: int) -> Path:
        """Return the file of a part."""
        return self.folder / file_name(part, self.content["suffix"])

    def place(self, part: int) -> int | None:
        """Return which of those that were written a part is; None if it was not."""
        numbers = self.parts
        if part < len(numbers) and numbers[part] == part:  # as where all were written in order
            return part
        return numbers.index(part) if part in numbers else None

    def entry(self, part: int, column: str) -> Any:
        """Return what a column of the table says of a part that was written."""
        return self.content["parts"][column][self.place(part)]

    def row(self, part: int) -> dict[str, Any]:
        """Return all that the table says of a part that was written."""
        return {column: self.entry(part, column) for column in self.content["parts"]}


def file_name(part: int, suffix: str) -> str:
    """Return the name of a part's file."""
    return f"part-{part:05}{suffix}"


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of a folder of parts or of an X.pvtu, and check it.

    Raises
    ------
    FormatError
        If there is none, or it is damaged, or of another version.
    """
    place = Place.of(path)
    if not place.path.exists():
        raise FormatError(f"{place.path}: there is no such file or folder")
    if place.path.is_dir() and not place.index.exists():
        _say_what_is_there_instead(place)
    if is_pvtu(place.path):
        folder = committed_folder(place.index)
        _refuse_missing(place, folder)
        file = folder / MANIFEST
        content = read_json(file)
    else:  # read once, since another set may take its place
        file = place.index
        content = read_json(file)
        if content.get("format") == PVTU:
            raise FormatError(f"{place.path} has the pieces of a .pvtu file: give that file, which is beside it")
        folder = folder_named_by(file, content)
        _refuse_missing(place, folder)
    if content.get("format_version") != FORMAT_VERSION:
        found = content.get("format_version")
        raise FormatError(f"{place.path} is of format version {found!r}, this meshpart reads version {FORMAT_VERSION}")
    if not _is_whole(content):
        raise FormatError(f"{file} is damaged")
    return Manifest(place.path, folder, content)


def _refuse_missing(place: Place, folder: Path) -> None:
    if not folder.is_dir():
        raise FormatError(f"{place.path}: its part files are not there, which lay beside it in {folder.name}")


def is_place_of_parts(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder, or a .pvtu that `write_parts` wrote, rather than a mesh file."""
    place = Place.of(path)
    if not is_pvtu(place.path):
        return place.path.is_dir()
    try:
        committed_folder(place.index)
    except FormatError:
        return False
    return True


def fields_of(manifest: Manifest) -> tuple[str, ...]:
    """Return the names under which fields were added to parts, in alphabetical order."""
    try:
        files = list((manifest.folder / FIELDS).glob("*/part-*"))
    except OSError:
        return ()
    return tuple(sorted({unquote(file.parent.name, errors="surrogatepass") for file in files}))


def describe(part: SubMesh, file_format: str, suffix: str) -> dict[str, Any]:
    """Return what the manifest says of all parts alike.

    Parameters
    ----------
    part : SubMesh
        Any one.
    file_format : str
    suffix : str
        Of the part files.
    """
    mesh, made = part.mesh, part.provenance
    return {
        "format_version": FORMAT_VERSION,
        "meshpart": __version__,
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "format": file_format,
        "suffix": suffix,
        "nparts": part.nparts,
        "ghost_layers": part.ghost_layers,
        "method": made.method,
        "mode": made.mode,
        "seed": made.seed,
        "imbalance": made.imbalance,
        "weights": made.weights,
        "edge_weights": made.edge_weights,
        "keep_together": made.keep_together,
        "repair": None if made.repair is None else made.repair._asdict(),
        "run": part.run,
        "mesh": made.mesh,
        "n_cells": part.cells.n_global,
        "n_points": part.points.n_global,
        "block_starts": part.block_starts.tolist(),
        "blocks": [{"type": block.type, "tags": list(block.tags)} for block in mesh.blocks],
        "point_data": {name: told(values) for name, values in mesh.point_data.items()},
        "cell_data": {name: told(arrays[0]) if arrays else "" for name, arrays in mesh.cell_data.items()},
        "point_sets": list(mesh.point_sets),
        "cell_sets": list(mesh.cell_sets),
        "field_data": plain(mesh.field_data),
        "block_data": plain(mesh.block_data),
        "periodic": [
            {"dim": entry.dim, "tags": plain(entry.tags), "affine": plain(entry.affine)} for entry in part.periodic
        ],
        "info": plain(mesh.info),
    }


def describe_part(part: SubMesh, file: Path) -> dict[str, Any]:
    """Return what the table says of one part, whose file has been written."""
    return {
        "part": part.part,
        "owned_cells": part.cells.n_owned,
        "ghost_cells": part.cells.n_ghost,
        "owned_points": part.points.n_owned,
        "ghost_points": part.points.n_ghost,
        "bytes": file.stat().st_size,
    }


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, and what JSON does not know as its text."""
    try:
        return _plain(value)
    except RecursionError as error:
        raise FormatError("field_data, block_data or info is too deep for a manifest, or holds itself") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@cache  # to look takes longer than to write a small part
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _say_what_is_there_instead(place: Place) -> None:
    """Raise FormatError if a folder without a manifest has something that tells more than that."""
    entries = sorted(place.path.iterdir())
    if any(place.is_run_folder(entry.name) for entry in entries):
        raise FormatError(f"{place.path} has no {MANIFEST}: its parts were not written to the end, or still are")
    inside = [entry.name for entry in entries if is_place_of_parts(entry) and Place.of(entry).index.exists()]
    if inside:
        raise FormatError(f"{place.path} is no folder of parts, but holds some, give one of them: {', '.join(inside)}")


def _is_whole(content: Mapping[str, Any]) -> bool:
    """Whether a manifest has what every reader relies on."""
    if any(type(content.get(name)) is not kind for name, kind in NEEDED.items()):
        return False
    if "/" in content["suffix"] or "\\" in content["suffix"]:
        return False
    columns = [content["parts"].get(name) for name in COLUMNS]
    lengths = {len(column) if isinstance(column, list) else -1 for column in content["parts"].values()}
    if (
        len(lengths) != 1
        or content["nparts"] < 1
        or not all(_are_numbers(column) for column in (*columns, content["block_starts"]))
    ):
        return False
    numbers = columns[0]
    return len(set(numbers)) == len(numbers) and all(number < content["nparts"] for number in numbers)


def _are_numbers(column: Any) -> bool:
    return isinstance(column, list) and all(type(number) is int and number >= 0 for number in column)
