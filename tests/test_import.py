"""What `import meshpart` does and does not do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

IMPORT = "import meshpart, sys; print(*sorted(sys.modules))"


def words_printed_by(program: str, folder: Path) -> set[str]:
    """Return the words that a program prints in a fresh interpreter; it must say nothing else."""
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return set(run.stdout.split())


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the names of the modules that importing meshpart loads."""
    return words_printed_by(IMPORT, tmp_path_factory.mktemp("elsewhere"))


@pytest.mark.parametrize("package", ["torch", "mpi4py", "meshio", "networkx", "matplotlib", "pyvista", "vtkmodules"])
def test_importing_meshpart_does_not_load(package: str, loaded: set[str]) -> None:
    assert package not in loaded


def test_modules_that_are_loaded_are_seen(loaded: set[str], tmp_path: Path) -> None:
    assert {"meshpart", "meshpart._core", "numpy"} <= loaded
    assert "meshio" in words_printed_by("import meshio; " + IMPORT, tmp_path)


def test_every_public_name_is_there(tmp_path: Path) -> None:
    program = "import meshpart; print(*(name for name in meshpart.__all__ if not hasattr(meshpart, name)))"
    assert words_printed_by(program, tmp_path) == set()


def test_meshpart_torch_is_imported_by_name_alone_and_loads_no_compiler_nor_other_package(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    loaded = words_printed_by("import meshpart.torch; " + IMPORT, tmp_path)
    assert {"meshpart.torch", "torch.distributed"} <= loaded
    assert not loaded & {"torch._dynamo", "torch._inductor", "torch_geometric", "mpi4py", "physicsnemo", "meshio"}
    program = "import meshpart.torch as mt; print(*(name for name in mt.__all__ if not hasattr(mt, name)))"
    assert words_printed_by(program, tmp_path) == set()


def test_without_torch_meshpart_torch_names_the_extra(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "try:\n    import meshpart.torch\n"
        "except ImportError as error:\n    print(type(error).__name__, error)"
    )
    assert {"MissingDependencyError", "'meshpart[torch]'"} <= words_printed_by(program, tmp_path)
