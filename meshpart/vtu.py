"""Write .vtu files: VTK's XML of an unstructured grid, with its arrays as they lie in memory behind the XML."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np

from meshpart.arrays import Array, Ids, flatten, starts
from meshpart.blocks import is_polyhedron
from meshpart.cells import cell_type
from meshpart.errors import FormatError
from meshpart.formats import FORMATS
from meshpart.quiet import in_one_line

if TYPE_CHECKING:
    import meshio

Arrays = Mapping[str, Array]  # by their names

TYPES = {
    "int8": "Int8",
    "int16": "Int16",
    "int32": "Int32",
    "int64": "Int64",
    "uint8": "UInt8",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float32": "Float32",
    "float64": "Float64",
}

# Of a file of version 1.0 sizes are 64-bit numbers. It is the last version that meshio reads. Up to 2.1, VTK from 9.0
# on takes the rows of VTK_LAGRANGE_HEXAHEDRON for those of older VTK, as which meshio read them.
ROOT = f'version="1.0" byte_order="{"LittleEndian" if sys.byteorder == "little" else "BigEndian"}" header_type="UInt64"'

# The linear wedge as VTK had it up to 9.6 and as its file format is documented, its first triangle facing outwards.
# meshio turns it around, when it writes and when it reads. VTK 9.7 has the mirror image, which is gmsh's wedge, but
# turns no wedge of a file around, of whatever version, and finds the volumes of these negative.
WEDGE = [0, 2, 1, 3, 5, 4]
POLYHEDRON = 42

RUN = "meshpart:run"  # the field data that says of which decomposition a piece is, as the codes of its letters

GLOBAL_IDS = {"PointData": "GlobalPointIds", "CellData": "GlobalCellIds"}  # which VTK takes for what they are
IS_ID = ' IdType="1"'

# What readers that search the whole file for XML would find in an array.
MARKUP = re.compile(rb"<(?:/AppendedData|Piece)")


@dataclass(frozen=True)
class Schema:
    """Which arrays a file has, each as the XML attributes that tell its type, name and number of components.

    Parameters
    ----------
    points, point_data, cell_data : dict of str to str
        By the names of the arrays. That of the points is "Points".
    """

    points: dict[str, str]
    point_data: dict[str, str]
    cell_data: dict[str, str]


def write_vtu(path: Path, mesh: meshio.Mesh) -> Schema:
    """Write a mesh as a .vtu file, uncompressed.

    Parameters
    ----------
    path : pathlib.Path
    mesh : meshio.Mesh
        Of cells that VTK has, with one dtype of each array in all blocks and without sets, for which the format has no
        place. Of field data it may have RUN. It stays as it is. Points get three coordinates, the last ones 0.

    Returns
    -------
    schema : Schema

    Raises
    ------
    FormatError
        If the file cannot hold the mesh, or cannot be written.
    """
    for name in ("point_sets", "cell_sets", "field_data"):
        if left := [key for key in getattr(mesh, name) if (name, key) != ("field_data", RUN)]:
            raise FormatError(f"vtu files hold no {name.replace('_', ' ')}: {', '.join(left)}")
    points = np.zeros((len(mesh.points), 3), mesh.points.dtype)
    points[:, : mesh.points.shape[1]] = mesh.points
    sections: dict[str, Arrays] = {
        "PointData": {name: _native(name, values) for name, values in mesh.point_data.items()},
        "CellData": {name: _native(name, _joined(name, blocks)) for name, blocks in mesh.cell_data.items()},
        "Points": {"Points": _native("Points", points)},
        "Cells": _cells(mesh.cells, len(points)),
    }
    described = {tag: _described(tag, arrays) for tag, arrays in sections.items()}
    arrays = [array for arrays in sections.values() for array in arrays.values()]
    is_raw = not any(MARKUP.search(array.data) for array in arrays)
    head = _head(_field_data(mesh), described, arrays, len(points), len(sections["Cells"]["types"]), is_raw=is_raw)
    try:
        with path.open("wb") as file:
            file.write(head.encode("ascii"))
            for array in reversed(arrays):
                size = np.uint64(array.nbytes).tobytes()
                if is_raw:
                    file.write(size)
                    file.write(array.data)
                else:
                    file.write(b64encode(size + array.tobytes()))
            file.write(b"\n</AppendedData>\n</VTKFile>\n")
    except OSError as error:
        raise FormatError(f"{path.name} cannot be written: {in_one_line(error)}") from error
    return Schema(described["Points"], described["PointData"], described["CellData"])


def quoted(text: str) -> str:
    """Return a text as the value of an XML attribute, in ASCII.

    Examples
    --------
    >>> quoted('a < "ü"')
    '"a &lt; &quot;&#252;&quot;"'
    """
    entities = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
    return f'"{escape(text, entities).encode("ascii", "xmlcharrefreplace").decode()}"'


def opening(tag: str, arrays: Mapping[str, str]) -> str:
    """Return the opening tag of an element that holds arrays, as a Schema describes them."""
    ids = [f" GlobalIds={quoted(name)}" for name, told in arrays.items() if IS_ID in told]
    return f"<{tag}{''.join(ids)}>"


# -- XML ----------------------------------------------------------------------------------------------------


def _field_data(mesh: meshio.Mesh) -> list[str]:
    """Return the element that says of which decomposition a mesh is, if it says so; meshio reads no text there."""
    if RUN not in mesh.field_data:
        return []
    codes = _native(RUN, mesh.field_data[RUN])
    told = f'type="{TYPES[codes.dtype.name]}" Name={quoted(RUN)} NumberOfTuples="{len(codes)}" format="ascii"'
    return ["<FieldData>", f"<DataArray {told}>{' '.join(map(str, codes.tolist()))}</DataArray>", "</FieldData>"]


def _head(
    field_data: list[str],
    described: Mapping[str, Mapping[str, str]],
    arrays: list[Array],
    n_points: int,
    n_cells: int,
    *,
    is_raw: bool,
) -> str:
    """Return all that stands before the arrays.

    They follow in the opposite order, the last first: meshio gives raw arrays new offsets, from the first on, and takes
    the first element with an offset for the one that has it in the file. So none before it may have a new one.
    """
    sizes = [8 + array.nbytes for array in reversed(arrays)]
    offsets = starts(sizes if is_raw else [(size + 2) // 3 * 4 for size in sizes])[:-1].tolist()
    lines = [
        '<?xml version="1.0"?>',
        f'<VTKFile type="UnstructuredGrid" {ROOT}>',
        "<UnstructuredGrid>",
        *field_data,
        f'<Piece NumberOfPoints="{n_points}" NumberOfCells="{n_cells}">',
    ]
    for tag, elements in described.items():
        told = [f'<DataArray {each} format="appended" offset="{offsets.pop()}"/>' for each in elements.values()]
        lines += [opening(tag, elements), *told, f"</{tag}>"]
    lines += ["</Piece>", "</UnstructuredGrid>", f'<AppendedData encoding="{"raw" if is_raw else "base64"}">', "_"]
    return "\n".join(lines)


def _described(tag: str, arrays: Arrays) -> dict[str, str]:
    told = {}
    for name, array in arrays.items():
        components = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
        is_id = GLOBAL_IDS.get(tag) == name and array.dtype == np.int64 and array.ndim == 1
        told[name] = f'type="{TYPES[array.dtype.name]}"{components}{IS_ID if is_id else ""} Name={quoted(name)}'
    return told


# -- arrays -------------------------------------------------------------------------------------------------


def _native(name: str, values: Array) -> Array:
    """Return an array as it is written, if the format can hold it: in the machine's byte order and in one piece."""
    if not re.fullmatch(FORMATS["vtu"].names, name):
        raise FormatError(f"vtu files hold no array of the name {name!r}")
    if values.dtype.name not in TYPES:
        raise FormatError(f"vtu files hold no numbers of dtype {values.dtype}: {name!r}")
    if values.ndim not in (1, 2) or values.shape[1:] == (0,):
        raise FormatError(f"vtu files hold one axis of numbers for each point or cell, {name!r} is {values.shape}")
    return np.ascontiguousarray(values, values.dtype.newbyteorder("="))


