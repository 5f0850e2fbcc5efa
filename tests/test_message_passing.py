"""Message passing on parts gives the serial run's values: how many steps the layers carry, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from meshes import cubes, fan, interleaved, quads, quads_and_triangles, sfc_labels, tets, triangles

from meshpart import LocalGraph, Mesh, SubMesh, dual_graph, local_graph, point_graph, split
from meshpart.graph import Graph

Values = npt.NDArray[np.float64]
Step = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64], Values], Values]

# -- steps along edges, one after another in their order ----------------------------------------------------


def sums(senders: npt.NDArray[np.int64], receivers: npt.NDArray[np.int64], values: Values) -> Values:
    """Return the sum of what each entity receives, added to a part of its own: every rounding shows."""
    result = values / 3
    np.add.at(result, receivers, np.sin(values[senders]) * 0.7)
    return result


def means(senders: npt.NDArray[np.int64], receivers: npt.NDArray[np.int64], values: Values) -> Values:
    """Return the mean of what each entity receives, of nothing its own value."""
    total, count = np.zeros_like(values), np.zeros_like(values)
    np.add.at(total, receivers, values[senders] * 1.1)
    np.add.at(count, receivers, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1), values)


def maxima(senders: npt.NDArray[np.int64], receivers: npt.NDArray[np.int64], values: Values) -> Values:
    """Return the largest of what each entity receives and has."""
    result = values.copy()
    np.maximum.at(result, receivers, values[senders])
    return result


def serial(graph: Graph, step: Step, values: Values, n_steps: int) -> Values:
    receivers = np.repeat(np.arange(graph.n_vertices), np.diff(graph.offsets))
    for _ in range(n_steps):
        values = step(graph.targets, receivers, values)
    return values


def on_part(graph: LocalGraph, step: Step, values: Values, n_steps: int) -> Values:
    for _ in range(n_steps):
        values = step(graph.senders, graph.receivers, values)
    return values[: graph.n_owned]


def start(count: int) -> Values:
    return np.random.default_rng(7).normal(size=count)


STEPS = pytest.mark.parametrize("step", [sums, means, maxima])
LINEAR = pytest.mark.parametrize(
    "mesh",
    [triangles(7, 6), quads(8, 7), tets(9, 2, 2), cubes(5, 4, 4), quads_and_triangles(14), interleaved()],
    ids=["triangles", "quads", "tets", "cubes", "quads and triangles", "five blocks"],
)
ENTITIES = pytest.mark.parametrize("entity", ["points", "cells"])


def whole_graph(mesh: Mesh, entity: str, adjacency: str | None = None) -> Graph:
    if entity == "points":
        return point_graph(mesh, adjacency=adjacency or "edge")
    return dual_graph(mesh, adjacency=adjacency or "facet")


def ids_of(part: SubMesh, entity: str) -> npt.NDArray[np.int64]:
    return part.points.global_ids if entity == "points" else part.cells.global_ids


def scattered(mesh: Mesh, nparts: int) -> npt.NDArray[np.int32]:
    """Return labels that make parts of many pieces."""
    return np.random.default_rng(5).integers(0, nparts, mesh.n_cells).astype(np.int32)


# -- deep: k layers carry k steps ---------------------------------------------------------------------------


@STEPS
@ENTITIES
@pytest.mark.parametrize("layers", [1, 2, 3])
@LINEAR
def test_k_layers_carry_k_steps_to_the_last_bit(mesh: Mesh, layers: int, entity: str, step: Step) -> None:
    graph = whole_graph(mesh, entity)
    values = start(graph.n_vertices)
    expected = serial(graph, step, values, layers)
    for labels in (sfc_labels(mesh, 4), scattered(mesh, 3)):
        for part in split(mesh, labels, ghost_layers=layers):
            ids, edges = ids_of(part, entity), local_graph(part, entity)
            assert on_part(edges, step, values[ids], layers).tobytes() == expected[ids[: edges.n_owned]].tobytes()


@pytest.mark.parametrize("layers", [1, 2])
@LINEAR
def test_k_layers_do_not_carry_k_more_than_k_steps(mesh: Mesh, layers: int) -> None:
    # not even along all edges that the part has
    graph = point_graph(mesh)
    values = start(graph.n_vertices)
    expected = serial(graph, sums, values, layers + 1)
    wrong = 0
    for part in split(mesh, sfc_labels(mesh, 4), ghost_layers=layers):
        ids = part.points.global_ids
        found = serial(point_graph(part), sums, values[ids], layers + 1)
        wrong += np.count_nonzero(~np.isclose(found, expected[ids])[: part.points.n_owned])
    assert wrong > 0


@pytest.mark.parametrize(("entity", "adjacency"), [("points", "cell"), ("cells", "point")])
@LINEAR
def test_layers_carry_steps_along_the_wider_graphs_too(mesh: Mesh, entity: str, adjacency: str) -> None:
    graph = whole_graph(mesh, entity, adjacency)
    values = start(graph.n_vertices)
    expected = serial(graph, sums, values, 2)
    for part in split(mesh, sfc_labels(mesh, 4), ghost_layers=2):
        ids, edges = ids_of(part, entity), local_graph(part, entity, adjacency=adjacency)
        assert on_part(edges, sums, values[ids], 2).tobytes() == expected[ids[: edges.n_owned]].tobytes()


# -- exchange: one layer, refreshed before every step -------------------------------------------------------


@STEPS
@ENTITIES
@LINEAR
def test_one_layer_that_is_refreshed_carries_any_number_of_steps(mesh: Mesh, entity: str, step: Step) -> None:
    graph = whole_graph(mesh, entity)
    parts = split(mesh, scattered(mesh, 5), ghost_layers=1)
    edges = [local_graph(part, entity, 1) for part in parts]
    values = start(graph.n_vertices)
    expected = serial(graph, step, values, 4)
    for _ in range(4):
        after = np.full_like(values, np.nan)
        for part, own in zip(parts, edges, strict=True):
            ids = ids_of(part, entity)
            after[ids[: own.n_owned]] = on_part(own, step, values[ids], 1)
        values = after
    assert values.tobytes() == expected.tobytes()


@LINEAR
def test_without_a_refresh_the_second_step_is_wrong(mesh: Mesh) -> None:
    graph = point_graph(mesh)
    values = start(graph.n_vertices)
    expected = serial(graph, sums, values, 2)
    wrong = 0
    for part in split(mesh, sfc_labels(mesh, 4), ghost_layers=1):
        ids, edges = part.points.global_ids, local_graph(part, steps=1)
        wrong += np.count_nonzero(on_part(edges, sums, values[ids], 2) != expected[ids[: edges.n_owned]])
    assert wrong > 0


def test_what_waits_for_no_ghost_can_be_worked_on_before_they_are_there() -> None:
    mesh = quads(8, 8)
    graph = point_graph(mesh)
    values = start(graph.n_vertices)
    expected = serial(graph, sums, values, 1)
    for part in split(mesh, sfc_labels(mesh, 4), ghost_layers=1):
        ids, edges = part.points.global_ids, local_graph(part, steps=1)
        before = values[ids]
        before[edges.n_owned :] = np.nan
        inner = edges.offsets[1]
        early = sums(edges.senders[:inner], edges.receivers[:inner], before)
        ready = np.unique(edges.receivers[:inner])
        assert len(ready) > 0
        assert early[ready].tobytes() == expected[ids[ready]].tobytes()
        waiting = np.unique(edges.receivers[inner:])
        assert np.all(np.isnan(sums(edges.senders, edges.receivers, before)[waiting]))


# -- shared copies: no layer, the edges that each part owns -------------------------------------------------


def received(senders: npt.NDArray[np.int64], receivers: npt.NDArray[np.int64], values: Values) -> Values:
    result = np.zeros_like(values)
    np.add.at(result, receivers, values[senders])
    return result


@pytest.mark.parametrize("layers", [0, 1])
@LINEAR
def test_what_copies_receive_along_owned_edges_adds_up_to_the_serial_sum(mesh: Mesh, layers: int) -> None:
    graph = point_graph(mesh)
    values = np.arange(1.0, graph.n_vertices + 1)  # integers, so that sums are exact in any order
    expected = serial(graph, received, values, 1)
    by_owned_edges, by_all_edges, at_owners = (np.zeros_like(values) for _ in range(3))
    for part in split(mesh, scattered(mesh, 4), ghost_layers=layers, graphs="points"):
        ids, edges = part.points.global_ids, local_graph(part, steps=0)
        local = received(edges.senders, edges.receivers, values[ids])
        np.add.at(by_owned_edges, ids, local)
        at_owners[ids[: edges.n_owned]] = local[: edges.n_owned]
        np.add.at(by_all_edges, ids, serial(point_graph(part), received, values[ids], 1))
    assert by_owned_edges.tolist() == expected.tolist()
    assert by_all_edges.tolist() != expected.tolist()  # edges between parts are in several
    assert at_owners.tolist() != expected.tolist()  # the owner of an edge need not own its ends


@LINEAR
def test_what_cells_receive_along_owned_edges_adds_up_to_the_serial_sum(mesh: Mesh) -> None:
    graph = dual_graph(mesh)
    values = np.arange(1.0, graph.n_vertices + 1)
    total = np.zeros_like(values)
    for part in split(mesh, scattered(mesh, 4), ghost_layers=1):
        ids, edges = part.cells.global_ids, local_graph(part, "cells", 0)
        np.add.at(total, ids, received(edges.senders, edges.receivers, values[ids]))
    assert total.tolist() == serial(graph, received, values, 1).tolist()


# -- ghosts by shared facets are too few --------------------------------------------------------------------


def test_ghosts_by_shared_facets_alone_would_miss_cells_at_corners() -> None:
    # Six triangles around the point 0, one a part. Part 0 owns the point 0, whose neighbours are 1 .. 6 with the sum
    # 21. By facets it would have the triangles 0 = 0 1 2, 1 = 0 2 3 and 5 = 0 6 1, and so the neighbours 1 2 3 6: 12.
    mesh = fan(6)
    values = np.arange(7.0)
    part = split(mesh, range(6), ghost_layers=1)[0]
    edges = local_graph(part, steps=1)
    assert part.points.global_ids[0] == 0
    assert received(edges.senders, edges.receivers, values[part.points.global_ids])[0] == 21
    by_facets = np.array([0, *dual_graph(mesh).neighbours(0)])
    assert by_facets.tolist() == [0, 1, 5]
    few = point_graph(Mesh(mesh.points, [mesh.blocks[0].take(by_facets)]))
    assert serial(few, received, values, 1)[0] == 12
