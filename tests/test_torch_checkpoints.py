"""Checkpoints of real models on real ranks: any layout and number of ranks to any other, and serial."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.checkpoint.state_dict import (  # noqa: E402
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.distributed.tensor import Replicate  # noqa: E402
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import meshpart.torch as mt  # noqa: E402
from meshpart.errors import ArgumentError  # noqa: E402

LAYOUTS = ["plain", "ddp", "compiled", "fsdp", "mixed", "hybrid", "tensor"]  # the last two on four ranks
FULL = StateDictOptions(full_state_dict=True, cpu_offload=True)
FROM_RANK_0 = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)


class Net(nn.Module):
    """Rows that no number of ranks divides, buffers, tied and frozen parameters, one that is never used."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.first = nn.Linear(5, 7, dtype=torch.float64)
        self.norm = nn.LayerNorm(7, dtype=torch.float64)
        self.last = nn.Linear(7, 3, dtype=torch.float64)
        self.again = nn.Linear(7, 3, dtype=torch.float64)
        self.again.weight = self.last.weight
        self.head = nn.Linear(2, 2, dtype=torch.float64)
        self.frozen = nn.Parameter(torch.randn(4, 3, dtype=torch.float64), requires_grad=False)
        self.register_buffer("mean", torch.randn(3, dtype=torch.float64))
        self.register_buffer("steps", torch.tensor(seed))
        self.register_buffer("scratch", torch.randn(2), persistent=False)

    def forward(self, x: Any) -> Any:
        hidden = torch.tanh(self.norm(self.first(x)))
        return (self.last(hidden) - self.again(hidden) ** 2 - self.mean) @ self.frozen.T

    def get_extra_state(self) -> Any:
        return {"seen": int(self.steps)}

    def set_extra_state(self, state: Any) -> None:
        assert state["seen"] >= 0


