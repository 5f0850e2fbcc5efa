"""Writing a mesh file: what is in it comes back, what is not is beside it or said, and nothing is half written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from carrying import with_everything
from meshes import empty_blocks, grid_points, no_cells, overlapping_sets, polygons, quad_rows, quads

from meshpart import (
    ArgumentError,
    FormatError,
    Mesh,
    MeshError,
    MeshpartWarning,
    merge,
    open_parts,
    read,
    split,
    write,
    write_parts,
)
from meshpart.arrays import same
from meshpart.cells import CELL_TYPES
from meshpart.fitting import fit_mesh
from meshpart.formats import FORMATS, find_format
from meshpart.manifest import read_manifest
from meshpart.mesh_file import KEEP_BLOCKS
from meshpart.meshio_bridge import patched_meshio

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)

# What meshio's readers make of files that say nothing of the kind.
MADE_BY_READERS = re.compile(r"gmsh:(physical|geometrical)|medit:ref|netgen:index|avsucd:material|tetgen:ref")
MADE_BY_READERS_ALWAYS = {"obj:group_ids", "ugrid:ref", "GLOBAL_ID"}


def written(mesh: Any, path: Path, **options: Any) -> list[str]:
    """Write a mesh; return what the one warning says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MeshpartWarning)
        write(mesh, path, **options)
    assert len(caught) <= 1
    return [part for warning in caught for part in str(warning.message).removeprefix(f"{path}: ").split("; ")]


def read_quietly(path: Path) -> Mesh:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        return read(path)


def one_block(name: str) -> Mesh:
    """Return a mesh of one block that a file of the format may have, with a point in no cell."""
    type_ = "triangle" if "triangle" in FORMATS[name].types else "tetra"
    rows = np.random.default_rng(1).permutation(12).reshape(3, 4)[:, : CELL_TYPES[type_].n_points]
    return Mesh(50 * np.random.default_rng(2).random((13, 3)), [(type_, rows)])


# -- every format -------------------------------------------------------------------------------------------


@EVERY_FORMAT
def test_points_and_cells_come_back_from_every_suffix_of_every_format(name: str, tmp_path: Path) -> None:
    mesh = one_block(name)
    for suffix in FORMATS[name].suffixes:
        path = tmp_path / suffix[1:] / f"mesh{suffix}"
        path.parent.mkdir()
        assert written(mesh, path, format=name) == []
        got = read_quietly(path)
        np.testing.assert_allclose(got.points, mesh.points, rtol=1e-11)
        assert (got.blocks, got.points.dtype) == (mesh.blocks, mesh.points.dtype)
        assert {name for name in {*got.point_data, *got.cell_data} if not MADE_BY_READERS.fullmatch(name)} <= (
            MADE_BY_READERS_ALWAYS
        )


@EVERY_FORMAT
def test_data_and_sets_are_in_the_file_or_beside_it(name: str, tmp_path: Path) -> None:
    mesh = replace(
        one_block(name),
        point_data={"height": np.arange(13.0), "tag": np.arange(13, dtype=np.int16)},
        cell_data={"load": [np.array([0.5, 1.5, 2.5])], "hot": [np.array([True, False, True])]},
        point_sets={"low": [3, 7]},
        cell_sets={"odd": [[1]]},
    )
    path = tmp_path / f"mesh{FORMATS[name].suffixes[0]}"
    said = written(mesh, path, format=name)
    got = read_quietly(path)
    npz = tmp_path / "mesh.npz"
    beside = dict(np.load(npz)) if npz.exists() else {}
    assert all(any(repr(key.partition("/")[2]) in text for text in said) for key in beside)
    for kind, held in (("point", got.point_data), ("cell", {k: v[0] for k, v in got.cell_data.items()})):
        sets = got.point_sets if kind == "point" else got.cell_sets
        found = {**held, **{key.partition("/")[2]: v for key, v in beside.items() if key.startswith(f"{kind}_data/")}}
        given = mesh.point_data if kind == "point" else {key: v[0] for key, v in mesh.cell_data.items()}
        for array, values in given.items():
            assert np.array_equal(found[array], values)
        for members_of, members in ({"low": [3, 7]} if kind == "point" else {"odd": [1]}).items():
            if members_of in sets:
                (rows,) = [sets[members_of]] if kind == "point" else sets[members_of]
            else:
                rows = np.flatnonzero(found[f"set:{members_of}"])
            assert rows.tolist() == members


