"""Samplers: which rank works on which item when, as many times on all ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.torch.dataset import PartDataset, Turn
from meshpart.torch.epochs import EpochSampler
from meshpart.torch.groups import Group, GroupLike, as_group


class PartSampler(EpochSampler):
    """Deals the parts of each sample to the ranks: deep mode, with more parts than ranks or with fewer.

    All ranks take as many steps, sample by sample. Where parts are short, ranks get one of the same sample again with
    the weight 0, so that they take part in what is collective. No rank needs a `Halo`: k ghost layers carry k steps.
    Making one is collective, unless it is given rank and size.

    Parameters
    ----------
    dataset : PartDataset
        Of all parts: made without `part`.
    group : ProcessGroup or 1-D DeviceMesh, optional
        The ranks to deal to. The default group of torch.distributed if left out, and this process alone where that is
        not in use.
    rank, size : int, optional
        This rank and how many there are, instead of a group.
    shuffle : bool
        Whether samples come in another order in each epoch: call `set_epoch`. Parts of a sample stay together.
    seed : int

    Attributes
    ----------
    rank, size : int
    epoch : int

    Raises
    ------
    ArgumentError
        If the dataset is of one part alone, or the ranks cannot be right. With a group on all of its ranks or on none:
        if they do not have the same samples in the same order, as folders listed on several machines may be.

    Notes
    -----
    Its items are `Turn`, from which `PartDataset` takes what it puts into the graph: the ``weight``, for `part_loss`,
    and ``last``, after which the gradient is that of a serial run on the whole sample::

        loader = DataLoader(dataset, batch_size=None, sampler=PartSampler(dataset, shuffle=True))
        for epoch in range(epochs):
            loader.sampler.set_epoch(epoch)
            for part, graph in loader:
                with nullcontext() if graph["last"] else model.no_sync():
                    out = model(graph)[: graph["n_owned"]]
                    error = (out - graph["y"][: graph["n_owned"]]) ** 2
                    part_loss(error, part.points.n_global, graph["weight"]).backward()
                if graph["last"]:
                    optimizer.step()
                    optimizer.zero_grad()

    Examples
    --------
    >>> import meshpart, tempfile, meshpart.torch as mt
    >>> points = [[x, y] for y in (0, 1) for x in range(8)]
    >>> mesh = meshpart.Mesh(points, [("quad", [[i, i + 1, i + 9, i + 8] for i in range(7)])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     meshpart.write_parts(meshpart.partition(mesh, 7, ghost_layers=1), f"{folder}/seven.parts")
    ...     dataset = mt.PartDataset(f"{folder}/seven.parts")
    >>> for turn in mt.PartSampler(dataset, rank=1, size=3):
    ...     turn
    Turn(item=1, weight=1.0, last=False)
    Turn(item=4, weight=1.0, last=False)
    Turn(item=0, weight=0.0, last=True)
    """

    def __init__(
        self,
        dataset: PartDataset,
        group: GroupLike = None,
        *,
        rank: int | None = None,
        size: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        ranks = as_group(group) if rank is None and size is None else Group()
        with ranks.all_or_none():
            if not isinstance(dataset, PartDataset):
                raise ArgumentError(f"dataset must be a PartDataset, got {type(dataset).__name__}")
            if dataset.part is not None:
                raise ArgumentError(f"dataset has part {dataset.part} alone: leave part out to deal all of them")
            self.rank, self.size = ranks.rank, ranks.size
            if rank is not None or size is not None:
                _refuse_both("group", group, "rank and size")
                self.rank, self.size = _place("rank", rank, "size", size)
            self._counts = dataset.counts
            self._firsts = [0, *np.cumsum(dataset.counts).tolist()]
            super().__init__(dataset, len(dataset.counts), shuffle, seed, {"size": self.size, "parts": len(dataset)})
        self._agree(ranks)

    def __len__(self) -> int:
        """Return the number of items of this rank in an epoch: the same on all ranks."""
        return sum(_steps(count, self.size) for count in self._counts)

    def _items(self, order: list[int]) -> Iterator[Turn]:
        for sample in order:
            first, count = self._firsts[sample], self._counts[sample]
            steps = _steps(count, self.size)
            for step in range(steps):
                number = step * self.size + self.rank
                yield Turn(first + number % count, float(number < count), step == steps - 1)


class DomainSampler(EpochSampler):
    """Deals samples to data-parallel replicas, the same to all ranks of a domain: data-parallel x domain layouts.

    All ranks take as many steps, in which the replicas work on samples that follow one another in the order. Where
    samples are short in the last step, replicas get one again with the weight 0, or the samples over are dropped.
    Making one is collective if it is given a mesh.

    Parameters
    ----------
    dataset : PartDataset or other sized dataset
        An item a sample: a `PartDataset` of this rank's part.
    mesh : DeviceMesh, optional
        All ranks of the world. Ranks that differ in other dimensions than `dp` are of one domain.
    dp : str
        The name of its data-parallel dimension.
    replicas, replica : int, optional
        How many replicas there are and which one this rank is of, instead of a mesh: without torch.distributed, or in
        a part of the world.
    shuffle : bool
        Whether samples come in another order in each epoch: call `set_epoch`.
    seed : int
    drop_last : bool
        Whether samples that do not fill a step are left out.

    Attributes
    ----------
    replica, replicas : int
    epoch : int

    Raises
    ------
    ArgumentError
        If the mesh has no such dimension or is not of the whole world; if the dataset has more parts than one of each
        sample; if there is more than one rank and neither a mesh nor replicas are given. With a mesh on all ranks or on
        none: if they do not have the same samples in the same order.

    Notes
    -----
    Its items are `Turn`, from which `PartDataset` takes the ``weight`` that it puts into the graph; with drop_last they
    are plain integers, for any dataset. The loss of a sample that has the weight 0 is computed, since all ranks must
    call what is collective, and multiplied by 0::

        mesh = init_device_mesh("cuda", (4, 2), mesh_dim_names=("dp", "domain"))  # 4 samples at once, of 2 parts each
        domain = mesh["domain"]
        dataset = PartDataset([(store, name) for name in store.fields], part=domain.get_local_rank(), steps=1)
        halo = Halo(store.load(domain.get_local_rank()), group=domain)
        check_gradients(DDP, halo, data_group=mesh["dp"])  # DDP over the whole world
        loader = DataLoader(dataset, batch_size=None, sampler=DomainSampler(dataset, mesh))
        for part, graph in loader:
            ...
            (halo.loss(error) * graph["weight"]).backward()

    An average over the replicas then counts each sample 1 / replicas, in a last step that is not full too.

    torch's `DistributedSampler` with its defaults deals to all ranks of the world, and gives those of one domain
    different samples.

    Examples
    --------
    >>> import meshpart.torch as mt
    >>> [list(mt.DomainSampler(range(5), replicas=2, replica=r, drop_last=True)) for r in range(2)]
    [[0, 2], [1, 3]]
    >>> list(mt.DomainSampler(range(5), replicas=2, replica=1))[-1]
    Turn(item=0, weight=0.0, last=True)
    """

    def __init__(
        self,
        dataset: Any,
        mesh: DeviceMesh | None = None,
        dp: str = "dp",
        replicas: int | None = None,
        replica: int | None = None,
        *,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        ranks = Group() if mesh is None else as_group()
        with ranks.all_or_none():
            if replicas is not None or replica is not None:
                _refuse_both("mesh", mesh, "replicas and replica")
                self.replica, self.replicas = _place("replica", replica, "replicas", replicas)
            else:
                self.replica, self.replicas = _alone() if mesh is None else _place_in(mesh, dp)
            n_samples = _n_samples(dataset)
            self.drop_last = arguments.flag("drop_last", drop_last)
            if self.drop_last and n_samples < self.replicas:
                raise ArgumentError(f"drop_last leaves nothing of {n_samples} samples for {self.replicas} replicas")
            super().__init__(
                dataset, n_samples, shuffle, seed, {"replicas": self.replicas, "drop_last": self.drop_last}
            )
        self._agree(ranks)

    def __len__(self) -> int:
        """Return the number of items of this rank in an epoch: the same on all ranks."""
        return self.n_samples // self.replicas if self.drop_last else _steps(self.n_samples, self.replicas)

    def _items(self, order: list[int]) -> Iterator[Turn | int]:
        for number in range(self.replica, len(self) * self.replicas, self.replicas):
            item = order[number % len(order)]
            yield item if self.drop_last else Turn(item, float(number < len(order)))


def _steps(count: int, workers: int) -> int:
    """Return how many steps it takes so many to work on all."""
    return -(-count // workers)


# -- who this rank is ---------------------------------------------------------------------------------------


def _place(name: str, number: Any, of: str, count: Any) -> tuple[int, int]:
    """Return which of how many; refuse one without the other."""
    if number is None or count is None:
        raise ArgumentError(f"{name} and {of} are needed together, got {name}={number} and {of}={count}")
    count = arguments.integer(of, count, low=1)
    return arguments.integer(name, number, low=0, high=count - 1), count


def _refuse_both(name: str, given: Any, instead: str) -> None:
    if given is not None:
        raise ArgumentError(f"{name} is given, and {instead} too: give one or the other")


def _alone() -> tuple[int, int]:
    """Return the place of a process that says nothing of others."""
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        raise ArgumentError(
            f"mesh is needed to tell the domains of {dist.get_world_size()} ranks, or replicas and replica: "
            "replicas=1, replica=0 if all ranks are one domain"
        )
    return 0, 1


def _place_in(mesh: Any, dp: Any) -> tuple[int, int]:
    """Return which replica this rank is of and how many there are, in a mesh of the whole world."""
    if not isinstance(mesh, DeviceMesh):
        raise ArgumentError(f"mesh must be a DeviceMesh, got {type(mesh).__name__}")
    names = mesh.mesh_dim_names or ()
    if dp not in names:
        known = ", ".join(map(repr, names)) or "none"
        raise ArgumentError(f"mesh has no dimension {arguments.shown(dp)} (dp), its dimensions are {known}")
    replicas, world = mesh.size(names.index(dp)), dist.get_world_size()
    if mesh.size() != world:
        raise ArgumentError(
            f"mesh has {replicas} replicas x {mesh.size() // replicas} ranks of a domain = {mesh.size()} ranks, the "
            f"world has {world}: give the mesh of all of them, or replicas and replica"
        )
    return mesh.get_local_rank(dp), replicas


def _n_samples(dataset: Any) -> int:
    """Return how many samples a dataset has; refuse one with several parts of a sample."""
    if isinstance(dataset, PartDataset) and len(dataset) > len(dataset.counts):
        raise ArgumentError(
            "dataset has all parts of each sample, which a domain works on at once: give the part of this rank, or use "
            "PartSampler"
        )
    try:
        n_samples = len(dataset)
    except TypeError:
        raise ArgumentError(f"dataset must have a length, got {type(dataset).__name__}") from None
    if n_samples == 0:
        raise ArgumentError("dataset is empty, there is nothing to deal")
    return n_samples
