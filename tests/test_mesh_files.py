"""Parts as mesh files: nothing is lost, whatever a format holds."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from meshes import empty_blocks, grid_points, interleaved, overlapping_sets, polygons, quad_rows, quads
from part_folders import a_mesh_for, array_of, entries, files_of, manifest, part_file, written

from meshpart import (
    FormatError,
    Mesh,
    MeshpartWarning,
    read,
    split,
    write_parts,
)
from meshpart.cells import CELL_TYPES
from meshpart.formats import FORMATS
from meshpart.meshio_bridge import patched_meshio
from meshpart.quiet import listening

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


# -- writing: every format ----------------------------------------------------------------------------------


@EVERY_FORMAT
def test_a_row_of_a_file_is_the_cell_of_the_input_that_its_id_names(name: str, tmp_path: Path) -> None:
    mesh = a_mesh_for(name)
    written(mesh, tmp_path / "parts", format=name)
    rows = np.split(mesh.cell_points, mesh.cell_offsets[1:-1])
    types = [block.type for block in mesh.blocks for _ in range(len(block))]
    seen: list[int] = []
    n_points = 0
    for entry, file, beside in files_of(tmp_path / "parts"):
        cells = array_of("cell", "GlobalCellIds", file, beside)
        points = array_of("point", "GlobalPointIds", file, beside)
        in_file = [(block.type, row) for block in file.cells for row in np.asarray(block.data)]
        assert [type_ for type_, _ in in_file] == [types[cell] for cell in cells]
        for cell, (_, row) in zip(cells, in_file, strict=True):
            assert points[row].tolist() == rows[cell].tolist()
        np.testing.assert_allclose(file.points, mesh.points[points], rtol=1e-11)
        seen += cells.tolist()
        owned = array_of("point", "vtkGhostType", file, beside) == 0
        assert np.count_nonzero(owned) == entry["owned_points"]
        assert np.array_equal(owned, array_of("point", "PointOwner", file, beside) == entry["part"])
        n_points += np.count_nonzero(owned)
    assert sorted(seen) == list(range(mesh.n_cells))
    assert n_points == mesh.n_points


@EVERY_FORMAT
def test_data_and_sets_are_in_the_file_or_beside_it_and_with_the_right_rows(name: str, tmp_path: Path) -> None:
    mesh = a_mesh_for(name)
    written(mesh, tmp_path / "parts", format=name)
    for _, file, beside in files_of(tmp_path / "parts"):
        cells = array_of("cell", "GlobalCellIds", file, beside)
        points = array_of("point", "GlobalPointIds", file, beside)
        assert np.array_equal(array_of("point", "height", file, beside), mesh.point_data["height"][points])
        assert np.array_equal(array_of("point", "tag", file, beside), mesh.point_data["tag"][points])
        assert np.array_equal(array_of("cell", "load", file, beside), np.concatenate(mesh.cell_data["load"])[cells])
        hot = array_of("cell", "hot", file, beside)
        assert np.array_equal(hot, np.concatenate(mesh.cell_data["hot"])[cells])
        assert hot.dtype == np.uint8
        if "low" in file.point_sets:
            low = np.isin(np.arange(len(points)), file.point_sets["low"])
        else:
            low = array_of("point", "set:low", file, beside) == 1
        assert sorted(points[low]) == sorted(set(points) & set(range(0, 41, 3)))
        if not FORMATS[name].cell_sets:  # of a set over several blocks meshio reads the last share only
            assert np.array_equal(array_of("cell", "set:odd", file, beside), cells % 2)
            assert array_of("cell", "set:all", file, beside).all()


@EVERY_FORMAT
def test_the_callers_parts_are_as_they_were(name: str, tmp_path: Path) -> None:
    mesh = a_mesh_for(name)
    parts, untouched = (split(mesh, np.arange(mesh.n_cells) % 2) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(parts, tmp_path / "parts", format=name)
    assert [part.mesh for part in parts] == [part.mesh for part in untouched]
    assert parts[0].mesh.cell_sets.keys() == {"odd", "all"}


@EVERY_FORMAT
def test_a_part_without_cells_is_written_or_refused_before_anything_is_there(name: str, tmp_path: Path) -> None:
    type_ = "triangle" if "triangle" in FORMATS[name].types else "tetra"
    rows = [[0, 1, 2, 3][: CELL_TYPES[type_].n_points]]
    mesh = Mesh(np.eye(4, 3), [(type_, rows)], cell_data={"a": [np.ones(1)]})
    parts = split(mesh, [1], 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        if not FORMATS[name].empty:
            with pytest.raises(FormatError, match=f"part 0 has no cells, and {name} files must have some"):
                write_parts(parts, tmp_path / "parts", format=name)
            assert list(tmp_path.iterdir()) == []
            return
        write_parts(parts, tmp_path / "parts", format=name)
    found = entries(tmp_path / "parts")
    assert [entry["owned_cells"] for entry in found] == [0, 1, 0]
    if name != "vtu":  # VTK reads it, see below, and meshio does not
        with listening(), patched_meshio() as module:
            reader = {"gmsh22": "gmsh", "vtk42": "vtk"}.get(name, name)
            file = found[0]["file"]
            if name != "gmsh22" or found[0]["owned_points"]:
                assert sum(len(block.data) for block in module.read(str(file), file_format=reader).cells) == 0


# -- writing: what is in a file -----------------------------------------------------------------------------


def test_a_file_carries_ids_owners_layers_and_ghosts_with_their_dtypes(tmp_path: Path) -> None:
    # Q(3, 1): part 0 owns cells 0 and 1 with all of their points, cell 2 with its points 3 and 7 is part 4's
    write_parts(split(quads(3, 1), [0, 0, 4], 5, ghost_layers=1, only=[0]), tmp_path / "parts", format="vtu")
    ((entry, file, _),) = files_of(tmp_path / "parts")
    expected = {
        "GlobalCellIds": ([0, 1, 2], np.int64),
        "CellOwner": ([0, 0, 4], np.int32),
        "CellLayer": ([0, 0, 1], np.int32),
        "vtkGhostType": ([0, 0, 1], np.uint8),
    }
    for name, (values, dtype) in expected.items():
        assert file.cell_data[name][0].tolist() == values
        assert file.cell_data[name][0].dtype == dtype
    assert file.point_data["GlobalPointIds"].tolist() == [0, 1, 2, 4, 5, 6, 3, 7]
    assert file.point_data["PointOwner"].tolist() == [0] * 6 + [4, 4]
    assert file.point_data["PointLayer"].tolist() == [0] * 6 + [1, 1]
    assert file.point_data["vtkGhostType"].tolist() == [0] * 6 + [1, 1]
    assert (entry["owned_cells"], entry["ghost_cells"], entry["owned_points"], entry["ghost_points"]) == (2, 1, 6, 2)


def test_rows_of_interleaved_blocks_keep_their_ids(tmp_path: Path) -> None:
    parts = written(interleaved(), tmp_path / "parts", nparts=2)
    for part, (_, file, _) in zip(parts, files_of(tmp_path / "parts"), strict=True):
        assert np.concatenate(file.cell_data["GlobalCellIds"]).tolist() == sorted(part.cells.global_ids.tolist())


def test_sets_stay_apart_where_they_overlap(tmp_path: Path) -> None:
    written(overlapping_sets(), tmp_path / "parts", nparts=1)
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert file.cell_data["set:A"][0].tolist() == [1, 1, 0]
    assert file.cell_data["set:B"][0].tolist() == [0, 1, 1]
    assert file.point_data["set:left"].tolist() == [1, 1, 0, 0, 1, 1, 0, 0]
    assert "the cell set 'A' is written as the array 'set:A'" in manifest(tmp_path / "parts")["notes"]


def test_arrays_of_the_input_with_our_names_are_renamed_and_said(tmp_path: Path) -> None:
    mesh = Mesh(
        grid_points(2, 1),
        [("quad", quad_rows(2, 1))],
        point_data={"GlobalPointIds": np.arange(6) * 10},
        cell_data={"vtkGhostType": [np.array([1, 0], np.uint8)], "set:A": [np.array([7, 8])]},
        cell_sets={"A": [[1]]},
    )
    with pytest.warns(MeshpartWarning, match="'vtkGhostType' is written as 'input_vtkGhostType'"):
        write_parts(split(mesh, [0, 0]), tmp_path / "parts", format="vtu")
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert file.point_data["GlobalPointIds"].tolist() == list(range(6))
    assert file.point_data["input_GlobalPointIds"].tolist() == [0, 10, 20, 30, 40, 50]
    assert file.cell_data["vtkGhostType"][0].tolist() == [0, 0]
    assert file.cell_data["input_vtkGhostType"][0].tolist() == [1, 0]
    assert file.cell_data["input_set:A"][0].tolist() == [7, 8]
    assert file.cell_data["set:A"][0].tolist() == [0, 1]


def test_a_part_of_a_part_file_can_be_partitioned_and_written_again(tmp_path: Path) -> None:
    written(quads(4, 1), tmp_path / "first", nparts=2)
    again = read(part_file(tmp_path / "first", 0))
    with pytest.warns(MeshpartWarning, match="input_GlobalCellIds"):
        write_parts(split(again, np.arange(again.n_cells) % 2), tmp_path / "second", format="vtu")
    twice = read(part_file(tmp_path / "second", 0))
    with pytest.warns(MeshpartWarning, match="input_input_GlobalCellIds"):
        write_parts(split(twice, [0] * twice.n_cells), tmp_path / "third", format="vtu")


def test_dtypes_that_files_do_not_know_are_converted_and_said(tmp_path: Path) -> None:
    mesh = Mesh(
        grid_points(1, 1).astype(np.float16),
        [("quad", quad_rows(1, 1))],
        point_data={"half": np.arange(4, dtype=np.float16)},
        cell_data={"flag": [np.array([True])], "tensor": [np.arange(9.0).reshape(1, 3, 3)]},
    )
    write_parts(split(mesh, [0]), tmp_path / "parts", format="vtu")  # without a warning: no value is changed
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert file.points.dtype == np.float32
    assert file.point_data["half"].dtype == np.float32
    assert file.cell_data["flag"][0].dtype == np.uint8
    assert file.cell_data["tensor"][0].tolist() == [list(range(9))]
    assert set(manifest(tmp_path / "parts")["notes"]) == {
        "points have 2 coordinates and are written with 3, the last 0",
        "points are float16 and are written as float32",
        "point_data 'half' is float16 and is written as float32",
        "cell_data 'flag' is bool and is written as uint8",
        "cell_data 'tensor' is 3 x 3 numbers and is written as 9",
    }


@pytest.mark.parametrize("values", [[1j], ["a"], [np.longdouble(1)], [None], [np.datetime64("2000-01-01")]])
def test_numbers_that_no_file_holds_are_refused_before_anything_is_there(values: list[object], tmp_path: Path) -> None:
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], cell_data={"odd": [np.array(values)]})
    with pytest.raises(FormatError, match=r"hold no .*: cell_data\['odd'\]"):
        write_parts(split(mesh, [0]), tmp_path / "parts", format="vtu")
    assert list(tmp_path.iterdir()) == []


def test_cell_types_that_a_format_lacks_are_refused_before_anything_is_there(tmp_path: Path) -> None:
    mesh = Mesh(np.eye(5, 3), [("triangle", [[0, 1, 2]]), ("pyramid", [[0, 1, 2, 3, 4]])])
    for format_ in ("off", "inp", "ply"):
        with pytest.raises(FormatError, match="hold no cells of type pyramid"):
            write_parts(split(mesh, [0, 1]), tmp_path / "parts", format=format_)
    with pytest.raises(FormatError, match=r"tecplot files, .*hold no cells of type pyramid"):
        write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="tecplot")
    assert list(tmp_path.iterdir()) == []


def test_types_that_may_not_stand_together_are_refused_before_anything_is_there(tmp_path: Path) -> None:
    mesh = Mesh(np.eye(6, 3), [("triangle", [[0, 1, 2]]), ("triangle6", [range(6)])])
    with pytest.raises(FormatError, match="hold no cells beside triangle6, got triangle, triangle6"):
        write_parts(split(mesh, [0, 0]), tmp_path / "parts", format="xdmf")
    write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="xdmf")  # each in a file of its own
    assert [file.cells[0].type for _, file, _ in files_of(tmp_path / "parts")] == ["triangle", "triangle6"]


def test_what_a_format_does_not_hold_is_beside_it_and_one_warning_names_what_is_the_inputs(tmp_path: Path) -> None:
    mesh = Mesh(
        grid_points(2, 1),
        [("quad", quad_rows(2, 1))],
        point_data={"height": np.arange(6.0)},
        cell_data={"load": [np.array([3.0, 4.0])]},
        cell_sets={"A": [[1]]},
    )
    with pytest.warns(MeshpartWarning) as caught:
        write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="inp")
    assert len(caught) == 1
    said = str(caught[0].message)
    assert "'height'" in said
    assert "'load'" in said
    assert "GlobalCellIds" not in said
    assert caught[0].filename == __file__
    content = manifest(tmp_path / "parts")
    assert content["parts"]["beside"] == [True, True]
    assert "cell_data 'load' is in the .npz files, since abaqus files do not hold it" in content["notes"]
    (_, first, _), (_, file, beside) = files_of(tmp_path / "parts")
    assert file.cell_sets["A"][0].tolist() == [0]
    assert "A" not in first.cell_sets  # it has none of it; the manifest names the set
    assert content["cell_sets"] == ["A"]
    assert beside["cell_data/load"].tolist() == [4.0]
    assert beside["cell_data/GlobalCellIds"].tolist() == [1]


def test_gmsh_tags_and_names_are_kept(tmp_path: Path) -> None:
    mesh = Mesh(
        np.column_stack([grid_points(2, 1), np.zeros(6)]),
        [("quad", quad_rows(2, 1))],
        cell_data={"gmsh:physical": [np.array([5, 6])], "gmsh:geometrical": [np.array([1, 2])]},
        field_data={"left": np.array([5, 2]), "right": np.array([6, 2])},
    )
    write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="msh")
    for part, (_, file, _) in enumerate(files_of(tmp_path / "parts")):
        assert file.cell_data["gmsh:physical"][0].tolist() == [5 + part]
        assert file.field_data["right"].tolist() == [6, 2]
    assert manifest(tmp_path / "parts")["field_data"] == {"left": [5, 2], "right": [6, 2]}


def test_names_are_written_so_that_their_readers_get_them_back(tmp_path: Path) -> None:
    name = 'Nodal "Displacement" & <Größe>'
    mesh = Mesh(grid_points(1, 1), [("quad", quad_rows(1, 1))], point_data={name: np.arange(4.0)})
    write_parts(split(mesh, [0]), tmp_path / "vtu", format="vtu")
    assert read(part_file(tmp_path / "vtu", 0)).point_data[name].tolist() == [0, 1, 2, 3]
    write_parts(split(mesh, [0]), tmp_path / "vtk", format="vtk")
    encoded = "Nodal%20%22Displacement%22%20&%20<Gr%C3%B6%C3%9Fe>"
    assert encoded in read(part_file(tmp_path / "vtk", 0)).point_data
    assert f"point_data {name!r} is named {encoded!r} in the file" in manifest(tmp_path / "vtk")["notes"]


def test_polygons_of_several_sizes_are_written_in_runs_and_in_order(tmp_path: Path) -> None:
    mesh = Mesh(polygons().points, polygons().blocks, cell_data={"a": [np.array([30, 40, 50])]}, cell_sets={"S": [[2]]})
    write_parts(split(mesh, [0, 0, 0]), tmp_path / "parts", format="vtu")
    got = read(part_file(tmp_path / "parts", 0))
    assert [block.nodes.ravel().tolist() for block in got.blocks] == [[0, 1, 3], [1, 2, 4, 3], [0, 3, 4, 5, 6]]
    assert np.concatenate(got.cell_data["a"]).tolist() == [30, 40, 50]
    assert np.concatenate(got.cell_data["set:S"]).tolist() == [0, 0, 1]
    assert (
        "blocks of polygon cells of several sizes are written as runs of one size"
        in manifest(tmp_path / "parts")["notes"]
    )


def test_polyhedra_are_written_alone_or_not_at_all(tmp_path: Path) -> None:
    faces = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
    tet = ("polyhedron", [faces])
    mesh = Mesh(np.eye(4, 3), [tet, tet])
    write_parts(split(mesh, [0, 1]), tmp_path / "parts", format="vtu")
    assert read(part_file(tmp_path / "parts", 1)).blocks[0].type == "polyhedron4"
    mixed = Mesh(np.eye(4, 3), [tet, ("tetra", [[0, 1, 2, 3]])])
    with pytest.raises(FormatError, match="hold no cells beside polyhedron, got polyhedron, tetra"):
        write_parts(split(mixed, [0, 0]), tmp_path / "mixed", format="vtu")
    with pytest.raises(FormatError, match=r"vtk42 files, .* hold no cells of type polyhedron"):
        write_parts(split(mesh, [0, 1]), tmp_path / "mixed", format="vtk")
    assert not (tmp_path / "mixed").exists()


def test_types_with_another_name_in_a_format_are_written_under_it_and_said(tmp_path: Path) -> None:
    mesh = Mesh(np.random.default_rng(0).random((10, 3)), [("triangle10", [range(10)]), ("tetra4", [range(4)])])
    write_parts(split(mesh, [0, 0]), tmp_path / "parts", format="vtu")
    ((_, file, _),) = files_of(tmp_path / "parts")
    assert [block.type for block in file.cells] == ["VTK_LAGRANGE_TRIANGLE", "tetra"]
    assert "cells of type triangle10 are written as VTK_LAGRANGE_TRIANGLE" in manifest(tmp_path / "parts")["notes"]


def test_empty_blocks_are_left_out_of_files_and_named_in_the_manifest(tmp_path: Path) -> None:
    write_parts(split(empty_blocks(), [0, 1]), tmp_path / "parts", format="vtu")
    content = manifest(tmp_path / "parts")
    assert [block["type"] for block in content["blocks"]] == ["triangle", "quad", "line"]
    assert [block.type for block in read(part_file(tmp_path / "parts", 0)).blocks] == ["quad"]


def test_periodic_pairs_are_beside_the_file_as_global_ids(tmp_path: Path) -> None:
    mesh = replace_periodic(quads(2, 1), [(2, 0), (5, 3)])
    parts = split(mesh, [0, 1])
    write_parts(parts, tmp_path / "parts", format="vtu")
    pairs = [beside["periodic/0"].tolist() for _, _, beside in files_of(tmp_path / "parts")]
    assert sorted(pair for share in pairs for pair in share) == [[2, 0], [5, 3]]
    assert manifest(tmp_path / "parts")["periodic"] == [{"dim": 1, "tags": [7, 5], "affine": None}]


def replace_periodic(mesh: Mesh, pairs: list[tuple[int, int]]) -> Mesh:
    return Mesh(mesh.points, mesh.blocks, periodic=[(1, (7, 5), None, pairs)])
