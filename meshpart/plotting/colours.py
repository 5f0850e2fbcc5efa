"""Which colour each part gets: parts that touch get colours that are easy to tell apart."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from meshpart.arrays import Ids, Labels, pieces, starts
from meshpart.errors import ArgumentError

Colours = npt.NDArray[np.float64]  # (n, 3): red, green and blue in 0..1

# Any two are at least LEAST_DISTANCE apart in CIELAB, and LEAST_DISTANCE_SEEN for eyes without red or green cones;
# after the first eight, each is the one farthest from those before.
PALETTE = (
    *("#2f78b7", "#f2a03d", "#1fa187", "#d1513c", "#f3de6d", "#6b4596", "#82c9ee", "#e592b8", "#f65584", "#2f5e09"),
    *("#4cecec", "#7b4242", "#d98eff", "#bdd9bd", "#84c668", "#a10068", "#978400", "#4c7bec", "#aa8e5e", "#005e71"),
)
LEAST_DISTANCE = 29.0
LEAST_DISTANCE_SEEN = 10.0

MOST_AT_A_POINT = 64  # parts that meet in one point, all of which are told apart


def part_colours(pairs: Ids, nparts: int) -> Colours:
    """Return a colour for each part.

    As many parts as the palette has get one each. Of more, those in a pair get different ones, which others have too;
    where the palette is too small for that, it gets more shades.

    Parameters
    ----------
    pairs : ndarray of int64, (n, 2)
        Parts that touch, see `touching_parts`.
    nparts : int

    Returns
    -------
    colours : ndarray of float64, (nparts, 3)

    Raises
    ------
    ArgumentError
        If so many parts touch each other that there are not enough colours.
    """
    if nparts <= len(PALETTE):
        return shades(nparts)
    chosen = _greedy(pairs, nparts)
    return shades(int(chosen.max()) + 1)[chosen]


def touching_parts(points: Ids, labels: Labels) -> Ids:
    """Return the pairs of parts that have a point in common, each once: int64, (n, 2), the lower part first.

    Of more than MOST_AT_A_POINT parts in one point each touches the next one only.

    Parameters
    ----------
    points : ndarray of int64, (n,)
    labels : ndarray of int32, (n,)
        The part of a cell that has the point.
    """
    at = _rows_once(np.stack([points, labels.astype(np.int64)], axis=1))
    _, counts = np.unique(at[:, 0], return_counts=True)
    first = np.repeat(starts(counts)[:-1], counts)
    left = first + np.repeat(counts, counts) - np.arange(len(at)) - 1  # of the same point, how many parts come after
    left = np.where(np.repeat(counts, counts) > MOST_AT_A_POINT, np.minimum(left, 1), left)
    found = []
    for step in range(1, int(left.max(initial=0)) + 1):
        places = np.flatnonzero(left >= step)
        found.append(_rows_once(np.stack([at[places, 1], at[places + step, 1]], axis=1)))
    return _rows_once(np.concatenate([np.zeros((0, 2), np.int64), *found]))


def shades(count: int) -> Colours:
    """Return so many different colours, those of the palette first, then the one farthest from all before."""
    colours = np.array([_from_hex(text) for text in PALETTE[:count]]).reshape(-1, 3)
    if count <= len(PALETTE):
        return colours
    levels = np.linspace(0.0, 1.0, 32)
    candidates = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    seen = lab(candidates)
    fit = (seen[:, 0] > 25) & (seen[:, 0] < 92)  # neither black, as lines are, nor white, as the paper is
    candidates, seen = candidates[fit], seen[fit]
    if count > len(candidates):
        raise ArgumentError(f"so many parts touch each other that {count} colours are needed: too many to tell apart")
    distance = np.full(len(candidates), np.inf)
    for colour in lab(colours):
        distance = np.minimum(distance, np.linalg.norm(seen - colour, axis=1))
    more = []
    for _ in range(count - len(colours)):
        farthest = int(distance.argmax())
        more.append(candidates[farthest])
        distance = np.minimum(distance, np.linalg.norm(seen - seen[farthest], axis=1))
    return np.concatenate([colours, more])


def lab(colours: Colours) -> Colours:
    """Return sRGB colours in CIELAB (D65), in which distance is how different colours look: (n, 3)."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = linear @ np.transpose(to_xyz) / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def towards_white(colour: Colours, how_far: float) -> Colours:
    """Return a colour mixed with white: 0 is the colour, 1 is white."""
    return colour + (1.0 - colour) * how_far


def _greedy(pairs: Ids, nparts: int) -> Ids:
    """Return the number of a colour for each part, so that no pair has one twice: the least used that is free.

    The part with the fewest neighbours is set aside, again and again, and they are coloured in the opposite order: so
    each has few coloured neighbours when its turn comes, at most the graph's degeneracy, which is below 6 in a plane.
    """
    both = np.concatenate([pairs, pairs[:, ::-1]])
    ordered = both[np.argsort(both[:, 0], kind="stable")]
    neighbours = [set(row.tolist()) for row in pieces(ordered[:, 1], starts(np.bincount(both[:, 0], minlength=nparts)))]
    order, degeneracy = _smallest_last(neighbours)
    used = np.zeros(max(len(PALETTE), degeneracy + 1), np.int64)
    chosen = np.full(nparts, -1)
    for part in order:
        free = np.ones(len(used), bool)
        taken = chosen[list(neighbours[part])]
        free[taken[taken >= 0]] = False
        allowed = np.flatnonzero(free)
        chosen[part] = allowed[used[allowed].argmin()]
        used[chosen[part]] += 1
    return chosen


def _smallest_last(neighbours: list[set[int]]) -> tuple[list[int], int]:
    """Return parts so that each has few neighbours before it, and how many at most."""
    left = [len(others) for others in neighbours]
    heap = [(count, part) for part, count in enumerate(left)]
    heapq.heapify(heap)
    order: list[int] = []
    done = [False] * len(neighbours)
    most = 0
    while heap:
        count, part = heapq.heappop(heap)
        if done[part] or count != left[part]:
            continue
        done[part] = True
        most = max(most, count)
        order.append(part)
        for other in neighbours[part]:
            if not done[other]:
                left[other] -= 1
                heapq.heappush(heap, (left[other], other))
    return order[::-1], most


def _rows_once(rows: Ids) -> Ids:
    """Return the different rows of a table of two columns, both in 0..2**31 - 1, in ascending order."""
    both = np.unique((rows[:, 0] << 31) | rows[:, 1])
    return np.stack([both >> 31, both & (2**31 - 1)], axis=1)


def _from_hex(text: str) -> list[float]:
    return [int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]
