"""What each format can hold, found by writing and reading back by meshio: no more is claimed than came back.

`tests/test_formats.py` measures it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, unquote

from meshpart.cells import cell_type
from meshpart.errors import ArgumentError, FormatError


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


REAL = frozenset(_words("int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"))


@dataclass(frozen=True)
class Arrays:
    """Which data arrays come back: their dtypes, and how many numbers an entity may have (None: any)."""

    dtypes: frozenset[str] = REAL
    sizes: frozenset[int] | None = None

    def holds(self, dtype: str, size: int) -> bool:
        """Whether an array with that many numbers for each entity comes back."""
        return dtype in self.dtypes and size > 0 and (self.sizes is None or size in self.sizes)


NO_ARRAYS = Arrays(frozenset())


def _percent(name: str) -> str:
    return quote(name, safe="!#$&'()*+,-./:;<=>?@[\\]^_`{|}~")  # as VTK encodes, and decodes, names in its legacy files


@dataclass(frozen=True)
class Format:
    """What a format can hold.

    Parameters
    ----------
    suffixes : tuple of str
        The first is the one that files get when none is asked for.
    types : frozenset of str
        Cell types whose rows come back.
    point_data, cell_data : Arrays
    point_tags, cell_tags : frozenset of str
        Names of integer arrays, one number for each entity, that have a place of their own.
    largest_tag : int
    point_sets, cell_sets : bool
        Whether sets come back as sets.
    names : str
        The pattern of the names of arrays and sets that come back.
    encode : callable
        How the name of an array is written.
    decode : callable
        How a name that meshio read is turned back, where its reader does not do that.
    dims : tuple of int
        How many coordinates a point may have.
    point_dtypes : frozenset of str
        Coordinates of other dtypes are written as float64.
    order : tuple of str
        Where not empty: one block of each type, in this order.
    mixed : frozenset of str or None
        The types that come back from a file with cells of several types. None: all.
    empty : bool
        Whether a file may have no cells.
    empty_block : bool
        Whether a block of no cells carries the cell data of a file without cells.
    package : str or None
        What meshio needs to write it.
    """

    suffixes: tuple[str, ...]
    types: frozenset[str]
    point_data: Arrays = NO_ARRAYS
    cell_data: Arrays = NO_ARRAYS
    point_tags: frozenset[str] = frozenset()
    cell_tags: frozenset[str] = frozenset()
    largest_tag: int = 2**31 - 1
    point_sets: bool = False
    cell_sets: bool = False
    names: str = r"[^\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]+"
    encode: Callable[[str], str] = str
    decode: Callable[[str], str] = str
    dims: tuple[int, ...] = (3,)
    point_dtypes: frozenset[str] = frozenset({"float64"})
    order: tuple[str, ...] = ()
    mixed: frozenset[str] | None = None
    empty: bool = True
    empty_block: bool = False
    package: str | None = None

    def type_of(self, name: str) -> str | None:
        """Return the name under which the format holds a cell type, None if it does not.

        Examples
        --------
        >>> FORMATS["vtu"].type_of("triangle10")
        'VTK_LAGRANGE_TRIANGLE'
        """
        plain = plain_type(name)
        vtk = cell_type(plain).vtk
        alike = (plain, LINEAR_TETRA.get(plain), ANY_ORDER.get(vtk or 0))
        return next((type_ for type_ in alike if type_ in self.types), None)


def plain_type(name: str) -> str:
    """Return the name of a cell type without the number of points that polygons and polyhedra may bear."""
    return re.sub(r"^(polygon|polyhedron)[0-9]+$", r"\1", name)


LINEAR_TETRA = {"tetra4": "tetra", "tetra": "tetra4"}
ANY_ORDER = {68: "VTK_LAGRANGE_CURVE", 69: "VTK_LAGRANGE_TRIANGLE"}  # of any order, with the rows as they are


def _types(names: str) -> frozenset[str]:
    return frozenset(_words(names))


SURFACE = "triangle quad"
VOLUME = "tetra pyramid wedge hexahedron"
SERENDIPITY = "quad8 hexahedron20"
VTK = f"""vertex line {SURFACE} {VOLUME} polygon penta_prism hexa_prism line3 line4 triangle6 triangle7 quad6 quad9
    {SERENDIPITY} tetra10 pyramid13 wedge12 wedge15 wedge18 hexahedron24 hexahedron27"""
VTK_XML = f"""{VTK} pixel VTK_LAGRANGE_CURVE VTK_LAGRANGE_TRIANGLE VTK_LAGRANGE_QUADRILATERAL
    VTK_LAGRANGE_TETRAHEDRON VTK_LAGRANGE_HEXAHEDRON VTK_LAGRANGE_WEDGE VTK_LAGRANGE_PYRAMID"""
GMSH = f"""vertex line {SURFACE} {VOLUME} line3 line4 line5 line6 line7 line8 line9 line10 line11 triangle6 triangle10
    triangle15 triangle21 triangle28 triangle36 triangle45 triangle55 triangle66 quad9 quad16 quad25 quad36 quad49
    quad64 quad81 quad100 quad121 {SERENDIPITY} tetra10 tetra20 tetra35 tetra56 tetra84 tetra120 tetra165 tetra220
    tetra286 pyramid13 pyramid14 wedge15 wedge18 wedge40 wedge75 wedge126 wedge196 wedge288 wedge405 wedge550
    hexahedron27 hexahedron64 hexahedron125 hexahedron216 hexahedron343 hexahedron512 hexahedron729 hexahedron1000"""

NUMBERS_AND_VECTORS = Arrays(sizes=frozenset({1, *range(3, 1000)}))  # meshio adds a third to two numbers
XDMF_ARRAYS = Arrays(sizes=frozenset({1, 2, 3, 6, 9}))
GMSH_ARRAYS = Arrays(frozenset({"float64"}), frozenset({1, 3, 9}))  # of points; of cells in several blocks none is read
DOUBLES = Arrays(frozenset({"float64"}), frozenset({1}))

# Of exodus, arrays of points come back to meshio, but other readers of Exodus find other numbers there.
FORMATS = {
    "vtu": Format(
        (".vtu",),
        _types(f"{VTK_XML} polyhedron"),
        Arrays(),
        Arrays(),
        point_dtypes=REAL,
        empty_block=True,
        mixed=_types(VTK_XML),
    ),
    "vtk42": Format(
        (".vtk",),
        _types(VTK) - {"polygon"},
        NUMBERS_AND_VECTORS,
        NUMBERS_AND_VECTORS,
        encode=_percent,
        decode=unquote,
        point_dtypes=REAL,
    ),
    "xdmf": Format(
        (".xdmf", ".xmf"),
        _types(f"""vertex line {SURFACE} {VOLUME} line3 triangle6 quad9 {SERENDIPITY} tetra10 pyramid13 wedge15 wedge18
            hexahedron24 hexahedron27 hexahedron64 hexahedron125 hexahedron216 hexahedron343 hexahedron512 hexahedron729
            hexahedron1000 hexahedron1331"""),
        XDMF_ARRAYS,
        XDMF_ARRAYS,
        mixed=_types(f"line {SURFACE} {VOLUME}"),
        dims=(2, 3),
        point_dtypes=REAL,
        package="h5py",
    ),
    "exodus": Format(
        (".e", ".exo", ".ex2"),
        _types(f"""vertex line {SURFACE} {VOLUME} line3 triangle6 triangle7 quad5 quad9 {SERENDIPITY} tetra4 tetra8
            tetra10 tetra14 hexahedron9 hexahedron27"""),
        point_sets=True,
        names=r"[!-~]{1,32}",
        dims=(2, 3),
        point_dtypes=REAL,
        package="netCDF4",
    ),
    "med": Format(
        (".med",),
        _types(f"vertex line {SURFACE} {VOLUME} line3 triangle6 {SERENDIPITY} tetra10 pyramid13 wedge15"),
        Arrays(),
        Arrays(),
        names=r"(?!(point|cell)_tags$)[^/]+",
        dims=(2, 3),
        point_dtypes=REAL,
        order=_words(  # of MED's own names of the types
            """hexahedron20 hexahedron pyramid13 wedge15 wedge vertex pyramid quad quad8 line line3 tetra10 tetra
            triangle triangle6"""
        ),
        package="h5py",
    ),
    "gmsh22": Format(
        (".msh",),
        _types(GMSH),
        GMSH_ARRAYS,
        cell_tags=frozenset({"gmsh:physical", "gmsh:geometrical"}),
        names=r'(?!(cell_tags|gmsh:dim_tags)$)[^"\n]+',
    ),
    "abaqus": Format(
        (".inp",),
        _types(f"line {SURFACE} tetra wedge hexahedron line3 triangle6 quad9 {SERENDIPITY} tetra4 tetra10 wedge15"),
        point_sets=True,
        cell_sets=True,
        names=r"[^\s,=][^,=\n]*(?<!\s)",
        dims=(2, 3),
    ),
    "medit": Format(
        (".mesh",),
        _types(f"line {SURFACE} {VOLUME}"),
        point_tags=frozenset({"medit:ref"}),
        cell_tags=frozenset({"medit:ref"}),
        dims=(2, 3),
        point_dtypes=frozenset({"float32", "float64"}),
    ),
    "netgen": Format(
        (".vol",),
        _types(f"vertex line {SURFACE} {VOLUME} triangle6 {SERENDIPITY} tetra10 pyramid13 wedge15"),
        cell_tags=frozenset({"netgen:index"}),
        largest_tag=10**5,
        dims=(2, 3),
        order=_words(f"{SURFACE} triangle6 quad8 {VOLUME} tetra10 pyramid13 wedge15 hexahedron20 line vertex"),
    ),
    "ansys": Format((".msh",), _types(f"{SURFACE} {VOLUME}"), dims=(2, 3)),
    "avsucd": Format(
        (".avs",), _types(f"vertex line {SURFACE} {VOLUME}"), cell_tags=frozenset({"avsucd:material"}), empty=False
    ),
    "cgns": Format((".cgns",), _types("tetra"), order=("tetra",), empty=False, package="h5py"),
    "dolfin-xml": Format((".xml",), _types("triangle tetra"), dims=(2, 3), mixed=frozenset(), empty=False),
    "h5m": Format(
        (".h5m",),
        _types("line triangle tetra"),
        Arrays(),
        names=r"[^/]+",
        dims=(2, 3),
        point_dtypes=REAL,
        order=("line", "tetra", "triangle"),
        package="h5py",
    ),
    "mdpa": Format(
        (".mdpa",),
        _types(f"""vertex line {SURFACE} tetra wedge hexahedron line3 triangle6 quad9 {SERENDIPITY} tetra10
            hexahedron27"""),
    ),
    "obj": Format((".obj",), _types(f"{SURFACE} polygon")),
    "off": Format((".off",), _types("triangle")),
    "permas": Format((".post", ".dato"), _types(f"vertex line {SURFACE} {VOLUME} line3 {SERENDIPITY} hexahedron27")),
    "ply": Format(
        (".ply",),
        _types(f"vertex line {SURFACE} polygon"),
        Arrays(REAL - {"int16"}, frozenset({1})),
        names=r"(?![xyz]$)\S+",
        point_dtypes=frozenset({"float32", "float64"}),
    ),
    "tecplot": Format(
        (".dat", ".tec"),
        _types(f"line {SURFACE} tetra hexahedron"),
        DOUBLES,
        DOUBLES,
        names=r"(?![xyzXYZ]$)[\w:.-]+",
        dims=(2, 3),
        mixed=frozenset(),
        empty=False,
    ),
    "tetgen": Format(
        (".ele", ".node"), _types("tetra"), cell_tags=frozenset({"tetgen:ref"}), order=("tetra",), empty=False
    ),
    "ugrid": Format(
        (".lb8.ugrid",),
        _types(f"{SURFACE} {VOLUME}"),
        order=_words(f"{SURFACE} {VOLUME}"),
    ),
}

# What meshio writes as well, but no mesh should be in.
UNFIT = {
    "flac3d": "meshio turns cells around",
    "hmf": "it is an experiment of meshio's",
    "nastran": "meshio cannot write most coordinates below 0",
    "neuroglancer": "it holds triangles in single precision only",
    "stl": "it holds triangles without their points' ids",
    "su2": "meshio cannot write its markers",
    "svg": "it is a picture",
    "wkt": "it holds triangles without their points' ids",
}

# Older versions of two formats: in gmsh's 4.1 meshio writes the points of a mesh of several blocks in another order, or
# not at all; in VTK's 5.1 it gives integers types that VTK does not know.
OTHER_NAMES = {"gmsh": "gmsh22", "msh": "gmsh22", "vtk": "vtk42", "vtk51": "vtk42"}


def find_format(name: object) -> tuple[str, Format, str]:
    """Look a format up.

    Parameters
    ----------
    name : str
        meshio's name of it, or a suffix with or without its dot.

    Returns
    -------
    name : str
        meshio's name of what is written.
    holds : Format
    suffix : str
        The suffix of its files: the one that was asked for.

    Raises
    ------
    FormatError
        If the name is unknown, or the format cannot hold a mesh.

    Examples
    --------
    >>> find_format("exo")[0], find_format(".exo")[2], find_format("exodus")[2]
    ('exodus', '.exo', '.e')
    """
    if not isinstance(name, str):
        raise ArgumentError(f"format must be a str, got {name!r}")
    word = name.lower().removeprefix(".")
    found = OTHER_NAMES.get(word, word)
    if found in FORMATS:
        return found, FORMATS[found], FORMATS[found].suffixes[0]
    for known, holds in FORMATS.items():
        if f".{word}" in holds.suffixes:
            return known, holds, f".{word}"
    reason = UNFIT.get(word, f"the formats are {', '.join(FORMATS)}, or their suffixes")
    raise FormatError(f"meshes cannot be written as {name!r}: {reason}")
