"""Launchers: what the one that started this process says of its rank, in variables of the environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# Of each launcher, the inner ones first: mpirun may be started by srun, and torchrun by either. The variable of the
# rank, those of the size (the first that is set counts), and that of what only the processes of one job have in common.
_VARIABLES = (
    ("RANK", ("WORLD_SIZE",), ""),  # torchrun, and who prepares for env://
    ("OMPI_COMM_WORLD_RANK", ("OMPI_COMM_WORLD_SIZE",), "PMIX_NAMESPACE"),  # Open MPI
    ("PMI_RANK", ("PMI_SIZE",), ""),  # MPICH and its kin
    ("SLURM_PROCID", ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"), ""),  # srun
    ("PMIX_RANK", (), ""),  # others by PMIx, which has no variable of the size
)


@dataclass(frozen=True)
class Claim:
    """What one launcher says of a process.

    Parameters
    ----------
    words : str
        The variables and their values.
    rank, size : int or None
        Both None where a variable holds no number, the size alone where there is no variable of it.
    job : str
        The same in all processes that were started together; empty where the launcher does not tell.
    """

    words: str
    rank: int | None
    size: int | None
    job: str = ""


def claims_in(environ: Mapping[str, str]) -> tuple[Claim, ...]:
    """Return what launchers say in an environment, the inner ones first.

    An empty variable counts as one that is not set, and a rank without its size says nothing.
    """
    claims = []
    for rank_name, size_names, job_name in _VARIABLES:
        size_name = next((name for name in size_names if environ.get(name)), None)
        if not environ.get(rank_name) or (size_names and size_name is None):
            continue
        # The script of a Slurm job is its process 0, and told how many it may start; srun's own are told of their step.
        if size_name == "SLURM_NTASKS" and environ[rank_name] == "0":
            continue
        told = {name: environ[name] for name in (rank_name, size_name) if name is not None}
        numbers = [_number(value) for value in told.values()]
        rank, size = (None, None) if None in numbers else (*numbers, None)[:2]
        words = ", ".join(f"{name}={value[:40]}" for name, value in told.items())
        claims.append(Claim(words, rank, size, environ.get(job_name, "")))
    return tuple(claims)


def claim_on(n_processes: int, claims: Iterable[Claim]) -> Claim | None:
    """Return what is said of a process in a world of so many, by the innermost launcher that can mean this world.

    One that started fewer has started the parents of these processes, who handed its variables down: srun with one task
    a node, say, each of which starts a process a device.
    """
    return next((claim for claim in claims if claim.size is None or claim.size >= n_processes), None)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
