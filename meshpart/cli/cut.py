"""The commands that cut a mesh: into files of parts, and into labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from meshpart import arguments
from meshpart.arrays import Labels
from meshpart.cli.options import (
    json_option,
    labels_option,
    mesh_argument,
    method_options,
    refuse_method_options,
    threads_option,
)
from meshpart.cli.terminal import bar, counted, show, step
from meshpart.cutting import Plan, labels_by_method, labels_given
from meshpart.errors import ArgumentError
from meshpart.io import read
from meshpart.labels import as_labels, place_for_labels, read_labels, write_labels
from meshpart.local_graph import ADJACENCIES, as_stored
from meshpart.manifest import is_place_of_parts
from meshpart.mesh import Mesh
from meshpart.methods import choose
from meshpart.part_labels import PartLabels, read_part_labels
from meshpart.partition import partition_labels
from meshpart.quality import Quality, quality
from meshpart.saving import write_parts, writer_for
from meshpart.solve import refuse_more_than_units
from meshpart.staging import PVTU, check_place, is_pvtu, make_folder
from meshpart.submesh import Provenance


@click.command("partition")
@mesh_argument
@click.argument("counts", type=int, nargs=-1, required=True, metavar="NPARTS...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="OUT",
    help="What to write: a folder, or an X.pvtu. With several NPARTS, a folder for NPARTS.parts (or NPARTS.pvtu) each.",
)
@method_options
@labels_option
@click.option(
    "--ghost-layers",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Layers of ghost cells in each part: cells that share a point with the part's, and so on.",
)
@click.option(
    "--graphs",
    type=click.Choice(list(ADJACENCIES)),
    multiple=True,
    help="Of a part store: graph to store with each part, for message passing on its points, or on its cells, which "
    "needs a ghost layer (repeatable).",
)
@threads_option
@click.option(
    "--format",
    "file_format",
    metavar="FORMAT",
    help="store (read back by open_parts), pvtu (for ParaView), or mesh files: vtu, xdmf, med, msh, inp, exodus, ... "
    "By OUT's suffix if left out: pvtu, or else a store.",
)
@click.option("--overwrite", is_flag=True, help="Replace parts that OUT holds already.")
@json_option
def partition_command(
    mesh_path: str,
    counts: tuple[int, ...],
    output: str,
    labels_path: str | None,
    file_format: str | None,
    overwrite: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Cut MESH into NPARTS parts, with a file for each in OUT.

    With several NPARTS, MESH is read once and cut into each number of parts.
    """
    places = _places(output, counts, file_format)
    if len(counts) > 1 and labels_path is not None:
        raise ArgumentError(f"--labels are for one number of parts, got {', '.join(map(str, counts))}")
    for place in places:
        writer_for(place, file_format, as_stored(how["graphs"])).close()
    if "cells" in how["graphs"] and not how["ghost_layers"]:
        raise ArgumentError("--graphs cells needs --ghost-layers 1 or more")
    if len(counts) == 1 or Path(output).exists():
        for place in places:
            check_place(place, overwrite=overwrite)
    mesh = read_mesh(mesh_path)
    given = None if labels_path is None else _given_labels(labels_path, mesh)
    if given is None and not how["allow_empty"]:
        refuse_more_than_units(mesh, max(counts), how["keep_together"])
    results, lines = [], []
    in_folder = output if len(counts) > 1 else None  # made with the first parts
    for nparts, place in zip(counts, places, strict=True):
        found, made = _cut(mesh, nparts, given, place, file_format, in_folder, overwrite=overwrite, **how)
        facts = {"out": place, "method": made.method, "seed": made.seed, "ghost_layers": how["ghost_layers"]}
        results.append({"mesh": mesh_path, **facts, **found.to_dict()})
        how_cut = f"along {labels_path}" if given is not None else f"by {made.method}"
        how_cut += f" ({made.mode})" if made.mode else ""
        layers = how["ghost_layers"]
        how_cut += f", {counted(layers, 'ghost layer')}" if layers else ""
        lines += [*str(found).splitlines(), f"cut {how_cut}, written to {place}", ""]
    show(results[0] if len(results) == 1 else {"decompositions": results}, lines[:-1], as_json=as_json)


def _places(output: str, counts: Sequence[int], file_format: str | None) -> list[str]:
    """Return where the parts go, for each number of them."""
    if len(counts) == 1:
        return [output]
    for nparts in counts:
        arguments.integer("nparts", nparts, low=1)
    if len(set(counts)) < len(counts):
        raise ArgumentError(f"each number of parts is cut once, got {', '.join(map(str, counts))}")
    if is_pvtu(Path(output)):
        raise ArgumentError(
            f"with several NPARTS OUT is a folder: --format pvtu -o {Path(output).stem} for .pvtu files"
        )
    wanted = (file_format or "").lower().removeprefix(".")
    return [str(Path(output) / f"{nparts}.{wanted if wanted == PVTU else 'parts'}") for nparts in counts]


def _cut(
    mesh: Mesh,
    nparts: int,
    given: Labels | None,
    place: str,
    file_format: str | None,
    in_folder: str | None,
    *,
    overwrite: bool,
    ghost_layers: int,
    graphs: tuple[str, ...],
    threads: int | None,
    **how: Any,
) -> tuple[Quality, Provenance]:
    """Cut a mesh and write its parts; return how good the cut is, and how it was made."""
    plan = Plan.of(mesh, ghost_layers, graphs, threads)
    with step(f"cutting {mesh.n_cells} cells into {nparts} parts"):
        if given is None:
            labels, made = labels_by_method(mesh, nparts, threads=threads, **how)
        else:
            labels, made = labels_given(mesh, given, nparts)
    found = judge(mesh, labels, nparts, threads, how)
    if in_folder is not None:
        make_folder(in_folder)
    with bar(f"writing {place}", nparts) as advance:
        write_parts(
            plan.each(labels, made),
            place,
            format=file_format,
            overwrite=overwrite,
            graphs=graphs,
            quality=found,
            progress=advance,
        )
    return found, made


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
            labels, method = partition_labels(mesh, nparts, threads=threads, **how), choose(how["method"]).name
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
    """Read labels from a file or from parts, and of the latter what else they tell."""
    with step(f"reading {path}"):
        if not is_place_of_parts(path):
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
