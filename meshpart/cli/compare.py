"""The command that compares methods on a mesh."""

from __future__ import annotations

from typing import Any

import click

from meshpart.cli.cut import read_mesh
from meshpart.cli.options import balance_options, json_option, mesh_argument, threads_option
from meshpart.cli.terminal import bar, say, show
from meshpart.compare import TIME_LIMIT, USUAL, Comparison, chosen_methods, compare, counts_of
from meshpart.errors import ArgumentError
from meshpart.plotting.pareto import check_drawing

NOTHING_WORKED = 1


def _names(_: object, __: object, given: tuple[str, ...]) -> list[str] | None:
    """Return what --methods says: names, each option one or several with commas; None where it is not there."""
    return [name.strip() for text in given for name in text.split(",")] or None


@click.command("compare")
@mesh_argument
@click.argument("counts", type=int, nargs=-1, required=True, metavar="NPARTS...")
@click.option(
    "--methods",
    multiple=True,
    callback=_names,
    metavar="NAME[:MODE],...",
    help=f"What to compare (repeatable).  [default: of {', '.join(USUAL)} what is installed]",
)
@click.option("--seed", default=0, show_default=True, help="For methods that draw at random, as kahip does.")
@balance_options
@threads_option
@click.option(
    "--time-limit",
    type=float,
    default=TIME_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help="What takes longer for one NPARTS is ended.",
)
@click.option("--raw", is_flag=True, help="Show the methods' own labels too, as they are before the repair.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the table in Markdown.")
@click.option("--plot", "picture", type=click.Path(), metavar="FILE", help="Draw cut against time: .png, .pdf or .svg.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it is there already.")
@json_option
def compare_command(
    mesh_path: str,
    counts: tuple[int, ...],
    methods: list[str] | None,
    raw: bool,
    as_markdown: bool,
    picture: str | None,
    overwrite: bool,
    as_json: bool,
    **how: Any,
) -> int:
    """Cut MESH into NPARTS parts by several methods, and show how good each is, and what it takes.

    Each method and NPARTS has a process of its own: where it fails, its row says why, and the exit code is 0 as long as
    any method gave labels.

    Seconds are from MESH in memory to the labels, MiB the most memory beside MESH; in Python, help(meshpart.compare)
    says what counts. Volume is the communication volume, ghosts are the cells that one layer would add, fragments are
    pieces of parts beyond the first of each, neighbours are a mean over the parts: see help(meshpart.Quality).
    """
    if as_json and as_markdown:
        raise ArgumentError("--json and --markdown are two ways to print the result: give one of them")
    numbers, (chosen, missing) = counts_of(counts), chosen_methods(methods)
    if picture is not None:
        check_drawing(picture, overwrite=overwrite)
    mesh = read_mesh(mesh_path)
    if missing:
        say(f"not installed, and left out: {', '.join(missing)}; pip install 'meshpart[peers]'")
    with bar(f"comparing {len(chosen)} methods", len(numbers) * len(chosen)) as advance:
        found = compare(mesh, numbers, methods=methods, progress=advance, **how)
    lines = found.markdown(raw=raw) if as_markdown else found.lines(raw=raw)
    show({"mesh": mesh_path, **found.to_dict()}, lines, as_json=as_json)
    if picture is not None:
        found.plot(picture, overwrite=overwrite)
    return _told(found)


def _told(found: Comparison) -> int:
    """Say how many methods failed, and return the exit code: 1 where all of them did."""
    runs = [run for run in found.runs if run.repaired]
    failed = [f"{run.method} into {run.nparts}" for run in runs if run.failure is not None]
    if failed:
        say(f"warning: {len(failed)} of {len(runs)} failed: {', '.join(failed)}")
    return NOTHING_WORKED if len(failed) == len(runs) else 0
