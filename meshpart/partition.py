"""Partition a mesh: labels for its cells, or sub-meshes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import arguments
from meshpart.arrays import Labels, as_array
from meshpart.errors import ArgumentError, MeshpartWarning, MethodError
from meshpart.mesh import Mesh, MeshLike, as_mesh
from meshpart.methods import Method, Problem, choose
from meshpart.submesh import Provenance, SubMesh, build_submeshes
from meshpart.units import Units, as_names
from meshpart.version import __version__
from meshpart.weights import cell_weights

Names = str | Sequence[str]


def partition_labels(
    mesh: Mesh | MeshLike,
    nparts: int,
    *,
    method: str | Method = "auto",
    imbalance: float = 0.03,
    seed: int = 0,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    keep_together: npt.ArrayLike | Names | None = None,
    allow_empty: bool = False,
    threads: int | None = None,
    ghost_layers: int = 0,
) -> Labels:
    """Give every cell of a mesh to one of `nparts` parts.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, or anything with `points` and `cells` alike
    nparts : int
        How many parts; at most as many as there are units, unless `allow_empty`.
    method : str or callable
        "sfc", or "auto", which means "sfc". A function from a `Problem` to labels of its units (cells that are not
        attached, and groups) serves too.
    imbalance : float
        How much heavier than the mean the heaviest part may be, 0.03 is three per cent. A method that cannot keep it
        warns once.
    seed : int
        For methods that draw at random; `sfc` does not.
    weights : array_like (n_cells,), str, or dict, optional
        The load of each cell: an array, or one for each block; the name of a cell_data array; or a dict by cell type or
        cell set (cells that it does not name weigh 1, a set beats a type). Attached cells carry no load.
    keep_together : array_like of int (n_cells,), str, or list of str, optional
        Groups of cells that get one label: group numbers with -1 for none; or names, each of a cell set, which is a
        group, or of a cell_data array of group numbers.
    allow_empty : bool
        Allow more parts than units; the highest numbers stay empty.
    threads : int, optional
        The labels do not depend on it.
    ghost_layers : int
        Must be 0: a cell may be a ghost of several parts, so no label could say it.

    Returns
    -------
    labels : ndarray of int32, (n_cells,)
        Part numbers 0..nparts-1, cells numbered through the blocks in order. Lower-dimensional cells that lie in a
        higher-dimensional one have the lowest label among the cells that hold them.

    Raises
    ------
    ArgumentError, MeshError
        If an argument or the mesh cannot be right.
    MethodError
        If a method given as a function returns labels that are none.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> meshpart.partition_labels(mesh, 2)
    array([0, 1], dtype=int32)
    """
    if arguments.integer("ghost_layers", ghost_layers, low=0) > 0:
        raise ArgumentError(
            f"labels cannot hold ghost layers (a cell may be a ghost of several parts), got ghost_layers={ghost_layers}"
        )
    _, labels = _solve(as_mesh(mesh), nparts, method, imbalance, seed, weights, keep_together, allow_empty, threads)
    return labels


def partition(
    mesh: Mesh | MeshLike,
    nparts: int,
    *,
    ghost_layers: int = 0,
    only: Iterable[int] | None = None,
    method: str | Method = "auto",
    imbalance: float = 0.03,
    seed: int = 0,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    keep_together: npt.ArrayLike | Names | None = None,
    allow_empty: bool = False,
    threads: int | None = None,
) -> list[SubMesh]:
    """Cut a mesh into exactly `nparts` sub-meshes.

    Parameters
    ----------
    mesh, nparts, method, imbalance, seed, weights, keep_together, allow_empty, threads
        As in `partition_labels`.
    ghost_layers : int
        0; ghost cells are to come.
    only : iterable of int, optional
        The parts to build, in this order; all of them otherwise.

    Returns
    -------
    parts : list of SubMesh
        Part i at place i, or those of `only`.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> meshpart.partition(mesh, 2)[1]
    <SubMesh 1 of 2: 1 cells + 0 ghosts, 2 points + 2 ghosts>
    """
    mesh = as_mesh(mesh)
    _check_ghost_layers(ghost_layers)
    nparts = arguments.integer("nparts", nparts, low=1)
    chosen = _chosen(only, nparts)
    ran, labels = _solve(mesh, nparts, method, imbalance, seed, weights, keep_together, allow_empty, threads)
    made = Provenance(
        ran, nparts, __version__, float(imbalance), int(seed), _as_given(weights), _as_given(keep_together)
    )
    return build_submeshes(mesh, labels, chosen, made, arguments.threads(threads))


def split(
    mesh: Mesh | MeshLike,
    labels: npt.ArrayLike,
    nparts: int | None = None,
    *,
    ghost_layers: int = 0,
    only: Iterable[int] | None = None,
    threads: int | None = None,
) -> list[SubMesh]:
    """Cut a mesh into sub-meshes along labels from anywhere, which are taken literally.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, or anything with `points` and `cells` alike
    labels : array_like of int, (n_cells,)
        The part of each cell, cells numbered through the blocks in order.
    nparts : int, optional
        The highest label + 1 otherwise. Parts without a cell are empty.
    ghost_layers, only, threads
        As in `partition`.

    Returns
    -------
    parts : list of SubMesh

    Raises
    ------
    ArgumentError
        If the labels do not fit the mesh or are outside 0..nparts-1.
    """
    mesh = as_mesh(mesh)
    _check_ghost_layers(ghost_layers)
    given = as_array("labels", labels, ArgumentError)
    if given.dtype.kind not in "iu" and given.size > 0:
        raise ArgumentError(f"labels must be integers, got the dtype {given.dtype}")
    if given.shape != (mesh.n_cells,):
        raise ArgumentError(f"labels must have the shape ({mesh.n_cells},), got {given.shape}")
    most = arguments.LARGEST_INT32 if nparts is None else arguments.integer("nparts", nparts, low=1)
    outside = np.flatnonzero((given < 0) | (given >= most))
    if len(outside):
        allowed = "it must not be negative" if given[outside[0]] < 0 else f"outside 0..{most - 1}"
        raise ArgumentError(f"labels: cell {outside[0]} has {given[outside[0]]}, {allowed}")
    if nparts is None:
        most = int(given.max(initial=0)) + 1
    made = Provenance("labels", most, __version__)
    return build_submeshes(mesh, given.astype(np.int32), _chosen(only, most), made, arguments.threads(threads))


def _solve(
    mesh: Mesh,
    nparts: Any,
    method: Any,
    imbalance: Any,
    seed: Any,
    weights: Any,
    keep_together: Any,
    allow_empty: bool,
    threads: Any,
) -> tuple[str, Labels]:
    """Return the name of the method that ran, and the labels of the cells."""
    nparts = arguments.integer("nparts", nparts, low=1)
    name, method = choose(method)
    units = Units.of(mesh, keep_together)
    if nparts > max(units.count, 1) and not allow_empty:
        raise ArgumentError(
            f"nparts is {nparts}, more than the number of cells or groups to share out, {units.count}; "
            "allow_empty=True (--allow-empty) leaves the highest parts empty"
        )
    problem = Problem(
        units=units,
        nparts=max(1, min(nparts, units.count)),
        cell_weights=cell_weights(mesh, weights),
        imbalance=arguments.imbalance(imbalance),
        seed=arguments.integer("seed", seed, low=0),
        threads=arguments.threads(threads),
    )
    if problem.nparts == 1:
        return "one part", np.zeros(mesh.n_cells, np.int32)
    unit_labels = _checked(method(problem), problem)
    _warn_of_imbalance(unit_labels, problem, nparts)
    return name, units.expand(unit_labels)


def _as_given(value: Any) -> Any:
    """Return what a provenance keeps of an argument: names and numbers, and of an array that it was one."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(name): float(number) for name, number in value.items()}
    names = None if isinstance(value, np.ndarray) else as_names(value)
    return "array" if names is None else names


