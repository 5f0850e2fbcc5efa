"""The commands that say something: of a mesh, and of a decomposition."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
import numpy as np

from meshpart.arrays import told
from meshpart.cells import cell_type
from meshpart.cli.cut import judge, read_labels_or_parts, read_mesh
from meshpart.cli.options import balance_options, given_options, json_option, mesh_argument, threads_option
from meshpart.cli.terminal import counted, say, show
from meshpart.manifest import Manifest, fields_of, is_place_of_parts, read_manifest
from meshpart.mesh import ATTACHED, FREE, TOP, Mesh
from meshpart.tables import table


@click.command("quality")
@mesh_argument
@click.argument("labels_path", metavar="LABELS|PARTS", type=click.Path())
@click.option("--nparts", type=int, help="How many parts there are, where the highest are empty.")
@balance_options
@threads_option
@json_option
def quality_command(
    mesh_path: str, labels_path: str, nparts: int | None, threads: int | None, as_json: bool, **how: Any
) -> None:
    """Say how good a decomposition of MESH is: a file of labels, or a folder of parts.

    A folder is judged by the balance that its parts were made with, unless options say otherwise.
    """
    mesh = read_mesh(mesh_path)
    labels, folder = read_labels_or_parts(labels_path, mesh)
    if folder is not None:
        nparts = folder.nparts if nparts is None else nparts
        given = given_options()
        how |= {name: value for name, value in folder.asked.items() if name not in given}
        for name in folder.lost:
            if name not in given:
                say(
                    f"warning: {labels_path} was made with {name} from an array, which it does not hold: judged without"
                )
    found = judge(mesh, labels, nparts, threads, how)
    show({"mesh": mesh_path, "labels": labels_path, **found.to_dict()}, str(found).splitlines(), as_json=as_json)


@click.command("info")
@click.argument("path", metavar="MESH|PARTS", type=click.Path())
@json_option
def info_command(path: str, as_json: bool) -> None:
    """Say what is in MESH, or how PARTS were made and what they hold."""
    if is_place_of_parts(path):
        manifest = read_manifest(path)
        found = {"path": path, **manifest.content, "fields": fields_of(manifest)}
        show(found, _parts_text(manifest, found), as_json=as_json)
    else:
        facts = {"mesh": path, **_facts(read_mesh(path))}
        show(facts, _facts_text(facts), as_json=as_json)


def _parts_text(manifest: Manifest, found: dict[str, Any]) -> list[str]:
    asked = ("method", "mode", "imbalance", "seed", "weights", "edge_weights", "keep_together")
    made = [(name.replace("_", " "), found[name]) for name in asked if found[name] is not None]
    types = Counter(block["type"] for block in found["blocks"])
    missing = manifest.nparts - len(manifest.parts)
    lines = [
        found["path"],
        f"  format  {found['format']}, written by meshpart {found['meshpart']}",
        f"  parts   {manifest.nparts}, {counted(found['ghost_layers'], 'ghost layer')}"
        + (f", {missing} of them not here" if missing else ""),
        f"  made    by {', '.join(f'{name} {value}' for name, value in made)}",
        f"  mesh    {found['n_points']} points, {found['n_cells']} cells in {counted(len(found['blocks']), 'block')}",
        *(f"  blocks  {count} of {kind}" for kind, count in types.items()),
        *(f"  {title}  {name}: {kind}" for title in ("point_data", "cell_data") for name, kind in found[title].items()),
    ]
    for title in ("point_sets", "cell_sets", "graphs", "fields", "notes"):
        lines += [f"  {title}  {entry}" for entry in found[title]]
    columns = {name: np.array(column) for name, column in found["parts"].items() if name != "beside"}
    if manifest.parts == list(range(manifest.nparts)):
        del columns["part"]
    return [*lines, "", *table("part" if "part" not in columns else "entry", columns)]


def _facts(mesh: Mesh) -> dict[str, Any]:
    used = np.unique(mesh.cell_points)
    box = mesh.coordinates[used]
    return {
        "points": mesh.n_points,
        "unused_points": mesh.n_points - len(used),
        "space_dimension": mesh.points.shape[1],
        "bounding_box": [box.min(axis=0).tolist(), box.max(axis=0).tolist()] if len(used) else None,
        "cells": mesh.n_cells,
        "dimension": mesh.dim,
        "kinds": {
            name: int(np.count_nonzero(mesh.kinds == kind))
            for name, kind in (("top", TOP), ("attached", ATTACHED), ("free", FREE))
        },
        "blocks": [
            {"type": block.type, "dimension": cell_type(block.type).dim, "cells": len(block)} for block in mesh.blocks
        ],
        "point_data": {name: told(values) for name, values in mesh.point_data.items()},
        "cell_data": {name: told(arrays[0]) if arrays else "" for name, arrays in mesh.cell_data.items()},
        "point_sets": {name: len(members) for name, members in mesh.point_sets.items()},
        "cell_sets": {name: sum(map(len, rows)) for name, rows in mesh.cell_sets.items()},
        "periodic_pairs": sum(len(entry.pairs) for entry in mesh.periodic),
    }


def _facts_text(facts: dict[str, Any]) -> list[str]:
    kinds = facts["kinds"]
    lines = [
        facts["mesh"],
        f"  points  {facts['points']} in {facts['space_dimension']}-D, {facts['unused_points']} of them in no cell",
        f"  cells   {facts['cells']}: {kinds['top']} of dimension {facts['dimension']}, {kinds['attached']} attached "
        f"to them, {kinds['free']} free of lower dimension",
    ]
    if facts["bounding_box"]:
        low, high = ([f"{x:g}" for x in corner] for corner in facts["bounding_box"])
        lines.append(f"  box     ({', '.join(low)}) to ({', '.join(high)})")
    lines += [f"  block   {number}: {block['cells']} {block['type']}" for number, block in enumerate(facts["blocks"])]
    for title in ("point_data", "cell_data", "point_sets", "cell_sets"):
        what = "" if title.endswith("data") else " members"
        lines += [f"  {title}  {name}: {value}{what}" for name, value in facts[title].items()]
    if facts["periodic_pairs"]:
        lines.append(f"  periodic  {facts['periodic_pairs']} pairs of points")
    return lines
