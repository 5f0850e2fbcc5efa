"""The picture of edge cut against time: who is on the front, where names lie, and what is refused."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from meshpart.errors import ArgumentError, FormatError
from meshpart.plotting import pareto
from meshpart.plotting.colours import shades
from meshpart.plotting.pareto import Mark, draw_pareto, front_of

METHODS = ("sfc", "rcb", "metis", "scotch", "hybrid", "kaminpar", "kaminpar:strong", "mtkahypar", "mtkahypar:strong")
METHODS += ("kahip:fast", "kahip:eco", "kahip:strong")


def marks(seed: int, spread: float = 1.0) -> list[Mark]:
    """Return a mark of each kind for twelve methods, the slower the better, crowded where the spread is small."""
    rng = np.random.default_rng(seed)
    made = []
    for method in METHODS:
        x = rng.random() * spread
        seconds, cut = 0.1 * 100**x, 1000 * (2 - x) * (1 + 0.1 * spread * rng.random())
        made += [Mark(method, seconds, cut, True), Mark(method, 0.9 * seconds, 0.97 * cut, False)]
    return made


def figure_of(panels: dict[str, list[Mark]]) -> Figure:
    figure = pareto._figure_of(panels, "edge cut", "seconds")
    figure.draw_without_rendering()  # which puts everything in its place
    return figure


# -- the front ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_front_has_the_marks_that_no_other_beats(seed: int) -> None:
    given = [mark for mark in marks(seed) if mark.repaired]
    beaten = {
        mark
        for mark in given
        for other in given
        if (other.seconds < mark.seconds and other.cut <= mark.cut)
        or (other.seconds <= mark.seconds and other.cut < mark.cut)
    }
    assert set(front_of(marks(seed))) == set(given) - beaten
    seconds = [mark.seconds for mark in front_of(given)]
    assert seconds == sorted(seconds)
    assert 0 < len(seconds) < len(given)


def test_raw_labels_are_on_the_front_where_none_are_repaired() -> None:
    raw, repaired = Mark("a", 1.0, 1.0, False), Mark("b", 2.0, 2.0, True)
    assert front_of([raw, repaired]) == [repaired]
    assert front_of([raw]) == [raw]
    assert front_of([]) == []


# -- the picture --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [1.0, 0.2], ids=["far apart", "crowded"])
@pytest.mark.parametrize("n_panels", [1, 6])
def test_names_cover_neither_each_other_nor_a_mark_and_lie_within_the_panel(n_panels: int, spread: float) -> None:
    panels = {f"{n} parts": marks(n, spread) for n in range(n_panels)}
    figure = figure_of(panels)
    assert len(figure.axes) == n_panels
    for axes, given in zip(figure.axes, panels.values(), strict=True):
        assert sorted(text.get_text() for text in axes.texts) == sorted(METHODS)
        boxes = [Text.get_window_extent(text) for text in axes.texts]  # without the line to the mark
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
        window = axes.get_window_extent()
        assert all(window.x0 <= box.x0 and box.x1 <= window.x1 for box in boxes)
        dots = axes.transData.transform([(mark.seconds, mark.cut) for mark in given])
        covered = sum(box.contains(*dot) for box in boxes for dot in dots)
        assert covered <= (0 if spread == 1 else 2)


def test_a_method_looks_the_same_in_all_panels() -> None:
    both = marks(0)
    figure = figure_of({"all": both, "some": both[10:]})
    looks: list[dict[tuple[float, float], Any]] = []
    for axes in figure.axes:
        drawn = [line for line in axes.lines if line.get_marker() != "None"]
        looks.append({tuple(line.get_xydata()[0]): (line.get_color(), line.get_marker()) for line in drawn})
    assert len(looks[0]) == 24
    assert looks[1].items() <= looks[0].items()
    assert len(set(looks[0].values())) == 12


def test_repaired_marks_are_filled_and_raw_ones_hollow(tmp_path: Path) -> None:
    def share(repaired: bool) -> float:
        draw_pareto(tmp_path / "one.png", {"": [Mark("a", 1.0, 1.0, repaired)]}, overwrite=True)
        pixels = matplotlib.image.imread(tmp_path / "one.png")[..., :3]
        return float(np.mean(np.abs(pixels - shades(1)[0]).max(axis=-1) < 0.02))

    assert share(True) > 1.1 * share(False) > 0


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_picture_is_the_same_each_time_and_not_replaced_unasked(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"cut{suffix}"
    draw_pareto(file, {"8 parts": marks(0)[:6], "none": []}, cut_label="cut / $best")
    first = file.read_bytes()
    with pytest.raises(FormatError, match="is there already"):
        draw_pareto(file, {"8 parts": marks(0)})
    assert file.read_bytes() == first
    if suffix == ".png":
        draw_pareto(file, {"8 parts": marks(0)[:6], "none": []}, cut_label="cut / $best", overwrite=True)
        assert file.read_bytes() == first


def test_cuts_of_zero_and_one_mark_alone_are_drawn(tmp_path: Path) -> None:
    draw_pareto(tmp_path / "cut.png", {"a $b": [Mark("$x$ of $y", 1e-6, 0, True)], "c": [Mark("a", 1e4, 7, False)]})
    assert matplotlib.image.imread(tmp_path / "cut.png").std() > 0


@pytest.mark.parametrize(
    ("panels", "told"),
    [
        ({}, "panels must be lists of marks by title"),
        ([], "panels must be lists of marks by title"),
        *(
            ({"8 parts": [Mark("a", seconds, cut, True)]}, "panel '8 parts': a took")
            for seconds, cut in [(0.0, 1.0), (-1.0, 1.0), (math.nan, 1.0), (1.0, -1.0), (1.0, math.inf)]
        ),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_refused(panels: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=told):
        draw_pareto(tmp_path / "cut.png", panels)
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_no_pictures(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"\.png, \.pdf or \.svg"):
        draw_pareto(tmp_path / "cut.jpg", {"8 parts": marks(0)})
