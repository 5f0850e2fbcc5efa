"""What class a mesh is of: told by measures of the mesh alone, so that files from anywhere fall into classes."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import meshpart
from meshpart.cells import cell_type

CLASSES = ("isotropic", "graded", "anisotropic", "thin", "assembly", "mixed")
SAMPLE = 200_000  # how many cells are looked at one by one, evenly spread over the numbers

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


class Measures(NamedTuple):
    """What tells the class of a mesh: of its cells of the highest dimension, by their corner points."""

    planar: bool  # the points lie in one plane, or the mesh has points of two dimensions
    largest_body: float  # the share of the cells in the largest set that hangs together by shared points
    other_shapes: float  # the share of the cells that have not as many corners as most
    aspect: float  # the median over cells of the longest by the shortest principal axis of the corners
    grading: (
        float  # sizes of cells, the 95th by the 5th percentile; a size is the corners' RMS distance from their mean
    )
    layers: float = np.inf  # of a solid: its thickness by the size of a boundary facet, the root of the mean area
    width: float = 0.0  # of a solid: how far it extends along its second principal axis, by its thickness


def class_of(mesh: meshpart.Mesh) -> str:
    """Return the class of a mesh, the first of these that fits.

    - `assembly`: several bodies that share no point; the largest has less than 95 % of the cells.
    - `mixed`: more than 5 % of the cells have not as many corners as the others.
    - `anisotropic`: half of the cells, or more, are at least five times as long as they are wide.
    - `thin`: a surface that lies in no plane; or a solid at most four cells thick that extends more than five times its
      thickness in a second direction. Thickness is twice the volume by the surface, as of a plate.
    - `graded`: of the sizes of cells, the 95th percentile is at least three times the 5th.
    - `isotropic`: none of these.

    Parameters
    ----------
    mesh : meshpart.Mesh
        With at least one cell. Of polyhedra, and of cells that are no solids, thickness is not looked at.
    """
    found = measures(mesh)
    if found.largest_body < 0.95:
        return "assembly"
    if found.other_shapes > 0.05:
        return "mixed"
    if found.aspect >= 5:
        return "anisotropic"
    if (mesh.dim == 2 and not found.planar) or (found.layers < 4 and found.width > 5):
        return "thin"
    return "graded" if found.grading >= 3 else "isotropic"


def measures(mesh: meshpart.Mesh) -> Measures:
    """Return what tells the class of a mesh."""
    top = [number for number, block in enumerate(mesh.blocks) if cell_type(block.type).dim == mesh.dim and len(block)]
    cells = np.concatenate([np.arange(mesh.block_starts[number], mesh.block_starts[number + 1]) for number in top])
    shapes = Counter[int | None]()
    for number in top:
        shapes[cell_type(mesh.blocks[number].type).n_corners] += len(mesh.blocks[number])
    axes = _principal_axes(mesh, cells[_spread(len(cells))])
    sizes = np.percentile(np.linalg.norm(axes, axis=1), [5, 95])
    used = np.zeros(mesh.n_points, bool)
    used[mesh.flat.cell_points] = True
    extents = _extents(mesh.coordinates[used])
    return Measures(
        len(extents) < 3 or extents[2] < 1e-6 * extents[0],
        _largest_body(mesh, cells),
        1 - max(shapes.values()) / len(cells),
        float(np.median(axes[:, 0] / np.maximum(axes[:, -1], 1e-300))),
        float(sizes[1] / max(sizes[0], 1e-300)),
        *(_thickness(mesh, top, extents) if mesh.dim == 3 else ()),
    )


# -- helpers ------------------------------------------------------------------------------------------------


def _largest_body(mesh: meshpart.Mesh, cells: Ids) -> float:
    """Return the share of the cells that the largest set of them has that hangs together by shared points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    owner, points = _entries(mesh, cells)
    size = len(cells) + mesh.n_points
    joined = coo_array((np.ones(len(owner), bool), (owner, len(cells) + points)), shape=(size, size))
    _, body = connected_components(joined, directed=False)
    return float(np.bincount(body[: len(cells)]).max() / len(cells))


