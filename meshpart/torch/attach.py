"""A model that knows nothing of ranks, and hooks that refresh its ghosts before chosen modules."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import torch
from torch.nn.parallel import DistributedDataParallel

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.torch.halo import Halo

WRAPPED = ("_checkpoint_wrapped_module", "_fsdp_wrapped_module")  # what torch's wrappers call what they wrap
NAMED = 12  # how many names a message lists

Before = type | str | tuple[type | str, ...]


@dataclass(frozen=True, eq=False)
class Attached:
    """The hooks that `attach_halo` added.

    Parameters
    ----------
    names : tuple of str
        Of the modules that have one.
    handles : tuple of torch.utils.hooks.RemovableHandle
        In the same order.
    """

    names: tuple[str, ...]
    handles: tuple[Any, ...]

    def remove(self) -> None:
        """Take the hooks away again; again is no error."""
        for handle in self.handles:
            handle.remove()


def attach_halo(model: torch.nn.Module, halo: Halo, before: Before, arg: int | str = 0) -> Attached:
    """Let the ghosts of a tensor be refreshed before chosen modules of a model, which is not changed otherwise.

    With the edges of `part_graph(part, steps=1)` and a hook before every module that looks at senders, an unmodified
    model gives the serial run's values on owned rows. The hook calls `halo.refresh` on one argument; it works before or
    after the model is wrapped (DistributedDataParallel, FSDP, activation checkpointing), and must be there before the
    model is compiled.

    Parameters
    ----------
    model : Module
        All ranks call the chosen modules, as often and in the same order.
    halo : Halo
        On the device of the tensors: it does not move with the model unless it is part of it.
    before : type, str, or tuple of them
        Which modules: those of a class, or of a qualified name as `named_modules` has it, the names of torch's wrappers
        left out. In a name `*`, `?` and `[...]` stand for characters between two dots: "processor.*.edge". The model
        itself is "".
    arg : int or str
        Which argument of their `forward`, by position or name, is the tensor, (n_local, ...). Callers may give it
        either way.

    Returns
    -------
    attached : Attached
        Its `remove()` takes the hooks away.

    Raises
    ------
    ArgumentError
        If some of `before` is no module of the model, or its `forward` has no such argument; or anything in the model
        is compiled, where hooks that come later are ignored in silence. When a module is called: if the argument is
        missing, is no tensor or does not have n_local rows; the message names the module.

    Notes
    -----
    Not all that is compiled can be seen: of a model that was compiled by `torch.compile(model)` give the result, and
    attach before a function that calls the model is compiled. Activation checkpointing repeats the exchanges in the
    backward pass; it must checkpoint the same modules on all ranks.

    Examples
    --------
    >>> import torch, meshpart, meshpart.torch as mt
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> halo = mt.Halo(meshpart.partition(mesh, 1, ghost_layers=1)[0])
    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    >>> mt.attach_halo(model, halo, before=torch.nn.Linear).names
    ('0', '2')
    """
    if not isinstance(model, torch.nn.Module):
        raise ArgumentError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    if not isinstance(halo, Halo):
        raise ArgumentError(f"halo must be a Halo, got {type(halo).__name__}")
    if not isinstance(arg, str):
        arg = arguments.integer("arg", arg, low=0)
    there = list(_places(model))
    _refuse_compiled(there)
    chosen = _chosen(there, before)
    hooks = [_Refresh(halo, place.shown, arg, *_argument(place, arg)) for place in chosen]
    handles = [
        place.module.register_forward_pre_hook(hook, with_kwargs=True)
        for place, hook in zip(chosen, hooks, strict=True)
    ]
    return Attached(tuple(place.name for place in chosen), tuple(handles))


@dataclass(frozen=True, eq=False)
class _Refresh:
    """The hook before one module."""

    halo: Halo
    module: str
    arg: int | str
    position: int | None  # None if it is given by name only
    keyword: str  # "" if it is given by position only

    def __call__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.position is not None and self.position < len(args):
            before, after = args[: self.position], args[self.position + 1 :]
            return (*before, self._refreshed(args[self.position]), *after), kwargs
        return args, {**kwargs, self.keyword: self._refreshed(kwargs.get(self.keyword))}

    def _refreshed(self, given: Any) -> torch.Tensor:
        try:
            return self.halo.refresh(given)
        except ArgumentError as error:
            raise ArgumentError(f"argument {self.arg!r} of {self.module}: {error}") from error


# -- which modules ------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """A module of a model, by its name without those that wrappers add."""

    name: str
    module: torch.nn.Module
    wrapped: torch.nn.Module  # what is left without wrappers

    @property
    def shown(self) -> str:
        whose = repr(self.name) if self.name else "the model"
        return f"{whose} ({type(self.wrapped).__name__})"


def _places(model: torch.nn.Module) -> Iterable[_Place]:
    """Yield all modules of a model, under each of their names; wrappers before what they wrap."""
    modules = dict(model.named_modules(remove_duplicate=False))
    names = {"": ""}
    for full in modules:
        if full:
            parent, _, own = full.rpartition(".")
            in_ddp = own == "module" and isinstance(modules[parent], DistributedDataParallel)
            names[full] = names[parent] if in_ddp or own in WRAPPED else f"{names[parent]}.{own}".removeprefix(".")
    innermost = {names[full]: module for full, module in modules.items()}
    for full, module in modules.items():
        yield _Place(names[full], module, innermost[names[full]])


def _chosen(there: list[_Place], before: Any) -> list[_Place]:
    """Return the places that are meant, each module once; refuse what means none."""
    kinds = before if isinstance(before, tuple) else (before,)
    if not kinds:
        raise ArgumentError("before names nothing")
    found: dict[int, _Place] = {}
    for kind in kinds:
        if isinstance(kind, str):
            outermost = {place.name: place for place in reversed(there) if _matches(place.name, kind)}
            meant = [place for place in there if outermost.get(place.name) is place]
        elif isinstance(kind, type):
            meant = [place._replace(wrapped=place.module) for place in there if isinstance(place.module, kind)]
        else:
            raise ArgumentError(f"before must be a class of modules or a name, got {arguments.shown(kind)}")
        if not meant:
            raise ArgumentError(_none(there, kind))
        for place in meant:
            found.setdefault(id(place.module), place)
    return list(found.values())


def _matches(name: str, pattern: str) -> bool:
    if not name:  # the model itself
        return not pattern
    own, wanted = name.split("."), pattern.split(".")
    return len(own) == len(wanted) and all(map(fnmatchcase, own, wanted))


def _none(there: list[_Place], kind: type | str) -> str:
    """Return what to say where nothing is meant: what is there."""
    if isinstance(kind, str):
        names = [repr(name) for name in dict.fromkeys(place.name for place in there) if name]
        what = f"named {kind!r}"
    else:
        modules = {id(place.module): place.module for place in there}
        counts = Counter(type(module).__name__ for module in modules.values())
        names = [f"{count} {name}" for name, count in counts.items()]
        what = f"of the class {kind.__name__}"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"before: the model has no module {what}, it has {', '.join(names[:NAMED]) or 'none'}{more}"


def _refuse_compiled(there: list[_Place]) -> None:
    for place in there:
        module = place.module
        forward = module.forward
        by_dynamo = hasattr(forward, "_torchdynamo_orig_callable") and not hasattr(forward, "_torchdynamo_disable")
        if by_dynamo or getattr(module, "_compiled_call_impl", None) is not None:
            what = "is compiled"
        elif isinstance(module, torch.jit.ScriptModule):
            what = "is a ScriptModule"
        else:
            continue
        whose = f"{place.name!r} in the model" if place.name else "the model"
        raise ArgumentError(f"{whose} {what}, where hooks that are attached later are ignored: attach before that")


# -- which argument -----------------------------------------------------------------------------------------


def _argument(place: _Place, arg: int | str) -> tuple[int | None, str]:
    """Return the position and the name by which callers of a module may give an argument."""
    forward: Callable[..., Any] = place.wrapped.forward
    parameters = list(inspect.signature(forward).parameters.values())
    kinds = {parameter.kind for parameter in parameters}
    one = inspect.Parameter
    in_order = [p.name for p in parameters if p.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    by_name = [p.name for p in parameters if p.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    if isinstance(arg, str):
        position = in_order.index(arg) if arg in in_order else None
        known = position is not None or arg in by_name or one.VAR_KEYWORD in kinds
        keyword = arg
    else:
        position = arg
        known = arg < len(in_order) or one.VAR_POSITIONAL in kinds
        keyword = in_order[arg] if arg < len(in_order) and in_order[arg] in by_name else ""
    if not known:
        has = ", ".join(in_order + [name for name in by_name if name not in in_order]) or "none"
        raise ArgumentError(f"arg: the forward of {place.shown} has no argument {arg!r}, it has {has}")
    return position, keyword
