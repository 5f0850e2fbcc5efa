"""Tensors of every kind: verbs take them as they are, or refuse them with an error of meshpart's own."""

from __future__ import annotations

import warnings

import pytest
from meshes import sfc_labels, triangles

import meshpart

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run, run_alone  # noqa: E402

import meshpart.torch as mt  # noqa: E402

MESH = triangles(9, 8)


def part_here() -> meshpart.SubMesh:
    rank, size = dist.get_rank(), dist.get_world_size()
    return meshpart.split(MESH, sfc_labels(MESH, size), size, ghost_layers=1, only=[rank])[0]


def elsewhere() -> None:
    """What is made for the CPU stays there, whatever torch's default device is."""
    with torch.device("meta"):
        halo = mt.Halo(part_here())
        graph = mt.part_graph(halo.part)
        x = halo.global_ids.double()
        assert torch.equal(halo.exchange(x[: halo.n_owned]), x)
        assert halo.loss(x[: halo.n_owned]) == (halo.n_global - 1) / 2
        found = halo.gather(x[: halo.n_owned])
    assert halo.counts.sum() == halo.n_global
    assert {value.device.type for value in graph.values() if isinstance(value, torch.Tensor)} == {"cpu"}
    if found is not None:
        assert found.tolist() == list(range(halo.n_global))


def test_the_default_device_does_not_matter():
    run(2, elsewhere)


def forward_mode() -> None:
    warnings.simplefilter("default")  # torch's own, of its decompositions
    halo = mt.Halo(part_here())
    x = halo.global_ids.double()
    for verb, given in (
        (halo.exchange, x[: halo.n_owned]),
        (halo.ghosts, x[: halo.n_owned]),
        (halo.start, x[: halo.n_owned]),
        (halo.refresh, x),
        (halo.refresh_, x),
        (halo.reduce, x),
    ):
        with torch.autograd.forward_ad.dual_level(), pytest.raises(meshpart.ArgumentError, match="has a tangent of"):
            verb(torch.autograd.forward_ad.make_dual(given, torch.ones_like(given)))
        with pytest.raises(meshpart.ArgumentError, match="of forward mode, which exchanges do not carry: use backward"):
            torch.func.jvp(verb, (given,), (torch.ones_like(given),))


def test_forward_mode_is_refused_where_its_tangents_would_be_lost():
    run_alone(2, forward_mode)


def views() -> None:
    """Tensors whose bytes are not their values: conjugates, negatives, and those without strides of their own."""
    halo = mt.Halo(part_here())
    n = halo.n_owned
    x = halo.global_ids.double()
    z = torch.complex(x, x + 0.5)
    four = x.view(-1, 1, 1, 1).expand(-1, 2, 3, 4)
    last = four.contiguous(memory_format=torch.channels_last)
    for given in (z.conj(), torch._neg_view(x), z.conj().imag, four, last):
        plain = given.resolve_conj().resolve_neg().contiguous()
        assert torch.equal(halo.exchange(given[:n]), plain)
        assert torch.equal(halo.start(given[:n]).wait(), plain)
        assert torch.equal(halo.refresh(given), plain)
        for op in ("sum",) if given.is_complex() else ("sum", "min", "max"):
            assert torch.equal(halo.reduce(given, op), halo.reduce(plain, op))
        whole = halo.gather(given[:n])
        assert torch.equal(halo.scatter(whole if dist.get_rank() == 0 else None), plain)
    for given in (z.conj(), torch._neg_view(x)):
        with pytest.raises(meshpart.ArgumentError, match="x_local is a conjugate view, refresh_ receives in place"):
            halo.refresh_(given)


def test_views_of_any_kind_are_sent_as_their_values():
    run(2, views)


def dtypes() -> None:
    halo = mt.Halo(part_here())
    n = halo.n_owned
    for dtype in (torch.uint16, torch.uint32, torch.uint64, torch.float8_e5m2):
        rows = halo.global_ids.remainder(5).to(dtype)
        assert torch.equal(halo.take(torch.arange(halo.n_global).remainder(5).to(dtype)).double(), rows.double())
        for found in (halo.exchange(rows[:n]), halo.start(rows[:n]).wait(), halo.refresh(rows), halo.refresh_(rows)):
            assert torch.equal(found.double(), rows.double())
        whole = halo.gather(rows[:n])
        assert torch.equal(halo.scatter(whole if dist.get_rank() == 0 else None).double(), rows.double())
        with pytest.raises(meshpart.ArgumentError, match=f"x_local has the dtype {dtype}, which torch does not"):
            halo.reduce(rows)
        with pytest.raises(meshpart.ArgumentError, match=f"real numbers that torch compares, got {dtype}"):
            halo.max(rows[:n])
    assert halo.loss(rows[:n]).dtype == torch.float32


def test_what_torch_does_not_add_or_index_is_sent_all_the_same():
    run(2, dtypes)


def refused() -> None:
    halo = mt.Halo(part_here())
    n = halo.n_owned
    x = halo.global_ids.double()
    weights = torch.ones(n)
    for verb in (halo.loss, halo.mean, halo.std):
        for weight, message in (
            (weights + 1j, "weight must be real, got torch.complex64"),
            (weights.to_sparse(), "weight must be a dense tensor, got the layout torch.sparse_coo"),
            (weights[1:], r"weight must have the shape \(\d+,\), one a row"),
            (1.0, "weight must be a torch.Tensor, got float"),
            (weights.to("meta"), "weight is on meta"),
        ):
            with pytest.raises(meshpart.ArgumentError, match=message):
                verb(x[:n], weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nested = torch.nested.nested_tensor([torch.zeros(2)] * n)
    with pytest.raises(meshpart.ArgumentError, match="x_owned must be a dense tensor, got a nested one"):
        halo.exchange(nested)
    nowhere = torch.zeros(halo.n_global, device="meta")
    for verb in (halo.take, lambda rows: halo.scatter(rows if dist.get_rank() == 0 else None)):
        with pytest.raises(meshpart.ArgumentError, match="x_global is on meta, where it has no values"):
            verb(nowhere)
    with pytest.raises(meshpart.ArgumentError, match=r"has no data of points by the name \['a'\]"):
        halo.field(["a"])
    assert torch.equal(halo.exchange(x[:n]), x)  # the ranks are in step


def test_what_has_no_values_or_is_no_weight_is_refused():
    run(2, refused)
