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
from meshpart.batches import one_after_another


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


def batches(mesh: Mesh, labels: npt.NDArray[np.int32], nparts: int, **options: Any) -> list[list[SubMesh]]:
    """Return the batches in which the parts of a mesh are built."""
    built: list[list[SubMesh]] = []

    def build(parts: npt.NDArray[np.int32]) -> list[SubMesh]:
        built.append(split(mesh, labels, nparts, only=parts.tolist(), **options))
        return list(built[-1])

    assert [part.part for part in one_after_another(build, labels, nparts)] == list(range(nparts))
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
    for part in one_after_another(build, labels, 20):
        references.append(weakref.ref(part))
        del part
    assert len(alive) > 2
    assert max(alive) == 0
