"""The checks of tensors: as many rows as the part has, on the device of its index tensors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad

from meshpart import arguments
from meshpart.errors import ArgumentError

OPERATIONS = ("sum", "min", "max")
NUMBERS = {  # what torch adds and compares; of others it only moves rows
    *(torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.complex128, torch.complex64, torch.complex32),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
}

SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


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


def local_rows(name: str, rows: Any, extent: Extent) -> torch.Tensor:
    """Return a tensor of all local rows, (n_local, ...); refuse what is none."""
    n_owned, n_local, device = extent
    if has_rows(name, rows, device) != n_local:
        hint = ": it has the owned rows only, which exchange and ghosts take" if len(rows) == n_owned else ""
        raise ArgumentError(f"{name} must have n_local = {n_local} rows, got the shape {tuple(rows.shape)}{hint}")
    return rows


def whole_rows(name: str, rows: Any, n_global: int) -> torch.Tensor:
    """Return a tensor of the whole mesh, (n_global, ...); refuse what is none."""
    if has_rows(name, rows) != n_global:
        raise ArgumentError(f"{name} must have n_global = {n_global} rows, got the shape {tuple(rows.shape)}")
    if rows.is_meta:
        raise ArgumentError(f"{name} is on meta, where it has no values")
    return rows


def has_rows(name: str, rows: Any, device: torch.device | None = None) -> int:
    """Return how many rows a tensor has; refuse what is no plain tensor with rows, on the device."""
    if not isinstance(rows, torch.Tensor):
        raise ArgumentError(f"{name} must be a torch.Tensor, got {type(rows).__name__}")
    if hasattr(rows, "to_local"):
        raise ArgumentError(f"{name} is a {type(rows).__name__}, give this rank's rows: {name}.to_local()")
    if rows.layout != torch.strided or rows.is_nested:
        what = "a nested one" if rows.is_nested else f"the layout {rows.layout}"
        raise ArgumentError(f"{name} must be a dense tensor, got {what}")
    if rows.ndim == 0:
        raise ArgumentError(f"{name} must have rows, got a tensor without dimensions")
    if device is not None and rows.device != device:
        raise ArgumentError(f"{name} is on {rows.device}, the halo on {device}: halo.to({str(rows.device)!r}) moves it")
    n_rows: int = rows.shape[0]  # in a third of the time of len(rows)
    return n_rows


def without_tangent(name: str, rows: torch.Tensor) -> None:
    """Refuse rows that forward-mode differentiation follows: torch would go on as if their derivative were 0."""
    if forward_ad.unpack_dual(rows).tangent is not None:
        raise ArgumentError(f"{name} has a tangent of forward mode, which exchanges do not carry: use backward")


def receivable(name: str, rows: torch.Tensor) -> None:
    """Refuse rows that cannot be received in place."""
    without_tangent(name, rows)
    if rows.requires_grad and torch.is_grad_enabled():
        raise ArgumentError("refresh_ works in place and has no gradient: use refresh, or torch.no_grad()")
    if not rows.is_contiguous():
        raise ArgumentError(
            f"{name} must be contiguous for refresh_, which receives in place, got the strides {rows.stride()} "
            f"for the shape {tuple(rows.shape)}: use refresh"
        )
    if not torch.compiler.is_compiling() and (rows.is_conj() or rows.is_neg()):  # which compilers cannot look at
        raise ArgumentError(f"{name} is a conjugate view, refresh_ receives in place: use refresh")


def combinable(name: str, rows: torch.Tensor, op: str) -> None:
    """Refuse rows that an operation does not combine."""
    without_tangent(name, rows)
    arguments.one_of("op", op, OPERATIONS)
    if rows.dtype not in NUMBERS:
        raise ArgumentError(f'{name} has the dtype {rows.dtype}, which torch does not combine by op="{op}"')
    if op == "sum":
        return
    if rows.requires_grad and torch.is_grad_enabled():
        raise ArgumentError(f'op="{op}" has no gradient: give {name}.detach(), or use torch.no_grad()')
    if rows.is_complex():
        raise ArgumentError(f'op="{op}" needs an order, which {rows.dtype} has not')


def check_weight(rows: torch.Tensor, weight: Any) -> None:
    """Refuse what is no weight for each row."""
    if has_rows("weight", weight, rows.device) != len(rows) or weight.ndim != 1:
        raise ArgumentError(f"weight must have the shape ({len(rows)},), one a row, got {tuple(weight.shape)}")
    if weight.is_complex():
        raise ArgumentError(f"weight must be real, got {weight.dtype}")


def chosen(rows: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return rows by their positions, in dtypes too that torch does not index."""
    like = SIGNED.get(rows.dtype)
    return rows.index_select(0, index) if like is None else rows.view(like).index_select(0, index).view(rows.dtype)


def packed(rows: torch.Tensor) -> torch.Tensor:
    """Return rows whose bytes, one row after the other, are their values: not those of a view of any kind."""
    return rows.resolve_conj().resolve_neg().contiguous()


def width_of(rows: torch.Tensor) -> int:
    """Return how many numbers a row has, of a tensor without rows too."""
    return math.prod(rows.shape[1:])


def from_numpy(name: str, values: Any) -> torch.Tensor:
    """Return a tensor with a copy of an array; refuse a dtype that torch has not."""
    try:
        return torch.from_numpy(values.astype(values.dtype.newbyteorder("="), order="C", copy=True))
    except TypeError:
        raise ArgumentError(f"{name} has the dtype {values.dtype}, which torch does not have") from None
