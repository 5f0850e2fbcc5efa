"""What the kernels of speed.py are given: meshes, mesh files, labels, part stores; made once, kept in a folder."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from shapes import SHAPES, Shape

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Case:
    """What a kernel works on, and where it lies."""

    folder: Path
    shape: str  # a name of SHAPES
    cells: int  # to aim at
    parts: int = 64
    layers: int = 1
    threads: int | None = None  # ours; None is the default, all cores

    @property
    def name(self) -> str:
        """What files of the mesh are called."""
        return f"{self.shape} {self.cells}"

    @property
    def scratch(self) -> Path:
        """A folder for what a call writes; it is emptied after each measurement."""
        return self.folder / "scratch"

    @property
    def nparts(self) -> int:
        """How many parts, at most one for four cells."""
        return max(1, min(self.parts, self.cells // 4))

    # -- where it lies ---------------------------------------------------------------------------------------

    @property
    def mesh_file(self) -> Path:
        """The pickled shape."""
        return self.folder / f"{self.name}.pickle"

    def file(self, suffix: str) -> Path:
        """Return where the mesh is in a format of others."""
        return self.folder / f"{self.name}{suffix}"

    @property
    def labels_file(self) -> Path:
        """The labels of the method sfc."""
        return self.folder / f"{self.name} {self.nparts} parts.npy"

    @property
    def store(self) -> Path:
        """The parts along these labels."""
        return self.folder / f"{self.name} {self.nparts} parts, {self.layers} layers.parts"

    # -- what lies there -------------------------------------------------------------------------------------

    def mesh(self) -> Shape:
        """Return the mesh as arrays."""
        shape: Shape = pickle.loads(self.mesh_file.read_bytes())
        return shape

    def tets(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the points and the cells of a mesh of tets alone."""
        points, ((_, rows),), *_ = self.mesh()
        return points, rows

    def labels(self) -> Labels:
        """Return the labels."""
        labels: Labels = np.load(self.labels_file)
        return labels

    def split(self) -> list[Any]:
        """Return the parts along the labels."""
        import meshpart

        return meshpart.split(mesh_of(self.mesh())(), self.labels(), self.nparts, ghost_layers=self.layers)


def mesh_of(shape: Shape) -> Callable[[], Any]:
    """Return what takes a shape over and checks it, as every call of a user with a `meshio.Mesh` does."""
    import meshio

    import meshpart

    points, cells, cell_sets, point_sets = shape
    if cells[0][0] == "polygon":  # of several sizes, which meshio's mesh does not hold
        return lambda: meshpart.Mesh(
            points, [meshpart.CellBlock(kind, *rows) for kind, rows in cells], {}, {}, {}, point_sets, cell_sets
        )
    given = meshio.Mesh(points, cells, cell_sets=cell_sets, point_sets=point_sets)
    return lambda: meshpart.Mesh.from_meshio(given)


# -- made once ----------------------------------------------------------------------------------------------


def make(wanted: tuple[str, ...], case: Case) -> None:
    """Make what a kernel wants of a case, and what that is made from, where it is not there yet."""
    for name in wanted:
        MAKERS[name](case)


def make_mesh(case: Case) -> None:
    """Make the mesh."""
    if not case.mesh_file.exists():
        case.mesh_file.write_bytes(pickle.dumps(SHAPES[case.shape](case.cells), protocol=5))


def make_file(suffix: str, case: Case) -> None:
    """Make a mesh file, as meshio writes it."""
    import meshio

    make_mesh(case)
    if not case.file(suffix).exists():
        points, cells, *_ = case.mesh()
        meshio.write(case.file(suffix), meshio.Mesh(points, cells), **WRITTEN_AS[suffix])


def make_labels(case: Case) -> None:
    """Make the labels."""
    import meshpart

    make_mesh(case)
    if not case.labels_file.exists():
        np.save(case.labels_file, meshpart.partition_labels(mesh_of(case.mesh())(), case.nparts, method="sfc"))


def make_store(case: Case) -> None:
    """Make the part store."""
    import meshpart

    make_labels(case)
    if not case.store.exists():
        mesh = mesh_of(case.mesh())()
        parts = meshpart.iter_split(mesh, case.labels(), case.nparts, ghost_layers=case.layers)
        meshpart.write_parts(parts, case.store)


WRITTEN_AS: dict[str, dict[str, Any]] = {".vtu": {}, ".msh": {"file_format": "gmsh"}}
MAKERS: dict[str, Callable[[Case], None]] = {
    "mesh": make_mesh,
    ".vtu": lambda case: make_file(".vtu", case),
    ".msh": lambda case: make_file(".msh", case),
    "labels": make_labels,
    "store": make_store,
}
