"""Read mesh files of any format, whatever their readers do, and write parts as a folder of mesh files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from meshpart import arguments, losses, second_reader
from meshpart.errors import ArgumentError, FormatError, MeshpartError, MissingDependencyError, warn
from meshpart.formats import Format, find_format
from meshpart.includes import refuse_odd_includes
from meshpart.manifest import describe, describe_part
from meshpart.mesh import Mesh
from meshpart.meshio_bridge import from_meshio, patched_meshio
from meshpart.part_files import PartFile, fit, refuse_what_it_lacks
from meshpart.quiet import in_one_line, listening, said
from meshpart.staging import new_folder, write_manifest
from meshpart.submesh import SubMesh
from meshpart.writing import MESHIO_FAILS, Write, writer


def read(path: str | os.PathLike[str]) -> Mesh:
    """Read a mesh file.

    meshio reads it. What meshio cannot read, meshioplusplus reads where that is installed, and a warning says so.

    Parameters
    ----------
    path : str or path-like
        Its suffix tells the format.

    Returns
    -------
    mesh : Mesh

    Raises
    ------
    FormatError
        If the file is not there, cannot be read, or would be read without some of its cells, points or values. The
        message has the path and the reader's reason.
    MissingDependencyError
        If the format needs h5py or netCDF4 and that is not installed.

    Warns
    -----
    MeshpartWarning
        Once, with all that the reader said, and with what it passed over: names, sets, later time steps.
    """
    file = _existing_file(path)
    if file.suffix.lower() == ".inp":
        refuse_odd_includes(file)
    try:
        mesh, remarks = _read_by_meshio(file)
    except FormatError as failure:
        mesh, remarks = _read_by_meshioplusplus(file, failure)
    if remarks:
        warn(f"{file}: {'; '.join(remarks)}")
    return mesh


def write_parts(
    parts: Sequence[SubMesh],
    path: str | os.PathLike[str],
    *,
    format: str = "vtu",
    overwrite: bool = False,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Write parts as a folder of mesh files, part-00000.vtu and so on, with a manifest.json.

    Each file carries, as point and cell data, GlobalPointIds and GlobalCellIds (int64), PointOwner and CellOwner,
    PointLayer and CellLayer (int32), vtkGhostType (uint8, 1 of ghosts), and the input's data. A set NAME is the uint8
    array set:NAME where the format has no sets. What the format does not hold stands beside it in part-00000.npz, with
    the rows of the file. The manifest says how the parts were made, what is in them, and what was converted.

    Parameters
    ----------
    parts : sequence of SubMesh
        Of one decomposition, each at most once. They stay as they are.
    path : str or path-like
        The folder; its parent must be there. It appears when it is complete.
    format : str
        meshio's name of a format, or a suffix: vtu, vtk, xdmf, exodus, med, msh, inp, ...
    overwrite : bool
        Replace a folder of parts that is there.
    progress : callable, optional
        Called with the number of parts written so far.

    Raises
    ------
    FormatError
        If something is at `path`, or the format cannot hold the cells or the numbers; then nothing was written.
    ArgumentError
        If `parts` are not parts of one decomposition.
    MissingDependencyError
        If the format needs h5py or netCDF4 and that is not installed.

    Warns
    -----
    MeshpartWarning
        Once, if data or sets of the input are not in the mesh files but beside them, or were renamed.
    """
    parts = _checked(parts)
    name, holds, suffix = find_format(format)
    for part in parts:
        refuse_what_it_lacks(part, name, holds)
    notes: dict[str, bool] = {}
    entries = []
    with _writer(name, holds) as write, new_folder(path, overwrite=overwrite) as folder:
        for done, part in enumerate(parts, 1):
            file = fit(part, name, holds)
            entries.append(_write(part, file, folder, suffix, write))
            notes.update(file.notes)
            if progress is not None:
                progress(done)
        try:
            content = describe(parts, name, entries, notes)
        except RecursionError as error:
            raise FormatError("field_data, block_data or info is too deep for a manifest, or holds itself") from error
        write_manifest(folder, content)
    if loud := [note for note, is_loud in notes.items() if is_loud]:
        warn(f"{path}: {'; '.join(loud)}")


def _existing_file(path: Any) -> Path:
    """Return the path of a file that is there, can be opened, and has something in it."""
    file = arguments.path(path)
    try:
        status = file.stat()
        if stat.S_ISREG(status.st_mode):
            file.open("rb").close()
    except (OSError, ValueError) as error:
        raise FormatError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISDIR(status.st_mode):
        raise FormatError(f"{file} is a folder, not a mesh file")
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(f"{file} is no regular file")
    if status.st_size == 0:
        raise FormatError(f"{file} is empty")
    return file


# -- meshio -------------------------------------------------------------------------------------------------


def _read_by_meshio(file: Path) -> tuple[Mesh, list[str]]:
    """Return the mesh, and what is to be said of it; try each format that has the file's suffix."""
    failures = []
    with patched_meshio() as meshio:
        for file_format in _formats_of(file, meshio.extension_to_filetypes):
            try:
                return _read_as(file_format, file, meshio)
            except FormatError as failure:
                failures.append((file_format, failure))
    if not failures:
        raise FormatError(f"{file}: meshio reads no file with the suffix {file.suffix!r}")
    reasons = "; ".join(f"as {file_format}: {failure}" for file_format, failure in failures)
    raise FormatError(f"{file}: meshio cannot read it {reasons}") from failures[-1][1].__cause__


