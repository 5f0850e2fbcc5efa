"""The picture of a comparison: edge cut against time, and the methods that no other beats in both."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.plotting.colours import shades
from meshpart.plotting.legend import DPI, FAINT, FONT, LINE, needs
from meshpart.plotting.names import put_names
from meshpart.plotting.picture_file import check_picture, write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX<>phd"
MARKER_SIZE = 6.0  # points
PANEL = (4.6, 3.7)  # inches
ALONE = (6.4, 4.6)  # of a panel without others
FOOT = 0.35  # inches of height for what marks mean


class Mark(NamedTuple):
    """What one method takes, and what it reaches.

    Parameters
    ----------
    method : str
    seconds : float
        Above 0.
    cut : float
        An edge cut, or a ratio of such, not negative.
    repaired : bool
        Whether the labels are repaired, or the method's own.
    """

    method: str
    seconds: float
    cut: float
    repaired: bool


def draw_pareto(
    path: str | os.PathLike[str],
    panels: Mapping[str, Iterable[Mark]],
    *,
    cut_label: str = "edge cut",
    seconds_label: str = "seconds",
    overwrite: bool = False,
) -> None:
    """Draw edge cut against time, a panel for each title, and write the picture to a file.

    A method has one colour and one marker in all panels, filled where its labels are repaired and hollow where they are
    its own; a thin line joins the two. A thick line joins the repaired marks that no other beats in both: the Pareto
    front (of the methods' own where none are repaired).

    Parameters
    ----------
    path : str or path-like
        .png, .pdf or .svg.
    panels : mapping of str to iterable of Mark
        By the title of the panel. In a panel, a method has one mark of each kind.
    cut_label, seconds_label : str
        Say what is on the upright axis and on the level one.
    overwrite : bool
        Replace a file that is there.

    Raises
    ------
    ArgumentError
        If an argument cannot be right, such as a mark that is not finite.
    FormatError
        If something is there that must not be replaced, or the file cannot be written.
    MissingDependencyError
        If matplotlib is not installed.
    """
    check_drawing(path, overwrite=arguments.flag("overwrite", overwrite))
    figure = _figure_of(_checked(panels), cut_label, seconds_label)
    write_picture(figure, path, overwrite=overwrite)


def check_drawing(path: Any, *, overwrite: bool) -> None:
    """Raise what drawing would raise of the path, or where matplotlib is not installed."""
    check_picture(path, overwrite=overwrite)
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise needs(error) from None


def front_of(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks that no other beats in both, by ascending time: of repaired ones, where there are any.

    Examples
    --------
    >>> fast, good = Mark("sfc", 0.1, 200, True), Mark("kahip", 2.0, 100, True)
    >>> front_of([good, fast, Mark("slow", 3.0, 100, True)]) == [fast, good]
    True
    """
    judged = [mark for mark in marks if mark.repaired] or list(marks)
    found: list[Mark] = []
    for mark in sorted(judged, key=lambda mark: (mark.seconds, mark.cut)):
        if not found or mark.cut < found[-1].cut:
            found.append(mark)
    return found


def _checked(panels: Any) -> dict[str, list[Mark]]:
    """Return the panels, or raise where there is nothing to draw, or what cannot be drawn."""
    if not isinstance(panels, Mapping) or not panels:
        raise ArgumentError(f"panels must be lists of marks by title, got {arguments.shown(panels)}")
    checked = {str(title): [Mark(*mark) for mark in marks] for title, marks in panels.items()}
    for title, marks in checked.items():
        for mark in marks:
            if not (0 < mark.seconds < math.inf and 0 <= mark.cut < math.inf):
                raise ArgumentError(
                    f"panel {title!r}: {mark.method} took {mark.seconds} s for a cut of {mark.cut}, "
                    "which must be finite and above 0, and finite and not negative"
                )
    return checked


def _figure_of(panels: Mapping[str, Sequence[Mark]], cut_label: str, seconds_label: str) -> Figure:
    """Return the figure of all panels."""
    from matplotlib.figure import Figure

    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = math.ceil(len(panels) / columns)
    width, height = PANEL if len(panels) > 1 else ALONE
    size = (width * columns, height * rows + FOOT)
    figure = Figure(figsize=size, dpi=DPI, facecolor="white", layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, FOOT / size[1], 1, 1 - FOOT / size[1]), w_pad=0.1, h_pad=0.1)
    looks = _looks([mark for marks in panels.values() for mark in marks])
    drawn = []
    for number, (title, marks) in enumerate(panels.items(), 1):
        axes = figure.add_subplot(rows, columns, number)
        if number + columns > len(panels):
            axes.set_xlabel(seconds_label, fontsize=FONT, color=LINE, parse_math=False)
        _draw(axes, title, marks, looks)
        drawn.append((axes, marks))
    figure.supylabel(cut_label, fontsize=FONT, color=LINE, parse_math=False)
    _explain(figure, [mark for marks in panels.values() for mark in marks])
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # what is placed now keeps its place
    for axes, marks in drawn:
        front = [(mark.seconds, mark.cut) for mark in front_of(marks)]
        put_names(axes, _named(marks, looks), [(mark.seconds, mark.cut) for mark in marks], front)
    return figure


