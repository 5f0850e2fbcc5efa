"""What is cut and how: labels from a method or from anywhere, and the parts that are built along them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from meshpart import arguments
from meshpart.again import Cut
from meshpart.arrays import Labels
from meshpart.batches import one_after_another, room_beside
from meshpart.build import build_submeshes
from meshpart.errors import ArgumentError
from meshpart.labels import as_labels
from meshpart.local_graph import GraphRows, as_graphs
from meshpart.mesh import Mesh
from meshpart.solve import solve
from meshpart.submesh import Provenance, SubMesh
from meshpart.units import as_names
from meshpart.version import __version__


@dataclass(frozen=True)
class Plan:
    """What is cut, and what its parts are to have."""

    cut: Cut
    ghost_layers: int
    graphs: tuple[str, ...]
    threads: int

    @classmethod
    def of(cls, mesh: Any, ghost_layers: Any, graphs: Any, threads: Any) -> Plan:
        """Return the plan that arguments of `partition` ask for."""
        cut = Cut.of(mesh)
        layers = arguments.integer("ghost_layers", ghost_layers, low=0, high=None)
        wanted = as_graphs(graphs)
        if wanted and cut.origin is not None:
            raise ArgumentError(f"graphs must be left out where a part is cut again, got {graphs!r}")
        return cls(cut, layers, wanted, arguments.threads(threads))

    def built(self, labels: Labels, chosen: Labels, made: Provenance) -> list[SubMesh]:
        """Return the chosen parts in their order, each built once."""
        parts, places = np.unique(chosen, return_inverse=True)
        built = self._builder(labels, made)(parts)
        return [built[place] for place in places.tolist()]

    def each(self, labels: Labels, made: Provenance) -> Iterator[SubMesh]:
        """Yield all parts, a few of which are built at a time."""
        return one_after_another(self._builder(labels, made), labels, made.nparts, room_beside(self.cut.mesh))

    def _builder(self, labels: Labels, made: Provenance) -> Callable[[Labels], list[SubMesh]]:
        """Return what builds parts, given their numbers, which ascend."""
        mesh = self.cut.mesh
        rows = GraphRows(mesh, self.graphs, self.threads) if self.graphs else None

        def build(parts: Labels) -> list[SubMesh]:
            def with_layers(layers: int) -> list[SubMesh]:
                return build_submeshes(mesh, labels, parts, layers, made, self.threads)

            built = with_layers(self.ghost_layers)
            if rows is not None:
                built = rows.kept_by(built, lambda: with_layers(1))
            return self.cut.in_original(built)

        return build


def labels_by_method(mesh: Mesh, nparts: int, *, repair: bool, **how: Any) -> tuple[Labels, Provenance]:
    """Return labels, and what is to be said of how they came about."""
    found = solve(mesh, nparts, repaired=repair, **how)
    made = Provenance(
        found.method,
        int(nparts),
        __version__,
        mode=found.mode,
        imbalance=float(how["imbalance"]),
        seed=int(how["seed"]),
        weights=as_given(how["weights"]),
        edge_weights=as_given(how["edge_weights"]),
        keep_together=as_given(how["keep_together"]),
        repair=found.repair,
        mesh=mesh.fingerprint,
    )
    return found.labels, made


def labels_given(mesh: Mesh, labels: npt.ArrayLike, nparts: int | None) -> tuple[Labels, Provenance]:
    """Return labels from anywhere, checked, and what is to be said of how they came about."""
    given, nparts = as_labels(labels, mesh.n_cells, nparts)
    return given, Provenance("labels", nparts, __version__, mesh=mesh.fingerprint)


def as_given(value: Any) -> Any:
    """Return what a record keeps of an argument: names and numbers, and of an array that it was one."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(name): float(number) for name, number in value.items()}
    names = None if isinstance(value, np.ndarray) else as_names(value)
    return "array" if names is None else names
