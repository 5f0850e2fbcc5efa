"""What becomes of gradients under real wrappers: each right way is right, each wrong one wrong as it is said to be."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from meshes import sfc_labels, triangles

import meshpart
from meshpart.errors import ArgumentError, MeshpartError

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(9, 8)
SAME = 1e-12


class Net(nn.Module):
    """Two steps of message passing."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encode, self.decode = nn.Linear(2, 8).double(), nn.Linear(8, 1).double()
        self.steps = nn.ModuleList(nn.Linear(16, 8).double() for _ in range(2))

    def forward(self, x: Any, edges: Any, refresh: Callable[[Any], Any]) -> Any:
        senders, receivers = edges
        h = torch.tanh(self.encode(x))
        for step in self.steps:
            h = refresh(h)
            messages = torch.tanh(step(torch.cat([h[senders], h[receivers]], dim=1)))
            h = h + torch.zeros_like(h).index_add(0, receivers, messages)
        return self.decode(h)


def flat(module: nn.Module) -> Any:
    """The gradients of all parameters in a row."""
    grads = [parameter.grad for parameter in module.parameters()]
    return torch.cat([(g.full_tensor() if hasattr(g, "full_tensor") else g).flatten() for g in grads])


def values(sample: int) -> Any:
    """What each point has, in a sample."""
    ids = torch.arange(MESH.n_points, dtype=torch.float64)
    return torch.stack([torch.cos((1 + sample) * ids), ids / MESH.n_points], dim=1)


def serial(sample: int = 0) -> Any:
    """The gradient of a process alone."""
    graph = meshpart.point_graph(MESH)
    receivers = torch.repeat_interleave(torch.arange(MESH.n_points), torch.tensor(graph.offsets).diff())
    net = Net()
    net(values(sample), (torch.tensor(graph.targets), receivers), lambda h: h).square().mean().backward()
    return flat(net)


class Rank:
    """This rank's part, in a domain of the ranks of a group: small parts and large ones, one may be empty."""

    def __init__(self, group: Any = None, sample: int = 0, empty: bool = False) -> None:
        rank, size = dist.get_rank(group), dist.get_world_size(group)
        labels = sfc_labels(MESH, size)
        labels[: MESH.n_cells // 3] = size - 1
        if empty:
            labels[labels == 0] = size - 1
        part = meshpart.split(MESH, labels, size, ghost_layers=1)[rank]
        self.halo = mt.Halo(part, "points", group)
        self.edges = mt.part_graph(part, "points", steps=1)["edge_index"]
        self.x = self.halo.take(values(sample))
        self.n_global = MESH.n_points

    def rows(self, module: nn.Module) -> Any:
        """The loss of each owned row."""
        return module(self.x, self.edges, self.halo.refresh)[: self.halo.n_owned].square()

    def share(self, module: nn.Module) -> Any:
        return self.rows(module).sum() / self.n_global


def world() -> int:
    return dist.get_world_size()


def add_up(module: nn.Module) -> None:
    for parameter in module.parameters():
        dist.all_reduce(parameter.grad)


def sharded(module: nn.Module) -> Any:
    mesh = init_device_mesh("cpu", (world(),))
    fully_shard(module.decode if hasattr(module, "decode") else module.outer, mesh=mesh)
    return fully_shard(module, mesh=mesh)


def all_reduced(value: Any) -> Any:
    """The sum over all ranks, whose backward is a sum over all ranks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has a newer name for it, without a gradient
        return torch.distributed.nn.functional.all_reduce(value)


def compared(found: Any, expected: Any) -> tuple[float, float, float]:
    """The ratio of gradients, what is left of their difference then, and how far ranks are from the first."""
    everyone = [torch.empty_like(found) for _ in range(world())]
    dist.all_gather(everyone, found)
    largest = expected.abs().max()
    ratio = found @ expected / (expected @ expected)
    rest = (found - ratio * expected).abs().max() / largest
    return float(ratio), float(rest), float((found - everyone[0]).abs().max() / largest)


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


def bare(module: nn.Module) -> nn.Module:
    return module


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


def layout() -> tuple[Any, Rank]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    return mesh, Rank(mesh["domain"].get_group(), sample=mesh["dp"].get_local_rank())


def scaled_by_world(r: Rank, m: Any) -> None:
    (r.share(m) * 4).backward()


GRIDS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Rank, Any], None]]] = {
    "DDP over the world": (lambda mesh, m: DDP(m), halo_loss),
    "DDP over the world, scale = world": (lambda mesh, m: DDP(m), scaled_by_world),
    "DDP over dp": (lambda mesh, m: DDP(m, process_group=mesh["dp"].get_group()), halo_loss),
    "FSDP2 over both": (lambda mesh, m: fully_shard(m, mesh=mesh), halo_loss),
    "FSDP2 over both, flat": (lambda mesh, m: sharded(m), halo_loss),
    "FSDP2 over dp": (lambda mesh, m: fully_shard(m, mesh=mesh["dp"]), halo_loss),
}


def grid(name: str) -> tuple[float, float, float]:
    wrap, step = GRIDS[name]
    mesh, r = layout()
    module = wrap(mesh, Net())
    step(r, module)
    return compared(flat(module), (serial(0) + serial(1)) / 2)


@pytest.mark.parametrize("name", ["DDP over the world", "FSDP2 over both", "FSDP2 over both, flat"])
def test_wrappers_over_data_and_domain_give_the_mean_of_the_samples(name: str) -> None:
    for ratio, rest, apart in run(4, grid, name):
        assert ratio == pytest.approx(1, rel=SAME)
        assert rest < SAME
        assert apart < SAME


def test_a_scale_by_the_world_where_domains_are_smaller_gives_twice_the_gradient() -> None:
    for ratio, rest, _ in run(4, grid, "DDP over the world, scale = world"):
        assert ratio == pytest.approx(2, rel=SAME)
        assert rest < SAME


@pytest.mark.parametrize("name", ["DDP over dp", "FSDP2 over dp"])
def test_wrappers_over_the_data_axis_alone_are_wrong_and_ranks_of_a_domain_differ(name: str) -> None:
    results = run(4, grid, name)
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


# -- check_gradients ----------------------------------------------------------------------------------------


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
    wraps = {
        **{key: wrap for key, (wrap, _) in GRIDS.items()},
        "DDP over domain": lambda mesh, m: DDP(m, process_group=mesh["domain"].get_group()),
    }
    try:
        mt.check_gradients(lambda m: wraps[name](mesh, m), r.halo, data_group=mesh["dp"] if over_samples else None)
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


def not_checked() -> list[str]:
    words = []
    halo = Rank().halo
    for given in ((lambda m: None, halo), (DDP, "halo")):
        with pytest.raises(ArgumentError) as caught:
            mt.check_gradients(*given)
        words.append(str(caught.value))
    return words


def test_arguments_of_the_self_test_are_checked() -> None:
    assert (
        run(2, not_checked)
        == [["wrap(module) must be a torch.nn.Module, got NoneType", "halo must be a Halo, got str"]] * 2
    )
