"""Halo.shard_tensor: the owned rows of all ranks as one ShardTensor, in values and in gradients."""

from __future__ import annotations

from typing import Any

import pytest

from meshpart.errors import ArgumentError

torch = pytest.importorskip("torch")
pytest.importorskip("physicsnemo", reason="needs physicsnemo, in an environment of its own")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.tensor import Shard  # noqa: E402
from uneven_parts import all_ranks, halo_of, owned, start_manager, values  # noqa: E402

SIZES = pytest.mark.parametrize("size", [1, 2, 4])
KINDS = pytest.mark.parametrize("kind", ["uneven", "empty"])

# -- round trips --------------------------------------------------------------------------------------------


def there_and_back(kind: str, *trailing: int) -> None:
    halo = halo_of(kind)
    whole = values(halo.n_global, *trailing)
    x = owned(halo, whole).detach()
    sharded = halo.shard_tensor(x, all_ranks())
    assert type(sharded).__name__ == "ShardTensor"
    assert sharded.shape == whole.shape
    assert sharded.placements == (Shard(0),)
    assert torch.equal(sharded.to_local(), x)
    full, order = sharded.full_tensor(), halo.shard_order()
    assert torch.equal(full, whole[order])
    in_mesh_order = torch.empty_like(full)
    in_mesh_order[order] = full
    assert torch.equal(in_mesh_order, whole)
    counts = halo.counts.tolist()
    assert torch.equal(full, whole) == (max(counts) == halo.n_global)  # parts are not runs of the mesh's rows
    assert torch.equal(halo.shard_tensor(x.flip(-1), all_ranks()).full_tensor(), whole.flip(-1)[order])  # strided
    owners = torch.arange(len(counts)).repeat_interleave(halo.counts)
    assert torch.equal(torch.argsort(owners * halo.n_global + order), torch.arange(halo.n_global))
    assert (min(counts) == 0) == (kind == "empty" and len(counts) > 1)


@SIZES
@KINDS
@pytest.mark.parametrize("trailing", [(3,), (2, 3)])
def test_a_shard_tensor_has_the_rows_of_all_ranks_by_owner_then_id(size, kind, trailing):
    run(size, there_and_back, kind, *trailing)


def one_column(kind: str) -> None:
    halo = halo_of(kind, "cells")
    sharded = halo.shard_tensor(halo.global_ids[: halo.n_owned], all_ranks())
    assert torch.equal(sharded.full_tensor(), halo.shard_order())


@SIZES
@KINDS
def test_sharding_global_ids_gives_the_order_of_the_rows(size, kind):
    run(size, one_column, kind)


def from_one_rank() -> None:
    """What physicsnemo itself scatters is cut into even runs, which are not the parts."""
    from physicsnemo.domain_parallel import register_custom_ops, scatter_tensor

    size, rank = dist.get_world_size(), dist.get_rank()
    start_manager()
    register_custom_ops()
    halo = halo_of("uneven")
    whole, mesh = values(halo.n_global, 3), all_ranks()
    theirs = scatter_tensor(whole.clone() if rank == 0 else None, 0, mesh, (Shard(0),), requires_grad=True)
    assert torch.equal(theirs.full_tensor(), whole)
    assert torch.equal(theirs.to_local(), whole.chunk(size)[rank])
    (theirs**2).sum().backward()
    assert torch.equal(theirs.grad.full_tensor(), 2 * whole)
    ours = halo.scatter(whole if rank == 0 else None)[: halo.n_owned]
    assert torch.equal(halo.shard_tensor(ours, mesh).full_tensor(), whole[halo.shard_order()])
    assert (len(ours) == len(theirs.to_local())) == (size == 1)


@SIZES
def test_scattering_to_the_parts_is_ours_and_to_even_runs_is_theirs(size):
    run(size, from_one_rank)


# -- gradients ----------------------------------------------------------------------------------------------


