"""Halo.indexed_all_to_all_v_args: physicsnemo's exchange in place of ours."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("physicsnemo", reason="needs physicsnemo, in an environment of its own")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from uneven_parts import halo_of, owned, values  # noqa: E402

SIZES = pytest.mark.parametrize("size", [1, 2, 4])


def all_to_all(received: list[Any], sent: list[Any], group: Any = None) -> None:
    """What NCCL does and gloo does not: send tensors of different sizes."""
    rows = received[0].new_empty((sum(map(len, received)), *received[0].shape[1:]))
    dist.all_to_all_single(rows, torch.cat(sent), [len(part) for part in received], [len(part) for part in sent], group)
    for part, got in zip(received, rows.split([len(part) for part in received]), strict=True):
        part.copy_(got)


def their_exchange(kind: str, entity: str) -> None:
    from physicsnemo.distributed import indexed_all_to_all_v

    halo = halo_of(kind, entity)
    args = halo.indexed_all_to_all_v_args()
    whole, weights = values(halo.n_global, 3), values(halo.n_global, 3, seed=6)[halo.global_ids[halo.n_owned :]]
    ours, theirs = owned(halo, whole), owned(halo, whole)
    got = halo.ghosts(ours)
    (got**2 * weights).sum().backward()
    with mock.patch.object(dist, "all_to_all", all_to_all):
        tail = indexed_all_to_all_v(theirs, **args)
        assert torch.equal(tail, got)
        (tail**2 * weights).sum().backward()
    torch.testing.assert_close(theirs.grad, ours.grad, rtol=1e-14, atol=1e-15)
    assert bool(theirs.grad.any()) == (len(halo.send_index) > 0)


@SIZES
@pytest.mark.parametrize("kind", ["uneven", "empty"])
@pytest.mark.parametrize("entity", ["points", "cells"])
def test_physicsnemos_exchange_gives_the_ghosts_and_their_gradient(size, kind, entity):
    run(size, their_exchange, kind, entity)


def over_gloo() -> None:
    from physicsnemo.distributed import indexed_all_to_all_v

    halo = halo_of("uneven")
    with pytest.raises(RuntimeError, match="invalid tensor size"):
        indexed_all_to_all_v(values(halo.n_owned, 3), **halo.indexed_all_to_all_v_args())


@pytest.mark.parametrize("size", [2, 4])
def test_it_does_not_run_over_gloo_as_it_is(size):
    run(size, over_gloo)
