"""What meshpart.torch has for PhysicsNeMo, as far as it goes without that: see with_physicsnemo for the rest."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from meshes import sfc_labels, triangles

import meshpart
from meshpart.errors import ArgumentError, MissingDependencyError

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(7, 5)
SIZES = pytest.mark.parametrize("size", [1, 2, 4])


def halo_of(kind: str, group: Any = None) -> mt.Halo:
    """This rank's part: by the curve, or with nothing on the last rank."""
    size, rank = dist.get_world_size(group), dist.get_rank(group)
    labels = sfc_labels(MESH, size)
    if kind == "empty":
        labels[labels == size - 1] = 0
    part = meshpart.split(MESH, labels, size, ghost_layers=1, only=[rank])[0]
    return mt.Halo(part, group=group)


# -- the order of the rows ----------------------------------------------------------------------------------


def order(kind: str) -> tuple[list[int], list[int]]:
    halo = halo_of(kind)
    assert halo.shard_order().dtype == torch.int64
    return halo.shard_order().tolist(), halo.global_ids[: halo.n_owned].tolist()


@SIZES
@pytest.mark.parametrize("kind", ["curve", "empty"])
def test_rows_of_a_shard_tensor_go_by_owner_then_global_id(size, kind):
    everywhere, mine = zip(*run(size, order, kind), strict=True)
    rows = [id_ for ids in mine for id_ in sorted(ids)]
    assert all(ids == rows for ids in everywhere)
    assert sorted(rows) == list(range(MESH.n_points))


# -- the exchange that physicsnemo's function makes of its arguments ---------------------------------------


def exchanged(kind: str) -> None:
    halo = halo_of(kind)
    args = halo.indexed_all_to_all_v_args()
    rank, sizes = dist.get_rank(), args["sizes"]
    x = halo.global_ids[: halo.n_owned] * 10
    sent = torch.cat([x[index] for index in args["indices"]])
    assert [len(index) for index in args["indices"]] == sizes[rank]
    received = [to[rank] for to in sizes]
    tail = x.new_empty(sum(received))
    dist.all_to_all_single(tail, sent, received, sizes[rank], args["group"])
    assert torch.equal(tail, halo.ghosts(x))
    assert args["group"] == halo.group.process_group


@SIZES
@pytest.mark.parametrize("kind", ["curve", "empty"])
def test_what_each_rank_sends_to_each_other_makes_the_ghosts(size, kind):
    run(size, exchanged, kind)


# -- meshes that do not fit ---------------------------------------------------------------------------------


def refused() -> None:
    halo, rank = halo_of("curve"), dist.get_rank()
    x = torch.zeros(halo.n_owned, 2)

    def said(mesh: Any) -> str:
        with pytest.raises(ArgumentError) as caught:
            halo.shard_tensor(x, mesh)
        return str(caught.value)

    square = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    row = [0, 1] if rank < 2 else [2, 3]
    assert said(None) == "mesh must be a DeviceMesh, got NoneType"
    assert said(dist.group.WORLD) == "mesh must be a DeviceMesh, got ProcessGroup"
    assert said(square).startswith("mesh must be a DeviceMesh of one dimension, got 2: choose one")
    assert said(square["domain"]) == (
        f"mesh has the ranks {row}, the halo's group the ranks [0, 1, 2, 3]: they must be the same"
    )
    assert "mesh has the ranks [1, 0, 3, 2]" in said(DeviceMesh("cpu", [1, 0, 3, 2]))
    world = DeviceMesh("cpu", [0, 1, 2, 3])
    with pytest.raises(ArgumentError, match=rf"n_owned = {halo.n_owned} rows, got the shape \({halo.n_local}, 2\)"):
        halo.shard_tensor(torch.zeros(halo.n_local, 2), world)


def test_a_mesh_of_other_ranks_or_in_another_order_is_refused():
    run(4, refused)


def missing() -> None:
    square = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    for group, mesh in ((None, init_device_mesh("cpu", (4,))), (square["domain"].get_group(), square["domain"])):
        halo = halo_of("curve", group)
        with pytest.raises(MissingDependencyError, match=r"physicsnemo: pip install 'meshpart\[physicsnemo\]'"):
            halo.shard_tensor(torch.zeros(halo.n_owned, 2), mesh)


@pytest.mark.skipif(find_spec("physicsnemo") is not None, reason="physicsnemo is installed")
def test_without_physicsnemo_the_error_names_the_extra():
    run(4, missing)
