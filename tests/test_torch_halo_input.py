"""What Halo refuses, where it is raised, and that no rank waits for ever."""

from __future__ import annotations

import os
import signal
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from meshes import sfc_labels, triangles

import meshpart
from meshpart import ArgumentError, MeshpartError, SubMesh

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run, run_alone  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(9, 8)


def part_of(nparts: int, number: int, layers: int = 1, seed: int = 0) -> SubMesh:
    labels = sfc_labels(MESH, nparts) if seed == 0 else np.random.default_rng(seed).integers(0, nparts, MESH.n_cells)
    return meshpart.split(MESH, labels, nparts, ghost_layers=layers, only=[number])[0]


# -- construction raises on all ranks or on none ------------------------------------------------------------


def sends(part: SubMesh, rows: Any, n_less: int = 0) -> SubMesh:
    """The part with other rows to send for points, fewer to the last neighbour."""
    offsets = part.point_halo.send_offsets.copy()
    offsets[-1] -= n_less
    return replace(part, point_halo=replace(part.point_halo, send_offsets=offsets, send_indices=rows))


def with_fault(fault: str, rank: int, size: int) -> tuple[Any, dict[str, Any]]:
    """What a rank gives to Halo; for most faults rank 1 alone is wrong."""
    part: Any = part_of(size, rank)
    rows = part.point_halo.send_indices
    if fault in ("count", "order", "twice"):
        return part_of(*{"count": (size + 1, rank), "order": (size, (rank + 1) % size), "twice": (size, 0)}[fault]), {}
    if rank != 1:
        return part, {}
    return {
        "run": lambda: (part_of(size, rank, seed=5), {}),
        "layers": lambda: (part_of(size, rank, layers=2), {}),
        "entity": lambda: (part, {"entity": "cells"}),
        "type": lambda: ({"part": rank}, {}),
        "name": lambda: (part, {"entity": "nodes"}),
        "flag": lambda: (part, {"check": True}),
        "verify": lambda: (part, {"verify": False}),
        "rows": lambda: (sends(part, rows + MESH.n_points), {}),
        "ids": lambda: (sends(part, rows[::-1].copy()), {}),
        "counts": lambda: (sends(part, rows[:-1], 1), {}),
    }[fault]()


def built(fault: str) -> tuple[str, str]:
    rank, size = dist.get_rank(), dist.get_world_size()
    part, options = with_fault(fault, rank, size)
    with pytest.raises(MeshpartError) as caught:
        mt.Halo(part, **options)
    halo = mt.Halo(part_of(size, rank))  # the ranks are in step again
    assert halo.n_global == MESH.n_points
    return type(caught.value).__name__, str(caught.value)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("count", "part is one of 4, and the group has 3 ranks: there must be a rank for each part"),
        ("order", "must be that of the rank in the group: rank 0 has part 1, rank 1 has part 2, rank 2 has part 0"),
        ("twice", "must be that of the rank in the group: rank 1 has part 0, rank 2 has part 0"),
        ("run", "parts of different decompositions: run is "),
        ("layers", "parts of different decompositions: run is "),
        ("entity", "parts of different entity: entity is 'points' on rank 0 and 'cells' on rank 1"),
        ("type", "rank 1: part must be a SubMesh or a SubGraph, got dict"),
        ("name", "rank 1: entity must be one of points, cells, got 'nodes'"),
        ("flag", "check must be the same on all ranks: check is False on rank 0 and True on rank 1"),
        ("verify", "verify must be the same on all ranks: verify is True on rank 0 and False on rank 1"),
        ("rows", "rank 1: the plan for the points of part 1 sends rows that the part does not own"),
        ("counts", "the plans do not fit each other: part 1 sends "),
        ("ids", "ghosts are sent from other rows, the first is "),
    ],
)
def test_parts_that_do_not_belong_together_are_refused_on_all_ranks(fault, message):
    found = run(3, built, fault)
    assert {kind for kind, _ in found} == {"ArgumentError"}
    assert len({text for _, text in found}) == 1
    assert message in found[0][1]


def unverified() -> bool:
    part = part_of(2, dist.get_rank())
    plan = replace(part.point_halo, send_indices=part.point_halo.send_indices[::-1].copy())
    halo = mt.Halo(replace(part, point_halo=plan), verify=False)
    ids = halo.global_ids
    same = torch.equal(halo.exchange(ids[: halo.n_owned]), ids)
    with pytest.raises(ArgumentError, match="ghosts are sent from other rows"):
        halo.verify()
    return same


