"""What a part's mesh file holds: its mesh fitted to a format, with ids, owners and ghosts; the rest goes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from meshpart.fitting import Added, MeshFile, fit_mesh, refuse_mesh
from meshpart.formats import Format
from meshpart.submesh import SubMesh, ids_of
from meshpart.vtu import RUN


def refuse_what_it_lacks(part: SubMesh, name: str, holds: Format) -> None:
    """Raise FormatError if a format has no place for a part's cells or for the dtype of its data."""
    refuse_mesh(part.mesh, name, holds, f"part {part.part}")


def fit(part: SubMesh, name: str, holds: Format) -> MeshFile:
    """Fit a part, which stays as it is, to a format that holds its cells.

    Parameters
    ----------
    part : SubMesh
    name : str
        meshio's name of the format.
    holds : Format
    """
    ids = Added(
        ids_of("Point", part.points, part.part),
        {key: part.to_blocks(values) for key, values in ids_of("Cell", part.cells, part.part).items()},
    )
    file = fit_mesh(part.mesh, name, holds, ids)
    if name == "vtu":
        file.mesh.field_data[RUN] = np.frombuffer(part.run.encode("ascii"), np.uint8)
    file.arrays["field_data"] = {key: _dtypes([value]) for key, value in part.mesh.field_data.items()}
    file.arrays["block_data"] = {key: _dtypes(values) for key, values in part.mesh.block_data.items()}
    for number, (entry, rows) in enumerate(zip(part.periodic, part.periodic_positions, strict=True)):
        file.beside[f"periodic/{number}"] = entry.pairs
        file.beside[f"periodic_rows/{number}"] = rows
        file.note("periodic pairs of points are in the .npz files, as global ids")
    return file


def _dtypes(values: Sequence[Any]) -> list[str | None]:
    """Return the dtypes of those that are arrays of numbers or text, and so are lists in the manifest."""
    return [v.dtype.str if isinstance(v, np.ndarray) and v.dtype.kind in "biufU" else None for v in values]
