"""The library's own exceptions and warning: one tree, each also the built-in that a caller would expect."""

from __future__ import annotations

import sys
import warnings


class MeshpartError(Exception):
    """Whatever meshpart raises on purpose."""


class MeshError(MeshpartError, ValueError):
    """A mesh that cannot be right: an id out of range, a wrong shape, data that does not fit its cells."""


class ArgumentError(MeshpartError, ValueError):
    """An argument that cannot be right: its message names the argument and the numbers."""


class FormatError(MeshpartError, OSError):
    """A file that cannot be read, or a mesh that a file format cannot hold."""


class MethodError(MeshpartError, RuntimeError):
    """A partitioning method that failed or gave labels that break its promise."""


class AlignmentError(MeshpartError, RuntimeError):
    """Processes that were started in a way in which they cannot work together: their ranks are not aligned."""


class MissingDependencyError(MeshpartError, ImportError):
    """An optional package that is not installed: its message names the extra that brings it."""


class MeshpartWarning(UserWarning):
    """Something that a caller should know and that is no error."""


def warn(message: str) -> None:
    """Warn the caller of the library: the warning names the line that called it, however deep it is found."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "meshpart":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, MeshpartWarning, stacklevel=level)
