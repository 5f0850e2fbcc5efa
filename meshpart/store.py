"""The part store: a folder that holds everything of each part in one file, opened by mapping it into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy.typing as npt

from meshpart import arguments
from meshpart.arrays import Array, as_array
from meshpart.balance import Repair
from meshpart.blocks import CellBlock, Faces
from meshpart.errors import ArgumentError, FormatError
from meshpart.halo import HaloPlan
from meshpart.local_graph import LocalGraph
from meshpart.manifest import Manifest, fields_of, file_name, read_manifest
from meshpart.mesh import Mesh, Periodic
from meshpart.one_file import complete_file, remove_abandoned
from meshpart.packing import Known, pack, unpack
from meshpart.staging import FIELDS, Place, committed_folder
from meshpart.submesh import IndexMap, Provenance, SubMesh
from meshpart.tensors import map_tensors
from meshpart.whole import listed

STORE = "store"
SUFFIX = ".safetensors"

# What a part is made of, and what most parts do not have.
NOTHING: Mapping[str, Any] = MappingProxyType({})
CLASSES = Known(
    *(SubMesh, Mesh, CellBlock, Faces, Periodic, IndexMap, HaloPlan, Provenance, Repair, LocalGraph),
    defaults={
        **dict.fromkeys(("point_data", "cell_data", "field_data", "block_data", "point_sets", "cell_sets"), NOTHING),
        **dict.fromkeys(("point_set_positions", "cell_set_positions", "row_starts", "graphs"), NOTHING),
        **dict.fromkeys(("periodic", "periodic_positions", "tags"), ()),
        **dict.fromkeys(("info", "offsets", "faces", "kind", "edge_ids", "mode", "imbalance", "seed"), None),
        **dict.fromkeys(("weights", "edge_weights", "keep_together", "repair"), None),
    },
)

ENTITIES = ("points", "cells")
FIELDS_ONLY = Known()  # arrays by name


def open_parts(path: str | os.PathLike[str]) -> PartStore:
    """Open a part store.

    Parameters
    ----------
    path : str or path-like
        The folder that `write_parts` wrote. It may have been moved, and be read-only.

    Returns
    -------
    store : PartStore

    Raises
    ------
    FormatError
        If there is no part store, or one that is not complete, or of another version.
    """
    manifest = read_manifest(path)
    if manifest.format != STORE:
        raise FormatError(
            f"{manifest.path} holds parts in the format {manifest.format}, which is no part store; "
            "merge_files puts them together again"
        )
    if manifest.nparts > arguments.LARGEST_INT32:
        raise FormatError(f"{manifest.path} is damaged: it would have {manifest.nparts} parts")
    return PartStore(manifest)


def open_again(path: str | os.PathLike[str], run: str) -> PartStore:
    """Return the store that another process had open, if it has the same parts still."""
    store = open_parts(path)
    if store.run != run:
        raise FormatError(f"{path} has been replaced: its run is {store.run}, it was {run}")
    return store


@dataclass(frozen=True)
class PartStore:
    """The parts of a decomposition on disk. `open_parts` returns it.

    It holds no part and no open file: `load` maps the one file that it is asked for. So it is cheap to hand to other
    processes, which open it again; and an iteration over a store yields the parts that are there one after another.
    """

    _opened: Manifest

    def __repr__(self) -> str:
        return f"<PartStore: {len(self)} parts in {self._opened.path}>"

    def __len__(self) -> int:
        """How many parts the decomposition has."""
        return self._opened.nparts

    def __iter__(self) -> Iterator[SubMesh]:
        return map(self.load, self._opened.parts)

    def __getitem__(self, part: int) -> SubMesh:
        """Return a part, as `load` does."""
        return self.load(part)

    def __reduce__(self) -> tuple[Any, ...]:
        return open_again, (self.path, self.run)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What manifest.json says: how the parts were made, how large each is, and what is in them."""
        return MappingProxyType(dict(self._opened.content))

    @property
    def path(self) -> Path:
        """Where it is, without symbolic links."""
        return self._opened.path

    @property
    def run(self) -> str:
        """The `run` of its parts."""
        return str(self._opened.content["run"])

    def load(self, part: int) -> SubMesh:
        """Return a part, whose arrays are mapped from its file, read-only: nothing is read until it is used.

        Parameters
        ----------
        part : int

        Raises
        ------
        ArgumentError
            If there is no such part.
        FormatError
            If its file is missing, cut short, or of another decomposition; if the parts have been replaced since the
            store was opened.
        """
        number = self._number(part)
        file, size = f"{self._opened.folder}/{file_name(number, SUFFIX)}", self._opened.entry(number, "bytes")
        try:
            loaded: SubMesh = _read(file, size)
        except FormatError:
            self._require_valid()
            raise
        if not _is_part(loaded):
            raise FormatError(f"{file} holds no part")
        self._require_ours(file, number, loaded.run, loaded.part, loaded.nparts)
        return loaded

    # -- fields ------------------------------------------------------------------------------------------

    @property
    def fields(self) -> tuple[str, ...]:
        """The names under which fields were added, in alphabetical order."""
        return fields_of(self._opened)

    def write_fields(
        self,
        name: str,
        values: Mapping[str, Mapping[str, npt.ArrayLike]],
        part: int,
        *,
        overwrite: bool = False,
    ) -> None:
        """Add fields to a part: another sample on the same mesh, or what a solver or a network found.

        They lie in a file of their own, which appears when it is complete. Each process may write those of its part.

        Parameters
        ----------
        name : str
            What they are called together: a sample, a time step.
        values : mapping of str to mapping of str to array_like
            Of "points" and "cells", by name, an array in local order of the owned entities, (n_owned, ...), or of all
            local ones, (n_local, ...).
        part : int
        overwrite : bool
            Replace what the part has by that name.

        Raises
        ------
        ArgumentError
            If there is no such part, or an array has the wrong length.
        FormatError
            If there are fields by that name, or they cannot be written.

        Examples
        --------
        >>> import meshpart, tempfile
        >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
        >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
        >>> folder = tempfile.TemporaryDirectory()
        >>> meshpart.write_parts(meshpart.partition(mesh, 2), f"{folder.name}/two.parts")
        >>> store = meshpart.open_parts(f"{folder.name}/two.parts")
        >>> store.write_fields("first try", {"cells": {"pressure": [1.5]}}, part=0)
        >>> store.fields, store.load_fields("first try", 0)["cells"]["pressure"]
        (('first try',), array([1.5]))
        >>> folder.cleanup()
        """
        number = self._number(part)
        overwrite = arguments.flag("overwrite", overwrite)
        if not isinstance(values, Mapping):
            raise ArgumentError(f"values must be a mapping of points and cells to fields, got {type(values).__name__}")
        arrays = {entity: _fields(entity, of, self._counts(number, entity)) for entity, of in values.items()}
        text, tensors = pack(
            {"run": self.run, "part": number, "nparts": len(self), **{e: arrays.get(e, {}) for e in ENTITIES}},
            FIELDS_ONLY,
        )
        folder = self._fields_folder(name)
        file = folder / file_name(number, SUFFIX)
        self._require_valid()
        try:
            folder.parent.mkdir(exist_ok=True)
            folder.mkdir(exist_ok=True)
            remove_abandoned(folder)
            if os.path.lexists(file) and not overwrite:
                raise FormatError(f"part {number} has fields {name!r} already: {file}; overwrite=True replaces them")
            with complete_file(file, overwrite=overwrite) as new:
                tensors.write(new, text)
        except FormatError:
            raise
        except OSError as error:
            raise FormatError(f"{file} cannot be written: {error.strerror}") from error
        finally:
            with suppress(OSError):  # unless there is something in it
                folder.rmdir()

    def load_fields(self, name: str, part: int) -> dict[str, dict[str, Array]]:
        """Return the fields that were added to a part, mapped from their file, read-only.

        Parameters
        ----------
        name : str
        part : int

        Returns
        -------
        values : dict of str to dict of str to ndarray
            Of "points" and of "cells", as they were written.

        Raises
        ------
        ArgumentError
            If there is no such part.
        FormatError
            If it has no such fields, or they are of another decomposition.
        """
        number = self._number(part)
        file = self._fields_folder(name) / file_name(number, SUFFIX)
        if not os.path.lexists(file):
            known = ", ".join(map(repr, self.fields)) or "none"
            raise FormatError(f"part {number} has no fields {name!r}: there is no {file} (the store has {known})")
        content = _read(file)
        if (
            type(content) is not dict
            or content.keys() != {"run", "part", "nparts", *ENTITIES}
            or not _are_numbers(content["part"], content["nparts"])
        ):
            raise FormatError(f"{file} holds no fields")
        self._require_ours(file, number, content["run"], content["part"], content["nparts"])
        return {entity: content[entity] for entity in ENTITIES}

    # -- checks ------------------------------------------------------------------------------------------

    def _number(self, part: int) -> int:
        """Return the number of a part that is there."""
        number = arguments.integer("part", part, low=0, high=len(self) - 1)
        if self._opened.place(number) is None:
            there = listed(self._opened.parts, len(self._opened.parts))
            raise ArgumentError(f"{self._opened.path} was written without part {number}: {there} there")
        return number

    def _counts(self, number: int, entity: str) -> tuple[int, int]:
        """Return how many entities a part owns, and how many ghosts it has."""
        arguments.one_of("entity of values", entity, ENTITIES)
        return self._opened.entry(number, f"owned_{entity}"), self._opened.entry(number, f"ghost_{entity}")

    def _require_valid(self) -> None:
        """Raise FormatError if other parts have taken the place of these."""
        try:
            folder = committed_folder(Place.of(self._opened.path).index)
        except FormatError as error:
            raise FormatError(f"{self._opened.path} is not there any more: {error}") from error
        if folder.name != self._opened.folder.name:
            raise FormatError(f"{self._opened.path} has been replaced since it was opened: open it again")

    def _require_ours(self, file: str | Path, number: int, run: Any, part: int, nparts: int) -> None:
        if type(run) is not str or (run, nparts) != (self.run, len(self)):
            raise FormatError(f"{file} is of another decomposition: its run is {run}, that of the store is {self.run}")
        if part != number:
            raise FormatError(f"{file} is that of part {part}, not of part {number}")

    def _fields_folder(self, name: str) -> Path:
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"name must be a str, and not empty, got {name!r}")
        quoted = quote(name, safe=" !#$&'()+,;=@[]^`{}~", errors="surrogatepass").replace(".", "%2E")
        return self._opened.folder / FIELDS / quoted