def _check_ghost_layers(ghost_layers: object) -> None:
    if arguments.integer("ghost_layers", ghost_layers, low=0) > 0:
        raise ArgumentError(f"ghost_layers must be 0, sub-meshes have no ghost cells so far, got {ghost_layers}")


def _chosen(only: Iterable[int] | None, nparts: int) -> npt.NDArray[np.int32]:
    if only is None:
        return np.arange(nparts, dtype=np.int32)
    if isinstance(only, str) or not isinstance(only, Iterable):
        raise ArgumentError(f"only must be a list of part numbers, got {only!r}")
    return np.array([arguments.integer("only", part, low=0, high=nparts - 1) for part in only], np.int32)


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
    checked = np.array(given, np.int32)
    empty = np.flatnonzero(np.bincount(checked, minlength=nparts) == 0)
    if len(empty):
        raise MethodError(f"the method left {len(empty)} of {nparts} parts empty, the first is part {empty[0]}")
    return checked


def _warn_of_imbalance(labels: Labels, problem: Problem, nparts: int) -> None:
    if problem.weights is None:
        loads = np.bincount(labels, minlength=problem.nparts)
    else:
        loads = np.zeros(problem.nparts, np.int64)
        np.add.at(loads, labels, problem.weights)  # exact, which bincount's floats are not
    sought = (1 + problem.imbalance) * -(-int(loads.sum()) // nparts)
    heaviest = int(loads.argmax())
    load = int(loads[heaviest])
    if load > sought:
        unit = 1.0 if problem.cell_weights is None else problem.cell_weights.unit
        warnings.warn(
            f"part {heaviest} weighs {load * unit:g}, more than the {float(sought) * unit:g} that an "
            f"imbalance of {float(problem.imbalance):g} allows for {nparts} parts",
            MeshpartWarning,
            stacklevel=4,
        )
