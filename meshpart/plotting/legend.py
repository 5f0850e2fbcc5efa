"""The figure: a picture of a given shape and what its colours mean, beside it or below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from meshpart.errors import MissingDependencyError
from meshpart.plotting.scene import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 200
AREA = 1.6e6  # pixels of a picture whose size nobody chose
NARROWEST, WIDEST = 0.4, 6.0  # its width by its height
LONGEST = 2200.0  # pixels of its width
MOST_ENTRIES = 32
MARGIN = 24  # pixels
LINE = "#20262e"  # the colour of edges and of text
FAINT = "#8d959e"  # of what is only there to be recognized
FONT = 8.5  # points


def figure_of(looks: Sequence[Look], title: str, shape: float, size: tuple[int, int] | None) -> tuple[Figure, Axes]:
    """Return a figure with a legend, and the room in it that is left for a picture.

    Parameters
    ----------
    looks : sequence of Look
        What is in the picture, in the order of the legend; of fewer than two there is none.
    title : str
        Of the legend.
    shape : float
        The width of what is drawn by its height.
    size : (int, int), optional
        Width and height of the whole in pixels; otherwise as the shape wants it.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise needs(error) from None
    shape = min(max(shape, NARROWEST), WIDEST)
    width = min((AREA * shape) ** 0.5, LONGEST)
    inner = (width, width / shape)
    below = shape > 1.7 if size is None else size[0] / size[1] < 0.9 * shape
    dpi = DPI if size is None else DPI * (size[0] * size[1] / AREA) ** 0.5
    figure = Figure(figsize=(10, 10), dpi=dpi, facecolor="white")
    legend, taken = _legend(figure, looks, title, below, inner, size)
    if size is None:
        size = _whole(inner, taken, below)
    figure.set_size_inches(size[0] / dpi, size[1] / dpi)
    left, bottom = float(MARGIN), float(MARGIN)
    right, top = float(size[0] - MARGIN), float(size[1] - MARGIN)
    if legend is not None and below:
        bottom += min(taken[1] + MARGIN, size[1] / 2)
        legend.set_loc("lower center")
        legend.set_bbox_to_anchor((0.5, MARGIN / size[1]), figure.transFigure)
    elif legend is not None:
        right -= min(taken[0] + MARGIN, size[0] / 2)
        legend.set_loc("center right")
        legend.set_bbox_to_anchor((1 - MARGIN / size[0], 0.5), figure.transFigure)
    axes = figure.add_axes((left / size[0], bottom / size[1], (right - left) / size[0], (top - bottom) / size[1]))
    axes.set_axis_off()
    return figure, axes


def needs(error: ImportError) -> MissingDependencyError:
    """Return what to raise where a package that draws is not installed."""
    return MissingDependencyError(f"a picture needs {error.name or error}: pip install 'meshpart[plot]'")


def room(axes: Axes) -> tuple[int, int]:
    """Return the width and height of the room for a picture, in pixels."""
    box = axes.get_window_extent()
    return max(1, int(np.floor(box.width))), max(1, int(np.floor(box.height)))


def _legend(
    figure: Figure,
    looks: Sequence[Look],
    title: str,
    below: bool,
    inner: tuple[float, float],
    size: tuple[int, int] | None,
) -> tuple[Any, tuple[float, float]]:
    """Return a legend, or None, and its width and height; with fewer entries where it would take half of the figure."""
    if len(looks) < 2:
        return None, (0.0, 0.0)
    count = min(len(looks), MOST_ENTRIES)
    most = (np.inf, np.inf) if size is None else (size[0] / (1 if below else 2), size[1] / (2 if below else 1))
    while True:
        columns = _columns(looks, count, below, inner if size is None else size, figure.dpi)
        legend = _legend_of(figure, looks, count, title, columns)
        taken = _extent(legend)
        if count == 1 or (taken[0] + 2 * MARGIN <= most[0] and taken[1] + 2 * MARGIN <= most[1]):
            return legend, taken
        legend.remove()
        count -= 1


def _legend_of(figure: Figure, looks: Sequence[Look], count: int, title: str, columns: int) -> Any:
    from matplotlib.patches import Patch

    handles = [_patch(look) for look in looks[:count]]
    if len(looks) > count:
        handles.append(Patch(facecolor="none", edgecolor="none", label=f"... and {len(looks) - count} more"))
    return figure.legend(
        handles=handles,
        title=title,
        ncols=columns,
        loc="lower left",
        fontsize=FONT,
        title_fontsize=FONT,
        alignment="left",
        frameon=False,
        labelcolor=LINE,
        borderpad=0.0,
        borderaxespad=0.0,
        handlelength=1.3,
        handleheight=1.0,
        handletextpad=0.5,
        columnspacing=1.2,
    )


def _patch(look: Look) -> Any:
    from matplotlib.patches import Patch

    hatch = "////" if look.hatched else None
    return Patch(facecolor=look.colour, edgecolor=LINE, linewidth=0.4, hatch=hatch, label=look.name)


def _columns(looks: Sequence[Look], count: int, below: bool, room: tuple[float, float], dpi: float) -> int:
    """Return in how many columns some entries fit beside a picture, or below it."""
    entries = count + (len(looks) > count)
    pixels = FONT * dpi / 72
    if not below:
        return int(np.ceil(entries * 1.6 * pixels / max(0.9 * room[1], pixels)))
    longest = max(len(look.name) for look in looks[:count])
    longest = max(longest, len("... and 100 more") if len(looks) > count else 0)
    fit = max(1, int(0.95 * room[0] / ((0.62 * longest + 3.2) * pixels)))
    return int(np.ceil(entries / np.ceil(entries / fit)))


def _extent(legend: Any) -> tuple[float, float]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    box = legend.get_window_extent(FigureCanvasAgg(legend.figure).get_renderer())
    return float(np.ceil(box.width)), float(np.ceil(box.height))


def _whole(inner: tuple[float, float], taken: tuple[float, float], below: bool) -> tuple[int, int]:
    """Return the size of a figure that holds a picture and a legend."""
    gap = MARGIN if max(taken) > 0 else 0
    if below:
        width, height = max(inner[0], taken[0]), inner[1] + taken[1] + gap
    else:
        width, height = inner[0] + taken[0] + gap, max(inner[1], taken[1])
    return int(np.ceil(width)) + 2 * MARGIN, int(np.ceil(height)) + 2 * MARGIN