Look = tuple[Any, str]  # colour and marker


def _looks(marks: Sequence[Mark]) -> dict[str, Look]:
    """Return the colour and the marker of each method, in the order in which they come."""
    methods = list(dict.fromkeys(mark.method for mark in marks))
    colours = shades(len(methods))
    return {
        method: (tuple(colour), MARKERS[number % len(MARKERS)])
        for number, (method, colour) in enumerate(zip(methods, colours, strict=True))
    }


def _draw(axes: Axes, title: str, marks: Sequence[Mark], looks: Mapping[str, Look]) -> None:
    """Draw one panel, without the names of the methods."""
    axes.set_title(title, fontsize=FONT + 1, color=LINE, parse_math=False)
    axes.tick_params(which="both", labelsize=FONT - 1, labelcolor=LINE, color=FAINT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.grid(visible=True, color=FAINT, alpha=0.2, linewidth=0.5)
    if not marks:
        axes.text(0.5, 0.5, "no figures", transform=axes.transAxes, ha="center", fontsize=FONT, color=FAINT)
        axes.set_xticks([])
        axes.set_yticks([])
        return
    front = front_of(marks)
    axes.plot(
        [mark.seconds for mark in front], [mark.cut for mark in front], color=FAINT, linewidth=2.5, alpha=0.5, zorder=1
    )
    for mark in marks:
        colour, marker = looks[mark.method]
        axes.plot(
            mark.seconds,
            mark.cut,
            marker=marker,
            markersize=MARKER_SIZE,
            color=colour,
            markerfacecolor=colour if mark.repaired else "white",
            markeredgecolor=LINE if mark.repaired else colour,
            markeredgewidth=0.5 if mark.repaired else 1.2,
            zorder=4 if mark.repaired else 3,
        )
        for other in marks:
            if mark.repaired and not other.repaired and other.method == mark.method:
                ends = [(mark.seconds, mark.cut), (other.seconds, other.cut)]
                axes.plot(*zip(*ends, strict=True), color=colour, linewidth=0.8, zorder=2)
    _scale(axes, marks)


def _scale(axes: Axes, marks: Sequence[Mark]) -> None:
    """Let equal ratios be equally long on both axes, with round numbers; cuts of 0 have no ratio."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    shown = FuncFormatter(lambda value, _: f"{value:g}")
    low, high = min(mark.seconds for mark in marks), max(mark.seconds for mark in marks)
    axes.set_xscale("log")
    axes.set_xlim(low / max(high / low, 3) ** 0.12, high * max(high / low, 3) ** 0.12)
    wide = high / low > 30
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(shown)
    axes.xaxis.set_minor_formatter(NullFormatter())
    least, most = min(mark.cut for mark in marks), max(mark.cut for mark in marks)
    if least > 0:
        axes.set_yscale("log")
        room = max(most / least, 1.02) ** 0.12
        axes.set_ylim(least / room, most * room)
    else:
        axes.set_ylim(-0.12 * (most or 1), 1.12 * (most or 1))
    axes.yaxis.set_major_locator(MaxNLocator(7, steps=(1, 2, 5, 10)))
    axes.yaxis.set_major_formatter(shown)
    axes.yaxis.set_minor_locator(NullLocator())


def _explain(figure: Figure, marks: Sequence[Mark]) -> None:
    """Say below the panels what hollow and filled marks mean, and the line."""
    from matplotlib.lines import Line2D

    mark: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": MARKER_SIZE}
    entries = [
        Line2D([], [], color=FAINT, linewidth=2.5, alpha=0.5, label="no other is faster and cuts less"),
        Line2D([], [], **mark, markerfacecolor=FAINT, markeredgecolor=LINE, markeredgewidth=0.5, label="repaired"),
    ]
    if any(not mark.repaired for mark in marks):
        entries.append(
            Line2D([], [], **mark, markerfacecolor="white", markeredgecolor=FAINT, label="the method's own labels")
        )
    legend = figure.legend(
        handles=entries,
        loc="lower center",
        ncols=len(entries),
        fontsize=FONT - 1,
        frameon=False,
        labelcolor=LINE,
        handlelength=1.6,
        handletextpad=0.5,
        columnspacing=1.5,
    )
    legend.set_in_layout(False)


def _named(marks: Sequence[Mark], looks: Mapping[str, Look]) -> list[tuple[str, tuple[float, float], Any]]:
    """Return the name of each method, the mark that has it (the repaired one, where it is there) and its colour."""
    places = {mark.method: (mark.seconds, mark.cut) for mark in sorted(marks, key=lambda mark: mark.repaired)}
    return [(method, place, looks[method][0]) for method, place in places.items()]
