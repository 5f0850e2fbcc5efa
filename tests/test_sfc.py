"""Method `sfc`: the curve against a slow reference, its pieces, and that nothing but the input decides them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product

import meshes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meshes import cubes, quads, separate, sfc_labels, strip, tets, triangles

from meshpart import Mesh, MeshError, partition, partition_labels
from meshpart.methods.sfc import axis_scales

Points = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

SEVERAL = {
    "quads": quads(5, 3),
    "triangles": triangles(3, 4),
    "cubes": cubes(3, 2, 2),
    "tets": tets(2, 1, 1),
    "fan": meshes.fan(7),
    "quads that share no point": separate(10),
    "polygons": meshes.polygons(),
    "polyhedra and a pyramid": meshes.polyhedron_under_pyramid(),
    "interleaved blocks": meshes.interleaved(),
    "quads with lines": meshes.quads_with_lines(4, 2),
    "a beam between shells": meshes.beam_between_shells(),
    "the same quad twice": meshes.twice_the_same_quad(),
    "quads with empty blocks": meshes.empty_blocks(),
}


@st.composite
def clouds(draw: st.DrawFn) -> Points:
    """Draw points in 1, 2 or 3 dimensions: spread or in clusters too small for one key, with lines and planes."""
    dim = draw(st.integers(1, 3))
    near = st.integers(-3, 3).map(lambda i: i * 2.0**-45)
    coordinate = draw(st.sampled_from([st.integers(-4, 4).map(float), st.builds(float.__add__, near, near)]))
    coordinate |= st.builds(lambda whole, part: float(whole) + part, st.integers(-4, 4), near)
    row = st.lists(coordinate, min_size=dim, max_size=dim)
    points = np.array(draw(st.lists(row, min_size=2, max_size=14)))
    flattened = draw(st.sets(st.integers(0, dim - 1), max_size=dim - 1))
    points[:, sorted(flattened)] = draw(st.sampled_from([points[:, :1], np.ones((len(points), 1))]))
    return points


# -- the curve ----------------------------------------------------------------------------------------------


@given(clouds())
def test_the_order_is_that_of_the_slow_reference(points: Points) -> None:
    order = np.argsort(labels_of_cloud(points)).tolist()
    assert order in [reference_order(points[:, axes]) for axes in possible_axes(points)]


@given(st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_the_order_of_points_drawn_at_random_is_that_of_the_slow_reference(dim: int, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(60, dim))
    assert np.argsort(labels_of_cloud(points)).tolist() == reference_order(points)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_order_of_many_points_is_that_of_the_slow_reference(dim: int) -> None:
    points = crowded_cloud(6000)[:, :dim]
    assert np.argsort(labels_of_cloud(points)).tolist() == reference_order(points)


@pytest.mark.parametrize("side", [2, 4, 8, 16])
def test_consecutive_cells_of_a_full_square_share_an_edge(side: int) -> None:
    mesh = quads(side, side)
    assert step_lengths(mesh, sfc_labels(mesh, mesh.n_cells)) == {1.0}
    assert step_lengths(mesh, np.arange(mesh.n_cells)) != {1.0}  # the order in which they are numbered


@pytest.mark.parametrize("side", [2, 4, 8])
def test_consecutive_cells_of_a_full_cube_share_a_face(side: int) -> None:
    mesh = cubes(side, side, side)
    assert step_lengths(mesh, sfc_labels(mesh, mesh.n_cells)) == {1.0}
    assert step_lengths(mesh, np.arange(mesh.n_cells)) != {1.0}


@pytest.mark.parametrize("nparts", [4, 16, 64])
def test_the_pieces_of_a_full_square_are_squares(nparts: int) -> None:
    mesh = quads(16, 16)
    side = 16 / np.sqrt(nparts)
    assert extents(mesh, sfc_labels(mesh, nparts)) == {(side, side)}


@pytest.mark.parametrize("nparts", [8, 64])
def test_the_pieces_of_a_full_cube_are_cubes(nparts: int) -> None:
    mesh = cubes(8, 8, 8)
    side = 8 / np.cbrt(nparts)
    assert extents(mesh, sfc_labels(mesh, nparts)) == {(side, side, side)}


# -- its dimension and scale --------------------------------------------------------------------------------


def test_the_pieces_of_a_long_mesh_are_as_wide_as_high() -> None:
    # Stretched to a square first, the four quarters of 16 x 4 cells would be 8 wide and 2 high.
    mesh = quads(16, 4)
    assert extents(mesh, sfc_labels(mesh, 4)) == {(4.0, 4.0)}


@pytest.mark.parametrize("factors", [(1, 2.0**-6), (2.0**6, 1)])
def test_markedly_stretched_cells_are_cut_like_square_ones(factors: tuple[float, float]) -> None:
    square = quads(8, 8)
    stretched = Mesh(square.points * factors, square.blocks)
    assert_equal(sfc_labels(stretched, 8), sfc_labels(square, 8))


def test_only_marked_stretching_of_cells_that_fill_their_space_changes_the_scales() -> None:
    square, cube = quads(4, 4), cubes(3, 3, 3)
    assert_equal(axis_scales(square), [1, 1])
    assert_equal(axis_scales(Mesh(square.points * (1, 0.51), square.blocks)), [1, 1])
    assert_equal(axis_scales(Mesh(square.points * (1, 0.25), square.blocks)), [0.25, 1])
    assert_equal(axis_scales(Mesh(cube.points * (8, 1, 2), cube.blocks)), [0.125, 1, 0.5])
    flat = np.insert(square.points * (1, 0.25), 1, 7.0, axis=1)  # in the plane of x and z
    assert_equal(axis_scales(Mesh(flat, square.blocks))[[0, 2]], [0.25, 1])
    curved = np.column_stack([square.points, 0.1 * square.points[:, 0] ** 2])
    assert_equal(axis_scales(Mesh(curved, square.blocks)), [1, 1, 1])


@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 2)])
def test_a_plane_along_two_axes_has_the_labels_of_the_flat_mesh(axes: tuple[int, int]) -> None:
    flat = triangles(9, 7)
    points = np.full((flat.n_points, 3), 5.0)
    points[:, axes] = flat.points
    assert_equal(sfc_labels(Mesh(points, flat.blocks), 10), sfc_labels(flat, 10))


@pytest.mark.parametrize("degrees", [20, 30, 45, 60, 80])
def test_an_oblique_plane_is_cut_as_well_as_a_flat_one(degrees: float) -> None:
    flat = quads(30, 30)
    assert total_interface(tilted(flat, degrees)) < 1.05 * total_interface(flat)


def test_an_oblique_plane_that_is_not_quite_flat_is_not_cut_so_well() -> None:
    flat = quads(30, 30)
    rough = tilted(flat, 30)
    noise = 1e-4 * np.random.default_rng(0).random(rough.points.shape)  # enough for a curve in 3-D
    assert total_interface(Mesh(rough.points + noise, rough.blocks)) > 1.15 * total_interface(flat)


@pytest.mark.parametrize("direction", [(1.0,), (-3.0,), (1.0, 2.0), (-1.0, 0.5), (1.0, 2.0, -5.0), (0.0, 1.0, 0.0)])
def test_lines_one_after_another_are_cut_into_runs(direction: tuple[float, ...]) -> None:
    n = 23
    place = np.random.default_rng(3).permutation(n)
    points = np.arange(n + 1.0).reshape(-1, 1) * direction + 7
    labels = sfc_labels(Mesh(points, [("line", np.stack([place, place + 1], axis=1))]), 5)
    along = labels[np.argsort(place)]
    assert np.sum(along[1:] != along[:-1]) == 4


# -- what changes nothing -----------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(-300, 300), st.tuples(*[st.integers(-1000, 1000)] * 3))
def test_moving_a_mesh_and_scaling_it_by_a_power_of_two_changes_no_label(
    seed: int, exponent: int, shift: tuple[int, int, int]
) -> None:
    grid = np.random.default_rng(seed).integers(0, 1024, (40, 3)) / 1024  # so that every sum is exact
    assert_equal(labels_of_cloud((grid + shift) * 2.0**exponent), labels_of_cloud(grid))


def test_coordinates_near_the_largest_float_are_no_trouble() -> None:
    mesh = triangles(6, 6)
    vast = Mesh((mesh.points - 3) * 2.0**1021, mesh.blocks)
    tiny = Mesh((mesh.points - 3) * 2.0**-1040, mesh.blocks)
    sizes = [9] * 8
    assert np.bincount(sfc_labels(vast, 8)).tolist() == sizes
    assert np.bincount(sfc_labels(tiny, 8)).tolist() == sizes


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, ">f8"])
def test_the_dtype_of_the_points_changes_no_label(dtype: npt.DTypeLike) -> None:
    mesh = quads(6, 5)
    assert_equal(sfc_labels(Mesh(mesh.points.astype(dtype), mesh.blocks), 7), sfc_labels(mesh, 7))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_no_label(threads: int) -> None:
    cloud = crowded_cloud(90000)
    assert_equal(labels_of_cloud(cloud, 100, threads=threads), labels_of_cloud(cloud, 100))


@pytest.mark.parametrize("seed", [1, 7, 2**31 - 1])
def test_the_seed_changes_no_label(seed: int) -> None:  # case 67
    assert_equal(sfc_labels(tets(3, 3, 3), 7, seed=seed), sfc_labels(tets(3, 3, 3), 7))


def test_two_fresh_processes_give_the_bytes_of_this_one() -> None:  # case 67
    script = """
