"""Copies of a module, one on each rank: check that they are the same, or make them so."""

from __future__ import annotations

import torch
from torch import nn

from meshpart.errors import ArgumentError
from meshpart.torch.alike import bits, check_alike, few, hashed
from meshpart.torch.groups import Group, GroupLike, as_group
from meshpart.torch.layouts import check_module, check_tensor, check_writable, described, laid_out, own, place, whole


def assert_replicated(module: nn.Module, group: GroupLike = None) -> None:
    """Check that a module's parameters and buffers are the same on all ranks, bit by bit. Collective.

    Hashes are gathered, not tensors. Of a tensor in shards (FSDP2), those are compared that should be equal: the
    copies of a shard on a mesh of several dimensions, or on several meshes. A shard that one rank alone holds has
    nothing to differ from.

    Parameters
    ----------
    module : torch.nn.Module
    group : ProcessGroup or 1-D DeviceMesh, optional
        The ranks that hold it; all of them if left out.

    Raises
    ------
    ArgumentError
        On every rank: with names and ranks, if names, shapes, dtypes or values differ. NaNs of the same bits are equal;
        0.0 and -0.0 are not.

    Examples
    --------
    >>> assert_replicated(torch.nn.Linear(3, 2))
    """
    ranks = as_group(group)
    tensors = _checked(module, ranks)
    numbers = [[*hashed(bits(own(tensor))), hashed(place(tensor).encode())[0]] for tensor in tensors.values()]
    everyone = ranks.all_gather(torch.tensor(numbers, dtype=torch.int64, device="cpu").view(len(tensors), 3)).tolist()
    differing = []
    for at, name in enumerate(tensors):
        first: dict[int, int] = {}  # rank of those with the same place
        unlike: dict[int, list[int]] = {}
        for rank in range(ranks.size):
            reference = first.setdefault(everyone[rank][at][2], rank)
            if everyone[rank][at] != everyone[reference][at]:
                unlike.setdefault(reference, []).append(rank)
        differing += [f"{name!r} of {_ranks(those)} is not that of rank {one}" for one, those in unlike.items()]
    if differing:
        raise ArgumentError(
            f"module: {few(differing)}; sync_module(module) gives every rank the values of rank 0 "
            "(ranks count within the group)"
        )


def sync_module(module: nn.Module, group: GroupLike = None) -> None:
    """Give every rank the parameters and buffers that rank 0 of the group has, in place. Collective.

    Optimizers go on with the same tensors; `requires_grad` and gradients stay as they are. Tensors in shards (FSDP2)
    stay in shards.

    Parameters
    ----------
    module : torch.nn.Module
    group : ProcessGroup or 1-D DeviceMesh, optional
        The ranks that hold it; all of them if left out.

    Raises
    ------
    ArgumentError
        On every rank, and nothing is changed: if names, shapes or dtypes differ between ranks, or a tensor cannot be
        written to, as one that `expand` made.
    """
    ranks = as_group(group)
    tensors = _checked(module, ranks)
    with ranks.all_or_none():
        for name, tensor in tensors.items():
            check_writable(f"module: {name!r}", tensor)
    with torch.no_grad():
        for tensor in tensors.values():
            own(tensor).copy_(own(laid_out(ranks.broadcast(whole(tensor)), tensor)))


def _checked(module: nn.Module, ranks: Group) -> dict[str, torch.Tensor]:
    """Return the parameters and buffers by name, tied ones once; raise if ranks have other ones. Collective."""
    with ranks.all_or_none():
        check_module("module", module)
        tensors = dict([*module.named_parameters(), *module.named_buffers()])
        for name, tensor in tensors.items():
            check_tensor(f"module: {name!r}", tensor, ranks)
    check_alike({repr(name): described(tensor) for name, tensor in tensors.items()}, "module", ranks)
    return tensors


def _ranks(numbers: list[int]) -> str:
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
