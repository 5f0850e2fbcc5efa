"""The version, read from the installed package's metadata."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("meshpart")