import hashlib, meshes, meshpart
labels = meshpart.partition_labels(meshes.tets(5, 5, 5), 12, method="sfc", threads={})
print(hashlib.sha256(labels.tobytes()).hexdigest())
"""
    here = hashlib.sha256(partition_labels(tets(5, 5, 5), 12, method="sfc").tobytes()).hexdigest()
    for threads in (1, 2):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": str(threads)}
        command = [sys.executable, "-c", script.format(threads)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert run.stdout.split() == [here]


def test_four_threads_at_once_get_the_labels_of_one() -> None:  # case 69
    mesh = quads(20, 20)
    jobs = list(range(2, 22)) * 4
    alone = [sfc_labels(mesh, nparts) for nparts in jobs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda nparts: sfc_labels(mesh, nparts), jobs))
    assert all(map(np.array_equal, alone, together))


def test_nothing_is_written_to_stdout_or_stderr(capfd: pytest.CaptureFixture[str]) -> None:  # case 68
    sfc_labels(tets(3, 3, 3), 5, threads=2)
    partition(meshes.quads_with_lines(5, 5), 4, method="sfc")
    with pytest.raises(MeshError):
        sfc_labels(Mesh(strip(2).points * np.nan, strip(2).blocks), 2)
    assert capfd.readouterr() == ("", "")


# -- sizes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mesh", SEVERAL.values(), ids=SEVERAL.keys())
def test_sizes_differ_by_at_most_one_for_every_number_of_parts(mesh: Mesh) -> None:
    partitioned = mesh.kinds != 1
    for nparts in range(1, partitioned.sum() + 1):
        labels = partition_labels(mesh, nparts, method="sfc")
        sizes = np.bincount(labels[partitioned], minlength=nparts)
        assert labels.dtype == np.int32
        assert labels.shape == (mesh.n_cells,)
        assert len(sizes) == nparts
        assert sizes.max() - sizes.min() <= 1
        assert sizes.min() > 0


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_cells_with_equal_centroids_are_shared_out_by_their_numbers(dim: int) -> None:  # case 27
    labels = labels_of_cloud(np.full((10, dim), 0.1), 3)
    assert np.all(np.diff(labels) >= 0)
    assert sorted(np.bincount(labels)) == [3, 3, 4]


@pytest.mark.parametrize("rank", [1, 2])
def test_centroids_on_one_line_or_plane_are_balanced(rank: int) -> None:  # case 27
    generator = np.random.default_rng(rank)
    cloud = generator.normal(size=(100, rank)) @ generator.normal(size=(rank, 3))
    assert np.bincount(labels_of_cloud(cloud, 8)).tolist() == [12, 13] * 4  # cut i at the lower of 12.5 i, on a tie


# -- coordinates that are none ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_wrong_coordinate_of_a_point_that_no_cell_uses_is_ignored(value: float) -> None:  # case 27
    mesh = triangles(3, 2)
    extended = Mesh(np.vstack([mesh.points, [0.0, value]]), mesh.blocks)
    assert_equal(sfc_labels(extended, 5), sfc_labels(mesh, 5))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_wrong_coordinate_of_a_used_point_is_refused_with_point_and_cell(value: float) -> None:  # case 27
    mesh = quads(3, 1)  # point 3 is in cell 2 only
    points = mesh.points.copy()
    points[3, 1] = value
    with pytest.raises(MeshError, match=r"point 3, used by cell 2, .*(nan|inf)"):
        sfc_labels(Mesh(points, mesh.blocks), 2)


def test_a_method_that_does_not_look_at_coordinates_does_not_mind_wrong_ones() -> None:
    mesh = Mesh(quads(3, 1).points * np.nan, quads(3, 1).blocks)
    assert partition_labels(mesh, 3, method=lambda _: [2, 0, 1]).tolist() == [2, 0, 1]


# -- helpers ------------------------------------------------------------------------------------------------


def assert_equal(labels: Labels, others: Labels) -> None:
    """Assert that two arrays of labels are the same."""
    np.testing.assert_array_equal(labels, others)


def labels_of_cloud(points: Points, nparts: int | None = None, *, threads: int | None = None) -> Labels:
    """Partition a vertex cell on each point, into as many parts unless told: a label is then a place in the order."""
    cells = np.arange(len(points)).reshape(-1, 1)
    return partition_labels(Mesh(points, [("vertex", cells)]), nparts or len(points), method="sfc", threads=threads)


def crowded_cloud(n: int) -> Points:
    """Return points of which some are equal and some have equal keys, or nearly so: (n, 3), n a multiple of 6."""
    generator = np.random.default_rng(5)
    wide = generator.random((n // 3, 3))
    dense = 0.5 + generator.random((n // 6, 3)) * 2.0**-40
    near = 0.3 + generator.random((n // 6, 3)) * 2.0**-15
    return generator.permutation(np.vstack([wide, dense, near, np.full((n // 6, 3), 0.25), wide[: n // 6]]))


def centroids(mesh: Mesh) -> Points:
    """Return the mean of the points of each cell, of a mesh with one block of linear cells."""
    return mesh.points[mesh.blocks[0].nodes].mean(axis=1)


def step_lengths(mesh: Mesh, labels: Labels) -> set[float]:
    """Return the distances, along the axes, between cells with consecutive labels."""
    return set(np.abs(np.diff(centroids(mesh)[np.argsort(labels)], axis=0)).sum(axis=1).tolist())


def extents(mesh: Mesh, labels: Labels) -> set[tuple[float, ...]]:
    """Return the sizes of the bounding boxes of the parts."""
    of_parts = [mesh.points[mesh.blocks[0].nodes[labels == part]] for part in range(labels.max() + 1)]
    return {tuple(np.ptp(points.reshape(-1, points.shape[-1]), axis=0).tolist()) for points in of_parts}


def tilted(flat: Mesh, degrees: float) -> Mesh:
    """Return a 2-D mesh turned out of the plane about the first axis."""
    x, y = flat.points.T
    angle = np.radians(degrees)
    return Mesh(np.stack([x, y * np.cos(angle), y * np.sin(angle)], axis=1), flat.blocks)


def total_interface(mesh: Mesh) -> int:
    """Return how many points lie in several parts, summed over partitions into 2 to 19 parts."""
    nodes = mesh.blocks[0].nodes
    total = 0
    for nparts in range(2, 20):
        labels = np.repeat(sfc_labels(mesh, nparts), nodes.shape[1])
        pairs = np.unique(np.stack([nodes.ravel(), labels]), axis=1)
        total += int(np.sum(np.bincount(pairs[0]) > 1))
    return total


# -- the slow reference -------------------------------------------------------------------------------------

BITS = {1: 51, 2: 30, 3: 21}


def reference_order(points: Points) -> list[int]:
    """Return the rows of points along the curve that has as many dimensions as they."""
    return list(along_curve(list(range(len(points))), points))


def along_curve(rows: Sequence[int], points: Points) -> Iterator[int]:
    """Yield rows by key in their bounding box; rows with one key in the order of their own box, equal ones as given."""
    low, high = points[rows].min(axis=0), points[rows].max(axis=0)
    extent = (high - low).max()
    if extent == 0:
        yield from rows
        return
    bits = BITS[points.shape[1]]
    by_key: dict[int, list[int]] = {}
    for row in rows:
        grid = [min(int(x), 2**bits - 1) for x in (points[row] - low) * (2.0**bits / extent)]
        by_key.setdefault(hilbert_key(grid, bits), []).append(row)
    for key in sorted(by_key):
        yield from along_curve(by_key[key], points)


def hilbert_key(cell: Sequence[int], bits: int) -> int:
    """Return the Hilbert index of a grid cell, one bit of each coordinate at a time.

    Algorithm 2 of C. H. Hamilton, "Compact Hilbert Indices", Dalhousie University CS-2006-07, 2006.
    """
    dim = len(cell)
    if dim == 1:
        return cell[0]

    def rotated_left(word: int, by: int) -> int:
        return ((word << by % dim) | (word >> (dim - by % dim))) & (2**dim - 1)

    def gray(number: int) -> int:
        return number ^ (number >> 1)

    def trailing_ones(number: int) -> int:
        return 0 if number % 2 == 0 else 1 + trailing_ones(number // 2)

    key = entry = direction = 0
    for level in reversed(range(bits)):
        orthant = sum((x >> level & 1) << axis for axis, x in enumerate(cell))
        turned = rotated_left(orthant ^ entry, dim - (direction + 1) % dim)
        digit = [gray(number) for number in range(2**dim)].index(turned)
        inner_entry = gray((digit - 1) // 2 * 2) if digit else 0
        inner_direction = trailing_ones(digit if digit % 2 else digit - 1) % dim if digit else 0
        entry ^= rotated_left(inner_entry, direction + 1)
        direction = (direction + inner_direction + 1) % dim
        key = key << dim | digit
    return key


def possible_axes(points: Points) -> list[list[int]]:
    """Return the axes that the curve may use; several choices where a line or plane is as near to two axes."""
    dim = points.shape[1]
    _, sizes, directions = np.linalg.svd(points - points[0])
    rank = int(np.sum(sizes > 1e-7 * max(sizes[0], 1e-300)))
    if rank == dim:
        return [list(range(dim))]
    if rank <= 1:
        return [[axis] for axis in axes_nearest(directions[0])]
    return [[axis for axis in range(3) if axis != dropped] for dropped in axes_nearest(directions[2])]


def axes_nearest(direction: Points) -> list[int]:
    """Return the axis nearest a direction, or all that are as near."""
    return np.flatnonzero(np.abs(direction) > np.abs(direction).max() - 1e-9).tolist()


def test_the_reference_curve_visits_every_cell_of_a_grid_in_unit_steps() -> None:
    for dim, bits in ((2, 3), (3, 2)):
        cells = sorted(product(range(2**bits), repeat=dim), key=lambda cell: hilbert_key(cell, bits))
        assert {np.abs(np.subtract(a, b)).sum() for a, b in pairwise(cells)} == {1}
