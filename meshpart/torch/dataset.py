"""Parts of stores as a dataset of torch: each item is a part and its graph, mapped from a file where it is used."""

from __future__ import annotations

import os
import pickle
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
from torch.utils.data import Dataset

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.mesh import fingerprint_of
from meshpart.store import ENTITIES, PartStore, open_again, open_parts
from meshpart.submesh import SubMesh
from meshpart.torch.graph import FORMS, part_graph
from meshpart.torch.placed import data_of
from meshpart.torch.rows import from_numpy
from meshpart.whole import listed

StoreLike: TypeAlias = "str | os.PathLike[str] | PartStore"
SampleLike: TypeAlias = "StoreLike | tuple[StoreLike, str]"

LARGEST_INT64 = 2**63 - 1
IN_STORE = "_in_store"  # under which a part keeps where it was loaded from, in its __dict__
KEPT = 256  # stores that a process keeps open, each the content of a manifest


class Turn(NamedTuple):
    """Which item is next, and what it counts: what samplers of meshpart hand to a `PartDataset`.

    It is no number, so that what computes with indexes, as torch's `Subset`, fails rather than lose the weight.

    Parameters
    ----------
    item : int
        Its index.
    weight : float
        1, or 0 of an item that only fills up, so that all ranks have as many.
    last : bool
        Whether it is the last of its sample, on all ranks: the turn of the optimizer.
    """

    item: int
    weight: float = 1.0
    last: bool = True


