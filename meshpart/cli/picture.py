"""The command that draws: a mesh, or parts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import numpy as np

from meshpart.cli.cut import read_labels_or_parts, read_mesh
from meshpart.cli.terminal import show, step
from meshpart.errors import ArgumentError, FormatError
from meshpart.plot import check_picture, plot
from meshpart.submesh import SubMesh


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
    help="The part of each cell of MESH: .npy, .txt, .epart, or a folder of parts.",
)
@click.option("--ghosts-of", type=int, metavar="PART", help="Show this part and its ghosts; the others palely.")
@click.option("--ghost-layers", type=int, help="How many layers of ghosts, where --labels are given.  [default: 1]")
@click.option("--explode", type=float, default=0.0, show_default=True, help="How far parts are moved apart, 0.5 say.")
@click.option("--edges/--no-edges", default=None, help="Draw the edges of cells; otherwise where there is room.")
@click.option("--size", metavar="WxH", callback=lambda *given: _size(given[2]), help="In pixels, such as 1600x1200.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there already.")
def plot_command(path: str, output: str, labels_path: str | None, overwrite: bool, **how: Any) -> None:
    """Draw MESH, or a folder of PARTS, each part in a colour of its own."""
    check_picture(output, overwrite=overwrite)
    if Path(path).is_dir() or Path(path).suffix.lower() == ".pvtu":
        if labels_path is not None:
            raise ArgumentError(f"--labels is for a mesh, and {path} has parts")
        what: Any = _parts(path)
        told = f"{len(what)} parts"
    else:
        what = read_mesh(path)
        told = f"{what.n_cells} cells"
        if labels_path is not None:
            labels = read_labels_or_parts(labels_path, what)[0]
            how["labels"] = labels
            told += f" in {len(np.unique(labels))} parts"
    with step("drawing"):
        plot(what, output, overwrite=overwrite, **how)
    show({}, [f"{told}, drawn to {output}"], as_json=False)


def _parts(path: str) -> list[SubMesh]:
    """Return the parts in a folder that has all of each."""
    from meshpart.store import open_parts

    with step(f"reading {path}"):
        try:
            return list(open_parts(path))
        except FormatError as error:
            raise FormatError(f"{error} (parts in mesh files: meshpart plot MESH --labels {path})") from error


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    given = re.fullmatch(r"([0-9]{1,9})[xX]([0-9]{1,9})", text)
    if given is None:
        raise ArgumentError(f"--size must be WIDTHxHEIGHT in pixels, such as 1600x1200, got {text!r}")
    return int(given[1]), int(given[2])
