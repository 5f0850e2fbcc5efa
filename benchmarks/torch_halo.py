"""Seconds of plans, graphs and exchanges for torch, beside PyG, PhysicsNeMo and bare torch. See README.md.

python benchmarks/torch_halo.py [--quick] [--points 227000] [--rounds 3] [--only graphs physicsnemo refresh opening]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import memory
import numpy as np
from cases import RawMesh, box_tets, flat_triangles, shuffled
from measure import Timed, in_fresh_process, in_turns, ratio
from report import heading, machine, require_peer, spread, table
from torch_graphs import OURS, PARTS, PYG, beside_physicsnemo, beside_pyg, given_by

Call = Callable[[], Any]
Titled = Iterator[tuple[str, str]]  # a title and a table


class Asked(NamedTuple):
    """What a section works with: the command line, a folder, and meshes in files."""

    quick: bool
    rounds: int
    folder: Path
    meshes: dict[str, Path]


def main() -> None:
    """Run what the command line asks for, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the points, fewer payloads and rounds")
    parser.add_argument("--points", type=int, default=227_000)
    parser.add_argument("--rounds", type=int, default=3, help="calls of each, taking turns")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    given = parser.parse_args()
    require_peer()
    require_peer("torch_geometric", "pyg")
    packages = ["torch", "torch_geometric", *(["nvidia-physicsnemo"] if find_spec("physicsnemo") else [])]
    print(heading(machine(*packages), sys.argv), flush=True)
    n = given.points // 10 if given.quick else given.points
    with TemporaryDirectory() as name:
        folder = Path(name)
        cube = box_tets(round(6 * (n ** (1 / 3) - 1) ** 3))
        square = flat_triangles(round(2 * (n**0.5 - 1) ** 2))
        made = {"tets": cube, "tets shuffled": shuffled(cube, 0), "triangles": square}
        meshes = {what: written(mesh, folder / f"{what}.npz") for what, mesh in made.items()}
        asked = Asked(given.quick, given.rounds, folder, meshes)
        for section in given.only:
            for title, rows in SECTIONS[section](asked):
                print(f"\n{title}\n\n{rows}", flush=True)


def written(mesh: RawMesh, file: Path) -> Path:
    """Write a mesh where the measuring processes find it."""
    np.savez(file, points=mesh.points, **dict(mesh.cells))  # type: ignore[arg-type]
    return file


# -- plans and graphs ---------------------------------------------------------------------------------------

CUTS = (("tets", 1), ("tets", 2), ("tets shuffled", 1), ("triangles", 1))  # meshes, and how many layers
GRAPHS = ("mesh", "points", "edges", "layers", "threads", "by", "seconds", "/ PyG", "CPU / PyG")


def graphs(asked: Asked) -> Titled:
    """Yield plans and graphs of all parts beside PyTorch Geometric's subgraphs of the same parts."""
    rows = []
    for what, layers in CUTS:
        for threads in sorted({1, len(os.sched_getaffinity(0))}):
            sizes, taken = in_fresh_process(beside_pyg, asked.meshes[what], layers, asked.rounds, threads)
            for by, each in taken.items():
                told = what, *sizes, str(layers), str(threads)
                rows.append((*told, by, spread(each.wall), *each.ratios(taken[PYG])))
    title = (
        f"**Plans and graphs of all {PARTS} parts**. All are given the point graph and the owners, `split` the mesh "
        "and the labels. Ratios: to `k_hop_subgraph` as it is by default, with all edges between its points; with "
        "directed=True it has those that messages need, as meshpart's parts do. PyG finds no plans."
    )
    yield title, table(GRAPHS, rows)


PHYSICSNEMO = ("mesh", "points numbered", "by", "for", "seconds", "ours / theirs", "CPU ours / theirs")


def physicsnemo(asked: Asked) -> Titled:
    """Yield plans and graphs of all parts beside what PhysicsNeMo's partitioner takes on each rank."""
    if find_spec("physicsnemo") is None:
        yield "**NOT RUN: PhysicsNeMo's partitioner.**", "It needs nvidia-physicsnemo, which is not installed here."
        return
    rows = []
    for what in ("tets", "triangles"):
        for by_part in (False, True):
            taken = in_fresh_process(beside_physicsnemo, asked.meshes[what], by_part, min(asked.rounds, 3))
            for by, each in taken.items():
                whose = f"all {PARTS} parts" if by == OURS else "one rank"
                compared = taken[OURS].ratios(each, 3)
                rows.append((what, "by part" if by_part else "as made", by, whose, spread(each.wall), *compared))
    title = (
        f"**Plans and graphs of all {PARTS} parts beside one rank's of PhysicsNeMo**, whose partitioner every rank "
        "runs. One layer; all are given the point graph and the owners. Matrix decomposition needs points that are "
        "numbered part by part."
    )
    yield title, table(PHYSICSNEMO, rows)


