"""Read back what lies in the files of a written part: its mesh file, and the arrays beside it."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from meshpart.arrays import Array, Ids, kept
from meshpart.beside import BESIDE
from meshpart.errors import FormatError
from meshpart.formats import FORMATS, Format
from meshpart.io import read_and_remark
from meshpart.manifest import Manifest, file_name
from meshpart.mesh import Mesh
from meshpart.meshio_bridge import patched_meshio
from meshpart.quiet import in_one_line
from meshpart.staging import PVTU
from meshpart.vtu import RUN
from meshpart.vtu_version import in_known_version


def holds_mesh_files(manifest: Manifest) -> bool:
    """Whether the parts are mesh files, rather than a store."""
    return manifest.format == PVTU or manifest.format in FORMATS


def check_all_written(manifest: Manifest) -> None:
    """Raise FormatError if some of the parts were never written."""
    there = set(manifest.parts)
    if len(there) < manifest.nparts:
        first = next(part for part in range(manifest.nparts) if part not in there)
        lacking = f"has {len(there)} of {manifest.nparts} parts, the first that it lacks is part {first}"
        raise FormatError(f"{manifest.path} {lacking}")


class PartFiles:
    """The files of one part; each is read when something in it is asked for.

    Parameters
    ----------
    manifest : Manifest
        Of mesh files.
    part : int

    Raises
    ------
    FormatError
        Here and below, if a file is not there or not whole, or is none of the part's; the message names it.
    """

    def __init__(self, manifest: Manifest, part: int) -> None:
        self.part = part
        self.run = manifest.content["run"]
        self.holds: Format = FORMATS["vtu" if manifest.format == PVTU else manifest.format]
        self.file = manifest.file(part)
        self.beside = manifest.folder / file_name(part, BESIDE)
        self.told: dict[str, Any] = manifest.row(part)
        self.remarks: list[str] = []  # what reading the mesh file gave rise to

    @kept
    def mesh(self) -> Mesh:
        """The mesh file as it is now."""
        if self.told["owned_cells"] + self.told["ghost_cells"] == 0 and self.holds is FORMATS["vtu"]:
            mesh = _points_of_vtu(self)
            self._refuse_another_run(mesh.field_data.get(RUN))
            return mesh
        mesh, self.remarks = read_and_remark(self.file)
        self._refuse_another_run(mesh.field_data.get(RUN))
        return mesh

    def _refuse_another_run(self, codes: Any) -> None:
        """Raise if a file says that it is of another decomposition; one that was written anew may not say anything."""
        if isinstance(codes, np.ndarray) and codes.dtype.kind in "iu":
            run = codes.astype(np.uint8).tobytes().decode("ascii", "replace")
            if run != self.run:
                raise FormatError(
                    f"{self.file} is of another decomposition: its run is {run}, manifest.json has {self.run}"
                )

    @kept
    def arrays_beside(self) -> dict[str, Array]:
        """The arrays of the .npz file, none where there is none."""
        if not self.told.get("beside", self.beside.exists()):
            return {}
        try:
            with self.beside.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                return dict(archive)
        except Exception as error:  # zipfile's and zlib's own, of a damaged file
            raise FormatError(f"{self.beside}: {getattr(error, 'strerror', None) or in_one_line(error)}") from error

    @kept
    def _arrays(self) -> dict[str, dict[str, Array]]:
        """The point and cell data of the mesh file, by the names that they were given, in the order of its rows."""
        decode = self.holds.decode
        try:
            cells = {decode(name): np.concatenate(arrays) for name, arrays in self.mesh.cell_data.items() if arrays}
        except ValueError as error:
            raise FormatError(f"{self.file}: its cell data is not of one shape in all blocks: {error}") from error
        return {"point": {decode(name): values for name, values in self.mesh.point_data.items()}, "cell": cells}

    def names(self, kind: str) -> list[str]:
        """Return the names of all arrays of points or of cells, in the mesh file or beside it."""
        beside = [key.removeprefix(f"{kind}_data/") for key in self.arrays_beside if key.startswith(f"{kind}_data/")]
        return list(dict.fromkeys([*beside, *self._arrays[kind]]))

    def array(self, kind: str, name: str) -> Array:
        """Return an array of points or of cells, from beside the mesh file or else from it."""
        found = self.arrays_beside.get(f"{kind}_data/{name}")
        if found is None:
            found = self._arrays[kind].get(name)
        if found is None:
            raise FormatError(f"{self.file} has no {kind} data {name!r}")
        return found

    def ids(self, kind: str, name: str) -> Ids:
        """Return an array of integers, one for each point or cell."""
        values = self.array(kind, name)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1 or (values.dtype.kind not in "iu" and len(values)):
            shape = f" x {values.shape[1:]}" if values.ndim != 1 else ""
            raise FormatError(f"{self.file}: {name} of part {self.part} are no integers: {values.dtype}{shape}")
        return values.astype(np.int64)

    def owned(self, kind: str) -> tuple[Ids, Ids]:
        """Return the rows of the file whose point or cell the part owns, and the global ids of those."""
        if self.told[f"owned_{kind}s"] == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        ids, owners = self.ids(kind, f"Global{kind.capitalize()}Ids"), self.ids(kind, f"{kind.capitalize()}Owner")
        if len(ids) != len(owners):
            raise FormatError(
                f"{self.file}: part {self.part} has {len(ids)} global {kind} ids and {len(owners)} owners"
            )
        rows = np.flatnonzero(owners == self.part)
        if len(rows) != self.told[f"owned_{kind}s"]:
            raise FormatError(
                f"{self.file} has {len(rows)} owned {kind}s, manifest.json says {self.told[f'owned_{kind}s']}"
            )
        return rows, ids[rows]


def _points_of_vtu(files: PartFiles) -> Mesh:
    """Read a .vtu file without cells, which meshio takes for a broken one."""
    with patched_meshio():
        from meshio.vtu._vtu import VtuReader, vtu_to_numpy_type

        class Reader(VtuReader):  # type: ignore[misc]
            def read_data(self, element: Any) -> Any:
                data = super().read_data(element)
                if element.get("Name") == RUN:
                    self.run = data
                return data

            def read_compressed_binary(self, data: Any, dtype: Any) -> Any:
                n_bytes = np.dtype(vtu_to_numpy_type[self.header_type]).itemsize
                blocks = base64.b64decode(data[: 4 * n_bytes])[:n_bytes]  # how many there are; meshio expects some
                return super().read_compressed_binary(data, dtype) if any(blocks) else np.zeros(0, dtype)

        reader = Reader.__new__(Reader)
        try:
            with in_known_version(files.file) as readable:
                VtuReader.__init__(reader, str(readable))
        except (Exception, SystemExit) as error:
            if "point_data" not in vars(reader):  # cells come after the points, and there are none
                raise FormatError(f"{files.file}: {getattr(error, 'strerror', None) or in_one_line(error)}") from error
    run = vars(reader).get("run")
    field_data = {} if run is None else {RUN: run}
    return Mesh(reader.points, [], point_data=reader.point_data or {}, field_data=field_data)
