"""What methods made of one mesh: `Run` and `Comparison`, with its tables and its picture."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from meshpart.tables import aligned


@dataclass(frozen=True)
class Run:
    """What one method made of a mesh and a number of parts; figures are None where it failed.

    Parameters
    ----------
    method : str
        Its name, with ":" and the mode where it has modes.
    nparts : int
    repaired : bool
        Whether the labels are repaired, or the method's own.
    failure : str or None
        Why there is nothing, where it crashed, failed or took too long.
    edge_cut, communication_volume, shared_points, imbalance, within_bound
        As `Quality` has them.
    ghosts : int
        Cells that one layer of ghosts adds, over all parts.
    empty_parts : int
        Parts without a cell that is shared out.
    fragments : int
        Connected pieces of the parts, beyond one for each part that is not empty.
    neighbours : float
        The mean over the parts.
    seconds : float
        From the mesh to the labels, the dual graph included. Of a peer's process, the start, and handing the graph
        over, are left out.
    mib : float or None
        The peak of resident memory above the loaded mesh, with what helper processes take; one of Python takes some
        tens of MiB. None where the system does not tell. Of raw and repaired labels together.
    """

    method: str
    nparts: int
    repaired: bool
    failure: str | None = None
    edge_cut: int | None = None
    communication_volume: int | None = None
    shared_points: int | None = None
    ghosts: int | None = None
    imbalance: float | None = None
    within_bound: bool | None = None
    empty_parts: int | None = None
    fragments: int | None = None
    neighbours: float | None = None
    seconds: float | None = None
    mib: float | None = None

    def ratio(self, rivals: Sequence[Run]) -> float | None:
        """Return the edge cut by the least of rivals; None where there is none to divide by."""
        least = _least(rivals, "edge_cut")
        return self.edge_cut / least if self.edge_cut is not None and least else None


@dataclass(frozen=True)
class Comparison:
    """What methods made of one mesh; `print(comparison)` shows a table.

    Parameters
    ----------
    n_cells, n_points : int
    runs : tuple of Run
        By number of parts, method, and first the method's own labels, then the repaired ones. `help` of any of them
        says what each figure is.
    versions : dict of str to str
        Of meshpart, and of the packages whose methods ran.
    missing : tuple of str
        Methods that are not installed, where all were asked for.
    asked : dict
        The options of `compare`, by name, as they were given, and "array" for an array.
    """

    n_cells: int
    n_points: int
    runs: tuple[Run, ...]
    versions: dict[str, str]
    missing: tuple[str, ...] = ()
    asked: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the table of the repaired labels."""
        return "\n".join(self.lines())

    def lines(self, *, raw: bool = False) -> list[str]:
        """Return the lines of the table, with the methods' own labels too if asked for."""
        shown = self._shown(raw)
        rows = [[*_name(run), *self._figures(run, ("", "*"), (" ", "!"))] for run in shown]
        table = aligned([["parts", "method", *(f"{head} " for head in HEADS)], *rows], left=(1,))
        starts = aligned([["parts", "method"], *map(_name, shown)], left=(1,))
        for number, run in enumerate(shown, 1):
            if run.failure is not None:
                table[number] = f"{starts[number]}  failed: {run.failure}"
        notes = {"*": "the least of repaired labels into as many parts", "!": "above the bound"}
        marked = "".join(entry for row in rows for entry in row[2:])
        return [
            f"{self.n_cells} cells and {self.n_points} points",
            *(line.rstrip() for line in table),
            *(f"{mark} {note}" for mark, note in notes.items() if mark in marked),
        ]

    def markdown(self, *, raw: bool = False) -> list[str]:
        """Return the lines of the table in Markdown: what is least is bold, an imbalance above the bound has a "!"."""
        table = [["parts", "method", *HEADS], ["--:", ":--", *["--:"] * len(HEADS)]]
        for run in self._shown(raw):
            row = self._figures(run, ("**", "**"), ("", " !"))
            table.append([*_name(run), *([f"failed: {run.failure}", *row[1:]] if run.failure else row)])
        return ["| " + " | ".join(entry.replace("|", r"\|") for entry in row) + " |" for row in table]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            "cells": self.n_cells,
            "points": self.n_points,
            "versions": self.versions,
            "missing": list(self.missing),
            "asked": self.asked,
            "runs": [asdict(run) for run in self.runs],
        }

    def plot(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Draw the edge cut against time, a panel for each number of parts, and write the picture to a file.

        Raises
        ------
        ArgumentError, FormatError, MissingDependencyError
            As `draw_pareto` does: the path is no .png, .pdf or .svg, or cannot be written, or matplotlib is not
            installed.
        """
        from meshpart.plotting.pareto import Mark, draw_pareto

        panels: dict[str, list[Mark]] = {}
        for run in self.runs:
            marks = panels.setdefault(f"{run.nparts} part{'' if run.nparts == 1 else 's'}", [])
            if run.seconds is not None and run.edge_cut is not None:
                marks.append(Mark(run.method, run.seconds, run.edge_cut, run.repaired))
        draw_pareto(path, panels, overwrite=overwrite)

    def _shown(self, raw: bool) -> list[Run]:
        return [run for run in self.runs if raw or run.repaired]

    def _figures(self, run: Run, least: tuple[str, str], bound: tuple[str, str]) -> list[str]:
        """Return the figures of a run as texts.

        Parameters
        ----------
        run : Run
        least : (str, str)
            What stands before and behind the least figure into as many parts, where there are several.
        bound : (str, str)
            What stands behind an imbalance within the bound, and above it, and the first of them behind all else.
        """
        if run.failure is not None:
            return [""] * len(HEADS)
        rivals = [other for other in self.runs if other.nparts == run.nparts and other.repaired and not other.failure]
        row = []
        for figure, text in HEADS.values():
            value = run.ratio(rivals) if figure == "ratio" else getattr(run, figure)
            before, behind = "", bound[figure == "imbalance" and not run.within_bound]
            if figure in COMPARED and run.repaired and len(rivals) > 1 and value == _least(rivals, figure):
                before, behind = least
            row.append("" if value is None else f"{before}{text(value)}{behind}")
        return row


def _three_digits(value: float) -> str:
    return f"{value:.3f}"


HEADS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "edge cut": ("edge_cut", str),
    "/ least": ("ratio", _three_digits),
    "volume": ("communication_volume", str),
    "ghosts": ("ghosts", str),
    "imbalance": ("imbalance", lambda value: f"{100 * value:.2f} %"),
    "fragments": ("fragments", str),
    "neighbours": ("neighbours", lambda value: f"{value:.1f}"),
    "seconds": ("seconds", _three_digits),
    "MiB": ("mib", lambda value: f"{value:.0f}"),
}
COMPARED = ("edge_cut", "communication_volume", "ghosts", "neighbours", "seconds", "mib")  # whose least is marked


def _name(run: Run) -> list[str]:
    """Return the number of parts and the method as texts."""
    return [str(run.nparts), run.method if run.repaired else f"{run.method}, raw"]


def _least(runs: Sequence[Run], figure: str) -> Any:
    """Return the least of a figure; None where there is none."""
    return min((value for run in runs if (value := getattr(run, figure)) is not None), default=None)
