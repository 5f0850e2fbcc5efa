"""The methods, in a dict by name."""

from __future__ import annotations

from functools import partial
from typing import Any

from meshpart.arguments import one_of
from meshpart.errors import ArgumentError
from meshpart.methods.kahip import MODES, kahip
from meshpart.methods.method import Function, Method
from meshpart.methods.peer import Peer
from meshpart.methods.problem import Problem
from meshpart.methods.sfc import sfc


def _peer(name: str, package: str, *modes: str) -> Method:
    return Method(name, Peer(name), modes, leaves_fragments=True, package=package)


METHODS = {
    method.name: method
    for method in (
        Method("sfc", sfc, (), holds_guarantee=True),
        Method("kahip", kahip, tuple(MODES), leaves_fragments=True),
        _peer("metis", "pymetis"),
        _peer("scotch", "pyscotch", "eco", "strong"),
        _peer("kaminpar", "kaminpar", "fast", "eco", "strong"),
        _peer("mtkahypar", "mtkahypar", "eco", "strong"),
    )
}
AUTO = "kahip"  # what `auto` stands for
DEFAULT_MODE = "eco"  # also what may be said of a method without modes

__all__ = [
    "AUTO",
    "DEFAULT_MODE",
    "METHODS",
    "MODES",
    "Function",
    "Method",
    "Peer",
    "Problem",
    "choose",
    "choose_both",
    "choose_mode",
    "full_name",
]


def choose(method: Any) -> Method:
    """Return the method given by name, as a function, or as a `Method`."""
    if isinstance(method, Method):
        return method
    if callable(method):
        return Method(_called(method), method)
    known = ["auto", *METHODS]
    if not isinstance(method, str) or method not in known:
        raise ArgumentError(f"method must be one of {', '.join(known)}, or a function, got {method!r}")
    return METHODS[AUTO if method == "auto" else method]


def choose_mode(method: Method, mode: Any) -> str:
    """Return the mode; refuse one that the method does not have."""
    asked = one_of("mode", mode, MODES)
    if method.modes is None or asked in (method.modes or (DEFAULT_MODE,)):
        return asked
    has = f"the modes {', '.join(method.modes)}" if method.modes else "no modes"
    raise ArgumentError(f"mode is {asked!r}, but method {method.name} has {has}")


def choose_both(given: Any) -> tuple[Method, str]:
    """Return the method and the mode of one that is given as `choose` takes it, by name also with ":" and a mode."""
    name, colon, mode = given.partition(":") if isinstance(given, str) else (given, "", "")
    method = choose(name)
    return method, choose_mode(method, mode if colon else DEFAULT_MODE)


def full_name(method: Method, mode: str) -> str:
    """Return the name of a method with its mode, where it has modes."""
    return f"{method.name}:{mode}" if method.modes else method.name


def _called(function: Any) -> str:
    """Return the name of a function, of the one that a partial calls, or of the class of another callable."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__qualname__", type(function).__qualname__))
