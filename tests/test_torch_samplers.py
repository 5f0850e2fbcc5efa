"""PartSampler and DomainSampler: on real ranks the serial gradient, as many steps on each, and runs that go on."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from meshes import quads

import meshpart
from meshpart import ArgumentError

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from samples import LARGE, SMALL, Net, difference, gradient_of, serial_gradient, write_sample  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: E402
from torch.utils.data import DataLoader, DistributedSampler  # noqa: E402

import meshpart.torch as mt  # noqa: E402

EXACT = 1e-12
SAMPLES = [(LARGE, 1), (SMALL, 3), (LARGE, 2)]  # with seven parts, two, and seven


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, str]]:
    """SAMPLES as `PartDataset` takes them."""
    folder = tmp_path_factory.mktemp("stores")
    seven = write_sample(folder / "seven", LARGE, 7, 1, 2)
    two = write_sample(folder / "two", SMALL, 2, 3)
    return [(seven, "sample 1"), (two, "sample 3"), (seven, "sample 2")]


def error_of(model: Any, graph: Any, refresh: Any = None) -> torch.Tensor:
    """The squared error of each owned row."""
    return (model(graph["x"], graph["edge_index"], refresh)[: graph["n_owned"]] - graph["y"]) ** 2


# -- more parts than ranks, and fewer -----------------------------------------------------------------------


def accumulate(stores: Any, shuffle: bool = False, filling: float = 0.0) -> tuple[list[Any], list[tuple[int, float]]]:
    """One epoch under DDP: the gradient after each sample, and what the steps used: owned rows and weight."""
    dataset = mt.PartDataset(stores)
    sampler = mt.PartSampler(dataset, shuffle=shuffle, seed=4)
    model = DDP(Net())
    gradients, used = [], []
    for part, graph in DataLoader(dataset, batch_size=None, sampler=sampler):
        used.append((graph["n_owned"], graph["weight"].item()))
        with nullcontext() if graph["last"] else model.no_sync():
            weight = graph["weight"].clamp(min=filling)
            mt.part_loss(error_of(model, graph), part.points.n_global, weight).backward()
        if graph["last"]:
            gradients.append(gradient_of(model.module))
            model.zero_grad()
    return gradients, used


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_seven_parts_and_two_on_any_number_of_ranks_give_the_serial_gradient(size, stores):
    answers = run(size, accumulate, stores)
    expected = [serial_gradient(mesh, seed) for mesh, seed in SAMPLES]
    for gradients, _ in answers:
        assert [difference(*pair) < EXACT for pair in zip(gradients, expected, strict=True)] == [True] * 3
    steps = 2 * -(-7 // size) + -(-2 // size)
    assert [len(used) for _, used in answers] == [steps] * size
    used = sum(n_owned * weight for _, used in answers for n_owned, weight in used)
    assert used == 2 * LARGE.n_points + SMALL.n_points, "each row once"


def test_a_part_that_fills_up_is_wrong_with_the_weight_1(stores):
    (gradients, _), *_ = run(3, accumulate, stores, False, 1.0)
    expected = [serial_gradient(mesh, seed) for mesh, seed in SAMPLES]
    assert all(difference(*pair) > 0.01 for pair in zip(gradients, expected, strict=True))


def test_shuffled_samples_keep_their_parts_together(stores):
    dataset = mt.PartDataset(stores)
    order = {}
    for epoch in range(8):
        samplers = [mt.PartSampler(dataset, rank=rank, size=3, shuffle=True, seed=4) for rank in range(3)]
        for sampler in samplers:
            sampler.set_epoch(epoch)
        turns = list(zip(*samplers, strict=True))
        assert len(turns) == len(samplers[0]) == 7
        assert sorted(turn.item for step in turns for turn in step if turn.weight) == list(range(16))
        assert [len({turn.last for turn in step}) for step in turns] == [1] * 7, "all ranks end a sample at once"
        bounds = [0, *(step + 1 for step in range(7) if turns[step][0].last)]
        samples = [
            {int(np.searchsorted([7, 9], turn.item, "right")) for step in turns[begin:end] for turn in step}
            for begin, end in pairwise(bounds)
        ]
        order[epoch] = [sample for (sample,) in samples]
        assert sorted(order[epoch]) == [0, 1, 2]
    assert len(set(map(tuple, order.values()))) > 2
    (gradients, _), *_ = run(3, accumulate, stores, True)
    expected = [serial_gradient(*SAMPLES[sample]) for sample in order[0]]
    assert [difference(*pair) < EXACT for pair in zip(gradients, expected, strict=True)] == [True] * 3


def test_without_shuffle_epochs_are_alike_and_seeds_differ_with_it(stores):
    def items(epoch: int, **options: Any) -> list[mt.Turn]:
        sampler = mt.PartSampler(mt.PartDataset([stores[0]] * 9), rank=0, size=3, **options)
        sampler.set_epoch(epoch)
        return list(sampler)

    assert items(0) == items(5)
    assert items(0, shuffle=True) == items(0, shuffle=True, seed=0) != items(0, shuffle=True, seed=1)
    assert items(1, shuffle=True) != items(0, shuffle=True, seed=1), "as seed + epoch would be"


def in_a_subgroup(stores: Any, kind: str) -> Any:
    """Work in ranks 1 and 3 of four (the others must not): their gradient, averaged over the two."""
    if kind == "group":
        group = dist.new_group([1, 3])
        if dist.get_rank() in (0, 2):
            with pytest.raises(ArgumentError, match="group: this process is not in it"):
                mt.PartSampler(mt.PartDataset(stores), group)
            return None
    else:
        group = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))["a"]  # 0 and 2, 1 and 3
    dataset = mt.PartDataset(stores)
    sampler = mt.PartSampler(dataset, group)
    assert (sampler.rank, sampler.size) == (dist.get_rank() // 2, 2)
    model = Net()
    for part, graph in DataLoader(dataset, batch_size=None, sampler=sampler):
        mt.part_loss(error_of(model, graph), part.points.n_global, graph["weight"], group).backward()
    gradient = torch.from_numpy(gradient_of(model))
    dist.all_reduce(gradient, group=group if kind == "group" else group.get_group())
    return (gradient / 2).numpy()


@pytest.mark.parametrize("kind", ["group", "mesh"])
def test_parts_are_dealt_to_two_ranks_of_four(stores, kind):
    answers = run(4, in_a_subgroup, stores[:1], kind)
    working = [1, 3] if kind == "group" else range(4)
    assert all(difference(answers[rank], serial_gradient(LARGE, 1)) < EXACT for rank in working)


def test_without_torch_distributed_one_process_works_on_all_parts_or_is_told_its_rank(stores):
    assert not dist.is_initialized()
    dataset = mt.PartDataset(stores[0])
    alone = mt.PartSampler(dataset)
    assert list(alone) == [mt.Turn(item, 1.0, last=item == 6) for item in range(7)]
    total = np.zeros_like(serial_gradient(LARGE, 1))
    for rank in range(3):
        model = Net()
        for part, graph in DataLoader(dataset, batch_size=None, sampler=mt.PartSampler(dataset, rank=rank, size=3)):
            mt.part_loss(error_of(model, graph), part.points.n_global, graph["weight"]).backward()
        total += gradient_of(model)
    assert difference(total, serial_gradient(LARGE, 1)) < EXACT


# -- data-parallel x domain ---------------------------------------------------------------------------------


def two_by_two(stores: Any, weighted: bool) -> tuple[Any, list[int], list[float]]:
    """Two replicas of two ranks, three samples: the gradient of the epoch, the samples and the weights of this rank."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    dataset = mt.PartDataset(stores, part=mesh.get_local_rank("domain"), steps=1)
    sampler = mt.DomainSampler(dataset, mesh)
    halo = mt.Halo(dataset[0][0], group=mesh["domain"])
    model = DDP(Net())
    weights = []
    for step, (part, graph) in enumerate(DataLoader(dataset, batch_size=None, sampler=sampler), 1):
        assert part.run == halo.part.run
        weights.append(graph["weight"].item())
        with nullcontext() if step == len(sampler) else model.no_sync():
            loss = halo.loss(error_of(model, graph, halo.refresh))
            (loss * graph["weight"] if weighted else loss).backward()
    return gradient_of(model.module), [turn.item for turn in sampler], weights


