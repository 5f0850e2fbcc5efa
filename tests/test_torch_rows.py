"""Tensors of every kind: verbs take them as they are, or refuse them with an error of meshpart's own."""

from __future__ import annotations

import pytest
from meshes import sfc_labels, triangles

import meshpart

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(9, 8)


def part_here() -> meshpart.SubMesh:
    rank, size = dist.get_rank(), dist.get_world_size()
    return meshpart.split(MESH, sfc_labels(MESH, size), size, ghost_layers=1, only=[rank])[0]


def elsewhere() -> None:
    """What is made for the CPU stays there, whatever torch's default device is."""
    with torch.device("meta"):
        halo = mt.Halo(part_here())
        graph = mt.part_graph(halo.part)
        x = halo.global_ids.double()
        assert torch.equal(halo.exchange(x[: halo.n_owned]), x)
        assert halo.loss(x[: halo.n_owned]) == (halo.n_global - 1) / 2
        found = halo.gather(x[: halo.n_owned])
    assert halo.counts.sum() == halo.n_global
    assert {value.device.type for value in graph.values() if isinstance(value, torch.Tensor)} == {"cpu"}
    if found is not None:
        assert found.tolist() == list(range(halo.n_global))


def test_the_default_device_does_not_matter():
    run(2, elsewhere)
