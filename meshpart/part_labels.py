"""The labels that files of parts hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from meshpart.arrays import Ids, Labels
from meshpart.errors import ArgumentError, FormatError
from meshpart.manifest import Manifest, read_manifest
from meshpart.mesh import Mesh
from meshpart.read_back import PartFiles, check_all_written, holds_mesh_files
from meshpart.store import STORE, PartStore
from meshpart.submesh import run_of


class PartLabels(NamedTuple):
    """What written parts tell of their decomposition."""

    labels: Labels  # (n_cells,)
    nparts: int
    asked: dict[str, Any]  # the balance that was asked for, as `partition` took it: what is not in here was not given
    lost: list[str]  # what was asked for by an array, which the files do not have


def read_part_labels(path: str | os.PathLike[str], mesh: Mesh) -> PartLabels:
    """Read the labels of a mesh from parts that `write_parts` wrote.

    Parameters
    ----------
    path : str or path-like
        The folder, or the .pvtu file.
    mesh : Mesh
        What the parts were made from.

    Raises
    ------
    FormatError
        If there are no parts, or some of them, or some of their cells, are not there.
    ArgumentError
        If the parts were made from another mesh.
    """
    manifest = read_manifest(path)
    told = manifest.content
    if told["n_cells"] != mesh.n_cells:
        raise ArgumentError(f"{path}: the parts are of {told['n_cells']} cells, the mesh has {mesh.n_cells}")
    labels = owners_of_cells(manifest)
    if told["run"] != run_of(mesh, labels, manifest.nparts, told["ghost_layers"]):
        raise ArgumentError(f"{path}: the parts were made from another mesh: as many cells, but not the same")
    given = {name: told.get(name) for name in ("weights", "edge_weights", "imbalance", "keep_together")}
    lost = [name for name, value in given.items() if value == "array"]
    asked = {name: value for name, value in given.items() if value is not None and name not in lost}
    return PartLabels(labels, manifest.nparts, asked, lost)


def owners_of_cells(manifest: Manifest) -> Labels:
    """Return the part that owns each cell of the mesh, as the files of all parts tell it."""
    check_all_written(manifest)
    n_cells, path = manifest.content["n_cells"], manifest.path
    labels = np.full(n_cells, -1, np.int32)
    for part, file, cells in _owned_cells(manifest):
        if len(cells) and not 0 <= cells.min() <= cells.max() < n_cells:
            raise FormatError(f"{file} has a cell outside 0..{n_cells - 1}")
        taken = cells[labels[cells] >= 0]
        if len(taken):
            raise FormatError(f"{path}: cell {taken[0]} is owned by parts {labels[taken[0]]} and {part}")
        labels[cells] = part
    unowned = np.flatnonzero(labels < 0)
    if len(unowned):
        raise FormatError(f"{path}: no part owns {len(unowned)} of the cells, the first is cell {unowned[0]}")
    return labels


def _owned_cells(manifest: Manifest) -> Iterator[tuple[int, Path, Ids]]:
    """Yield the number of each part, its file, and the global ids of the cells that it owns, in any order."""
    if holds_mesh_files(manifest):
        for part in manifest.parts:
            files = PartFiles(manifest, part)
            yield part, files.file, files.owned("cell")[1]
        return
    if manifest.format != STORE:
        raise FormatError(f"{manifest.path}: labels cannot be read back from parts in the format {manifest.format!r}")
    store = PartStore(manifest)
    for part in manifest.parts:
        cells = store.load(part).cells
        yield part, manifest.file(part), cells.global_ids[: cells.n_owned]
