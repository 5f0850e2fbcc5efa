"""Parts as mesh files, in any format that meshio writes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from meshpart.beside import BESIDE
from meshpart.errors import FormatError
from meshpart.formats import find_format
from meshpart.manifest import file_name
from meshpart.mesh_file import open_writer, save
from meshpart.part_files import fit, refuse_what_it_lacks
from meshpart.submesh import SubMesh
from meshpart.writing import Write


class MeshFileWriter:
    """Writes parts as mesh files of one format; what that does not hold goes into an .npz file beside each.

    Parameters
    ----------
    format : str
        meshio's name of it, or a suffix.
    """

    def __init__(self, format: str) -> None:
        self.format, self._holds, self.suffix = find_format(format)
        self.notes: dict[str, bool] = {}
        self.arrays: dict[str, Any] = {}
        self._opened = ExitStack()
        self._write: Write | None = None

    def check(self, part: SubMesh) -> None:
        """Raise FormatError if the format cannot hold a part."""
        refuse_what_it_lacks(part, self.format, self._holds)

    def write(self, part: SubMesh, folder: Path) -> dict[str, Any]:
        """Write the files of a part, and say whether there is one beside the mesh file."""
        self.check(part)
        file = fit(part, self.format, self._holds)
        target, beside = (folder / file_name(part.part, suffix) for suffix in (self.suffix, BESIDE))
        try:
            has_beside = save(file, target, beside, self._writing())
        except FormatError as error:
            reason = f"part {part.part} cannot be written as {file.name}: {error}"
            raise FormatError(reason) from (error.__cause__ or error)
        self.notes.update(file.notes)
        self.arrays = file.arrays
        return {"beside": has_beside}

    def index(self, folder: str, files: Sequence[str], ghost_layers: int) -> None:
        """Return None: the manifest stands for all files."""

    def close(self) -> None:
        """End the process that writes, where there is one."""
        self._opened.close()

    def _writing(self) -> Write:
        """Return what writes a mesh file, begun with the first one."""
        if self._write is None:
            self._write = self._opened.enter_context(open_writer(self.format, self._holds))
        return self._write
