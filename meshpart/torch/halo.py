"""The halo of one rank: exchanges between ranks that are right in value and in gradient."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import torch
from torch.distributed.device_mesh import DeviceMesh

from meshpart import arguments
from meshpart.arrays import Array
from meshpart.errors import ArgumentError
from meshpart.graph_parts import SubGraph
from meshpart.halo import ENTITIES, HaloPlan, check_plan
from meshpart.submesh import IndexMap, SubMesh
from meshpart.torch import metrics, placing, shard
from meshpart.torch.groups import Group, GroupLike, as_group
from meshpart.torch.loss import global_loss
from meshpart.torch.pending import Pending
from meshpart.torch.routes import Route, collect, overwrite, returned, route_of, spread
from meshpart.torch.rows import (
    Extent,
    chosen,
    combinable,
    from_numpy,
    local_rows,
    owned_rows,
    receivable,
    whole_rows,
    without_tangent,
)
from meshpart.torch.verify import Told, agree_on_rows, check_parts, check_route

INDEX_TENSORS = ("global_ids", "owners", "layers", "complete", "send_index")


class Halo(torch.nn.Module):
    """The halo of one part, on the rank that works on it.

    Values of entities are tensors in local order: the owned rows first, then the ghosts, which other ranks own. The
    verbs exchange them over torch.distributed. All ranks of the group must call them, in the same order, those without
    a row or a neighbour too. Each is differentiable, any number of times: the gradient of `exchange` is `reduce`, and
    the other way round; forward mode is refused. Sums are in one order always, so that runs repeat bit for bit.

    It is a module without parameters or buffers: as part of a model it moves with it to a device, and nothing
    of it is broadcast or saved. A deep copy talks to the same ranks.

    Parameters
    ----------
    part : SubMesh or SubGraph
        That of this rank: part r on rank r of the group, and a rank for each part.
    entity : str, optional
        "points" (if left out) or "cells"; of a SubGraph "vertices".
    group : ProcessGroup or 1-D DeviceMesh, optional
        The default group of torch.distributed if left out; without one the part must be the only one.
    verify : bool
        Whether to check that what ranks send is what others expect, id by id. Costs an exchange.
    check : bool
        Whether each verb first compares over all ranks what it was given, so that a wrong argument raises
        everywhere and not on one rank alone. Costs a collective a call, and breaks the graph of a compiled region.

    Attributes
    ----------
    n_owned, n_ghost, n_local, n_global : int
        Numbers of rows here, and of entities of the whole mesh.
    max_steps : int
        How many steps of message passing the ghost layers carry without an exchange.
    counts : Tensor of int64, (size,)
        The number of owned rows of each rank.
    global_ids : Tensor of int64, (n_local,)
    owners, layers : Tensor of int32, (n_local,)
    complete : Tensor of bool, (n_local,)
        As in `IndexMap`.

    Raises
    ------
    ArgumentError
        On all ranks or on none: if the parts do not belong together, are not those of the ranks, or are not as many.

    Examples
    --------
    A process alone has the whole mesh as its one part:

    >>> import torch, meshpart, meshpart.torch as mt
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> halo = mt.Halo(meshpart.partition(mesh, 1, ghost_layers=1)[0], "cells")
    >>> halo
    Halo(cells of part 0 of 1: 2 owned + 0 ghosts)
    >>> halo.loss(torch.tensor([1.0, 2.0]))
    tensor(1.5000)
    """

    def __init__(
        self,
        part: SubMesh | SubGraph,
        entity: str | None = None,
        group: GroupLike = None,
        verify: bool = True,
        check: bool = False,
    ) -> None:
        super().__init__()
        self.group: Group = as_group(group)

        def build() -> Told:
            self.entity, ids, plan = _side_of(part, entity)
            self.part = part
            arguments.flag("verify", verify)
            self.check = arguments.flag("check", check)
            check_plan(self.entity, part.part, ids, plan)
            self._take(ids, plan)
            of_part = (part.part, part.nparts, self.entity, part.run, self.max_steps)
            return Told(*of_part, self.n_owned, self.n_global, verify, check)

        everyone = check_parts(self.group, build)
        self.route: Route = route_of(self._plan, self.n_owned, self.group)
        self.counts = torch.tensor([told.n_owned for told in everyone], device="cpu")
        if verify:
            self.verify()

    def _take(self, ids: IndexMap, plan: HaloPlan) -> None:
        """Take what is needed of a part, in tensors of its own."""
        self._plan = plan
        self.n_owned, self.n_ghost, self.n_local, self.n_global = ids.n_owned, ids.n_ghost, ids.n_local, ids.n_global
        self.max_steps = self.part.ghost_layers if isinstance(self.part, SubMesh) else self.part.layers
        self.global_ids = from_numpy("global_ids", ids.global_ids)
        self.owners = from_numpy("owners", ids.owners(self.part.part))
        self.layers = from_numpy("layers", ids.layers())
        self.complete = from_numpy("complete", ids.complete)
        self.send_index = from_numpy("send_indices", plan.send_indices)
        self._set_extent()

    # -- exchanges ---------------------------------------------------------------------------------------

    def exchange(self, x_owned: torch.Tensor) -> torch.Tensor:
        """Return the values of all local rows: the owned ones, and those of the ghosts from their owners.

        Parameters
        ----------
        x_owned : Tensor, (n_owned, ...)
            Of any dtype; one dtype and one trailing shape on all ranks.

        Returns
        -------
        x_local : Tensor, (n_local, ...)
            A new one. Its gradient is `reduce`.

        Raises
        ------
        ArgumentError
            Here, at once, if it does not fit the part; on all ranks with `check`.
        """
        return spread(self._owned("exchange", x_owned, without_tangent), self.send_index, self.route.key, True)

    def ghosts(self, x_owned: torch.Tensor) -> torch.Tensor:
        """Return the values of the ghosts alone, (n_ghost, ...): `exchange` without its copy of the owned rows."""
        return spread(self._owned("ghosts", x_owned, without_tangent), self.send_index, self.route.key, False)

    def refresh(self, x_local: torch.Tensor) -> torch.Tensor:
        """Return the values of all local rows, those of the ghosts taken from their owners.

        Parameters
        ----------
        x_local : Tensor, (n_local, ...)
            What its ghost rows hold does not matter, and gets no gradient.

        Returns
        -------
        x_local : Tensor, (n_local, ...)
            A new one.
        """
        rows = self._local("refresh", x_local, without_tangent)
        return spread(rows[: self.n_owned], self.send_index, self.route.key, True)

    forward = refresh

    def refresh_(self, x_local: torch.Tensor) -> torch.Tensor:
        """Overwrite the ghost rows with the values of their owners, and return the same tensor. No row is copied.

        Parameters
        ----------
        x_local : Tensor, (n_local, ...)
            Contiguous, and without a gradient: under autograd use `refresh`.
        """
        rows = self._local("refresh_", x_local, receivable)
        overwrite(rows, self.send_index, self.route)
        return rows

    def reduce(self, x_local: torch.Tensor, op: str = "sum") -> torch.Tensor:
        """Return for each owned row its value combined with those that other ranks have for it among their ghosts.

        Parameters
        ----------
        x_local : Tensor, (n_local, ...)
        op : str
            "sum", "min" or "max", of dtypes that torch combines by it. With "sum" the owner's value comes first, then
            those of the other ranks in ascending order; its gradient is `exchange`. The others have no gradient.

        Returns
        -------
        x_owned : Tensor, (n_owned, ...)
            Of the same dtype. Of bools the sum is whether any is true.
        """
        return self._reduced(self._local(f"reduce by {op}", x_local, functools.partial(combinable, op=op)), op)

    def assemble(self, x_local: torch.Tensor, op: str = "sum") -> torch.Tensor:
        """Return the combined values of all copies of each row, on every rank that has one: shared points.

        For parts without ghost layers, where each rank adds up over its own cells or edges. It is `exchange` of
        `reduce`, and its own gradient.

        Parameters
        ----------
        x_local : Tensor, (n_local, ...)
        op : str
            As of `reduce`.

        Returns
        -------
        x_local : Tensor, (n_local, ...)
        """

        def shared(name: str, rows: torch.Tensor) -> None:
            if self.max_steps > 0:
                raise ArgumentError(
                    f"assemble adds up shared copies of parts without ghost layers, this part has {self.max_steps}: "
                    "what its rows receive is whole or is not wanted; refresh brings ghosts up to date"
                )
            combinable(name, rows, op)

        rows = self._local(f"assemble by {op}", x_local, shared)
        return spread(self._reduced(rows, op), self.send_index, self.route.key, True)

    def start(self, x_owned: torch.Tensor) -> Pending:
        """Begin an `exchange`, to work on rows that need no ghosts until its `wait()` returns x_local.

        Parameters
        ----------
        x_owned : Tensor, (n_owned, ...)

        Returns
        -------
        pending : Pending
            Whose `wait` must be called on all ranks, once. In a compiled region the exchange is over when this returns.
        """
        return Pending(self.route, self.send_index, self._owned("start", x_owned, without_tangent))

    # -- over the owned rows of all ranks ----------------------------------------------------------------

    def loss(
        self,
        per_row: torch.Tensor,
        weight: torch.Tensor | None = None,
        reduction: str = "mean",
        grads: str = "average",
    ) -> torch.Tensor:
        """Return the loss over the owned rows of all ranks: the same value on every rank, that of a serial run.

        Its backward, in which nothing is communicated, gives each rank its share of the serial gradient, scaled for
        what happens to the gradients of the ranks after it. So it is the end of a model: losses may be scaled and added
        up, but what is computed from one, as rows less their mean over the mesh, has a wrong gradient. A sum in between
        takes `torch.distributed.nn.functional.all_reduce`, whose backward is a sum over the ranks.

        Parameters
        ----------
        per_row : Tensor, (n_owned, ...)
            Floating point; zero rows are fine.
        weight : Tensor, (n_owned,), optional
            Of each row, without gradient: 0 leaves out a row whose loss is finite, as attached cells, which have no
            neighbours.
        reduction : str
            "mean", sum(weight * per_row) / (sum(weight) * trailing size), or "sum".
        grads : str
            "average": a wrapper such as DDP or FSDP2 averages the gradients, over groups that hold whole domains.
            "sum": the gradients are added up over this group, or its parts by hand.

        Returns
        -------
        loss : Tensor, ()
            Of the dtype of `per_row`, at least float32; added up in float64.

        Raises
        ------
        ArgumentError
            On all ranks or on none: if an argument of this rank does not fit, or the weights of all rows sum to 0.
            The other ranks raise a MeshpartError that names the rank.
        """
        return global_loss(self.group, self._extent, per_row, weight, reduction, grads)

    def mean(self, x_owned: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
        """Return the mean of each column over the rows of all ranks, without gradient: (...) of float64.

        Parameters
        ----------
        x_owned : Tensor, (n_owned, ...)
        weight : Tensor, (n_owned,), optional
            0 leaves out a row of finite values.
        """
        return self._moments("mean", x_owned, weight)[0]

    def std(self, x_owned: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
        """Return the standard deviation, of the population, of each column: as `mean` does."""
        return self._moments("std", x_owned, weight)[1].sqrt()

    def max(self, x_owned: torch.Tensor) -> torch.Tensor:
        """Return the largest of each column over the rows of all ranks, without gradient: (...) of the same dtype."""
        return metrics.largest(self.group, self._owned("max", x_owned, metrics.ordered))

    # -- from and to the whole mesh ----------------------------------------------------------------------

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

    # -- for PhysicsNeMo ---------------------------------------------------------------------------------

    def shard_tensor(self, x_owned: torch.Tensor, mesh: DeviceMesh) -> Any:
        """Return the owned rows of all ranks as one ShardTensor of physicsnemo, each rank's rows a shard.

        Parameters
        ----------
        x_owned : Tensor, (n_owned, ...)
            One dtype and one trailing shape on all ranks. It gets the gradient, also as a leaf.
        mesh : DeviceMesh
            Of one dimension: the ranks of the halo's group, in its order.

        Returns
        -------
        sharded : ShardTensor, (n_global, ...)
            Its rows are in the order of `shard_order`. After its `backward` every rank already has the serial gradient
            of a model's parameters: averaging leaves it right, a sum over the ranks does not.

        Raises
        ------
        ArgumentError
            Here, at once, if the rows do not fit the part or the mesh does not fit the group.
        MissingDependencyError
            Without physicsnemo.
        """
        return shard.shard_tensor(self.group, self.counts, self._owned("shard_tensor", x_owned, without_tangent), mesh)

    def shard_order(self) -> torch.Tensor:
        """Return the global id of each row of a ShardTensor, (n_global,) of int64: by owner, then ascending.

        Collective.

        Examples
        --------
        >>> import torch, meshpart, meshpart.torch as mt
        >>> mesh = meshpart.Mesh([[0.0], [1.0], [2.0]], [("line", [[0, 1], [1, 2]])])
        >>> halo = mt.Halo(meshpart.partition(mesh, 1)[0])
        >>> order = halo.shard_order()
        >>> full = torch.tensor([5.0, 6.0, 7.0])  # halo.shard_tensor(x_owned, mesh).full_tensor()
        >>> in_mesh_order = torch.empty_like(full)
        >>> in_mesh_order[order] = full
        >>> again = in_mesh_order[order]  # the rows of the ShardTensor
        """
        return shard.shard_order(self.group, self.counts, self.global_ids[: self.n_owned])

    def indexed_all_to_all_v_args(self) -> dict[str, Any]:
        """Return what physicsnemo's exchange takes to give what `ghosts` gives: indices, sizes and the group.

        `physicsnemo.distributed.indexed_all_to_all_v(x_owned, **args)`, with a gradient, once. It sends lists of
        tensors of different sizes, which NCCL does and gloo does not. Collective.
        """
        return shard.indexed_all_to_all_v_args(self.group, self.send_index, self.route.send_splits)

    # -- the ranks ---------------------------------------------------------------------------------------

    def verify(self) -> None:
        """Raise on every rank if what some rank sends is not what another expects, id by id. Collective."""
        check_route(self.route, self.send_index, self.global_ids)

    # -- as a module -------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what the repr shows."""
        whose = f"{self.entity} of part {self.part.part} of {self.part.nparts}"
        return f"{whose}: {self.n_owned} owned + {self.n_ghost} ghosts"

    def _apply(self, fn: Any, recurse: bool = True) -> Halo:
        """Move the index tensors, which are no buffers: DDP would overwrite them by those of rank 0."""
        super()._apply(fn, recurse)
        device = fn(self.send_index.new_empty(0)).device  # some functions forget what is in a tensor
        if device.type != "meta":
            for name in INDEX_TENSORS:
                setattr(self, name, getattr(self, name).to(device))
            self._set_extent()
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Halo:
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

    def _reduced(self, rows: torch.Tensor, op: str) -> torch.Tensor:
        if op == "sum" and rows.dtype != torch.bool:
            return collect(rows, self.send_index, self.route.key, True)
        combine = torch.minimum if op == "min" else torch.maximum  # of bools the sum is the maximum
        owned, ghosts = rows[: self.n_owned].clone(), rows[self.n_owned :]
        for index, values in returned(self.route, ghosts, self.send_index):
            owned[index] = combine(owned[index], values)
        return owned

    def _moments(self, verb: str, rows: torch.Tensor, weight: Any) -> tuple[torch.Tensor, torch.Tensor]:
        rows = self._owned(verb, rows, functools.partial(metrics.weighable, weight=weight))
        return metrics.moments(self.group, rows, weight)

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


def _side_of(part: Any, entity: str | None) -> tuple[str, IndexMap, HaloPlan]:
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
