"""Samples for loaders: part stores with fields, a deep network, and what a serial run on the whole mesh gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import sfc_labels, triangles

import meshpart
from meshpart import Mesh

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

STEPS = 2
LARGE, SMALL = triangles(9, 8), triangles(5, 3)


def fields_of(mesh: Mesh, seed: int) -> tuple[Any, Any]:
    """What goes into the network at each point, (n_points, 3), and what should come out, (n_points, 2)."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(mesh.n_points, 3)), rng.normal(size=(mesh.n_points, 2))


def write_sample(path: Path, mesh: Mesh, nparts: int, *seeds: int, layers: int = STEPS) -> Path:
    """Write a part store with the fields "sample S" of each seed S: x of all local points, y of the owned ones."""
    parts = meshpart.split(mesh, sfc_labels(mesh, nparts), ghost_layers=layers, graphs="points")
    meshpart.write_parts(parts, path)
    store = meshpart.open_parts(path)
    for seed in seeds:
        x, y = fields_of(mesh, seed)
        for part in parts:
            ids = part.points.global_ids
            values = {"points": {"x": x[ids], "y": y[ids[: part.points.n_owned]]}}
            store.write_fields(f"sample {seed}", values, part.part)
    return path


class Net(nn.Module):
    """Steps of message passing, after which a point has seen STEPS edges far. The same parameters in each process."""

    def __init__(self) -> None:
        super().__init__()
        self.message = nn.ModuleList(nn.Linear(6, 3) for _ in range(STEPS))
        self.update = nn.ModuleList(nn.Linear(6, 3) for _ in range(STEPS))
        self.out = nn.Linear(3, 2)
        self.double()
        generator = torch.Generator().manual_seed(5)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.7, 0.7, generator=generator)

    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor, refresh: Callable[[torch.Tensor], torch.Tensor] | None = None
    ) -> torch.Tensor:
        senders, receivers = edge_index
        for message, update in zip(self.message, self.update, strict=True):
            x = x if refresh is None else refresh(x)
            sent = torch.tanh(message(torch.cat([x[senders], x[receivers]], 1)))
            received = torch.zeros_like(x).index_add(0, receivers, sent)
            x = x + torch.tanh(update(torch.cat([x, received], 1)))
        return self.out(x)


def gradient_of(model: nn.Module) -> Any:
    """The gradients of all parameters, one after another."""
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).numpy()


def serial_gradient(mesh: Mesh, seed: int) -> Any:
    """The gradient of the mean squared error over the whole mesh, without parts."""
    graph = meshpart.point_graph(mesh)
    receivers = np.repeat(np.arange(mesh.n_points), np.diff(graph.offsets))
    x, y = map(torch.from_numpy, fields_of(mesh, seed))
    model = Net()
    ((model(x, torch.tensor(np.stack([graph.targets, receivers]))) - y) ** 2).mean().backward()
    return gradient_of(model)


def difference(a: Any, b: Any) -> float:
    """max|a - b| / max|b|."""
    return float(np.abs(a - b).max() / np.abs(b).max())
