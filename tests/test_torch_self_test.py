"""check_gradients: it lets through what is right, and tells what is wrong with all else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from meshpart.errors import ArgumentError, MeshpartError

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: E402
from wrapped import (  # noqa: E402
    MESH,
    OVER,
    Rank,
    add_up,
    all_reduced,
    bare,
    layout,
    sharded,
    world,
)

import meshpart.torch as mt  # noqa: E402


def tripled(module: nn.Module) -> None:
    for parameter in module.parameters():
        parameter.grad *= 3


def reduced_twice(module: nn.Module) -> None:
    add_up(module)
    add_up(module)


def sums_in_hooks(module: nn.Module) -> nn.Module:
    for parameter in module.parameters():
        parameter.register_post_accumulate_grad_hook(lambda p: dist.all_reduce(p.grad) and None)
    return module


CHECKS: dict[str, tuple[Any, dict[str, Any], str | None]] = {
    "DDP": (DDP, {}, None),
    "FSDP2": (sharded, {}, None),
    "a sum": (bare, {"grads": "sum", "after": add_up}, None),
    "a sum in hooks": (sums_in_hooks, {"grads": "sum"}, None),
    "nothing": (bare, {}, "ranks differ, by up to"),
    "nothing, for a sum": (bare, {"grads": "sum"}, "ranks differ, by up to"),
    "a sum after DDP": (DDP, {"after": add_up}, "are {size} times a serial run's: they are added up over the ranks"),
    "a sum for an average": (
        bare,
        {"after": add_up},
        "are {size} times a serial run's: they are added up over the ranks",
    ),
    "an average for a sum": (DDP, {"grads": "sum"}, 'are {part} times a serial run\'s: .* give grads="average"'),
    "two sums": (bare, {"grads": "sum", "after": reduced_twice}, "are {size} times .* added up twice"),
    "a local mean": (
        DDP,
        {"loss": lambda rows: rows.mean()},
        "no common ratio: .* no mean of local|0.5 times",
    ),
    "a share": (DDP, {"loss": lambda rows: rows.sum() / MESH.n_points}, "are {part} times .*: give halo.loss"),
    "a reduced loss": (DDP, {"loss": lambda rows: all_reduced(rows.sum()) / MESH.n_points}, None),
    "a share and a sum": (bare, {"loss": lambda rows: rows.sum() / MESH.n_points, "after": add_up}, None),
    "a factor": (DDP, {"after": tripled}, "are 3 times a serial run's: after backward they are neither"),
}


def check(name: str, empty: bool) -> str | None:
    wrap, options, said = CHECKS[name]
    before = torch.get_rng_state()
    halo = Rank(empty=empty).halo
    if said is None:
        mt.check_gradients(wrap, halo, **options)
        assert torch.equal(torch.get_rng_state(), before)  # a run's random numbers do not depend on it
        return None
    with pytest.raises(MeshpartError) as caught:
        mt.check_gradients(wrap, halo, **options)
    return str(caught.value)


@pytest.mark.parametrize("empty", [False, True], ids=["", "with an empty part"])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("name", CHECKS)
def test_the_self_test_lets_through_what_is_right_and_tells_the_ratio_of_what_is_not(
    name: str, size: int, empty: bool
) -> None:
    words = run(size, check, name, empty)
    assert words == words[:1] * size
    said = CHECKS[name][2]
    if said is not None:
        assert re.search(said.format(size=size, part=1 / size), words[0] or "")


def check_grid(name: str, over_samples: bool) -> str | None:
    mesh, r = layout()
    try:
        mt.check_gradients(lambda m: OVER[name](mesh, m), r.halo, data_group=mesh["dp"] if over_samples else None)
    except MeshpartError as error:
        return str(error)
    return None


@pytest.mark.parametrize("over_samples", [False, True])
def test_the_self_test_knows_layouts_of_data_and_domain(over_samples: bool) -> None:
    for name in ("DDP over the world", "FSDP2 over both", "FSDP2 over both, flat"):
        assert run(4, check_grid, name, over_samples) == [None] * 4
    for name in ("DDP over dp", "FSDP2 over dp"):
        for words in run(4, check_grid, name, over_samples):
            assert words is not None
            assert "the gradients of the 2 ranks differ" in words
            assert "not over the data axis alone" in words


def test_samples_that_are_not_averaged_are_found_where_the_self_test_is_told_of_them() -> None:
    assert run(4, check_grid, "DDP over domain", False) == [None] * 4
    words = run(4, check_grid, "DDP over domain", True)
    assert words[0] == words[1] != words[2] == words[3]  # sample 0 is weighted by 1, sample 1 by 2
    for ratio, said in zip(("0.666667", "1.33333"), words[::2], strict=True):
        assert said is not None
        assert f"are {ratio} times a serial run's: they are not averaged over data_group" in said


def half() -> tuple[str, None]:
    from torch.distributed.fsdp import MixedPrecisionPolicy

    policy = MixedPrecisionPolicy(param_dtype=torch.float32)
    mesh = init_device_mesh("cpu", (world(),))

    def coarse(module: nn.Module) -> nn.Module:
        return fully_shard(module, mesh=mesh, mp_policy=policy)

    halo = Rank().halo
    with pytest.raises(MeshpartError) as caught:
        mt.check_gradients(coarse, halo)
    return str(caught.value), mt.check_gradients(coarse, halo, rtol=1e-5)


def test_a_wrapper_of_lower_precision_needs_a_larger_tolerance() -> None:
    for words, _ in run(2, half):
        assert "a wrapper that computes in lower precision needs a larger rtol" in words


def single() -> None:
    mt.check_gradients(lambda m: DDP(m.float()), Rank().halo, rtol=1e-5)
    with pytest.raises(MeshpartError, match=r"are 0\.5 times a serial run's"):
        mt.check_gradients(lambda m: DDP(m.float()), Rank().halo, rtol=1e-5, grads="sum")


def test_a_wrapper_may_move_the_parameters_to_another_dtype() -> None:
    run(2, single)


def off_by_little(module: nn.Module) -> None:
    for parameter in module.parameters():
        parameter.grad *= 1 + 1e-6


def lost_on_rank_1(module: nn.Module) -> None:
    for parameter in module.parameters():
        parameter.grad.fill_(float("nan") if dist.get_rank() == 1 else 1.0)


def not_passed() -> None:
    for after, said in (
        (off_by_little, "off by 1e-06 of the largest, all alike, and rtol is 1e-09: give a larger one if"),
        (lost_on_rank_1, "the gradients are not finite on 1 of 2 ranks, as rank 1"),
    ):
        with pytest.raises(MeshpartError, match=said):
            mt.check_gradients(DDP, Rank().halo, after=after)


def test_what_is_off_by_little_or_no_number_is_told_so() -> None:
    run(2, not_passed)


ARGUMENTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"wrap": lambda m: None}, "wrap(module) must be a torch.nn.Module, got NoneType"),
    ({"wrap": None}, "wrap must be callable, got None"),
    ({"wrap": lambda m: DDP(nn.Sequential(m, nn.Linear(1, 1)))}, "of module, of [6, 3, 3, 1] elements, it has [6, 3"),
    ({"halo": "halo"}, "halo must be a Halo, got str"),
    ({"after": 3}, "after must be callable, got 3"),
    ({"loss": 3}, "loss must be callable, got 3"),
    ({"rtol": "1e-3"}, "rtol must be a number of at least 0, got '1e-3'"),
    ({"rtol": float("nan")}, "rtol must be a number of at least 0, got nan"),
    ({"rtol": -1}, "rtol must be a number of at least 0, got -1"),
)


def not_checked() -> None:
    for given, said in ARGUMENTS:
        with pytest.raises(ArgumentError, match=re.escape(said)):
            mt.check_gradients(**{"wrap": DDP, "halo": Rank().halo, **given})


def test_arguments_of_the_self_test_are_checked() -> None:
    run(2, not_checked)
