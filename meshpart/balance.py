"""Balance: how heavy a part may be, and the repair of labels that break it."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import NamedTuple

from meshpart import _core
from meshpart.arrays import Labels, frozen
from meshpart.graph import Graph


class Bounds(NamedTuple):
    """How much a part may weigh, in integer weights, exactly."""

    sought: Fraction  # B = (1 + imbalance) * ceil(W / nparts)
    guaranteed: Fraction  # max(B, W / nparts + (1 - 1 / nparts) * heaviest unit), which can always be kept


class Repair(NamedTuple):
    """What the repair of labels did.

    Parameters
    ----------
    filled : int
        Parts that were empty.
    moved : int
        Units that changed their part, for balance or to fill an empty one.
    absorbed : int
        Pieces of a part, other than its largest, that were given to the part that they touch most.
    """

    filled: int
    moved: int
    absorbed: int


def bounds(total: int, heaviest: int, nparts: int, imbalance: Fraction) -> Bounds:
    """Return the bounds on the weight of a part.

    Parameters
    ----------
    total, heaviest : int
        The weight of all units together, and of the heaviest.
    nparts : int
    imbalance : Fraction
        How much heavier than the mean the heaviest part may be.

    Examples
    --------
    >>> bounds(115, 100, 4, Fraction("0.03"))
    Bounds(sought=Fraction(2987, 100), guaranteed=Fraction(415, 4))
    """
    sought = (1 + imbalance) * -(-total // nparts)
    return Bounds(sought, max(sought, Fraction(total + (nparts - 1) * heaviest, nparts)))


def repair(
    graph: Graph, labels: Labels, nparts: int, bounds: Bounds, *, absorb_fragments: bool
) -> tuple[Labels, Repair]:
    """Return labels that leave no part empty and none too heavy, and what was done to get there.

    No part weighs more than `bounds.guaranteed`, and none more than `bounds.sought` if bounded effort finds a way.
    Units move at the least cost in edge cut, whole connected pieces of a part first where that leaves less of it;
    labels that already hold the bounds stay as they are.

    Parameters
    ----------
    graph : Graph
        The dual graph of the units, with their weights.
    labels : ndarray of int32, (n_units,)
    nparts : int
        At most the number of units.
    bounds : Bounds
        Of the graph's weights.
    absorb_fragments : bool
        Whether the connected pieces of a part other than its largest go to the neighbour that they touch most, where
        that keeps within `bounds.sought`.
    """
    # Weights are integers, and no part can weigh more than all together, so that larger bounds need not fit 64 bits.
    sought, guaranteed = (min(floor(bound), 2**62) for bound in bounds)
    repaired, filled, moved, absorbed = _core.repair(graph.flat, labels, nparts, sought, guaranteed, absorb_fragments)
    return frozen(repaired), Repair(filled, moved, absorbed)
