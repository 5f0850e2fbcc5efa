"""The labels that parts hold: sub-meshes, or a folder of written ones."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from meshpart import arguments
from meshpart.arrays import Array, Ids, Labels
from meshpart.errors import ArgumentError, FormatError, MeshpartWarning
from meshpart.formats import FORMATS
from meshpart.io import read
from meshpart.manifest import FORMAT_VERSION
from meshpart.mesh import Mesh
from meshpart.staging import MANIFEST, WHAT
from meshpart.submesh import SubMesh, run_of


class PartLabels(NamedTuple):
    """What a folder of parts tells of the decomposition."""

    labels: Labels  # (n_cells,)
    nparts: int
    asked: dict[str, Any]  # the balance that was asked for, as `partition` took it: what is not in here was not given
    lost: list[str]  # what was asked for by an array, which the folder does not have


def labels_of_parts(parts: Iterable[SubMesh], n_cells: int) -> Labels:
    """Return the labels that all parts of a mesh were built along: int32, (n_cells,)."""
    labels = np.zeros(n_cells, np.int32)
    for part in parts:
        labels[part.cells.global_ids[: part.cells.n_owned]] = part.part
    return labels


def read_part_labels(path: str | os.PathLike[str], mesh: Mesh) -> PartLabels:
    """Read the labels of a mesh from a folder that `write_parts` wrote.

    Parameters
    ----------
    path : str or path-like
    mesh : Mesh
        What the parts were made from.

    Raises
    ------
    FormatError
        If the folder is none of parts, or some of them, or some of their cells, are not there.
    ArgumentError
        If the parts were made from another mesh.
    """
    folder = arguments.path(path)
    manifest = _manifest(folder)
    if manifest["n_cells"] != mesh.n_cells:
        raise ArgumentError(f"{folder}: the parts are of {manifest['n_cells']} cells, the mesh has {mesh.n_cells}")
    nparts, there = manifest["nparts"], {entry["part"] for entry in manifest["parts"]}
    if len(there) < nparts:
        first = next(part for part in range(nparts) if part not in there)
        raise FormatError(f"{folder} has {len(there)} of {nparts} parts, the first that it lacks is part {first}")
    labels = np.full(mesh.n_cells, -1, np.int32)
    for entry in manifest["parts"]:
        cells = _owned_cells(folder, entry)
        if len(cells) and not 0 <= cells.min() <= cells.max() < mesh.n_cells:
            raise FormatError(f"{folder}: {entry['file']} has a cell outside 0..{mesh.n_cells - 1}")
        taken = cells[labels[cells] >= 0]
        if len(taken):
            raise FormatError(f"{folder}: cell {taken[0]} is owned by parts {labels[taken[0]]} and {entry['part']}")
        labels[cells] = entry["part"]
    unowned = np.flatnonzero(labels < 0)
    if len(unowned):
        raise FormatError(f"{folder}: no part owns {len(unowned)} of the cells, the first is cell {unowned[0]}")
    if manifest["run"] != run_of(mesh, labels, nparts, manifest["ghost_layers"]):
        raise ArgumentError(f"{folder}: the parts were made from another mesh: as many cells, but not the same")
    given = {name: manifest.get(name) for name in ("weights", "edge_weights", "imbalance", "keep_together")}
    lost = [name for name, value in given.items() if value == "array"]
    asked = {name: value for name, value in given.items() if value is not None and name not in lost}
    return PartLabels(labels, nparts, asked, lost)


def _manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder of parts, checked as far as it is used here."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"{folder} is no folder of parts: {MANIFEST}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{folder} is no folder of parts: {MANIFEST} is not JSON: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("what") != WHAT:
        raise FormatError(f"{folder} is no folder of parts: its {MANIFEST} is another program's")
    if manifest.get("format_version") != FORMAT_VERSION:
        version = manifest.get("format_version")
        raise FormatError(f"{folder} is of format version {version!r}, this meshpart reads version {FORMAT_VERSION}")
    if manifest.get("format") not in FORMATS:
        raise FormatError(f"{folder}: labels cannot be read back from parts in the format {manifest.get('format')!r}")
    if not _is_whole(manifest):
        raise FormatError(f"{folder}: {MANIFEST} is damaged")
    return manifest


def _is_whole(manifest: Mapping[str, Any]) -> bool:
    numbers = [manifest.get("n_cells"), manifest.get("nparts"), manifest.get("ghost_layers")]
    entries = manifest.get("parts")
    if not isinstance(entries, list) or not isinstance(manifest.get("run"), str):
        return False
    for entry in entries:
        if not isinstance(entry, dict):
            return False
        numbers += [entry.get("part"), entry.get("owned_cells")]
        names = [entry.get("file")] + ([] if entry.get("beside") is None else [entry["beside"]])
        if not all(isinstance(name, str) and Path(name).name == name for name in names):
            return False
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        return False
    return all(entry["part"] < manifest["nparts"] for entry in entries)


def _owned_cells(folder: Path, entry: Mapping[str, Any]) -> Ids:
    """Return the global ids of the cells that a part owns, in any order."""
    if entry["owned_cells"] == 0:
        return np.zeros(0, np.int64)
    arrays = _cell_arrays(folder, entry, ("GlobalCellIds", "CellOwner"))
    for name, values in arrays.items():
        if values.dtype.kind not in "iu" or values.ndim != 1:
            raise FormatError(f"{folder}: {name} of part {entry['part']} are no integers: {values.dtype}")
    ids, owners = arrays.values()
    if len(ids) != len(owners):
        raise FormatError(f"{folder}: part {entry['part']} has {len(ids)} global cell ids and {len(owners)} owners")
    owned: Ids = ids[owners == entry["part"]].astype(np.int64)
    if len(owned) != entry["owned_cells"]:
        raise FormatError(
            f"{folder}: {entry['file']} has {len(owned)} owned cells, {MANIFEST} says {entry['owned_cells']}"
        )
    return owned


def _cell_arrays(folder: Path, entry: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Array]:
    """Return cell_data arrays of a part, from its .npz file or else from its mesh file."""
    found: dict[str, Array] = {}
    if entry["beside"] is not None:
        file = folder / entry["beside"]
        try:
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                found = {name: archive[f"cell_data/{name}"] for name in names if f"cell_data/{name}" in archive}
        except Exception as error:  # zipfile's and zlib's own, of a damaged file
            raise FormatError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    if len(found) < len(names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MeshpartWarning)  # of other arrays
            mesh = read(folder / entry["file"])
        for name in names:
            if name not in found and name not in mesh.cell_data:
                raise FormatError(f"{folder / entry['file']} has no cell data {name!r}")
            found.setdefault(name, np.concatenate(mesh.cell_data.get(name, [np.zeros(0, np.int64)])))
    return {name: found[name] for name in names}
