"""Seconds and memory of writing parts and of opening them, beside raw bytes and meshioplusplus. See README.md.

python benchmarks/store.py [--quick] [--cells 1000000] [--rounds 3] [--only whole write open]
"""

from __future__ import annotations

import argparse
import json
import mmap
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from cases import box_tets, loaded, mixed, shuffled, stored
from measure import Taken, in_fresh_process, measured, ratio, taking_turns
from report import heading, machine, require_peer, spread, table

Call = Callable[[], Any]
Titled = Iterator[tuple[str, str]]  # a title and a table
NEW = count()  # of the names of what is written


class Asked(NamedTuple):
    """What a section works with: the command line, a folder, and shuffled tets in a file."""

    quick: bool
    rounds: int
    folder: Path
    file: Path

    @property
    def counts(self) -> tuple[int, int]:
        """Few parts, and many."""
        return (8, 64) if self.quick else (8, 512)


def main() -> None:
    """Run what the command line asks for, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells, fewer parts")
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="processes of each, taking turns")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder otherwise")
    given = parser.parse_args()
    require_peer()
    print(heading(machine(), sys.argv), flush=True)
    with TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        file = stored(shuffled(box_tets(given.cells // 10 if given.quick else given.cells), 0), folder, "shuffled")
        asked = Asked(given.quick, given.rounds, folder, file)
        for section in given.only:
            for title, rows in SECTIONS[section](asked):
                print(f"\n{title}\n\n{rows}", flush=True)


# -- from the mesh to files ---------------------------------------------------------------------------------

WHOLE = ("parts", "by", "first call s", "later calls s", "/ that of 8 parts", "MiB", "/ mesh")


def whole(asked: Asked) -> Titled:
    """Yield the whole job from a mesh in memory: labels by sfc, parts with one ghost layer, files."""
    size = in_fresh_process(size_of_mesh, asked.file)
    rows = []
    makers = {
        "`iter_partition`, store": partial(ours, "store"),
        "`iter_partition`, .pvtu": partial(ours, "pvtu"),
        "`partition`, store": partial(ours, "all at once"),
        "meshioplusplus, .vtu": theirs,
    }
    few: dict[str, list[Taken]] = {}
    for nparts in asked.counts:
        calls = (partial(measured, by, asked.file, asked.folder, nparts, later=1) for by in makers.values())
        for name, taken in zip(makers, taking_turns(asked.rounds, *calls), strict=True):
            results = list(taken)
            beside = few.setdefault(name, results)
            firsts, extra = [result.first for result in results], median(result.extra_first for result in results)
            later = [seconds for result in results for seconds in result.later]
            compared = ratio(firsts, [result.first for result in beside])
            rows.append(
                (str(nparts), name, spread(firsts), spread(later), compared, f"{extra:.0f}", f"{extra / size:.1f}")
            )
    title = (
        f"**From a mesh in memory to files: labels by `sfc`, parts with one ghost layer**, {asked.file.stem}. "
        f"MiB: peak of resident memory above the loaded mesh, which has {size:.0f} MiB."
    )
    yield title, table(WHOLE, rows)


def ours(how: str, file: Path, folder: Path, nparts: int) -> Call:
    """Return a call that writes parts as they are built, or all at once."""
    import meshpart

    mesh = meshpart.Mesh(*loaded(file))
    cut = meshpart.partition if how == "all at once" else meshpart.iter_partition
    suffix = "pvtu" if how == "pvtu" else "parts"

    def call() -> None:
        parts = cut(mesh, nparts, method="sfc", ghost_layers=1)
        meshpart.write_parts(parts, folder / f"{nparts}-{next(NEW)}-{time.time_ns()}.{suffix}")

    return call


def theirs(file: Path, folder: Path, nparts: int) -> Call:
    """Return a call of the peer's: pieces with ghosts, without owners of points and without plans, each in a file."""
    import meshioplusplus

    mesh = meshioplusplus.Mesh(*loaded(file))

    def call() -> None:
        place = folder / f"theirs-{nparts}-{next(NEW)}-{time.time_ns()}"
        place.mkdir()
        pieces = meshioplusplus.partition(mesh, nparts, method="sfc", ghost_layers=1, record_ids=True)
        for number, piece in enumerate(pieces):
            meshioplusplus.write(place / f"{number}.vtu", piece)

    return call


# -- writing alone ------------------------------------------------------------------------------------------

WRITE = ("parts", "MB", "write of a store s", "write of its bytes s", "ratio")


def write(asked: Asked) -> Titled:
    """Yield the write of finished parts beside that of the same bytes into as many files."""
    rows = []
    for nparts in asked.counts:
        store = asked.folder / f"written-{nparts}.parts"
        in_fresh_process(write_once, asked.file, store, nparts)
        files = sorted(store.rglob("part-*"))
        megabytes = sum(file.stat().st_size for file in files) / 1e6
        calls = (
            partial(measured, stores_write, store, asked.folder, later=4),
            partial(measured, bytes_write, store, asked.folder, later=4),
        )
        columns = [
            [seconds for result in results for seconds in result.later]
            for results in taking_turns(asked.rounds, *calls)
        ]
        rows.append((str(nparts), f"{megabytes:.0f}", *map(spread, columns), ratio(*columns)))
    title = (
        "**Writing finished parts as a store, beside the same bytes into as many files**. "
        "Later calls of a process; neither waits for the disk."
    )
    yield title, table(WRITE, rows)


