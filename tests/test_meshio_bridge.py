"""There and back: nothing is lost between meshio and the mesh, and what meshio holds does not change."""

from __future__ import annotations

from typing import Any

import meshio
import numpy as np
import pytest
import reference
from carrying import with_everything
from meshes import DRAWN, QUAD, SQUARE, polygons, two_cube_polyhedra

from meshpart import CellBlock, Mesh, MeshError, split
from meshpart.mesh import as_mesh


@pytest.mark.parametrize("mesh", [*(mesh for mesh in DRAWN if mesh != polygons()), with_everything()], ids=repr)
def test_a_mesh_comes_back_from_meshio_as_it_went(mesh: Mesh) -> None:
    assert Mesh.from_meshio(mesh.to_meshio()) == mesh


@pytest.mark.parametrize(
    ("type_", "n_points"), [("wedge15", 15), ("pyramid13", 13), ("hexahedron24", 24), ("quadratic_polygon8", 8)]
)
def test_types_that_meshio_cannot_build_come_back_too(type_: str, n_points: int) -> None:
    mesh = Mesh(np.arange(3.0 * n_points).reshape(n_points, 3), [(type_, [range(n_points)])])
    if type_ != "quadratic_polygon8":
        with pytest.raises(KeyError, match=type_):
            meshio.CellBlock(type_, [range(n_points)])
    assert Mesh.from_meshio(mesh.to_meshio()) == mesh


def test_polygons_of_one_size_come_back_from_meshio_and_those_of_several_are_refused() -> None:
    mesh = Mesh(polygons().points, [("polygon", [[0, 1, 3, 5], [1, 2, 4, 3]])])
    assert Mesh.from_meshio(mesh.to_meshio()) == mesh
    with pytest.raises(MeshError, match="a meshio block holds polygons of one size, got 3 to 5 points"):
        polygons().to_meshio()


def test_meshio_gets_every_array_with_its_dtype() -> None:
    mesh = with_everything()
    made = mesh.to_meshio()
    assert made.points.dtype == np.float32
    assert [block.type for block in made.cells] == ["quad", "triangle", "line"]
    assert [block.dim for block in made.cells] == [2, 2, 1]
    assert made.cells[0].tags == ["plate"]
    assert [array.dtype for array in made.cell_data["number"]] == [np.int16] * 3
    assert made.cell_sets["all"][0].tolist() == [1, 0]
    assert made.cell_sets["gmsh:bounding_entities"][1] is None
    assert made.gmsh_periodic[0][1] == (7, 5)
    assert made.gmsh_periodic[0][3].tolist() == [[2, 0], [3, 5]]
    assert made.info == {"reader": "none"}


def test_signed_tags_of_gmsh_are_taken_for_no_cells() -> None:
    given = meshio.Mesh(
        np.array(SQUARE), QUAD, cell_sets={"gmsh:bounding_entities": [np.array([-7, 9])], "s": [np.array([0])]}
    )
    mesh = Mesh.from_meshio(given)
    assert list(mesh.cell_sets) == ["s"]
    assert mesh.block_data["gmsh:bounding_entities"][0].tolist() == [-7, 9]


@pytest.mark.parametrize(
    "cells",
    [
        {"quad": np.array([[0, 1, 2, 3]]), "line": np.array([[0, 1]])},
        [("quad", np.array([[0, 1, 2, 3]])), ("line", np.array([[0, 1]]))],
        [("quad", [[0, 1, 2, 3]]), ("line", [[0, 1]])],
        [meshio.CellBlock("quad", [[0, 1, 2, 3]]), meshio.CellBlock("line", [[0, 1]])],
        [CellBlock("quad", [[0, 1, 2, 3]]), CellBlock("line", [[0, 1]])],
    ],
    ids=["dict", "tuples", "tuples of lists", "meshio.CellBlock", "CellBlock"],
)
def test_anything_with_points_and_cells_is_a_mesh(cells: Any) -> None:
    given = type("Alike", (), {"points": np.array(SQUARE), "cells": cells})()
    assert as_mesh(given) == Mesh(SQUARE, [*QUAD, ("line", [[0, 1]])])


def test_a_meshio_mesh_is_taken_by_every_function_without_being_changed() -> None:
    given, untouched = with_everything().to_meshio(), with_everything().to_meshio()
    parts = split(given, [0, 1, 0])
    assert [part.cells.global_ids.tolist() for part in parts] == [[0, 2], [1]]
    assert vars(given).keys() == vars(untouched).keys()
    assert Mesh.from_meshio(given) == Mesh.from_meshio(untouched) == with_everything()
    assert [set_ is None for set_ in given.cell_sets["gmsh:bounding_entities"]] == [False, True, False]


def test_a_meshio_block_without_cells_is_a_block_without_cells() -> None:
    # meshio makes a float array of shape (0,) of it
    given = meshio.Mesh(np.array(SQUARE), [("quad", []), ("triangle", [[0, 1, 2]])])
    assert [len(block) for block in Mesh.from_meshio(given).blocks] == [0, 1]


def test_polyhedra_of_meshio_come_as_lists_of_faces() -> None:
    mesh = two_cube_polyhedra()
    made = mesh.to_meshio()
    assert [len(cell) for cell in made.cells[0].data] == [6, 6]
    assert made.cells[0].data[1][0].tolist() == list(reference.faces_of_block(mesh, 0)[1][0])


@pytest.mark.parametrize("given", [5, None, "wing.msh", np.zeros((4, 2)), {"points": SQUARE, "cells": QUAD}])
def test_what_is_no_mesh_is_refused(given: Any) -> None:
    with pytest.raises(MeshError, match=f"a mesh needs points and cells, got {type(given).__name__}"):
        split(given, [0])
