"""Write mesh files: .vtu by our own writer, the others by meshio, of HDF5 in another process, since HDF5 may crash."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from meshpart import child
from meshpart.errors import FormatError
from meshpart.meshio_bridge import patched_meshio
from meshpart.quiet import in_one_line, listening, said
from meshpart.vtu import write_vtu

if TYPE_CHECKING:
    import meshio

MESHIO_FAILS = (Exception, SystemExit)  # it ends the process where it cannot go on

Write = Callable[["meshio.Mesh", Path, str], str]

# What the other process runs.
CHILD = """
from meshpart.writing import serve
serve()
"""


@contextmanager
def writer(package: str | None) -> Iterator[Write]:
    """Yield what writes meshes: it takes a mesh, a path and a format, and returns what meshio said.

    It raises FormatError with the reason where it cannot write.

    Parameters
    ----------
    package : str or None
        The package that the format needs. With one, another process writes, until the block ends.

    Raises
    ------
    ImportError
        If the package is not there.
    """
    if package is None:
        yield write
        return
    import_module(package)
    pipe = subprocess.PIPE
    with subprocess.Popen(child.command(CHILD), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        try:
            yield lambda *given: _write_in(process, given)
        finally:
            process.kill()
            with suppress(OSError):  # of what it did not take
                process.communicate()


def write(mesh: meshio.Mesh, path: Path, name: str) -> str:
    """Write a mesh, and return what meshio said."""
    if name == "vtu":  # which meshio writes slowly, or large
        write_vtu(path, mesh)
        return ""
    with listening() as heard, patched_meshio():
        try:
            mesh.write(str(path), file_format=name)
        except ImportError:
            raise
        except MESHIO_FAILS as error:
            remark = f" ({said(heard)})" if said(heard) else ""
            raise FormatError(f"{in_one_line(error)}{remark}") from error
    return said(heard)


def serve() -> None:
    """Write what stdin says, as `_write_in` sends it, and answer on stdout: what was said, and why it failed."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what native code prints
    while True:
        try:
            mesh, path, name = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = write(mesh, path, name), ""
        except (FormatError, ImportError) as error:
            answer = "", str(error)
        pickle.dump(answer, answers)
        answers.flush()


def _write_in(process: subprocess.Popen[bytes], given: tuple[meshio.Mesh, Path, str]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump(given, process.stdin, protocol=5)
        process.stdin.flush()
        remark, failure = pickle.load(process.stdout)
    except (OSError, EOFError) as error:
        code = process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise FormatError(f"its library crashed ({how}), as it does where a disk is full") from error
    except pickle.UnpicklingError as error:
        raise FormatError(f"the writing process gave no answer: {error}") from error
    if failure:
        raise FormatError(failure)
    return str(remark)