def write_once(file: Path, store: Path, nparts: int) -> None:
    """Write a store with one ghost layer."""
    import meshpart

    mesh = meshpart.Mesh(*loaded(file))
    meshpart.write_parts(meshpart.iter_partition(mesh, nparts, method="sfc", ghost_layers=1), store)


def stores_write(store: Path, folder: Path) -> Call:
    """Return a call that writes the parts of a store, which are in memory, as another."""
    import pickle

    import meshpart

    parts = [pickle.loads(pickle.dumps(part)) for part in meshpart.open_parts(store)]
    return lambda: meshpart.write_parts(parts, folder / f"again-{next(NEW)}-{time.time_ns()}.parts")


def bytes_write(store: Path, folder: Path) -> Call:
    """Return a call that writes the bytes of all files of a store."""
    contents = [file.read_bytes() for file in sorted(store.rglob("part-*"))]

    def call() -> None:
        place = folder / f"bytes-{next(NEW)}-{time.time_ns()}"
        place.mkdir()
        for number, content in enumerate(contents):
            (place / str(number)).write_bytes(content)

    return call


# -- opening ------------------------------------------------------------------------------------------------

OPEN = ("mesh", "arrays", "load µs", "by hand µs", "ratio", "safetensors µs", "NumPy's memmaps µs", "open_parts µs")


def opening(asked: Asked) -> Titled:
    """Yield what it takes to open one part, beside mapping its arrays by hand."""
    rows = []
    points, cells = mixed(20_000 if asked.quick else 200_000)
    several = asked.folder / "mixed, 4 blocks.npz"
    np.savez(several, points=points, **dict(cells))  # type: ignore[arg-type]
    for file in (asked.file, several):
        nparts = asked.counts[1]
        store = asked.folder / f"opened-{file.stem}.parts"
        in_fresh_process(write_once, file, store, nparts)
        found = [in_fresh_process(open_in_turns, store, nparts // 2) for _ in range(asked.rounds)]
        columns = {name: [taken[name] for taken in found] for name in OPENERS}
        told = [f"{median(columns[name]):.0f}" for name in OPENERS]
        told.insert(2, ratio(columns["ours"], columns["by hand"]))
        rows.append((file.stem, str(found[0]["arrays"]), *told))
    title = (
        "**Opening one part of many, whose file is in the page cache**. By hand: mmap, the header's JSON, and an array "
        "for each of its entries. safetensors: its NumPy reader, which copies. Medians of 200 calls in turns."
    )
    yield title, table(OPEN, rows)


def by_hand(path: Path) -> dict[str, Any]:
    """Map the arrays of a safetensors file."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    del header["__metadata__"]
    arrays = {}
    for name, told in header.items():
        first, last = told["data_offsets"]
        dtype = DTYPES[told["dtype"]]
        size = (last - first) // dtype.itemsize
        arrays[name] = np.frombuffer(content, dtype, size, end + first).reshape(told["shape"])
    return arrays


def by_memmaps(path: Path) -> dict[str, Any]:
    """Map the arrays of a safetensors file, each by NumPy."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    del header["__metadata__"]
    return {
        name: np.memmap(path, DTYPES[told["dtype"]], "r", 8 + length + told["data_offsets"][0], tuple(told["shape"]))
        for name, told in header.items()
        if 0 not in told["shape"]
    }


DTYPES = {
    "F64": np.dtype("f8"),
    "F32": np.dtype("f4"),
    "I64": np.dtype("i8"),
    "I32": np.dtype("i4"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
OPENERS = ("ours", "by hand", "safetensors", "memmaps", "all")


def open_in_turns(store: Path, part: int) -> dict[str, float]:
    """Return the microseconds that each way to open a part takes, all called in turns."""
    import gc

    from safetensors.numpy import load_file

    import meshpart

    opened = meshpart.open_parts(store)
    (path,) = store.rglob(f"part-{part:05}.safetensors")
    ways: dict[str, Call] = {
        "ours": lambda: opened.load(part),
        "by hand": lambda: by_hand(path),
        "safetensors": lambda: load_file(path),
        "memmaps": lambda: by_memmaps(path),
        "all": lambda: meshpart.open_parts(store).load(part),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    gc.disable()
    for _ in range(200):
        for name, way in ways.items():
            start = time.perf_counter()
            kept = way()
            seconds[name].append(time.perf_counter() - start)
            del kept
    return {"arrays": len(by_hand(path)), **{name: median(taken) * 1e6 for name, taken in seconds.items()}}


def size_of_mesh(file: Path) -> float:
    """Return the MiB that the arrays of a mesh have."""
    points, cells = loaded(file)
    return (points.nbytes + sum(rows.nbytes for _, rows in cells)) / 2**20


SECTIONS = {"whole": whole, "write": write, "open": opening}

if __name__ == "__main__":
    main()
