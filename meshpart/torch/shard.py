"""The bridge to PhysicsNeMo: owned rows as its ShardTensor, and its exchange in place of ours.

The only file that imports physicsnemo, and that only when a ShardTensor is wanted.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

from meshpart.errors import ArgumentError, MissingDependencyError
from meshpart.torch.groups import Group, as_group


def shard_tensor(group: Group, counts: torch.Tensor, x_owned: torch.Tensor, mesh: DeviceMesh) -> Any:
    """Return the owned rows of all ranks as one ShardTensor: see `Halo.shard_tensor`.

    The shapes of all shards are given: where they are left out, physicsnemo asks the other ranks, for which it needs
    CUDA.
    """
    from torch.distributed.tensor import Shard  # which takes time to import

    _check_mesh(group, mesh)
    if x_owned.device.type != mesh.device_type:
        raise ArgumentError(f"x_owned is on {x_owned.device}, mesh is one of {mesh.device_type} devices")
    shapes = tuple((n_rows, *x_owned.shape[1:]) for n_rows in counts.tolist())
    return _shard_tensor_class().from_local(x_owned.contiguous(), mesh, [Shard(0)], sharding_shapes={0: shapes})


def shard_order(group: Group, counts: torch.Tensor, owned_ids: torch.Tensor) -> torch.Tensor:
    """Return the global ids of the owned rows of all ranks, rank after rank: see `Halo.shard_order`. Collective."""
    numbers = counts.tolist()
    padded = owned_ids.new_zeros(max(numbers))  # gloo gathers tensors of one shape
    padded[: len(owned_ids)] = owned_ids
    rows = group.all_gather(padded).unbind()
    ids = torch.cat([of_rank[:n_rows] for of_rank, n_rows in zip(rows, numbers, strict=True)])
    return ids.to(owned_ids.device)


def indexed_all_to_all_v_args(group: Group, send_index: torch.Tensor, send_splits: list[int]) -> dict[str, Any]:
    """Return what physicsnemo's function takes: see `Halo.indexed_all_to_all_v_args`. Collective."""
    return {
        "indices": list(send_index.split(send_splits)),
        "sizes": group.all_gather_numbers(send_splits),
        "group": group.process_group,
    }


def _check_mesh(group: Group, mesh: DeviceMesh) -> None:
    """Refuse a mesh that is not the group's ranks in the group's order, which is that of the parts."""
    if not isinstance(mesh, DeviceMesh):
        raise ArgumentError(f"mesh must be a DeviceMesh, got {type(mesh).__name__}")
    as_group(mesh, "mesh")  # of one dimension, and with this process
    ranks = mesh.mesh.flatten().tolist()
    process_group = group.process_group
    expected = [dist.get_rank()] if process_group is None else dist.get_process_group_ranks(process_group)
    if ranks != expected:
        raise ArgumentError(f"mesh has the ranks {ranks}, the halo's group the ranks {expected}: they must be the same")


def _shard_tensor_class() -> Any:
    """Return the class of physicsnemo, with its operations registered: by itself it does that for CUDA only."""
    try:
        from physicsnemo.domain_parallel import ShardTensor, register_custom_ops
    except ModuleNotFoundError as error:
        needed = error.name or str(error)
        raise MissingDependencyError(
            f"shard_tensor needs {needed}: pip install 'meshpart[physicsnemo]', in an environment of its own"
        ) from error
    register_custom_ops()
    return ShardTensor
