"""What bounds the cells of a mesh: their facets, or their edges, as positions in a cell's row of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from meshpart.arrays import Ids, flatten, frozen, starts
from meshpart.blocks import Faces
from meshpart.cells import cell_type
from meshpart.mesh import Mesh


class Outline(NamedTuple):
    """Facets or edges as the core takes them.

    The cells of a block whose type has a fixed number of corners all have the same pattern. Polygons have none, their
    sides join consecutive points; polyhedra have faces of their own.
    """

    pattern_offsets: Ids
    patterns: Ids  # of each facet its corners, of each edge the points along it: positions in a cell's row
    pattern_starts: Ids  # (n_blocks + 1,): which patterns the cells of a block have
    face_offsets: Ids
    faces: Ids  # of all polyhedra, block after block: positions in the cell's row
    face_starts: Ids  # (n_polyhedra + 1,): where each polyhedron's faces begin
    polyhedra_before: Ids  # (n_blocks,): how many polyhedra lie in the blocks before, -1 where the block holds none


def facets(mesh: Mesh) -> Outline:
    """Return the facets of the cells of each block."""
    return outline(mesh, [cell_type(block.type).facets or () for block in mesh.blocks])


def outline(mesh: Mesh, patterns: Sequence[Sequence[Sequence[int]]]) -> Outline:
    """Return the outline of a mesh whose blocks have these patterns."""
    rows = [np.array(row, np.int64) for pattern in patterns for row in pattern]
    positions, offsets = flatten(rows)
    faces: list[Faces] = [block.faces for block in mesh.blocks if block.faces is not None]
    corners, _ = flatten([entry.corners for entry in faces])
    sizes, _ = flatten([np.diff(entry.corner_offsets) for entry in faces])
    counts, _ = flatten([np.diff(entry.offsets) for entry in faces])
    lengths = np.array([0 if block.faces is None else len(block) for block in mesh.blocks], np.int64)
    before = np.cumsum(lengths) - lengths
    before[[block.faces is None for block in mesh.blocks]] = -1
    return Outline(
        offsets,
        positions,
        starts([len(pattern) for pattern in patterns]),
        starts(sizes),
        corners,
        starts(counts),
        frozen(before),
    )
