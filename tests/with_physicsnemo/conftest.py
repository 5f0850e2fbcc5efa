"""Tests with the real physicsnemo, which wants an environment of its own: elsewhere they are skipped."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import ranks

HERE = Path(__file__).parent

collect_ignore = ["stand_in", "uneven_parts.py"]

if find_spec("physicsnemo"):
    ranks.preload("physicsnemo.nn.functional", "torch_geometric.data")
    sys.path.append(str(HERE))  # where the processes of `ranks` look for modules too
    if not find_spec("torch_scatter"):  # without which there is no MeshGraphNet
        sys.path.append(str(HERE / "stand_in"))
