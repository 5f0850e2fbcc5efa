"""meshpart.torch.Halo: its verbs over real ranks against the NumPy exchange over all parts in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from meshes import cubes, interleaved, quads, quads_and_triangles, sfc_labels, tets, triangles

import meshpart
from meshpart import Mesh, SubMesh

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESHES = {"triangles": triangles(9, 8), "cubes": cubes(4, 3, 3), "mixed": quads_and_triangles(12), "five": interleaved()}


def labels_of(mesh: Mesh, size: int, kind: str) -> Any:
    """Labels into `size` parts: by the curve, scattered, one part with most of all, or one without a cell."""
    if kind == "curve":
        return sfc_labels(mesh, size)
    rng = np.random.default_rng(3)
    labels = rng.integers(0, size, mesh.n_cells)
    if kind == "uneven":
        labels = np.where(np.arange(mesh.n_cells) < 0.9 * mesh.n_cells, size - 1, labels)
    if kind == "empty":
        labels[labels == size - 1] = 0
    return labels


def part_of(mesh: str, kind: str, layers: int) -> SubMesh:
    """This rank's part."""
    size = dist.get_world_size()
    return meshpart.split(
        MESHES[mesh], labels_of(MESHES[mesh], size, kind), size, ghost_layers=layers, only=[dist.get_rank()]
    )[0]


def ids_of(part: SubMesh, entity: str) -> Any:
    return part.points if entity == "points" else part.cells


SIZES = pytest.mark.parametrize("size", [1, 2, 3, 4, 8])


# -- exchange -----------------------------------------------------------------------------------------------


def exchange_all(mesh: str, kind: str, layers: int, entity: str) -> None:
    part = part_of(mesh, kind, layers)
    halo = mt.Halo(part, entity)
    ids = torch.tensor(ids_of(part, entity).global_ids)
    n = halo.n_owned
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.int8, torch.bool, torch.complex64):
        for trailing in ((), (3,), (2, 2), (0,)):
            x = (ids.view(-1, *[1] * len(trailing)) * 7 % 101).expand(-1, *trailing).to(dtype)
            assert torch.equal(halo.exchange(x[:n]), x)
            assert torch.equal(halo.ghosts(x[:n]), x[n:])
            assert torch.equal(halo.start(x[:n]).wait(), x)
            stale = torch.cat([x[:n], torch.zeros_like(x[n:])])
            assert torch.equal(halo.refresh(stale), x)
            assert torch.equal(halo(stale), x)
            assert halo.refresh_(stale) is stale
            assert torch.equal(stale, x)


@SIZES
@pytest.mark.parametrize("kind", ["curve", "scattered", "uneven", "empty"])
def test_ghosts_get_the_values_of_their_owners(size, kind):
    run(size, exchange_all, "triangles", kind, 1, "points")
    run(size, exchange_all, "five", kind, 2, "cells")
