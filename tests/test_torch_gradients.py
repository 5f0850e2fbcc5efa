"""What becomes of gradients under real wrappers: each right way is right, each wrong one wrong as it is said to be."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from meshes import sfc_labels

import meshpart

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: E402
from wrapped import (  # noqa: E402
    MESH,
    OVER,
    SAME,
    Net,
    Rank,
    add_up,
    all_reduced,
    bare,
    compared,
    flat,
    layout,
    serial,
    sharded,
    values,
    world,
)

import meshpart.torch as mt  # noqa: E402

# -- one domain on all ranks --------------------------------------------------------------------------------


def ddp_local_mean(r: Rank, m: Any) -> None:
    r.rows(m).mean().backward()


def local_share(r: Rank, m: Any) -> None:
    r.share(m).backward()


def scaled_share(r: Rank, m: Any) -> None:
    (r.share(m) * world()).backward()


def halo_loss(r: Rank, m: Any) -> None:
    r.halo.loss(r.rows(m)).backward()


def reduced_loss(r: Rank, m: Any) -> None:
    all_reduced(r.share(m)).backward()


def reduced_loss_and_sum(r: Rank, m: Any) -> None:
    reduced_loss(r, m)
    add_up(m)


def share_and_sum(r: Rank, m: Any) -> None:
    local_share(r, m)
    add_up(m)


def halo_loss_and_sum(r: Rank, m: Any) -> None:
    r.halo.loss(r.rows(m), grads="sum").backward()
    add_up(m)


def halo_loss_averaged_and_sum(r: Rank, m: Any) -> None:
    halo_loss(r, m)
    add_up(m)


def accumulated(r: Rank, m: Any) -> None:
    """In three backward passes, of which the last one synchronises."""
    for part, last in ((0.25, False), (0.25, False), (0.5, True)):
        if hasattr(m, "no_sync"):
            context: Any = contextlib.nullcontext() if last else m.no_sync()
        else:
            context = contextlib.nullcontext()
            m.set_requires_gradient_sync(last)
        with context:
            (part * r.halo.loss(r.rows(m))).backward()


def one(r: int) -> float:
    return 1.0


FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Rank, Any], None], Callable[[int], float]]] = {
    "DDP + local sum / N": (DDP, local_share, lambda n: 1 / n),
    "DDP + local sum * world / N": (DDP, scaled_share, one),
    "FSDP2 + local sum * world / N": (sharded, scaled_share, one),
    "DDP + halo.loss": (DDP, halo_loss, one),
    "FSDP2 + halo.loss": (sharded, halo_loss, one),
    "DDP + all_reduce of the loss": (DDP, reduced_loss, one),
    "DDP + all_reduce of the loss + SUM of gradients": (DDP, reduced_loss_and_sum, float),
    "local sum / N + SUM of gradients": (bare, share_and_sum, one),
    "halo.loss(sum) + SUM of gradients": (bare, halo_loss_and_sum, one),
    "DDP + halo.loss + SUM of gradients": (DDP, halo_loss_averaged_and_sum, float),
    "DDP + no_sync": (DDP, accumulated, one),
    "FSDP2 + set_requires_gradient_sync": (sharded, accumulated, one),
}


def form(name: str, empty: bool) -> tuple[float, float, float]:
    wrap, step, _ = FORMS[name]
    module = wrap(Net())
    step(Rank(empty=empty), module)
    return compared(flat(module), serial())


@pytest.mark.parametrize("empty", [False, True], ids=["", "with an empty part"])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("name", FORMS)
def test_the_gradient_is_the_serial_one_times_what_is_said(name: str, size: int, empty: bool) -> None:
    for ratio, rest, apart in run(size, form, name, empty):
        assert ratio == pytest.approx(FORMS[name][2](size), rel=SAME)
        assert rest < SAME * size
        assert apart < SAME * size


def local_mean() -> tuple[float, float, float]:
    module = DDP(Net())
    ddp_local_mean(Rank(), module)
    return compared(flat(module), serial())


@pytest.mark.parametrize("size", [2, 4])
def test_ddp_with_local_means_is_off_by_no_single_ratio(size: int) -> None:
    for _, rest, apart in run(size, local_mean):
        assert rest > 0.01
        assert apart < SAME


# -- two samples, each a domain on two of four ranks --------------------------------------------------------


def scaled_by_world(r: Rank, m: Any) -> None:
    (r.share(m) * 4).backward()


def grid(over: str, step: Callable[[Rank, Any], None]) -> tuple[float, float, float]:
    mesh, r = layout()
    module = OVER[over](mesh, Net())
    step(r, module)
    return compared(flat(module), (serial(0) + serial(1)) / 2)


@pytest.mark.parametrize("name", ["DDP over the world", "FSDP2 over both", "FSDP2 over both, flat"])
def test_wrappers_over_data_and_domain_give_the_mean_of_the_samples(name: str) -> None:
    for ratio, rest, apart in run(4, grid, name, halo_loss):
        assert ratio == pytest.approx(1, rel=SAME)
        assert rest < SAME
        assert apart < SAME


def test_a_scale_by_the_world_where_domains_are_smaller_gives_twice_the_gradient() -> None:
    for ratio, rest, _ in run(4, grid, "DDP over the world", scaled_by_world):
        assert ratio == pytest.approx(2, rel=SAME)
        assert rest < SAME


@pytest.mark.parametrize("name", ["DDP over dp", "FSDP2 over dp"])
def test_wrappers_over_the_data_axis_alone_are_wrong_and_ranks_of_a_domain_differ(name: str) -> None:
    results = run(4, grid, name, halo_loss)
    assert all(abs(ratio - 1) > 0.3 and rest > 0.05 for ratio, rest, _ in results)
    assert results[1][2] > 0.5  # rank 1 from rank 0, which is of the same domain
    assert results[2][2] < SAME  # rank 2 has the same part of the other sample


# -- inputs, with deep halos --------------------------------------------------------------------------------


def inputs() -> tuple[float, float]:
    size = world()
    parts = meshpart.split(MESH, sfc_labels(MESH, size), size, ghost_layers=2)
    part = parts[dist.get_rank()]
    halo = mt.Halo(part, "points")
    graph = mt.part_graph(part, "points")
    x = halo.take(values(0)).requires_grad_()
    Net()(x, graph["edge_index"], lambda h: h)[: halo.n_owned].sum().backward()
    whole = values(0).requires_grad_()
    edges = meshpart.point_graph(MESH)
    receivers = torch.repeat_interleave(torch.arange(MESH.n_points), torch.tensor(edges.offsets).diff())
    Net()(whole, (torch.tensor(edges.targets), receivers), lambda h: h).sum().backward()
    expected = halo.take(whole.grad)[: halo.n_owned]

    def off(found: Any) -> float:
        return float((found - expected).abs().max() / whole.grad.abs().max())

    return off(x.grad[: halo.n_owned]), off(halo.reduce(x.grad))


@pytest.mark.parametrize("size", [2, 4])
def test_gradients_of_inputs_in_deep_halos_are_whole_after_a_reduce_and_not_before(size: int) -> None:
    results = run(size, inputs)
    assert max(before for before, _ in results) > 0.01
    assert max(after for _, after in results) < SAME
