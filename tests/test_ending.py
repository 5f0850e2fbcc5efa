"""Files that end, also for a reader that does not look."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from meshpart.ending import MOST_READS_AFTER_THE_END, open_ending


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("first\n1 2 3\nlast\n")
    return path


def test_a_file_reads_as_any_other(path: Path) -> None:
    with open_ending(path) as file:
        assert file.readline() == "first\n"
        assert np.fromfile(file, int, 3, " ").tolist() == [1, 2, 3]
        assert list(file) == ["last\n"]
        assert file.readline() == ""
    with open_ending(path, "rb") as file:
        assert file.read(2) == b"fi"
        assert list(file) == [b"rst\n", b"1 2 3\n", b"last\n"]
    with open_ending(str(path), "w") as file:
        file.write("new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_reading_after_the_end_ends(path: Path, mode: str) -> None:
    with open_ending(path, mode) as file:
        for _ in range(3 + MOST_READS_AFTER_THE_END):
            file.readline()
        with pytest.raises(EOFError, match="the file ends too early"):
            file.readline()


def test_reading_bytes_one_by_one_ends(path: Path) -> None:
    with open_ending(path, "rb") as file:
        for _ in range(len(path.read_bytes()) + MOST_READS_AFTER_THE_END):
            file.read(1)
        with pytest.raises(EOFError):
            file.read(1)


@pytest.mark.parametrize("mode", ["r", "rb"])
@pytest.mark.parametrize("ask", [lambda file: file.read(), lambda file: next(file, None)], ids=["all", "next line"])
def test_asking_for_more_ends_however_it_is_asked(ask: Callable[[Any], object], mode: str, path: Path) -> None:
    with open_ending(path, mode) as file:
        for _ in range(MOST_READS_AFTER_THE_END):
            ask(file)
        with pytest.raises(EOFError):
            [ask(file) for _ in range(5)]


def test_lines_are_given_without_a_call_for_each(path: Path) -> None:
    path.write_text("1 2 3\n" * 100_000)
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    with open_ending(path) as file:
        sys.setprofile(count)
        try:
            lines = list(file)
        finally:
            sys.setprofile(None)
    assert len(lines) == 100_000
    assert calls < 1000  # one for a buffer of 8192 bytes
