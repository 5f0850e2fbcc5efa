"""Compare methods on one mesh: `compare` runs each in a process of its own, `Comparison` holds what came out."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import arguments, child
from meshpart.errors import ArgumentError, MeshpartError
from meshpart.measuring import Measured, Task
from meshpart.mesh import Mesh, MeshLike, as_mesh
from meshpart.methods import DEFAULT_MODE, METHODS, Function, Method, choose, choose_mode
from meshpart.quality import Quality
from meshpart.solve import refuse_more_than_units
from meshpart.tables import aligned
from meshpart.version import __version__

TIME_LIMIT = 600.0  # seconds
USUAL = ("sfc", "kahip:fast", "kahip:eco", *(name for name in METHODS if name not in ("sfc", "kahip")))
CHILD = "from meshpart.measuring import serve; serve()"


@dataclass(frozen=True)
class Run:
    """What one method made of a mesh and a number of parts; figures are None where it failed.

    Parameters
    ----------
    method : str
        Its name, with ":" and the mode where it has modes.
    nparts : int
    repaired : bool
        Whether the labels are repaired, or the method's own.
    failure : str or None
        Why there is nothing, where it crashed, failed or took too long.
    edge_cut, communication_volume, shared_points, imbalance, within_bound
        As `Quality` has them.
    ghosts : int
        Cells that one layer of ghosts adds, over all parts.
    empty_parts : int
        Parts without a cell that is shared out.
    fragments : int
        Connected pieces of the parts, beyond one for each part that is not empty.
    neighbours : float
        The mean over the parts.
    seconds : float
        From the mesh to the labels, the dual graph included. Of a peer's process, the start, and handing the graph
        over, are left out.
    mib : float or None
        The peak of resident memory above the loaded mesh, with what helper processes take; one of Python takes some
        tens of MiB. None where the system does not tell. Of raw and repaired labels together.
    """

    method: str
    nparts: int
    repaired: bool
    failure: str | None = None
    edge_cut: int | None = None
    communication_volume: int | None = None
    shared_points: int | None = None
    ghosts: int | None = None
    imbalance: float | None = None
    within_bound: bool | None = None
    empty_parts: int | None = None
    fragments: int | None = None
    neighbours: float | None = None
    seconds: float | None = None
    mib: float | None = None


@dataclass(frozen=True)
class Comparison:
    """What methods made of one mesh; `print(comparison)` shows a table.

    Parameters
    ----------
    n_cells, n_points : int
    runs : tuple of Run
        By number of parts, method, and first the method's own labels, then the repaired ones.
    versions : dict of str to str
        Of meshpart, and of the packages whose methods ran.
    missing : tuple of str
        Methods that are not installed, where all were asked for.
    """

    n_cells: int
    n_points: int
    runs: tuple[Run, ...]
    versions: dict[str, str]
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the table of the repaired labels."""
        return "\n".join(self.lines())

    def lines(self, *, raw: bool = False) -> list[str]:
        """Return the lines of the table, with the methods' own labels too if asked for."""
        shown = [run for run in self.runs if raw or run.repaired]
        failed = [f"{run.method} into {run.nparts}: {run.failure}" for run in self.runs if run.failure and run.repaired]
        rows = [list(HEADS), *(_row(run, self.least_cut(run.nparts)) for run in shown)]
        return [f"{self.n_cells} cells and {self.n_points} points", *aligned(rows), *failed]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            "cells": self.n_cells,
            "points": self.n_points,
            "versions": self.versions,
            "missing": list(self.missing),
            "runs": [asdict(run) for run in self.runs],
        }

    def least_cut(self, nparts: int) -> int | None:
        """Return the least edge cut of repaired labels into that many parts; None where no method found any."""
        cuts = [run.edge_cut for run in self.runs if run.nparts == nparts and run.repaired]
        return min((cut for cut in cuts if cut is not None), default=None)


HEADS = (
    "parts",
    "method",
    "edge cut",
    "/ least",
    "volume",
    "ghosts",
    "imbalance",
    "fragments",
    "neighbours",
    "seconds",
    "MiB",
)


