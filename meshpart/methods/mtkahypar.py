"""Method `mtkahypar`: Mt-KaHyPar's multilevel method. Runs in a process of its own: see peer_process.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Not DEFAULT and QUALITY, which take 0.5 and 0.4 of their time for the same cuts: those look at the clock. In QUALITY
# a flow ends after 8 times what others took, in DEFAULT a refinement after 5 s; with the process stopped now and then,
# on one thread and with one seed, they gave other labels. These give the same always, and no seed changes them.
PRESETS = {"eco": "DETERMINISTIC", "strong": "DETERMINISTIC_QUALITY"}


def prepared(job: Any) -> Callable[[], Any]:
    """Return the call of Mt-KaHyPar's `partition`, the edge cut its objective, on one thread."""
    import mtkahypar

    library = mtkahypar.initialize(1, print_warnings=False)
    context = library.context_from_preset(mtkahypar.PresetType.__members__[PRESETS[job.mode]])
    context.set_partitioning_parameters(job.nparts, job.imbalance, mtkahypar.Objective.CUT)
    context.logging = False
    n = len(job.offsets) - 1
    sources = np.repeat(np.arange(n, dtype=np.int32), np.diff(job.offsets))
    once = sources < job.targets
    edges = list(zip(sources[once].tolist(), job.targets[once].tolist(), strict=True))
    graph = library.create_graph(context, n, len(edges), edges, *_weights(job, once, n))
    return lambda: graph.partition(context).get_partition()


def _weights(job: Any, once: Any, n: int) -> list[list[int]]:
    """Return the weights of vertices and of edges, or neither: it takes both or none."""
    if len(job.vertex_weights) == len(job.edge_weights) == 0:
        return []
    loads = job.vertex_weights if len(job.vertex_weights) else np.ones(n, np.int32)
    costs = job.edge_weights[once] if len(job.edge_weights) else np.ones(np.count_nonzero(once), np.int32)
    return [loads.tolist(), costs.tolist()]
