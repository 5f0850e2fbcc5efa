"""What the library computes, once more: slow and obvious, with nothing but loops over lists, sets and dicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from meshpart import HaloPlan, IndexMap, Mesh, SubMesh
from meshpart.cells import CellType, cell_type
from meshpart.edges import edges_of

TOP, ATTACHED, FREE = 0, 1, 2

# -- cells and points ---------------------------------------------------------------------------------------


def rows_of_block(mesh: Mesh, block: int) -> list[tuple[int, ...]]:
    """Return the points of every cell of a block, in the order of its row."""
    given = mesh.blocks[block]
    if given.offsets is None:
        return [tuple(int(point) for point in row) for row in given.nodes]
    ends = [int(offset) for offset in given.offsets]
    nodes = [int(point) for point in given.nodes]
    return [tuple(nodes[ends[row] : ends[row + 1]]) for row in range(len(ends) - 1)]


def rows_of(mesh: Mesh) -> list[tuple[int, ...]]:
    """Return the points of every cell."""
    return [row for block in range(len(mesh.blocks)) for row in rows_of_block(mesh, block)]


def types_of(mesh: Mesh) -> list[CellType]:
    """Return the type of every cell."""
    return [cell_type(block.type) for block in mesh.blocks for _ in range(len(block))]


def blocks_of(mesh: Mesh) -> list[int]:
    """Return the block that every cell lies in."""
    return [number for number, block in enumerate(mesh.blocks) for _ in range(len(block))]


def cells_on_points(mesh: Mesh) -> list[set[int]]:
    """Return the cells on every point."""
    cells: list[set[int]] = [set() for _ in range(mesh.n_points)]
    for cell, row in enumerate(rows_of(mesh)):
        for point in row:
            cells[point].add(cell)
    return cells


def faces_of_block(mesh: Mesh, block: int) -> list[list[tuple[int, ...]]]:
    """Return the faces of every polyhedron of a block, as points."""
    faces = mesh.blocks[block].faces
    result = []
    for cell, row in enumerate(rows_of_block(mesh, block)):
        numbers = range(faces.offsets[cell], faces.offsets[cell + 1])
        corners = [faces.corners[faces.corner_offsets[face] : faces.corner_offsets[face + 1]] for face in numbers]
        result.append([tuple(row[corner] for corner in face) for face in corners])
    return result


# -- kinds and parents --------------------------------------------------------------------------------------


def kinds_and_parents(mesh: Mesh) -> tuple[list[int], dict[int, list[int]]]:
    """Return the kind of every cell, and the parents of the attached ones, from comparing all pairs of cells."""
    rows, types = rows_of(mesh), types_of(mesh)
    holders: list[list[int]] = [[] for _ in rows]
    for cell, (row, kind) in enumerate(zip(rows, types, strict=True)):
        corners = set(row[: kind.n_corners])
        for other in range(len(rows)):
            if types[other].dim > kind.dim and corners <= set(rows[other]):
                holders[cell].append(other)
    highest = max((kind.dim for kind in types), default=-1)
    kinds = []
    for cell, kind in enumerate(types):
        if kind.dim == highest:
            kinds.append(TOP)
        elif holders[cell]:
            kinds.append(ATTACHED)
        else:
            kinds.append(FREE)
    parents = {}
    for cell, kind in enumerate(kinds):
        if kind == ATTACHED:
            partitioned = [other for other in holders[cell] if kinds[other] != ATTACHED]
            parents[cell] = partitioned or holders[cell]
    return kinds, parents


def with_attached(mesh: Mesh, labels: Sequence[int]) -> list[int]:
    """Return labels in which every attached cell has the lowest among its parents, higher dimensions first."""
    types = types_of(mesh)
    _, parents = kinds_and_parents(mesh)
    result = [int(label) for label in labels]
    for cell in sorted(parents, key=lambda cell: -types[cell].dim):
        result[cell] = min(result[parent] for parent in parents[cell])
    return result


# -- the graph of points ------------------------------------------------------------------------------------


def point_graph(mesh: Mesh) -> list[list[int]]:
    """Return the neighbours of every point, from walking along the edges of every cell."""
    neighbours: list[set[int]] = [set() for _ in range(mesh.n_points)]
    for block, given in enumerate(mesh.blocks):
        kind = cell_type(given.type)
        for cell, row in enumerate(rows_of_block(mesh, block)):
            if given.faces is not None:
                walks = [(*face, face[0]) for face in faces_of_block(mesh, block)[cell]]
            elif kind.n_corners is None:
                walks = [(*row, row[0])]
            else:
                walks = [tuple(row[position] for position in edge) for edge in edges_of(kind, len(row))]
            for walk in walks:
                for a, b in pairwise(walk):
                    neighbours[a] |= {b} - {a}
                    neighbours[b] |= {a} - {b}
    return [sorted(row) for row in neighbours]


# -- parts --------------------------------------------------------------------------------------------------


@dataclass
class Part:
    """Who is in a part, in local order, and whom it knows."""

    cells: list[int]
    n_owned_cells: int
    cell_owners: list[int]  # of the ghosts
    cell_layers: list[int]  # of the ghosts
    complete_cells: list[bool]
    kinds: list[int]
    points: list[int]
    n_owned_points: int
    ghost_owners: list[int]
    point_layers: list[int]  # of the ghosts
    complete_points: list[bool]
    rows: list[list[tuple[int, ...]]]  # of each block, as global ids


def point_owners(mesh: Mesh, labels: Sequence[int]) -> list[int]:
    """Return the part that owns most of the cells on each point, the lowest on a tie, 0 where there are none."""
    owners = []
    for cells in cells_on_points(mesh):
        counts: dict[int, int] = {}
        for cell in cells:
            counts[int(labels[cell])] = counts.get(int(labels[cell]), 0) + 1
        owners.append(min(counts, key=lambda part: (-counts[part], part)) if counts else 0)
    return owners


def layers_of_cells(
    rows: Sequence[tuple[int, ...]], cells_on: Sequence[set[int]], owned: set[int], ghost_layers: int
) -> dict[int, int]:
    """Return the cells that are at most so many shared points away from the owned ones, and how many."""
    layers = dict.fromkeys(owned, 0)
    front = owned
    for layer in range(1, ghost_layers + 1):
        around = {other for cell in front for point in rows[cell] for other in cells_on[point]}
        front = around - layers.keys()
        layers.update(dict.fromkeys(front, layer))
    return layers


def parts_of(mesh: Mesh, labels: Sequence[int], parts: Sequence[int], ghost_layers: int = 0) -> list[Part]:
    """Return parts: cells and points, the owned ones by id, then the ghosts by owner and id."""
    rows, cells_on, owners = rows_of(mesh), cells_on_points(mesh), point_owners(mesh, labels)
    labels = [int(label) for label in labels]
    kinds, _ = kinds_and_parents(mesh)
    blocks = blocks_of(mesh)
    around = [{other for point in row for other in cells_on[point]} for row in rows]
    found = []
    for part in parts:
        layers = layers_of_cells(rows, cells_on, {c for c, label in enumerate(labels) if label == part}, ghost_layers)
        cells = sorted(layers, key=lambda cell: (labels[cell] != part, labels[cell], cell))
        ghost_cells = [cell for cell in cells if labels[cell] != part]
        used = {point for cell in cells for point in rows[cell]}
        used |= {point for point, owner in enumerate(owners) if owner == part}
        points = sorted(used, key=lambda point: (owners[point] != part, owners[point], point))
        ghosts = [point for point in points if owners[point] != part]
        found.append(
            Part(
                cells=cells,
                n_owned_cells=len(cells) - len(ghost_cells),
                cell_owners=[labels[cell] for cell in ghost_cells],
                cell_layers=[layers[cell] for cell in ghost_cells],
                complete_cells=[around[cell] <= layers.keys() for cell in cells],
                kinds=[kinds[cell] for cell in cells],
                points=points,
                n_owned_points=len(points) - len(ghosts),
                ghost_owners=[owners[point] for point in ghosts],
                point_layers=[min(layers[cell] for cell in cells_on[point] & layers.keys()) for point in ghosts],
                complete_points=[cells_on[point] <= layers.keys() for point in points],
                rows=[[rows[cell] for cell in cells if blocks[cell] == block] for block in range(len(mesh.blocks))],
            )
        )
    return found


def part_of(mesh: Mesh, labels: Sequence[int], part: int, ghost_layers: int = 0) -> Part:
    """Return one part."""
    return parts_of(mesh, labels, [part], ghost_layers)[0]


def seen(part: SubMesh) -> Part:
    """Return what a sub-mesh says of itself, in global ids."""
    cells, points = part.cells, part.points
    ids = points.global_ids.tolist()
    blocks = range(len(part.mesh.blocks))
    return Part(
        cells=cells.global_ids.tolist(),
        n_owned_cells=cells.n_owned,
        cell_owners=cells.ghost_owners.tolist(),
        cell_layers=cells.ghost_layers.tolist(),
        complete_cells=cells.complete.tolist(),
        kinds=cells.kind.tolist(),
        points=ids,
        n_owned_points=points.n_owned,
        ghost_owners=points.ghost_owners.tolist(),
        point_layers=points.ghost_layers.tolist(),
        complete_points=points.complete.tolist(),
        rows=[[tuple(ids[node] for node in row) for row in rows_of_block(part.mesh, block)] for block in blocks],
    )


# -- exchange plans -----------------------------------------------------------------------------------------

Plan = dict[int, tuple[list[int], list[int]]]  # by neighbour: what is sent to it and what is received, as global ids


def plans(held: Sequence[Sequence[int]], owners: Sequence[int]) -> list[Plan]:
    """Return what each part sends to every other and receives from it, of what each part holds and who owns it."""
    moved = [[sorted(e for e in ids if owners[e] == owner) for owner in range(len(held))] for ids in held]
    result: list[Plan] = []
    for p in range(len(held)):
        others = [q for q in range(len(held)) if q != p and (moved[q][p] or moved[p][q])]
        result.append({q: (moved[q][p], moved[p][q]) for q in others})
    return result


def seen_plan(ids: IndexMap, plan: HaloPlan) -> Plan:
    """Return what a plan says, in global ids."""
    names = ids.global_ids.tolist()
    sent = np.split(plan.send_indices, plan.send_offsets[1:-1]) if len(plan.neighbours) else []
    received = [range(ids.n_owned + a, ids.n_owned + b) for a, b in pairwise(plan.recv_offsets.tolist())]
    return {
        neighbour: ([names[row] for row in rows.tolist()], [names[row] for row in ghosts])
        for neighbour, rows, ghosts in zip(plan.neighbours.tolist(), sent, received, strict=True)
    }


# -- quality ------------------------------------------------------------------------------------------------


def quality(
    mesh: Mesh, dual: Sequence[Sequence[int]], labels: Sequence[int], nparts: int, weights: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return what `Quality` says of labels, from the definitions; `dual` lists the neighbours of every cell."""
    rows, cells_on, owners = rows_of(mesh), cells_on_points(mesh), point_owners(mesh, labels)
    partitioned = [cell for cell, kind in enumerate(kinds_and_parents(mesh)[0]) if kind != ATTACHED]
    parts = range(nparts)
    pairs = [(a, b) for a, row in enumerate(dual) for b in row if labels[a] != labels[b]]
    cut_between = {(p, q): 0 for p in parts for q in parts}
    for a, b in pairs:
        cut_between[labels[a], labels[b]] += 1
    around = [{other for point in row for other in cells_on[point]} for row in rows]
    ghosts = [{o for c in range(len(rows)) if labels[c] == p for o in around[c] if labels[o] != p} for p in parts]
    return {
        "edge_cut": sum(1 for a, b in pairs if a < b),
        "communication_volume": len({(a, labels[b]) for a, b in pairs}),
        "shared_points": sum(len({labels[cell] for cell in cells}) > 1 for cells in cells_on),
        "part_weights": [
            sum(1 if weights is None else weights[cell] for cell in partitioned if labels[cell] == p) for p in parts
        ],
        "part_cells": [sum(label == p for label in labels) for p in parts],
        "part_points": [sum(owner == p for owner in owners) for p in parts],
        "part_ghosts": [len(cells) for cells in ghosts],
        "part_neighbours": [len({labels[cell] for cell in cells}) for cells in ghosts],
        "part_components": [n_pieces({c for c in partitioned if labels[c] == p}, dual) for p in parts],
        "quotient": [[(q, cut_between[p, q]) for q in parts if cut_between[p, q]] for p in parts],
    }


