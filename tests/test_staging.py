"""A folder that is complete or not there, whatever happens on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from meshpart import ArgumentError, FormatError
from meshpart.staging import _exchange, new_folder, write_manifest


def fill(path: Path | str, text: str, *, overwrite: bool = False) -> None:
    """Make a folder with one file and a manifest."""
    with new_folder(path, overwrite=overwrite) as folder:
        (folder / "part").write_text(text)
        write_manifest(folder, {})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_appears_complete_at_the_end(tmp_path: Path) -> None:
    with new_folder(tmp_path / "parts", overwrite=False) as folder:
        assert folder.parent == tmp_path
        (folder / "part").write_text("new")
        write_manifest(folder, {})
        assert not (tmp_path / "parts").exists()
    assert names(tmp_path) == ["parts"]
    assert names(tmp_path / "parts") == ["manifest.json", "part"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OSError(28, "No space left on device")])
def test_a_failure_leaves_nothing_and_what_was_there_as_it_was(error: Any, tmp_path: Path) -> None:
    def fail(*, overwrite: bool) -> None:
        with new_folder(tmp_path / "a", overwrite=overwrite) as folder:
            (folder / "part").write_text("half")
            raise error

    with pytest.raises(type(error) if isinstance(error, OSError) else error):
        fail(overwrite=False)
    assert names(tmp_path) == []
    fill(tmp_path / "a", "old")
    with pytest.raises(type(error) if isinstance(error, OSError) else error):
        fail(overwrite=True)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a" / "part").read_text() == "old"


def test_a_killed_process_leaves_what_was_there_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path / "a", "old")
    script = (
        "import os, sys, meshpart.staging as s\n"
        "with s.new_folder(sys.argv[1], overwrite=True) as folder:\n"
        "    (folder / 'part').write_text('half')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a")], check=False)
    assert done.returncode == -9
    assert names(tmp_path / "a") == ["manifest.json", "part"]
    assert (tmp_path / "a" / "part").read_text() == "old"
    (left,) = set(tmp_path.iterdir()) - {tmp_path / "a"}
    os.utime(left, (0, 0))
    fill(tmp_path / "a", "new", overwrite=True)  # takes away what the killed one left
    assert (tmp_path / "a" / "part").read_text() == "new"
    assert names(tmp_path) == ["a"]


def test_what_others_are_filling_and_what_is_not_ours_is_let_be(tmp_path: Path) -> None:
    others = [".meshpart-notes.new", ".meshpart-0123456789abcdef.old", ".meshpart-0123456789abcdef.new.txt"]
    for name in others:
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    with new_folder(tmp_path / "a", overwrite=False) as folder:
        os.utime(folder, (0, 0))
        fill(tmp_path / "b", "new")
        assert folder.is_dir()
        write_manifest(folder, {})
    assert names(tmp_path) == sorted([*others, "a", "b"])


@pytest.fixture(params=["exchange", "two renames"])
def way_to_move(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Move folders at one stroke, or as where the system cannot."""
    if request.param == "two renames":
        monkeypatch.setattr(sys, "platform", "other")


@pytest.mark.usefixtures("way_to_move")
def test_an_existing_folder_is_replaced_only_when_asked(tmp_path: Path) -> None:
    fill(tmp_path / "a", "old")
    with pytest.raises(FormatError, match=r"is there already; overwrite=True \(--overwrite\)"):
        fill(tmp_path / "a", "new")
    assert (tmp_path / "a" / "part").read_text() == "old"
    fill(tmp_path / "a", "new", overwrite=True)
    assert (tmp_path / "a" / "part").read_text() == "new"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("manifest", [None, "", "{}", "[]", '{"what": "something", "files": []}', '{"what": 1}'])
def test_a_folder_that_is_not_ours_is_never_replaced(manifest: str | None, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis").write_text("years of work")
    if manifest is not None:
        (tmp_path / "a" / "manifest.json").write_text(manifest)
    with pytest.raises(FormatError, match="is no folder of parts"):
        fill(tmp_path / "a", "new", overwrite=True)
    assert (tmp_path / "a" / "thesis").read_text() == "years of work"


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mesh")
    with pytest.raises(FormatError, match="is no folder of parts"):
        fill(tmp_path / "a", "new", overwrite=True)
    assert (tmp_path / "a").read_text() == "mesh"


def test_a_folder_of_ours_with_other_files_is_not_replaced_and_they_are_named(tmp_path: Path) -> None:
    fill(tmp_path / "a", "old")
    (tmp_path / "a" / "notes.txt").write_text("mine")
    with pytest.raises(FormatError, match=r"files that are no parts, and is not replaced: notes\.txt"):
        fill(tmp_path / "a", "new", overwrite=True)
    assert (tmp_path / "a" / "notes.txt").read_text() == "mine"


def test_a_folder_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    def lose_the_race() -> None:
        with new_folder(tmp_path / "a", overwrite=False) as folder:
            write_manifest(folder, {})
            (tmp_path / "a").mkdir()
            (tmp_path / "a" / "thesis").write_text("years of work")

    with pytest.raises(FormatError, match="is there already"):
        lose_the_race()
    assert names(tmp_path) == ["a"]
    assert names(tmp_path / "a") == ["thesis"]


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    fill(tmp_path / "a", "old")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    fill(tmp_path / "link", "new", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a" / "part").read_text() == "new"


def test_a_place_that_cannot_be_is_refused_clearly(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there is no folder"):
        fill(tmp_path / "absent" / "a", "new")
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match="there is no folder"):
        fill(tmp_path / "file" / "a", "new")
    with pytest.raises(FormatError, match="null"):
        fill("nul\0", "new")
    with pytest.raises(ArgumentError, match="path must be a path, got 3"):
        fill(3, "new")  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(FormatError, match="Permission denied"):
        fill(tmp_path / "a", "new")


def test_the_folder_has_the_permissions_of_any_new_folder(tmp_path: Path) -> None:
    fill(tmp_path / "a", "new")
    (tmp_path / "b").mkdir()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_a_disk_that_is_full_at_the_manifest_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    def fill_up() -> None:
        with new_folder(tmp_path / "a", overwrite=False) as folder:
            (folder / "manifest.json").symlink_to("/dev/full")
            write_manifest(folder, {})

    with pytest.raises(FormatError, match=r"manifest\.json cannot be written: No space left on device"):
        fill_up()
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="folders change places at one stroke on Linux only")
def test_a_folder_is_replaced_at_one_stroke(tmp_path: Path) -> None:
    fill(tmp_path / "a", "0")
    fill(tmp_path / "b", "0")
    if not _exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this file system cannot")
    script = (
        "import sys, meshpart.staging as s\n"
        "while True:\n"
        "    with s.new_folder(sys.argv[1], overwrite=True) as folder:\n"
        "        (folder / 'part').write_text('1')\n"
        "        s.write_manifest(folder, {})\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "a")]) as process:
        while (tmp_path / "a" / "part").read_text() == "0":
            assert process.poll() is None
        for _ in range(2000):
            assert (tmp_path / "a").is_dir()
        process.kill()
