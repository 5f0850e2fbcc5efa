"""Label files: what comes back, what is refused and where, and that a file is whole or not there."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshpart import ArgumentError, FormatError, read_labels, write_labels
from meshpart import labels as labels_module
from meshpart.labels import as_labels

SUFFIXES = pytest.mark.parametrize("name", ["l.npy", "l.txt", "l.epart", "mesh.epart.4", "L.NPY"])
LABELS = [0, 3, 1, 1, 2]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# -- there and back -----------------------------------------------------------------------------------------


@SUFFIXES
@pytest.mark.parametrize(
    "labels", [LABELS, [], [2**31 - 2], np.array([1, 0], ">i8"), np.array([7, 0], np.uint8)], ids=repr
)
def test_labels_come_back_as_they_were_written(name: str, labels: Any, tmp_path: Path) -> None:
    write_labels(tmp_path / name, labels)
    back = read_labels(str(tmp_path / name))
    assert back.dtype == np.int32
    assert back.tolist() == list(labels)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@given(st.lists(st.integers(0, 2**31 - 2)))
def test_any_labels_come_back_through_text(labels: list[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_labels(Path(folder, "l.epart"), labels)
        assert read_labels(Path(folder, "l.epart")).tolist() == labels


def test_text_is_what_metis_writes(tmp_path: Path) -> None:
    write_labels(tmp_path / "l.epart", LABELS)
    assert (tmp_path / "l.epart").read_bytes() == b"0\n3\n1\n1\n2\n"


def test_numpy_reads_what_is_written(tmp_path: Path) -> None:
    write_labels(tmp_path / "l.npy", LABELS)
    assert np.load(tmp_path / "l.npy").tolist() == LABELS


def test_long_files_are_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels_module, "LINES_AT_ONCE", 2)
    write_labels(tmp_path / "l.txt", LABELS)
    assert read_labels(tmp_path / "l.txt").tolist() == LABELS


@pytest.mark.parametrize(
    "text",
    [
        "0\n3\n1\n1\n2",
        "0\r\n3\r\n1\r\n1\r\n2\r\n",
        "0\r3\r1\r1\r2\r",
        "\n\n0\n3\n\n1\n1\n2\n\n",
        "  0\n\t3\n1 \n+1\n02\n",
        "\ufeff0\n3\n1\n1\n2\n",
        "# five cells\n0\n3 # the last part\n1\n#1\n1\n2\n",
    ],
)
def test_text_may_be_laid_out_in_many_ways(text: str, tmp_path: Path) -> None:
    assert read_labels(write(tmp_path / "l.txt", text)).tolist() == LABELS


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i4", "u8", ">i8"])
def test_arrays_of_any_integer_dtype_are_read(dtype: str, tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.array(LABELS, dtype))
    assert read_labels(tmp_path / "l.npy").tolist() == LABELS


# -- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["l.txt", "l.epart"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n1\n1.0\n", "line 3: '1.0' is no integer"),
        ("0\n\n\n1e3\n", "line 4: '1e3' is no integer"),
        ("0 1\n2 3\n", "line 1: '0 1' is no integer"),
        ("0,1\n", "line 1: '0,1' is no integer"),
        ("0\n-1\n", "line 2: '-1' is no number of a part"),
        ("0\n2147483647\n", "line 2: '2147483647' is no number of a part"),
        ("0\n99999999999999999999999\n", "line 2: '99999999999999999999999' is no number of a part"),
        ("0\n1_0\n", "line 2: '1_0' is no integer"),
        ("0\nnan\n", "line 2: 'nan' is no integer"),
        ("0\n\u0661\n", "line 2: '\\xd9\\xa1' is no integer"),
        ("0\n\x1b[31m\n", "line 2: '\\x1b[31m' is no integer"),
        ("part " * 100, "line 1: 'part part part part part part part part ' is no integer"),
        ("\x00\x01\x02", "line 1: '\\x00\\x01\\x02' is no integer"),
    ],
)
def test_junk_in_text_is_refused_by_its_line(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(FormatError, match=re.escape(f"{path}, {message}")):
        read_labels(path)


def test_metis_has_no_comments(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="line 1: '# parts' is no integer"):
        read_labels(write(tmp_path / "l.epart", "# parts\n0\n"))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([0.0, 1.0]), "labels must be integers, got the dtype float64"),
        (np.array([True, False]), "labels must be integers, got the dtype bool"),
        (np.array(["0", "1"]), "labels must be integers, got the dtype <U1"),
        (np.array([[0, 1], [1, 0]]), r"labels must be flat, got the shape \(2, 2\)"),
        (np.array(3), r"labels must be flat, got the shape \(\)"),
        (np.array([0, -1]), "cell 1 has -1, no number of a part"),
        (np.array([0, 0, 2**40]), "cell 2 has 1099511627776, no number of a part"),
    ],
)
def test_other_arrays_are_refused(array: np.ndarray, message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", array)
    with pytest.raises(FormatError, match=f"l.npy: {message}"):
        read_labels(tmp_path / "l.npy")


class Touching:
    """A pickle of this makes a file where it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.array([Touching(tmp_path / "harm")], object), allow_pickle=True)
    with pytest.raises(FormatError, match=r"l\.npy: "):
        read_labels(tmp_path / "l.npy")
    assert not (tmp_path / "harm").exists()
    np.load(tmp_path / "l.npy", allow_pickle=True)
    assert (tmp_path / "harm").exists()  # it could have


@pytest.mark.parametrize("kept", [0, 3, 50, -1])
def test_a_file_that_was_cut_off_is_refused(kept: int, tmp_path: Path) -> None:
    np.save(tmp_path / "whole.npy", np.arange(5))
    content = (tmp_path / "whole.npy").read_bytes()
    with pytest.raises(FormatError, match=r"l\.npy: "):
        read_labels(write(tmp_path / "l.npy", content[:kept]))