def n_pieces(cells: set[int], neighbours: Sequence[Sequence[int]]) -> int:
    """Return into how many connected pieces cells fall."""
    left, count = set(cells), 0
    while left:
        count += 1
        front = {min(left)}
        while front:
            left -= front
            front = {other for cell in front for other in neighbours[cell]} & left
    return count


# -- what a mesh holds, fact by fact ------------------------------------------------------------------------

Facts = dict[tuple[Any, ...], Any]


def facts(mesh: Mesh) -> Facts:
    """Return all that a mesh holds of single points, cells and entries of sets, in global ids."""
    cells = [range(first, first + len(block)) for first, block in zip(mesh.block_starts, mesh.blocks, strict=False)]
    ranks = {name: range(len(members)) for name, members in mesh.point_sets.items()}
    cell_ranks = {name: [range(len(rows)) for rows in sets] for name, sets in mesh.cell_sets.items()}
    pair_ranks = [range(len(entry.pairs)) for entry in mesh.periodic]
    found = _facts(mesh, range(mesh.n_points), cells, ranks, cell_ranks)
    return dict(_together([found, _periodic_facts(mesh.periodic, pair_ranks)]))


def merged(mesh: Mesh, parts: Sequence[SubMesh]) -> Facts:
    """Return all that the parts of a mesh hold, by their global ids and ranks."""
    found, blocks = [], blocks_of(mesh)
    for part in parts:
        ids = part.cells.global_ids.tolist()
        cells = [[cell for cell in ids if blocks[cell] == block] for block in range(len(mesh.blocks))]
        ranks, cell_ranks = part.point_set_positions, part.cell_set_positions
        found.append(_facts(part.mesh, part.points.global_ids.tolist(), cells, ranks, cell_ranks))
        found.append(_periodic_facts(part.periodic, part.periodic_positions))
    return _together(found)


