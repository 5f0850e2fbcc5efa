"""The README: every block of code in it runs and prints what it says."""

import doctest
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the programs of the README, in which `examples/bracket.msh` is where it says."""
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    for program in blocks("py"):
        name = re.match(r"# (\w+\.py)\n", program).group(1)
        (tmp_path / name).write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands() -> list[tuple[str, str]]:
    """The command lines of the console blocks, each with what it prints."""
    return [
        (line, output)
        for block in blocks("console")
        for line, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def as_anywhere(text: str) -> str:
    """What a text says on any machine: KaHIP's cuts are the same on one platform only, that of the README's figures."""
    if sys.platform == "linux" and platform.machine() == "x86_64":
        return text.rstrip()
    return re.sub(r"[\s-]+", " ", re.sub(r"\d+(\.\d+)?", "#", text)).strip()


def test_the_commands_print_what_the_readme_shows(folder):
    scripts = Path(sys.executable).parent
    shown = commands()
    assert len(shown) >= 2
    for line, output in shown:
        run = subprocess.run(
            line,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (run.returncode, run.stderr) == (0, ""), run.stderr
        assert as_anywhere(run.stdout) == as_anywhere(output), line


def test_the_python_blocks_print_what_the_readme_shows(folder):
    shown = doctest.DocTestParser().get_doctest("\n".join(blocks("python")), {}, "README.md", None, 0)
    assert len(shown.examples) >= 5
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(shown).failed == 0


def test_nothing_is_left_to_be_filled_in():
    assert not re.search(r"@[A-Z]+@|TODO|FIXME", README)


def test_set_up_takes_two_commands():
    """CI runs these by the letter; here it is only seen that there are two and no more."""
    lines = "".join(blocks("sh")).splitlines()
    assert len(lines) == 2
    assert "meshpart partition examples/bracket.msh" in lines[0]
    assert lines[1].endswith("pytest")
