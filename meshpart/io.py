"""Read mesh files of any format, whatever their readers do."""

from __future__ import annotations

import os
import re
import stat
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from meshpart import arguments, losses, second_reader
from meshpart.errors import FormatError, MeshpartError, MissingDependencyError, warn
from meshpart.heads import READERS, read_with_heads
from meshpart.includes import refuse_odd_includes
from meshpart.mesh import Mesh
from meshpart.meshio_bridge import from_meshio, patched_meshio
from meshpart.quiet import in_one_line, listening, said
from meshpart.vtu_raw import read_raw
from meshpart.vtu_version import HEAD, in_known_version
from meshpart.writing import MESHIO_FAILS

FIRST_BYTES = {"ansys": b"(", "gmsh": b"$"}  # of files that share their suffix
UNKNOWN_PACKING = re.compile(rb"<VTKFile\b[^>]*\bcompressor\s*=\s*[\"'](?!vtk(?:ZLib|LZMA)DataCompressor)(\w+)")


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
    file = arguments.path(path)
    try:
        mesh, remarks = read_and_remark(file)
    except FormatError as failure:
        if not isinstance(failure, Unreadable) or second_reader.is_installed():
            raise
        raise FormatError(f"{failure} (meshioplusplus reads more: pip install meshioplusplus)") from failure.__cause__
    if remarks:
        warn(f"{file}: {'; '.join(remarks)}")
    return mesh


class Unreadable(FormatError):
    """A file that meshio cannot read."""


def read_and_remark(path: str | os.PathLike[str]) -> tuple[Mesh, list[str]]:
    """Read a mesh file as `read` does, and return what that would warn of."""
    file = _existing_file(path)
    if file.suffix.lower() == ".inp":
        refuse_odd_includes(file)
    try:
        return _read_by_meshio(file)
    except FormatError as failure:
        return _read_by_meshioplusplus(file, failure)


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
    """Return meshio's names of the formats with the file's suffix, that of .vol.gz too, the likeliest first."""
    found, suffix = [], ""
    for last in reversed(file.suffixes):
        suffix = (last + suffix).lower()
        found += formats_by_suffix.get(suffix, [])
    if len(found) > 1:
        with file.open("rb") as stream:
            first = stream.read(1)
        found.sort(key=lambda file_format: FIRST_BYTES.get(file_format) != first)
    return found


def _read_as(file_format: str, file: Path, meshio: Any) -> tuple[Mesh, list[str]]:
    with listening() as heard:
        try:
            given, heads = _given(file_format, file, meshio)
            missing, remarks = losses.losses(file_format, file, given, said(heard), heads)
            if not missing:
                return from_meshio(given), remarks
        except ImportError as error:
            raise _needs_package(f"{file}: reading {file_format}", error) from error
        except MESHIO_FAILS as error:
            raise FormatError(_reason(file_format, file, meshio, error, said(heard))) from error
    raise FormatError("; ".join(missing))


def _given(file_format: str, file: Path, meshio: Any) -> tuple[Any, bytes | None]:
    """Return what meshio makes of a file, and the lines that head what is in it, where its reader is heard."""
    if file_format in READERS:
        return read_with_heads(file_format, file)
    if file_format == "vtu" and (mesh := read_raw(file)) is not None:
        return mesh, None
    with in_known_version(file) if file_format == "vtu" else nullcontext(file) as readable:
        return meshio.read(str(readable), file_format=file_format), None


def _reason(file_format: str, file: Path, meshio: Any, error: BaseException, said: str) -> str:
    """Return why a reader failed: its error, or what it said before it ended the process."""
    if isinstance(error, meshio.ReadError):  # which `meshio.read` would say, and then end the process
        said = "; ".join(filter(None, (said, " ".join(str(error).split()))))
    elif not isinstance(error, SystemExit):
        return (_unknown_packing(file) if file_format == "vtu" else "") or in_one_line(error)
    said = re.sub(r"(; )?Couldn't read file .*", "", said)
    if file_format == "medit" and re.match(rb"\s*\d", file.read_bytes()[:100]):
        return "it begins with a number, as METIS meshes do, which meshio does not read"
    return said or "it is no file of that format"


def _unknown_packing(file: Path) -> str:
    """Return that a .vtu file is packed in a way that meshio does not know, or nothing."""
    with file.open("rb") as stream:
        unknown = UNKNOWN_PACKING.search(stream.read(HEAD))
    return f"it is packed by {unknown[1].decode()}, which meshio does not know" if unknown else ""


def _needs_package(what: str, error: ImportError) -> MissingDependencyError:
    return MissingDependencyError(f"{what} needs {error.name or error}: pip install 'meshpart[formats]'")


# -- meshioplusplus -----------------------------------------------------------------------------------------


def _read_by_meshioplusplus(file: Path, failure: FormatError) -> tuple[Mesh, list[str]]:
    """Return the mesh, and what is to be said of it, or raise what meshio raised and what this reader adds."""
    if not second_reader.is_installed():
        raise Unreadable(str(failure)) from failure.__cause__
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
