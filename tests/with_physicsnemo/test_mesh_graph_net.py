"""MeshGraphNet as it is, on parts: the serial run's outputs, loss and gradients, with deep halos and with exchanges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from meshes import tets

import meshpart

torch = pytest.importorskip("torch")
pytest.importorskip("physicsnemo", reason="needs physicsnemo, in an environment of its own")
pytest.importorskip("torch_geometric", reason="needs torch_geometric")

from ranks import run  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402
from uneven_parts import part_of  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = tets(4, 3, 3)
X = torch.tensor(MESH.points)
Y = torch.sin(3 * X[:, :2])
STEPS = 3


class Run(NamedTuple):
    """What a run gives: outputs of its rows, the loss, the gradients of all parameters."""

    outputs: Any
    loss: Any
    grads: Any


def network(aggregation: str, segments: int) -> Any:
    """A MeshGraphNet of three steps, with so many segments whose activations are computed again in backward."""
    from physicsnemo.models.meshgraphnet import MeshGraphNet

    torch.manual_seed(0)
    width = {f"hidden_dim_{part}": 8 for part in ("processor", "node_encoder", "edge_encoder", "node_decoder")}
    model = MeshGraphNet(
        3, 4, 2, processor_size=STEPS, aggregation=aggregation, num_processor_checkpoint_segments=segments, **width
    )
    return model.double()


def along(senders: Any, receivers: Any) -> Any:
    """The features of edges between points of the mesh: the way from one to the other, and its length."""
    way = X[receivers] - X[senders]
    return torch.cat([way, way.norm(dim=1, keepdim=True)], dim=1)


def gradients(model: Any) -> Any:
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def serial(aggregation: str) -> Run:
    from torch_geometric.data import Data

    graph = meshpart.point_graph(MESH)
    receivers = torch.arange(MESH.n_points).repeat_interleave(torch.tensor(np.diff(graph.offsets)))
    edges = torch.stack([torch.tensor(graph.targets), receivers])
    model = network(aggregation, 0)
    outputs = model(X, along(*edges), Data(edge_index=edges, num_nodes=len(X)))
    loss = ((outputs - Y) ** 2).mean()
    loss.backward()
    return Run(outputs.detach(), loss.detach(), gradients(model))


def on_parts(way: str, kind: str, aggregation: str, segments: int) -> tuple[Run, Any]:
    """Return what a run on this rank's part gives, and the points of its rows."""
    from physicsnemo.nn.module.gnn_layers.mesh_edge_block import MeshEdgeBlock

    layers = STEPS if way == "deep" else 1
    part = part_of(MESH, kind, layers)
    halo = mt.Halo(part)
    graph = mt.part_graph(part, "points", steps=layers, as_="pyg")
    model = network(aggregation, segments)
    if way == "exchange":
        mt.attach_halo(model, halo, before=MeshEdgeBlock, arg=1)
    wrapped = DistributedDataParallel(model)  # which must be there in backward
    outputs = wrapped(halo.take(X), along(*graph.part_node[graph.edge_index]), graph)[: halo.n_owned]
    loss = halo.loss((outputs - halo.take(Y)[: halo.n_owned]) ** 2)
    loss.backward()
    return Run(outputs.detach(), loss.detach(), gradients(model)), halo.global_ids[: halo.n_owned]


def errors(way: str, kind: str, aggregation: str, segments: int = 0) -> list[float]:
    """Return the largest difference of each to the serial run's, relative to its largest value."""
    expected = serial(aggregation)
    got, rows = on_parts(way, kind, aggregation, segments)
    pairs = [(got.outputs, expected.outputs[rows]), (got.loss, expected.loss), (got.grads, expected.grads)]
    off = [float((a - b).abs().max()) if a.numel() else 0.0 for a, b in pairs]
    return [largest / float(of.abs().max()) for largest, of in zip(off, expected, strict=True)]


SIZES = pytest.mark.parametrize("size", [1, 2, 4])
AGGREGATIONS = pytest.mark.parametrize("aggregation", ["sum", "mean"])
WAYS = pytest.mark.parametrize("way", ["deep", "exchange"])


@SIZES
@AGGREGATIONS
@WAYS
@pytest.mark.parametrize("kind", ["uneven", "empty"])
def test_on_parts_it_gives_the_serial_outputs_loss_and_gradients(size, way, kind, aggregation):
    for of_rank in run(size, errors, way, kind, aggregation):
        assert max(of_rank) < 1e-12


@SIZES
@WAYS
def test_so_it_does_where_activations_are_computed_again_in_backward(size, way):
    for of_rank in run(size, errors, way, "uneven", "sum", STEPS):
        assert max(of_rank) < 1e-12


@pytest.mark.parametrize("size", [2, 4])
@AGGREGATIONS
def test_on_the_same_parts_without_an_exchange_it_does_not(size, aggregation):
    off = zip(*run(size, errors, "naive", "uneven", aggregation), strict=True)
    for largest, least in zip(map(max, off), (1e-5, 1e-8, 1e-5), strict=True):
        assert largest > least
