"""Write what a mesh file does not hold into an .npz file beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from meshpart.arrays import Array
from meshpart.errors import FormatError
from meshpart.quiet import in_one_line

BESIDE = ".npz"  # the suffix of such files


def write_beside(path: Path, arrays: Mapping[str, Array]) -> bool:
    """Write arrays, and return whether there were any; where there are none, there is no file.

    Parameters
    ----------
    path : pathlib.Path
        Of the .npz file.
    arrays : mapping of str to ndarray

    Raises
    ------
    FormatError
        If two names would be one in the file, or it cannot be written.
    """
    if not arrays:
        return False
    for name in arrays:  # which are cut at a NUL, and lose an .npy at their end, when they are read
        if "\0" in name or f"{name}.npy" in arrays:
            raise FormatError(f".npz files cannot hold the name {name!r} apart from others")
    content: dict[str, Any] = dict(arrays)
    try:
        np.savez(path, **content)
    except (OSError, ValueError) as error:
        raise FormatError(f"{path.name} cannot be written: {in_one_line(error)}") from error
    return True
