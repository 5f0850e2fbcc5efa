"""Splitting: which parts are built, along which labels, with how many threads, and what made them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from carrying import carrying
from meshes import DRAWN, QUARTERS, cubes, in_turn, quads, quads_with_lines, strip, tets, with_unused_points

from meshpart import ArgumentError, Mesh, __version__, partition, partition_labels, split
from meshpart.arrays import same


@pytest.mark.parametrize("only", [[0], [2, 0], [1, 1, 1], [3, 2, 1, 0, 3], [], (2,), np.array([1, 3]), iter([2])])
def test_some_parts_are_the_same_as_among_all(only: Any) -> None:
    mesh = carrying(with_unused_points(quads(4, 4)))
    labels = list(QUARTERS)
    wanted = list(only)
    parts = split(mesh, labels, only=iter(wanted))
    assert [part.part for part in parts] == wanted
    assert same(parts, [split(mesh, labels)[number] for number in wanted])


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ([4], "only must be between 0 and 3, got 4"),
        ([-1], "only must be between 0 and 3, got -1"),
        ([1.0], "only must be an integer, got 1.0"),
        ([True], "only must be an integer, got True"),
        (["1"], "only must be an integer, got '1'"),
        (1, "only must be a list of part numbers, got 1"),
        ("12", "only must be a list of part numbers, got '12'"),
    ],
)
def test_parts_that_do_not_exist_are_refused(only: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        split(quads(4, 4), QUARTERS, only=only)
    with pytest.raises(ArgumentError, match=message):
        partition(quads(4, 4), 4, only=only)


@pytest.mark.parametrize(
    ("labels", "nparts", "message"),
    [
        ([0, 1], None, r"labels must have the shape \(3,\), got \(2,\)"),
        ([[0, 1, 0]], None, r"labels must have the shape \(3,\), got \(1, 3\)"),
        (0, None, r"labels must have the shape \(3,\), got \(\)"),
        ([0, -1, 0], None, "labels: cell 1 has -1, it must not be negative"),
        ([0, 1, 2], 2, r"labels: cell 2 has 2, outside 0..1"),
        ([0.0, 1.0, 0.0], None, "labels must be integers, got the dtype float64"),
        ([False, True, False], None, "labels must be integers, got the dtype bool"),
        (["0", "1", "0"], None, "labels must be integers, got the dtype <U1"),
        ([0, 1, 2**31], None, "labels: cell 2 has 2147483648, outside 0"),
        ([0, 0, 0], 0, "nparts must be between 1 and 2147483647, got 0"),
        ([0, 0, 0], 1.0, "nparts must be an integer, got 1.0"),
        ([0, 0, 0], True, "nparts must be an integer, got True"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: Any, nparts: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        split(strip(3), labels, nparts)


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i2", "i4", "u8", ">i8"])
def test_labels_of_any_integer_dtype_give_the_same_parts(dtype: str) -> None:
    wide = np.repeat(np.array([0, 2, 1, 2], dtype), 2)
    assert same(split(strip(4), wide[::2]), split(strip(4), [0, 2, 1, 2]))
    assert same(split(strip(4), wide[::2], np.int64(3)), split(strip(4), [0, 2, 1, 2]))


@pytest.mark.parametrize("mesh", [cubes(6, 5, 4), quads_with_lines(20, 10), carrying(tets(2, 2, 2))], ids=repr)
def test_parts_do_not_depend_on_the_number_of_threads(mesh: Mesh) -> None:
    labels = np.random.default_rng(3).integers(0, 9, mesh.n_cells)
    parts = split(mesh, labels, threads=1)
    assert same(parts, split(mesh, labels, threads=4))
    assert same(parts, split(mesh, labels))


def test_partition_splits_along_its_labels() -> None:
    mesh = carrying(quads_with_lines(5, 4))
    parts = partition(mesh, 4)
    labels = partition_labels(mesh, 4)
    assert len(parts) == 4
    for part, other in zip(parts, split(mesh, labels), strict=True):
        assert same(replace(part, provenance=other.provenance), other)


def test_a_part_says_what_made_it() -> None:
    made = partition(quads(2, 2), 2, imbalance=0.25, seed=7)[0].provenance
    assert made.nparts == 2
    assert made.version == __version__
    assert made.imbalance == 0.25
    assert made.seed == 7
    given = split(quads(2, 2), [0, 0, 1, 1])[0].provenance
    assert (given.method, given.nparts, given.imbalance, given.seed) == ("labels", 2, None, None)


def test_the_repr_of_a_part_counts_owned_and_ghosts() -> None:
    part = split(quads(4, 4), QUARTERS)[3]
    assert repr(part) == "<SubMesh 3 of 4: 4 cells + 0 ghosts, 4 points + 5 ghosts>"


@pytest.mark.parametrize("mesh", DRAWN, ids=repr)
def test_parts_survive_pickling(mesh: Mesh) -> None:
    parts = split(carrying(mesh), in_turn(mesh), 4)
    assert same(pickle.loads(pickle.dumps(parts)), parts)


def test_the_pickle_of_a_part_holds_the_part_and_not_the_mesh() -> None:
    # the arrays of all parts lie in one piece of memory; 100 parts pickle to 1 % each, and a little of their own
    mesh = quads(100, 100)
    whole = len(pickle.dumps(mesh))
    part = split(mesh, np.arange(mesh.n_cells) // 100)[50]
    assert len(pickle.dumps(part)) < whole / 20