class StoreWriter:
    """Writes the files of a part store."""

    format = STORE
    suffix = SUFFIX

    def __init__(self) -> None:
        self.notes: dict[str, bool] = {}
        self.arrays: dict[str, Any] = {}

    def check(self, part: SubMesh) -> None:
        """Raise FormatError if a part holds what cannot be kept without pickle."""
        mesh = part.mesh  # all else in a part is meshpart's own
        pack((mesh.point_data, mesh.cell_data, mesh.field_data, mesh.block_data, mesh.info, part.periodic), CLASSES)

    def write(self, part: SubMesh, folder: Path) -> dict[str, Any]:
        """Write the file of a part."""
        text, tensors = pack(part, CLASSES)
        tensors.write(folder / file_name(part.part, SUFFIX), text)
        return {}

    def index(self, folder: str, files: Sequence[str], ghost_layers: int) -> None:
        """Return None: the manifest stands for all files."""

    def close(self) -> None:
        """End nothing: nothing was begun."""


def _read(file: str | Path, size: int | None = None) -> Any:
    """Return what was packed into a file."""
    text, array = map_tensors(file, size)
    try:
        return unpack(text, array, CLASSES)
    except (ValueError, LookupError, TypeError, AttributeError, SyntaxError, OverflowError, RecursionError) as error:
        raise FormatError(f"{file} is damaged: it does not say what its arrays are ({error})") from error


