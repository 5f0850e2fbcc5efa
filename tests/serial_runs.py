"""Message passing on the ranks of a group, and the serial run of it: how far one is from the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from meshes import cubes, grid_points, interleaved, quad_rows
from networks import AGGREGATES, EDGE, NODE, OUT, Network, Step, drawn, gradients, over_copies
from ranks import run
from torch.nn.parallel import DistributedDataParallel as DDP

import meshpart
import meshpart.torch as mt
from meshpart import Mesh, SubGraph, SubMesh

EXACT = 1e-12  # max|a - b| / max|b|
WRONG = 1e-5  # what is wrong is off by more


class Case(NamedTuple):
    """What is cut, how it is labelled, and how many steps the network has."""

    mesh: str
    labels: str
    entity: str = "points"
    adjacency: str | None = None
    steps: int = 2

    @property
    def edge_ids(self) -> bool:
        """Whether parts know the global ids of edges."""
        return self.adjacency is None


class Mode(NamedTuple):
    """How a part is worked on: ghost layers and steps of its edges (None: those of the case), and what else is done."""

    layers: int | None
    steps: int | None
    refresh: bool = False
    attach: bool = False
    shared: bool = False
    keep: Callable[[Any], Any] | None = None  # which edges are kept, all if None
    reduce: bool = True


def from_owned(graph: Any) -> Any:
    return graph["edge_index"][0] < graph["n_owned"]


def into_owned(graph: Any) -> Any:
    return graph["edge_index"][1] < graph["n_owned"]


MODES = {
    "deep": Mode(None, None),
    "exchange": Mode(1, 1, refresh=True),
    "attach": Mode(1, 1, attach=True),
    "shared": Mode(0, 0, shared=True),
    # and what is wrong
    "no halo": Mode(1, 1, keep=from_owned),
    "too few layers": Mode(1, None),
    "never refreshed": Mode(1, 1),
    "never assembled": Mode(0, 0),
    "edges of receivers' owners": Mode(0, 0, shared=True, keep=into_owned),
    "never reduced": Mode(None, None, reduce=False),
}


def worst(size: int, how: str, mode: str, cases: list[Case], per_row: str = "misfit") -> Any:
    """Return the errors of the rank that is farthest off: (n_cases, 4)."""
    return np.max(run(size, errors, how, mode, per_row, [tuple(case) for case in cases]), axis=0)


def errors(how: str, mode: str, per_row: str, cases: list[tuple[Any, ...]]) -> list[list[float]]:
    """Return how far this rank is from the serial run in each case."""
    return [compared(case, how, *on_rank(case, how, MODES[mode], per_row), per_row) for case in map(Case._make, cases)]


# -- what is found ------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """What a run gives; of ranks, of their owned rows."""

    out: torch.Tensor
    loss: torch.Tensor
    of_parameters: list[torch.Tensor]
    of_input: torch.Tensor


@cache
def serial(case: Case, how: str, per_row: str) -> Found:
    """Return what the serial run gives."""
    edge_index, n = edges_of(case.mesh, case.entity, case.adjacency)
    edges = drawn_by_id(torch.arange(edge_index.shape[1])) if case.edge_ids else drawn_by_ends(*edge_index)
    network = Network(AGGREGATES[how], case.steps)
    x = drawn("x", n, NODE).requires_grad_()
    out = network(x, edges, edge_index)
    loss = LOSSES[per_row](out, drawn("y", n, OUT), x, lambda slope: slope).mean()
    loss.backward()
    return Found(out.detach(), loss.detach(), gradients(network), x.grad)


def on_rank(
    case: Case, how: str, mode: Mode, per_row: str = "misfit", wrap: Callable[[Network, mt.Halo], Any] | None = None
) -> tuple[mt.Halo, Found]:
    """Return what this rank gives; `wrap` makes a model of the network, that of DDP if left out."""
    part, halo = part_of(case, case.steps if mode.layers is None else mode.layers)
    graph = mt.part_graph(part, case.entity, steps=mode.steps, adjacency=case.adjacency)
    edge_index, ids, n = graph["edge_index"], graph["part_node"], graph["n_owned"]
    edges = drawn_by_id(graph["edge_ids"]) if case.edge_ids else drawn_by_ends(*ids[edge_index])
    if mode.keep is not None:
        kept = mode.keep(graph)
        edge_index, edges = edge_index[:, kept], edges[kept]
    aggregate = over_copies(halo, how) if mode.shared else AGGREGATES[how]
    network = Network(aggregate, case.steps, halo.refresh if mode.refresh else None)
    if mode.attach:
        mt.attach_halo(network, halo, before=Step)
    model = DDP(network) if wrap is None else wrap(network, halo)
    reduce = halo.reduce if mode.reduce else lambda rows: rows[:n]
    x = halo.take(drawn("x", halo.n_global, NODE)).requires_grad_()
    out = model(x, edges, edge_index)[:n]
    loss = halo.loss(LOSSES[per_row](out, halo.take(drawn("y", halo.n_global, OUT))[:n], x, reduce))
    loss.backward()
    of_input = reduce(x.grad) / dist.get_world_size()  # which the loss is scaled by, for the mean that DDP takes
    return halo, Found(out.detach(), loss.detach(), gradients(model), of_input)


def compared(case: Case, how: str, halo: mt.Halo, found: Found, per_row: str = "misfit") -> list[float]:
    """Return the errors of this rank's output, loss, gradients of parameters, and gradient of the input."""
    expected, own = serial(case, how, per_row), halo.global_ids[: halo.n_owned]
    return [
        error(found.out, expected.out, own),
        error(found.loss, expected.loss),
        max(map(error, found.of_parameters, expected.of_parameters)),
        error(found.of_input, expected.of_input, own),
    ]


