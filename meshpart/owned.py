"""The rows that parts own, put where the whole mesh has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np

from meshpart.arrays import Array, Ids, frozen
from meshpart.errors import ArgumentError, MeshpartError


class Owned:
    """The rows that parts own, part after part, and where the rows of the result are among them.

    Parameters
    ----------
    kind : str
        "point" or "cell".
    parts : sequence of int
        Their numbers.
    ids : list of ndarray of int64
        The global ids of the rows that each part owns, which are the first of its own rows.
    first, count : int
        The rows of the result are first .. first + count - 1, and so are the ids.
    error : type of MeshpartError
        What is raised where a row is owned twice or by no part, and where parts have rows of different kinds.
    files : mapping of int to path
        Of each part, if it is from a file: errors name it.
    """

    def __init__(
        self,
        kind: str,
        parts: Sequence[int],
        ids: Sequence[Ids],
        first: int,
        count: int,
        error: type[MeshpartError] = ArgumentError,
        files: Mapping[int, object] | None = None,
    ) -> None:
        self.parts, self.error, self.files = parts, error, files or {}
        self.counts = [len(own) for own in ids]
        order = np.concatenate(ids) - first
        self.places = np.full(count, -1)
        self.places[order] = np.arange(len(order))
        if len(order) != count or self.places.min(initial=0) < 0:
            self._refuse(kind, order, ids, first)

    def gather(self, what: str, arrays: Sequence[Array]) -> Array:
        """Return the rows of the result from an array of each part; those that give no row may be of any dtype."""
        giving = [place for place, count in enumerate(self.counts) if count]
        if not giving:
            return arrays[0][:0]
        first = arrays[giving[0]]
        for place in giving[1:]:
            if (arrays[place].dtype, arrays[place].shape[1:]) != (first.dtype, first.shape[1:]):
                found = [(self.parts[i], arrays[i].dtype, arrays[i].shape[1:]) for i in (giving[0], place)]
                one, other = (f"{dtype} {shape} in part {part}" for part, dtype, shape in found)
                named = self._named([part for part, _, _ in found])
                raise self.error(f"{what} has rows of {one} and of {other}{named}")
        together = np.empty((len(self.places), *first.shape[1:]), first.dtype)
        np.concatenate([arrays[place][: self.counts[place]] for place in giving], out=together)
        return frozen(np.take(together, self.places, axis=0))

    def _refuse(self, kind: str, order: Ids, ids: Sequence[Ids], first: int) -> NoReturn:
        """Raise, and name an entity that several parts own, or that no part owns."""
        doubled = order[self.places[order] != np.arange(len(order))]
        if len(doubled):
            entity = doubled[0] + first
            owners = [part for part, own in zip(self.parts, ids, strict=True) if entity in own]
            named = self._named(owners)
            raise self.error(f"{kind} {entity} is owned by parts {' and '.join(map(str, owners))}{named}")
        raise self.error(f"{kind} {self.places.argmin() + first} is owned by no part")

    def _named(self, parts: Sequence[int]) -> str:
        """Return the files of parts, in brackets."""
        files = [str(self.files[part]) for part in parts if part in self.files]
        return f" ({' and '.join(files)})" if files else ""
