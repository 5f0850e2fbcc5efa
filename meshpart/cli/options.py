"""Arguments and options that several commands have, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from meshpart.errors import ArgumentError
from meshpart.methods import METHODS, MODES

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


class _MethodOption(click.Option):
    """An option that says how labels are made, which means nothing where they are given."""


def _weights(_: object, __: object, given: tuple[str, ...]) -> str | dict[str, float] | None:
    """Return what --weights says: a name, or numbers by cell type and cell set."""
    pairs = [entry.rpartition("=") for entry in given if "=" in entry]
    if not pairs:
        if len(given) > 1:
            raise ArgumentError(f"--weights takes one array, or KEY=NUMBER several times, got {', '.join(given)}")
        return given[0] if given else None
    if len(pairs) < len(given):
        raise ArgumentError("--weights takes one array, or KEY=NUMBER several times, not both")
    numbers: dict[str, float] = {}
    for key, _equals, text in pairs:
        if key in numbers:
            raise ArgumentError(f"--weights {key} is given twice")
        try:
            numbers[key] = float(text)
        except ValueError:
            raise ArgumentError(f"--weights {key}={text}: {text!r} is not a number") from None
    return numbers


def _groups(_: object, __: object, given: tuple[str, ...]) -> str | list[str] | None:
    """Return what --keep-together says: a name, or several."""
    return given[0] if len(given) == 1 else list(given) or None


_option = partial(click.option, cls=_MethodOption)

BALANCE = (
    _option(
        "--imbalance",
        default=0.03,
        show_default=True,
        help="How far the heaviest part may exceed the mean, 0.03 is 3 %.",
    ),
    _option(
        "--weights",
        multiple=True,
        callback=_weights,
        metavar="NAME|KEY=NUMBER",
        help="The load of cells: the name of a cell_data array, or a cell type or set and its number (repeatable).",
    ),
    _option(
        "--edge-weights",
        metavar="points",
        help="What cutting a facet costs: 'points' for the number of its points; 1 otherwise.",
    ),
    _option(
        "--keep-together",
        multiple=True,
        callback=_groups,
        metavar="NAME",
        help="A cell set whose cells get one label, or a cell_data array of group numbers (repeatable).",
    ),
)
METHOD = (
    _option("--method", default="auto", show_default=True, help=f"One of auto, {', '.join(METHODS)}."),
    _option(
        "--mode",
        default="eco",
        show_default=True,
        help=f"How much time to take: one of {', '.join(MODES)}; only kahip has them all.",
    ),
    _option("--seed", default=0, show_default=True, help="For methods that draw at random."),
    *BALANCE,
    _option("--no-repair", "repair", flag_value=False, default=True, help="Take the method's labels as they are."),
    _option("--allow-empty", is_flag=True, help="Allow more parts than cells; the highest stay empty."),
)

mesh_argument = click.argument("mesh_path", metavar="MESH", type=click.Path())
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
threads_option = click.option("--threads", type=int, help="How many threads to use; the result does not depend on it.")
labels_option = click.option(
    "--labels",
    "labels_path",
    type=click.Path(),
    metavar="FILE",
    help="Take these labels (.npy, .txt, .epart, or a folder of parts) as they are, in place of a method's.",
)


def balance_options(command: Command) -> Command:
    """Add the options by which balance is judged, as `quality` takes them."""
    return _with(BALANCE, command)


def method_options(command: Command) -> Command:
    """Add the options that say how labels are made, as `partition_labels` takes them."""
    return _with(METHOD, command)


def given_options() -> set[str]:
    """Return the names of the arguments and options that the command line gives a value."""
    context = click.get_current_context()
    names = [option.name or "" for option in context.command.params]
    return {name for name in names if context.get_parameter_source(name) is not ParameterSource.DEFAULT}


def refuse_method_options() -> None:
    """Refuse the options of `method_options` where the command's labels are given by --labels."""
    given = given_options()
    for option in click.get_current_context().command.params:
        if isinstance(option, _MethodOption) and option.name in given:
            raise ArgumentError(f"--labels takes labels as they are, so {option.opts[0]} has nothing to say there")


def _with(options: Sequence[Decorator], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
