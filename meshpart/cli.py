"""The command line: results on stdout, everything else on stderr, exit code 2 for bad input."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
import numpy as np

from meshpart.cells import cell_type
from meshpart.errors import ArgumentError, MeshpartError
from meshpart.io import read, write_parts
from meshpart.mesh import ATTACHED, FREE, TOP, Mesh
from meshpart.methods import METHODS
from meshpart.partition import partition
from meshpart.submesh import SubMesh
from meshpart.version import __version__
from meshpart.weights import cell_weights

BAD_INPUT = 2
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
MOST_PARTS_SHOWN = 32

Command = TypeVar("Command", bound=Callable[..., Any])


class _Terminated(BaseException):
    """Raised where SIGTERM arrives; no reader takes it for its own failure, as it would a SystemExit."""


def main() -> None:
    """Run the command line and exit with its code."""
    _prepare_streams()
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(_run())


def _run() -> int:
    """Run the command line and return its exit code."""
    try:
        code = commands(prog_name="meshpart", standalone_mode=False)
    except click.ClickException as error:
        _say(f"error: {error.format_message()}")
        return BAD_INPUT
    except click.Abort:
        _say("interrupted")
        return INTERRUPTED
    except _Terminated:
        _say("terminated")
        return TERMINATED
    except (MeshpartError, MemoryError) as error:
        _say(f"error: {error or 'out of memory'}")
        return BAD_INPUT
    except OSError as error:  # of stdout: the library's own say which file
        _leave_stdout()
        _say(f"error: cannot print the result: {error.strerror}")
        return BAD_INPUT
    return code if isinstance(code, int) else 0


@click.group(no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="meshpart")
def commands() -> None:
    """Cut meshes into exactly N parts, and say what is in them."""


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(command)


@commands.command("partition")
@click.argument("mesh_path", metavar="MESH", type=click.Path())
@click.argument("nparts", type=int)
@click.option("-o", "--output", required=True, type=click.Path(), metavar="OUT", help="The folder to write.")
@click.option("--method", default="auto", show_default=True, help=f"One of auto, {', '.join(METHODS)}.")
@click.option("--imbalance", default=0.03, show_default=True, help="How far the heaviest part may exceed the mean.")
@click.option("--seed", default=0, show_default=True, help="For methods that draw at random.")
@click.option(
    "--weights",
    multiple=True,
    metavar="NAME|KEY=NUMBER",
    help="The load of cells: the name of a cell_data array, or for a cell type or cell set its number (repeatable).",
)
@click.option(
    "--keep-together",
    multiple=True,
    metavar="NAME",
    help="A cell set whose cells get one label, or a cell_data array of group numbers (repeatable).",
)
@click.option("--allow-empty", is_flag=True, help="Allow more parts than cells; the highest stay empty.")
@click.option("--threads", type=int, help="How many threads to use; the result does not depend on it.")
@click.option(
    "--format",
    "file_format",
    default="vtu",
    show_default=True,
    help="vtu, xdmf, med, msh, inp, exodus, ...",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it holds parts already.")
@json_option
def partition_command(
    mesh_path: str,
    nparts: int,
    output: str,
    weights: tuple[str, ...],
    keep_together: tuple[str, ...],
    file_format: str,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Cut MESH into NPARTS files in the folder OUT."""
    with _step(f"reading {mesh_path}"):
        mesh = read(mesh_path)
    with _step(f"cutting {mesh.n_cells} cells into {nparts} parts"):
        load = _weights(weights)
        groups = keep_together[0] if len(keep_together) == 1 else list(keep_together) or None
        parts = partition(mesh, nparts, weights=load, keep_together=groups, **options)
    with _bar(f"writing {output}", nparts) as advance:
        write_parts(parts, output, format=file_format, overwrite=overwrite, progress=advance)
    summary = {"mesh": mesh_path, "out": output, **_summary(mesh, parts, load)}
    click.echo(json.dumps(summary, indent=2) if as_json else _summary_text(summary))


@commands.command("info")
@click.argument("mesh_path", metavar="MESH", type=click.Path())
@json_option
def info_command(mesh_path: str, as_json: bool) -> None:
    """Say what is in MESH."""
    with _step(f"reading {mesh_path}"):
        mesh = read(mesh_path)
    facts = {"mesh": mesh_path, **_facts(mesh)}
    click.echo(json.dumps(facts, indent=2) if as_json else _facts_text(facts))


def _weights(given: tuple[str, ...]) -> str | dict[str, float] | None:
    """Return what --weights says: a name, or numbers by cell type and cell set."""
    pairs = [entry.rpartition("=") for entry in given if "=" in entry]
    if not pairs:
        if len(given) > 1:
            raise ArgumentError(f"--weights takes one array, or KEY=NUMBER several times, got {', '.join(given)}")
        return given[0] if given else None
    if len(pairs) < len(given):
        raise ArgumentError("--weights takes one array, or KEY=NUMBER several times, not both")
    numbers: dict[str, float] = {}
    for key, _, text in pairs:
        if key in numbers:
            raise ArgumentError(f"--weights {key} is given twice")
        try:
            numbers[key] = float(text)
        except ValueError:
            raise ArgumentError(f"--weights {key}={text}: {text!r} is not a number") from None
    return numbers


