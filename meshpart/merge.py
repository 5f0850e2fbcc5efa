"""Merging: the mesh that parts were made from, given back bit for bit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import _core, arguments
from meshpart.arrays import Array, Ids, as_array, as_mapping, flatten, pieces, same, starts, take_rows
from meshpart.blocks import CellBlock, Faces
from meshpart.errors import ArgumentError, warn
from meshpart.mesh import Mesh, Periodic
from meshpart.owned import Owned
from meshpart.submesh import IndexMap, SubMesh
from meshpart.whole import check_all_there, listed


def merge(
    parts: Iterable[SubMesh],
    *,
    point_data: Mapping[str, Sequence[npt.ArrayLike]] | None = None,
    cell_data: Mapping[str, Sequence[npt.ArrayLike]] | None = None,
) -> Mesh:
    """Put all parts of a mesh together again.

    Each part gives what it owns, with the data that its mesh holds now: data that was replaced or added on the parts
    (`dataclasses.replace(part, mesh=dataclasses.replace(part.mesh, point_data=...))`) is in the result. Ghosts give
    nothing. A set that was added on the parts, and so has no positions, has the members that any part finds in it,
    ascending. `info` is that of part 0.

    Parameters
    ----------
    parts : iterable of SubMesh
        All parts of one decomposition of a mesh, in any order.
    point_data, cell_data : mapping of str to a sequence with one array_like for each part, (n_owned or more, ...)
        Data that the mesh gets besides, such as what was computed on the parts: for each of `parts`, in their order,
        the rows of its points or cells in local order. Those that it owns, which come first, count. They take the place
        of what the parts' meshes hold under the same name, with a warning.

    Returns
    -------
    mesh : Mesh
        For parts that were not changed, what they were made from: merge(split(mesh, labels)) == mesh.

    Raises
    ------
    ArgumentError
        If parts are missing, given twice, of different decompositions, or parts of a part; if a part lacks a name, or
        has another dtype or shape under it, than the others; if given data is not one array for each part with as many
        rows as the part owns, or more up to all of its rows.

    Warns
    -----
    MeshpartWarning
        Once, if given data takes the place of the parts' own.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> meshpart.merge(meshpart.split(mesh, [1, 0])) == mesh
    True

    A field that the parts computed, here their own number on each of their points:

    >>> import numpy as np
    >>> parts = meshpart.split(mesh, [1, 0])
    >>> field = [part.part * np.ones(part.points.n_local, int) for part in parts]
    >>> meshpart.merge(parts, point_data={"part": field}).point_data["part"]
    array([1, 0, 0, 1, 0, 0])
    """
    in_order = arguments.listed("parts", parts)
    given = _checked(in_order)
    more_points = _more("point_data", point_data, in_order, given)
    more_cells = _more("cell_data", cell_data, in_order, given)
    replaced = _replaced("point_data", more_points, given) + _replaced("cell_data", more_cells, given)
    if replaced:
        warn(f"what is given takes the place of {', '.join(replaced)} of the parts")
    meshes = [part.mesh for part in given]
    points, cells = _owned_points(given), _owned_cells(given)
    return Mesh(
        points=points.gather("points", [mesh.points for mesh in meshes]),
        blocks=[_block(given, number, rows) for number, rows in enumerate(cells)],
        point_data={
            **{name: points.gather(what, held) for name, what, held in _named(given, "point_data", more_points)},
            **{name: points.gather(f"point_data[{name!r}]", held) for name, held in more_points.items()},
        },
        cell_data={
            **{
                name: [
                    rows.gather(f"{what}[{number}]", [own[number] for own in held]) for number, rows in enumerate(cells)
                ]
                for name, what, held in _named(given, "cell_data", more_cells)
            },
            **_cell_data_in_local_order(given, more_cells),
        },
        field_data={name: _agreed(what, held, given) for name, what, held in _named(given, "field_data")},
        point_sets=_point_sets(given),
        cell_sets=_cell_sets(given),
        block_data={name: _agreed(what, held, given) for name, what, held in _named(given, "block_data")},
        periodic=_periodic(given),
        info=meshes[0].info,
    )


# -- which parts --------------------------------------------------------------------------------------------


def _checked(parts: Iterable[SubMesh]) -> list[SubMesh]:
    """Return all parts of one decomposition, by number."""
    given = list(parts)
    for place, part in enumerate(given):
        if not isinstance(part, SubMesh):
            raise ArgumentError(f"parts[{place}] must be a SubMesh, got {type(part).__name__}")
    check_all_there(given)
    given.sort(key=lambda part: part.part)
    _require_alike(given)
    for part in given:
        _require_fitting_maps(part)
    for kind, maps in (("cells", [part.cells for part in given]), ("points", [part.points for part in given])):
        n_owned = sum(entities.n_owned for entities in maps)
        if n_owned != maps[0].n_global:
            hint = " (parts of a part make up no mesh)" if n_owned < maps[0].n_global else ""
            raise ArgumentError(f"the parts own {n_owned} {kind}, the mesh has {maps[0].n_global}{hint}")
    return given


def _require_alike(parts: list[SubMesh]) -> None:
    """Raise if parts are not cut from the same blocks."""
    first = _made_from(parts[0])
    for part in parts[1:]:
        made_from = _made_from(part)
        if made_from != first:
            what = next(name for name in first if made_from[name] != first[name])
            raise ArgumentError(
                f"parts {parts[0].part} and {part.part} have different {what}: {first[what]} and {made_from[what]}"
            )


def _made_from(part: SubMesh) -> dict[str, Any]:
    """Return what all parts of a mesh tell of it, by what it is called."""
    return {
        "numbers of cells": part.cells.n_global,
        "numbers of points": part.points.n_global,
        "starts of blocks": part.block_starts.tolist(),
        "blocks": [(block.type, *block.tags) for block in part.mesh.blocks],
        "periodic entities": [entry[:2] for entry in part.periodic],
    }


def _require_fitting_maps(part: SubMesh) -> None:
    """Raise if a part's maps do not speak of its mesh, or name what is not there."""
    rows, n_cells, n_points = [len(block) for block in part.mesh.blocks], part.cells.n_global, part.points.n_global
    counts, cells_fit = _counted(part.cells, part.block_starts)
    if counts != rows or part.cells.n_local != sum(rows) or part.block_starts[-1] != n_cells:
        raise ArgumentError(f"part {part.part} has blocks of {rows} cells, its cells.global_ids say {counts}")
    if part.points.n_local != part.mesh.n_points:
        raise ArgumentError(
            f"part {part.part} has {part.mesh.n_points} points, its points.global_ids are {part.points.n_local}"
        )
    there, points_fit = _counted(part.points, np.array([0, n_points]))
    for what, entities, fit in (("cells", part.cells, cells_fit), ("points", part.points, points_fit)):
        if not fit:
            raise ArgumentError(
                f"part {part.part}: the global ids of its {entities.n_owned} owned {what} "
                f"do not ascend from 0 to at most {entities.n_global - 1}"
            )
    if there != [part.points.n_local]:
        raise ArgumentError(f"part {part.part}: a ghost among its points is not in 0..{n_points - 1}")


