"""Routes: the rows that a rank sends to each other rank, and two exchanges along them, each the other's gradient."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, count, pairwise
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import torch
import torch.distributed as dist
from torch._library.effects import EffectType

from meshpart.halo import HaloPlan
from meshpart.torch.groups import Group
from meshpart.torch.rows import chosen, packed, width_of


@dataclass(frozen=True, eq=False)
class Route:
    """Where the rows of one rank go, and where those that it receives come from.

    Parameters
    ----------
    group : Group
    n_owned, n_ghost : int
    send_splits, recv_splits : list of int, (size,)
        How many rows go to each rank, and come from it.
    key : str
        By which the operations below find the route: they are torch's, which take no such object. A text, since
        compilers make variables of numbers.
    """

    group: Group
    n_owned: int
    n_ghost: int
    send_splits: list[int]
    recv_splits: list[int]
    key: str

    def __deepcopy__(self, memo: dict[int, Any]) -> Route:
        return self

    @property
    def n_local(self) -> int:
        """Number of local rows."""
        return self.n_owned + self.n_ghost

    @property
    def back(self) -> tuple[list[int], list[int]]:
        """The splits of what is sent, and received, when ghosts go to their owners."""
        return self.recv_splits, self.send_splits


SENT_BY_ALL = frozenset((torch.float32, torch.float64, torch.int32, torch.int64))  # dtypes that no backend lacks
_keys = count()
_routes: WeakValueDictionary[str, Route] = WeakValueDictionary()


def route_of(plan: HaloPlan, n_owned: int, group: Group) -> Route:
    """Return the route of a plan whose parts are the ranks of a group."""

    def by_rank(offsets: np.ndarray[Any, Any]) -> list[int]:
        splits = np.zeros(group.size, np.int64)
        splits[plan.neighbours] = np.diff(offsets)
        return splits.tolist()

    sent, received = by_rank(plan.send_offsets), by_rank(plan.recv_offsets)
    route = Route(group, n_owned, sum(received), sent, received, str(next(_keys)))
    _routes[route.key] = route
    return route


# -- the two operations, which torch.compile takes as they are ----------------------------------------------

# Not by torch.library.custom_op, whose first call loads the compiler, and each call two more functions.
torch.library.define("meshpart::spread", "(Tensor owned, Tensor send_index, str route, bool keep) -> Tensor")
torch.library.define("meshpart::collect", "(Tensor rows, Tensor send_index, str route, bool keep) -> Tensor")
torch.library.define("meshpart::refresh_", "(Tensor(a!) local, Tensor send_index, str route) -> ()")


@torch.library.impl("meshpart::spread", "default")
def _spread(owned: torch.Tensor, send_index: torch.Tensor, route: str, keep: bool) -> torch.Tensor:
    """Return what the owners of the ghosts have for them, (n_ghost, ...); after the owned rows if `keep`."""
    known = _routes[route]
    rows = owned.new_empty((known.n_local if keep else known.n_ghost, *owned.shape[1:]))
    ghosts = rows
    if keep:
        rows[: known.n_owned] = owned
        ghosts = rows[known.n_owned :]
    send(known, ghosts, chosen(owned, send_index))
    return rows


@torch.library.impl("meshpart::collect", "default")
def _collect(rows: torch.Tensor, send_index: torch.Tensor, route: str, keep: bool) -> torch.Tensor:
    """Return for each owned row the sum over its ghosts on other ranks, and first of all its own value if `keep`.

    `rows` are the local ones, (n_local, ...), if `keep`, else those of the ghosts alone, (n_ghost, ...).
    """
    known = _routes[route]
    if keep:
        owned, ghosts = rows[: known.n_owned].clone(memory_format=torch.contiguous_format), rows[known.n_owned :]
    else:
        owned, ghosts = rows.new_zeros((known.n_owned, *rows.shape[1:])), rows
    for index, values in returned(known, ghosts, send_index):
        owned.index_add_(0, index, values)  # no row twice, so that the order of adding is always the same
    return owned


def returned(route: Route, ghosts: torch.Tensor, send_index: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return what each rank has for its ghosts of this rank's rows: which rows, each once, and the values."""
    values = ghosts.new_empty((len(send_index), *ghosts.shape[1:]))
    send(route, values, packed(ghosts), back=True)
    bounds = pairwise(accumulate(route.send_splits, initial=0))
    return [(send_index[first:last], values[first:last]) for first, last in bounds if first < last]


