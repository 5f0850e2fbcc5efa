"""The benchmark of quality: its means, wins and losses, what failures cost, its files and its tables."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import failing_methods
import pytest
import quality
import result_tables
import results
import summary
from meshes import quads

from meshpart.compare import Run
from meshpart.methods import Method

SCRIPT = Path(quality.__file__)
MACHINE = {"CPU": "one", "cores": "2"}
BASE = "kahip:eco"
FACTS = results.Facts("isotropic", cells=10, units=10, points=8, edges=12, components=1, types={"triangle": 10})


def run(method, cut, seconds=1.0, nparts=2, repaired=True, **figures):
    """A run with the figures that are given, and others that are as good as any."""
    others = {"communication_volume": cut, "shared_points": cut, "ghosts": 2 * cut, "imbalance": 0.01, "mib": 5.0}
    pieces = {"within_bound": True, "empty_parts": 0, "fragments": 0, "neighbours": 1.0}
    return Run(method, nparts, repaired, **{"edge_cut": cut, "seconds": seconds, **others, **pieces, **figures})


def failed(method, nparts=2):
    return Run(method, nparts, True, failure="crashed (SIGSEGV)")


def collected(**runs_of):
    """Results of runs by mesh."""
    found = results.Results(made=[{"command": "x", "machine": MACHINE, "options": quality.OPTIONS, "missing": []}])
    for mesh, runs in runs_of.items():
        found.add_mesh(mesh, FACTS)
        found.add(mesh, runs)
    return found


def score(found, method, repaired=True):
    return summary.score(found, found.pairs, method, repaired=repaired)


# -- means, wins and losses ---------------------------------------------------------------------------------


def test_means_are_geometric_and_relative_to_the_base_pair_by_pair():
    found = collected(
        first=[
            run(BASE, 100, 1.0, fragments=1),
            run("x", 50, 2.0, imbalance=0.02, fragments=3, neighbours=2.0, mib=9.0),
        ],
        other=[run(BASE, 800, 4.0), run("x", 100, 32.0, imbalance=0.05, within_bound=False, neighbours=5.0)],
    )
    one = score(found, "x")
    assert one.cut == pytest.approx(0.25, rel=1e-12)  # sqrt(50/100 * 100/800) = sqrt(1/16); of sums: 150/900
    assert one.volume == pytest.approx(0.25, rel=1e-12)
    assert one.halo == pytest.approx(0.25, rel=1e-12)
    assert one.seconds == pytest.approx(4, rel=1e-12)  # sqrt(2/1 * 32/4) = sqrt(16)
    assert (one.imbalance, one.within_bound, one.fragments, one.neighbours, one.mib) == (0.05, 1, 3, 3.5, 9.0)
    assert (one.ran, one.ended, one.comparable, one.wins, one.losses) == (2, 2, True, 2, 0)
    base = score(found, BASE)
    assert (base.cut, base.seconds, base.wins, base.losses) == (1, 1, 0, 0)


def test_own_labels_are_compared_with_repaired_ones_of_the_base():
    found = collected(m=[run(BASE, 90, repaired=False), run(BASE, 100), run("x", 110, repaired=False), run("x", 120)])
    assert score(found, BASE, repaired=False).cut == pytest.approx(0.9)
    assert score(found, "x", repaired=False).cut == pytest.approx(1.1)
    mean, most, where = summary.price(found, "x")
    assert (mean, most, where) == (pytest.approx(120 / 110), pytest.approx(120 / 110), ("m", 2))


@pytest.mark.parametrize(
    ("cut", "base", "found"),
    [
        (98, 100, 1), (99, 100, 0), (100, 100, 0), (101, 100, 0), (102, 100, -1),
        (0, 0, 0), (1, 0, -1), (0, 1, 1), (None, 100, -1), (100, None, 1), (None, None, 0),
    ],
)  # fmt: skip
def test_a_win_or_a_loss_is_more_than_one_per_cent_or_a_failure_of_one(cut, base, found):
    runs = [failed(name) if count is None else run(name, count) for name, count in (("x", cut), (BASE, base))]
    assert summary.verdict(*runs) == found
    one = score(collected(m=runs), "x")
    assert (one.wins, one.losses) == (found == 1, found == -1)


def test_pairs_that_some_method_cuts_at_no_cost_are_in_no_mean_but_among_wins_and_losses():
    found = collected(
        usual=[run(BASE, 100), run("x", 150), run("y", 120)],
        ours=[run(BASE, 0), run("x", 900), run("y", 0)],
        theirs=[run(BASE, 4), run("x", 0), run("y", 8)],
    )
    x, y = score(found, "x"), score(found, "y")
    assert (x.cut, y.cut) == (1.5, 1.2)
    assert (x.comparable, y.comparable, x.ended) == (True, True, 3)
    assert (x.wins, x.losses, y.wins, y.losses) == (1, 2, 0, 2)
    text = "\n".join(result_tables.cuts_of_0(found))
    assert "| ours into 2 | 0 | 900 | 0 |" in text
    assert "| theirs into 2 | 4 | 0 | 8 |" in text


def test_own_labels_without_a_cut_beyond_the_bound_take_no_pair_from_others():
    loose = run("x", 0, repaired=False, within_bound=False, imbalance=0.5)
    found = collected(
        one=[run(BASE, 100), run("x", 150), run("x", 120, repaired=False), run("y", 110)],
        two=[run(BASE, 10), run("x", 15), loose, run("y", 90)],
    )
    assert (score(found, "x").cut, score(found, "y").cut) == (pytest.approx(1.5), pytest.approx((1.1 * 9) ** 0.5))
    own = score(found, "x", repaired=False)
    assert (own.cut, own.comparable, own.ended) == (pytest.approx(1.2), False, 2)
    assert list(result_tables.cuts_of_0(found)) == []
    assert summary.price(found, "x") == (pytest.approx(1.25), 1.25, ("one", 2))


# -- what fails ---------------------------------------------------------------------------------------------


PAIRS = [("easy", 2), ("easier", 2), ("hard", 2)]


@pytest.fixture
def brittle_and_steady():
    """Two methods that are as good on easy meshes; on the hard one the brittle one fails, the steady one is bad."""
    easy = {name: [run(BASE, 100), run("brittle", 90), run("steady", 90)] for name in ("easy", "easier")}
    return collected(**easy, hard=[run(BASE, 100), failed("brittle"), run("steady", 200)])


def test_a_method_that_fails_on_hard_meshes_does_not_look_better_for_it(brittle_and_steady):
    found = brittle_and_steady
    brittle, steady = score(found, "brittle"), score(found, "steady")
    assert (brittle.cut, steady.cut) == (pytest.approx(0.9), pytest.approx((0.9 * 0.9 * 2) ** (1 / 3)))
    assert brittle.cut < steady.cut  # which is why these two must not stand beside each other
    assert (brittle.comparable, steady.comparable) == (False, True)
    assert [one.method for one in summary.ranked([brittle, steady])] == ["steady", "brittle"]
    assert (brittle.wins, brittle.losses) == (steady.wins, steady.losses) == (2, 1)
    lines = result_tables.short(found).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| " + BASE, "| steady", "| brittle"]
    assert lines[-1].startswith("| brittle | (0.900) | (0.900) | (1.000) |")
    assert lines[-1].endswith("| 2 / 1 | 1 of 3 |")
    drawn = {name for name, *_ in quality.marks(found, found.pairs)}
    assert drawn == {BASE, "steady", "brittle (2 of 3)"}


def test_nor_does_what_is_a_sum_or_the_most(brittle_and_steady):
    brittle_and_steady.add("hard", [run("steady", 200, fragments=7, empty_parts=1, mib=99.0, imbalance=0.4)])
    rows = {row["method"]: row for row in result_tables.summary_rows(brittle_and_steady, [*PAIRS], (True,))}
    shown = ("MiB", "imbalance", "empty parts", "fragments", "neighbours")
    assert [rows["steady"][head] for head in shown] == ["99", "40.00 %", "1", "7", "1.00"]
    assert [rows["brittle"][head] for head in shown] == ["(5)", "(1.00 %)", "(0)", "(0)", "(1.00)"]


def test_nor_does_a_base_that_fails(brittle_and_steady):
    brittle_and_steady.add("hard", [failed(BASE)])  # where its means leave out what others have in theirs
    rows = {row["method"]: row for row in result_tables.summary_rows(brittle_and_steady, [*PAIRS], (True,))}
    assert [rows[BASE][head] for head in ("edge cut", "MiB", "neighbours")] == ["1.000", "(5)", "(1.00)"]


def test_nor_does_what_repair_costs_it(brittle_and_steady):
    for mesh, _ in PAIRS:
        brittle_and_steady.add(mesh, [run("steady", 80, repaired=False)])
    for mesh, _ in PAIRS[:2]:
        brittle_and_steady.add(mesh, [run("brittle", 80, repaired=False)])
    steady, brittle = sorted(result_tables.price_rows(brittle_and_steady), reverse=True)
    assert steady[:3] == ["steady", f"{(1.125 * 1.125 * 2.5) ** (1 / 3):.4f}", "2.500"]
    assert brittle[:3] == ["brittle", "(1.1250)", "(1.125)"]
    assert [row[-3:] for row in (steady, brittle)] == [["0", "0", "0"], ["(0)", "(0)", "(0)"]]


def test_over_the_pairs_on_which_all_ended_both_are_alike(brittle_and_steady):
    alike, methods = summary.common(brittle_and_steady, brittle_and_steady.pairs)
    assert (alike, set(methods)) == ([("easy", 2), ("easier", 2)], {BASE, "brittle", "steady"})
    text = "\n".join(result_tables.over_common_pairs(brittle_and_steady))
    assert "**Over the 2 pairs on which all of these ended" in text
    assert "| brittle | 0.900 |" in text
    assert "| steady | 0.900 |" in text


def test_a_method_that_seldom_ends_does_not_empty_the_common_pairs(brittle_and_steady):
    brittle_and_steady.add("easy", [failed("never")])
    brittle_and_steady.add("hard", [failed("never")])
    alike, methods = summary.common(brittle_and_steady, brittle_and_steady.pairs)
    assert (len(alike), "never" in methods) == (2, False)
    assert score(brittle_and_steady, "never").cut is None
    assert "| never | - | - | - |" in result_tables.short(brittle_and_steady)


def test_a_base_that_fails_leaves_its_pair_out_of_means_and_loses_it():
    found = collected(good=[run(BASE, 100), run("x", 110)], bad=[failed(BASE), run("x", 10)])
    one = score(found, "x")
    assert (one.cut, one.comparable, one.wins, one.losses) == (pytest.approx(1.1), True, 1, 1)


def test_methods_that_crash_hang_or_raise_cost_their_own_rows(tmp_path):
    found = collected()
    hangs = partial(failing_methods.hangs_with_a_process, note=tmp_path / "note")
    functions = {"aborts": failing_methods.aborts, "hangs": hangs, "raises": failing_methods.raises}
    methods = [Method(name, run, ()) for name, run in functions.items()] + [Method("good", failing_methods.stripes, ())]
    runs = list(quality.measured(("strip", "isotropic", quads(8, 4)), [2], methods, 5.0, found))
    assert [run.method for run in runs] == ["aborts", "hangs", "raises", "good"]
    for run, why in zip(runs, ("crashed (SIGABRT)", "took longer than 5 s", "ValueError: two"), strict=False):
        assert run.failure.startswith(why)
    assert (runs[-1].failure, runs[-1].edge_cut) == (None, 8)  # the lower and the upper two rows of 8
    assert [row[2] for row in result_tables.failures(found)] == ["aborts", "hangs", "raises"]


def test_too_many_parts_for_a_mesh_are_left_out(capsys):
    found = collected()
    assert not list(quality.measured(("strip", "isotropic", quads(3, 1)), [4], [BASE], 5.0, found))
    assert "3 cells to share out, too few for 4 parts" in capsys.readouterr().err


# -- files, and the script ----------------------------------------------------------------------------------


def test_results_come_back_from_a_file_and_join(tmp_path):
    one, two = collected(m=[run(BASE, 100), run("x", 90)]), collected(m=[run("y", 80)], other=[failed("y")])
    one.save(tmp_path / "one.json")
    two.save(tmp_path / "two.json")
    assert results.load(tmp_path / "one.json") == one
    joined = results.join([results.load(tmp_path / name) for name in ("one.json", "two.json")])
    assert joined.runs == one.runs | two.runs
    assert len(joined.made) == 2


def test_results_that_say_nothing_together_do_not_join(tmp_path):
    one, two = collected(m=[run(BASE, 100)]), collected()
    two.add_mesh("m", FACTS._replace(cells=11))
    with pytest.raises(SystemExit, match="two meshes m, of 10 and 11 cells"):
        results.join([one, two])
    three = collected()
    three.made[0]["options"] = quality.OPTIONS | {"seed": 1}
    with pytest.raises(SystemExit, match="seed is 0, and 1"):
        results.join([one, three])
    for text in ('{"made": [', "[]", '{"made": [], "meshes": ["m"], "runs": []}'):
        (tmp_path / "cut.json").write_text(text)
        with pytest.raises(SystemExit, match="does not hold results"):
            results.load(tmp_path / "cut.json")


def script(*arguments):
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_small_run_prints_all_tables_and_its_file_prints_them_again_and_goes_on(tmp_path):
    file = tmp_path / "runs.json"
    few = ("--cells", 1500, "--cases", *list(quality.CASES)[:2], "--parts", 2, 6, "--methods", "sfc", "kahip:fast")
    first = script(*few, "--rows", "--json", file)
    assert first.returncode == 0, first.stderr
    kept = json.loads(file.read_text())
    assert len(kept["runs"]) == 2 * 2 * 3 * 2  # meshes, numbers of parts, methods, own labels and repaired ones
    assert {entry["method"] for entry in kept["runs"]} == {"sfc", "kahip:fast", BASE}
    for title in (
        "Over 2 meshes, 4 pairs",
        "own labels",
        "By class",
        "By number",
        "repair costs",
        "failed",
        "Every run",
    ):
        assert title in first.stdout
    assert first.stdout.count("| kahip:eco | 1.000 | 1.000 | 1.000 |") == 1
    assert script("--from", file, "--rows").stdout == first.stdout

    assert script(*few, "--json", file).returncode == 2  # it is there already
    kept["runs"] = [entry for entry in kept["runs"] if (entry["method"], entry["nparts"]) != ("sfc", 6)]
    file.write_text(json.dumps(kept))
    second = script(*few, "--json", file, "--resume")
    assert second.returncode == 0, second.stderr
    assert [line.split("by ")[1][:3] for line in second.stderr.splitlines()] == ["sfc", "sfc"]
    assert len(json.loads(file.read_text())["runs"]) == 24
    assert len(json.loads(file.read_text())["made"]) == 2


def test_the_script_draws_a_panel_for_each_class(tmp_path, brittle_and_steady):
    pytest.importorskip("matplotlib")
    brittle_and_steady.save(tmp_path / "runs.json")
    done = script("--from", tmp_path / "runs.json", "--plot", tmp_path / "pareto.svg")
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / "pareto.svg").read_text()
    assert "brittle (2 of 3)" in picture
    assert "isotropic" in picture


@pytest.mark.parametrize(
    "wrong",
    [
        *(("--parts", 8, 0), ("--parts", 8, 8), ("--time-limit", -1), ("--time-limit", "nan")),
        *(("--cells", 0), ("--quick", "--cells", 5), ("--no-made",)),
    ],
)
def test_what_cannot_be_right_is_no_failure_of_methods(wrong, tmp_path):
    done = script("--cases", "hexes", "--cells", 100, "--methods", "sfc", *wrong, "--json", tmp_path / "runs.json")
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])


def test_results_that_are_there_are_not_replaced_by_tables_of_others(tmp_path, brittle_and_steady):
    others, mine = tmp_path / "others.json", tmp_path / "mine.json"
    brittle_and_steady.save(others)
    collected(m=[run(BASE, 100)]).save(mine)
    before = mine.read_bytes()
    for options in ([], ["--resume"]):
        done = script("--from", others, "--json", mine, *options)
        assert (done.returncode, done.stdout, mine.read_bytes()) == (2, "", before)
        assert "goes on with it" not in done.stderr


def test_unknown_methods_are_refused_before_anything_runs():
    done = script("--methods", "nobody")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--methods: method must be one of" in done.stderr


def test_seconds_of_several_machines_are_told_apart(brittle_and_steady):
    other = collected(m=[run(BASE, 100)])
    other.made[0]["machine"] = MACHINE | {"CPU": "another"}
    text = "\n".join(result_tables.everything(results.join([brittle_and_steady, other])))
    assert "several machines (CPU one, another)" in text
    assert "several machines" not in "\n".join(result_tables.everything(brittle_and_steady))
