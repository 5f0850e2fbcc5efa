"""The parts that these tests work on, one on each rank, and values of their entities."""

from __future__ import annotations

import os
import warnings
from typing import Any
from unittest import mock

import pytest
import torch
import torch.distributed as dist
from meshes import sfc_labels, triangles
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

import meshpart
import meshpart.torch as mt
from meshpart import Mesh, SubMesh

# In a rank warnings are errors: here only our own, physicsnemo and its torch have some at every turn.
warnings.simplefilter("ignore")
warnings.filterwarnings("error", module="meshpart")

MESH = triangles(9, 8)


def part_of(mesh: Mesh, kind: str, layers: int = 1, group: Any = None) -> SubMesh:
    """This rank's part: the first has more than half of the mesh; in kind "empty" the last has nothing."""
    size = dist.get_world_size(group)
    labels = sfc_labels(mesh, 2 * size) - size
    labels[labels < 0] = 0
    if kind == "empty":
        labels[labels == size - 1] = 0
    return meshpart.split(mesh, labels, size, ghost_layers=layers, only=[dist.get_rank(group)])[0]


def halo_of(kind: str, entity: str = "points", group: Any = None) -> mt.Halo:
    return mt.Halo(part_of(MESH, kind, group=group), entity, group)


def all_ranks() -> DeviceMesh:
    return init_device_mesh("cpu", (dist.get_world_size(),))


def values(n_rows: int, *trailing: int, seed: int = 5) -> Any:
    """Values of all points of a mesh, the same on all ranks: float64, (n_rows, ...)."""
    return torch.randn(n_rows, *trailing, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def owned(halo: mt.Halo, whole: Any) -> Any:
    """Rows of this rank, as a leaf."""
    return whole[halo.global_ids[: halo.n_owned]].clone().requires_grad_()


def start_manager() -> None:
    """Let physicsnemo's manager know its rank, for what asks it.

    It fails, but not before it knows: that torch is initialised already, or that there is no CUDA.
    """
    from physicsnemo.distributed import DistributedManager

    size, rank = str(dist.get_world_size()), str(dist.get_rank())
    launched = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    if not DistributedManager.is_initialized():
        with mock.patch.dict(os.environ, launched), pytest.raises(ValueError, match=r"device_id|twice"):
            DistributedManager.initialize()
