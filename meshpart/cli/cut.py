"""The commands that cut a mesh: into files of parts, and into labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from meshpart.arrays import Labels
from meshpart.cli.options import (
    json_option,
    labels_option,
    mesh_argument,
    method_options,
    refuse_method_options,
    threads_option,
)
from meshpart.cli.terminal import bar, show, step
from meshpart.io import read, write_parts
from meshpart.labels import as_labels, place_for_labels, read_labels, write_labels
from meshpart.mesh import Mesh
from meshpart.methods import choose
from meshpart.part_labels import PartLabels, labels_of_parts, read_part_labels
from meshpart.partition import partition, partition_labels, split
from meshpart.quality import Quality, quality


@click.command("partition")
@mesh_argument
@click.argument("nparts", type=int)
@click.option("-o", "--output", required=True, type=click.Path(), metavar="OUT", help="The folder to write.")
@method_options
@labels_option
@click.option(
    "--ghost-layers",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Layers of ghost cells in each part: cells that share a point with the part's, and so on.",
)
@threads_option
@click.option(
    "--format",
    "file_format",
    default="vtu",
    show_default=True,
    help="vtu, xdmf, med, msh, inp, exodus, ...",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it holds parts already.")
@json_option
def partition_command(
    mesh_path: str,
    nparts: int,
    output: str,
    labels_path: str | None,
    ghost_layers: int,
    threads: int | None,
    file_format: str,
    overwrite: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Cut MESH into NPARTS files in the folder OUT."""
    mesh = read_mesh(mesh_path)
    given = None if labels_path is None else _given_labels(labels_path, mesh)
    with step(f"cutting {mesh.n_cells} cells into {nparts} parts"):
        if given is None:
            parts = partition(mesh, nparts, ghost_layers=ghost_layers, threads=threads, **how)
        else:
            parts = split(mesh, given, nparts, ghost_layers=ghost_layers, threads=threads)
    found = judge(mesh, labels_of_parts(parts, mesh.n_cells), nparts, threads, how)
    with bar(f"writing {output}", nparts) as advance:
        write_parts(parts, output, format=file_format, overwrite=overwrite, progress=advance)
    made = parts[0].provenance
    result = {
        "mesh": mesh_path,
        "out": output,
        "method": made.method,
        "seed": made.seed,
        "ghost_layers": ghost_layers,
        **found.to_dict(),
    }
    how_cut = (
        f"by {made.method}" + (f" ({made.mode})" if made.mode else "") if given is None else f"along {labels_path}"
    )
    if ghost_layers:
        how_cut += f", {ghost_layers} ghost layer" + "s" * (ghost_layers > 1)
    show(result, [*str(found).splitlines(), f"cut {how_cut}, written to {output}"], as_json=as_json)


@click.command("labels")
@mesh_argument
@click.argument("nparts", type=int)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="OUT",
    help="The file to write: .npy for NumPy, .txt or .epart for one integer a line.",
)
@method_options
@labels_option
@threads_option
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there already.")
@json_option
def labels_command(
    mesh_path: str,
    nparts: int,
    output: str,
    labels_path: str | None,
    threads: int | None,
    overwrite: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Write the part of each cell of MESH, one of 0..NPARTS-1, to the file OUT."""
    place_for_labels(output, overwrite=overwrite)
    mesh = read_mesh(mesh_path)
    given = None if labels_path is None else _given_labels(labels_path, mesh)
    with step(f"cutting {mesh.n_cells} cells into {nparts} parts"):
        if given is None:
            labels, method = partition_labels(mesh, nparts, threads=threads, **how), choose(how["method"])[0]
        else:
            labels, method = as_labels(given, mesh.n_cells, nparts)[0], "labels"
    found = judge(mesh, labels, nparts, threads, how)
    write_labels(output, labels, overwrite=overwrite)
    result = {"mesh": mesh_path, "out": output, "method": method, **found.to_dict()}
    how_cut = f"by {method}" if labels_path is None else f"along {labels_path}"
    show(result, [*str(found).splitlines(), f"cut {how_cut}, written to {output}"], as_json=as_json)


def read_mesh(path: str) -> Mesh:
    """Read a mesh, and show that this is going on."""
    with step(f"reading {path}"):
        return read(path)


def read_labels_or_parts(path: str, mesh: Mesh) -> tuple[Labels, PartLabels | None]:
    """Read labels from a file or a folder of parts, and of the latter what else it tells."""
    with step(f"reading {path}"):
        if not Path(path).is_dir():
            return read_labels(path), None
        found = read_part_labels(path, mesh)
        return found.labels, found


def judge(mesh: Mesh, labels: Labels, nparts: int | None, threads: int | None, how: dict[str, Any]) -> Quality:
    """Return the quality of labels by the balance that was asked for."""
    asked = {name: how[name] for name in ("weights", "edge_weights", "imbalance", "keep_together")}
    with step("measuring the quality"):
        return quality(mesh, labels, nparts, threads=threads, **asked)


def _given_labels(path: str, mesh: Mesh) -> Labels:
    refuse_method_options()
    return read_labels_or_parts(path, mesh)[0]
