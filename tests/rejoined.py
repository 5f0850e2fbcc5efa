"""Parts written as mesh files for tests of the way back, and what other programs do to them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from meshpart import Mesh, MeshpartWarning, split, write_parts
from meshpart.arrays import same
from meshpart.manifest import read_manifest
from meshpart.meshio_bridge import patched_meshio

OTHER_READERS = {"gmsh22": "gmsh"}  # of formats, for which meshio has another name when it reads them


def written(
    mesh: Mesh, labels: Any, folder: Path, form: str = "vtu", nparts: int | None = None, layers: int = 1
) -> Path:
    """Write the parts of a mesh, whatever becomes of their data; return the folder, or the .pvtu."""
    path = folder / ("parts.pvtu" if form == "pvtu" else "parts")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(split(mesh, labels, nparts, ghost_layers=layers), path, format=form, overwrite=True)
    return path


def ascending(mesh: Mesh) -> Mesh:
    """Return a mesh whose sets ascend."""
    return replace(
        mesh,
        point_sets={name: np.unique(members) for name, members in mesh.point_sets.items()},
        cell_sets={name: [np.unique(rows) for rows in blocks] for name, blocks in mesh.cell_sets.items()},
    )


def unlike(one: Mesh, other: Mesh) -> list[str]:
    """Return in which fields two meshes differ, bit for bit."""
    return [entry.name for entry in fields(Mesh) if not same(getattr(one, entry.name), getattr(other, entry.name))]


def change(path: Path, part: int, how: Callable[[Any], object], form: str | None = None) -> None:
    """Do something to the mesh file of a part, as another program that reads and writes it would."""
    file = read_manifest(path).file(part)
    with patched_meshio() as meshio:
        mesh = meshio.read(file, file_format=form and OTHER_READERS.get(form, form))
        how(mesh)
        mesh.write(file, file_format=form)
