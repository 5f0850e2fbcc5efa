"""Meshes that carry something: data, sets, tags, periodic pairs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from meshes import interleaved

from meshpart import CellBlock, Mesh, Periodic


def with_everything() -> Mesh:
    """Return a mesh that has something of all that a mesh can have, also where it is empty or None.

    5---4---3   6     blocks: quads 0 1 (tagged), no triangles, a line 1 4 between them
    | 0 | 1 |         point 6 is in no cell
    0---1---2
    """
    return Mesh(
        points=np.array([[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1], [3, 1]], np.float32),
        blocks=(
            CellBlock("quad", [[0, 1, 4, 5], [1, 2, 3, 4]], tags=("plate",)),
            CellBlock("triangle", np.zeros((0, 3), int)),
            CellBlock("line", [[1, 4]]),
        ),
        point_data={"id": np.arange(7, dtype=np.uint8), "v": np.arange(14, dtype=">f4").reshape(7, 2)},
        cell_data={
            "number": [np.array([10, 11], np.int16), np.zeros(0, np.int16), np.array([12], np.int16)],
            "gmsh:physical": [np.array([1, 2]), np.zeros(0, int), np.array([3])],
        },
        field_data={"plate": np.array([1, 2]), "time": 0.5, "title": "a plate"},
        point_sets={"left": [5, 0], "none": []},
        cell_sets={"all": [[1, 0], [], [0]], "some": [None, [], np.array([0], np.uint8)]},
        block_data={"gmsh:bounding_entities": [np.array([-1, 2]), None, np.array([3])]},
        periodic=(Periodic(1, (7, 5), np.eye(4).ravel(), np.array([[2, 0], [3, 5]])), (0, (9, 8), None, [])),
        info={"reader": "none"},
    )


def carrying(mesh: Mesh) -> Mesh:
    """Return a mesh with data, sets and periodic pairs on it, drawn at random but always the same."""
    rng = np.random.default_rng(mesh.n_cells + 100 * mesh.n_points)
    sizes = [len(block) for block in mesh.blocks]
    n_pairs = 2 * mesh.n_points
    return replace(
        mesh,
        point_data={"a": rng.normal(size=(mesh.n_points, 2)), "id": np.arange(mesh.n_points, dtype=np.uint16)},
        cell_data={"b": [rng.integers(0, 9, (size, 3)).astype(np.int8) for size in sizes]},
        point_sets={"some": rng.permutation(mesh.n_points)[: mesh.n_points // 2], "none": []},
        cell_sets={
            "all": [rng.permutation(size) for size in sizes],
            "repeated": [rng.integers(0, size, 2 * size) if size else [] for size in sizes],
        },
        periodic=(
            Periodic(1, (2, 3), np.eye(4), rng.integers(0, max(mesh.n_points, 1), (n_pairs, 2))),
            Periodic(0, (5, 4), None, np.zeros((0, 2), np.int64)),
        ),
    )


# Values of every dtype and shape, as many as `interleaved()` has points.
VALUES = [
    np.arange(16, dtype=np.int8),
    np.arange(16, dtype=np.uint16) + 60_000,
    np.arange(16, dtype=np.int32),
    np.arange(16, dtype=np.int64) + 2**60,
    np.arange(16, dtype=np.uint64) + 2**63,
    np.arange(16, dtype=np.float32) / 3,
    np.arange(16, dtype=np.float16) / 3,
    np.arange(16, dtype=np.longdouble) / 3,
    np.arange(48, dtype=np.float64).reshape(16, 3) / 7,
    np.arange(144, dtype=np.float64).reshape(16, 3, 3) / 7,
    np.zeros((16, 0)),
    np.arange(16) % 3 == 0,
    np.arange(16) * (1 + 2j),
    np.array([f"word {i}" for i in range(16)]),
    np.array([{"number": i} for i in range(16)], object),
    np.arange(16).astype("M8[D]"),
    np.array([(i, i / 3) for i in range(16)], [("i", "i2"), ("x", "f8")]),
    np.array([np.nan, -0.0] * 8),
]

EVERY_DTYPE = pytest.mark.parametrize("values", VALUES, ids=lambda values: f"{values.dtype}-{values.shape[1:]}")


def interleaved_with(values: Any) -> Mesh:
    """Return `interleaved()`, whose blocks have 2, 2, 1, 2 and 1 cells, with the values as point and cell data "d"."""
    mesh = interleaved()
    by_block = [values[first:last] for first, last in pairwise(mesh.block_starts)]
    return replace(mesh, point_data={"d": values}, cell_data={"d": by_block})
