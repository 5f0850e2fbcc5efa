"""assert_replicated and sync_module: copies of a module on real ranks, whole or in shards."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import meshpart.torch as mt  # noqa: E402
from meshpart.errors import ArgumentError  # noqa: E402


class Net(nn.Module):
    """A bit of everything: tied weights, strides, dtypes, buffers that are saved or not."""

    def __init__(self, seed: int, width: int = 5) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.first = nn.Linear(3, width)
        self.second = nn.Linear(width, 3, bias=False)
        self.tied = nn.Linear(width, 3, bias=False)
        self.tied.weight = self.second.weight
        self.norm = nn.BatchNorm1d(3)
        self.norm.running_mean += seed
        self.strided = nn.Parameter(torch.randn(4, 6).t()[::2])
        self.scalar = nn.Parameter(torch.randn(()))
        self.coarse = nn.Parameter(torch.randn(3).to(torch.bfloat16), requires_grad=False)
        self.register_buffer("mask", torch.rand(7) > 0.5)
        self.register_buffer("phase", torch.randn(2, dtype=torch.complex128).conj())
        self.register_buffer("kept", torch.randn(2), persistent=False)
        self.register_buffer("nothing", torch.zeros(0, 3))

    def forward(self, x: Any) -> Any:
        return self.norm(self.second(self.first(x))) * self.scalar + self.strided.sum()


def small(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


def refusal(call: Any, *given: Any) -> str:
    """The words of the ArgumentError that a call raises."""
    with pytest.raises(ArgumentError) as caught:
        call(*given)
    return str(caught.value)


def tensors(module: nn.Module) -> dict[str, Any]:
    return {name: t.detach().clone() for name, t in [*module.named_parameters(), *module.named_buffers()]}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# -- whole modules ------------------------------------------------------------------------------------------


def alike() -> None:
    model = Net(0)
    with torch.no_grad():
        model.scalar.fill_(torch.nan)
    mt.assert_replicated(model)
    if dist.get_rank() == 1:
        with torch.no_grad():
            model.scalar.copy_(torch.tensor(-1, dtype=torch.int32).view(torch.float32))  # another NaN
    if dist.get_world_size() > 1:
        assert "'scalar'" in refusal(mt.assert_replicated, model)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_equal_bits_are_replicated_nans_too(size: int) -> None:
    run(size, alike)


def test_without_torch_distributed_a_module_is_its_only_copy() -> None:
    model = Net(0)
    before = tensors(model)
    mt.assert_replicated(model)
    mt.sync_module(model)
    assert same(tensors(model), before)


def one_differs(name: str) -> str:
    model = Net(0)
    if dist.get_rank() in (1, 3):
        with torch.no_grad():
            tensor = {**dict(model.named_parameters()), **dict(model.named_buffers())}[name]
            tensor.view(-1)[-1] = ~tensor.view(-1)[-1] if tensor.dtype == torch.bool else 1 + tensor.view(-1)[-1]
    words = refusal(mt.assert_replicated, model)
    mt.sync_module(model)
    mt.assert_replicated(model)
    assert same(tensors(model), tensors(Net(0)))
    return words


@pytest.mark.parametrize(
    "name",
    ["first.weight", "scalar", "coarse", "norm.running_mean", "norm.num_batches_tracked", "mask", "phase", "kept"],
)
def test_one_other_element_is_named_with_its_ranks_on_every_rank_and_mended(name: str) -> None:
    words = run(4, one_differs, name)
    assert words == words[:1] * 4
    assert f"{name!r} of ranks 1, 3 is not that of rank 0;" in words[0]
    assert "sync_module(module)" in words[0]


def signs() -> str:
    model = nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(0.0 if dist.get_rank() == 0 else -0.0)
        model.bias.fill_(0)
    return refusal(mt.assert_replicated, model)


def test_zeros_of_unlike_sign_differ() -> None:
    assert all("'weight' of rank 1" in words for words in run(2, signs))


def many_differ() -> str:
    return refusal(mt.assert_replicated, Net(dist.get_rank()))


def test_a_message_names_a_few_tensors_and_counts_the_others() -> None:
    words = run(3, many_differ)
    assert words == words[:1] * 3
    others = ", ".join(f"'{name}' of ranks 1, 2 is not that of rank 0" for name in ("strided", "scalar", "coarse"))
    assert others.replace(", '", "; '") + " (and 7 more)" in words[0]


def goes_on() -> None:
    model = Net(dist.get_rank())
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.1)
    model(torch.ones(4, 3)).sum().backward()

    def held() -> list[Any]:
        return [(id(p), p.data_ptr(), p.stride(), id(p.grad), p.requires_grad) for p in model.parameters()]

    before = held()
    mt.sync_module(model)
    assert held() == before
    assert model.scalar.item() == Net(0).scalar.item()
    optimizer.step()
    assert model.scalar.item() != Net(0).scalar.item()


def synced_values() -> bool:
    model = Net(dist.get_rank())
    mt.sync_module(model)
    assert not model.strided.is_contiguous()
    assert model.tied.weight is model.second.weight
    return same(tensors(model), tensors(Net(0)))


@pytest.mark.parametrize("size", [2, 3])
def test_sync_copies_rank_0_in_place_whatever_strides_and_dtypes(size: int) -> None:
    assert all(run(size, synced_values))


def test_sync_leaves_gradients_and_optimizers_to_go_on() -> None:
    run(2, goes_on)


def wrapped() -> None:
    model = DistributedDataParallel(Net(0))
    mt.assert_replicated(model)
    if dist.get_rank():
        with torch.no_grad():
            model.module.first.weight.add_(1)
    assert "'module.first.weight'" in refusal(mt.assert_replicated, model)
    mt.sync_module(model)
    mt.assert_replicated(model)


def test_it_sees_what_moves_apart_under_ddp() -> None:
    run(2, wrapped)


# -- what cannot be compared --------------------------------------------------------------------------------


def other_shape(call: str) -> str:
    model = Net(7 + dist.get_rank(), width=5 + (dist.get_rank() == 2))
    before = tensors(model)
    words = refusal(getattr(mt, call), model)
    assert same(tensors(model), before)
    return words


def other_dtype(call: str) -> str:
    return refusal(getattr(mt, call), nn.Linear(2, 2).to(torch.float64 if dist.get_rank() == 1 else torch.float32))


def other_names(call: str) -> str:
    return refusal(getattr(mt, call), nn.Linear(2, 2, bias=dist.get_rank() != 1))


def no_module(call: str) -> str:
    return refusal(getattr(mt, call), "model" if dist.get_rank() == 1 else nn.Linear(2, 2))


def meta(call: str) -> str:
    return refusal(getattr(mt, call), nn.Linear(2, 2, device="meta" if dist.get_rank() == 1 else "cpu"))


def lazy(call: str) -> str:
    return refusal(getattr(mt, call), nn.LazyLinear(2))


def sparse(call: str) -> str:
    model = nn.Linear(2, 2)
    model.register_buffer("graph", torch.eye(3).to_sparse())
    return refusal(getattr(mt, call), model)


@pytest.mark.parametrize("call", ["assert_replicated", "sync_module"])
@pytest.mark.parametrize(
    ("case", "said"),
    [
        (other_shape, "'first.weight' is float32 of shape (6, 3) on rank 2, float32 of shape (5, 3) on rank 0"),
        (other_dtype, "'weight' is float64 of shape (2, 2) on rank 1, float32 of shape (2, 2) on rank 0"),
        (other_names, "'bias' is not there on rank 1, float32 of shape (2,) on rank 0"),
        (no_module, "rank 1: module must be a torch.nn.Module, got str"),
        (meta, "rank 1: module: 'weight' is on the meta device"),
        (lazy, "module: 'weight' has no shape yet"),
        (sparse, "module: 'graph' is no dense tensor"),
    ],
)
def test_modules_that_are_not_alike_are_refused_on_every_rank(call: str, case: Any, said: str) -> None:
    words = run(3, case, call)
    assert words == words[:1] * 3
    assert said in words[0]


def expanded() -> str:
    model = Net(dist.get_rank())
    model.register_buffer("wide", torch.randn(1).expand(4))
    before = tensors(model)
    words = refusal(mt.sync_module, model)
    assert same(tensors(model), before)
    return words


def test_a_tensor_whose_elements_share_memory_is_not_written_to_nor_is_any_other() -> None:
    assert all("'wide' was expanded" in words for words in run(2, expanded))


def of_two() -> str | None:
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    rank = dist.get_rank()
    model = small(rank // 2)
    mt.assert_replicated(model, pairs[rank // 2])
    words = refusal(mt.assert_replicated, model)
    assert "ranks 2, 3 is not that of rank 0" in words
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("outer", "inner"))
    mt.sync_module(model, mesh["outer"])  # 0 with 2, 1 with 3
    mt.assert_replicated(model)
    return refusal(mt.assert_replicated, model, pairs[1 - rank // 2])


def test_a_group_may_be_some_of_the_ranks() -> None:
    assert all("this process is not in it" in words for words in run(4, of_two))


# -- in shards ----------------------------------------------------------------------------------------------


def sharded(seed: int, mesh: Any) -> Any:
    model = small(seed)
    fully_shard(model[0], mesh=mesh)
    return fully_shard(model, mesh=mesh)


def bump(model: nn.Module) -> None:
    with torch.no_grad():
        next(model.parameters()).to_local().add_(1)


def one_mesh() -> None:
    model = sharded(0, init_device_mesh("cpu", (dist.get_world_size(),)))
    mt.assert_replicated(model)
    with torch.no_grad():
        model(torch.ones(2, 5))  # leaves the parameters whole until the next backward
    mt.assert_replicated(model)
    if dist.get_rank() == 1:
        bump(model)  # a shard that nobody else has
    mt.assert_replicated(model)
    mt.sync_module(model)
    mt.assert_replicated(model)


@pytest.mark.parametrize("size", [2, 3])
def test_a_shard_of_one_rank_alone_has_nothing_to_differ_from(size: int) -> None:
    run(size, one_mesh)


def two_meshes() -> list[str]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    said = []
    for axes in (mesh, mesh["shard"]):  # the second has a mesh for each row, of which FSDP2 knows one
        model = sharded(0, axes)
        mt.assert_replicated(model)
        if dist.get_rank() == 3:
            bump(model)
        said.append(refusal(mt.assert_replicated, model))
        mt.sync_module(model)
        mt.assert_replicated(model)
        assert all(
            torch.equal(p.full_tensor(), q) for p, q in zip(model.parameters(), small(0).parameters(), strict=True)
        )
    return said


def test_copies_of_a_shard_are_compared_and_synced_on_one_mesh_of_two_dimensions_and_on_two_meshes() -> None:
    for words in run(4, two_meshes):
        assert [word.split(";")[0] for word in words] == ["module: '0.weight' of rank 3 is not that of rank 1"] * 2


def sharded_on_some() -> str:
    mesh = init_device_mesh("cpu", (2,))
    return refusal(mt.assert_replicated, sharded(0, mesh) if dist.get_rank() else small(0))


def test_shards_are_not_compared_with_wholes() -> None:
    for words in run(2, sharded_on_some):
        assert "'0.weight' is float32 of shape (7, 5) in shards (Shard(dim=0),) on rank 1" in words


def old_fsdp() -> str:
    import warnings

    from torch.distributed.fsdp import FullyShardedDataParallel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FullyShardedDataParallel(small(0), device_id=torch.device("cpu"))
    return refusal(mt.assert_replicated, model)


def test_fsdp1_is_refused() -> None:
    assert all("use fully_shard (FSDP2)" in words for words in run(2, old_fsdp))
