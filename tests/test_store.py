"""The part store: all of a part comes back, from one file, mapped; what is not whole or not ours is named."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from carrying import EVERY_DTYPE, carrying, interleaved_with, with_everything
from meshes import DRAWN, empty_blocks, no_cells, quads, two_and_two
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import meshpart
from meshpart import (
    ArgumentError,
    FormatError,
    Mesh,
    local_graph,
    merge,
    open_parts,
    partition,
    split,
    write_parts,
)
from meshpart.manifest import read_manifest


def stored(parts: Any, place: Path, **options: Any) -> meshpart.PartStore:
    write_parts(parts, place, **options)
    return open_parts(place)


def file_of(place: Path, part: int) -> Path:
    return read_manifest(place).file(part)


@pytest.fixture
def four(tmp_path: Path) -> Path:
    """Sixteen quads in four parts with a ghost layer, in a store."""
    write_parts(partition(carrying(quads(4, 4)), 4, method="sfc", ghost_layers=1), tmp_path / "four.parts")
    return tmp_path / "four.parts"


# -- round trips --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layers", [0, 1, 3])
@pytest.mark.parametrize(
    "mesh",
    [with_everything(), carrying(two_and_two()), empty_blocks(), no_cells(3), *map(carrying, DRAWN)],
    ids=repr,
)
def test_parts_come_back_bit_for_bit(mesh: Mesh, layers: int, tmp_path: Path) -> None:
    labels = np.random.default_rng(1).integers(0, 3, mesh.n_cells)
    parts = split(mesh, labels, 4, ghost_layers=layers)
    store = stored(parts, tmp_path / "parts")
    assert list(store) == parts
    assert merge(store) == mesh


@EVERY_DTYPE
def test_data_of_every_dtype_comes_back(values: np.ndarray, tmp_path: Path) -> None:
    parts = split(interleaved_with(values), [0, 1, 2, 0, 1, 2, 0, 1])
    if values.dtype.hasobject:
        with pytest.raises(FormatError, match="an array of the dtype object"):
            write_parts(parts, tmp_path / "parts")
        return
    assert list(stored(parts, tmp_path / "parts")) == parts


def test_what_a_reader_leaves_comes_back_with_its_types(tmp_path: Path) -> None:
    info = {
        "text": "ü\0\ud800",
        "numbers": [1, 2.5, float("nan"), float("inf"), 2**80, True, None],
        "nested": {"a": (1, [2, (3,)]), 5: "five", (1, 2): np.arange(3), "": {"": 0}},
        "arrays": [np.float32(1.5), np.str_("x"), np.datetime64("2000-01-01"), np.array("text"), np.zeros((0, 3))],
        "records": np.array([(1, "ab")], [("n", "<i4"), ("t", "<U2")]),
        "swapped": np.arange(3, dtype=">i8"),
    }
    mesh = replace(quads(2, 1), field_data=info, info=info)
    parts = split(mesh, [0, 1])
    assert list(stored(parts, tmp_path / "parts")) == parts


@pytest.mark.parametrize(
    "names", [["a/b", "a", "a%2Fb", "a~", "", "=a", "="], ["__metadata__", "0", "../x", "\n", "ü", "\ud800"]]
)
def test_names_may_be_any(names: list[str], tmp_path: Path) -> None:
    values = {name: np.arange(6) + number for number, name in enumerate(names)}
    field_data = {"a": {"b": np.arange(2)}, "a/b": np.arange(3), **dict.fromkeys(names, "x")}
    mesh = replace(quads(2, 1), point_data=values, point_sets={name: [1] for name in names}, field_data=field_data)
    parts = split(mesh, [0, 1])
    assert list(stored(parts, tmp_path / "parts")) == parts


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({1, 2}, "of the type set"),
        (Path("x"), "of the type"),
        (1j, "of the type complex"),
        (np.array([None]), "an array of the dtype object"),
        (np.ma.masked_array([1, 2], [True, False]), "of the type MaskedArray"),
    ],
)
def test_what_only_pickle_could_hold_is_refused_before_anything_is_there(
    value: object, said: str, tmp_path: Path
) -> None:
    mesh = replace(quads(2, 1), field_data={"deep": [{"x": value}]})
    with pytest.raises(FormatError, match=rf"deep\.0\.x cannot be stored: it is {said}"):
        write_parts(split(mesh, [0, 1]), tmp_path / "parts")
    assert list(tmp_path.iterdir()) == []


def test_a_part_without_a_cell_and_a_part_of_a_part_come_back(tmp_path: Path) -> None:
    parts = split(quads(2, 1), [0, 2], 5)
    assert list(stored(parts, tmp_path / "five")) == parts
    halves = partition(partition(quads(4, 4), 2, method="sfc")[1], 2, method="sfc", ghost_layers=1)
    store = stored(halves[:1], tmp_path / "one")
    assert store.load(0) == halves[0]


def test_other_readers_of_safetensors_see_the_arrays(four: Path) -> None:
    part = open_parts(four).load(2)
    arrays = load_file(file_of(four, 2))
    assert arrays["mesh/points"].tobytes() == part.mesh.points.tobytes()
    assert arrays["mesh/blocks/0/nodes"].tolist() == part.mesh.blocks[0].nodes.tolist()
    assert arrays["cells/global_ids"].tolist() == part.cells.global_ids.tolist()
    assert arrays["point_halo/send_indices"].tolist() == part.point_halo.send_indices.tolist()


# -- opening ------------------------------------------------------------------------------------------------


def test_a_store_tells_how_many_parts_it_has_and_what_they_are(four: Path) -> None:
    store = open_parts(four)
    assert len(store) == 4
    assert repr(store) == f"<PartStore: 4 parts in {four}>"
    assert store.run == store.load(0).run == store.manifest["run"]
    assert store.manifest["method"] == "sfc"
    assert store.manifest["parts"]["owned_cells"] == [part.cells.n_owned for part in store]
    assert store.manifest["mesh"] == merge(store).fingerprint


def arrays_of(value: Any) -> list[np.ndarray]:
    """Return all arrays in a nest of dataclasses, mappings and tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    if hasattr(value, "__dataclass_fields__"):
        return [array for name in value.__dataclass_fields__ for array in arrays_of(getattr(value, name))]
    if hasattr(value, "values"):
        return [array for item in value.values() for array in arrays_of(item)]
    return [array for item in value for array in arrays_of(item)] if isinstance(value, tuple | list) else []


