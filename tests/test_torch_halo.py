"""meshpart.torch.Halo: its verbs over real ranks give what the NumPy exchange over all parts in one process gives."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from meshes import interleaved, quads_and_triangles, sfc_labels, triangles

import meshpart
from meshpart import Mesh, SubMesh

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run, run_alone  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESHES = {"triangles": triangles(9, 8), "mixed": quads_and_triangles(12), "five": interleaved()}
KINDS = pytest.mark.parametrize("kind", ["curve", "scattered", "uneven", "empty", "alone"])
SIZES = pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.complex64, torch.complex128)
SMALL = (torch.bfloat16, torch.float16)  # NumPy has not both
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def labels_of(mesh: Mesh, size: int, kind: str) -> Any:
    """Labels by the curve, scattered, with one part of nearly all, with one of nothing, or all in the last one."""
    labels = np.random.default_rng(3).integers(0, size, mesh.n_cells)
    if kind == "curve":
        return sfc_labels(mesh, size)
    if kind == "uneven":
        labels[: int(0.9 * mesh.n_cells)] = size - 1
    if kind == "empty":
        labels[labels == size // 2] = 0
    if kind == "alone":
        labels[:] = size - 1
    return labels


def parts_of(mesh: str, kind: str, layers: int, size: int) -> list[SubMesh]:
    whole = MESHES[mesh]
    return meshpart.split(whole, labels_of(whole, size, kind), size, ghost_layers=layers)


def ids_of(part: SubMesh, entity: str) -> meshpart.IndexMap:
    return part.points if entity == "points" else part.cells


# -- values -------------------------------------------------------------------------------------------------


def verbs(mesh: str, kind: str, layers: int, entity: str, dtypes: list[Any], trailings: list[tuple[int, ...]]) -> None:
    parts = parts_of(mesh, kind, layers, dist.get_world_size())
    part = parts[dist.get_rank()]
    halo = mt.Halo(part, entity)
    n = halo.n_owned
    for dtype in dtypes:
        for trailing in trailings:
            given = [
                torch.arange(n_local * math.prod(trailing)).add(p.part).remainder(11).view(n_local, *trailing).to(dtype)
                for p in parts
                for n_local in [ids_of(p, entity).n_local]
            ]
            mine = given[part.part]
            as_numpy = [(rows.float() if dtype in SMALL else rows).numpy() for rows in given]
            owned = [rows[: ids_of(p, entity).n_owned] for rows, p in zip(as_numpy, parts, strict=True)]
            everywhere = torch.tensor(meshpart.exchange(parts, owned, entity)[part.part]).to(dtype)
            assert torch.equal(halo.exchange(mine[:n]), everywhere)
            assert torch.equal(halo.ghosts(mine[:n]), everywhere[n:])
            assert torch.equal(halo.start(mine[:n]).wait(), everywhere)
            assert torch.equal(halo.refresh(mine), everywhere)
            assert torch.equal(halo(mine), everywhere)
            for op in ("sum",) if dtype.is_complex else ("sum", "min", "max"):
                expected = torch.tensor(meshpart.reduce(parts, as_numpy, entity, op)[part.part]).to(dtype)
                assert torch.equal(halo.reduce(mine, op), expected), (dtype, op)
            before, stale = mine.clone(), mine.clone()
            assert halo.refresh_(stale) is stale
            assert torch.equal(stale, everywhere)
            assert torch.equal(mine, before)


@SIZES
@KINDS
def test_verbs_give_what_the_exchange_in_one_process_gives(size, kind):
    run(size, verbs, "triangles", kind, 1, "points", [torch.float64], [(3,)])
    run(size, verbs, "five", kind, 2, "cells", [torch.float64], [()])
    run(size, verbs, "mixed", kind, 0, "points", [torch.float64], [(2, 2)])


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, torch.bool], ids=str)
def test_verbs_take_any_dtype_and_trailing_shape(dtype):
    run(3, verbs, "triangles", "scattered", 1, "points", [dtype], [(), (3,), (2, 2), (0,), (1, 1, 1)])


def sub_graph() -> None:
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 5, 60))])
    targets = rng.integers(0, 60, offsets[-1])
    parts = meshpart.split_graph((offsets, targets), rng.integers(0, 3, 60), 3, layers=2)
    halo = mt.Halo(parts[dist.get_rank()])
    assert (halo.entity, halo.max_steps) == ("vertices", 2)
    x = halo.global_ids.double()
    assert torch.equal(halo.exchange(x[: halo.n_owned]), x)


def test_parts_of_any_directed_graph_have_halos_too():
    run(3, sub_graph)


def described() -> None:
    part = parts_of("triangles", "curve", 2, 3)[dist.get_rank()]
    halo = mt.Halo(part, "cells")
    assert (halo.n_owned, halo.n_ghost, halo.n_local) == (part.cells.n_owned, part.cells.n_ghost, part.cells.n_local)
    assert (halo.n_global, halo.max_steps) == (part.cells.n_global, 2)
    assert halo.counts.tolist() == [p.cells.n_owned for p in parts_of("triangles", "curve", 2, 3)]
    assert halo.global_ids.tolist() == part.cells.global_ids.tolist()
    assert halo.owners.tolist() == part.cells.owners(part.part).tolist()
    assert halo.layers.tolist() == part.cells.layers().tolist()
    assert halo.complete.tolist() == part.cells.complete.tolist()
    assert (halo.owners.dtype, halo.layers.dtype, halo.complete.dtype) == (torch.int32, torch.int32, torch.bool)
    assert repr(halo) == f"Halo(cells of part {part.part} of 3: {halo.n_owned} owned + {halo.n_ghost} ghosts)"


def test_a_halo_tells_what_its_part_is():
    run(3, described)


# -- gradients ----------------------------------------------------------------------------------------------


def dot(first: torch.Tensor, second: torch.Tensor) -> float:
    """The inner product over all ranks."""
    total = (first * second).sum().detach()
    dist.all_reduce(total)
    return float(total)


def adjoint(kind: str, layers: int, entity: str) -> None:
    part = parts_of("triangles", kind, layers, dist.get_world_size())[dist.get_rank()]
    halo = mt.Halo(part, entity)
    seeded = torch.Generator().manual_seed(dist.get_rank())
    x = torch.randn(halo.n_owned, 2, dtype=torch.float64, generator=seeded, requires_grad=True)
    y = torch.randn(halo.n_local, 2, dtype=torch.float64, generator=seeded, requires_grad=True)
    assert dot(halo.exchange(x), y) == pytest.approx(dot(x, halo.reduce(y)), rel=1e-13)
    for forward in (halo.exchange, lambda rows: halo.start(rows).wait()):
        (grad,) = torch.autograd.grad(forward(x), x, y)
        assert torch.equal(grad, halo.reduce(y.detach()))
    (grad,) = torch.autograd.grad(halo.reduce(y), y, x)
    assert torch.equal(grad, halo.exchange(x.detach()))
    (grad,) = torch.autograd.grad(halo.ghosts(x), x, y[halo.n_owned :])
    only_ghosts = torch.cat([torch.zeros_like(x), y[halo.n_owned :]])
    assert torch.equal(grad, halo.reduce(only_ghosts.detach()))
    (grad,) = torch.autograd.grad(halo.refresh(y), y, y)
    assert torch.equal(grad, torch.cat([halo.reduce(y.detach()), torch.zeros_like(y[halo.n_owned :])]))


@SIZES
@KINDS
def test_exchange_and_reduce_are_each_the_others_gradient(size, kind):
    run(size, adjoint, kind, 1, "points")
    run(size, adjoint, kind, 0, "points")
    run(size, adjoint, kind, 2, "cells")


def twice() -> None:
    """Second derivatives of sum(y^3) / 6 with y = Q x: its Hessian is Q^T diag(y) Q."""
    part = parts_of("triangles", "scattered", 1, dist.get_world_size())[dist.get_rank()]
    halo = mt.Halo(part)
    x = torch.sin(halo.global_ids[: halo.n_owned].double()).requires_grad_()
    v = torch.cos(halo.global_ids[: halo.n_owned].double())
    for forward in (
        halo.exchange,
        lambda rows: halo.start(rows).wait(),
        lambda rows: halo.refresh(halo.exchange(rows)),
    ):
        y = forward(x)
        (grad,) = torch.autograd.grad((y**3).sum() / 6, x, create_graph=True)
        (found,) = torch.autograd.grad(grad, x, v)
        expected = halo.reduce(y.detach() * halo.exchange(v))
        torch.testing.assert_close(found, expected, rtol=1e-13, atol=1e-13)
    y = torch.sin(halo.global_ids.double()).requires_grad_()
    (grad,) = torch.autograd.grad((halo.reduce(y) ** 3).sum() / 6, y, create_graph=True)
    (found,) = torch.autograd.grad(grad, y, torch.ones_like(y))
    expected = halo.exchange(halo.reduce(y.detach()) * halo.reduce(torch.ones_like(y).detach()))
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=1e-13)


@SIZES
def test_verbs_are_differentiable_twice(size):
    run(size, twice)


def assembled() -> None:
    parts = parts_of("mixed", "scattered", 0, dist.get_world_size())
    part = parts[dist.get_rank()]
    halo = mt.Halo(part)
    x = (torch.arange(halo.n_local) + 10.0 * part.part).requires_grad_()
    values = [np.arange(p.points.n_local) + 10.0 * p.part for p in parts]
    expected = meshpart.exchange(parts, meshpart.reduce(parts, values, "points"), "points")[part.part]
    found = halo.assemble(x)
    assert found.tolist() == expected.tolist()
    y = torch.cos(halo.global_ids.float())
    (grad,) = torch.autograd.grad(found, x, y)
    assert torch.equal(grad, halo.assemble(y))  # its own gradient
    highest = meshpart.exchange(parts, meshpart.reduce(parts, values, "points", "max"), "points")[part.part]
    assert halo.assemble(x.detach(), "max").tolist() == highest.tolist()


def test_assemble_adds_up_the_copies_of_shared_points():
    run(3, assembled)


def sums_of_rounding_errors() -> list[bytes]:
    part = parts_of("triangles", "scattered", 2, dist.get_world_size())[dist.get_rank()]
    halo = mt.Halo(part)
    x = torch.rand(halo.n_local, 3, generator=torch.Generator().manual_seed(part.part))
    return [halo.reduce(x).numpy().tobytes() for _ in range(5)]


def test_sums_repeat_bit_for_bit():
    for found in run(4, sums_of_rounding_errors):
        assert len(set(found)) == 1


# -- work meanwhile, and as part of a model -----------------------------------------------------------------


def overlapped() -> None:
    halo = mt.Halo(parts_of("triangles", "curve", 1, dist.get_world_size())[dist.get_rank()])
    x, y = halo.global_ids[: halo.n_owned].double(), halo.global_ids[: halo.n_owned].double() ** 2
    first, second = halo.start(x), halo.start(y)
    x.zero_()  # what is under way does not change
    assert torch.equal(second.wait(), halo.global_ids.double() ** 2)
    assert torch.equal(first.wait(), halo.global_ids.double())
    with pytest.raises(meshpart.ArgumentError, match="wait was called already"):
        first.wait()


def test_several_exchanges_may_be_under_way():
    run(3, overlapped)


class Net(torch.nn.Module):
    def __init__(self, halo: mt.Halo) -> None:
        super().__init__()
        self.lin, self.halo = torch.nn.Linear(1, 1), halo

    def forward(self, x: Any) -> Any:
        return self.lin(self.halo.refresh(x))


def in_a_model() -> None:
    halo = mt.Halo(parts_of("triangles", "curve", 1, dist.get_world_size())[dist.get_rank()])
    net = Net(halo)
    assert list(net.state_dict()) == ["lin.weight", "lin.bias"]
    assert list(net.buffers()) == []
    kept = halo.send_index.clone()
    wrapped = torch.nn.parallel.DistributedDataParallel(net)
    wrapped(torch.zeros(halo.n_local, 1)).sum().backward()
    assert torch.equal(halo.send_index, kept)  # DDP overwrites buffers by those of rank 0
    other = copy.deepcopy(net)
    assert other.halo is not halo
    assert other.halo.group is halo.group
    assert torch.equal(other(torch.ones(halo.n_local, 1)), net(torch.ones(halo.n_local, 1)))
    net.double().half()
    net.to_empty(device="cpu")  # which leaves nothing in tensors
    assert torch.equal(halo.send_index, kept)
    assert halo.global_ids.dtype == torch.int64
    net.to("meta")
    assert halo.send_index.device.type == "cpu"
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(net)


def test_a_copy_of_a_halo_keeps_its_hooks():
    mesh = MESHES["triangles"]
    halo = mt.Halo(meshpart.split(mesh, np.zeros(mesh.n_cells, int), 1)[0])
    seen: list[int] = []
    halo.register_forward_hook(lambda *_: seen.append(1))
    for copied in (copy.deepcopy(halo), copy.copy(halo)):
        copied.register_forward_hook(lambda *_: seen.append(2))
        copied(torch.zeros(halo.n_local))
    halo(torch.zeros(halo.n_local))
    assert seen == [1, 2, 1, 2, 1]


def test_a_halo_in_a_model_keeps_its_rows_and_leaves_the_state_alone():
    run(3, in_a_model)


def test_a_process_alone_needs_no_process_group():
    part = meshpart.split(MESHES["triangles"], np.zeros(MESHES["triangles"].n_cells, int), 1, ghost_layers=1)[0]
    halo = mt.Halo(part)
    x = torch.rand(halo.n_local, requires_grad=True)
    assert torch.equal(halo.exchange(x), x)
    halo.loss(halo.start(halo.reduce(halo.refresh(x))).wait()).backward()
    assert torch.equal(x.grad, torch.full_like(x, 1 / len(x)))
    assert torch.equal(halo.gather(halo.scatter(x)), x)
    assert halo.mean(x) == pytest.approx(float(x.detach().mean()))


def subgroups() -> None:
    world = dist.get_rank()
    groups = [dist.new_group([3, 1]), dist.new_group([0, 2])]  # ranks of a group ascend by those of the world
    group = groups[0 if world % 2 else 1]
    rank = dist.get_rank(group)
    for given in (group, torch.distributed.device_mesh.DeviceMesh.from_group(group, "cpu")):
        halo = mt.Halo(parts_of("triangles", "curve", 1, 2)[rank], group=given)
        x = halo.global_ids.double() + world % 2
        assert torch.equal(halo.exchange(x[: halo.n_owned]), x)
        loss = halo.loss(x[: halo.n_owned])
        assert loss == pytest.approx((halo.n_global - 1) / 2 + world % 2)
        whole = halo.gather(x[: halo.n_owned], dst=1)
        assert (whole is not None) == (rank == 1)


def test_halos_of_subgroups_do_not_meet():
    run(4, subgroups)


class Branch(torch.nn.Module):
    """A network with a module that not all ranks use."""

    def __init__(self, halo: mt.Halo) -> None:
        super().__init__()
        self.halo, self.first, self.some, self.last = halo, *(torch.nn.Linear(3, 3) for _ in range(3))

    def forward(self, x: Any, use: bool) -> Any:
        y = self.halo.refresh(torch.tanh(self.first(x)))
        if use:
            y = y + self.some(x)
        return self.last(self.halo.refresh(torch.tanh(y)))


def unused(own: bool) -> str:
    warnings.simplefilter("default")  # torch's own: on some ranks all parameters are used
    group = dist.new_group() if own else None
    halo = mt.Halo(parts_of("triangles", "curve", 1, dist.get_world_size())[dist.get_rank()], group=group)
    model = torch.nn.parallel.DistributedDataParallel(Branch(halo), find_unused_parameters=True, bucket_cap_mb=1e-5)
    try:
        found = model(torch.rand(halo.n_local, 3), dist.get_rank() != 1)
        halo.loss(found[: halo.n_owned].square()).backward()
    except RuntimeError as error:
        return str(error)
    for parameter in model.parameters():
        everywhere = halo.group.all_gather(parameter.grad)
        assert torch.equal(everywhere[0], everywhere[-1])
    return "fine"


def test_a_halo_beside_parameters_that_not_all_ranks_use_needs_a_group_of_its_own():
    assert run_alone(3, unused, True) == ["fine"] * 3
    assert "fine" not in run_alone(3, unused, False, wait=2)


# -- from and to the whole mesh -----------------------------------------------------------------------------


def whole_arrays(kind: str) -> None:
    mesh = MESHES["triangles"]
    for entity in ("points", "cells"):
        part = parts_of("triangles", kind, 1, dist.get_world_size())[dist.get_rank()]
        halo = mt.Halo(part, entity)
        for trailing in ((), (2,), (0,)):
            x = torch.rand(halo.n_global, *trailing, generator=torch.Generator().manual_seed(1))
            mine = halo.take(x)
            assert torch.equal(mine, x[halo.global_ids])
            for rank in {0, dist.get_world_size() - 1}:
                assert torch.equal(halo.scatter(x if dist.get_rank() == rank else None, rank), mine)
                again = halo.gather(mine[: halo.n_owned], rank)
                assert again is None if dist.get_rank() != rank else torch.equal(again, x)
    assert mesh.n_cells == halo.n_global


@SIZES
@pytest.mark.parametrize("kind", ["scattered", "empty", "alone"])
def test_arrays_of_the_whole_mesh_go_out_and_come_back(size, kind):
    run(size, whole_arrays, kind)


def fields() -> None:
    mesh = interleaved()
    from dataclasses import replace

    blocks = [np.arange(len(block)) + 100.0 * number for number, block in enumerate(mesh.blocks)]
    mesh = replace(
        mesh,
        point_data={"x": mesh.points.astype(">f4"), "words": np.full(len(mesh.points), "a")},
        cell_data={"y": blocks},
    )
    size, rank = dist.get_world_size(), dist.get_rank()
    part = meshpart.split(mesh, labels_of(mesh, size, "scattered"), size, ghost_layers=1, only=[rank])[0]
    points, cells = mt.Halo(part, "points"), mt.Halo(part, "cells")
    assert torch.equal(points.field("x"), points.take(torch.tensor(mesh.points, dtype=torch.float32)))
    assert torch.equal(cells.field("y"), cells.take(torch.tensor(np.concatenate(blocks))))
    points.field("x")[:] = 0
    assert points.field("x").abs().sum() > 0
    other = replace(part, mesh=replace(part.mesh, point_data={"x": part.mesh.points[:, 0]}))
    assert points.field("x", other).ndim == 1
    with pytest.raises(meshpart.ArgumentError, match=r"no data of points by the name 'z', it has 'x', 'words'"):
        points.field("z")
    with pytest.raises(meshpart.ArgumentError, match="dtype <U1, which torch does not have"):
        points.field("words")
    with pytest.raises(meshpart.ArgumentError, match=f"part must be part {rank} of the halo's decomposition"):
        points.field("x", meshpart.partition(mesh, 1)[0])


def test_fields_are_copies_in_local_order():
    run(2, fields)
