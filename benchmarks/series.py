"""What growth is looked at over: series of cases that differ in one thing, of meshpart alone."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from inputs import Case
from kernels import CELLS, LAYERS, PARTS, SHAPES, THREADS
from shapes import MANY

NUMBERED_IN_ORDER = "tets"
FEW_CELLS = 8  # of a part that holds next to nothing


class Series(NamedTuple):
    """Cases that differ in one thing."""

    axis: str
    title: str
    heads: list[str]
    cases: list[Case]


def all_series(folder: Path, cells: int, short: bool) -> Iterator[Series]:
    """Yield all series around a number of cells; short ones end earlier."""
    yield by_cells(folder, cells, (0.1, 0.3, 1) if short else (0.1, 0.3, 1, 3))
    yield by_cells(folder, cells, (0.03, 0.1, 0.3), cells_each=25)
    base = Case(folder, NUMBERED_IN_ORDER, round(0.3 * cells), threads=1)
    yield by_parts(base, (8, 64, 512) if short else (8, 64, 512, 4096))
    yield by_layers(base, range(4))
    yield by_threads(replace(base, cells=cells))
    sizes = [round(share * cells) for share in ((0.01, 0.04) if short else (0.01, 0.04, 0.16))]
    yield of_shape(base, "fan of triangles", sizes, parts=4)
    yield of_shape(base, "strip of quads", sizes, cells_each=100)
    yield of_shape(base, "polygons", sizes, parts=64)
    yield of_shape(base, "tets with their boundary", sizes, parts=64)
    few = replace(base, cells=round(0.1 * cells), parts=16)
    yield with_many(few, "blocks")
    yield with_many(few, "sets")


def by_cells(folder: Path, cells: int, shares: tuple[float, ...], cells_each: int = 0) -> Series:
    """Return meshes of several sizes, of 64 parts or of ever more parts with a number of cells."""
    base = Case(folder, NUMBERED_IN_ORDER, cells, threads=1)
    cases = of_sizes(base, [round(share * cells) for share in shares], 0 if cells_each else 64, cells_each)
    how = f"a part for every {cells_each}" if cells_each else "64 parts"
    return Series(CELLS, f"By cells, {how}", [f"{in_millions(case.cells)} tets" for case in cases], cases)


def by_parts(base: Case, counts: tuple[int, ...]) -> Series:
    """Return numbers of parts, and the most parts of a tiny mesh: what parts cost that hold next to nothing."""
    tiny = replace(base, cells=FEW_CELLS * counts[-1], parts=counts[-1])
    heads = [*(f"{count} parts" for count in counts), f"{tiny.parts} parts of {in_millions(tiny.cells)}"]
    cases = [*(replace(base, parts=count) for count in counts), tiny]
    return Series(PARTS, f"By parts, {in_millions(base.cells)} tets", heads, cases)


def by_layers(base: Case, counts: range) -> Series:
    """Return numbers of ghost layers."""
    cases = [replace(base, layers=count) for count in counts]
    return Series(
        LAYERS, f"By ghost layers, {in_millions(base.cells)} tets", [f"{count} layers" for count in counts], cases
    )


def by_threads(base: Case) -> Series:
    """Return numbers of threads, up to that of the cores."""
    cores = len(os.sched_getaffinity(0))
    counts = [2**power for power in range(int(math.log2(cores)) + 1)]
    cases = [replace(base, threads=count) for count in counts]
    return Series(
        THREADS, f"By threads, {in_millions(base.cells)} tets", [f"{count} threads" for count in counts], cases
    )


def of_shape(base: Case, shape: str, sizes: list[int], parts: int = 0, cells_each: int = 1) -> Series:
    """Return sizes of another shape, of a number of parts or of parts with a number of cells."""
    cases = of_sizes(replace(base, shape=shape), sizes, parts, cells_each)
    how = f"{parts} parts" if parts else f"a part for {cells_each} cells"
    return Series(SHAPES, f"{shape.capitalize()}, {how}", [in_millions(cells) for cells in sizes], cases)


def of_sizes(base: Case, sizes: list[int], parts: int, cells_each: int) -> list[Case]:
    """Return a case for each size, of a number of parts or, where that is 0, of parts with a number of cells."""
    return [replace(base, cells=cells, parts=parts or cells // cells_each) for cells in sizes]


def with_many(base: Case, what: str) -> Series:
    """Return tets in ever more blocks or sets, and a tiny mesh in as many: what they cost by themselves."""
    cases = [replace(base, shape=f"tets in {count} {what}") for count in MANY]
    tiny = replace(cases[-1], cells=4 * MANY[-1])
    heads = [*(f"{count} {what}" for count in MANY), f"{MANY[-1]} {what} of {in_millions(tiny.cells)}"]
    return Series(SHAPES, f"{in_millions(base.cells)} tets in many {what}, {base.parts} parts", heads, [*cases, tiny])


def in_millions(cells: int) -> str:
    """Return a number of cells in millions."""
    return f"{cells / 1e6:.3g} M"
