"""Tensors that ranks may hold in shards (DTensor, which FSDP2 makes): wholes from shards, shards from wholes."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parameter import is_lazy

from meshpart.errors import ArgumentError
from meshpart.torch.groups import Group


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor, without its history; from its shards where it has some, which is collective over its mesh."""
    return tensor.detach().full_tensor() if isinstance(tensor, DTensor) else tensor.detach()


def laid_out(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return a whole tensor that every rank has, on the device of another, and in shards as that one. No collective."""
    value = value.detach().to(like.device)
    if not isinstance(like, DTensor):
        return value
    return distribute_tensor(value, like.device_mesh, like.placements, src_data_rank=None)


def own(tensor: torch.Tensor) -> torch.Tensor:
    """Return what this rank holds of a tensor: a view of it."""
    tensor = tensor.detach()
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def place(tensor: torch.Tensor) -> str:
    """Return where in a tensor that lies which this rank holds: ranks with the same place hold the same."""
    if not isinstance(tensor, DTensor):
        return "whole"
    coordinates = tensor.device_mesh.get_coordinate() or []
    return " ".join(
        f"{at} of {placement}"
        for at, placement in zip(coordinates, tensor.placements, strict=False)  # no coordinates outside the mesh
        if not placement.is_replicate()
    )


def described(tensor: torch.Tensor) -> str:
    """Return the dtype, the shape and the layout of a tensor."""
    text = dtype_and_shape(tensor)
    return f"{text} in shards {tensor.placements}" if isinstance(tensor, DTensor) else text


def dtype_and_shape(tensor: torch.Tensor) -> str:
    """Return them as messages say them."""
    return f"{tensor.dtype} of shape {tuple(tensor.shape)}".removeprefix("torch.")


def check_module(name: str, module: object) -> None:
    """Refuse what is no module, or holds its parameters in FSDP1's way; put FSDP2's into their shards."""
    from torch.distributed.fsdp import FSDPModule, FullyShardedDataParallel

    if not isinstance(module, nn.Module):
        raise ArgumentError(f"{name} must be a torch.nn.Module, got {type(module).__name__}")
    for part in module.modules():
        if isinstance(part, FullyShardedDataParallel):
            raise ArgumentError(f"{name} is wrapped in FullyShardedDataParallel (FSDP1): use fully_shard (FSDP2)")
        if isinstance(part, FSDPModule):  # which is not in shards between a forward pass and the backward pass
            part.reshard()


def check_tensor(name: str, tensor: torch.Tensor, group: Group) -> None:
    """Refuse a tensor that could be neither compared nor sent: without values, not dense, or in shards elsewhere."""
    check_dense(name, tensor)
    if isinstance(tensor, DTensor):
        members = [] if group.process_group is None else dist.get_process_group_ranks(group.process_group)
        others = set(tensor.device_mesh.mesh.flatten().tolist()) - set(members)
        if others:
            raise ArgumentError(f"{name} is in shards on ranks that are not in the group, as rank {min(others)}")


def check_writable(name: str, tensor: torch.Tensor) -> None:
    """Refuse a tensor whose elements cannot be written one by one, as one that `expand` made."""
    if any(step == 0 and size > 1 for step, size in zip(tensor.stride(), tensor.shape, strict=True)):
        raise ArgumentError(f"{name} was expanded, several of its elements are one: clone it")


def check_dense(name: str, tensor: torch.Tensor) -> None:
    """Refuse a tensor without values, or one that is sparse, quantized or nested."""
    if is_lazy(tensor):
        raise ArgumentError(f"{name} has no shape yet: call the module once, with an input")
    if tensor.is_meta:
        raise ArgumentError(f"{name} is on the meta device, without values: call to_empty(device=...) first")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
        raise ArgumentError(f"{name} is no dense tensor")
