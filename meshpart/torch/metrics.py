"""Mean, standard deviation and maximum over the owned rows of all ranks, each row once: numbers, without gradients."""

from __future__ import annotations

from typing import Any

import torch

from meshpart.errors import ArgumentError
from meshpart.torch.groups import Group
from meshpart.torch.rows import NUMBERS, check_weight


def weighable(name: str, rows: torch.Tensor, weight: Any) -> None:
    """Refuse rows that have no mean, by these weights."""
    if rows.is_complex():
        raise ArgumentError(f"{name} must be real, got {rows.dtype}")
    if weight is not None:
        check_weight(rows, weight)


def ordered(name: str, rows: torch.Tensor) -> None:
    """Refuse rows that have no maximum."""
    if rows.is_complex() or rows.dtype == torch.bool or rows.dtype not in NUMBERS:
        raise ArgumentError(f"{name} must be real numbers that torch compares, got {rows.dtype}")


def moments(group: Group, rows: torch.Tensor, weight: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the mean and the variance of each column over the rows of all ranks, float64. Collective, once.

    Those of the ranks are combined pairwise, which loses no digits where the mean is large (Chan, Golub and LeVeque,
    "Algorithms for computing the sample variance", 1983).
    """
    values = rows.detach().double()
    weights = values.new_ones(len(rows)) if weight is None else weight.detach().double()
    by_row = weights.view(-1, *[1] * (rows.ndim - 1))
    total = weights.sum()
    mean = (values * by_row).sum(0) / torch.where(total == 0, 1, total)
    squares = ((values - mean) ** 2 * by_row).sum(0)
    everyone = group.all_gather(torch.stack([total.expand_as(mean), mean, squares]))
    count, mean, squares = everyone[0]
    for other_count, other_mean, other_squares in everyone[1:]:
        both = count + other_count
        share = other_count / torch.where(both == 0, 1, both)
        apart = other_mean - mean
        squares = squares + other_squares + apart**2 * count * share
        mean, count = mean + apart * share, both
    if bool((count == 0).any()):
        raise ArgumentError("there is no mean: the weights of all rows sum to 0")
    return mean.to(rows.device), (squares / count).to(rows.device)


def largest(group: Group, rows: torch.Tensor) -> torch.Tensor:
    """Return the largest of each column over the rows of all ranks; NaN where there is one. Collective, once."""
    least = -torch.inf if rows.is_floating_point() else torch.iinfo(rows.dtype).min
    mine = rows.detach().amax(0) if len(rows) else rows.new_full(rows.shape[1:], least)
    everyone = group.all_gather(torch.stack([mine, torch.full_like(mine, len(rows) > 0)]))
    if not bool(everyone[:, 1].any()) and mine.numel():
        raise ArgumentError("there is no maximum: no rank has a row")
    return everyone[:, 0].amax(0).to(rows.device)