def test_arrays_are_mapped_read_only_and_aligned(four: Path) -> None:
    part = open_parts(four).load(1)
    arrays = arrays_of(part)
    assert len(arrays) > 30
    first = int(_mapping(part.mesh.points).ctypes.data)
    size = file_of(four, 1).stat().st_size
    for array in arrays:
        assert not array.flags.writeable
        assert array.flags.aligned
        if array.size:
            assert first <= array.ctypes.data < first + size


def _mapping(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it counts descriptors as Linux shows them")
def test_loading_touches_one_file_and_keeps_none_open(four: Path) -> None:
    store = open_parts(four)
    for other in (0, 1, 3):
        file_of(four, other).unlink()
    before = len(list(Path("/proc/self/fd").iterdir()))
    parts = [store.load(2) for _ in range(50)]
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert parts[0] == parts[49]


def test_a_part_lives_on_when_the_store_is_gone(four: Path) -> None:
    part = open_parts(four).load(3)
    expected = pickle.loads(pickle.dumps(part))
    shutil.rmtree(four)
    assert part == expected


@pytest.mark.parametrize("name", ["a b", "ü", 'it\'s "here" & <there>'])
def test_a_store_can_be_moved_and_opened_read_only(four: Path, name: str, tmp_path: Path) -> None:
    parts = [pickle.loads(pickle.dumps(part)) for part in open_parts(four)]
    moved = tmp_path / name
    four.rename(moved)
    for path in [*moved.rglob("*"), moved]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert list(open_parts(moved)) == parts
    assert list(open_parts(str(moved) + "/")) == parts


def _sum_of(store: meshpart.PartStore, part: int, answers: Any) -> None:
    answers.put((part, float(store.load(part).mesh.points.sum())))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_open_their_parts_of_one_store(four: Path, method: str) -> None:
    context = multiprocessing.get_context(method)
    store = open_parts(four)
    mine = store.load(0)  # which is mapped before the others begin
    answers = context.Queue()
    processes = [context.Process(target=_sum_of, args=(store, part, answers)) for part in range(4)]
    for process in processes:
        process.start()
    found = dict(answers.get(timeout=60) for _ in processes)
    for process in processes:
        process.join(60)
    assert found == {part: float(store.load(part).mesh.points.sum()) for part in range(4)}
    assert mine == store.load(0)


def test_a_pickled_store_is_small_and_says_if_it_was_replaced(four: Path, tmp_path: Path) -> None:
    large = stored(partition(quads(60, 60), 50, method="sfc"), tmp_path / "large.parts")
    assert abs(len(pickle.dumps(large)) - len(pickle.dumps(open_parts(four)))) < 50
    kept = pickle.dumps(open_parts(four))
    assert len(pickle.loads(kept)) == 4
    write_parts(partition(quads(4, 4), 3, method="sfc"), four, overwrite=True)
    with pytest.raises(FormatError, match=r"four\.parts has been replaced: its run is "):
        pickle.loads(kept)


# -- what is not whole, or not ours -------------------------------------------------------------------------


@pytest.mark.parametrize("part", [4, -1, 2.0, True, "1", None, 10**30])
def test_a_part_that_is_not_there_is_an_error_that_says_which_are(four: Path, part: Any) -> None:
    with pytest.raises(ArgumentError, match="part must be "):
        open_parts(four).load(part)
    with pytest.raises(ArgumentError, match="part must be between 0 and 3, got 4"):
        open_parts(four).load(4)


def test_a_store_of_some_parts_has_those_alone(tmp_path: Path) -> None:
    store = stored(split(quads(4, 1), [0, 1, 2, 3], only=[2, 0]), tmp_path / "parts")
    assert (len(store), store.load(2).part, store.load(0).part) == (4, 2, 0)
    with pytest.raises(ArgumentError, match="was written without part 1: parts 2 and 0 are there"):
        store.load(1)
    assert [part.part for part in store] == [2, 0]
    assert store[2].part == 2


def test_a_missing_part_is_named(four: Path) -> None:
    file_of(four, 1).unlink()
    with pytest.raises(FormatError, match=r"part-00001\.safetensors: No such file or directory"):
        open_parts(four).load(1)
    assert open_parts(four).load(0).part == 0


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 9, 100, 2000, -1])
def test_a_part_that_is_cut_short_is_named(four: Path, keep: int) -> None:
    content = file_of(four, 1).read_bytes()
    file_of(four, 1).write_bytes(content[:keep])
    with pytest.raises(FormatError, match=rf"part-00001.* is damaged, or of another run: it has .* not {len(content)}"):
        open_parts(four).load(1)


