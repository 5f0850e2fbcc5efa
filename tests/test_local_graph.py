"""The edges of parts: which ones, in which order, with which ids."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference_local_graphs as slow
from hypothesis import event, given
from hypothesis import strategies as st
from meshes import (
    DRAWN,
    QUARTERS,
    in_turn,
    labels_of,
    meshes,
    quads,
    sfc_labels,
    strip,
    tets,
    triangles,
    two_and_two,
)

from meshpart import (
    ArgumentError,
    Mesh,
    MeshpartWarning,
    SubMesh,
    dual_graph,
    local_graph,
    partition,
    point_graph,
    split,
)
from meshpart.local_graph import ADJACENCIES, as_graphs

BOTH = ("points", "cells")
EVERY_GRAPH = [(entity, adjacency) for entity, known in ADJACENCIES.items() for adjacency in known]


def entities_of(part: SubMesh, entity: str) -> Any:
    return part.points if entity == "points" else part.cells


# -- drawn --------------------------------------------------------------------------------------------------


def test_edges_of_points_for_one_step_in_exact_numbers() -> None:
    # 4---5---6---7   of the points, part 1 owns 2 and 6: each has one cell of part 1 and one of part 2
    # | 0 | 1 | 2 |
    # 0---1---2---3   rows of the point graph begin at 0 2 5 8 10 12 15 18
    part = split(strip(3), [0, 1, 2], ghost_layers=1, graphs="points")[1]
    assert part.points.global_ids.tolist() == [2, 6, 0, 1, 4, 5, 3, 7]
    graph = local_graph(part, steps=1)
    assert graph.receivers.tolist() == [0, 0, 0, 1, 1, 1]  # 2 2 2 6 6 6
    assert graph.senders.tolist() == [3, 6, 1, 0, 5, 7]  # 1 3 6 2 5 7
    assert graph.edge_ids.tolist() == [5, 6, 7, 15, 16, 17]
    assert graph.offsets.tolist() == [0, 0, 6]
    assert (graph.n_owned, graph.n_local, graph.steps, graph.n_edges) == (2, 8, 1, 6)


def test_edges_of_cells_for_two_steps_in_exact_numbers() -> None:
    # | 0 | 1 | 2 | 3 | 4 |   part 1 owns the cells 2 and 3; rows of the dual graph begin at 0 1 3 5 7
    part = split(strip(5), [0, 0, 1, 1, 0], ghost_layers=2, graphs="cells")[1]
    assert part.cells.global_ids.tolist() == [2, 3, 0, 1, 4]
    graph = local_graph(part, "cells")
    assert graph.receivers.tolist() == [0, 0, 1, 1, 3, 3, 4]  # 2 2 3 3 1 1 4
    assert graph.senders.tolist() == [3, 1, 0, 4, 2, 0, 1]  # 1 3 2 4 0 2 3
    assert graph.edge_ids.tolist() == [3, 4, 5, 6, 1, 2, 7]
    assert graph.offsets.tolist() == [0, 0, 4, 7]
    assert graph.steps == 2


def test_owned_edges_of_points_in_exact_numbers() -> None:
    # 3---4---5   the edge 1 - 4 is part 0's, which owns cell 0; part 1's are 1 - 2, 2 - 5 and 4 - 5
    # | 0 | 1 |   rows of the point graph begin at 0 2 5 7 9 12
    # 0---1---2
    first, second = split(strip(2), [0, 1], graphs="points")
    assert first.points.global_ids.tolist() == [0, 1, 3, 4]
    graph = local_graph(first, steps=0)
    assert graph.offsets.tolist() == [0, 8, 8, 8]
    assert graph.senders.tolist() == [1, 2, 0, 3, 0, 3, 1, 2]
    assert graph.receivers.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert graph.edge_ids.tolist() == [0, 1, 2, 4, 7, 8, 9, 10]
    assert second.points.global_ids.tolist() == [2, 5, 1, 4]
    graph = local_graph(second, steps=0)
    assert graph.offsets.tolist() == [0, 0, 4, 6]
    assert graph.senders.tolist() == [2, 1, 0, 3, 0, 1]  # 1 5 2 4 2 5
    assert graph.receivers.tolist() == [0, 0, 1, 1, 2, 3]  # 2 2 5 5 1 4
    assert graph.edge_ids.tolist() == [5, 6, 12, 13, 3, 11]
    assert (graph.n_owned, graph.n_local, graph.steps) == (2, 4, 0)


def test_what_waits_for_no_ghost_comes_first() -> None:
    # part 0 has the lower left quarter of Q(4, 4), and of the points 0 1 2 / 5 6 7 / 10 11 12 all: those in its inside,
    # 0 1 5 6, hear from none of another part, with 2 + 3 + 3 + 4 edges; the other five with 3 + 4 + 3 + 4 + 4
    part = split(quads(4, 4), QUARTERS, ghost_layers=1)[0]
    graph = local_graph(part, steps=1)
    assert graph.offsets.tolist() == [0, 12, 30]
    assert set(part.points.global_ids[graph.receivers[:12]].tolist()) == {0, 1, 5, 6}


# -- the slow reference -------------------------------------------------------------------------------------


@given(meshes(), st.data())
def test_edges_are_those_found_by_sets_in_their_order_with_their_ids(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    layers = data.draw(st.integers(1, 3))
    entity, adjacency = data.draw(st.sampled_from(EVERY_GRAPH))
    parts = split(mesh, labels, nparts, ghost_layers=layers, graphs=BOTH)
    rows, owners = slow.rows_of(mesh, entity, adjacency), slow.owners_of(mesh, labels, entity)
    with_ids = adjacency == ADJACENCIES[entity][0]
    event(f"{entity} by {adjacency}")
    for part in parts:
        for steps in range(1, layers + 1):
            expected = slow.within(rows, owners, part.part, steps)
            graph = local_graph(part, entity, steps, adjacency=adjacency)
            found = slow.seen(graph, entities_of(part, entity))
            assert found == (expected if with_ids else slow.without_ids(expected))
            assert (graph.n_owned, graph.n_local) == (owners.count(part.part), entities_of(part, entity).n_local)


@given(meshes(), st.data())
def test_owned_edges_are_those_found_by_sets(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    layers = data.draw(st.integers(1, 2))
    entity, adjacency = data.draw(st.sampled_from(EVERY_GRAPH))
    rows, owners = slow.rows_of(mesh, entity, adjacency), slow.owners_of(mesh, labels, entity)
    edges = slow.edge_owners(mesh, labels, adjacency, rows)
    with_ids = adjacency == "edge" or (adjacency == "facet" and layers == 2)
    for part in split(mesh, labels, nparts, ghost_layers=layers, graphs=BOTH):
        expected = slow.owned(rows, owners, edges, part.part)
        found = slow.seen(local_graph(part, entity, 0, adjacency=adjacency), entities_of(part, entity))
        assert found == (expected if with_ids else slow.without_ids(expected))


@given(meshes(), st.data())
def test_parts_without_ghost_layers_know_the_point_edges_that_they_own(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    rows, owners = slow.rows_of(mesh, "points", "edge"), slow.owners_of(mesh, labels, "points")
    edges = slow.edge_owners(mesh, labels, "edge", rows)
    for part in split(mesh, labels, nparts, graphs="points"):
        graph = local_graph(part, steps=0)
        assert slow.seen(graph, part.points) == slow.owned(rows, owners, edges, part.part)
        assert (graph.n_owned, graph.n_local) == (part.points.n_owned, part.points.n_local)


# -- every edge once ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("entity", BOTH)
@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_every_edge_of_the_whole_graph_is_in_one_part(mesh: Mesh, entity: str, steps: int) -> None:
    whole = (point_graph if entity == "points" else dual_graph)(mesh)
    receivers = np.repeat(np.arange(whole.n_vertices), np.diff(whole.offsets))
    met: Counter[int] = Counter()
    for part in split(mesh, in_turn(mesh), 3, ghost_layers=2, graphs=entity):
        graph, ids = local_graph(part, entity, steps), entities_of(part, entity).global_ids
        met.update(graph.edge_ids.tolist())
        assert whole.targets[graph.edge_ids].tolist() == ids[graph.senders].tolist()
        assert receivers[graph.edge_ids].tolist() == ids[graph.receivers].tolist()
    assert met == Counter(range(len(whole.targets)))


def test_with_more_steps_edges_are_in_several_parts() -> None:
    mesh = quads(4, 4)
    parts = split(mesh, QUARTERS, ghost_layers=2)
    assert sum(local_graph(part, steps=1).n_edges for part in parts) == len(point_graph(mesh).targets)
    assert sum(local_graph(part, steps=2).n_edges for part in parts) > len(point_graph(mesh).targets)


# -- graphs of parts in local order -------------------------------------------------------------------------


@given(meshes(), st.data())
def test_graphs_of_parts_with_ghosts_are_in_local_order(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    layers = data.draw(st.integers(1, 2))
    for entity, adjacency in (("cells", "facet"), ("cells", "point"), ("points", "edge"), ("points", "cell")):
        rows = slow.rows_of(mesh, entity, adjacency)
        for part in split(mesh, labels, nparts, ghost_layers=layers):
            entities = entities_of(part, entity)
            graph = (point_graph if entity == "points" else dual_graph)(part, adjacency=adjacency)
            local = {number: place for place, number in enumerate(entities.global_ids.tolist())}
            for number, place in local.items():
                here = sorted(local[other] for other in rows[number] if other in local)
                if entity == "cells" or entities.complete[place]:
                    assert graph.neighbours(place).tolist() == here
                else:
                    assert set(graph.neighbours(place).tolist()) <= set(here)


def test_the_dual_graph_of_a_part_with_several_blocks_is_in_local_order() -> None:
    # 4---5---6---7   part 1 owns triangle 1 and quad 3; its ghosts are triangle 0 and quad 2. Block after block its
    # |1 /| 2 | 3 |   cells are 1 0 3 2, in local order 1 3 0 2
    # | / |   |   |
    # |/ 0|   |   |
    # 0---1---2---3
    part = split(two_and_two(), [0, 1, 0, 1], ghost_layers=1)[1]
    assert part.cells.global_ids.tolist() == [1, 3, 0, 2]
    graph = dual_graph(part, edge_weights="points")
    assert [graph.neighbours(cell).tolist() for cell in range(4)] == [[2], [3], [0, 3], [1, 2]]
    assert graph.edge_weights.tolist() == [2, 2, 2, 2, 2, 2]
    # cell 1 shares 0 5 with cell 0, and 5 with cell 2; cell 0 shares 1 5 with cell 2; cell 2 shares 2 6 with cell 3
    by_point = dual_graph(part, adjacency="point", edge_weights="points")
    assert [by_point.neighbours(cell).tolist() for cell in range(4)] == [[2, 3], [3], [0, 3], [0, 1, 2]]
    assert by_point.edge_weights.tolist() == [2, 1, 2, 2, 2, 1, 2, 2]


def book(n: int) -> Mesh:
    """Return triangles on the edge 0 - 1, in two blocks: (0, 1, 2), (0, 1, 3), ..."""
    rows = np.array([[0, 1, page + 2] for page in range(n)])
    return Mesh(np.arange(3.0 * (n + 2)).reshape(n + 2, 3), [("triangle", rows[:30]), ("triangle", rows[30:])])


def test_a_chain_on_a_facet_of_many_cells_is_the_same_in_parts() -> None:
    mesh = book(70)
    labels = np.arange(70) % 3
    with pytest.warns(MeshpartWarning, match="more than 64 cells"):
        whole = dual_graph(mesh)
    with pytest.warns(MeshpartWarning, match="more than 64 cells"):
        parts = split(mesh, labels, ghost_layers=1, graphs="cells")
    for part in parts:
        ids = part.cells.global_ids
        assert sorted(ids) == list(range(70))
        assert ids.tolist() != list(range(70))
        with pytest.warns(MeshpartWarning, match="more than 64 cells"):
            graph, edges = dual_graph(part), local_graph(part, "cells", 1)
        for place, number in enumerate(ids):
            assert sorted(ids[graph.neighbours(place)]) == whole.neighbours(number).tolist()
        assert whole.targets[edges.edge_ids].tolist() == ids[edges.senders].tolist()


# -- what parts keep of the whole mesh's graphs -------------------------------------------------------------


@pytest.mark.parametrize("layers", [0, 1])
@pytest.mark.parametrize("graphs", [BOTH, ("cells",), ("points",)], ids=str)
def test_partition_and_some_parts_keep_the_same_as_split_and_all(graphs: tuple[str, ...], layers: int) -> None:
    mesh = two_and_two()
    options: dict[str, Any] = {"ghost_layers": layers, "graphs": graphs}
    labels = sfc_labels(mesh, 3)
    parts = split(mesh, labels, **options)
    assert split(mesh, labels, only=[2, 0, 2], **options) == [parts[2], parts[0], parts[2]]
    assert split(mesh, labels, threads=1, **options) == split(mesh, labels, threads=3, **options) == parts
    for part, other in zip(partition(mesh, 3, method="sfc", **options), parts, strict=True):
        assert replace(part, provenance=other.provenance) == other
        assert set(part.row_starts) == set(graphs)
        assert list(part.graphs) == (["points edge 0"] if layers == 0 and "points" in graphs else [])
        assert pickle.loads(pickle.dumps(part)) == part
        for entity, starts in part.row_starts.items():
            whole = point_graph(mesh) if entity == "points" else dual_graph(mesh)
            assert starts.tolist() == whole.offsets[entities_of(part, entity).global_ids].tolist()
            assert not starts.flags.writeable


def test_parts_keep_nothing_of_graphs_unless_they_are_told_to() -> None:
    for part in split(quads(2, 2), [0, 1, 1, 0]):
        assert len(part.row_starts) == 0
        assert len(part.graphs) == 0


# -- arguments ----------------------------------------------------------------------------------------------


def test_without_arguments_a_part_gives_the_point_edges_that_its_layers_carry() -> None:
    for layers in (1, 2, 3):
        part = split(quads(6, 6), np.arange(36) // 6, ghost_layers=layers)[2]
        assert local_graph(part) == local_graph(part, "points", layers, adjacency="edge")
        assert local_graph(part).steps == layers


def test_more_layers_than_the_mesh_has_give_all_its_edges() -> None:
    mesh = triangles(2, 2)
    part = split(mesh, [0, 0, 0, 0, 1, 1, 1, 1], ghost_layers=1000)[1]
    graph = local_graph(part)
    assert graph.n_edges == len(point_graph(mesh).targets)
    assert len(graph.offsets) < 10


def test_ids_are_none_where_the_part_was_not_told() -> None:
    plain, told = (split(quads(4, 4), QUARTERS, ghost_layers=1, graphs=graphs)[0] for graphs in ((), "points"))
    for steps in (0, 1):
        assert local_graph(plain, steps=steps).edge_ids is None
        assert local_graph(told, steps=steps) == replace(
            local_graph(plain, steps=steps), edge_ids=local_graph(told, steps=steps).edge_ids
        )
        assert local_graph(told, "cells", steps).edge_ids is None
        assert local_graph(told, steps=steps, adjacency="cell").edge_ids is None


@pytest.mark.parametrize("nparts", [1, 3])
def test_empty_parts_and_parts_alone_have_graphs(nparts: int) -> None:
    mesh = quads(2, 2)
    parts = split(mesh, [0, 0, 0, 0], nparts, ghost_layers=1, graphs=BOTH)
    for entity, whole in (("points", point_graph(mesh)), ("cells", dual_graph(mesh))):
        for steps in (0, 1):
            graphs = [local_graph(part, entity, steps) for part in parts]
            assert graphs[0].senders.tolist() == whole.targets.tolist()
            assert [graph.n_edges for graph in graphs[1:]] == [0] * (nparts - 1)
            assert all(len(graph.edge_ids) == 0 for graph in graphs[1:] if entity == "points" or steps)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 3}, "steps must be at most the number of ghost layers, got steps=3, the part has 2"),
        ({"steps": -1}, "steps must be between 0 and 2147483647, got -1"),
        ({"steps": 1.0}, "steps must be an integer, got 1.0"),
        ({"entity": "vertices"}, "entity must be one of points, cells, got 'vertices'"),
        ({"adjacency": "facet"}, "adjacency must be one of edge, cell, got 'facet'"),
        ({"entity": "cells", "adjacency": "edge"}, "adjacency must be one of facet, point, got 'edge'"),
    ],
)
def test_what_a_part_does_not_have_is_refused(arguments: dict[str, Any], message: str) -> None:
    part = split(quads(4, 4), QUARTERS, ghost_layers=2)[1]
    with pytest.raises(ArgumentError, match=message):
        local_graph(part, **arguments)


def test_parts_without_ghost_layers_have_no_edges_but_the_kept_ones() -> None:
    plain = split(quads(4, 4), QUARTERS)[1]
    told = split(quads(4, 4), QUARTERS, graphs=BOTH)[1]
    with pytest.raises(ArgumentError, match='graphs="points" is given to split or partition'):
        local_graph(plain, steps=0)
    for part in (plain, told):
        with pytest.raises(ArgumentError, match="a part without ghost layers carries no steps"):
            local_graph(part)
        with pytest.raises(ArgumentError, match="got steps=1, the part has 0"):
            local_graph(part, steps=1)
        with pytest.raises(ArgumentError, match="steps=0 for cells joined by facet needs a ghost layer"):
            local_graph(part, "cells", 0)
        with pytest.raises(ArgumentError, match="steps=0 for points joined by cell needs a ghost layer"):
            local_graph(part, steps=0, adjacency="cell")


@pytest.mark.parametrize("part", [quads(2, 2), None, "part"], ids=repr)
def test_what_is_no_part_is_refused(part: Any) -> None:
    with pytest.raises(ArgumentError, match="part must be a SubMesh or a SubGraph, got"):
        local_graph(part)


def test_names_of_graphs_are_checked() -> None:
    assert as_graphs("cells") == ("cells",)
    assert as_graphs(["points", "cells", "points"]) == ("points", "cells")
    assert as_graphs(()) == ()
    with pytest.raises(ArgumentError, match="graphs must be one of points, cells, got 'edges'"):
        as_graphs("edges")
    with pytest.raises(ArgumentError, match="graphs must be one of points, cells, got 1"):
        as_graphs([1])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="graphs must be a list of names, got 1"):
        as_graphs(1)  # type: ignore[arg-type]
    part = split(quads(2, 1), [0, 0])[0]
    for call in (lambda: split(part, [0, 1], graphs="points"), lambda: partition(part, 2, graphs="cells")):
        with pytest.raises(ArgumentError, match="graphs must be left out where a part is cut again"):
            call()
    for call in (lambda: split(quads(1, 1), [0], graphs="edges"), lambda: partition(quads(1, 1), 1, graphs="edges")):
        with pytest.raises(ArgumentError, match="graphs must be one of points, cells, got 'edges'"):
            call()


def test_a_local_graph_is_read_only_and_survives_pickling() -> None:
    graph = local_graph(split(tets(2, 2, 1), np.arange(24) % 2, ghost_layers=1, graphs="points")[0])
    for again in (graph, pickle.loads(pickle.dumps(graph))):
        assert again == graph
        for array in (again.senders, again.receivers, again.edge_ids, again.offsets):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    assert repr(graph) == f"<LocalGraph: {graph.n_edges} edges, {graph.n_owned} owned of {graph.n_local}, 1 steps>"
