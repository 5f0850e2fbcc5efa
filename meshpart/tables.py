"""Tables as plain text, such as of what there is of each part."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_ROWS = 32


def table(title: str, columns: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    r"""Return the lines of a table: a row for each part unless there are too many, then the least, mean and most.

    Parameters
    ----------
    title : str
        Of the column of numbers from 0.
    columns : mapping of str to ndarray
        By the title of the column; all as long as each other, and not empty.

    Examples
    --------
    >>> print(*table("part", {"cells": np.array([2, 30]), "weight": np.array([0.5, 1.0])}), sep="\n")
     part  cells  weight
        0      2     0.5
        1     30       1
    least      2     0.5
     mean     16    0.75
     most     30       1
    """
    rows = [[title, *columns]]
    if len(next(iter(columns.values()))) <= MOST_ROWS:
        for number, values in enumerate(zip(*columns.values(), strict=True)):
            rows.append([str(number), *map(_text, values)])
    for name, pick in (("least", np.min), ("mean", np.mean), ("most", np.max)):
        with np.errstate(over="ignore"):
            rows.append([name, *(_text(pick(values)) for values in columns.values())])
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return the lines of a table, its columns to the right but for those of the given numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<" if number in left else ">" for number in range(len(widths))]
    return [
        "  ".join(f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True)) for row in rows
    ]


def _text(value: Any) -> str:
    if not isinstance(value, np.floating):
        return str(value)
    if value and not 0.01 <= abs(value) < 1e15:
        return f"{value:.4g}"
    return f"{value:.2f}".rstrip("0").rstrip(".")