# -- ranks --------------------------------------------------------------------------------------------------


def on_ranks(size: int, function: Callable[..., Any], *given: Any) -> list[Any]:
    """Return what the ranks of a group over gloo return, each a process of its own, when they call a function."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(size) as threads:
        run = partial(in_fresh_process, as_rank, f"file://{folder}/store", size, function, given)
        return list(threads.map(run, range(size)))


def as_rank(store: str, size: int, function: Callable[..., Any], given: tuple[Any, ...], rank: int) -> Any:
    """Call a function as a rank."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=size)
    try:
        return function(*given)
    finally:
        dist.destroy_process_group()


# -- the refresh of ghosts ----------------------------------------------------------------------------------

FLOAT = 4  # bytes
MORE = ("bare µs", "`refresh_` µs", "/ bare", "µs more", "CPU µs more")
REFRESH = ("KiB", "features", *MORE, "`ghosts` µs", "`exchange` µs", "copy µs")
OWNED = ("owned rows", "MiB", *MORE, "`refresh_` MiB", "`exchange` µs", "`exchange` MiB")


class Shape(NamedTuple):
    """What a rank exchanges: float32 features of so many ghosts, and as many rows sent."""

    n_owned: int
    n_ghost: int
    features: int

    def bytes(self, rows: int) -> int:
        """Return how many bytes so many rows have."""
        return rows * self.features * FLOAT


def refresh(asked: Asked) -> Titled:
    """Yield the refresh of ghosts beside a bare exchange of the same bytes, and that it copies no owned rows."""
    rounds = (40 if asked.quick else 150) * asked.rounds
    shapes = []
    for kib in (60, 1024) if asked.quick else (60, 240, 1024, 4096):
        for features in (16, 64, 256):
            n_ghost = kib * 1024 // (features * FLOAT)
            shapes.append(Shape(max(16_384, 2 * n_ghost), n_ghost, features))
    rows = []
    for shape, (_, taken) in zip(shapes, on_ranks(2, refreshes, shapes, rounds)[0], strict=True):
        others = (microseconds(taken[way].wall) for way in ("ghosts", "exchange", "copy"))
        kib = f"{shape.bytes(shape.n_ghost) / 1024:.0f}"
        rows.append((kib, str(shape.features), *compared_with_bare(taken), *others))
    title = (
        "**`refresh_` beside a bare `index_select` and `all_to_all_single`** of the same float32 values, received in "
        "place. 2 ranks over gloo, in turns; KiB: in each direction. Medians, those of ratios and differences pair by "
        "pair. CPU: of the calling thread. For information: `ghosts`, `exchange`, and a copy of all local rows."
    )
    yield title, table(REFRESH, rows)

    n_owned = 10_000 if asked.quick else 100_000
    shapes = [Shape(factor * n_owned, 1024, 64) for factor in (1, 10)]
    rows = []
    for shape, (needed, taken) in zip(shapes, on_ranks(2, refreshes, shapes, rounds)[0], strict=True):
        exchange = microseconds(taken["exchange"].wall), f"{needed['exchange']:.1f}"
        size = f"{shape.bytes(shape.n_owned) / 2**20:.1f}"
        rows.append((str(shape.n_owned), size, *compared_with_bare(taken), f"{needed['refresh_']:.1f}", *exchange))
    title = (
        "**The same 1024 ghosts of 64 features, beside few owned rows and ten times as many**. MiB of a call: the peak "
        "of resident memory during the first one, above what was resident before."
    )
    yield title, table(OWNED, rows)


def compared_with_bare(taken: Mapping[str, Timed]) -> tuple[str, ...]:
    """Return the columns of `MORE`."""
    ours, bare = taken["refresh_"], taken["bare"]
    more = ([a - b for a, b in zip(*pair, strict=True)] for pair in zip(ours, bare, strict=True))
    return (*map(microseconds, (bare.wall, ours.wall)), ratio(ours.wall, bare.wall), *map(microseconds, more))


def microseconds(seconds: Sequence[float]) -> str:
    """Return the median."""
    return f"{median(seconds) * 1e6:.0f}"


