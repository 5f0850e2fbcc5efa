"""What splitting and judging cost: what goes in and what comes out, and never parts times mesh."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from carrying import carrying
from meshes import fan, quads, spindle

from meshpart import CellBlock, Mesh, SubMesh, quality, split


def bytes_held_by(parts: list[SubMesh]) -> int:
    """Return the bytes of all arrays of all parts."""
    total = 0
    for part in parts:
        own = part.mesh
        arrays = [own.points, *own.point_data.values(), *own.point_sets.values(), *part.point_set_positions.values()]
        for block in own.blocks:
            arrays += [block.nodes] if block.offsets is None else [block.nodes, block.offsets]
        for by_block in (*own.cell_data.values(), *own.cell_sets.values(), *part.cell_set_positions.values()):
            arrays += by_block
        for entities in (part.cells, part.points):
            arrays += [entities.global_ids, entities.complete, entities.ghost_owners, entities.ghost_layers]
        total += part.cells.kind.nbytes + sum(array.nbytes for array in arrays)
    return total


def strips_of(mesh: Mesh, nparts: int) -> np.ndarray:
    """Return labels that cut the order of the cells into equal pieces."""
    return np.arange(mesh.n_cells) * nparts // mesh.n_cells


def many_quads(n: int) -> Mesh:
    """Return n quads, rows of 100, with data and sets."""
    return carrying(quads(100, n // 100))


def many_polygons(n: int) -> Mesh:
    """Return many_quads as polygons."""
    grid = quads(100, n // 100)
    return carrying(Mesh(grid.points, [CellBlock.from_rows("polygon", grid.blocks[0].nodes)]))


def many_vertices(n: int) -> Mesh:
    """Return n vertices, with data and sets."""
    return carrying(Mesh(np.zeros((n, 1)), [("vertex", np.arange(n).reshape(-1, 1))]))


def many_triangular_polygons(n: int) -> Mesh:
    """Return n polygons of three points, on one point each."""
    return Mesh(np.zeros((n, 1)), [CellBlock("polygon", np.arange(3 * n) // 3, np.arange(0, 3 * n + 1, 3))])


@pytest.mark.parametrize("mesh", [many_quads(20_000), many_polygons(20_000)], ids=repr)
def test_all_parts_together_are_about_as_large_as_the_mesh(mesh: Mesh) -> None:
    # 1000 pieces of 20 cells in a row have 42 points each, where the mesh has 20 301 for 20 000 cells
    assert bytes_held_by(split(mesh, strips_of(mesh, 1000))) < 2.5 * bytes_held_by(split(mesh, strips_of(mesh, 10)))


def peak_of_splitting(mesh: Mesh, nparts: int) -> int:
    """Return the most bytes that splitting a mesh held at a time."""
    labels = strips_of(mesh, nparts)
    gc.collect()
    tracemalloc.start()
    split(mesh, labels, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_the_memory_of_splitting_does_not_grow_as_parts_times_mesh() -> None:
    # the 990 more parts take some kilobytes of Python each; copies of the mesh would be 990 times 3 MB
    mesh = many_quads(20_000)
    split(mesh, strips_of(mesh, 10))  # caches the flat view
    assert peak_of_splitting(mesh, 1000) < peak_of_splitting(mesh, 10) + 1000 * 30_000


def seconds_of(run: Callable[[], object]) -> float:
    """Return how long a processor works, the better of two tries."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def seconds_of_splitting(mesh: Mesh, nparts: int, **how: Any) -> float:
    """Return how long a processor works to split a mesh."""
    labels = strips_of(mesh, nparts)
    return seconds_of(lambda: split(mesh, labels, threads=1, **how))


@pytest.mark.parametrize(("make", "n"), [(many_vertices, 100_000), (many_triangular_polygons, 600_000)])
def test_the_time_of_splitting_does_not_grow_as_parts_times_mesh(make: Callable[[int], Mesh], n: int) -> None:
    # a large mesh in many parts costs what the large mesh in few and a small one in many cost together
    large, small = make(n), make(4_000)
    together = seconds_of_splitting(large, 4) + seconds_of_splitting(small, 4_000)
    assert seconds_of_splitting(large, 4_000) < 2 * together


@pytest.mark.parametrize("ghost_layers", [1, 2])
def test_the_time_of_ghost_layers_does_not_grow_as_parts_times_mesh(ghost_layers: int) -> None:
    # 10 000 rows of 100 quads: 2000 parts of 5 rows have 1 or 2 rows of ghosts on either side
    large, small = quads(100, 10_000), quads(100, 100)
    together = seconds_of_splitting(large, 4, ghost_layers=ghost_layers)
    together += 100 * seconds_of_splitting(small, 20, ghost_layers=ghost_layers)
    assert seconds_of_splitting(large, 2_000, ghost_layers=ghost_layers) < 2 * together


def test_a_point_with_many_cells_costs_its_cells_and_not_their_square() -> None:
    # with the square, 16 times as many cells on one point would cost 256 times as much
    small, large = fan(4_000), fan(64_000)
    assert seconds_of_splitting(large, 4, ghost_layers=1) < 64 * seconds_of_splitting(small, 4, ghost_layers=1)


@pytest.mark.parametrize("part", [0, 1])
def test_one_part_on_a_point_with_many_cells_does_not_cost_what_all_parts_cost(part: int) -> None:
    # each of 400 parts has all 8000 cells; the point is part 0's
    mesh = fan(8_000)
    alone = seconds_of_splitting(mesh, 400, ghost_layers=1, only=[part])
    assert alone < seconds_of_splitting(mesh, 400, ghost_layers=1) / 20


@pytest.mark.parametrize("only", [[50], [3, 50, 51]])
def test_few_parts_with_layers_over_all_of_the_mesh_do_not_cost_what_all_parts_cost(only: list[int]) -> None:
    # each of 100 parts has all 10 000 cells of a strip
    mesh = quads(10_000, 1)
    alone = seconds_of_splitting(mesh, 100, ghost_layers=10_000, only=only)
    assert alone < seconds_of_splitting(mesh, 100, ghost_layers=10_000) / 10


@pytest.mark.parametrize("ghost_layers", [0, 1, 2, 9])
def test_one_part_of_many_costs_a_fraction_of_all(ghost_layers: int) -> None:
    mesh = quads(500, 500)
    alone = seconds_of_splitting(mesh, 1_000, ghost_layers=ghost_layers, only=[500])
    assert alone < seconds_of_splitting(mesh, 1_000, ghost_layers=ghost_layers) / 2


def hubs_in_turn(n: int) -> Mesh:
    """Return n tets around point 0, every seventh of which is also around one of the points 1 to 7."""
    i = np.arange(n)
    return Mesh(np.zeros((n + 9, 3)), [("tetra", np.stack([0 * i, 1 + i % 7, i + 8, i + 9], axis=1))])


@pytest.mark.parametrize(
    "mesh",
    [fan(20_000), spindle(20_000), hubs_in_turn(20_000), quads(100, 200)],
    ids=["hub", "two hubs", "hubs in turn", "grid"],
)
def test_the_time_of_judging_does_not_grow_as_parts_times_mesh(mesh: Mesh) -> None:
    # around a hub each of 4000 parts has all 20 000 cells: to list these took 100 times as long as to judge 4 parts
    few, many = strips_of(mesh, 4), strips_of(mesh, 4_000)
    assert seconds_of(lambda: quality(mesh, many, threads=1)) < 10 * seconds_of(lambda: quality(mesh, few, threads=1))
