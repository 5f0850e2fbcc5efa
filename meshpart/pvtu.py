"""Parts as the pieces of a .pvtu file, which ParaView opens as one mesh: the pieces, and the index that names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from meshpart.beside import BESIDE, write_beside
from meshpart.errors import FormatError
from meshpart.formats import FORMATS
from meshpart.manifest import file_name
from meshpart.part_files import fit, refuse_what_it_lacks
from meshpart.staging import PVTU
from meshpart.submesh import SubMesh
from meshpart.vtu import ROOT, Schema, opening, quoted, write_vtu

# VTK reads more from .vtu files than meshio does: voxels, and polyhedra beside other cells.
PIECE = replace(FORMATS["vtu"], types=FORMATS["vtu"].types | {"voxel"}, mixed=None)


class PieceWriter:
    """Write parts as .vtu files that one index can name: with the same arrays in each.

    Attributes
    ----------
    format, suffix : str
        Of the files.
    notes : dict of str to bool
        What became of the data, and whether that is worth a warning.
    arrays : dict
        What the arrays of the parts are, as the manifest tells it.
    schema : Schema or None
        The arrays of the pieces, once the first is written.
    """

    format = PVTU
    suffix = ".vtu"

    def __init__(self) -> None:
        self.notes: dict[str, bool] = {}
        self.arrays: dict[str, Any] = {}
        self.schema: Schema | None = None

    def check(self, part: SubMesh) -> None:
        """Raise FormatError if .vtu files have no place for a part's cells or numbers."""
        refuse_what_it_lacks(part, "vtu", PIECE)

    def write(self, part: SubMesh, folder: Path) -> dict[str, Any]:
        """Write a part, and what .vtu files do not hold beside it.

        Parameters
        ----------
        part : SubMesh
        folder : pathlib.Path

        Returns
        -------
        columns : dict
            "beside": whether there is a file beside it.

        Raises
        ------
        FormatError
            If the part's arrays are not those of the first part, or a file cannot be written.
        """
        self.check(part)
        file = fit(part, "vtu", PIECE)
        types = {block.type for block in file.mesh.cells}
        if len(types) > 1 and any(type_.startswith("polyhedron") for type_ in types):
            file.note("polyhedra beside other cells are read by VTK and meshioplusplus, and not by meshio", loud=True)
        self.notes.update(file.notes)
        self.arrays = file.arrays
        try:
            schema = write_vtu(folder / file_name(part.part, self.suffix), file.mesh)
            self.schema = self.schema or schema
            _refuse_other_arrays(schema, self.schema)
        except FormatError as error:
            raise FormatError(f"part {part.part} cannot be written as a piece of a .pvtu file: {error}") from error
        return {"beside": write_beside(folder / file_name(part.part, BESIDE), file.beside)}

    def index(self, folder: str, files: Sequence[str], ghost_layers: int) -> bytes:
        """Return the content of the .pvtu file that names the files of a folder beside it."""
        assert self.schema is not None
        return index([f"{folder}/{file}" for file in files], self.schema, ghost_layers)

    def close(self) -> None:
        """End nothing: nothing was begun."""


def index(pieces: Iterable[str], schema: Schema, ghost_level: int) -> bytes:
    """Return the content of a .pvtu file.

    Parameters
    ----------
    pieces : iterable of str
        The paths of the .vtu files from the folder of the .pvtu file, with / between folders.
    schema : Schema
        The arrays of each of them.
    ghost_level : int
        How many layers of ghosts they have.

    Raises
    ------
    FormatError
        If XML cannot hold a path.

    Examples
    --------
    >>> schema = Schema({"Points": 'type="Float64" NumberOfComponents="3" Name="Points"'}, {}, {})
    >>> print(index(["a&b/part-00000.vtu"], schema, 1).decode().splitlines()[-3])
    <Piece Source="a&amp;b/part-00000.vtu"/>
    """
    arrays = {"PPointData": schema.point_data, "PCellData": schema.cell_data, "PPoints": schema.points}
    lines = [
        '<?xml version="1.0"?>',
        f'<VTKFile type="PUnstructuredGrid" {ROOT}>',
        f'<PUnstructuredGrid GhostLevel="{ghost_level}">',
    ]
    for tag, elements in arrays.items():
        lines += [opening(tag, elements), *(f"<PDataArray {told}/>" for told in elements.values()), f"</{tag}>"]
    lines += [f"<Piece Source={_source(piece)}/>" for piece in pieces]
    lines += ["</PUnstructuredGrid>", "</VTKFile>\n"]
    return "\n".join(lines).encode("ascii")


def _source(piece: str) -> str:
    if re.search("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", piece):
        raise FormatError(f".pvtu files cannot name a file {piece!r}")
    return quoted(piece)


def _refuse_other_arrays(given: Schema, first: Schema) -> None:
    for field in fields(Schema):
        ours, theirs = getattr(given, field.name), getattr(first, field.name)
        for name in {**theirs, **ours}:
            if ours.get(name) != theirs.get(name):
                told = [arrays.get(name, "absent").split(" Name=")[0] for arrays in (ours, theirs)]
                raise FormatError(f"{field.name}[{name!r}] is {told[0]}, and {told[1]} in the first part written")
