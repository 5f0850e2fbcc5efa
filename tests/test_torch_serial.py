"""Message passing on N ranks is the serial run: its outputs, loss and gradients, in every mode, and what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from meshes import quads

import meshpart

torch = pytest.importorskip("torch")

from networks import AGGREGATES  # noqa: E402
from ranks import run, run_alone  # noqa: E402
from serial_runs import (  # noqa: E402
    EXACT,
    MESHES,
    MODES,
    WRONG,
    Case,
    Mode,
    compared,
    edges_of,
    into_owned,
    labels_of,
    on_rank,
    worst,
)

import meshpart.torch as mt  # noqa: E402

POINTS = [Case("island", kind) for kind in ("runs", "scattered", "uneven", "empty", "lonely")]
POINTS += [Case("cubes", "scattered"), Case("five", "runs", steps=3)]
CELLS = [Case("island", "uneven", "cells"), Case("island", "lonely", "cells"), Case("five", "empty", "cells")]
WIDER = [Case("cubes", "runs", "points", "cell"), Case("island", "scattered", "cells", "point")]
GRAPHS = [Case("directed", kind, "vertices") for kind in ("scattered", "uneven", "empty")]
EVERY = [*POINTS, *CELLS, *WIDER, *GRAPHS]
HERE = {"deep": EVERY, "exchange": EVERY, "attach": EVERY, "shared": POINTS}


HOW = pytest.mark.parametrize("how", list(AGGREGATES))
SIZES = pytest.mark.parametrize("size", [1, 2, 3, 4, 8])


@SIZES
@HOW
@pytest.mark.parametrize("mode", list(HERE))
def test_outputs_loss_and_gradients_are_those_of_the_serial_run(mode, how, size):
    found = worst(size, how, mode, HERE[mode])
    assert found.shape == (len(HERE[mode]), 4)
    assert np.all(found < EXACT), dict(zip(HERE[mode], found.tolist(), strict=True))


def test_the_cases_have_empty_lonely_and_very_uneven_parts():
    for kind, is_so in (
        ("empty", lambda parts: any(part.cells.n_owned == part.points.n_owned == 0 for part in parts)),
        ("lonely", lambda parts: parts[-1].cells.n_owned == 2 and len(parts[-1].point_halo.neighbours) == 0),
        ("uneven", lambda parts: parts[-1].cells.n_owned > 0.8 * MESHES["island"].n_cells),
    ):
        mesh = MESHES["island"]
        assert is_so(meshpart.split(mesh, labels_of(kind, mesh.n_cells, 4), 4, ghost_layers=1))


# -- what is wrong, is wrong --------------------------------------------------------------------------------


SPREAD = [Case("island", "scattered"), Case("cubes", "scattered")]
CUT = [*SPREAD, Case("island", "runs", "cells"), Case("directed", "scattered", "vertices")]


@HOW
@pytest.mark.parametrize(
    ("mode", "cases"),
    [
        ("no halo", CUT),
        ("too few layers", CUT),
        ("never refreshed", CUT),
        ("never assembled", SPREAD),
        ("edges of receivers' owners", SPREAD),
    ],
)
def test_ranks_that_do_not_hear_all_of_each_other_differ_from_the_serial_run(mode, cases, how):
    assert np.all(worst(3, how, mode, cases) > WRONG)


def with_layers(layers: int, case: tuple[Any, ...]) -> list[float]:
    """Return the errors of this rank on parts with so many layers."""
    return compared(Case._make(case), "sum", *on_rank(Case._make(case), "sum", Mode(layers, None)))


@pytest.mark.parametrize("layers", [1, 2])
def test_one_more_step_than_there_are_layers_is_wrong(layers):
    for case in CUT:
        enough, too_many = (tuple(case._replace(steps=steps)) for steps in (layers, layers + 1))
        assert np.max(run(3, with_layers, layers, enough)) < EXACT
        assert np.all(np.max(run(3, with_layers, layers, too_many), axis=0) > WRONG)


def test_gradients_of_inputs_are_wrong_until_they_are_reduced():
    found = worst(3, "mean", "never reduced", CUT)
    assert np.all(found[:, :3] < EXACT)
    assert np.all(found[:, 3] > WRONG)


def test_the_owner_of_an_edge_is_not_the_owner_of_its_receiver():
    mesh = MESHES["island"]
    parts = meshpart.split(mesh, labels_of("scattered", mesh.n_cells, 4), 4, graphs="points")
    graphs = [mt.part_graph(part, steps=0) for part in parts]
    n_edges = edges_of("island", "points")[0].shape[1]
    assert sum(graph["edge_index"].shape[1] for graph in graphs) == n_edges
    assert sum(int(into_owned(graph).sum()) for graph in graphs) < 0.9 * n_edges  # many are at no receiver's owner


def test_two_steps_along_a_strip_need_two_layers():
    # 0 1 2 3 | 4 5 6 7 hold 1 .. 8; one step makes 2 4 6 8 | 10 12 14 7, and two 4 8 12 16 | 20 24 19 14
    mesh = quads(8, 1)
    for layers, expected in ((2, [4, 8, 12, 16, 20, 24, 19, 14]), (1, [4, 8, 12, 6, 12, 24, 19, 14])):
        found = []
        for part in meshpart.split(mesh, [0] * 4 + [1] * 4, ghost_layers=layers):
            graph = mt.part_graph(part, "cells")
            x = graph["part_node"][:, None] + 1.0
            for _ in range(2):
                x = AGGREGATES["sum"](x[graph["edge_index"][0]], graph["edge_index"][1], len(x))
            found += x[graph["inner_node"], 0].tolist()
        assert found == expected  # with one layer, cells 3 and 4 have never heard what 4 and 3 heard


# -- derivatives in the loss, and bits ----------------------------------------------------------------------


@HOW
@pytest.mark.parametrize("mode", list(HERE))
def test_a_loss_with_derivatives_in_it_is_that_of_the_serial_run_and_so_are_its_gradients(mode, how):
    cases = [case for case in HERE[mode] if case in SPREAD or case.labels in ("uneven", "empty", "lonely")]
    found = worst(3, how, mode, cases, "equation")
    assert np.all(found < EXACT), dict(zip(cases, found.tolist(), strict=True))


def test_a_loss_with_derivatives_in_it_is_wrong_until_they_are_reduced():
    assert np.all(worst(3, "sum", "never reduced", CUT, "equation")[:, 1:] > WRONG)


def bits() -> list[bytes]:
    """Return what this rank finds in all modes."""
    result = []
    for mode, how in ((mode, how) for mode in HERE for how in AGGREGATES):
        _, (out, loss, of_parameters, of_input) = on_rank(SPREAD[0], how, MODES[mode], "equation")
        result += [values.numpy().tobytes() for values in (out, loss, *of_parameters, of_input)]
    return result


def test_runs_repeat_to_the_last_bit():
    once = run(4, bits)
    assert run(4, bits) == once
    assert run_alone(4, bits) == once