class PartDataset(Dataset[tuple[SubMesh, Any]]):
    """The parts of one or many samples, each with its graph, for `DataLoader(dataset, batch_size=None, ...)`.

    A sample is a part store, or a part store with fields that `PartStore.write_fields` added: the same mesh with other
    values. Nothing of a mesh is read before an item is asked for, and then it is mapped into memory. What is pickled
    for a worker process is where the stores are; each process opens a store once, and keeps it. A part that a worker
    hands over is mapped again by the process that gets it, not copied.

    Parameters
    ----------
    stores : path, PartStore, pair, or list of these
        Of a pair (store, name) the sample's fields are those that the store has by that name. Samples may be of
        different meshes.
    part : int, optional
        The rank that works on a part of each sample, in exchange mode or with as many parts as ranks: item i is that
        part of sample i. If left out, items are all parts of sample 0, then those of sample 1, and so on.
    entity, steps, adjacency, as_
        As `part_graph` takes them.
    data : sequence of str
        Names of point data (of cell data, for the graph of cells) of the mesh to be put into the graph.

    Attributes
    ----------
    counts : tuple of int
        The number of items of each sample.
    part : int or None
    entity : str

    Raises
    ------
    ArgumentError
        If there is no sample, a store does not have the part or was written without some of its parts, or has no
        fields by the name.
    FormatError
        If a store cannot be opened. Later, when an item is asked for: if its store has been replaced.
    IndexError
        If there is no such item.

    Notes
    -----
    An item is a pair (part, graph): the SubMesh, and what `part_graph` returns with more in it, by name.

    - Each of the fields of `data`, and of the sample's fields of the entity, as a tensor: (n_local, ...), or
      (n_owned, ...) where `write_fields` was given the owned rows only.
    - The sample's fields of the other entity, as a dict of tensors by the name of that entity: on a graph of points
      graph["cells"]["pressure"]. It is there if there are such fields.
    - ``weight``: a Tensor of float64 without dimensions, 1, or 0 of an item that only fills up: for `part_loss`.
    - ``last``: a bool, whether this is the last item of its sample.

    Field data, sets and all else is in the part. The part has the same `run` in all samples on the same mesh: keep a
    `Halo` for each. A graph of tensors alone, as it is by as_="dict", is saved by `torch.save` and loaded with
    weights_only=True; the stores themselves have no pickle in them.

    Graphs that `write_parts(..., graphs="points")` stored need not be built for each item, which takes longer than all
    else about it.

    Examples
    --------
    >>> import meshpart, tempfile, meshpart.torch as mt
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> folder = tempfile.TemporaryDirectory()
    >>> meshpart.write_parts(meshpart.partition(mesh, 2, ghost_layers=1), f"{folder.name}/two.parts")
    >>> store = meshpart.open_parts(f"{folder.name}/two.parts")
    >>> for part in store:
    ...     store.write_fields("hot", {"points": {"x": part.points.global_ids * 10.0}}, part.part)
    >>> dataset = mt.PartDataset([(store, "hot")])
    >>> part, graph = dataset[1]
    >>> part, graph["x"].shape, graph["weight"]
    (<SubMesh 1 of 2: 1 cells + 1 ghosts, 2 points + 4 ghosts>, torch.Size([6]), tensor(1., dtype=torch.float64))
    >>> folder.cleanup()
    """

    def __init__(
        self,
        stores: SampleLike | Iterable[SampleLike],
        part: int | None = None,
        *,
        entity: str | None = None,
        steps: int | None = None,
        adjacency: str | None = None,
        as_: str = "dict",
        data: Iterable[str] = (),
    ) -> None:
        self.part = None if part is None else arguments.integer("part", part, low=0)
        self.entity = arguments.one_of("entity", "points" if entity is None else entity, ENTITIES)
        self.steps, self.adjacency = steps, adjacency
        self.as_ = arguments.one_of("as_", as_, FORMS)
        self.data = _as_names(data)
        self._samples, counts = _as_samples(stores, self.part)
        self.counts = tuple(counts)
        self._ends = list(accumulate(counts))

    @property
    def fingerprint(self) -> str:
        """A hash that tells whether ranks have the same samples in the same order, by their runs and names."""
        return fingerprint_of(*((Path(path).name, run, fields) for path, run, fields in self._samples))

    def __len__(self) -> int:
        return self._ends[-1]

    def __repr__(self) -> str:
        what = f"part {self.part}" if self.part is not None else f"all {len(self)} parts"
        return f"<PartDataset: {what} of {len(self._samples)} samples>"

    def __getitem__(self, index: int | Turn) -> tuple[SubMesh, Any]:
        """Return an item: a part, and its graph.

        Parameters
        ----------
        index : int or Turn
            Negative ones count from the end. A sampler gives a `Turn`, which says what the item counts too.
        """
        item = self._item(index.item if isinstance(index, Turn) else index)
        of_sample = bisect_right(self._ends, item)
        to_come = self._ends[of_sample] - item - 1
        turn = index if isinstance(index, Turn) else Turn(item, 1.0, to_come == 0)
        sample = self._samples[of_sample]
        number = self.counts[of_sample] - to_come - 1 if self.part is None else self.part
        part = _load(sample.path, sample.run, number)
        graph = part_graph(part, self.entity, steps=self.steps, adjacency=self.adjacency, as_=self.as_)
        graph["weight"] = torch.tensor(float(turn.weight), dtype=torch.float64, device="cpu")
        graph["last"] = bool(turn.last)
        _put(graph, {name: data_of(name, part, self.entity) for name in self.data}, "data")
        if sample.fields is not None:
            fields = _store(sample.path, sample.run).load_fields(sample.fields, number)
            what = f"fields {sample.fields!r} of {sample.path}"
            _put(graph, fields.pop(self.entity), what)
            for other, values in fields.items():
                if values:
                    graph[other] = {name: _as_tensor(name, array, what) for name, array in values.items()}
        return part, graph

    def _item(self, index: Any) -> int:
        """Return which item is meant, counted from the first."""
        number = arguments.integer("index", index, low=-LARGEST_INT64, high=LARGEST_INT64)
        if not -len(self) <= number < len(self):
            raise IndexError(f"index {number} is out of range: the dataset has {len(self)} items")
        return number % len(self)


class _Sample(NamedTuple):
    """A sample as it goes to another process: where its store is, and the name of its fields."""

    path: str
    run: str
    fields: str | None


