"""An exchange that is under way while its rank works on rows that need no ghosts."""

from __future__ import annotations

from typing import Any

import torch

from meshpart.errors import ArgumentError
from meshpart.torch.routes import Route, collect, send, spread
from meshpart.torch.rows import chosen


class Pending:
    """An exchange that `Halo.start` began."""

    def __init__(self, route: Route, send_index: torch.Tensor, x_owned: torch.Tensor) -> None:
        self._waited = False
        self._under_way: Any = None  # what is to be waited for, and what is sent, which must live until then
        if torch.compiler.is_compiling():  # where an operation is over when it returns
            self._local: torch.Tensor | None = spread(x_owned, send_index, route.key, True)
            return
        rows = x_owned.detach()
        local = rows.new_empty((route.n_local, *rows.shape[1:]))
        local[: route.n_owned] = rows
        sent = chosen(rows, send_index)
        self._under_way = send(route, local[route.n_owned :], sent, later=True), sent
        # A function of the rows as they are now: what is done to x_owned in place before `wait` is no part of it.
        self._local = _Begun.apply(x_owned, local, route, send_index)

    def wait(self) -> torch.Tensor:
        """Return the values of all local rows, (n_local, ...), as `Halo.exchange` does.

        Raises
        ------
        ArgumentError
            If it was waited for already.
        """
        if self._waited:
            raise ArgumentError("wait was called already: its result is that of the first call")
        self._waited = True
        if self._under_way is not None and self._under_way[0] is not None:
            self._under_way[0].wait()
        rows, self._local, self._under_way = self._local, None, None
        assert rows is not None
        return rows


class _Begun(torch.autograd.Function):
    """All local rows, those of the ghosts still to come, as a function of the owned ones."""

    @staticmethod
    def forward(
        ctx: Any, owned: torch.Tensor, local: torch.Tensor, route: Route, send_index: torch.Tensor
    ) -> torch.Tensor:
        ctx.route, ctx.send_index = route, send_index
        ctx.mark_dirty(local)
        return local

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        return collect(grads[0], ctx.send_index, ctx.route.key, True), None, None, None
