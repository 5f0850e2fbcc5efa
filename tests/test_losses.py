"""Files of which meshio leaves out something: what would be no mesh of theirs is refused, the rest is said."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import meshio
import numpy as np
import pytest

from meshpart import FormatError, MeshpartWarning, losses, read
from meshpart.quiet import listening
from meshpart.words import find_words

POINTS_2D = "0 0 0 1 0 0 1 1 0 0 1 0"

pytestmark = pytest.mark.usefixtures("without_meshioplusplus")


def vtu_piece(connectivity: str, offsets: str, types: str, data: str = "") -> str:
    n_cells = len(types.split())
    return f"""<Piece NumberOfPoints="4" NumberOfCells="{n_cells}">
      <Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">{POINTS_2D}</DataArray></Points>
      <Cells>
        <DataArray type="Int64" Name="connectivity" format="ascii">{connectivity}</DataArray>
        <DataArray type="Int64" Name="offsets" format="ascii">{offsets}</DataArray>
        <DataArray type="UInt8" Name="types" format="ascii">{types}</DataArray>
      </Cells>{data}
    </Piece>"""


def vtu(*pieces: str) -> str:
    grid = f"<UnstructuredGrid>{''.join(pieces)}</UnstructuredGrid>"
    return f'<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian">{grid}</VTKFile>'


def vtk(cells: str, types: str, rest: str = "") -> str:
    head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double"
    return "\n".join([head, POINTS_2D, cells, types, rest])


SU2 = (
    "NDIME= 2\nNELEM= 2\n5 0 1 2\n5 0 2 3\nNPOIN= 4\n0 0\n1 0\n1 1\n0 1\n"
    "NMARK= {}\nMARKER_TAG= 7\nMARKER_ELEMS= 1\n3 0 1\n"
)

INP = "*NODE\n1,0,0\n2,1,0\n3,1,1\n4,0,1\n*ELEMENT, TYPE=CPS3{}\n1,1,2,3\n*ELEMENT, TYPE=CPS4{}\n2,1,2,3,4\n"

MSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
3
1 0 0 0
2 1 0 0
3 0 1 0
$EndNodes
$Elements
1
1 2 {} 1 2 3
$EndElements
"""

FATAL = {
    "a multi-piece file, of which meshio keeps the last piece's cells": (
        "two.vtu",
        vtu(vtu_piece("0 1 2", "3", "5"), vtu_piece("0 1 2 3", "4", "9")),
        "meshio gives 1 cells, the file has 1 [+] 1",
    ),
    "cells of a type that meshio does not know": (
        "voxel.vtu",
        vtu(vtu_piece("0 1 2 0 1 2 3", "3 7", "5 11")),
        "cells that meshio cannot handle",
    ),
    "values that do not fit their points": (
        "short.vtu",
        vtu(
            vtu_piece(
                "0 1 2",
                "3",
                "5",
                '<PointData><DataArray type="Float64" Name="a" NumberOfComponents="3" format="ascii">1 2</DataArray>'
                "</PointData>",
            )
        ),
        "VTU file corrupt",
    ),
    "cell data of polygons": (
        "polygon.vtk",
        vtk("CELLS 1 5\n4 0 1 2 3", "CELL_TYPES 1\n7", "CELL_DATA 1\nSCALARS a double\nLOOKUP_TABLE default\n1\n"),
        "drops the cell data",
    ),
    "a second zone": (
        "two.dat",
        'VARIABLES = "X" "Y"\n' + 2 * "ZONE N=3, E=1, F=FEPOINT, ET=TRIANGLE\n0 0\n1 0\n0 1\n1 2 3\n",
        "the cells of every zone but the first",
    ),
    "fewer markers than declared": ("cut.su2", SU2.format(2), "expected 2 markers"),
    "fewer cells than declared": (
        "cut.su2",
        SU2.format(1).replace("MARKER_ELEMS= 1\n3 0 1\n", "MARKER_ELEMS= 3\n3 0 1\n"),
        "meshio gives 3 cells, the file has 2 [+] 3",
    ),
    "element sets that meshio would give to other cells": (
        "sets.inp",
        INP.format("", ", ELSET=QUADS"),
        "gives the element sets QUADS to other cells",
    ),
    "one element set over two blocks, which meshio would give to one": (
        "sets.inp",
        INP.format(", ELSET=ALL", ", ELSET=ALL"),
        "gives the element sets ALL to other cells",
    ),
    "cells that a Fluent file gives by faces": (
        "fluent.msh",
        "(2 2)\n(10 (1 1 3 1 2)(\n0 0\n1 0\n0 1\n))\n(12 (2 1 1 1 1))\n"
        "(13 (3 1 3 3 2)(\n1 2 1 0\n2 3 1 0\n3 1 1 0\n))\n",
        "cells that are given by faces",
    ),
    "a gmsh file that ends early": ("cut.msh", MSH.format("2 1 1").replace("$EndElements\n", ""), "not closed by"),
    "values on the nodes of elements": (
        "post.msh",
        MSH.format("2 1 1") + "$ElementNodeData\n1\n$EndElementNodeData\n",
        "values on the nodes of elements",
    ),
    "lines of an obj file": ("lines.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nl 1 2\n", "lines and points"),
    "cells on large fields of a Nastran deck": (
        "large.bdf",
        "BEGIN BULK\nGRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nCTRIA3,1,1,1,2,3\n"
        "CTRIA3* 2               1               1               2               \n*       3               \nENDDATA\n",
        "CTRIA3[*]",
    ),
    "values of a Kratos file": (
        "values.mdpa",
        "Begin Nodes\n1 0 0 0\n2 1 0 0\n3 0 1 0\nEnd Nodes\nBegin Elements Triangle2D3\n1 0 1 2 3\nEnd Elements\n"
        "Begin NodalData TEMPERATURE\n1 0 5.0\nEnd NodalData\n",
        "values .NodalData",
    ),
    "parts of a DOLFIN file that meshio does not know": (
        "markers.xml",
        '<dolfin><mesh celltype="triangle" dim="2"><vertices size="3"><vertex index="0" x="0" y="0"/>'
        '<vertex index="1" x="1" y="0"/><vertex index="2" x="0" y="1"/></vertices><cells size="1">'
        '<triangle index="0" v0="0" v1="1" v2="2"/></cells><domains/></mesh></dolfin>',
        "Unknown entry domains",
    ),
}

