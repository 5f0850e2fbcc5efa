"""What a thread prints while it listens, and what others print meanwhile."""

# ruff: noqa: T201

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading

import pytest

from meshpart import quiet
from meshpart.quiet import listening


def test_what_is_printed_is_heard_and_goes_nowhere_else(capsys: pytest.CaptureFixture[str]) -> None:
    with listening() as heard:
        print("out")
        print("err", file=sys.stderr)
    assert heard.getvalue() == "out\nerr\n"
    assert capsys.readouterr() == ("", "")


def test_the_streams_are_the_same_afterwards() -> None:
    before = sys.stdout, sys.stderr
    with contextlib.suppress(KeyError), listening():
        raise KeyError
    with pytest.raises(SystemExit), listening():
        sys.exit(1)
    assert (sys.stdout, sys.stderr) == before


def test_another_thread_prints_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    with listening() as heard:
        other = threading.Thread(target=print, args=("from another thread",))
        other.start()
        other.join()
        print("from this one")
    assert heard.getvalue() == "from this one\n"
    assert capsys.readouterr().out == "from another thread\n"


def test_threads_hear_themselves_alone_however_they_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    start = threading.Barrier(9)
    heard_by: dict[int, str] = {}

    def listen(number: int) -> None:
        start.wait()
        lines = []
        for turn in range(50):
            with listening() as heard:
                print(number, turn)
            lines.append(heard.getvalue())
        heard_by[number] = "".join(lines)

    threads = [threading.Thread(target=listen, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    before = sys.stdout
    start.wait()
    for turn in range(200):
        print("main", turn)
    for thread in threads:
        thread.join()
    assert heard_by == {number: "".join(f"{number} {turn}\n" for turn in range(50)) for number in range(8)}
    assert capsys.readouterr().out == "".join(f"main {turn}\n" for turn in range(200))
    assert sys.stdout is before


def test_one_may_listen_while_one_listens() -> None:
    with listening() as outer:
        print("a")
        with listening() as inner:
            print("b")
        print("c")
    assert (outer.getvalue(), inner.getvalue()) == ("a\nc\n", "b\n")


def test_a_redirection_meanwhile_stays_in_force_and_a_later_listener_is_not_fooled_by_it() -> None:
    mine = io.StringIO()
    redirection = contextlib.redirect_stdout(mine)
    with listening():
        redirection.__enter__()
    print("mine")
    with listening() as heard:
        print("heard")
    redirection.__exit__(None, None, None)  # puts back what it found, which is in nobody's way
    with listening() as again:
        print("again")
    assert (mine.getvalue(), heard.getvalue(), again.getvalue()) == ("mine\n", "heard\n", "again\n")


def test_who_kept_hold_of_the_stream_still_writes_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    with listening():
        kept = sys.stdout
    kept.write("later\n")
    kept.flush()
    assert capsys.readouterr().out == "later\n"
    assert kept.encoding == sys.stdout.encoding


def test_a_process_without_streams_listens_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with listening() as heard:
        print("heard")
        other = threading.Thread(target=print, args=("to nobody",), kwargs={"flush": True})
        other.start()
        other.join()
    assert heard.getvalue() == "heard\n"
    assert sys.stdout is None


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")


@FORKS
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_listens_whatever_other_threads_did() -> None:
    inside, leave = threading.Event(), threading.Event()

    def listen() -> None:
        with listening(), quiet._lock:  # as where the fork comes while a thread puts its text in
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=listen)
    before = sys.stdout
    other.start()
    inside.wait(10)
    child = os.fork()
    if child == 0:
        restored = sys.stdout is before
        with listening() as heard:
            print("heard")
        os._exit(0 if restored and heard.getvalue() == "heard\n" else 1)
    leave.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@FORKS
def test_who_forks_while_listening_goes_on_to_listen() -> None:
    with listening() as heard:
        child = os.fork()
        if child == 0:
            print("heard")
            os._exit(0 if heard.getvalue() == "heard\n" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
