"""Method `mtkahypar`: Mt-KaHyPar's multilevel method. Runs in a process of its own: see peer_process.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PRESETS = {"eco": "DETERMINISTIC", "strong": "DETERMINISTIC_QUALITY"}


def prepared(job: Any) -> Callable[[], Any]:
    """Return the call of Mt-KaHyPar's `partition`, the edge cut its objective, on one thread."""
    import mtkahypar

    library = mtkahypar.initialize(1, print_warnings=False)
    mtkahypar.set_seed(job.seed)
    context = library.context_from_preset(mtkahypar.PresetType.__members__[PRESETS[job.mode]])
    context.set_partitioning_parameters(job.nparts, job.imbalance, mtkahypar.Objective.CUT)
    context.logging = False
    n = len(job.offsets) - 1
    sources = np.repeat(np.arange(n, dtype=np.int32), np.diff(job.offsets))
    once = sources < job.targets
    edges = list(zip(sources[once].tolist(), job.targets[once].tolist(), strict=True))
    weights = []
    if len(job.vertex_weights) or len(job.edge_weights):  # both or none
        costs = job.edge_weights[once] if len(job.edge_weights) else np.ones(len(edges), np.int32)
        loads = job.vertex_weights if len(job.vertex_weights) else np.ones(n, np.int32)
        weights = [loads.tolist(), costs.tolist()]
    graph = library.create_graph(context, n, len(edges), edges, *weights)
    return lambda: graph.partition(context).get_partition()
