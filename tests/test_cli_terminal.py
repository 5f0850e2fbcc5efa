"""What the command line shows on a terminal while it works: what it does and how far it is, and in the end no trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from meshes import quads

pty = pytest.importorskip("pty")


def on_a_terminal(folder: Path, *args: object) -> tuple[int, bytes, str]:
    """Run `meshpart ARGS` with a terminal as stderr; return its exit code, its stdout, and what the terminal got."""
    terminal, stderr = pty.openpty()
    command = [str(Path(sys.executable).parent / "meshpart"), *map(str, args)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr) as process:
        os.close(stderr)
        shown = b""
        while piece := _read(terminal):
            shown += piece
        assert process.stdout is not None
        out = process.stdout.read()
    os.close(terminal)
    return process.returncode, out, shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux, at the end
        return b""


@pytest.mark.parametrize("name", ["m.vtk", "[bold]m\x1b[31m.vtk"])
def test_reading_cutting_and_writing_are_shown_and_vanish(tmp_path: Path, name: str) -> None:
    quads(40, 40).to_meshio().write(tmp_path / name)
    code, out, shown = on_a_terminal(tmp_path, "partition", name, 300, "-o", "out", "--method", "sfc")
    assert (code, out.endswith(b"written to out\n")) == (0, True)
    assert b"\x1b" not in out
    for text in ("cutting 1600 cells into 300 parts", "measuring the quality", "writing out"):
        assert text in shown
    assert "reading " + name.replace("\x1b", "\\x1b") in shown
    assert "\x1b[31m.vtk" not in shown
    assert shown.count("\x1b[?25h") == shown.count("\x1b[?25l") > 0  # the cursor is there again
    last = shown.rsplit("writing out", 1)[1]
    assert "\x1b[2K" in last  # the line is wiped


def test_an_error_follows_on_a_line_of_its_own(tmp_path: Path) -> None:
    quads(2, 1).to_meshio().write(tmp_path / "m.vtk")
    code, out, shown = on_a_terminal(tmp_path, "partition", "m.vtk", 3, "-o", "out")
    assert (code, out) == (2, b"")
    assert shown.splitlines()[-1].endswith("the highest parts empty")
    assert "error: nparts is 3" in shown
