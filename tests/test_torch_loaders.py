"""PartDataset: what its items are, in this process and in workers, and how it is handed to them."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import cubes, quads, quads_and_triangles, sfc_labels, triangles

import meshpart
from meshpart import ArgumentError, FormatError, Mesh, PartStore

torch = pytest.importorskip("torch")

from samples import LARGE, SMALL, fields_of, write_sample  # noqa: E402
from torch.utils.data import DataLoader, Subset  # noqa: E402

import meshpart.torch as mt  # noqa: E402


@pytest.fixture(params=["dict", "pyg"])
def form(request: pytest.FixtureRequest) -> str:
    """How graphs are handed out."""
    if request.param == "pyg":
        with warnings.catch_warnings():  # its import says of torch what torch deprecates
            warnings.simplefilter("ignore")
            pytest.importorskip("torch_geometric")
    return str(request.param)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store of three parts with two samples, and one of two parts of another mesh with a sample."""
    folder = tmp_path_factory.mktemp("stores")
    return write_sample(folder / "large", LARGE, 3, 1, 2), write_sample(folder / "small", SMALL, 2, 3)


def store_of(mesh: Mesh, path: Path, nparts: int = 2) -> PartStore:
    meshpart.write_parts(meshpart.split(mesh, sfc_labels(mesh, nparts), ghost_layers=1), path)
    return meshpart.open_parts(path)


# -- items --------------------------------------------------------------------------------------------------


def test_items_are_the_parts_of_each_sample_in_turn(stores):
    large, small = stores
    dataset = mt.PartDataset([(large, "sample 1"), small, (large, "sample 2")])
    assert (len(dataset), dataset.counts) == (8, (3, 2, 3))
    three, two = [(0, 3), (1, 3), (2, 3)], [(0, 2), (1, 2)]
    assert [(part.part, part.nparts) for part, _ in dataset] == three + two + three
    assert [graph["last"] for _, graph in dataset] == [False, False, True, False, True, False, False, True]
    assert repr(dataset) == "<PartDataset: all 8 parts of 3 samples>"
    assert dataset[-1][0] == dataset[7][0]
    assert dataset[np.int64(4)][0] == meshpart.open_parts(small).load(1)
    for outside in (8, -9):
        with pytest.raises(IndexError, match=f"index {outside} is out of range: the dataset has 8 items"):
            dataset[outside]


def test_a_dataset_of_one_part_has_an_item_a_sample(stores):
    large, small = stores
    dataset = mt.PartDataset([(large, "sample 2"), (small, "sample 3")], part=1)
    assert (len(dataset), dataset.counts) == (2, (1, 1))
    assert [(part.part, part.nparts) for part, _ in dataset] == [(1, 3), (1, 2)]
    assert all(graph["last"] and graph["weight"] == 1 for _, graph in dataset)


def test_an_item_is_a_part_and_its_graph_with_the_fields_of_the_sample(stores, form):
    store = meshpart.open_parts(stores[0])
    for seed in (1, 2):
        x, y = fields_of(LARGE, seed)
        for number, (part, graph) in enumerate(mt.PartDataset((store, f"sample {seed}"), as_=form)):
            ids, n_owned = part.points.global_ids, part.points.n_owned
            assert part == store.load(number)
            alone = mt.part_graph(part, as_=form)
            assert set(graph.keys()) == {*alone.keys(), "x", "y", "weight", "last"}
            assert torch.equal(graph["edge_index"], alone["edge_index"])
            assert torch.equal(graph["x"], torch.from_numpy(x[ids]))
            assert torch.equal(graph["y"], torch.from_numpy(y[ids[:n_owned]])), "owned rows stay owned rows"
            assert (graph["weight"].dtype, graph["weight"].shape, graph["weight"].item()) == (torch.float64, (), 1.0)
            if form == "pyg":
                assert (graph.num_nodes, graph.x.shape) == (part.points.n_local, (part.points.n_local, 3))


def test_steps_entity_and_adjacency_are_those_of_the_graph(tmp_path):
    store = store_of(quads(5, 4), tmp_path / "parts")
    part, graph = mt.PartDataset(store, entity="cells", steps=1, adjacency="point")[1]
    alone = mt.part_graph(part, "cells", steps=1, adjacency="point")
    assert torch.equal(graph["edge_index"], alone["edge_index"])
    assert graph["steps"] == 1
    assert not torch.equal(graph["edge_offsets"], mt.part_graph(part, "cells")["edge_offsets"])
    assert torch.equal(graph["part_node"], torch.tensor(part.cells.global_ids))