def test_a_part_of_another_decomposition_is_named(four: Path, tmp_path: Path) -> None:
    write_parts(partition(carrying(quads(4, 4)), 4, method="sfc", ghost_layers=2), tmp_path / "other.parts")
    shutil.copy(file_of(tmp_path / "other.parts", 1), file_of(four, 1))
    with pytest.raises(FormatError, match=r"part-00001\.safetensors is (damaged|of another decomposition)"):
        open_parts(four).load(1)
    _say_size(four, 1)
    with pytest.raises(FormatError, match=r"part-00001\.safetensors is of another decomposition: its run is "):
        open_parts(four).load(1)


def test_parts_that_have_changed_places_are_named(four: Path) -> None:
    shutil.copy(file_of(four, 2), file_of(four, 1))
    _say_size(four, 1)
    with pytest.raises(FormatError, match=r"part-00001\.safetensors is that of part 2, not of part 1"):
        open_parts(four).load(1)


def _say_size(place: Path, part: int) -> None:
    """Let the manifest say the size that a part's file has now."""
    content = json.loads((place / "manifest.json").read_text())
    content["parts"]["bytes"][part] = file_of(place, part).stat().st_size
    (place / "manifest.json").write_text(json.dumps(content))


@pytest.mark.parametrize("seed", range(40))
def test_a_header_with_wrong_bytes_is_an_error_of_ours(four: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    content = bytearray(file_of(four, 1).read_bytes())
    end = 8 + int.from_bytes(content[:8], "little")
    for place in rng.integers(0, end, rng.integers(1, 4)):
        content[place] ^= rng.integers(1, 256)
    file_of(four, 1).write_bytes(content)
    with pytest.raises(FormatError, match=r"part-00001\.safetensors"):
        open_parts(four).load(1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.update(format_version=99), "is of format version 99, this meshpart reads version 2"),
        (lambda m: m.pop("format_version"), "is of format version None"),
        (lambda m: m.update(nparts=3), "is damaged"),
        (lambda m: m.update(nparts="4"), "is damaged"),
        (lambda m: m.update(run=None), "is damaged"),
        (lambda m: m["parts"].update(part=[0, 1, 2, 2]), "is damaged"),
        (lambda m: m["parts"].update(part=[0, 1, 2]), "is damaged"),
        (lambda m: m["parts"].update(bytes=[1, 2, 3, -4]), "is damaged"),
        (lambda m: m.update(parts=[]), "is damaged"),
        (lambda m: m["parts"].update(beside=None), "is damaged"),
        (lambda m: m.update(nparts=2**70), "is damaged"),
        (lambda m: m.update(suffix="/../x"), "is damaged"),
        (lambda m: m.update(what="other"), "is no folder of parts: its manifest.json is another program's"),
        (
            lambda m: m.update(folder="run-01234567-01234567"),
            "its part files are not there, which lay beside it in run-",
        ),
        (lambda m: m.update(folder="../elsewhere"), "names no folder of part files"),
        (lambda m: m.update(format="vtu"), "holds parts in the format vtu, which is no part store"),
    ],
)
def test_a_manifest_that_is_damaged_or_of_something_else_is_refused(four: Path, change: Any, said: str) -> None:
    content = json.loads((four / "manifest.json").read_text())
    change(content)
    (four / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=said):
        open_parts(four)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_or_a_device_in_place_of_a_file_is_an_error_and_waits_for_nothing(four: Path) -> None:
    part = file_of(four, 1)
    part.unlink()
    os.mkfifo(part)
    with pytest.raises(FormatError, match=r"part-00001\.safetensors: Invalid argument"):
        open_parts(four).load(1)
    (four / "manifest.json").unlink()
    os.mkfifo(four / "manifest.json")
    with pytest.raises(FormatError, match=r"manifest\.json is no regular file"):
        open_parts(four)
    (four / "manifest.json").unlink()
    (four / "manifest.json").symlink_to("/dev/zero")
    with pytest.raises(FormatError, match=r"manifest\.json is no regular file"):
        open_parts(four)


