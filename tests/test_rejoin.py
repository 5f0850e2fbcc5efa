"""Mesh files of parts put together again: the mesh that went in, what was added, and nothing from foreign files."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from carrying import carrying, with_everything
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from meshes import (
    DRAWN,
    QUARTERS,
    cubes,
    empty_blocks,
    in_turn,
    labels_of,
    mixed_meshes,
    no_cells,
    polygons,
    quads,
    tets,
    two_cube_polyhedra,
    with_unused_points,
)
from part_folders import a_mesh_for
from rejoined import ascending, change, unlike, written

from meshpart import CellBlock, FormatError, Mesh, MeshpartWarning, merge_files, partition, read, split, write_parts
from meshpart.fitting import refuse_mesh
from meshpart.formats import FORMATS, find_format
from meshpart.manifest import read_manifest

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


@pytest.fixture
def quarters(tmp_path: Path) -> Path:
    """Return a folder with the quarters of Q(4, 4), with a layer of ghosts."""
    return written(carrying(quads(4, 4)), QUARTERS, tmp_path)


# -- what comes back ----------------------------------------------------------------------------------------


def a_full_mesh_for(name: str) -> Mesh:
    """Return a mesh with several blocks of types that a file of the format may have at once, with all that one has."""
    mesh = a_mesh_for(name)
    return replace(
        mesh,
        point_data={**mesh.point_data, "v": np.random.default_rng(8).random((41, 2, 2))},
        field_data={"wall": np.array([3, 1]), "title": "a plate", "time": 0.5},
        point_sets={**mesh.point_sets, "none": []},
        periodic=[(1, (7, 5), np.arange(16.0), [(2, 0), (5, 3), (2, 9)]), (0, (1, 2), None, [])],
    )


@EVERY_FORMAT
@pytest.mark.parametrize("layers", [0, 1])
def test_a_mesh_comes_back_from_every_format_bit_for_bit(name: str, layers: int, tmp_path: Path) -> None:
    mesh = a_full_mesh_for(name)
    labels = np.random.default_rng(5).integers(0, 3, mesh.n_cells)
    assert unlike(merge_files(written(mesh, labels, tmp_path, name, layers=layers)), mesh) == []


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
@pytest.mark.parametrize("form", ["vtu", "msh"])
def test_drawn_meshes_come_back_with_what_they_carry(mesh: Mesh, form: str, tmp_path: Path) -> None:
    mesh = ascending(carrying(mesh))
    try:
        refuse_mesh(mesh, *find_format(form)[:2])
    except FormatError as error:
        pytest.skip(str(error))
    assert unlike(merge_files(written(mesh, in_turn(mesh), tmp_path, form, 4)), mesh) == []


@pytest.mark.parametrize("form", ["vtu", "xdmf", "med", "msh", "inp"])
def test_everything_that_a_mesh_can_have_comes_back(form: str, tmp_path: Path) -> None:
    mesh = ascending(with_everything())
    assert unlike(merge_files(written(mesh, [1, 0, 1], tmp_path, form)), mesh) == []


@given(st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_mesh_comes_back_from_vtu_files(tmp_path: Path, data: st.DataObject) -> None:
    drawn = data.draw(mixed_meshes())
    mesh = Mesh(drawn.points, [block for block in drawn.blocks if block.faces is None])
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    mesh = ascending(carrying(mesh))
    assert unlike(merge_files(written(mesh, labels, tmp_path, "vtu", nparts, data.draw(st.integers(0, 2)))), mesh) == []


@pytest.mark.parametrize("form", ["vtu", "xdmf", "msh", "inp", "e", "its own"])
def test_real_files_come_back_from_parts(form: str, real_meshes: Path, tmp_path: Path) -> None:
    checked = 0
    for source in sorted(path for path in real_meshes.rglob("*") if path.is_file()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MeshpartWarning)
                mesh = read(source)
            suffix = source.suffix[1:] if form == "its own" else form
            folder = written(mesh, np.arange(mesh.n_cells) * 4 // mesh.n_cells, tmp_path, suffix, 4)
        except FormatError:
            continue
        assert (source.name, unlike(merge_files(folder), ascending(mesh))) == (source.name, [])
        checked += 1
    assert checked >= 10


def test_polygons_of_several_sizes_and_polyhedra_come_back(tmp_path: Path) -> None:
    for mesh in (polygons(), two_cube_polyhedra()):
        assert unlike(merge_files(written(mesh, in_turn(mesh), tmp_path)), mesh) == []


@pytest.mark.parametrize("form", ["vtu", "vtk", "msh", "xdmf", "e", "med", "inp"])
def test_parts_that_own_no_cells_give_their_points(form: str, tmp_path: Path) -> None:
    mesh = with_unused_points(cubes(2, 1, 1), 3)  # which are part 0's
    mesh = replace(mesh, point_data={"a": np.arange(mesh.n_points)}, cell_data={"b": [[1, 2]]}, cell_sets={"A": [[1]]})
    assert unlike(merge_files(written(mesh, [2, 2], tmp_path, form, 4)), mesh) == []


@pytest.mark.parametrize("mesh", [no_cells(3), no_cells(0), empty_blocks(), with_unused_points(quads(1, 1))], ids=repr)
def test_meshes_with_little_in_them_come_back(mesh: Mesh, tmp_path: Path) -> None:
    mesh = ascending(carrying(mesh))
    assert unlike(merge_files(written(mesh, in_turn(mesh), tmp_path, "vtu", 3)), mesh) == []


@pytest.mark.parametrize("dtype", ["bool", "float16", "int8", "uint64", "float32"])
@pytest.mark.parametrize("shape", [(), (1,), (2,), (3, 3), (0,)])
@pytest.mark.parametrize("form", ["vtu", "xdmf", "inp"])
def test_dtypes_and_shapes_come_back(dtype: str, shape: tuple[int, ...], form: str, tmp_path: Path) -> None:
    mesh = quads(2, 2)
    values = (np.random.default_rng(1).random((9, *shape)) * 2).astype(dtype)
    mesh = replace(
        mesh,
        points=mesh.points.astype(np.float32),
        point_data={"a": values},
        cell_data={"b": [values[:4]], "vtkGhostType": [values[4:8]]},
    )
    assert unlike(merge_files(written(mesh, [0, 1, 1, 0], tmp_path, form)), mesh) == []


def test_names_that_are_written_otherwise_come_back(tmp_path: Path) -> None:
    name = 'Größe "of" 100% <a&b>'
    mesh = replace(quads(2, 1), point_data={name: np.arange(6.0)}, cell_sets={f"set {name}": [[1]]})
    for form in ("vtu", "vtk", "xdmf", "inp"):
        assert unlike(merge_files(written(mesh, [0, 1], tmp_path, form)), mesh) == []


def test_sets_come_back_in_the_order_that_the_manifest_has(tmp_path: Path) -> None:
    mesh = replace(quads(2, 1), point_sets={"z": [0], "a": [1]}, cell_sets={"z": [[0]], "b": [[1]], "a": [[]]})
    path = written(mesh, [0, 1], tmp_path)
    content = json.loads((path / "manifest.json").read_text())
    content.update(point_sets=["z", "a"], cell_sets=["z", "b", "a"])
    (path / "manifest.json").write_text(json.dumps(content))
    merged = merge_files(path)
    assert (list(merged.point_sets), list(merged.cell_sets)) == (["z", "a"], ["z", "b", "a"])


def test_an_array_that_is_called_as_a_set_would_be_is_an_array(tmp_path: Path) -> None:
    data = {"set:A": [np.array([0, 1])], "set:B": [np.array([1, 0])]}
    mesh = replace(quads(2, 1), cell_data=data, cell_sets={"A": [[0]]})
    assert unlike(merge_files(written(mesh, [0, 1], tmp_path)), mesh) == []


def test_without_a_word_on_arrays_they_are_as_the_files_have_them(tmp_path: Path) -> None:
    mesh = replace(quads(2, 1), cell_data={"flag": [np.array([True, False])]}, cell_sets={"A": [[0]]})
    path = written(mesh, [0, 1], tmp_path)
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["arrays"]
    (path / "manifest.json").write_text(json.dumps(manifest))
    points = np.column_stack([mesh.points, np.zeros(6)])
    expected = replace(mesh, points=points, cell_data={"flag": [np.array([1, 0], np.uint8)]})
    assert unlike(merge_files(path), expected) == []


# -- what others add ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["vtu", "vtk", "xdmf"])
def test_what_a_solver_adds_to_all_files_comes_along(form: str, tmp_path: Path) -> None:
    mesh = quads(4, 4)
    path = written(mesh, QUARTERS, tmp_path, form)

    def solve(part: Any) -> None:
        part.point_data["u"] = part.point_data["GlobalPointIds"] * 0.5
        part.cell_data["f"] = [np.stack([ids, ids, -ids], 1) for ids in part.cell_data["GlobalCellIds"]]
        part.cell_data["set:hot"] = [(ids % 3 == 0).astype(np.uint8) for ids in part.cell_data["GlobalCellIds"]]

    for part in range(4):
        change(path, part, solve)
    cells = np.arange(16)
    assert merge_files(path) == replace(
        mesh,
        point_data={"u": np.arange(25) * 0.5},
        cell_data={"f": [np.stack([cells, cells, -cells], 1)]},
        cell_sets={"hot": [[0, 3, 6, 9, 12, 15]]},
    )


def test_ghost_rows_give_nothing(quarters: Path) -> None:
    def solve(part: Any) -> None:
        part.point_data["u"] = np.where(part.point_data["vtkGhostType"] == 0, 1.0, np.nan)

    for part in range(4):
        change(quarters, part, solve)
    assert merge_files(quarters).point_data["u"].tolist() == [1] * 25


def test_values_that_a_solver_changed_keep_what_its_files_say(tmp_path: Path) -> None:
    mesh = replace(quads(4, 4), cell_data={"flag": [np.arange(16) % 2 == 0], "same": [np.arange(16) % 2 == 0]})
    path = written(mesh, QUARTERS, tmp_path)

    def solve(part: Any) -> None:
        part.cell_data["flag"] = [values + 0.25 for values in part.cell_data["flag"]]
        part.points[:, 2] = 1.0

    for part in range(4):
        change(path, part, solve)
    merged = merge_files(path)
    assert merged.cell_data["flag"][0].tolist() == [1.25, 0.25] * 8
    assert merged.cell_data["same"][0].dtype == bool
    assert merged.points.tolist() == [[x, y, 1.0] for x, y in mesh.points]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (10**11 + np.arange(16), 10**11 + np.arange(16) + 0.4),
        (np.ones(16, np.float32), np.full(16, 1 + 5e-11)),
        (np.arange(16) % 2 == 0, np.arange(16) % 3),
        (np.arange(16.0), 2**53 + 1 + np.arange(16)),
        (np.zeros(16, np.uint8), np.full(16, -1)),
    ],
    ids=["int64", "float32", "bool", "float64", "uint8"],
)
def test_a_value_that_a_solver_changed_by_however_little_stays_changed(was: Any, becomes: Any, tmp_path: Path) -> None:
    mesh = replace(quads(4, 4), cell_data={"a": [was]})
    path = written(mesh, QUARTERS, tmp_path)
    assert unlike(merge_files(path), mesh) == []

    def solve(part: Any) -> None:
        part.cell_data["a"] = [becomes[ids] for ids in part.cell_data["GlobalCellIds"]]

    for part in range(4):
        change(path, part, solve)
    merged = merge_files(path).cell_data["a"][0]
    assert (merged.dtype, merged.tolist()) == (becomes.dtype, becomes.tolist())


@EVERY_FORMAT
def test_coordinates_in_single_precision_come_back_exactly(name: str, tmp_path: Path) -> None:
    mesh = a_full_mesh_for(name)
    rng = np.random.default_rng(3)
    points = rng.standard_normal((41, 3)) * 10.0 ** rng.integers(-30, 30, (41, 3))
    mesh = replace(mesh, points=points.astype(np.float32))
    path = written(mesh, np.arange(mesh.n_cells) % 3, tmp_path, name)
    assert unlike(merge_files(path), mesh) == []


def test_cells_may_stand_in_another_order_where_the_file_has_their_ids(quarters: Path) -> None:
    def reorder(part: Any) -> None:
        order = np.random.default_rng(3).permutation(len(part.cells[0].data))
        part.cells[0].data = part.cells[0].data[order]
        part.cell_data = {name: [values[order]] for name, (values,) in part.cell_data.items()}

    before = merge_files(quarters)
    for part in range(4):
        change(quarters, part, reorder)
    assert merge_files(quarters) == before


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("msh", "gmsh:physical"),
        ("msh", "gmsh:geometrical"),
        ("mesh", "medit:ref"),
        ("vol", "netgen:index"),
        ("avs", "avsucd:material"),
    ],
)
def test_a_tag_that_a_solver_sets_to_one_number_in_each_file_comes_along(form: str, name: str, tmp_path: Path) -> None:
    mesh = quads(4, 4)
    path = written(mesh, QUARTERS, tmp_path, form)
    assert merge_files(path) == mesh
    file_format = {"msh": "gmsh22", "vol": "netgen", "avs": "avsucd", "mesh": "medit"}[form]
    for part in range(4):

        def solve(mesh: Any, tag: int = part + 1) -> None:
            mesh.cell_data[name] = [np.full(len(block.data), tag) for block in mesh.cells]

        change(path, part, solve, file_format)
    merged = merge_files(path)
    assert list(merged.cell_data) == [name]
    assert merged.cell_data[name][0].tolist() == [part + 1 for part in QUARTERS]


def test_an_array_of_some_files_only_is_left_out_with_a_warning(quarters: Path) -> None:
    def solve(part: Any) -> None:
        part.point_data["u"] = np.zeros(len(part.points))
        del part.point_data["a"]
        del part.cell_data["set:all"]

    before = merge_files(quarters)
    change(quarters, 2, solve)
    with pytest.warns(
        MeshpartWarning, match="point data 'u' is left out, since it is not in the files of all"
    ) as caught:
        merged = merge_files(quarters)
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert "point data 'a' is left out" in str(caught[0].message)
    assert "the cell set 'all' is left out" in str(caught[0].message)
    assert (set(before.point_data), set(merged.point_data)) == ({"a", "id"}, {"id"})
    assert unlike(before, merged) == ["point_data", "cell_sets"]


def rewritten_by_vtk(path: Path, mode: str) -> None:
    """Let VTK read the file of each part and write it anew, with an array of its own."""
    vtk = pytest.importorskip("vtk")
    manifest = read_manifest(path)
    for part in manifest.parts:
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(manifest.file(part)))
        reader.Update()
        grid = reader.GetOutput()
        ids = grid.GetCellData().GetArray("GlobalCellIds")
        added = vtk.vtkDoubleArray()
        added.SetName("added by VTK")
        added.SetNumberOfComponents(3)
        for row in range(grid.GetNumberOfCells()):
            added.InsertNextTuple3(ids.GetValue(row), 0.5, part)
        grid.GetCellData().AddArray(added)
        writer = vtk.vtkXMLUnstructuredGridWriter()
        writer.SetFileName(str(manifest.file(part)))
        writer.SetInputData(grid)
        getattr(writer, f"SetDataModeTo{mode.capitalize()}")()
        assert writer.Write() == 1


@pytest.mark.parametrize("mode", ["ascii", "binary", "appended"])
def test_files_that_vtk_rewrote_come_back_with_what_it_added(mode: str, tmp_path: Path) -> None:
    mesh = ascending(carrying(tets(3, 2, 2)))
    path = written(mesh, in_turn(mesh), tmp_path, "vtu", 4)
    rewritten_by_vtk(path, mode)
    merged = merge_files(path)
    owner = in_turn(mesh)
    assert merged.cell_data["added by VTK"][0].tolist() == [[cell, 0.5, owner[cell]] for cell in range(mesh.n_cells)]
    rest = {name: arrays for name, arrays in merged.cell_data.items() if name != "added by VTK"}
    assert unlike(replace(merged, cell_data=rest), mesh) == []


@pytest.mark.parametrize("mode", ["ascii", "binary", "appended"])
def test_files_without_cells_that_vtk_rewrote_give_their_points(mode: str, tmp_path: Path) -> None:
    mesh = with_unused_points(cubes(2, 1, 1), 3)
    mesh = replace(mesh, point_data={"a": np.arange(mesh.n_points)})
    path = written(mesh, [2, 2], tmp_path, "vtu", 4, layers=0)
    rewritten_by_vtk(path, mode)
    assert unlike(replace(merge_files(path), cell_data={}), mesh) == []


def test_partitioning_writing_and_merging_gives_the_mesh_back(tmp_path: Path) -> None:
    mesh = cubes(4, 3, 2)
    write_parts(partition(mesh, 5, ghost_layers=2), tmp_path / "parts", format="vtu")
    assert merge_files(tmp_path / "parts") == mesh


def test_polygons_that_a_reader_calls_quads_come_back_as_polygons(tmp_path: Path) -> None:
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0.0]]
    mesh = Mesh(points, [CellBlock.from_rows("polygon", [[0, 1, 2, 3], [1, 4, 2]])])
    write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="ply")
    assert merge_files(tmp_path / "parts") == mesh