def compare(
    mesh: Mesh | MeshLike,
    nparts: int | Iterable[int],
    *,
    methods: Iterable[str | Function | Method] | None = None,
    imbalance: float = 0.03,
    seed: int = 0,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    edge_weights: str | npt.ArrayLike | None = None,
    keep_together: npt.ArrayLike | str | Sequence[str] | None = None,
    threads: int | None = None,
    time_limit: float = TIME_LIMIT,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Cut a mesh by several methods, and say what each of them makes of it, and takes for it.

    Each method and number of parts has a process of its own, one after another: what crashes or takes too long costs
    its own row.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, or anything with `points` and `cells` alike
    nparts : int, or several
    methods : list of str, callable or Method, optional
        By name, with ":" and a mode where it has modes: "kahip:fast". Functions must be those of a module. Otherwise
        "sfc", "kahip:fast", "kahip:eco", and what is installed of the others.
    imbalance, seed, weights, edge_weights, keep_together, threads
        As `partition_labels` takes them.
    time_limit : float
        Seconds for one method and number of parts, with the start of its process.
    progress : callable, optional
        Is given how many runs are done, after each.

    Returns
    -------
    comparison : Comparison

    Raises
    ------
    ArgumentError
        If an argument cannot be right.
    MissingDependencyError
        If a method that was named is not installed.
    """
    mesh = as_mesh(mesh)
    counts = _counts(nparts)
    chosen, missing = _methods(methods)
    limit = arguments.positive("time_limit", time_limit)
    options = {
        "imbalance": imbalance,
        "seed": seed,
        "weights": weights,
        "edge_weights": edge_weights,
        "keep_together": keep_together,
        "threads": threads,
    }
    for count in counts:
        refuse_more_than_units(mesh, count, keep_together)
    runs: list[Run] = []
    tasks = [Task(mesh, method, count, options | {"mode": mode}) for count in counts for method, mode in chosen]
    for done, task in enumerate(tasks, 1):
        runs += _runs(task, limit)
        if progress is not None:
            progress(done)
    return Comparison(mesh.n_cells, mesh.n_points, tuple(runs), _versions(chosen), missing)


def _counts(nparts: Any) -> list[int]:
    given = nparts if isinstance(nparts, Iterable) and not isinstance(nparts, str) else [nparts]
    counts = [arguments.integer("nparts", count, low=1) for count in given]
    if not counts:
        raise ArgumentError("nparts must be a number or several, got none")
    return counts


def _methods(given: Iterable[str | Function | Method] | None) -> tuple[list[tuple[Method, str]], tuple[str, ...]]:
    """Return methods with their modes, and the names of those that are not installed, where all are asked for."""
    if given is None:
        usual = [_method(name) for name in USUAL]
        there = [(method, mode) for method, mode in usual if method.is_installed]
        return there, tuple(method.name for method, _ in usual if not method.is_installed)
    chosen = [_method(entry) for entry in arguments.listed("methods", given, "methods")]
    if not chosen:
        raise ArgumentError("methods must be a list of methods, got an empty one")
    for method, _ in chosen:
        method.require()
        if getattr(method.run, "__module__", None) == "__main__":
            raise ArgumentError(
                f"methods: {method.name} must be a function of a module, where another process finds it, "
                "not of the program itself"
            )
    return chosen, ()


def _method(given: Any) -> tuple[Method, str]:
    name, _, mode = given.partition(":") if isinstance(given, str) else (given, "", "")
    method = choose(name)
    return method, choose_mode(method, mode or DEFAULT_MODE)


def _runs(task: Task, limit: float) -> tuple[Run, Run]:
    """Run a task in a process of its own, and return what became of it: the method's own labels, and repaired ones."""
    method = task.method
    mode = f":{task.options['mode']}" if method.modes else ""
    raw = Run(method.name + mode, task.nparts, repaired=False)
    found = _measured(task, limit)
    if isinstance(found, str):
        return replace(raw, failure=found), replace(raw, failure=found, repaired=True)
    return (
        replace(raw, **_figures(found.raw), seconds=found.raw_seconds, mib=found.mib),
        replace(raw, repaired=True, **_figures(found.repaired), seconds=found.seconds, mib=found.mib),
    )


def _measured(task: Task, limit: float) -> Measured | str:
    """Return what was measured, or why nothing was."""
    try:
        given = pickle.dumps(task, protocol=5)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise ArgumentError(f"methods: {task.method.name} cannot be sent to another process: {error}") from error
    try:
        found = pickle.loads(child.answer(CHILD, given=given, time_limit=limit))
    except child.Failed as error:
        return str(error)
    if isinstance(found, ArgumentError):
        raise found
    if isinstance(found, MeshpartError):
        return str(found)
    return f"{type(found).__name__}: {found}" if isinstance(found, Exception) else found


def _figures(found: Quality) -> dict[str, Any]:
    filled = int(np.count_nonzero(found.part_components))
    return {
        "edge_cut": found.edge_cut,
        "communication_volume": found.communication_volume,
        "shared_points": found.shared_points,
        "ghosts": int(found.part_ghosts.sum()),
        "imbalance": found.imbalance,
        "within_bound": found.within_bound,
        "empty_parts": found.nparts - filled,
        "fragments": int(found.part_components.sum()) - filled,
        "neighbours": float(found.part_neighbours.mean()),
    }


def _versions(chosen: Sequence[tuple[Method, str]]) -> dict[str, str]:
    packages = dict.fromkeys(method.package for method, _ in chosen if method.package is not None)
    return {"meshpart": __version__, **{package: version(package) for package in packages}}


def _row(run: Run, least: int | None) -> list[str]:
    name = run.method if run.repaired else f"{run.method}, raw"
    if run.failure is not None:
        return [str(run.nparts), name, "failed", *[""] * (len(HEADS) - 3)]
    return [
        str(run.nparts),
        name,
        str(run.edge_cut),
        f"{run.edge_cut / least:.3f}" if run.edge_cut and least else "",
        str(run.communication_volume),
        str(run.ghosts),
        f"{100 * (run.imbalance or 0):.2f} %{' ' if run.within_bound else '!'}",
        str(run.fragments),
        f"{run.neighbours:.1f}",
        f"{run.seconds:.3f}",
        "" if run.mib is None else f"{run.mib:.0f}",
    ]
