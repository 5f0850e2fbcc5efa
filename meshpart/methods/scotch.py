"""Method `scotch`: Scotch's multilevel mapping, by pyscotch. Runs in a process of its own: see peer_process.py."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

STRATEGIES = {"eco": "DEFAULT", "strong": "QUALITY"}  # SPEED is DEFAULT where graphs are mapped
ENVIRONMENT = {"PYSCOTCH_INT_SIZE": "32", "SCOTCH_PTHREAD_NUMBER": "1", "SCOTCH_DETERMINISTIC": "1"}


def prepared(job: Any) -> Callable[[], Any]:
    """Return the call of SCOTCH_graphMapCompute for parts of one size; its `kbalval` is the imbalance."""
    os.environ |= ENVIRONMENT  # read when the library is loaded
    import pyscotch

    graph, strategy = pyscotch.Graph(), pyscotch.Strategy()
    weights = {"velotab": job.vertex_weights, "edlotab": job.edge_weights}
    graph.build(job.offsets, job.targets, **{name: array for name, array in weights.items() if len(array)})
    strategy.request_mapping(pyscotch.StrategyFlags[STRATEGIES[job.mode]], balance=job.imbalance)
    pyscotch.random_seed(job.seed)
    pyscotch.random_reset()
    return lambda: graph.partition(job.nparts, strategy)