def test_replicas_work_on_different_samples_and_the_ranks_of_a_domain_on_the_same(tmp_path):
    store = write_sample(tmp_path / "two", LARGE, 2, 1, 2, 3, layers=1)
    samples = [(store, f"sample {seed}") for seed in (1, 2, 3)]
    answers = run(4, two_by_two, samples, True)
    assert [items for _, items, _ in answers] == [[0, 2], [0, 2], [1, 0], [1, 0]]
    assert [weights for *_, weights in answers] == [[1, 1], [1, 1], [1, 0], [1, 0]]
    expected = sum(serial_gradient(LARGE, seed) for seed in (1, 2, 3)) / 2
    assert all(difference(gradient, expected) < EXACT for gradient, *_ in answers)
    for gradient, *_ in run(4, two_by_two, samples, False):
        assert difference(gradient, expected) > 0.01, "without the weight a sample counts twice"


def dealt(sampler: str) -> list[int]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("domain", "replica"))
    if sampler == "torch":
        return list(DistributedSampler(range(12)))
    return [turn.item for turn in mt.DomainSampler(range(12), mesh, "replica", shuffle=True)]


def test_the_distributed_sampler_of_torch_gives_the_ranks_of_one_domain_different_samples():
    domains = [(0, 2), (1, 3)]
    theirs, ours = run(4, dealt, "torch"), run(4, dealt, "ours")
    assert all(not {*theirs[a]} & {*theirs[b]} for a, b in domains)
    assert all(ours[a] == ours[b] for a, b in domains)
    assert sorted(ours[0] + ours[1]) == list(range(12))
    assert ours[0] != sorted(ours[0])


