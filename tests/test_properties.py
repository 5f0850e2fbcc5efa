"""What holds of every mesh and every labelling: properties and the slow reference, on random input."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import event, given
from hypothesis import strategies as st
from labelled import LabelledMesh, labelled
from meshes import grid_meshes, labels_of, meshes, mixed_meshes

from meshpart import Mesh, Periodic, dual_graph, partition, partition_labels, quality, split
from meshpart.arrays import same


@st.composite
def carrying(draw: st.DrawFn) -> Mesh:
    """Draw a mesh with data, sets and periodic pairs."""
    mesh = draw(meshes())
    n_points, sizes = mesh.n_points, [len(block) for block in mesh.blocks]

    def members(count: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.integers(0, count - 1), max_size=8) if count else st.just([])

    dtype = draw(st.sampled_from([np.int8, np.uint64, np.float32, np.bool_, np.dtype("U3"), np.dtype(object)]))
    shape = draw(st.sampled_from([(), (2,), (3, 3)]))
    width = int(np.prod(shape, dtype=int))
    pairs = draw(members(n_points)) if n_points else []
    return replace(
        mesh,
        point_data={"p": np.arange(n_points * width).reshape(n_points, *shape).astype(dtype)},
        cell_data={"c": [np.arange(size * width).reshape(size, *shape).astype(dtype) for size in sizes]},
        point_sets={name: draw(members(n_points)) for name in ("one", "two")},
        cell_sets={name: [draw(members(size)) for size in sizes] for name in ("one", "two")},
        periodic=(Periodic(1, (2, 1), np.eye(4), np.array([[a, b] for a, b in zip(pairs, pairs[::-1], strict=True)])),),
    )


# -- kinds and parents --------------------------------------------------------------------------------------


@given(mixed_meshes())
def test_kinds_and_parents_are_those_found_by_comparing_all_pairs_of_cells(mesh: Mesh) -> None:
    kinds, parents = reference.kinds_and_parents(mesh)
    found = mesh.attachment
    rows = np.split(found.parents, found.parent_offsets[1:-1])
    event(f"attached cells: {bool(parents)}, free cells: {reference.FREE in kinds}")
    assert mesh.kinds.tolist() == kinds
    assert {c: rows[row].tolist() for c, row in zip(found.cells.tolist(), found.rows.tolist(), strict=True)} == parents


@given(meshes())
def test_attached_cells_are_listed_by_falling_dimension_and_then_by_id(mesh: Mesh) -> None:
    dims = [kind.dim for kind in reference.types_of(mesh)]
    cells = mesh.attachment.cells.tolist()
    assert cells == sorted(cells, key=lambda cell: (-dims[cell], cell))


@given(grid_meshes(), st.integers(1, 4))
def test_attached_cells_have_the_lowest_label_among_their_parents(mesh: Mesh, nparts: int) -> None:
    labels = partition_labels(mesh, nparts, allow_empty=True)
    assert labels.tolist() == reference.with_attached(mesh, labels)


# -- parts --------------------------------------------------------------------------------------------------

LAYERS = st.sampled_from([0, 1, 2, 3, 99])


@given(labelled(), LAYERS)
def test_parts_are_those_found_by_brute_force(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    expected = reference.parts_of(mesh, labels, range(nparts), ghost_layers)
    event(f"most layers: {max((max(part.cell_layers, default=0) for part in expected), default=0)}")
    assert [part.part for part in parts] == list(range(nparts))
    assert all(part.ghost_layers == ghost_layers for part in parts)
    for part, other in zip(parts, expected, strict=True):
        assert reference.seen(part) == other


@given(labelled(), LAYERS)
def test_plans_are_what_others_hold_of_ones_own(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    expected = reference.parts_of(mesh, labels, range(nparts), ghost_layers)
    of_cells = reference.plans([part.cells for part in expected], labels)
    of_points = reference.plans([part.points for part in expected], reference.point_owners(mesh, labels))
    assert [reference.seen_plan(part.cells, part.cell_halo) for part in parts] == of_cells
    assert [reference.seen_plan(part.points, part.point_halo) for part in parts] == of_points
    for part in parts:
        for plan in (part.cell_halo, part.point_halo):
            assert plan.neighbours.dtype == np.int32
            assert plan.send_offsets.dtype == plan.send_indices.dtype == plan.recv_offsets.dtype == np.int64
            assert len(plan.neighbours) == len(plan.send_offsets) - 1 == len(plan.recv_offsets) - 1


@given(labelled(), LAYERS)
def test_what_one_part_sends_is_what_the_other_receives(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    for entity in ("cell", "point"):
        maps = [getattr(part, f"{entity}s") for part in parts]
        plans = [
            reference.seen_plan(ids, getattr(part, f"{entity}_halo")) for ids, part in zip(maps, parts, strict=True)
        ]
        for number, (ids, plan) in enumerate(zip(maps, plans, strict=True)):
            assert list(plan) == sorted(plan.keys() - {number})
            for neighbour, (sent, received) in plan.items():
                assert plans[neighbour][number] == (received, sent)
                assert sent == sorted(set(sent))
                assert sent or received
                assert set(sent) <= set(ids.global_ids[: ids.n_owned].tolist())
            everything = [entry for _, received in plan.values() for entry in received]
            assert everything == ids.global_ids[ids.n_owned :].tolist()


@given(labelled(), LAYERS)
def test_owned_cells_tile_the_cells_and_owned_points_the_points(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    cells = np.concatenate([part.cells.global_ids[: part.cells.n_owned] for part in parts])
    points = np.concatenate([part.points.global_ids[: part.points.n_owned] for part in parts])
    assert sorted(cells) == list(range(mesh.n_cells))
    assert sorted(points) == list(range(mesh.n_points))


@given(labelled(), LAYERS)
def test_what_a_part_owns_does_not_depend_on_its_layers(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    for part, other in zip(
        split(mesh, labels, nparts), split(mesh, labels, nparts, ghost_layers=ghost_layers), strict=True
    ):
        for ids, more in ((part.cells, other.cells), (part.points, other.points)):
            assert more.global_ids[: more.n_owned].tolist() == ids.global_ids[: ids.n_owned].tolist()


@given(labelled(), LAYERS)
def test_rows_below_the_last_layer_are_complete(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    for part in split(mesh, labels, nparts, ghost_layers=ghost_layers):
        assert part.cells.complete[part.cells.layers() < ghost_layers].all()
        assert part.points.complete[part.points.layers() < ghost_layers].all()


@given(labelled())
def test_ghosts_of_one_layer_are_the_communication_volume_of_shared_points(case: LabelledMesh) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts, ghost_layers=1)
    n_ghosts = [part.cells.n_ghost for part in parts]
    told = quality(mesh, labels, nparts)
    assert n_ghosts == told.part_ghosts.tolist()
    assert [len(part.cell_halo.neighbours) for part in parts] == told.part_neighbours.tolist()
    # A cell is a ghost of every other part that it shares a point with: attached cells too, which no graph has.
    meeting = {(cell, int(labels[other])) for on in reference.cells_on_points(mesh) for cell in on for other in on}
    assert sum(n_ghosts) == sum(labels[cell] != part for cell, part in meeting)
    if (mesh.kinds != reference.ATTACHED).all():
        graph = dual_graph(mesh, adjacency="point")
        rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.offsets))
        assert sum(n_ghosts) == len(
            {(a, b) for a, b in zip(rows, labels[graph.targets], strict=True) if labels[a] != b}
        )


@given(labelled(), st.integers(0, 4))
def test_one_layer_more_is_one_layer_of_all_that_was_there(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    fewer = split(mesh, labels, nparts, ghost_layers=ghost_layers)
    more = split(mesh, labels, nparts, ghost_layers=ghost_layers + 1)
    for part, other in zip(fewer, more, strict=True):
        grown = np.array(labels)
        grown[part.cells.global_ids] = part.part
        (around,) = split(mesh, grown, nparts, ghost_layers=1, only=[part.part])
        last = other.cells.layers() == ghost_layers + 1
        assert sorted(other.cells.global_ids[last]) == sorted(around.cells.global_ids[around.cells.n_owned :])
        assert sorted(other.cells.global_ids[~last]) == sorted(part.cells.global_ids)


@given(labelled(), LAYERS)
def test_rows_of_blocks_and_the_local_order_are_turned_into_each_other(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    for part in split(mesh, labels, nparts, ghost_layers=ghost_layers):
        ids = part.cells.global_ids
        rows = [part.cell_rows(block) for block in range(len(part.mesh.blocks))]
        for block, (own, locals_) in enumerate(zip(part.mesh.blocks, rows, strict=True)):
            first, last = mesh.block_starts[block : block + 2]
            assert locals_.dtype == np.int64
            assert locals_.tolist() == np.flatnonzero((ids >= first) & (ids < last)).tolist()
            assert len(own) == len(locals_)
        by_block = part.to_blocks(ids)
        assert [of_block.tolist() for of_block in by_block] == [ids[locals_].tolist() for locals_ in rows]
        assert part.to_local(by_block).tolist() == ids.tolist()


@given(labelled(), LAYERS)
def test_the_mesh_of_every_part_passes_the_door(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    for part in split(mesh, labels, nparts, ghost_layers=ghost_layers):
        assert replace(part.mesh) == part.mesh
        assert [replace(block) for block in part.mesh.blocks] == list(part.mesh.blocks)
        assert [block.type for block in part.mesh.blocks] == [block.type for block in mesh.blocks]


@given(carrying(), st.data(), LAYERS)
def test_all_parts_together_hold_all_that_the_mesh_holds(mesh: Mesh, data: st.DataObject, ghost_layers: int) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    before = pickle.loads(pickle.dumps(mesh))
    assert reference.merged(mesh, split(mesh, labels, nparts, ghost_layers=ghost_layers)) == reference.facts(mesh)
    assert mesh == before


@given(carrying(), st.data(), LAYERS)
def test_every_local_row_is_in_the_sets_that_it_is_in(mesh: Mesh, data: st.DataObject, ghost_layers: int) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    for part in split(mesh, labels, nparts, ghost_layers=ghost_layers):
        points, cells = set(part.points.global_ids.tolist()), set(part.cells.global_ids.tolist())
        for name, members in mesh.point_sets.items():
            here = [rank for rank, member in enumerate(members.tolist()) if member in points]
            assert part.point_set_positions[name].tolist() == here
        for name, sets in mesh.cell_sets.items():
            for block, (first, members) in enumerate(zip(mesh.block_starts, sets, strict=False)):
                here = [rank for rank, member in enumerate(members.tolist()) if first + member in cells]
                assert part.cell_set_positions[name][block].tolist() == here


@given(carrying(), st.data(), LAYERS)
def test_some_parts_are_the_same_as_among_all(mesh: Mesh, data: st.DataObject, ghost_layers: int) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    only = data.draw(st.lists(st.integers(0, nparts - 1), max_size=4))
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers, threads=1)
    some = split(mesh, labels, nparts, ghost_layers=ghost_layers, only=only, threads=4)
    assert same(some, [parts[number] for number in only])


@given(labelled(), LAYERS)
def test_parts_one_by_one_are_the_same_as_all(case: LabelledMesh, ghost_layers: int) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts, ghost_layers=ghost_layers, threads=4)
    for number in range(nparts):
        assert same(split(mesh, labels, nparts, ghost_layers=ghost_layers, only=[number], threads=1), [parts[number]])


@given(labelled(), st.data())
def test_renaming_the_parts_renames_the_owners_of_cells(case: LabelledMesh, data: st.DataObject) -> None:
    mesh, labels, nparts = case
    renamed = np.array(data.draw(st.permutations(range(nparts))))
    parts, others = split(mesh, labels, nparts), split(mesh, renamed[labels], nparts)
    for part in parts:
        other = others[renamed[part.part]]
        assert other.cells.global_ids.tolist() == part.cells.global_ids.tolist()
        assert other.cells.complete.tolist() == part.cells.complete.tolist()
        used = [set(p.points.global_ids[p.mesh.cell_points].tolist()) for p in (part, other)]
        assert used[0] == used[1]


@given(carrying(), st.integers(1, 4), LAYERS)
def test_partition_splits_along_its_labels(mesh: Mesh, nparts: int, ghost_layers: int) -> None:
    for method in ("kahip", "sfc"):
        labels = partition_labels(mesh, nparts, method=method, allow_empty=True)
        parts = partition(mesh, nparts, method=method, allow_empty=True, ghost_layers=ghost_layers)
        assert len(parts) == nparts
        for part, other in zip(parts, split(mesh, labels, nparts, ghost_layers=ghost_layers), strict=True):
            assert same(replace(part, provenance=other.provenance), other)


# -- meshes -------------------------------------------------------------------------------------------------


@given(carrying())
def test_a_mesh_survives_pickling_and_being_made_again(mesh: Mesh) -> None:
    assert pickle.loads(pickle.dumps(mesh)) == mesh
    assert replace(mesh) == mesh


@given(carrying())
def test_a_mesh_comes_back_from_meshio_as_it_went(mesh: Mesh) -> None:
    ragged = [block for block in mesh.blocks if block.type == "polygon" and len(set(block.row_lengths())) > 1]
    if ragged:
        with pytest.raises(ValueError, match="a meshio block holds polygons of one size"):
            mesh.to_meshio()
    else:
        assert Mesh.from_meshio(mesh.to_meshio()) == mesh


@given(meshes())
def test_the_flat_view_lists_the_points_of_every_cell(mesh: Mesh) -> None:
    rows = reference.rows_of(mesh)
    assert np.diff(mesh.cell_offsets).tolist() == [len(row) for row in rows]
    assert mesh.cell_points.tolist() == [point for row in rows for point in row]
