"""What several test files share."""

from __future__ import annotations

import os
from pathlib import Path

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
