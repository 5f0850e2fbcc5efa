"""What the process of a peer runs: read a job, let the peer work on it, write what it found. Knows nothing else.

It is given the file that knows the peer. In there is `prepared(job)`, which hands the graph over to the peer and
returns the call that finds labels; its time alone is told. A job has NumPy arrays of int32: `offsets`, `targets`,
`vertex_weights` and `edge_weights` (both empty where there are none), and `nparts`, `imbalance`, `seed`, `mode`.
"""

from __future__ import annotations

import io
import os
import runpy
import signal
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np


def main() -> None:
    """Read the job from standard input and write the answer to standard output, which the peer cannot reach."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    answer = os.dup(1)
    os.dup2(2, 1)
    prepared = runpy.run_path(sys.argv[3])["prepared"]
    with os.fdopen(answer, "wb") as file:
        file.write(_packed(_found(prepared, _job())))
        file.flush()
        os._exit(0)  # without taking apart what a peer may fail to take apart


def _job() -> SimpleNamespace:
    with np.load(sys.stdin.buffer) as arrays:
        return SimpleNamespace(**{name: array if array.ndim else array.item() for name, array in arrays.items()})


def _found(prepared: Callable[[Any], Callable[[], Any]], job: SimpleNamespace) -> dict[str, Any]:
    """Return labels and seconds, or what went wrong."""
    try:
        call = prepared(job)
        start = time.perf_counter()
        labels = call()
        seconds = time.perf_counter() - start
        return {"labels": np.asarray(labels).astype(np.int32, casting="same_kind"), "seconds": np.array(seconds)}
    except Exception as error:
        return {"error": np.array(f"{type(error).__name__}: {' '.join(str(error).split())}")}


def _packed(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


if __name__ == "__main__":
    main()
