"""Cases 35 to 56 again, as reported of halos and of what ghosts carry; the others are in test_cases.py.

The number beside a test is that of the case.
"""

from __future__ import annotations

import meshes
import numpy as np
import pytest
import reference
from meshes import QUARTERS, cubes, quads, separate, strip

from meshpart import CellBlock, Mesh, SubMesh, exchange, partition, quality, split

# Q(4, 4) in four squares: parts 0 1 below and 2 3 above


def ghosts_of(part: SubMesh) -> dict[int, set[int]]:
    """Return the ghost cells of each layer as global ids."""
    ids, layers = part.cells.global_ids.tolist(), part.cells.layers().tolist()
    return {layer: {i for i, own in zip(ids, layers, strict=True) if own == layer} for layer in sorted({*layers} - {0})}


def apart(n_cells: int, cell: int) -> list[int]:
    """Return labels of one cell in part 1 and all others in part 0."""
    return [int(other == cell) for other in range(n_cells)]


def names(part: SubMesh, rows: np.ndarray) -> list[int]:
    """Return local ids of cells as global ids."""
    return part.cells.global_ids[rows].tolist()


# -- halo and ownership -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ghost_layers", [0, 1, 2, 3])
def test_four_squares_have_5_ghosts_and_7_more_in_the_second_layer(ghost_layers: int) -> None:  # case 35
    # part 0 owns cells 0 1 4 5; 2 6 8 9 10 are around them, 3 7 11 12 13 14 15 are left
    parts = split(quads(4, 4), QUARTERS, ghost_layers=ghost_layers)
    for part in parts:
        assert [len(cells) for cells in ghosts_of(part).values()] == [5, 7][:ghost_layers]
    assert ghosts_of(parts[0]) == dict(list({1: {2, 6, 8, 9, 10}, 2: {3, 7, *range(11, 16)}}.items())[:ghost_layers])
    # 3 x 3 points in part 0, 2 x 3 and 3 x 2 beside and above, 2 x 2 in the corner: 25
    assert [part.points.n_owned for part in parts] == [9, 6, 6, 4]
    # 3 x 3 local points; one layer more: 4 x 4, all 5 x 5 with two
    assert [part.points.n_local for part in parts] == [[9] * 4, [16] * 4, [25] * 4, [25] * 4][ghost_layers]


def test_a_point_that_is_local_is_on_a_local_cell() -> None:  # case 35
    for layers in (0, 1, 2):
        for part in split(quads(4, 4), QUARTERS, ghost_layers=layers):
            assert set(part.mesh.cell_points.tolist()) == set(range(part.points.n_local))


def test_ghosts_are_found_across_corners() -> None:  # case 36
    # Q(3, 3), cell 0: 1 beside, 3 above, 4 across the corner
    assert ghosts_of(split(quads(3, 3), apart(9, 0), ghost_layers=1)[1]) == {1: {1, 3, 4}}
    # 3 x 3 x 3 cubes: 26 around the one in the middle, number 13; 7 around a corner, and the 19 others
    centre = split(cubes(3, 3, 3), apart(27, 13), ghost_layers=1)[1]
    assert ghosts_of(centre) == {1: set(range(27)) - {13}}
    corner = split(cubes(3, 3, 3), apart(27, 0), ghost_layers=2)[1]
    assert {layer: len(cells) for layer, cells in ghosts_of(corner).items()} == {1: 7, 2: 19}
    assert ghosts_of(corner)[1] == {1, 3, 4, 9, 10, 12, 13}


@pytest.mark.parametrize(
    ("ghost_layers", "expected"),
    [
        (0, {}),
        (1, {1: {2, 4}}),
        (2, {1: {2, 4}, 2: {1, 5}}),
        (3, {1: {2, 4}, 2: {1, 5}, 3: {0, 6}}),
        (99, {1: {2, 4}, 2: {1, 5}, 3: {0, 6}}),
    ],
)
def test_any_number_of_layers_each_with_its_number(ghost_layers: int, expected: dict[int, set[int]]) -> None:  # case 37
    part = split(strip(7), apart(7, 3), ghost_layers=ghost_layers)[1]
    assert ghosts_of(part) == expected
    assert part.cells.ghost_layers.dtype == np.int32


