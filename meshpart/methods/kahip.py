"""Method `kahip`: KaHIP's multilevel graph partitioner on the dual graph, in a process of its own."""

from __future__ import annotations

from pathlib import Path

from meshpart import _core
from meshpart.arrays import Labels, frozen
from meshpart.methods.job import Job
from meshpart.methods.problem import Problem

MODES = {"fast": 0, "eco": 1, "strong": 2, "fastsocial": 3, "ecosocial": 4, "strongsocial": 5}
HELPER = str(Path(_core.__file__).with_name("kahip_helper"))


def kahip(problem: Problem) -> Labels:
    """Return the labels of KaHIP's kaffpa, as they are: a part may be empty, too heavy, or in pieces.

    Returns
    -------
    labels : ndarray of int32, (n_units,)

    Raises
    ------
    MethodError
        If KaHIP's process cannot be started, crashes or is killed.
    MeshpartError
        If the graph is too large for its 32-bit numbers.
    """
    graph, nparts, imbalance, seed, mode = Job.of(problem)
    return frozen(_core.kahip(graph, nparts, imbalance, seed, MODES[mode], HELPER))
