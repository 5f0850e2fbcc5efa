"""The file of a checkpoint: whole whatever happens to the process that writes it, and damage to it is found."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import meshpart.torch as mt  # noqa: E402
from meshpart.errors import FormatError  # noqa: E402


def net(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


WRITER = """
import sys, torch, meshpart.torch as mt
torch.set_num_threads(1)
model = torch.nn.Linear(1000, 2000)
for number in range(1000):
    torch.nn.init.constant_(model.weight, number)
    mt.save_full_checkpoint(sys.argv[1], model, number=number)
    print(number, flush=True)
"""


@pytest.mark.parametrize("attempt", range(3))
def test_a_process_killed_while_it_writes_leaves_the_last_whole_file(attempt: int, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(attempt + 1):
            last = int(process.stdout.readline())
        while not list(tmp_path.glob(".meshpart-*")):
            time.sleep(0.0005)
        process.kill()
    model = nn.Linear(1000, 2000)
    extra = mt.load_full_checkpoint(path, model)
    assert extra["number"] >= last
    assert torch.all(model.weight == extra["number"])


@pytest.mark.parametrize("suffix", [".pt", ".pt2", ".step_10", ""])
def test_what_a_killed_process_left_goes_with_a_later_save_whatever_its_suffix(suffix: str, tmp_path: Path) -> None:
    left = tmp_path / f".meshpart-0123456789abcdef{suffix}"
    left.touch()
    os.utime(left, (0, 0))
    mt.save_full_checkpoint(tmp_path / f"model{suffix}", net())
    assert [file.name for file in tmp_path.iterdir()] == [f"model{suffix}"]


def test_the_largest_integer_and_the_deepest_list_come_back(tmp_path: Path) -> None:
    deepest: list[Any] = []
    for _ in range(99):
        deepest = [deepest]
    largest = (1 << 2039) - 1
    mt.save_full_checkpoint(tmp_path / "model.pt", net(), numbers=[largest, -largest], deepest=deepest)
    extra = mt.load_full_checkpoint(tmp_path / "model.pt", net())
    assert extra == {"numbers": [largest, -largest], "deepest": deepest}


def test_a_damaged_byte_is_found_where_torch_load_finds_none(tmp_path: Path) -> None:
    file = tmp_path / "model.pt"
    mt.save_full_checkpoint(file, net(), epoch=1)
    content, kept = file.read_bytes(), torch.load(file, weights_only=True)
    found, missed = 0, 0
    for at in range(0, len(content), 11):
        file.write_bytes(content[:at] + bytes([content[at] ^ 64]) + content[at + 1 :])
        model = net(1)
        try:
            mt.load_full_checkpoint(file, model)
        except FormatError:
            found += 1
            try:
                theirs = torch.load(file, weights_only=True)
                missed += any(not torch.equal(theirs["model"][name], kept["model"][name]) for name in kept["model"])
            except Exception:  # whatever the damage leads to
                continue
        else:  # where nothing lies
            assert all(torch.equal(t, kept["model"][name]) for name, t in model.state_dict().items())
    assert found > 50
    assert missed > 20


def test_checksums_are_written_even_if_the_process_writes_none_else(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(False)
    try:
        mt.save_full_checkpoint(tmp_path / "model.pt", net(), epoch=1)
        assert not torch.serialization.get_crc32_options()
        assert mt.load_full_checkpoint(tmp_path / "model.pt", net()) == {"epoch": 1}
    finally:
        torch.serialization.set_crc32_options(True)