def test_without_verify_a_wrong_plan_is_silently_wrong():
    assert run(2, unverified) == [False, False]


def test_a_part_of_several_needs_a_process_group():
    with pytest.raises(ArgumentError, match="part is one of 2, and the group has 1 ranks"):
        mt.Halo(part_of(2, 0))


def groups() -> None:
    part = part_of(2, 0)
    with pytest.raises(ArgumentError, match="group must be a ProcessGroup, a DeviceMesh or None, got int"):
        mt.Halo(part, group=3)
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    with pytest.raises(ArgumentError, match="group must be a DeviceMesh of one dimension, got 2"):
        mt.Halo(part, group=mesh)
    outside = dist.new_group([0, 1])
    if dist.get_rank() > 1:
        with pytest.raises(ArgumentError, match="group: this process is not in it"):
            mt.Halo(part, group=outside)
    halo = mt.Halo(part_of(2, mesh.get_local_rank("domain")), group=mesh["domain"])
    assert halo.group.size == 2


def test_what_is_no_group_of_this_process_is_refused():
    run(4, groups)


# -- verbs raise at once where the argument is wrong --------------------------------------------------------


def arguments() -> None:
    halo = mt.Halo(part_of(2, dist.get_rank(), 1))
    n_owned, n_local = halo.n_owned, halo.n_local
    x = torch.zeros(n_local, 4)

    def refused(message: str, verb: Any, *given: Any) -> None:
        with pytest.raises(ArgumentError, match=message):
            verb(*given)

    whole = rf"x_owned must have n_owned = {n_owned} rows, got the shape \({n_local}, 4\)"
    for verb in (halo.exchange, halo.ghosts, halo.start, halo.mean, halo.std, halo.max, halo.gather):
        refused(rf"{whole}: it has all {n_local} local rows, x_owned\[:n_owned\] are the owned ones", verb, x)
        refused("x_owned must be a torch.Tensor, got ndarray", verb, x.numpy())
    for verb in (halo.refresh, halo.refresh_, halo.reduce):
        refused("it has the owned rows only, which exchange and ghosts take", verb, x[:n_owned])
        refused(rf"x_local must have n_local = {n_local} rows, got the shape \(4, {n_local}\)", verb, x.T)
        refused("x_local must have rows, got a tensor without dimensions", verb, x.sum())
        refused("x_local must be a dense tensor, got the layout torch.sparse_coo", verb, x.to_sparse())
        refused(r"x_local is on meta, the halo on cpu: halo.to\('meta'\) moves it", verb, x.to("meta"))
    refused(r"x_local must be contiguous for refresh_.*strides \(1, ", halo.refresh_, torch.zeros(4, n_local).T)
    refused(
        r"refresh_ works in place and has no gradient: use refresh, or torch.no_grad",
        halo.refresh_,
        x.clone().requires_grad_(),
    )
    refused('op="max" has no gradient', halo.reduce, x.clone().requires_grad_(), "max")
    refused("op must be one of sum, min, max, got 'mean'", halo.reduce, x, "mean")
    refused('op="min" needs an order, which torch.complex64 has not', halo.reduce, x.to(torch.complex64), "min")
    refused("assemble adds up shared copies of parts without ghost layers, this part has 1", halo.assemble, x)
    refused(f"x_global must have n_global = {halo.n_global} rows", halo.take, x[:3])
    refused("dst must be between 0 and 1, got 2", halo.gather, x[:n_owned], 2)
    refused("src must be between 0 and 1, got -1", halo.scatter, None, -1)
    transposed = torch.arange(4.0 * n_owned).view(4, n_owned).T  # other verbs take any strides
    assert torch.equal(halo.exchange(transposed)[:n_owned], transposed)
    with torch.no_grad():
        halo.refresh_(x.clone().requires_grad_())
        halo.reduce(x.clone().requires_grad_(), "max")


def test_verbs_refuse_what_does_not_fit_at_once():
    run(2, arguments)


