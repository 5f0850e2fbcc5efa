"""The function of torch_scatter that MeshGraphNet calls; the package itself is source that takes long to build."""

from __future__ import annotations

import torch


def scatter(src: torch.Tensor, index: torch.Tensor, dim: int, dim_size: int, reduce: str) -> torch.Tensor:
    """Return the sums or means of rows by index, of none 0: (dim_size, ...)."""
    assert dim == 0
    total = src.new_zeros((dim_size, *src.shape[1:])).index_add(0, index, src)
    if reduce == "sum":
        return total
    assert reduce == "mean"
    count = torch.bincount(index, minlength=dim_size).clamp(min=1)
    return total / count.view(-1, *[1] * (src.ndim - 1))
