"""Halo.loss, part_loss and the metrics: one value on all ranks, the shares of the serial gradient, clear errors."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import pytest
from meshes import sfc_labels, triangles

import meshpart
from meshpart import ArgumentError, MeshpartError

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(9, 8)
SIZES = pytest.mark.parametrize("size", [1, 2, 3, 4, 8])


def halo_of(**options: Any) -> mt.Halo:
    """The halo of this rank's part; the last rank has nothing where there are more than two."""
    size = dist.get_world_size()
    labels = sfc_labels(MESH, max(size - 1, 1) if size > 2 else size)
    return mt.Halo(meshpart.split(MESH, labels, size, ghost_layers=1, only=[dist.get_rank()])[0], **options)


def summed(tensor: torch.Tensor) -> torch.Tensor:
    total = tensor.clone()
    dist.all_reduce(total)
    return total


# -- values and gradients -----------------------------------------------------------------------------------


def losses(trailing: tuple[int, ...], reduction: str, weighted: bool) -> None:
    halo = halo_of()
    x = torch.cos(torch.arange(halo.n_global * 6, dtype=torch.float64)).view(halo.n_global, -1)
    x = x[:, : max(1, int(torch.tensor(trailing).prod()))].reshape(halo.n_global, *trailing)
    w = torch.arange(halo.n_global, dtype=torch.float64) % 4 if weighted else torch.ones(halo.n_global).double()
    a = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    by_row = w.view(-1, *[1] * len(trailing)).expand_as(x)
    serial = (by_row * (a * x) ** 2).sum() / (by_row.sum() if reduction == "mean" else 1)
    (expected,) = torch.autograd.grad(serial, a)
    mine = halo.take(x)[: halo.n_owned]
    weight = halo.take(w)[: halo.n_owned] if weighted else None
    for grads in ("average", "sum"):
        loss = halo.loss((a * mine) ** 2, weight, reduction, grads)
        assert loss.dtype == torch.float64
        assert float(loss.detach()) == pytest.approx(float(serial.detach()), rel=1e-14)
        (grad,) = torch.autograd.grad(loss, a)
        total = summed(grad) / (dist.get_world_size() if grads == "average" else 1)
        assert float(total) == pytest.approx(float(expected), rel=1e-14)


@SIZES
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_the_serial_one_on_all_ranks_and_so_is_its_gradient(size, reduction, weighted):
    run(size, losses, (), reduction, weighted)
    run(size, losses, (3,), reduction, weighted)
    run(size, losses, (2, 3), reduction, weighted)


def twice() -> None:
    halo = halo_of()
    x = halo.global_ids[: halo.n_owned].double().requires_grad_()
    (grad,) = torch.autograd.grad(halo.loss(x**3, grads="sum"), x, create_graph=True)
    (found,) = torch.autograd.grad(grad.sum(), x)
    torch.testing.assert_close(found, 6 * x.detach() / halo.n_global)


def test_the_loss_is_differentiable_twice():
    run(3, twice)


def normalised(by_loss: bool) -> float:
    """How far the gradient is from the serial one where rows are normalised over the mesh on the way to the loss."""
    halo = halo_of()
    x = torch.cos(torch.arange(halo.n_global, dtype=torch.float64))
    a = torch.tensor([1.5, 0.3], dtype=torch.float64, requires_grad=True)

    def rows(x: torch.Tensor, mean: Any) -> torch.Tensor:
        h = torch.tanh(a[0] * x + a[1])
        away = h - mean(h)
        return (away / (mean(away**2) + 0.1).sqrt() - x**3) ** 2

    def over_ranks(h: torch.Tensor) -> torch.Tensor:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch has another name for it
            return torch.distributed.nn.functional.all_reduce(h.sum()) / halo.n_global

    (expected,) = torch.autograd.grad(rows(x, torch.mean).mean(), a)
    mean = functools.partial(halo.loss, grads="sum") if by_loss else over_ranks
    (grad,) = torch.autograd.grad(halo.loss(rows(halo.take(x)[: halo.n_owned], mean), grads="sum"), a)
    return float((summed(grad) - expected).abs().max() / expected.abs().max())


def test_statistics_on_the_way_take_an_all_reduce_with_a_gradient_and_no_loss():
    assert max(run(3, normalised, False)) < 1e-13
    assert min(run(3, normalised, True)) > 0.01


def in_low_precision() -> None:
    halo = halo_of()
    ones = torch.full((halo.n_owned, 60000), 1.0)
    for dtype in (torch.float16, torch.bfloat16):
        loss = halo.loss(ones.to(dtype))
        assert loss.dtype == torch.float32
        assert float(loss) == 1.0
        assert float(halo.loss(ones.to(dtype), reduction="sum")) == halo.n_global * 60000.0


def test_many_rows_of_low_precision_lose_nothing():
    assert torch.isinf(torch.full((3_000_000,), 1.0, dtype=torch.float16).sum())
    run(2, in_low_precision)


def infinite() -> None:
    halo = halo_of()
    per_row = torch.zeros(halo.n_owned, requires_grad=True)
    bad = per_row + (torch.inf if dist.get_rank() == 0 else 0.0)
    assert float(halo.loss(bad).detach()) == torch.inf
    assert torch.isnan(halo.loss(bad * torch.nan).detach())


def test_infinite_and_undefined_losses_stay_so_on_all_ranks():
    run(2, infinite)


# -- errors: on all ranks or on none ------------------------------------------------------------------------