def _is_part(loaded: Any) -> bool:
    """Whether what a file holds is a part, as far as that can be seen at once."""
    try:
        cells, points, mesh = loaded.cells, loaded.points, loaded.mesh
        return (
            type(loaded) is SubMesh
            and _are_numbers(loaded.part, loaded.nparts, loaded.ghost_layers, cells.n_global, points.n_global)
            and _are_numbers(cells.n_owned, points.n_owned)
            and 0 <= cells.n_owned <= len(cells.global_ids) == sum(map(len, mesh.blocks))
            and 0 <= points.n_owned <= len(points.global_ids) == len(mesh.points)
        )
    except (AttributeError, TypeError, ValueError, IndexError):
        return False


def _are_numbers(*values: Any) -> bool:
    return set(map(type, values)) == {int}


def _fields(entity: str, values: Any, counts: tuple[int, int]) -> dict[str, Array]:
    """Return the fields of an entity as arrays, after checking that they fit the part."""
    n_owned, n_ghost = counts
    if not isinstance(values, Mapping):
        raise ArgumentError(f"values[{entity!r}] must be a mapping of names to arrays, got {type(values).__name__}")
    arrays = {}
    for name, given in values.items():
        if not isinstance(name, str):
            raise ArgumentError(f"values[{entity!r}]: names must be str, got {name!r}")
        what = f"values[{entity!r}][{name!r}]"
        array = as_array(what, given, ArgumentError)
        if array.ndim == 0 or len(array) not in (n_owned, n_owned + n_ghost):
            raise ArgumentError(
                f"{what} must have {n_owned} rows, of the owned {entity}, or {n_owned + n_ghost}, of all local ones, "
                f"got the shape {array.shape}"
            )
        arrays[name] = array
    return arrays