def _formats_of(file: Path, formats_by_suffix: dict[str, list[str]]) -> list[str]:
    """Return meshio's names of the formats with the file's suffix, that of .vol.gz too."""
    found, suffix = [], ""
    for last in reversed(file.suffixes):
        suffix = (last + suffix).lower()
        found += formats_by_suffix.get(suffix, [])
    return found


def _read_as(file_format: str, file: Path, meshio: Any) -> tuple[Mesh, list[str]]:
    with listening() as heard:
        try:
            given = meshio.read(str(file), file_format=file_format)
            missing, remarks = losses.losses(file_format, file, given, said(heard))
            if not missing:
                return from_meshio(given), remarks
        except ImportError as error:
            raise _needs_package(f"{file}: reading {file_format}", error) from error
        except MESHIO_FAILS as error:
            raise FormatError(_reason(file_format, file, error, said(heard))) from error
    raise FormatError("; ".join(missing))


def _reason(file_format: str, file: Path, error: BaseException, said: str) -> str:
    """Return why a reader failed: its error, or what it said before it ended the process."""
    if not isinstance(error, SystemExit):
        return in_one_line(error)
    said = re.sub(r"(; )?Couldn't read file .*", "", said)
    if file_format == "medit" and re.match(rb"\s*\d", file.read_bytes()[:100]):
        return "it begins with a number, as METIS meshes do, which meshio does not read"
    return said or "it is no file of that format"


def _needs_package(what: str, error: ImportError) -> MissingDependencyError:
    return MissingDependencyError(f"{what} needs {error.name or error}: pip install 'meshpart[formats]'")


# -- meshioplusplus -----------------------------------------------------------------------------------------


def _read_by_meshioplusplus(file: Path, failure: FormatError) -> tuple[Mesh, list[str]]:
    """Return the mesh, and what is to be said of it, or raise what meshio raised and what this reader adds."""
    if not second_reader.is_installed():
        raise FormatError(f"{failure} (meshioplusplus reads more: pip install meshioplusplus)") from failure.__cause__
    try:
        given, remark = second_reader.read_in_child(file)
        mesh = from_meshio(given)
    except MeshpartError as error:
        raise FormatError(f"{failure}; {error}") from (failure.__cause__ or error)
    if not mesh.n_cells:  # as it makes of noise
        raise FormatError(f"{failure}; meshioplusplus finds no cells") from failure.__cause__
    remarks = [f"read by meshioplusplus {given.version}, since {str(failure).removeprefix(f'{file}: ')}"]
    remarks += [remark] if remark else []
    remarks += [f"sets of sides are left out: {', '.join(given.side_sets)}"] if given.side_sets else []
    remarks += [losses.REGROUPED] if any(block.type.startswith("polyhedron") for block in mesh.blocks) else []
    return mesh, remarks


# -- writing ------------------------------------------------------------------------------------------------


@contextmanager
def _writer(name: str, holds: Format) -> Iterator[Write]:
    try:
        with writer(holds.package) as write:
            yield write
    except ImportError as error:
        raise _needs_package(f"writing {name}", error) from error


def _checked(parts: Iterable[Any]) -> list[SubMesh]:
    """Return the parts as a list; refuse what does not belong together."""
    if isinstance(parts, SubMesh) or not isinstance(parts, Iterable):
        raise ArgumentError(f"parts must be a list of SubMesh, got {type(parts).__name__}")
    listed = list(parts)
    if not listed:
        raise ArgumentError("there are no parts to write")
    for part in listed:
        if not isinstance(part, SubMesh):
            raise ArgumentError(f"parts must be a list of SubMesh, got {type(part).__name__}")
    numbers = [part.part for part in listed]
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"each part is written once, got the parts {', '.join(map(str, numbers))}")
    if len({part.run for part in listed}) > 1:
        raise ArgumentError("the parts are not of one decomposition")
    if len(listed) == listed[0].nparts:
        for what in ("cells", "points"):
            owned, there = sum(getattr(part, what).n_owned for part in listed), getattr(listed[0], what).n_global
            if owned != there:
                raise ArgumentError(f"the parts own {owned} {what} together, the mesh has {there}")
    return listed


def _write(part: SubMesh, file: PartFile, folder: Path, suffix: str, write: Write) -> dict[str, Any]:
    """Write the files of a part, and return what the manifest says of it."""
    target = folder / f"part-{part.part:05}{suffix}"
    beside = folder / f"part-{part.part:05}.npz"
    arrays: dict[str, Any] = file.beside
    _refuse_names_that_collide(arrays)
    try:
        remark = write(file.mesh, target, file.name)
    except FormatError as error:
        reason = f"part {part.part} cannot be written as {file.name}: {error}"
        raise FormatError(reason) from (error.__cause__ or error)
    if losses.DROPPED.search(remark):
        raise FormatError(f"part {part.part} cannot be written as {file.name}: {remark}")
    if remark:
        file.note(f"meshio: {remark}")
    if arrays:
        try:
            np.savez(beside, **arrays)
        except (OSError, ValueError) as error:
            raise FormatError(f"{beside.name} cannot be written: {in_one_line(error)}") from error
    return describe_part(part, target.name, beside.name if arrays else None)


def _refuse_names_that_collide(arrays: dict[str, Any]) -> None:
    """Refuse names under which an .npz file would not give each array back: it ends a name at a NUL, or at .npy."""
    for name in arrays:
        if "\0" in name or f"{name}.npy" in arrays:
            raise FormatError(f".npz files cannot hold the name {name!r} apart from others")
