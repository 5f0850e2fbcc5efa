"""Communicators of mpi4py: what must hold of one before it is asked, and how all of its ranks raise the same error."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from meshpart.arguments import shown
from meshpart.errors import AlignmentError, ArgumentError, MeshpartError

ASKED = ("Get_rank", "Get_size", "Is_inter", "allgather", "bcast")
NAMED = 4  # how many ranks a message names


def as_communicator(comm: Any) -> Any:
    """Return an intracommunicator of mpi4py, or what has the methods of one. mpi4py is not imported.

    Raises
    ------
    ArgumentError
        If it is none, or one between two groups, or COMM_NULL; or if MPI is not running.
    """
    if isinstance(comm, type) or not all(callable(getattr(comm, name, None)) for name in ASKED):
        raise ArgumentError(f"comm must be a communicator of mpi4py, got {shown(comm)}")
    mpi = _mpi_of(comm)
    if mpi is not None and (mpi.Is_finalized() or not mpi.Is_initialized()):  # if asked more, MPI ends the process
        raise ArgumentError("comm cannot be asked: MPI is not initialised, or finalised already")
    if not comm:
        raise ArgumentError("comm is MPI.COMM_NULL: this process is not in it, or it was freed")
    if comm.Is_inter():
        raise ArgumentError("comm must be an intracommunicator, got one between two groups: hand in comm.Merge()")
    return comm


def size_of_mpi_world(comm: Any) -> int:
    """Return how many processes MPI knows of: those of COMM_WORLD, or of `comm` if that is not of mpi4py."""
    mpi = _mpi_of(comm)
    return int((comm if mpi is None else mpi.COMM_WORLD).Get_size())


@contextmanager
def all_or_none(comm: Any) -> Iterator[None]:
    """Let what is inside, which must have no collective, succeed on all ranks or raise on all. Collective.

    The error has the words of the first rank that failed, and its class where that is meshpart's own.
    """
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        failure = error
    kind = type(failure) if isinstance(failure, MeshpartError) else AlignmentError
    said = comm.allgather(None if failure is None else (kind, first_line(failure), this_process()))
    failed = [rank for rank, answer in enumerate(said) if answer is not None]
    if failed:
        kind, words, process = said[failed[0]]
        others = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise kind(f"{words} (on rank {failed[0]} of {len(said)} of comm, {process}{others})") from failure


def this_process() -> str:
    """Return the words that tell where this process runs."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def few_of(entries: Sequence[str]) -> str:
    """Return a list in words, of the first few where there are many."""
    more = f", and {len(entries) - NAMED} more" if len(entries) > NAMED else ""
    return ", ".join(entries[:NAMED]) + more


def first_line(error: Exception) -> str:
    """Return what an error says, without the calls that torch's list after it."""
    return next(iter(str(error).splitlines()), "") or repr(error)


def _mpi_of(comm: Any) -> Any | None:
    """Return the module mpi4py.MPI if `comm` is of it."""
    mpi = sys.modules.get("mpi4py.MPI")
    return mpi if mpi is not None and isinstance(comm, mpi.Comm) else None
