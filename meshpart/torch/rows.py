"""The checks of tensors: as many rows as the part has, on the device of its index tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from meshpart.errors import ArgumentError


class Extent(NamedTuple):
    """How many rows a rank has, and on which device its index tensors are."""

    n_owned: int
    n_local: int
    device: torch.device


def owned_rows(name: str, rows: Any, extent: Extent) -> torch.Tensor:
    """Return a tensor of the owned rows, (n_owned, ...); refuse what is none."""
    n_owned, n_local, device = extent
    if has_rows(name, rows, device) != n_owned:
        hint = f": it has all {n_local} local rows, {name}[:n_owned] are the owned ones" if len(rows) == n_local else ""
        raise ArgumentError(f"{name} must have n_owned = {n_owned} rows, got the shape {tuple(rows.shape)}{hint}")
    return rows


def local_rows(
    name: str, rows: Any, extent: Extent, also: Callable[[torch.Tensor], None] | None = None
) -> torch.Tensor:
    """Return a tensor of all local rows, (n_local, ...); refuse what is none, or what `also` refuses."""
    n_owned, n_local, device = extent
    if has_rows(name, rows, device) != n_local:
        hint = ": it has the owned rows only, which exchange and ghosts take" if len(rows) == n_owned else ""
        raise ArgumentError(f"{name} must have n_local = {n_local} rows, got the shape {tuple(rows.shape)}{hint}")
    if also:
        also(rows)
    return rows


def has_rows(name: str, rows: Any, device: torch.device | None = None) -> int:
    """Return how many rows a tensor has; refuse what is no plain tensor with rows, on the device."""
    if not isinstance(rows, torch.Tensor):
        raise ArgumentError(f"{name} must be a torch.Tensor, got {type(rows).__name__}")
    if hasattr(rows, "to_local"):
        raise ArgumentError(f"{name} is a {type(rows).__name__}, give this rank's rows: {name}.to_local()")
    if rows.layout != torch.strided:
        raise ArgumentError(f"{name} must be a dense tensor, got the layout {rows.layout}")
    if rows.ndim == 0:
        raise ArgumentError(f"{name} must have rows, got a tensor without dimensions")
    if device is not None and rows.device != device:
        raise ArgumentError(f"{name} is on {rows.device}, the halo on {device}: halo.to({str(rows.device)!r}) moves it")
    n_rows: int = rows.shape[0]  # in a third of the time of len(rows)
    return n_rows


def width_of(rows: torch.Tensor) -> int:
    """Return how many numbers a row has, of a tensor without rows too."""
    return math.prod(rows.shape[1:])


def from_numpy(name: str, values: Any) -> torch.Tensor:
    """Return a tensor with a copy of an array; refuse a dtype that torch has not."""
    try:
        return torch.from_numpy(values.astype(values.dtype.newbyteorder("="), order="C", copy=True))
    except TypeError:
        raise ArgumentError(f"{name} has the dtype {values.dtype}, which torch does not have") from None
