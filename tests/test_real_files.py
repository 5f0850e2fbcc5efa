"""Mesh files from other projects: read, partitioned and split, against what is known of them.

The files are no part of this project; the variable MESHPART_TEST_MESHES names a folder that has them. What is known of
them was found by brute force, without any partitioner.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from peers import OWN
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from meshpart import (
    FormatError,
    Mesh,
    MeshpartWarning,
    dual_graph,
    exchange,
    merge,
    open_parts,
    partition,
    partition_labels,
    quality,
    split,
    write_parts,
)
from meshpart.cells import cell_type
from meshpart.io import read

Labels = npt.NDArray[np.int32]

NPARTS = [2, 4, 7]
ATTACHED = 1


class Facts(NamedTuple):
    """What is known of a file."""

    n_cells: int
    types: dict[str, int]  # how many cells of each type, where that is known
    parents: dict[int, int]  # how many cells of one dimension less than the highest lie in so many of the highest
    owned: tuple[int, int, int, int] | None  # points that 4 parts own, of consecutive cells as many as can be


FACTS = {
    "mixed_tri_quad_groups.msh": Facts(74, {"line": 22, "triangle": 16, "quad": 36}, {1: 22}, (19, 10, 18, 9)),
    "quadratic_sphere_tet10.msh": Facts(1056, {}, {1: 322}, (391, 363, 301, 255)),
    "mixed_p2_tet_hex_wedge.vtk": Facts(14, {}, {}, (19, 44, 35, 18)),
    "hex64_order3_torus.msh": Facts(84, {"hexahedron64": 36, "quad16": 48}, {1: 48}, (192, 166, 439, 413)),
    "venturi_2d_quad_markers.su2": Facts(3654, {"quad": 3364, "line": 290}, {1: 290}, (997, 969, 934, 610)),
    "hydrofoil_2d_tri_markers.su2": Facts(7118, {"triangle": 6814, "line": 304}, {1: 304}, (1005, 767, 892, 895)),
    "two_tet_blocks_coincident_nodes.exo": Facts(8371, {"tetra": 8371}, {}, (405, 529, 402, 532)),
    "tet_fault_surface_edges.msh": Facts(2089, {}, {1: 662, 2: 22}, (166, 92, 74, 90)),
    "three_material_blocks_tri.exo": Facts(5176, {"triangle": 5176}, {}, (800, 643, 613, 634)),
    "abaqus_mixed_overlapping_sets.inp": Facts(1046, {"triangle": 47, "quad": 999}, {}, (301, 285, 278, 234)),
    "abaqus_two_instances_collapsed.inp": Facts(180, {"hexahedron": 180}, {}, (108, 68, 0, 0)),
    "rogue_duplicate_point.msh": Facts(5, {}, {}, (4, 1, 1, 0)),
    "interleaved_quad_tri_blocks.msh": Facts(101, {}, {}, (53, 30, 20, 18)),
    "periodic_square_vertices_lines.msh": Facts(732, {}, {1: 72}, (120, 95, 74, 76)),
    "biquadratic_quads_uint32_ids.vtu": Facts(376, {"quad9": 376}, {}, (506, 426, 366, 271)),
    "fractured_cube_hex_wedge.vtu": Facts(150, {}, {}, (66, 48, 72, 90)),
    "wedge15_notch_disp.vtu": Facts(2192, {"hexahedron20": 2188, "wedge15": 4}, {}, None),
    "cube_serial.vtu": Facts(27, {"hexahedron": 27}, {}, (25, 12, 16, 11)),
    "cube/cube_0.vtu": Facts(12, {"hexahedron": 12}, {}, None),
    "cube/cube_1.vtu": Facts(6, {"hexahedron": 6}, {}, None),
    "cube/cube_2.vtu": Facts(6, {"hexahedron": 6}, {}, None),
    "cube/cube_3.vtu": Facts(3, {"hexahedron": 3}, {}, None),
}

EDGES = {  # of the dual graph, counted by brute force
    "mixed_tri_quad_groups.msh": 85,
    "quadratic_sphere_tet10.msh": 1283,
    "mixed_p2_tet_hex_wedge.vtk": 19,
    "hex64_order3_torus.msh": 84,
    "venturi_2d_quad_markers.su2": 6583,
    "hydrofoil_2d_tri_markers.su2": 10069,
    "two_tet_blocks_coincident_nodes.exo": 15890,
    "tet_fault_surface_edges.msh": 2463,
    "three_material_blocks_tri.exo": 7663,
    "abaqus_mixed_overlapping_sets.inp": 1993,
    "abaqus_two_instances_collapsed.inp": 894,
    "interleaved_quad_tri_blocks.msh": 181,
    "periodic_square_vertices_lines.msh": 948,
    "biquadratic_quads_uint32_ids.vtu": 720,
    "fractured_cube_hex_wedge.vtu": 223,
    "cube_serial.vtu": 54,
}
LAYERS = {  # of 4 parts of consecutive cells: owned cells, ghosts of layer 1, and of layer 2
    "mixed_tri_quad_groups.msh": [(19, 25, 22), (18, 45, 11), (19, 47, 8), (18, 55, 1)],
    "quadratic_sphere_tet10.msh": [(264, 642, 143), (264, 777, 15), (264, 791, 1), (264, 792, 0)],
    "venturi_2d_quad_markers.su2": [(914, 184, 92), (913, 187, 91), (914, 187, 105), (913, 340, 324)],
    "two_tet_blocks_coincident_nodes.exo": [(2093, 2092, 0), (2093, 2171, 280), (2093, 2093, 0), (2092, 2094, 0)],
    "fractured_cube_hex_wedge.vtu": [(38, 11, 10), (37, 21, 10), (38, 11, 11), (37, 8, 10)],
}
COMPONENTS = {"two_tet_blocks_coincident_nodes.exo": 2, "fractured_cube_hex_wedge.vtu": 3}  # by facet, and by point

UNREADABLE = ["parametric_nodes_v4.msh", "metis_tet.mesh", "README.md"]

FOR_ANOTHER_READER = {"pyramid_polyhedron_two_pieces.vtu": 4, "cube.pvtu": 27}  # and its cells

EVERY_FILE = pytest.mark.parametrize("name", FACTS)


# -- labels -------------------------------------------------------------------------------------------------


@EVERY_FILE
@pytest.mark.parametrize("nparts", NPARTS)
def test_labels_are_balanced_and_attached_cells_follow(real_meshes: Path, name: str, nparts: int) -> None:
    assert_sound_labels(read_or_skip(real_meshes, name), nparts)


def test_every_other_file_that_can_be_read_is_partitioned_as_well(real_meshes: Path) -> None:
    others = [
        path for path in sorted(real_meshes.rglob("*")) if path.is_file() and name_in(real_meshes, path) not in FACTS
    ]
    for path in others:
        try:
            mesh = read_once(path)
        except FormatError:
            continue
        for nparts in NPARTS:
            assert_sound_labels(mesh, nparts)


# -- what the reader and the mesh say of it ------------------------------------------------------------------


@EVERY_FILE
def test_a_file_has_as_many_cells_of_each_type_as_is_known(real_meshes: Path, name: str) -> None:
    mesh, known = read_or_skip(real_meshes, name), FACTS[name]
    assert mesh.n_cells == known.n_cells
    counted: Counter[str] = Counter()
    for block in mesh.blocks:
        counted[block.type] += len(block)
    assert known.types in ({}, dict(counted))


@EVERY_FILE
def test_cells_on_the_boundary_have_as_many_parents_as_is_known(real_meshes: Path, name: str) -> None:
    mesh = read_or_skip(real_meshes, name)
    below = np.flatnonzero(dims_of(mesh) == mesh.dim - 1)
    attached, rows, offsets = mesh.attachment.cells, mesh.attachment.rows, mesh.attachment.parent_offsets
    n_parents = np.diff(offsets)[rows[np.isin(attached, below)]]
    assert Counter(n_parents.tolist()) == FACTS[name].parents


@pytest.mark.parametrize("name", EDGES)
def test_the_dual_graph_has_as_many_edges_as_is_known(real_meshes: Path, name: str) -> None:
    assert dual_graph(read_or_skip(real_meshes, name)).n_edges == EDGES[name]


@pytest.mark.parametrize("name", COMPONENTS)
def test_bodies_that_touch_in_unmerged_points_alone_are_components(real_meshes: Path, name: str) -> None:
    mesh = read_or_skip(real_meshes, name)
    for adjacency in ("facet", "point"):
        graph = dual_graph(mesh, adjacency=adjacency)
        assert connected_components(graph.to_scipy(), directed=False)[0] == COMPONENTS[name]
    assert quality(mesh, np.zeros(mesh.n_cells, np.int32)).part_components.tolist() == [COMPONENTS[name]]


def test_blocks_of_one_type_are_the_materials_and_stay_apart(real_meshes: Path) -> None:
    mesh = read_or_skip(real_meshes, "three_material_blocks_tri.exo")
    assert [len(block) for block in mesh.blocks] == [536, 936, 3704]
    for part in partition(mesh, 4):
        assert [block.type for block in part.mesh.blocks] == ["triangle"] * 3


def test_sets_over_two_blocks_and_with_common_cells_are_shared_out_whole(real_meshes: Path) -> None:
    mesh = read_or_skip(real_meshes, "abaqus_mixed_overlapping_sets.inp")
    sizes = {name: [len(rows) for rows in sets] for name, sets in mesh.cell_sets.items()}
    assert sizes == {"CrackZone": [33, 598], "Symmetry": [0, 53], "Hole": [0, 38]}
    assert sorted(map(len, mesh.point_sets.values())) == [38, 54, 649]
    parts = partition(mesh, 7)
    for name, of_blocks in sizes.items():
        assert (
            np.sum([[len(rows) for rows in part.mesh.cell_sets[name]] for part in parts], axis=0).tolist() == of_blocks
        )


def test_points_of_a_plane_file_stay_in_two_dimensions(real_meshes: Path) -> None:
    mesh = read_or_skip(real_meshes, "venturi_2d_quad_markers.su2")
    assert mesh.points.shape[1] == 2
    assert partition(mesh, 3)[1].mesh.points.shape[1] == 2


def test_ids_that_a_file_brings_keep_their_values_and_dtype(real_meshes: Path) -> None:
    for name, dtype in (("biquadratic_quads_uint32_ids.vtu", np.uint32), ("fractured_cube_hex_wedge.vtu", np.int64)):
        mesh = read_or_skip(real_meshes, name)
        kept = [key for key, arrays in mesh.cell_data.items() if arrays[0].dtype == dtype]
        assert kept
        for key in kept:
            whole = np.concatenate(mesh.cell_data[key])
            for part in partition(mesh, 4):
                own = np.concatenate(part.mesh.cell_data[key])
                assert own.dtype == dtype
                np.testing.assert_array_equal(np.sort(own), np.sort(whole[part.cells.global_ids]))


def test_periodic_pairs_go_with_the_owner_of_their_slave(real_meshes: Path) -> None:
    mesh = read_or_skip(real_meshes, "periodic_square_vertices_lines.msh")
    assert mesh.periodic
    parts = partition(mesh, 4)
    for number, entry in enumerate(mesh.periodic):
        pairs = []
        for part in parts:
            own = part.periodic[number].pairs
            assert set(own[:, 0]) <= set(part.points.global_ids[: part.points.n_owned])
            pairs += own.tolist()
        assert sorted(pairs) == sorted(entry.pairs.tolist())


# -- parts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ghost_layers", [0, 1, 2])
@pytest.mark.parametrize("name", [name for name, known in FACTS.items() if known.owned])
def test_parts_of_consecutive_cells_own_as_many_points_as_is_known(
    real_meshes: Path, name: str, ghost_layers: int
) -> None:
    mesh = read_or_skip(real_meshes, name)
    parts = split(mesh, quarters(mesh.n_cells), 4, ghost_layers=ghost_layers)
    assert tuple(part.points.n_owned for part in parts) == FACTS[name].owned


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_ghosts_are_as_large_as_is_known(real_meshes: Path, name: str) -> None:
    mesh = read_or_skip(real_meshes, name)
    for part, sizes in zip(split(mesh, quarters(mesh.n_cells), 4, ghost_layers=2), LAYERS[name], strict=True):
        assert tuple(np.bincount(part.cells.layers(), minlength=3)) == sizes


@EVERY_FILE
def test_layers_are_those_that_products_of_the_incidence_matrix_reach(real_meshes: Path, name: str) -> None:
    mesh = read_or_skip(real_meshes, name)
    n_entries = len(mesh.cell_points)
    on = csr_array((np.ones(n_entries), mesh.cell_points, mesh.cell_offsets), shape=(mesh.n_cells, mesh.n_points))
    labels = quarters(mesh.n_cells)
    for part in split(mesh, labels, 4, ghost_layers=3):
        reached = labels == part.part
        layers = np.where(reached, 0, -1)
        for layer in (1, 2, 3):
            reached = on @ (on.T @ reached) > 0
            layers[reached & (layers < 0)] = layer
        ids = part.cells.global_ids
        assert sorted(ids) == np.flatnonzero(layers >= 0).tolist()
        assert part.cells.layers().tolist() == layers[ids].tolist()
        complete = on @ (on.T @ (layers < 0)) == 0
        assert part.cells.complete.tolist() == complete[ids].tolist()


@EVERY_FILE
def test_global_ids_that_are_exchanged_come_back(real_meshes: Path, name: str) -> None:
    mesh = read_or_skip(real_meshes, name)
    for labels in (quarters(mesh.n_cells), partition_labels(mesh, 4, method="sfc", allow_empty=True)):
        parts = split(mesh, labels, 4, ghost_layers=1)
        for entity in ("cells", "points"):
            maps = [getattr(part, entity) for part in parts]
            values = exchange(parts, [ids.global_ids[: ids.n_owned] for ids in maps], entity)
            for local, ids in zip(values, maps, strict=True):
                assert np.array_equal(local, ids.global_ids)


@EVERY_FILE
@pytest.mark.parametrize("ghost_layers", [0, 1])
def test_parts_tile_the_mesh_and_hold_its_cells(real_meshes: Path, name: str, ghost_layers: int) -> None:
    mesh = read_or_skip(real_meshes, name)
    parts = split(mesh, quarters(mesh.n_cells), 4, ghost_layers=ghost_layers)
    owned_cells = [part.cells.global_ids[: part.cells.n_owned] for part in parts]
    owned_points = [part.points.global_ids[: part.points.n_owned] for part in parts]
    assert np.array_equal(np.sort(np.concatenate(owned_cells)), np.arange(mesh.n_cells))
    assert np.array_equal(np.sort(np.concatenate(owned_points)), np.arange(mesh.n_points))
    for part in parts:
        ids = part.points.global_ids
        assert part.mesh.points.tobytes() == mesh.points[ids].tobytes()
        assert part.mesh.n_cells == part.cells.n_local
        for number, (own, block) in enumerate(zip(part.mesh.blocks, mesh.blocks, strict=True)):
            first, last = mesh.block_starts[number : number + 2]
            cells = part.cells.global_ids
            rows = cells[(cells >= first) & (cells < last)] - first
            assert own.type == block.type
            assert np.array_equal(ids[own.nodes], block.nodes[rows])


@EVERY_FILE
def test_merging_parts_gives_the_mesh_back(real_meshes: Path, name: str) -> None:
    mesh = read_or_skip(real_meshes, name)
    for layers in (0, 1):
        assert merge(split(mesh, quarters(mesh.n_cells), 4, ghost_layers=layers)[::-1]) == mesh


@EVERY_FILE
@pytest.mark.parametrize("ghost_layers", [0, 1])
def test_a_part_store_gives_the_file_back(real_meshes: Path, name: str, ghost_layers: int, tmp_path: Path) -> None:
    mesh = read_or_skip(real_meshes, name)
    parts = partition(mesh, 3, method="sfc", ghost_layers=ghost_layers, graphs=["points", "cells"])
    write_parts(parts, tmp_path / "parts", graphs="points")
    store = open_parts(tmp_path / "parts")
    assert [replace(part, graphs=own.graphs) for part, own in zip(store, parts, strict=True)] == parts
    assert merge(store) == mesh


@EVERY_FILE
def test_parts_of_parts_hold_the_cells_and_points_of_the_file(real_meshes: Path, name: str) -> None:
    mesh = read_or_skip(real_meshes, name)
    owned = []
    for part in split(mesh, quarters(mesh.n_cells), 4, ghost_layers=1):
        for smaller in split(part, quarters(part.cells.n_owned), 4, ghost_layers=1):
            owned.append(smaller.cells.global_ids[: smaller.cells.n_owned])
            ids = smaller.points.global_ids
            assert smaller.mesh.points.tobytes() == mesh.points[ids].tobytes()
            for number, (own, block) in enumerate(zip(smaller.mesh.blocks, mesh.blocks, strict=True)):
                rows = smaller.cells.global_ids[smaller.cell_rows(number)] - mesh.block_starts[number]
                assert np.array_equal(ids[own.nodes], block.nodes[rows])
    assert np.array_equal(np.sort(np.concatenate(owned)), np.arange(mesh.n_cells))


# -- files that cannot be read ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_an_error_with_its_path(
    real_meshes: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if not (real_meshes / name).is_file():
        pytest.skip(f"{name} is not in the folder")
    with pytest.raises(FormatError, match=name):
        read(real_meshes / name)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name", FOR_ANOTHER_READER)
def test_a_file_that_meshio_cannot_read_needs_another_reader(real_meshes: Path, name: str) -> None:
    if not (real_meshes / name).is_file():
        pytest.skip(f"{name} is not in the folder")
    if find_spec("meshioplusplus"):
        assert read_once(real_meshes / name).n_cells == FOR_ANOTHER_READER[name]
    else:
        with pytest.raises(FormatError, match=name):
            read(real_meshes / name)


# -- helpers ------------------------------------------------------------------------------------------------


@cache
def read_once(path: Path) -> Mesh:
    """Read a file, at the first call; what the reader passed over is the matter of another test file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)
        return read(path)


