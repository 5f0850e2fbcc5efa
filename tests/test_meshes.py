"""The drawn meshes are what they are drawn as."""

from __future__ import annotations

import numpy as np
import pytest
from meshes import fan, quads, separate, strip, tets, triangles


def test_cells_of_the_drawn_grids_fill_the_space_once() -> None:
    # nx * ny unit squares, cut or not; six tets a cube, each of volume 1/6 and turned as VTK wants it or its mirror
    for mesh, area in [(quads(3, 2), 6), (triangles(3, 2), 6), (strip(5), 5), (separate(2), 2), (fan(4), 2)]:
        corners = mesh.points[mesh.blocks[0].nodes]
        following = np.roll(corners, -1, axis=1)
        cross = corners[..., 0] * following[..., 1] - corners[..., 1] * following[..., 0]
        assert np.all(cross.sum(axis=1) > 0)  # counterclockwise
        assert cross.sum() / 2 == pytest.approx(area)
    corners = tets(2, 1, 1).points[tets(2, 1, 1).blocks[0].nodes]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    assert np.abs(volumes).tolist() == pytest.approx([1 / 6] * 12)
