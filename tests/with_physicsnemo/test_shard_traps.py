"""What ShardTensor, DTensor and the manager of physicsnemo do to gradients and rows that a user must know of.

Each wrong way is asserted wrong, so that it is noticed when it no longer is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("physicsnemo", reason="needs physicsnemo, in an environment of its own")

import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from ranks import run, run_alone  # noqa: E402
from torch.distributed.tensor import DTensor, Shard  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402
from uneven_parts import all_ranks, halo_of, owned, start_manager, values  # noqa: E402

SIZES = pytest.mark.parametrize("size", [1, 2, 4])
PARALLEL = pytest.mark.parametrize("size", [2, 4])


def error(got: Any, expected: Any) -> float:
    """The largest difference to the serial run's, relative to its largest value; of nothing 0."""
    return 0.0 if not len(expected) else float((got - expected).abs().max() / expected.abs().max())


# -- after backward every rank has the serial gradient ------------------------------------------------------


def gradient(loss: Callable[[Any], Any], x: Any, wrap: Callable[[Any], Any] = lambda model: model) -> Any:
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    wrapped = wrap(model)  # which must be there in backward
    loss(wrapped(x)).backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def ratios() -> None:
    halo, size = halo_of("uneven"), dist.get_world_size()
    whole = values(halo.n_global, 3)
    sharded = halo.shard_tensor(owned(halo, whole).detach(), all_ranks())
    # The mean's gradient is physicsnemo's to float32 only, in whatever dtype: it divides by a float32 number.
    for loss, rounding in ((lambda y: (y**2).mean(), 1e-6), (lambda y: (y**2).sum() / y.numel(), 1e-13)):
        serial = gradient(loss, whole)
        each = gradient(loss, sharded)
        assert type(each) is torch.Tensor
        assert error(each, serial) < rounding
        averaged = gradient(loss, sharded, DistributedDataParallel)
        assert error(averaged, serial) < rounding
        dist.all_reduce(each)
        torch.testing.assert_close(each / serial, torch.full_like(serial, size), rtol=rounding, atol=0)


@SIZES
def test_every_rank_has_the_serial_gradient_an_average_leaves_it_and_a_sum_makes_it_as_many_times_too_large(size):
    run(size, ratios)


def means_of_nothing() -> None:
    halo = halo_of("empty")
    whole, mesh = values(halo.n_global, 3), all_ranks()
    sharded = halo.shard_tensor(owned(halo, whole), mesh)
    assert sharded.mean().full_tensor().isnan()
    assert sharded.mean(0).full_tensor().isnan().all()
    torch.testing.assert_close((sharded.sum() / sharded.numel()).full_tensor(), whole.mean())
    torch.testing.assert_close((sharded.sum(0) / len(sharded)).full_tensor(), whole.mean(0))


@PARALLEL
def test_a_mean_with_an_empty_part_is_nan_and_a_sum_over_the_number_of_values_is_not(size):
    run(size, means_of_nothing)


# -- losses of torch.nn.functional --------------------------------------------------------------------------

LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "mse": F.mse_loss,
    "smooth_l1": F.smooth_l1_loss,
    "huber": F.huber_loss,
    "by hand": lambda a, b: ((a - b) ** 2).mean(),
    "a sum": lambda a, b: F.mse_loss(a, b, reduction="sum") / a.numel(),
    "by value": lambda a, b: F.mse_loss(a, b, reduction="none").mean(),
}


def against_serial(name: str, *, even: bool) -> tuple[float, float, float]:
    """Return the error of a loss, and the smallest and the largest ratio of its gradient to the serial one."""
    from physicsnemo.domain_parallel import ShardTensor

    halo, mesh, size = halo_of("uneven"), all_ranks(), dist.get_world_size()
    halo.shard_tensor(halo.global_ids[: halo.n_owned], mesh)  # which registers what ShardTensor can do
    counts = [8] * size if even else halo.counts.tolist()
    rows = torch.arange(sum(counts)).split(counts)[dist.get_rank()]

    def shard(x: Any) -> Any:
        return ShardTensor.from_local(x, mesh, [Shard(0)], sharding_shapes={0: [(n_rows, 3) for n_rows in counts]})

    whole, target = values(sum(counts), 3), values(sum(counts), 3, seed=6)
    x, serial = whole[rows].clone().requires_grad_(), whole.clone().requires_grad_()
    got, expected = LOSSES[name](shard(x), shard(target[rows])), LOSSES[name](serial, target)
    value = got.full_tensor().detach()
    got.backward()
    expected.backward()
    ratio = x.grad / serial.grad[rows]
    return abs(float(value / expected.detach()) - 1), float(ratio.min()), float(ratio.max())