@EVERY_FORMAT
def test_blocks_of_one_type_come_back_apart_or_a_warning_says_that_they_do_not(name: str, tmp_path: Path) -> None:
    mesh = one_block(name)
    (block,) = mesh.blocks
    two = replace(mesh, blocks=(block, block.take(np.array([2, 0]))))
    path = tmp_path / f"mesh{FORMATS[name].suffixes[0]}"
    said = " ".join(written(two, path, format=name))
    assert (len(read_quietly(path).blocks) == 2) == (name in KEEP_BLOCKS)
    assert ("follow each other are one block" in said or "stand block by block" in said) == (name not in KEEP_BLOCKS)


@EVERY_FORMAT
def test_the_callers_mesh_is_as_it_was(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"mesh{FORMATS[name].suffixes[0]}"
    with patched_meshio():
        given = replace(one_block(name), cell_sets={"A": [[0]]}).to_meshio()
    before = Mesh.from_meshio(given)
    written(given, path, format=name)
    assert Mesh.from_meshio(given) == before
    assert list(given.cell_sets) == ["A"]


def test_cell_types_that_a_format_lacks_are_refused_before_anything_is_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="hold no cells of type quad"):
        write(quads(1, 1), tmp_path / "mesh.off")
    with pytest.raises(FormatError, match="the mesh has no cells, and tecplot files must have some"):
        write(no_cells(3), tmp_path / "mesh.dat")
    with pytest.raises(FormatError, match="hold no complex numbers"):
        write(replace(quads(1, 1), point_data={"z": np.zeros(4, complex)}), tmp_path / "mesh.vtu")
    assert list(tmp_path.iterdir()) == []


# -- real files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".vtu", ".msh", ".xdmf", "its own"])
def test_real_files_come_back_as_far_as_is_not_said_otherwise(suffix: str, real_meshes: Path, tmp_path: Path) -> None:
    checked = 0
    for number, source in enumerate(sorted(path for path in real_meshes.rglob("*") if path.is_file())):
        try:
            mesh = read_quietly(source)
            path = tmp_path / f"{number}{source.suffix if suffix == 'its own' else suffix}"
            said = written(mesh, path)
        except FormatError:
            continue
        assert_same_but_for(said, mesh, read_quietly(path), find_format(path.suffix)[0])
        checked += 1
    assert checked > 10


def assert_same_but_for(said: list[str], mesh: Mesh, got: Mesh, name: str) -> None:
    """Assert that a mesh came back, but for what the warning or the notes of its file name."""
    file = fit_mesh(mesh, name, FORMATS[name])
    notes = [*said, *file.notes]
    joined = any("one block" in note or "block by block" in note for note in notes)
    assert joined or [block.type for block in got.blocks] == [block.type for block in mesh.blocks]
    if not any("block by block" in note for note in notes):
        assert np.array_equal(got.cell_points, mesh.cell_points)
    dim = mesh.points.shape[1]
    assert np.array_equal(got.points[:, :dim], mesh.points)
    assert (got.points.dtype == mesh.points.dtype) or any("points are" in note for note in notes)
    assert same(got.periodic, mesh.periodic) or any("periodic" in note for note in notes)
    for kind in ("point", "cell"):
        held = getattr(got, f"{kind}_data")
        for array, values in getattr(mesh, f"{kind}_data").items():
            if array not in held:
                assert any(f"{kind}_data {array!r} is in the .npz" in note for note in notes)
                continue
            found, given = (together(arrays) for arrays in (held[array], values))
            assert np.array_equal(found.reshape(-1), given.reshape(-1))
        for members in getattr(mesh, f"{kind}_sets"):
            kept = members in getattr(got, f"{kind}_sets") or f"set:{members}" in held
            assert kept or any(f"set:{members}" in note for note in notes)


def together(arrays: Any) -> np.ndarray:
    return np.asarray(arrays) if isinstance(arrays, np.ndarray) else np.concatenate(arrays)


# -- what is beside, and what is said -----------------------------------------------------------------------


