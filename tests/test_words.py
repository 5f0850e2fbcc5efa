"""Words where lines and tags begin, in files of any size."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from meshpart import words
from meshpart.words import MARGIN, WINDOW, find_words

WORD = rb"\n[ \t]*\$(\w+)"
TAG = rb"<Piece\b[^>]*\bid=\"(\w+)\""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_words_are_found_at_the_beginning_of_lines_alone(path: Path) -> None:
    path.write_bytes(b"$one\n \t$two\nnot $three\r\n$four$five\n\n$")
    assert find_words(path, b"\n", b"$", [WORD]) == {WORD: [b"one", b"two", b"four"]}


def test_tags_are_found_wherever_they_begin(path: Path) -> None:
    path.write_bytes(b'<a><Piece id="x"/><Pieces id="y"/><Piece\n n="1" id="z"></a>')
    assert find_words(path, b"<", b"P", [TAG]) == {TAG: [b"x", b"z"]}


def test_each_pattern_has_what_it_finds(path: Path) -> None:
    path.write_bytes(b"a1\nb2\na3\n")
    patterns = [rb"\na(\d)", rb"\nb(\d)", rb"\nc(\d)", rb"\n([ab])\d"]
    found = find_words(path, b"\n", b"abc", patterns)
    assert list(found.values()) == [[b"1", b"3"], [b"2"], [], [b"a", b"b", b"a"]]


def test_an_empty_file_has_no_words(path: Path) -> None:
    path.touch()
    assert find_words(path, b"\n", b"$", [WORD]) == {WORD: []}


@pytest.mark.parametrize("shift", [-2, -1, 0, 1, 2, MARGIN - 1, MARGIN, MARGIN + 1])
def test_a_word_is_found_once_however_it_lies_to_the_windows(shift: int, path: Path) -> None:
    for before in (WINDOW + shift, 2 * WINDOW + shift):
        path.write_bytes(b"x" * before + b"\n$word")
        assert find_words(path, b"\n", b"$", [WORD]) == {WORD: [b"word"]}
        path.write_bytes(b"x" * before + b"\n$word\n" + b"x" * WINDOW)
        assert find_words(path, b"\n", b"$", [WORD]) == {WORD: [b"word"]}


def test_what_a_regular_expression_finds_in_noise_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "WINDOW", 64)
    rng = np.random.default_rng(0)
    for size in (1, 63, 64, 65, 128, 2000):
        content = rng.choice(np.frombuffer(b"\n \t$ab", np.uint8), size).tobytes()
        path.write_bytes(content)
        assert find_words(path, b"\n", b"$", [WORD])[WORD] == re.findall(WORD, b"\n" + content)
