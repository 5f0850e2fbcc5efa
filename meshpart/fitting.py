"""Fit a mesh to a format: what the format holds goes into the file, and what it does not hold beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from meshpart.arrays import Array, Ids
from meshpart.blocks import CellBlock
from meshpart.errors import FormatError
from meshpart.formats import Arrays, Format, plain_type
from meshpart.mesh import Mesh
from meshpart.meshio_bridge import patched_meshio, polyhedron_faces
from meshpart.submesh import unclashed
from meshpart.vtu import RUN

if TYPE_CHECKING:
    import meshio

PLAIN = {"bool": "uint8", "float16": "float32"}  # how dtypes that no format knows are written
BYTES_OF_A_NUMBER = 8

# What to call arrays that no mesh file holds, by the kind of their dtype.
KINDS = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "times", "V": "records", "O": "objects"}

Blocks = Sequence[Array]  # an array for each block of cells; points are one block
Layout = list[tuple[str, list[tuple[int, slice]]]]  # the file's blocks: their types, and rows of the part's blocks


@dataclass(frozen=True)
class Added:
    """Arrays that are written with a mesh and come first: data of the mesh by their names gives way.

    Parameters
    ----------
    point_data : mapping of str to ndarray, (n_points,)
    cell_data : mapping of str to a sequence with one ndarray for each block
    """

    point_data: Mapping[str, Array] = field(default_factory=dict)
    cell_data: Mapping[str, Blocks] = field(default_factory=dict)


NOTHING = Added()


@dataclass
class MeshFile:
    """A mesh file to be.

    Parameters
    ----------
    name : str
        meshio's name of its format.
    holds : Format
    mesh : meshio.Mesh
        What goes into it; to be thrown away, since writers change it.
    beside : dict of str to ndarray
        What the format does not hold: point_data/NAME and cell_data/NAME, with the rows of the file.
    notes : dict of str to bool
        What became of the data, and whether that is worth a warning.
    arrays : dict of str to dict
        What the mesh's own arrays were, for those who read them back: of "points", and of each name in "point_data" and
        "cell_data", its "name" in the file, and the "dtypes" and "shapes" after the first axis, one for each block.
    """

    name: str
    holds: Format
    mesh: meshio.Mesh = None
    beside: dict[str, Array] = field(default_factory=dict)
    notes: dict[str, bool] = field(default_factory=dict)
    arrays: dict[str, dict[str, Any]] = field(default_factory=dict)

    def note(self, text: str, *, loud: bool = False) -> None:
        """Say what became of something, once."""
        self.notes[text] = loud


@dataclass(frozen=True)
class _Entities:
    """The points or the cells of a mesh, and what the format holds of such.

    Parameters
    ----------
    kind : str
        "point" or "cell".
    lengths : list of int
        How many there are in each block.
    added, data : mapping of str to sequence of ndarray
        What is written with the mesh, and its own.
    sets : mapping of str to sequence of ndarray of int64
    gather : callable
        Takes an array for each block of the mesh to one for each block of the file.
    arrays : Arrays
    tags : frozenset of str
    has_sets : bool
    """

    kind: str
    lengths: list[int]
    added: Mapping[str, Blocks]
    data: Mapping[str, Blocks]
    sets: Mapping[str, Sequence[Ids]]
    gather: Callable[[Blocks], Blocks]
    arrays: Arrays
    tags: frozenset[str]
    has_sets: bool


def refuse_mesh(mesh: Mesh, name: str, holds: Format, what: str = "the mesh") -> None:
    """Raise FormatError if a format has no place for the cells of a mesh or for the dtype of its data."""
    files = f"{name} files, as {'meshpart' if name == 'vtu' else 'meshio'} writes them,"
    given = sorted({block.type for block in mesh.blocks if len(block)})
    types = {holds.type_of(type_) for type_ in given}
    if None in types:
        lacking = ", ".join(type_ for type_ in given if holds.type_of(type_) is None)
        raise FormatError(f"{files} hold no cells of type {lacking}")
    alone = types - (holds.mixed if holds.mixed is not None else types)
    if len(types) > 1 and alone:
        lonely = ", ".join(sorted(map(str, alone)))
        raise FormatError(f"{files} hold no cells beside {lonely}, got {', '.join(given)}")
    if not types and not holds.empty:
        raise FormatError(f"{what} has no cells, and {name} files must have some")
    for where, data in (("point_data", mesh.point_data), ("cell_data", mesh.cell_data)):
        for array, values in data.items():
            for dtype in {block.dtype for block in ([values] if isinstance(values, np.ndarray) else values)}:
                if dtype.kind not in "biuf" or dtype.itemsize > BYTES_OF_A_NUMBER:
                    numbers = KINDS.get(dtype.kind, f"numbers of dtype {dtype}")
                    remedy = "leave it out" + ", or keep it in a part store, which holds it" * (not dtype.hasobject)
                    raise FormatError(f"{name} files hold no {numbers}: {where}[{array!r}] is {dtype} ({remedy})")


def fit_mesh(mesh: Mesh, name: str, holds: Format, added: Added = NOTHING) -> MeshFile:
    """Fit a mesh, which stays as it is, to a format that holds its cells.

    Parameters
    ----------
    mesh : Mesh
        Its points, blocks, point and cell data and sets; the rest is up to the caller.
    name : str
        meshio's name of the format.
    holds : Format
    added : Added
    """
    file = MeshFile(name, holds)
    layout = _layout(mesh.blocks, file, has_ids=bool(added.cell_data)) or _no_cells(mesh.blocks, file)
    points = _Entities(
        kind="point",
        lengths=[mesh.n_points],
        added={key: [values] for key, values in added.point_data.items()},
        data={key: [values] for key, values in mesh.point_data.items()},
        sets={key: [members] for key, members in mesh.point_sets.items()},
        gather=list,
        arrays=holds.point_data,
        tags=holds.point_tags,
        has_sets=holds.point_sets,
    )
    cells = _Entities(
        kind="cell",
        lengths=[len(block) for block in mesh.blocks],
        added=added.cell_data,
        data=mesh.cell_data,
        sets=mesh.cell_sets,
        gather=lambda blocks: [_join([blocks[number][rows] for number, rows in runs]) for _, runs in layout],
        arrays=holds.cell_data,
        tags=holds.cell_tags,
        has_sets=holds.cell_sets,
    )
    file.arrays["points"] = _as_it_is("points", [mesh.points])
    point_data, point_sets = _fit_entities(points, file)
    cell_data, cell_sets = _fit_entities(cells, file)
    with patched_meshio() as meshio:
        file.mesh = meshio.Mesh(
            points=_points(mesh.points, file),
            cells=[meshio.CellBlock(type_, _nodes(mesh.blocks, runs)) for type_, runs in layout],
            point_data={key: values for key, (values,) in point_data.items()},
            cell_data=cell_data if layout else {},
            point_sets={key: members for key, (members,) in point_sets.items()},
            cell_sets=cell_sets,
        )
    _add_what_gmsh_needs(mesh, file)
    if name == "vtu" and _is_run(mesh.field_data.get(RUN)):  # of a piece that was read
        file.mesh.field_data[RUN] = mesh.field_data[RUN]
    return file


def _as_it_is(name: str, values: Blocks) -> dict[str, Any]:
    """Return what an array is, and is called in the file."""
    dtypes, shapes = [block.dtype.name for block in values], [list(block.shape[1:]) for block in values]
    return {"name": name, "dtypes": dtypes, "shapes": shapes}


# -- data and sets ------------------------------------------------------------------------------------------


def _fit_entities(entities: _Entities, file: MeshFile) -> tuple[dict[str, Blocks], dict[str, Blocks]]:
    """Return the data and sets that go into the file, block by block of the file, and put the others beside it."""
    kept: dict[str, Blocks] = {}
    arrays = file.arrays.setdefault(f"{entities.kind}_data", {})
    for name, values in entities.added.items():
        _place(name, values, entities, file, kept, loud=False)
    taken = {*entities.added, *(f"set:{name}" for name in entities.sets)}
    for given, values in entities.data.items():
        name = unclashed(given, taken)
        if name != given:
            file.note(f"the input's {entities.kind}_data {given!r} is written as {name!r}", loud=True)
        taken.add(name)
        arrays[given] = _as_it_is(name, values)
        _place(name, values, entities, file, kept, loud=True)
    kept_sets: dict[str, Blocks] = {}
    for name, members in entities.sets.items():
        masks = [_mask(rows, length) for rows, length in zip(members, entities.lengths, strict=True)]
        if entities.has_sets and re.fullmatch(file.holds.names, name):
            kept_sets[name] = [np.flatnonzero(mask) for mask in entities.gather(masks)]
            if sum(len(members) > 0 for members in kept_sets[name]) > 1:
                file.beside[f"{entities.kind}_data/set:{name}"] = _join(entities.gather(masks))
                file.note(f"the {entities.kind} set {name!r} is in the .npz files too: readers may miss some of it")
        else:
            file.note(f"the {entities.kind} set {name!r} is written as the array 'set:{name}'")
            _place(f"set:{name}", masks, entities, file, kept, loud=True)
    return kept, kept_sets


def _place(
    name: str, values: Blocks, entities: _Entities, file: MeshFile, kept: dict[str, Blocks], *, loud: bool
) -> None:
    """Put an array into the file, or beside it where the format does not hold it."""
    what = f"{entities.kind}_data {name!r}"
    blocks = entities.gather(_plain(what, values, file))
    if _is_held(name, blocks, entities, file.holds):
        key = file.holds.encode(name)
        if key != name:
            file.note(f"{what} is named {key!r} in the file")
        kept[key] = blocks
    else:
        empty = np.zeros(0, values[0].dtype if values else np.int64)
        file.beside[f"{entities.kind}_data/{name}"] = _join(blocks) if blocks else empty
        file.note(f"{what} is in the .npz files, since {file.name} files do not hold it", loud=loud)


def _is_held(name: str, blocks: Blocks, entities: _Entities, holds: Format) -> bool:
    shape, dtype = (blocks[0].shape[1:], blocks[0].dtype) if blocks else ((), np.dtype(np.int64))
    if name in entities.tags:
        if dtype.kind not in "iu" or shape != ():
            return False
        bounds = [abs(int(bound(initial=0))) for block in blocks for bound in (block.min, block.max)]
        return max(bounds, default=0) <= holds.largest_tag
    return entities.arrays.holds(dtype.name, math.prod(shape)) and re.fullmatch(holds.names, name) is not None


def _plain(what: str, values: Blocks, file: MeshFile) -> Blocks:
    """Return arrays with one dtype that files know, and one axis at most after the first."""
    dtypes = sorted({block.dtype.name for block in values})
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
    plain = np.dtype(PLAIN.get(dtype.name, dtype))
    if any(name != plain.name for name in dtypes):
        file.note(f"{what} is {' and '.join(dtypes)} and is written as {plain}")
    shapes = {block.shape[1:] for block in values if len(block)} or {block.shape[1:] for block in values[:1]} or {()}
    if len(shapes) > 1:
        raise FormatError(f"{what} has a different shape in each block: {', '.join(map(str, sorted(shapes)))}")
    (shape,) = shapes
    flat = () if math.prod(shape) == 1 else (math.prod(shape),)
    if shape != flat:
        file.note(f"{what} is {' x '.join(map(str, shape))} numbers and is written as {math.prod(shape)}")
    return [block.astype(plain, copy=False).reshape(len(block), *flat) for block in values]


def _mask(members: Ids, length: int) -> Array:
    mask = np.zeros(length, np.uint8)
    mask[members] = 1
    return mask


def _join(arrays: Blocks) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


# -- points and cells ---------------------------------------------------------------------------------------


def _points(points: Array, file: MeshFile) -> Array:
    """Return the points with as many coordinates, and of the dtype, that the format asks for."""
    given = points.shape[1]
    dim = min(dim for dim in file.holds.dims if dim >= given)
    plain = np.dtype(PLAIN.get(points.dtype.name, points.dtype))
    dtype = plain if plain.name in file.holds.point_dtypes else np.dtype(np.float64)
    if dim > given:
        file.note(f"points have {given} coordinates and are written with {dim}, the last 0")
    if dtype != points.dtype:
        file.note(f"points are {points.dtype} and are written as {dtype}")
    written = np.zeros((len(points), dim), dtype)
    written[:, :given] = points
    return written


def _layout(blocks: Iterable[CellBlock], file: MeshFile, *, has_ids: bool) -> Layout:
    """Return which rows of which blocks make each block of the file: no block is empty, none has two sizes.

    Without ids among the data nobody can tell that cells stand in another order, so that this is worth a warning.
    """
    runs = [
        (file.holds.type_of(block.type) or block.type, [(number, rows)])
        for number, block in enumerate(blocks)
        for rows in _runs(block, file)
    ]
    for block in blocks:
        written = file.holds.type_of(block.type)
        if len(block) and written != plain_type(block.type):
            file.note(f"cells of type {block.type} are written as {written}")
    if not file.holds.order:
        return runs
    joined: dict[str, list[tuple[int, slice]]] = {}
    for type_, rows in sorted(runs, key=lambda run: file.holds.order.index(run[0])):
        joined.setdefault(type_, []).extend(rows)
    if list(joined.items()) != runs:
        note = f"cells stand block by block of one type, in the order of types that {file.name} files have"
        file.note(note, loud=not has_ids)
    return list(joined.items())


def _no_cells(blocks: Sequence[CellBlock], file: MeshFile) -> Layout:
    """Return a block of no cells, so that the file has the arrays that other parts' files have."""
    return [("vertex", [(0, slice(0, 0))])] if blocks and file.holds.empty_block else []


