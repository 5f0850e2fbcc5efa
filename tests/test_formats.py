"""The table of formats, against what comes back when a file is written and meshio reads it."""

from __future__ import annotations

import re
from pathlib import Path

import meshio
import numpy as np
import pytest

from meshpart import ArgumentError, FormatError
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS, OTHER_NAMES, REAL, UNFIT, Arrays, Format, find_format
from meshpart.losses import DROPPED
from meshpart.meshio_bridge import patched_meshio
from meshpart.quiet import listening
from meshpart.writing import write

READ_AS = {"gmsh22": "gmsh", "vtk42": "vtk"}  # where the reader has another name than the writer
VARYING = {"polygon": 7, "VTK_LAGRANGE_CURVE": 4}  # points of a cell, where the type does not tell
FEW_POINTS = 64  # larger types are written slowly

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


def round_trip(name: str, mesh: meshio.Mesh, folder: Path) -> meshio.Mesh | None:
    """Write a mesh and read it; None if either fails or says that it leaves something out."""
    path = str(folder / f"mesh{FORMATS[name].suffixes[0]}")
    with listening(), patched_meshio() as module:
        try:
            if DROPPED.search(write(mesh, Path(path), name)):
                return None
            return module.read(path, file_format=READ_AS.get(name, name))
        except (Exception, SystemExit):
            return None


def two_cells(type_: str, dim: int = 3, dtype: str = "float64", **data: object) -> meshio.Mesh:
    """Return a mesh of two cells without a common point and a point in no cell."""
    n = CELL_TYPES[type_].n_points or VARYING.get(type_, 10)
    rng = np.random.default_rng(n)
    points = (50 * rng.random((2 * n + 1, dim))).astype(dtype)
    rows = np.stack([rng.permutation(n), np.arange(n, 2 * n)])
    with patched_meshio() as module:
        return module.Mesh(points, [(type_, rows)], **data)


def two_blocks(name: str) -> meshio.Mesh:
    """Return a mesh of four cells, one of one type and three of another where a file may have both."""
    holds = FORMATS[name]
    candidates = holds.order or sorted(holds.types if holds.mixed is None else holds.mixed)
    types = [type_ for type_ in candidates if type_ in ("triangle", "tetra", "quad", "line")][:2] or [base_type(holds)]
    sizes = [1, 3] if len(types) == 2 else [4]
    points = np.random.default_rng(3).random((20, 3))
    rows = [np.arange(n * (CELL_TYPES[t].n_points or 0)).reshape(n, -1) for t, n in zip(types, sizes, strict=True)]
    return meshio.Mesh(points, list(zip(types, rows, strict=True)))


def base_type(holds: Format) -> str:
    return "triangle" if "triangle" in holds.types else "tetra"


def came_back(given: meshio.Mesh, got: meshio.Mesh | None) -> bool:
    """Whether cells and points are the same, in the same order."""
    if got is None or np.shape(got.points) != given.points.shape:
        return False
    return np.array_equal(got.points, given.points) and flat(got) == flat(given)


def flat(mesh: meshio.Mesh) -> list[tuple[str, list[int]]]:
    return [(block.type, np.asarray(row).tolist()) for block in mesh.cells for row in block.data]


def test_every_format_that_meshio_writes_is_in_the_table_or_has_a_reason_not_to_be() -> None:
    assert set(meshio._helpers._writer_map) == {*FORMATS, *UNFIT, *OTHER_NAMES} - {"msh"}
    assert not set(FORMATS) & set(UNFIT)


def test_an_order_of_types_has_every_type_once() -> None:
    for holds in FORMATS.values():
        assert not holds.order or sorted(holds.order) == sorted(holds.types)


def test_a_format_is_found_by_its_name_and_by_each_suffix_with_and_without_a_dot() -> None:
    for name, holds in FORMATS.items():
        assert find_format(name)[:2] == (name, holds)
    assert find_format("VTU")[0] == find_format(".vtu")[0] == "vtu"
    assert find_format("msh")[0] == find_format("gmsh")[0] == "gmsh22"
    assert find_format("inp") == ("abaqus", FORMATS["abaqus"], ".inp")
    assert find_format("ex2") == ("exodus", FORMATS["exodus"], ".ex2")


@pytest.mark.parametrize("name", ["magic", "", ".", "vtu ", "exo.e"])
def test_an_unknown_format_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(FormatError, match=r"meshes cannot be written as .*vtu, vtk42, .*xdmf"):
        find_format(name)


@pytest.mark.parametrize("name", UNFIT)
def test_an_unfit_format_is_refused_with_its_reason(name: str) -> None:
    with pytest.raises(FormatError, match=UNFIT[name]):
        find_format(name)


def test_a_format_that_is_no_string_is_refused() -> None:
    with pytest.raises(ArgumentError, match="format must be a str, got 3"):
        find_format(3)