def refused(fault: str) -> tuple[str, str]:
    halo, last = halo_of(), dist.get_rank() == dist.get_world_size() - 1
    per_row, weight, options = torch.ones(halo.n_owned, 2), torch.ones(halo.n_owned), {}
    if fault == "zeros":
        weight = weight * 0
    elif fault == "rows" and last:
        per_row = torch.ones(halo.n_local + 1, 2)
    elif fault == "gradient" and last:
        weight = weight.requires_grad_()
    elif fault == "weights" and last:
        weight = torch.ones(halo.n_owned, 2)
    elif fault == "integers" and last:
        per_row = per_row.long()
    elif fault == "reduction" and last:
        options = {"reduction": "max"}
    elif fault == "trailing" and last:
        per_row = torch.ones(halo.n_owned, 3)
    elif fault == "broadcast" and last:
        per_row = per_row[:, :1] - weight
    elif fault == "nothing":
        per_row = None
    with pytest.raises(MeshpartError) as caught:
        halo.loss(per_row, weight, **options)
    x = halo.global_ids.double()  # and the next call is in step again
    assert torch.equal(halo.exchange(x[: halo.n_owned]), x)
    return type(caught.value).__name__, str(caught.value)


@pytest.mark.parametrize(
    ("fault", "there", "elsewhere"),
    [
        ("rows", "per_row must have n_owned", "loss: rank 1 refused its arguments"),
        ("gradient", "weight must not require a gradient", "loss: rank 1 refused its arguments"),
        ("weights", "weight must have the shape", "loss: rank 1 refused its arguments"),
        ("integers", "per_row must be floating point, got torch.int64", "loss: rank 1 refused its arguments"),
        ("reduction", "reduction must be one of mean, sum, got 'max'", "loss: rank 1 refused its arguments"),
        ("trailing", "the same trailing shape on all ranks", "the same trailing shape on all ranks"),
        ("broadcast", ",): (n, 1) and (n,) make (n, n)", "the same trailing shape on all ranks, here it is (2,)"),
        ("zeros", "the weights of all rows sum to 0", "the weights of all rows sum to 0"),
        ("nothing", "per_row must be a torch.Tensor, got NoneType", "per_row must be a torch.Tensor, got NoneType"),
    ],
)
def test_a_wrong_argument_of_one_rank_raises_on_all(fault, there, elsewhere):
    (_, first), (kind, last) = run(2, refused, fault)
    assert there in last
    assert kind == "ArgumentError"
    assert elsewhere in first


# -- metrics ------------------------------------------------------------------------------------------------


def metrics() -> None:
    halo = halo_of()
    x = 1e8 + torch.cos(torch.arange(halo.n_global * 2, dtype=torch.float64)).view(-1, 2)
    mine = halo.take(x)[: halo.n_owned].requires_grad_()
    torch.testing.assert_close(halo.mean(mine), x.mean(0), rtol=1e-15, atol=0)
    torch.testing.assert_close(halo.std(mine), x.std(0, correction=0), rtol=1e-7, atol=0)
    assert torch.equal(halo.max(mine), x.amax(0))
    assert not halo.mean(mine).requires_grad
    w = (torch.arange(halo.n_global) % 3 == 0).double()
    kept = x[w > 0]
    weight = halo.take(w)[: halo.n_owned]
    torch.testing.assert_close(halo.mean(mine, weight), kept.mean(0), rtol=1e-15, atol=0)
    torch.testing.assert_close(halo.std(mine, weight), kept.std(0, correction=0), rtol=1e-7, atol=0)
    assert int(halo.max(halo.global_ids[: halo.n_owned])) == halo.n_global - 1
    assert int(halo.max(-1 - halo.global_ids[: halo.n_owned])) == -1
    with pytest.raises(ArgumentError, match="the weights of all rows sum to 0"):
        halo.mean(mine, weight * 0)
    with pytest.raises(ArgumentError, match="x_owned must have n_owned"):
        halo.mean(x[:0] if halo.n_owned else x)


@SIZES
def test_metrics_count_each_row_once(size):
    run(size, metrics)


# -- parts one after another --------------------------------------------------------------------------------


def test_part_losses_add_up_to_the_serial_mean():
    rows = torch.linspace(-1, 3, 12).view(6, 2)
    loss = mt.part_loss(rows[:4], 6) + mt.part_loss(rows[4:], 6) + mt.part_loss(rows[:3], 6, torch.tensor(0.0))
    torch.testing.assert_close(loss, rows.mean())
    w = torch.tensor([0.0, 1.0, 2.0, 0.0, 1.0, 3.0])
    loss = mt.part_loss(rows[:4], 7, w[:4]) + mt.part_loss(rows[4:], 7, w[4:])
    torch.testing.assert_close(loss, (w[:, None] * rows).sum() / (2 * w.sum()))


def share() -> None:
    assert float(mt.part_loss(torch.ones(3), 12)) == dist.get_world_size() * 3 / 12


def test_part_losses_are_scaled_for_averaged_gradients():
    run(3, share)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((torch.ones(3), 0), "n_global must be a positive number, got 0"),
        ((torch.ones(3), float("nan")), "n_global must be a positive number, got nan"),
        ((torch.ones(3), True), "n_global must be a positive number, got True"),
        ((torch.ones(3), 3, torch.ones(2)), r"weight must have the shape \(3,\), one a row, got \(2,\)"),
        ((torch.ones(()), 3), "per_row must have rows, got a tensor without dimensions"),
        ((torch.ones(3, 0), 3), "per_row has nothing in its rows"),
        ((torch.ones(3).long(), 3), "per_row must be floating point, got torch.int64"),
        (([1.0], 3), "per_row must be a torch.Tensor, got list"),
    ],
)
def test_part_loss_refuses_what_does_not_fit(given, message):
    with pytest.raises(ArgumentError, match=message):
        mt.part_loss(*given)