def _runs(block: CellBlock, file: MeshFile) -> list[slice]:
    """Return slices of rows of one length, all of a block if it has no other."""
    if len(block) == 0:
        return []
    if block.offsets is None or block.faces is not None:
        return [slice(0, len(block))]
    bounds = [0, *(np.flatnonzero(np.diff(block.row_lengths())) + 1).tolist(), len(block)]
    if len(bounds) > 2:
        file.note(f"blocks of {block.type} cells of several sizes are written as runs of one size")
    return [slice(first, last) for first, last in pairwise(bounds)]


def _nodes(blocks: tuple[CellBlock, ...], runs: list[tuple[int, slice]]) -> Any:
    """Return the rows of points of a block of the file; of polyhedra, which are never cut into runs, the faces."""
    if runs[0][1].stop == 0:
        return np.zeros((0, 1), np.int64)
    if blocks[runs[0][0]].faces is not None:
        return polyhedron_faces(blocks[runs[0][0]])
    return _join([_table(blocks[number], rows) for number, rows in runs])


def _table(block: CellBlock, rows: slice) -> Ids:
    if block.offsets is None:
        return block.nodes[rows]
    first, last = block.offsets[rows.start], block.offsets[rows.stop]
    return block.nodes[first:last].reshape(rows.stop - rows.start, -1)


# -- what only some files have ------------------------------------------------------------------------------


def _is_run(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1


def _add_what_gmsh_needs(mesh: Mesh, file: MeshFile) -> None:
    """Add the tags that gmsh files always have, 0 for none, and the names of physical groups."""
    if file.name != "gmsh22":
        return
    for tag in file.holds.cell_tags:
        file.mesh.cell_data.setdefault(tag, [np.zeros(len(block), np.int32) for block in file.mesh.cells])
    for name, value in mesh.field_data.items():
        if np.shape(value) == (2,) and np.asarray(value).dtype.kind in "iu":
            file.mesh.field_data[name] = np.asarray(value)
