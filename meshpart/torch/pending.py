"""An exchange that is under way while its rank works on rows that need no ghosts."""

from __future__ import annotations

from typing import Any

import torch

from meshpart.errors import ArgumentError
from meshpart.torch.routes import Route, collect, send, spread


class Pending:
    """An exchange that `Halo.start` began."""

    def __init__(self, route: Route, send_index: torch.Tensor, x_owned: torch.Tensor) -> None:
        self.route, self.send_index = route, send_index
        self._waited = False
        self._work: Any = None
        if torch.compiler.is_compiling():  # where an operation is over when it returns
            self.local = spread(x_owned, send_index, route.key, True)
            return
        self._owned = x_owned
        rows = x_owned.detach()
        self.local = rows.new_empty((route.n_local, *rows.shape[1:]))
        self.local[: route.n_owned] = rows
        self._sent = rows.index_select(0, send_index)  # which must live until it is sent
        self._work = send(route, self.local[route.n_owned :], self._sent, later=True)

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
        if torch.compiler.is_compiling():
            return self.local
        if self._work is not None:
            self._work.wait()
        rows: torch.Tensor = _Finished.apply(self._owned, self)
        return rows


class _Finished(torch.autograd.Function):
    """What came in, as a function of the owned rows."""

    @staticmethod
    def forward(ctx: Any, owned: torch.Tensor, pending: Pending) -> torch.Tensor:
        ctx.pending = pending.route, pending.send_index
        return pending.local

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        route, send_index = ctx.pending
        return collect(grads[0], send_index, route.key, True), None