def error(found: torch.Tensor, expected: torch.Tensor, rows: Any = ...) -> float:
    """Return max|found - expected| / max|expected|, of some rows."""
    difference = (found - expected[rows]).detach().abs()
    return float(difference.max() / expected.detach().abs().max()) if difference.numel() else 0.0


def misfit(out: torch.Tensor, y: torch.Tensor, x: torch.Tensor, reduce: Any) -> torch.Tensor:
    return (out - y) ** 2


def equation(out: torch.Tensor, y: torch.Tensor, x: torch.Tensor, reduce: Any) -> torch.Tensor:
    """Return a loss in which derivatives occur, as those have that demand an equation of the answer."""
    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    return (out - y) ** 2 + reduce(slope).sin()[:, :OUT]


LOSSES = {"misfit": misfit, "equation": equation}


# -- what is cut --------------------------------------------------------------------------------------------


def with_island() -> Mesh:
    """Return 40 triangles on 5 x 4 squares, a pair of quads apart from them, and a point that no cell uses."""
    rows = quad_rows(5, 4)
    island = grid_points(2, 1) + np.array([9.0, 0.0])
    points = np.vstack([grid_points(5, 4), island, [[99.0, 99.0]]])
    return Mesh(points, [("triangle", rows[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)), ("quad", quad_rows(2, 1) + 30)])


MESHES = {"island": with_island(), "cubes": cubes(3, 3, 2), "five": interleaved()}
DIRECTED = 40  # vertices


@lru_cache
def directed() -> Any:
    """Return (offsets, targets) of a graph with loops and parallel edges, in which few edges have a way back."""
    rng = np.random.default_rng(4)
    offsets = np.r_[0, np.cumsum(rng.integers(0, 5, DIRECTED))]
    return offsets, rng.integers(0, DIRECTED, offsets[-1])


@lru_cache
def edges_of(mesh: str, entity: str, adjacency: str | None = None) -> Any:
    """Return the edges of the whole graph as edge_index, and how many nodes it has."""
    if mesh == "directed":
        offsets, targets = directed()
        return torch.tensor(np.stack([np.repeat(np.arange(DIRECTED), np.diff(offsets)), targets])), DIRECTED
    build = meshpart.point_graph if entity == "points" else meshpart.dual_graph
    graph = build(MESHES[mesh], **({"adjacency": adjacency} if adjacency else {}))
    receivers = np.repeat(np.arange(graph.n_vertices), np.diff(graph.offsets))
    return torch.tensor(np.stack([graph.targets, receivers])), graph.n_vertices


def drawn_by_id(ids: torch.Tensor) -> torch.Tensor:
    """Return values of edges by their own global ids."""
    return torch.cos(ids[:, None] * torch.tensor([0.3, 1.1][:EDGE])).double()


def drawn_by_ends(senders: torch.Tensor, receivers: torch.Tensor) -> torch.Tensor:
    """Return values of edges by the global ids of their ends."""
    return torch.sin(senders[:, None] * torch.tensor([0.7, 1.9][:EDGE]) + receivers[:, None] * 1.3).double()


def labels_of(kind: str, n: int, size: int) -> Any:
    """Labels into `size` parts: of one run each, scattered, nearly all in one part, or with parts that are empty."""
    if kind == "runs":
        return np.arange(n) * size // n
    if kind == "lonely":  # the last two cells, which are the island, make a part
        return np.r_[np.arange(n - 2) * max(size - 1, 1) // (n - 2), size - 1, size - 1]
    labels = np.random.default_rng(3).integers(0, size, n)
    if kind == "uneven":
        return np.where(np.arange(n) < 0.9 * n, size - 1, labels)
    return labels if kind == "scattered" else np.where(labels % 2 == 0, labels, 0)


@cache  # all ranks keep the same
def part_of(case: Case, layers: int) -> tuple[SubMesh | SubGraph, mt.Halo]:
    """Return this rank's part of a case, and its halo."""
    size, only = dist.get_world_size(), [dist.get_rank()]
    if case.mesh == "directed":
        owners = labels_of(case.labels, DIRECTED, size)
        part = meshpart.split_graph(directed(), owners, size, layers=layers, only=only)[0]
    else:
        mesh = MESHES[case.mesh]
        labels = labels_of(case.labels, mesh.n_cells, size)
        graphs = [case.entity] if case.edge_ids else ()
        part = meshpart.split(mesh, labels, size, ghost_layers=layers, only=only, graphs=graphs)[0]
    return part, mt.Halo(part, case.entity)
