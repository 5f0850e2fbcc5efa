"""Write a mesh as a mesh file; what its format does not hold goes beside it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from meshpart.arrays import Array
from meshpart.beside import BESIDE, write_beside
from meshpart.errors import ArgumentError, FormatError, MissingDependencyError, warn
from meshpart.fitting import MeshFile, fit_mesh, refuse_mesh
from meshpart.formats import FORMATS, OTHER_NAMES, Format, find_format
from meshpart.losses import DROPPED
from meshpart.mesh import Mesh, MeshLike, as_mesh
from meshpart.one_file import cannot_write, place_for_file
from meshpart.writing import Write, writer

GO_BY_SUFFIX = ("tetgen", "ugrid")  # whose writers look at the path for how to write
KEEP_BLOCKS = ("abaqus", "ansys", "exodus", "medit", "permas")  # from whose files blocks of one type come back apart
OF_WRITERS = (BESIDE, ".h5")  # suffixes of files that are written beside mesh files


def write(
    mesh: Mesh | MeshLike, path: str | os.PathLike[str], *, format: str | None = None, overwrite: bool = False
) -> None:
    """Write a mesh file.

    A set NAME is the uint8 array set:NAME where the format has no sets. What the format does not hold stands beside the
    file: of wing.inp in wing.npz, under point_data/NAME, cell_data/NAME and the like, with the rows of the file.

    Parameters
    ----------
    mesh : Mesh, or anything with points and cells alike
        It stays as it is.
    path : str or path-like
        The file; its folder must be there. It appears when it is complete.
    format : str, optional
        meshio's name of a format, or a suffix: vtu, vtk, xdmf, exodus, med, msh, inp, ... By default the suffix of
        `path` tells it.
    overwrite : bool
        Replace a file that is there, and the files that are written beside it, each with its permissions.

    Raises
    ------
    FormatError
        If something is at `path`, or the format cannot hold the cells or the numbers; then nothing was written. If the
        file cannot be written; then what was there is there still.
    MeshError
        If the mesh cannot be right.
    MissingDependencyError
        If the format needs h5py or netCDF4 and that is not installed.

    Warns
    -----
    MeshpartWarning
        Once, if something of the mesh is not in the file but beside it, or was renamed, or is written nowhere.

    Examples
    --------
    >>> import tempfile, meshpart
    >>> mesh = meshpart.Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [("triangle", [[0, 1, 2]])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     meshpart.write(mesh, f"{folder}/one.vtu")
    ...     meshpart.read(f"{folder}/one.vtu") == mesh
    True
    """
    if isinstance(mesh, str | os.PathLike):
        raise ArgumentError(f"the mesh comes first, then the path: write(mesh, path), got {mesh!r} as the mesh")
    mesh = as_mesh(mesh)
    place, name, holds, stem = place_for_mesh(path, format=format, overwrite=overwrite)
    refuse_mesh(mesh, name, holds)
    file = fit_mesh(mesh, name, holds)
    _add_the_rest(mesh, file)
    beside = place.with_name(f"{stem}{BESIDE}")
    with open_writer(name, holds) as write_file, _folder_beside(place) as folder:
        try:
            has_beside = save(file, folder / place.name, folder / beside.name, write_file)
        except FormatError as error:
            raise FormatError(f"{path} cannot be written: {error}") from (error.__cause__ or error)
        _move(folder, place, overwrite)
    if not has_beside and beside.exists():
        file.note(f"{beside.name} is from before and has nothing of this mesh", loud=True)
    if loud := [note for note, is_loud in file.notes.items() if is_loud]:
        warn(f"{path}: {'; '.join(loud)}")


def place_for_mesh(
    path: str | os.PathLike[str], *, format: str | None = None, overwrite: bool = False
) -> tuple[Path, str, Format, str]:
    """Return where `write` will write, the name of the format, what it holds, and the file's name without its suffix.

    It raises what `write` would raise of these.
    """
    place = _place(path, overwrite)
    return place, *_format_of(place, format)


@contextmanager
def open_writer(name: str, holds: Format) -> Iterator[Write]:
    """Yield what writes files of a format; a package that it lacks is named with the extra that brings it."""
    try:
        with writer(holds.package) as write:
            yield write
    except ImportError as error:
        needed = error.name or error
        raise MissingDependencyError(f"writing {name} needs {needed}: pip install 'meshpart[formats]'") from error


def save(file: MeshFile, target: Path, beside: Path, write: Write) -> bool:
    """Write a fitted mesh, and beside it what its format does not hold.

    Parameters
    ----------
    file : MeshFile
        To be thrown away afterwards, except for its notes.
    target, beside : pathlib.Path
        The mesh file, and the .npz file, which is not written where there is nothing for it.
    write : callable
        What `open_writer` yields.

    Returns
    -------
    has_beside : bool

    Raises
    ------
    FormatError
        With the reason, if a file cannot be written, or the writer leaves something out.
    """
    remark = write(file.mesh, target, file.name)
    if DROPPED.search(remark):
        raise FormatError(remark)
    if remark:
        file.note(f"meshio: {remark}")
    return write_beside(beside, file.beside)


# -- where and how ------------------------------------------------------------------------------------------


def _place(path: Any, overwrite: bool) -> Path:
    """Return where the file will be; refuse what cannot be written, or must not be replaced."""
    place = place_for_file(path, overwrite=overwrite)
    if place.suffix.lower() in OF_WRITERS:
        raise FormatError(f"{path}: a mesh file cannot end in {place.suffix}, as files beside mesh files do")
    return place


def _format_of(place: Path, given: str | None) -> tuple[str, Format, str]:
    """Return the name of a format, what it holds, and the name of the file without its suffix."""
    suffixes = ["".join(place.suffixes[number:]) for number in range(len(place.suffixes))]
    suffix = next((long for long in suffixes if _is_known(long)), "")  # the longest: .lb8.ugrid
    if given is None and not suffix:
        if place.suffix:
            find_format(place.suffix)  # which may know why
        raise FormatError(f"{place}: its suffix tells no format; format=... (--format) does")
    name, holds, _ = find_format(suffix if given is None else given)
    if name in GO_BY_SUFFIX and suffix.lower() not in holds.suffixes:
        raise FormatError(f"{place}: a {name} file ends in {' or '.join(holds.suffixes)}")
    return name, holds, place.name[: -len(suffix)] if suffix else place.stem


def _is_known(suffix: str) -> bool:
    return suffix.lower()[1:] in OTHER_NAMES or any(suffix.lower() in holds.suffixes for holds in FORMATS.values())


@contextmanager
def _folder_beside(place: Path) -> Iterator[Path]:
    """Yield a hidden folder in which files have their names, since files of some formats name each other."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=".meshpart-", suffix=".tmp", dir=place.parent))
    except OSError as error:
        raise cannot_write(place, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, place: Path, overwrite: bool) -> None:
    """Put the files in their place, the mesh file last."""
    files = sorted(folder.iterdir(), key=lambda file: file.name == place.name)
    for file in files:
        target = place.with_name(file.name)
        if os.path.lexists(target) and not target.is_file():
            raise FormatError(f"{target}, which belongs to {place.name}, is no regular file, and is not replaced")
        if os.path.lexists(target) and not overwrite:
            raise FormatError(f"{target}, which belongs to {place.name}, is there already; overwrite=True replaces it")
    try:
        for file in files:
            if place.with_name(file.name).exists():
                shutil.copymode(place.with_name(file.name), file)
            file.replace(place.with_name(file.name))
    except OSError as error:
        raise cannot_write(place, error) from error


# -- what is neither data nor sets --------------------------------------------------------------------------


def _add_the_rest(mesh: Mesh, file: MeshFile) -> None:
    """Add what gmsh files hold besides, or put it beside the file, or say that it is written nowhere."""
    if mesh.periodic and file.name == "gmsh22":
        file.mesh.gmsh_periodic = [list(entry) for entry in mesh.periodic]
    elif mesh.periodic:
        for number, entry in enumerate(mesh.periodic):
            file.beside[f"periodic/{number}"] = entry.pairs
        file.note("periodic pairs of points are in the .npz file", loud=True)
    field_data = {name: value for name, value in mesh.field_data.items() if name not in file.mesh.field_data}
    _put_beside("field_data", {name: {name: value} for name, value in field_data.items()}, file)
    of_blocks = {
        name: {f"{name}/{number}": value for number, value in enumerate(values) if value is not None}
        for name, values in mesh.block_data.items()
    }
    _put_beside("block_data", of_blocks, file)
    types = [block.type for block in file.mesh.cells]
    if any(one == other for one, other in pairwise(types)) and file.name not in KEEP_BLOCKS:
        file.note(f"blocks of one type that follow each other are one block in {file.name} files", loud=True)
    if not all(map(len, mesh.blocks)):
        file.note("empty blocks are left out", loud=True)
    if any(block.tags for block in mesh.blocks):
        file.note("the tags of blocks are not written", loud=True)
    if mesh.info:
        file.note("info is not written", loud=True)


def _put_beside(kind: str, named: Mapping[str, Mapping[str, Any]], file: MeshFile) -> None:
    """Put beside the file what is numbers or text, and say of which names, and which of them are written nowhere."""
    names: dict[str, list[str]] = {"in the .npz file": [], "not written": []}
    for name, entries in named.items():
        arrays = {key: _as_plain(value) for key, value in entries.items()}
        kept = {f"{kind}/{key}": array for key, array in arrays.items() if array is not None}
        file.beside.update(kept)
        names["in the .npz file" if len(kept) == len(entries) else "not written"].append(repr(name))
    for where, found in names.items():
        if found:
            file.note(f"{kind} {', '.join(found)} {'is' if len(found) == 1 else 'are'} {where}", loud=True)


def _as_plain(value: Any) -> Array | None:
    """Return numbers or text as an array, and None for anything else."""
    if not isinstance(value, np.ndarray | int | float | str):
        return None
    array = np.asarray(value)
    return array if array.dtype.kind in "biufcU" else None
