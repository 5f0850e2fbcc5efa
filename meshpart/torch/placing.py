"""From the arrays of the whole mesh to the rows of each rank, and back."""

from __future__ import annotations

from typing import Any

import torch

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.torch.groups import Group
from meshpart.torch.routes import Route, send
from meshpart.torch.rows import has_rows


def scatter(group: Group, x_global: Any, src: int, global_ids: torch.Tensor, n_global: int) -> torch.Tensor:
    """Return the local rows of an array that one rank has: see `Halo.scatter`. Collective."""
    src = arguments.integer("src", src, low=0, high=group.size - 1)
    kind: tuple[Any, ...] | None = None
    failure: Exception | None = None
    if group.rank == src:
        try:
            if has_rows("x_global", x_global) != n_global:
                raise ArgumentError(f"x_global must have n_global = {n_global} rows, got the shape {x_global.shape}")
            kind = (x_global.dtype, tuple(x_global.shape[1:]))
        except ArgumentError as error:
            failure = error
    elif x_global is not None:
        failure = ArgumentError(f"x_global must be None on all ranks but src = {src}")
    group.raise_together(failure)
    dtype, trailing = group.all_gather_object(kind)[src]
    n_local = len(global_ids)
    rows = torch.empty((n_local, *trailing), dtype=dtype, device=group.device)
    counts = [n for (n,) in group.all_gather_numbers([n_local])]
    if group.process_group is None:
        return x_global.detach().index_select(0, global_ids.to(x_global.device)).to(global_ids.device)
    at_src = group.rank == src
    wanted = global_ids.new_empty(sum(counts) if at_src else 0, device=group.device)
    asking = _star(group, src, counts, n_local)
    send(asking, wanted, global_ids.to(group.device))
    if at_src:
        chosen = x_global.detach().index_select(0, wanted.to(x_global.device)).to(group.device)
    else:
        chosen = rows.new_empty((0, *trailing))
    send(asking, rows, chosen, back=True)
    return rows.to(global_ids.device)


def gather(group: Group, rows: torch.Tensor, dst: int, global_ids: torch.Tensor, n_global: int) -> torch.Tensor | None:
    """Return the rows of all ranks in the order of the whole mesh, on one rank: see `Halo.gather`. Collective."""
    dst = arguments.integer("dst", dst, low=0, high=group.size - 1)
    rows, n_owned = rows.detach(), len(rows)
    at_dst = group.rank == dst
    counts = [n for (n,) in group.all_gather_numbers([n_owned])]
    n_coming = sum(counts) if at_dst else 0
    everyone = rows.new_empty((n_coming, *rows.shape[1:]), device=group.device)
    ids = global_ids.new_empty((n_coming,), device=group.device)
    if group.process_group is None:
        everyone, ids = rows, global_ids[:n_owned]
    else:
        way = _star(group, dst, counts, n_owned)
        send(way, ids, global_ids[:n_owned].to(group.device))
        send(way, everyone, rows.to(group.device).contiguous())
    if not at_dst:
        return None
    whole = rows.new_empty((n_global, *rows.shape[1:]))
    whole[ids.to(rows.device)] = everyone.to(rows.device)
    return whole


def _star(group: Group, centre: int, counts: list[int], mine: int) -> Route:
    """Return the route from all ranks to one: `counts` rows from each."""
    to = [mine if rank == centre else 0 for rank in range(group.size)]
    of = counts if group.rank == centre else [0] * group.size
    return Route(group, mine, sum(of), to, of, key="")
