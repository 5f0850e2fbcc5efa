"""Pictures of solids and of surfaces in space, drawn by pyvista without a window and put into a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from meshpart.arrays import Ids
from meshpart.plotting.legend import DPI, FAINT, LINE, needs, room
from meshpart.plotting.scene import ROOM_FOR_EDGES, Coordinates, Scene, Shapes, areas_and_normals, colours_of
from meshpart.plotting.sides import NOTHING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = np.radians(25.0)  # of the camera
TURNS = np.radians([-55.0, 35.0, 125.0, 215.0])  # around the vertical axis, that it may stand at
THICK = 7e-3  # how wide bars are, by the height of the picture
CLOSER = 1.5e-3  # of the picture's size, by which lines are drawn in front of what they lie on
BETTER = 1.5  # how much more the camera must see from elsewhere to be moved there
LIGHT = np.array([0.15, 0.7, 0.7])  # where it comes from, along the camera's axes
DARKEST = 0.66  # what a colour keeps where no light comes
AROUND = 1.03  # what the camera sees, by what there is


def shape_of(scene: Scene) -> float:
    """Return the width of a scene by its height, as the camera sees it."""
    _, seen = _seen(scene)
    width, height = np.ptp(seen[:, :2], axis=0)
    return float(width / height) if height > 0 else np.inf


def draw(scene: Scene, axes: Axes, edges: bool | None) -> None:
    """Draw a scene into the room that a figure has for it."""
    try:
        import pyvista
    except ImportError as error:
        raise needs(error) from None
    width, height = room(axes)
    scale = axes.figure.dpi / DPI
    with pyvista.vtk_verbosity("off"):  # it prints that there is no display
        plotter = pyvista.Plotter(
            off_screen=True, window_size=(width, height), theme=pyvista.themes.DocumentTheme(), lighting="none"
        )
        try:
            _fill(plotter, scene, edges, (width, height), scale)
            image = plotter.screenshot(None, return_img=True)
        finally:
            plotter.close()
    axes.imshow(image, interpolation="none", aspect="auto")


def _fill(plotter: Any, scene: Scene, edges: bool | None, size: tuple[int, int], scale: float) -> None:
    """Put a scene before the camera; lines are as wide as the scale says."""
    import pyvista

    camera, seen = _seen(scene)
    low, high = seen.min(axis=0), seen.max(axis=0)
    middle = (low + high) / 2 @ camera
    points = scene.points - middle
    extent = float(np.linalg.norm(high - low)) or 1.0
    half = AROUND * max((high - low)[1] / 2, (high - low)[0] / 2 * size[1] / size[0]) or 1.0
    closer = points + camera[2] * extent * CLOSER
    solid = np.array([look.opacity for look in scene.looks]) == 1
    for opaque in (True, False):
        polygons, bars, dots = (
            Shapes(own.corners[chosen], own.classes[chosen])
            for own in (scene.polygons, scene.lines, scene.dots)
            for chosen in [solid[own.classes] == opaque]
        )
        style: dict[str, Any] = {"scalars": "colour", "rgb": True, "lighting": False}
        if len(polygons.corners):
            if not opaque:
                polygons = _far_first(points, polygons, camera)
            faces = pyvista.PolyData(points, _counted(polygons.corners))
            faces.cell_data["colour"] = _shaded(points, polygons, scene, camera)
            plotter.add_mesh(faces, **style)
        if len(bars.corners):
            tubes = _thin(points, bars.corners, colours_of(scene)[bars.classes])
            plotter.add_mesh(tubes.tube(radius=half * THICK, n_sides=12, capping=True), **style)
        if len(dots.corners):
            spheres = _thin(points, dots.corners, colours_of(scene)[dots.classes])
            plotter.add_mesh(spheres, point_size=34 * scale, render_points_as_spheres=True, **style)
    if edges is None:
        pixels = size[1] / 2 / half
        edges = len(scene.polygons.corners) * ROOM_FOR_EDGES < 2 * np.prod((high - low)[:2]) * pixels**2
    faint = np.array([look.faint for look in scene.looks])
    for lines, style in (
        (scene.edges, {"opacity": 0.4, "line_width": scale}),
        (scene.borders, {"line_width": 2 * scale}),
    ):
        for faintly, colour in ((True, FAINT), (False, LINE)):
            rows = lines.corners[faint[lines.classes] == faintly]
            if len(rows) and (lines is scene.borders or (edges and not faintly)):
                plotter.add_mesh(_thin(closer, rows), color=colour, lighting=False, **style)
    plotter.enable_anti_aliasing("ssaa")
    plotter.camera.position = camera[2] * extent * 3
    plotter.camera.focal_point = (0.0, 0.0, 0.0)
    plotter.camera.up = camera[1]
    plotter.camera.parallel_projection = True
    plotter.camera.parallel_scale = half
    plotter.camera.clipping_range = (extent, extent * 5)


def _seen(scene: Scene) -> tuple[Coordinates, Coordinates]:
    """Return the axes of the camera that sees most: right, up, and towards it; and the used points along them."""
    shapes: tuple[Shapes, ...] = (scene.polygons, scene.lines, scene.dots)
    used = np.unique(np.concatenate([own.corners[own.corners != NOTHING] for own in shapes]))
    points = scene.points[used]
    areas, normals = areas_and_normals(scene.points, scene.polygons.corners)
    best, most = _camera(TURNS[0]), -1.0
    for turn in TURNS:
        camera = _camera(turn)
        shown = float(np.sum(areas * np.abs(normals @ camera[2])))
        if shown > most * BETTER:
            best, most = camera, shown
    return best, points @ best.T


def _camera(turn: float) -> Coordinates:
    towards = np.array([np.cos(turn) * np.cos(HEIGHT), np.sin(turn) * np.cos(HEIGHT), np.sin(HEIGHT)])
    right = np.array([-np.sin(turn), np.cos(turn), 0.0])
    return np.stack([right, np.cross(towards, right), towards])


def _far_first(points: Coordinates, polygons: Shapes, camera: Coordinates) -> Shapes:
    """Return polygons in the order in which they cover each other."""
    there = polygons.corners != NOTHING
    depths = np.where(there, (points @ camera[2])[polygons.corners], 0.0).sum(axis=1) / there.sum(axis=1)
    order = np.argsort(depths, kind="stable")
    return Shapes(polygons.corners[order], polygons.classes[order])


def _shaded(points: Coordinates, polygons: Shapes, scene: Scene, camera: Coordinates) -> Any:
    """Return the colour of each polygon in the light, as the camera sees it, and its opacity: uint8, (n, 4).

    The brightest is the colour itself, as the legend has it.
    """
    _, normals = areas_and_normals(points, polygons.corners)
    facing = normals * np.where(normals @ camera[2] < 0, -1.0, 1.0)[:, None]
    bright = DARKEST + (1.0 - DARKEST) * np.clip(facing @ (LIGHT @ camera) / np.linalg.norm(LIGHT), 0.0, 1.0)
    opacities = np.array([look.opacity for look in scene.looks])[polygons.classes]
    colours = bright[:, None] * colours_of(scene)[polygons.classes]
    return np.rint(255 * np.concatenate([colours, opacities[:, None]], axis=1)).astype(np.uint8)


def _counted(corners: Ids) -> Ids:
    """Return polygons as VTK has them: how many corners, then these."""
    sizes = np.count_nonzero(corners != NOTHING, axis=1)
    table = np.concatenate([sizes[:, None], corners], axis=1)
    flat: Ids = table[table != NOTHING]
    return flat


def _thin(points: Coordinates, rows: Ids, colours: Coordinates | None = None) -> Any:
    """Return lines or dots as pyvista has them, each on points of its own, which have its colour."""
    import pyvista

    width = rows.shape[1]
    own = np.arange(rows.size).reshape(rows.shape)
    table = np.concatenate([np.full((len(rows), 1), width), own], axis=1).reshape(-1)
    at = points[rows.reshape(-1)]
    data = pyvista.PolyData(at, verts=table) if width == 1 else pyvista.PolyData(at, lines=table)
    if colours is not None:
        data.point_data["colour"] = np.rint(255 * np.repeat(colours, width, axis=0)).astype(np.uint8)
    return data