def _edit_text(place: Path, part: int, old: str, new: str) -> None:
    """Change what the file of a part says of itself, its hash and its size too, as only a forger would."""
    content = file_of(place, part).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = content[8:end].decode()
    old, new = (text.translate(str.maketrans("\"'", "'\"")) for text in (old, new))
    assert old in header
    header = header.replace(old, new, 1).rstrip()
    begin = header.index("{'':")
    header = f"{header[: begin - 8]}{zlib.crc32(header[begin:].encode()):08x}{header[begin:]}"
    header += " " * (-len(header) % 64)
    file_of(place, part).write_bytes(len(header).to_bytes(8, "little") + header.encode() + content[end:])
    _say_size(place, part)


@pytest.mark.parametrize(
    "where",
    [
        "0,1000000000000",
        "0,1000000000000,0,-1",
        "0,-1,3",
        "0,4611686018427387904,4",
        "1099511627776,1",
        "-8,1",
        "0,[]",
        '0,"=3"',
        "null,3",
        "",
    ],
)
def test_a_text_that_promises_what_is_not_there_costs_nothing(four: Path, where: str) -> None:
    _edit_text(four, 1, '"points":["F64",0,', f'"points":["F64",{where}],"x":["F64",0,')
    with pytest.raises(FormatError, match=r"part-00001\.safetensors"):
        open_parts(four).load(1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"part":1', '"part":["I64",0,1]'),
        ('"run":"=', '"run":["I64",0,1],"x":"='),
        ('"nparts":4', '"nparts":true'),
        ('"n_owned":4', '"n_owned":"=4"'),
        ('"n_owned":4', '"n_owned":-1'),
        ('"n_owned":4', '"n_owned":400'),
        ('"":"SubMesh"', '"":"Mesh"'),
        ('"":"IndexMap"', '"":"__import__"'),
        ('"points":["F64"', '"points":["F128"'),
        ('"points":["F64"', '"points":[null'),
        ('"blocks":[', '"blocks":[0,'),
        ('"type":"=', '"type":"'),
        ('"":"SubMesh"', '"":["SubMesh"]'),
    ],
)
def test_a_part_whose_values_are_of_other_kinds_is_refused(four: Path, old: str, new: str) -> None:
    _edit_text(four, 1, old, new)
    with pytest.raises(FormatError, match=r"part-00001\.safetensors"):
        open_parts(four).load(1)