def test_parts_that_touch_nobody_have_empty_lists() -> None:  # case 38
    for part in partition(separate(2), 2, ghost_layers=2):
        assert (part.cells.n_ghost, part.points.n_ghost) == (0, 0)
        assert part.cell_halo.neighbours.tolist() == part.point_halo.neighbours.tolist() == []


@pytest.mark.parametrize("ghost_layers", [0, 1, 2])
def test_owned_ids_are_the_same_with_any_layers(ghost_layers: int) -> None:  # case 39
    parts = split(quads(4, 4), QUARTERS, ghost_layers=ghost_layers)
    cells = [part.cells.global_ids[: part.cells.n_owned].tolist() for part in parts]
    points = [part.points.global_ids[: part.points.n_owned].tolist() for part in parts]
    assert cells == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    # the middle column 2 7 12 17 22 and the middle row 10 11 12 13 14 are ties
    assert points == [[0, 1, 2, 5, 6, 7, 10, 11, 12], [3, 4, 8, 9, 13, 14], [15, 16, 17, 20, 21, 22], [18, 19, 23, 24]]


@pytest.mark.parametrize("ghost_layers", [0, 1, 2])
def test_nothing_is_sent_twice_and_both_sides_agree(ghost_layers: int) -> None:  # case 40
    parts = split(quads(4, 4), QUARTERS, ghost_layers=ghost_layers)
    owners = {"cell": QUARTERS, "point": reference.point_owners(quads(4, 4), QUARTERS)}
    for entity in ("cell", "point"):
        plans = [reference.seen_plan(getattr(part, f"{entity}s"), getattr(part, f"{entity}_halo")) for part in parts]
        for q, plan in enumerate(plans):
            for p, (sent, received) in plan.items():
                assert plans[p][q] == (received, sent)
                assert sent == sorted(set(sent))
                assert {owners[entity][i] for i in received} <= {p}
    if ghost_layers == 1:  # parts 0 and 3 meet in the middle point only, with cells 5 and 10
        cells = reference.seen_plan(parts[0].cells, parts[0].cell_halo)
        assert cells == {1: ([1, 5], [2, 6]), 2: ([4, 5], [8, 9]), 3: ([5], [10])}


def test_sums_over_owned_cells_count_each_once() -> None:  # case 41
    parts = split(quads(4, 4), QUARTERS, ghost_layers=2)
    total, area = 0, 0.0
    for part in parts:
        corners = part.mesh.points[part.mesh.blocks[0].nodes]
        areas = part.to_local([np.prod(corners[:, 2] - corners[:, 0], axis=1)])
        mask = part.cells.layers() == 0
        assert mask.tolist() == [True] * part.cells.n_owned + [False] * part.cells.n_ghost
        assert len(areas) == part.cells.n_local == 16
        total += mask.sum()
        area += areas[: part.cells.n_owned].sum()
    assert (total, area) == (16, 16.0)


def test_the_report_tells_the_ghosts_of_each_part() -> None:  # case 42
    told = quality(quads(4, 4), QUARTERS)
    parts = split(quads(4, 4), QUARTERS, ghost_layers=1)
    assert (told.part_ghosts / told.part_cells).tolist() == [1.25] * 4  # 5 of 4
    assert [part.cells.n_ghost / part.cells.n_owned for part in parts] == [1.25] * 4


