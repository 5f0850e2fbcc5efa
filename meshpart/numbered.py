"""The cells of a mesh, or of a part, as the core takes them, and what their graph is to call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Ids, flatten, frozen, take_rows, trusted
from meshpart.mesh import Flat, Mesh, MeshLike, as_mesh

if TYPE_CHECKING:
    from meshpart.submesh import SubMesh


class Cells(NamedTuple):
    """Cells, block after block, and their numbers, which may go otherwise."""

    mesh: Mesh
    kinds: npt.NDArray[np.uint8]  # (n_cells,): of a part, those in the input mesh
    numbers: Ids | None = None  # (n_cells,): of a part, the local ids; None for 0, 1, ...
    part: SubMesh | None = None

    def by_number(self) -> Flat:
        """Return the cells by their numbers, whatever their blocks, with no more sense in what is said of blocks."""
        flat = self.mesh.flat
        if self.numbers is None:
            return flat
        offsets, points = take_rows(flat.cell_offsets, flat.cell_points, np.argsort(self.numbers))
        return flat._replace(cell_offsets=offsets, cell_points=points)


def mesh_of(mesh: Mesh | MeshLike | SubMesh) -> Mesh:
    """Return a mesh, or the mesh of a part."""
    from meshpart.submesh import SubMesh

    return mesh.mesh if isinstance(mesh, SubMesh) else as_mesh(mesh)


def cells_of(mesh: Mesh | MeshLike | SubMesh) -> Cells:
    """Return the cells of a mesh or a part as they stand in its blocks."""
    from meshpart.submesh import SubMesh

    if isinstance(mesh, SubMesh):
        return _of_part(mesh, mesh.mesh, [mesh.cell_rows(block) for block in range(len(mesh.mesh.blocks))])
    mesh = as_mesh(mesh)
    return Cells(mesh, mesh.kinds)


def cells_by_global_id(part: SubMesh) -> Cells:
    """Return the cells of a part, those of each block, and so all of them, by ascending global id."""
    numbers = [part.cell_rows(block) for block in range(len(part.mesh.blocks))]
    orders = [np.argsort(part.cells.global_ids[of_block]) for of_block in numbers]
    blocks = tuple(block.take(order) for block, order in zip(part.mesh.blocks, orders, strict=True))
    return _of_part(
        part,
        trusted(Mesh, points=part.mesh.points, blocks=blocks),
        [of_block[order] for of_block, order in zip(numbers, orders, strict=True)],
    )


def _of_part(part: SubMesh, mesh: Mesh, numbers_of_blocks: list[Ids]) -> Cells:
    assert part.cells.kind is not None
    numbers, _ = flatten(numbers_of_blocks)
    as_they_stand = bool(np.all(numbers[:-1] < numbers[1:]))
    return Cells(mesh, part.cells.kind[numbers], None if as_they_stand else frozen(numbers), part)
