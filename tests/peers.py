"""Which methods the tests run, and how often those that cost a process a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from meshpart.methods import METHODS

OWN = [name for name, method in METHODS.items() if method.package is None]  # kahip is part of the core
PEERS = [name for name in METHODS if name not in OWN]
INSTALLED = [name for name, method in METHODS.items() if method.is_installed]


def each(names: Sequence[str]) -> list[Any]:
    """Return methods as parameters of a test, which is skipped for those that are not installed."""
    return [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                name not in INSTALLED,
                reason=f"method {name} needs {METHODS[name].package}: pip install 'meshpart[peers]'",
            ),
        )
        for name in names
    ]


def enough(method: Any, values: Sequence[int], *some: int) -> Sequence[int]:
    """Return values for a method to go through; of one that costs a fifth of a second a call, some of them."""
    return some if method in PEERS else values
