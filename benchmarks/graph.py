"""Seconds and memory of the dual graph and of KaHIP's labels, beside the rivals in the same run. See README.md.

python benchmarks/graph.py [--quick] [--cells 1000000] [--rounds 3] [--only dual kahip]
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import gc
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distribution
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import memory
import numpy as np
import numpy.typing as npt
from cases import graded_tets, shuffled, stored
from measure import in_fresh_process
from report import heading, machine, require_peer, spread, table

Ids = npt.NDArray[np.int64]
Call = Callable[[Path], Iterator[Any]]  # yields when all is prepared, and then what it found
PARTS, ECO = 64, 1
METIS = ctypes.util.find_library("metis")  # the system's, None where it has none


class Taken(NamedTuple):
    """What one call took: seconds by the clock and by the processors, MiB above the loaded mesh, and what it found."""

    seconds: float
    cpu: float
    extra: float
    found: Any


def main() -> None:
    """Run what the command line asks for, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells")
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="processes of each rival, taking turns")
    parser.add_argument("--only", nargs="+", choices=("dual", "kahip"), default=("dual", "kahip"))
    asked = parser.parse_args()
    require_peer()
    print(heading(machine(), sys.argv), flush=True)
    with TemporaryDirectory() as name:
        mesh = graded_tets(asked.cells // 10 if asked.quick else asked.cells)
        files = [stored(mesh, Path(name), "in order"), stored(shuffled(mesh, 0), Path(name), "shuffled")]
        del mesh
        if "dual" in asked.only:
            rows = [row for file in files for row in compared(file, asked.rounds)]
            print(f"\n**The dual graph**. {NOTE}\n\n{table(DUAL, rows)}", flush=True)
        if "kahip" in asked.only:
            rows = [row for file in files for row in beside_kaffpa(file, asked.rounds)]
            print(f"\n**Labels, method kahip, mode eco, {PARTS} parts**\n\n{table(KAHIP, rows)}", flush=True)
            print(f"\n{side_by_side(files[1])}", flush=True)


# -- the dual graph -----------------------------------------------------------------------------------------

DUAL = ("mesh", "by", "seconds", "MiB", "ours / theirs", "CPU ours / theirs")
NOTE = "MiB: peak of resident memory above the loaded mesh, in a fresh process. meshpart uses all cores, its default."


def compared(file: Path, rounds: int) -> Iterator[tuple[str, ...]]:
    """Yield a row for meshpart and for each rival, which take turns; all must find the same graph."""
    there = {name: builder for name, builder in BUILDERS.items() if builder is not by_metis or METIS}
    taken: dict[str, list[Taken]] = {name: [] for name in there}
    for _ in range(rounds):
        for name, builder in there.items():
            taken[name].append(in_fresh_process(measure, builder, file))
    ours = taken["meshpart"]
    for name, results in taken.items():
        assert {result.found for result in results} == {ours[0].found}, name
        pairs = list(zip(ours, results, strict=True))
        wall = median(mine.seconds / theirs.seconds for mine, theirs in pairs)
        cpu = median(mine.cpu / theirs.cpu for mine, theirs in pairs)
        extra = median(result.extra for result in results)
        seconds = spread([result.seconds for result in results])
        yield file.stem, name, seconds, f"{extra:.0f}", f"{wall:.3f}", f"{cpu:.3f}"


def by_meshpart(file: Path) -> Iterator[Any]:
    """Yield nothing when all is prepared, then the rows of the graph, as anyone would ask for them."""
    import meshpart

    points, tets = loaded(file)
    mesh = meshpart.Mesh(points, [("tetra", tets)])
    yield
    graph = meshpart.dual_graph(mesh)
    yield graph.offsets, graph.targets


def by_meshioplusplus(file: Path) -> Iterator[Any]:
    """Yield the rows of the function behind its method kahip, which is written in Python."""
    import meshioplusplus
    from meshioplusplus._partition import _dual_graph

    points, tets = loaded(file)
    mesh = meshioplusplus.Mesh(points, [("tetra", tets)])
    yield
    offsets, targets = _dual_graph(mesh, len(tets))
    yield np.array(offsets), np.array(targets)


def by_numpy(file: Path) -> Iterator[Any]:
    """Yield the rows that sorting all facets with NumPy gives: np.sort, np.lexsort, and SciPy for the rows."""
    import scipy.sparse

    _, tets = loaded(file)
    yield
    facets = np.sort(tets[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3), axis=1)
    order = np.lexsort(facets.T[::-1])
    same = np.flatnonzero((facets[order[1:]] == facets[order[:-1]]).all(axis=1))
    a, b = order[same] // 4, order[same + 1] // 4
    ones = np.ones(2 * len(a), np.int8)
    rows = scipy.sparse.csr_array((ones, (np.append(a, b), np.append(b, a))), shape=(len(tets), len(tets)))
    rows.sort_indices()
    yield rows.indptr, rows.indices


def by_metis(file: Path) -> Iterator[Any]:
    """Yield the rows of METIS_MeshToDual, from the system's libmetis."""
    metis = ctypes.CDLL(METIS)
    _, tets = loaded(file)
    cells = tets.astype(np.int32)
    starts = np.arange(0, cells.size + 1, 4, dtype=np.int32)
    pointer = ctypes.POINTER(ctypes.c_int32)
    yield
    offsets, targets = pointer(), pointer()
    numbers = [ctypes.c_int32(value) for value in (len(tets), int(tets.max()) + 1, 3, 0)]
    n_cells, n_points, common, first = (ctypes.byref(number) for number in numbers)
    arrays = (array.ctypes.data_as(pointer) for array in (starts, cells))
    status = metis.METIS_MeshToDual(
        n_cells, n_points, *arrays, common, first, ctypes.byref(offsets), ctypes.byref(targets)
    )
    assert status == 1
    rows = np.ctypeslib.as_array(offsets, (len(tets) + 1,))
    yield rows, np.ctypeslib.as_array(targets, (int(rows[-1]),))


BUILDERS = {
    "meshpart": by_meshpart,
    "meshioplusplus (Python)": by_meshioplusplus,
    "NumPy and SciPy": by_numpy,
    "METIS_MeshToDual": by_metis,
}


# -- kahip --------------------------------------------------------------------------------------------------

KAHIP = ("mesh", "labels s", "kaffpa alone s", "more s per M tets", "edge cut / kaffpa's", "MiB without KaHIP's")


def beside_kaffpa(file: Path, rounds: int) -> Iterator[tuple[str, ...]]:
    """Yield the row of one mesh: whole calls, and kaffpa called on the finished graph, taking turns."""
    whole, alone = [], []
    for _ in range(rounds):
        whole.append(in_fresh_process(measure, labels_of, file))
        alone.append(in_fresh_process(measure, kaffpa_of, file))
    n_cells, our_cut = whole[0].found
    more = median(a.seconds - b.seconds for a, b in zip(whole, alone, strict=True)) / n_cells * 1e6
    seconds = (spread([result.seconds for result in results]) for results in (whole, alone))
    extra = median(result.extra for result in whole)
    yield file.stem, *seconds, f"{more:.2f}", f"{our_cut / alone[0].found:.4f}", f"{extra:.0f}"


def labels_of(file: Path) -> Iterator[Any]:
    """Yield the cells and the edge cut of meshpart's labels."""
    import meshpart

    points, tets = loaded(file)
    mesh = meshpart.Mesh(points, [("tetra", tets)])
    yield
    labels = meshpart.partition_labels(mesh, PARTS, method="kahip")
    yield len(tets), (lambda: meshpart.quality(mesh, labels).edge_cut)


def kaffpa_of(file: Path) -> Iterator[Any]:
    """Yield the edge cut of kaffpa, called in the kahip wheel's own library with the finished graph."""
    import meshpart

    points, tets = loaded(file)
    graph = meshpart.dual_graph(meshpart.Mesh(points, [("tetra", tets)]))
    offsets, targets = graph.offsets.astype(np.int32), graph.targets.astype(np.int32)
    files = distribution("kahip").files or []
    library = ctypes.CDLL(str(next(entry for entry in files if entry.name == "libkahip.so").locate()))
    labels = np.zeros(len(tets), np.int32)
    cut = ctypes.c_int32()
    n, parts, imbalance = ctypes.c_int32(len(tets)), ctypes.c_int32(PARTS), ctypes.c_double(0.03)
    arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (offsets, targets, labels)]
    yield
    library.kaffpa(
        ctypes.byref(n),
        None,
        arrays[0],
        None,
        arrays[1],
        ctypes.byref(parts),
        ctypes.byref(imbalance),
        ctypes.c_bool(True),
        0,
        ECO,
        ctypes.byref(cut),
        arrays[2],
    )
    yield cut.value


