"""Whether parts are all of one decomposition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Protocol

from meshpart.errors import ArgumentError

NAMED = 5  # how many numbers of a long list a message names


class Part(Protocol):
    """A SubMesh or a SubGraph."""

    @property
    def part(self) -> int:
        """Which part it is."""

    @property
    def nparts(self) -> int:
        """Of how many."""

    @property
    def run(self) -> str:
        """The same for all parts of one decomposition, and for no other."""


def check_all_there(parts: Sequence[Part]) -> None:
    """Refuse what is not every part of one decomposition, once."""
    if not parts:
        raise ArgumentError("parts is empty, it must hold all parts of a decomposition")
    check_alike(parts)
    nparts = parts[0].nparts
    if len(parts) < nparts:
        there = {part.part for part in parts}
        missing = (number for number in range(nparts) if number not in there)
        raise ArgumentError(f"{listed(missing, nparts - len(parts), f' of {nparts}')} missing")


def check_alike(parts: Sequence[Part]) -> None:
    """Refuse what is not one or more parts of one decomposition, each once."""
    if not parts:
        raise ArgumentError("parts is empty, it must hold parts of a decomposition")
    first = parts[0]
    nparts = first.nparts
    for part in parts:
        if part.run != first.run:
            raise ArgumentError(
                f"parts {first.part} of {nparts} and {part.part} of {part.nparts} are of different decompositions: "
                f"their runs are {first.run} and {part.run}"
            )
    counts = Counter(part.part for part in parts)
    for number in sorted(counts):
        if not 0 <= number < nparts:
            raise ArgumentError(f"there is no part {number} of {nparts}")
    doubled = sorted(number for number, times in counts.items() if times > 1)
    if doubled:
        raise ArgumentError(f"{listed(doubled, len(doubled))} given more than once")


def listed(numbers: Iterable[int], count: int, of: str = "") -> str:
    """Return "part 3 is" or "parts 2, 5 and 7 are", and of many the first and how many more."""
    named = [str(number) for number in islice(numbers, min(count, NAMED))]
    if count == 1:
        return f"part {named[0]}{of} is"
    *most, last = [*named, f"{count - NAMED} more"] if count > NAMED else named
    return f"parts {', '.join(most)} and {last}{of} are"
