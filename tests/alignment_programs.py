"""What processes that a launcher started do: `python alignment_programs.py CASE FOLDER`, one case a function.

Each writes what happened to it into FOLDER, by name: None, or the class and the words of the error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

WAIT = timedelta(seconds=60)


def error_of(call: Callable[..., Any], *given: Any, **named: Any) -> list[str] | None:
    try:
        call(*given, **named)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def mpi_starting(folder: Path) -> tuple[int, dict[str, Any]]:
    """Torch is started with the ranks of communicators."""
    import torch
    import torch.distributed as dist
    from mpi4py import MPI

    from meshpart.torch import check_rank_alignment, init_process_group_from

    comm, found = MPI.COMM_WORLD, {}
    rank = comm.Get_rank()
    found["not initialised"] = error_of(check_rank_alignment, comm)
    found["not initialised, alone"] = error_of(check_rank_alignment, MPI.COMM_SELF)
    found["not initialised, no comm"] = error_of(check_rank_alignment)
    found["unknown backend"] = error_of(init_process_group_from, comm, "gloo" if rank else "glue")
    found["backend of no rank"] = error_of(init_process_group_from, comm, 3)
    found["backends unlike"] = error_of(init_process_group_from, comm, "cpu:gloo" if rank else "gloo")
    found["no timeout"] = error_of(init_process_group_from, comm, timeout=timedelta(0) if rank == 2 else None)
    found["short timeout"] = error_of(init_process_group_from, comm, timeout=timedelta(microseconds=1))
    found["still not initialised"] = not dist.is_initialized()

    before = dict(os.environ)
    found["start"] = error_of(init_process_group_from, comm, "gloo", WAIT)
    found["environment"] = dict(os.environ) == before
    found["rank"] = dist.get_rank() == rank and dist.get_world_size() == comm.Get_size()
    found["aligned"] = error_of(check_rank_alignment, comm)
    found["aligned, again"] = error_of(check_rank_alignment, comm)
    found["aligned, no comm"] = error_of(check_rank_alignment)
    total = torch.tensor([rank])
    dist.all_reduce(total)
    found["sum"] = total.item()
    found["start again"] = error_of(init_process_group_from, comm)
    found["aligned, still"] = error_of(check_rank_alignment, comm)
    dist.destroy_process_group()

    if rank == 2:
        init_process_group_from(MPI.COMM_SELF)
    found["one initialised"] = error_of(init_process_group_from, comm)
    found["initialised"] = dist.is_initialized()
    found["one initialised, check"] = error_of(check_rank_alignment, comm)
    if rank == 2:
        dist.destroy_process_group()
    found["by itself"] = error_of(init_process_group_from, comm.Dup(), None)
    dist.destroy_process_group()
    return rank, found


def mpi_wrong(folder: Path) -> tuple[int, dict[str, Any]]:
    """Torch is started in ways that do not fit the communicator, and in some that do."""
    import torch.distributed as dist
    from mpi4py import MPI
    from torch.distributed.device_mesh import init_device_mesh

    from meshpart.torch import check_rank_alignment, init_process_group_from

    comm, found = MPI.COMM_WORLD, {}
    rank, size = comm.Get_rank(), comm.Get_size()
    halves = comm.Split(rank // 2, key=rank)  # (0, 1), (2, 3)
    found["process"] = os.getpid()

    # Torch numbers the processes the other way round.
    dist.init_process_group("gloo", f"file://{folder}/reversed", WAIT, rank=size - 1 - rank, world_size=size)
    found["permuted"] = error_of(check_rank_alignment, comm)
    found["permuted, no comm"] = error_of(check_rank_alignment)
    found["permuted, mended"] = error_of(check_rank_alignment, comm.Split(0, key=dist.get_rank()))
    found["comm of one"] = error_of(check_rank_alignment, MPI.COMM_SELF)
    found["comm of a half"] = error_of(check_rank_alignment, halves)
    dist.destroy_process_group()

    # Each takes itself for the only one.
    dist.init_process_group("gloo", f"file://{folder}/alone-{rank}", WAIT, rank=0, world_size=1)
    found["each alone"] = error_of(check_rank_alignment, comm)
    found["each alone, no comm"] = error_of(check_rank_alignment)
    found["each alone, on purpose"] = error_of(check_rank_alignment, MPI.COMM_SELF)
    dist.destroy_process_group()

    # Two jobs of two processes, whose second ones came into each other's world. Only one of them checks first.
    init_process_group_from(comm.Split((0, 1, 1, 0)[rank], key=(0, 1, 0, 1)[rank]), timeout=WAIT)
    found["crossed, one job"] = error_of(check_rank_alignment, halves) if rank < 2 else None
    comm.Barrier()
    found["crossed"] = error_of(check_rank_alignment, halves)
    dist.destroy_process_group()
    init_process_group_from(halves, timeout=WAIT)
    found["two jobs"] = error_of(check_rank_alignment, halves)
    dist.destroy_process_group()

    # Groups of one world.
    init_process_group_from(comm, timeout=WAIT)
    groups = [dist.new_group(members) for members in ([0, 1], [2, 3], [0, 3], [1, 2])]
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    found["group"] = error_of(check_rank_alignment, halves, groups[rank // 2])
    found["mesh"] = error_of(check_rank_alignment, halves, mesh["domain"])
    found["group, no comm"] = error_of(check_rank_alignment, None, groups[rank // 2])
    found["other axis of the mesh"] = error_of(check_rank_alignment, halves, mesh["dp"])
    found["group of some"] = error_of(check_rank_alignment, comm, groups[2])
    found["crossed groups"] = error_of(check_rank_alignment, comm.Split(rank % 2, key=rank), groups[2 + (0 < rank < 3)])
    found["no group"] = error_of(check_rank_alignment, comm, "gloo")
    found["two axes"] = error_of(check_rank_alignment, comm, mesh if rank else None)
    dist.destroy_process_group()

    # What is no communicator of these processes.
    remote = comm.Split(rank % 2).Create_intercomm(0, comm, 1 - rank % 2)
    freed = comm.Dup()
    freed.Free()
    for name, given in (("module", MPI), ("class", MPI.Intracomm), ("null", MPI.COMM_NULL), ("freed", freed)):
        found[f"{name} as comm"] = error_of(check_rank_alignment, given), error_of(init_process_group_from, given)
    found["inter as comm"] = error_of(check_rank_alignment, remote)
    found["merged"] = error_of(init_process_group_from, remote.Merge())
    MPI.Finalize()
    found["finalised"] = error_of(check_rank_alignment, comm), error_of(init_process_group_from, comm)
    return rank, found


def mpi_left(folder: Path) -> tuple[int, dict[str, Any]]:
    """Of two crossed jobs, this one checks when the other has ended, and with it the store of a world."""
    from mpi4py import MPI

    from meshpart.torch import check_rank_alignment

    comm = MPI.COMM_WORLD
    _meet(folder.parent, world=comm.Get_rank(), rank=comm.Get_rank())
    _wait_for(folder / "other ended")
    return comm.Get_rank(), {"crossed": error_of(check_rank_alignment, comm)}


def mpi_leaving(folder: Path) -> tuple[int, dict[str, Any]]:
    """The other one, which ends at once."""
    from mpi4py import MPI

    rank = MPI.COMM_WORLD.Get_rank()
    _meet(folder.parent, world=1 - rank, rank=rank)
    return rank, {}


def _meet(folder: Path, world: int, rank: int) -> None:
    """Come into one of two worlds of torch, as rank 0 or 1: rank 0 leaves the port of its store in a file."""
    import torch.distributed as dist

    if rank == 0:
        store = dist.TCPStore("127.0.0.1", 0, 2, is_master=True, timeout=WAIT, wait_for_workers=False)
        written = folder / f"port-{world}"
        written.write_text(str(store.port))
        written.rename(folder / f"world-{world}")
    else:
        _wait_for(folder / f"world-{world}")
        port = int((folder / f"world-{world}").read_text())
        store = dist.TCPStore("127.0.0.1", port, 2, is_master=False, timeout=WAIT)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=WAIT)


def _wait_for(file: Path) -> None:
    end = time.monotonic() + WAIT.total_seconds()
    while not file.exists():
        assert time.monotonic() < end, f"{file.name} did not come"
        time.sleep(0.05)


def torchrun_without_mpi(folder: Path) -> tuple[int, dict[str, Any]]:
    """No communicator: torch against the variables that torchrun set."""
    import torch.distributed as dist

    from meshpart.torch import check_rank_alignment

    found: dict[str, Any] = {}
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    found["not initialised"] = error_of(check_rank_alignment)
    dist.init_process_group("gloo", timeout=WAIT)
    found["aligned"] = error_of(check_rank_alignment)
    pairs = [dist.new_group(members) for members in ([0, 1], [2, 3])]
    found["group"] = error_of(check_rank_alignment, group=pairs[rank // 2])
    dist.destroy_process_group()
    dist.init_process_group("gloo", f"file://{folder}/store", WAIT, rank=(rank + 1) % size, world_size=size)
    found["permuted"] = error_of(check_rank_alignment)
    dist.destroy_process_group()
    dist.init_process_group("gloo", f"file://{folder}/store-{rank}", WAIT, rank=0, world_size=1)
    found["each alone"] = error_of(check_rank_alignment)
    dist.destroy_process_group()
    found["mpi4py"] = "mpi4py" in sys.modules
    return rank, found


def torchrun_with_mpi(folder: Path) -> tuple[int, dict[str, Any]]:
    """MPI was not told of the other processes, so that each is alone in COMM_WORLD."""
    import torch.distributed as dist
    from mpi4py import MPI

    from meshpart.torch import check_rank_alignment, init_process_group_from

    found: dict[str, Any] = {"world": MPI.COMM_WORLD.Get_size()}
    found["nothing initialised"] = error_of(check_rank_alignment, MPI.COMM_WORLD)
    dist.init_process_group("gloo", timeout=WAIT)
    found["singletons"] = error_of(check_rank_alignment, MPI.COMM_WORLD)
    dist.destroy_process_group()
    init_process_group_from(MPI.COMM_WORLD)
    found["each alone"] = error_of(check_rank_alignment, MPI.COMM_WORLD)
    dist.destroy_process_group()
    return int(os.environ["RANK"]), found


if __name__ == "__main__":
    case, folder = sys.argv[1], Path(sys.argv[2])
    rank, found = globals()[case](folder)
    (folder / f"{rank}.json").write_text(json.dumps(found))
