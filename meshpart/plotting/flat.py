"""Flat pictures, drawn by matplotlib into a figure of its own: no window, no state that is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from meshpart.plotting.legend import FAINT, LINE, room
from meshpart.plotting.scene import ROOM_FOR_EDGES, Coordinates, Scene, colours_of
from meshpart.plotting.sides import NOTHING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLATTEST = 0.08  # of what lies on a line, how high it is taken to be


def shape_of(scene: Scene) -> float:
    """Return the width of a flat scene by its height."""
    low, high = _box(scene)
    return float((high - low)[0] / (high - low)[1])


def draw(scene: Scene, axes: Axes, edges: bool | None) -> None:
    """Draw a scene into the room that a figure has for it."""
    low, high = _box(scene)
    pixels = min(room(axes) / (high - low))
    if edges is None:
        edges = len(scene.polygons.corners) * ROOM_FOR_EDGES < np.prod((high - low) * pixels)
    _draw_polygons(scene, axes)
    colours = colours_of(scene)
    faint = np.array([look.faint for look in scene.looks])
    for faintly, colour in ((True, FAINT), (False, LINE)):
        inner = scene.edges.corners[faint[scene.edges.classes] == faintly]
        outer = scene.borders.corners[faint[scene.borders.classes] == faintly]
        if edges:
            _draw_lines(axes, scene.points[inner], linewidths=0.25, colors=colour, alpha=0.6)
        _draw_lines(axes, scene.points[outer], linewidths=0.8, colors=colour)
    if len(scene.lines.corners):
        _draw_lines(axes, scene.points[scene.lines.corners], linewidths=2.6, colors=colours[scene.lines.classes])
        if edges or (edges is None and len(scene.lines.corners) < 400):
            ends = scene.points[np.unique(scene.lines.corners)]
            axes.scatter(ends[:, 0], ends[:, 1], s=4, color=LINE, linewidths=0, zorder=3)
    if len(scene.dots.corners):
        at = scene.points[scene.dots.corners[:, 0]]
        axes.scatter(
            at[:, 0], at[:, 1], s=22, color=colours[scene.dots.classes], edgecolors=LINE, linewidths=0.4, zorder=4
        )
    axes.set_aspect("equal")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])


def _draw_polygons(scene: Scene, axes: Axes) -> None:
    """Draw polygons of one number of corners at a time, without soft edges, through which others would show."""
    from matplotlib.collections import PolyCollection

    corners, classes = scene.polygons
    sizes = np.count_nonzero(corners != NOTHING, axis=1)
    hatched = np.array([look.hatched for look in scene.looks])[classes]
    hatch: dict[str, Any] = {"facecolors": "none", "edgecolors": LINE, "hatch": "////", "linewidths": 0}
    for size in np.unique(sizes):
        rows = sizes == size
        outlines: Any = scene.points[corners[rows, :size]]
        plain: dict[str, Any] = {"facecolors": colours_of(scene)[classes[rows]], "linewidths": 0}
        axes.add_collection(PolyCollection(outlines, antialiaseds=False, **plain), autolim=False)
        if hatched[rows].any():
            axes.add_collection(PolyCollection(outlines[hatched[rows]], **hatch), autolim=False)


def _draw_lines(axes: Axes, ends: Coordinates, **style: Any) -> None:
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(list(ends), capstyle="round", **style), autolim=False)


def _box(scene: Scene) -> tuple[Coordinates, Coordinates]:
    """Return the corners of what is drawn, with a little room around it."""
    used = np.concatenate([own.corners.reshape(-1) for own in (scene.polygons, scene.lines, scene.dots)])
    points = scene.points[used[used != NOTHING]]
    low, high = points.min(axis=0), points.max(axis=0)
    widest = (high - low).max() or 1.0
    missing = np.maximum(FLATTEST * widest - (high - low), 0.0) / 2
    return low - missing - 0.01 * widest, high + missing + 0.01 * widest
