"""meshpart.torch.attach_halo: a model that knows nothing of ranks equals the serial run, however it is wrapped."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from networks import NODE, OUT, Network, Step, drawn, gradients  # noqa: E402
from ranks import run  # noqa: E402
from serial_runs import EXACT, MODES, WRONG, Case, compared, edges_of, error, on_rank, part_of  # noqa: E402
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: E402

import meshpart.torch as mt  # noqa: E402

CASES = [Case("island", "uneven"), Case("island", "empty"), Case("directed", "scattered", "vertices", steps=3)]


# -- wrapped in all ways ------------------------------------------------------------------------------------


def before_ddp(network: Network, halo: mt.Halo) -> Any:
    assert mt.attach_halo(network, halo, before=Step).names == tuple(f"steps.{i}" for i in range(len(network.steps)))
    return DDP(network)


def after_ddp(network: Network, halo: mt.Halo) -> Any:
    model = DDP(network)
    assert mt.attach_halo(model, halo, before="steps.*", arg="x").names[0] == "steps.0"
    return model


def sharded(network: Network) -> Any:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for step in network.steps:
        fully_shard(step, mesh=mesh)
    return fully_shard(network, mesh=mesh)


def before_fsdp(network: Network, halo: mt.Halo) -> Any:
    mt.attach_halo(network, halo, before="steps.*")
    return sharded(network)


def after_fsdp(network: Network, halo: mt.Halo) -> Any:
    model = sharded(network)
    mt.attach_halo(model, halo, before=Step)
    return model


def checkpointed(network: Network) -> Network:
    for place, step in enumerate(network.steps):
        network.steps[place] = checkpoint_wrapper(step)
    return network


def before_checkpoints(network: Network, halo: mt.Halo) -> Any:
    mt.attach_halo(network, halo, before=Step)
    return DDP(checkpointed(network))


def around_checkpoints(network: Network, halo: mt.Halo) -> Any:
    model = DDP(checkpointed(network))
    assert len(mt.attach_halo(model, halo, before="steps.*", arg="x").names) == len(network.steps)
    return model


def inside_checkpoints(network: Network, halo: mt.Halo) -> Any:
    model = DDP(checkpointed(network))
    assert len(mt.attach_halo(model, halo, before=Step, arg="x").names) == len(network.steps)
    return model


def copied(network: Network, halo: mt.Halo) -> Any:
    attached = mt.attach_halo(network, halo, before=Step)
    other = copy.deepcopy(network)
    attached.remove()  # from the first one only
    return DDP(other)


def compiled(network: Network, halo: mt.Halo) -> Any:
    mt.attach_halo(network, halo, before=Step)
    torch._dynamo.reset()
    return DDP(torch.compile(network, backend="aot_eager", fullgraph=True))


def with_ddp_compiled(network: Network, halo: mt.Halo) -> Any:
    mt.attach_halo(network, halo, before=Step)
    torch._dynamo.reset()
    return torch.compile(DDP(network), backend="aot_eager")


def one_by_one(network: Network, halo: mt.Halo) -> Any:
    for step in network.steps:
        mt.attach_halo(step, halo, before="", arg="x")
    return DDP(network)


def removed(network: Network, halo: mt.Halo) -> Any:
    attached = mt.attach_halo(network, halo, before=Step)
    attached.remove()
    attached.remove()
    return DDP(network)


def errors(way: str, cases: list[tuple[Any, ...]]) -> list[list[float]]:
    """Return how far this rank is from the serial run, its edges those for one step, ghosts refreshed by hooks."""
    wrap = globals()[way]
    return [
        compared(case, "mean", *on_rank(case, "mean", MODES["never refreshed"], wrap=wrap))
        for case in map(Case._make, cases)
    ]


def worst(size: int, way: Callable[..., Any], cases: list[Case]) -> Any:
    return np.max(run(size, errors, way.__name__, [tuple(case) for case in cases]), axis=0)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    "way",
    [
        before_ddp,
        after_ddp,
        before_fsdp,
        after_fsdp,
        before_checkpoints,
        around_checkpoints,
        inside_checkpoints,
        copied,
        one_by_one,
    ],
)
def test_hooks_make_a_model_equal_to_the_serial_run(way, size):
    assert np.all(worst(size, way, CASES) < EXACT)


@pytest.mark.parametrize("way", [compiled, with_ddp_compiled])
def test_hooks_are_compiled_with_the_model(way):
    assert np.all(worst(2, way, CASES[:1]) < EXACT)


def test_without_hooks_it_is_not_equal():
    assert np.all(worst(3, removed, CASES) > WRONG)


def networks_of_pyg() -> list[float]:
    """Return how far networks of PyTorch Geometric on this rank are from the serial ones: outputs and gradients."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it uses of torch
        from torch_geometric.nn import GAT, GIN, GraphSAGE, MessagePassing
    part, halo = part_of(CASES[0], 1)
    graph = mt.part_graph(part, steps=1, as_="pyg")
    edge_index, n = edges_of("island", "points")
    x, y = drawn("x", n, NODE), drawn("y", n, OUT)
    own = graph.part_node[graph.inner_node]
    result = []
    for kind in (GAT, GIN, GraphSAGE):
        torch.manual_seed(2)
        whole = kind(NODE, 4, 3, OUT, act="tanh").double()
        network = copy.deepcopy(whole)
        model = DDP(network)
        assert len(mt.attach_halo(model, halo, MessagePassing, "x").names) == 3
        expected = whole(x, edge_index)
        ((expected - y) ** 2).mean().backward()
        found = model(halo.take(x), graph.edge_index)[graph.inner_node]
        halo.loss((found - y[own]) ** 2).backward()
        result += [error(found, expected, own), *map(error, gradients(network), gradients(whole))]
    return result


def test_networks_of_pyg_are_equal_to_the_serial_run_as_they_are():
    pytest.importorskip("torch_geometric", reason="needs torch_geometric")
    assert np.max(run(2, networks_of_pyg)) < EXACT
