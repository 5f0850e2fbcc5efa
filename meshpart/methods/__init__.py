"""The methods: plain functions from a problem to labels, in a dict by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from meshpart.arrays import Labels
from meshpart.errors import ArgumentError
from meshpart.methods.kahip import MODES, kahip
from meshpart.methods.problem import Problem
from meshpart.methods.sfc import sfc

Method = Callable[[Problem], Labels]

METHODS: dict[str, Method] = {"sfc": sfc, "kahip": kahip}
AUTO = "kahip"  # what `auto` stands for
GRAPH_METHODS = frozenset({"kahip"})  # they have modes, and repair hands the fragments they leave to neighbours
HOLD_GUARANTEE = frozenset({"sfc"})  # whose labels need no repair

__all__ = ["AUTO", "GRAPH_METHODS", "HOLD_GUARANTEE", "METHODS", "MODES", "Method", "Problem", "choose"]


def choose(method: Any) -> tuple[str, Method]:
    """Return the name and the function of a method given by name or as a function."""
    if callable(method):
        return getattr(method, "__qualname__", repr(method)), method
    known = ["auto", *METHODS]
    if not isinstance(method, str) or method not in known:
        raise ArgumentError(f"method must be one of {', '.join(known)}, or a function, got {method!r}")
    name = AUTO if method == "auto" else method
    return name, METHODS[name]
