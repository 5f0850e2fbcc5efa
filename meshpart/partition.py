"""Partition a mesh: labels for its cells, or sub-meshes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy.typing as npt

from meshpart import arguments
from meshpart.again import Cut
from meshpart.arrays import Labels
from meshpart.cutting import Plan, labels_by_method, labels_given
from meshpart.errors import ArgumentError
from meshpart.mesh import Mesh, MeshLike
from meshpart.methods import Function, Method
from meshpart.solve import solve
from meshpart.submesh import SubMesh

Names = str | Sequence[str]


def partition_labels(
    mesh: Mesh | MeshLike | SubMesh,
    nparts: int,
    *,
    method: str | Function | Method = "auto",
    mode: str = "eco",
    imbalance: float = 0.03,
    seed: int = 0,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    edge_weights: str | npt.ArrayLike | None = None,
    keep_together: npt.ArrayLike | Names | None = None,
    repair: bool = True,
    allow_empty: bool = False,
    threads: int | None = None,
    ghost_layers: int = 0,
) -> Labels:
    """Give every cell of a mesh to one of `nparts` parts.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, or anything with `points` and `cells` alike; or SubMesh
        Of a part, its owned cells are partitioned, numbered as they are locally; arrays are given for these.
    nparts : int
        How many parts; at most as many as there are units, unless `allow_empty`.
    method : str, callable, or Method
        "kahip": KaHIP's multilevel partitioner on the dual graph, few facets cut. "sfc": pieces of a Hilbert curve
        through the centroids, much faster, more facets cut. "auto": "kahip". "metis", "scotch", "kaminpar" and
        "mtkahypar": those partitioners on the same graph, where the extra `peers` has installed them, on one thread. A
        function from a `Problem` to labels of its units (cells that are not attached, and groups) serves too; a
        `Method` says more of it.
    mode : str
        How much time to take for fewer cut facets: "fast", "eco" or "strong". "kahip" and "kaminpar" have all three,
        "scotch" and "mtkahypar" have "eco" and "strong"; the others have none, and take "eco" alone. Of "kahip" there
        are "fastsocial", "ecosocial" and "strongsocial" too, which are meant for graphs that are no meshes.
    imbalance : float
        How much heavier than the mean the heaviest part may be, 0.03 is three per cent. Sought is that no part weighs
        more than (1 + imbalance) * ceil(total / nparts); promised is that none weighs more than that or than the mean
        plus (1 - 1/nparts) times the heaviest unit, whichever is more. One warning says if what is sought is missed.
    seed : int
        For methods that draw at random; "sfc" and "mtkahypar" do not.
    weights : array_like (n_cells,), str, or dict, optional
        The load of each cell: an array, or one for each block; the name of a cell_data array; or a dict by cell type or
        cell set (cells that it does not name weigh 1, a set beats a type). Attached cells carry no load.
    edge_weights : "points", or array_like of int, optional
        What cutting an edge of the dual graph costs, as `dual_graph` takes it; 1 otherwise.
    keep_together : array_like of int (n_cells,), str, or list of str, optional
        Groups of cells that get one label: group numbers with -1 for none; or names, each of a cell set, which is a
        group, or of a cell_data array of group numbers. Groups that share a cell are one. A group that names an
        attached cell holds the cells that it is attached to.
    repair : bool
        Whether to repair what the method left: fill empty parts, move units out of parts that are too heavy, and hand
        the fragments that a graph method leaves to the neighbour that they touch most.
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
        If an argument or the mesh cannot be right; ArgumentError too if the method does not have the mode.
    MethodError
        If the process of a partitioner ends without labels, or a method given as a function returns labels that are
        none.
    MissingDependencyError
        If the method's package is not installed.

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
    return solve(
        Cut.of(mesh).mesh,
        nparts,
        method=method,
        mode=mode,
        imbalance=imbalance,
        seed=seed,
        weights=weights,
        edge_weights=edge_weights,
        keep_together=keep_together,
        repaired=repair,
        allow_empty=allow_empty,
        threads=threads,
    ).labels


