"""Compare methods on one mesh: `compare` runs each in a process of its own."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType
from typing import Any

import numpy.typing as npt

from meshpart import arguments, child
from meshpart.comparison import Comparison, Run
from meshpart.cutting import as_given
from meshpart.errors import ArgumentError
from meshpart.graph import dual_graph
from meshpart.measuring import Case, Measured, Task
from meshpart.mesh import Mesh, MeshLike, as_mesh
from meshpart.methods import METHODS, Function, Method, choose_both, full_name
from meshpart.solve import refuse_more_than_units
from meshpart.version import __version__
from meshpart.weights import cell_weights

__all__ = ["TIME_LIMIT", "USUAL", "Comparison", "Run", "chosen_methods", "compare", "counts_of"]

TIME_LIMIT = 600.0  # seconds
USUAL = ("sfc", "kahip:fast", "kahip:eco", *(name for name in METHODS if name not in ("sfc", "kahip")))
CHILD = "from meshpart.measuring import serve; serve()"


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

    Each method and number of parts has a process of its own, one after another: what crashes, fails or takes too long
    costs its own row, which says why. Whatever ends this call ends that process and those that it has started.

    Seconds are those of one call, from the mesh to the labels, the dual graph included. What the library itself does
    first has been done once, on a few quads, when the clock starts; what a function imports while it runs counts.
    "metis", "scotch", "kaminpar" and "mtkahypar" run on one thread, in a process of Python whose start, and handing
    the graph over, are left out; the start of KaHIP's is not. MiB are the peak of resident memory above the loaded
    mesh, with those processes: of one of Python some tens of MiB are no more than Python and NumPy.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, or anything with `points` and `cells` alike
    nparts : int, or several
    methods : list of str, callable or Method, optional
        By name, with ":" and a mode where it has modes: "kahip:fast". A function, a bound method, or a
        `functools.partial` of one, which are sent to another process: they must be those of a module. A `Method` that
        has modes runs in "eco". Otherwise "sfc", "kahip:fast", "kahip:eco", and what is installed of the others.
    imbalance, seed, weights, edge_weights, keep_together, threads
        As `partition_labels` takes them.
    time_limit : float
        Seconds for one method and number of parts, with the start of its process, and with what it takes to judge the
        labels.
    progress : callable, optional
        Is given how many runs are done, after each.

    Returns
    -------
    comparison : Comparison
        With the methods' own labels and repaired ones of each method and number of parts. `print(comparison)` shows a
        table, `comparison.plot("cut.png")` draws the edge cuts against the seconds, `comparison.markdown()` and
        `comparison.to_dict()` are for documents and for JSON.

    Raises
    ------
    ArgumentError
        If an argument cannot be right; before any method runs.
    MissingDependencyError
        If a method that was named is not installed.

    Examples
    --------
    >>> import meshpart
    >>> points = [[x, y] for y in range(3) for x in range(3)]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]])])
    >>> comparison = meshpart.compare(mesh, [2, 4], methods=["sfc"])
    >>> [(run.nparts, run.edge_cut) for run in comparison.runs if run.repaired]
    [(2, 2), (4, 4)]
    """
    mesh = as_mesh(mesh)
    counts = counts_of(nparts)
    chosen, missing = chosen_methods(methods)
    limit = arguments.positive("time_limit", time_limit)
    options = {
        "imbalance": imbalance,
        "seed": seed,
        "weights": weights,
        "edge_weights": edge_weights,
        "keep_together": keep_together,
        "threads": threads,
    }
    _check(mesh, counts, options)
    tasks = [Task(method, mode, count) for count in counts for method, mode in chosen]
    sent = [_pickled(task) for task in tasks]
    case = pickle.dumps(Case(mesh, options), protocol=5)
    runs: list[Run] = []
    for done, (task, pickled) in enumerate(zip(tasks, sent, strict=True), 1):
        runs += _runs(task, _measured([case, pickled], limit))
        if progress is not None:
            progress(done)
    asked = {
        "imbalance": float(imbalance),
        "seed": int(seed),
        "weights": as_given(weights),
        "edge_weights": as_given(edge_weights),
        "keep_together": as_given(keep_together),
        "threads": arguments.threads(threads),
        "time_limit": limit,
    }
    return Comparison(mesh.n_cells, mesh.n_points, tuple(runs), _versions(chosen), missing, asked)


