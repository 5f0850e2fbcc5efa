"""Read files of text and bare numbers with meshio, and hear from its reader the lines that are text."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from string import ascii_letters
from typing import Any

from meshpart.ending import Ending

# The readers that ask for text line by line and for numbers otherwise, and how the lines begin that head something.
READERS = {
    "gmsh": ("meshio.gmsh.main", b"$"),
    "vtk": ("meshio.vtk._main", ascii_letters.encode()),
}


def read_with_heads(file_format: str, path: Path) -> tuple[Any, bytes]:
    """Return the mesh in a file, and the lines that head what is in it: nobody has to look for them in the numbers.

    Parameters
    ----------
    file_format : str
        A name of `READERS`.
    path : pathlib.Path

    Returns
    -------
    mesh : meshio.Mesh
    heads : bytes
        The lines, and a newline before the first.

    Raises
    ------
    Whatever meshio's reader raises.
    """
    module, firsts = READERS[file_format]
    with _HeadsKept(path, firsts) as file:
        mesh = import_module(module).read_buffer(file)
    return mesh, b"\n" + b"".join(file.heads)


class _HeadsKept(io.BufferedReader):
    """A file that keeps those of the lines asked for that begin with certain bytes."""

    def __init__(self, path: Path, firsts: bytes) -> None:
        super().__init__(Ending(path))  # its readers would ask for as many lines as a damaged file says
        self._firsts = firsts
        self.heads: list[bytes] = []

    def readline(self, size: int | None = -1, /) -> bytes:
        line = io.BufferedReader.readline(self, size)
        if line and line[0] in self._firsts:
            self.heads.append(line)
        return line