@pytest.mark.parametrize("n_samples", [1, 2, 5, 8, 9])
@pytest.mark.parametrize("replicas", [1, 2, 3, 8])
def test_all_replicas_take_as_many_steps_and_each_sample_counts_once(n_samples, replicas):
    samplers = [mt.DomainSampler(range(n_samples), replicas=replicas, replica=r, shuffle=True) for r in range(replicas)]
    turns = [list(sampler) for sampler in samplers]
    assert (
        [len(mine) for mine in turns]
        == [len(sampler) for sampler in samplers]
        == [-(-n_samples // replicas)] * replicas
    )
    assert sorted(turn.item for mine in turns for turn in mine if turn.weight) == list(range(n_samples))
    assert all(turn.last for mine in turns for turn in mine)
    order = [turn.item for step in zip(*turns, strict=True) for turn in step if turn.weight]
    alone = mt.DomainSampler(range(n_samples), replicas=1, replica=0, shuffle=True)
    assert order == [turn.item for turn in alone], "as one after another in a serial run"
    if n_samples < replicas:
        with pytest.raises(ArgumentError, match=f"drop_last leaves nothing of {n_samples} samples for {replicas} repl"):
            mt.DomainSampler(range(n_samples), replicas=replicas, replica=0, drop_last=True)
        return
    whole = [
        list(mt.DomainSampler(range(n_samples), replicas=replicas, replica=r, shuffle=True, drop_last=True))
        for r in range(replicas)
    ]
    kept = n_samples // replicas * replicas
    assert [item for step in zip(*whole, strict=True) for item in step] == order[:kept]


def test_without_torch_distributed_there_is_one_replica():
    assert [turn.item for turn in mt.DomainSampler(range(3))] == [0, 1, 2]


# -- runs that go on ----------------------------------------------------------------------------------------


def test_a_run_goes_on_where_its_sampler_was_saved(stores, tmp_path):
    def make() -> mt.DomainSampler:
        return mt.DomainSampler(range(11), replicas=2, replica=1, shuffle=True, seed=3)

    sampler = make()
    sampler.set_epoch(2)
    whole = list(sampler)
    iterator = iter(sampler)
    first = [next(iterator) for _ in range(4)]
    torch.save(sampler.state_dict(), tmp_path / "state.pt")
    other = make()
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    other.set_epoch(2)  # as the loop over epochs does
    again = iter(other)
    rest = [next(again)]
    state = other.state_dict(consumed=1)
    rest += again
    assert first + rest == whole
    third = make()
    third.load_state_dict(state)
    assert list(third) == whole[5:]
    assert list(third) == whole, "the next iteration is a whole one"
    other.load_state_dict(state)
    other.set_epoch(3)
    assert list(other) == [sampler.set_epoch(3), *sampler][1:], "and so is another epoch"
    ended = sampler.state_dict()
    third.load_state_dict(ended)
    assert list(third) == []


def test_with_workers_the_state_is_that_of_the_items_which_the_loop_had(stores):
    dataset = mt.PartDataset(stores)

    def make() -> tuple[mt.PartSampler, Any]:
        sampler = mt.PartSampler(dataset, rank=0, size=2)
        return sampler, DataLoader(dataset, batch_size=None, sampler=sampler, num_workers=1)

    sampler, loader = make()
    whole = [(part.run, part.part) for part, _ in loader]
    iterator = iter(loader)
    first = [next(iterator) for _ in range(3)]
    ahead, state = sampler.state_dict(), sampler.state_dict(consumed=3)
    del iterator
    assert ahead["position"] > state["position"] == 3, "the sampler has given out more than that"
    again, rest = make()
    again.load_state_dict(state)
    assert [(part.run, part.part) for items in (first, rest) for part, _ in items] == whole


def test_a_state_of_another_layout_is_refused(stores):
    domain = mt.DomainSampler(range(11), replicas=2, replica=1)
    part = mt.PartSampler(mt.PartDataset(stores), rank=0, size=3)
    state = domain.state_dict()
    for other, message in [
        (mt.DomainSampler(range(11), replicas=3, replica=0), "replicas=2, here replicas=3"),
        (mt.DomainSampler(range(12), replicas=2, replica=0), "samples=11, here samples=12"),
        (mt.DomainSampler(range(11), replicas=2, replica=0, shuffle=True), "shuffle=False, here shuffle=True"),
        (mt.DomainSampler(range(11), replicas=2, replica=0, seed=1), "seed=0, here seed=1"),
        (mt.DomainSampler(range(11), replicas=2, replica=0, drop_last=True), "drop_last=False, here drop_last=True"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            other.load_state_dict(state)
    with pytest.raises(ArgumentError, match="size=3, here size=2"):
        mt.PartSampler(mt.PartDataset(stores), rank=0, size=2).load_state_dict(part.state_dict())
    with pytest.raises(ArgumentError, match=r"with dataset=[0-9a-f]+, here dataset=[0-9a-f]+: its position"):
        mt.PartSampler(mt.PartDataset(stores[::-1]), rank=0, size=3).load_state_dict(part.state_dict())
    for wrong in (None, {}, {**state, "more": 1}):
        with pytest.raises(ArgumentError, match="state_dict must be that of a DomainSampler, with epoch, position"):
            domain.load_state_dict(wrong)
    with pytest.raises(ArgumentError, match="position of state_dict must be between 0 and 6, got 7"):
        domain.load_state_dict({**state, "position": 7})
    with pytest.raises(ArgumentError, match="consumed must be between 0 and 6, got 7"):
        domain.state_dict(consumed=7)
    with pytest.raises(ArgumentError, match="epoch must be at least 0, got -1"):
        domain.set_epoch(-1)
    domain.load_state_dict(mt.DomainSampler(range(11), replicas=2, replica=0).state_dict())  # any rank's will do


# -- refused ------------------------------------------------------------------------------------------------


def test_ranks_that_cannot_be_right_are_refused(stores):
    dataset, one = mt.PartDataset(stores), mt.PartDataset(stores, part=1)
    for given, options, message in [
        (one, {}, "dataset has part 1 alone: leave part out"),
        (range(3), {}, "dataset must be a PartDataset, got range"),
        (dataset, {"rank": 0}, "rank and size are needed together, got rank=0 and size=None"),
        (dataset, {"rank": 3, "size": 3}, "rank must be between 0 and 2, got 3"),
        (dataset, {"rank": 0, "size": 0}, "size must be between 1 and"),
        (dataset, {"group": 1}, "group must be a ProcessGroup, a DeviceMesh or None, got int"),
        (dataset, {"group": 1, "rank": 0, "size": 1}, "group is given, and rank and size too"),
        (dataset, {"shuffle": 1}, "shuffle must be True or False, got 1"),
        (dataset, {"seed": -1}, "seed must be at least 0, got -1"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            mt.PartSampler(given, **options)
    for given, options, message in [
        (dataset, {}, "dataset has all parts of each sample, .* give the part of this rank, or use PartSampler"),
        ([], {}, "dataset is empty"),
        (3, {}, "dataset must have a length, got int"),
        (one, {"mesh": 3}, "mesh must be a DeviceMesh, got int"),
        (one, {"mesh": 3, "replicas": 1, "replica": 0}, "mesh is given, and replicas and replica too"),
        (one, {"replicas": 2}, "replica and replicas are needed together, got replica=None and replicas=2"),
        (one, {"replicas": 2, "replica": 2}, "replica must be between 0 and 1, got 2"),
        (one, {"drop_last": None}, "drop_last must be True or False, got None"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            mt.DomainSampler(given, **options)


def wrong_meshes() -> None:
    with pytest.raises(ArgumentError, match="mesh is needed to tell the domains of 4 ranks, or replicas and replica"):
        mt.DomainSampler(range(3))
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    with pytest.raises(ArgumentError, match=r"no dimension 'data' \(dp\), its dimensions are 'dp', 'domain'"):
        mt.DomainSampler(range(3), mesh, "data")
    with pytest.raises(ArgumentError, match="2 replicas x 1 ranks of a domain = 2 ranks, the world has 4"):
        mt.DomainSampler(range(3), mesh["dp"])
    with pytest.raises(ArgumentError, match=r"no dimension 'dp' \(dp\), its dimensions are none"):
        mt.DomainSampler(range(3), init_device_mesh("cpu", (4,)))
    everyone = mt.DomainSampler(range(3), init_device_mesh("cpu", (4,), mesh_dim_names=("dp",)))
    assert (everyone.replica, everyone.replicas) == (dist.get_rank(), 4)


def test_a_mesh_that_is_not_of_the_whole_world_or_lacks_the_dimension_is_refused():
    run(4, wrong_meshes)


def different_orders(stores: Any) -> None:
    mine = stores if dist.get_rank() != 1 else stores[::-1]
    with pytest.raises(
        ArgumentError, match=r"the same samples in the same order: the hash .* on rank 0 and .* on rank 1"
    ):
        mt.PartSampler(mt.PartDataset(mine))
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "domain"))
    with pytest.raises(ArgumentError, match="the same samples in the same order"):
        mt.DomainSampler(mt.PartDataset(mine, part=0), mesh)
    with pytest.raises(ArgumentError, match="the samplers of the ranks differ: seed is 0 on rank 0 and 1 on rank 1"):
        mt.PartSampler(mt.PartDataset(stores), seed=dist.get_rank())
    with pytest.raises(ArgumentError, match="seed must be an integer, got None"):
        mt.PartSampler(mt.PartDataset(stores), seed=0 if dist.get_rank() != 2 else None)


def test_ranks_that_list_their_stores_in_different_orders_all_raise(stores):
    run(4, different_orders, stores)


def test_parts_of_a_smaller_mesh_than_there_are_ranks_have_rows_once_too(tmp_path):
    mesh = quads(2, 1)
    meshpart.write_parts(meshpart.split(mesh, [0, 1], ghost_layers=1), tmp_path / "two")
    dataset = mt.PartDataset(tmp_path / "two")
    samplers = [mt.PartSampler(dataset, rank=rank, size=5) for rank in range(5)]
    assert [list(sampler) for sampler in samplers] == [[mt.Turn(rank % 2, float(rank < 2))] for rank in range(5)]
