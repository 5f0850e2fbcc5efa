"""Seconds and memory of ghost layers, owners and plans, beside meshioplusplus in the same run. See README.md.

python benchmarks/halo.py [--quick] [--cells 1000000] [--rounds 3]
                          [--only compared scaling one fan back graphs] [--large]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from cases import box_tets, fan_triangles, loaded, shuffled, stored
from cutters import assert_same, installed, store_neighbours
from measure import BESIDE, NOTE, Taken, beside, in_fresh_process, measured, ratio, taking_turns
from report import heading, machine, require_peer, spread, table

Call = Callable[[], Any]
Titled = Iterator[tuple[str, str]]  # a title and a table
PARTS = 64


class Asked(NamedTuple):
    """What a section works with: the command line, and 1 M tets in order and shuffled."""

    quick: bool
    rounds: int
    folder: Path
    ordered: Path
    mixed_up: Path


def main() -> None:
    """Run what the command line asks for, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells, fewer parts")
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="processes of each library, taking turns")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--large", action="store_true", help="5 million cells too, ours only")
    given = parser.parse_args()
    require_peer()
    print(heading(machine(), sys.argv), flush=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        mesh = box_tets(given.cells // 10 if given.quick else given.cells)
        files = stored(mesh, folder), stored(shuffled(mesh, 0), folder, "shuffled")
        del mesh
        asked = Asked(given.quick, given.rounds, folder, *files)
        sections = [section for name, section in SECTIONS.items() if name in given.only]
        for section in [*sections, large] if given.large else sections:
            for title, rows in section(asked):
                print(f"\n{title}\n\n{rows}", flush=True)


# -- beside meshioplusplus ----------------------------------------------------------------------------------


def compared(asked: Asked) -> Titled:
    """Yield whole calls of `partition` beside the peer's, after both were found to see the same ghosts."""
    for parts, layers in ((PARTS, 1), (PARTS, 2), (128 if asked.quick else 1024, 1)):
        rows = []
        for file in (asked.ordered, asked.mixed_up):
            in_fresh_process(assert_same_ghosts, file, parts, layers)
            calls = (partial(measured, by, file, parts, layers, later=2) for by in (ours, theirs))
            rows += [(file.stem, *row) for row in beside(*taking_turns(asked.rounds, *calls))]
        yield f"**{parts} parts, {counted(layers)}**. {NOTE}", table(("mesh", *BESIDE), rows)


def ours(file: Path, parts: int, layers: int) -> Call:
    """Return the call on the mesh object that users have, meshio's: parts with ghosts, owners and plans."""
    import meshio

    import meshpart

    mesh = meshio.Mesh(*loaded(file))
    return lambda: meshpart.partition(mesh, parts, method="sfc", ghost_layers=layers)


def theirs(file: Path, parts: int, layers: int) -> Call:
    """Return the peer's call on its own mesh: pieces with ghosts, without owners of points and without plans."""
    import meshioplusplus

    mesh = meshioplusplus.Mesh(*loaded(file))
    return lambda: meshioplusplus.partition(mesh, parts, method="sfc", ghost_layers=layers)


def assert_same_ghosts(file: Path, parts: int, layers: int) -> None:
    """Compare the cells and the layers of every piece of the peer's with a part of ours along the peer's labels."""
    import meshioplusplus

    import meshpart

    points, cells = loaded(file)
    mesh = meshioplusplus.Mesh(points, cells)
    labels = np.concatenate(meshioplusplus.partition_labels(mesh, parts, method="sfc"))
    pieces = meshioplusplus.partition(mesh, parts, method="sfc", ghost_layers=layers, record_ids=True)
    found = meshpart.split(meshpart.Mesh(points, cells), labels, parts, ghost_layers=layers)
    for piece, part in zip(pieces, found, strict=True):
        ids, their_layers = (piece.cell_data[f"partition:{name}"][0] for name in ("original_cell_id", "ghost"))
        their_order, our_order = np.argsort(ids), np.argsort(part.cells.global_ids)
        assert np.array_equal(ids[their_order], part.cells.global_ids[our_order]), part
        assert np.array_equal(their_layers[their_order], part.cells.layers()[our_order]), part


FANS = ("cells", "ours s", "ours µs a cell", "theirs s", "theirs µs a cell", "ours / theirs")


def fan(asked: Asked) -> Titled:
    """Yield fans of triangles, all cells of which are ghosts of all other parts; the peer does without the largest."""
    rows = []
    for cells in (16_000, 64_000, 256_000):
        n = cells // 10 if asked.quick else cells
        file = stored(fan_triangles(n), asked.folder, "around a point")
        libraries = (ours, theirs) if cells < 256_000 else (ours,)
        seconds = [
            [result.first for result in results]
            for results in taking_turns(asked.rounds, *(partial(measured, by, file, 4, 1) for by in libraries))
        ]
        columns = [column for taken in seconds for column in (spread(taken), f"{median(taken) / n * 1e6:.2f}")]
        columns += [ratio(*seconds)] if len(seconds) == 2 else ["", "", ""]
        rows.append((str(n), *columns))
    yield "**Triangles around one point, 4 parts, one ghost layer**. First calls of a process.", table(FANS, rows)


# -- meshpart alone -----------------------------------------------------------------------------------------

SCALED = ("parts", "ghost layers", "M local cells", "first call s", "later calls s", "µs a local cell", "MiB")


def scaling(asked: Asked) -> Titled:
    """Yield `split` along labels, by parts and layers."""
    rows = []
    for parts in (8, 64, 512) if asked.quick else (8, 64, 512, 4096):
        labels = labels_of(asked.mixed_up, parts, asked.folder)
        for layers in range(4):
            taken = measured(
                along, asked.mixed_up, labels, parts, layers, later=asked.rounds, find=number_of_local_cells
            )
            per_cell = median(taken.later) / taken.found * 1e6
            times = f"{taken.first:.3f}", spread(taken.later), f"{per_cell:.3f}"
            rows.append((str(parts), str(layers), f"{taken.found / 1e6:.2f}", *times, f"{taken.extra:.0f}"))
    title = (
        f"**`split` along labels, by parts and layers**, {asked.mixed_up.stem}. Local cells: of all parts, with ghosts."
    )
    yield title, table(SCALED, rows)


ONE = ("ghost layers", "parts built", "first call s", "/ all", "later calls s", "/ all", "MiB")


def one_of_many(asked: Asked) -> Titled:
    """Yield what `only=[r]` takes, of eight parts r, beside all parts."""
    parts = 128 if asked.quick else 1024
    labels = labels_of(asked.mixed_up, parts, asked.folder)
    rows = []
    for layers in (1, 2):

        def take(only: list[int] | None, layers: int = layers) -> Taken:
            return measured(along, asked.mixed_up, labels, parts, layers, only, later=asked.rounds)

        whole = take(None)
        each = [take([part]) for part in np.linspace(0, parts - 1, 8).astype(int).tolist()]
        for built, taken, of in (
            ("all", [whole], mean),
            ("the cheapest of 8", each, min),
            ("the mean of 8", each, mean),
        ):
            first = of([result.first for result in taken])
            later = of([median(result.later) for result in taken])
            times = f"{first:.3f}", f"{first / whole.first:.3f}", f"{later:.3f}", f"{later / median(whole.later):.3f}"
            rows.append((str(layers), built, *times, f"{mean(result.extra for result in taken):.0f}"))
    yield f"**One part of {parts}, `split` along labels**, {asked.mixed_up.stem}", table(ONE, rows)


LARGE = ("mesh", "parts", "first call s", "second call s", "M local cells", "MiB above the mesh", "under 3 GB")


def large(asked: Asked) -> Titled:
    """Yield a large mesh, with one layer."""
    file = stored(shuffled(box_tets(500_000 if asked.quick else 5_000_000), 0), asked.folder, "shuffled")
    taken = measured(ours, file, PARTS, 1, later=1, find=number_of_local_cells)
    seconds = (f"{second:.2f}" for second in taken.seconds)
    fits = "yes" if taken.extra * 2**20 < 3e9 else "no"
    row = file.stem, str(PARTS), *seconds, f"{taken.found / 1e6:.2f}", f"{taken.extra:.0f}", fits
    yield "**`partition` of a large mesh, one ghost layer**", table(LARGE, [row])


BACK = ("job", "first call s", "later calls s", "MiB")


def back_and_forth(asked: Asked) -> Titled:
    """Yield what is done with parts that have one layer."""
    labels = labels_of(asked.mixed_up, PARTS, asked.folder)
    jobs = {
        "`split`": partial(measured, along, asked.mixed_up, labels, PARTS, 1),
        '`split`, graphs="points"': partial(measured, along, asked.mixed_up, labels, PARTS, 1, None, "points"),
        "`merge`": partial(measured, merging, asked.mixed_up, labels),
        "`exchange` of a point field (n, 8)": partial(measured, exchanging, asked.mixed_up, labels),
        "`local_graph`": partial(measured, edges_of, asked.mixed_up, labels, ()),
        "`local_graph`, with edge ids": partial(measured, edges_of, asked.mixed_up, labels, "points"),
    }
    rows = []
    for name, job in jobs.items():
        taken = job(later=asked.rounds)
        rows.append((name, f"{taken.first:.3f}", spread(taken.later), f"{taken.extra:.0f}"))
    title = f"**Back and forth: all of {PARTS} parts with one ghost layer**, {asked.mixed_up.stem}. {ABOVE}"
    yield title, table(BACK, rows)


ABOVE = (
    "Labels are given. `local_graph`: of the points, one step, part after part; its edge ids are known to parts that "
    'were split with graphs="points". MiB: above the loaded mesh, or the finished parts.'
)


def along(
    file: Path, labels: Path, parts: int, layers: int, only: list[int] | None = None, graphs: str | tuple[str, ...] = ()
) -> Call:
    """Return a call of `split` along labels."""
    import meshpart

    mesh, given = meshpart.Mesh(*loaded(file)), np.load(labels)
    return lambda: meshpart.split(mesh, given, parts, ghost_layers=layers, only=only, graphs=graphs)


def merging(file: Path, labels: Path) -> Call:
    """Return a call that puts all parts together again."""
    import meshpart

    parts = along(file, labels, PARTS, 1)()
    return lambda: meshpart.merge(parts)


def exchanging(file: Path, labels: Path) -> Call:
    """Return a call that fills the ghosts of all parts."""
    import meshpart

    parts = along(file, labels, PARTS, 1)()
    field = np.random.default_rng(5).random((parts[0].points.n_global, 8))
    owned = [field[part.points.global_ids[: part.points.n_owned]] for part in parts]
    return lambda: meshpart.exchange(parts, owned, "points")


def edges_of(file: Path, labels: Path, graphs: str | tuple[str, ...]) -> Call:
    """Return a call that finds the edges of message passing on the points of each part."""
    import meshpart

    parts = along(file, labels, PARTS, 1, graphs=graphs)()
    return lambda: [meshpart.local_graph(part, "points", steps=1) for part in parts]


def number_of_local_cells(parts: list[Any]) -> int:
    """Return how many cells all parts have, ghosts included."""
    return sum(part.cells.n_local for part in parts)


def labels_of(file: Path, parts: int, folder: Path) -> Path:
    """Return where the labels of the method sfc are kept."""
    import meshpart

    path = folder / f"{file.stem} {parts} parts.npy"
    if not path.exists():
        np.save(path, meshpart.partition_labels(meshpart.Mesh(*loaded(file)), parts, method="sfc"))
    return path


# -- directed graphs ----------------------------------------------------------------------------------------

GRAPHS = ("layers", "by", "first call s", "later calls s", "ours / theirs", "MiB")


def graphs(asked: Asked) -> Titled:
    """Yield a graph of nearest neighbours cut by all who can do it; all must find the same vertices."""
    n = 20_000 if asked.quick else 200_000
    file = asked.folder / "neighbours.npz"
    store_neighbours(n, PARTS, file)
    rows = []
    for layers in (1, 2):
        cutters = installed()
        calls = (partial(measured, by.prepare, file, layers, later=2, find=by.find) for by in cutters)
        results = list(taking_turns(asked.rounds, *calls))
        firsts = [[result.first for result in taken] for taken in results]
        for by, taken, first in zip(cutters, results, firsts, strict=True):
            assert_same(by.name, {result.found for result in taken}, results[0][0].found)
            later = spread([seconds for result in taken for seconds in result.later])
            extra = median(result.extra for result in taken)
            rows.append((str(layers), by.name, spread(first), later, ratio(firsts[0], first), f"{extra:.0f}"))
    title = f"**{n} random points, each receiving from its 8 nearest, {PARTS} parts**. Ratios: of first calls."
    yield title, table(GRAPHS, rows)


def counted(layers: int) -> str:
    """Return "one ghost layer" or "two ghost layers"."""
    return "one ghost layer" if layers == 1 else "two ghost layers"


SECTIONS = {
    "compared": compared,
    "scaling": scaling,
    "one": one_of_many,
    "fan": fan,
    "back": back_and_forth,
    "graphs": graphs,
}

if __name__ == "__main__":
    main()
