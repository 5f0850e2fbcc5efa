"""Writing in another process: its answers, its failures, and its end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import meshio
import numpy as np
import pytest

from meshpart import FormatError
from meshpart.meshio_bridge import patched_meshio
from meshpart.writing import writer

pytest.importorskip("h5py")  # which this process has then imported

LARGE = meshio.Mesh(np.random.default_rng(0).random((100_000, 3)), [("line", np.arange(100_000).reshape(-1, 2))])


def test_another_process_writes_what_this_one_would(tmp_path: Path) -> None:
    with writer("h5py") as write:
        assert write(LARGE, tmp_path / "a.med", "med") == ""
        with patched_meshio() as module:
            wedge = module.Mesh(np.eye(15, 3), [("wedge15", [range(15)])])
        assert write(wedge, tmp_path / "b.xdmf", "xdmf") == ""
    assert np.array_equal(meshio.read(tmp_path / "a.med").points, LARGE.points)
    with patched_meshio() as module:
        assert module.read(tmp_path / "b.xdmf").cells[0].type == "wedge15"


@pytest.mark.parametrize("package", [None, "h5py"])
def test_it_says_why_it_cannot_write_and_goes_on(package: str | None, tmp_path: Path) -> None:
    with writer(package) as write:
        for _ in range(2):
            with pytest.raises(FormatError, match="absent"):
                write(LARGE, tmp_path / "absent" / "mesh.med", "med")
        write(LARGE, tmp_path / "mesh.med", "med")


@pytest.mark.skipif(os.name != "posix", reason="it kills as POSIX does")
def test_its_crash_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "h5py.py").write_text("import os\nos.abort()\n")
    monkeypatch.syspath_prepend(tmp_path)  # for the other process: this one has its h5py
    with writer("h5py") as write, pytest.raises(FormatError, match=f"crashed .{signal.SIGABRT.name}"):
        write(LARGE, tmp_path / "mesh.med", "med")


def test_a_package_that_is_not_there_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="absent"), writer("absent"):
        pass
