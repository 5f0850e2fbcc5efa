"""Sub-meshes: one part of a decomposition each, with the maps from its local ids to the input's global ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from meshpart import arguments
from meshpart.arrays import Array, Frozen, Ids, Labels, as_array, as_ids, kept, pieces
from meshpart.balance import Repair
from meshpart.errors import ArgumentError
from meshpart.halo import HaloPlan
from meshpart.mesh import Mesh, Periodic, fingerprint_of

if TYPE_CHECKING:
    import meshio

    from meshpart.local_graph import LocalGraph


@dataclass(frozen=True, eq=False)
class IndexMap(Frozen):
    """The local entities of one kind, cells, points or vertices, of one part: owned ones first, then ghosts.

    Owned entities ascend by global id, ghosts by owner and then global id.

    Parameters
    ----------
    global_ids : ndarray of int64, (n_local,)
        Positions in the input mesh.
    n_owned : int
    ghost_owners : ndarray of int32, (n_ghost,)
    ghost_layers : ndarray of int32, (n_ghost,)
        Of a cell, its distance from the owned cells; of a point, the least layer of a local cell on it.
    complete : ndarray of bool, (n_local,)
        Whether the entity's whole neighbourhood in the input mesh is local too: of a point, every cell on it;
        of a cell, every cell that shares a point with it.
    n_global : int
        How many the input mesh has.
    kind : ndarray of uint8, (n_local,), of cells only
        0 top, 1 attached, 2 free.
    """

    global_ids: Ids
    n_owned: int
    ghost_owners: Labels
    ghost_layers: Labels
    complete: npt.NDArray[np.bool_]
    n_global: int
    kind: npt.NDArray[np.uint8] | None = None

    @property
    def n_local(self) -> int:
        """Number of local entities."""
        return len(self.global_ids)

    @property
    def n_ghost(self) -> int:
        """Number of ghosts."""
        return self.n_local - self.n_owned

    def __repr__(self) -> str:
        return f"<IndexMap: {self.n_owned} owned + {self.n_ghost} ghosts of {self.n_global}>"

    def local_ids(self, global_ids: npt.ArrayLike) -> Ids:
        """Return where global ids are in local order, -1 of those that are not here.

        Parameters
        ----------
        global_ids : array_like of int

        Returns
        -------
        local_ids : ndarray of int64, of the same shape

        Examples
        --------
        >>> import meshpart
        >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
        >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
        >>> part = meshpart.split(mesh, [0, 1])[1]
        >>> part.points.global_ids, part.points.local_ids([4, 0, 5])
        (array([2, 5, 1, 4]), array([ 3, -1,  1]))
        """
        wanted = as_ids("global_ids", global_ids, ArgumentError)
        if self.n_local == 0:
            return np.full(wanted.shape, -1)
        places = self._by_global_id[np.searchsorted(self.global_ids, wanted, sorter=self._by_global_id) % self.n_local]
        return np.where(self.global_ids[places] == wanted, places, -1)

    @kept
    def _by_global_id(self) -> Ids:
        return np.argsort(self.global_ids, kind="stable")

    def owners(self, part: int) -> Labels:
        """Return the owner of every local entity, `part` of the owned ones: int32, (n_local,)."""
        return np.concatenate([np.full(self.n_owned, part, np.int32), self.ghost_owners])

    def layers(self) -> Labels:
        """Return the layer of every local entity: int32, (n_local,).

        It is 0 of the owned ones, and of the ghost points that are on owned cells.
        """
        return np.concatenate([np.zeros(self.n_owned, np.int32), self.ghost_layers])


@dataclass(frozen=True)
class Provenance:
    """What made a decomposition: the method that really ran, and what it was given.

    Parameters
    ----------
    method : str
        "labels" for `split`, and "one part" where there was nothing to choose.
    nparts : int
    version : str
        meshpart's.
    mode : str, optional
        Of a method that has modes.
    imbalance : float, optional
    seed : int, optional
    weights, edge_weights, keep_together : str, dict or list of str, optional
        As they were given, and "array" for an array.
    repair : Repair, optional
        What was repaired in the method's labels; None where they are its own.
    mesh : str, optional
        The fingerprint of the mesh that was cut.
    """

    method: str
    nparts: int
    version: str
    mode: str | None = None
    imbalance: float | None = None
    seed: int | None = None
    weights: Any = None
    edge_weights: Any = None
    keep_together: Any = None
    repair: Repair | None = None
    mesh: str | None = None


@dataclass(frozen=True, eq=False)
class SubMesh(Frozen):
    """One part of a decomposition.

    Parameters
    ----------
    part, nparts : int
        Which one of how many.
    ghost_layers : int
        How many layers of ghosts were asked for.
    mesh : Mesh
        The part's own mesh with local point ids, ghosts included. Its blocks are the input's, one to one, empty ones
        kept; the rows of a block are in local order, and so are the points. Data and sets are carried along; every
        set is there, empty where the part has none of it.
    cells, points : IndexMap
        Local order and global ids.
    block_starts : ndarray of int64, (n_blocks + 1,)
        The global id of the first cell of each block of the input, and how many cells it has.
    cell_halo, point_halo : HaloPlan
        Which rows the part exchanges with whom.
    run : str
        The same for all parts of one decomposition, and for no other: a hash of the mesh's points and cells, the labels
        and the layers.
    provenance : Provenance
    point_set_positions : mapping of str to ndarray of int64
        Which entries of the input's set the entries of this part's set are, so that their order is not lost.
    cell_set_positions : mapping of str to sequence of ndarray of int64
        The same for the cell sets, block by block.
    periodic : tuple of Periodic
        The input's periodic pairs whose slave point this part owns, as global ids (the part's mesh has none).
    periodic_positions : tuple of ndarray of int64
        Which rows of the input's pairs they are.
    row_starts : mapping of str to ndarray of int64, (n_local,)
        Of "points" and "cells", where asked for: where the row of each begins in the graph of the whole mesh.
    graphs : mapping of str to LocalGraph
        What `local_graph` need not build, by the entity, the adjacency and the steps, as in "points edge 1": what was
        stored with the part, and the edges that a part without ghost layers owns, where these were asked for.

    Notes
    -----
    Local ids, of cells and of points, are positions in local order. The rows of several blocks, block after block, are
    not in that order: `cell_rows`, `to_local` and `to_blocks` lead from one to the other. So what `mesh` says of its
    cells (`cell_points`, `kinds`, `cells_of_set`, `dual_graph(part.mesh)`) is block after block, and what the part says
    (`cells`, `cell_halo`, `dual_graph(part)`, `local_graph`) is in local order.
    """

    part: int
    nparts: int
    ghost_layers: int
    mesh: Mesh
    cells: IndexMap
    points: IndexMap
    block_starts: Ids
    cell_halo: HaloPlan
    point_halo: HaloPlan
    run: str
    provenance: Provenance
    point_set_positions: Mapping[str, Ids]
    cell_set_positions: Mapping[str, Sequence[Ids]]
    periodic: tuple[Periodic, ...]
    periodic_positions: tuple[Ids, ...]
    row_starts: Mapping[str, Ids] = field(default_factory=lambda: MappingProxyType({}))
    graphs: Mapping[str, LocalGraph] = field(default_factory=lambda: MappingProxyType({}))

    def __repr__(self) -> str:
        cells, points = self.cells, self.points
        return (
            f"<SubMesh {self.part} of {self.nparts}: {cells.n_owned} cells + {cells.n_ghost} ghosts, "
            f"{points.n_owned} points + {points.n_ghost} ghosts>"
        )

    @kept
    def _rows_of_blocks(self) -> tuple[Ids, ...]:
        blocks = np.searchsorted(self.block_starts, self.cells.global_ids, "right") - 1
        by_block = np.argsort(blocks, kind="stable")
        ends = np.searchsorted(blocks[by_block], np.arange(len(self.mesh.blocks) + 1))
        return tuple(pieces(by_block, ends))

    def cell_rows(self, block: int) -> Ids:
        """Return the local ids of the rows of a block, in the order of the block: int64.

        Parameters
        ----------
        block : int
            Which block of `mesh`.
        """
        return self._rows_of_blocks[arguments.integer("block", block, low=0, high=len(self.mesh.blocks) - 1)]

    def to_local(self, blocks: Sequence[npt.ArrayLike]) -> Array:
        """Put an array for each block into one array in local order.

        Parameters
        ----------
        blocks : sequence of array_like, (rows of the block, ...)
            One for each block of `mesh`, as its `cell_data` has them; one shape after the first axis.

        Returns
        -------
        values : ndarray, (n_local, ...)
            Of the dtype that NumPy finds for all that are not empty.

        Examples
        --------
        >>> import meshpart
        >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
        >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3]]), ("triangle", [[1, 2, 4], [2, 5, 4]])])
        >>> part = meshpart.split(mesh, [1, 0, 1], ghost_layers=1)[1]
        >>> part.cells.global_ids  # the quad and a triangle are owned, the other triangle is a ghost
        array([0, 2, 1])
        >>> part.to_local([[10.0], [12.0, 11.0]])
        array([10., 12., 11.])
        """
        if isinstance(blocks, str) or not isinstance(blocks, Sequence) or len(blocks) != len(self.mesh.blocks):
            raise ArgumentError(f"blocks must be a sequence of {len(self.mesh.blocks)} arrays, one for each block")
        arrays = [as_array(f"blocks[{number}]", values, ArgumentError) for number, values in enumerate(blocks)]
        for number, (array, rows) in enumerate(zip(arrays, self._rows_of_blocks, strict=True)):
            if array.shape[:1] != (len(rows),):
                raise ArgumentError(f"blocks[{number}] must have {len(rows)} rows, got the shape {array.shape}")
            if array.shape[1:] != arrays[0].shape[1:]:
                raise ArgumentError(
                    f"blocks[{number}] has the shape {array.shape}, blocks[0] {arrays[0].shape}: "
                    "they must agree after the first axis"
                )
        if not arrays:
            return np.zeros(0)
        try:  # an empty list for an empty block says nothing of the dtype
            dtype = np.result_type(*([array.dtype for array in arrays if array.size] or arrays))
        except TypeError as error:
            raise ArgumentError(f"blocks have no dtype in common: {error}") from None
        values = np.empty((self.cells.n_local, *arrays[0].shape[1:]), dtype)
        for array, rows in zip(arrays, self._rows_of_blocks, strict=True):
            values[rows] = array
        return values

    def to_blocks(self, values: npt.ArrayLike) -> list[Array]:
        """Cut an array in local order into one for each block: what `to_local` undoes.

        Parameters
        ----------
        values : array_like, (n_local, ...)
            Of the cells.

        Returns
        -------
        blocks : list of ndarray, (rows of the block, ...)
        """
        array = as_array("values", values, ArgumentError)
        if array.shape[:1] != (self.cells.n_local,):
            raise ArgumentError(f"values must have {self.cells.n_local} rows, got the shape {array.shape}")
        return [array[rows] for rows in self._rows_of_blocks]

    def to_meshio(self) -> meshio.Mesh:
        """Return the part's mesh as a `meshio.Mesh`, with global ids, owners, layers and VTK's ghost flags as data.

        The arrays are named as in the files that `write_parts` writes; data of the input by such a name is kept as
        `input_` and the name.
        """
        points: dict[str, Any] = ids_of("Point", self.points, self.part)
        cells: dict[str, Any] = {
            name: self.to_blocks(values) for name, values in ids_of("Cell", self.cells, self.part).items()
        }
        for name, values in self.mesh.point_data.items():
            points[unclashed(name, points)] = values
        for name, arrays in self.mesh.cell_data.items():
            cells[unclashed(name, cells)] = arrays
        return replace(self.mesh, point_data=points, cell_data=cells).to_meshio()


GHOST = 1  # VTK's DUPLICATEPOINT and DUPLICATECELL


def ids_of(kind: str, entities: IndexMap, part: int) -> dict[str, Array]:
    """Return what tells where the local entities of a part belong, in local order, by the names that files have."""
    owners = entities.owners(part)
    ghosts = np.where(owners == part, 0, GHOST).astype(np.uint8)
    return dict(zip(names_of_ids(kind), (entities.global_ids, owners, entities.layers(), ghosts), strict=True))


def names_of_ids(kind: str) -> tuple[str, str, str, str]:
    """Return the names that files have for ids, owners, layers and ghost flags of "Point" or "Cell"."""
    return f"Global{kind}Ids", f"{kind}Owner", f"{kind}Layer", "vtkGhostType"


def unclashed(name: str, taken: Collection[str]) -> str:
    """Return what data of the input is called beside names that are taken."""
    while name in taken:
        name = f"input_{name}"
    return name


def run_of(mesh: Mesh, labels: Labels, nparts: int, ghost_layers: int) -> str:
    """Return what all parts of one decomposition have as their `run`."""
    return fingerprint_of(mesh.fingerprint, labels, nparts, ghost_layers)
