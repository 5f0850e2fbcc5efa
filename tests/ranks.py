"""Groups of real processes over gloo: each runs the same function, as one rank of torch.distributed.

The processes are forked by a clean server (not by the tests, which have threads) and kept for the next call.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any

WAIT = 60.0  # seconds that a collective may wait for a rank, and a call for its result
_FORKS = get_context("forkserver")
_preloaded = ["pytest", "hypothesis.strategies", "meshpart.torch", "torch._dynamo"]
_FORKS.set_forkserver_preload(_preloaded)
_kept: dict[int, Ranks] = {}


class RankFailedError(AssertionError):
    """A rank raised what the test did not expect."""


def run(size: int, function: Callable[..., Any], *given: Any) -> list[Any]:
    """Let `size` ranks call a function of a module, and return what each returned, rank by rank.

    What is given and returned is pickled. A rank that raises fails the test.
    """
    if size not in _kept:
        _kept[size] = Ranks(size)
    try:
        return _kept[size].run(function, *given)
    except BaseException:
        _kept.pop(size).close()  # its other ranks may wait in a collective for ever
        raise


def run_alone(size: int, function: Callable[..., Any], *given: Any, wait: float = WAIT) -> list[Any]:
    """Do so in processes that end with it; `wait` is how many seconds a collective waits for another rank."""
    ranks = Ranks(size, wait)
    try:
        return ranks.run(function, *given)
    finally:
        ranks.close()


def preload(*modules: str) -> None:
    """Let the server import modules before it forks, if it does not run yet: those that take seconds."""
    _preloaded.extend(modules)


class Ranks:
    """The processes of one world."""

    def __init__(self, size: int, wait: float = WAIT) -> None:
        store = Path(mkdtemp(prefix="ranks-")) / "store"
        self._pipes: list[Connection] = []
        self._processes = []
        for rank in range(size):
            ours, theirs = _FORKS.Pipe()
            process = _FORKS.Process(target=_serve, args=(rank, size, str(store), wait, theirs), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def run(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """Return what the ranks return; raise RankFailedError with what went wrong in which."""
        task = pickle.dumps((function.__code__.co_filename, function.__qualname__, given))
        for pipe in self._pipes:
            pipe.send_bytes(task)
        answers = [self._answer(rank) for rank in range(len(self._pipes))]
        failed = [f"rank {rank}:\n{answer}" for rank, (fine, answer) in enumerate(answers) if not fine]
        if failed:
            raise RankFailedError("\n".join(failed))
        return [answer for _, answer in answers]

    def _answer(self, rank: int) -> tuple[bool, Any]:
        try:
            if self._pipes[rank].poll(2 * WAIT):
                return pickle.loads(self._pipes[rank].recv_bytes())
        except (EOFError, ConnectionError):
            self._processes[rank].join()
            return False, f"ended with exit code {self._processes[rank].exitcode}"
        return False, "did not answer in time"

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.kill()
        for process, pipe in zip(self._processes, self._pipes, strict=True):
            process.join()
            pipe.close()


@atexit.register
def _close_all() -> None:
    while _kept:
        _kept.popitem()[1].close()


# -- in a rank ----------------------------------------------------------------------------------------------


def _serve(rank: int, size: int, store: str, wait: float, pipe: Connection) -> None:
    """Be a rank: call what comes down the pipe, and send back what it returns."""
    import torch
    import torch.distributed as dist

    warnings.simplefilter("error")
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=size, timeout=timedelta(seconds=wait)
    )
    while True:
        try:
            file, name, given = pickle.loads(pipe.recv_bytes())
        except EOFError:
            os._exit(0)
        try:
            function: Any = _module(file)
            for part in name.split("."):
                function = getattr(function, part)
            answer = pickle.dumps((True, function(*given)))
        except BaseException:
            answer = pickle.dumps((False, traceback.format_exc()))
        pipe.send_bytes(answer)


def _module(file: str) -> ModuleType:
    """Return the module of a file: that of tests, which have no package."""
    name = Path(file).stem
    for loaded in (sys.modules.get(name), sys.modules.get(f"ranks_{name}")):
        if loaded is not None and getattr(loaded, "__file__", None) == file:
            return loaded
    spec = importlib.util.spec_from_file_location(f"ranks_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
