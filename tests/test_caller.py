"""What a caller gives stays the caller's: nothing is changed, and what changes later does not harm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from carrying import with_everything
from meshes import SQUARE

from meshpart import Mesh, quality, split
from meshpart.errors import MeshError


def given_by_a_caller() -> dict[str, Any]:
    """Return the arguments of a mesh, all of them things that a caller could change."""
    return {
        "points": np.array(SQUARE),
        "blocks": [("triangle", np.array([[0, 1, 2], [0, 2, 3]])), ("line", np.array([[0, 1]]))],
        "point_data": {"t": np.zeros(4)},
        "cell_data": {"c": [np.zeros(2), np.zeros(1)]},
        "field_data": {"f": np.array([1, 2])},
        "point_sets": {"p": np.array([0, 3])},
        "cell_sets": {"s": [np.array([1]), None]},
        "block_data": {"gmsh:bounding_entities": [None, np.array([1, 2])]},
        "periodic": [[1, (2, 3), np.eye(4), np.array([[0, 1]])]],
    }


def arrays_in(value: Any) -> list[Any]:
    """Return all arrays in a nest of dicts, lists and tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    values = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [array for nested in values for array in arrays_in(nested)]


def test_the_callers_arrays_and_dicts_are_not_changed() -> None:
    given, untouched = given_by_a_caller(), given_by_a_caller()
    mesh = Mesh(**given)
    split(mesh, [0, 1, 1])
    assert repr(given) == repr(untouched)
    assert [array.dtype for array in arrays_in(given)] == [array.dtype for array in arrays_in(untouched)]


def test_the_callers_arrays_stay_writeable() -> None:
    given = given_by_a_caller()
    Mesh(**given)
    assert len(arrays_in(given)) == 1 + 2 + 1 + 2 + 1 + 1 + 1 + 1 + 2
    assert all(array.flags.writeable for array in arrays_in(given))


def test_a_mesh_keeps_its_structure_when_the_callers_dicts_and_lists_change() -> None:
    given = given_by_a_caller()
    mesh = Mesh(**given)
    given["blocks"].pop()
    given["cell_data"]["c"].pop()
    given["cell_sets"]["s"].append([5])
    given["block_data"]["gmsh:bounding_entities"].clear()
    given["periodic"][0].pop()
    for name in ("point_data", "cell_data", "field_data", "point_sets", "cell_sets", "block_data", "periodic"):
        given[name].clear()
    assert mesh == Mesh(**given_by_a_caller())


@pytest.mark.parametrize("wrong", [4, -1, 2**62])
def test_ids_that_change_after_the_check_raise_and_do_not_crash(wrong: int) -> None:
    triangles_ = np.array([[0, 1, 2], [0, 2, 3]])
    mesh = Mesh(SQUARE, [("triangle", triangles_)])
    triangles_[1, 1] = wrong
    with pytest.raises(MeshError, match=rf"id {wrong} is outside 0..3: an array has changed since it was checked"):
        split(mesh, [0, 1])


def test_a_mesh_cannot_be_changed() -> None:
    mesh = with_everything()
    with pytest.raises(FrozenInstanceError):
        mesh.points = mesh.points[:1]  # type: ignore[misc]
    arrays = [mesh.points, *arrays_in(mesh.point_data), *arrays_in(mesh.cell_data)]
    arrays += [*arrays_in(mesh.point_sets), *arrays_in(mesh.cell_sets), mesh.periodic[0].pairs]
    arrays += [block.nodes for block in mesh.blocks]
    assert len(arrays) == 1 + 2 + 6 + 2 + 6 + 1 + 3
    assert not any(array.flags.writeable for array in arrays)


def test_contiguous_arrays_are_shared_and_not_copied() -> None:
    given = given_by_a_caller()
    mesh = Mesh(**given)
    assert np.shares_memory(mesh.points, given["points"])
    assert np.shares_memory(mesh.blocks[0].nodes, given["blocks"][0][1])
    assert np.shares_memory(mesh.cell_data["c"][0], given["cell_data"]["c"][0])


def test_a_submesh_given_as_a_mesh_is_refused_with_the_way_out() -> None:
    part = split(Mesh(SQUARE, [("triangle", [[0, 1, 2], [0, 2, 3]])]), [0, 1])[0]
    with pytest.raises(MeshError, match="of a SubMesh, give its mesh"):
        quality(part, [0])
