"""The plans of several parts as one: refused where a slow look at each of them and at each pair refuses them."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import LabelledMesh, labelled
from meshes import QUARTERS, quads, strip

from meshpart import ArgumentError, HaloPlan, SubMesh, exchange, split
from meshpart.plans import counterparts, join_plans

NAMES = [entry.name for entry in fields(HaloPlan)]


def look_at_all(parts: list[SubMesh]) -> None:
    """Raise ArgumentError unless the plans for points fit their maps and each other."""
    numbers, maps = [part.part for part in parts], [part.points for part in parts]
    counterparts("points", join_plans("points", numbers, maps, [part.point_halo for part in parts]))


def fits(part: SubMesh) -> bool:
    """Whether the plan for points fits the map, by looking at each number."""
    plan, ids = part.point_halo, part.points
    neighbours, rows = plan.neighbours.tolist(), plan.send_indices.tolist()
    totals = {"send_offsets": len(rows), "recv_offsets": ids.n_ghost}
    return (
        all(first < second for first, second in pairwise(neighbours))
        and part.part not in neighbours
        and all(len(getattr(plan, name)) == len(neighbours) + 1 for name in totals)
        and all(getattr(plan, name)[0] == 0 and getattr(plan, name)[-1] == total for name, total in totals.items())
        and all(first <= second for name in totals for first, second in pairwise(getattr(plan, name).tolist()))
        and all(0 <= row < ids.n_owned for row in rows)
    )


def fit_each_other(parts: list[SubMesh]) -> bool:
    """Whether each neighbour expects what it is sent, by looking at each pair."""
    counts: dict[str, dict[tuple[int, int], int]] = {"send_offsets": {}, "recv_offsets": {}}
    for part in parts:
        for name, found in counts.items():
            for neighbour, count in zip(
                part.point_halo.neighbours.tolist(), np.diff(getattr(part.point_halo, name)).tolist(), strict=True
            ):
                found[(part.part, neighbour) if name == "send_offsets" else (neighbour, part.part)] = count
    return counts["send_offsets"] == counts["recv_offsets"]


@st.composite
def spoilt(draw: st.DrawFn, case: LabelledMesh) -> list[SubMesh]:
    """Draw parts in any order, in the plans of some of which a number is another one, or there twice, or is not."""
    parts = split(*case, ghost_layers=draw(st.integers(0, 1)))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(parts) - 1))
        plan, name = parts[place].point_halo, draw(st.sampled_from(NAMES))
        values = getattr(plan, name).tolist()
        at = draw(st.integers(0, len(values)))
        values[at : at + draw(st.integers(0, 1))] = draw(st.lists(st.integers(-1, 5), max_size=2))
        new = np.array(values, getattr(plan, name).dtype)
        parts[place] = replace(parts[place], point_halo=replace(plan, **{name: new}))
    return draw(st.permutations(parts))


@given(st.data())
def test_plans_are_refused_where_a_slow_look_refuses_them(data: st.DataObject) -> None:
    parts = data.draw(spoilt(data.draw(labelled())))
    misfits = [part.part for part in parts if not fits(part)]
    if not misfits and fit_each_other(parts):
        look_at_all(parts)
        return
    with pytest.raises(ArgumentError) as refused:
        look_at_all(parts)
    named = str(refused.value)
    assert (named.startswith("the plans of parts")) == (not misfits)
    assert not misfits or any(f"of part {part} " in named for part in misfits)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("neighbours", [0.0, 1.0, 3.0]),
        ("neighbours", [[0, 1, 3]]),
        ("send_indices", np.zeros(1)),
        ("send_offsets", 0),
        ("recv_offsets", np.array([0, 2**64 - 1, 0, 10], np.uint64)),
        ("recv_offsets", [0, 2**63 - 1, -(2**63), 10]),
    ],
)
def test_what_is_no_row_of_integers_or_wraps_around_fits_no_map(name: str, value: Any) -> None:
    parts = split(quads(4, 4), QUARTERS, ghost_layers=1)  # three by three quads a part, 16 points, 10 of them ghosts
    assert parts[2].point_halo.neighbours.tolist() == [0, 1, 3]
    assert parts[2].points.n_ghost == 10
    parts[2] = replace(parts[2], point_halo=replace(parts[2].point_halo, **{name: np.array(value)}))
    with pytest.raises(ArgumentError, match="the plan for the points of part 2 does not fit its map"):
        exchange(parts, [np.zeros(part.points.n_owned) for part in parts], "points")


def test_each_pair_knows_its_counterpart_whatever_the_order_of_parts() -> None:
    parts = [split(strip(3), [0, 1, 2])[number] for number in (1, 2, 0)]
    maps, plans = [part.points for part in parts], [part.point_halo for part in parts]
    joined = join_plans("points", [1, 2, 0], maps, plans)
    # pairs of part 1: with 0 and 2; of part 2: with 1; of part 0: with 1
    assert joined.neighbours.tolist() == [0, 2, 1, 1]
    assert joined.parts.tolist() == [0, 0, 1, 2]
    assert counterparts("points", joined).tolist() == [3, 2, 1, 0]
    # part 1 owns 2 points and receives 2 from part 0, part 2 owns 2 and receives 2 from part 1, part 0 receives none
    assert joined.first_ghosts.tolist() == [2, 4, 2, 4]
