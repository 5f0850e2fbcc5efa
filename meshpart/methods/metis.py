"""Method `metis`: METIS' multilevel k-way method, by pymetis. Runs in a process of its own: see peer_process.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def prepared(job: Any) -> Callable[[], Any]:
    """Return the call of METIS_PartGraphKway, the edge cut its objective."""
    import pymetis

    graph = pymetis.CSRAdjacency(job.offsets, job.targets)
    weights = {"vweights": job.vertex_weights, "eweights": job.edge_weights}
    given = {name: array for name, array in weights.items() if len(array)}
    options = pymetis.Options(seed=job.seed, ufactor=round(1000 * job.imbalance))
    return lambda: pymetis.part_graph(job.nparts, graph, **given, options=options, recursive=False)[1]