def _principal_axes(mesh: meshpart.Mesh, cells: Ids) -> Floats:
    """Return the lengths of the principal axes of cells' corners, longest first: as many as cells have dimensions."""
    owner, points = _entries(mesh, cells)
    count = np.bincount(owner)
    away = mesh.coordinates[points]
    away -= np.stack([np.bincount(owner, x) / count for x in away.T], axis=1)[owner]
    moments = np.array([[np.bincount(owner, x * y) / count for y in away.T] for x in away.T])
    squares = np.linalg.eigvalsh(moments.transpose(2, 0, 1))[:, ::-1]
    return np.sqrt(np.maximum(squares[:, : max(mesh.dim, 1)], 0))


def _extents(points: Floats) -> Floats:
    """Return how far points extend along their principal axes, longest first: of a box, the lengths of its sides."""
    away = points - points.mean(axis=0)
    return np.sqrt(np.maximum(12 * np.linalg.eigvalsh(away.T @ away / len(away))[::-1], 0))


def _thickness(mesh: meshpart.Mesh, top: list[int], extents: Floats) -> tuple[float, float]:
    """Return the thickness of a solid by the size of a boundary facet, and its second extent by its thickness."""
    key_of = np.random.default_rng(0).integers(0, 2**64, mesh.n_points, np.uint64)
    keys, rings, volume = [], [], 0.0
    for number in top:
        facets, nodes = cell_type(mesh.blocks[number].type).facets, mesh.blocks[number].nodes
        if facets is None:
            return np.inf, 0.0
        rings += [(nodes, list(facet)) for facet in facets]
        keys += [sum(key_of[nodes[:, corner]] for corner in facet) for facet in facets]  # modulo 2**64: of a set
        volume += _volume(mesh.coordinates, nodes, facets)
    alone = np.split(_alone(np.concatenate(keys)), np.cumsum([len(key) for key in keys])[:-1])
    areas = np.concatenate(
        [
            np.linalg.norm(_areas(mesh.coordinates[nodes[bare][:, ring]]), axis=1)
            for (nodes, ring), bare in zip(rings, alone, strict=True)
        ]
    )
    if not areas.sum():
        return np.inf, 0.0
    thickness = 2 * volume / areas.sum()
    return float(thickness / areas.mean() ** 0.5), float(extents[1] / thickness)


def _alone(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Return which keys occur once."""
    order = np.argsort(keys)
    differs = np.concatenate([[True], np.diff(keys[order]) != 0, [True]])
    alone = np.empty(len(keys), bool)
    alone[order] = differs[:-1] & differs[1:]
    return alone


def _volume(points: Floats, nodes: Ids, facets: tuple[tuple[int, ...], ...]) -> float:
    """Return the volume of solids, whichever way around they are; of many, that of a sample times their number."""
    sample = nodes[_spread(len(nodes))]
    middle = points[sample].mean(axis=1)
    volumes = np.zeros(len(sample))
    for facet in facets:
        corners = points[sample[:, list(facet)]]
        volumes += ((corners.mean(axis=1) - middle) * _areas(corners)).sum(axis=1) / 3
    return float(np.abs(volumes).mean() * len(nodes))


def _areas(corners: Floats) -> Floats:
    """Return the areas of facets as normals, of their corners around them."""
    spokes = corners - corners.mean(axis=1, keepdims=True)
    return np.cross(spokes, np.roll(spokes, -1, axis=1)).sum(axis=1) / 2


def _spread(count: int) -> Ids:
    """Return at most `SAMPLE` of so many positions, evenly spread."""
    return np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64)


def _entries(mesh: meshpart.Mesh, cells: Ids) -> tuple[Ids, Ids]:
    """Return the corners of cells: the position of the cell in `cells`, and the point, for each."""
    flat = mesh.flat
    block = np.searchsorted(flat.block_starts, cells, "right") - 1
    corners = flat.block_corners[block]
    count = np.where(corners < 0, np.diff(flat.cell_offsets)[cells], corners)
    owner = np.repeat(np.arange(len(cells)), count)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    return owner, flat.cell_points[flat.cell_offsets[cells][owner] + within]
