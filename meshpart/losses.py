"""What meshio's readers leave out of a file, told by what they print, by the file's own words and by its own counts.

A mesh that lacks cells, points or values of its file must not pass for it. One that lacks names, sets or later time
steps may, with a warning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from string import ascii_letters
from typing import Any, NamedTuple

from meshpart.words import find_words

Found = Mapping[bytes, Sequence[bytes]]  # by pattern, its group wherever it matches


class Loss(NamedTuple):
    """What is lost, and whether the mesh is none without it."""

    text: str
    fatal: bool


class Sign(NamedTuple):
    """Words of a file that a reader passes over: a loss where they stand more than `times` times."""

    pattern: bytes
    text: str
    fatal: bool
    times: int = 0


# What meshio prints where it goes on without cells, points or values.
FATAL_WORDS = re.compile(
    r"cells that meshio cannot handle"
    r"|VTU file corrupt"
    r"|not closed by \$End"
    r"|End-of-file reached before"
    r"|expected \d+ markers .* but found only"
    r"|Unknown entry \S+ Ignoring"
    r"|doesn't know Gmf(?!Corners|Ridges|Required|Normal|Tangent|\w+OnGeometric|SubDomain)\w+ type"
)

# What meshio prints where it writes less than it was given.
DROPPED = re.compile(r"(?i)\b(skip|discard|unsupported|drop)")

LINE = rb"\n[ \t]*"  # where a line begins

FLUENT_ZONE = LINE + rb"\(\s*((?:20|30)?12)\s*\(\s*[1-9a-f]\w*"  # of cells, up to its number

SIGNS: dict[str, tuple[Sign, ...]] = {
    "abaqus": (
        Sign(rb"\n\*((?i:NODE))[ \t]*[,\r\n]", "the points of every *NODE section but the last", False, times=1),
        Sign(rb"\n\*((?i:INCLUDE))\b", "the element sets of included files", False),
        Sign(rb"\n\*((?i:NSET))\b[^\n]*\n[ \t]*[A-Za-z_]", "node sets made of other sets", False),
    ),
    "ansys": (
        Sign(FLUENT_ZONE + rb"(?:\s+\w+){3,4}\s*\)\s*\)", "cells that are given by faces", True),
        Sign(FLUENT_ZONE + rb"(?:\s+\w+){3}\s+0\s*\)\s*\(", "zones of mixed cells", True),
    ),
    "gmsh": (
        Sign(rb"\n\$(ElementNodeData)\b", "values on the nodes of elements", True),
        Sign(rb"\n\$(GhostElements|PartitionedEntities)\b", "the parts and ghosts of an earlier partition", False),
    ),
    "mdpa": (
        Sign(LINE + rb"Begin (Geometries)\b", "cells", True),
        Sign(LINE + rb"Begin ((?:Nodal|Elemental|Conditional)Data)\b", "values", True),
        Sign(LINE + rb"Begin (SubModelPart)\b", "sets", False),
    ),
    "medit": (
        Sign(
            LINE + rb"(Corners|Normal\w*|SubDomainFromMesh|(?=\w+OnGeometric\w)\w+)\s", "marks of the geometry", False
        ),
    ),
    "nastran": (
        Sign(rb"\n(C(?:BEAM|BUSH1?D?|ROD|GAP|BAR|TRI|QUAD|SHEAR|TETRA|PYRA|PENTA|HEXA)\w*\*)", "cells", True),
        Sign(rb"\n(CON\w+|CMASS\d|CELAS[2-4]|CWELD|CFAST|PLOTEL|RBE\d|RBAR)\b", "elements", False),
    ),
    "obj": (Sign(rb"\n([lp])[ \t]", "lines and points", True),),
    "permas": (Sign(rb"\n\$((?i:NSET|ESET))\b", "sets", False),),
    "tecplot": (Sign(LINE + rb"((?i:ZONE))\b", "the cells of every zone but the first", True, times=1),),
}

# Where a file declares how many cells and how many points it has.
COUNTS: dict[str, tuple[bytes, ...]] = {
    "su2": (LINE + rb"(?:NELEM|MARKER_ELEMS)\s*=\s*(\d+)", LINE + rb"NPOIN\s*=\s*(\d+)"),
    "xdmf": (rb"<Topology\b[^>]*\bNumberOfElements\s*=\s*[\"']\s*(\d+)",),
    "vtk": (rb"\n(?i:CELL_TYPES)\s+(\d+)", rb"\n(?i:POINTS)\s+(\d+)"),
    "vtu": (
        rb"<Piece\b[^>]*\bNumberOfCells\s*=\s*[\"']\s*(\d+)",
        rb"<Piece\b[^>]*\bNumberOfPoints\s*=\s*[\"']\s*(\d+)",
    ),
}

ABAQUS_BLOCK = rb"\n\*(?i:ELEMENT)[ \t]*,([^\r\n]*)"
ABAQUS_SETS = {
    keyword: rb"\n\*(?i:%b)\b[^\r\n]*?\b(?i:%b)\s*=\s*([^,\r\n]+)" % (keyword.encode(), keyword.encode())
    for keyword in ("ELSET", "NSET")
}
VTK_ARRAYS = rb"\n(?i:(CELL_DATA))\s+[1-9]\d*\s+(?i:SCALARS|VECTORS|TENSORS|FIELD\s+\S+\s+[1-9])"  # of cells, and some

# What else is looked for in files of a format.
OTHER_PATTERNS: dict[str, tuple[bytes, ...]] = {
    "abaqus": (ABAQUS_BLOCK, *ABAQUS_SETS.values()),
    "vtk": (VTK_ARRAYS,),
}

# Where it is looked for, unless the reader is heard: in lines or tags that begin with one of these bytes.
OPENINGS: dict[str, tuple[bytes, bytes]] = {
    "abaqus": (b"\n", b"*"),
    "ansys": (b"\n", b"("),
    "mdpa": (b"\n", b"B"),
    "medit": (b"\n", ascii_letters.encode()),
    "nastran": (b"\n", b"CPR"),
    "obj": (b"\n", b"lp"),
    "permas": (b"\n", b"$"),
    "su2": (b"\n", b"NM"),
    "tecplot": (b"\n", b"Zz"),
    "vtu": (b"<", b"P"),
    "xdmf": (b"<", b"T"),
}


def losses(
    file_format: str, path: Path, mesh: Any, said: str, heads: bytes | None = None
) -> tuple[list[str], list[str]]:
    """Find out what a reader of meshio left out.

    Parameters
    ----------
    file_format : str
        meshio's name of the format.
    path : pathlib.Path
    mesh : meshio.Mesh
        What the reader made of the file.
    said : str
        What it printed, in one line.
    heads : bytes, optional
        The lines that may begin with such words, a newline before each; by default they are looked for in the file.

    Returns
    -------
    fatal : list of str
        Losses without which the mesh is not the file's.
    minor : list of str
        What was said, and other losses.
    """
    lost = [Loss(said, FATAL_WORDS.search(said) is not None)] if said else []
    found = _found(file_format, path, heads)
    lost += _wrong_counts(file_format, found, mesh)
    lost += _passed_over(file_format, found)
    if file_format in OTHER_CHECKS:
        lost += OTHER_CHECKS[file_format](path, found, mesh)
    return [loss.text for loss in lost if loss.fatal], [loss.text for loss in lost if not loss.fatal]


def _found(file_format: str, path: Path, heads: bytes | None) -> Found:
    signs = (sign.pattern for sign in SIGNS.get(file_format, ()))
    patterns = (*signs, *COUNTS.get(file_format, ()), *OTHER_PATTERNS.get(file_format, ()))
    if heads is not None:
        return {pattern: re.findall(pattern, heads) for pattern in patterns}
    return find_words(path, *OPENINGS[file_format], patterns) if patterns else {}


def _wrong_counts(file_format: str, found: Found, mesh: Any) -> Iterator[Loss]:
    given = sum(len(block.data) for block in mesh.cells), len(mesh.points)
    for what, pattern, count in zip(("cells", "points"), COUNTS.get(file_format, ()), given, strict=False):
        declared = [int(number) for number in found[pattern]]
        if declared and sum(declared) != count:
            yield Loss(f"meshio gives {count} {what}, the file has {' + '.join(map(str, declared))}", True)


def _passed_over(file_format: str, found: Found) -> Iterator[Loss]:
    for sign in SIGNS.get(file_format, ()):
        words = [word.decode(errors="replace") for word in found[sign.pattern]]
        if len(words) > sign.times:
            yield Loss(f"meshio passes over {sign.text} ({', '.join(dict.fromkeys(words))})", sign.fatal)


# -- formats that need more than a pattern ------------------------------------------------------------------


def _vtk(path: Path, found: Found, mesh: Any) -> Iterator[Loss]:
    """Yield the cell data, which meshio drops where a file of an old version has polygons."""
    if found[VTK_ARRAYS] and not mesh.cell_data and any(block.type == "polygon" for block in mesh.cells):
        yield Loss("meshio drops the cell data of a file with polygons", True)


def _vtu(path: Path, found: Found, mesh: Any) -> Iterator[Loss]:
    """Yield that polyhedra are regrouped: meshio deals their data out in another order than the cells."""
    if len(mesh.cells) > 1 and any(block.type.startswith("polyhedron") for block in mesh.cells):
        if mesh.cell_data:
            yield Loss("meshio confuses the cell data of polyhedra of several sizes", True)
        yield Loss(REGROUPED, False)


def _abaqus(path: Path, found: Found, mesh: Any) -> Iterator[Loss]:
    """Yield the element sets that meshio gives to other blocks, and the sets of which it keeps the last share."""
    named = [re.search(rb"(?i)\bELSET\s*=\s*([^,\r\n]+)", block) for block in found[ABAQUS_BLOCK]]
    set_of_block = [match and match[1].strip().decode(errors="replace") for match in named]
    named_blocks = [name for name in set_of_block if name is not None]
    if set_of_block[: len(named_blocks)] != named_blocks or len(set(named_blocks)) < len(named_blocks):
        yield Loss(f"meshio gives the element sets {', '.join(dict.fromkeys(named_blocks))} to other cells", True)
    for keyword, pattern in ABAQUS_SETS.items():
        repeated = [name for name, times in Counter(found[pattern]).items() if times > 1]
        if repeated:
            names = ", ".join(name.decode(errors="replace").strip() for name in repeated)
            yield Loss(f"meshio keeps the last of several *{keyword} {names}", False)


def _exodus(path: Path, found: Found, mesh: Any) -> Iterator[Loss]:
    """Yield the names and sides that meshio does not look at."""
    with import_module("netCDF4").Dataset(str(path)) as file:
        file.set_auto_mask(False)
        names = bytes(file.variables["eb_names"][:]).strip(b"\0 ") if "eb_names" in file.variables else b""
        n_side_sets = len(file.dimensions.get("num_side_sets", ()))
        n_node_sets = sum(name.startswith("node_ns") for name in file.variables)
    lost = ["the names of blocks"] if names else []
    lost += [f"{n_side_sets} side sets"] if n_side_sets else []
    lost += [f"{n_node_sets - len(mesh.point_sets)} node sets"] if len(mesh.point_sets) < n_node_sets else []
    if lost:
        yield Loss(f"meshio passes over {', '.join(lost)}", False)


def _h5m(path: Path, found: Found, mesh: Any) -> Iterator[Loss]:
    """Yield the values and sets that meshio does not look at."""
    with import_module("h5py").File(path, "r") as file:
        tagged = [name for group in file["tstt/elements"].values() for name in group.get("tags", ())]
        has_sets = "tstt/sets/list" in file
    if set(tagged) - {"GLOBAL_ID"}:
        yield Loss(f"meshio passes over the values {', '.join(dict.fromkeys(tagged))}", True)
    if has_sets:
        yield Loss("meshio passes over the sets", False)


def _hmf(path: Path, found: Found, mesh: Any) -> Iterator[Loss]:
    """Yield the blocks of which meshio keeps one of each type."""
    with import_module("h5py").File(path, "r") as file:
        stored = sum(len(rows) for name, rows in file["domain/grid"].items() if name.startswith("Topology"))
    if stored != (given := sum(len(block.data) for block in mesh.cells)):
        yield Loss(f"meshio gives {given} cells, the file has {stored}", True)


REGROUPED = "polyhedra may be grouped by their number of points, so that cells stand in another order than in the file"

OTHER_CHECKS: dict[str, Callable[[Path, Found, Any], Iterator[Loss]]] = {
    "abaqus": _abaqus,
    "exodus": _exodus,
    "h5m": _h5m,
    "hmf": _hmf,
    "vtk": _vtk,
    "vtu": _vtu,
}