def _counted(entities: IndexMap, ranges: Ids) -> tuple[list[int], bool]:
    """Return how many global ids lie in each range, and whether the owned ones ascend and are all in one."""
    ids, ranges = (np.asarray(array, np.int64, order="C") for array in (entities.global_ids, ranges))
    n_owned = entities.n_owned
    if not 0 <= n_owned <= len(ids):
        return _core.count_ids(ids, 0, ranges)[0].tolist(), False
    counts, ascend = _core.count_ids(ids, n_owned, ranges)
    return counts.tolist(), ascend and (n_owned == 0 or (ids[0] >= 0 and ids[n_owned - 1] < entities.n_global))


# -- where owned rows belong --------------------------------------------------------------------------------


def _owned_ids(entities: IndexMap) -> Ids:
    return entities.global_ids[: entities.n_owned]


def _owned_points(parts: list[SubMesh]) -> Owned:
    ids = [_owned_ids(part.points) for part in parts]
    return Owned("point", [part.part for part in parts], ids, 0, parts[0].points.n_global)


def _owned_cells(parts: list[SubMesh]) -> list[Owned]:
    """Return the owned rows of each block; since owned cells ascend, they are pieces of the owned cells."""
    block_starts = parts[0].block_starts
    bounds = [np.searchsorted(_owned_ids(part.cells), block_starts).tolist() for part in parts]
    return [
        Owned(
            "cell",
            [part.part for part in parts],
            [part.cells.global_ids[at[number] : at[number + 1]] for part, at in zip(parts, bounds, strict=True)],
            first,
            last - first,
        )
        for number, (first, last) in enumerate(pairwise(block_starts.tolist()))
    ]