def _joined(name: str, blocks: Sequence[Array]) -> Array:
    kinds = {(block.dtype, block.shape[1:]) for block in blocks}
    if len(kinds) > 1:
        told = ", ".join(sorted(f"{dtype} x {shape}" for dtype, shape in kinds))
        raise FormatError(f"vtu files hold an array of one dtype and one shape in all blocks, {name!r} is {told}")
    return np.concatenate(blocks) if blocks else np.zeros(0)


def _cells(blocks: Iterable[meshio.CellBlock], n_points: int) -> dict[str, Array]:
    """Return the arrays of the cells: their points, where those of each end, and their numbers of VTK's."""
    points: list[Ids] = [np.zeros(0, np.int64)]
    sizes: list[Ids] = [np.zeros(0, np.int64)]
    types = [np.zeros(0, np.uint8)]
    faces: list[Ids] = []
    face_sizes: list[Ids] = []
    for block in blocks:
        number = cell_type(block.type).vtk
        if number is None:
            raise FormatError(f"vtu files hold no cells of type {block.type}")
        if is_polyhedron(block.type):
            rows, lengths, numbers, n_numbers = _polyhedra(block.data, n_points)
            faces.append(numbers)
        else:
            table = block.data[:, WEDGE] if block.type == "wedge" else block.data
            rows, lengths = table.reshape(-1), np.full(len(table), table.shape[1], np.int64)
            n_numbers = np.zeros(len(table), np.int64)
        points.append(rows)
        sizes.append(lengths)
        types.append(np.full(len(lengths), number, np.uint8))
        face_sizes.append(n_numbers)
    arrays: dict[str, Array] = {
        "connectivity": np.concatenate(points, dtype=np.int64),
        "offsets": np.cumsum(np.concatenate(sizes)),
        "types": np.concatenate(types),
    }
    if faces:
        arrays["faces"] = np.concatenate(faces)
        ends = np.cumsum(np.concatenate(face_sizes))
        arrays["faceoffsets"] = np.where(arrays["types"] == POLYHEDRON, ends, -1)
    return arrays


def _polyhedra(cells: Sequence[Sequence[Any]], n_points: int) -> tuple[Ids, Ids, Ids, Ids]:
    """Return of polyhedra that are given by their faces the points of each, and how many, and the faces of each.

    Returns
    -------
    points, n_points_of_each : ndarray of int64
    numbers, n_numbers_of_each : ndarray of int64
        How many faces a cell has, then for each face how many points, and these points.
    """
    n_faces = np.array([len(faces) for faces in cells], np.int64)
    corners, face_starts = flatten([face for faces in cells for face in faces])
    n_corners = np.diff(face_starts)
    first_faces = starts(n_faces)
    cell_of_corner = np.repeat(np.arange(len(cells)), np.diff(face_starts[first_faces]))
    cell, point = np.divmod(np.unique(cell_of_corner * n_points + corners), max(n_points, 1))
    sized_starts = starts(n_corners + 1)[first_faces]  # of each cell, where a face's number stands before its points
    sized = np.insert(corners, face_starts[:-1], n_corners)
    numbers = np.insert(sized, sized_starts[:-1], n_faces)
    return point, np.bincount(cell, minlength=len(cells)), numbers, np.diff(sized_starts) + 1
