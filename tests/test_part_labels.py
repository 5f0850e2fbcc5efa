"""Labels out of folders of parts: the same as went in, and nothing from a folder that is not whole."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import (
    QUARTERS,
    cubes,
    in_turn,
    interleaved,
    quads,
    quads_with_lines,
    tets,
    triangles,
    two_cube_polyhedra,
)
from part_folders import part_file
from rejoined import change

from meshpart import ArgumentError, FormatError, Mesh, MeshpartWarning, partition, split, write_parts
from meshpart.formats import FORMATS
from meshpart.part_labels import read_part_labels


def written(
    mesh: Mesh, labels: Any, folder: Path, nparts: int | None = None, form: str = "vtu", ghost_layers: int = 0
) -> Path:
    """Write the parts of a mesh, whatever becomes of their data; return the folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        write_parts(split(mesh, labels, nparts, ghost_layers=ghost_layers), folder / "parts", format=form)
    return folder / "parts"


@pytest.fixture
def quarters(tmp_path: Path) -> Path:
    """Return a folder with the quarters of Q(4, 4)."""
    return written(quads(4, 4), QUARTERS, tmp_path)


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of a folder."""
    content = json.loads((folder / "manifest.json").read_text())
    change(content)
    (folder / "manifest.json").write_text(json.dumps(content))


# -- what comes back ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_labels_come_back_from_every_format(form: str, tmp_path: Path) -> None:
    mesh = tets(3, 2, 1) if "triangle" not in FORMATS[form].types or "tetra" in FORMATS[form].types else triangles(5, 4)
    labels = np.random.default_rng(4).integers(0, 5, mesh.n_cells)
    back, nparts, *_ = read_part_labels(written(mesh, labels, tmp_path, form=form), mesh)
    assert (back.dtype, back.tolist(), nparts) == (np.int32, labels.tolist(), 5)


@pytest.mark.parametrize("form", ["vtu", "med", "msh", "inp"])
@pytest.mark.parametrize("mesh", [interleaved(), quads_with_lines(3, 3)], ids=repr)
def test_labels_come_back_of_meshes_with_several_blocks(mesh: Mesh, form: str, tmp_path: Path) -> None:
    labels = in_turn(mesh)
    assert read_part_labels(written(mesh, labels, tmp_path, form=form), mesh)[0].tolist() == labels.tolist()


def test_labels_come_back_where_parts_are_empty(tmp_path: Path) -> None:
    mesh = cubes(2, 2, 1)
    back, nparts, *_ = read_part_labels(written(mesh, [4, 1, 1, 4], tmp_path, 7), mesh)
    assert (back.tolist(), nparts) == ([4, 1, 1, 4], 7)


def test_labels_come_back_of_polyhedra(tmp_path: Path) -> None:
    mesh = two_cube_polyhedra()
    assert read_part_labels(written(mesh, [1, 0], tmp_path), mesh)[0].tolist() == [1, 0]


@pytest.mark.parametrize("form", ["vtu", "msh", "exodus"])
def test_labels_come_back_from_parts_with_ghosts(form: str, tmp_path: Path) -> None:
    folder = written(quads(4, 4), QUARTERS, tmp_path, form=form, ghost_layers=1)
    assert read_part_labels(folder, quads(4, 4))[0].tolist() == list(QUARTERS)


def test_the_layers_of_a_folder_of_parts_are_part_of_its_run(tmp_path: Path) -> None:
    folder = written(quads(4, 4), QUARTERS, tmp_path, ghost_layers=1)
    edit(folder, lambda manifest: manifest.update(ghost_layers=2))
    with pytest.raises(ArgumentError, match="the parts were made from another mesh"):
        read_part_labels(folder, quads(4, 4))


# -- what is refused ----------------------------------------------------------------------------------------


def test_parts_of_another_mesh_are_refused(quarters: Path) -> None:
    with pytest.raises(ArgumentError, match=r"the parts are of 16 cells, the mesh has 12"):
        read_part_labels(quarters, quads(4, 3))
    mesh = quads(4, 4)
    moved = Mesh(mesh.points + np.array([0, 1e-9]), mesh.blocks)
    with pytest.raises(ArgumentError, match="the parts were made from another mesh: as many cells, but not the same"):
        read_part_labels(quarters, moved)
    reordered = Mesh(mesh.points, [("quad", mesh.blocks[0].nodes[::-1])])
    with pytest.raises(ArgumentError, match="the parts were made from another mesh"):
        read_part_labels(quarters, reordered)


def test_a_set_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    mesh = quads(4, 4)
    write_parts(split(mesh, QUARTERS, only=[0, 3]), tmp_path / "two")
    with pytest.raises(FormatError, match="two has 2 of 4 parts, the first that it lacks is part 1"):
        read_part_labels(tmp_path / "two", mesh)


@pytest.mark.parametrize("form", ["vtu", "inp"])
def test_a_missing_file_is_named(form: str, tmp_path: Path) -> None:
    folder = written(quads(4, 4), QUARTERS, tmp_path, form=form)
    missing = part_file(folder, 2).with_suffix(".vtu" if form == "vtu" else ".npz")
    missing.unlink()
    with pytest.raises(FormatError, match=f"{missing.name}: No such file"):
        read_part_labels(folder, quads(4, 4))


def test_a_part_of_another_run_is_refused(quarters: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = written(quads(4, 4), np.roll(QUARTERS, 1), tmp_path / "other")
    shutil.copy(part_file(other, 1), part_file(quarters, 1))
    with pytest.raises(FormatError, match=r"part-00001\.vtu is of another decomposition: its run is"):
        read_part_labels(quarters, quads(4, 4))
    change(quarters, 1, lambda _: None)  # written anew by meshio, which drops the run
    with pytest.raises(FormatError, match=r"cell \d+ is owned by parts \d and \d"):
        read_part_labels(quarters, quads(4, 4))


def test_a_part_with_other_numbers_of_cells_is_refused(quarters: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = written(quads(4, 4), [0] * 15 + [3], tmp_path / "other")
    shutil.copy(part_file(other, 3), part_file(quarters, 3))
    with pytest.raises(FormatError, match=r"part-00003\.vtu is of another decomposition: its run is"):
        read_part_labels(quarters, quads(4, 4))
    change(quarters, 3, lambda _: None)  # written anew by meshio, which drops the run
    with pytest.raises(FormatError, match=r"part-00003.vtu has 1 owned cells, manifest.json says 4"):
        read_part_labels(quarters, quads(4, 4))


def test_cells_that_no_part_owns_are_refused(quarters: Path) -> None:
    edit(quarters, lambda content: content["parts"]["owned_cells"].__setitem__(1, 0))
    with pytest.raises(FormatError, match="no part owns 4 of the cells, the first is cell 2"):
        read_part_labels(quarters, quads(4, 4))


def test_ids_beside_the_mesh_file_are_checked_too(tmp_path: Path) -> None:
    folder = written(quads(4, 4), QUARTERS, tmp_path, form="inp")
    beside = part_file(folder, 1).with_suffix(".npz")
    with np.load(beside) as archive:
        arrays = dict(archive)
    for name, values, message in (
        ("GlobalCellIds", np.array([2, 3, 6, 16]), r"has a cell outside 0\.\.15"),
        ("GlobalCellIds", np.array([2.0, 3.0, 6.0, 7.0]), "GlobalCellIds of part 1 are no integers: float64"),
        ("GlobalCellIds", np.array([2, 3, 6]), "part 1 has 3 global cell ids and 4 owners"),
        ("GlobalCellIds", np.array([2, 3, 6, 6]), "no part owns 1 of the cells, the first is cell 7"),
        ("CellOwner", np.array([1, 1, 1, 0]), "has 3 owned cells"),
    ):
        np.savez(beside, **{**arrays, f"cell_data/{name}": values})
        with pytest.raises(FormatError, match=message):
            read_part_labels(folder, quads(4, 4))
    beside.write_bytes(beside.read_bytes()[:200])
    with pytest.raises(FormatError, match=r"part-00001\.npz"):
        read_part_labels(folder, quads(4, 4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(what="something"), "its manifest.json is another program's"),
        (lambda m: m.update(format_version=99), "is of format version 99, this meshpart reads version 2"),
        (lambda m: m.update(format="magic"), "labels cannot be read back from parts in the format 'magic'"),
        (lambda m: m.update(nparts=-1), "manifest.json is damaged"),
        (lambda m: m.update(nparts=10**30), "has 4 of 1000000000000000000000000000000 parts"),
        (lambda m: m.update(nparts=2), "manifest.json is damaged"),
        (lambda m: m.update(run=None), "manifest.json is damaged"),
        (lambda m: m.update(parts={}), "manifest.json is damaged"),
        (lambda m: m.update(parts=[3]), "manifest.json is damaged"),
        (lambda m: m.update(suffix="/../mesh.vtu"), "manifest.json is damaged"),
        (lambda m: m.update(suffix=None), "manifest.json is damaged"),
        (lambda m: m["parts"].update(part=["0", 1, 2, 3]), "manifest.json is damaged"),
        (lambda m: m["parts"].update(part=[1, 1, 2, 3]), "manifest.json is damaged"),
        (lambda m: m["parts"].update(part=[1]), "manifest.json is damaged"),
        (lambda m: m["parts"].update({name: column[1:] for name, column in m["parts"].items()}), "has 3 of 4 parts"),
    ],
)
def test_a_damaged_manifest_is_refused(quarters: Path, change: Any, message: str) -> None:
    edit(quarters, change)
    with pytest.raises(FormatError, match=message):
        read_part_labels(quarters, quads(4, 4))


@pytest.mark.parametrize("content", [None, "", "{", "[]", "3", "[" * 100_000, '"meshpart parts"'])
def test_what_is_no_folder_of_parts_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(FormatError, match="is no folder of parts"):
        read_part_labels(tmp_path, quads(4, 4))


def test_a_folder_tells_the_balance_that_was_asked_for(tmp_path):
    mesh = replace(quads(4, 2), cell_data={"load": [np.array([3, 1, 1, 1, 3, 1, 1, 1])]})
    options = {"weights": "load", "imbalance": 0.1, "keep_together": [0, -1, -1, -1, 0, -1, -1, -1]}
    write_parts(partition(mesh, 2, **options), tmp_path / "out", format="vtu")
    found = read_part_labels(tmp_path / "out", mesh)
    assert (found.nparts, found.asked, found.lost) == (2, {"weights": "load", "imbalance": 0.1}, ["keep_together"])
