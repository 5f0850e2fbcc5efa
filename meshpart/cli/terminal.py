"""What the command line shows: results on stdout, everything else on stderr, and progress where that is a terminal."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click


def show(result: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a result, as JSON or as lines of text."""
    click.echo(json.dumps(result, indent=2) if as_json else "\n".join(map(visible, lines)))


def say(text: str) -> None:
    """Print one line to stderr."""
    click.echo(visible(" ".join(text.split())), err=True)


def show_warning(message: Warning | str, *_: Any) -> None:
    """Print a warning as one line, in place of warnings.showwarning."""
    say(f"warning: {message}")


def visible(text: str) -> str:
    """Return one line in which control characters, which names may have, are escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, what: str) -> str:
    """Return "1 block" or "2 blocks"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


@contextmanager
def step(text: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and for how long."""
    with _progress(text, None):
        yield


@contextmanager
def bar(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far something is; yields what to call with the number done."""
    with _progress(text, total) as advance:
        yield advance


@contextmanager
def _progress(text: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar, one that pulses where no total is known, until the block ends."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()]
    if total is not None:
        columns += [TaskProgressColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(visible(text), total=total)
        yield lambda done: progress.update(task, completed=done)


def prepare_streams() -> None:
    """Give the streams that the caller closed somewhere to go, and write what an encoding lacks as escapes."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def leave_stdout() -> None:
    """Keep the interpreter from flushing a stdout that takes nothing, which would fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
