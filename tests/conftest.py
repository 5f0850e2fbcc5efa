"""What several test files share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings

# Examples are drawn the same way in every run, and a slow machine fails nothing.
settings.register_profile("meshpart", deadline=None, derandomize=True, max_examples=100, database=None)
settings.load_profile("meshpart")


@pytest.fixture(scope="session")
def real_meshes() -> Path:
    """Return a folder of mesh files from other projects, which are no part of this one."""
    folder = os.environ.get("MESHPART_TEST_MESHES")
    if not folder:
        pytest.skip("set MESHPART_TEST_MESHES to a folder of mesh files from other projects to run this test")
    return Path(folder)


@pytest.fixture
def without_meshioplusplus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the second reader, so that meshio's failures are seen."""
    monkeypatch.setitem(sys.modules, "meshioplusplus", None)


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[..., npt.NDArray[np.uint8]]:
    """Return what draws as `plot` does and reads the picture back: uint8, (height, width, 3)."""
    import matplotlib.image

    from meshpart import plot

    def draw(what: Any, **options: Any) -> npt.NDArray[np.uint8]:
        file = tmp_path / "picture.png"
        plot(what, file, overwrite=True, **options)
        return np.rint(255 * matplotlib.image.imread(file)[..., :3]).astype(np.uint8)

    return draw
