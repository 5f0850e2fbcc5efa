"""The programs in `examples` run, and show what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("ranks", [1, 4])
def test_training_on_ranks_is_the_serial_run_and_without_an_exchange_is_not(ranks, tmp_path):
    pytest.importorskip("torch")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    run = subprocess.run(
        [*launch, EXAMPLES / "train_halo.py"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    rows = {line.split("  ")[0]: line for line in run.stdout.splitlines()}
    assert f"7767 points on {ranks} ranks" in rows
    off = {name: float(re.search(r"differ by (\S+)", line).group(1)) for name, line in rows.items() if "differ" in line}
    assert off["parallel loss"] < 1e-12
    if ranks > 1:
        assert off["without exchange"] > 1e-3
