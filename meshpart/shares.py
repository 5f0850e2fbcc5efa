"""What the files of a part hold of the points and cells that it owns, checked against what the mesh was."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from meshpart.arrays import Array, Ids, pieces, take_rows
from meshpart.blocks import Faces
from meshpart.cells import cell_type
from meshpart.errors import FormatError, MeshError
from meshpart.formats import Format, plain_type
from meshpart.manifest import Manifest
from meshpart.mesh import Mesh, Periodic
from meshpart.read_back import PartFiles
from meshpart.submesh import names_of_ids
from meshpart.were import Were

NO_PAIRS = np.zeros((0, 2), np.int64)

# What write_parts adds to the data of a mesh.
OURS = {kind: names_of_ids(kind.capitalize()) for kind in ("point", "cell")}

# What files and their readers say of points or cells of which nothing was said, by the names that they give it.
MADE_UP = {
    "point": {"medit:ref": 1},
    "cell": {
        "avsucd:material": 0,
        "gmsh:geometrical": 0,
        "gmsh:physical": 0,
        "medit:ref": 1,
        "netgen:index": 1,
        "obj:group_ids": -1,
    },
}


# -- what the manifest says of the whole mesh ---------------------------------------------------------------


class Whole(NamedTuple):
    """What the mesh was, by its manifest."""

    counts: dict[str, int]  # of "point" and "cell"
    types: list[str]
    tags: list[tuple[str, ...]]
    block_starts: Ids
    sets: dict[str, list[str]]  # the names of "point" and "cell" sets
    field_data: dict[str, Any]
    block_data: dict[str, list[Any]]
    periodic: list[Periodic]  # without their pairs
    info: Any
    were: Were


def whole_of(manifest: Manifest) -> Whole:
    """Return what a manifest says of the whole mesh; raise FormatError where that cannot be."""
    content = manifest.content
    try:
        counts = {kind: int(content[f"n_{kind}s"]) for kind in ("point", "cell")}
        owned = {kind: sum(map(int, content["parts"][f"owned_{kind}s"])) for kind in counts}
        types = [block["type"] for block in content["blocks"]]
        for type_ in types:
            cell_type(type_)
        tags = [tuple(block["tags"]) for block in content["blocks"]]
        block_starts = np.array([int(first) for first in content["block_starts"]], np.int64)
        if len(block_starts) != len(types) + 1 or (block_starts[0], block_starts[-1]) != (0, counts["cell"]):
            raise ValueError("block_starts do not fit the blocks")
        if np.any(np.diff(block_starts) < 0):
            raise ValueError("block_starts do not ascend")
        sets = {kind: list(map(str, content[f"{kind}_sets"])) for kind in ("point", "cell")}
        were = Were.of(content.get("arrays", {}), len(types))
        field_data, block_data = were.field_data(content["field_data"]), were.block_data(content["block_data"])
        periodic = [_without_pairs(**entry) for entry in content["periodic"]]
        info = content["info"]
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MeshError) as error:
        raise FormatError(f"{manifest.path}: manifest.json is damaged: {error}") from error
    for kind, count in counts.items():
        if owned[kind] != count:
            raise FormatError(f"{manifest.path}: the parts own {owned[kind]} {kind}s, the mesh has {count}")
    return Whole(counts, types, tags, block_starts, sets, field_data, block_data, periodic, info, were)


def _without_pairs(dim: int, tags: tuple[int, int], affine: Any) -> Periodic:
    slave, master = tags
    map_ = None if affine is None else np.array(affine, np.float64)
    return Periodic(int(dim), (int(slave), int(master)), map_, NO_PAIRS)


# -- what a part gives --------------------------------------------------------------------------------------


class Entities(NamedTuple):
    """The points or the cells that a part owns."""

    ids: Ids
    data: dict[str, Array]  # an array of rows each
    sets: dict[str, Ids]  # the global ids of the members
    made_up: set[str]  # the names of data which the input did not have, and that may have come about by writing it


class Share(NamedTuple):
    """What the files of a part hold of what it owns."""

    files: PartFiles
    points: Entities
    cells: Entities
    coordinates: Array
    others: tuple[Ids, Array]  # the global ids, and the coordinates, of the points that it holds and others own
    lengths: Ids  # of each cell
    nodes: Ids  # as global ids, cell after cell
    faces: list[tuple[Ids, Faces]]  # of polyhedra: which of the cells, and their faces
    periodic: list[tuple[Ids, Ids | None]]  # pairs, and their places in the input's list


def share_of(files: PartFiles, whole: Whole, remarks: dict[str, None]) -> Share:
    """Read what the files of a part hold of what it owns.

    Parameters
    ----------
    files : PartFiles
    whole : Whole
    remarks : dict
        Gets what the reader passed over and the caller should know.

    Raises
    ------
    FormatError
        If a file is not there or not whole, or is none of the part's.
    """
    if files.told["owned_cells"] == files.told["owned_points"] == 0:
        return _nothing(files)
    mesh = files.mesh
    point_ids = _all_ids(files, "point", mesh.n_points, whole)
    cell_ids = _all_ids(files, "cell", mesh.n_cells, whole)
    point_rows, cell_rows = files.owned("point")[0], files.owned("cell")[0]
    _refuse_other_types(files, mesh, cell_ids, whole)
    points = _entities(files, "point", point_rows, point_ids, whole)
    cells = _entities(files, "cell", cell_rows, cell_ids, whole)
    offsets, nodes = take_rows(mesh.cell_offsets, mesh.cell_points, cell_rows)
    if any(block.faces is not None for block in mesh.blocks) and len(mesh.blocks) > 1:
        beside = [key for key, values in files.arrays_beside.items() if key.startswith("cell_data/") and values.size]
        if beside:
            raise FormatError(
                f"{files.file}: polyhedra may stand in another order than the rows of {', '.join(beside)}"
            )
    for remark in files.remarks:
        if not _is_expected(remark, whole):
            remarks[remark] = None
    return Share(
        files,
        points,
        cells,
        mesh.points[point_rows],
        (np.delete(point_ids, point_rows), np.delete(mesh.points, point_rows, axis=0)),
        np.diff(offsets),
        point_ids[nodes],
        _faces(mesh, cell_rows),
        _periodic_shares(files, whole),
    )


def _nothing(files: PartFiles) -> Share:
    """Return what a part that owns nothing gives; its files need not be such as can be read."""
    for file in (files.file, *([files.beside] if files.told.get("beside") else [])):
        if not file.is_file():
            raise FormatError(f"{file}: No such file")
    none = np.zeros(0, np.int64)
    entities = Entities(none, {}, {}, set())
    return Share(files, entities, entities, np.zeros((0, 3)), (none, np.zeros((0, 3))), none, none, [], [])


def _all_ids(files: PartFiles, kind: str, count: int, whole: Whole) -> Ids:
    """Return the global ids of all points or cells of a file."""
    if count == 0:
        return np.zeros(0, np.int64)
    name = f"Global{kind.capitalize()}Ids"
    ids = files.ids(kind, name)
    if len(ids) != count:
        raise FormatError(f"{files.file} has {count} {kind}s and {len(ids)} {name}")
    if not 0 <= ids.min() <= ids.max() < whole.counts[kind]:
        raise FormatError(f"{files.file}: {name} has ids outside 0..{whole.counts[kind] - 1}")
    return ids


def _refuse_other_types(files: PartFiles, mesh: Mesh, cell_ids: Ids, whole: Whole) -> None:
    """Raise if a cell is not of the type of the block that its global id belongs to."""
    for block, ids in zip(mesh.blocks, pieces(cell_ids, mesh.block_starts), strict=True):
        for number in np.unique(np.searchsorted(whole.block_starts, ids, "right") - 1).tolist():
            if not _alike(block.type, whole.types[number], files.holds):
                raise FormatError(
                    f"{files.file} has cells of type {block.type} with global ids of block {number}, "
                    f"which is of type {whole.types[number]}"
                )


def _alike(type_: str, other: str, holds: Format) -> bool:
    if plain_type(other) == "polygon" and type_ in ("triangle", "quad"):  # as meshio calls small ones
        return True
    return plain_type(type_) == plain_type(other) or holds.type_of(type_) == holds.type_of(other) is not None


def _entities(files: PartFiles, kind: str, rows: Ids, ids: Ids, whole: Whole) -> Entities:
    """Return what the part owns among all points or cells of its file."""
    if not len(rows):
        return Entities(rows, {}, {}, set())
    data, sets, made_up = {}, _sets_of_file(files, kind, rows, ids), set()
    for name in files.names(kind):
        if name in OURS[kind]:
            continue
        values = files.array(kind, name)
        if values.shape[:1] != (len(ids),):
            shape = f"its {kind} data {name!r} has the shape {values.shape}"
            raise FormatError(f"{files.file} has {len(ids)} {kind}s, {shape}")
        if name.startswith("set:") and not whole.were.has(kind, name):
            sets[name.removeprefix("set:")] = ids[rows[_any(values[rows])]]
        else:
            data[name] = values[rows]
            if not whole.were.has(kind, name) and _may_be_made_up(kind, name, values, rows, files.mesh):
                made_up.add(name)
    return Entities(ids[rows], data, sets, made_up)


def _any(values: Array) -> Array:
    found: Array = np.any(values.reshape(len(values), -1) != 0, axis=1)
    return found


def _may_be_made_up(kind: str, name: str, values: Array, rows: Ids, mesh: Mesh) -> bool:
    """Whether some rows of an array are what writers and readers put where nothing is said."""
    made: Any = MADE_UP[kind].get(name)
    if (kind, name) == ("point", "GLOBAL_ID"):
        made = np.arange(1, len(values) + 1)[rows]
    elif (kind, name) == ("point", "gmsh:dim_tags"):
        return values.ndim == 2 and not np.any(values[rows, 1:])
    elif (kind, name) == ("cell", "ugrid:ref"):
        is_surface = [cell_type(block.type).dim == 2 for block in mesh.blocks]
        made = np.repeat(is_surface, [len(block) for block in mesh.blocks])[rows]
    return made is not None and values.ndim == 1 and bool(np.all(values[rows] == made))


def _sets_of_file(files: PartFiles, kind: str, rows: Ids, ids: Ids) -> dict[str, Ids]:
    """Return the members that the part owns of the sets that the mesh file has as such."""
    mesh, is_owned = files.mesh, np.zeros(len(ids), bool)
    is_owned[rows] = True
    of_cells = {name: mesh.cells_of_set(name) for name in mesh.cell_sets}
    members = mesh.point_sets if kind == "point" else of_cells
    return {name: ids[local[is_owned[local]]] for name, local in members.items()}


def _faces(mesh: Mesh, rows: Ids) -> list[tuple[Ids, Faces]]:
    found = []
    for first, block in zip(mesh.block_starts.tolist(), mesh.blocks, strict=False):
        if block.faces is not None:
            at = np.flatnonzero((rows >= first) & (rows < first + len(block)))
            found.append((at, block.faces.take(rows[at] - first)))
    return found


def _periodic_shares(files: PartFiles, whole: Whole) -> list[tuple[Ids, Ids | None]]:
    shares = []
    for number in range(len(whole.periodic)):
        pairs = files.arrays_beside.get(f"periodic/{number}")
        if pairs is None:
            raise FormatError(f"{files.beside} has no array 'periodic/{number}'")
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise FormatError(f"{files.beside}: 'periodic/{number}' is no table of pairs of points")
        shares.append((pairs, files.arrays_beside.get(f"periodic_rows/{number}")))
    return shares


def _is_expected(remark: str, whole: Whole) -> bool:
    """Whether what a reader passed over is known from the manifest, or from beside the file."""
    if remark.startswith("meshio keeps the last of several *ELSET"):
        names = remark.removeprefix("meshio keeps the last of several *ELSET ").split(", ")
        return all(name in whole.sets["cell"] for name in names)
    return remark == "meshio passes over the names of blocks" or remark.startswith("polyhedra may be grouped")
