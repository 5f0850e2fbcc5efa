"""Pictures of meshes and parts, written to a file."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from meshpart import arguments
from meshpart.errors import ArgumentError
from meshpart.mesh import MeshLike, as_mesh
from meshpart.plotting.content import Content, of_ghosts, of_mesh, of_parts
from meshpart.plotting.picture_file import check_picture, write_picture
from meshpart.plotting.scene import scene_of
from meshpart.submesh import SubMesh

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST, LARGEST = 100, 8_000  # pixels


def plot(
    what: MeshLike | SubMesh | Iterable[SubMesh],
    path: str | os.PathLike[str],
    *,
    labels: npt.ArrayLike | None = None,
    ghosts_of: int | None = None,
    ghost_layers: int | None = None,
    explode: float = 0.0,
    edges: bool | None = None,
    size: tuple[int, int] | None = None,
    overwrite: bool = False,
) -> None:
    """Draw a mesh or parts, each part in a colour of its own, and write the picture to a file.

    Parts that touch have colours that are easy to tell apart; of up to 20 parts all have, and each the same in every
    picture. What lies in a plane is drawn flat; of solids one sees the surface. Quadratic cells are drawn by their
    corners, and attached cells, which lie in others, not at all.

    Parameters
    ----------
    what : Mesh, meshio.Mesh, anything with `points` and `cells` alike, SubMesh, or iterable of SubMesh
        A mesh without labels is coloured by block. Of parts, all or some of one decomposition, the owned cells are
        drawn.
    path : str or path-like
        .png, .pdf or .svg; solids are an image in the latter two.
    labels : array_like of int, (n_cells,), optional
        The part of each cell of a mesh.
    ghosts_of : int, optional
        Show this part and its ghosts, layer by layer, and the other parts palely.
    ghost_layers : int, optional
        How many layers of ghosts, where `labels` say what the parts are: 1 otherwise. Parts have their own.
    explode : float
        How far parts are moved apart: by so many times their distance from the middle, or from part `ghosts_of`.
    edges : bool, optional
        Whether the edges of cells are drawn; where there is room for them otherwise. What lies between parts is always
        drawn.
    size : (int, int), optional
        Width and height in pixels; otherwise as it suits what is drawn.
    overwrite : bool
        Replace a file that is there.

    Raises
    ------
    ArgumentError
        If an argument cannot be right, there are no cells to draw, or parts are of different decompositions.
    MeshError
        If a point that is drawn is not finite.
    FormatError
        If something is there that must not be replaced, or the file cannot be written.
    MissingDependencyError
        If matplotlib, or for solids pyvista, is not installed.

    Examples
    --------
    >>> import meshpart, pathlib, tempfile
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     meshpart.plot(mesh, pathlib.Path(folder, "two.png"), labels=[0, 1])
    ...     [file.name for file in pathlib.Path(folder).iterdir()]
    ['two.png']
    """
    check_picture(path, overwrite=arguments.flag("overwrite", overwrite))
    apart, pixels = _explode(explode), _size(size)
    if edges is not None:
        arguments.flag("edges", edges)
    content = _content(what, labels, ghosts_of, ghost_layers)
    figure = _drawn(content, apart, edges, pixels)
    write_picture(figure, path, overwrite=overwrite)


def _content(what: Any, labels: Any, ghosts_of: Any, ghost_layers: Any) -> Content:
    """Return what is to be drawn, checked."""
    parts = [what] if isinstance(what, SubMesh) else None
    if parts is None and not hasattr(what, "points"):
        parts = arguments.listed("what", what, "parts, or a mesh")
    if parts is None:
        mesh = as_mesh(what)
        if labels is None and (ghosts_of, ghost_layers) != (None, None):
            raise ArgumentError("ghosts_of and ghost_layers need the labels of the mesh's cells")
        if ghosts_of is None and ghost_layers is not None:
            raise ArgumentError("ghost_layers needs ghosts_of: the part whose ghosts are shown")
        layers = 1 if ghost_layers is None else arguments.integer("ghost_layers", ghost_layers, low=1)
        return of_mesh(mesh, labels, ghosts_of, layers)
    if labels is not None or ghost_layers is not None:
        name = "labels" if labels is not None else "ghost_layers"
        raise ArgumentError(f"{name} is for a mesh: parts have their own")
    return of_parts(parts) if ghosts_of is None else of_ghosts(parts, ghosts_of)


def _drawn(content: Content, explode: float, edges: bool | None, size: tuple[int, int] | None) -> Figure:
    """Return a figure of what is to be drawn."""
    from meshpart.plotting import flat, legend, solid

    scene = scene_of(content.pieces, content.points, content.looks, explode=explode, around=content.around)
    kind = flat if scene.is_flat else solid
    shown = np.unique(np.concatenate([own.classes for own in (scene.polygons, scene.lines, scene.dots)]))
    named = [content.looks[number] for number in shown.tolist()]
    if not scene.is_flat:
        named = [look._replace(hatched=False) for look in named]
    figure, axes = legend.figure_of(named, content.title, kind.shape_of(scene), size)
    kind.draw(scene, axes, edges)
    return figure


# -- arguments ----------------------------------------------------------------------------------------------


def _explode(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value) or value < 0:
        raise ArgumentError(f"explode must be finite and not negative, got {arguments.shown(value)}")
    return float(value)


def _size(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    if not isinstance(value, Sequence) or len(value) != 2:
        raise ArgumentError(f"size must be a width and a height in pixels, got {arguments.shown(value)}")
    width, height = (arguments.integer("size", entry, low=SMALLEST, high=LARGEST) for entry in value)
    return width, height