@EVERY_FORMAT
def test_the_cell_types_of_the_table_come_back_and_no_others(name: str, tmp_path: Path) -> None:
    holds = FORMATS[name]
    measured = set()
    for type_, kind in CELL_TYPES.items():
        if type_ == "polyhedron" or ((kind.n_points or 0) > FEW_POINTS and type_ not in holds.types):
            continue
        mesh = two_cells(type_)
        if came_back(mesh, round_trip(name, two_cells(type_), tmp_path)):
            measured.add(type_)
    if name == "vtk42":
        measured.remove("polygon")  # which comes back without its cell data
    assert measured == holds.types - {"polyhedron"}


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "exodus"])  # whose arrays only meshio can read
@pytest.mark.parametrize("where", ["point_data", "cell_data"])
def test_the_arrays_of_the_table_come_back_and_no_others(name: str, where: str, tmp_path: Path) -> None:
    holds: Arrays = getattr(FORMATS[name], where)
    n = len(two_blocks(name).points) if where == "point_data" else 4
    for dtype in sorted(REAL):
        for size in (1, 2, 3, 4, 6, 9):
            values = (np.arange(n * size) % 100).astype(dtype).reshape(n, size)
            if dtype == "int64" and name != "netgen":  # which counts up to the largest value
                values += 2**53 + 1
            if dtype == "float64":
                values += 1 / 3
            values = values[:, 0] if size == 1 else values
            mesh = two_blocks(name)
            if where == "point_data":
                mesh.point_data["abc"] = values.copy()
            else:
                mesh.cell_data["abc"] = np.split(values, [1] if len(mesh.cells) == 2 else [])
            got = round_trip(name, mesh, tmp_path)
            back = getattr(got, where, {}).get("abc")
            back = np.concatenate(back) if isinstance(back, list) else back
            same = back is not None and back.dtype.name == dtype and np.array_equal(back, values)
            assert same == holds.holds(dtype, size), (dtype, size)


@EVERY_FORMAT
def test_tags_come_back_up_to_the_largest(name: str, tmp_path: Path) -> None:
    holds = FORMATS[name]
    type_ = base_type(holds)
    n = len(two_cells(type_).points)
    for where, count, tags in (("point_data", n, holds.point_tags), ("cell_data", 2, holds.cell_tags)):
        for tag in tags:
            values = np.resize([holds.largest_tag, 1, -1], count)
            given = {tag: values.copy() if where == "point_data" else [values.copy()]}
            got = round_trip(name, two_cells(type_, **{where: given}), tmp_path)
            assert got is not None
            back = getattr(got, where)[tag]
            assert np.array_equal(np.ravel(back), values)


@EVERY_FORMAT
def test_sets_come_back_where_the_table_says_so_and_nowhere_else(name: str, tmp_path: Path) -> None:
    holds = FORMATS[name]
    sets = {"A": [0], "B": [0, 1]}  # one within the other
    point_sets = {key: np.array(members) for key, members in sets.items()}
    got = round_trip(name, two_cells(base_type(holds), point_sets=point_sets), tmp_path)
    assert ({key: list(m) for key, m in got.point_sets.items()} == sets if got else False) == holds.point_sets
    cell_sets = {key: [np.array(members)] for key, members in sets.items()}
    got = round_trip(name, two_cells(base_type(holds), cell_sets=cell_sets), tmp_path)
    assert ({key: list(m) for key, (m,) in got.cell_sets.items()} == sets if got else False) == holds.cell_sets


@EVERY_FORMAT
def test_points_keep_as_many_coordinates_as_the_table_says(name: str, tmp_path: Path) -> None:
    holds = FORMATS[name]
    types = [type_ for type_ in ("triangle", "tetra") if type_ in holds.types]
    kept = {
        dim
        for dim in (2, 3)
        for type_ in types
        if came_back(two_cells(type_, dim), round_trip(name, two_cells(type_, dim), tmp_path))
    }
    assert kept == set(holds.dims)


@EVERY_FORMAT
def test_points_keep_the_dtypes_of_the_table(name: str, tmp_path: Path) -> None:
    holds = FORMATS[name]
    for dtype in sorted(holds.point_dtypes):
        mesh = two_cells(base_type(holds), dtype=dtype)
        got = round_trip(name, two_cells(base_type(holds), dtype=dtype), tmp_path)
        assert came_back(mesh, got)
        assert got is not None
        assert got.points.dtype.name == dtype


@EVERY_FORMAT
def test_blocks_in_the_order_of_the_table_come_back_in_order(name: str, tmp_path: Path) -> None:
    holds = FORMATS[name]
    types = sorted(holds.types if holds.mixed is None else holds.mixed) or [base_type(holds)]
    types = [type_ for type_ in types if (CELL_TYPES[type_].n_points or 0) <= FEW_POINTS and type_ != "polyhedron"]
    if holds.order:
        types.sort(key=holds.order.index)
    else:
        types += types[:2]  # two more blocks of types that were there before
    meshes = [two_cells(type_) for type_ in types]
    offsets = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    with patched_meshio() as module:
        together = module.Mesh(
            np.concatenate([mesh.points for mesh in meshes]),
            [(mesh.cells[0].type, mesh.cells[0].data + first) for mesh, first in zip(meshes, offsets, strict=False)],
        )
    assert came_back(together, round_trip(name, together.copy(), tmp_path))


@EVERY_FORMAT
def test_a_name_that_the_pattern_allows_comes_back(name: str, tmp_path: Path) -> None:
    holds = FORMATS[name]
    if not holds.point_data.holds("float64", 1):
        pytest.skip("it holds no arrays")
    awkward = [key for key in ("GlobalPointIds", "set:Bolt & <Nut>", "a b", "ü", "x" * 40) if allowed(holds, key)]
    values = np.linspace(0, 1, len(two_cells(base_type(holds)).points))
    given = {holds.encode(key): values for key in awkward}
    got = round_trip(name, two_cells(base_type(holds), point_data=given), tmp_path)
    assert got is not None
    decode = holds.encode if name.startswith("vtk") else str  # VTK decodes names in its legacy files, meshio does not
    assert {decode(key) for key in awkward} <= set(got.point_data)


def allowed(holds: Format, name: str) -> bool:
    return re.fullmatch(holds.names, name) is not None
