"""Other partitioners as methods: their labels are their own, whatever the graph; what is not there is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import geometric_mean
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from grid_graphs import edge_cut, graph, grid, grid_edges, posed
from meshes import cubes, quads, tets
from peers import INSTALLED, PEERS, each
from processes import host

from meshpart import (
    ArgumentError,
    Method,
    MissingDependencyError,
    Problem,
    Repair,
    dual_graph,
    partition,
    partition_labels,
    quality,
)
from meshpart.graph import Graph
from meshpart.methods import METHODS
from meshpart.methods.peer import Outcome, Peer

EVERY_PEER = pytest.mark.parametrize("peer", each(PEERS))
MODES_OF = {name: METHODS[name].modes or ("eco",) for name in PEERS}
WITH_MODES = [name for name in PEERS if METHODS[name].modes]


def outcome(peer: str, given: Graph, nparts: int, **options: Any) -> Outcome:
    """Return what a peer makes of a graph."""
    run = METHODS[peer].run
    assert isinstance(run, Peer)
    return run.outcome(posed(given, nparts, **{"seed": 3, "mode": MODES_OF[peer][0]} | options))


# -- the labels are the partitioner's own -------------------------------------------------------------------

# Each is called by hand, where it can read a file from one, on a grid of 30 x 30 with weights and edge weights or none.
BY_HAND = {
    "metis": """
import pymetis
options = pymetis.Options(seed=3, ufactor=30)
graph = pymetis.CSRAdjacency(offsets.tolist(), targets.tolist())
weights = {"vweights": loads.tolist(), "eweights": costs.tolist()} if weighted else {}
labels = pymetis.part_graph(6, graph, recursive=False, options=options, **weights)[1]
""",
    "scotch": """
import os
os.environ |= {"PYSCOTCH_INT_SIZE": "32", "SCOTCH_PTHREAD_NUMBER": "1"}
import ctypes, pyscotch
from pyscotch import libscotch as lib
lib.SCOTCH_randomSeed(ctypes.c_int(3))
lib.SCOTCH_randomReset()
graph, strategy, part = lib.SCOTCH_Graph(), lib.SCOTCH_Strat(), np.zeros(900, np.int32)
lib.SCOTCH_graphInit(ctypes.byref(graph))
lib.SCOTCH_stratInit(ctypes.byref(strategy))
rows, columns, v, e = (np.array(array, np.int32) for array in (offsets, targets, loads, costs))
pointer = lambda array: array.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
own = (pointer(v), None, 3480, pointer(columns), pointer(e)) if weighted else (None, None, 3480, pointer(columns), None)
lib.SCOTCH_graphBuild(ctypes.byref(graph), 0, 900, pointer(rows), pointer(rows[1:]), *own)
lib.SCOTCH_stratGraphMapBuild(ctypes.byref(strategy), 0, 6, ctypes.c_double(0.03))
assert lib.SCOTCH_graphPart(ctypes.byref(graph), 6, ctypes.byref(strategy), pointer(part)) == 0
labels = part.tolist()
""",
    "kaminpar": """
import kaminpar
kaminpar.reseed(3)
graph = kaminpar.load_graph(metis_file(), kaminpar.GraphFileFormat.METIS)
labels = kaminpar.KaMinPar(1, kaminpar.fast_context()).compute_partition(graph, 6, 0.03)
""",
    "mtkahypar": """
import mtkahypar
library = mtkahypar.initialize(1)
context = library.context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
context.set_partitioning_parameters(6, 0.03, mtkahypar.Objective.CUT)
graph = library.graph_from_file(metis_file(), context, mtkahypar.FileFormat.METIS)
labels = graph.partition(context).get_partition()
""",
}
PRELUDE = """
import sys
import numpy as np
from grid_graphs import graph, grid, grid_edges
weighted, path = sys.argv[1] == "weighted", sys.argv[2]
n, edges = grid_edges(30, 30)
loads, of_edges = 1 + np.arange(n) % 5, 1 + np.arange(len(edges)) % 7
given = graph(n, edges, of_edges)
offsets, targets, costs = given.offsets, given.targets, given.edge_weights

