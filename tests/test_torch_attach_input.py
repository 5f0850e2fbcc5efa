"""meshpart.torch.attach_halo: which modules and arguments are meant, what is wrong, and models that are compiled."""

from __future__ import annotations

from typing import Any

import pytest
from meshes import quads

import meshpart
from meshpart import ArgumentError

torch = pytest.importorskip("torch")

from ranks import run  # noqa: E402
from serial_runs import Case, part_of  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper  # noqa: E402

import meshpart.torch as mt  # noqa: E402

# -- which modules ------------------------------------------------------------------------------------------


class Block(nn.Module):
    """What has arguments of all kinds."""

    def forward(self, x: Any, /, e: Any = None, *, u: Any = None) -> Any:
        return x, e, u


class Blocks(nn.Module):
    """Blocks in blocks, one of them twice."""

    def __init__(self) -> None:
        super().__init__()
        self.processor = nn.ModuleList(nn.ModuleDict({"edge": Block(), "node": Block()}) for _ in range(2))
        self.again = self.processor[0]["node"]
        self.last = nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return self.last(x)


def alone(**options: Any) -> mt.Halo:
    """Return the halo of a process alone: of 9 points, all owned."""
    return mt.Halo(meshpart.partition(quads(2, 2), 1, ghost_layers=1)[0], **options)


@pytest.mark.parametrize(
    ("before", "names"),
    [
        ("processor.*.edge", ["processor.0.edge", "processor.1.edge"]),
        ("processor.1.*", ["processor.1.edge", "processor.1.node"]),
        ("processor.[01].?dge", ["processor.0.edge", "processor.1.edge"]),
        ("again", ["again"]),  # which is processor.0.node too
        ("last", ["last"]),
        ("*", ["processor", "processor.0.node", "last"]),  # a star ends at a dot
        ("", [""]),
        (Block, ["processor.0.edge", "processor.0.node", "processor.1.edge", "processor.1.node"]),
        ((nn.Linear, "processor.0.edge", "processor.0.*"), ["last", "processor.0.edge", "processor.0.node"]),
    ],
)
def test_modules_are_chosen_by_class_or_name_and_have_one_hook_each(before, names):
    model = Blocks()
    attached = mt.attach_halo(model, alone(), before)
    modules = dict(model.named_modules(remove_duplicate=False))
    assert [modules[name] for name in attached.names] == [modules[name] for name in names]
    assert sum(len(module._forward_pre_hooks) for module in model.modules()) == len(names)
    attached.remove()
    assert sum(len(module._forward_pre_hooks) for module in model.modules()) == 0


def test_names_are_those_of_the_model_without_its_wrappers():
    model = Blocks()
    model.processor[0]["edge"] = checkpoint_wrapper(model.processor[0]["edge"])
    assert mt.attach_halo(model, alone(), "processor.*.edge").names == ("processor.0.edge", "processor.1.edge")
    assert len(model.processor[0]["edge"]._forward_pre_hooks) == 1  # the wrapper's, not that of what is in it
    assert mt.attach_halo(model, alone(), Block).names[0] == "processor.0.edge"


def test_a_model_is_not_changed_otherwise():
    model, other = Blocks(), Blocks()
    mt.attach_halo(model, alone(), Block)
    assert repr(model) == repr(other)
    assert list(model.state_dict()) == list(other.state_dict())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"before": nn.Conv1d}, "no module of the class Conv1d, it has 1 Blocks, .* 4 Block, .*1 Linear"),
        ({"before": "processor.edge"}, "no module named 'processor.edge', it has 'processor', .* and 3 more$"),
        ({"before": "*.edge"}, r"no module named '\*.edge'"),
        ({"before": (Block, "nothing")}, "no module named 'nothing'"),
        ({"before": ()}, "before names nothing"),
        ({"before": Block()}, "before must be a class of modules or a name, got"),
        ({"before": [Block]}, "before must be a class of modules or a name, got"),
        ({"arg": 2}, r"the forward of 'processor.0.edge' \(Block\) has no argument 2, it has x, e, u"),
        ({"arg": "y"}, "has no argument 'y', it has x, e, u"),
        ({"arg": -1}, "arg must be between 0 and .*, got -1"),
        ({"arg": 1.0}, "arg must be an integer"),
        ({"model": Blocks}, "model must be a torch.nn.Module, got type"),
        ({"halo": None}, "halo must be a Halo, got NoneType"),
    ],
)
def test_what_means_nothing_is_refused(given, says):
    model = Blocks()
    model.more = nn.Sequential(*(nn.Identity() for _ in range(5)))
    with pytest.raises(ArgumentError, match=says):
        mt.attach_halo(**{"model": model, "halo": alone(), "before": Block, **given})
    assert not any(module._forward_pre_hooks for module in model.modules())


