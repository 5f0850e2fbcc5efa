"""Programs started by real launchers, mpiexec and torchrun: each process writes what it found, for a test to read."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

WAIT = 150.0  # seconds after which a program counts as one that hangs
OPTIONS = {"Open MPI": ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]}
VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "OMPI_", "PMI", "PRTE_", "HYDRA_", "SLURM_", "TORCHELASTIC_")
WHICH_MPI = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
STRANGER = 3  # how a process ends that its launcher told nothing
TOLD = f"import sys; from mpi4py import MPI; sys.exit(0 if MPI.COMM_WORLD.Get_size() == 2 else {STRANGER})"


@cache
def mpiexec() -> list[str]:
    """Return the command that starts programs with the MPI that mpi4py loads; without one, skip the test."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    which = _run([sys.executable, "-c", WHICH_MPI])
    if which.returncode:
        pytest.skip(f"mpi4py loads no MPI, such as `pip install mpich` brings: {which.stdout.splitlines()[-1]}")
    beside = Path(sys.executable).with_name("mpiexec")  # where a package of an MPI puts it
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    if launcher is None:
        pytest.skip("there is no mpiexec beside the interpreter or in PATH")
    command = [launcher, *next((options for name, options in OPTIONS.items() if which.stdout.startswith(name)), [])]
    tried = _run([*command, "-n", "2", sys.executable, "-c", TOLD])
    if tried.returncode == STRANGER:
        pytest.skip(f"{launcher} is not the launcher of the MPI that mpi4py loads, {which.stdout.splitlines()[0]}")
    assert tried.returncode == 0, tried.stdout
    return command


def torchrun() -> list[str]:
    """Return the command that starts programs as torch does."""
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--no-python"]


class Job:
    """The processes that a launcher starts for one case of a program."""

    def __init__(self, launcher: list[str], size: int, program: Path, case: str, folder: Path) -> None:
        self.folder = folder / case
        self.folder.mkdir()
        count = ["--nproc-per-node" if "--no-python" in launcher else "-n", str(size)]
        self._process = subprocess.Popen(
            [*launcher, *count, sys.executable, str(program), case, str(self.folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=_clean(),
        )

    def outcomes(self) -> list[dict[str, Any]]:
        """Return what each process wrote, rank by rank, when all have ended."""
        try:
            said, _ = self._process.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired:
            self._process.terminate()  # the launcher ends what it started
            said, _ = self._process.communicate()
            pytest.fail(f"{self.folder.name} hangs:\n{said}")
        assert self._process.returncode == 0, said
        files = sorted(self.folder.glob("*.json"), key=lambda file: int(file.stem))
        return [json.loads(file.read_text()) for file in files]


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=_clean(), timeout=WAIT, check=False
    )


def _clean() -> dict[str, str]:
    """Return the environment without what the launcher of the tests themselves said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(VARIABLES)}
    return {**kept, "OMP_NUM_THREADS": "1"}