def metis_file():
    with open(path, "w") as file:
        print(n, len(edges), "011" if weighted else "", file=file)
        for i in range(n):
            row = range(offsets[i], offsets[i + 1])
            words = [loads[i]] * weighted + [x for e in row for x in (targets[e] + 1, *[costs[e]] * weighted)]
            print(*words, file=file)
    return path
"""


@EVERY_PEER
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_peer_gives_the_labels_that_its_package_gives_when_called_by_hand(
    peer: str, weighted: bool, tmp_path: Path
) -> None:
    code = PRELUDE + BY_HAND[peer] + "\nprint('labels', *labels)"
    arguments = ["weighted" if weighted else "plain", str(tmp_path / "a.graph")]
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    by_hand = [int(word) for word in run.stdout.rpartition("labels")[2].split()]
    n, edges = grid_edges(30, 30)
    costs = 1 + np.arange(len(edges)) % 7 if weighted else None
    found = outcome(peer, graph(n, edges, costs), 6, weights=1 + np.arange(n) % 5 if weighted else None)
    assert found.labels.tolist() == by_hand
    assert found.labels.dtype == np.int32
    assert not found.labels.flags.writeable
    assert found.seconds > 0


@EVERY_PEER
def test_the_seed_decides_where_a_peer_heeds_one(peer: str) -> None:
    first, again, other = (outcome(peer, grid(30, 30), 6, seed=seed).labels for seed in (0, 0, 4))
    assert np.array_equal(first, again)
    assert np.array_equal(first, other) == (peer == "mtkahypar")


@pytest.mark.parametrize("peer", each(WITH_MODES))
def test_a_better_mode_is_another_and_cuts_no_more(peer: str) -> None:
    graphs = [grid(40, 40), grid(12, 12, 12), dual_graph(tets(7, 7, 7))]
    cuts: dict[str, list[int]] = {}
    labels = {}
    for mode in MODES_OF[peer]:
        labels[mode] = [outcome(peer, given, 8, mode=mode).labels for given in graphs]
        cuts[mode] = [edge_cut(given, own) for given, own in zip(graphs, labels[mode], strict=True)]
    worst, best = MODES_OF[peer][0], MODES_OF[peer][-1]
    assert geometric_mean(cuts[best]) <= 1.02 * geometric_mean(cuts[worst])
    for mode in MODES_OF[peer][1:]:
        assert any(not np.array_equal(*both) for both in zip(labels[mode], labels[worst], strict=True))


# -- weights and groups -------------------------------------------------------------------------------------


@EVERY_PEER
def test_edge_weights_move_the_cut_to_where_it_is_cheap(peer: str) -> None:
    # Dear edges run along the rows of a square, cheap ones between rows.
    mesh = quads(12, 12)
    facets = dual_graph(mesh)
    sources = np.repeat(np.arange(facets.n_vertices), np.diff(facets.offsets))
    weights = np.where(abs(sources - facets.targets) == 1, 50, 1)
    options = {"method": peer, "mode": MODES_OF[peer][0]}
    heeded = quality(mesh, partition_labels(mesh, 4, edge_weights=weights, **options), edge_weights=weights)
    unheeded = quality(mesh, partition_labels(mesh, 4, **options), edge_weights=weights)
    assert heeded.edge_cut == 36  # four slices of three rows: three cuts of 12
    assert unheeded.edge_cut > 100


@EVERY_PEER
def test_weights_are_balanced_by_the_peer_itself(peer: str) -> None:
    weights = 1 + np.arange(900) // 100
    heeded, unheeded = (outcome(peer, grid(30, 30), 5, weights=w).labels for w in (weights, None))
    assert np.bincount(heeded, weights).max() <= 1.04 * weights.sum() / 5
    assert np.bincount(unheeded, weights).max() > 1.2 * weights.sum() / 5


@EVERY_PEER
def test_groups_stay_together(peer: str) -> None:
    mesh, groups = quads(12, 12), np.arange(144) // 12 // 2 * 6 + np.arange(144) % 12 // 2  # of 2 x 2
    labels = partition_labels(mesh, 4, method=peer, mode=MODES_OF[peer][0], keep_together=groups)
    assert len(set(zip(groups.tolist(), labels.tolist(), strict=True))) == 36
    assert np.bincount(labels).tolist() == [36] * 4


# -- what partitioners trip over ----------------------------------------------------------------------------


def star(n: int) -> Graph:
    """Return a hub with n - 1 neighbours."""
    return graph(n, [(0, i) for i in range(1, n)])


def clique(n: int) -> Graph:
    """Return n vertices, each a neighbour of all others."""
    return graph(n, np.stack(np.triu_indices(n, 1), 1))


HEAVY = np.where(np.arange(400) == 7, 2**61, 1)
ODD = {
    "two vertices": (grid(2), 2, {}),
    "a path, a vertex a part": (grid(50), 50, {}),
    "a path, two vertices in one part": (grid(50), 49, {}),
    "no edges": (graph(40, []), 7, {}),
    "no edges, a vertex a part": (graph(12, []), 12, {}),
    "isolated vertices": (graph(500, grid_edges(20, 20)[1]), 6, {}),
    "two pieces": (graph(200, np.concatenate([grid_edges(10, 10)[1], 100 + grid_edges(10, 10)[1]])), 3, {}),
    "a giant": (grid(20, 20), 5, {"weights": HEAVY}),
    "weights of a large sum": (grid(20, 20), 5, {"weights": np.arange(400) * 2**40 + 1}),
    "most weigh nothing": (grid(20, 20), 5, {"weights": np.arange(400) // 300}),
    "large edge weights": (graph(*grid_edges(20, 20), 1 + np.arange(760) * 2**40), 5, {}),
    "no edge weighs anything": (graph(*grid_edges(20, 20), np.zeros(760)), 5, {}),
    "a star": (star(3000), 8, {}),
    "a star, a vertex a part": (star(60), 60, {}),
    "a clique": (clique(80), 7, {}),
    "a clique, a vertex a part": (clique(30), 30, {}),
}


@EVERY_PEER
@pytest.mark.parametrize("odd", ODD)
def test_what_partitioners_trip_over_is_labelled(peer: str, odd: str) -> None:
    given, nparts, options = ODD[odd]
    labels = outcome(peer, given, nparts, **options).labels
    assert labels.shape == (given.n_vertices,)
    assert 0 <= labels.min() <= labels.max() < nparts


# -- methods that are not there, and modes that a method has not -------------------------------------------


@pytest.mark.parametrize("peer", PEERS)
def test_an_absent_package_is_named_with_the_extra_that_brings_it(peer: str) -> None:
    package = METHODS[peer].package
    code = f"""
