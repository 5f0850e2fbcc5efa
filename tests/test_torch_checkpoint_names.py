"""Names in checkpoints: those of the module within, whatever is around its modules and whatever hooks make of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper  # noqa: E402

import meshpart.torch as mt  # noqa: E402
from meshpart.errors import ArgumentError  # noqa: E402


def net(seed: int, around: Callable[[Any], Any] = lambda module: module) -> nn.Sequential:
    torch.manual_seed(seed)
    inner = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    return nn.Sequential(around(inner), nn.Linear(4, 2))


def adam(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters())


def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def same(one: nn.Module, other: nn.Module) -> bool:
    return all(map(torch.equal, one.parameters(), other.parameters()))


AROUND: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda module: module,
    "an activation checkpoint": checkpoint_wrapper,
    "an activation checkpoint, compiled": lambda module: torch.compile(checkpoint_wrapper(module), backend="eager"),
    "one of what is compiled": lambda module: checkpoint_wrapper(torch.compile(module, backend="eager")),
}


@pytest.mark.parametrize("saved", AROUND)
def test_modules_may_be_wrapped_when_saved_and_otherwise_when_loaded(saved: str, tmp_path: Path) -> None:
    model = net(0, AROUND[saved])
    optimizer = adam(model)
    step(model, optimizer)
    mt.save_full_checkpoint(tmp_path / "model.pt", model, optimizer)
    content = torch.load(tmp_path / "model.pt", weights_only=True)
    names = ["0.0.weight", "0.0.bias", "1.weight", "1.bias"]
    assert list(content["model"]) == list(content["optimizer"]["state"]) == names
    step(model, optimizer)
    for around in AROUND.values():
        other = net(1, around)
        mt.load_full_checkpoint(tmp_path / "model.pt", other, again := adam(other))
        step(other, again)
        assert same(other, model)


def renamed(seed: int) -> nn.Module:
    """A module whose hooks save its weights by names of no modules, and load them by these."""

    def save(module: Any, state: Any, prefix: str, local: Any) -> Any:
        return OrderedDict((f"old.{name}", value) for name, value in state.items())

    def load(module: Any, state: Any, *rest: Any) -> None:
        for name in list(state):
            state[name.removeprefix("old.")] = state.pop(name)

    model = net(seed)
    model._register_state_dict_hook(save)
    model.register_load_state_dict_pre_hook(load)
    return model


def test_names_that_hooks_make_up_are_kept(tmp_path: Path) -> None:
    model, other = renamed(0), renamed(1)
    mt.save_full_checkpoint(tmp_path / "model.pt", model)
    assert "old.0.0.weight" in torch.load(tmp_path / "model.pt", weights_only=True)["model"]
    mt.load_full_checkpoint(tmp_path / "model.pt", other)
    assert same(other, model)


def test_tensors_of_one_name_without_wrappers_are_refused(tmp_path: Path) -> None:
    model = net(0)
    model[1]._orig_mod = nn.Linear(4, 2)
    with pytest.raises(ArgumentError, match="model has 6 entries of 4 names, without what wraps its modules"):
        mt.save_full_checkpoint(tmp_path / "model.pt", model)
    assert not list(tmp_path.iterdir())


def test_an_optimizer_keeps_the_names_it_was_given(tmp_path: Path) -> None:
    model = net(0)
    optimizer = torch.optim.Adam(model.named_parameters())
    step(model, optimizer)
    mt.save_full_checkpoint(tmp_path / "model.pt", model, optimizer)
    compiled: Any = torch.compile(model, backend="eager")
    for given in (list(compiled.named_parameters()), list(model.named_parameters())[::-1]):
        other = torch.optim.Adam(given)
        mt.load_full_checkpoint(tmp_path / "model.pt", model, other)
        assert other.param_groups[0]["param_names"] == [name for name, _ in given]
    other = adam(model)
    mt.load_full_checkpoint(tmp_path / "model.pt", model, other)
    assert "param_names" not in other.param_groups[0]