def test_a_header_that_claims_more_than_the_file_has_costs_nothing(tmp_path: Path) -> None:
    with (tmp_path / "l.npy").open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<i8", "fortran_order": False, "shape": (10**15,)})
        stream.write(bytes(800))
    with pytest.raises(FormatError, match=r"l\.npy: "):
        read_labels(tmp_path / "l.npy")


@pytest.mark.parametrize("header", [b"{'descr': '<i8', ", b"  x\n y", b"{" * 5000, b"\xff", b"{1: 2}"])
def test_a_damaged_header_is_refused(header: bytes, tmp_path: Path) -> None:
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    with pytest.raises(FormatError, match=r"l\.npy: "):
        read_labels(write(tmp_path / "l.npy", start + header))


def test_an_archive_is_no_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "l.npz", labels=np.arange(3))
    (tmp_path / "l.npz").rename(tmp_path / "l.npy")
    with pytest.raises(FormatError):
        read_labels(tmp_path / "l.npy")


@pytest.mark.parametrize("name", ["l.csv", "l", "l.npz", "epart", "l.epart.x", ".npy.gz"])
def test_other_suffixes_are_refused(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, "0\n")
    for call in (lambda: read_labels(tmp_path / name), lambda: write_labels(tmp_path / name, [0], overwrite=True)):
        with pytest.raises(ArgumentError, match=r"label files are \.npy, \.txt or \.epart"):
            call()
    assert (tmp_path / name).read_text() == "0\n"


@SUFFIXES
def test_what_is_no_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"{name}: No such file or directory"):
        read_labels(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(FormatError, match=f"{name}: it is no regular file"):
        read_labels(tmp_path / name)
    with pytest.raises(FormatError, match=f"{name} is no regular file, and is not replaced"):
        write_labels(tmp_path / name, [0], overwrite=True)
    for path in (3, None):
        with pytest.raises(ArgumentError, match="path must be a path"):
            read_labels(path)  # type: ignore[arg-type]


def test_a_name_with_a_nul_is_refused() -> None:
    with pytest.raises(FormatError):
        read_labels("a\0.npy")
    with pytest.raises(FormatError):
        write_labels("a\0.npy", [0])


@pytest.mark.parametrize("labels", [[0.5], [[0, 1]], [-1], ["a"], [True], [2**31 - 1]], ids=repr)
def test_what_are_no_labels_is_not_written(labels: Any, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="labels"):
        write_labels(tmp_path / "l.npy", labels)
    assert list(tmp_path.iterdir()) == []


# -- whole or not there -------------------------------------------------------------------------------------


@SUFFIXES
def test_a_file_is_replaced_only_when_asked(name: str, tmp_path: Path) -> None:
    write_labels(tmp_path / name, LABELS)
    with pytest.raises(FormatError, match="is there already; overwrite=True"):
        write_labels(tmp_path / name, [0])
    assert read_labels(tmp_path / name).tolist() == LABELS
    write_labels(tmp_path / name, [0], overwrite=True)
    assert read_labels(tmp_path / name).tolist() == [0]


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    write_labels(tmp_path / "real.npy", LABELS)
    (tmp_path / "link.npy").symlink_to(tmp_path / "real.npy")
    write_labels(tmp_path / "link.npy", [1], overwrite=True)
    assert (tmp_path / "link.npy").is_symlink()
    assert read_labels(tmp_path / "real.npy").tolist() == [1]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"l\.npy: there is no folder .*absent"):
        write_labels(tmp_path / "absent" / "l.npy", [0])


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="limits of a process are POSIX")
@pytest.mark.parametrize("name", ["l.npy", "l.txt"])
def test_a_write_that_fails_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    import resource
    import signal

    write_labels(tmp_path / name, LABELS)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        with pytest.raises(FormatError, match="cannot write there"):
            write_labels(tmp_path / name, np.zeros(100_000, int), overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert read_labels(tmp_path / name).tolist() == LABELS
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


# -- as_labels, whose refusals the tests of `split` and `quality` see --------------------------------------


def test_checked_labels_are_a_copy() -> None:
    given = np.array(LABELS, np.int32)
    checked, nparts = as_labels(given, 5)
    assert (checked.dtype, checked.tolist(), nparts) == (np.int32, LABELS, 4)
    given[:] = 9
    assert checked.tolist() == LABELS
    assert as_labels(LABELS, 5, 7)[1] == 7
    assert as_labels([], 0)[1] == 1


def test_labels_may_come_block_by_block():
    by_block = [np.array([0, 1]), np.array([1, 2], np.int8)]
    labels, nparts = as_labels(by_block, 4)
    assert (labels.tolist(), labels.dtype, nparts) == ([0, 1, 1, 2], np.int32, 3)
    with pytest.raises(ArgumentError, match=r"shape \(5,\), got \(4,\)"):
        as_labels(by_block, 5)


def test_metis_names_of_files_are_known(tmp_path):
    for name in ("mesh.epart.3", "mesh.graph.part.3"):
        write_labels(tmp_path / name, [2, 0, 1])
        assert (tmp_path / name).read_text() == "2\n0\n1\n"
        assert read_labels(tmp_path / name).tolist() == [2, 0, 1]


def test_replacing_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "labels.npy"
    write_labels(path, [1])
    path.chmod(0o600)
    write_labels(path, [2], overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_stray_label_is_no_order_for_millions_of_parts():
    with pytest.raises(ArgumentError, match="cell 1 of 3 has 2147483646; nparts=2147483647 allows"):
        as_labels([0, 2**31 - 2, 1], 3)
    assert as_labels([0, 2999, 1], 3)[1] == 3000
