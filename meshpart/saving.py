"""Write the parts of a decomposition: as a part store, as a .pvtu with its pieces, or as a folder of mesh files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from meshpart import arguments
from meshpart.arrays import same
from meshpart.errors import ArgumentError, FormatError, warn
from meshpart.formats import FORMATS
from meshpart.local_graph import Graphs, StoredGraph, as_stored, with_local_graphs
from meshpart.manifest import describe, describe_part, file_name, plain
from meshpart.mesh_files import MeshFileWriter
from meshpart.parallel import in_threads
from meshpart.pvtu import PieceWriter
from meshpart.quality import Quality
from meshpart.staging import MANIFEST, PVTU, WHAT, Draft, Place, draft, is_pvtu
from meshpart.store import STORE, StoreWriter
from meshpart.submesh import SubMesh


class Writer(Protocol):
    """What writes the files of parts in one format."""

    format: str
    suffix: str  # of the files
    notes: dict[str, bool]  # what became of the data, and whether that is worth a warning
    arrays: dict[str, Any]  # what the arrays of the parts are, where files may hold them as something else

    def check(self, part: SubMesh) -> None:
        """Raise FormatError if the format cannot hold a part."""

    def write(self, part: SubMesh, folder: Path) -> dict[str, Any]:
        """Write the files of a part, and return what the manifest's table says of it besides."""

    def index(self, folder: str, files: Sequence[str], ghost_layers: int) -> bytes | None:
        """Return the text of the file that stands for all files, if that is not the manifest."""

    def close(self) -> None:
        """End what was begun for writing."""


