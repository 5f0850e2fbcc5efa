"""Parts that are built a few at a time: the same as all at once, with little in memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from carrying import carrying, with_everything
from hypothesis import given
from hypothesis import strategies as st
from meshes import labels_of, meshes, no_cells, quads, tets, two_and_two

from meshpart import ArgumentError, Mesh, SubMesh, iter_partition, iter_split, partition, split
from meshpart.batches import one_after_another, room_beside


@pytest.mark.parametrize("graphs", [(), ("points", "cells")])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_parts_one_after_another_are_those_built_together(layers: int, graphs: tuple[str, ...]) -> None:
    for mesh in (carrying(two_and_two()), with_everything(), carrying(quads(9, 9)), no_cells(3)):
        nparts = min(7, max(mesh.n_cells - 1, 1))
        options: dict[str, Any] = {"ghost_layers": layers, "graphs": graphs}
        assert list(iter_partition(mesh, nparts, method="sfc", **options)) == partition(
            mesh, nparts, method="sfc", **options
        )
        labels = np.arange(mesh.n_cells) % nparts
        assert list(iter_split(mesh, labels, nparts + 2, **options)) == split(mesh, labels, nparts + 2, **options)


@given(st.data())
def test_parts_of_any_mesh_are_those_built_together(data: st.DataObject) -> None:
    mesh = data.draw(meshes())
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    layers = data.draw(st.integers(0, 3))
    expected = split(mesh, labels, nparts, ghost_layers=layers)
    assert list(iter_split(mesh, labels, nparts, ghost_layers=layers)) == expected


def test_a_part_is_cut_again_one_after_another() -> None:
    half = partition(quads(6, 6), 2, method="sfc")[1]
    assert list(iter_partition(half, 4, method="sfc")) == partition(half, 4, method="sfc")


def test_arguments_are_refused_at_once() -> None:
    for ask in (
        lambda: iter_partition(quads(2, 1), 3),
        lambda: iter_partition(quads(2, 1), 2, ghost_layers=-1),
        lambda: iter_partition(quads(2, 1), 2, graphs="edges"),
        lambda: iter_split(quads(2, 1), [0]),
        lambda: iter_split(quads(2, 1), [0, 1], 1),
        lambda: iter_split(quads(2, 1), [0, 1], threads=0),
    ):
        with pytest.raises(ArgumentError):
            ask()


def batches(
    mesh: Mesh, labels: npt.NDArray[np.int32], nparts: int, room: float | None = None, **options: Any
) -> list[list[SubMesh]]:
    """Return the batches in which the parts of a mesh are built, with room for a quarter of its cells unless told."""
    room = mesh.n_cells / 4 if room is None else room
    built: list[list[SubMesh]] = []

    def build(parts: npt.NDArray[np.int32]) -> list[SubMesh]:
        built.append(split(mesh, labels, nparts, only=parts.tolist(), **options))
        return list(built[-1])

    assert [part.part for part in one_after_another(build, labels, nparts, room)] == list(range(nparts))
    return built


@pytest.mark.parametrize("nparts", [1, 8, 60, 500])
def test_a_batch_is_small_beside_the_mesh_or_one_part_and_there_are_few(nparts: int) -> None:
    mesh = tets(10, 10, 10)
    labels = partition_along_x(mesh, nparts)
    built = batches(mesh, labels, nparts, ghost_layers=1)
    held = [sum(part.cells.n_local for part in batch) for batch in built]
    for batch, count in zip(built, held, strict=True):
        assert len(batch) == 1 or count < mesh.n_cells / 2
    assert len(built) <= min(nparts, 3 + 8 * sum(held) / mesh.n_cells)


def test_parts_that_surely_fit_are_built_at_once() -> None:
    mesh = tets(10, 10, 10)
    labels = partition_along_x(mesh, 60)
    assert [len(batch) for batch in batches(mesh, labels, 60, 16 * mesh.n_cells, ghost_layers=1)] == [60]


def test_parts_that_may_fit_are_built_at_once_after_a_few_have_told_their_ghosts() -> None:
    mesh = tets(10, 10, 10)  # 6000 cells, so that 60 parts own 100 each, and the first 93 cells are not a part
    labels = partition_along_x(mesh, 60)
    assert [len(batch) for batch in batches(mesh, labels, 60, 10 * mesh.n_cells, ghost_layers=1)] == [1, 59]


def test_batches_are_about_as_large_as_each_other() -> None:
    mesh = quads(100, 10)
    labels = partition_along_x(mesh, 100)  # columns of 10 quads; 1 part fits the first 16 quads, 40 have room together
    assert [len(batch) for batch in batches(mesh, labels, 100, 400)] == [1, 33, 33, 33]


def test_a_batch_has_room_for_a_share_of_a_mesh_and_for_so_many_bytes_of_any() -> None:
    assert room_beside(quads(2, 1)) == 2**28 / ((6 * 2 + 2 * 4) * 8 / 2)

    def with_wide_data(mebibytes: int) -> Mesh:
        wide = np.broadcast_to(0.0, (8, mebibytes * 2**17))
        return Mesh(np.zeros((2, 1)), [("line", np.tile([0, 1], (8, 1)))], {}, {"wide": [wide]})

    assert room_beside(with_wide_data(32)) == pytest.approx(8, rel=1e-3)  # 256 MiB
    assert room_beside(with_wide_data(10_000)) == 2


def partition_along_x(mesh: Mesh, nparts: int) -> npt.NDArray[np.int32]:
    labels = np.empty(mesh.n_cells, np.int32)
    labels[np.argsort(mesh.points[mesh.blocks[0].nodes].mean(axis=1)[:, 0], kind="stable")] = (
        np.arange(mesh.n_cells) * nparts // mesh.n_cells
    )
    return labels


def test_parts_without_cells_are_built_many_at_a_time() -> None:
    built = batches(quads(2, 1), np.array([0, 4000], np.int32), 5000)
    assert len(built) < 12


def test_a_part_is_let_go_when_the_next_batch_is_built() -> None:
    alive = []

    def counting(build: Callable[[Any], list[SubMesh]]) -> Callable[[Any], list[SubMesh]]:
        def counted(parts: Any) -> list[SubMesh]:
            alive.append(sum(reference() is not None for reference in references))
            return build(parts)

        return counted

    references: list[Any] = []
    mesh, labels = quads(10, 10), np.arange(100, dtype=np.int32) // 5
    build = counting(lambda parts: split(mesh, labels, only=parts.tolist()))
    for part in one_after_another(build, labels, 20, 25):
        references.append(weakref.ref(part))
        del part
    assert len(alive) > 2
    assert max(alive) == 0