def test_what_a_format_does_not_hold_is_beside_it_and_one_warning_at_the_caller_says_so(tmp_path: Path) -> None:
    mesh = replace(quads(2, 1), cell_data={"load": [np.array([3.0, 4.0])]}, cell_sets={"A": [[1]]})
    with pytest.warns(MeshpartWarning, match=r"mesh\.inp: cell_data 'load' is in the \.npz files") as caught:
        write(mesh, tmp_path / "mesh.inp")
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert np.load(tmp_path / "mesh.npz")["cell_data/load"].tolist() == [3, 4]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mesh.inp", "mesh.npz"]


def test_a_set_over_several_blocks_is_beside_too_since_its_reader_misses_some_of_it(tmp_path: Path) -> None:
    points = grid_points(3, 1)
    blocks = [("quad", quad_rows(3, 1)[:1]), ("triangle", [[1, 2, 5]]), ("quad", quad_rows(3, 1)[2:])]
    mesh = Mesh(points, blocks, cell_sets={"A": [[0], [], [0]], "B": [[], [0], []]})
    assert written(mesh, tmp_path / "mesh.inp") == []
    beside = np.load(tmp_path / "mesh.npz")
    assert beside.files == ["cell_data/set:A"]
    assert beside["cell_data/set:A"].tolist() == [1, 0, 1]
    assert read_quietly(tmp_path / "mesh.inp").cell_sets["B"][1].tolist() == [0]


def test_what_is_neither_data_nor_sets_is_beside_or_said(tmp_path: Path) -> None:
    mesh = replace(with_everything(), field_data={"plate": np.array([1, 2]), "deep": {"a": 1}})
    said = written(mesh, tmp_path / "mesh.vtu")
    beside = np.load(tmp_path / "mesh.npz")
    assert beside["field_data/plate"].tolist() == [1, 2]
    assert beside["periodic/0"].tolist() == [[2, 0], [3, 5]]
    assert beside["block_data/gmsh:bounding_entities/2"].tolist() == [3]
    assert {"field_data 'deep' is not written", "the tags of blocks are not written", "empty blocks are left out"} <= {
        *said
    }
    assert "info is not written" in said


def test_gmsh_files_hold_groups_and_periodic_pairs(tmp_path: Path) -> None:
    mesh = Mesh(
        grid_points(2, 1),
        [("quad", quad_rows(2, 1))],
        cell_data={"gmsh:physical": [np.array([1, 2])], "gmsh:geometrical": [np.array([3, 3])]},
        field_data={"a": np.array([1, 2]), "b": np.array([2, 2])},
        periodic=[(1, (7, 5), np.arange(16.0), [(2, 0), (5, 3)]), (0, (1, 2), None, [(2, 0)])],
    )
    assert written(mesh, tmp_path / "mesh.msh") == []
    got = read(tmp_path / "mesh.msh")
    assert same(got.periodic, mesh.periodic)
    assert {name: value.tolist() for name, value in got.field_data.items()} == {"a": [1, 2], "b": [2, 2]}
    assert got.cell_data["gmsh:physical"][0].tolist() == [1, 2]


def test_bounding_entities_of_gmsh_are_no_cell_sets(tmp_path: Path) -> None:
    block_data = {"gmsh:bounding_entities": [np.array([1, -2])]}
    for name in ("mesh.vtu", "mesh.xdmf", "mesh.inp", "mesh.msh"):
        mesh = replace(quads(1, 1), block_data=block_data)
        assert "block_data 'gmsh:bounding_entities' is in the .npz file" in written(mesh, tmp_path / name)
        assert read_quietly(tmp_path / name).n_cells == 1
        (tmp_path / "mesh.npz").unlink()


def test_polygons_come_back_by_size(tmp_path: Path) -> None:
    written(polygons(), tmp_path / "mesh.vtu")
    got = read_quietly(tmp_path / "mesh.vtu")
    assert np.array_equal(got.cell_points, polygons().cell_points)
    assert np.array_equal(got.cell_offsets, polygons().cell_offsets)