def _as_samples(stores: Any, part: int | None) -> tuple[list[_Sample], list[int]]:
    """Return the samples, and how many items each has, after a look into each store."""
    alone = isinstance(stores, str | os.PathLike | PartStore | tuple)
    given = [stores] if alone else arguments.listed("stores", stores, "part stores")
    if not given:
        raise ArgumentError("stores is empty, it must hold a part store at least")
    by_path: dict[str, PartStore] = {}
    fields_of: dict[tuple[str, str], tuple[str, ...]] = {}
    samples, counts = [], []
    for number, entry in enumerate(given):
        store, fields = _as_pair("stores" if alone else f"stores[{number}]", entry, by_path)
        place = _keep(store)
        if fields is not None:
            if place not in fields_of:
                fields_of[place] = store.fields
            if fields not in fields_of[place]:
                known = ", ".join(map(repr, fields_of[place])) or "none"
                raise ArgumentError(f"{store.path} has no fields {fields!r}, it has {known}")
        samples.append(_Sample(*place, fields))
        counts.append(_count(store, part))
    return samples, counts


def _as_pair(what: str, entry: Any, by_path: dict[str, PartStore]) -> tuple[PartStore, str | None]:
    """Return a store, opened once, and the name of its fields, if there is one."""
    place, fields = entry, None
    if isinstance(entry, tuple):
        if len(entry) != 2 or not isinstance(entry[1], str):
            raise ArgumentError(
                f"{what} must be a pair of a part store and the name of its fields, got {arguments.shown(entry)}: "
                "several stores are given as a list"
            )
        place, fields = entry
    if isinstance(place, PartStore):
        return place, fields
    if not isinstance(place, str | os.PathLike):
        raise ArgumentError(f"{what} must be a part store, its path, or a pair, got {arguments.shown(entry)}")
    path = os.fspath(place)
    if path not in by_path:
        by_path[path] = open_parts(path)
    return by_path[path], fields


def _count(store: PartStore, part: int | None) -> int:
    """Return how many items a store has for one part or, for None, all; refuse it if they are not all there."""
    if part is not None and part >= len(store):
        raise ArgumentError(f"part must be between 0 and {len(store) - 1}, got {part}: {store.path}")
    there = set(store.manifest["parts"]["part"])
    missing = [number for number in (range(len(store)) if part is None else [part]) if number not in there]
    if missing:
        gone = listed(missing, len(missing), f" of {len(store)}")
        raise ArgumentError(f"{store.path} was not written whole: {gone} missing")
    return len(store) if part is None else 1


def _as_names(data: Any) -> tuple[str, ...]:
    names = arguments.listed("data", data, "names")
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"data must be a list of names, got {arguments.shown(name)}")
    return tuple(names)


# -- what is put into a graph -------------------------------------------------------------------------------


def _put(graph: Any, values: Mapping[str, Any], what: str) -> None:
    """Put arrays into a graph by their names; refuse names that it has."""
    for name, array in values.items():
        if name in graph or name in ENTITIES:
            raise ArgumentError(f"{what}: the graph has something else by the name {name!r}, call the field otherwise")
        graph[name] = _as_tensor(name, array, what)


def _as_tensor(name: str, array: Any, what: str) -> torch.Tensor:
    return from_numpy(f"{what}: {name!r}", array)


# -- stores of this process, and parts between processes ----------------------------------------------------

_stores: dict[tuple[str, str], PartStore] = {}  # by path and run, the one that was used last at the end


def _keep(store: PartStore) -> tuple[str, str]:
    """Keep a store open, and return by what it is found again, in other processes too."""
    place = str(store.path), store.run
    _stores.pop(place, None)
    _stores[place] = store
    while len(_stores) > KEPT:
        del _stores[next(iter(_stores))]
    return place


def _store(path: str, run: str) -> PartStore:
    """Return a store, opened once in this process."""
    kept = _stores.get((path, run))
    store = open_again(path, run) if kept is None else kept
    _keep(store)
    return store


def _load(path: str, run: str, number: int) -> SubMesh:
    """Return a part that knows where it is from."""
    part = _store(path, run).load(number)
    part.__dict__[IN_STORE] = path, run
    return part


def _on_its_way(part: SubMesh) -> Any:
    """Return how another process of this machine gets a part: from its file, if it is as it was loaded from there."""
    place = part.__dict__.get(IN_STORE)
    return part.__reduce_ex__(pickle.HIGHEST_PROTOCOL) if place is None else (_load, (*place, part.part))


ForkingPickler.register(SubMesh, _on_its_way)  # for multiprocessing alone, as torch does for tensors