@pytest.mark.parametrize("ghost_layers", [0, 1, 2])
def test_every_local_row_has_a_global_id_and_the_point_of_the_input(ghost_layers: int) -> None:  # case 43
    mesh = meshes.tets(2, 2, 1)
    for part in partition(mesh, 3, ghost_layers=ghost_layers):
        assert part.cells.global_ids.dtype == part.points.global_ids.dtype == np.int64
        assert len(part.points.global_ids) == part.points.n_local == part.mesh.n_points
        assert len(part.cells.global_ids) == part.cells.n_local == part.mesh.n_cells
        np.testing.assert_array_equal(mesh.points[part.points.global_ids], part.mesh.points)


# -- data kept ----------------------------------------------------------------------------------------------


def test_ghosts_keep_the_order_of_their_nodes() -> None:  # case 44
    shuffled = np.random.default_rng(0).permutation(27 * 2).reshape(2, 27)
    shuffled[1, 13] = shuffled[0, 26]  # the last node of cell 0 lies amid those of cell 1
    mesh = Mesh(np.random.default_rng(1).random((54, 3)), [("hexahedron27", shuffled)])
    for part in split(mesh, [1, 0], ghost_layers=1):
        rows = part.points.global_ids[part.mesh.blocks[0].nodes]
        assert part.cells.global_ids.tolist() == [1 - part.part, part.part]
        assert rows.tolist() == shuffled[part.cells.global_ids].tolist()


def test_a_cell_set_over_several_blocks_holds_ghosts_by_their_rows() -> None:  # case 47
    # triangles 0 1 are part 0's, quads 2 3 part 1's; A = cells 0 and 3. Quad 3 touches no triangle.
    low, high = split(meshes.two_and_two(), [0, 0, 1, 1], ghost_layers=1)
    assert (low.cells.global_ids.tolist(), high.cells.global_ids.tolist()) == ([0, 1, 2], [2, 3, 0, 1])
    assert [rows.tolist() for rows in low.mesh.cell_sets["A"]] == [[0], []]
    assert [rows.tolist() for rows in high.mesh.cell_sets["A"]] == [[0], [1]]


def test_a_ghost_in_several_sets_stays_in_all_of_them() -> None:  # case 48
    # A = cells 0 1, B = cells 1 2; part 1 owns cell 2 and has cell 1 as a ghost, and so the rows 0 and 1
    first, second = split(meshes.overlapping_sets(), [0, 0, 1], ghost_layers=1)
    assert {name: names(first, rows) for name, (rows,) in first.mesh.cell_sets.items()} == {"A": [0, 1], "B": [1, 2]}
    assert {name: rows.tolist() for name, (rows,) in second.mesh.cell_sets.items()} == {"A": [1], "B": [1, 0]}
    # left = points 0 4 5 1, low = 3 2 1 0; part 1's cells have 1 2 3 5 6 7
    left, low = (second.points.global_ids[second.mesh.point_sets[name]].tolist() for name in ("left", "low"))
    assert (left, low) == ([5, 1], [3, 2, 1])


@pytest.mark.parametrize("ghost_layers", [1, 2, 9])
@pytest.mark.parametrize("nparts", [2, 3, 8])
def test_cell_data_of_ghosts_stay_with_them_in_interleaved_blocks(nparts: int, ghost_layers: int) -> None:  # case 49
    mesh = meshes.interleaved()
    number = np.split(np.arange(8), mesh.block_starts[1:-1])
    mesh = Mesh(mesh.points, mesh.blocks, cell_data={"number": number})
    out_of_order = False
    for part in split(mesh, np.arange(8) * 5 % nparts, nparts, ghost_layers=ghost_layers):
        ids = part.cells.global_ids.tolist()
        in_blocks = np.concatenate(part.mesh.cell_data["number"]).tolist()
        assert part.to_local(part.mesh.cell_data["number"]).tolist() == ids
        assert [values.tolist() for values in part.to_blocks(ids)] == [
            values.tolist() for values in part.mesh.cell_data["number"]
        ]
        out_of_order |= in_blocks != ids
    assert out_of_order  # block after block is not the local order


