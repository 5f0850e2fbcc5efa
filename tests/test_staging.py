"""Sets of part files that are complete or not there, whatever happens on the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from meshpart import ArgumentError, FormatError
from meshpart.staging import WHAT, committed_folder, draft

RUN = "0123456789abcdef" * 2
MANIFEST, PVTU = "parts", "whole.pvtu"  # the two kinds of places, named so that either sorts alone in its folder

EITHER = pytest.mark.parametrize("name", [MANIFEST, PVTU])


def fill(path: Path | str, text: str, *, overwrite: bool = False, after: Any = None) -> None:
    """Write a set of one file, with what a set of its kind needs besides."""
    with draft(path, RUN, overwrite=overwrite) as drafted:
        (drafted.folder / "part-00000.txt").write_text(text)
        if after is not None:
            after(drafted)
        manifest = json.dumps({"what": WHAT, "folder": drafted.folder.name}).encode()
        if drafted.place.index.suffix == ".pvtu":
            (drafted.folder / "manifest.json").write_bytes(manifest)
            drafted.commit(f'<Piece Source="{drafted.folder.name}/part-00000.txt"/>'.encode())
        else:
            drafted.commit(manifest)


def index_of(place: Path) -> Path:
    return place if place.suffix == ".pvtu" else place / "manifest.json"


def text_of(place: Path) -> str:
    """Return what the valid set holds."""
    return (committed_folder(index_of(place)) / "part-00000.txt").read_text()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def is_set_alone(place: Path) -> bool:
    """Whether a set is all that is where it is: its index, and the folder that it names."""
    index = index_of(place)
    return set(index.parent.iterdir()) == {index, committed_folder(index)}


@EITHER
def test_a_set_is_valid_at_the_end_and_not_before(name: str, tmp_path: Path) -> None:
    def look(drafted: Any) -> None:
        assert drafted.folder.parent == index_of(tmp_path / name).parent
        assert not index_of(tmp_path / name).exists()

    fill(tmp_path / name, "new", after=look)
    assert text_of(tmp_path / name) == "new"
    assert is_set_alone(tmp_path / name)
    assert names(committed_folder(index_of(tmp_path / name)))[-1] == "part-00000.txt"


@EITHER
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OSError(28, "No space left on device")])
def test_a_failure_leaves_nothing_and_what_was_there_as_it_was(error: Any, name: str, tmp_path: Path) -> None:
    def fail(_: Any) -> None:
        raise error

    with pytest.raises(type(error) if isinstance(error, OSError) else error):
        fill(tmp_path / name, "half", after=fail)
    assert names(tmp_path) == []
    fill(tmp_path / name, "old")
    with pytest.raises(type(error) if isinstance(error, OSError) else error):
        fill(tmp_path / name, "half", overwrite=True, after=fail)
    assert text_of(tmp_path / name) == "old"
    assert is_set_alone(tmp_path / name)


KILLED = """
import os, sys, test_staging
test_staging.fill(sys.argv[1], "half", overwrite=True, after=lambda _: os.kill(os.getpid(), 9))
"""


def killed_while_filling(place: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False, env=environment)
    assert done.returncode == -9


@EITHER
def test_a_killed_process_leaves_the_old_set_whole_and_the_next_one_takes_its_rest_away(
    name: str, tmp_path: Path
) -> None:
    fill(tmp_path / name, "old")
    killed_while_filling(tmp_path / name)
    assert text_of(tmp_path / name) == "old"
    index = index_of(tmp_path / name)
    (left,) = set(index.parent.iterdir()) - {index, committed_folder(index)}
    os.utime(left, (0, 0))
    fill(tmp_path / name, "new", overwrite=True)
    assert text_of(tmp_path / name) == "new"
    assert is_set_alone(tmp_path / name)


@EITHER
def test_a_stale_set_that_a_killed_process_did_not_remove_goes_with_the_next_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / name, "old")
    stale = committed_folder(index_of(tmp_path / name))
    with monkeypatch.context() as patch:
        patch.setattr("meshpart.staging._remove_parts", lambda _: None)  # as if killed before it
        fill(tmp_path / name, "new", overwrite=True)
    assert (stale / "part-00000.txt").exists()
    (stale / "notes").touch()
    os.utime(stale, (0, 0))
    fill(tmp_path / name, "newer", overwrite=True)
    assert text_of(tmp_path / name) == "newer"
    assert names(stale) == ["notes"]


@EITHER
def test_a_killed_process_leaves_nothing_that_looks_valid_and_its_place_can_be_used(name: str, tmp_path: Path) -> None:
    killed_while_filling(tmp_path / name)
    assert not index_of(tmp_path / name).exists()
    fill(tmp_path / name, "new")
    assert text_of(tmp_path / name) == "new"


def test_what_others_are_filling_and_what_is_not_ours_is_let_be(tmp_path: Path) -> None:
    others = ["run-0123", "other-run-01234567-01234567", "run-01234567-01234567.txt"]
    for name in others:
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    with draft(tmp_path / "a.pvtu", RUN, overwrite=False) as drafted:
        os.utime(drafted.folder, (0, 0))
        fill(tmp_path / "a.pvtu", "new")
        assert drafted.folder.is_dir()
    assert set(names(tmp_path)) > set(others)
    assert text_of(tmp_path / "a.pvtu") == "new"
    assert len(names(tmp_path)) == len(others) + 2


@EITHER
def test_an_existing_set_is_replaced_only_when_asked(name: str, tmp_path: Path) -> None:
    fill(tmp_path / name, "old")
    with pytest.raises(FormatError, match=r"is there already; overwrite=True \(--overwrite\)"):
        fill(tmp_path / name, "new")
    assert text_of(tmp_path / name) == "old"
    fill(tmp_path / name, "new", overwrite=True)
    assert text_of(tmp_path / name) == "new"
    assert is_set_alone(tmp_path / name)


@EITHER
@pytest.mark.parametrize("content", ["", "{}", "[]", '{"what": "something", "files": []}', '{"what": 1}', "<Piece/>"])
def test_an_index_that_is_not_ours_is_never_replaced(name: str, content: str, tmp_path: Path) -> None:
    index = index_of(tmp_path / name)
    index.parent.mkdir(exist_ok=True)
    index.write_text(content)
    for overwrite in (False, True):
        with pytest.raises(FormatError, match="and is not replaced"):
            fill(tmp_path / name, "new", overwrite=overwrite)
    assert index.read_text() == content


def test_an_index_that_names_a_folder_elsewhere_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "parts").mkdir()
    for folder in ("../thesis", "/thesis", "..", "", "thesis", 3, "../run-01234567-01234567"):
        (tmp_path / "parts" / "manifest.json").write_text(json.dumps({"what": WHAT, "folder": folder}))
        with pytest.raises(FormatError, match="names no folder of part files, and is not replaced"):
            fill(tmp_path / "parts", "new", overwrite=True)


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mesh")
    with pytest.raises(FormatError, match="is no folder of parts"):
        fill(tmp_path / "a", "new", overwrite=True)
    assert (tmp_path / "a").read_text() == "mesh"


def test_other_files_stay_and_a_folder_of_them_is_used_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis").write_text("years of work")
    with pytest.raises(FormatError, match=r"a is there already and has thesis in it; overwrite=True \(--overwrite\)"):
        fill(tmp_path / "a", "new")
    fill(tmp_path / "a", "old", overwrite=True)
    (committed_folder(tmp_path / "a" / "manifest.json") / "notes.txt").write_text("mine")
    stale = committed_folder(tmp_path / "a" / "manifest.json")
    fill(tmp_path / "a", "new", overwrite=True)
    assert text_of(tmp_path / "a") == "new"
    assert (tmp_path / "a" / "thesis").read_text() == "years of work"
    assert names(stale) == ["notes.txt"]


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    fill(tmp_path / "a", "new")
    assert text_of(tmp_path / "a") == "new"


def test_two_sets_share_a_folder_without_a_clash(tmp_path: Path) -> None:
    for name in ("one.pvtu", "two.pvtu", "one.two.pvtu"):
        fill(tmp_path / name, name)
    for name in ("one.pvtu", "two.pvtu", "one.two.pvtu"):
        assert text_of(tmp_path / name) == name
        fill(tmp_path / name, "new", overwrite=True)
    assert len(names(tmp_path)) == 6


@EITHER
def test_a_set_that_appears_meanwhile_is_not_replaced(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is there already"):
        fill(tmp_path / name, "late", after=lambda _: fill(tmp_path / name, "early"))
    assert text_of(tmp_path / name) == "early"
    assert is_set_alone(tmp_path / name)


@EITHER
def test_of_two_who_replace_a_set_the_last_one_stays(name: str, tmp_path: Path) -> None:
    fill(tmp_path / name, "old")
    again = {"overwrite": True}
    fill(tmp_path / name, "late", after=lambda _: fill(tmp_path / name, "early", **again), **again)
    assert text_of(tmp_path / name) == "late"
    assert is_set_alone(tmp_path / name)


@EITHER
def test_a_link_is_followed_and_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    fill(tmp_path / "there" / name, "old")
    link = tmp_path / f"link{Path(name).suffix}"
    link.symlink_to(tmp_path / "there" / name)
    fill(link, "new", overwrite=True)
    assert link.is_symlink()
    assert text_of(tmp_path / "there" / name) == "new"


@EITHER
def test_a_set_can_be_moved(name: str, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    fill(tmp_path / "here" / name, "text")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    shutil.rmtree(tmp_path / "here")
    assert text_of(tmp_path / "there" / name) == "text"


def test_a_place_that_cannot_be_is_refused_clearly(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in (MANIFEST, PVTU):
        for folder in ("absent", "file"):
            with pytest.raises(FormatError, match="there is no folder"):
                fill(tmp_path / folder / name, "new")
    with pytest.raises(FormatError, match="null"):
        fill("nul\0", "new")
    with pytest.raises(ArgumentError, match="path must be a path, got 3"):
        fill(3, "new")  # type: ignore[arg-type]
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
@EITHER
def test_a_place_without_permission_is_refused(name: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(FormatError, match="Permission denied"):
        fill(tmp_path / name, "new")


def test_folders_have_the_permissions_of_any_new_folder(tmp_path: Path) -> None:
    fill(tmp_path / "a", "new")
    (tmp_path / "b").mkdir()
    for folder in (tmp_path / "a", committed_folder(tmp_path / "a" / "manifest.json")):
        assert folder.stat().st_mode == (tmp_path / "b").stat().st_mode


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@EITHER
def test_a_disk_that_is_full_at_the_index_is_an_error_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    def fill_up(drafted: Any) -> None:
        (drafted.folder / f"{drafted.place.index.name}.new").symlink_to("/dev/full")

    with pytest.raises(FormatError, match="cannot be written: No space left on device"):
        fill(tmp_path / name, "new", after=fill_up)
    assert names(tmp_path) == []


@EITHER
def test_whoever_looks_while_sets_are_replaced_finds_one(name: str, tmp_path: Path) -> None:
    fill(tmp_path / name, "0")
    script = "import sys, test_staging\nwhile True:\n    test_staging.fill(sys.argv[1], '1', overwrite=True)\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path / name)], env=environment) as process:
        try:
            first = committed_folder(index_of(tmp_path / name))
            while committed_folder(index_of(tmp_path / name)) == first:
                assert process.poll() is None
            seen = {index_of(tmp_path / name).read_bytes() for _ in range(2000)}
        finally:
            process.kill()
    assert len(seen) > 1
    assert all(b"run-" in text for text in seen)
