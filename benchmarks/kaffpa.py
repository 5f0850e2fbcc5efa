"""Seconds and memory of KaHIP's labels beside KaHIP alone in the same run, and of several calls at once. See README.md.

python benchmarks/kaffpa.py [--quick] [--cells 1000000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from cases import graded_tets, loaded, shuffled, stored
from measure import measured, taking_turns
from report import heading, machine, require_peer, spread, table

PARTS, ECO = 64, 1
HEADS = ("mesh", "labels s", "kaffpa alone s", "more s per M tets", "edge cut / kaffpa's", "MiB without KaHIP's")


def main() -> None:
    """Run what the command line asks for, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells")
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="processes of each, taking turns")
    asked = parser.parse_args()
    require_peer("kahip")
    print(heading(machine("kahip"), sys.argv), flush=True)
    with TemporaryDirectory() as name:
        mesh = graded_tets(asked.cells // 10 if asked.quick else asked.cells)
        files = [stored(mesh, Path(name), "in order"), stored(shuffled(mesh, 0), Path(name), "shuffled")]
        del mesh
        rows = [beside_kaffpa(file, asked.rounds) for file in files]
        print(f"\n**Labels, method kahip, mode eco, {PARTS} parts**\n\n{table(HEADS, rows)}", flush=True)
        print(f"\n{side_by_side(files[1])}", flush=True)


def beside_kaffpa(file: Path, rounds: int) -> tuple[str, ...]:
    """Return the row of one mesh: whole calls, and kaffpa called on the finished graph, taking turns."""
    calls = partial(measured, labels_of, file, find=found), partial(measured, kaffpa_of, file, find=int)
    whole, alone = taking_turns(rounds, *calls)
    n_cells, our_cut = whole[0].found
    more = median(a.first - b.first for a, b in zip(whole, alone, strict=True)) / n_cells * 1e6
    seconds = (spread([result.first for result in results]) for results in (whole, alone))
    extra = median(result.extra for result in whole)
    return file.stem, *seconds, f"{more:.2f}", f"{our_cut / alone[0].found:.4f}", f"{extra:.0f}"


def labels_of(file: Path) -> Callable[[], Any]:
    """Return a call that finds labels; it returns the mesh too."""
    import meshpart

    mesh = meshpart.Mesh(*loaded(file))
    return lambda: (mesh, meshpart.partition_labels(mesh, PARTS, method="kahip"))


def found(result: Any) -> tuple[int, int]:
    """Return the number of cells, and the edge cut."""
    import meshpart

    mesh, labels = result
    return mesh.n_cells, meshpart.quality(mesh, labels).edge_cut


def kaffpa_of(file: Path) -> Callable[[], int]:
    """Return a call of kaffpa in the kahip wheel's own library with the finished graph; it returns the edge cut."""
    import meshpart

    graph = meshpart.dual_graph(meshpart.Mesh(*loaded(file)))
    files = distribution("kahip").files or []
    library = ctypes.CDLL(str(next(entry for entry in files if entry.name == "libkahip.so").locate()))
    rows = [array.astype(np.int32) for array in (graph.offsets, graph.targets)]
    labels = np.zeros(graph.n_vertices, np.int32)
    cut = ctypes.c_int32()
    n, parts, imbalance = ctypes.c_int32(graph.n_vertices), ctypes.c_int32(PARTS), ctypes.c_double(0.03)

    def call() -> int:
        offsets, targets, told = (array.ctypes.data_as(ctypes.c_void_p) for array in (*rows, labels))
        sizes = ctypes.byref(parts), ctypes.byref(imbalance)
        how = ctypes.c_bool(True), 0, ECO
        library.kaffpa(ctypes.byref(n), None, offsets, None, targets, *sizes, *how, ctypes.byref(cut), told)
        return cut.value

    return call


def side_by_side(file: Path) -> str:
    """Return what four calls at once take beside one, and whether all give the same labels."""
    import meshpart

    mesh = meshpart.Mesh(*loaded(file))
    start = time.perf_counter()
    alone = meshpart.partition_labels(mesh, PARTS)
    one = time.perf_counter() - start
    start = time.perf_counter()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: meshpart.partition_labels(mesh, PARTS), range(4)))
    four = time.perf_counter() - start
    same = "the same labels" if all(np.array_equal(labels, alone) for labels in together) else "OTHER LABELS"
    return f"Four threads calling at once take {four / one:.2f} times as long as one call, and give {same}."


if __name__ == "__main__":
    main()
