"""A check before training: whether the gradients that a wrapper and the loss give are those of a serial run."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isclose
from typing import Any

import torch
from torch import nn
from torch.nn.utils import skip_init

from meshpart import arguments
from meshpart.errors import ArgumentError, MeshpartError
from meshpart.torch.groups import GroupLike, as_group
from meshpart.torch.halo import Halo
from meshpart.torch.layouts import check_module, whole

WIDTH = 3
CLOSE = 1e-3  # of a ratio to one that is known
SAME = 1e-9  # relative to the largest gradient: a wrong combination is off by percents


class Probe(nn.Module):
    """A small network with known parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = skip_init(nn.Linear, 2, WIDTH, dtype=torch.float64)  # draws no random numbers
        self.outer = skip_init(nn.Linear, WIDTH, 1, dtype=torch.float64)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.linspace(-0.5, 1.0, parameter.numel()).view_as(parameter))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a value for each row: (n, 2) -> (n, 1). A wrapper may have moved the parameters to another dtype."""
        result: torch.Tensor = self.outer(torch.tanh(self.inner(x.to(self.inner.weight.dtype))))
        return result


def check_gradients(
    wrap: Callable[[nn.Module], nn.Module],
    halo: Halo,
    grads: str = "average",
    after: Callable[[nn.Module], Any] | None = None,
    loss: Callable[[torch.Tensor], torch.Tensor] | None = None,
    data_group: GroupLike = None,
    rtol: float = SAME,
) -> None:
    """Raise if what a training step does to gradients does not give those of a serial run. Collective.

    A small network takes one step as yours will: wrapped, with `halo.loss` and what comes after backward. Its rows
    differ from rank to rank, so that whatever averages wrongly, twice or not at all is found.

    Parameters
    ----------
    wrap : callable
        What wraps your model, given a module: `DDP`, `lambda m: fully_shard(m, mesh=mesh)`, `lambda m: m`.
    halo : Halo
    grads : str
        As given to `halo.loss`: "average" or "sum".
    after : callable, optional
        What you do to the gradients of the wrapped module after backward, such as adding them up over the ranks.
    loss : callable, optional
        What you use in the place of `halo.loss`, given the values of the owned rows, (n_owned, 1): their mean over all
        ranks is meant.
    data_group : ProcessGroup or 1-D DeviceMesh, optional
        In a layout of data parallel x domain, the ranks that hold the same part of other samples, as `mesh["dp"]`: each
        gets other values, and the gradient must be the mean over them.
    rtol : float
        Difference that is still fine, relative to the largest gradient. A wrapper that computes in lower precision
        needs a larger one.

    Raises
    ------
    ArgumentError
        If an argument is none of these, or the wrapper returns no module, one of FSDP1, or one of other parameters.
    MeshpartError
        On every rank of the halo, if a rank's gradients differ: it tells their ratio and the mend.

    Examples
    --------
    >>> import meshpart, meshpart.torch as mt
    >>> mesh = meshpart.Mesh([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> halo = mt.Halo(meshpart.partition(mesh, 1)[0])
    >>> mt.check_gradients(lambda module: module, halo)
    """
    if not isinstance(halo, Halo):
        raise ArgumentError(f"halo must be a Halo, got {type(halo).__name__}")
    for name, given in (("wrap", wrap), ("after", after), ("loss", loss)):
        if not callable(given) and (name == "wrap" or given is not None):
            raise ArgumentError(f"{name} must be callable, got {arguments.shown(given)}")
    if isinstance(rtol, bool) or not isinstance(rtol, int | float) or not 0 <= rtol < inf:
        raise ArgumentError(f"rtol must be a number of at least 0, got {arguments.shown(rtol)}")
    ranks, samples = halo.group, as_group(data_group, "data_group") if data_group is not None else None
    sample = 1.0 if samples is None else 1.0 + samples.rank
    mean_of_samples = 1.0 if samples is None else (1 + samples.size) / 2
    ids = halo.global_ids[: halo.n_owned].double()
    x = torch.stack([torch.cos(ids), torch.full_like(ids, (1 + ranks.rank) / ranks.size)], dim=1)

    probe = Probe().to(ids.device)
    probe(x).sum().backward()
    shares = ranks.all_gather(_flat(probe))  # each rank's, added up without the wrapper and without halo.loss
    serial = shares.sum(0) * (mean_of_samples / halo.n_global)

    wrapped = wrap(Probe().to(ids.device))
    check_module("wrap(module)", wrapped)
    if (there := _sizes(wrapped)) != (sizes := _sizes(probe)):
        raise ArgumentError(f"wrap(module) must have the parameters of module, of {sizes} elements, it has {there}")
    rows = sample * wrapped(x)
    (halo.loss(rows, grads=grads) if loss is None else loss(rows)).backward()
    if after is not None:
        after(wrapped)
    found = ranks.all_gather(_flat(wrapped))
    of_own_sample = None if samples is None else sample / mean_of_samples
    _compare(found, serial, rtol, lambda ratio: _mend(ratio, ranks.size, loss is None, grads, of_own_sample))


def _flat(module: nn.Module) -> torch.Tensor:
    """Return the gradients of all parameters in a row; 0 where there is none."""
    return torch.cat(
        [
            whole(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).flatten().double()
            for parameter in module.parameters()
        ]
    )


def _sizes(module: nn.Module) -> list[int]:
    return [parameter.numel() for parameter in module.parameters()]


def _compare(found: torch.Tensor, serial: torch.Tensor, rtol: float, mend: Callable[[float], str]) -> None:
    """Raise the error, of which every rank has all there is to know."""
    if broken := [rank for rank, gradient in enumerate(found) if not gradient.isfinite().all()]:
        raise MeshpartError(f"the gradients are not finite on {len(broken)} of {len(found)} ranks, as rank {broken[0]}")
    largest = serial.abs().max()
    off = float((found - serial).abs().max() / largest)
    if off <= rtol:
        return
    apart = float((found - found[0]).abs().max() / largest)
    ratio = float(found[0] @ serial / (serial @ serial))
    rest = float((found[0] - ratio * serial).abs().max() / largest)
    if apart > rtol:
        raise MeshpartError(
            f"the gradients of the {len(found)} ranks differ, by up to {_percent(apart)}, and from a serial run's by "
            f"up to {_percent(off)}: average over all ranks of the halo's group, and not over the data axis alone (DDP "
            "over the whole world, fully_shard on a mesh with the domain's axis)"
        )
    if rest > rtol:
        raise MeshpartError(
            f"the gradients differ from a serial run's by up to {_percent(off)}, with no common ratio: average over "
            "whole domains, each rank once, the loss of halo.loss and no mean of local means (a wrapper that computes "
            "in lower precision needs a larger rtol)"
        )
    if isclose(ratio, 1, rel_tol=CLOSE):
        raise MeshpartError(
            f"the gradients are off by {off:.3g} of the largest, all alike, and rtol is {rtol:g}: give a larger one if "
            "that is the precision in which the wrapper computes"
        )
    raise MeshpartError(f"the gradients are {ratio:.6g} times a serial run's: {mend(ratio)}")


def _mend(ratio: float, size: int, by_halo: bool, grads: str, of_own_sample: float | None) -> str:
    """Return what to do about a ratio."""
    if of_own_sample is not None and isclose(ratio, of_own_sample, rel_tol=CLOSE):
        return "they are not averaged over data_group: wrap over the whole world, or fully_shard on a mesh of both axes"
    if not by_halo:
        return "give halo.loss(per_row) to backward, and leave out any sum of gradients after an average"
    if isclose(ratio, size, rel_tol=CLOSE):
        if grads == "sum":
            return "they are added up twice: leave out one of the sums"
        return (
            "they are added up over the ranks instead of averaged, or averaged and added up besides: leave out the "
            'sum, or give grads="sum" where nothing averages'
        )
    if isclose(ratio, 1 / size, rel_tol=CLOSE):
        return 'they are averaged where a sum is expected: give grads="average"'
    return "after backward they are neither averaged over the ranks once, nor added up once as grads says"


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"
