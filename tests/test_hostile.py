"""What nobody should do, and what must not crash, hang, cost or lose anything when it is done."""

import copy
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
from meshes import fan, quads, quads_with_lines, strip

from meshpart import ArgumentError, CellBlock, Faces, Mesh, MeshError, partition, partition_labels, split
from meshpart.units import Units


def arrays_that_the_core_trusts(mesh: Mesh) -> list[np.ndarray]:
    return [*mesh.flat[1:], *mesh.attachment, mesh.coordinates, *(block.nodes for block in mesh.blocks)]


@pytest.mark.parametrize("again", [lambda mesh: mesh, copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))])
def test_arrays_that_the_core_trusts_refuse_writes_in_copies_too(again: Any) -> None:
    mesh = again(quads_with_lines(3, 2))
    arrays = arrays_that_the_core_trusts(mesh)
    assert len(arrays) > 10
    assert not any(array.flags.writeable for array in arrays)
    for part in again(partition(mesh, 2)):
        assert not any(array.flags.writeable for array in arrays_that_the_core_trusts(part.mesh))
        assert not part.cells.global_ids.flags.writeable
        with pytest.raises(TypeError, match="does not support item assignment"):
            part.mesh.cell_data["x"] = []


def test_a_mesh_has_no_way_to_add_data_unchecked() -> None:
    with pytest.raises(TypeError, match="does not support item assignment"):
        quads(1, 1).cell_data["x"] = [np.zeros(3)]  # type: ignore[index]


@pytest.mark.parametrize("name", ["point_data", "cell_data", "field_data", "point_sets", "cell_sets", "block_data"])
@pytest.mark.parametrize("wrong", [5, [1], "abc", np.zeros(2), {3: [np.zeros(1)]}])
def test_what_is_no_mapping_by_name_is_refused(name: str, wrong: Any) -> None:
    if name == "field_data" and isinstance(wrong, dict):
        wrong = {3: 1}
    with pytest.raises(MeshError, match=name):
        Mesh(quads(1, 1).points, quads(1, 1).blocks, **{name: wrong})


@pytest.mark.parametrize("wrong", [5, "abc", [(np.inf, (1, 2), None, [])], [5], None])
def test_periodic_pairs_of_no_shape_are_refused(wrong: Any) -> None:
    with pytest.raises(MeshError, match="periodic"):
        Mesh(quads(1, 1).points, quads(1, 1).blocks, periodic=wrong)


def test_blocks_of_no_shape_are_refused() -> None:
    for make in (
        lambda: CellBlock("quad", np.zeros((1, 4), int), tags=5),  # type: ignore[arg-type]
        lambda: CellBlock("quad", np.zeros((1, 4), int), tags="abc"),  # type: ignore[arg-type]
        lambda: CellBlock("quad", np.zeros((1, 4), int), faces=5),  # type: ignore[arg-type]
        lambda: Faces(5, 5, 5),  # type: ignore[arg-type]
        lambda: CellBlock.from_rows("triangle", 5),
    ):
        with pytest.raises(MeshError):
            make()


def test_masked_values_are_refused_and_not_lost() -> None:
    masked = np.ma.array([1e6, 1, 1, 1], mask=[1, 0, 0, 0])
    with pytest.raises(ArgumentError, match="weights has masked values"):
        partition_labels(strip(4), 2, weights=masked)
    with pytest.raises(MeshError, match="masked values"):
        Mesh(strip(4).points, strip(4).blocks, cell_data={"x": [masked]})
    labels = partition_labels(strip(4), 2, method="sfc", weights=np.ma.array([1.0, 1, 1, 1]))
    assert labels.tolist() == [0, 0, 1, 1]


def test_sets_and_pairs_are_the_meshs_own() -> None:
    members, pairs = np.array([0, 1]), np.array([[0, 1]])
    mesh = Mesh(strip(2).points, strip(2).blocks, cell_sets={"A": [members]}, periodic=[(0, (1, 2), None, pairs)])
    members[:], pairs[:] = -1, -1
    assert mesh.cell_sets["A"][0].tolist() == [0, 1]
    assert mesh.periodic[0].pairs.tolist() == [[0, 1]]


@pytest.mark.parametrize("corners", [3, 9, 11, 18])
def test_coordinates_near_the_largest_double_have_centroids(corners: int) -> None:
    largest = np.finfo(np.float64).max
    points = np.concatenate([np.full((corners, 2), largest), np.zeros((corners, 2))])
    polygons = [list(range(corners)), list(range(corners, 2 * corners))]
    assert sorted(partition_labels(Mesh(points, [("polygon", polygons)]), 2)) == [0, 1]


def test_groups_that_name_attached_cells_of_a_hub_cost_their_number_and_not_its_square() -> None:
    triangles, vertices = 2000, 1000
    rim = fan(triangles)
    mesh = Mesh(rim.points, [*rim.blocks, ("vertex", np.zeros((vertices, 1), int))])  # all on the hub
    groups = np.concatenate([np.full(triangles, -1), np.arange(vertices)])
    Units.of(mesh, np.where(groups < 1, groups, -1))  # what is computed once
    tracemalloc.start()
    units = Units.of(mesh, groups)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert units.count == 1
    assert peak < 100 * (triangles + vertices) * 8  # the square is 2 000 000 pairs


def test_threads_do_not_wait_for_each_others_meshes() -> None:
    """One thread is inside the attachment of a mesh; another's is computed meanwhile."""
    inside, go_on = threading.Event(), threading.Event()

    class Slow(Mesh):
        @property
        def cell_points(self) -> Any:
            inside.set()
            assert go_on.wait(30)
            return quads(1, 1).cell_points

    slow = Slow(quads(1, 1).points, quads(1, 1).blocks)
    thread = threading.Thread(target=lambda: slow.flat)
    thread.start()
    try:
        assert inside.wait(30)
        other = threading.Thread(target=lambda: quads(2, 2).flat)
        other.start()
        other.join(10)
        assert not other.is_alive()
    finally:
        go_on.set()
        thread.join()


FORKS = """
import os, threading, sys, time
import numpy as np, meshpart
points = np.random.default_rng(0).random((3000, 2))
triangles = np.random.default_rng(1).integers(0, 3000, (5000, 3))
def cut():
    return meshpart.partition(meshpart.Mesh(points, [("triangle", triangles)]), 7)
stop = False
def work():
    while not stop:
        cut()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for _ in range(12):
    child = os.fork()
    if child == 0:
        cut()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for thread in threads: thread.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_forked_while_threads_partition_can_partition(tmp_path: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_a_bad_label_array_of_the_wrong_sort_does_not_reach_the_core() -> None:
    with pytest.raises(ArgumentError, match="masked"):
        split(strip(2), np.ma.array([0, 1], mask=[0, 1]))
