"""Put the mesh files of all parts together again, as they are now: what a solver or ParaView added comes along."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from meshpart.arrays import Array, Ids, Labels, flatten, pieces, starts, take_rows
from meshpart.blocks import CellBlock, Faces
from meshpart.cells import cell_type
from meshpart.errors import FormatError, MeshError, warn
from meshpart.formats import plain_type
from meshpart.manifest import Manifest, read_manifest
from meshpart.mesh import Mesh, Periodic
from meshpart.owned import Owned
from meshpart.read_back import PartFiles, check_all_written, holds_mesh_files
from meshpart.shares import Share, Whole, share_of, whole_of
from meshpart.store import STORE

AGREE = 1e-6  # of the extent of a mesh: to which the coordinates of a point agree between files


def merge_files(path: str | os.PathLike[str]) -> Mesh:
    """Put the mesh files of all parts of a mesh together again.

    Each file gives the points and cells that its part owns, at their global ids, with all that it holds now: the
    input's data, and what a solver or ParaView added or changed. What the format does not hold is taken from the .npz
    file beside it, row by row of the file. Parts are read one after another.

    Parameters
    ----------
    path : str or path-like
        What `write_parts` wrote in a format of mesh files: a folder, or a .pvtu file.

    Returns
    -------
    mesh : Mesh
        What the parts were made from, as far as the files hold it, with its blocks, dtypes and shapes. The members of a
        set ascend. Field data is what the manifest has.

    Raises
    ------
    FormatError
        If a file is missing, cut short, or none of the part's; if it lacks the arrays with the ids and owners; if a
        cell or a point is owned twice or by no part. The message names the file.

    Warns
    -----
    MeshpartWarning
        Once, with what is left out: arrays that are not in the files of all parts, and what the readers passed over.
    """
    return mesh_and_labels(read_manifest(path), path)[0]


def mesh_and_labels(manifest: Manifest, path: str | os.PathLike[str]) -> tuple[Mesh, Labels]:
    """Return the mesh that `merge_files` returns of a path, and the part that owns each of its cells.

    Parameters
    ----------
    manifest : Manifest
    path : str or path-like
        As it was given, for messages.
    """
    if not holds_mesh_files(manifest):
        hint = " (merge(open_parts(path)) puts a part store together again)" if manifest.format == STORE else ""
        raise FormatError(f"{path}: parts in the format {manifest.format!r} are no mesh files{hint}")
    check_all_written(manifest)
    whole = whole_of(manifest)
    remarks: dict[str, None] = {}  # in the order in which they came up
    shares = [share_of(PartFiles(manifest, part), whole, remarks) for part in sorted(manifest.parts)]
    try:
        mesh = _joined(shares, whole, remarks)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except MeshError as error:
        raise FormatError(f"{path}: what the parts hold makes up no mesh: {error}") from error
    if remarks:
        warn(f"{path}: {'; '.join(remarks)}")
    labels = np.empty(mesh.n_cells, np.int32)
    for share in shares:
        labels[share.cells.ids] = share.files.part
    return mesh, labels


# -- together -----------------------------------------------------------------------------------------------


def _joined(shares: list[Share], whole: Whole, remarks: dict[str, None]) -> Mesh:
    files = {share.files.part: share.files.file for share in shares}
    points, cells = (
        Owned(
            kind,
            list(files),
            [getattr(share, f"{kind}s").ids for share in shares],
            0,
            whole.counts[kind],
            FormatError,
            files,
        )
        for kind in ("point", "cell")
    )
    coordinates = points.gather("points", [share.coordinates for share in shares])
    _refuse_moved(coordinates, points, shares)
    point_data = _gathered("point", points, shares, whole, remarks)
    cell_data = _gathered("cell", cells, shares, whole, remarks)
    cell_sets = _sets("cell", shares, whole, remarks)
    were = whole.were
    return Mesh(
        points=were.points(coordinates),
        blocks=_blocks(cells, shares, whole),
        point_data={name: values for name, (values,) in were.arrays("point", point_data).items()},
        cell_data=were.arrays("cell", {name: pieces(flat, whole.block_starts) for name, flat in cell_data.items()}),
        field_data=whole.field_data,
        point_sets=_sets("point", shares, whole, remarks),
        cell_sets={name: _by_block(members, whole.block_starts) for name, members in cell_sets.items()},
        block_data=whole.block_data,
        periodic=_periodic(shares, whole),
        info=whole.info,
    )


def _refuse_moved(coordinates: Array, points: Owned, shares: list[Share]) -> None:
    """Raise if a part holds a point of another part elsewhere, as it does if the two are of different meshes."""
    finite = coordinates[np.isfinite(coordinates).all(axis=1)]
    reach = AGREE * float(np.ptp(finite, axis=0).max()) if finite.size else 0.0
    for share in shares:
        ids, found = share.others
        expected = coordinates[ids]
        with np.errstate(invalid="ignore", over="ignore"):
            agree = (found == expected) | (np.abs(found - expected) <= reach) | (np.isnan(found) & np.isnan(expected))
        moved = np.flatnonzero(~agree.all(axis=1))
        if len(moved):
            owner = shares[np.searchsorted(np.cumsum(points.counts), points.places[ids[moved[0]]], "right")]
            here, there = (tuple(own[moved[0]].tolist()) for own in (found, expected))
            raise FormatError(
                f"point {ids[moved[0]]} is at {here} in {share.files.file} and at {there} in {owner.files.file}: "
                "they are not of one mesh, or one of them was changed and the other not"
            )


def _gathered(kind: str, owned: Owned, shares: list[Share], whole: Whole, remarks: dict[str, None]) -> dict[str, Any]:
    """Return the data of all points or cells, by the names in the files; of points, as a list of one block."""
    held = [getattr(share, f"{kind}s") for share in shares]
    giving = [entities.data for entities in held if len(entities.ids)]
    said = {name for entities in held for name in entities.data.keys() - entities.made_up}
    names = dict.fromkeys(name for data in giving for name in data if name in said)
    gathered: dict[str, Any] = {}
    for name in [*names, *(name for name in whole.were.names(kind) if name not in names)]:
        if all(name in data for data in giving):
            arrays = [entities.data.get(name, np.zeros(0)) for entities in held]
            values = owned.gather(f"{kind} data {name!r}", arrays)
            gathered[name] = [values] if kind == "point" else values
        else:
            remarks[f"{kind} data {name!r} is left out, since it is not in the files of all parts"] = None
    return gathered


def _sets(kind: str, shares: list[Share], whole: Whole, remarks: dict[str, None]) -> dict[str, Ids]:
    """Return the members of each set, ascending."""
    held = [getattr(share, f"{kind}s") for share in shares]
    giving = [entities.sets for entities in held if len(entities.ids)]
    holds = shares[0].files.holds
    may_be_empty = holds.point_sets if kind == "point" else holds.cell_sets
    sets = {}
    for name in dict.fromkeys([*whole.sets[kind], *(name for own in giving for name in own)]):
        if may_be_empty or all(name in own for own in giving):
            members = [own[name] for own in giving if name in own]
            sets[name] = np.unique(np.concatenate([np.zeros(0, np.int64), *members]))
        else:
            remarks[f"the {kind} set {name!r} is left out, since it is not in the files of all parts"] = None
    return sets


def _by_block(members: Ids, block_starts: Ids) -> list[Ids]:
    bounds = np.searchsorted(members, block_starts)
    return [rows - first for rows, first in zip(pieces(members, bounds), block_starts.tolist(), strict=False)]


def _blocks(cells: Owned, shares: list[Share], whole: Whole) -> list[CellBlock]:
    lengths, _ = flatten([share.lengths for share in shares])
    nodes, _ = flatten([share.nodes for share in shares])
    offsets, nodes = take_rows(starts(lengths), nodes, cells.places)
    blocks = []
    for number, (type_, tags) in enumerate(zip(whole.types, whole.tags, strict=True)):
        first, last = whole.block_starts[number : number + 2]
        own = nodes[offsets[first] : offsets[last]]
        wide = cell_type(type_).n_points
        if wide is not None:
            odd = np.flatnonzero(np.diff(offsets[first : last + 1]) != wide)
            if len(odd):
                size = np.diff(offsets)[first + odd[0]]
                raise FormatError(f"cell {first + odd[0]} has {size} points, a {type_} has {wide}")
            blocks.append(CellBlock(type_, own.reshape(-1, wide), tags=tags))
            continue
        faces = _faces_of_block(shares, first, last) if plain_type(type_) == "polyhedron" else None
        blocks.append(CellBlock(type_, own, offsets[first : last + 1] - offsets[first], faces, tags))
    return blocks


def _faces_of_block(shares: list[Share], first: int, last: int) -> Faces:
    """Return the faces of a block of polyhedra, put in order from those of each part."""
    ids, per_cell, corners_of, corners = [], [], [], []
    for share in shares:
        for at, faces in share.faces:
            of_cell = share.cells.ids[at]
            rows = np.flatnonzero((of_cell >= first) & (of_cell < last))
            own = faces.take(rows)
            ids.append(of_cell[rows])
            per_cell.append(np.diff(own.offsets))
            corners_of.append(np.diff(own.corner_offsets))
            corners.append(own.corners)
    together = Faces(starts(flatten(per_cell)[0]), starts(flatten(corners_of)[0]), flatten(corners)[0])
    return together.take(np.argsort(flatten(ids)[0]))


def _periodic(shares: Sequence[Share], whole: Whole) -> list[Periodic]:
    entries = []
    for number, entry in enumerate(whole.periodic):
        own = [share.periodic[number] for share in shares if share.periodic]
        pairs = np.concatenate([np.zeros((0, 2), np.int64), *(pairs for pairs, _ in own)])
        places = _places([rows for _, rows in own], len(pairs))
        if places is None:
            raise FormatError(f"the rows of periodic entity {number} are not all in the .npz files, each once")
        if pairs.size and not 0 <= pairs.min() <= pairs.max() < whole.counts["point"]:
            raise FormatError(f"periodic entity {number} has points outside 0..{whole.counts['point'] - 1}")
        entries.append(entry._replace(pairs=pairs[places]))
    return entries


def _places(rows: Iterable[Ids | None], count: int) -> Ids | None:
    """Return which of all pairs is the first, the second, ... of the input's; None unless each is there once."""
    given = [own for own in rows if own is not None]
    flat = np.concatenate([np.zeros(0, np.int64), *given])
    order = np.argsort(flat, kind="stable")
    return order if np.array_equal(flat[order], np.arange(count)) else None