def test_data_of_the_mesh_are_put_into_the_graph_in_local_order(tmp_path):
    mesh = quads_and_triangles(12)
    ids = np.arange(mesh.n_cells)
    blocks = np.split(ids, np.cumsum([len(block) for block in mesh.blocks])[:-1])
    mesh = replace(mesh, point_data={"t": np.arange(mesh.n_points) * 0.5}, cell_data={"p": [b * 2 for b in blocks]})
    store = store_of(mesh, tmp_path / "parts")
    part, graph = mt.PartDataset(store, data=["t"])[1]
    assert torch.equal(graph["t"], torch.tensor(part.points.global_ids) * 0.5)
    part, graph = mt.PartDataset(store, entity="cells", data=["p"])[1]
    assert torch.equal(graph["p"], torch.tensor(part.cells.global_ids) * 2)
    with pytest.raises(ArgumentError, match="no data of points by the name 'p', it has 't'"):
        mt.PartDataset(store, data=["p"])[1]


def test_fields_of_the_other_entity_lie_in_a_dict_by_its_name(tmp_path, form):
    store = store_of(quads(5, 4), tmp_path / "parts")
    for part in store:
        points, cells = part.points.global_ids, part.cells.global_ids
        store.write_fields("s", {"points": {"x": points * 1.0}, "cells": {"x": cells, "p": cells * 2.0}}, part.part)
    part, graph = mt.PartDataset((store, "s"), as_=form)[1]
    points, cells = torch.tensor(part.points.global_ids), torch.tensor(part.cells.global_ids)
    assert torch.equal(graph["x"], points * 1.0)
    assert graph["cells"].keys() == {"x", "p"}
    assert torch.equal(graph["cells"]["x"], cells)
    _, graph = mt.PartDataset((store, "s"), entity="cells", as_=form)[1]
    assert torch.equal(graph["x"], cells)
    assert torch.equal(graph["p"], cells * 2.0)
    assert torch.equal(graph["points"]["x"], points * 1.0)


@pytest.mark.parametrize("name", ["edge_index", "part_node", "steps", "weight", "last", "cells", "points"])
def test_a_field_that_is_called_as_something_in_the_graph_is_an_error(tmp_path, name):
    store = store_of(quads(3, 2), tmp_path / "parts")
    store.write_fields("s", {"points": {name: np.zeros(store.load(0).points.n_local)}}, 0)
    with pytest.raises(ArgumentError, match=f"fields 's' of .*: the graph has something else by the name '{name}'"):
        mt.PartDataset((store, "s"))[0]


def test_a_field_that_is_no_tensor_is_an_error_that_names_it(tmp_path):
    store = store_of(quads(3, 2), tmp_path / "parts")
    store.write_fields("s", {"points": {"name": ["a"] * store.load(0).points.n_local}}, 0)
    with pytest.raises(ArgumentError, match="parts: 'name' has the dtype <U1, which torch does not have"):
        mt.PartDataset((store, "s"))[0]


def test_a_graph_is_saved_without_pickle_of_our_own(stores, tmp_path):
    _, graph = mt.PartDataset((stores[0], "sample 1"))[0]
    torch.save(graph, tmp_path / "graph.pt")
    loaded = torch.load(tmp_path / "graph.pt", weights_only=True)
    assert loaded.keys() == graph.keys()
    assert all(torch.equal(torch.as_tensor(loaded[key]), torch.as_tensor(graph[key])) for key in graph)
    torch.save(dict(zip("ab", mt.PartDataset(stores[0])[0], strict=True)), tmp_path / "item.pt")
    with pytest.raises(pickle.UnpicklingError, match="SubMesh"):  # a part lies in its store
        torch.load(tmp_path / "item.pt", weights_only=True)


# -- in other processes -------------------------------------------------------------------------------------


def test_forked_and_spawned_workers_give_the_items_of_this_process(stores, form):
    contexts = ["fork", "spawn"] if form == "dict" else ["fork"]
    program = Path(__file__).with_name("loading.py")
    command = [sys.executable, "-W", "error::UserWarning", str(program), str(stores[0]), form, *contexts]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout.split("\n")[:-1]) == (0, [f"{c}: the same" for c in contexts]), done.stderr


def test_a_pickled_dataset_does_not_grow_with_the_mesh(tmp_path):
    few = store_of(triangles(4, 4), tmp_path / "few_")
    many = store_of(triangles(40, 40), tmp_path / "many")
    datasets = [
        mt.PartDataset(
            store,
        )
        for store in (few, many)
    ]
    assert datasets[1][0][0].cells.n_local > 50 * datasets[0][0][0].cells.n_local
    sizes = [len(pickle.dumps(dataset)) for dataset in datasets]
    _ = [dataset[0] for dataset in datasets]
    assert sizes == [len(pickle.dumps(dataset)) for dataset in datasets], "nor with what was loaded"
    assert sizes[0] == sizes[1] < 1000
    assert len(pickle.dumps(datasets[1][0][0])) > 20000, "as the part itself would"


