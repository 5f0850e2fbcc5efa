"""What a method is: a function from a problem to labels, and what the library has to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from meshpart.arguments import listed, one_of, shown
from meshpart.arrays import Labels
from meshpart.errors import ArgumentError, MissingDependencyError
from meshpart.methods.kahip import MODES
from meshpart.methods.problem import Problem

Function = Callable[[Problem], Labels]


@dataclass(frozen=True)
class Method:
    """A way to cut a mesh.

    Parameters
    ----------
    name : str
        As it is recorded.
    run : callable
        From a `Problem` to labels of its units, integers in 0..nparts - 1.
    modes : tuple of str or None
        Which it has of "fast", "eco", "strong", "fastsocial", "ecosocial" and "strongsocial"; none if it is empty. None
        where that is its own business, and any of these may be asked for.
    leaves_fragments : bool
        Whether the pieces of a part other than its largest are mishaps, which repair hands to neighbours.
    holds_guarantee : bool
        Whether its labels need no repair.
    package : str or None
        What it needs beside the library; the extra `peers` brings it.

    Examples
    --------
    >>> import meshpart
    >>> points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    >>> mesh = meshpart.Mesh(points, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])])
    >>> backwards = meshpart.Method("backwards", lambda problem: [1, 0], modes=("fast",), leaves_fragments=True)
    >>> meshpart.partition_labels(mesh, 2, method=backwards, mode="fast")
    array([1, 0], dtype=int32)
    """

    name: str
    run: Function
    modes: tuple[str, ...] | None = None
    leaves_fragments: bool = False
    holds_guarantee: bool = False
    package: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a method.

        Raises
        ------
        ArgumentError
            If the name is no text, `run` cannot be called, or a mode is none.
        """
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError(f"name must be the name of a method, got {shown(self.name)}")
        if not callable(self.run):
            raise ArgumentError(f"run must be a function from a Problem to labels, got {shown(self.run)}")
        if self.modes is not None:
            modes = listed("modes", self.modes, "modes")
            object.__setattr__(self, "modes", tuple(one_of("modes", mode, MODES) for mode in modes))

    @property
    def is_installed(self) -> bool:
        """Whether what it needs is there."""
        return self.package is None or _is_there(self.package)

    def require(self) -> None:
        """Raise MissingDependencyError where what it needs is not there."""
        if not self.is_installed:
            raise MissingDependencyError(f"method {self.name} needs {self.package}: pip install 'meshpart[peers]'")


def _is_there(package: str) -> bool:
    """Return whether a package can be imported that is more than a folder of that name, as that of a clone is."""
    try:
        found = find_spec(package)
    except ValueError:  # of a module that someone made, and that comes from nowhere
        return False
    return found is not None and found.origin is not None