# -- what they hold -----------------------------------------------------------------------------------------


def _block(parts: list[SubMesh], number: int, rows: Owned) -> CellBlock:
    blocks = [part.mesh.blocks[number] for part in parts]
    first, global_ids = blocks[0], [part.points.global_ids for part in parts]
    if first.offsets is None:
        tables = [ids[own.nodes[:count]] for ids, own, count in zip(global_ids, blocks, rows.counts, strict=True)]
        return CellBlock(first.type, rows.gather("nodes", tables), tags=first.tags)
    lengths = [own.row_lengths()[:count] for own, count in zip(blocks, rows.counts, strict=True)]
    flat = [ids[own.nodes[: of_own.sum()]] for ids, own, of_own in zip(global_ids, blocks, lengths, strict=True)]
    offsets, nodes = take_rows(starts(flatten(lengths)[0]), flatten(flat)[0], rows.places)
    faces = [own.faces for own in blocks if own.faces is not None]
    return CellBlock(first.type, nodes, offsets, _faces(faces, rows) if faces else None, first.tags)


def _faces(faces: list[Faces], rows: Owned) -> Faces:
    per_cell, corners_of, corners = [], [], []
    for own, count in zip(faces, rows.counts, strict=True):
        last = own.offsets[count]
        per_cell.append(np.diff(own.offsets[: count + 1]))
        corners_of.append(np.diff(own.corner_offsets[: last + 1]))
        corners.append(own.corners[: own.corner_offsets[last]])
    offsets, corner_offsets = starts(flatten(per_cell)[0]), starts(flatten(corners_of)[0])
    return Faces(offsets, corner_offsets, flatten(corners)[0]).take(rows.places)


def _named(parts: list[SubMesh], field: str, but: Collection[str] = ()) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield each name in a field of the parts' meshes, what to call it, and what the parts have under it."""
    held: list[Mapping[str, Any]] = [getattr(part.mesh, field) for part in parts]
    for name in {name: None for mapping in held for name in mapping if name not in but}:
        what = f"{field}[{name!r}]"
        lacking = [part.part for part, mapping in zip(parts, held, strict=True) if name not in mapping]
        if lacking:
            there = next(part.part for part, mapping in zip(parts, held, strict=True) if name in mapping)
            raise ArgumentError(f"{what}: {listed(lacking, len(lacking))} without it, part {there} has it")
        yield name, what, [mapping[name] for mapping in held]


def _agreed(what: str, held: list[Any], parts: list[SubMesh]) -> Any:
    """Return what all parts have."""
    for part, value in zip(parts, held, strict=True):
        if value is not held[0] and not same(value, held[0]):
            raise ArgumentError(f"{what} is not the same in parts {parts[0].part} and {part.part}")
    return held[0]


# -- what is given besides ----------------------------------------------------------------------------------


def _more(field: str, data: object, parts: list[SubMesh], by_number: list[SubMesh]) -> dict[str, list[Array]]:
    """Return arrays that are given besides, by the numbers of the parts; refuse what has not as many rows as a part."""
    more: dict[str, list[Array]] = {}
    for name, given in as_mapping(field, data, ArgumentError).items():
        what = f"{field}[{name!r}]"
        arrays = arguments.listed(what, given, "arrays")
        if len(arrays) != len(parts):
            raise ArgumentError(f"{what} must have one array for each of {len(parts)} parts, got {len(arrays)}")
        of_part: dict[int, Array] = {}
        for part, values in zip(parts, arrays, strict=True):
            array = as_array(f"{what} of part {part.part}", values, ArgumentError)
            rows = part.points if field == "point_data" else part.cells
            if array.ndim == 0 or not rows.n_owned <= len(array) <= rows.n_local:
                raise ArgumentError(
                    f"{what} of part {part.part} must have {rows.n_owned} rows, or up to {rows.n_local} with ghosts, "
                    f"got the shape {array.shape}"
                )
            of_part[part.part] = array
        more[name] = [of_part[part.part] for part in by_number]
    return more


