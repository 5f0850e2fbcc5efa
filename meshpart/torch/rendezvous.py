"""Rendezvous: torch.distributed started from a solver's communicator, rank for rank."""

from __future__ import annotations

import socket
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from meshpart.arguments import shown
from meshpart.errors import AlignmentError, ArgumentError, MeshpartError
from meshpart.torch.communicators import all_or_none, as_communicator

TRY = 10.0  # seconds to try one address of rank 0 for
LOOPBACK = "127.0.0.1"


def init_process_group_from(comm: Any, backend: str | None = None, timeout: timedelta | None = None) -> None:
    """Initialise torch.distributed with the ranks of a communicator: rank r of `comm` is torch's rank r.

    Rank 0 opens a store on a free port and tells over `comm` where it is. So no address and no port has to be agreed
    on beforehand, and jobs side by side do not meet. On rank 0's machine the store is reached by the loopback address,
    on others by the name or an address of that machine, the first that answers. Nothing is read from the environment or
    set there: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT stay as they are. Collective over `comm`.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The solver's, or a part of it: each of several sub-communicators gets a torch world of its own.
    backend : str, optional
        As `torch.distributed.init_process_group` takes it, the same on all ranks. If left out, "nccl" where there are
        CUDA devices, else "gloo".
    timeout : datetime.timedelta, optional
        How long torch's collectives, and this call, wait for a process. By torch's own default if left out.

    Raises
    ------
    ArgumentError
        If `comm` is no communicator; if a rank lacks the backend, or asks for another than the others do.
    AlignmentError
        If torch.distributed is initialised already on some rank, if a rank cannot reach rank 0, or if torch fails.

    Once `comm` is known to be one, all ranks raise the same error, and torch.distributed is as it was before.

    See Also
    --------
    check_rank_alignment : for torch worlds that were started in another way.

    Notes
    -----
    With NCCL each process needs a device of its own, chosen before:
    `torch.cuda.set_device(comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank())`. On several machines gloo and NCCL choose
    network interfaces by themselves, or as GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME say.

    Examples
    --------
    Started by ``mpiexec -n 4 python train.py``::

        from mpi4py import MPI
        import meshpart.torch

        meshpart.torch.init_process_group_from(MPI.COMM_WORLD)
    """
    comm = as_communicator(comm)
    with all_or_none(comm):
        _check_not_initialised()
        backend = _usable(backend)
        options = {} if timeout is None else {"timeout": _positive(timeout)}
    if len(backends := sorted(set(comm.allgather(backend)))) > 1:
        raise ArgumentError(f"backend must be the same on all ranks of comm, got {', '.join(backends)}")
    rank, size = comm.Get_rank(), comm.Get_size()
    store = place = None
    with all_or_none(comm):
        if rank == 0:  # the store listens on all addresses of the machine, and lives as long as torch's world
            store = dist.TCPStore(LOOPBACK, 0, size, is_master=True, wait_for_workers=False, **options)
            place = _place_of(store)
    place = comm.bcast(place)
    with all_or_none(comm):
        if rank > 0:
            store = dist.TCPStore(_reached(place), place.port, size, is_master=False, wait_for_workers=False, **options)
    try:
        with all_or_none(comm):
            dist.init_process_group(backend, store=store, rank=rank, world_size=size, **options)
    except MeshpartError:
        if dist.is_initialized():  # here, and not on another rank
            dist.destroy_process_group()
        raise


def _check_not_initialised() -> None:
    if dist.is_initialized():
        raise AlignmentError(
            f"torch.distributed is initialised already, as rank {dist.get_rank()} of {dist.get_world_size()}: "
            "meshpart.torch.check_rank_alignment(comm) tells whether comm has the same ranks"
        )


def _usable(backend: object) -> str:
    """Return the backend; refuse what torch has not here."""
    if backend is None:
        backend = "nccl" if torch.cuda.is_available() else "gloo"
    if not isinstance(backend, str):
        raise ArgumentError(f"backend must be a name or None, got {shown(backend)}")
    for name in (part.rpartition(":")[2].lower() for part in backend.split(",")):  # as in "cpu:gloo,cuda:nccl"
        if name not in dist.Backend.backend_list or not dist.is_backend_available(name):
            raise ArgumentError(f"backend must be one that torch has here, got {shown(backend)}")
        if name == "nccl" and not torch.cuda.is_available():
            raise ArgumentError(f"backend {shown(backend)} needs a CUDA device, and none is here")
    return backend.lower()


def _positive(timeout: object) -> timedelta:
    if not isinstance(timeout, timedelta) or timeout <= timedelta(0):
        raise ArgumentError(f"timeout must be a datetime.timedelta above 0, or None, got {shown(timeout)}")
    return timeout


# -- where rank 0 is -----------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where the store of rank 0 is: on which machine, what that may be called elsewhere, and the port."""

    machine: tuple[str, int]
    names: tuple[str, ...]
    port: int


def _place_of(store: Any) -> _Place:
    names = [socket.gethostname()]
    # The addresses by which the machine speaks to others: these two are kept for documentation, and nothing is sent.
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((far, 9))
                names.append(probe.getsockname()[0])
        except OSError:  # it has none
            continue
    return _Place(_this_machine(), tuple(names), store.port)


def _this_machine() -> tuple[str, int]:
    """Return the same for processes that reach each other by the loopback address: containers may not."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(), Path("/proc/self/ns/net").stat().st_ino
    except OSError:  # not Linux
        return socket.gethostname(), 0


def _reached(place: _Place) -> str:
    """Return the address at which this process reaches rank 0's store."""
    if place.machine == _this_machine():
        return LOOPBACK
    tried = []
    for name in place.names:
        try:
            with socket.create_connection((name, place.port), timeout=TRY) as connection:
                return str(connection.getpeername()[0])
        except OSError as error:
            tried.append(f"{name} ({error})")
    raise AlignmentError(f"rank 0 of comm cannot be reached at port {place.port} of {', '.join(tried)}")
