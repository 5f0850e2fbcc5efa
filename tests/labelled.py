"""Hypothesis strategies for meshes with labels, some of them long, so that several layers of ghosts fit into them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from hypothesis import strategies as st
from meshes import Labels, labels_of, meshes, rows_on

from meshpart import Mesh

LabelledMesh = tuple[Mesh, Labels, int]


@st.composite
def labelled(draw: st.DrawFn) -> LabelledMesh:
    """Draw a mesh, labels of its cells and a number of parts."""
    if draw(st.booleans()):
        return draw(chains())
    mesh = draw(meshes())
    return mesh, *draw(labels_of(mesh.n_cells))


@st.composite
def chains(draw: st.DrawFn, max_cells: int = 12) -> LabelledMesh:
    """Draw cells of any types along a line, in pieces of one part each, then number cells and points at random.

    0   1   2   3   4   5   6   7 ...     cell i lies on some of the points 2i .. 2i + 3, and may repeat them
    |---cell 0--|   |---cell 2--|
            |---cell 1--|
    """
    n_cells = draw(st.integers(2, max_cells))
    rows = rows_on(4)
    names = draw(st.permutations(range(2 * n_cells + 2)))
    cells = []
    for number in range(n_cells):
        type_ = draw(st.sampled_from(sorted(rows)))
        cells.append((type_, renamed(draw(rows[type_]), names[2 * number :])))
    nparts = draw(st.integers(1, 5))
    part_names = draw(st.permutations(range(nparts)))
    labels = sorted(draw(st.lists(st.integers(0, nparts - 1), min_size=n_cells, max_size=n_cells)))
    order = draw(st.permutations(range(n_cells)))
    blocks = [
        (type_, [row for _, row in group])
        for type_, group in groupby([cells[number] for number in order], key=lambda cell: cell[0])
    ]
    points = np.arange(2.0 * len(names)).reshape(-1, 2) / 7
    return Mesh(points, blocks), np.array([part_names[labels[number]] for number in order], np.int32), nparts


def renamed(row: Any, names: list[int]) -> Any:
    """Return the points of a cell, or of its faces, by other names."""
    return [renamed(entry, names) if isinstance(entry, list) else names[entry] for entry in row]
