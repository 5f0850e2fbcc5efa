"""The rows of one part on its rank: which they are, how arrays of the whole mesh come there and go back."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import torch

from meshpart import arguments
from meshpart.arrays import Array
from meshpart.errors import ArgumentError
from meshpart.graph_parts import SubGraph
from meshpart.halo import ENTITIES, HaloPlan
from meshpart.submesh import IndexMap, SubMesh
from meshpart.torch import placing
from meshpart.torch.groups import Group
from meshpart.torch.rows import Extent, chosen, from_numpy, local_rows, owned_rows, whole_rows
from meshpart.torch.verify import agree_on_rows

INDEX_TENSORS = ("global_ids", "owners", "layers", "complete", "send_index")


class Placed(torch.nn.Module):
    """What `Halo` knows of its rows: a module without parameters or buffers, whose index tensors move with it."""

    group: Group
    check: bool

    def _take(self, part: SubMesh | SubGraph, entity: str, ids: IndexMap, plan: HaloPlan) -> None:
        """Take what is needed of a part, in tensors of its own."""
        self.part, self.entity = part, entity
        self.n_owned, self.n_ghost, self.n_local, self.n_global = ids.n_owned, ids.n_ghost, ids.n_local, ids.n_global
        self.max_steps = part.ghost_layers if isinstance(part, SubMesh) else part.layers
        self.global_ids = from_numpy("global_ids", ids.global_ids)
        self.owners = from_numpy("owners", ids.owners(part.part))
        self.layers = from_numpy("layers", ids.layers())
        self.complete = from_numpy("complete", ids.complete)
        self.send_index = from_numpy("send_indices", plan.send_indices)
        self._set_extent()

    def field(self, name: str, part: SubMesh | None = None) -> torch.Tensor:
        """Return point or cell data of the part as a tensor in local order, (n_local, ...): a copy.

        It has the dtype of the data, often float64 where a model has float32.

        Parameters
        ----------
        name : str
        part : SubMesh, optional
            The same part with other data: another sample on the same mesh.
        """
        if part is not None and (getattr(part, "run", None), getattr(part, "part", None)) != (
            self.part.run,
            self.part.part,
        ):
            raise ArgumentError(f"part must be part {self.part.part} of the halo's decomposition, got {part!r}")
        values = data_of(name, self.part if part is None else part, self.entity)
        return from_numpy(f"field {name!r}", values).to(self.send_index.device)

    def take(self, x_global: torch.Tensor) -> torch.Tensor:
        """Return the local rows, (n_local, ...), of a tensor of the whole mesh, (n_global, ...). Not collective."""
        whole_rows("x_global", x_global, self.n_global)
        return chosen(x_global, self.global_ids.to(x_global.device)).to(self.global_ids.device)

    def scatter(self, x_global: torch.Tensor | None, src: int = 0) -> torch.Tensor:
        """Return the local rows, (n_local, ...), of a tensor of the whole mesh that rank `src` has; others give None.

        Without gradient.
        """
        return placing.scatter(self.group, x_global, src, self.global_ids, self.n_global)

    def gather(self, x_owned: torch.Tensor, dst: int = 0) -> torch.Tensor | None:
        """Return the owned rows of all ranks in the order of the mesh, (n_global, ...), on rank `dst`; None elsewhere.

        Without gradient.
        """

        def to_a_rank(*_: Any) -> None:
            arguments.integer("dst", dst, low=0, high=self.group.size - 1)

        rows = self._owned(f"gather to {dst}", x_owned, to_a_rank)
        return placing.gather(self.group, rows, dst, self.global_ids, self.n_global)

    # -- as a module -------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what the repr shows."""
        whose = f"{self.entity} of part {self.part.part} of {self.part.nparts}"
        return f"{whose}: {self.n_owned} owned + {self.n_ghost} ghosts"

    def _apply(self, fn: Any, recurse: bool = True) -> Placed:
        """Move the index tensors, which are no buffers: DDP would overwrite them by those of rank 0."""
        super()._apply(fn, recurse)
        device = fn(self.send_index.new_empty(0)).device  # some functions forget what is in a tensor
        if device.type != "meta":
            for name in INDEX_TENSORS:
                setattr(self, name, getattr(self, name).to(device))
            self._set_extent()
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Placed:
        other = type(self).__new__(type(self))
        for name, value in self.__dict__.items():  # hooks are in dicts
            other.__dict__[name] = copy.copy(value) if isinstance(value, dict) else value
        return other

    __copy__ = functools.partialmethod(__deepcopy__, {})

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Halo belongs to its group of processes and cannot be pickled: build one in each process from its part, "
            "and save a model's state_dict"
        )

    # -- checks ------------------------------------------------------------------------------------------

    def _set_extent(self) -> None:
        self._extent = Extent(self.n_owned, self.n_local, self.send_index.device)

    def _owned(self, verb: str, rows: torch.Tensor, also: Callable[[str, torch.Tensor], None]) -> torch.Tensor:
        return self._checked(verb, "x_owned", rows, owned_rows, also)

    def _local(self, verb: str, rows: torch.Tensor, also: Callable[[str, torch.Tensor], None]) -> torch.Tensor:
        return self._checked(verb, "x_local", rows, local_rows, also)

    def _checked(
        self,
        verb: str,
        name: str,
        rows: torch.Tensor,
        check: Callable[[str, torch.Tensor, Extent], torch.Tensor],
        also: Callable[[str, torch.Tensor], None],
    ) -> torch.Tensor:
        """Return the rows that the checks let through; with `check` on all ranks, or raise on all."""
        failure = None
        try:
            also(name, check(name, rows, self._extent))
        except ArgumentError as error:
            if not self.check:
                raise
            failure = error
        if self.check:
            agree_on_rows(self.group, verb, rows, failure)
        return rows


def side_of(part: Any, entity: str | None) -> tuple[str, IndexMap, HaloPlan]:
    """Return what a part has of an entity: its name, map and plan."""
    if isinstance(part, SubMesh):
        entity = arguments.one_of("entity", "points" if entity is None else entity, ("points", "cells"))
    elif isinstance(part, SubGraph):
        entity = arguments.one_of("entity", "vertices" if entity is None else entity, ("vertices",))
    else:
        raise ArgumentError(f"part must be a SubMesh or a SubGraph, got {type(part).__name__}")
    ids, plan = ENTITIES[entity]
    return entity, getattr(part, ids), getattr(part, plan)


def data_of(name: str, part: SubMesh | SubGraph, entity: str) -> Array:
    """Return data of a part in local order."""
    if not isinstance(part, SubMesh):
        raise ArgumentError("a part of split_graph has no data")
    of_points, of_cells = part.mesh.point_data, part.mesh.cell_data
    if not isinstance(name, str) or name not in (of_points if entity == "points" else of_cells):
        known = ", ".join(map(repr, of_points if entity == "points" else of_cells)) or "none"
        raise ArgumentError(f"the part has no data of {entity} by the name {name!r}, it has {known}")
    return np.asarray(of_points[name]) if entity == "points" else part.to_local(of_cells[name])
