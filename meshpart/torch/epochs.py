"""Epochs: samples in an order that is another one in each, and how a run goes on in the middle of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from torch.utils.data import Sampler

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.torch.dataset import PartDataset
from meshpart.torch.groups import Group
from meshpart.torch.verify import require_alike


class EpochSampler(Sampler[Any]):
    """What samplers have in common: samples in an order of their own in each epoch, that can be resumed.

    Parameters
    ----------
    dataset : object
        What is dealt; of a `PartDataset` it is known which samples it has, in which order.
    n_samples : int
    shuffle : bool
        Whether the order of the samples is another one in each epoch. It follows from the seed, on all ranks alike.
    seed : int
    layout : mapping of str to int
        What must be the same where a run is resumed.

    Attributes
    ----------
    epoch : int
        Set by `set_epoch`; 0 in the beginning.
    """

    def __init__(self, dataset: Any, n_samples: int, shuffle: bool, seed: int, layout: Mapping[str, int]) -> None:
        self.n_samples = n_samples
        self.shuffle = arguments.flag("shuffle", shuffle)
        self.seed = arguments.integer("seed", seed, low=0, high=None)
        self.epoch = 0
        self._layout = {**layout, "samples": n_samples, "shuffle": self.shuffle, "seed": self.seed}
        self._samples = dataset.fingerprint if isinstance(dataset, PartDataset) else ""
        self._resumed = 0  # where the next iteration begins
        self._begun = 0  # where the present one began
        self._given = 0  # how far it has come

    def __len__(self) -> int:
        """Return the number of items of this rank in an epoch: the same on all ranks."""
        raise NotImplementedError

    def _agree(self, ranks: Group) -> None:
        """Raise on every rank if not all are to deal the same. Collective."""
        everyone = ranks.all_gather_object((self._layout, self._samples))
        for name in self._layout:
            require_alike(name, [layout.get(name) for layout, _ in everyone], "the samplers of the ranks differ")
        same = "the ranks must have the same samples in the same order"
        require_alike("the hash of their runs and names", [samples for _, samples in everyone], same)

    def _items(self, order: list[int]) -> Iterator[Any]:
        """Return the items of this rank in an epoch, for samples in an order."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        # From here on at the first item only: a DataLoader with workers makes two iterators, and uses the second.
        begun = self._begun = self._given = self._resumed
        self._resumed = 0
        order = np.arange(self.n_samples)
        if self.shuffle:
            np.random.default_rng([self.seed, self.epoch]).shuffle(order)
        for position, item in enumerate(islice(self._items(order.tolist()), begun, None), begun + 1):
            self._given = position
            yield item

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next iteration, and begin it at its first item if it is not the epoch resumed.

        Parameters
        ----------
        epoch : int
            The same on all ranks.
        """
        epoch = arguments.integer("epoch", epoch, low=0, high=None)
        if epoch != self.epoch:
            self.epoch, self._resumed, self._begun, self._given = epoch, 0, 0, 0

    def state_dict(self, consumed: int | None = None) -> dict[str, int | str]:
        """Return what `load_state_dict` needs to go on from here. It is the same on all ranks.

        Parameters
        ----------
        consumed : int, optional
            How many items the loop has had since it began to iterate. If left out, as many as the sampler has given
            out: right for a `DataLoader` with num_workers=0 and for torchdata's `StatefulDataLoader`, but one with
            workers has asked for items ahead, which would be lost.

        Raises
        ------
        ArgumentError
            If there are not so many.
        """
        position = self._given
        if consumed is not None:
            position = self._begun + arguments.integer("consumed", consumed, low=0, high=len(self) - self._begun)
        return {"epoch": self.epoch, "position": position, **self._layout, "dataset": self._samples}

    def load_state_dict(self, state_dict: Mapping[str, int | str]) -> None:
        """Let the next iteration go on where `state_dict` was called.

        Parameters
        ----------
        state_dict : mapping of str to int or str

        Raises
        ------
        ArgumentError
            If it is of another number of ranks, replicas or samples, of another order, or of other samples of a
            `PartDataset`, whose hash is its "dataset": position and items would not be those of the run that was saved.
        """
        if not isinstance(state_dict, Mapping) or state_dict.keys() != self.state_dict().keys():
            names = ", ".join(self.state_dict())
            raise ArgumentError(f"state_dict must be that of a {type(self).__name__}, with {names}")
        for name, mine in {**self._layout, "dataset": self._samples}.items():
            if state_dict[name] != mine:
                raise ArgumentError(
                    f"state_dict is of a run with {name}={state_dict[name]}, here {name}={mine}: its position in the "
                    "epoch means other items here; begin an epoch with set_epoch instead"
                )
        epoch = arguments.integer("epoch of state_dict", state_dict["epoch"], low=0, high=None)
        position = arguments.integer("position of state_dict", state_dict["position"], low=0, high=len(self))
        self.epoch, self._resumed, self._begun, self._given = epoch, position, position, position
