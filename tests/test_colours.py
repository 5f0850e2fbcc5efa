"""Colours of parts: those that touch are easy to tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meshes import cubes, labels_of, meshes, sfc_labels, tets, triangles

from meshpart import ArgumentError, Mesh
from meshpart.plotting.colours import (
    LEAST_DISTANCE,
    LEAST_DISTANCE_SEEN,
    MOST_AT_A_POINT,
    PALETTE,
    lab,
    part_colours,
    shades,
    touching_parts,
)

# What eyes without green cones, and without red ones, make of linear sRGB (Machado, Oliveira and Fernandes, 2009).
EYES = {
    "deuteranope": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanope": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}


def parts_at_points(mesh: Mesh, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the pairs of parts that have a point in common."""
    return touching_parts(mesh.cell_points, np.repeat(labels, np.diff(mesh.cell_offsets)))


def nearest(colours: npt.NDArray[np.float64], pairs: npt.NDArray[np.int64]) -> float:
    """Return the least distance in CIELAB between the colours of a pair."""
    seen = lab(colours)
    return float(np.linalg.norm(seen[pairs[:, 0]] - seen[pairs[:, 1]], axis=1).min())


def seen_by(eyes: str, colours: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.transpose(EYES[eyes]), 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def test_cielab_is_as_published():
    # white, sRGB's red and blue, and middle grey
    found = lab(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]]))
    published = [[100, 0, 0], [53.24, 80.09, 67.20], [32.30, 79.19, -107.86], [53.39, 0, 0]]
    np.testing.assert_allclose(found, published, atol=0.02)


def test_the_palette_keeps_its_distance():
    pairs = np.array(list(combinations(range(len(PALETTE)), 2)))
    assert nearest(shades(len(PALETTE)), pairs) >= LEAST_DISTANCE
    for eyes in EYES:
        assert nearest(seen_by(eyes, shades(len(PALETTE))), pairs) >= LEAST_DISTANCE_SEEN


def test_no_colour_of_the_palette_is_taken_for_paper_or_lines():
    lightness = lab(shades(len(PALETTE)))[:, 0]
    assert lightness.min() > 25
    assert lightness.max() < 92


@pytest.mark.parametrize("nparts", [1, 2, 20])
def test_few_parts_have_a_colour_each_and_always_the_same(nparts):
    pairs = np.array([[0, 1]])[: nparts - 1]
    colours = part_colours(pairs, nparts)
    assert len(np.unique(colours, axis=0)) == nparts
    assert np.array_equal(colours, shades(20)[:nparts])


@pytest.mark.parametrize("nparts", [8, 21, 60, 150, 500])
@pytest.mark.parametrize("mesh", [triangles(40, 40), tets(10, 10, 8), cubes(14, 12, 10)], ids=["2-D", "tets", "cubes"])
def test_parts_that_touch_have_distant_colours(mesh, nparts):
    labels = sfc_labels(mesh, nparts)
    pairs = parts_at_points(mesh, labels)
    colours = part_colours(pairs, nparts)
    assert colours.shape == (nparts, 3)
    assert nearest(colours, pairs) >= LEAST_DISTANCE
    assert len(np.unique(colours, axis=0)) == min(nparts, len(PALETTE))


def test_random_labels_need_more_shades_and_neighbours_still_differ():
    mesh = tets(6, 6, 6)  # each point has about 24 cells, so about 24 parts
    labels = np.random.default_rng(0).integers(0, 200, mesh.n_cells).astype(np.int32)
    pairs = parts_at_points(mesh, labels)
    colours = part_colours(pairs, 200)
    assert len(np.unique(colours, axis=0)) > len(PALETTE)
    assert 0 < nearest(colours, pairs) < LEAST_DISTANCE


def test_parts_that_all_touch_have_a_colour_each():
    pairs = np.array(list(combinations(range(64), 2)))
    colours = part_colours(pairs, 64)
    assert len(np.unique(colours, axis=0)) == 64
    assert nearest(colours, pairs) > 10
    assert np.array_equal(colours, part_colours(pairs, 64))


def test_colours_are_shared_where_they_are_many():
    # 1000 parts in a row: 20 colours, each 50 times
    pairs = np.stack([np.arange(999), np.arange(1, 1000)], axis=1)
    _, counts = np.unique(part_colours(pairs, 1000), axis=0, return_counts=True)
    assert counts.tolist() == [50] * 20


def test_too_many_colours_are_refused():
    with pytest.raises(ArgumentError, match="40000 colours"):
        shades(40000)


@given(st.data())
def test_parts_that_touch_are_those_with_a_common_point(data):
    mesh = data.draw(meshes())
    labels, _ = data.draw(labels_of(mesh.n_cells))
    expected = set()
    for point in range(mesh.n_points):
        cells = [c for c in range(mesh.n_cells) if point in mesh.cell_points[slice(*mesh.cell_offsets[c : c + 2])]]
        expected |= set(combinations(sorted({int(labels[cell]) for cell in cells}), 2))
    assert {(int(a), int(b)) for a, b in parts_at_points(mesh, labels)} == expected


def test_of_very_many_parts_in_a_point_each_touches_the_next():
    count = MOST_AT_A_POINT + 1
    pairs = touching_parts(np.zeros(count, np.int64), np.arange(count, dtype=np.int32))
    assert pairs.tolist() == [[part, part + 1] for part in range(count - 1)]
    fewer = touching_parts(np.zeros(count - 1, np.int64), np.arange(count - 1, dtype=np.int32))
    assert len(fewer) == (count - 1) * (count - 2) // 2