def _facts(mesh: Mesh, points: Sequence[int], cells: Any, ranks: Any, cell_ranks: Any) -> Iterator[tuple[Any, Any]]:
    for local, point in enumerate(points):
        yield ("point", point), _value(mesh.points, local)
        for name, values in mesh.point_data.items():
            yield ("point_data", name, point), _value(values, local)
    for block, of_block in enumerate(cells):
        rows = rows_of_block(mesh, block)
        for row, cell in enumerate(of_block):
            yield ("cell", cell), (mesh.blocks[block].type, block, tuple(points[node] for node in rows[row]))
            for name, arrays in mesh.cell_data.items():
                yield ("cell_data", name, cell), _value(arrays[block], row)
        if mesh.blocks[block].faces is not None:
            for cell, faces in zip(of_block, faces_of_block(mesh, block), strict=True):
                yield ("faces", cell), [tuple(points[node] for node in face) for face in faces]
    for name, members in mesh.point_sets.items():
        for rank, member in zip(ranks[name], members, strict=True):
            yield ("point_set", name, int(rank)), points[member]
    for name, sets in mesh.cell_sets.items():
        for block, members in enumerate(sets):
            for rank, member in zip(cell_ranks[name][block], members, strict=True):
                yield ("cell_set", name, block, int(rank)), cells[block][member]


def _periodic_facts(entries: Any, ranks: Any) -> Iterator[tuple[Any, Any]]:
    for number, (entry, entry_ranks) in enumerate(zip(entries, ranks, strict=True)):
        yield ("periodic", number), (entry.dim, entry.tags, np.asarray(entry.affine).tolist())
        for rank, pair in zip(entry_ranks, entry.pairs.tolist(), strict=True):
            yield ("periodic", number, int(rank)), pair


def _value(array: Any, row: int) -> Any:
    """Return one row of an array so that == compares it bit for bit."""
    if array.dtype.hasobject:
        return array.dtype.str, array[row : row + 1].tolist()
    return array.dtype.str, array.shape[1:], array[row].tobytes()


def _together(found: Sequence[Iterator[tuple[Any, Any]]]) -> Facts:
    """Return facts by key; where the parts disagree, all that they say."""
    result: Facts = {}
    for some in found:
        for key, value in some:
            if key not in result:
                result[key] = value
            elif result[key] != value:
                result[key] = ("disagreement", result[key], value)
    return result