def evenly(name: str) -> tuple[float, float, float]:
    return against_serial(name, even=True)


def unevenly(name: str) -> tuple[float, float, float]:
    return against_serial(name, even=False)


@PARALLEL
@pytest.mark.parametrize("name", ["mse", "smooth_l1", "huber"])
def test_the_means_of_torchs_losses_are_silently_wrong_on_shard_tensors(size, name):
    for value_off, low, high in run(size, unevenly, name):
        assert value_off > 1e-3
        assert low == pytest.approx(high)
        assert abs(low - 1) > 0.1
    for value_off, low, high in run(size, evenly, name):  # the value is right then, the gradient is not
        assert value_off < 1e-12
        assert (low, high) == pytest.approx((size, size))


@PARALLEL
@pytest.mark.parametrize("program", [evenly, unevenly])
@pytest.mark.parametrize("name", ["by hand", "a sum", "by value"])
def test_a_mean_by_hand_is_right_and_so_are_losses_without_a_mean(size, program, name):
    for value_off, low, high in run(size, program, name):
        assert value_off < 1e-12
        assert (low, high) == pytest.approx((1, 1), rel=1e-6)


# -- rows: with other sizes of parts the same calls raise, or abort the process ------------------------------


def as_dtensor() -> None:
    halo, mesh = halo_of("uneven"), all_ranks()
    whole = values(halo.n_global, 3)
    x, right = owned(halo, whole).detach(), whole[halo.shard_order()]
    assert len(DTensor.from_local(x, mesh, [Shard(0)])) == 4 * halo.n_owned != halo.n_global
    told = DTensor.from_local(x, mesh, [Shard(0)], run_check=False, shape=whole.shape, stride=whole.stride())
    full = told.full_tensor()
    assert full.shape == right.shape
    is_there = (full[:, None] == right).all(-1).any(0)
    assert not is_there.all()
    assert torch.equal(halo.shard_tensor(x, mesh).full_tensor(), right)


def test_a_plain_dtensor_of_uneven_shards_silently_loses_rows():
    run(4, as_dtensor)


def rows_of() -> None:
    halo = halo_of("uneven")
    whole = values(halo.n_global, 3)
    sharded, full = halo.shard_tensor(owned(halo, whole).detach(), all_ranks()), whole[halo.shard_order()]
    last = halo.n_global - 1
    for rows in (last, slice(2, last), torch.tensor([0, last])):
        chosen = sharded[rows].full_tensor()
        assert chosen.shape == full[rows].shape
        assert not torch.equal(chosen, full[rows])


def test_rows_of_a_shard_tensor_are_silently_wrong():
    run(4, rows_of)


# -- helpers for gradients and losses that know nothing of parts --------------------------------------------


def accumulated() -> None:
    from physicsnemo.distributed import mark_module_as_shared

    start_manager()
    size = dist.get_world_size()
    model = torch.nn.Linear(1, 1, bias=False)
    mark_module_as_shared(model, None)
    model(torch.ones(1, 1)).sum().backward()
    assert float(model.weight.grad) == size
    model(torch.ones(1, 1)).sum().backward()
    assert float(model.weight.grad) == size * (size + 1)  # what is summed over the ranks already is summed again
    assert size * (size + 1) > 2 * size


@PARALLEL
def test_mark_module_as_shared_sums_accumulated_gradients_again(size):
    run(size, accumulated)


def means_of_ranks() -> None:
    from physicsnemo.distributed.utils import reduce_loss

    start_manager()
    halo = halo_of("uneven")
    whole = values(halo.n_global) ** 2
    mine = owned(halo, whole).detach()
    theirs = reduce_loss(float(mine.mean()))
    torch.testing.assert_close(halo.loss(mine), whole.mean())
    assert (theirs is None) == (dist.get_rank() > 0)
    if theirs is not None:
        assert abs(theirs / float(whole.mean()) - 1) > 1e-3


@PARALLEL
def test_reduce_loss_is_not_the_mean_over_uneven_parts(size):
    run(size, means_of_ranks)


# -- the manager --------------------------------------------------------------------------------------------


def starting() -> None:
    from physicsnemo.distributed import DistributedManager

    dist.destroy_process_group()
    launched = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    with mock.patch.dict(os.environ, launched):
        with pytest.raises(ZeroDivisionError):
            DistributedManager.initialize()
        os.environ["LOCAL_RANK"] = "0"
        with pytest.raises(ValueError, match="device_id parameter must be an accelerator"):
            DistributedManager.initialize()


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a host without CUDA")
def test_the_manager_does_not_start_on_a_host_without_cuda():
    run_alone(1, starting)
