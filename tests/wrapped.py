"""A network on the parts of a mesh, wrapped in real ways, and the gradients that a process alone gets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from meshes import sfc_labels, triangles

import meshpart

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(9, 8)
SAME = 1e-12


class Net(nn.Module):
    """Two steps of message passing."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encode, self.decode = nn.Linear(2, 8).double(), nn.Linear(8, 1).double()
        self.steps = nn.ModuleList(nn.Linear(16, 8).double() for _ in range(2))

    def forward(self, x: Any, edges: Any, refresh: Callable[[Any], Any]) -> Any:
        senders, receivers = edges
        h = torch.tanh(self.encode(x))
        for step in self.steps:
            h = refresh(h)
            messages = torch.tanh(step(torch.cat([h[senders], h[receivers]], dim=1)))
            h = h + torch.zeros_like(h).index_add(0, receivers, messages)
        return self.decode(h)


def flat(module: nn.Module) -> Any:
    """The gradients of all parameters in a row."""
    grads = [parameter.grad for parameter in module.parameters()]
    return torch.cat([(g.full_tensor() if hasattr(g, "full_tensor") else g).flatten() for g in grads])


def values(sample: int) -> Any:
    """What each point has, in a sample."""
    ids = torch.arange(MESH.n_points, dtype=torch.float64)
    return torch.stack([torch.cos((1 + sample) * ids), ids / MESH.n_points], dim=1)


def serial(sample: int = 0) -> Any:
    """The gradient of a process alone."""
    graph = meshpart.point_graph(MESH)
    receivers = torch.repeat_interleave(torch.arange(MESH.n_points), torch.tensor(graph.offsets).diff())
    net = Net()
    net(values(sample), (torch.tensor(graph.targets), receivers), lambda h: h).square().mean().backward()
    return flat(net)


class Rank:
    """This rank's part, in a domain of the ranks of a group: small parts and large ones, one may be empty."""

    def __init__(self, group: Any = None, sample: int = 0, empty: bool = False) -> None:
        rank, size = dist.get_rank(group), dist.get_world_size(group)
        labels = sfc_labels(MESH, size)
        labels[: MESH.n_cells // 3] = size - 1
        if empty:
            labels[labels == 0] = size - 1
        part = meshpart.split(MESH, labels, size, ghost_layers=1)[rank]
        self.halo = mt.Halo(part, "points", group)
        self.edges = mt.part_graph(part, "points", steps=1)["edge_index"]
        self.x = self.halo.take(values(sample))
        self.n_global = MESH.n_points

    def rows(self, module: nn.Module) -> Any:
        """The loss of each owned row."""
        return module(self.x, self.edges, self.halo.refresh)[: self.halo.n_owned].square()

    def share(self, module: nn.Module) -> Any:
        return self.rows(module).sum() / self.n_global


def world() -> int:
    return dist.get_world_size()


def add_up(module: nn.Module) -> None:
    for parameter in module.parameters():
        dist.all_reduce(parameter.grad)


def sharded(module: nn.Module) -> Any:
    mesh = init_device_mesh("cpu", (world(),))
    fully_shard(module.decode if hasattr(module, "decode") else module.outer, mesh=mesh)
    return fully_shard(module, mesh=mesh)


def all_reduced(value: Any) -> Any:
    """The sum over all ranks, whose backward is a sum over all ranks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has a newer name for it, without a gradient
        return torch.distributed.nn.functional.all_reduce(value)


def compared(found: Any, expected: Any) -> tuple[float, float, float]:
    """The ratio of gradients, what is left of their difference then, and how far ranks are from the first."""
    everyone = [torch.empty_like(found) for _ in range(world())]
    dist.all_gather(everyone, found)
    largest = expected.abs().max()
    ratio = found @ expected / (expected @ expected)
    rest = (found - ratio * expected).abs().max() / largest
    return float(ratio), float(rest), float((found - everyone[0]).abs().max() / largest)


def bare(module: nn.Module) -> nn.Module:
    return module


def layout() -> tuple[Any, Rank]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    return mesh, Rank(mesh["domain"].get_group(), sample=mesh["dp"].get_local_rank())


OVER: dict[str, Callable[[Any, Any], Any]] = {
    "DDP over the world": lambda mesh, m: DDP(m),
    "DDP over dp": lambda mesh, m: DDP(m, process_group=mesh["dp"].get_group()),
    "DDP over domain": lambda mesh, m: DDP(m, process_group=mesh["domain"].get_group()),
    "FSDP2 over both": lambda mesh, m: fully_shard(m, mesh=mesh),
    "FSDP2 over both, flat": lambda mesh, m: sharded(m),
    "FSDP2 over dp": lambda mesh, m: fully_shard(m, mesh=mesh["dp"]),
}
