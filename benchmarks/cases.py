"""The cases of the benchmarks: named meshes, made from a number of cells to aim at, and the mesh files of a folder.

Each case is of one class of `mesh_class`. The meshes are seeded, the same for the same number every time, and know of
no partitioner. Boundary cells of a mixed mesh come on top of the number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from assembly import brick_hexes, flange_tets
from mesh_class import CLASSES, class_of
from mixed import hex_core, mixed, planar_hybrid
from raw_mesh import RawMesh, loaded, shuffled, stored
from structured import (
    bellows_triangles,
    block_hexes,
    boundary_layer_quads,
    box_tets,
    channel_triangles,
    fan_triangles,
    flat_triangles,
    flat_triangles_in_space,
    hexes,
    long_tets,
    oblique_triangles,
    panel_hexes,
    stretched_tets,
)
from unstructured import boundary_layer_wedges, gmsh_tets, graded_tets, graded_triangles, holed_triangles, shell_tets

import meshpart

__all__ = [
    "CASES",
    "CLASSES",
    "Case",
    "RawMesh",
    "chosen",
    "fan_triangles",
    "loaded",
    "read_folder",
    "shuffled",
    "stored",
]


class Case(NamedTuple):
    """A mesh of any number of cells."""

    make: Callable[[int], RawMesh]
    kind: str  # one of CLASSES
    graph_of: str | None = None  # a case that has the same dual graph and only lies otherwise in space


MADE = (
    Case(box_tets, "isotropic"),
    Case(long_tets, "isotropic"),
    Case(hexes, "isotropic"),
    Case(block_hexes, "isotropic"),
    Case(flat_triangles, "isotropic"),
    Case(channel_triangles, "isotropic"),
    Case(flat_triangles_in_space, "isotropic", graph_of="flat_triangles"),
    Case(oblique_triangles, "isotropic", graph_of="flat_triangles"),
    Case(graded_tets, "graded"),
    Case(graded_triangles, "graded"),
    Case(holed_triangles, "graded"),
    Case(stretched_tets, "anisotropic", graph_of="box_tets"),
    Case(boundary_layer_quads, "anisotropic"),
    Case(boundary_layer_wedges, "anisotropic"),
    Case(bellows_triangles, "thin"),
    Case(panel_hexes, "thin"),
    Case(shell_tets, "thin"),
    Case(flange_tets, "assembly"),
    Case(brick_hexes, "assembly"),
    Case(mixed, "mixed"),
    Case(hex_core, "mixed"),
    Case(planar_hybrid, "mixed"),
)
WITH_GMSH = (Case(gmsh_tets, "graded"),)
CASES: dict[str, Case] = {
    case.make.__name__: case for case in (*MADE, *(WITH_GMSH if find_spec("gmsh") is not None else ()))
}


def chosen(names: Sequence[str]) -> dict[str, Case]:
    """Return the cases of these names, which may be names of classes; all where none is given.

    Raises
    ------
    ValueError
        If a name is neither that of a case nor that of a class.
    """
    if unknown := [name for name in names if name not in CASES and name not in CLASSES]:
        raise ValueError(
            f"no case and no class is called {', '.join(unknown)}; "
            f"the classes are {', '.join(CLASSES)}, the cases {', '.join(CASES)}"
        )
    return {name: case for name, case in CASES.items() if not names or name in names or case.kind in names}


def read_folder(folder: Path) -> Iterator[tuple[str, str, meshpart.Mesh]]:
    """Yield the name, the class and the mesh of each mesh file in a folder, one after another, by name.

    Files with a suffix that no reader knows are passed over. One that cannot be read, or has no cells, is named on
    stderr and passed over too. The name is the file's without its suffix, where no other file has the same.

    Raises
    ------
    NotADirectoryError
        If it is no folder.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder")
    files = [file for file in sorted(folder.iterdir()) if _is_mesh_file(file)]
    stems = [file.stem for file in files]
    for file in files:
        try:
            mesh = meshpart.read(file)
            if not mesh.n_cells:
                raise meshpart.FormatError(f"{file} has no cells")
        except meshpart.MeshpartError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        yield file.name if stems.count(file.stem) > 1 else file.stem, class_of(mesh), mesh


def _is_mesh_file(file: Path) -> bool:
    """Whether it is a file with a suffix that one of the readers knows."""
    import meshio

    suffixes = set(meshio.extension_to_filetypes)
    if find_spec("meshioplusplus") is not None:
        import meshioplusplus

        suffixes |= set(meshioplusplus.extension_to_filetypes)
    endings = ("".join(file.suffixes[start:]).lower() for start in range(len(file.suffixes)))
    return file.is_file() and any(ending in suffixes for ending in endings)
