"""Exchanges inside a compiled region: the values and gradients of the eager run, in the same order on all ranks."""

from __future__ import annotations

import shutil

import pytest
from meshes import sfc_labels, triangles

import meshpart

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run_alone  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(6, 5)


def compiled(backend: str) -> None:
    """Compare with eager; the last rank has no row, so that compilers see tensors without elements."""
    import warnings

    warnings.simplefilter("default")  # torch's own, of its compiler
    rank, size = dist.get_rank(), dist.get_world_size()
    labels = sfc_labels(MESH, max(size - 1, 1))
    halo = mt.Halo(meshpart.split(MESH, labels, size, ghost_layers=1, only=[rank])[0])

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        pending = halo.start(y * 2)
        halo.exchange(y * 3)  # whose result nobody needs, on any rank
        a, b = halo.refresh(torch.tanh(x)), halo.exchange(torch.sin(y))
        return halo.reduce(a * b + pending.wait()) + halo.reduce(halo.refresh(a))

    x = torch.cos(halo.global_ids.double())[:, None].repeat(1, 3).requires_grad_()
    y = torch.sin(x.detach()[: halo.n_owned] * 3).requires_grad_()
    expected = step(x, y)
    found = torch.compile(step, backend=backend, fullgraph=True)(x, y)
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=1e-13)
    grads = [torch.autograd.grad((result**3).sum(), (x, y)) for result in (expected, found)]
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-13, atol=1e-13)

    def in_place(x: torch.Tensor) -> torch.Tensor:
        z = x * 2
        halo.refresh_(z)
        return z + 1

    cells = mt.Halo(meshpart.split(MESH, labels, size, ghost_layers=1, only=[rank])[0], "cells")
    step_of = torch.compile(lambda halo, rows: halo.refresh(rows) + 1, backend=backend)
    for other in (halo, cells):  # the same code for several halos
        rows = other.global_ids.double()
        assert torch.equal(step_of(other, rows), rows + 1)

    with torch.no_grad():
        stale = torch.cat([y, torch.zeros(halo.n_ghost, 3)]).double()
        expected = in_place(stale)
        found = torch.compile(in_place, backend=backend, fullgraph=True)(stale)
    assert torch.equal(found, expected)
    assert not torch.equal(found, stale * 2 + 1) or halo.n_ghost == 0


@pytest.mark.parametrize(("backend", "size"), [("aot_eager", 1), ("aot_eager", 3), ("inductor", 2)])
def test_a_compiled_region_gives_what_the_eager_run_gives(backend, size):
    if backend == "inductor" and shutil.which("c++") is None:
        pytest.skip("inductor needs a C++ compiler")
    run_alone(size, compiled, backend)


def with_loss() -> None:
    """The loss itself is outside of what is compiled: it raises on all ranks or on none."""
    import warnings

    warnings.simplefilter("default")
    rank, size = dist.get_rank(), dist.get_world_size()
    halo = mt.Halo(meshpart.split(MESH, sfc_labels(MESH, size), size, ghost_layers=1, only=[rank])[0])
    x = torch.cos(halo.global_ids.double()).requires_grad_()

    def loss_of(x: torch.Tensor) -> torch.Tensor:
        return halo.loss((halo.refresh(x) ** 2)[: halo.n_owned])

    expected, found = loss_of(x), torch.compile(loss_of, backend="aot_eager")(x)
    assert torch.equal(found, expected)
    assert torch.equal(*(torch.autograd.grad(loss, x)[0] for loss in (found, expected)))


def with_check() -> None:
    import warnings

    warnings.simplefilter("default")
    rank, size = dist.get_rank(), dist.get_world_size()
    part = meshpart.split(MESH, sfc_labels(MESH, size), size, ghost_layers=1, only=[rank])[0]
    halo = mt.Halo(part, check=True)
    x = halo.global_ids.double()
    refresh = torch.compile(lambda rows: halo.refresh(rows * 2) + 1, backend="aot_eager")
    assert torch.equal(refresh(x), x * 2 + 1)
    with pytest.raises(meshpart.ArgumentError, match=r"rank 1: x_local must have n_local"):
        refresh(x if rank == 0 else x[:-1])


def test_with_check_a_compiled_region_is_broken_and_still_raises_on_all_ranks():
    run_alone(2, with_check)


def test_the_loss_may_be_taken_in_a_compiled_function():
    run_alone(2, with_loss)
