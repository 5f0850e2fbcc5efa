"""Seconds and memory of cutting directed graphs, beside NumPy's sets and PyTorch Geometric. See README.md.

python benchmarks/split_graph.py [--quick] [--vertices 200000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from cutters import assert_same, installed, store_neighbours
from measure import measured, ratio, taking_turns
from report import heading, machine, spread, table

PARTS = 64
HEADS = ("layers", "by", "first call s", "later calls s", "ours / theirs", "MiB")


def main() -> None:
    """Run what the command line asks for, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the vertices")
    parser.add_argument("--vertices", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3, help="processes of each, taking turns")
    asked = parser.parse_args()
    print(heading(machine("scipy", "torch", "torch_geometric"), sys.argv), flush=True)
    n = asked.vertices // 10 if asked.quick else asked.vertices
    with TemporaryDirectory() as name:
        file = Path(name) / "neighbours.npz"
        store_neighbours(n, PARTS, file)
        rows = [row for layers in (1, 2) for row in compared(file, layers, asked.rounds)]
    title = f"**{n} random points, each receiving from its 8 nearest, {PARTS} parts**. Ratios: of first calls."
    print(f"\n{title}\n\n{table(HEADS, rows)}", flush=True)


def compared(file: Path, layers: int, rounds: int) -> Iterator[tuple[str, ...]]:
    """Yield a row for all who can cut the graph; all must find the same vertices."""
    cutters = installed()
    calls = (partial(measured, by.prepare, file, layers, later=2, find=by.find) for by in cutters)
    results = list(taking_turns(rounds, *calls))
    firsts = [[result.first for result in taken] for taken in results]
    for by, taken, first in zip(cutters, results, firsts, strict=True):
        assert_same(by.name, {result.found for result in taken}, results[0][0].found)
        later = spread([seconds for result in taken for seconds in result.later])
        extra = median(result.extra for result in taken)
        yield str(layers), by.name, spread(first), later, ratio(firsts[0], first), f"{extra:.0f}"


if __name__ == "__main__":
    main()
