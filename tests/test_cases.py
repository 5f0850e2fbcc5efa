"""Cases: what people who partition meshes reported of other tools, each with a small input and the answer by hand.

The number beside a test is that of the case. Those of the curve, of weights and of groups are in test_sfc.py,
test_weights.py and test_units.py, those of halos in test_halo_cases.py.
"""

from __future__ import annotations

from typing import Any

import meshes
import meshio
import numpy as np
import pytest
from meshes import no_cells, quads, quads_with_lines, separate, strip, two_tets_with_triangles

from meshpart import CellBlock, Mesh, MeshError, SubMesh, partition, partition_labels, split

TWO_BY_TWO = np.array([0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3])  # Q(4, 4) as four squares

# -- part counts, empty and disconnected parts --------------------------------------------------------------


@pytest.mark.parametrize("side", [2, 3])
def test_as_many_parts_as_cells_are_one_cell_each(side: int) -> None:  # case 1
    assert sorted(partition_labels(quads(side, side), side**2)) == list(range(side**2))


def test_no_part_is_empty_while_there_are_cells() -> None:  # case 1
    for nparts in range(2, 65):
        sizes = np.bincount(partition_labels(quads(8, 8), nparts))
        assert len(sizes) == nparts
        assert sizes.min() >= 1


def test_more_parts_than_cells_are_an_error_with_both_numbers() -> None:  # case 2
    with pytest.raises(ValueError, match=r"5.*2"):
        partition(quads(2, 1), 5)


def test_empty_parts_that_were_asked_for_are_whole_objects() -> None:  # case 2
    parts = partition(quads(2, 1), 5, allow_empty=True)
    assert sorted(part.cells.n_owned for part in parts) == [0, 0, 0, 1, 1]
    full, empty = parts[0], parts[4]
    assert (empty.part, empty.nparts, empty.mesh.n_cells, empty.mesh.n_points) == (4, 5, 0, 0)
    assert (empty.cells.n_local, empty.points.n_owned, empty.points.n_ghost) == (0, 0, 0)
    assert empty.mesh.points.shape == (0, 2)
    assert empty.mesh.blocks[0].nodes.shape == (0, 4)
    assert arrays_of(empty).keys() == arrays_of(full).keys()
    for name, array in arrays_of(empty).items():
        assert array.dtype == arrays_of(full)[name].dtype
        assert len(array) == 0


def test_points_without_cells_are_one_part() -> None:  # case 3
    labels = partition_labels(no_cells(3), 1)
    assert (labels.shape, labels.dtype) == ((0,), np.int32)
    (part,) = partition(no_cells(3), 1)
    assert part.points.global_ids.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"nparts is 2, .* share out, 0;"):
        partition(no_cells(3), 2)


def test_one_part_is_the_whole_mesh() -> None:  # case 4
    mesh = quads_with_lines(3, 2)
    assert not partition_labels(mesh, 1).any()
    (part,) = partition(mesh, 1)
    assert part.mesh == mesh
    assert (part.cells.n_ghost, part.points.n_ghost) == (0, 0)
    assert part.cells.complete.all()
    assert part.points.complete.all()


def test_every_number_of_parts_up_to_the_number_of_cells_is_delivered() -> None:  # case 5
    for nparts in range(1, 35):
        assert np.unique(partition_labels(strip(34), nparts)).tolist() == list(range(nparts))
        assert len(partition(strip(34), nparts)) == nparts


def test_cells_without_a_common_point_are_balanced_and_have_no_ghosts() -> None:  # case 7
    parts = partition(separate(10), 3)
    assert sorted(part.cells.n_owned for part in parts) == [3, 3, 4]
    assert [part.points.n_ghost for part in parts] == [0, 0, 0]


def test_one_cell_more_than_parts_makes_one_part_of_two() -> None:  # case 8
    assert sorted(np.bincount(partition_labels(strip(40), 39))) == [1] * 38 + [2]


# -- odd cells and points -----------------------------------------------------------------------------------


def test_balance_counts_solids_and_their_triangles_follow() -> None:  # case 19
    labels = partition_labels(two_tets_with_triangles(), 2)
    assert sorted(labels[:2]) == [0, 1]
    assert labels[2:].tolist() == [labels[0]] * 3 + [labels[1]] * 3


