"""Names beside marks, where they cover neither each other nor a mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from meshpart.plotting.legend import FONT, LINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = npt.NDArray[np.float64]  # (n, 2)
Box = npt.NDArray[np.float64]  # (n, 4) or (4,): left, bottom, right, top

REACHES = tuple(0.9 + 0.4 * step for step in range(40))  # how far names are put from their marks, in their height
DIRECTIONS = 16
OUTSIDE, ON_NAME, ON_MARK, ON_LINE = 1000.0, 100.0, 30.0, 1.0  # how bad it is to lie there, a time each
FARTHER = 0.3  # how bad it is to lie farther away, for each height of the name
LEADER = 1.4  # names farther away have a line to their mark


def put_names(
    axes: Axes,
    named: Sequence[tuple[str, tuple[float, float], Any]],
    marks: Sequence[tuple[float, float]],
    line: Sequence[tuple[float, float]],
) -> None:
    """Write names beside their marks, each in the best place that others have left.

    Parameters
    ----------
    axes : Axes
        At its final place in its figure, with its final limits.
    named : sequence of (str, (float, float), colour)
        The names, what they name, and in which colour a line leads there from afar.
    marks, line : sequence of (float, float)
        What names keep clear of: marks, and, where there is room, the line through the points.
    """
    if not named:
        return
    to_pixels = axes.transData.transform
    dots, along = to_pixels(np.array(marks)), _along(to_pixels(np.array(line)))
    window = axes.get_window_extent()
    taken: list[Box] = []
    for name, place, colour in sorted(named, key=lambda entry: _room(to_pixels(entry[1]), dots)):
        size = _size(axes, name)
        boxes, reaches = _places(to_pixels(place), size)
        bad = FARTHER * reaches + ON_MARK * _within(boxes, dots, size[1] / 2) + ON_LINE * _within(boxes, along, 2.0)
        bad += OUTSIDE * _outside(boxes, window) + ON_NAME * sum((_overlap(boxes, box) for box in taken), start=0.0)
        best = int(bad.argmin())
        taken.append(boxes[best])
        arrow = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2}
        axes.annotate(
            name,
            xy=place,
            xytext=tuple(axes.transData.inverted().transform((boxes[best][:2] + boxes[best][2:]) / 2).tolist()),
            ha="center",
            va="center",
            fontsize=FONT - 1,
            color=LINE,
            parse_math=False,
            zorder=6,
            arrowprops=arrow if reaches[best] > LEADER else None,
        )


def _room(place: Points, dots: Points) -> float:
    """Return how much room is around a mark: names without much of it choose first."""
    return float(np.sort(np.linalg.norm(dots - place, axis=1))[:4].sum())


def _size(axes: Axes, name: str) -> tuple[float, float]:
    """Return the width and height of a name in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    text = axes.text(0, 0, name, fontsize=FONT - 1, parse_math=False)
    box = text.get_window_extent(FigureCanvasAgg(axes.figure.get_figure(root=True)).get_renderer())
    text.remove()
    return box.width, box.height


def _places(at: Points, size: tuple[float, float]) -> tuple[Box, Points]:
    """Return where a name may lie around a mark, (n, 4), and how far away, (n,): the near and the right-hand first."""
    width, height = size
    angles = np.arange(DIRECTIONS) * 2 * math.pi / DIRECTIONS
    towards = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reaches = np.repeat(REACHES, DIRECTIONS)
    middles = at + np.tile(towards, (len(REACHES), 1)) * (reaches[:, None] * height + [width / 2 - height / 4, 0])
    half = np.array([width / 2, height / 2])
    return np.concatenate([middles - half, middles + half], axis=1), reaches


def _within(boxes: Box, points: Points, margin: float) -> Points:
    """Return how many points each box covers, or nearly."""
    left, bottom, right, top = boxes.T[:, :, None]
    x, y = points.T
    covered = (left - margin < x) & (x < right + margin) & (bottom - margin < y) & (y < top + margin)
    return np.asarray(covered.sum(axis=1))


def _overlap(boxes: Box, other: Box) -> Any:
    """Return which boxes overlap another one."""
    left, bottom, right, top = boxes.T
    return (left < other[2]) & (other[0] < right) & (bottom < other[3]) & (other[1] < top)


def _outside(boxes: Box, window: Any) -> Any:
    left, bottom, right, top = boxes.T
    return (left < window.x0) | (right > window.x1) | (bottom < window.y0) | (top > window.y1)


def _along(corners: Points) -> Points:
    """Return points along a line, a few pixels apart."""
    if len(corners) < 2:
        return corners
    steps = np.linspace(0, 1, 200)[:, None]
    return np.concatenate([start + (end - start) * steps for start, end in pairwise(corners)])
