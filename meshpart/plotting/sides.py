"""The outlines of cells by their corners: rings of cells and of their sides, and which of them lie outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Ids, row_positions, starts
from meshpart.blocks import CellBlock
from meshpart.cells import cell_type

NOTHING = -1  # fills up the rows of rings with fewer corners than others


class Rings(NamedTuple):
    """Points, lines or polygons by their corners, and what they belong to."""

    corners: Ids  # (n, width): in order around, then NOTHING
    cells: Ids  # (n,)


def joined(parts: Sequence[Rings], width: int) -> Rings:
    """Return rings one after another, in a table as wide as needed."""
    width = max([width, *(part.corners.shape[1] for part in parts)])
    wide = [np.zeros((0, width), np.int64)]
    for part in parts:
        missing = width - part.corners.shape[1]
        wide.append(np.pad(part.corners, ((0, 0), (0, missing)), constant_values=NOTHING))
    return Rings(np.concatenate(wide), np.concatenate([np.zeros(0, np.int64), *(part.cells for part in parts)]))


def rings_of(block: CellBlock) -> Rings:
    """Return the corners around each cell of a block of dimension 0, 1 or 2; its cells are rows of the block."""
    kind = cell_type(block.type)
    rows = np.arange(len(block))
    if kind.dim < 2:
        ring: Sequence[int] = range(kind.dim + 1)
    elif kind.facets is not None:
        ring = [side[0] for side in kind.facets]
    else:
        return Rings(_padded(starts(block.row_lengths()), block.nodes), rows)
    if block.offsets is not None:
        return Rings(block.nodes[block.offsets[:-1, None] + np.array(ring)], rows)
    return Rings(block.nodes[:, ring], rows)


def sides_of(block: CellBlock) -> Rings:
    """Return the corners around each facet of each cell of a block of dimension 3."""
    kind = cell_type(block.type)
    if block.faces is not None:
        assert block.offsets is not None
        cells = np.repeat(np.arange(len(block)), np.diff(block.faces.offsets))
        sizes = np.diff(block.faces.corner_offsets)
        corners = block.nodes[np.repeat(block.offsets[cells], sizes) + block.faces.corners]
        return Rings(_padded(block.faces.corner_offsets, corners), cells)
    tables = []
    for facet in kind.facets or ():
        pattern = np.array(facet)
        nodes = block.nodes[:, pattern] if block.offsets is None else block.nodes[block.offsets[:-1, None] + pattern]
        tables.append(Rings(nodes, np.arange(len(block))))
    return joined(tables, 3)


def numbered(corners: Ids) -> tuple[Ids, Ids]:
    """Return a number for each ring, by its set of corners.

    Parameters
    ----------
    corners : ndarray of int64, (n, width)

    Returns
    -------
    numbers : ndarray of int64, (n,)
        The same for rings with the same corners, from 0 on.
    distinct : ndarray of int64, (n,)
        How many different corners each ring has.
    """
    ordered = np.sort(corners, axis=1)
    again = np.zeros(ordered.shape, bool)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    again |= ordered == NOTHING
    distinct = ordered.shape[1] - np.count_nonzero(again, axis=1)
    if again.any():
        ordered = np.sort(np.where(again, NOTHING, ordered), axis=1)
    return _numbered_rows(ordered), distinct


def outer(sides: Rings, groups: Ids) -> npt.NDArray[np.bool_]:
    """Return which sides of solids are to be seen: those that no other cell of their group has.

    Parameters
    ----------
    sides : Rings
    groups : ndarray of int64, (n,)
        Of the cell of each side. A side that cells of several groups have is seen once in each.

    Notes
    -----
    A cell that is there twice counts once. A side of a collapsed cell that is no polygon is none.
    """
    numbers, distinct = numbered(sides.corners)
    proper = distinct >= 3
    seen = _alone(numbers, groups, proper)
    if np.bincount(numbers[proper], minlength=1).max() > 2:
        seen = _alone(numbers, groups, proper & ~_of_doubles(sides.cells, numbers))
    return seen


def edges_around(corners: Ids) -> tuple[Ids, Ids]:
    """Return the edges of rings: int64, (n, 2), and the ring of each."""
    there = corners != NOTHING
    following = np.concatenate([corners[:, 1:], np.full((len(corners), 1), NOTHING)], axis=1)
    following = np.where(following == NOTHING, corners[:, :1], following)
    rings, places = np.nonzero(there)
    ends = np.stack([corners[rings, places], following[rings, places]], axis=1)
    real = ends[:, 0] != ends[:, 1]
    return ends[real], rings[real]


def _alone(numbers: Ids, groups: Ids, proper: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which of the proper sides are the only ones of their group with their number."""
    chosen = np.flatnonzero(proper)
    pairs = _numbered_rows(np.stack([numbers[chosen], groups[chosen]], axis=1))
    seen = np.zeros(len(numbers), bool)
    seen[chosen] = np.bincount(pairs, minlength=1)[pairs] == 1
    return seen


def _of_doubles(cells: Ids, numbers: Ids) -> npt.NDArray[np.bool_]:
    """Return which sides are of a cell that has the same sides as one before."""
    order = np.lexsort((numbers, cells))
    _, counts = np.unique(cells, return_counts=True)
    _, again = np.unique(_padded(starts(counts), numbers[order]), axis=0, return_index=True)
    first = np.zeros(len(counts), bool)
    first[again] = True
    doubled = np.zeros(len(cells), bool)
    doubled[order] = np.repeat(~first, counts)
    return doubled


def _padded(offsets: Ids, entries: Ids) -> Ids:
    """Return rows of different lengths as a table, filled up with NOTHING."""
    lengths = np.diff(offsets)
    table = np.full((len(lengths), int(lengths.max(initial=0))), NOTHING)
    _, positions = row_positions(offsets, np.arange(len(lengths)))
    rows = np.repeat(np.arange(len(lengths)), lengths)
    table[rows, np.arange(len(positions)) - np.repeat(starts(lengths)[:-1], lengths)] = entries[positions]
    return table


def _numbered_rows(table: Ids) -> Ids:
    """Return the same number for equal rows, from 0 on; entries are at least NOTHING and below 2**31."""
    columns = [column + 1 for column in table.T]
    if len(columns) % 2:
        columns.append(np.zeros(len(table), np.int64))
    if not len(table):
        return np.zeros(0, np.int64)
    keys = [(high << 31) | low for high, low in zip(columns[::2], columns[1::2], strict=True)]  # two in 62 bits
    order = np.lexsort(keys) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    changes = np.zeros(len(table), bool)
    for key in keys:
        changes[1:] |= key[order[1:]] != key[order[:-1]]
    numbers = np.empty(len(table), np.int64)
    numbers[order] = np.cumsum(changes)
    return numbers
