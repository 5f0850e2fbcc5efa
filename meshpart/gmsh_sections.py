"""Read gmsh files with meshio, and hear from its reader what sections they have."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any


def read_gmsh(path: Path) -> tuple[Any, bytes]:
    r"""Return the mesh in a gmsh file, and the lines in which its sections begin and end.

    The reader finds a section by its line, and asks for numbers otherwise; so nobody has to look for sections among
    the numbers.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    mesh : meshio.Mesh
    heads : bytes
        Each line that begins with $, and a newline before the first.

    Raises
    ------
    Whatever meshio's reader raises.
    """
    with _HeadsKept(path) as file:
        mesh = import_module("meshio.gmsh.main").read_buffer(file)
    return mesh, b"\n" + b"".join(file.heads)


class _HeadsKept(io.BufferedReader):
    """A file that keeps the lines beginning with $ of those that it is asked for."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))
        self.heads: list[bytes] = []

    def readline(self, size: int | None = -1, /) -> bytes:
        line = io.BufferedReader.readline(self, size)
        if line[:1] == b"$":
            self.heads.append(line)
        return line
