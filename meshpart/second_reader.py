"""Read what meshio cannot by meshioplusplus, in a process of its own: its core prints on its own, and may crash."""

from __future__ import annotations

import pickle
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from meshpart import child
from meshpart.errors import FormatError

PACKAGE = "meshioplusplus"

# What the other process runs: it gets the mesh file, and where to put the result.
CHILD = """
import pickle
import meshioplusplus
try:
    mesh = meshioplusplus.read(sys.argv[2])
    result = {
        "version": meshioplusplus.__version__,
        "points": mesh.points,
        "cells": [(block.type, block.data) for block in mesh.cells],
        "point_data": dict(mesh.point_data),
        "cell_data": dict(mesh.cell_data),
        "field_data": dict(mesh.field_data),
        "point_sets": dict(mesh.point_sets.items()),
        "cell_sets": dict(mesh.cell_sets.items()),
        "gmsh_periodic": mesh.gmsh_periodic,
        "side_sets": [region.name for region in mesh.regions if region.kind == "side"],
    }
except (Exception, SystemExit) as error:
    result = {"error": f"{type(error).__name__}: {error}"}
with open(sys.argv[3], "wb") as file:
    pickle.dump(result, file, protocol=5)
"""


class SecondReading(NamedTuple):
    """What meshioplusplus made of a file: something like a meshio.Mesh, and what it printed."""

    mesh: Any
    said: str


def is_installed() -> bool:
    """Whether meshioplusplus can be imported."""
    return find_spec(PACKAGE) is not None


def read_in_child(file: Path) -> SecondReading:
    """Read a file by meshioplusplus.

    Parameters
    ----------
    file : pathlib.Path

    Raises
    ------
    FormatError
        With the reason that meshioplusplus gives, or how its process ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result"
        try:
            command = child.command(CHILD, str(file.resolve()), str(result))
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except OSError as error:
            raise FormatError(f"{PACKAGE} cannot be started: {error}") from error
        said = " ".join((done.stdout + done.stderr).decode(errors="replace").split())
        if done.returncode != 0:
            raise FormatError(f"{PACKAGE} {child.how_it_ended(done.returncode, said)}")
        if not result.exists():
            raise FormatError(f"{PACKAGE} failed: {said[-child.MOST_SAID :]}")
        content = pickle.loads(result.read_bytes())
    if "error" in content:
        raise FormatError(f"{PACKAGE}: {' '.join(content['error'].split())}")
    return SecondReading(SimpleNamespace(**content), said)
