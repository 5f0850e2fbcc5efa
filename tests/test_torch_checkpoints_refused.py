"""Checkpoints that cannot be saved or loaded: the same error on every rank, and nothing is changed."""

from __future__ import annotations

import os
import pickle
import resource
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402
from ranks import run  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402

import meshpart.torch as mt  # noqa: E402
from meshpart.errors import ArgumentError, FormatError, MeshpartError  # noqa: E402


def net(seed: int = 0, width: int = 7, **options: Any) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, width, **options), nn.Tanh(), nn.Linear(width, 3, **options))


def sharded(model: nn.Module) -> Any:
    return fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))


def adam(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters())


def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.ones(2, 5)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> bytes:
    """All bits of both that are on this rank."""
    return pickle.dumps(
        [
            [p.to_local() if hasattr(p, "to_local") else p.detach() for p in model.parameters()],
            [[v.to_local() if hasattr(v, "to_local") else v for v in s.values()] for s in optimizer.state.values()],
            [{**group, "params": None} for group in optimizer.param_groups],
        ]
    )


def refusal(kind: type[Exception], call: Any, *given: Any, **options: Any) -> str:
    """The words of the error that a call raises."""
    with pytest.raises(MeshpartError) as caught:
        call(*given, **options)
    assert type(caught.value) is kind
    return str(caught.value)


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with a checkpoint of `net()` and its optimizer after one step, saved by two ranks."""
    file = str(tmp_path / "model.pt")
    run(2, saved, file)
    return file


def saved(path: str) -> None:
    model = sharded(net())
    optimizer = adam(model)
    step(model, optimizer)
    mt.save_full_checkpoint(path, model, optimizer, epoch=1, order=mt.PerRank(torch.arange(9)))


# -- saving -------------------------------------------------------------------------------------------------


def not_saved(path: str, kind: type[Exception], case: Any) -> str:
    model = sharded(net(1))
    optimizer = adam(model)
    step(model, optimizer)
    before = state_of(model, optimizer)
    given = {"path": path, "model": model, "optimizer": optimizer, **case(model)}
    words = refusal(kind, mt.save_full_checkpoint, **given)
    assert state_of(model, optimizer) == before
    return words


def of_rank_1(value: Any, other: Any = 0) -> Any:
    return value if dist.get_rank() == 1 else other


def loop() -> list[Any]:
    """What holds itself."""
    held: list[Any] = []
    held.append(held)
    return held


DIFFERENT = "the ranks hold different ones"
SAVES = {
    "a large integer": (lambda m: {"x": [of_rank_1(1 << 2039)]}, "extra 'x'[0] is an integer of 2040 bits, a safe"),
    "an integer too large to print": (lambda m: {"x": of_rank_1(10**5000)}, "extra 'x' is an integer of 16610 bits"),
    "what holds itself": (lambda m: {"x": of_rank_1(loop())}, "extra 'x' is nested more than 100 deep, or holds its"),
    "a numpy number": (lambda m: {"loss": np.float64(1)}, "extra 'loss' is a float64, which a safe loader refuses"),
    "a numpy array": (lambda m: {"x": [np.ones(1)]}, "extra 'x'[0] is a ndarray, which a safe loader refuses"),
    "a path": (lambda m: {"c": {"at": Path("x")}}, "extra 'c'['at'] is a PosixPath, which a safe loader refuses"),
    "a function": (lambda m: {"c": [0, (refusal,)]}, "extra 'c'[1][0] is a function, which a safe loader refuses"),
    "a key": (lambda m: {"c": {np.int64(1): 0}}, "a key of extra 'c' is a int64, which a safe loader refuses"),
    "in one of each rank": (lambda m: {"x": mt.PerRank([len])}, "extra 'x'[0] is a builtin_function_or_method"),
    "one within another": (lambda m: {"x": [mt.PerRank(1)]}, "extra 'x'[0] is a PerRank"),
    "shards": (lambda m: {"w": m[0].weight}, "extra 'w' is a DTensor, not a plain tensor: give its full_tensor()"),
    "sparse": (lambda m: {"w": torch.eye(2).to_sparse()}, "extra 'w' is no dense tensor"),
    "on one rank": (lambda m: {"c": of_rank_1(len)}, "rank 1: extra 'c' is a builtin_function_or_method"),
    "unlike": (lambda m: {"c": of_rank_1(1)}, "extra 'c' is 1 on rank 1, 0 on rank 0; PerRank(value) keeps"),
    "unlike tensors": (
        lambda m: {"c": of_rank_1(torch.ones(2), torch.zeros(2))},
        "'c' is float32 of shape (2,) (hash",
    ),
    "unlike names": (lambda m: of_rank_1({"c": 1}, {}), "extra 'c' is 1 on rank 1, not there on rank 0"),
    "of each and of all": (lambda m: {"c": of_rank_1(mt.PerRank(1))}, "extra 'c' is a PerRank on rank 1, 0 on rank 0"),
    "no model": (lambda m: {"model": m.state_dict()}, "model must be a torch.nn.Module, got OrderedDict"),
    "unlike models": (
        lambda m: {"model": net(0, 7 + of_rank_1(1)), "optimizer": None},
        DIFFERENT,
    ),
    "a model on meta": (lambda m: {"model": net(device="meta"), "optimizer": None}, "is on the meta device"),
    "unlike optimizers": (
        lambda m: {"optimizer": of_rank_1(torch.optim.AdamW, torch.optim.Adam)(m.parameters())},
        "class is AdamW on rank 1, Adam on rank 0",
    ),
    "no optimizer": (lambda m: {"optimizer": "adam"}, "optimizer must be a torch.optim.Optimizer, got str"),
    "a foreign optimizer": (lambda m: {"optimizer": adam(net())}, "optimizer has a parameter that the model has not"),
    "an optimizer's rate": (
        lambda m: {"optimizer": torch.optim.SGD(m.parameters(), lr=np.float64(1))},
        "optimizer['param_groups'][0]['lr'] is a float64, which a safe loader refuses",
    ),
    "no path": (lambda m: {"path": 3}, "path must be a path, got 3"),
    "no group": (lambda m: {"group": "world"}, "group must be a ProcessGroup, a DeviceMesh or None, got str"),
}


@pytest.mark.parametrize("case", SAVES)
def test_what_cannot_be_saved_is_said_on_every_rank_and_the_older_file_stays(case: str, path: str) -> None:
    before = Path(path).read_bytes()
    words = run(2, not_saved_case, path, case)
    assert words == words[:1] * 2
    assert SAVES[case][1] in words[0]
    assert Path(path).read_bytes() == before
    assert names_in(Path(path).parent) == ["model.pt"]


def not_saved_case(path: str, case: str) -> str:
    return not_saved(path, ArgumentError, SAVES[case][0])


def not_written(path: str) -> str:
    return not_saved(path, FormatError, lambda m: {})


def test_a_place_where_nothing_can_be_written_is_said_on_every_rank(tmp_path: Path) -> None:
    for place, said in ((tmp_path / "none" / "model.pt", "there is no folder"), (tmp_path, "is no regular file")):
        words = run(2, not_written, str(place))
        assert words == words[:1] * 2
        assert said in words[0]
    assert names_in(tmp_path) == []


def on_a_full_disk(path: str) -> str:
    """As a full disk does, the system ends writing after some bytes on rank 0."""
    if dist.get_rank():
        return not_written(path)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        return not_written(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_disk_that_fills_up_is_said_on_every_rank_and_the_older_file_stays(path: str) -> None:
    before = Path(path).read_bytes()
    words = run(2, on_a_full_disk, path)
    assert words == words[:1] * 2
    assert "cannot write there: File too large" in words[0]
    assert Path(path).read_bytes() == before
    assert names_in(Path(path).parent) == ["model.pt"]


# -- loading ------------------------------------------------------------------------------------------------


def not_loaded(path: str, kind: type[Exception], case: str | None = None) -> str:
    model = sharded(net(1))
    optimizer = adam(model)
    step(model, optimizer)
    given = {"model": model, "optimizer": optimizer}
    if case:
        given.update(LOADS[case][0](model))
    optimizer = given["optimizer"] if isinstance(given["optimizer"], torch.optim.Optimizer) else optimizer
    model = given["model"] if isinstance(given["model"], nn.Module) else model
    before = state_of(model, optimizer)
    words = refusal(kind, mt.load_full_checkpoint, path, **given)
    assert state_of(model, optimizer) == before
    return words


def two_groups(model: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam([{"params": model[0].parameters()}, {"params": model[2].parameters()}])


def expanded() -> nn.Module:
    model = net(1)
    model.register_buffer("wide", torch.ones(1).expand(2))
    return model


LOADS: dict[str, Any] = {
    "wider": (
        lambda m: {"model": net(1, 8), "optimizer": None},
        "'0.weight' is float32 of shape (7, 5) in the file",
    ),
    "double": (lambda m: {"model": m.double(), "optimizer": None}, "and float64 of shape (7, 5) in the model"),
    "more": (lambda m: {"model": m.append(nn.Linear(3, 1)), "optimizer": None}, "'3.weight' is not in the file"),
    "less": (
        lambda m: {"model": m[:2], "optimizer": None},
        "'2.weight' is in the file only; '2.bias'",
    ),
    "unlike": (
        lambda m: {"model": net(0, 7 + of_rank_1(1)), "optimizer": None},
        DIFFERENT,
    ),
    "no model": (lambda m: {"model": of_rank_1(3, m)}, "rank 1: model must be a torch.nn.Module, got int"),
    "SGD": (
        lambda m: {"optimizer": torch.optim.SGD(m.parameters())},
        "SGD, that in the file is of class Adam",
    ),
    "groups": (
        lambda m: {"optimizer": two_groups(m)},
        "of 2, 2 parameters, that in the file has groups of 4,",
    ),
    "foreign": (lambda m: {"optimizer": adam(net())}, "optimizer has a parameter that the model has not"),
    "unlike groups": (
        lambda m: {"optimizer": of_rank_1(two_groups, adam)(m)},
        DIFFERENT,
    ),
    "unlike optimizers": (
        lambda m: {"optimizer": of_rank_1(torch.optim.AdamW, torch.optim.Adam)(m.parameters())},
        "class is AdamW on rank 1, Adam on rank 0",
    ),
    "on one rank": (lambda m: {"optimizer": of_rank_1(None, adam(m))}, DIFFERENT),
    "expanded": (lambda m: {"model": expanded(), "optimizer": None}, "'wide' was expanded, several of its elements"),
    "made for inference": (
        lambda m: {"model": torch.inference_mode()(net)(1), "optimizer": None},
        "'0.weight' was made in inference mode",
    ),
    "per_rank on one rank": (lambda m: {"per_rank": bool(of_rank_1(1))}, "per_rank is True on rank 1, False on rank 0"),
    "per_rank": (lambda m: {"per_rank": 1}, "per_rank must be True or False, got 1"),
}


@pytest.mark.parametrize("case", LOADS)
def test_what_does_not_fit_is_said_on_every_rank_and_nothing_is_changed(case: str, path: str) -> None:
    words = run(2, not_loaded, path, ArgumentError, case)
    assert words == words[:1] * 2
    assert LOADS[case][1] in words[0]


def saved_without(path: str) -> None:
    mt.save_full_checkpoint(path, sharded(net()))


def test_a_file_without_an_optimizer_gives_none(path: str) -> None:
    run(2, saved_without, path)
    words = run(2, not_loaded, path, ArgumentError)
    assert words == ["rank 0: optimizer: the file has none; it was saved without"] * 2


def rows_and_columns() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = net()
    optimizer = torch.optim.Adafactor(model.parameters())
    step(model, optimizer)
    return model, optimizer


def not_cut(path: str) -> str:
    model = sharded(net(1))
    return refusal(ArgumentError, mt.load_full_checkpoint, path, model, torch.optim.Adafactor(model.parameters()))


def test_a_state_that_has_not_its_parameters_shape_cannot_be_put_in_shards(tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    mt.save_full_checkpoint(path, *rows_and_columns())
    other = net(1), torch.optim.Adafactor
    mt.load_full_checkpoint(path, other[0], other[1](other[0].parameters()))  # whole it is fine
    for words in run(2, not_cut, path):
        assert "which is in shards and has the shape (7, 5): it cannot be cut likewise" in words


class Unsafe:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, (f"{os.environ['PLACE']}/ran",)


def test_a_file_that_is_no_checkpoint_is_said_on_every_rank(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, content = Path(path), Path(path).read_bytes()
    monkeypatch.setenv("PLACE", str(file.parent))
    kept = torch.load(file, weights_only=True)

    def said(words: str) -> None:
        answers = run(2, not_loaded, path, FormatError)
        assert answers == answers[:1] * 2
        assert words in answers[0]

    for length in (0, 10, 1000, len(content) - 1):
        file.write_bytes(content[:length])
        said("is no checkpoint, or not all of one")
    torch.save(Unsafe(), file)
    said("is no checkpoint: it holds more than tensors and plain values")
    assert not (file.parent / "ran").exists()
    torch.save(net().state_dict(), file)
    said("is no checkpoint of meshpart")
    for changed, words in (
        ({"version": 2}, "is a checkpoint of version 2, this meshpart knows 1"),
        ({"model": None}, "it has no model"),
        ({"optimizer": {"state": 3}}, "what the file has of an optimizer is no state of one"),
        ({"extra": {"x": torch.eye(2).to_sparse()}}, "no dense tensor"),
    ):
        torch.save({**kept, **changed}, file)
        said(words)
    file.unlink()
    said("No such file or directory")
    file.mkdir()
    said("Is a directory")
    file.rmdir()
    os.mkfifo(file)
    said("is no regular file")
