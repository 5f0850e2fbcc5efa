"""How well methods cut meshes, and what they take for it: each on each mesh, own labels and repaired. See README.md.

python benchmarks/quality.py [--quick] [--cells 200000] [--parts 8 32 128 512] [--cases NAME...] [--no-made]
    [--meshes DIR] [--methods NAME[:MODE]...] [--time-limit S] [--json FILE [--resume]] [--plot FILE] [--rows]
python benchmarks/quality.py --from FILE... [--json FILE] [--plot FILE] [--rows]
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cases import CASES, CLASSES, Case, chosen, read_folder
from curves import MESHIOPLUSPLUS
from report import machine
from result_tables import everything
from results import Results, check_options, facts_of, join, load
from summary import BASE, Pair, score

import meshpart
from meshpart.arguments import integer, positive
from meshpart.compare import USUAL, Run, counts_of
from meshpart.methods import Method, choose_both, full_name
from meshpart.plotting.pareto import Mark, check_drawing, draw_pareto

PARTS = (8, 32, 128, 512)
STRONG = ("kaminpar:strong", "mtkahypar:strong")  # those of the strong modes that end in reasonable time
OWN = {MESHIOPLUSPLUS.name: MESHIOPLUSPLUS}  # methods that the library does not have
OPTIONS = {"imbalance": 0.03, "seed": 0, "threads": 1}

Named = tuple[str, str, meshpart.Mesh]  # its name, its class, and the mesh
Chosen = str | Method  # as `compare` takes them


def main() -> None:
    """Run what is asked for, or take it from files, and print the tables."""
    asked = arguments()
    results = join([load(path) for path in asked.tables_from]) if asked.tables_from else run(asked)
    if asked.tables_from and asked.json:
        results.save(asked.json)
    print("\n\n".join(everything(results, rows=asked.rows)))
    if asked.plot:
        plot(results, asked.plot)


def arguments() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the cells, and only 8 and 32 parts")
    parser.add_argument("--cells", type=int, default=200_000, help="of a mesh that is made here")
    parser.add_argument("--parts", type=int, nargs="+", help=f"otherwise {' '.join(map(str, PARTS))}")
    known = [*CLASSES, *CASES]
    parser.add_argument("--cases", nargs="+", choices=known, metavar="NAME", help=f"any of {', '.join(known)}")
    parser.add_argument("--meshes", type=Path, metavar="DIR", help="a folder of mesh files to cut as well")
    parser.add_argument("--no-made", action="store_true", help="no meshes that are made here")
    parser.add_argument("--methods", nargs="+", metavar="NAME[:MODE]", help=f"{BASE} runs beside them")
    parser.add_argument("--time-limit", type=float, default=300.0, metavar="S", help="of one method on one mesh")
    parser.add_argument("--rows", action="store_true", help="print every run too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all runs are kept, as they come")
    parser.add_argument("--resume", action="store_true", help="go on with the runs that FILE has")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="a picture of edge cut against seconds: png, pdf, svg"
    )
    parser.add_argument("--from", dest="tables_from", type=Path, nargs="+", metavar="FILE", help="run nothing")
    asked = parser.parse_args()
    if asked.resume and asked.json is None:
        parser.error("--resume needs --json FILE")
    if asked.resume and asked.tables_from:
        parser.error("--resume goes on with runs, and --from runs nothing: name FILE in --from to have its runs too")
    if asked.json and asked.json.exists() and not asked.resume:
        remedy = "" if asked.tables_from else ": --resume goes on with it"
        parser.error(f"{asked.json} is there already{remedy}")
    if asked.json and not asked.json.absolute().parent.is_dir():
        parser.error(f"there is no folder {asked.json.absolute().parent}")
    if asked.meshes and not asked.meshes.is_dir():
        parser.error(f"{asked.meshes} is no folder")
    if asked.plot and asked.plot.exists():
        parser.error(f"{asked.plot} is there already")
    if asked.quick:
        asked.cells //= 10
    if asked.no_made and not asked.meshes and not asked.tables_from:
        parser.error("--no-made leaves no mesh to cut, but those of --meshes DIR")
    try:
        integer("--cells", asked.cells, low=1)
        positive("--time-limit", asked.time_limit)
        asked.parts = counts_of(asked.parts or (PARTS[:2] if asked.quick else PARTS))
        if asked.plot:
            check_drawing(asked.plot, overwrite=False)
    except meshpart.MeshpartError as error:
        parser.error(str(error))
    return asked


# -- runs ---------------------------------------------------------------------------------------------------


def run(asked: argparse.Namespace) -> Results:
    """Return what methods make of meshes; keep what was found after each run."""
    methods, missing = chosen_methods(asked.methods)
    results = load(asked.json) if asked.resume and asked.json.exists() else Results()
    results.made.append({"command": shlex.join(sys.argv), "machine": machine(), "options": OPTIONS, "missing": missing})
    check_options(results)
    start = time.perf_counter()
    for mesh in meshes(asked):
        for found in measured(mesh, asked.parts, methods, asked.time_limit, results):
            if asked.json:
                results.save(asked.json)
            say(f"{time.perf_counter() - start:6.0f} s  {mesh[0]} into {found.nparts} by {found.method}{told(found)}")
    return results


def measured(
    named: Named, counts: Iterable[int], methods: Sequence[Chosen], time_limit: float, results: Results
) -> Iterator[Run]:
    """Cut a mesh by every method into every number of parts, unless there is a result, and yield the repaired runs."""
    name, kind, mesh = named
    facts = facts_of(kind, mesh)
    results.add_mesh(name, facts)
    for nparts in counts:
        if nparts > facts.units:
            say(f"{name} has {facts.units} cells to share out, too few for {nparts} parts")
            continue
        for method in methods:
            if results.of((name, nparts), name_of(method), True) is None:
                found = outcome(mesh, nparts, method, time_limit, results)
                results.add(name, found)
                yield found[-1]


def outcome(mesh: meshpart.Mesh, nparts: int, method: Chosen, time_limit: float, results: Results) -> Sequence[Run]:
    """Return the two runs of a method: its own labels, and the repaired ones; a method that fails costs these alone."""
    try:
        found = meshpart.compare(mesh, nparts, methods=[method], time_limit=time_limit, **OPTIONS)
    except meshpart.MeshpartError as error:
        return [Run(name_of(method), nparts, kind, failure=str(error)) for kind in (False, True)]
    results.made[-1]["machine"] |= found.versions
    return found.runs


def meshes(asked: argparse.Namespace) -> Iterator[Named]:
    """Yield the meshes that are made here, and those of a folder."""
    for name, case in {} if asked.no_made else chosen_cases(asked.cases or ()).items():
        yield name, case.kind, meshpart.Mesh(*case.make(asked.cells))
    if asked.meshes:
        yield from read_folder(asked.meshes)


def chosen_cases(names: Sequence[str]) -> dict[str, Case]:
    """Return cases by name or class; where the graph is that of another one, which would count twice, only by name."""
    return {name: case for name, case in chosen(names).items() if not case.graph_of or name in names}


def chosen_methods(names: Sequence[str] | None) -> tuple[list[Chosen], list[str]]:
    """Return the methods to run, the base first, and the names of those left out, as they are not installed."""
    usual = [*USUAL, *STRONG, *OWN]
    try:
        chosen = {name_of(OWN.get(name, name)): OWN.get(name, name) for name in [BASE, *(names or usual)]}
        there = {name: given for name, given in chosen.items() if choose_both(given)[0].is_installed}
        if names:
            for given in chosen.values():
                choose_both(given)[0].require()
    except meshpart.MeshpartError as error:
        raise SystemExit(f"--methods: {error}") from None
    return list(there.values()), [name for name in chosen if name not in there]


def name_of(given: Chosen) -> str:
    """Return a method's name as runs have it: with its mode, where it has modes."""
    return full_name(*choose_both(given))


# -- what is told -------------------------------------------------------------------------------------------


def plot(results: Results, path: Path) -> None:
    """Draw edge cut against seconds, both relative to the base, a panel for each class of mesh."""
    panels = {kind: list(marks(results, results.of_kind(kind))) for kind in results.kinds}
    draw_pareto(path, panels, cut_label=f"edge cut / that of {BASE}", seconds_label=f"seconds / those of {BASE}")


def marks(results: Results, pairs: Sequence[Pair]) -> Iterator[Mark]:
    """Yield what is drawn of each method.

    The name of a method whose figures are not comparable says on how many of the pairs it ended.
    """
    for method in results.methods:
        for repaired in (False, True):
            one = score(results, pairs, method, repaired=repaired)
            if one.cut is not None and one.seconds is not None:
                name = method if one.comparable else f"{method} ({one.ended} of {one.ran})"
                yield Mark(name, one.seconds, one.cut, repaired)


def told(found: Run) -> str:
    """Return how a run ended."""
    return f": {found.failure}" if found.failure else f": cut {found.edge_cut}, {found.seconds:.2f} s"


def say(line: str) -> None:
    """Tell how far the run is."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
