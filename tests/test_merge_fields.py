"""Data that is given to merge: the owned rows of every part, in local order, where the whole mesh has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from carrying import EVERY_DTYPE, interleaved_with
from hypothesis import given
from hypothesis import strategies as st
from meshes import in_turn, interleaved, labels_of, meshes, quads

from meshpart import ArgumentError, Mesh, MeshpartWarning, merge, split


@given(st.data())
def test_global_ids_that_are_given_come_back_ascending(data: st.DataObject) -> None:
    mesh = data.draw(meshes())
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    layers = data.draw(st.integers(0, 2))
    parts = data.draw(st.permutations(split(mesh, labels, nparts, ghost_layers=layers)))
    merged = merge(
        parts,
        point_data={"point": [part.points.global_ids for part in parts]},
        cell_data={"cell": [part.cells.global_ids[: part.cells.n_owned] for part in parts]},
    )
    assert merged.point_data["point"].tolist() == list(range(mesh.n_points))
    assert [array.tolist() for array in merged.cell_data["cell"]] == [
        list(range(first, first + len(block))) for first, block in zip(mesh.block_starts, mesh.blocks, strict=False)
    ]
    assert replace(merged, point_data={}, cell_data={}) == mesh


@EVERY_DTYPE
def test_given_data_of_any_dtype_comes_back_as_it_is(values: Any) -> None:
    mesh = interleaved_with(values)
    parts = split(mesh, in_turn(mesh), ghost_layers=1)
    bare = [replace(part, mesh=replace(part.mesh, point_data={}, cell_data={})) for part in parts]
    merged = merge(
        bare,
        point_data={"d": [part.mesh.point_data["d"] for part in parts]},
        cell_data={"d": [in_local_order(part) for part in parts]},
    )
    assert merged == mesh


def in_local_order(part: Any) -> np.ndarray:
    """Return the cell data "d" of a part in local order, whatever its dtype."""
    blocks = part.mesh.cell_data["d"]
    local = np.empty((part.cells.n_local, *blocks[0].shape[1:]), blocks[0].dtype)
    for number, values in enumerate(blocks):
        local[part.cell_rows(number)] = values
    return local


def test_ghost_rows_count_for_nothing() -> None:
    parts = split(quads(4, 1), [0, 0, 1, 1], ghost_layers=1)
    fields = [np.where(np.arange(part.cells.n_local) < part.cells.n_owned, part.part, 99) for part in parts]
    assert merge(parts, cell_data={"f": fields}).cell_data["f"][0].tolist() == [0, 0, 1, 1]


def test_arrays_stand_in_the_order_of_the_parts() -> None:
    parts = split(quads(2, 1), [0, 1])
    assert merge(parts[::-1], cell_data={"f": [[1], [0]]}).cell_data["f"][0].tolist() == [0, 1]


def test_a_part_that_owns_nothing_may_give_anything() -> None:
    parts = split(quads(2, 1), [0, 2], 3)
    merged = merge(parts, cell_data={"f": [np.array([1], np.int8), [], np.array([3], np.int8)]})
    assert merged.cell_data["f"][0].dtype == np.int8


def test_given_data_takes_the_place_of_the_parts_own_with_one_warning() -> None:
    mesh = replace(quads(2, 1), point_data={"u": np.zeros(6)}, cell_data={"v": [np.zeros(2)]})
    parts = split(mesh, [0, 1])
    with pytest.warns(MeshpartWarning, match=r"takes the place of point_data\['u'\], cell_data\['v'\]") as caught:
        merged = merge(
            parts,
            point_data={"u": [np.ones(part.points.n_local) for part in parts]},
            cell_data={"v": [np.ones(1), np.ones(1)]},
        )
    assert len(caught) == 1
    assert (merged.point_data["u"].tolist(), merged.cell_data["v"][0].tolist()) == ([1] * 6, [1, 1])
    assert merge(parts) == mesh


@pytest.mark.parametrize(
    ("given_data", "message"),
    [
        ({"u": [np.zeros(4)]}, r"point_data\['u'\] must have one array for each of 2 parts, got 1"),
        ({"u": [np.zeros(4), np.zeros(1)]}, "part 1 must have 2 rows, or up to 4 with ghosts, got the shape \\(1,\\)"),
        ({"u": [np.zeros(5), np.zeros(2)]}, "part 0 must have 4 rows, or up to 4 with ghosts, got the shape \\(5,\\)"),
        ({"u": [np.zeros(4), 0.0]}, r"got the shape \(\)"),
        ({"u": [np.zeros(4), np.zeros(2, int)]}, r"rows of float64 \(\) in part 0 and of int64 \(\) in part 1"),
        ({"u": [np.zeros((4, 2)), np.zeros(2)]}, r"rows of float64 \(2,\) in part 0 and of float64 \(\) in part 1"),
        ({"u": 3}, "must be a list of arrays"),
        ({1: []}, "names must be str"),
        ([1], "point_data must be a mapping"),
    ],
)
def test_what_does_not_fit_the_parts_is_refused(given_data: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        merge(split(quads(2, 1), [0, 1]), point_data=given_data)


def test_cells_of_a_mesh_without_cells_take_no_rows() -> None:
    mesh = Mesh(np.eye(3), [])
    merged = merge(split(mesh, [], 2), cell_data={"f": [[], []]}, point_data={"g": [[1, 2, 3], []]})
    assert merged.cell_data == {"f": ()}
    assert merged.point_data["g"].tolist() == [1, 2, 3]
    assert merge(split(interleaved(), in_turn(interleaved()))) == interleaved()
