"""The state of a model and of an optimizer by plain names: those of the module within, whatever wraps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from meshpart.errors import ArgumentError, FormatError
from meshpart.torch.checkpoint_file import mapped
from meshpart.torch.layouts import laid_out

COMPILED = "_orig_mod"  # what torch.compile calls the module within
CHECKPOINTED = "_checkpoint_wrapped_module"  # and what activation checkpoints call it


def plain_name(model: nn.Module, name: str) -> str:
    """Return the name of a parameter, buffer or extra state without what is around its modules.

    That is DDP, torch.compile, and torch's wrapper for activation checkpoints, whose name some of its names lack.
    """
    kept: list[str] = []
    module: Any = model
    *modules, last = name.split(".")
    for part in modules:
        if part not in (COMPILED, CHECKPOINTED) and not (
            part == "module" and isinstance(module, DistributedDataParallel)
        ):
            kept.append(part)
        module = getattr(module, part, None)  # a hook of the module may have made up names
    return ".".join([*kept, last])


def named_model(model: nn.Module) -> dict[str, Any]:
    """Return the state dict of a model, in shards where it is, by plain names."""
    state = model.state_dict()
    named = {plain_name(model, name): value for name, value in state.items()}
    if len(named) < len(state):
        raise ArgumentError(f"model has {len(state)} entries of {len(named)} names, without what wraps its modules")
    return named


def load_model(model: nn.Module, state: Mapping[str, Any]) -> None:
    """Load such a state."""
    model.load_state_dict({name: state[plain_name(model, name)] for name in model.state_dict()})


def named_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Return the state dict of an optimizer, in shards where it is, with plain names for its parameters.

    An optimizer that has taken no step has no state; it is not stepped for it.

    Raises
    ------
    ArgumentError
        If it has a parameter that the model has not.
    """
    return _with_names(optimizer.state_dict(), list(_parameters(model, optimizer)))


def check_optimizer(kept: Any, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Refuse the state of an optimizer that this one could not take, whole tensors in it."""
    ours = _parameters(model, optimizer)
    try:
        theirs = _by_parameters(kept)
        states = {name: dict(kept["state"].get(name, {})) for name in ours}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError("what the file has of an optimizer is no state of one") from error
    groups = _by_parameters(_with_names(optimizer.state_dict(), list(ours)))
    if groups.keys() != theirs.keys():
        raise ArgumentError(
            f"optimizer has groups of {_sizes(groups)} parameters, that in the file has groups of {_sizes(theirs)}, "
            "or others in them"
        )
    for name, parameter in ours.items():

        def check(value: torch.Tensor, name: str = name, parameter: torch.Tensor = parameter) -> None:
            if _is_sharded_with(parameter, value) and value.shape != parameter.shape:
                raise ArgumentError(
                    f"optimizer: the file has a tensor of shape {tuple(value.shape)} for {name!r}, which is in shards "
                    f"and has the shape {tuple(parameter.shape)}: it cannot be cut likewise"
                )

        mapped(states[name], check)


def load_optimizer(
    kept: Any,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    receive: Callable[[torch.Tensor], torch.Tensor],
) -> dict[str, Any]:
    """Return a state dict for an optimizer's `load_state_dict`, made of a state by plain names that fits it.

    Parameters
    ----------
    kept : dict
    model : Module
    optimizer : Optimizer
    receive : callable
        Makes a tensor of the state known to all ranks.
    """
    parameters = _parameters(model, optimizer)
    numbers = {name: number for number, name in enumerate(parameters)}

    def put(name: Any, state: Any) -> Any:
        like = parameters.get(name)

        def lay(tensor: torch.Tensor) -> torch.Tensor:
            value = receive(tensor)
            return laid_out(value, like) if _is_sharded_with(like, value) else value.cpu()

        return mapped(state, lay)

    state = {numbers.get(key, key): put(key, value) for key, value in kept["state"].items()}
    theirs = _by_parameters(mapped({"param_groups": kept["param_groups"]}, lambda tensor: receive(tensor).cpu()))
    names = list(parameters)
    ours = optimizer.state_dict()["param_groups"]
    then = [theirs[frozenset(names[number] for number in group["params"])] for group in ours]
    return {"state": state, "param_groups": [_merged(now, saved) for now, saved in zip(ours, then, strict=True)]}


def _parameters(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Return the parameters of an optimizer by plain names, in the order of its groups."""
    names = {parameter: plain_name(model, name) for name, parameter in model.named_parameters()}
    try:
        return {names[parameter]: parameter for group in optimizer.param_groups for parameter in group["params"]}
    except KeyError:
        raise ArgumentError(
            "optimizer has a parameter that the model has not: make it after fully_shard, which gives a model new ones"
        ) from None


def _with_names(packed: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the state dict of an optimizer with names in the place of numbers."""
    return {
        "state": {names[key] if isinstance(key, int) else key: value for key, value in packed["state"].items()},
        "param_groups": [
            {**group, "params": [names[number] for number in group["params"]]} for group in packed["param_groups"]
        ],
    }


def _by_parameters(named: Any) -> dict[frozenset[str], Any]:
    """Return the groups of an optimizer by which parameters are in them."""
    return {frozenset(group["params"]): group for group in named["param_groups"]}


def _merged(now: dict[str, Any], saved: dict[str, Any]) -> dict[str, Any]:
    """Return a group with saved values, tensors (a learning rate may be one) on the devices of those they replace.

    Its parameters keep their order, and the names which the optimizer was given for them.
    """
    merged = dict(now)
    for key, value in saved.items():
        if key not in ("params", "param_names"):
            as_before = isinstance(value, torch.Tensor) and isinstance(now.get(key), torch.Tensor)
            merged[key] = value.to(now[key].device) if as_before else value
    return merged


def _is_sharded_with(parameter: torch.Tensor | None, value: Any) -> bool:
    """Whether an optimizer's state of a parameter is in shards where the parameter is: no number is."""
    return isinstance(parameter, DTensor) and isinstance(value, torch.Tensor) and value.ndim > 0


def _sizes(groups: Any) -> str:
    return ", ".join(str(len(names)) for names in groups) or "no"
