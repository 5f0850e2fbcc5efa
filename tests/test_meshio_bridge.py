"""To meshio and back; what meshio keeps beside its mesh; the types that it is lent."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace

import meshio
import numpy as np
import pytest

from meshpart import Mesh
from meshpart.cells import CELL_TYPES
from meshpart.ending import open_ending
from meshpart.meshio_bridge import _loan, patched_meshio

TRIANGLES = [("triangle", [[0, 1, 2], [1, 2, 3]])]
POINTS = np.arange(12.0).reshape(4, 3)


def test_med_families_become_sets_and_an_entity_may_be_in_several() -> None:
    given = meshio.Mesh(
        POINTS,
        [*TRIANGLES, ("line", [[0, 1]])],
        point_data={"point_tags": np.array([0, 2, 3, 2])},
        cell_data={"cell_tags": [np.array([-6, -7]), np.array([-7])]},
    )
    given.point_tags = {2: ["fixed"], 3: ["fixed", "loaded"]}
    given.cell_tags = {-6: ["steel"], -7: ["steel", "hot"]}
    mesh = Mesh.from_meshio(given)
    assert {name: m.tolist() for name, m in mesh.point_sets.items()} == {"fixed": [1, 2, 3], "loaded": [2]}
    assert {name: [m.tolist() for m in sets] for name, sets in mesh.cell_sets.items()} == {
        "steel": [[0, 1], [0]],
        "hot": [[1], [0]],
    }
    assert mesh.cell_data["cell_tags"][0].tolist() == [-6, -7]


def test_names_of_families_without_numbers_are_no_sets() -> None:
    given = meshio.Mesh(POINTS, TRIANGLES)
    given.cell_tags = {-6: ["steel"]}
    assert Mesh.from_meshio(given).cell_sets == {}


def test_anything_with_points_and_cells_is_taken() -> None:
    given = SimpleNamespace(points=POINTS.tolist(), cells={"triangle": TRIANGLES[0][1]})
    assert Mesh.from_meshio(given) == Mesh(POINTS, TRIANGLES)


def test_meshio_is_lent_what_it_lacks_and_gives_it_back() -> None:
    dims, sizes, files = meshio._mesh.topological_dimension, meshio._common.num_nodes_per_cell, vars(meshio._files)
    before = dict(dims), dict(sizes), dict(files)
    with patched_meshio() as module:
        assert module is meshio
        assert set(CELL_TYPES) <= set(dims)
        assert meshio.CellBlock("wedge15", [range(15)]).dim == 3
        assert sizes["wedge12"] == 12
        assert files["open"] is open_ending
        assert all(dims[name] == dim for name, dim in before[0].items())
    assert (dict(dims), dict(sizes), dict(files)) == before
    with pytest.raises(KeyError):
        meshio.CellBlock("wedge15", [range(15)])


def test_the_last_user_gives_back_what_is_lent() -> None:
    inside, leave = threading.Event(), threading.Event()

    def use() -> None:
        with patched_meshio():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=use)
    other.start()
    inside.wait(10)
    with patched_meshio():
        pass
    assert meshio.CellBlock("wedge15", [range(15)]).dim == 3  # the other thread still uses them
    leave.set()
    other.join()
    assert "wedge15" not in meshio._mesh.topological_dimension


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_a_meshio_that_owes_nothing_to_other_threads() -> None:
    inside, leave = threading.Event(), threading.Event()

    def use() -> None:
        with patched_meshio(), _loan._lock:  # as where the fork comes while a thread borrows
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=use)
    other.start()
    inside.wait(10)
    child = os.fork()
    if child == 0:
        clean = "wedge15" not in meshio._mesh.topological_dimension
        with patched_meshio():
            lent = "wedge15" in meshio._mesh.topological_dimension
        os._exit(0 if clean and lent and "wedge15" not in meshio._mesh.topological_dimension else 1)
    leave.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
