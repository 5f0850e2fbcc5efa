"""The halo of one rank: exchanges between ranks that are right in value and in gradient."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.graph_parts import SubGraph
from meshpart.halo import check_plan
from meshpart.submesh import SubMesh
from meshpart.torch import metrics, shard
from meshpart.torch.groups import GroupLike, as_group
from meshpart.torch.loss import global_loss
from meshpart.torch.pending import Pending
from meshpart.torch.placed import Placed, side_of
from meshpart.torch.routes import Route, collect, overwrite, returned, route_of, spread
from meshpart.torch.rows import combinable, receivable, without_tangent
from meshpart.torch.verify import Told, check_parts, check_route


class Halo(Placed):
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
        self.group = as_group(group)

        def build() -> Told:
            known, ids, plan = side_of(part, entity)
            arguments.flag("verify", verify)
            self.check = arguments.flag("check", check)
            check_plan(known, part.part, ids, plan)
            self._take(part, known, ids, plan)
            of_part = (part.part, part.nparts, self.entity, part.run, self.max_steps)
            return Told(*of_part, self.n_owned, self.n_global, verify, check)

        everyone = check_parts(self.group, build)
        self.route: Route = route_of(side_of(part, entity)[2], self.n_owned, self.group)
        self.counts = torch.tensor([told.n_owned for told in everyone], device="cpu")
        if verify:
            self.verify()

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
