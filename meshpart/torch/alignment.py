"""Alignment: whether a solver's communicator and torch.distributed number the same processes in the same way."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch.distributed as dist

from meshpart.arguments import shown
from meshpart.errors import AlignmentError, ArgumentError
from meshpart.torch.communicators import as_communicator, few_of, first_line, size_of_mpi_world, this_process
from meshpart.torch.groups import Group, GroupLike, as_group
from meshpart.torch.launchers import Claim, claim_on, claims_in

APART = "let no two jobs share a MASTER_ADDR and MASTER_PORT"
START = "let torch take its ranks from comm, meshpart.torch.init_process_group_from(comm)"


def check_rank_alignment(comm: Any = None, group: GroupLike = None) -> None:
    """Check that rank r of a solver and rank r of torch are one process, for every r.

    A solver has its ranks from MPI, torch has its own. Where they disagree nothing fails: processes work on each
    other's parts, or all of them on part 0, and the numbers are wrong. Call it once, after both have started.

    With `comm`, each process first tells over it what it is to torch. Then rank 0 leaves a nonce in the store by which
    the processes of torch's world found each other, and tells it over `comm`: who does not find it there is in the
    world of another job, where it may well have the right rank. Nothing is sent over `group`, so that no process waits
    in vain for one that is elsewhere. What launchers say of ranks does not count, since a communicator may number
    processes in its own way; but none may have started more of them than MPI and torch know of, as happens where each
    takes itself for the only one.

    Without `comm`, torch's world must be what the launcher says: by RANK and WORLD_SIZE; OMPI_COMM_WORLD_RANK and
    OMPI_COMM_WORLD_SIZE; PMI_RANK and PMI_SIZE; SLURM_PROCID and SLURM_STEP_NUM_TASKS or SLURM_NTASKS; PMIX_RANK. The
    first that are set count, but not those of a launcher of fewer processes than the world has: it started their
    parents. Crossed jobs are seen without `comm` only where the launcher gives each job a name, as Open MPI's does.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm, optional
        The solver's. All of its processes must call.
    group : ProcessGroup or 1-D DeviceMesh, optional
        What is to have the same ranks. If left out, the default group of torch.distributed, or this process alone where
        that is not initialised. Without `comm` all of its processes must call.

    Raises
    ------
    AlignmentError
        If they disagree: the same error on every rank, with the processes, a few of many, and the mend.
    ArgumentError
        If `comm` is no communicator; if `group` is no group of torch, on any process.

    See Also
    --------
    init_process_group_from : starts torch with the ranks of a communicator.

    Notes
    -----
    `comm.Split(0, key=torch.distributed.get_rank(group))` is a communicator in torch's order.

    Examples
    --------
    >>> from meshpart.torch import check_rank_alignment
    >>> check_rank_alignment()  # of a process that was started alone
    """
    if comm is None:
        ours = as_group(group)
        _raise(_against_launchers(ours.all_gather_object(_seat_in(ours))))
        return
    comm = as_communicator(comm)
    seats = comm.allgather(_seat_beside(comm, group))
    if all(seat.trouble for seat in seats):
        raise ArgumentError(seats[0].trouble)
    _raise(_against_comm(seats) or _against_those_started(seats))
    if len(seats) > 1:
        _raise(_against_one_group(comm, as_group(group), seats))


def _raise(words: str | None) -> None:
    if words is not None:
        raise AlignmentError(words)


@dataclass(frozen=True)
class _Seat:
    """What a process is to torch, in the group and in the world, and to those who started it."""

    process: str
    claims: tuple[Claim, ...]
    mpi_size: int = 1  # of MPI's world
    started: bool = False
    rank: int = 0
    size: int = 1
    world_rank: int = 0
    world_size: int = 1
    trouble: str = ""  # why the process cannot tell

    def __str__(self) -> str:
        return ", ".join([self.process, *(claim.words for claim in self.claims[:1])])

    @property
    def known(self) -> int:
        """How many processes there are, as far as MPI and torch know."""
        return max(self.mpi_size, self.world_size)


def _seat_in(group: Group, mpi_size: int = 1) -> _Seat:
    process, claims = this_process(), claims_in(os.environ)
    if group.process_group is None:
        return _Seat(process, claims, mpi_size)
    return _Seat(process, claims, mpi_size, True, group.rank, group.size, dist.get_rank(), dist.get_world_size())


def _seat_beside(comm: Any, group: GroupLike) -> _Seat:
    """Return the seat of this process whatever happens: the others wait for it."""
    mpi_size = size_of_mpi_world(comm)
    try:
        return _seat_in(as_group(group), mpi_size)
    except Exception as error:
        return _Seat(this_process(), claims_in(os.environ), mpi_size, trouble=first_line(error))


# -- what speaks against it, if anything: drawn from what all have told, so that it is the same on every rank -----


def _against_comm(seats: Sequence[_Seat]) -> str | None:
    """Return what is wrong with torch's ranks of the processes of comm, which come in the order of comm."""
    n = len(seats)
    if troubled := [rank for rank in range(n) if seats[rank].trouble]:
        told = few_of([f"rank {rank}: {seats[rank].trouble} ({seats[rank]})" for rank in troubled])
        return (
            f"group is not one of all {n} processes of comm: {told}; hand in the communicator of the group's processes"
        )
    if n > 1 and (idle := [rank for rank in range(n) if not seats[rank].started]):
        told = few_of([f"rank {rank} ({seats[rank]})" for rank in idle])
        return f"torch.distributed is not initialised on {len(idle)} of the {n} processes of comm: {told}; {START}"
    if unlike := [rank for rank in range(n) if seats[rank].size != n]:
        return f"comm and torch differ in size: {_both_ranks(seats, unlike)}; {_mend_of_sizes(seats)}"
    if permuted := [rank for rank in range(n) if seats[rank].rank != rank]:
        return (
            f"comm and torch number {len(permuted)} of {n} processes differently: {_both_ranks(seats, permuted)}; give "
            f"the solver torch's order, comm.Split(0, key=torch.distributed.get_rank(group)), or {START}"
        )
    return None