@pytest.mark.parametrize("dtype", ["i1", "u2", "u8", "f2", "f4", "?", "c16", "U3", "O"])
@pytest.mark.parametrize("shape", [(), (3,), (3, 3), (0,)])
def test_data_of_ghosts_keep_their_dtype_and_shape(dtype: str, shape: tuple[int, ...]) -> None:  # cases 50, 51
    values = np.random.default_rng(0).integers(0, 2, (8, *shape)).astype(dtype)
    mesh = Mesh(strip(3).points, strip(3).blocks, point_data={"p": values}, cell_data={"c": [values[:3]]})
    for part in split(mesh, [0, 1, 1], ghost_layers=1):
        in_points, (in_cells,) = part.mesh.point_data["p"], part.mesh.cell_data["c"]
        assert in_points.dtype == in_cells.dtype == values.dtype
        np.testing.assert_array_equal(in_points, values[part.points.global_ids])
        np.testing.assert_array_equal(in_cells, values[part.cells.global_ids])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_of_ghosts_keep_their_dimension(dim: int) -> None:  # case 52
    points = np.random.default_rng(0).random((9, dim), np.float32)
    for part in split(Mesh(points, quads(2, 2).blocks), [0, 1, 2, 3], ghost_layers=1):
        assert part.mesh.points.dtype == np.float32
        np.testing.assert_array_equal(part.mesh.points, points[part.points.global_ids])


@pytest.mark.parametrize(
    "mesh", [meshes.polygons(), meshes.two_cube_polyhedra(), meshes.polyhedron_under_pyramid()], ids=repr
)
def test_polygons_and_polyhedra_are_ghosts_with_their_faces(mesh: Mesh) -> None:  # case 53
    parts = split(mesh, np.arange(mesh.n_cells), ghost_layers=1)
    assert [part.cells.n_ghost for part in parts] == [mesh.n_cells - 1] * mesh.n_cells  # all share a point with all
    assert reference.merged(mesh, parts) == reference.facts(mesh)


@pytest.mark.parametrize(("type_", "n_points"), [("wedge15", 15), ("pyramid13", 13)])
def test_cells_that_meshio_cannot_hold_are_ghosts_by_their_mid_side_points(
    type_: str, n_points: int
) -> None:  # case 54
    rows = np.arange(2 * n_points).reshape(2, n_points)
    rows[1, -1] = rows[0, -1]  # one mid-side point in common
    parts = split(Mesh(np.zeros((2 * n_points, 3)), [(type_, rows)]), [0, 1], ghost_layers=1)
    assert [ghosts_of(part) for part in parts] == [{1: {1}}, {1: {0}}]


def test_blocks_of_one_type_stay_apart_among_ghosts() -> None:  # cases 12 and 56
    rows = quads(6, 1).blocks[0].nodes
    blocks = [CellBlock("quad", rows[:2], tags=("steel",)), ("quad", rows[2:4]), ("quad", rows[4:])]
    zero, one = split(Mesh(quads(6, 1).points, blocks), [0, 0, 0, 0, 0, 1], ghost_layers=1)
    assert [len(block) for block in zero.mesh.blocks] == [2, 2, 2]
    assert [len(block) for block in one.mesh.blocks] == [0, 0, 2]  # cell 5, and cell 4 as a ghost
    assert one.mesh.blocks[0].tags == ("steel",)
    assert one.points.global_ids[one.mesh.blocks[2].nodes].tolist() == [[5, 6, 13, 12], [4, 5, 12, 11]]


def test_values_of_owned_rows_reach_all_ghosts() -> None:  # cases 41 and 43
    parts = split(quads(4, 4), QUARTERS, ghost_layers=2)
    local = exchange(parts, [part.points.global_ids[: part.points.n_owned] ** 2 for part in parts], "points")
    for part, values in zip(parts, local, strict=True):
        assert values.tolist() == (part.points.global_ids**2).tolist()
