"""What the kernels of speed.py find, found by other packages: meshio, meshioplusplus, METIS, safetensors."""

from __future__ import annotations

import ctypes
import json
import mmap
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from inputs import Case
from ours import Job, new_folders

Ids = npt.NDArray[np.int64]


# -- meshio and meshioplusplus ------------------------------------------------------------------------------


def reading_by_meshio(suffix: str, case: Case) -> Job:
    """Read a mesh file with meshio."""
    import meshio

    return Job(lambda: meshio.read(case.file(suffix)))


def reading(suffix: str, case: Case) -> Job:
    """Read a mesh file with meshioplusplus."""
    import meshioplusplus

    return Job(lambda: meshioplusplus.read(case.file(suffix)))


def own_mesh(case: Case) -> Any:
    """Return the mesh as meshioplusplus has it."""
    import meshioplusplus

    points, cells, *_ = case.mesh()
    return meshioplusplus.Mesh(points, cells)


def sfc(case: Case) -> Job:
    """Find labels along a Hilbert curve."""
    import meshioplusplus

    mesh = own_mesh(case)
    return Job(lambda: meshioplusplus.partition_labels(mesh, case.nparts, method="sfc"))


def dual_graph(case: Case) -> Job:
    """Find the rows that its method kahip cuts, in Python."""
    from meshioplusplus._partition import _dual_graph

    mesh = own_mesh(case)
    return Job(partial(_dual_graph, mesh, len(mesh.cells[0].data)))


def edge_index(kind: str, case: Case) -> Job:
    """Find the edges between points, or between cells, as pairs."""
    import meshioplusplus

    mesh = own_mesh(case)
    return Job(lambda: meshioplusplus.edge_index(mesh, kind))


def partition(case: Case) -> Job:
    """Cut a mesh into pieces with ghosts, without owners of points and without plans."""
    import meshioplusplus

    mesh = own_mesh(case)

    def call() -> Any:
        return meshioplusplus.partition(mesh, case.nparts, method="sfc", ghost_layers=case.layers, record_ids=True)

    return Job(call)


def writing(case: Case) -> Job:
    """Write finished pieces, each as .vtu."""
    pieces = partition(case).call()
    new = new_folders(case)
    return Job(lambda: _written(pieces, next(new)))


def to_files(case: Case) -> Job:
    """Go from a mesh in memory to .vtu files."""
    cut = partition(case).call
    new = new_folders(case)
    return Job(lambda: _written(cut(), next(new)))


def _written(pieces: Any, folder: Path) -> Path:
    import meshioplusplus

    for number, piece in enumerate(pieces):
        meshioplusplus.write(folder / f"part-{number}.vtu", piece)
    return folder


# -- METIS --------------------------------------------------------------------------------------------------


def metis_dual(common: int, case: Case) -> Job:
    """Call METIS_MeshToDual: cells that have so many points in common are neighbours."""
    points, tets = case.tets()
    return Job(partial(_by_metis, "METIS_MeshToDual", tets, len(points), len(tets), common))


def metis_nodal(case: Case) -> Job:
    """Call METIS_MeshToNodal: points of one cell are neighbours, which for tets is along an edge."""
    points, tets = case.tets()
    return Job(partial(_by_metis, "METIS_MeshToNodal", tets, len(points), len(points)))


def _by_metis(name: str, tets: Ids, n_points: int, count: int, *options: int) -> tuple[Any, Any]:
    """Call a function of the library inside pymetis, and return the rows that it made, without a copy."""
    import pymetis._internal

    metis = ctypes.CDLL(pymetis._internal.__file__)
    number = ctypes.c_int64 if pymetis._internal._idx_type_width() == 64 else ctypes.c_int32
    pointer = ctypes.POINTER(number)
    starts = np.arange(0, tets.size + 1, 4, dtype=number)
    cells = np.ascontiguousarray(tets, number)
    offsets, targets = pointer(), pointer()
    status = getattr(metis, name)(
        *(ctypes.byref(number(value)) for value in (len(tets), n_points)),
        *(array.ctypes.data_as(pointer) for array in (starts, cells)),
        *(ctypes.byref(number(value)) for value in (*options, 0)),
        ctypes.byref(offsets),
        ctypes.byref(targets),
    )
    if status != 1:
        raise RuntimeError(f"{name} returned {status}")
    rows = np.ctypeslib.as_array(offsets, (count + 1,))
    entries = np.ctypeslib.as_array(targets, (int(rows[-1]),))
    for array, memory in ((rows, offsets), (entries, targets)):
        weakref.finalize(array, metis.METIS_Free, memory)
    return rows, entries


# -- bytes by hand, and safetensors -------------------------------------------------------------------------


def part_file(case: Case) -> Path:
    """Return the file of the part that is loaded."""
    (path,) = case.store.rglob(f"part-{case.nparts // 2:05}.safetensors")
    return path


def bare_bytes(case: Case) -> Job:
    """Write the bytes of all parts of a store into as many files."""
    contents = [file.read_bytes() for file in sorted(case.store.rglob("part-*"))]
    new = new_folders(case)

    def call() -> Path:
        folder = next(new)
        for number, content in enumerate(contents):
            (folder / f"part-{number}").write_bytes(content)
        return folder

    return Job(call)


def loading_by_hand(case: Case) -> Job:
    """Map the file of a part, read the header's JSON, and make an array for each of its entries."""
    return Job(partial(_mapped, part_file(case)))


def _mapped(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    del header["__metadata__"]
    arrays = {}
    for name, told in header.items():
        first, last = told["data_offsets"]
        dtype = DTYPES[told["dtype"]]
        size = (last - first) // dtype.itemsize
        arrays[name] = np.frombuffer(content, dtype, size, end + first).reshape(told["shape"])
    return arrays


def loading_by_memmaps(case: Case) -> Job:
    """Make a numpy.memmap for each array of a part that has entries."""
    return Job(partial(_memmaps, part_file(case)))


def _memmaps(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    del header["__metadata__"]
    return {
        name: np.memmap(path, DTYPES[told["dtype"]], "r", 8 + length + told["data_offsets"][0], tuple(told["shape"]))
        if 0 not in told["shape"]
        else np.zeros(told["shape"], DTYPES[told["dtype"]])
        for name, told in header.items()
    }


def loading_by_safetensors(case: Case) -> Job:
    """Read the file of a part with safetensors, which copies."""
    from safetensors.numpy import load_file

    return Job(partial(load_file, part_file(case)))


DTYPES = {
    "F64": np.dtype("f8"),
    "F32": np.dtype("f4"),
    "I64": np.dtype("i8"),
    "I32": np.dtype("i4"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
