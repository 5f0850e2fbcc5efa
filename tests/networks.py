"""A small network that passes messages, for the ranks of a group and for the serial run that they must equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.distributed.tensor import DTensor

Aggregate = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]  # messages, receivers, number of receivers

NODE, EDGE, OUT, WIDTH = 3, 2, 2, 5  # columns: of what is given of nodes and of edges, of the answer, inside


def summed(messages: torch.Tensor, receivers: torch.Tensor, n: int) -> torch.Tensor:
    return messages.new_zeros(n, *messages.shape[1:]).index_add(0, receivers, messages)


def averaged(messages: torch.Tensor, receivers: torch.Tensor, n: int) -> torch.Tensor:
    """Return the mean of what each receives, of nothing 0."""
    count = summed(torch.ones_like(messages[:, :1]), receivers, n)
    return summed(messages, receivers, n) / count.clamp(min=1)


def largest(messages: torch.Tensor, receivers: torch.Tensor, n: int) -> torch.Tensor:
    """Return the largest of what each receives, of nothing 0."""
    most = _most(messages, receivers, n)
    return torch.where(most.isinf(), 0, most)


def _most(messages: torch.Tensor, receivers: torch.Tensor, n: int) -> torch.Tensor:
    """Return it, of nothing -inf. From zeros the gradient of a largest one that is 0 would be lost."""
    index = receivers[:, None].expand_as(messages)
    return messages.new_full((n, *messages.shape[1:]), -torch.inf).scatter_reduce(0, index, messages, "amax")


AGGREGATES: dict[str, Aggregate] = {"sum": summed, "mean": averaged, "max": largest}


def over_copies(halo: Any, how: str) -> Aggregate:
    """Return how messages are aggregated where each rank has some of those to a shared point, as AGGREGATES do it."""

    def aggregate(messages: torch.Tensor, receivers: torch.Tensor, n: int) -> torch.Tensor:
        if how == "sum":
            return halo.assemble(summed(messages, receivers, n))
        if how == "mean":
            count = halo.assemble(summed(torch.ones_like(messages[:, :1]), receivers, n))
            return halo.assemble(summed(messages, receivers, n)) / count.clamp(min=1)
        most = halo.assemble(_most(messages.detach(), receivers, n), "max")
        hit = (messages == most[receivers]).to(messages.dtype)
        total, count = halo.assemble(summed(torch.cat([hit * messages, hit], 1), receivers, n)).chunk(2, 1)
        return total / count.clamp(min=1)

    return aggregate


class Step(nn.Module):
    """One step: each edge looks at its ends, and each node at what its edges send."""

    def __init__(self, aggregate: Aggregate) -> None:
        super().__init__()
        self.aggregate = aggregate
        self.edge = nn.Sequential(nn.Linear(3 * WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))
        self.node = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x: torch.Tensor, e: torch.Tensor, edge_index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        senders, receivers = edge_index
        e = e + self.edge(torch.cat([e, x[senders], x[receivers]], 1))
        return x + self.node(torch.cat([x, self.aggregate(e, receivers, len(x))], 1)), e


class Network(nn.Module):
    """The same on all ranks: its parameters are drawn from one seed, in float64.

    Parameters
    ----------
    aggregate : callable
    n_steps : int
    refresh : callable
        What is done to the values of nodes before each step.
    """

    def __init__(self, aggregate: Aggregate, n_steps: int, refresh: Any = None) -> None:
        super().__init__()
        self.refresh = refresh
        self.of_nodes, self.of_edges = nn.Linear(NODE, WIDTH), nn.Linear(EDGE, WIDTH)
        self.steps = nn.ModuleList(Step(aggregate) for _ in range(n_steps))
        self.answer = nn.Linear(WIDTH, OUT)
        self.double()
        generator = torch.Generator().manual_seed(5)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.5, 0.5, generator=generator)

    def forward(self, x: torch.Tensor, e: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        x, e = self.of_nodes(x).tanh(), self.of_edges(e)
        for step in self.steps:
            if self.refresh is not None:
                x = self.refresh(x)
            x, e = step(x, e, edge_index)
        return self.answer(x)


def drawn(name: str, *shape: int) -> torch.Tensor:
    """Return values of the whole mesh, the same on every rank, by what they are called."""
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def gradients(model: nn.Module) -> list[torch.Tensor]:
    """Return the gradients of all parameters, whole ones where ranks have some of their rows each."""
    grads = [parameter.grad for parameter in model.parameters()]
    return [grad.full_tensor() if isinstance(grad, DTensor) else grad for grad in grads]