import sys
sys.modules[{package!r}] = None  # as where it is not installed
from meshes import quads
import meshpart
from meshpart.methods import METHODS
print(METHODS[{peer!r}].is_installed)
try:
    meshpart.partition_labels(quads(4, 4), 2, method={peer!r}, mode={MODES_OF[peer][0]!r})
except meshpart.MissingDependencyError as error:
    print(error)
"""
    with host(code) as process:
        said = process.communicate(timeout=60)[0].splitlines()
    assert said == ["False", f"method {peer} needs {package}: pip install 'meshpart[peers]'"]


@pytest.mark.parametrize("method", METHODS)
def test_a_mode_that_a_method_lacks_is_refused_whether_or_not_it_is_installed(method: str) -> None:
    modes = METHODS[method].modes
    has = f"has the modes {', '.join(modes)}$" if modes else "has no modes$"
    for mode in {"fast", "eco", "strong", "ecosocial"} - set(modes or ["eco"]):
        with pytest.raises(ArgumentError, match=f"mode is '{mode}', but method {method} {has}"):
            partition_labels(quads(4, 4), 2, method=method, mode=mode)


def test_the_command_line_refuses_a_mode_that_a_method_lacks(tmp_path: Path) -> None:
    quads(4, 4).to_meshio().write(tmp_path / "m.vtu")
    command = [str(Path(sys.executable).parent / "meshpart"), "partition", "m.vtu", "2", "-o", "out", "--method", "sfc"]
    refused = subprocess.run([*command, "--mode", "fast"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "mode is 'fast', but method sfc has no modes" in refused.stderr
    assert not (tmp_path / "out").exists()
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)


@pytest.mark.skipif("metis" not in INSTALLED, reason="method metis needs pymetis: pip install 'meshpart[peers]'")
def test_what_ran_is_recorded() -> None:
    made = partition(cubes(4, 4, 4), 4, method="metis")[0].provenance
    assert (made.method, made.mode) == ("metis", None)
    assert made.repair is not None


# -- a method of one's own ----------------------------------------------------------------------------------


def with_a_fragment(problem: Problem) -> Any:
    """Halves of a square of 8 x 8, but for a cell of one in the other."""
    return [int(cell % 8 >= 4 or cell == 8) for cell in range(problem.n_units)]


def test_a_record_says_that_fragments_are_mishaps() -> None:
    mesh = quads(8, 8)
    kept = partition(mesh, 2, method=with_a_fragment, imbalance=0.2)
    mended = partition(mesh, 2, method=Method("halves", with_a_fragment, leaves_fragments=True), imbalance=0.2)
    assert [part.provenance.method for part in (kept[0], mended[0])] == ["with_a_fragment", "halves"]
    assert [part.cells.n_owned for part in kept] == [31, 33]
    assert [part.cells.n_owned for part in mended] == [32, 32]
    assert mended[0].provenance.repair == Repair(filled=0, moved=0, absorbed=1)


def test_a_record_has_modes_of_its_own_and_refuses_others() -> None:
    modes = []

    def look(problem: Problem) -> Any:
        modes.append(problem.mode)
        return with_a_fragment(problem)

    fast = Method("mine", look, modes=("fast",))
    assert partition(quads(8, 8), 2, method=fast, mode="fast")[0].provenance.mode == "fast"
    with pytest.raises(ArgumentError, match="mode is 'eco', but method mine has the modes fast"):
        partition_labels(quads(8, 8), 2, method=fast)
    for anything in (look, Method("mine", look)):
        partition_labels(quads(8, 8), 2, method=anything, mode="strongsocial")
    assert modes == ["fast", "strongsocial", "strongsocial"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": 3}, "name must be the name of a method, got 3"),
        ({"name": ""}, "name must be the name of a method, got ''"),
        ({"run": "sfc"}, "run must be a function from a Problem to labels, got 'sfc'"),
        ({"modes": "fast"}, "modes must be a list of modes, got 'fast'"),
        ({"modes": ("fast", "turbo")}, "modes must be one of fast, eco, .*, got 'turbo'"),
    ],
    ids=str,
)
def test_a_record_that_could_not_run_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ArgumentError, match=told):
        Method(**{"name": "mine", "run": with_a_fragment} | given)


def test_a_record_that_needs_a_package_says_so() -> None:
    absent = Method("mine", with_a_fragment, package="no_such_package")
    assert not absent.is_installed
    with pytest.raises(MissingDependencyError, match="method mine needs no_such_package"):
        partition_labels(quads(8, 8), 2, method=absent)


def test_a_folder_or_a_bare_module_of_its_name_is_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "only_a_folder").mkdir()  # as a clone of its source code makes one
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "only_a_module", ModuleType("only_a_module"))
    for package in ("only_a_folder", "only_a_module"):
        assert not Method("mine", with_a_fragment, package=package).is_installed
