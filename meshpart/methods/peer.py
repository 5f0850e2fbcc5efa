"""Another partitioner as a method, in a process of its own: it may print, crash, or keep state from call to call."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from meshpart import child
from meshpart.arguments import LARGEST_INT32
from meshpart.arrays import Labels, frozen
from meshpart.errors import MeshpartError, MethodError
from meshpart.methods.job import Job
from meshpart.methods.problem import Problem

HERE = Path(__file__).parent
RUN = "import runpy; runpy.run_path(sys.argv[2], run_name='__main__')"


class Outcome(NamedTuple):
    """What a peer found, and how long its own call took: without its process' start, and the handing over."""

    labels: Labels
    seconds: float


@dataclass(frozen=True)
class Peer:
    """A function from a problem to the labels of another partitioner, as they are; it runs on one thread.

    Parameters
    ----------
    name : str
        Of the partitioner.
    file : Path, optional
        What knows the partitioner; see `peer_process.py` for what it has to hold. `name`.py beside this file otherwise.
    """

    name: str
    file: Path | None = None

    def __call__(self, problem: Problem) -> Labels:
        """Return labels, int32 (n_units,): a part may be empty, too heavy, or in pieces.

        Raises
        ------
        MethodError
            If its process cannot be started, fails, crashes or is killed.
        MeshpartError
            If the graph is too large for 32-bit numbers.
        """
        return self.outcome(problem).labels

    def outcome(self, problem: Problem) -> Outcome:
        """Return the labels, and the seconds that the partitioner's own call took."""
        try:
            with tempfile.TemporaryFile() as job:  # not a pipe, into which 20 MB would go in 5000 pieces
                _write(Job.of(problem), job)
                job.seek(0)
                code, answer, printed = _done(self._command(), job)
        except OSError as error:
            raise MethodError(f"the process of {self.name} cannot be started: {error}") from error
        if code != 0 or not answer:
            raise MethodError(f"{self.name} {_end(code)}{_last_words(printed)}")
        with np.load(io.BytesIO(answer)) as found:
            if "error" in found:
                raise MethodError(f"{self.name} failed: {found['error']}")
            return Outcome(frozen(found["labels"]), float(found["seconds"]))

    def _command(self) -> list[str]:
        file = self.file or HERE / f"{self.name}.py"
        return child.command(RUN, str(HERE / "peer_process.py"), str(file), str(os.getpid()))


def _write(job: Job, file: BinaryIO) -> None:
    """Write a job as an .npz file."""
    if len(job.graph.targets) > LARGEST_INT32:
        raise MeshpartError(
            f"a graph of {len(job.graph.targets)} entries, two an edge, is too large: the limit is {LARGEST_INT32}; "
            'the method "sfc" has no such limit'
        )
    given: dict[str, Any] = {
        name: array.astype(np.int32) for name, array in zip(job.graph._fields, job.graph, strict=True)
    }
    given |= {name: np.array(value) for name, value in job._asdict().items() if name != "graph"}
    np.savez(file, **given)


def _done(command: list[str], job: BinaryIO) -> tuple[int, bytes, bytes]:
    """Return the exit code of a process, and what it wrote to standard output and error.

    It is gone when this returns or raises: `subprocess.run` would leave it dying after Ctrl-C.
    """
    with subprocess.Popen(command, stdin=job, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            answer, printed = process.communicate()
        finally:
            process.kill()
            code = process.wait()
    return code, answer, printed


def _end(code: int) -> str:
    """Say how a process ended that left no answer."""
    if code >= 0:
        return f"ended its process with exit code {code}"
    known = {number.value: number.name for number in signal.Signals}
    return f"crashed ({known.get(-code, f'signal {-code}')})"


def _last_words(printed: bytes) -> str:
    """Return what a process printed last, in one line."""
    said = " ".join(printed.decode(errors="replace").split())
    return f": {said[-500:]}" if said else ""
