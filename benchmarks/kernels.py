"""The table of what speed.py measures: each kernel, meshpart's way and its rivals', and what it is looked at over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import by_numpy
import by_packages
import found
import ours
from inputs import Case

CELLS, PARTS, LAYERS, THREADS, SHAPES = "cells", "parts", "layers", "threads", "shapes"
PEER = "meshioplusplus"


@dataclass(frozen=True)
class Way:
    """Someone's way to do what a kernel does."""

    by: str
    prepare: Callable[[Case], ours.Job]
    find: Callable[[Case, Any], Any] | None = None  # must be what meshpart's way finds; None where nothing compares
    needs: tuple[str, ...] = ()  # modules

    @property
    def missing(self) -> list[str]:
        """The modules that are not installed."""
        return [module for module in self.needs if find_spec(module) is None]


@dataclass(frozen=True)
class Kernel:
    """One thing that meshpart does: how, who else does it, and what its cost is looked at over."""

    name: str
    way: Way
    rivals: tuple[Way, ...] = ()
    grows: frozenset[str] = frozenset({CELLS})
    wants: tuple[str, ...] = ("mesh",)  # names of inputs.MAKERS
    parts: tuple[int, ...] = (64,)  # beside rivals
    layers: int | None = None  # None where it is the case that says
    share: float = 1.0  # of the cells that others work on
    later: int = 2  # calls after the first

    def of(self, case: Case) -> Case:
        """Return the case as this kernel takes it."""
        layers = case.layers if self.layers is None else self.layers
        return replace(case, layers=layers, cells=round(case.cells * self.share))


def mine(prepare: Callable[[Case], ours.Job], find: Callable[[Case, Any], Any] | None = None) -> Way:
    """Return meshpart's way."""
    return Way("meshpart", prepare, find)


def plus(prepare: Callable[[Case], ours.Job], find: Callable[[Case, Any], Any] | None = None) -> Way:
    """Return meshioplusplus' way."""
    return Way(PEER, prepare, find, (PEER,))


def numpy_alone(prepare: Callable[[Case], ours.Job], find: Callable[[Case, Any], Any] | None = None) -> Way:
    """Return a way with NumPy."""
    return Way("NumPy", prepare, find)


def with_scipy(prepare: Callable[[Case], ours.Job], find: Callable[[Case, Any], Any] | None = None) -> Way:
    """Return a way with NumPy and SciPy."""
    return Way("NumPy and SciPy", prepare, find)


def reading(suffix: str) -> Kernel:
    """Return the kernel of a file format."""
    return Kernel(
        f"reading {suffix}",
        mine(partial(ours.reading, suffix), found.mesh),
        (
            Way("meshio", partial(by_packages.reading_by_meshio, suffix), found.mesh),
            plus(partial(by_packages.reading, suffix), found.mesh),
        ),
        wants=("mesh", suffix),
    )


def repairing(what: str, spoil: Callable[[Case], ours.Labels]) -> Kernel:
    """Return the kernel that repairs one kind of bad labels."""
    return Kernel(
        f"repair of labels {what}",
        mine(partial(ours.repair, spoil)),
        grows=frozenset({CELLS, PARTS}),
        wants=("mesh", "labels"),
    )


ALL = frozenset({CELLS, PARTS, THREADS, SHAPES})