def to_the_leaf(kind: str) -> None:
    halo = halo_of(kind)
    whole, weights = values(halo.n_global, 3), values(halo.n_global + 1, 3)[1:]
    mine, mesh = halo.global_ids[: halo.n_owned], all_ranks()

    x = owned(halo, whole)
    (halo.shard_tensor(x, mesh) ** 3 * halo.shard_tensor(weights[mine], mesh)).sum().backward()
    assert type(x.grad) is torch.Tensor
    torch.testing.assert_close(x.grad, (3 * whole**2 * weights)[mine], rtol=1e-14, atol=0)

    x = owned(halo, whole)  # through what comes before, and with every rank looking at all rows
    full = halo.shard_tensor(torch.sin(x), mesh).full_tensor()
    (full * weights[halo.shard_order()]).sum().backward()
    torch.testing.assert_close(x.grad, (torch.cos(whole) * weights)[mine], rtol=1e-14, atol=0)

    x = owned(halo, whole)
    (halo.shard_tensor(x, mesh).to_local() ** 2).sum().backward()
    assert torch.equal(x.grad, 2 * x)


@SIZES
@KINDS
def test_gradients_come_to_the_leaf_that_was_sharded(size, kind):
    run(size, to_the_leaf, kind)


def sums_and_means(kind: str) -> None:
    halo = halo_of(kind)
    whole, mesh = values(halo.n_global, 3), all_ranks()
    order = halo.shard_order()
    for reduction in (lambda t: t.sum(), lambda t: (t.sum(0) ** 2).sum(), lambda t: (t**2).sum() / t.numel()):
        x, serial = owned(halo, whole), whole.clone().requires_grad_()
        value, expected = reduction(halo.shard_tensor(x, mesh)), reduction(serial)
        torch.testing.assert_close(value.full_tensor(), expected)
        value.backward()
        expected.backward()
        torch.testing.assert_close(x.grad, serial.grad[halo.global_ids[: halo.n_owned]], rtol=1e-13, atol=1e-15)
    kept = halo.shard_tensor(owned(halo, whole), mesh).mean(1)
    torch.testing.assert_close(kept.full_tensor(), whole.mean(1)[order])


@SIZES
@KINDS
def test_sums_are_those_of_a_serial_run_and_so_are_sums_over_the_number_of_values(size, kind):
    run(size, sums_and_means, kind)


def same_weights() -> None:
    from physicsnemo.domain_parallel import sync_module_over_mesh

    def module(seed: int) -> Any:
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))

    mine = module(dist.get_rank())
    sync_module_over_mesh(mine, all_ranks(), verify=True)
    for name, tensor in module(0).state_dict().items():
        assert torch.equal(mine.state_dict()[name], tensor)


@SIZES
def test_a_module_is_the_same_on_all_ranks_after_sync_module_over_mesh(size):
    run(size, same_weights)


def in_a_domain() -> None:
    """Two samples, each on two ranks: data parallel x domain."""
    square = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    domain = square["domain"]
    halo = halo_of("uneven", group=domain.get_group())
    sample = values(halo.n_global, 3, seed=square["dp"].get_local_rank())
    x = owned(halo, sample)
    sharded = halo.shard_tensor(x, domain)
    assert torch.equal(sharded.full_tensor(), sample[halo.shard_order()])
    (sharded**2).sum().backward()
    assert torch.equal(x.grad, 2 * x)


def test_in_each_domain_of_a_larger_world_a_shard_tensor_has_the_rows_of_its_ranks():
    run(4, in_a_domain)


# -- what does not fit --------------------------------------------------------------------------------------


def refused() -> None:
    halo = halo_of("uneven")
    x, mesh = torch.zeros(halo.n_owned, 3), all_ranks()
    with pytest.raises(ArgumentError, match=rf"n_owned = {halo.n_owned} rows, got the shape \({halo.n_owned + 1}, 3\)"):
        halo.shard_tensor(torch.zeros(halo.n_owned + 1, 3), mesh)
    sharded = halo.shard_tensor(x, mesh)
    with pytest.raises(ArgumentError, match=r"x_owned is a ShardTensor, give this rank's rows: x_owned.to_local\(\)"):
        halo.shard_tensor(sharded, mesh)
    with pytest.raises(ArgumentError, match="x_owned is a ShardTensor"):
        halo.exchange(sharded)


@SIZES
def test_a_shard_tensor_is_not_taken_for_the_rows_of_a_rank(size):
    run(size, refused)
