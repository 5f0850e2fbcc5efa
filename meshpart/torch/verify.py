"""Whether the ranks of a group hold the parts of one decomposition, each its own: the same error on all if not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch._compile import _disable_dynamo

from meshpart.errors import ArgumentError
from meshpart.torch.groups import Group
from meshpart.torch.routes import Route, send

NAMED = 4  # how many ranks a message names


class Told(NamedTuple):
    """What each rank tells the others of its part."""

    part: int
    nparts: int
    entity: str
    run: str
    layers: int
    n_owned: int
    n_global: int
    verify: bool
    check: bool


def check_parts(group: Group, build: Callable[[], Told]) -> list[Told]:
    """Return what all ranks tell of their parts, after checking that these belong together. Collective."""
    with group.all_or_none():
        told = build()
    everyone = [Told(*entry) for entry in group.all_gather_object(tuple(told))]
    _check_told(everyone)
    return everyone


def check_route(route: Route, send_index: torch.Tensor, global_ids: torch.Tensor) -> None:
    """Raise on every rank if what a rank sends is not what another expects. Collective."""
    group = route.group
    sent = torch.tensor(route.send_splits, dtype=torch.int64, device=group.device)
    expected = torch.empty_like(sent)
    one_each = Route(group, group.size, group.size, [1] * group.size, [1] * group.size, key="")
    send(one_each, expected, sent)
    with group.all_or_none():
        counts = expected.tolist() if group.process_group is not None else route.recv_splits
        for rank, (coming, known) in enumerate(zip(counts, route.recv_splits, strict=True)):
            if coming != known:
                raise ArgumentError(
                    f"the plans do not fit each other: part {rank} sends {coming} rows to part {group.rank}, "
                    f"which has {known} ghosts of it"
                )
    ghosts = global_ids[route.n_owned :]
    theirs = torch.empty_like(ghosts)
    send(route, theirs, global_ids.index_select(0, send_index))
    with group.all_or_none():
        wrong = (theirs != ghosts).nonzero().flatten()
        if len(wrong):
            row = int(wrong[0])
            raise ArgumentError(
                f"the plans do not fit each other: {len(wrong)} of {route.n_ghost} ghosts are sent from other rows, "
                f"the first is {int(ghosts[row])} here and {int(theirs[row])} for its owner"
            )


@_disable_dynamo  # as torch.compiler.disable, which loads the compiler at once
def agree_on_rows(group: Group, verb: str, rows: torch.Tensor, failure: ArgumentError | None) -> None:
    """Raise on every rank if a verb cannot be what all ranks call with rows of one kind. Collective."""
    group.raise_together(failure)
    kinds = group.all_gather_object(f"{verb} of {rows.dtype} rows of shape {tuple(rows.shape[1:])}")
    require_alike("call", kinds, "the ranks do not call the same")


def _check_told(told: Sequence[Told]) -> None:
    """Refuse parts that do not belong together: from what all ranks know, so that all refuse them alike."""
    first = told[0]
    require_alike("entity", [entry.entity for entry in told])
    require_alike("nparts", [entry.nparts for entry in told])
    if first.nparts != len(told):
        raise ArgumentError(
            f"part is one of {first.nparts}, and the group has {len(told)} ranks: there must be a rank for each part "
            "(with more parts than ranks see PartSampler, which needs no exchange)"
        )
    strays = [(rank, entry.part) for rank, entry in enumerate(told) if entry.part != rank]
    if strays:
        who = ", ".join(f"rank {rank} has part {part}" for rank, part in strays[:NAMED])
        more = f" and {len(strays) - NAMED} more" if len(strays) > NAMED else ""
        raise ArgumentError(
            f"part must be that of the rank in the group: {who}{more}. A rank of the group may have another number "
            "than in the world, and a solver's communicator another order: see check_rank_alignment"
        )
    require_alike("run", [entry.run for entry in told], "parts of different decompositions")
    require_alike("layers", [entry.layers for entry in told])
    require_alike("n_global", [entry.n_global for entry in told])
    for flag in ("verify", "check"):
        require_alike(flag, [getattr(entry, flag) for entry in told], f"{flag} must be the same on all ranks")
    owned = sum(entry.n_owned for entry in told)
    if owned != first.n_global:
        raise ArgumentError(f"the parts own {owned} {first.entity} together, there are {first.n_global}")


def require_alike(name: str, values: Sequence[object], what: str | None = None) -> None:
    """Refuse values, one of each rank, that are not all the same."""
    ranks: dict[object, int] = {}
    for rank, value in enumerate(values):
        ranks.setdefault(value, rank)
    if len(ranks) > 1:
        (value, rank), (other, another) = list(ranks.items())[:2]
        what = what or f"parts of different {name}"
        raise ArgumentError(f"{what}: {name} is {value!r} on rank {rank} and {other!r} on rank {another}")