# -- which argument -----------------------------------------------------------------------------------------


def arguments_of_all_kinds() -> None:
    halo = part_of(Case("island", "scattered"), 1)[1]
    fresh = halo.global_ids.double()
    stale = fresh.clone()
    stale[halo.n_owned :] = -1
    block = Block()

    def found(arg: int | str, *args: Any, **kwargs: Any) -> list[bool | None]:
        attached = mt.attach_halo(block, halo, Block, arg)
        out = block(*args, **kwargs)
        attached.remove()
        return [None if value is None else torch.equal(value, fresh) for value in out]

    assert not torch.equal(stale, fresh)
    assert found(0, stale, stale, u=stale) == [True, False, False]
    for arg in (1, "e"):
        assert found(arg, stale, stale) == [False, True, None]
        assert found(arg, stale, e=stale, u=stale) == [False, True, False]
    assert found("u", stale, u=stale) == [False, None, True]


def test_an_argument_is_found_by_position_or_name_however_it_is_given():
    run(2, arguments_of_all_kinds)


class Loose(nn.Module):
    def forward(self, *args: Any, **kwargs: Any) -> None:
        return None


@pytest.mark.parametrize(
    ("arg", "args", "kwargs", "says"),
    [
        (0, (), {}, r"argument 0 of 'part.inner' \(Loose\): x_local must be a torch.Tensor, got NoneType"),
        ("x", (), {}, "argument 'x' of 'part.inner'.*got NoneType"),
        ("x", (torch.ones(9),), {}, "argument 'x' of 'part.inner'.*got NoneType"),  # given without its name
        (1, (torch.ones(9), "far"), {}, "argument 1 of 'part.inner'.*must be a torch.Tensor, got str"),
        ("x", (), {"x": torch.ones(8, 2)}, r"argument 'x' of 'part.inner'.*n_local = 9 rows, got the shape \(8, 2\)"),
    ],
)
def test_a_wrong_argument_raises_when_the_module_is_called_and_is_named(arg, args, kwargs, says):
    model = nn.ModuleDict({"part": nn.ModuleDict({"inner": Loose()})})
    mt.attach_halo(model, alone(), Loose, arg)
    with pytest.raises(ArgumentError, match=says):
        model["part"]["inner"](*args, **kwargs)


def wrong_on_one_rank() -> str:
    part = part_of(Case("island", "scattered"), 1)[0]
    halo = mt.Halo(part, check=True)
    block = Block()
    mt.attach_halo(block, halo, Block)
    with pytest.raises(ArgumentError) as raised:
        block(torch.ones(halo.n_local - halo.group.rank))
    return str(raised.value)


def test_with_check_a_wrong_argument_raises_on_all_ranks():
    here, there = run(2, wrong_on_one_rank)
    assert here == there
    assert here.startswith("argument 0 of the model (Block): rank 1: x_local must have n_local")


# -- compiled models ----------------------------------------------------------------------------------------


def test_torch_ignores_hooks_that_come_after_the_first_compiled_call():
    torch._dynamo.reset()
    inner = nn.Sequential(nn.ReLU())
    model = torch.compile(inner, backend="eager")
    assert model(torch.ones(2)).tolist() == [1, 1]
    inner[0].register_forward_pre_hook(lambda module, args: (2 * args[0],))
    assert inner(torch.ones(2)).tolist() == [2, 2]
    assert model(torch.ones(2)).tolist() == [1, 1]


def its_result(model: Any) -> Any:
    return torch.compile(model, backend="eager")


def in_place(model: Any) -> Any:
    model.compile(backend="eager")
    return model


def a_part_of_it(model: Any) -> Any:
    model[1] = torch.compile(model[1], backend="eager")
    return model


def a_part_in_place(model: Any) -> Any:
    model[1].compile(backend="eager")
    return model


def its_forward(model: Any) -> Any:
    model.forward = torch.compile(model.forward, backend="eager")
    return model


@pytest.mark.parametrize("way", [its_result, in_place, a_part_of_it, a_part_in_place, its_forward])
def test_a_compiled_model_is_refused(way):
    model = way(nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2))))
    where = "'1' in the model" if "part" in way.__name__ else "the model"
    with pytest.raises(ArgumentError, match=f"^{where} is compiled, where hooks that are attached later are ignored"):
        mt.attach_halo(model, alone(), nn.Linear)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_scripted_model_is_refused():
    model = nn.Sequential(torch.jit.script(nn.Linear(2, 2)))
    with pytest.raises(ArgumentError, match="'0' in the model is a ScriptModule"):
        mt.attach_halo(model, alone(), nn.Sequential)


def test_a_model_that_is_never_compiled_is_not():
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].forward = torch.compiler.disable(model[0].forward)
    assert mt.attach_halo(model, alone(), nn.Linear, arg="input").names == ("0",)
