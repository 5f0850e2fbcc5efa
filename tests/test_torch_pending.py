"""An exchange between start and wait: what is done meanwhile, and where it is waited for, changes nothing."""

from __future__ import annotations

import time
import warnings

import pytest
from meshes import sfc_labels, triangles

import meshpart

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run, run_alone  # noqa: E402

import meshpart.torch as mt  # noqa: E402
from meshpart.torch.pending import Pending  # noqa: E402

MESH = triangles(9, 8)


def halo_here() -> mt.Halo:
    rank, size = dist.get_rank(), dist.get_world_size()
    return mt.Halo(meshpart.split(MESH, sfc_labels(MESH, size), size, ghost_layers=1, only=[rank])[0])


def owned_and_local(halo: mt.Halo) -> tuple[torch.Tensor, torch.Tensor]:
    """Values of the owned rows, with a gradient, and of all local ones."""
    x = torch.cos(halo.global_ids.double())
    return x[: halo.n_owned].clone().requires_grad_(), x


def changed_meanwhile() -> None:
    halo = halo_here()
    x, everywhere = owned_and_local(halo)
    rows = x * 2
    pending = halo.start(rows)
    rows.mul_(5)
    found = pending.wait()
    assert torch.equal(found, 2 * everywhere)
    (grad,) = torch.autograd.grad((found**2).sum(), x)
    assert torch.equal(grad, 8 * halo.reduce(everywhere))


def test_what_is_done_to_the_rows_in_place_after_start_is_no_part_of_the_exchange():
    run(3, changed_meanwhile)


def modes() -> None:
    halo = halo_here()
    x, everywhere = owned_and_local(halo)
    pending = halo.start(x)
    with torch.no_grad():
        found = pending.wait()
    assert torch.equal(torch.autograd.grad(found.sum(), x)[0], halo.reduce(torch.ones_like(everywhere)))
    with torch.no_grad():
        pending = halo.start(x)
    assert not pending.wait().requires_grad


def test_it_has_a_gradient_if_its_start_had_one():
    run(2, modes)


def compiled() -> None:
    warnings.simplefilter("default")  # torch's own, of its compiler
    halo = halo_here()
    x, everywhere = owned_and_local(halo)

    def finish(pending: Pending) -> torch.Tensor:
        return pending.wait() * 2

    def begin(x: torch.Tensor) -> Pending:
        return halo.start(x * 3)

    def broken(x: torch.Tensor) -> torch.Tensor:
        pending = halo.start(x * 3)
        torch._dynamo.graph_break()
        return pending.wait() * 2

    def outcome(found: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return found.detach(), torch.autograd.grad((found**2).sum(), x)[0]

    expected = 6 * everywhere, 72 * halo.reduce(everywhere)
    finish_compiled = torch.compile(finish, backend="aot_eager")
    begin_compiled = torch.compile(begin, backend="aot_eager")
    broken_compiled = torch.compile(broken, backend="aot_eager")
    for late in (0, 1, 0):
        if dist.get_rank() == late:
            time.sleep(0.3)  # so that rows of this rank are not there yet
        torch.testing.assert_close(outcome(finish_compiled(begin(x))), expected, rtol=1e-13, atol=1e-13)
    for _ in range(2):
        torch.testing.assert_close(outcome(finish(begin_compiled(x))), expected, rtol=1e-13, atol=1e-13)
        torch.testing.assert_close(outcome(finish_compiled(begin_compiled(x))), expected, rtol=1e-13, atol=1e-13)
        torch.testing.assert_close(outcome(broken_compiled(x)), expected, rtol=1e-13, atol=1e-13)


def test_a_compiled_region_may_begin_or_finish_what_an_eager_one_does_not():
    run_alone(2, compiled)
