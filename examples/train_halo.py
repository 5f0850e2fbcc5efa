"""A message-passing network on the example mesh: the run on N ranks gives the loss and the gradients of a serial run.

torchrun --nproc-per-node 4 examples/train_halo.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import meshpart
import meshpart.torch as mt

MESH = Path(__file__).parent / "bracket.msh"
AGREE = 1e-12  # relative to the largest
Refresh = Callable[[torch.Tensor], torch.Tensor]


class Net(torch.nn.Module):
    """A value for each point, from its position and what it hears from its neighbours in three steps."""

    def __init__(self, width: int = 16, steps: int = 3) -> None:
        super().__init__()
        self.encode, self.decode = torch.nn.Linear(3, width), torch.nn.Linear(width, 1)
        self.steps = torch.nn.ModuleList(torch.nn.Linear(2 * width, width) for _ in range(steps))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, refresh: Refresh) -> torch.Tensor:
        """Return (n_owned or more, 1); `refresh` fills the ghost rows of what it is given."""
        senders, receivers = edge_index
        h = torch.tanh(self.encode(x))
        for step in self.steps:
            h = refresh(h)
            messages = torch.tanh(step(torch.cat([h[senders], h[receivers]], dim=1)))
            total = torch.zeros_like(h).index_add(0, receivers, messages)
            degree = torch.zeros(len(h), 1, dtype=h.dtype).index_add(0, receivers, torch.ones_like(messages[:, :1]))
            h = h + total / degree.clamp(min=1)
        return self.decode(h)


def new_net() -> Net:
    """Return the same net on all ranks."""
    torch.manual_seed(0)
    return Net().double()


def target_of(x: torch.Tensor) -> torch.Tensor:
    """Return what the net is to learn."""
    return torch.sin(0.1 * x[:, :1]) * torch.cos(0.1 * x[:, 2:])


def serial(mesh: meshpart.Mesh) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return the loss of the whole mesh, and its gradients."""
    whole = meshpart.point_graph(mesh)
    receivers = torch.repeat_interleave(torch.arange(mesh.n_points), torch.tensor(whole.offsets).diff())
    x = torch.tensor(mesh.points)
    net = new_net()
    loss = ((net(x, torch.stack([torch.tensor(whole.targets), receivers]), lambda h: h) - target_of(x)) ** 2).mean()
    loss.backward()
    return loss.detach(), [parameter.grad for parameter in net.parameters()]


def parallel(part: meshpart.SubMesh, exchange: bool = True) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return the loss of this rank's part, which is that of all, and the gradients averaged by DDP."""
    halo = mt.Halo(part, "points")
    graph = mt.part_graph(part, "points", steps=1)
    x = torch.tensor(part.mesh.points)
    net = DistributedDataParallel(new_net())
    found = net(x, graph["edge_index"], halo.refresh if exchange else lambda h: h)[: halo.n_owned]
    loss = halo.loss((found - target_of(x)[: halo.n_owned]) ** 2)
    loss.backward()
    return loss.detach(), [parameter.grad for parameter in net.parameters()]


def apart(gradients: list[torch.Tensor], others: list[torch.Tensor]) -> float:
    """Return the largest difference, relative to the largest gradient of each parameter."""
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(gradients, others, strict=True))


def main() -> int:
    """Compare the runs, and print what the first rank finds."""
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    mesh = meshpart.read(MESH)
    (part,) = meshpart.partition(mesh, size, ghost_layers=1, only=[rank])
    loss, gradients = parallel(part)
    without, wrong = parallel(part, exchange=False)
    dist.destroy_process_group()
    if rank > 0:
        return 0
    expected, serial_gradients = serial(mesh)
    off = apart(gradients, serial_gradients)
    print(f"{mesh.n_points} points on {size} ranks")
    print(f"serial loss       {expected:.12f}")
    print(f"parallel loss     {loss:.12f}   gradients differ by {off:.0e}")
    print(f"without exchange  {without:.12f}   gradients differ by {apart(wrong, serial_gradients):.0e}")
    return 0 if off < AGREE and abs(loss - expected) < AGREE * expected else 1


if __name__ == "__main__":
    sys.exit(main())