@pytest.mark.parametrize("nparts", [1, 2, 3])
def test_cells_of_several_types_are_partitioned_alike(nparts: int) -> None:  # case 20
    assert np.bincount(partition_labels(meshes.hex_pyramid_tet(), nparts)).max() == -(-3 // nparts)


def test_a_collapsed_hexahedron_has_the_points_that_it_has() -> None:  # case 21
    mesh = meshes.collapsed_hex()
    cube, wedge = split(mesh, [0, 1])
    assert mesh.n_points == 10
    assert (cube.mesh.n_points, wedge.mesh.n_points) == (8, 6)
    assert wedge.points.global_ids[wedge.mesh.blocks[0].nodes].tolist() == [[1, 8, 8, 2, 5, 9, 9, 6]]
    assert (cube.points.n_owned, wedge.points.n_owned) == (8, 2)


@pytest.mark.parametrize("point", [4, -1])
def test_a_cell_with_a_point_that_is_not_there_is_refused_by_block_and_row(point: int) -> None:  # case 22
    cells = [("line", [[0, 1]]), ("triangle", [[0, 1, 2], [0, 2, point]])]
    with pytest.raises(MeshError, match=rf"block 1 \(triangle\), row 1: there is no point {point}\b.* 4 points"):
        Mesh(np.zeros((4, 2)), cells)
    with pytest.raises(MeshError, match="block 1"):
        partition_labels(meshio.Mesh(np.zeros((4, 2)), cells), 2)


def test_a_cell_that_is_listed_twice_counts_twice() -> None:  # case 23
    assert sorted(partition_labels(meshes.twice_the_same_quad(), 2)) == [0, 1]
    first, second = split(meshes.twice_the_same_quad(), [0, 1])
    assert (first.points.n_owned, second.points.n_owned) == (4, 0)


def test_a_hanging_node_is_no_trouble() -> None:  # case 24
    assert sorted(partition_labels(meshes.hanging_node(), 3)) == [0, 1, 2]


def test_coincident_points_are_not_merged() -> None:  # case 25
    mesh = meshes.coincident_points()
    parts = split(mesh, [0, 1])
    assert [part.points.global_ids.tolist() for part in parts] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_point_that_no_cell_uses_belongs_to_part_0() -> None:  # case 26
    mesh = meshes.with_unused_points(quads(2, 1))
    parts = partition(mesh, 2)
    assert 6 in parts[0].points.global_ids[: parts[0].points.n_owned]
    assert sorted(owned_points(parts)) == list(range(7))


# -- boundary, interface, what must stay together -----------------------------------------------------------


def alternating(problem: Any) -> Any:
    """Return labels that are as ragged as they can be."""
    return np.arange(problem.units.count) % problem.nparts


@pytest.mark.parametrize("method", ["auto", "sfc", alternating])
def test_a_boundary_line_never_lands_apart_from_its_cell(method: Any) -> None:  # case 29
    labels = partition_labels(quads_with_lines(4, 1), 2, method=method)
    quad_of_line = [0, 1, 2, 3, 3, 3, 2, 1, 0, 0]
    assert labels[4:].tolist() == labels[quad_of_line].tolist()


def test_a_point_set_goes_wherever_its_points_are() -> None:  # case 30
    sets = {"corner": [2], "shared": [4], "all": [5, 4, 3, 2, 1, 0]}
    mesh = Mesh(quads(2, 1).points, quads(2, 1).blocks, point_sets=sets)
    parts = split(mesh, [0, 1])
    in_sets = [
        {name: part.points.global_ids[rows].tolist() for name, rows in part.mesh.point_sets.items()} for part in parts
    ]
    assert in_sets == [
        {"corner": [], "shared": [4], "all": [4, 3, 1, 0]},
        {"corner": [2], "shared": [4], "all": [5, 4, 2, 1]},
    ]


# -- ownership ----------------------------------------------------------------------------------------------


def test_four_squares_of_four_own_9_6_6_and_4_points() -> None:  # case 35
    parts = split(quads(4, 4), TWO_BY_TWO)
    assert [part.points.n_owned for part in parts] == [9, 6, 6, 4]
    assert [part.points.n_local for part in parts] == [9, 9, 9, 9]
    assert parts[3].points.ghost_owners.tolist() == [0, 1, 1, 2, 2]


@pytest.mark.parametrize("only", [[0], [3, 1], [2, 2]])
def test_what_a_part_owns_does_not_depend_on_which_parts_are_built(only: list[int]) -> None:  # case 39
    parts = split(quads(4, 4), TWO_BY_TWO)
    for part in split(quads(4, 4), TWO_BY_TWO, only=only):
        assert part.cells.global_ids.tolist() == parts[part.part].cells.global_ids.tolist()
        assert part.points.global_ids.tolist() == parts[part.part].points.global_ids.tolist()
        assert part.points.n_owned == parts[part.part].points.n_owned


def test_every_local_row_has_a_global_id_and_the_point_of_the_input() -> None:  # case 43
    mesh = meshes.tets(2, 2, 1)
    for part in partition(mesh, 3):
        assert part.cells.global_ids.dtype == part.points.global_ids.dtype == np.int64
        assert len(part.points.global_ids) == part.points.n_local == part.mesh.n_points
        np.testing.assert_array_equal(mesh.points[part.points.global_ids], part.mesh.points)


# -- data kept ----------------------------------------------------------------------------------------------


def test_labels_and_owned_cells_follow_the_order_of_the_input() -> None:  # case 44
    mesh = meshes.interleaved()
    labels = partition_labels(mesh, 3)
    for part in partition(mesh, 3):
        assert part.cells.global_ids.tolist() == np.flatnonzero(labels == part.part).tolist()


def test_a_cell_keeps_the_order_of_its_nodes() -> None:  # case 44
    shuffled = np.random.default_rng(0).permutation(27 * 2).reshape(2, 27)
    mesh = Mesh(np.random.default_rng(1).random((54, 3)), [("hexahedron27", shuffled)])
    for part in split(mesh, [1, 0]):
        rows = part.points.global_ids[part.mesh.blocks[0].nodes]
        assert rows.tolist() == shuffled[part.cells.global_ids].tolist()


def test_owned_cells_and_points_are_each_owned_once() -> None:  # case 45
    mesh = meshes.tets(2, 2, 2)
    parts = partition(mesh, 7)
    assert sorted(np.concatenate([part.cells.global_ids[: part.cells.n_owned] for part in parts])) == list(range(48))
    assert sorted(owned_points(parts)) == list(range(27))


def test_a_cell_set_over_several_blocks_holds_rows_of_each_block() -> None:  # case 47
    low, high = split(meshes.two_and_two(), [0, 0, 1, 1])
    assert as_lists(low.mesh.cell_sets["A"]) == [[0], []]
    assert as_lists(high.mesh.cell_sets["A"]) == [[], [1]]


def test_bounding_entities_of_gmsh_are_not_taken_for_cells() -> None:  # case 47
    mesh = meshio.Mesh(quads(2, 1).points, [("quad", quads(2, 1).blocks[0].nodes), ("line", [[0, 1]])])
    mesh.cell_sets["gmsh:bounding_entities"] = [np.array([-7, 12]), None]
    for part in partition(mesh, 2):
        assert not part.mesh.cell_sets
        assert part.mesh.block_data["gmsh:bounding_entities"][0].tolist() == [-7, 12]


def test_a_cell_in_several_sets_stays_in_all_of_them() -> None:  # case 48
    first, second = split(meshes.overlapping_sets(), [0, 0, 1])
    assert {name: as_lists(rows) for name, rows in first.mesh.cell_sets.items()} == {"A": [[0, 1]], "B": [[1]]}
    assert {name: as_lists(rows) for name, rows in second.mesh.cell_sets.items()} == {"A": [[]], "B": [[0]]}


@pytest.mark.parametrize("nparts", [1, 2, 3, 8])
def test_cell_data_stays_with_its_cells_in_interleaved_blocks(nparts: int) -> None:  # case 49
    mesh = meshes.interleaved()
    number = np.split(np.arange(8), mesh.block_starts[1:-1])
    for part in partition(Mesh(mesh.points, mesh.blocks, cell_data={"number": number}), nparts):
        # Owned cells ascend, and so do the blocks: block after block is the local order here.
        assert np.concatenate(part.mesh.cell_data["number"]).tolist() == part.cells.global_ids.tolist()


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f2", "f4", "f8", "?", "c16", "U3", "S5"])
@pytest.mark.parametrize("shape", [(), (3,), (3, 3), (0,)])
def test_data_keep_their_dtype_and_shape(dtype: str, shape: tuple[int, ...]) -> None:  # cases 50, 51
    values = np.random.default_rng(0).integers(0, 2, (6, *shape)).astype(dtype)
    mesh = Mesh(quads(2, 1).points, quads(2, 1).blocks, point_data={"p": values}, cell_data={"c": [values[:2]]})
    for part in partition(mesh, 2):
        in_points, (in_cells,) = part.mesh.point_data["p"], part.mesh.cell_data["c"]
        assert in_points.dtype == in_cells.dtype == values.dtype
        np.testing.assert_array_equal(in_points, values[part.points.global_ids])
        np.testing.assert_array_equal(in_cells, values[part.cells.global_ids])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_keep_their_dimension(dim: int) -> None:  # case 52
    points = np.zeros((9, dim), np.float32)
    points[:, : min(dim, 2)] = quads(2, 2).points[:, :dim]
    for part in partition(Mesh(points, quads(2, 2).blocks), 2):
        assert part.mesh.points.shape == (part.points.n_local, dim)
        assert part.mesh.points.dtype == np.float32


@pytest.mark.parametrize(
    "mesh", [meshes.polygons(), meshes.two_cube_polyhedra(), meshes.polyhedron_under_pyramid()], ids=repr
)
def test_polygons_and_polyhedra_are_partitioned(mesh: Mesh) -> None:  # case 53
    labels = partition_labels(mesh, mesh.n_cells)
    assert sorted(labels) == list(range(mesh.n_cells))
    for part in partition(mesh, mesh.n_cells):
        (cell,) = part.cells.global_ids
        assert labels[cell] == part.part
        assert part.points.global_ids[part.mesh.cell_points].tolist() == points_of(mesh, cell)


@pytest.mark.parametrize(("type_", "n_points", "n_corners"), [("wedge15", 15, 6), ("pyramid13", 13, 5)])
def test_cells_that_meshio_cannot_hold_are_partitioned_by_their_corners(
    type_: str, n_points: int, n_corners: int
) -> None:  # case 54
    points = np.full((4 * n_points, 3), 1e6)  # where mid-side points would pull the cells together
    rows = np.arange(4 * n_points).reshape(4, n_points)
    for place, row in zip([2.0, 0.0, 3.0, 1.0], rows, strict=True):
        points[row[:n_corners]] = place
    labels = partition_labels(Mesh(points, [(type_, rows)]), 4, method="sfc")
    assert labels.tolist() in ([2, 0, 3, 1], [1, 3, 0, 2])  # along the line, from one end or the other


def test_blocks_of_one_type_stay_apart_in_every_part() -> None:  # cases 12 and 56
    rows = quads(6, 1).blocks[0].nodes
    blocks = [CellBlock("quad", rows[:2], tags=("steel",)), ("quad", rows[2:4]), ("quad", rows[4:])]
    for part in split(Mesh(quads(6, 1).points, blocks), [0, 0, 1, 1, 0, 1]):
        assert [block.type for block in part.mesh.blocks] == ["quad"] * 3
        assert [len(block) for block in part.mesh.blocks] == ([2, 0, 1] if part.part == 0 else [0, 2, 1])
        assert part.mesh.blocks[0].tags == ("steel",)


def test_block_order_is_the_same_in_all_parts() -> None:  # case 66
    mesh = meshes.interleaved()
    for part in partition(mesh, 5):
        assert [block.type for block in part.mesh.blocks] == [block.type for block in mesh.blocks]


# -- helpers ------------------------------------------------------------------------------------------------


def arrays_of(part: SubMesh) -> dict[str, np.ndarray]:
    """Return the arrays that say who is in a part."""
    return {
        "points": part.mesh.points,
        "nodes": part.mesh.blocks[0].nodes,
        "cells.global_ids": part.cells.global_ids,
        "cells.complete": part.cells.complete,
        "cells.ghost_owners": part.cells.ghost_owners,
        "cells.kind": part.cells.kind,
        "points.global_ids": part.points.global_ids,
        "points.complete": part.points.complete,
    }


def owned_points(parts: list[SubMesh]) -> list[int]:
    """Return the global ids of the points that parts own, part after part."""
    return [int(point) for part in parts for point in part.points.global_ids[: part.points.n_owned]]


def as_lists(rows: list[np.ndarray]) -> list[list[int]]:
    """Return the rows of a set, block by block."""
    return [of_block.tolist() for of_block in rows]


def points_of(mesh: Mesh, cell: int) -> list[int]:
    """Return the points of a cell."""
    return mesh.cell_points[mesh.cell_offsets[cell] : mesh.cell_offsets[cell + 1]].tolist()