def _replaced(field: str, data: Iterable[str], parts: list[SubMesh]) -> list[str]:
    """Return what to call the data of the parts' meshes that gives way."""
    return [f"{field}[{name!r}]" for name in data if any(name in getattr(part.mesh, field) for part in parts)]


def _cell_data_in_local_order(parts: list[SubMesh], data: Mapping[str, list[Array]]) -> dict[str, list[Array]]:
    if not data:
        return {}
    ids = [_owned_ids(part.cells) for part in parts]
    cells = Owned("cell", [part.part for part in parts], ids, 0, parts[0].cells.n_global)
    gathered = {name: cells.gather(f"cell_data[{name!r}]", held) for name, held in data.items()}
    return {name: pieces(values, parts[0].block_starts) for name, values in gathered.items()}


# -- sets and periodic pairs --------------------------------------------------------------------------------


def _point_sets(parts: list[SubMesh]) -> dict[str, Ids]:
    sets = {}
    for name, what, held in _named(parts, "point_sets"):
        members = [part.points.global_ids[rows] for part, rows in zip(parts, held, strict=True)]
        sets[name] = _set(what, members, [part.point_set_positions.get(name) for part in parts], parts)
    return sets


def _cell_sets(parts: list[SubMesh]) -> dict[str, list[Ids]]:
    sets: dict[str, list[Ids]] = {}
    block_starts = parts[0].block_starts.tolist()
    for name, what, held in _named(parts, "cell_sets"):
        known = [part.cell_set_positions.get(name) for part in parts]
        sets[name] = [
            _set(
                f"{what}[{number}]",
                [
                    part.cells.global_ids[part.cell_rows(number)[own[number]]] - first
                    for part, own in zip(parts, held, strict=True)
                ],
                [None if positions is None else positions[number] for positions in known],
                parts,
            )
            for number, first in enumerate(block_starts[:-1])
        ]
    return sets


def _set(what: str, members: list[Ids], positions: list[Ids | None], parts: list[SubMesh]) -> Ids:
    """Return a set in the input's order, from the members that each part has and their positions in the input's set."""
    known = [own for own in positions if own is not None]
    if not known:
        return np.unique(np.concatenate(members))
    for part, rows, own in zip(parts, members, positions, strict=True):
        if own is None or len(own) != len(rows):
            raise ArgumentError(
                f"{what} has {len(rows)} members in part {part.part} and {'no' if own is None else len(own)} positions "
                "(a set that was changed needs a name of its own, without positions)"
            )
    return _in_order(what, members, known, parts)


def _periodic(parts: list[SubMesh]) -> list[Periodic]:
    entries = []
    for number, entry in enumerate(parts[0].periodic):
        pairs = [part.periodic[number].pairs for part in parts]
        positions = [part.periodic_positions[number] for part in parts]
        for part, own, at in zip(parts, pairs, positions, strict=True):
            if len(own) != len(at):
                raise ArgumentError(
                    f"periodic[{number}] has {len(own)} pairs in part {part.part} and {len(at)} positions"
                )
        entries.append(entry._replace(pairs=_in_order(f"periodic[{number}]", pairs, positions, parts)))
    return entries


def _in_order(what: str, rows: list[Ids], positions: list[Ids], parts: list[SubMesh]) -> Ids:
    """Return the rows of all parts in the order of their positions, which repeat where several parts have a row."""
    total = sum(map(len, positions))
    count = max(int(own.max(initial=-1)) for own in positions) + 1
    if count > total or min(own.min(initial=0) for own in positions) < 0:
        raise ArgumentError(f"{what}: the parts have {total} entries, they cannot be all of 0..{count - 1}")
    result = np.full((count, *rows[0].shape[1:]), -1)
    for own, at in zip(rows, positions, strict=True):
        result[at] = own
    if result.min(initial=0) < 0:
        raise ArgumentError(f"{what}: no part has entry {np.argwhere(result < 0)[0, 0]} of {count}")
    for part, own, at in zip(parts, rows, positions, strict=True):
        unlike = np.argwhere(result[at] != own)
        if len(unlike):
            raise ArgumentError(f"{what}: part {part.part} has another entry {at[unlike[0, 0]]} than another part")
    return result
