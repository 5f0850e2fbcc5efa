"""From a mesh and options to labels: the problem, the method, the repair, and what they did."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from meshpart import arguments
from meshpart.arrays import Labels, as_array
from meshpart.balance import Bounds, Repair, bounds, repair
from meshpart.errors import ArgumentError, MethodError, warn
from meshpart.mesh import Mesh
from meshpart.methods import Function, Method, Problem, choose, choose_mode
from meshpart.units import Units
from meshpart.weights import cell_weights, summed

ALLOW_EMPTY = "; allow_empty=True (--allow-empty) leaves the highest parts empty"


class Solution(NamedTuple):
    """Labels and how they came about."""

    labels: Labels  # (n_cells,)
    method: str  # the one that ran
    mode: str | None  # of a method that has modes
    repair: Repair | None  # what was repaired, None where the labels are the method's own


def solve(
    mesh: Mesh,
    nparts: int,
    *,
    method: str | Function | Method,
    mode: str,
    imbalance: Any,
    seed: Any,
    weights: Any,
    edge_weights: Any,
    keep_together: Any,
    repaired: bool,
    allow_empty: bool,
    threads: Any,
) -> Solution:
    """Check the options, run the method, repair its labels, and warn of what could not be met."""
    nparts = arguments.integer("nparts", nparts, low=1)
    repaired, allow_empty = arguments.flag("repair", repaired), arguments.flag("allow_empty", allow_empty)
    chosen = choose(method)
    mode = choose_mode(chosen, mode)
    chosen.require()
    units = Units.of(mesh, keep_together)
    if not allow_empty:
        _refuse_more_than(units.count, nparts)
    problem = Problem(
        units=units,
        nparts=max(1, min(nparts, units.count)),
        cell_weights=cell_weights(mesh, weights),
        imbalance=arguments.imbalance(imbalance),
        mode=mode,
        seed=arguments.integer("seed", seed, low=0),
        threads=arguments.threads(threads),
        edge_weights=edge_weights,
    )
    if edge_weights is not None:
        _ = problem.graph  # which checks them, also for a method that does not look at them
    if problem.nparts == 1:
        return Solution(np.zeros(mesh.n_cells, np.int32), "one part", None, None)
    labels = _checked(chosen.run(problem), problem)
    sought = bounds(problem.total, problem.heaviest, nparts, problem.imbalance)
    done = None
    if repaired:
        labels, done = _repaired(labels, problem, sought, chosen)
    _warn(labels, problem, sought, nparts)
    return Solution(units.expand(labels), chosen.name, mode if chosen.modes else None, done)


def refuse_more_than_units(mesh: Mesh, nparts: int, keep_together: Any, *, remedy: str = ALLOW_EMPTY) -> None:
    """Raise ArgumentError if there are more parts than units to share out."""
    _refuse_more_than(Units.of(mesh, keep_together).count, nparts, remedy)


def _refuse_more_than(count: int, nparts: int, remedy: str = ALLOW_EMPTY) -> None:
    if nparts > max(count, 1):
        raise ArgumentError(
            f"nparts is {nparts}, more than the number of cells or groups to share out, {count}{remedy}"
        )


def _checked(labels: Any, problem: Problem) -> Labels:
    """Return a copy of a method's labels of the units, or raise if they are none."""
    given = as_array("what the method returned", labels, MethodError)
    count, nparts = problem.n_units, problem.nparts
    if given.shape != (count,) or given.dtype.kind not in "iu":
        raise MethodError(
            f"the method must return integers of shape ({count},), a label for each of problem.n_units, "
            f"got {given.dtype} {given.shape}"
        )
    if given.min() < 0 or given.max() >= nparts:
        raise MethodError(f"the method's labels must be in 0..{nparts - 1}, got {given.min()}..{given.max()}")
    return np.array(given, np.int32)


def _repaired(labels: Labels, problem: Problem, limits: Bounds, method: Method) -> tuple[Labels, Repair]:
    """Return labels that keep the guarantees, and what was done for it."""
    if not method.leaves_fragments:
        met = summed(problem.weights, labels, problem.nparts).max() <= limits.sought or method.holds_guarantee
        if met and np.all(np.bincount(labels, minlength=problem.nparts)):
            return labels, Repair(0, 0, 0)
    return repair(problem.graph, labels, problem.nparts, limits, absorb_fragments=method.leaves_fragments)


def _warn(labels: Labels, problem: Problem, limits: Bounds, nparts: int) -> None:
    """Warn once of parts that are empty, which only an unrepaired method leaves, or too heavy."""
    found = []
    unit = 1.0 if problem.cell_weights is None else problem.cell_weights.unit
    empty = np.flatnonzero(np.bincount(labels, minlength=problem.nparts) == 0)
    if len(empty):
        found.append(f"{len(empty)} of {nparts} parts are empty, the first is part {empty[0]}")
    loads = summed(problem.weights, labels, problem.nparts)
    heaviest, load = int(loads.argmax()), int(loads.max())
    if load > limits.sought:
        found.append(
            f"part {heaviest} weighs {load * unit:.10g}, more than the {float(limits.sought) * unit:.10g} that an "
            f"imbalance of {float(problem.imbalance):g} allows for {nparts} parts; the heaviest cell or group weighs "
            f"{problem.heaviest * unit:.10g}, and {float(limits.guaranteed) * unit:.10g} is what is promised then"
        )
    if found:
        warn("; ".join(found))