def _both_ranks(seats: Sequence[_Seat], ranks: Sequence[int]) -> str:
    told = [(rank, seats[rank]) for rank in ranks]
    return few_of([f"rank {r} of {len(seats)} of comm is torch rank {s.rank} of {s.size} ({s})" for r, s in told])


def _mend_of_sizes(seats: Sequence[_Seat]) -> str:
    if any(seat.size < len(seats) for seat in seats):
        return START
    if seats[0].mpi_size == 1:
        return (
            "MPI knows of this process alone: start the program with the launcher of the MPI that mpi4py loads, as in "
            f"mpiexec -n {seats[0].size}"
        )
    return "hand in the communicator of the group's processes, or the group of comm's"


def _against_those_started(seats: Sequence[_Seat]) -> str | None:
    """Return what is wrong if more processes were started than MPI and torch know of."""
    lost = []
    for rank, seat in enumerate(seats):
        claim = claim_on(seat.known, (claim for claim in seat.claims if claim.size is not None))
        if claim is not None and claim.size != seat.known:
            lost.append(f"rank {rank} of comm knows of {seat.known} and was started as {claim.words} ({seat.process})")
    if not lost:
        return None
    return (
        f"more processes were started than MPI and torch know of: {few_of(lost)}; start the program with the launcher "
        "of the MPI that mpi4py loads"
    )


def _against_launchers(seats: Sequence[_Seat]) -> str | None:
    """Return what is wrong with torch's world, by what the launchers say of the processes of a group."""
    claimed = [(seat, claim) for seat in seats if (claim := claim_on(seat.world_size, seat.claims)) is not None]
    wrong = [
        f"torch rank {seat.world_rank} of {seat.world_size} was started as {claim.words} ({seat.process})"
        for seat, claim in claimed
        if (claim.rank, claim.size or seat.world_size) != (seat.world_rank, seat.world_size)
    ]
    if wrong:
        state = "" if seats[0].started else "it is not initialised, and "
        return (
            f"torch.distributed does not fit the launcher: {state}{few_of(wrong)}; initialise it with the launcher's "
            "ranks, or hand in comm, the solver's communicator, if torch's are meant to be others"
        )
    jobs = {claim.job: seat for seat, claim in claimed if claim.job and claim.size is not None}
    if len(jobs) > 1:
        told = few_of([f"{shown(job)} ({seat})" for job, seat in jobs.items()])
        return f"group has processes of {len(jobs)} jobs, each of which has as many as torch's world: {told}; {APART}"
    return None


# -- whether it is one group, where every rank and size is right ---------------------------------------------


def _against_one_group(comm: Any, group: Group, seats: Sequence[_Seat]) -> str | None:
    """Return what is wrong if comm's processes are not those of one group. Collective over comm, and not over torch."""
    nonce, failure = f"meshpart/{secrets.token_hex(16)}", ""
    if group.rank == 0:
        try:
            _store().add(nonce, 1)  # the store has it when this returns, unlike with `set`
        except Exception as error:
            failure = first_line(error)
    nonce, failure = comm.bcast((nonce, failure))
    if failure:
        return f"torch rank 0 ({seats[0]}) cannot write to the store of torch's world: {failure}"
    world_ranks = [seat.world_rank for seat in seats]
    answers = comm.allgather(_elsewhere(nonce, group, world_ranks))
    if strangers := [rank for rank in range(len(seats)) if answers[rank]]:
        told = few_of([f"rank {rank} of comm {answers[rank]} ({seats[rank]})" for rank in strangers])
        return (
            f"comm's processes have the right ranks, but not in one group, that of torch's ranks {shown(world_ranks)} "
            f"in the world of rank 0 ({seats[0]}): {told}; hand in the group of comm's processes, {APART}, or {START}"
        )
    return None


def _elsewhere(nonce: str, group: Group, world_ranks: list[int]) -> str:
    """Return, in words, where this process is if not in the nonce's world and in the group of these ranks of it."""
    try:
        if not _store().check([nonce]):
            return "is in another world"
        members = dist.get_process_group_ranks(group.process_group)
        return "" if members == world_ranks else f"handed in the group of {shown(members)}"
    except Exception as error:  # the other world has ended, and its store with it
        return f"cannot ask the store of its world, {first_line(error)}"


def _store() -> Any:
    """Return the store of torch's world, for which torch has no public name."""
    return dist.distributed_c10d._get_default_store()
