"""What a graph partitioner is handed: the graph in integers that fit 32 bits, sums too, and how to cut it."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from meshpart.arrays import Ids
from meshpart.graph import FlatGraph, Graph
from meshpart.methods.problem import Problem

# What partitioners are asked for. At 0 KaHIP may run for ever, and a tight bound costs it more cut than it costs the
# repair: over six meshes and 8 to 128 parts, 0.02 and the repair cut 15 % less than 0.001 did where 0 was sought, and
# 3 % less than 0.01 where 0.01 was. More than a fifth gains no cut.
LEAST_IMBALANCE, MOST_IMBALANCE = 0.02, 0.2
LARGEST_SUM = 2**30  # of weights: they add up 32-bit numbers without a check, and want room for the imbalance

# Of the weights of units a sum that is fine enough. KaHIP's initial partitions sometimes take time in proportion to the
# sum, again and again: 96 units that weighed 2^30 took it 2 s, with 2^20 it was 3 ms.
FINE_UNIT, FINE_SUM = 2**8, 2**20


class Job(NamedTuple):
    """A problem in numbers that partitioners can take: weights >= 1, sums of at most 2^30, a sensible imbalance.

    Parameters
    ----------
    graph : FlatGraph
        Offsets, targets, vertex weights and edge weights, int64; weights are empty where there are none.
    nparts : int
    imbalance : float
        In [0.02, 0.2].
    seed : int
        In 0..2^31 - 1.
    mode : str
    """

    graph: FlatGraph
    nparts: int
    imbalance: float
    seed: int
    mode: str

    @classmethod
    def of(cls, problem: Problem) -> Job:
        """Return what stands for a problem."""
        offsets, targets, edge_weights = _edges(problem.graph)
        none = np.zeros(0, np.int64)
        loads = none if problem.weights is None else _loads(problem.weights, problem.nparts)
        graph = FlatGraph(offsets, targets, loads, none if edge_weights is None else edge_weights)
        return cls(graph, problem.nparts, asked_imbalance(problem.imbalance), problem.seed, problem.mode)


def asked_imbalance(imbalance: Fraction) -> float:
    """Return the imbalance that a partitioner is asked for where so much is allowed.

    No more slack than that, even where the bound then rounds to none: of thousands of random graphs (connected or not,
    without edges, trees, stars, up to as many parts as vertices, with weights and without) KaHIP ended on all, in every
    mode. What costs it more than in proportion, and ends in mode fast within a second: a vertex with half of all others
    as neighbours, and cliques, each into a thousand parts and more (eco: 14 s for 4900 vertices).
    """
    return min(max(float(imbalance), LEAST_IMBALANCE), MOST_IMBALANCE)


def _edges(graph: Graph) -> tuple[Ids, Ids, Ids | None]:
    """Return offsets, targets and weights of the edges that weigh anything: KaHIP crashes on those that do not."""
    if graph.edge_weights is None:
        return graph.offsets, graph.targets, None
    kept = graph.edge_weights > 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[graph.offsets], graph.targets[kept], _scaled(graph.edge_weights[kept], LARGEST_SUM)


def _loads(weights: Ids, nparts: int) -> Ids:
    """Return weights that can be balanced, in proportion to those given: no zeros, none too heavy for a part."""
    most = min(max(FINE_UNIT * len(weights), FINE_SUM), LARGEST_SUM)
    return _capped(_scaled(_capped(weights, nparts), most), nparts)


def _scaled(weights: Ids, most: int) -> Ids:
    """Return integers >= 1 of a sum <= `most` where there are fewer of them, near enough in proportion to weights >= 0.

    They stay as they are where they can. A zero becomes the least that there is: where there are any the others grow,
    so that all zeros together weigh next to nothing.
    """
    total = int(weights.sum())
    if total <= most and weights.min(initial=1) > 0:
        return weights
    room = max(most - len(weights), most // 2)  # for what the least of 1 adds
    if total <= room:
        return np.maximum(weights * (room // max(total, 1)), 1)
    return np.maximum((weights * (room / total) + 0.5).astype(np.int64), 1)


def _capped(weights: Ids, nparts: int) -> Ids:
    """Return weights of which none is heavier than their mean over the parts, rounded up.

    What is heavier fills a part of its own: the cap is that of the mean over the parts that remain for the rest. Left
    heavier, they would loosen the bound of all other parts.
    """
    heaviest = np.sort(np.partition(weights, len(weights) - nparts)[len(weights) - nparts :])[::-1]
    rest = int(weights.sum()) - np.cumsum(heaviest) + heaviest  # without those heavier
    cap = -(-rest // np.arange(nparts, 0, -1))  # if those heavier fill parts of their own
    first = int(np.argmax(heaviest <= cap))
    return np.minimum(weights, max(int(cap[first]), 1)) if first > 0 else weights