def test_a_file_that_another_program_wrote_again_is_refused(four: Path) -> None:
    arrays = load_file(file_of(four, 1))
    with safe_open(file_of(four, 1), "numpy") as file:
        metadata = file.metadata()
    save_file(arrays, file_of(four, 1), metadata)
    _say_size(four, 1)
    with pytest.raises(FormatError, match=r"part-00001.* is damaged, or was written by another program"):
        open_parts(four).load(1)


def test_a_name_that_is_too_long_is_an_error_of_ours(four: Path, tmp_path: Path) -> None:
    long = "n" * 300
    with pytest.raises(FormatError, match="File name too long"):
        open_parts(tmp_path / long)
    with pytest.raises(FormatError, match="File name too long"):
        write_parts(split(quads(1, 1), [0]), tmp_path / long)
    store = open_parts(four)
    with pytest.raises(FormatError, match="File name too long"):
        store.write_fields(long, {}, 0)
    with pytest.raises(FormatError, match="part 0 has no fields"):
        store.load_fields(long, 0)
    assert store.fields == ()


def test_what_is_no_store_is_refused_clearly(four: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("text")
    for name, said in (
        ("absent", "there is no such file or folder"),
        ("folder", "is no folder of parts: manifest.json: No such file or directory"),
        ("", r"is no folder of parts, but holds some, give one of them: four\.parts"),
        ("file", "is no folder of parts"),
    ):
        with pytest.raises(FormatError, match=said):
            open_parts(tmp_path / name)
    (four / "manifest.json").unlink()
    with pytest.raises(FormatError, match=r"has no manifest\.json: its parts were not written to the end, or still"):
        open_parts(four)
    for text in ("", "{", "[1]", "\xff"):
        (four / "manifest.json").write_text(text)
        with pytest.raises(FormatError, match="is no folder of parts"):
            open_parts(four)


KILLED = """if True:
    import os, sys, meshpart
    from meshes import quads
    def until_the_second(done):
        if done == 2:
            os.kill(os.getpid(), 9)
    parts = meshpart.partition(quads(4, 4), 4, method="sfc")
    meshpart.write_parts(parts, sys.argv[1], overwrite=True, threads=int(sys.argv[2]), progress=until_the_second)
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_a_writer_that_is_killed_leaves_the_old_store_or_none(four: Path, threads: int, tmp_path: Path) -> None:
    parts = [pickle.loads(pickle.dumps(part)) for part in open_parts(four)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    for place in (four, tmp_path / "new.parts"):
        command = [sys.executable, "-c", KILLED, str(place), str(threads)]
        assert subprocess.run(command, check=False, env=environment).returncode == -9
    assert list(open_parts(four)) == parts
    with pytest.raises(FormatError, match="its parts were not written to the end"):
        open_parts(tmp_path / "new.parts")


# -- fields -------------------------------------------------------------------------------------------------


def test_fields_of_owned_or_local_entities_are_added_to_parts(four: Path) -> None:
    store = open_parts(four)
    assert store.fields == ()
    for part in store:
        u = part.mesh.points[:, 0]
        values = {"points": {"u": u, "v": u[: part.points.n_owned, None] * [1, 2]}, "cells": {"p": part.cells.kind}}
        store.write_fields("one/two", values, part.part)
    assert store.fields == ("one/two",)
    for part in pickle.loads(pickle.dumps(store)):
        found = store.load_fields("one/two", part.part)
        assert found["points"]["u"].tolist() == part.mesh.points[:, 0].tolist()
        assert found["points"]["v"].shape == (part.points.n_owned, 2)
        assert found["cells"]["p"].dtype == np.uint8
        assert not found["cells"]["p"].flags.writeable


@pytest.mark.parametrize("name", ["a", "..", "a.b", "ü ", "x/y", "%", "\n", "A", "nul\0", "\ud800"])
def test_fields_may_have_any_name(four: Path, name: str) -> None:
    store = open_parts(four)
    store.write_fields(name, {"cells": {name: np.arange(4)}}, 0)
    assert store.fields == (name,)
    assert store.load_fields(name, 0)["cells"][name].tolist() == [0, 1, 2, 3]
    assert list(store.load_fields(name, 0)["points"]) == []


def test_fields_are_replaced_only_when_asked(four: Path) -> None:
    store = open_parts(four)
    store.write_fields("a", {"cells": {"p": np.zeros(4)}}, 0)
    kept = store.load_fields("a", 0)
    with pytest.raises(FormatError, match=r"part 0 has fields 'a' already: .*overwrite=True replaces them"):
        store.write_fields("a", {"cells": {"p": np.ones(4)}}, 0)
    store.write_fields("a", {"cells": {"p": np.ones(4)}}, 0, overwrite=True)
    assert store.load_fields("a", 0)["cells"]["p"].tolist() == [1] * 4
    assert kept["cells"]["p"].tolist() == [0] * 4  # the old file, as long as it is in use


def test_fields_that_do_not_fit_are_refused(four: Path) -> None:
    store = open_parts(four)
    n_local = store.load(0).cells.n_local
    for values, said in (
        ({"cells": {"p": np.zeros(5)}}, rf"must have 4 rows, of the owned cells, or {n_local}, of all local ones, got"),
        ({"cells": {"p": 1.0}}, r"got the shape \(\)"),
        ({"faces": {}}, "entity of values must be one of points, cells, got 'faces'"),
        ({"cells": np.zeros(4)}, "must be a mapping"),
        (np.zeros(4), "values must be a mapping"),
        ({"cells": {1: np.zeros(4)}}, "names must be str"),
        ({"cells": {"p": np.array([None] * 4)}}, "an array of the dtype object"),
    ):
        with pytest.raises(meshpart.MeshpartError, match=said):
            store.write_fields("a", values, 0)  # type: ignore[arg-type]
    for name in ("", None, 3):
        with pytest.raises(ArgumentError, match="name must be a str, and not empty"):
            store.write_fields(name, {}, 0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="part must be between 0 and 3"):
        store.write_fields("a", {}, 4)
    assert store.fields == ()


def test_fields_that_are_not_there_are_named(four: Path) -> None:
    store = open_parts(four)
    store.write_fields("a", {}, 0)
    with pytest.raises(FormatError, match=r"part 0 has no fields 'b': .*\(the store has 'a'\)"):
        store.load_fields("b", 0)
    with pytest.raises(FormatError, match="part 1 has no fields 'a'"):
        store.load_fields("a", 1)


def test_fields_of_another_decomposition_or_part_are_refused(four: Path, tmp_path: Path) -> None:
    other = stored(partition(quads(4, 4), 4, method="sfc"), tmp_path / "other.parts")
    store = open_parts(four)
    for number, target in enumerate((other, store)):
        target.write_fields("a", {}, number)
    source = next(file_of(tmp_path / "other.parts", 0).parent.rglob("fields/*/*"))
    target_file = next(file_of(four, 0).parent.rglob("fields/*/*"))
    shutil.copy(source, target_file)
    with pytest.raises(FormatError, match="is of another decomposition"):
        store.load_fields("a", 1)
    store.write_fields("a", {}, 0)
    shutil.copy(target_file.with_name("part-00000.safetensors"), target_file)
    with pytest.raises(FormatError, match="is that of part 0, not of part 1"):
        store.load_fields("a", 1)
    shutil.copy(file_of(four, 1), target_file)
    with pytest.raises(FormatError, match="holds no fields"):
        store.load_fields("a", 1)


def test_fields_stay_where_the_new_parts_are_of_the_same_run(four: Path) -> None:
    open_parts(four).write_fields("a", {"cells": {"p": np.arange(4)}}, 0)
    parts = partition(replace(carrying(quads(4, 4)), point_data={}), 4, method="sfc", ghost_layers=1)
    write_parts(parts, four, overwrite=True, graphs="points")
    assert open_parts(four).load_fields("a", 0)["cells"]["p"].tolist() == [0, 1, 2, 3]
    assert len(list(four.iterdir())) == 2


def test_fields_for_parts_that_were_replaced_are_refused_and_leave_nothing(four: Path) -> None:
    store = open_parts(four)
    write_parts(partition(quads(4, 4), 4, method="sfc"), four, overwrite=True)
    for call in (lambda: store.write_fields("a", {}, 0), lambda: store.load(0)):
        with pytest.raises(FormatError, match="has been replaced since it was opened: open it again"):
            call()
    assert len(list(four.iterdir())) == 2


def _write_fields(store: meshpart.PartStore, number: int, barrier: Any, answers: Any) -> None:
    barrier.wait(60)
    try:
        store.write_fields("a", {"cells": {"p": np.full(4, number)}}, 0)
        answers.put(number)
    except FormatError:
        answers.put(None)


def test_of_several_who_write_the_same_fields_one_succeeds(four: Path) -> None:
    context = multiprocessing.get_context("fork")
    store = open_parts(four)
    for _ in range(5):
        barrier, answers = context.Barrier(4), context.Queue()
        processes = [context.Process(target=_write_fields, args=(store, i, barrier, answers)) for i in range(4)]
        for process in processes:
            process.start()
        found = [answers.get(timeout=60) for _ in processes]
        for process in processes:
            process.join(60)
        (winner,) = [number for number in found if number is not None]
        assert store.load_fields("a", 0)["cells"]["p"].tolist() == [winner] * 4
        next(file_of(four, 0).parent.rglob("fields/*/*")).unlink()


def test_what_a_killed_writer_of_fields_left_goes_with_the_next_one(four: Path) -> None:
    store = open_parts(four)
    store.write_fields("a", {}, 0)
    folder = next(file_of(four, 0).parent.rglob("fields/a"))
    for name in (".meshpart-0123456789abcdef.safetensors", ".meshpart-notes.safetensors"):
        (folder / name).touch()
        os.utime(folder / name, (0, 0))
    (folder / ".meshpart-fedcba9876543210.safetensors").touch()  # which another is writing
    store.write_fields("a", {}, 1)
    assert sorted(path.name for path in folder.iterdir()) == [
        ".meshpart-fedcba9876543210.safetensors",
        ".meshpart-notes.safetensors",
        "part-00000.safetensors",
        "part-00001.safetensors",
    ]
    assert store.fields == ("a",)


def test_fields_go_with_the_parts_that_are_replaced(four: Path) -> None:
    open_parts(four).write_fields("a", {}, 0)
    write_parts(partition(quads(4, 4), 2, method="sfc"), four, overwrite=True)
    assert open_parts(four).fields == ()
    assert len(list(four.iterdir())) == 2


# -- graphs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "graphs", "names"),
    [
        (1, "points", ["points edge 1"]),
        (2, ["points", "cells"], ["points edge 2", "cells facet 2"]),
        (2, [("points", 1), ("points", 0), "points"], ["points edge 1", "points edge 0", "points edge 2"]),
        (0, "points", ["points edge 0"]),
        (1, (), []),
    ],
)
def test_stored_graphs_are_those_that_would_be_built(
    layers: int, graphs: Any, names: list[str], tmp_path: Path
) -> None:
    mesh = two_and_two()
    parts = partition(mesh, 3, method="sfc", ghost_layers=layers, graphs=["points", "cells"])
    store = stored(parts, tmp_path / "parts", graphs=graphs)
    for part, own in zip(store, parts, strict=True):
        assert sorted(part.graphs) == sorted({*names, *own.graphs})
        for name in names:
            entity, _, steps = name.split()
            assert part.graphs[name] == local_graph(own, entity, int(steps))
            assert local_graph(part, entity, int(steps)) is part.graphs[name]
        assert replace(part, graphs=own.graphs) == own


@pytest.mark.parametrize(
    ("graphs", "said"),
    [
        ("edges", "graphs must be one of points, cells, got 'edges'"),
        ([("points", 2)], "steps must be at most the number of ghost layers"),
        ([("points", -1)], "steps of graphs must be"),
        ([("points", 1, 2)], "graphs must be one of"),
        (3, "graphs must be a list of names"),
    ],
)
def test_graphs_that_parts_do_not_have_are_refused_and_nothing_is_there(graphs: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=said):
        write_parts(split(quads(2, 1), [0, 1], ghost_layers=1), tmp_path / "parts", graphs=graphs)
    assert list(tmp_path.iterdir()) == []
