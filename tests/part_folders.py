"""What is in folders of parts: their manifests, and their mesh files as meshio reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import meshio
import numpy as np

from meshpart import Mesh, MeshpartWarning, SubMesh, split, write_parts
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS
from meshpart.manifest import read_manifest
from meshpart.meshio_bridge import patched_meshio
from meshpart.quiet import listening


def manifest(folder: Path) -> dict[str, Any]:
    """Return what the manifest says."""
    return dict(read_manifest(folder).content)


def part_file(folder: Path, part: int) -> Path:
    """Return the file of a part."""
    return read_manifest(folder).file(part)


def entries(folder: Path) -> list[dict[str, Any]]:
    """Return what the manifest says of each part, and the path of its file."""
    found = read_manifest(folder)
    return [{**found.row(part), "file": found.file(part)} for part in found.parts]


def files_of(folder: Path) -> Iterator[tuple[dict[str, Any], meshio.Mesh, dict[str, np.ndarray]]]:
    """Yield of each part what the manifest says, the mesh file as meshio reads it, and the arrays beside it."""
    format_ = manifest(folder)["format"]
    name = {"gmsh22": "gmsh", "vtk42": "vtk", "pvtu": "vtu"}.get(format_, format_)
    for entry in entries(folder):
        with listening(), patched_meshio() as module:
            mesh = module.read(str(entry["file"]), file_format=name)
        beside = dict(np.load(entry["file"].with_name(f"part-{entry['part']:05}.npz"))) if entry["beside"] else {}
        yield entry, mesh, beside


def array_of(kind: str, name: str, mesh: meshio.Mesh, beside: dict[str, np.ndarray]) -> np.ndarray:
    """Return an array of points or cells, in the order of the file, from the file or from beside it."""
    found = getattr(mesh, f"{kind}_data").get(name)
    if found is None:
        found = beside[f"{kind}_data/{name}"]
    return np.concatenate(found) if isinstance(found, list) else np.asarray(found)


def a_mesh_for(name: str) -> Mesh:
    """Return a mesh with random blocks of all types that a file of the format may have at once, sets and data."""
    holds = FORMATS[name]
    types = sorted(holds.types if holds.mixed is None else holds.mixed) or ["triangle"]
    types = [type_ for type_ in types if (CELL_TYPES[type_].n_points or 0) <= 27 and type_ != "polyhedron"]
    rng = np.random.default_rng(7)
    blocks = []
    for type_ in types + types[:2]:
        n_points = CELL_TYPES[type_].n_points or {"polygon": 5, "VTK_LAGRANGE_CURVE": 4}.get(type_, 10)
        blocks.append((type_, np.array([rng.permutation(40)[:n_points] for _ in range(4)])))
    lengths = [len(rows) for _, rows in blocks]
    return Mesh(
        rng.random((41, 3)),  # point 40 is in no cell
        blocks,
        point_data={"height": rng.random(41), "tag": np.arange(41, dtype=np.int16)},
        cell_data={"load": [rng.random(n) for n in lengths], "hot": [rng.random(n) < 0.5 for n in lengths]},
        point_sets={"low": np.arange(0, 41, 3)},
        cell_sets={"odd": [np.array([1, 3])] * len(blocks), "all": [np.arange(n) for n in lengths]},
    )


def written(mesh: Mesh, folder: Path, *, format: str = "vtu", nparts: int = 3, ghost_layers: int = 0) -> list[SubMesh]:
    """Write random parts of a mesh, whatever that warns of; return them."""
    labels = np.random.default_rng(5).integers(0, nparts, mesh.n_cells)
    labels[:nparts] = np.arange(nparts)
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(parts, folder, format=format)
    return parts