def read_or_skip(folder: Path, name: str) -> Mesh:
    """Read a file of the folder, or skip the test where the folder lacks it."""
    if not (folder / name).is_file():
        pytest.skip(f"{name} is not in the folder")
    return read_once(folder / name)


def name_in(folder: Path, path: Path) -> str:
    """Return the name of a file below the folder, as FACTS spells it."""
    return path.relative_to(folder).as_posix()


def quarters(n_cells: int) -> npt.NDArray[np.int64]:
    """Return labels of four parts of consecutive cells."""
    return np.arange(n_cells) * 4 // n_cells


def dims_of(mesh: Mesh) -> npt.NDArray[np.int64]:
    """Return the dimension of every cell."""
    return np.repeat([cell_type(block.type).dim for block in mesh.blocks], [len(block) for block in mesh.blocks])


def assert_sound_labels(mesh: Mesh, nparts: int) -> None:
    """Assert all that labels promise: range, balance of partitioned cells, attached cells with their parents."""
    for method in OWN:
        labels = partition_labels(mesh, nparts, method=method, allow_empty=True)
        assert labels.dtype == np.int32
        assert labels.shape == (mesh.n_cells,)
        partitioned = mesh.kinds != ATTACHED
        sizes = np.bincount(labels[partitioned], minlength=nparts)
        assert len(sizes) == nparts
        assert sizes.max() <= 1.03 * -(-partitioned.sum() // nparts)
        assert method != "sfc" or sizes.max() - sizes.min() <= 1
        assert sizes.min() > 0 or partitioned.sum() < nparts
        for cell, parents in parents_by_intersection(mesh):
            assert labels[cell] == labels[parents].min()


def parents_by_intersection(mesh: Mesh) -> list[tuple[int, list[int]]]:
    """Return each attached cell with the partitioned cells that are on all its corner points."""
    rows = np.split(mesh.cell_points, mesh.cell_offsets[1:-1])
    types = [cell_type(block.type) for block in mesh.blocks for _ in range(len(block))]
    cells_on: dict[int, set[int]] = {}
    for cell, row in enumerate(rows):
        for point in row.tolist():
            cells_on.setdefault(point, set()).add(cell)
    found = []
    for cell in np.flatnonzero(mesh.kinds == ATTACHED).tolist():
        corners = rows[cell][: types[cell].n_corners].tolist()
        around = set.intersection(*(cells_on[point] for point in corners))
        found.append(
            (cell, [other for other in around if types[other].dim > types[cell].dim and mesh.kinds[other] != ATTACHED])
        )
    return found