def test_a_part_goes_to_another_process_as_its_place(stores, tmp_path):
    part = mt.PartDataset(stores[0])[2][0]
    sent = ForkingPickler.dumps(part)
    assert len(sent) < 400
    assert pickle.loads(sent) == part
    changed = replace(part, mesh=replace(part.mesh, point_data={"new": np.zeros(part.points.n_local)}))
    assert pickle.loads(ForkingPickler.dumps(changed)) == changed, "but not where it is no longer as in the store"
    assert len(pickle.dumps(part)) > 5000, "and not for a file that may be read elsewhere"
    alone = meshpart.partition(SMALL, 2)[1]
    assert pickle.loads(ForkingPickler.dumps(alone)) == alone


def test_a_relative_path_means_the_same_store_in_another_folder(stores, monkeypatch):
    monkeypatch.chdir(stores[0].parent)
    sent = pickle.dumps(mt.PartDataset("large"))
    monkeypatch.chdir("/")
    assert pickle.loads(sent)[1][0] == meshpart.open_parts(stores[0]).load(1)


@pytest.mark.parametrize("labels", ["same", "other"])
def test_a_store_that_is_replaced_meanwhile_is_an_error(tmp_path, labels):
    path = tmp_path / "parts"
    store_of(quads(4, 4), path)
    dataset = mt.PartDataset(path)
    assert len(dataset[0][0].mesh.blocks) == 1
    before = pickle.dumps(dataset)
    mesh = quads(4, 4)
    parts = meshpart.split(mesh, sfc_labels(mesh, 2) if labels == "same" else 1 - sfc_labels(mesh, 2), ghost_layers=1)
    meshpart.write_parts(parts, path, overwrite=True)
    with pytest.raises(FormatError, match="has been replaced since it was opened: open it again"):
        dataset[0]
    if labels == "other":
        with pytest.raises(FormatError, match="has been replaced"):
            pickle.loads(before)[0]
    assert mt.PartDataset(path)[0][0] == parts[0], "a new dataset opens it again"


# -- refused ------------------------------------------------------------------------------------------------


def test_stores_that_cannot_be_right_are_refused_at_once(stores, tmp_path):
    large, small = stores
    refused: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ([], {}, ArgumentError, "stores is empty"),
        (3, {}, ArgumentError, "stores must be a list of part stores, got 3"),
        ([large, 3], {}, ArgumentError, r"stores\[1\] must be a part store, its path, or a pair, got 3"),
        ((large, small), {}, ArgumentError, "stores must be a pair .* several stores are given as a list"),
        ([(large, "sample 1", "sample 2")], {}, ArgumentError, r"stores\[0\] must be a pair"),
        ([(large, "no")], {}, ArgumentError, "large has no fields 'no', it has 'sample 1', 'sample 2'"),
        (tmp_path / "nothing", {}, FormatError, "nothing: there is no such file or folder"),
        ([large, small], {"part": 2}, ArgumentError, "part must be between 0 and 1, got 2: .*small"),
        (large, {"part": -1}, ArgumentError, "part must be between 0"),
        (large, {"part": 1.0}, ArgumentError, "part must be an integer, got 1.0"),
        (large, {"entity": "edges"}, ArgumentError, "entity must be one of points, cells, got 'edges'"),
        (large, {"as_": "dgl"}, ArgumentError, "as_ must be one of dict, pyg, got 'dgl'"),
        (large, {"data": "x"}, ArgumentError, "data must be a list of names, got 'x'"),
        (large, {"data": [1]}, ArgumentError, "data must be a list of names, got 1"),
    ]
    for given, options, error, message in refused:
        with pytest.raises(error, match=message):
            mt.PartDataset(given, **options)


def test_a_store_without_some_of_its_parts_is_refused_unless_the_part_is_there(tmp_path):
    mesh = cubes(4, 3, 3)
    meshpart.write_parts(meshpart.split(mesh, sfc_labels(mesh, 4), ghost_layers=1, only=[0, 3]), tmp_path / "two")
    with pytest.raises(ArgumentError, match="two was not written whole: parts 1 and 2 of 4 are missing"):
        mt.PartDataset(tmp_path / "two")
    with pytest.raises(ArgumentError, match="part 2 of 4 is missing"):
        mt.PartDataset(tmp_path / "two", part=2)
    assert mt.PartDataset(tmp_path / "two", part=3)[0][0].part == 3


@pytest.mark.parametrize("index", [1.0, "0", None, True, slice(2), [0], (0, 1.0)])
def test_an_index_that_is_no_integer_is_refused(stores, index):
    with pytest.raises(ArgumentError, match="index must be an integer, got"):
        mt.PartDataset(stores[0])[index]


def test_an_item_that_fills_up_cannot_lose_its_weight_on_the_way(stores):
    dataset = mt.PartDataset(stores[0])
    assert dataset[mt.Turn(1, 0.0, last=True)][1]["weight"] == 0
    assert dataset[mt.Turn(1, 0.0, last=True)][1]["last"] is True
    loader = DataLoader(Subset(dataset, [2, 1, 0]), batch_size=None, sampler=[mt.Turn(0, 0.0)])
    with pytest.raises(TypeError, match="list indices must be integers"):
        list(loader)
