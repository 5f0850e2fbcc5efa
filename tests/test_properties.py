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

from meshpart import Mesh, Periodic, partition, partition_labels, split
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


@given(labelled())
def test_parts_are_those_found_by_brute_force(case: LabelledMesh) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts)
    assert len(parts) == nparts
    for part in parts:
        assert reference.seen(part) == reference.part_of(mesh, labels, part.part)


@given(labelled())
def test_owned_cells_tile_the_cells_and_owned_points_the_points(case: LabelledMesh) -> None:
    mesh, labels, nparts = case
    parts = split(mesh, labels, nparts)
    cells = np.concatenate([part.cells.global_ids[: part.cells.n_owned] for part in parts])
    points = np.concatenate([part.points.global_ids[: part.points.n_owned] for part in parts])
    assert sorted(cells) == list(range(mesh.n_cells))
    assert sorted(points) == list(range(mesh.n_points))


@given(labelled())
def test_the_mesh_of_every_part_passes_the_door(case: LabelledMesh) -> None:
    mesh, labels, nparts = case
    for part in split(mesh, labels, nparts):
        assert replace(part.mesh) == part.mesh
        assert [replace(block) for block in part.mesh.blocks] == list(part.mesh.blocks)
        assert [block.type for block in part.mesh.blocks] == [block.type for block in mesh.blocks]


@given(carrying(), st.data())
def test_all_parts_together_hold_all_that_the_mesh_holds(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    before = pickle.loads(pickle.dumps(mesh))
    assert reference.merged(mesh, split(mesh, labels, nparts)) == reference.facts(mesh)
    assert mesh == before


@given(carrying(), st.data())
def test_some_parts_are_the_same_as_among_all(mesh: Mesh, data: st.DataObject) -> None:
    labels, nparts = data.draw(labels_of(mesh.n_cells))
    only = data.draw(st.lists(st.integers(0, nparts - 1), max_size=4))
    parts = split(mesh, labels, nparts)
    assert same(split(mesh, labels, nparts, only=only, threads=2), [parts[number] for number in only])


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


@given(carrying(), st.integers(1, 4))
def test_partition_splits_along_its_labels(mesh: Mesh, nparts: int) -> None:
    labels = partition_labels(mesh, nparts, allow_empty=True)
    parts = partition(mesh, nparts, allow_empty=True)
    assert len(parts) == nparts
    for part, other in zip(parts, split(mesh, labels, nparts), strict=True):
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
