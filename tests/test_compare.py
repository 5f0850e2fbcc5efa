"""Comparisons: their figures are those of an independent count, and what cannot be right is refused beforehand."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.image
import meshio
import numpy as np
import pytest
from failing_methods import Stripes, stripes
from graded_meshes import graded_tets, graded_triangles
from meshes import quads, quads_with_lines, strip
from recount import recount

from meshpart import (
    ArgumentError,
    Comparison,
    Mesh,
    MeshpartWarning,
    MissingDependencyError,
    compare,
    dual_graph,
    partition_labels,
)
from meshpart.compare import Run
from meshpart.methods import METHODS, Method

FIGURES = (
    *("edge_cut", "communication_volume", "shared_points", "ghosts", "imbalance"),
    *("empty_parts", "fragments", "neighbours"),
)
INSTALLED = [name for name, method in METHODS.items() if method.is_installed]
RANDOM = {"triangles": graded_triangles(50), "tets": graded_tets(30)}


def figures(run: Run) -> dict[str, Any]:
    assert run.failure is None
    return {name: getattr(run, name) for name in FIGURES}


def only(mesh: Any, nparts: int, method: Any, **options: Any) -> Run:
    """Return the run of repaired labels of one method."""
    return compare(mesh, nparts, methods=[method], **options).runs[1]


# -- the figures --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=RANDOM)
def compared(request: pytest.FixtureRequest) -> tuple[Mesh, Comparison]:
    """A small random mesh, cut by all methods that are there."""
    mesh = RANDOM[request.param]
    return mesh, compare(mesh, 5, methods=[*INSTALLED, stripes])


@pytest.mark.parametrize("method", [*INSTALLED, "stripes"])
@pytest.mark.parametrize("repaired", [False, True], ids=["raw", "repaired"])
def test_the_figures_are_those_of_an_independent_count(
    compared: tuple[Mesh, Comparison], method: str, repaired: bool
) -> None:
    mesh, comparison = compared
    (run,) = (run for run in comparison.runs if run.method.split(":")[0] == method and run.repaired == repaired)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshpartWarning)  # of raw labels, whose figures tell
        labels = partition_labels(mesh, 5, method=stripes if method == "stripes" else method, repair=repaired)
    counted = recount(mesh, labels.tolist(), 5)
    assert figures(run) == pytest.approx(counted, rel=1e-12, abs=1e-12)
    assert run.seconds > 0
    shifted = np.roll(labels, 1).tolist()
    assert figures(run) != pytest.approx(recount(mesh, shifted, 5), rel=1e-12, abs=1e-12)


def test_raw_labels_are_the_methods_own(compared: tuple[Mesh, Comparison]) -> None:
    raw, repaired = (run for run in compared[1].runs if run.method == "stripes")
    assert not raw.repaired
    assert repaired.repaired
    assert (raw.method, raw.nparts) == (repaired.method, repaired.nparts) == ("stripes", 5)
    assert raw.seconds <= repaired.seconds


def test_weights_and_groups_and_weights_of_edges_count() -> None:
    mesh = strip(6).to_meshio()
    mesh.cell_data["load"] = [np.array([5, 1, 1, 1, 1, 1])]
    assert only(mesh, 2, stripes).imbalance == 0
    by_name = only(mesh, 2, stripes, weights="load")
    by_array = only(mesh, 2, stripes, weights=[5, 1, 1, 1, 1, 1])
    assert figures(by_name) == figures(by_array) == figures(only(mesh, 2, "sfc", weights="load"))
    assert by_name.imbalance == 0  # 5 and 1 + 1 + 1 + 1 + 1
    assert only(mesh, 2, stripes, weights={"quad": 7}).imbalance == 0
    together = only(mesh, 2, "sfc", keep_together=[0, 0, 0, 0, -1, -1])
    assert together.imbalance == pytest.approx(4 * 2 / 6 - 1)
    heavy = np.full(len(dual_graph(strip(6)).targets), 10)
    assert only(mesh, 2, "sfc", edge_weights=heavy).edge_cut == 10
    assert only(mesh, 2, "sfc", edge_weights="points").edge_cut == 2


def test_a_mesh_of_meshio_and_one_of_meshpart_are_compared_alike() -> None:
    mesh = quads_with_lines(4, 3)
    plain = mesh.to_meshio()
    assert isinstance(plain, meshio.Mesh)
    assert figures(only(plain, 3, "sfc")) == figures(only(mesh, 3, "sfc"))


FIRST_CALL = """
import sys
import numpy as np
from meshpart import Mesh, Method, measuring
from meshpart.methods import METHODS
new, partition_labels = [], measuring.partition_labels
def watched(*arguments, **named):
    there = set(sys.modules)
    try:
        return partition_labels(*arguments, **named)
    finally:
        new.append(sorted(set(sys.modules) - there))
measuring.partition_labels = watched
def by_rows(problem):
    return np.arange(problem.graph.to_scipy().shape[0]) % 2
