"""Mesh files that are not those of all parts of a mesh, or not any more: each is named, and none is merged."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from carrying import carrying
from meshes import QUARTERS, cubes, in_turn, interleaved, quads, with_unused_points
from rejoined import change, written

from meshpart import FormatError, merge_files, read, split, write_parts
from meshpart.manifest import read_manifest
from meshpart.part_labels import read_part_labels


@pytest.fixture
def quarters(tmp_path: Path) -> Path:
    """Return a folder with the quarters of Q(4, 4), with a layer of ghosts."""
    return written(carrying(quads(4, 4)), QUARTERS, tmp_path)


def test_arrays_that_a_solver_dropped_are_named(quarters: Path) -> None:
    for name in ("GlobalCellIds", "CellOwner"):
        shutil.copytree(quarters, quarters.parent / name)
        change(quarters.parent / name, 1, lambda part, name=name: part.cell_data.pop(name))
        with pytest.raises(FormatError, match=rf"part-00001\.vtu has no cell data '{name}'"):
            merge_files(quarters.parent / name)
    change(quarters, 3, lambda part: part.point_data.pop("GlobalPointIds"))
    with pytest.raises(FormatError, match=r"part-00003\.vtu has no point data 'GlobalPointIds'"):
        merge_files(quarters)


@pytest.mark.parametrize("name", ["part-00002.vtu", "part-00002.npz"])
def test_a_file_that_is_missing_or_cut_short_is_named(name: str, tmp_path: Path) -> None:
    path = written(carrying(quads(4, 4)), QUARTERS, tmp_path, "vtu")
    file = read_manifest(path).folder / name
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(FormatError, match=name):
        merge_files(path)
    file.unlink()
    with pytest.raises(FormatError, match=f"{name}: No such file"):
        merge_files(path)


def test_a_missing_file_of_a_part_that_owns_nothing_is_named(tmp_path: Path) -> None:
    path = written(quads(2, 1), [0, 2], tmp_path, "vtu", 3)
    read_manifest(path).file(1).unlink()
    with pytest.raises(FormatError, match=r"part-00001\.vtu: No such file"):
        merge_files(path)


def without_a_run(part: Any) -> None:
    """Let meshio write the file anew, which drops the field data that says of which decomposition it is."""


@pytest.mark.parametrize("layers", [0, 1])
def test_files_of_another_decomposition_are_refused_by_their_run(layers: int, tmp_path: Path) -> None:
    mesh = with_unused_points(quads(4, 4), 3)
    for name, cuts in (("one", QUARTERS), ("other", np.roll(QUARTERS, 1))):
        (tmp_path / name).mkdir()
        path = written(mesh, cuts, tmp_path / name, "vtu", 5, layers)  # of which the last has no cells
        pieces = split(mesh, cuts, 5, ghost_layers=layers)
        write_parts(pieces, tmp_path / name / "x.pvtu")
        assert merge_files(path) == merge_files(tmp_path / name / "x.pvtu") == mesh
    for name in ("parts", "x.pvtu"):
        one, other = (read_manifest(tmp_path / which / name) for which in ("one", "other"))
        for part in (0, 1):
            kept = one.file(part).read_bytes()
            shutil.copy(other.file(part), one.file(part))
            with pytest.raises(FormatError, match=rf"part-0000{part}\.vtu is of another decomposition") as caught:
                merge_files(tmp_path / "one" / name)
            assert other.content["run"] in str(caught.value)
            assert one.content["run"] in str(caught.value)
            one.file(part).write_bytes(kept)


def test_a_piece_without_cells_of_another_decomposition_is_refused_by_its_run(tmp_path: Path) -> None:
    files = []
    for name, shift in (("one", 0.0), ("other", 100.0)):
        mesh = with_unused_points(cubes(2, 1, 1), 3)
        (tmp_path / name).mkdir()
        path = written(replace(mesh, points=mesh.points + shift), [2, 2], tmp_path / name, "vtu", 4, 0)
        files.append(read_manifest(path).file(0))  # which has the three points and no cells
    shutil.copy(files[1], files[0])
    with pytest.raises(FormatError, match=r"part-00000\.vtu is of another decomposition"):
        merge_files(tmp_path / "one" / "parts")


@pytest.mark.parametrize("form", ["vtu", "msh", "xdmf", "inp"])
@pytest.mark.parametrize("layers", [0, 1])
def test_a_part_of_a_mesh_that_lies_elsewhere_is_refused_by_its_points(form: str, layers: int, tmp_path: Path) -> None:
    files = []
    for name, shift in (("a", 0.0), ("b", 100.0)):
        (tmp_path / name).mkdir()
        mesh = quads(4, 4)
        path = written(replace(mesh, points=mesh.points + shift), QUARTERS, tmp_path / name, form, layers=layers)
        if form == "vtu":
            change(path, 1, without_a_run)
        files.append(read_manifest(path).file(1))
    for suffix in (files[0].suffix, ".h5", ".npz"):
        if files[1].with_suffix(suffix).exists():
            shutil.copy(files[1].with_suffix(suffix), files[0].with_suffix(suffix))
    with pytest.raises(
        FormatError, match=r"point \d+ is at .* in \S*part-0000\d\.\w+ and at .* in \S*part-0000\d\."
    ) as caught:
        merge_files(tmp_path / "a" / "parts")
    assert str(caught.value).startswith(f"{tmp_path / 'a' / 'parts'}: ")
    assert "part-00001" in str(caught.value)


def test_points_that_differ_by_rounding_or_are_no_numbers_are_taken(quarters: Path) -> None:
    def shake(part: Any) -> None:
        own = part.point_data["vtkGhostType"] == 0
        part.points = np.where(own[:, None], part.points, part.points + 1e-9)
        part.points[part.point_data["GlobalPointIds"] == 12] = np.nan

    before = merge_files(quarters).points
    for part in range(4):
        change(quarters, part, shake)
    after = merge_files(quarters).points
    assert np.isnan(after[12]).all()
    assert np.array_equal(np.delete(before, 12, 0), np.delete(after[:, :2], 12, 0))


def test_files_of_another_decomposition_are_refused_without_their_run_too(quarters: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = written(carrying(quads(4, 4)), np.roll(QUARTERS, 1), tmp_path / "other")
    change(other, 1, without_a_run)
    shutil.copy(read_manifest(other).file(1), read_manifest(quarters).file(1))
    with pytest.raises(FormatError, match=r"cell \d+ is owned by (parts \d and \d|no part)|owned points"):
        merge_files(quarters)
    larger = written(carrying(quads(8, 4)), np.repeat(QUARTERS, 2), tmp_path / "other")
    change(larger, 1, without_a_run)
    shutil.copy(read_manifest(larger).file(1), read_manifest(quarters).file(1))
    with pytest.raises(FormatError, match=r"part-00001\.vtu"):
        merge_files(quarters)


def test_what_is_wrong_between_files_names_the_set_and_the_files(quarters: Path) -> None:
    def own_again(part: Any) -> None:
        part.point_data["GlobalPointIds"][part.point_data["PointOwner"] == 1] = 0

    before = read_manifest(quarters).file(1).read_bytes()
    change(quarters, 1, own_again)
    with pytest.raises(
        FormatError, match=rf"^{re.escape(str(quarters))}: point 0 is owned by .*part-00000.*part-00001"
    ):
        merge_files(quarters)
    read_manifest(quarters).file(1).write_bytes(before)
    change(quarters, 1, lambda part: part.point_data.update(a=part.point_data["a"].astype(np.int8)))
    with pytest.raises(FormatError, match=rf"^{re.escape(str(quarters))}: point data 'a' has .*part-00000.*part-00001"):
        merge_files(quarters)


def test_the_folder_of_pieces_is_sent_to_its_index(tmp_path: Path) -> None:
    mesh = quads(4, 4)
    write_parts(split(mesh, QUARTERS), tmp_path / "x.pvtu")
    folder = read_manifest(tmp_path / "x.pvtu").folder
    for ask in (merge_files, lambda path: read_part_labels(path, mesh)):
        with pytest.raises(FormatError, match=rf"{folder.name} has the pieces of a \.pvtu file: give that file"):
            ask(folder)


def test_of_files_that_were_written_here_no_other_reader_is_advised(tmp_path: Path) -> None:
    path = written(quads(4, 4), QUARTERS, tmp_path)
    file = read_manifest(path).file(1)
    file.write_bytes(file.read_bytes()[:700])
    with pytest.raises(FormatError, match=r"part-00001\.vtu") as caught:
        merge_files(path)
    assert "pip install" not in str(caught.value)
    with pytest.raises(FormatError, match=r"meshioplusplus"):  # that it failed too, or what would install it
        read(file)


def test_a_store_is_sent_to_what_merges_it(tmp_path: Path) -> None:
    write_parts(split(quads(4, 4), QUARTERS), tmp_path / "store")
    with pytest.raises(FormatError, match=r"\(merge\(open_parts\(path\)\) puts a part store together again\)"):
        merge_files(tmp_path / "store")


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        ("cell", "GlobalCellIds", 16, r"part-00001\.vtu: GlobalCellIds has ids outside 0\.\.15"),
        ("cell", "GlobalCellIds", -1, r"part-00001\.vtu: GlobalCellIds has ids outside"),
        ("cell", "GlobalCellIds", 0, r"cell 0 is owned by parts 0 and 1"),
        ("point", "GlobalPointIds", 25, r"part-00001\.vtu: GlobalPointIds has ids outside 0\.\.24"),
        ("point", "GlobalPointIds", 0, r"point 0 is owned by parts 0 and 1"),
        ("cell", "CellOwner", 0, r"part-00001\.vtu has 3 owned cells, manifest\.json says 4"),
        ("point", "PointOwner", 2, r"part-00001\.vtu has \d owned points, manifest\.json says \d"),
        ("cell", "GlobalCellIds", 2.5, r"GlobalCellIds of part 1 are no integers: float64"),
    ],
)
def test_ids_and_owners_are_checked(quarters: Path, kind: str, name: str, value: float, message: str) -> None:
    def spoil(part: Any) -> None:
        data = getattr(part, f"{kind}_data")
        values = (data[name][0] if kind == "cell" else data[name]).copy()
        values = values.astype(np.asarray(value).dtype) if isinstance(value, float) else values
        values[0] = value
        data[name] = [values] if kind == "cell" else values

    change(quarters, 1, spoil)
    with pytest.raises(FormatError, match=message):
        merge_files(quarters)


def test_cells_of_another_type_are_refused(tmp_path: Path) -> None:
    path = written(interleaved(), in_turn(interleaved()), tmp_path)

    def swap(part: Any) -> None:
        types = np.concatenate([np.full(len(block.data), number) for number, block in enumerate(part.cells)])
        ids = np.concatenate(part.cell_data["GlobalCellIds"])
        first, other = ids[types == 0][0], ids[types == 1][0]
        swapped = np.where(ids == first, other, np.where(ids == other, first, ids))
        part.cell_data["GlobalCellIds"] = [swapped[types == number] for number in range(len(part.cells))]

    change(path, 0, swap)
    with pytest.raises(FormatError, match=r"part-00000\.vtu has cells of type \w+ with global ids of block"):
        merge_files(path)


def test_arrays_beside_with_other_rows_are_refused(tmp_path: Path) -> None:
    path = written(carrying(quads(4, 4)), QUARTERS, tmp_path, "inp")
    beside = read_manifest(path).folder / "part-00001.npz"
    with np.load(beside) as archive:
        arrays = dict(archive)
    for key, values, message in (
        ("cell_data/b", arrays["cell_data/b"][1:], r"part-00001\.inp has \d cells, its cell data 'b' has the shape"),
        ("cell_data/CellOwner", arrays["cell_data/CellOwner"][1:], "global cell ids and"),
        ("point_data/GlobalPointIds", arrays["point_data/GlobalPointIds"][1:], "points and"),
        ("periodic/0", arrays["periodic/0"][:, :1], "is no table of pairs"),
        ("periodic_rows/0", arrays["periodic_rows/0"] + 1, "are not all in the .npz files"),
        ("periodic/0", arrays["periodic/0"] + 100, r"has points outside 0\.\.24"),
    ):
        np.savez(beside, **{**arrays, key: values})
        with pytest.raises(FormatError, match=message):
            merge_files(path)
    np.savez(beside, **{key: values for key, values in arrays.items() if key != "periodic/1"})
    with pytest.raises(FormatError, match=r"part-00001\.npz has no array 'periodic/1'"):
        merge_files(path)


def test_parts_that_were_not_all_written_are_refused(tmp_path: Path) -> None:
    write_parts(split(quads(4, 4), QUARTERS, only=[0, 3]), tmp_path / "two", format="vtu")
    with pytest.raises(FormatError, match="two has 2 of 4 parts, the first that it lacks is part 1"):
        merge_files(tmp_path / "two")


@pytest.mark.parametrize("count", [10**15, 17, -1])
def test_a_mesh_of_more_than_the_parts_own_is_refused_before_it_is_made(quarters: Path, count: int) -> None:
    content = json.loads((quarters / "manifest.json").read_text())
    content.update(n_points=count)
    (quarters / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=f"the parts own 25 points, the mesh has {count}"):
        merge_files(quarters)


def test_what_are_no_parts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=tmp_path.name):
        merge_files(tmp_path)
    with pytest.raises(FormatError, match="absent"):
        merge_files(tmp_path / "absent")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.pop("block_starts"),
        lambda content: content.update(block_starts=[0, 15]),
        lambda content: content.update(block_starts=[0, 20, 16]),
        lambda content: content.update(blocks=[{"type": "cube", "tags": []}]),
        lambda content: content.update(blocks=3),
        lambda content: content.pop("info"),
        lambda content: content.update(field_data=[1]),
        lambda content: content.update(block_data={"a": 3}),
        lambda content: content.update(periodic=[{"dim": 1}]),
        lambda content: content["arrays"].update(points=3),
        lambda content: content["arrays"]["point_data"].update(a={"name": "a", "dtypes": [], "shapes": []}),
        lambda content: content["arrays"]["point_data"].update(a={"name": "a", "dtypes": ["x9"], "shapes": [[]]}),
    ],
)
def test_a_damaged_manifest_is_refused(quarters: Path, damage: Callable[[Any], object]) -> None:
    content = json.loads((quarters / "manifest.json").read_text())
    damage(content)
    (quarters / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=r"manifest\.json|damaged"):
        merge_files(quarters)