MINOR = {
    "names of markers": (
        "names.su2",
        SU2.format(1).replace("TAG= 7", "TAG= inlet"),
        "Surface tag inlet will be replaced by 1",
    ),
    "points of the first of two instances": (
        "instances.inp",
        INP.format("", "") + "*NODE\n1,0,0\n2,1,0\n3,1,1\n4,0,1\n",
        "the points of every [*]NODE section but the last",
    ),
    "shares of a set": (
        "shares.inp",
        INP.format("", "") + "*ELSET, ELSET=A\n1\n*ELSET, ELSET=A\n2\n",
        "keeps the last of several [*]ELSET A",
    ),
    "sets of sets": (
        "names.inp",
        INP.format("", "") + "*NSET, NSET=A\n1\n*NSET, NSET=B\nA\n",
        "node sets made of other sets",
    ),
    "tags of an earlier partition": ("parts.msh", MSH.format("4 1 1 1 2"), "tag data that couldn't be processed"),
    "corners of a Medit file": (
        "corners.mesh",
        "MeshVersionFormatted 2\nDimension 2\nVertices\n3\n0 0 0\n1 0 0\n0 1 0\n"
        "Triangles\n1\n1 2 3 0\nCorners\n1\n1\nEnd\n",
        "marks of the geometry .Corners",
    ),
    "sets of a Permas file": (
        "sets.post",
        "$COOR\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$ELEMENT TYPE=TRIA3\n1 1 2 3\n$ESET, ESET=A\n1\n$END\n",
        "sets .ESET",
    ),
}


@pytest.mark.parametrize("what", FATAL)
def test_a_file_is_refused_rather_than_read_without(what: str, tmp_path: Path) -> None:
    name, text, reason = FATAL[what]
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=reason):
        read(tmp_path / name)


@pytest.mark.parametrize("what", MINOR)
def test_a_file_is_read_with_a_warning_without(what: str, tmp_path: Path) -> None:
    name, text, reason = MINOR[what]
    (tmp_path / name).write_text(text)
    with pytest.warns(MeshpartWarning, match=reason) as caught:
        mesh = read(tmp_path / name)
    assert len(caught) == 1
    assert mesh.n_cells >= 1


