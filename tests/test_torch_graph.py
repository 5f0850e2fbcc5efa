"""meshpart.torch.part_graph: the edges of a part as tensors."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest
from meshes import cubes, in_turn, interleaved, quads, sfc_labels, triangles

import meshpart
from meshpart import (
    ArgumentError,
    MissingDependencyError,
    SubGraph,
    SubMesh,
    dual_graph,
    local_graph,
    point_graph,
    split,
)

torch = pytest.importorskip("torch")

import meshpart.torch as mt  # noqa: E402

MESH = triangles(6, 5)
RING = ([0, 2, 3, 4, 6], [1, 2, 2, 3, 0, 0])  # 0 sends to 1 and 2, and 3 to 0 twice


def cut(layers: int, graphs: str = "points") -> list[SubMesh]:
    return split(MESH, sfc_labels(MESH, 3), ghost_layers=layers, graphs=graphs)


WAYS: list[tuple[SubMesh | SubGraph, dict[str, Any]]] = [
    *[(part, {"entity": "points", "steps": 1}) for part in cut(2)],
    *[(part, {"entity": "points"}) for part in cut(2)],
    *[(part, {"entity": "points", "steps": 0}) for part in cut(0)],
    *[(part, {"entity": "cells", "steps": 1}) for part in cut(2, "cells")],
    *[(part, {"entity": "cells", "steps": 0}) for part in cut(2, "cells")],
    *[(part, {"entity": "cells", "adjacency": "point"}) for part in cut(1)],
    *[(part, {"adjacency": "cell"}) for part in cut(1)],
    *[(part, {"steps": 1}) for part in meshpart.split_graph(RING, [0, 0, 1, 1], layers=2)],
    (split(MESH, [0] * MESH.n_cells, 2, ghost_layers=1)[1], {}),  # a part of nothing
]


@pytest.mark.parametrize(("part", "how"), WAYS)
def test_the_tensors_are_the_edges_of_local_graph(part, how):
    edges = local_graph(part, **how)
    graph = mt.part_graph(part, **how)
    if isinstance(part, SubGraph):
        ids = part.vertices.global_ids
    else:
        ids = (part.cells if how.get("entity") == "cells" else part.points).global_ids
    assert graph["edge_index"].shape == (2, edges.n_edges)
    assert graph["edge_index"].tolist() == [edges.senders.tolist(), edges.receivers.tolist()]
    assert graph["edge_offsets"].tolist() == edges.offsets.tolist()
    assert graph["part_node"].tolist() == ids.tolist()
    assert graph["inner_node"].tolist() == list(range(edges.n_owned))
    assert (graph["n_owned"], graph["n_local"], graph["steps"]) == (edges.n_owned, edges.n_local, edges.steps)
    assert ("edge_ids" in graph) == (edges.edge_ids is not None)
    if edges.edge_ids is not None:
        assert graph["edge_ids"].tolist() == edges.edge_ids.tolist()
    assert all(value.dtype == torch.int64 for value in graph.values() if isinstance(value, torch.Tensor))


def test_edges_of_quads_are_those_that_a_drawing_shows():
    # 3---4---5   the part 1 owns cell 1 and the points 2 and 5, then come the ghosts 1 4, then 0 3
    # | 0 | 1 |   2 hears 1 and 5; 5 hears 2 and 4
    # 0---1---2
    graph = mt.part_graph(split(quads(2, 1), [0, 1], ghost_layers=1)[1], steps=1)
    assert graph["part_node"].tolist() == [2, 5, 0, 1, 3, 4]
    assert graph["part_node"][graph["edge_index"]].tolist() == [[1, 5, 2, 4], [2, 2, 5, 5]]
    assert graph["edge_offsets"].tolist() == [0, 0, 4]  # both hear a ghost


def test_edge_ids_find_the_values_of_the_edges_of_the_whole_graph():
    whole = point_graph(MESH)
    for part in cut(1):
        graph = mt.part_graph(part, steps=1)
        senders, receivers = graph["part_node"][graph["edge_index"]].numpy()
        edge_ids = graph["edge_ids"].numpy()
        assert whole.targets[edge_ids].tolist() == senders.tolist()
        rows = np.searchsorted(whole.offsets, edge_ids, side="right") - 1
        assert rows.tolist() == receivers.tolist()
    assert "edge_ids" not in mt.part_graph(cut(1, graphs="cells")[0], steps=1)  # the part does not know them


def test_edges_of_all_parts_are_those_of_the_whole_graph_each_once():
    for entity, whole in (("points", point_graph(MESH)), ("cells", dual_graph(MESH))):
        ids = [mt.part_graph(part, entity, steps=1)["edge_ids"] for part in cut(1, entity)]
        assert torch.cat(ids).sort().values.tolist() == list(range(len(whole.targets)))


# -- tensors of their own -----------------------------------------------------------------------------------


def test_nothing_that_is_written_to_the_tensors_reaches_the_part(tmp_path):
    meshpart.write_parts(split(MESH, sfc_labels(MESH, 2), ghost_layers=1, graphs="points"), tmp_path / "it.parts")
    part = meshpart.open_parts(tmp_path / "it.parts").load(0)  # its arrays are mapped, and read-only
    before = mt.part_graph(part, steps=1)
    for value in mt.part_graph(part, steps=1).values():
        if isinstance(value, torch.Tensor):
            value.fill_(-1)
    after = mt.part_graph(part, steps=1)
    assert all(torch.equal(torch.as_tensor(before[name]), torch.as_tensor(after[name])) for name in before)


def test_a_graph_saved_by_torch_loads_with_weights_only():
    file = io.BytesIO()
    graph = mt.part_graph(cut(1)[0], steps=1)
    torch.save(graph, file)
    file.seek(0)
    found = torch.load(file, weights_only=True)
    assert list(found) == list(graph)
    assert all(torch.equal(torch.as_tensor(found[name]), torch.as_tensor(graph[name])) for name in graph)


def test_a_saved_part_still_knows_what_is_owned_and_whose_its_ghosts_are(tmp_path):
    mesh = interleaved()
    parts = split(mesh, in_turn(mesh), ghost_layers=1, graphs=["points", "cells"])
    meshpart.write_parts(parts, tmp_path / "it.parts")
    store = meshpart.open_parts(tmp_path / "it.parts")
    whole = dual_graph(mesh)
    labels = in_turn(mesh)
    for number in range(3):
        part = store.load(number)
        graph = mt.part_graph(part, "cells", steps=1)
        ids = graph["part_node"].numpy()
        owners = part.cells.owners(number)
        assert owners.tolist() == labels[ids].tolist()
        assert graph["inner_node"].tolist() == np.flatnonzero(owners == number).tolist()
        assert graph["edge_index"].numel() == 0 or 0 <= graph["edge_index"].min() <= graph["edge_index"].max() < len(
            ids
        )
        present = set(zip(*ids[graph["edge_index"].numpy()].tolist(), strict=True))
        needed = {(int(a), int(b)) for b in np.flatnonzero(labels == number) for a in whole.neighbours(b)}
        assert present == needed


# -- PyTorch Geometric --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "how"), WAYS)
def test_data_has_the_same_by_the_same_names(part, how):
    pytest.importorskip("torch_geometric", reason="as_='pyg' needs torch_geometric")
    graph, data = mt.part_graph(part, **how), mt.part_graph(part, **how, as_="pyg")
    assert set(data.keys()) == {*graph, "num_nodes"}
    assert all(torch.equal(torch.as_tensor(data[name]), torch.as_tensor(graph[name])) for name in graph)
    assert data.num_nodes == graph["n_local"]
    assert data.num_edges == graph["edge_index"].shape[1]
    assert data.validate()


def test_messages_of_pyg_go_from_the_first_row_to_the_second():
    nn = pytest.importorskip("torch_geometric.nn", reason="as_='pyg' needs torch_geometric")
    layer = nn.SimpleConv(aggr="sum")
    mesh = cubes(3, 2, 2)
    whole = point_graph(mesh)
    values = torch.arange(mesh.n_points, dtype=torch.float64)[:, None] + 1
    for part in split(mesh, sfc_labels(mesh, 3), ghost_layers=1):
        data = mt.part_graph(part, steps=1, as_="pyg")
        heard = layer(values[data.part_node], data.edge_index)[data.inner_node, 0]
        owned = data.part_node[data.inner_node].tolist()
        expected = [values[whole.neighbours(point).tolist()].sum().item() for point in owned]
        assert heard.tolist() == expected
    owners = [0, 0, 1, 1]
    senders = torch.tensor([0, 0, 1, 2, 3, 3])
    for part in meshpart.split_graph(RING, owners):  # where edges have a direction
        data = mt.part_graph(part, as_="pyg")
        values = torch.tensor([[1.0], [10.0], [100.0], [1000.0]])
        heard = layer(values[data.part_node], data.edge_index)[data.inner_node, 0]
        expected = torch.zeros(4).index_add(0, torch.tensor(RING[1]), values[senders, 0])
        assert heard.tolist() == expected[data.part_node[data.inner_node]].tolist()


def test_without_pytorch_geometric_an_error_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_geometric"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(MissingDependencyError, match=r"torch_geometric.*meshpart\[pyg\]"):
        mt.part_graph(cut(1)[0], as_="pyg")


# -- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"as_": "dgl"}, "as_ must be one of dict, pyg"),
        ({"steps": 3}, "got steps=3, the part has 2"),
        ({"entity": "edges"}, "entity must be one of points, cells"),
        ({"adjacency": "facet"}, "adjacency must be one of edge, cell"),
    ],
)
def test_wrong_arguments_are_refused(given, says):
    with pytest.raises(ArgumentError, match=says):
        mt.part_graph(cut(2)[0], **given)
    with pytest.raises(ArgumentError, match="part must be a SubMesh or a SubGraph"):
        mt.part_graph(MESH)