def _summary(mesh: Mesh, parts: list[SubMesh], weights: Any) -> dict[str, Any]:
    """Return what was done, part by part; the load is what was balanced: weights, or cells that are not attached."""
    given = cell_weights(mesh, weights)
    loads = (mesh.kinds != ATTACHED).astype(float) if given is None else given.values * given.unit
    rows = [
        {
            "part": part.part,
            "load": float(loads[part.cells.global_ids].sum()),
            "cells": part.cells.n_owned,
            "points": part.points.n_owned,
            "ghost_points": part.points.n_ghost,
        }
        for part in parts
    ]
    total = sum(row["load"] for row in rows)
    return {
        "method": parts[0].provenance.method,
        "seed": parts[0].provenance.seed,
        "nparts": len(parts),
        "cells": mesh.n_cells,
        "points": mesh.n_points,
        "imbalance": max(row["load"] for row in rows) * len(parts) / total - 1 if total else 0.0,
        "parts": rows,
    }


def _summary_text(summary: dict[str, Any]) -> str:
    columns = ("load", "cells", "points", "ghost_points")
    rows = summary["parts"]
    lines = [f"{'part':>8}" + "".join(f"{column.replace('_', ' '):>14}" for column in columns)]
    if len(rows) <= MOST_PARTS_SHOWN:
        lines += [_row(str(row["part"]), [row[column] for column in columns]) for row in rows]
    for name, pick in (("least", min), ("mean", np.mean), ("most", max)):
        lines.append(_row(name, [pick([row[column] for row in rows]) for column in columns]))
    lines.append(
        f"{summary['cells']} cells and {summary['points']} points in {summary['nparts']} parts by "
        f"{summary['method']}; the heaviest is {100 * summary['imbalance']:.2f} % above the mean"
    )
    lines.append(f"written to {summary['out']}")
    return "\n".join(map(_visible, lines))


def _row(name: str, values: list[float]) -> str:
    return f"{name:>8}" + "".join(f"{value:>14.10g}" for value in values)


def _facts(mesh: Mesh) -> dict[str, Any]:
    used = np.unique(mesh.cell_points)
    box = mesh.coordinates[used]
    return {
        "points": mesh.n_points,
        "unused_points": mesh.n_points - len(used),
        "space_dimension": mesh.points.shape[1],
        "bounding_box": [box.min(axis=0).tolist(), box.max(axis=0).tolist()] if len(used) else None,
        "cells": mesh.n_cells,
        "dimension": mesh.dim,
        "kinds": {
            name: int(np.count_nonzero(mesh.kinds == kind))
            for name, kind in (("top", TOP), ("attached", ATTACHED), ("free", FREE))
        },
        "blocks": [
            {"type": block.type, "dimension": cell_type(block.type).dim, "cells": len(block)} for block in mesh.blocks
        ],
        "point_data": {name: _array(values) for name, values in mesh.point_data.items()},
        "cell_data": {name: _array(arrays[0]) if arrays else "" for name, arrays in mesh.cell_data.items()},
        "point_sets": {name: len(members) for name, members in mesh.point_sets.items()},
        "cell_sets": {name: sum(map(len, rows)) for name, rows in mesh.cell_sets.items()},
        "periodic_pairs": sum(len(entry.pairs) for entry in mesh.periodic),
    }


def _array(values: Any) -> str:
    return " ".join([str(values.dtype), *(f"x {n}" for n in values.shape[1:])])


def _facts_text(facts: dict[str, Any]) -> str:
    kinds = facts["kinds"]
    lines = [
        facts["mesh"],
        f"  points  {facts['points']} in {facts['space_dimension']}-D, {facts['unused_points']} of them in no cell",
        f"  cells   {facts['cells']}: {kinds['top']} of dimension {facts['dimension']}, {kinds['attached']} attached "
        f"to them, {kinds['free']} free of lower dimension",
    ]
    if facts["bounding_box"]:
        low, high = ([f"{x:g}" for x in corner] for corner in facts["bounding_box"])
        lines.append(f"  box     ({', '.join(low)}) to ({', '.join(high)})")
    lines += [f"  block   {number}: {block['cells']} {block['type']}" for number, block in enumerate(facts["blocks"])]
    for title in ("point_data", "cell_data", "point_sets", "cell_sets"):
        what = "" if title.endswith("data") else " members"
        lines += [f"  {title}  {name}: {value}{what}" for name, value in facts[title].items()]
    if facts["periodic_pairs"]:
        lines.append(f"  periodic  {facts['periodic_pairs']} pairs of points")
    return "\n".join(map(_visible, lines))


@contextmanager
def _step(text: str) -> Iterator[None]:
    """Show on a terminal that something is going on."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def _bar(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far something is; yields what to call with the number done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=total)
        yield lambda done: progress.update(task, completed=done)


# -- the streams --------------------------------------------------------------------------------------------


def _prepare_streams() -> None:
    """Give the streams that the caller closed somewhere to go, and write what an encoding lacks as escapes."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _terminate(*_: object) -> None:
    raise _Terminated


def _leave_stdout() -> None:
    """Keep the interpreter from flushing a stdout that takes nothing, which would fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _visible(text: str) -> str:
    """Return one line in which control characters, which names may have, are escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _show_warning(message: Warning | str, *_: Any) -> None:
    _say(f"warning: {message}")


def _say(text: str) -> None:
    click.echo(_visible(" ".join(text.split())), err=True)
