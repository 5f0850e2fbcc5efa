"""What is to be drawn: a mesh by its blocks or labels, parts, or one part with its ghosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from meshpart import arguments
from meshpart.arrays import Ids, flatten
from meshpart.errors import ArgumentError
from meshpart.labels import as_labels
from meshpart.mesh import ATTACHED, Mesh
from meshpart.partition import split
from meshpart.plotting.colours import part_colours, shades, towards_white
from meshpart.plotting.scene import Coordinates, Look, Piece, corner_parts
from meshpart.submesh import SubMesh
from meshpart.whole import check_alike

OWNED, GHOSTS, OTHERS = np.array([0.10, 0.38, 0.66]), np.array([0.93, 0.45, 0.10]), np.array([0.87, 0.89, 0.91])
PALEST = 0.72  # how far the outermost ghosts are towards white
SEEN_THROUGH = 0.78, 0.13  # the opacity of ghosts and of other parts


class Content(NamedTuple):
    """What is to be drawn."""

    pieces: Sequence[Piece]
    points: Coordinates  # of all pieces together
    looks: Sequence[Look]  # by class
    title: str
    around: int | None = None  # the part in the middle


def of_mesh(mesh: Mesh, labels: Any, ghosts_of: Any, ghost_layers: int) -> Content:
    """Return a mesh in one colour for each block, or for each part; or one part of it with its ghosts.

    Raises
    ------
    ArgumentError
        If the labels are not those of its cells, there is no such part, or there are no cells.
    """
    if labels is None:
        return _by_block(mesh)
    checked, nparts = as_labels(labels, mesh.n_cells)
    ids = np.arange(mesh.n_points)
    shown = mesh.kinds != ATTACHED
    if ghosts_of is None:
        pieces = [Piece(mesh, shown, checked, checked.astype(np.int64), ids)]
        return _by_part(pieces, mesh.coordinates, nparts)
    part = arguments.integer("ghosts_of", ghosts_of, low=0, high=nparts - 1)
    own = split(mesh, checked, nparts, ghost_layers=ghost_layers, only=[part])[0]
    layers = np.full(mesh.n_cells, -1)
    layers[own.cells.global_ids] = own.cells.layers()
    return _around(part, [Piece(mesh, shown, checked, layers, ids)], mesh.coordinates, ghost_layers)


def of_parts(parts: Sequence[Any]) -> Content:
    """Return parts in one colour each.

    Raises
    ------
    ArgumentError
        If they are no parts of one decomposition, or have no cells.
    """
    given = _checked(parts)
    points, ids = _together(given)
    pieces = [
        _piece(part, own, part.cells.owners(part.part) == part.part) for part, own in zip(given, ids, strict=True)
    ]
    return _by_part(pieces, points, given[0].nparts)


def of_ghosts(parts: Sequence[Any], ghosts_of: Any) -> Content:
    """Return one of the parts with its ghosts, and the others.

    Raises
    ------
    ArgumentError
        If they are no parts of one decomposition, the one is not among them, or it was made without ghost layers.
    """
    given = _checked(parts)
    number = arguments.integer("ghosts_of", ghosts_of, low=0, high=given[0].nparts - 1)
    chosen = [part for part in given if part.part == number]
    if not chosen:
        raise ArgumentError(f"ghosts_of is {number}, and part {number} is not among the parts given")
    if chosen[0].ghost_layers == 0:
        raise ArgumentError(f"part {number} was made with ghost_layers=0: it has no ghosts to show")
    local = np.sort(chosen[0].cells.global_ids)
    points, ids = _together(given)
    pieces = []
    for part, own in zip(given, ids, strict=True):
        if part is chosen[0]:
            piece = _piece(part, own, np.ones(part.cells.n_local, bool))
            layers, _ = flatten(part.to_blocks(part.cells.layers()))
        else:
            there = np.append(local, -1)[np.searchsorted(local, part.cells.global_ids)] == part.cells.global_ids
            piece = _piece(part, own, (part.cells.owners(part.part) == part.part) & ~there)
            layers = np.full(part.cells.n_local, -1)
        pieces.append(piece._replace(classes=layers.astype(np.int64)))
    return _around(number, pieces, points, chosen[0].ghost_layers)


# -- colours ------------------------------------------------------------------------------------------------


def _by_block(mesh: Mesh) -> Content:
    shown = mesh.kinds != ATTACHED
    blocks = np.repeat(np.arange(len(mesh.blocks)), np.diff(mesh.block_starts))
    used = np.unique(blocks[shown])
    _require_some(len(used))
    classes = np.searchsorted(used, blocks).clip(max=len(used) - 1)
    colours = shades(len(used))
    looks = [
        _look(f"{number} {mesh.blocks[number].type}", colours[place]) for place, number in enumerate(used.tolist())
    ]
    piece = Piece(mesh, shown, classes.astype(np.int32), classes, np.arange(mesh.n_points))
    return Content([piece], mesh.coordinates, looks, "block")


def _by_part(pieces: Sequence[Piece], points: Coordinates, nparts: int) -> Content:
    _require_some(sum(int(np.count_nonzero(piece.shown)) for piece in pieces))
    colours = part_colours(corner_parts(pieces), nparts)
    return Content(pieces, points, [_look(str(part), colours[part]) for part in range(nparts)], "part")


def _around(part: int, pieces: Sequence[Piece], points: Coordinates, ghost_layers: int) -> Content:
    """Return a part and its ghosts; the classes of the pieces are layers, -1 for cells of none."""
    _require_some(sum(int(np.count_nonzero(piece.shown)) for piece in pieces))
    most = max(int(piece.classes.max(initial=0)) for piece in pieces)
    paler = PALEST / max(most - 1, 1)
    looks = [_look(f"part {part}, owned", OWNED)]
    for layer in range(1, most + 1):
        colour = towards_white(GHOSTS, paler * (layer - 1))
        looks.append(_look(f"ghost layer {layer}", colour, SEEN_THROUGH[0], hatched=True))
    looks.append(_look("other parts", OTHERS, SEEN_THROUGH[1], faint=True))
    last = len(looks) - 1
    moved = [piece._replace(classes=np.where(piece.classes < 0, last, piece.classes)) for piece in pieces]
    return Content(moved, points, looks, "", part)


def _look(name: str, colour: Any, opacity: float = 1.0, *, hatched: bool = False, faint: bool = False) -> Look:
    red, green, blue = (float(value) for value in colour)
    return Look(name, (red, green, blue), opacity, hatched, faint)


def _require_some(count: int) -> None:
    if count == 0:
        raise ArgumentError("there are no cells to draw")


# -- parts --------------------------------------------------------------------------------------------------


def _checked(parts: Sequence[Any]) -> list[SubMesh]:
    """Return parts of one decomposition, each once, by number."""
    for place, part in enumerate(parts):
        if not isinstance(part, SubMesh):
            raise ArgumentError(f"what[{place}] must be a SubMesh, got {type(part).__name__}")
    check_alike(parts)
    return sorted(parts, key=lambda part: part.part)


def _together(parts: Sequence[SubMesh]) -> tuple[Coordinates, list[Ids]]:
    """Return the points of all parts, each once, and where the points of each part are among them."""
    _, first, numbers = np.unique(
        np.concatenate([part.points.global_ids for part in parts]), return_index=True, return_inverse=True
    )
    points = np.concatenate([part.mesh.coordinates for part in parts])[first]
    bounds = np.cumsum([part.points.n_local for part in parts])[:-1]
    return points, np.split(numbers.reshape(-1).astype(np.int64), bounds)


def _piece(part: SubMesh, ids: Ids, chosen: Any) -> Piece:
    """Return chosen cells of a part, those of local order, without attached ones."""
    assert part.cells.kind is not None
    shown, _ = flatten(part.to_blocks(chosen & (part.cells.kind != ATTACHED)))
    owners, _ = flatten(part.to_blocks(part.cells.owners(part.part)))
    return Piece(part.mesh, shown.astype(bool), owners.astype(np.int32), owners.astype(np.int64), ids)
