"""The command that leads back from parts to one mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from meshpart.arrays import Array
from meshpart.cli.options import json_option
from meshpart.cli.terminal import bar, counted, show, step
from meshpart.errors import ArgumentError, FormatError
from meshpart.manifest import Manifest, read_manifest
from meshpart.merge import merge
from meshpart.mesh import Mesh
from meshpart.mesh_file import place_for_mesh, write
from meshpart.read_back import check_all_written
from meshpart.rejoin import mesh_and_labels
from meshpart.store import ENTITIES, STORE, PartStore


@click.command("merge")
@click.argument("parts_path", metavar="PARTS", type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), metavar="MESH", help="The mesh file to write.")
@click.option("--format", "file_format", help="vtu, xdmf, med, msh, inp, exodus, ... [default: by MESH's suffix]")
@click.option(
    "--fields",
    "names",
    multiple=True,
    metavar="NAME",
    help="Of a part store: add the fields that were written under NAME (repeatable; then each is called NAME/FIELD).",
)
@click.option("--overwrite", is_flag=True, help="Replace MESH if it is there already.")
@json_option
def merge_command(
    parts_path: str, output: str, file_format: str | None, names: tuple[str, ...], overwrite: bool, as_json: bool
) -> None:
    """Put all parts of a mesh together again: a part store, a folder of mesh files, or a .pvtu file.

    A part store gives the mesh back exactly. Mesh files give what is in them now, with what a solver added.
    """
    doubled = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if doubled is not None:
        raise ArgumentError(f"--fields {doubled!r} is given twice")
    place_for_mesh(output, format=file_format, overwrite=overwrite)
    manifest = read_manifest(parts_path)
    if manifest.format == STORE:
        mesh = _merge_store(manifest, names)
    elif names:
        raise ArgumentError(f"--fields are those of a part store; {parts_path} is one of {manifest.format} files")
    else:
        with step(f"merging {manifest.nparts} parts"):
            mesh, _ = mesh_and_labels(manifest, parts_path)
    with step(f"writing {output}"):
        write(mesh, output, format=file_format, overwrite=overwrite)
    result = {
        "parts": parts_path,
        "out": output,
        "nparts": manifest.nparts,
        "cells": mesh.n_cells,
        "points": mesh.n_points,
        "point_data": sorted(mesh.point_data),
        "cell_data": sorted(mesh.cell_data),
    }
    parts = counted(manifest.nparts, "part")
    line = f"{mesh.n_cells} cells and {mesh.n_points} points of {parts} merged, written to {output}"
    show(result, [line], as_json=as_json)


def _merge_store(manifest: Manifest, names: Sequence[str]) -> Mesh:
    """Merge the parts of a store, with the fields that were written under some names."""
    check_all_written(manifest)
    store = PartStore(manifest)
    fields: dict[str, dict[str, list[Array]]] = {entity: {} for entity in ENTITIES}
    known: dict[str, Any] = {}
    parts = []
    with bar(f"reading {manifest.path}", manifest.nparts) as advance:
        for number in range(manifest.nparts):
            parts.append(store.load(number))
            for name in names:
                found = store.load_fields(name, number)
                _require_the_same(name, number, found, known.setdefault(name, found))
                for entity, of_entity in fields.items():
                    for field, values in found[entity].items():
                        of_entity.setdefault(f"{name}/{field}" if len(names) > 1 else field, []).append(values)
            advance(number + 1)
    with step(f"merging {len(parts)} parts"):
        return merge(parts, point_data=fields["points"], cell_data=fields["cells"])


def _require_the_same(name: str, number: int, found: Any, first: Any) -> None:
    """Raise if a part does not have the fields that part 0 has."""
    for entity in ENTITIES:
        for field in {**first[entity], **found[entity]}:
            if field not in found[entity] or field not in first[entity]:
                lacking, there = (number, 0) if field not in found[entity] else (0, number)
                raise FormatError(f"fields {name!r}: part {lacking} has no {entity} {field!r}, part {there} has it")
