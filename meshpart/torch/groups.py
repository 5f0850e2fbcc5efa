"""Groups of processes: who belongs to one, and how all of its ranks come to raise the same error."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

from meshpart.errors import ArgumentError, MeshpartError

GroupLike: TypeAlias = "dist.ProcessGroup | DeviceMesh | None"


@dataclass(frozen=True)
class Group:
    """A group of processes of torch.distributed, or this process alone where that is not in use.

    Parameters
    ----------
    process_group : ProcessGroup or None
        None of a process alone.
    rank, size : int
        Which process of the group this is, of how many.
    """

    process_group: dist.ProcessGroup | None = None
    rank: int = 0
    size: int = 1

    def __deepcopy__(self, memo: dict[int, Any]) -> Group:
        return self  # the copy of a model talks to the same processes

    @property
    def device(self) -> torch.device:
        """Where tensors must lie for this group's backend to send them."""
        if self.process_group is not None and dist.get_backend(self.process_group) == "nccl":
            return torch.device("cuda", torch.cuda.current_device())
        return torch.device("cpu")

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the tensors of all ranks, of one shape and dtype, stacked: (size, ...). Collective."""
        mine = tensor.detach().to(self.device).contiguous()
        if self.process_group is None:
            return mine[None]
        everyone = mine.new_empty((self.size, *mine.shape))
        dist.all_gather(list(everyone.unbind()), mine, group=self.process_group)
        return everyone

    def all_gather_numbers(self, numbers: Sequence[int]) -> list[list[int]]:
        """Return the integers of all ranks, as many of each, rank by rank. Collective."""
        rows: list[list[int]] = self.all_gather(torch.tensor(numbers, dtype=torch.int64, device="cpu")).tolist()
        return rows

    def all_gather_object(self, value: Any) -> list[Any]:
        """Return what all ranks gave, rank by rank. It is pickled. Collective."""
        if self.process_group is None:
            return [copy.copy(value)]
        everyone: list[Any] = [None] * self.size
        dist.all_gather_object(everyone, value, group=self.process_group)
        return everyone

    def broadcast(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the tensor of rank 0, which has the shape and dtype of each rank's own. Collective."""
        if self.rank == 0:
            sent = tensor.detach().to(self.device).resolve_conj().resolve_neg().contiguous()
        else:
            sent = torch.empty(tensor.shape, dtype=tensor.dtype, device=self.device)
        if self.process_group is not None and sent.numel():
            root = dist.get_global_rank(self.process_group, 0)
            dist.broadcast(sent.view(-1).view(torch.uint8), root, group=self.process_group)
        return sent

    def broadcast_object(self, value: Any) -> Any:
        """Return what rank 0 gave; that of the others is ignored. It is pickled. Collective."""
        if self.process_group is None:
            return value
        sent = [value]
        dist.broadcast_object_list(
            sent, dist.get_global_rank(self.process_group, 0), group=self.process_group, device=self.device
        )
        return sent[0]

    def raise_together(self, error: Exception | None) -> None:
        """Raise on every rank if any rank has an error, with the words of the first that has one. Collective.

        Errors of meshpart's own keep their class; any other is raised as it is where it happened, and as a
        MeshpartError elsewhere.
        """
        failed = [flag for (flag,) in self.all_gather_numbers([error is not None])]
        if not any(failed):
            return
        said = self.all_gather_object(None if error is None else (type(error), str(error)))
        if error is not None and not isinstance(error, MeshpartError):
            raise error
        first = failed.index(1)
        kind, words = said[first]
        where = f"rank {first}: " if self.size > 1 else ""
        raise (kind if issubclass(kind, MeshpartError) else MeshpartError)(f"{where}{words}") from error

    @contextmanager
    def all_or_none(self) -> Iterator[None]:
        """Let what is inside, which must have no collective, succeed on all ranks or raise on all. Collective."""
        failure: Exception | None = None
        try:
            yield
        except Exception as error:
            failure = error
        self.raise_together(failure)


def as_group(group: GroupLike = None, name: str = "group") -> Group:
    """Return a group.

    Parameters
    ----------
    group : ProcessGroup or 1-D DeviceMesh, optional
        The default group of torch.distributed if left out, and this process alone where that was not initialised.
    name : str
        Of the argument, for messages.

    Raises
    ------
    ArgumentError
        If it is none of these, or this process is not in it.
    """
    if isinstance(group, Group):
        return group
    if group is None:
        if not (dist.is_available() and dist.is_initialized()):
            return Group()
        group = dist.group.WORLD
    elif isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise ArgumentError(
                f"{name} must be a DeviceMesh of one dimension, got {group.ndim}: choose one, as in mesh['domain']"
            )
        if group.get_coordinate() is None:
            raise ArgumentError(f"{name}: this process is not in it")
        group = group.get_group()
    elif group == dist.GroupMember.NON_GROUP_MEMBER:  # what `new_group` returns to those outside
        raise ArgumentError(f"{name}: this process is not in it")
    elif not isinstance(group, dist.ProcessGroup):
        raise ArgumentError(f"{name} must be a ProcessGroup, a DeviceMesh or None, got {type(group).__name__}")
    rank = dist.get_rank(group)
    if rank < 0:
        raise ArgumentError(f"{name}: this process is not in it")
    return Group(group, rank, dist.get_world_size(group))