def partition(
    mesh: Mesh | MeshLike | SubMesh,
    nparts: int,
    *,
    ghost_layers: int = 0,
    only: Iterable[int] | None = None,
    graphs: str | Iterable[str] = (),
    method: str | Function | Method = "auto",
    mode: str = "eco",
    imbalance: float = 0.03,
    seed: int = 0,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    edge_weights: str | npt.ArrayLike | None = None,
    keep_together: npt.ArrayLike | Names | None = None,
    repair: bool = True,
    allow_empty: bool = False,
    threads: int | None = None,
) -> list[SubMesh]:
    """Cut a mesh into exactly `nparts` sub-meshes.

    A part can be cut again, its owned cells are. Global ids and the like are then those of the original mesh, and all
    else is that of a mesh of these cells alone: what is `complete`, the ghosts, the exchange, and who owns a point. So
    a point on the cut between two parts has an owner among the parts of each.

    Parameters
    ----------
    mesh, nparts, method, mode, imbalance, seed, weights, edge_weights, keep_together, repair, allow_empty, threads
        As in `partition_labels`.
    ghost_layers : int
        How many layers of ghost cells each part gets: the cells that share a point with one of its cells, then those
        that share a point with these, and so on. More layers than the mesh has are no error.
    only : iterable of int, optional
        The parts to build, in this order; all of them otherwise. That saves building the others, while labels are those
        of the whole mesh, and each call computes them. Where many processes want a part each, compute labels once and
        `split` along them.
    graphs : str, or iterable of str
        "points", "cells" or both: what each part is to know of the point graph or the dual graph of the whole mesh, so
        that `local_graph` gives edges their ids there and, of points, without a ghost layer, the edges that it owns.
        Not for a part that is cut again, whose edges have no place in the graph of the original mesh.

    Returns
    -------
    parts : list of SubMesh
        Part i at place i, or those of `only`.

    Raises
    ------
    ArgumentError, MeshError, MethodError
        As `partition_labels` does; ArgumentError too if a part of `only` does not exist.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> meshpart.partition(mesh, 2)[1]
    <SubMesh 1 of 2: 1 cells + 0 ghosts, 2 points + 2 ghosts>
    """
    plan = Plan.of(mesh, ghost_layers, graphs, threads)
    chosen = arguments.chosen_parts(only, arguments.integer("nparts", nparts, low=1))
    labels, made = labels_by_method(
        plan.cut.mesh,
        nparts,
        method=method,
        mode=mode,
        imbalance=imbalance,
        seed=seed,
        weights=weights,
        edge_weights=edge_weights,
        keep_together=keep_together,
        repair=repair,
        allow_empty=allow_empty,
        threads=threads,
    )
    return plan.built(labels, chosen, made)


def iter_partition(
    mesh: Mesh | MeshLike | SubMesh,
    nparts: int,
    *,
    ghost_layers: int = 0,
    graphs: str | Iterable[str] = (),
    method: str | Function | Method = "auto",
    mode: str = "eco",
    imbalance: float = 0.03,
    seed: int = 0,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    edge_weights: str | npt.ArrayLike | None = None,
    keep_together: npt.ArrayLike | Names | None = None,
    repair: bool = True,
    allow_empty: bool = False,
    threads: int | None = None,
) -> Iterator[SubMesh]:
    """Cut a mesh into exactly `nparts` sub-meshes, and yield them one after another.

    They are those of `partition`. Where they are large, a few are built at a time, so that a mesh can be cut, and its
    parts written, whose parts are too large to be in memory together. That costs some more looks at the mesh.

    Parameters
    ----------
    mesh, nparts, ghost_layers, graphs, method, mode, imbalance, seed, weights, edge_weights, keep_together, repair, \
    allow_empty, threads
        As in `partition`.

    Yields
    ------
    part : SubMesh
        Part 0 first.

    Raises
    ------
    ArgumentError, MeshError, MethodError
        As `partition` does, before the first part is asked for.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> [part.cells.n_owned for part in meshpart.iter_partition(mesh, 2)]
    [1, 1]
    """
    plan = Plan.of(mesh, ghost_layers, graphs, threads)
    labels, made = labels_by_method(
        plan.cut.mesh,
        nparts,
        method=method,
        mode=mode,
        imbalance=imbalance,
        seed=seed,
        weights=weights,
        edge_weights=edge_weights,
        keep_together=keep_together,
        repair=repair,
        allow_empty=allow_empty,
        threads=threads,
    )
    return plan.each(labels, made)


def split(
    mesh: Mesh | MeshLike | SubMesh,
    labels: npt.ArrayLike,
    nparts: int | None = None,
    *,
    ghost_layers: int = 0,
    only: Iterable[int] | None = None,
    graphs: str | Iterable[str] = (),
    threads: int | None = None,
) -> list[SubMesh]:
    """Cut a mesh into sub-meshes along labels from anywhere, which are taken literally.

    Parameters
    ----------
    mesh : Mesh, meshio.Mesh, or anything with `points` and `cells` alike; or SubMesh
        Of a part, its owned cells are cut again, as in `partition`.
    labels : array_like of int, (n_cells,)
        The part of each cell, cells numbered through the blocks in order.
    nparts : int, optional
        The highest label + 1 otherwise. Parts without a cell are empty.
    ghost_layers, only, graphs, threads
        As in `partition`.

    Returns
    -------
    parts : list of SubMesh

    Raises
    ------
    ArgumentError
        If the labels do not fit the mesh or are outside 0..nparts-1.
    """
    plan = Plan.of(mesh, ghost_layers, graphs, threads)
    given, made = labels_given(plan.cut.mesh, labels, nparts)
    return plan.built(given, arguments.chosen_parts(only, made.nparts), made)


def iter_split(
    mesh: Mesh | MeshLike | SubMesh,
    labels: npt.ArrayLike,
    nparts: int | None = None,
    *,
    ghost_layers: int = 0,
    graphs: str | Iterable[str] = (),
    threads: int | None = None,
) -> Iterator[SubMesh]:
    """Cut a mesh into sub-meshes along labels from anywhere, and yield them one after another.

    Parameters
    ----------
    mesh, labels, nparts, ghost_layers, graphs, threads
        As in `split`.

    Yields
    ------
    part : SubMesh
        As of `split`, part 0 first; built a few at a time as by `iter_partition`.

    Raises
    ------
    ArgumentError
        As `split` does, before the first part is asked for.
    """
    plan = Plan.of(mesh, ghost_layers, graphs, threads)
    return plan.each(*labels_given(plan.cut.mesh, labels, nparts))