quads = [[2 * i + k for k in (0, 2, 3, 1)] for i in range(4)]
mesh = Mesh([[x, y] for x in range(5) for y in range(2)], [("quad", quads)])
case, method = {case}, {method}
measuring.measured(measuring.Case(mesh, case), measuring.Task(method, "eco", 2))
print([modules for modules in new[2:] if modules])  # of what comes after the two calls on a few quads
"""


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({"keep_together": [0, 0, -1, -1]}, 'METHODS["sfc"]'),
        ({"keep_together": [0, 0, -1, -1]}, 'METHODS["kahip"]'),
        ({"weights": {"quad": 2.5}, "edge_weights": "points"}, 'METHODS["kahip"]'),
        ({}, 'Method("by_rows", by_rows)'),
    ],
    ids=["groups, sfc", "groups, kahip", "weights", "an array of SciPy's"],
)
def test_no_module_is_imported_on_the_clock(options: dict[str, Any], method: str) -> None:
    code = FIRST_CALL.replace("{case}", repr(options)).replace("{method}", method)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"


def test_one_part_is_cut_by_nobody() -> None:
    raw, repaired = compare(quads(3, 3), 1, methods=["kahip:fast"]).runs
    assert figures(raw) == figures(repaired)
    assert (raw.edge_cut, raw.fragments, raw.neighbours) == (0, 0, 0)
    assert 0 < raw.seconds == repaired.seconds


def test_runs_come_by_number_of_parts_and_progress_counts_them() -> None:
    done: list[int] = []
    found = compare(quads(4, 4), [2, 3], methods=["sfc", stripes], progress=done.append)
    assert [(run.nparts, run.method, run.repaired) for run in found.runs] == [
        (nparts, method, repaired) for nparts in (2, 3) for method in ("sfc", "stripes") for repaired in (False, True)
    ]
    assert done == [1, 2, 3, 4]
    assert (found.n_cells, found.n_points, found.missing) == (16, 25, ())
    assert found.versions["meshpart"]


# -- methods of the caller's --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (partial(partial(stripes)), "stripes"),
        (Stripes(), "Stripes"),
        (Stripes().bound, "Stripes.bound"),
        (Method("mine", stripes), "mine"),
    ],
    ids=["partial", "callable", "bound method", "Method"],
)
def test_whatever_can_be_called_elsewhere_is_compared(method: Any, name: str) -> None:
    run = only(strip(6), 2, method)
    assert (run.method, run.failure, run.edge_cut) == (name, None, 1)


REFUSED = r"^methods: .* cannot be sent to another process: "


def a_closure() -> Any:
    held = 3
    return lambda problem: stripes(problem) + held - held


class Program:
    """As if it were of the program that runs."""

    def __call__(self, problem: Any) -> Any:
        return stripes(problem)


Program.__module__ = "__main__"


@pytest.mark.parametrize(
    "method",
    [lambda problem: stripes(problem) + 0, a_closure(), Program(), Program().__call__, partial(stripes)],
    ids=["lambda", "closure", "of the program", "bound, of the program", "with something open"],
)
def test_what_cannot_be_called_elsewhere_is_refused_before_anything_runs(method: Any, tmp_path: Path) -> None:
    done: list[int] = []
    with (tmp_path / "file").open("w") as file:
        held = partial(stripes, file) if isinstance(method, partial) else method
        with pytest.raises(ArgumentError, match=REFUSED):
            compare(strip(6), 2, methods=["sfc", held], progress=done.append)
    assert done == []


# -- arguments ----------------------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"nparts": 0}, "nparts must be between 1"),
    ({"nparts": []}, "nparts must be a number or several"),
    ({"nparts": "8"}, "nparts must be an integer"),
    ({"nparts": [2, 2.5]}, "nparts must be an integer"),
    ({"nparts": [2, 3, 2]}, "nparts: 2 is there twice"),
    ({"nparts": [2, 7]}, "nparts is 7, more than the number of cells or groups to share out, 6$"),
    ({"methods": "sfc"}, "methods must be a list"),
    ({"methods": []}, "methods must be a list of methods, got an empty one"),
    ({"methods": ["none such"]}, "method must be one of"),
    ({"methods": ["kahip:slow"]}, "mode must be one of"),
    ({"methods": ["sfc:fast"]}, "method sfc has no modes"),
    ({"methods": ["kahip:"]}, "mode must be one of"),
    ({"methods": ["kahip", "kahip:eco"]}, "methods: kahip:eco is there twice$"),
    ({"methods": [partial(stripes), stripes]}, r"stripes is there twice; Method\(name, function\)"),
    ({"imbalance": -1}, "imbalance must be finite"),
    ({"imbalance": math.nan}, "imbalance must be finite"),
    ({"seed": 1.5}, "seed must be an integer"),
    ({"threads": 0}, "threads must be between"),
    ({"weights": [1, 2]}, "weights"),
    ({"weights": "none such"}, "none such"),
    ({"edge_weights": "cells"}, "edge_weights must be 'points'"),
    ({"edge_weights": [1, 2]}, "edge_weights"),
    ({"keep_together": "none such"}, "none such"),
    *(({"time_limit": limit}, "time_limit must be a finite number above 0") for limit in (0, -1, math.nan, math.inf)),
    ({"time_limit": 10**400}, "time_limit must be a finite number above 0"),
    ({"time_limit": True}, "time_limit must be a finite number above 0"),
    ({"time_limit": None}, "time_limit must be a finite number above 0"),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=str)
def test_what_cannot_be_right_is_refused_before_anything_runs(given: dict[str, Any], told: str) -> None:
    done: list[int] = []
    right: dict[str, Any] = {"nparts": 2, "methods": ["sfc"], "progress": done.append}
    with pytest.raises(ArgumentError, match=told):
        compare(strip(6), **right | given)
    assert done == []


def test_a_comparison_says_what_was_asked_for() -> None:
    groups = [0, 0, -1, -1, -1, -1]
    found = compare(strip(6), 2, methods=["sfc"], weights={"quad": 2}, keep_together=groups, imbalance=0.2, threads=1)
    assert found.to_dict()["asked"] == {
        "imbalance": 0.2,
        "seed": 0,
        "weights": {"quad": 2.0},
        "edge_weights": None,
        "keep_together": "array",
        "threads": 1,
        "time_limit": 600.0,
    }


def test_a_method_that_is_named_and_not_there_is_missing() -> None:
    absent = Method("absent", stripes, package="no_such_package")
    with pytest.raises(MissingDependencyError, match=r"meshpart\[peers\]"):
        compare(strip(6), 2, methods=[absent])


# -- tables and pictures ------------------------------------------------------------------------------------

RUNS = (
    Run("sfc", 8, False, None, 30, 50, 40, 90, 0.0, True, 0, 2, 3.0, 0.01, 1.0),
    Run("sfc", 8, True, None, 30, 50, 40, 90, 0.0, True, 0, 2, 3.0, 0.012, 1.0),
    Run("kahip:eco", 8, False, None, 20, 40, 30, 80, 0.05, False, 1, 0, 2.5, 1.5, 12.0),
    Run("kahip:eco", 8, True, None, 24, 41, 30, 95, 0.0312, False, 0, 0, 2.5, 1.6, 12.0),
    Run("a|b", 8, False, "took longer than 9 s"),
    Run("a|b", 8, True, "took longer than 9 s"),
)
DRAWN = Comparison(100, 50, RUNS, {"meshpart": "1"})


def test_the_table_marks_what_is_least_and_says_why_a_row_failed() -> None:
    assert DRAWN.lines() == [
        "100 cells and 50 points",
        "parts  method     edge cut   / least   volume   ghosts   imbalance   fragments   neighbours   seconds   MiB",
        "    8  sfc              30     1.250       50       90*     0.00 %           2          3.0     0.012*    1*",
        "    8  kahip:eco        24*    1.000       41*      95      3.12 %!          0          2.5*    1.600    12",
        "    8  a|b        failed: took longer than 9 s",
        "* the least of repaired labels into as many parts",
        "! above the bound",
    ]
    assert str(DRAWN) == "\n".join(DRAWN.lines())
    assert sum("raw" in line for line in DRAWN.lines(raw=True)) == 3


def test_the_table_in_markdown_has_as_many_columns_in_each_row() -> None:
    head, rule, first, _, failed = DRAWN.markdown()
    assert first == "| 8 | sfc | 30 | 1.250 | 50 | **90** | 0.00 % | 2 | 3.0 | **0.012** | **1** |"
    assert failed.startswith(r"| 8 | a\|b | failed: took longer than 9 s |")
    assert {line.replace(r"\|", "").count("|") for line in DRAWN.markdown(raw=True)} == {12}
    assert (head.count("|"), rule.count("|")) == (12, 12)


def test_a_method_alone_is_least_in_nothing() -> None:
    alone = Comparison(100, 50, RUNS[:2], {})
    assert not any("*" in line for line in [*alone.lines(raw=True), *alone.markdown(raw=True)])


def test_what_json_holds_is_all_there_is_and_strict() -> None:
    text = json.dumps(DRAWN.to_dict(), allow_nan=False)
    back = json.loads(text)
    assert [Run(**run) for run in back["runs"]] == list(RUNS)
    assert (back["cells"], back["points"], back["versions"], back["missing"]) == (100, 50, {"meshpart": "1"}, [])


@pytest.mark.parametrize("runs", [RUNS, RUNS[4:], ()], ids=["all", "only a failed one", "none"])
def test_a_comparison_is_drawn(runs: tuple[Run, ...], tmp_path: Path) -> None:
    if not runs:
        with pytest.raises(ArgumentError, match="panels"):
            Comparison(1, 1, (), {}).plot(tmp_path / "cut.png")
        return
    Comparison(100, 50, runs, {}).plot(tmp_path / "cut.png")
    assert matplotlib.image.imread(tmp_path / "cut.png").std() > 0
