"""What methods made of meshes, run by run: kept in a JSON file as it comes, read again, and joined with others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import meshpart
from meshpart.compare import Run
from meshpart.mesh import ATTACHED


class Facts(NamedTuple):
    """What a mesh is."""

    kind: str  # the class of mesh
    cells: int
    units: int  # cells that are shared out, which attached cells are not
    points: int
    edges: int  # of the dual graph
    components: int  # of the dual graph
    types: dict[str, int]  # how many cells of each type


class Key(NamedTuple):
    """What tells runs apart."""

    mesh: str
    nparts: int
    method: str
    repaired: bool


@dataclass
class Results:
    """All runs, and all that they depend on.

    Parameters
    ----------
    made : list of dict
        How they were made: "command", "machine", "options", an entry for each time that the script ran.
    meshes : dict of str to Facts
    runs : dict of Key to Run
    """

    made: list[dict[str, Any]] = field(default_factory=list)
    meshes: dict[str, Facts] = field(default_factory=dict)
    runs: dict[Key, Run] = field(default_factory=dict)

    def add_mesh(self, name: str, facts: Facts) -> None:
        """Note a mesh; refuse another one of the same name."""
        if self.meshes.setdefault(name, facts) != facts:
            raise SystemExit(f"There are two meshes {name}, of {self.meshes[name].cells} and {facts.cells} cells.")

    def add(self, mesh: str, runs: Iterable[Run]) -> None:
        """Note runs on a mesh."""
        self.runs |= {Key(mesh, run.nparts, run.method, run.repaired): run for run in runs}

    def of(self, pair: tuple[str, int], method: str, repaired: bool) -> Run | None:
        """Return a run, or None where there is none."""
        return self.runs.get(Key(*pair, method, repaired))

    @property
    def pairs(self) -> list[tuple[str, int]]:
        """The meshes with the numbers of parts that they were cut into."""
        return list(dict.fromkeys((key.mesh, key.nparts) for key in self.runs))

    @property
    def methods(self) -> list[str]:
        """The methods that ran."""
        return list(dict.fromkeys(key.method for key in self.runs))

    @property
    def kinds(self) -> list[str]:
        """The classes of the meshes that were cut."""
        return list(dict.fromkeys(self.meshes[mesh].kind for mesh, _ in self.pairs))

    def of_kind(self, kind: str) -> list[tuple[str, int]]:
        """Return the pairs of a class of mesh."""
        return [pair for pair in self.pairs if self.meshes[pair[0]].kind == kind]

    def save(self, path: Path) -> None:
        """Write all of it to a file, or leave the file that is there as it is."""
        meshes = ({"name": name, **facts._asdict()} for name, facts in self.meshes.items())
        runs = ({"mesh": key.mesh, **asdict(run)} for key, run in self.runs.items())
        lists = {"made": self.made, "meshes": meshes, "runs": runs}
        beside = path.with_name(path.name + ".part")
        beside.write_text("{" + ",".join(f'"{name}": [{_lines(entries)}]' for name, entries in lists.items()) + "}\n")
        beside.replace(path)


def load(path: Path) -> Results:
    """Read a file that `Results.save` wrote."""
    try:
        given = json.loads(path.read_text())
        found = Results(given["made"])
        for entry in given["meshes"]:
            found.add_mesh(entry.pop("name"), Facts(**entry))
        for entry in given["runs"]:
            found.add(entry.pop("mesh"), [Run(**entry)])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SystemExit(f"{path} does not hold results: {error!r}") from None
    return found


def join(several: Sequence[Results]) -> Results:
    """Return the runs of all; a run that is in several is the last one's."""
    joined = Results()
    for results in several:
        joined.made += results.made
        for name, facts in results.meshes.items():
            joined.add_mesh(name, facts)
        joined.runs |= results.runs
    check_options(joined)
    return joined


def check_options(results: Results) -> None:
    """End the script where runs were made with different options, so that their figures say nothing together."""
    options = [made["options"] for made in results.made]
    for name in ("imbalance", "seed", "threads"):
        values = list(dict.fromkeys(entry[name] for entry in options))
        if len(values) > 1:
            raise SystemExit(f"Runs with different options cannot be joined: {name} is {values[0]}, and {values[1]}.")


def facts_of(kind: str, mesh: meshpart.Mesh) -> Facts:
    """Return what a mesh is."""
    from scipy.sparse.csgraph import connected_components

    graph = meshpart.dual_graph(mesh)
    attached = int(np.count_nonzero(mesh.kinds == ATTACHED))  # each alone in the graph
    components = connected_components(graph.to_scipy(), directed=False)[0] - attached
    sizes = {"kind": kind, "cells": mesh.n_cells, "units": mesh.n_cells - attached, "points": mesh.n_points}
    return Facts(**sizes, edges=graph.n_edges, components=components, types=dict(_types(mesh)))


def _types(mesh: meshpart.Mesh) -> Iterator[tuple[str, int]]:
    sizes = np.diff(mesh.block_starts).tolist()
    blocks = [block.type for block in mesh.blocks]
    for name in dict.fromkeys(blocks):
        yield name, sum(size for block, size in zip(blocks, sizes, strict=True) if block == name)


def _lines(entries: Iterable[Any]) -> str:
    """Return JSON of entries, a line for each."""
    return ",".join("\n" + json.dumps(entry) for entry in entries) + "\n"