def laid_out(layout: str, seed: int) -> Any:
    """A model in one of the layouts."""
    model = Net(seed)
    if layout == "ddp":
        return DistributedDataParallel(model, find_unused_parameters=True)
    if layout == "compiled":
        model.first = torch.compile(model.first, backend="eager")
        return torch.compile(model, backend="eager")
    if layout == "fsdp":
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        fully_shard(model.first, mesh=mesh)
        return fully_shard(model, mesh=mesh)
    if layout == "mixed":
        fully_shard(model.first, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    if layout == "hybrid":
        return fully_shard(model, mesh=init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard")))
    if layout == "tensor":
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        parallelize_module(model.first, mesh["tp"], ColwiseParallel(output_layouts=Replicate()))
        return fully_shard(model, mesh=mesh["dp"])
    return model


def adam(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.05, amsgrad=True)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    """Take steps whose gradients are the same on every rank."""
    for _ in range(steps):
        optimizer.zero_grad()
        x = torch.linspace(-1, 1, 20, dtype=torch.float64).view(4, 5)
        model(x).square().mean().backward()
        for parameter in model.parameters():
            if (
                isinstance(parameter.grad, torch.Tensor)
                and not hasattr(parameter, "placements")
                and dist.is_initialized()
            ):
                dist.all_reduce(parameter.grad)
                parameter.grad /= dist.get_world_size()
        optimizer.step()


def trained(steps: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state dicts after so many serial steps."""
    model = Net(0)
    optimizer = adam(model)
    train(model, optimizer, steps)
    return model.state_dict(), optimizer.state_dict()


def close(one: Any, other: Any) -> bool:
    """Whether two nested states hold the same, tensors to rounding."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.allclose(one, other, rtol=1e-12, atol=1e-14)
    if isinstance(one, dict):
        return list(one) == list(other) and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(close, one, other))
    return bool(one == other)


def equal(one: Any, other: Any) -> bool:
    """Whether two nested states are the same, bit by bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def whole(state: dict[str, Any]) -> dict[str, Any]:
    """A state dict without shards and prefixes of wrappers."""
    return {
        name.removeprefix("module.").replace("_orig_mod.", ""): t.full_tensor() if hasattr(t, "full_tensor") else t
        for name, t in state.items()
    }


# -- from any layout to any other ---------------------------------------------------------------------------


def save(path: str, layout: str) -> None:
    model = laid_out(layout, 0)
    optimizer = adam(model)
    train(model, optimizer, 3)
    mt.save_full_checkpoint(path, model, optimizer, epoch=3)


def load(path: str, layout: str) -> tuple[Any, Any, Any]:
    """The model's state once loaded, its state after two more steps, and the extra."""
    model = laid_out(layout, 1)
    optimizer = adam(model)
    extra = mt.load_full_checkpoint(path, model, optimizer)
    loaded = {name: t.clone() if isinstance(t, torch.Tensor) else t for name, t in whole(model.state_dict()).items()}
    train(model, optimizer, 2)
    return loaded, whole(model.state_dict()), extra


@pytest.mark.parametrize("saved", LAYOUTS)
def test_four_ranks_save_any_layout_and_load_it_into_any_other_and_go_on(saved: str, tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    run(4, save, path, saved)
    content = torch.load(path, weights_only=True)
    model, optimizer = trained(3)
    assert close(content["model"], model)
    by_number = list(dict(Net(0).named_parameters()))  # amsgrad's state is keyed by number in a serial run
    assert close(
        {by_number.index(name): state for name, state in content["optimizer"]["state"].items()}, optimizer["state"]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["model.pt"]
    for layout in LAYOUTS:
        for loaded, later, extra in run(4, load, path, layout):
            assert equal(loaded, content["model"])
            assert close(later, trained(5)[0])
            assert extra == {"epoch": 3}


@pytest.mark.parametrize(("there", "here"), [(2, 1), (2, 3), (3, 2), (1, 4), (4, 2)])
def test_shards_of_some_ranks_become_those_of_others(there: int, here: int, tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    run(there, save, path, "fsdp")
    content = torch.load(path, weights_only=True)
    for loaded, later, extra in run(here, load, path, "fsdp"):
        assert equal(loaded, content["model"])
        assert close(later, trained(5)[0])
        assert extra == {"epoch": 3}


def test_without_torch_distributed_a_process_loads_what_ranks_saved_and_the_other_way_round(tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    run(2, save, path, "fsdp")
    loaded, later, extra = load(path, "plain")
    assert equal(loaded, torch.load(path, weights_only=True)["model"])
    assert close(later, trained(5)[0])
    save(path, "plain")
    assert close(run(3, load, path, "mixed")[2], (trained(3)[0], trained(5)[0], extra))


def test_the_file_needs_no_meshpart(tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    run(2, save, path, "fsdp")
    content = torch.load(path, weights_only=True)
    model = Net(1)
    model.load_state_dict(content["model"])
    optimizer = adam(model)
    optimizer.load_state_dict(content["optimizer"])  # which goes by the order of parameters
    train(model, optimizer, 2)
    assert close(model.state_dict(), trained(5)[0])


def saved_as_torch_gathers(path: str) -> bool:
    model = laid_out("fsdp", 0)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
    train(model, optimizer, 2)
    mt.save_full_checkpoint(path, model, optimizer)
    theirs = get_model_state_dict(model, options=FULL), get_optimizer_state_dict(model, optimizer, options=FULL)
    if dist.get_rank():
        return theirs == ({}, {})
    content = torch.load(path, weights_only=True)
    return equal((content["model"], content["optimizer"]), theirs)


def test_the_file_holds_what_torch_gathers(tmp_path: Path) -> None:
    assert run(2, saved_as_torch_gathers, str(tmp_path / "model.pt")) == [True, True]


# -- traps --------------------------------------------------------------------------------------------------


def bare_save() -> str:
    file = io.BytesIO()
    torch.save(laid_out("fsdp", 0).state_dict(), file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    with pytest.raises(RuntimeError) as caught:
        Net(0).load_state_dict(state)
    return str(caught.value)


def test_saving_the_state_dict_of_shards_reports_success_and_cannot_be_loaded() -> None:
    assert all("Error(s) in loading state_dict" in words for words in run(2, bare_save))


def fresh(path: str) -> None:
    model = laid_out("fsdp", 0)
    optimizer = adam(model)
    mt.save_full_checkpoint(path, model, optimizer)
    assert not optimizer.state
    get_optimizer_state_dict(model, optimizer, options=FULL)
    assert optimizer.state  # torch's own takes a step to gather
    mt.load_full_checkpoint(path, model, optimizer)
    assert not optimizer.state


def test_an_optimizer_without_a_step_stays_so_where_torch_steps_it(tmp_path: Path) -> None:
    run(2, fresh, str(tmp_path / "model.pt"))


def without_state(path: str) -> None:
    model = laid_out("fsdp", 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    train(model, optimizer, 1)
    mt.save_full_checkpoint(path, model, optimizer)
    other = torch.optim.SGD(model.parameters(), lr=0.5)
    mt.load_full_checkpoint(path, model, other)
    assert other.param_groups[0]["lr"] == 0.25
    state = get_optimizer_state_dict(model, optimizer, options=FULL)
    with pytest.raises(AssertionError, match="Expected device"):
        set_optimizer_state_dict(model, other, state, options=FROM_RANK_0)


def test_an_optimizer_that_keeps_nothing_is_loaded_where_torch_fails(tmp_path: Path) -> None:
    run(2, without_state, str(tmp_path / "model.pt"))


# -- what a model and an optimizer may be -------------------------------------------------------------------


def eval_first(path: str) -> bool:
    model = laid_out("fsdp", 0)
    optimizer = adam(model)
    with torch.no_grad():
        model(torch.ones(4, 5, dtype=torch.float64))  # leaves parameters whole until the next backward
    mt.save_full_checkpoint(path, model, optimizer)
    with torch.no_grad():
        model(torch.ones(4, 5, dtype=torch.float64))
    mt.load_full_checkpoint(path, model, optimizer)
    return equal(whole(model.state_dict()), Net(0).state_dict())


def test_a_model_may_have_been_evaluated_just_before(tmp_path: Path) -> None:
    assert run(2, eval_first, str(tmp_path / "model.pt")) == [True, True]


def groups(path: str) -> None:
    def two(model: nn.Module, order: int) -> torch.optim.Optimizer:
        last = [p for name, p in model.named_parameters() if name.startswith("last")]
        first = [p for name, p in model.named_parameters() if name.startswith("first")]
        sides = [{"params": first, "lr": torch.tensor(0.5)}, {"params": last[::order], "lr": 0.25}][::order]
        return torch.optim.SGD(sides, lr=1.0, momentum=0.9)

    model = laid_out("fsdp", 0)
    optimizer = two(model, 1)
    train(model, optimizer, 2)
    mt.save_full_checkpoint(path, model, optimizer)
    other = two(model, -1)
    mt.load_full_checkpoint(path, model, other)
    assert [float(group["lr"]) for group in other.param_groups] == [0.25, 0.5]
    for parameter, state in optimizer.state.items():
        assert torch.equal(
            state["momentum_buffer"].full_tensor(), other.state[parameter]["momentum_buffer"].full_tensor()
        )


def test_groups_of_an_optimizer_are_known_by_their_parameters_in_any_order(tmp_path: Path) -> None:
    run(2, groups, str(tmp_path / "model.pt"))


def test_an_optimizer_with_a_state_of_another_kind_is_kept_where_nothing_is_in_shards(tmp_path: Path) -> None:
    model = Net(0)
    optimizer = torch.optim.LBFGS([p for p in model.parameters() if p.requires_grad], max_iter=3)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(torch.ones(4, 5, dtype=torch.float64)).square().mean()
        loss.backward()
        return loss

    for p in model.head.parameters():
        p.requires_grad_(False)
    optimizer.step(closure)
    mt.save_full_checkpoint(tmp_path / "model.pt", model, optimizer)
    other = torch.optim.LBFGS(optimizer.param_groups[0]["params"], max_iter=3)
    mt.load_full_checkpoint(tmp_path / "model.pt", model, other)
    assert equal(other.state_dict(), optimizer.state_dict())


def half_of_the_ranks(folder: str) -> None:
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    pair = dist.get_rank() // 2
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("pair", "shard"))["shard"]
    model = fully_shard(Net(pair), mesh=mesh)
    mt.save_full_checkpoint(f"{folder}/{pair}.pt", model, pair=pair, group=pairs[pair])
    other = fully_shard(Net(5), mesh=mesh)
    assert mt.load_full_checkpoint(f"{folder}/{pair}.pt", other, group=mesh) == {"pair": pair}
    assert equal(whole(other.state_dict()), Net(pair).state_dict())


def test_two_halves_of_the_ranks_save_and_load_at_the_same_time(tmp_path: Path) -> None:
    run(4, half_of_the_ranks, str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.pt", "1.pt"]


# -- extras -------------------------------------------------------------------------------------------------


def extras() -> dict[str, Any]:
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(adam(Net(0)), 10)
    return {
        "epoch": 3,
        "nothing": None,
        "loss": float("inf"),
        "note": "ä",
        "best": torch.arange(6).view(2, 3),
        "nested": {"a": [1, (2.5, {3})], 4: b"x"},
        "dtype": torch.float32,
        "scheduler": scheduler.state_dict(),
    }


def keeps_extras(path: str) -> None:
    rank = dist.get_rank()
    sampler = {"position": rank, "order": torch.arange(rank)}
    mt.save_full_checkpoint(path, Net(0), **extras(), sampler=mt.PerRank(sampler))
    loaded = mt.load_full_checkpoint(path, Net(0))
    assert loaded.pop("sampler")["position"] == rank
    assert equal(loaded, extras())


def without_the_rest(path: str) -> Any:
    with pytest.raises(ArgumentError) as caught:
        mt.load_full_checkpoint(path, Net(0))
    assert equal(mt.load_full_checkpoint(path, Net(0), per_rank=False), extras())
    return str(caught.value)


def test_extras_come_back_on_every_rank_and_to_each_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    run(2, keeps_extras, path)
    for ranks in (1, 3):
        for words in run(ranks, without_the_rest, path):
            assert f"extra 'sampler' in the file belongs to one of 2 ranks each, and here are {ranks}:" in words
            assert "per_rank=False" in words


def test_a_slice_is_written_without_the_tensor_that_it_is_of(tmp_path: Path) -> None:
    data = torch.zeros(1_000_000)
    mt.save_full_checkpoint(tmp_path / "model.pt", nn.Linear(1, 1), some=data[:3])
    assert (tmp_path / "model.pt").stat().st_size < 10_000
    assert equal(mt.load_full_checkpoint(tmp_path / "model.pt", nn.Linear(1, 1)), {"some": data[:3]})