def write_parts(
    parts: Iterable[SubMesh],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    overwrite: bool = False,
    graphs: Graphs = (),
    quality: Quality | None = None,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Write parts as a part store, as a .pvtu with its pieces, or as a folder of mesh files.

    A **part store** is a folder that `open_parts` reads: everything that a part has, in a .safetensors file each, to be
    mapped into memory. A **.pvtu** is the file that ParaView opens, and its pieces lie in a folder beside it. **Mesh
    files**, in any format that meshio writes, are a folder of one each.

    The pieces of a .pvtu, and mesh files, carry, as point and cell data, GlobalPointIds and GlobalCellIds (int64),
    PointOwner and CellOwner, PointLayer and CellLayer (int32), vtkGhostType (uint8, 1 of ghosts), and the input's data.
    A set NAME is the uint8 array set:NAME where the format has no sets. What the format does not hold stands beside it
    in part-00000.npz, with the rows of the file.

    A manifest.json says how the parts were made, what is in them, and what was converted. The files appear in a folder
    of their own; they are valid from the moment at which all are there, and parts that they replace stay valid until
    then.

    Parameters
    ----------
    parts : iterable of SubMesh
        Of one decomposition, all or some of it, each at most once. They stay as they are. Each is asked for when those
        before it have been written, so that what `iter_partition` and `iter_split` yield need never be in memory
        together.
    path : str or path-like
        The folder, or the X.pvtu. The folder that it lies in must be there.
    format : str, optional
        "store", "pvtu", or meshio's name of a format, or a suffix: vtu, vtk, xdmf, exodus, med, msh, inp, ... By the
        path if left out: a .pvtu, or else a part store.
    overwrite : bool
        Replace parts that are there, and the fields that were added to them, unless the new parts are of the same run.
        Other files that are there stay in any case.
    graphs : str, or iterable of str or (str, int)
        Of a part store: which graphs to store with the parts, so that `local_graph` need not build them. "points",
        "cells", or such a name and the number of steps, as `local_graph` takes them; otherwise as many steps as there
        are ghost layers, 0 for the edges that a part without layers owns.
    quality : Quality, optional
        Of the decomposition, to be in the manifest.
    threads : int
        How many parts may be written at once, of a part store.
    progress : callable, optional
        Called with the number of parts written so far.

    Raises
    ------
    FormatError
        If something is at `path`, or the format cannot hold the cells or the numbers, or the files cannot be written;
        then what was there is there still, and nothing else.
    ArgumentError
        If `parts` are not parts of one decomposition.
    MissingDependencyError
        If the format needs h5py or netCDF4 and that is not installed.

    Warns
    -----
    MeshpartWarning
        Once, if data or sets of the input are not in the mesh files but beside them, or were renamed.

    Examples
    --------
    >>> import meshpart, tempfile
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     meshpart.write_parts(meshpart.partition(mesh, 2), f"{folder}/two.parts")
    ...     meshpart.open_parts(f"{folder}/two.parts").load(1)
    <SubMesh 1 of 2: 1 cells + 0 ghosts, 2 points + 2 ghosts>
    """
    workers = arguments.integer("threads", threads, low=1, high=1024)
    overwrite = arguments.flag("overwrite", overwrite)
    stored = as_stored(graphs)
    if not isinstance(quality, Quality | None):
        raise ArgumentError(f"quality must be a Quality, got {type(quality).__name__}")
    writer = writer_for(path, format, stored)
    try:
        given, described = _looked_at(_checked(parts), writer, stored, all_at_once=isinstance(parts, Sequence))
        with draft(path, described["run"], overwrite=overwrite) as drafted:

            def write(part: SubMesh) -> dict[str, Any]:
                extra = writer.write(with_local_graphs(part, stored), drafted.folder)
                return {**describe_part(part, drafted.folder / file_name(part.part, writer.suffix)), **extra}

            entries = []
            try:
                for entry in in_threads(write, given, workers if writer.format == STORE else 1):
                    entries.append(entry)
                    if progress is not None:
                        progress(len(entries))
            except FormatError as error:
                raise FormatError(f"{path}: {error}") from (error.__cause__ or error)
            _commit(drafted, writer, described, entries, quality)
    finally:
        writer.close()
    if loud := [note for note, is_loud in writer.notes.items() if is_loud]:
        warn(f"{path}: {'; '.join(loud)}")


def writer_for(path: Any, file_format: str | None, graphs: Sequence[StoredGraph] = ()) -> Writer:
    """Return what writes parts in the format that was asked for, by name or by the path.

    Raises
    ------
    ArgumentError, FormatError
        If there is no such format, or the path or the graphs do not go with it.
    """
    place = Place.of(path).path
    name = file_format if file_format is not None else PVTU if is_pvtu(place) else STORE
    if not isinstance(name, str):
        raise ArgumentError(f"format must be a str, got {name!r}")
    name = name.lower().removeprefix(".")
    if (name == PVTU) != is_pvtu(place):
        wish = "must end in .pvtu" if name == PVTU else "must not end in .pvtu: it is a folder"
        raise ArgumentError(f"{path}: the path of parts in the format {name} {wish}")
    if graphs and name != STORE:
        raise ArgumentError(f"graphs are kept in a part store only, the format is {name}")
    if file_format is None and name == STORE and not place.exists():
        _refuse_suffix_of_mesh(place)
    if name == STORE:
        return StoreWriter()
    return PieceWriter() if name == PVTU else MeshFileWriter(name)


def _refuse_suffix_of_mesh(place: Path) -> None:
    """Refuse a folder by the name of a mesh file, which will have been meant."""
    for name, holds in FORMATS.items():
        if place.suffix.lower() in holds.suffixes:
            raise ArgumentError(
                f"{place.name} would be a folder, a part store: leave out {place.suffix}, or say format='{name}' "
                f"(--format {name}) for a folder of mesh files"
            )


def _looked_at(
    given: Iterator[SubMesh], writer: Writer, graphs: Sequence[StoredGraph], *, all_at_once: bool
) -> tuple[Iterator[SubMesh], dict[str, Any]]:
    """Return parts that can be written, all of them or at least the first, and what is to be said of all alike."""
    looked_at = list(given) if all_at_once else [next(given)]
    for part in looked_at:
        writer.check(part)
    first = looked_at[0]
    described = describe(first, writer.format, writer.suffix)  # which says what JSON cannot hold
    first = with_local_graphs(first, graphs)
    described["graphs"] = list(first.graphs)
    parts = chain([first], looked_at[1:], given)
    return parts if writer.format == STORE else _with_same_field_data(parts, first), described


def _with_same_field_data(parts: Iterator[SubMesh], first: SubMesh) -> Iterator[SubMesh]:
    """Yield parts; refuse those whose field data is another one, since the manifest has that of all."""
    for part in parts:
        mine, theirs = part.mesh.field_data, first.mesh.field_data
        if mine is not theirs and not same(mine, theirs):
            raise ArgumentError(f"field_data is not the same in parts {first.part} and {part.part}")
        yield part


def _commit(
    drafted: Draft, writer: Writer, described: dict[str, Any], entries: list[dict[str, Any]], quality: Quality | None
) -> None:
    """Write the index: the manifest, and the file that stands for all where there is one."""
    content = {
        "what": WHAT,
        **described,
        "arrays": writer.arrays,
        "notes": list(writer.notes),
        "quality": None if quality is None else plain(quality.to_dict()),
        "folder": drafted.folder.name,
        "parts": {name: [entry[name] for entry in entries] for name in entries[0]},
    }
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in content.items())
    manifest = f"{{\n{lines}\n}}\n".encode()
    files = [file_name(entry["part"], writer.suffix) for entry in entries]
    index = writer.index(drafted.folder.name, files, described["ghost_layers"])
    if index is not None:
        try:
            (drafted.folder / MANIFEST).write_bytes(manifest)
        except OSError as error:
            raise FormatError(f"{drafted.folder / MANIFEST} cannot be written: {error.strerror}") from error
    drafted.commit(manifest if index is None else index)


def _checked(parts: Iterable[Any]) -> Iterator[SubMesh]:
    """Yield the parts; refuse what does not belong together."""
    if isinstance(parts, SubMesh) or not isinstance(parts, Iterable):
        raise ArgumentError(f"parts must be a list of SubMesh, got {type(parts).__name__}")
    return _each_checked(parts)


def _each_checked(parts: Iterable[Any]) -> Iterator[SubMesh]:
    numbers: set[int] = set()
    first = None
    owned = {"cells": 0, "points": 0}
    for part in parts:
        if not isinstance(part, SubMesh):
            raise ArgumentError(f"parts must be a list of SubMesh, got {type(part).__name__}")
        first = first or part
        _refuse_misfit(part)
        if part.part in numbers:
            raise ArgumentError(f"each part is written once, got part {part.part} twice")
        if part.run != first.run:
            raise ArgumentError("the parts are not of one decomposition")
        numbers.add(part.part)
        for what in owned:
            owned[what] += getattr(part, what).n_owned
        yield part
    if first is None:
        raise ArgumentError("there are no parts to write")
    if len(numbers) == first.nparts:
        for what, count in owned.items():
            there = getattr(first, what).n_global
            if count != there:
                raise ArgumentError(f"the parts own {count} {what} together, the mesh has {there}")


def _refuse_misfit(part: SubMesh) -> None:
    """Raise if a part's maps do not speak of its mesh."""
    if not 0 <= part.part < part.nparts:
        raise ArgumentError(f"there is no part {part.part} of {part.nparts}")
    for what, count in {"cells": part.mesh.n_cells, "points": part.mesh.n_points}.items():
        entities = getattr(part, what)
        if entities.n_local != count or not 0 <= entities.n_owned <= count:
            told = f"{entities.n_owned} owned of {entities.n_local} in its map"
            raise ArgumentError(f"part {part.part} has {count} {what} in its mesh, and {told}")
