"""Checkpoints that any number of ranks loads: whole tensors in one file, whatever the layout of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from meshpart import arguments
from meshpart.errors import ArgumentError, FormatError
from meshpart.one_file import place_for_file
from meshpart.torch import checkpoint_file
from meshpart.torch.alike import check_alike, few, layout_of, told
from meshpart.torch.checkpoint_file import check_plain, for_file, mapped
from meshpart.torch.groups import Group, GroupLike, as_group
from meshpart.torch.layouts import check_module, check_tensor, check_writable, dtype_and_shape, laid_out, whole
from meshpart.torch.naming import check_optimizer, load_model, load_optimizer, named_model, named_optimizer


@dataclass(frozen=True)
class PerRank:
    """What each rank has its own of, such as the position of its sampler or the state of its random numbers.

    `save_full_checkpoint` keeps one for each rank, and `load_full_checkpoint` gives each rank its own: as many ranks
    must load it.

    Parameters
    ----------
    value : object
        Of tensors, numbers, text, lists and dicts.
    """

    value: Any


def save_full_checkpoint(
    path: Any,
    model: nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    *,
    group: GroupLike = None,
    **extra: Any,
) -> None:
    """Save a model, and an optimizer, as whole tensors in one file. Collective.

    The model may be plain, wrapped in DDP, compiled, in shards (FSDP2, on meshes of any dimensions) or partly so, with
    torch's wrappers for activation checkpoints around its modules.
    Rank 0 of the group gathers the tensors in the memory of its CPU and writes the file, at one stroke: should anything
    fail on the way, or the process be killed, an older file stays as it was.

    `torch.load(path, weights_only=True)` reads the file without this library: its "model" is a state dict of the
    module within all wrappers, its "optimizer" has the names of parameters in the place of their numbers.

    Parameters
    ----------
    path : str or path-like
        A file that is there is replaced.
    model : torch.nn.Module
        Of what is not in shards, the tensors of rank 0 are written; `assert_replicated` compares them.
    optimizer : torch.optim.Optimizer, optional
        Of parameters of the model. It is not changed, even if it has taken no step yet.
    group : ProcessGroup or 1-D DeviceMesh, optional
        The ranks that hold the model; all of them if left out.
    **extra
        Tensors, numbers, text, lists and dicts by any names, the same on every rank; `PerRank(value)` of what is not.
        Integers of at most 2039 bits, and lists and dicts within each other at most 100 deep.

    Raises
    ------
    ArgumentError
        On every rank: if ranks hold different models or extras, an extra or the optimizer has what a safe loader
        refuses, or the optimizer has parameters that the model has not.
    FormatError
        On every rank: if the file cannot be written.

    Examples
    --------
    >>> import torch, meshpart.torch as mt
    >>> model, file = torch.nn.Linear(3, 2), getfixture("tmp_path") / "model.pt"
    >>> mt.save_full_checkpoint(file, model, epoch=7)
    >>> mt.load_full_checkpoint(file, torch.nn.Linear(3, 2))
    {'epoch': 7}
    """
    ranks = as_group(group)
    with ranks.all_or_none():
        if ranks.rank == 0:
            place_for_file(path, overwrite=True)  # before anything is gathered
        own = {name: value.value for name, value in extra.items() if isinstance(value, PerRank)}
        shared = {name: value for name, value in extra.items() if name not in own}
        for name, value in (shared | own).items():
            check_plain(f"extra {name!r}", value)
        said = {f"extra {name!r}": told(value) for name, value in shared.items()}
        said |= {f"extra {name!r}": "a PerRank" for name in own}
        state = _state_of(model, ranks)
        of_model = layout_of(state)
        steps = None if optimizer is None else _steps_of(model, optimizer)
        of_optimizer = {} if steps is None else {"class": type(optimizer).__name__, **layout_of(steps)}
    check_alike(said, "extra", ranks, "; PerRank(value) keeps what each rank has of its own")
    check_alike(of_model, "model", ranks)
    check_alike(of_optimizer, "optimizer", ranks)

    def gathered(tensor: torch.Tensor) -> torch.Tensor | None:
        everything = whole(tensor)
        return for_file(everything) if ranks.rank == 0 else None

    content = {
        "ranks": ranks.size,
        "model": mapped(state, gathered),
        "optimizer": mapped(steps, gathered),
        "optimizer_class": None if optimizer is None else type(optimizer).__name__,
        "extra": mapped(shared, for_file),
        "per_rank": {name: ranks.all_gather_object(mapped(value, for_file)) for name, value in own.items()},
    }
    with ranks.all_or_none():
        if ranks.rank == 0:
            for name in ("model", "optimizer"):
                check_plain(name, content[name])  # no tensor in shards is left
            checkpoint_file.write(path, content)


def load_full_checkpoint(
    path: Any,
    model: nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    *,
    group: GroupLike = None,
    per_rank: bool = True,
) -> dict[str, Any]:
    """Load what `save_full_checkpoint` saved, into any layout and on any number of ranks. Collective.

    Rank 0 of the group reads the file, without running code in it, and sends the others what they need. All is checked
    before anything is changed, but for what hooks and `set_extra_state` of the model itself refuse.

    Parameters
    ----------
    path : str or path-like
        Only rank 0 needs to see it.
    model : torch.nn.Module
        Of the same names, shapes and dtypes.
    optimizer : torch.optim.Optimizer, optional
        Of the same class, with groups of the same parameters. If left out, one in the file is left alone.
    group : ProcessGroup or 1-D DeviceMesh, optional
        The ranks that hold the model; all of them if left out.
    per_rank : bool
        Whether to give each rank what was saved as `PerRank`, for which there must be as many ranks as then.

    Returns
    -------
    extra : dict
        On every rank; tensors on the CPU.

    Raises
    ------
    ArgumentError
        On every rank: if ranks hand in different ones, the model or the optimizer does not fit the file, the file has
        no optimizer and one is given, or it has extras of another number of ranks.
    FormatError
        On every rank: if the file cannot be read, is damaged or is no checkpoint.
    """
    ranks = as_group(group)
    with ranks.all_or_none():
        arguments.path(path)
        wanted = {"per_rank": str(arguments.flag("per_rank", per_rank))}
        state = _state_of(model, ranks)
        _check_loadable(state)
        of_model = layout_of(state)
        of_optimizer = {} if optimizer is None else _kind_of(model, optimizer)
    check_alike(wanted, "per_rank", ranks)
    check_alike(of_model, "model", ranks)
    check_alike(of_optimizer, "optimizer", ranks)
    content: dict[str, Any] = {}
    with ranks.all_or_none():
        if ranks.rank == 0:
            content = checkpoint_file.read(path)
            _check_fits(content, state, model, optimizer, ranks.size if per_rank else None)
            if optimizer is None:
                content["optimizer"] = None
    outline = ranks.broadcast_object(mapped(content, lambda tensor: tensor.to("meta")))
    content = content or outline

    def received(tensor: torch.Tensor) -> torch.Tensor:
        return ranks.broadcast(tensor)

    fitting = {name: _put(content["model"][name], like, received) for name, like in state.items()}
    packed = None if optimizer is None else load_optimizer(content["optimizer"], model, optimizer, received)
    extra = mapped(content["extra"], lambda tensor: received(tensor).cpu())
    of_ranks = mapped(content["per_rank"], lambda tensor: received(tensor).cpu()) if per_rank else {}
    with ranks.all_or_none():
        load_model(model, fitting)
        if optimizer is not None:
            optimizer.load_state_dict(packed)
    return {**extra, **{name: values[ranks.rank] for name, values in of_ranks.items()}}


def _state_of(model: nn.Module, ranks: Group) -> dict[str, Any]:
    check_module("model", model)
    state = named_model(model)
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            check_tensor(f"model: {name!r}", value, ranks)
    return state


def _check_loadable(state: Mapping[str, Any]) -> None:
    """Refuse tensors that `load_state_dict` would fail to write to, when it has written to others."""
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            check_writable(f"model: {name!r}", value)
            if value.is_inference() and not torch.is_inference_mode_enabled():
                raise ArgumentError(f"model: {name!r} was made in inference mode, which alone can load it: clone it")


def _steps_of(model: nn.Module, optimizer: Any) -> dict[str, Any]:
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise ArgumentError(f"optimizer must be a torch.optim.Optimizer, got {type(optimizer).__name__}")
    return named_optimizer(model, optimizer)


def _kind_of(model: nn.Module, optimizer: Any) -> dict[str, str]:
    """Return the class of an optimizer, and which parameters are in its groups."""
    groups = repr([group["params"] for group in _steps_of(model, optimizer)["param_groups"]])
    return {"class": type(optimizer).__name__, "groups": groups}


def _check_fits(
    content: dict[str, Any], state: Mapping[str, Any], model: nn.Module, optimizer: Any, size: int | None
) -> None:
    """Refuse a file that is not for these; `size` is the number of ranks if what each had of its own is wanted."""
    kept, per_rank = content.get("model"), content.get("per_rank")
    if not (isinstance(kept, dict) and isinstance(per_rank, dict) and isinstance(content.get("extra"), dict)):
        raise FormatError("the file is no whole checkpoint: it has no model, or no extras")
    if size is not None and any(len(values) != size for values in per_rank.values()):
        names = ", ".join(map(repr, per_rank))
        raise ArgumentError(
            f"extra {names} in the file belongs to one of {content.get('ranks')} ranks each, and here are {size}: "
            "load_full_checkpoint(..., per_rank=False) leaves it out"
        )
    differing = []
    for name in {**state, **kept}:
        if name not in kept:
            differing.append(f"{name!r} is not in the file")
        elif name not in state:
            differing.append(f"{name!r} is in the file only")
        elif (there := _said(kept[name])) != (here := _said(state[name])):
            differing.append(f"{name!r} is {there} in the file and {here} in the model")
    if differing:
        raise ArgumentError(f"model does not fit the file: {few(differing)}")
    if optimizer is not None:
        if content.get("optimizer") is None:
            raise ArgumentError("optimizer: the file has none; it was saved without")
        kind = content.get("optimizer_class")
        if kind != type(optimizer).__name__:
            raise ArgumentError(
                f"optimizer is of class {type(optimizer).__name__}, that in the file is of class {kind}"
            )
        check_optimizer(content["optimizer"], model, optimizer)


def _said(value: Any) -> str:
    return dtype_and_shape(value) if isinstance(value, torch.Tensor) else "no tensor"


def _put(value: Any, like: Any, received: Any) -> Any:
    """Return an entry of a state dict as every rank needs it; what is no tensor came with the outline."""
    return laid_out(received(value), like) if isinstance(like, torch.Tensor) else mapped(value, received)