def side_by_side(file: Path) -> str:
    """Return what four calls at once take beside one, and whether all give the same labels."""
    import meshpart

    points, tets = loaded(file)
    mesh = meshpart.Mesh(points, [("tetra", tets)])
    start = time.perf_counter()
    alone = meshpart.partition_labels(mesh, PARTS)
    one = time.perf_counter() - start
    start = time.perf_counter()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: meshpart.partition_labels(mesh, PARTS), range(4)))
    four = time.perf_counter() - start
    same = "the same labels" if all(np.array_equal(labels, alone) for labels in together) else "OTHER LABELS"
    return f"Four threads calling at once take {four / one:.2f} times as long as one call, and give {same}."


# -- one measurement, in a process of its own ---------------------------------------------------------------


def measure(call: Call, file: Path) -> Taken:
    """Prepare a call, make it, and look at the clock and the memory around it."""
    steps = call(file)
    next(steps)
    gc.collect()
    memory.reset_peak()
    loaded_mesh = memory.resident()
    start, start_cpu = time.perf_counter(), time.process_time()
    found = next(steps)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    return Taken(seconds, cpu, memory.peak() - loaded_mesh, digest(found))


def digest(found: Any) -> Any:
    """Return what can be compared: of rows their numbers and a hash, of others the values."""
    if isinstance(found, tuple) and isinstance(found[0], np.ndarray):
        offsets, targets = (np.asarray(array, np.int64) for array in found)
        sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return len(sources), int(np.sum((sources * 2654435761 + targets) ** 2))  # whatever the order in a row
    if isinstance(found, tuple):
        return found[0], found[1]()
    return found


def loaded(file: Path) -> tuple[npt.NDArray[np.float64], Ids]:
    """Return the points and the tets of a file."""
    with np.load(file) as arrays:
        return arrays["points"], arrays["tetra"]


if __name__ == "__main__":
    main()