def test_arrays_from_before_are_named_where_they_stay(tmp_path: Path) -> None:
    (tmp_path / "mesh.npz").write_bytes(b"something")
    assert written(quads(1, 1), tmp_path / "mesh.vtu") == ["mesh.npz is from before and has nothing of this mesh"]
    assert (tmp_path / "mesh.npz").read_bytes() == b"something"


# -- the place ----------------------------------------------------------------------------------------------


def test_files_of_several_parts_are_all_there_under_their_names(tmp_path: Path) -> None:
    written(quads(1, 1), tmp_path / "a.xdmf")
    written(one_block("tetgen"), tmp_path / "b.ele")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.h5", "a.xdmf", "b.ele", "b.node"]
    for name in ("a.xdmf", "a.h5", "b.ele", "b.node"):
        (tmp_path / "moved").mkdir(exist_ok=True)
        (tmp_path / name).rename(tmp_path / "moved" / name)
    assert read(tmp_path / "moved" / "a.xdmf").n_cells == 1
    assert read(tmp_path / "moved" / "b.ele").n_cells == 3


def test_what_is_there_is_replaced_only_when_asked(tmp_path: Path) -> None:
    write(quads(1, 1), tmp_path / "mesh.vtu")
    with pytest.raises(FormatError, match=r"mesh\.vtu is there already; overwrite=True"):
        write(quads(2, 1), tmp_path / "mesh.vtu")
    assert read(tmp_path / "mesh.vtu").n_cells == 1
    write(quads(2, 1), tmp_path / "mesh.vtu", overwrite=True)
    assert read(tmp_path / "mesh.vtu").n_cells == 2
    (tmp_path / "mesh.h5").write_bytes(b"another's")
    with pytest.raises(FormatError, match=r"mesh\.h5, which belongs to mesh\.xdmf, is there already"):
        write(quads(2, 1), tmp_path / "mesh.xdmf")
    assert (tmp_path / "mesh.h5").read_bytes() == b"another's"
    (tmp_path / "folder.vtu").mkdir()
    with pytest.raises(FormatError, match="is no regular file"):
        write(quads(2, 1), tmp_path / "folder.vtu", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.vtu", "mesh.h5", "mesh.vtu"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("absent/mesh.vtu", {}, "there is no folder"),
        ("mesh", {}, "tells no format"),
        ("mesh.foo", {}, r"meshes cannot be written as '\.foo'"),
        ("mesh.stl", {}, "without their points' ids"),
        ("mesh.vtu", {"format": "magic"}, "meshes cannot be written as 'magic'"),
        ("mesh.ugrid", {}, "tells no format"),
        ("mesh.ugrid", {"format": "ugrid"}, r"a ugrid file ends in \.lb8\.ugrid"),
        ("mesh.npz", {"format": "vtu"}, r"cannot end in \.npz"),
        ("mesh.h5", {"format": "xdmf"}, r"cannot end in \.h5"),
        ("nul\0.vtu", {}, "null"),
    ],
)
def test_a_place_that_cannot_be_is_refused(name: str, options: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message):
        write(quads(1, 1), tmp_path / name, **options)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_mesh_and_no_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match="of a SubMesh, give its mesh"):
        write(split(quads(1, 1), [0])[0], tmp_path / "mesh.vtu")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="path must be a path, got 3"):
        write(quads(1, 1), 3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="format must be a str, got 3"):
        write(quads(1, 1), tmp_path / "mesh.vtu", format=3)  # type: ignore[arg-type]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    mesh = replace(quads(1, 1), point_sets={"A": [0]}, field_data={"plate": np.array([1, 2])})
    written(mesh, tmp_path / "x.vtu")
    for name, mode in (("x.vtu", 0o660), ("x.npz", 0o600)):
        (tmp_path / name).chmod(mode)
    written(mesh, tmp_path / "x.vtu", overwrite=True)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("x.vtu", "x.npz")] == [0o660, 0o600]