WHOLE = {
    "one.vtu": vtu(vtu_piece("0 1 2 0 1 2 3", "3 7", "5 9")),
    "one.vtk": vtk("CELLS 1 5\n4 0 1 2 3", "CELL_TYPES 1\n7"),
    "one.su2": SU2.format(1),
    "no sets.inp": INP.format("", ""),
    "sets.inp": INP.format(", ELSET=A", ", ELSET=B") + "*ELSET, ELSET=C\n1,2\n*NSET, NSET=D\n1,2\n",
    "one.dat": 'VARIABLES = "X" "Y"\nZONE N=3, E=1, F=FEPOINT, ET=TRIANGLE\n0 0\n1 0\n0 1\n1 2 3\n',
    "one.msh": MSH.format("2 1 1"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_is_read_whole_is_read_without_a_word(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(WHOLE[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(tmp_path / name).n_cells >= 1


def cube(low: float) -> np.ndarray:
    return np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], np.float64) + low


CUBE_FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
TET_FACES = [[8, 9, 10], [8, 11, 9], [9, 11, 10], [10, 11, 8]]


def polyhedra(**data: object) -> meshio.Mesh:
    """Return a cube and a tetrahedron, as polyhedra."""
    points = np.concatenate([cube(0), cube(5)[:4]])
    faces = [[[np.array(face) for face in CUBE_FACES]], [[np.array(face) for face in TET_FACES]]]
    return meshio.Mesh(points, [("polyhedron8", faces[0]), ("polyhedron4", faces[1])], **data)


def test_meshio_swaps_the_data_of_polyhedra_which_is_why_such_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "polyhedra.vtu"
    polyhedra(cell_data={"id": [np.array([8]), np.array([4])]}).write(path)
    got = meshio.read(path)
    assert [block.type for block in got.cells] == ["polyhedron8", "polyhedron4"]
    assert [values.tolist() for values in got.cell_data["id"]] == [[4], [8]]
    with pytest.raises(FormatError, match="confuses the cell data of polyhedra"):
        read(path)


def test_polyhedra_without_data_are_read_with_a_word_on_their_order(tmp_path: Path) -> None:
    path = tmp_path / "polyhedra.vtu"
    polyhedra().write(path)
    with pytest.warns(MeshpartWarning, match="in another order than in the file"):
        assert read(path).n_cells == 2


def test_what_an_exodus_file_has_besides_is_said(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "sides.e"
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    meshio.Mesh(points, [("triangle", [[0, 1, 2]])], point_sets={"A": np.array([0])}).write(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(path).point_sets["A"].tolist() == [0]
    with netcdf.Dataset(path, "a") as file:
        file.createDimension("num_side_sets", 2)
        file.createVariable("eb_names", "S1", ("num_el_blk", "len_string"))[0, 0] = b"s"
        file.createVariable("node_ns2", "i4", ("num_nod_ns1",))[:] = 2
    with pytest.warns(MeshpartWarning, match="the names of blocks, 2 side sets, 1 node sets"):
        read(path)


def test_values_and_blocks_that_meshio_passes_over_in_hdf5_files_are_fatal(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    points = np.arange(15.0).reshape(5, 3)
    meshio.Mesh(points, [("triangle", [[0, 1, 2]])]).write(tmp_path / "tags.h5m")
    assert read(tmp_path / "tags.h5m").n_cells == 1
    with h5py.File(tmp_path / "tags.h5m", "a") as file:
        file["tstt/elements/Tri3"].create_group("tags")["load"] = np.array([1.0])
    with pytest.raises(FormatError, match="passes over the values load"):
        read(tmp_path / "tags.h5m")
    with listening():
        meshio.Mesh(points, [("triangle", [[0, 1, 2]]), ("triangle", [[1, 2, 3], [2, 3, 4]])]).write(tmp_path / "b.hmf")
    with pytest.raises(FormatError, match="meshio gives 2 cells, the file has 3"):
        read(tmp_path / "b.hmf")


@pytest.mark.parametrize("text", ["\\n", " \\n", "\\t", "(", "(\\n", "*", "*ELSET", "CELL_TYPES\\n", "OnGeometric"])
def test_every_pattern_passes_over_what_repeats(text: str) -> None:
    script = f"""import re
from meshpart import losses
content = b"\\n" + {text!r}.encode().decode("unicode_escape").encode() * 100_000
for patterns in losses.COUNTS.values():
    for pattern in patterns:
        re.findall(pattern, content)
for signs in losses.SIGNS.values():
    for sign in signs:
        re.findall(sign.pattern, content)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


# Something that each pattern finds, all of a format in one file.
WORDS = {
    "abaqus": "*NODE\n*include, input=a\n*Nset, nset=A\nB\n*ELEMENT, TYPE=CPS3\n*ELSET, ELSET=A\n",
    "ansys": "(12 (2 1 1 1 1))\n \t(2012 (2 1 1 1 0)(\n(13 (3 1 3 3 2)(\n",
    "mdpa": "Begin Geometries A\n  Begin NodalData A\n Begin ElementalData A\n\tBegin SubModelPart A\n",
    "medit": "Corners\n1\n Normals\n2\nVerticesOnGeometricEdges\n3\nSubDomainFromMesh\n4\n",
    "nastran": "CTETRA* 1\nCBUSH1D*\nCONM2,1\nPLOTEL,1\nRBE2,1\nRBAR,1\nGRID,1\n",
    "obj": "l 1 2\nv 0 0 0\np\t1\n",
    "permas": "$NSET NAME\n$eset NAME\n",
    "su2": "NELEM= 1\n NPOIN = 3\nMARKER_ELEMS= 2\n",
    "tecplot": "ZONE N=1\n  zone N=2\n",
    "vtu": '<VTKFile><Piece NumberOfPoints="3" NumberOfCells="1">',
    "xdmf": '<Grid><Topology TopologyType="Triangle" NumberOfElements="2">',
}


@pytest.mark.parametrize("file_format", losses.OPENINGS)
def test_what_is_looked_for_in_few_places_is_what_is_found_in_the_whole_file(file_format: str, tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text(WORDS[file_format])
    signs = [sign.pattern for sign in losses.SIGNS.get(file_format, ())]
    patterns = [*signs, *losses.COUNTS.get(file_format, ()), *losses.OTHER_PATTERNS.get(file_format, ())]
    found = find_words(path, *losses.OPENINGS[file_format], patterns)
    assert found == {pattern: re.findall(pattern, b"\n" + path.read_bytes()) for pattern in patterns}
    assert all(found.values())
