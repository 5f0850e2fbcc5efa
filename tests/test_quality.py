"""Quality: exact numbers on drawn meshes, the definitions by brute force, and what must hold of all labels."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, replace
from typing import Any

import meshio
import numpy as np
import pytest
import reference
from hypothesis import event, given
from hypothesis import strategies as st
from meshes import (
    DRAWN,
    QUARTERS,
    beam_between_shells,
    cubes,
    fan,
    hanging_node,
    in_turn,
    labels_of,
    meshes,
    no_cells,
    polygons,
    quads,
    quads_with_lines,
    separate,
    spindle,
    strip,
    tets,
    triangles,
    two_tets_with_triangles,
    with_unused_points,
)

from meshpart import ArgumentError, CellBlock, Mesh, MeshError, Quality, partition_labels, quality
from meshpart.arrays import same
from meshpart.graph import dual_graph
from meshpart.tables import MOST_ROWS


def rows(graph: Any) -> list[list[int]]:
    """Return the neighbours of every vertex."""
    return [row.tolist() for row in np.split(graph.targets, graph.offsets[1:-1])][: graph.n_vertices]


def seen(found: Quality) -> dict[str, Any]:
    """Return what a Quality says, as the reference says it."""
    quotient = found.quotient
    weights = np.split(quotient.flat.edge_weights, quotient.offsets[1:-1])
    result = {
        name: getattr(found, name).tolist()
        for name in (entry.name for entry in fields(found))
        if name.startswith("part_")
    }
    return result | {
        "edge_cut": found.edge_cut,
        "communication_volume": found.communication_volume,
        "shared_points": found.shared_points,
        "quotient": [list(zip(r, w.tolist(), strict=True)) for r, w in zip(rows(quotient), weights, strict=True)],
    }


# -- drawn --------------------------------------------------------------------------------------------------


def test_a_weighted_strip_is_balanced_by_weight_and_not_by_cells() -> None:
    # 5---6---7---8---9     weights 3 1 1 1, labels 0 1 1 1: the cut runs through points 1 and 6, which have a cell of
    # | 0 | 1 | 2 | 3 |     each part and so belong to part 0
    # 0---1---2---3---4
    found = quality(quads(4, 1), [0, 1, 1, 1], weights=[3, 1, 1, 1])
    assert found.part_cells.tolist() == [1, 3]
    assert found.part_weights.tolist() == [3.0, 3.0]
    assert (found.imbalance, found.cell_imbalance, found.point_imbalance) == (0.0, 0.5, 0.2)
    assert (found.edge_cut, found.communication_volume, found.shared_points) == (1, 2, 2)
    assert found.part_points.tolist() == [4, 6]
    assert found.part_neighbours.tolist() == [1, 1]
    assert found.part_ghosts.tolist() == [1, 1]
    assert found.part_components.tolist() == [1, 1]
    assert found.within_bound
    assert quality(quads(4, 1), [0, 1, 1, 1]).imbalance == 0.5


def test_the_quarters_of_a_square_share_its_middle() -> None:
    # each part is cut from two others along 2 facets: 4 cuts of 2; the middle point is on all four
    # ghosts: 2 + 2 + 1 around a corner of 2 x 2
    found = quality(quads(4, 4), QUARTERS)
    assert found.edge_cut == 8
    assert found.communication_volume == 4 * 4  # of each part's 4 cells two see one other part, one sees two
    assert found.shared_points == 9  # a cross of 5 and 5 points
    assert found.part_ghosts.tolist() == [5, 5, 5, 5]
    assert found.part_neighbours.tolist() == [3, 3, 3, 3]
    assert found.part_points.tolist() == [9, 6, 6, 4]
    assert rows(found.quotient) == [[1, 2], [0, 3], [0, 3], [1, 2]]
    assert found.quotient.flat.edge_weights.tolist() == [2] * 8
    assert found.quotient.flat.vertex_weights.tolist() == [4, 4, 4, 4]


def test_separate_bodies_are_cut_nowhere() -> None:
    two = quads(2, 2)
    mesh = Mesh(
        np.vstack([two.points, two.points + 9]), [("quad", np.vstack([two.blocks[0].nodes, two.blocks[0].nodes + 9]))]
    )
    apart = quality(mesh, [0] * 4 + [1] * 4)
    assert (apart.edge_cut, apart.communication_volume, apart.shared_points) == (0, 0, 0)
    assert apart.part_components.tolist() == [1, 1]
    assert apart.part_ghosts.tolist() == apart.part_neighbours.tolist() == [0, 0]
    across = quality(mesh, [0, 1] * 4)
    assert across.part_components.tolist() == [2, 2]
    assert across.edge_cut == 4
    assert quality(separate(4), [0, 0, 0, 1]).part_components.tolist() == [3, 1]


def test_attached_cells_weigh_nothing_and_are_no_components() -> None:
    found = quality(two_tets_with_triangles(), [0, 1, 0, 0, 0, 1, 1, 1], imbalance=0)
    assert found.edge_cut == 1
    assert found.part_weights.tolist() == [1.0, 1.0]
    assert found.part_cells.tolist() == [4, 4]
    assert found.part_components.tolist() == [1, 1]
    assert found.bound == 1.0
    # a tet and the triangles on the points 1, 2, 3 of the other side; each of those has two of them
    assert found.part_ghosts.tolist() == [4, 4]
    heavy = quality(two_tets_with_triangles(), [0, 1, 0, 0, 0, 1, 1, 1], weights=[1, 1, 100, 0, 0, 0, 0, 0])
    assert heavy.part_weights.tolist() == [1.0, 1.0]


def test_free_cells_weigh_and_join() -> None:
    mesh = beam_between_shells()  # the line has a point in common with either quad, which is no facet of a quad
    found = quality(mesh, [0, 1, 0])
    assert found.part_weights.tolist() == [2.0, 1.0]
    assert (found.edge_cut, found.part_components.sum()) == reference_cut(mesh, [0, 1, 0])


def reference_cut(mesh: Mesh, labels: list[int]) -> tuple[int, int]:
    expected = reference.quality(mesh, rows(dual_graph(mesh)), labels, max(labels) + 1)
    return expected["edge_cut"], sum(expected["part_components"])


def test_a_hanging_node_is_no_facet_but_a_point() -> None:
    found = quality(hanging_node(), [0, 0, 1])
    assert (found.edge_cut, found.shared_points) == (0, 2)  # the points 1 and 6
    assert found.part_ghosts.tolist() == [1, 2]
    assert quality(hanging_node(), [0, 0, 0]).part_components.tolist() == [2]


def test_many_parts_may_meet_in_a_point() -> None:
    found = quality(fan(30), np.arange(30))
    assert (found.edge_cut, found.communication_volume) == (30, 60)
    assert found.part_ghosts.tolist() == found.part_neighbours.tolist() == [29] * 30


@pytest.mark.parametrize("mesh", [no_cells(0), no_cells(3), Mesh(np.zeros((2, 2)), [("quad", np.zeros((0, 4)))])])
def test_a_mesh_without_cells_is_balanced(mesh: Mesh) -> None:
    found = quality(mesh, [], 3)
    assert (found.nparts, found.n_cells, found.edge_cut) == (3, 0, 0)
    assert (found.imbalance, found.cell_imbalance) == (0.0, 0.0)
    assert found.part_points.tolist() == [mesh.n_points, 0, 0]
    assert found.within_bound
    assert found.part_weights.tolist() == [0.0, 0.0, 0.0]
    assert quality(mesh, []).nparts == 1
    str(found)


def test_empty_parts_count_in_the_mean() -> None:
    found = quality(strip(4), [0, 0, 2, 2], 5)
    assert found.part_cells.tolist() == [2, 0, 2, 0, 0]
    assert found.imbalance == 1.5  # 2 of 4 / 5
    assert found.part_components.tolist() == [1, 0, 1, 0, 0]
    assert rows(found.quotient) == [[2], [], [0], [], []]


def test_one_part_is_all_there_is() -> None:
    found = quality(quads(3, 3), [0] * 9)
    assert (found.edge_cut, found.shared_points, found.imbalance, found.nparts) == (0, 0, 0.0, 1)
    assert found.quotient.offsets.tolist() == [0, 0]


# -- bounds and weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "imbalance", "within"),
    [
        # Q(8, 8) in 3: ceil(64 / 3) = 22
        ([0] * 22 + [1] * 21 + [2] * 21, 0, True),
        ([0] * 23 + [1] * 21 + [2] * 20, 0, False),
        ([0] * 23 + [1] * 21 + [2] * 20, 0.045, False),  # 22.99
        ([0] * 23 + [1] * 21 + [2] * 20, 0.046, True),  # 23.012
    ],
)
def test_the_bound_is_compared_exactly(labels: list[int], imbalance: float, within: bool) -> None:
    assert quality(quads(8, 8), labels, imbalance=imbalance).within_bound is within


def test_an_imbalance_is_the_decimal_that_it_is_written_as() -> None:
    # 103 is within 0.03 of 100, though 1.03 * 100 is less in floats
    labels = [0] * 103 + [1] * 97
    assert quality(strip(200), labels, imbalance=0.03).within_bound
    assert not quality(strip(200), labels, imbalance=0.0299999).within_bound
    assert quality(strip(200), labels).imbalance == 0.03


def test_bounds_and_weights_are_in_the_units_of_the_weights() -> None:
    found = quality(quads(4, 1), [0, 0, 1, 1], weights=[0.25, 0.25, 0.25, 0.75], imbalance=0.5)
    assert found.part_weights.tolist() == [0.5, 1.0]
    assert (found.bound, found.guarantee) == (1.125, 1.125)  # in quarters 1.5 * 3 = 4.5 and 3 + 3 / 2
    assert found.imbalance == 1 / 3
    assert found.within_bound


@pytest.mark.parametrize("weight", [7, 0.1, 1e-300, 1e300, 2**40])
def test_equal_weights_keep_their_unit(weight: float) -> None:
    found = quality(strip(4), [0, 1, 1, 1], weights=[weight] * 4, imbalance=0)
    plain = quality(strip(4), [0, 1, 1, 1], imbalance=0)
    assert found.part_weights == pytest.approx([weight, 3 * weight])
    assert found.bound == pytest.approx(2 * weight)
    assert (found.imbalance, found.within_bound) == (plain.imbalance, plain.within_bound) == (0.5, False)


def test_the_guarantee_looks_at_the_heaviest_group() -> None:
    # without groups: mean 2, half of the heaviest 1; with cells 0..2 together: 2 + 3 / 2
    assert quality(strip(4), [0, 1, 1, 1], imbalance=0).guarantee == 2.5
    grouped = quality(strip(4), [0, 0, 0, 1], imbalance=0, keep_together=[0, 0, 0, -1])
    assert (grouped.guarantee, grouped.bound) == (3.5, 2)
    heavy = quality(quads(4, 4), in_turn(quads(4, 4)), weights=[100] + [1] * 15, imbalance=0)
    assert (heavy.bound, heavy.guarantee) == (39, 105)  # ceil(115 / 3), 38.33 + 66.67


@pytest.mark.parametrize("weights", [[3, 1, 1, 1], "load", {"quad": 3}, [np.array([3.0, 1.0, 1.0, 1.0])]], ids=repr)
def test_weights_are_given_as_to_partition(weights: Any) -> None:
    mesh = replace(quads(4, 1), cell_data={"load": [[3, 1, 1, 1]]})
    loads = [9.0, 3.0] if weights == {"quad": 3} else [5.0, 1.0]
    assert quality(mesh, [0, 0, 0, 1], weights=weights).part_weights.tolist() == loads


def test_weights_beyond_the_precision_of_floats_are_compared_exactly() -> None:
    weights = np.array([2**53 + 1, 2**53 - 1, 1, 1], np.int64)  # of which floats see 2**53 + 1 as 2**53
    assert not quality(strip(4), [0, 1, 1, 0], weights=weights, imbalance=0).within_bound
    assert quality(strip(4), [0, 1, 1, 1], weights=weights, imbalance=0).within_bound


# -- brute force --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_drawn_meshes_have_the_quality_that_brute_force_finds(mesh: Mesh) -> None:
    labels = in_turn(mesh).tolist()
    assert seen(quality(mesh, labels, 3)) == reference.quality(mesh, rows(dual_graph(mesh)), labels, 3)


def joined(*bodies: Mesh) -> Mesh:
    """Return the blocks of several meshes as one mesh, with what has the number 0 in each made one point."""
    blocks, points = [], [np.zeros((1, 3))]
    for body in bodies:
        before = sum(map(len, points)) - 1
        blocks += [replace(block, nodes=np.where(block.nodes == 0, 0, block.nodes + before)) for block in body.blocks]
        points.append(np.pad(body.points[1:], ((0, 0), (0, 3 - body.points.shape[1]))))
    return Mesh(np.vstack(points), blocks)


def flower() -> Mesh:
    """Return a polygon of twelve points, each of which a vertex of its own lies on, and a beam from one to another."""
    rim = fan(12).points[1:]
    petals = [("vertex", np.arange(12).reshape(-1, 1)), ("line", [[0, 6]])]
    return Mesh(rim, [CellBlock.from_rows("polygon", [list(range(12))]), *petals])


@pytest.mark.parametrize("nparts", [2, 13, 40])
@pytest.mark.parametrize(
    "mesh",
    [
        fan(30),
        spindle(30),
        joined(fan(20), spindle(20), fan(9), beam_between_shells()),
        with_unused_points(joined(spindle(12), two_tets_with_triangles(), polygons()), 3),
        flower(),
    ],
    ids=["hub", "two hubs", "three hubs", "attached cells and polygons", "a cell that all parts meet"],
)
def test_where_many_parts_meet_the_quality_is_what_brute_force_finds(mesh: Mesh, nparts: int) -> None:
    labels = np.random.default_rng(nparts).integers(0, nparts, mesh.n_cells)
    expected = reference.quality(mesh, rows(dual_graph(mesh)), labels.tolist(), nparts)
    assert max(expected["part_ghosts"]) > 0
    for threads in (1, 2):
        assert seen(quality(mesh, labels, nparts, threads=threads)) == expected


@given(meshes(), st.data())
def test_quality_is_what_brute_force_finds(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    weights = data.draw(st.none() | st.lists(st.integers(1, 9), min_size=mesh.n_cells, max_size=mesh.n_cells))
    found = quality(mesh, labels, nparts, weights=weights, threads=2)
    event(f"cut: {found.edge_cut > 0}, weights: {weights is not None}")
    expected = reference.quality(mesh, rows(dual_graph(mesh)), labels.tolist(), nparts, weights)
    assert seen(found) == expected
    loads = expected["part_weights"]
    assert found.imbalance == pytest.approx(max(loads) * nparts / sum(loads) - 1 if sum(loads) else 0)
    assert found.part_points.sum() == mesh.n_points


# -- what holds of all labels -------------------------------------------------------------------------------


@given(meshes(), st.data())
def test_the_communication_volume_over_shared_points_is_the_number_of_ghosts(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    cells_on = reference.cells_on_points(mesh)
    seen_parts = {
        (cell, labels[other])
        for cells in cells_on
        for cell in cells
        for other in cells
        if labels[other] != labels[cell]
    }
    assert quality(mesh, labels, nparts).part_ghosts.sum() == len(seen_parts)


@given(meshes(), st.data())
def test_the_edge_cut_is_half_the_sum_of_the_quotient_graph(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    found = quality(mesh, labels, nparts)
    graph = found.quotient
    dense = np.zeros((nparts, nparts), np.int64)
    dense[np.repeat(np.arange(nparts), np.diff(graph.offsets)), graph.targets] = graph.flat.edge_weights
    assert (dense == dense.T).all()
    assert not dense.diagonal().any()
    assert dense.sum() == 2 * found.edge_cut
    assert all((np.diff(row) > 0).all() for row in rows(graph))


@given(st.data())
def test_renumbering_the_cells_changes_no_metric(data: st.DataObject) -> None:
    mesh = data.draw(st.sampled_from([quads(4, 3), tets(2, 1, 1), triangles(3, 3), fan(9)]))
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    order = np.array(data.draw(st.permutations(range(mesh.n_cells))))
    weights = np.arange(mesh.n_cells) % 5 + 1
    shuffled = Mesh(mesh.points, [(mesh.blocks[0].type, mesh.blocks[0].nodes[order])])
    assert same(
        quality(shuffled, labels[order], nparts, weights=weights[order]),
        quality(mesh, labels, nparts, weights=weights),
    )


@given(meshes(), st.data())
def test_renaming_the_parts_renames_their_rows(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    renamed = np.array(data.draw(st.permutations(range(nparts))))
    found, other = quality(mesh, labels, nparts), quality(mesh, renamed[labels], nparts)
    for name in ("edge_cut", "communication_volume", "shared_points", "imbalance", "bound"):
        assert getattr(found, name) == getattr(other, name)
    for name in ("part_weights", "part_cells", "part_ghosts", "part_neighbours", "part_components"):
        assert getattr(found, name).tolist() == getattr(other, name)[renamed].tolist()


def test_the_number_of_threads_changes_nothing() -> None:
    mesh = quads_with_lines(150, 120)
    labels = np.random.default_rng(1).integers(0, 40, mesh.n_cells)
    assert same(quality(mesh, labels, threads=1), quality(mesh, labels, threads=4))


def test_nothing_costs_parts_times_parts() -> None:
    mesh = strip(10)
    found = quality(mesh, np.arange(10) * 100_000, 1_000_000)  # a square of them would be 8 TB
    assert found.part_neighbours.sum() == 2 * 9
    assert len(found.quotient.targets) == 2 * 9


# -- the object ---------------------------------------------------------------------------------------------


def test_a_quality_is_frozen_and_survives_pickling() -> None:
    found = quality(cubes(2, 2, 2), [0, 0, 1, 1, 2, 2, 3, 3])
    assert pickle.loads(pickle.dumps(found)) == found
    assert found != quality(cubes(2, 2, 2), [0, 0, 1, 1, 2, 2, 3, 2])
    for entry in fields(found):
        value = getattr(found, entry.name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, entry.name
    assert {type(found.edge_cut), type(found.imbalance), type(found.within_bound)} == {int, float, bool}


def test_the_dict_of_a_quality_goes_through_json() -> None:
    found = quality(quads(4, 1), [0, 2, 2, 2], weights=[3, 1, 1, 1])
    told = json.loads(json.dumps(found.to_dict()))
    assert (told["nparts"], told["cells"], told["points"], told["edge_cut"]) == (3, 4, 10, 1)
    assert told["within_bound"] is False  # 3 of 6 in 3 parts
    assert told["parts"][2] == {
        "part": 2,
        "weight": 3.0,
        "cells": 3,
        "points": 6,
        "ghosts": 1,
        "neighbours": 1,
        "components": 1,
    }
    assert told["quotient"] == [[0, 2, 1]]


def test_the_text_says_the_summary_and_then_every_part() -> None:
    text = str(quality(quads(4, 1), [0, 1, 1, 1], weights=[3, 1, 1, 1])).splitlines()
    assert text[0] == "4 cells and 10 points in 2 parts"
    assert [line.split()[-1] for line in text[1:4]] == ["1", "2", "2"]
    assert "0.00 % by weight, 50.00 % by cells, 20.00 % by points" in text[4]
    assert text[5].endswith("3, within the bound of 3.09")
    assert [line.split() for line in text[7:]] == [
        ["part", "weight", "cells", "points", "ghosts", "neighbours", "components"],
        ["0", "3", "1", "4", "1", "1", "1"],
        ["1", "3", "3", "6", "1", "1", "1"],
        ["least", "3", "1", "4", "1", "1", "1"],
        ["mean", "3", "2", "5", "1", "1", "1"],
        ["most", "3", "3", "6", "1", "1", "1"],
    ]
    assert len({len(line) for line in text[7:]}) == 1
    assert "above the bound of 2" in str(quality(strip(4), [0, 0, 0, 1], imbalance=0))


@pytest.mark.parametrize("nparts", [MOST_ROWS, MOST_ROWS + 1])
def test_of_many_parts_the_text_says_least_mean_and_most(nparts: int) -> None:
    text = str(quality(strip(nparts), np.arange(nparts)))
    assert len(text.splitlines()) == 11 + (nparts if nparts <= MOST_ROWS else 0)


def test_a_meshio_mesh_is_as_good() -> None:
    mesh = quads(3, 2)
    given = meshio.Mesh(mesh.points, [("quad", mesh.blocks[0].nodes)])
    labels = partition_labels(mesh, 2)
    assert same(quality(given, labels), quality(mesh, labels))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [0, 1]}, r"labels must have the shape \(4,\), got \(2,\)"),
        ({"labels": [0, 0, 0, -1]}, "labels: cell 3 has -1, it must not be negative"),
        ({"labels": [0.0] * 4}, "labels must be integers"),
        ({"nparts": 1}, r"labels: cell 1 has 1, outside 0..0"),
        ({"nparts": 2.0}, "nparts must be an integer, got 2.0"),
        ({"weights": [1, 2]}, r"weights must have the shape \(4,\)"),
        ({"weights": [0, 0, 0, 0]}, "weights: all are zero"),
        ({"weights": "mass"}, "there is no cell_data array 'mass'"),
        ({"imbalance": -0.1}, "imbalance must be finite and not negative, got -0.1"),
        ({"imbalance": float("nan")}, "imbalance must be finite and not negative, got nan"),
        ({"keep_together": "columns"}, "there is no cell set or cell_data array 'columns'"),
        ({"threads": 0}, "threads must be between 1 and 1024, got 0"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        quality(strip(4), **{"labels": [0, 1, 1, 1], **options})


def test_what_is_no_mesh_is_refused() -> None:
    with pytest.raises(MeshError, match="a mesh needs points and cells, got str"):
        quality("mesh.vtu", [0])  # type: ignore[arg-type]


def test_an_imbalance_without_measure_is_no_error() -> None:
    assert quality(strip(4), [0, 0, 0, 0], imbalance=1e308).within_bound


def test_what_is_beyond_floating_point_is_null_in_json_and_no_warning() -> None:
    found = quality(strip(3), [0, 1, 2], weights=[1.7e308, 1.7e308, 1e308], imbalance=0)
    assert "inf" in str(found)
    vast = quality(strip(3), [0, 0, 0], weights=[1.7e308, 1.7e308, 1e308], imbalance=0).to_dict()
    assert (vast["bound"], vast["parts"][0]["weight"]) == (None, None)
    json.loads(json.dumps(vast, allow_nan=False))