def overwrite(local: torch.Tensor, send_index: torch.Tensor, route: Route) -> None:
    """Overwrite the ghost rows of a contiguous tensor with what their owners have."""
    if torch.compiler.is_compiling():
        torch.ops.meshpart.refresh_(local, send_index, route.key)
    else:  # not by the operation, whose way through torch takes as long as sending some KiB does
        _overwrite(local, send_index, route)


@torch.library.impl("meshpart::refresh_", "default")
def _(local: torch.Tensor, send_index: torch.Tensor, route: str) -> None:
    _overwrite(local, send_index, _routes[route])


def _overwrite(local: torch.Tensor, send_index: torch.Tensor, route: Route) -> None:
    send(route, local.narrow(0, route.n_owned, route.n_ghost), chosen(local, send_index))
    torch.autograd.graph.increment_version(local)


spread, collect = torch.ops.meshpart.spread.default, torch.ops.meshpart.collect.default


@torch.library.register_fake("meshpart::spread")
def _(owned: torch.Tensor, send_index: torch.Tensor, route: str, keep: bool) -> torch.Tensor:
    known = _routes[route]
    return owned.new_empty((known.n_local if keep else known.n_ghost, *owned.shape[1:]))


@torch.library.register_fake("meshpart::collect")
def _(rows: torch.Tensor, send_index: torch.Tensor, route: str, keep: bool) -> torch.Tensor:
    return rows.new_empty((_routes[route].n_owned, *rows.shape[1:]))


@torch.library.register_fake("meshpart::refresh_")
def _(local: torch.Tensor, send_index: torch.Tensor, route: str) -> None:
    return None


def _remember(ctx: Any, inputs: tuple[torch.Tensor, torch.Tensor, str, bool], output: torch.Tensor) -> None:
    _, send_index, key, ctx.keep = inputs
    ctx.save_for_backward(send_index)
    ctx.route = _routes[key]  # which lives as long as what needs it


def _spread_backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
    return collect(grad, ctx.saved_tensors[0], ctx.route.key, ctx.keep), None, None, None


def _collect_backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
    return spread(grad, ctx.saved_tensors[0], ctx.route.key, ctx.keep), None, None, None


torch.library.register_autograd("meshpart::spread", _spread_backward, setup_context=_remember)
torch.library.register_autograd("meshpart::collect", _collect_backward, setup_context=_remember)

# What talks to other ranks: compilers leave it in its order, and where it is though nobody looks at the result.
for _name in ("spread", "collect", "refresh_"):
    torch.library._register_effectful_op(f"meshpart::{_name}", EffectType.ORDERED)


# -- what is sent -------------------------------------------------------------------------------------------


def send(
    route: Route, received: torch.Tensor, sent: torch.Tensor, *, back: bool = False, later: bool = False
) -> dist.Work | None:
    """Send rows to all ranks and receive theirs, of any dtype, in place: contiguous tensors of one row shape.

    Parameters
    ----------
    back : bool
        From ghosts to owners.
    later : bool
        Return at once, with what is to be waited for.
    """
    if route.group.process_group is None:
        return None
    to, of = route.back if back else (route.send_splits, route.recv_splits)
    return dist.all_to_all_single(
        _sendable(received), _sendable(sent), of, to, group=route.group.process_group, async_op=later
    )


def _sendable(rows: torch.Tensor) -> torch.Tensor:
    """Return rows as every backend sends them: those of some dtypes as uint8, (n_rows, bytes of a row). A view."""
    if rows.dtype in SENT_BY_ALL:
        return rows
    return as_bytes(rows)


def as_bytes(rows: torch.Tensor) -> torch.Tensor:
    """Return a view of the bytes of contiguous rows: uint8, (n_rows, bytes of a row)."""
    return rows.view(len(rows), width_of(rows)).view(torch.uint8)