def test_a_path_in_the_place_of_the_mesh_is_told_where_it_belongs(tmp_path: Path) -> None:
    swapped: Any = write
    with pytest.raises(ArgumentError, match="the mesh comes first, then the path"):
        swapped("x.vtu", quads(1, 1))
    with pytest.raises(ArgumentError, match="the mesh comes first, then the path"):
        swapped(tmp_path / "x.vtu", quads(1, 1))


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (np.zeros(4, complex), "complex numbers: point_data['c'] is complex128"),
        (np.array(["a", "b", "c", "d"]), "text: point_data['c'] is <U1"),
        (np.zeros(4, "M8[D]"), "dates: point_data['c'] is datetime64[D]"),
        (np.zeros(4, np.longdouble), f"numbers of dtype {np.dtype(np.longdouble)}: point_data['c'] is"),
    ],
)
def test_data_that_no_file_holds_is_called_what_it_is_with_what_can_be_done(
    values: Any, what: str, tmp_path: Path
) -> None:
    mesh = replace(quads(1, 1), point_data={"c": values})
    with pytest.raises(FormatError) as caught:
        write(mesh, tmp_path / "x.vtu")
    assert str(caught.value).startswith(f"vtu files hold no {what}")
    assert "(leave it out, or keep it in a part store, which holds it)" in str(caught.value)
    write_parts(split(mesh, [0]), tmp_path / "store")
    assert same(merge(open_parts(tmp_path / "store")).point_data["c"], values)


def test_what_vtu_files_lack_is_said_of_our_own_writer_and_of_others_of_meshio(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="vtu files, as meshpart writes them, hold no cells of type hexahedron64"):
        write(Mesh(np.zeros((64, 3)), [("hexahedron64", [range(64)])]), tmp_path / "x.vtu")
    with pytest.raises(FormatError, match="off files, as meshio writes them, hold no cells of type quad"):
        write(quads(1, 1), tmp_path / "x.off")


def test_a_piece_that_is_read_and_written_again_is_still_of_its_run(tmp_path: Path) -> None:
    write_parts(split(quads(2, 1), [0, 1]), tmp_path / "x.pvtu")
    piece = read_manifest(tmp_path / "x.pvtu").file(1)
    read_once = read(piece)
    assert written(read_once, piece, overwrite=True) == []
    assert bytes(read(piece).field_data["meshpart:run"]).decode() == read_manifest(tmp_path / "x.pvtu").content["run"]
    assert read(piece) == read_once


def test_a_format_may_be_another_than_the_suffix_says(tmp_path: Path) -> None:
    write(quads(1, 1), tmp_path / "mesh.data", format="vtu")
    assert meshio.read(tmp_path / "mesh.data", file_format="vtu").cells[0].data.tolist() == quad_rows(1, 1).tolist()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(FormatError, match="cannot write there"):
        write(quads(1, 1), tmp_path / "mesh.vtu")


@pytest.mark.skipif(sys.platform != "linux", reason="it limits the size of files as Linux does")
@pytest.mark.parametrize("name", ["mesh.xdmf", "mesh.med", "mesh.vtu", "mesh.inp"])
def test_a_file_that_finds_no_room_is_an_error_and_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    script = """if True:
        import resource, sys, meshpart, numpy
        points = numpy.random.default_rng(0).random((30_000, 3))
        mesh = meshpart.Mesh(points, [("triangle", numpy.arange(30_000).reshape(-1, 3))])
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        try:
            meshpart.write(mesh, sys.argv[1], overwrite=True)
        except meshpart.FormatError:
            sys.exit(7)
    """
    (tmp_path / name).write_bytes(b"before")
    done = subprocess.run([sys.executable, "-c", script, tmp_path / name], check=False, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"before"


def test_a_failure_of_a_writer_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    mesh = replace(quads(1, 1), field_data={"\ud800": np.array([1, 2])})
    with pytest.raises(FormatError, match=r"mesh\.msh cannot be written: UnicodeEncodeError"):
        write(mesh, tmp_path / "mesh.msh")
    with pytest.raises(FormatError, match=r"\.npz files cannot hold the name 'cell_data/b\\x00'"):
        write(replace(quads(1, 1), cell_data={"b\0": [[1]]}), tmp_path / "mesh.vtu")
    assert list(tmp_path.iterdir()) == []


def test_nothing_reaches_the_streams(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("a.xml", "b.ply", "c.msh", "d.vtu"):
        written(overlapping_sets() if name != "a.xml" else one_block("dolfin-xml"), tmp_path / name)
    written(empty_blocks(), tmp_path / "empty.vtu")
    assert capfd.readouterr() == ("", "")
