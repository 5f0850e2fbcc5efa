"""The loss of all ranks together: one value everywhere, whose gradients add up to the serial run's."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from meshpart import arguments
from meshpart.errors import ArgumentError, MeshpartError
from meshpart.torch.groups import Group, GroupLike, as_group
from meshpart.torch.rows import Extent, check_weight, has_rows, owned_rows, width_of

REDUCTIONS = ("mean", "sum")
GRADS = ("average", "sum")  # what happens to the gradients of the ranks after backward


def global_loss(group: Group, extent: Extent, per_row: Any, weight: Any, reduction: str, grads: str) -> torch.Tensor:
    """Return the loss over the owned rows of all ranks: see `Halo.loss`. Collective, once."""
    failure: Exception | None = None
    local, weights, width = torch.zeros((), dtype=torch.float64, device=extent.device), 0.0, 0
    dtype = torch.float32
    try:
        arguments.one_of("reduction", reduction, REDUCTIONS)
        arguments.one_of("grads", grads, GRADS)
        owned_rows("per_row", per_row, extent)
        local, weights = _weighted(per_row, weight)
        width = width_of(per_row)
        dtype = _dtype_of(per_row)
    except Exception as error:  # told to the others, who wait for this rank's sum
        failure = error
    failed = failure is not None
    sums = torch.tensor(
        [0.0, weights, failed, group.rank if failed else 0, width, width**2], dtype=torch.float64, device=group.device
    )
    sums[0] = local.detach()
    if group.process_group is not None:
        dist.all_reduce(sums, group=group.process_group)
    total, weights, n_failed, whose, widths, squares = sums.tolist()
    if failure is not None:
        raise failure
    if n_failed:
        who = f"rank {whose:.0f} refused its arguments" if n_failed == 1 else f"{n_failed:.0f} ranks refused theirs"
        raise MeshpartError(f"loss: {who}, see the error there")
    if widths**2 != squares * group.size:
        trailing = tuple(per_row.shape[1:])
        hint = ": (n, 1) and (n,) make (n, n)" if trailing == (len(per_row),) else ""
        raise ArgumentError(f"per_row must have the same trailing shape on all ranks, here it is {trailing}{hint}")
    count = weights * width if reduction == "mean" else 1.0
    if count == 0:
        raise ArgumentError("loss: the weights of all rows sum to 0, so there is no mean")
    scale = group.size if grads == "average" else 1
    mine = (local * (scale / count)).to(dtype)
    loss: torch.Tensor = _WithValue.apply(mine, total / count)
    return loss


class _WithValue(torch.autograd.Function):
    """A number with the gradient of another: the loss of all ranks, with that of this rank's share."""

    @staticmethod
    def forward(ctx: Any, share: torch.Tensor, value: float) -> torch.Tensor:
        return share.new_tensor(value)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        return grads[0], None


def part_loss(per_row: torch.Tensor, n_global: float, weight: Any = None, group: GroupLike = None) -> torch.Tensor:
    """Return the share of one part in the mean over all rows, for parts that are worked on one after another.

    For deep halos with more parts than ranks: each rank takes some of the parts, the gradients of its shares are
    accumulated (under `no_sync` of DDP but for the last), and averaged over the ranks. That gives the serial
    gradient. Nothing is communicated.

    Parameters
    ----------
    per_row : Tensor, (n_owned, ...)
        The loss of each owned row of the part.
    n_global : float
        The number of rows of the whole mesh: `part.points.n_global`, or the sum of all their weights.
    weight : Tensor or float, optional
        A weight for each row, (n_owned,), or one for all: 0 of a part that only fills up, as the item of a
        `PartDataset` says by its `weight`.
    group : ProcessGroup or 1-D DeviceMesh, optional
        The ranks over which gradients are averaged.

    Returns
    -------
    loss : Tensor, ()
        The number of ranks times the part's share: averaged over the ranks, the sum over all parts is the serial mean.
        Of the dtype of `per_row`, at least float32; added up in float64.

    Raises
    ------
    ArgumentError
        If `n_global` is not positive, or the weights do not fit the rows or require a gradient.

    Examples
    --------
    >>> import torch, meshpart.torch as mt
    >>> rows = torch.tensor([1.0, 2.0, 3.0, 6.0])
    >>> mt.part_loss(rows[:1], 4) + mt.part_loss(rows[1:], 4), rows.mean()  # two parts, on one rank
    (tensor(3.), tensor(3.))
    """
    ranks = as_group(group)
    has_rows("per_row", per_row)
    if isinstance(weight, torch.Tensor) and weight.ndim == 0:
        weight = weight.expand(len(per_row))
    elif isinstance(weight, int | float):
        weight = per_row.new_full((len(per_row),), weight, dtype=torch.float64)
    if isinstance(n_global, bool) or not isinstance(n_global, int | float) or not n_global > 0:
        raise ArgumentError(f"n_global must be a positive number, got {arguments.shown(n_global)}")
    local, _ = _weighted(per_row, weight)
    width = width_of(per_row)
    if width == 0:
        raise ArgumentError(f"per_row has nothing in its rows, its shape is {tuple(per_row.shape)}")
    return (local * (ranks.size / (n_global * width))).to(_dtype_of(per_row))


def _dtype_of(per_row: torch.Tensor) -> torch.dtype:
    """Return that of the loss: of its rows, at least float32."""
    return torch.float64 if per_row.dtype == torch.float64 else torch.float32


def _weighted(per_row: torch.Tensor, weight: Any) -> tuple[torch.Tensor, float]:
    """Return the weighted sum of rows, in float64, and the sum of their weights."""
    if not per_row.is_floating_point():
        raise ArgumentError(f"per_row must be floating point, got {per_row.dtype}")
    rows = per_row.double()
    if weight is None:
        return rows.sum(), float(len(rows))
    check_weight(rows, weight)
    if weight.requires_grad:
        raise ArgumentError("weight must not require a gradient: it also counts the rows, which has none")
    weights = weight.double()
    return (rows * weights.view(-1, *[1] * (rows.ndim - 1))).sum(), float(weights.sum())
