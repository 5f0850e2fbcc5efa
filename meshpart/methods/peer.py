"""Another partitioner as a method, in a process of its own: it may print, crash, or keep state from call to call."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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
        file = self.file or HERE / f"{self.name}.py"
        try:
            answer = child.answer(RUN, str(HERE / "peer_process.py"), str(file), given=[_packed(Job.of(problem))])
        except child.Failed as error:
            raise MethodError(f"{self.name} {error}") from error
        with np.load(io.BytesIO(answer)) as found:
            if "error" in found:
                raise MethodError(f"{self.name} failed: {found['error']}")
            return Outcome(frozen(found["labels"]), float(found["seconds"]))


def _packed(job: Job) -> bytes:
    """Return a job as the bytes of an .npz file."""
    if len(job.graph.targets) > LARGEST_INT32:
        raise MeshpartError(
            f"a graph of {len(job.graph.targets)} entries, two an edge, is too large: the limit is {LARGEST_INT32}; "
            'the method "sfc" has no such limit'
        )
    given: dict[str, Any] = {
        name: array.astype(np.int32) for name, array in zip(job.graph._fields, job.graph, strict=True)
    }
    given |= {name: np.array(value) for name, value in job._asdict().items() if name != "graph"}
    file = io.BytesIO()
    np.savez(file, **given)
    return file.getvalue()
