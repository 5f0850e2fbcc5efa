"""The cases of the benchmarks are valid meshes of the sizes that were asked for."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import cases
import numpy as np
import pytest
from cases import CASES, CLASSES, chosen
from facets import SOLIDS, boundary, pairs
from mesh_checks import bodies, cell_measures, corner_measures, is_conforming, is_oriented, top_cells
from mesh_class import class_of
from raw_mesh import RawMesh, cut_into_tets, shuffled
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

import meshpart

BODIES = {"flange_tets": 9, "brick_hexes": 48}  # of the other cases: 1
RAGGED = ("graded_tets",)  # where slivers were taken away, the hull may touch itself

PI = float(np.pi)
BENDS = PI * 0.1 * 2 * PI * (3 * (2 + 0.2 / PI) + 2 * (1 - 0.2 / PI))  # of the bellows, by Pappus: 3 outside, 2 inside
BOLTED = 2 * 0.2 * PI * (1 - 0.35**2 - 4 * 0.16**2) + 4 * 0.64 * PI * 0.145**2  # two flanges and four bolts
MEASURES = {  # volume or area of the geometry, and how far off 10 000 cells may be, which cut its curves short
    "box_tets": (1, 1e-9),
    "long_tets": (30, 1e-9),
    "stretched_tets": (30, 1e-9),
    "hexes": (3 * PI / 4 * (2**2 - 1), 0.01),
    "block_hexes": (PI * (3 + 1.5 * PI + 4), 0.04),
    "flat_triangles": (1, 1e-9),
    "channel_triangles": (5, 1e-9),
    "flat_triangles_in_space": (1, 1e-9),
    "oblique_triangles": (1, 1e-9),
    "holed_triangles": (1 - PI * (0.12**2 + 0.03**2 + 0.06**2 + 0.15**2 + 0.015**2), 0.001),
    "gmsh_tets": (2 - PI * 0.15**2 - 2 / 3 * PI * 0.25**3, 0.002),
    "bellows_triangles": (6 * PI * (2**2 - 1) + BENDS, 0.04),
    "flange_tets": (BOLTED + PI * (0.04 * (0.5**2 - 0.35**2) + 1.76 * (0.45**2 - 0.35**2)), 0.04),
    "brick_hexes": (48 * 2, 1e-9),
    "mixed": (2, 1e-9),
    "planar_hybrid": (1 - PI * 0.05**2, 1e-4),
}

every_case = pytest.mark.parametrize("name", CASES)


@cache
def made(name: str, n: int) -> RawMesh:
    """Return the mesh of a case, made once."""
    return CASES[name].make(n)


# -- every case ---------------------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("n", [2_000, 10_000])
def test_a_case_has_about_as_many_cells_as_were_asked_for(name: str, n: int) -> None:
    assert n / 1.5 < sum(len(rows) for _, rows in top_cells(made(name, n))) < n * 1.5


@every_case
def test_a_case_is_the_same_every_time(name: str) -> None:
    first, second = made(name, 2_000), CASES[name].make(2_000)
    assert (first.points.dtype, first.points.tobytes()) == (np.float64, second.points.tobytes())
    assert [kind for kind, _ in first.cells] == [kind for kind, _ in second.cells]
    for (_, rows), (_, again) in zip(first.cells, second.cells, strict=True):
        assert (rows.dtype, rows.tobytes()) == (np.int64, again.tobytes())


@every_case
@pytest.mark.parametrize("n", [2_000, 10_000])
def test_no_cell_is_flat_or_turned_inside_out(name: str, n: int) -> None:
    assert corner_measures(made(name, n)).min() > 0
    assert cell_measures(made(name, n)).min() > 0


@every_case
def test_two_cells_run_around_their_common_facet_in_opposite_directions(name: str) -> None:
    assert is_oriented(made(name, 2_000))


@pytest.mark.parametrize("name", [name for name in MEASURES if name in CASES])
def test_the_cells_fill_the_geometry(name: str) -> None:
    expected, tolerance = MEASURES[name]
    assert cell_measures(made(name, 10_000)).sum() == pytest.approx(expected, rel=tolerance)


@every_case
@pytest.mark.parametrize("n", [2_000, 10_000])
def test_facets_match(name: str, n: int) -> None:
    cells = top_cells(made(name, n))
    assert pairs(cells) if name in RAGGED else is_conforming(cells)


@every_case
def test_every_point_is_used_and_no_body_has_a_point_twice(name: str) -> None:
    mesh = made(name, 10_000)
    ids = np.concatenate([rows.ravel() for _, rows in mesh.cells])
    assert np.array_equal(np.unique(ids), np.arange(len(mesh.points)))
    first, second = cKDTree(mesh.points).query_pairs(1e-9 * float(np.ptp(mesh.points)), output_type="ndarray").T
    body = bodies(mesh)
    assert not np.any(body[first] == body[second])


@every_case
def test_a_case_has_as_many_bodies_as_it_says_and_each_hangs_together_by_facets(name: str) -> None:
    mesh = made(name, 10_000)
    graph = meshpart.dual_graph(meshpart.Mesh(mesh.points, top_cells(mesh)))
    by_facets, _ = connected_components(graph.to_scipy(), directed=False)
    assert (len(np.unique(bodies(mesh))), by_facets) == (BODIES.get(name, 1),) * 2


@every_case
def test_the_class_of_a_case_is_that_of_its_mesh(name: str) -> None:
    assert class_of(meshpart.Mesh(*made(name, 10_000))) == CASES[name].kind


@pytest.mark.parametrize("name", ["graded_tets", "panel_hexes", "flange_tets", "hex_core"])
def test_the_class_depends_on_neither_numbers_nor_units(name: str) -> None:
    mesh = shuffled(made(name, 10_000), 0)
    assert class_of(meshpart.Mesh(mesh.points * 1000 + 7, mesh.cells)) == CASES[name].kind


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.graph_of])
def test_a_case_that_only_lies_otherwise_in_space_has_the_cells_of_the_other(name: str) -> None:
    mesh, other = made(name, 2_000), made(str(CASES[name].graph_of), 2_000)
    for mine, theirs in zip(mesh.cells, other.cells, strict=True):
        assert np.array_equal(mine[1], theirs[1])
    assert not np.array_equal(mesh.points, other.points)


# -- single ones --------------------------------------------------------------------------------------------


def test_the_quads_at_the_airfoil_are_more_than_a_hundred_times_as_long_as_thick() -> None:
    points, ((_, quads),) = made("boundary_layer_quads", 10_000)
    inner, outer, outer_next, _ = points[quads[:100]].transpose(1, 0, 2)  # the first ring
    aspects = np.linalg.norm(outer_next - outer, axis=1) / np.linalg.norm(outer - inner, axis=1)
    assert aspects.min() > 100


def test_the_layers_at_the_airfoil_grow_by_one_factor() -> None:
    points, _ = made("boundary_layer_quads", 10_000)
    away = points.reshape(101, 100, 2)[:, 25]  # a line across the layers
    thickness = np.linalg.norm(np.diff(away, axis=0), axis=1)
    growth = thickness[1:] / thickness[:-1]
    assert growth[0] > 1.05
    assert np.allclose(growth[:40], growth[0], rtol=0.01)


def test_the_wedges_at_the_wall_are_about_a_hundred_times_as_long_as_high() -> None:
    points, ((_, wedges),) = made("boundary_layer_wedges", 10_000)
    bottom, top = points[wedges[: len(wedges) // 24]].reshape(-1, 2, 3, 3).transpose(1, 0, 2, 3)
    lengths = np.linalg.norm(bottom - np.roll(bottom, 1, axis=1), axis=2)
    assert 80 < np.median(lengths) / np.median(np.linalg.norm(top - bottom, axis=2)) < 125


def test_sheets_of_the_bellows_are_far_nearer_in_space_than_along_the_wall() -> None:
    points, cells = made("bellows_triangles", 10_000)
    here, there = (np.argmin(np.linalg.norm(points - [1.5, 0, height], axis=1)) for height in (0.4, 0.6))
    graph = meshpart.point_graph(meshpart.Mesh(points, cells)).to_scipy().tocoo()
    graph.data = np.linalg.norm(points[graph.row] - points[graph.col], axis=1)
    along_wall = dijkstra(graph.tocsr(), indices=here)[there]
    assert along_wall > 3 * np.linalg.norm(points[here] - points[there])


@pytest.mark.parametrize("name", ["flange_tets", "brick_hexes"])
def test_bodies_of_an_assembly_touch(name: str) -> None:
    mesh = made(name, 10_000)
    lower, upper = (
        np.array([take(mesh.points[bodies(mesh) == body], axis=0) for body in range(BODIES[name])])
        for take in (np.min, np.max)
    )
    apart = np.maximum(lower[:, None] - upper, lower - upper[:, None]).max(axis=2)  # of their boxes
    assert connected_components(apart < 1e-9, directed=False)[0] == 1


@pytest.mark.parametrize("name", ["mixed", "hex_core"])
def test_the_boundary_cells_of_a_mixed_mesh_are_the_facets_that_one_solid_has(name: str) -> None:
    solids = top_cells(made(name, 10_000))
    kinds = {"mixed": {"hexahedron", "wedge"}, "hex_core": set(SOLIDS)}
    assert {kind for kind, _ in solids} == kinds[name]
    others = made(name, 10_000).cells[len(solids) :]
    assert [kind for kind, _ in others] == ["triangle", "quad"]
    for (_, rows), (_, bare) in zip(others, boundary(solids), strict=True):
        assert np.array_equal(rows, bare)


def test_the_boundary_cells_of_the_duct_lie_on_its_six_sides() -> None:
    points, cells = made("hex_core", 10_000)
    x, y, z = points.T
    radius, angle = np.hypot(x, z), np.arctan2(x, z)
    on_side = np.abs([radius - 2, radius - 3, y, y - 1, angle, angle - angle.max()]) < 1e-9
    for kind, rows in cells:
        assert on_side[:, rows].all(axis=2).any(axis=0).all() == (kind not in SOLIDS)


def test_pyramids_lie_between_hexahedra_and_tets() -> None:
    solids = top_cells(made("hex_core", 10_000))
    kinds = np.repeat([kind for kind, _ in solids], [len(rows) for _, rows in solids])
    met = {frozenset(kinds[[one, other]]) for one, other in zip(*pairs(solids), strict=True)}
    assert {frozenset(("hexahedron", "pyramid")), frozenset(("pyramid", "tetra")), frozenset(("wedge", "tetra"))} < met
    assert met.isdisjoint([frozenset(("hexahedron", "tetra")), frozenset(("hexahedron", "wedge"))])


# -- what the checks find -----------------------------------------------------------------------------------


def test_a_tet_with_two_corners_exchanged_is_found() -> None:
    points, ((_, tets),) = made("box_tets", 2_000)
    wrong = RawMesh(points, [("tetra", np.concatenate([tets[:7], tets[7:8, [0, 1, 3, 2]], tets[8:]]))])
    assert np.count_nonzero(corner_measures(wrong) < 0) == np.count_nonzero(cell_measures(wrong) < 0) == 1
    assert not is_oriented(wrong)


def test_two_triangles_against_a_quad_are_found() -> None:
    solids = dict(top_cells(made("hex_core", 2_000)))
    halves = solids.pop("pyramid")[:, [0, 1, 2, 4, 0, 2, 3, 4]].reshape(-1, 4)
    solids["tetra"] = np.concatenate([solids["tetra"], halves])
    assert not is_conforming(list(solids.items()))


def test_two_diagonals_across_a_quad_are_found() -> None:
    _, ((_, wedges),) = made("boundary_layer_wedges", 2_000)
    assert is_conforming([("tetra", cut_into_tets(wedges))])
    number = np.random.default_rng(0).permutation(wedges.max() + 1)
    otherwise = np.argsort(number)[cut_into_tets(number[wedges[::7]])]  # as if its points had other ids
    rest = np.delete(wedges, slice(None, None, 7), axis=0)
    assert not is_conforming([("tetra", np.concatenate([cut_into_tets(rest), otherwise]))])


# -- names --------------------------------------------------------------------------------------------------


def test_every_class_has_several_cases() -> None:
    assert {case.kind for case in CASES.values()} == set(CLASSES)
    assert min(len(chosen([kind])) for kind in CLASSES) > 1


def test_without_gmsh_its_case_is_not_there() -> None:
    program = "import sys; sys.path.append(sys.argv[1]); sys.modules['gmsh'] = None; import cases; print(*cases.CASES)"
    folder = str(Path(cases.__file__).parent)
    found = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [name for name in CASES if name != "gmsh_tets"]


def test_cases_are_chosen_by_name_and_by_class() -> None:
    assert chosen([]) == CASES
    assert list(chosen(["thin", "hexes"])) == ["hexes", *(name for name, case in CASES.items() if case.kind == "thin")]
    with pytest.raises(ValueError, match="nonsense"):
        chosen(["hexes", "nonsense"])