def refreshes(shapes: Sequence[Shape], rounds: int) -> list[tuple[dict[str, float], dict[str, Timed]]]:
    """Return for each shape the MiB that first calls need, and what later ones take."""
    import torch
    import torch.distributed as dist

    import meshpart
    import meshpart.torch as mt

    def measured(shape: Shape, rounds: int) -> tuple[dict[str, float], dict[str, Timed]]:
        n_owned, n_ghost, features = shape
        halo = mt.Halo(meshpart.split_graph(*coupled(n_owned, n_ghost), only=[dist.get_rank()])[0])
        assert (halo.n_owned, halo.n_ghost, len(halo.send_index)) == (n_owned, n_ghost, n_ghost)
        x = torch.rand(halo.n_local, features)
        owned, ghosts, index = x[:n_owned], x[n_owned:], halo.send_index
        splits = [0 if rank == dist.get_rank() else n_ghost for rank in (0, 1)]
        ways: dict[str, Call] = {
            "bare": lambda: dist.all_to_all_single(ghosts, x.index_select(0, index), splits, splits),
            "refresh_": lambda: halo.refresh_(x),
        }
        others: dict[str, Call] = {
            "ghosts": lambda: halo.ghosts(owned),
            "exchange": lambda: halo.exchange(owned),
            "copy": x.clone,
        }
        ways["bare"]()
        expected = x.clone()
        ghosts.zero_()
        needed = {"refresh_": peak_of(ways["refresh_"]), "exchange": peak_of(others["exchange"])}
        assert torch.equal(x, expected)
        assert torch.equal(halo.exchange(owned), expected)
        assert torch.equal(halo.ghosts(owned), expected[n_owned:])
        taken = in_turns(rounds, ways, time.thread_time)
        return needed, taken | in_turns(max(rounds // 10, 5), others, time.thread_time)

    measured(Shape(64, 8, 4), 5)  # connects the ranks
    return [measured(shape, rounds) for shape in shapes]


def coupled(n_owned: int, n_ghost: int) -> tuple[Any, Any]:
    """Return a graph of two parts alike, and its owners: so many vertices of each, at random, are joined in pairs."""
    rng = np.random.default_rng(6)
    first, second = (np.sort(rng.choice(n_owned, n_ghost, replace=False)) + part * n_owned for part in (0, 1))
    degrees = np.bincount(np.concatenate([first, second]), minlength=2 * n_owned)
    graph = np.append(0, np.cumsum(degrees)), np.concatenate([second, first])
    return graph, np.repeat(np.arange(2), n_owned)


def peak_of(call: Call) -> float:
    """Return the MiB that a call needs above what is resident before it."""
    memory.reset_peak()
    before = memory.resident()
    kept = call()
    peak = memory.peak()
    del kept
    return peak - before


# -- what a rank begins with --------------------------------------------------------------------------------

OPENING = ("mesh", "`load` ms", "`part_graph` ms", "the same, stored ms", "`Halo` ms", "`Halo(verify=False)` ms")


def opening(asked: Asked) -> Titled:
    """Yield what a rank takes to have its part, its graph and its halo."""
    rows = []
    for what in ("tets", "triangles"):
        store = asked.folder / f"{what}.parts"
        columns = in_fresh_process(opens, asked.meshes[what], store)
        halos = on_ranks(PARTS, begins, store, asked.rounds)
        columns += [[seconds for rank in halos for seconds in rank[way].wall] for way in ("verified", "not")]
        rows.append((what, *(spread([seconds * 1e3 for seconds in column]) for column in columns)))
    title = (
        f"**What each of {PARTS} ranks begins with**: its part, from a store with one ghost layer; its graph of one "
        "step, found, and stored with the part (one process, part after part); its `Halo`, on all ranks at once."
    )
    yield title, table(OPENING, rows)


def opens(file: Path, path: Path) -> list[list[float]]:
    """Write a store, and return the seconds for each part: to load it, to find its graph, to take a stored graph."""
    import meshpart
    import meshpart.torch as mt

    given = given_by(file)
    parts = meshpart.split(given.mesh, given.labels, ghost_layers=1)
    with_graphs = path.with_name(f"graphs-{path.name}")
    meshpart.write_parts(parts, path)
    meshpart.write_parts(parts, with_graphs, graphs=[("points", 1)])
    stores = meshpart.open_parts(path), meshpart.open_parts(with_graphs)
    mt.part_graph(stores[1].load(0), steps=1)  # the first call of all
    columns: list[list[float]] = [[], [], []]
    for number in range(PARTS):
        start = time.perf_counter()
        part = stores[0].load(number)
        columns[0].append(time.perf_counter() - start)
        for column, each in zip(columns[1:], (part, stores[1].load(number)), strict=True):
            start = time.perf_counter()
            mt.part_graph(each, steps=1)
            column.append(time.perf_counter() - start)
    return columns


def begins(store: Path, rounds: int) -> dict[str, Timed]:
    """Return what a rank's halo takes."""
    import torch.distributed as dist

    import meshpart
    import meshpart.torch as mt

    part = meshpart.open_parts(store).load(dist.get_rank())
    mt.Halo(part)  # connects the ranks
    return in_turns(rounds, {"verified": lambda: mt.Halo(part), "not": lambda: mt.Halo(part, verify=False)})


SECTIONS = {"graphs": graphs, "physicsnemo": physicsnemo, "refresh": refresh, "opening": opening}

if __name__ == "__main__":
    main()
