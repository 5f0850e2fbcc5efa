"""From the arrays of the whole mesh to the rows of each rank, and back."""

from __future__ import annotations

from typing import Any

import torch

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.torch.groups import Group
from meshpart.torch.routes import Route, as_bytes, send
from meshpart.torch.rows import chosen, packed, whole_rows
from meshpart.torch.verify import require_alike


def scatter(group: Group, x_global: Any, src: int, global_ids: torch.Tensor, n_global: int) -> torch.Tensor:
    """Return the local rows of an array that one rank has: see `Halo.scatter`. Collective."""
    kind: tuple[Any, ...] = (None, ())
    with group.all_or_none():
        src = arguments.integer("src", src, low=0, high=group.size - 1)
        if group.rank == src:
            whole_rows("x_global", x_global, n_global)
            kind = (x_global.dtype, tuple(x_global.shape[1:]))
        elif x_global is not None:
            raise ArgumentError(f"x_global must be None on all ranks but src = {src}")
    if group.process_group is None:
        return chosen(x_global.detach(), global_ids.to(x_global.device)).to(global_ids.device)
    n_local = len(global_ids)
    everyone = group.all_gather_object((src, n_local, *kind))
    require_alike("src", [entry[0] for entry in everyone], "src must be the same on all ranks")
    counts = [entry[1] for entry in everyone]
    dtype, trailing = everyone[src][2:]
    rows = torch.empty((n_local, *trailing), dtype=dtype, device=group.device)
    at_src = group.rank == src
    wanted = global_ids.new_empty(sum(counts) if at_src else 0, device=group.device)
    asking = _star(group, src, counts, n_local)
    send(asking, wanted, global_ids.to(group.device))
    if at_src:
        sent = chosen(x_global.detach(), wanted.to(x_global.device)).to(group.device)
    else:
        sent = rows.new_empty((0, *trailing))
    send(asking, rows, sent, back=True)
    return rows.to(global_ids.device)


def gather(group: Group, rows: torch.Tensor, dst: int, global_ids: torch.Tensor, n_global: int) -> torch.Tensor | None:
    """Return the rows of all ranks in the order of the whole mesh, on one rank: see `Halo.gather`. Collective."""
    rows, n_owned = packed(rows.detach()), len(rows)
    at_dst = group.rank == dst
    numbers = group.all_gather_numbers([n_owned, dst])
    counts = [n for n, _ in numbers]
    require_alike("dst", [to for _, to in numbers], "dst must be the same on all ranks")
    n_coming = sum(counts) if at_dst else 0
    everyone = rows.new_empty((n_coming, *rows.shape[1:]), device=group.device)
    ids = global_ids.new_empty((n_coming,), device=group.device)
    if group.process_group is None:
        everyone, ids = rows, global_ids[:n_owned]
    else:
        way = _star(group, dst, counts, n_owned)
        send(way, ids, global_ids[:n_owned].to(group.device))
        send(way, everyone, rows.to(group.device))
    if not at_dst:
        return None
    whole = rows.new_empty((n_global, *rows.shape[1:]))
    as_bytes(whole)[ids.to(rows.device)] = as_bytes(everyone.to(rows.device))  # of dtypes too that torch does not index
    return whole


def _star(group: Group, centre: int, counts: list[int], mine: int) -> Route:
    """Return the route from all ranks to one: `counts` rows from each."""
    to = [mine if rank == centre else 0 for rank in range(group.size)]
    of = counts if group.rank == centre else [0] * group.size
    return Route(group, mine, sum(of), to, of, key="")
