"""The command that draws: a mesh, or parts."""

from __future__ import annotations

import re
from typing import Any

import click
import numpy as np

from meshpart.cli.cut import read_labels_or_parts, read_mesh
from meshpart.cli.terminal import show, step
from meshpart.errors import ArgumentError
from meshpart.manifest import is_place_of_parts, read_manifest
from meshpart.plot import plot
from meshpart.plotting.picture_file import check_picture
from meshpart.rejoin import mesh_and_labels
from meshpart.store import STORE, PartStore


@click.command("plot")
@click.argument("path", metavar="MESH|PARTS", type=click.Path())
@click.option(
    "-o", "--output", required=True, type=click.Path(), metavar="OUT", help="The picture: a .png, .pdf or .svg file."
)
@click.option(
    "--labels",
    "labels_path",
    type=click.Path(),
    metavar="FILE",
    help="The part of each cell of MESH: .npy, .txt, .epart, or parts that were written.",
)
@click.option("--ghosts-of", type=int, metavar="PART", help="Show this part and its ghosts; the others palely.")
@click.option("--ghost-layers", type=int, help="How many layers of ghosts, where --labels are given.  [default: 1]")
@click.option("--explode", type=float, default=0.0, show_default=True, help="How far parts are moved apart, 0.5 say.")
@click.option("--edges/--no-edges", default=None, help="Draw the edges of cells; otherwise where there is room.")
@click.option("--size", metavar="WxH", callback=lambda *given: _size(given[2]), help="In pixels, such as 1600x1200.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there already.")
def plot_command(path: str, output: str, labels_path: str | None, overwrite: bool, **how: Any) -> None:
    """Draw MESH, or PARTS (a folder, or an X.pvtu), each part in a colour of its own."""
    check_picture(output, overwrite=overwrite)
    what: Any
    if is_place_of_parts(path):
        if labels_path is not None:
            raise ArgumentError(f"--labels is for a mesh, and {path} has parts")
        what, count, given = _parts(path, ghosts=how["ghosts_of"] is not None)
        how |= {name: value for name, value in given.items() if how.get(name) is None}
        told = f"{count} parts"
    else:
        what = read_mesh(path)
        told = f"{what.n_cells} cells"
        if labels_path is not None:
            how["labels"] = read_labels_or_parts(labels_path, what)[0]
            told += f" in {len(np.unique(how['labels']))} parts"
    with step("drawing"):
        plot(what, output, overwrite=overwrite, **how)
    show({}, [f"{told}, drawn to {output}"], as_json=False)


def _parts(path: str, *, ghosts: bool) -> tuple[Any, int, dict[str, Any]]:
    """Return what is drawn of parts, how many there are, and which labels and layers, where a mesh is drawn."""
    with step(f"reading {path}"):
        manifest = read_manifest(path)
        if manifest.format == STORE:
            return list(PartStore(manifest)), manifest.nparts, {}
        layers = manifest.content["ghost_layers"]
        if ghosts and not layers:
            raise ArgumentError(f"--ghosts-of: the parts in {path} were made without ghost layers")
        mesh, labels = mesh_and_labels(manifest, path)
        return mesh, manifest.nparts, {"labels": labels, **({"ghost_layers": layers} if ghosts else {})}


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    given = re.fullmatch(r"([0-9]{1,9})[xX]([0-9]{1,9})", text)
    if given is None:
        raise ArgumentError(f"--size must be WIDTHxHEIGHT in pixels, such as 1600x1200, got {text!r}")
    return int(given[1]), int(given[2])