def counts_of(nparts: Any) -> list[int]:
    """Return the numbers of parts; refuse what is none, or is there twice."""
    given = (
        [nparts]
        if isinstance(nparts, str) or not isinstance(nparts, Iterable)
        else arguments.listed("nparts", nparts, "numbers")
    )
    counts = [arguments.integer("nparts", count, low=1) for count in given]
    if not counts:
        raise ArgumentError("nparts must be a number or several, got none")
    _refuse_twice("nparts", counts)
    return counts


def chosen_methods(given: Iterable[str | Function | Method] | None) -> tuple[list[tuple[Method, str]], tuple[str, ...]]:
    """Return methods with their modes, and the names of those that are not installed, where all are asked for."""
    if given is None:
        usual = [choose_both(name) for name in USUAL]
        there = [(method, mode) for method, mode in usual if method.is_installed]
        return there, tuple(method.name for method, _ in usual if not method.is_installed)
    entries = arguments.listed("methods", given, "methods")
    chosen = [choose_both(entry) for entry in entries]
    if not chosen:
        raise ArgumentError("methods must be a list of methods, got an empty one")
    for method, _ in chosen:
        method.require()
    remedy = "" if all(isinstance(entry, str) for entry in entries) else "; Method(name, function) gives another name"
    _refuse_twice("methods", [full_name(*entry) for entry in chosen], remedy)
    return chosen, ()


def _refuse_twice(argument: str, given: Sequence[Any], remedy: str = "") -> None:
    doubled = next((value for number, value in enumerate(given) if value in given[:number]), None)
    if doubled is not None:
        raise ArgumentError(f"{argument}: {doubled} is there twice{remedy}")


def _check(mesh: Mesh, counts: Sequence[int], options: Mapping[str, Any]) -> None:
    """Refuse what `partition_labels` would refuse in every process."""
    arguments.imbalance(options["imbalance"])
    arguments.integer("seed", options["seed"], low=0)
    arguments.threads(options["threads"])
    cell_weights(mesh, options["weights"])
    if options["edge_weights"] is not None:
        dual_graph(mesh, edge_weights=options["edge_weights"], threads=options["threads"])
    refuse_more_than_units(mesh, max(counts), options["keep_together"], remedy="")


# -- the processes ------------------------------------------------------------------------------------------


class _Pickler(pickle.Pickler):
    """Refuses what another process would look for in the program that it does not run."""

    def persistent_id(self, found: Any) -> None:
        if isinstance(found, type | FunctionType) and found.__module__ == "__main__":
            raise pickle.PicklingError(f"{found.__qualname__} is of the program itself, and not of a module")


def _pickled(task: Task) -> bytes:
    """Return a task as what another process takes, or raise if its method cannot be sent there."""
    file = io.BytesIO()
    try:
        _Pickler(file, protocol=5).dump(task)
    except Exception as error:  # of whatever a function brings along
        raise ArgumentError(f"methods: {task.method.name} cannot be sent to another process: {error}") from error
    return file.getvalue()


def _measured(given: Sequence[bytes], limit: float) -> Measured | str:
    """Return what was measured, or why nothing was."""
    try:
        answer = child.answer(CHILD, given=given, time_limit=limit)
    except child.Failed as error:
        return str(error)
    try:
        found = pickle.loads(answer)
    except Exception:  # cut short, or written by someone else
        found = None
    return found if isinstance(found, Measured | str) else "ended without an answer"


def _runs(task: Task, found: Measured | str) -> tuple[Run, Run]:
    """Return what became of a task: the method's own labels, and repaired ones."""
    name = full_name(task.method, task.mode)
    if isinstance(found, str):
        return Run(name, task.nparts, False, found), Run(name, task.nparts, True, found)
    return (
        Run(name, task.nparts, repaired=False, **found.raw._asdict()),
        Run(name, task.nparts, repaired=True, **found.repaired._asdict()),
    )


def _versions(chosen: Sequence[tuple[Method, str]]) -> dict[str, str]:
    packages = dict.fromkeys(method.package for method, _ in chosen if method.package is not None)
    return {"meshpart": __version__, **{package: _version(package) for package in packages}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # one that was put there without its metadata
        return "unknown"
