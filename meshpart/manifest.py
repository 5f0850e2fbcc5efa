"""What the manifest of a folder of parts says: how they were made, what is in each, what became of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from meshpart.submesh import SubMesh
from meshpart.version import __version__

FORMAT_VERSION = 1


def describe(
    parts: Sequence[SubMesh], file_format: str, entries: list[dict[str, Any]], notes: Mapping[str, bool]
) -> dict[str, Any]:
    """Return what the manifest says of all parts together.

    Parameters
    ----------
    parts : sequence of SubMesh
        Of one decomposition.
    file_format : str
        meshio's name of the format.
    entries : list of dict
        What `describe_part` says of each part.
    notes : mapping of str to bool
        What became of the data.
    """
    first = parts[0]
    mesh, made = first.mesh, first.provenance
    return {
        "format_version": FORMAT_VERSION,
        "meshpart": __version__,
        "format": file_format,
        "nparts": first.nparts,
        "ghost_layers": first.ghost_layers,
        "method": made.method,
        "mode": made.mode,
        "seed": made.seed,
        "imbalance": made.imbalance,
        "weights": made.weights,
        "edge_weights": made.edge_weights,
        "keep_together": made.keep_together,
        "repair": None if made.repair is None else made.repair._asdict(),
        "run": first.run,
        "n_cells": first.cells.n_global,
        "n_points": first.points.n_global,
        "blocks": [{"type": block.type, "tags": list(block.tags)} for block in mesh.blocks],
        "point_sets": sorted(mesh.point_sets),
        "cell_sets": sorted(mesh.cell_sets),
        "field_data": plain(mesh.field_data),
        "block_data": plain(mesh.block_data),
        "periodic": [
            {"dim": entry.dim, "tags": plain(entry.tags), "affine": plain(entry.affine)} for entry in first.periodic
        ],
        "info": plain(mesh.info),
        "notes": list(notes),
        "parts": entries,
    }


def describe_part(part: SubMesh, file: str, beside: str | None) -> dict[str, Any]:
    """Return what the manifest says of one part.

    Parameters
    ----------
    part : SubMesh
    file : str
        The name of its mesh file.
    beside : str or None
        The name of the .npz file with what the mesh file does not hold.
    """
    return {
        "part": part.part,
        "file": file,
        "beside": beside,
        "owned_cells": part.cells.n_owned,
        "ghost_cells": part.cells.n_ghost,
        "owned_points": part.points.n_owned,
        "ghost_points": part.points.n_ghost,
        "cells_of_blocks": [len(block) for block in part.mesh.blocks],
    }


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, and what JSON does not know as its text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