def saved_before() -> None:
    halo = mt.Halo(part_of(2, dist.get_rank(), 1))
    w = torch.ones(1, requires_grad=True)
    x = torch.ones(halo.n_local)
    loss = (x * w).sum()
    halo.refresh_(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_autograd_notices_what_refresh_in_place_has_changed():
    run(2, saved_before)


def scattered_wrong() -> list[str]:
    halo = mt.Halo(part_of(2, dist.get_rank(), 1))
    rank = dist.get_rank()
    said = []
    whole = torch.zeros(halo.n_global)
    for given, src in (
        (torch.zeros(3) if rank == 0 else None, 0),
        (None, 0),
        (whole, 0),
        (whole if rank == 0 else None, 0 if rank == 0 else 2),
        (whole, rank),
    ):
        with pytest.raises(ArgumentError) as caught:
            halo.scatter(given, src)
        said.append(str(caught.value))
    with pytest.raises(ArgumentError) as caught:
        halo.gather(whole[: halo.n_owned], rank)
    said.append(str(caught.value))
    return said


def test_scatter_raises_on_all_ranks_and_so_does_gather_to_different_ones():
    first, second = run(2, scattered_wrong)
    assert first == second
    assert f"rank 0: x_global must have n_global = {MESH.n_points} rows, got the shape (3,)" in first[0]
    assert "rank 0: x_global must be a torch.Tensor, got NoneType" in first[1]
    assert "rank 1: x_global must be None on all ranks but src = 0" in first[2]
    assert "rank 1: src must be between 0 and 1, got 2" in first[3]
    assert "src must be the same on all ranks: src is 0 on rank 0 and 1 on rank 1" in first[4]
    assert "dst must be the same on all ranks: dst is 0 on rank 0 and 1 on rank 1" in first[5]


def checked() -> list[str]:
    warnings.simplefilter("default")  # torch's own, of its compiler
    halo = mt.Halo(part_of(3, dist.get_rank(), 1), check=True)
    rank = dist.get_rank()
    x, weights = torch.zeros(halo.n_local, 2), torch.ones(halo.n_owned)
    said = []
    for verb, given in (
        (halo.exchange, x if rank == 1 else x[: halo.n_owned]),
        (halo.refresh, x.double() if rank == 2 else x),
        (halo.refresh if rank else halo.reduce, x),
        (lambda rows: halo.reduce(rows) if rank else halo.assemble(rows), x),
        (lambda rows: halo.mean(rows, weights[rank:]), x[: halo.n_owned]),
        (lambda rows: halo.std(rows, weights + 1j if rank == 1 else weights), x[: halo.n_owned]),
        (halo.max, x[: halo.n_owned] > 0 if rank == 2 else x[: halo.n_owned]),
        (lambda rows: halo.gather(rows, 3 * rank), x[: halo.n_owned]),
        (lambda rows: halo.gather(rows, rank), x[: halo.n_owned]),
        (torch.compile(halo.exchange, backend="eager"), x if rank == 1 else x[: halo.n_owned]),
    ):
        with pytest.raises(ArgumentError) as caught:
            verb(given)
        said.append(str(caught.value))
    ids = halo.global_ids
    assert torch.equal(halo.exchange(ids[: halo.n_owned]), ids)
    return said


def test_with_check_a_wrong_argument_raises_on_all_ranks():
    first, *others = run_alone(3, checked)
    assert all(other == first for other in others)
    assert first[0].startswith("rank 1: x_owned must have n_owned")
    assert first[1].startswith("the ranks do not call the same: call is 'refresh of torch.float32 rows of shape (2,)'")
    assert "on rank 0 and 'refresh of torch.float32" in first[2]
    assert first[3].startswith("rank 0: assemble adds up shared copies of parts without ghost layers, this part has 1")
    assert first[4].startswith("rank 1: weight must have the shape")
    assert first[5] == "rank 1: weight must be real, got torch.complex64"
    assert first[6] == "rank 2: x_owned must be real numbers that torch compares, got torch.bool"
    assert first[7] == "rank 1: dst must be between 0 and 2, got 3"
    assert "call is 'gather to 0 of torch.float32 rows of shape (2,)' on rank 0 and 'gather to 1" in first[8]
    assert first[9] == first[0]


# -- a rank that fails while the others wait ----------------------------------------------------------------


def dying(how: str) -> str:
    halo = mt.Halo(part_of(3, dist.get_rank(), 1))
    x = torch.zeros(halo.n_owned)
    halo.exchange(x)
    if dist.get_rank() == 1:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        return "gone"  # alive, and calls nothing any more
    try:
        for _ in range(3):
            halo.exchange(x)
    except RuntimeError as error:
        return str(error)
    return "no error"


def test_ranks_do_not_wait_beyond_the_time_out_for_one_that_calls_nothing():
    first, gone, last = run_alone(3, dying, "silent", wait=2)
    assert gone == "gone"
    assert "timed out" in (first + last).lower() or "timeout" in (first + last).lower()


def test_ranks_do_not_wait_for_one_that_died():
    with pytest.raises(AssertionError, match="rank 1:\nended with exit code -9") as caught:
        run_alone(3, dying, "killed")
    assert "rank 0" not in str(caught.value)  # which got their error