TABLE = (
    reading(".vtu"),
    reading(".msh"),
    Kernel(
        "taking over a mesh",
        mine(ours.taking_over, found.mesh),
        (numpy_alone(by_numpy.taking_over, found.hashed_all),),
        grows=frozenset({CELLS, SHAPES}),
        later=10,
    ),
    Kernel(
        "sfc labels",
        mine(ours.sfc, found.sizes_of_parts),
        (plus(by_packages.sfc, found.sizes_of_parts),),
        grows=ALL,
    ),
    Kernel(
        "dual graph",
        mine(partial(ours.dual_graph, "facet"), found.rows),
        (
            Way("METIS_MeshToDual", partial(by_packages.metis_dual, 3), found.rows, ("pymetis",)),
            with_scipy(by_numpy.dual_graph, found.rows),
            Way(f"{PEER}, partition's", by_packages.dual_graph, found.rows, (PEER,)),
            Way(f"{PEER}, edge_index", partial(by_packages.edge_index, "cell"), found.pairs, (PEER,)),
        ),
        grows=frozenset({CELLS, THREADS, SHAPES}),
    ),
    Kernel(
        "dual graph through points",
        mine(partial(ours.dual_graph, "point"), found.rows),
        (
            Way("METIS_MeshToDual", partial(by_packages.metis_dual, 1), found.rows, ("pymetis",)),
            with_scipy(by_numpy.cells_sharing_points, found.rows),
        ),
        grows=frozenset({CELLS, THREADS}),
        share=0.1,
    ),
    Kernel(
        "point graph",
        mine(ours.point_graph, found.rows),
        (
            Way("METIS_MeshToNodal", by_packages.metis_nodal, found.rows, ("pymetis",)),
            with_scipy(by_numpy.point_graph, found.rows),
            Way(f"{PEER}, edge_index", partial(by_packages.edge_index, "node"), found.pairs, (PEER,)),
        ),
        grows=frozenset({CELLS, THREADS, SHAPES}),
    ),
    Kernel(
        "sub-meshes",
        mine(ours.partition, found.true),
        (plus(by_packages.partition, found.pieces_agree),),
        grows=ALL,
        parts=(64, 512),
        layers=0,
    ),
    Kernel(
        "one ghost layer",
        mine(ours.partition, found.true),
        (plus(by_packages.partition, found.pieces_agree),),
        grows=ALL | {LAYERS},
        parts=(64, 512),
        layers=1,
    ),
    Kernel(
        "two ghost layers",
        mine(ours.partition, found.true),
        (plus(by_packages.partition, found.pieces_agree),),
        grows=frozenset(),
        layers=2,
    ),
    Kernel(
        "plans along labels",
        mine(ours.split, found.sends),
        (with_scipy(by_numpy.plans, by_numpy.sends),),
        grows=frozenset({CELLS, PARTS, LAYERS}),
        wants=("mesh", "labels"),
        parts=(64, 512),
    ),
    Kernel(
        "one part alone",
        mine(ours.one_part),
        (Way("meshpart, all parts", ours.split),),
        grows=frozenset({CELLS, PARTS, LAYERS}),
        wants=("mesh", "labels"),
        parts=(64, 512),
    ),
    Kernel(
        "local graphs of all parts",
        mine(ours.local_graphs, found.edges_of_parts),
        (numpy_alone(by_numpy.local_graphs, found.edges_of_parts),),
        grows=frozenset({CELLS, PARTS, THREADS}),
        wants=("mesh", "labels"),
    ),
    Kernel(
        "exchange of a point field",
        mine(ours.exchange, found.hashed_all),
        (numpy_alone(by_numpy.exchange, found.hashed_all),),
        grows=frozenset({CELLS, PARTS}),
        wants=("mesh", "labels"),
    ),
    Kernel(
        "quality report",
        mine(ours.quality, found.report),
        (with_scipy(by_numpy.quality, found.report),),
        grows=ALL,
        wants=("mesh", "labels"),
        parts=(64, 512),
    ),
    Kernel(
        "edge cut of a graph",
        mine(ours.cut, found.first_two),
        (numpy_alone(by_numpy.cut, found.first_two),),
        grows=frozenset({CELLS, PARTS}),
        wants=("mesh", "labels"),
    ),
    repairing("all in one part", ours.all_in_one),
    repairing("at random", ours.at_random),
    repairing("of every second part", ours.uneven),
    Kernel(
        "merge",
        mine(ours.merge, found.mesh),
        (numpy_alone(by_numpy.merge, found.mesh),),
        grows=frozenset({CELLS, PARTS, LAYERS, SHAPES}),
        wants=("mesh", "labels"),
        parts=(64, 512),
    ),
    Kernel(
        "writing a store",
        mine(ours.writing, found.size_of_files),
        (
            Way("bare bytes", by_packages.bare_bytes, found.size_of_files),
            Way(f"{PEER}, .vtu", by_packages.writing, None, (PEER,)),
        ),
        grows=frozenset({CELLS, PARTS, LAYERS, SHAPES}),
        wants=("mesh", "labels", "store"),
        parts=(64, 512),
    ),
    Kernel(
        "mesh to store",
        mine(partial(ours.to_files, ".parts")),
        (Way(f"{PEER}, .vtu", by_packages.to_files, None, (PEER,)),),
        grows=frozenset({CELLS, PARTS}),
    ),
    Kernel(
        "mesh to .pvtu",
        mine(partial(ours.to_files, ".pvtu")),
        (Way(f"{PEER}, .vtu", by_packages.to_files, None, (PEER,)),),
        grows=frozenset({CELLS, PARTS}),
    ),
    Kernel(
        "loading one part",
        mine(ours.loading, found.part),
        (
            Way("mmap by hand", by_packages.loading_by_hand, found.part_arrays),
            Way("safetensors", by_packages.loading_by_safetensors, found.part_arrays),
            Way("numpy.memmap", by_packages.loading_by_memmaps, found.part_arrays),
        ),
        grows=frozenset({CELLS, PARTS, SHAPES}),
        wants=("mesh", "labels", "store"),
        later=200,
    ),
    Kernel(
        "opening a store",
        mine(ours.opening),
        grows=frozenset({CELLS, PARTS}),
        wants=("mesh", "labels", "store"),
        later=50,
    ),
)
KERNELS = {kernel.name: kernel for kernel in TABLE}
