"""Keep what a library prints in one thread off stdout and stderr; what other threads print goes its way."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STREAMS = ("stdout", "stderr")

MOST_KEPT = 256

_lock = threading.Lock()
_listening: dict[int, io.StringIO] = {}  # by thread: who listens keeps what that thread prints


class _PerThread:
    """Stands in for sys.stdout or sys.stderr: a thread that listens writes to its own text, others to the stream.

    It may outlive its use, where another thread took hold of it meanwhile: then it only passes on.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        target = _listening.get(threading.get_ident(), self.stream)
        return len(text) if target is None else int(target.write(text) or 0)

    def flush(self) -> None:
        target = _listening.get(threading.get_ident(), self.stream)
        if target is not None:
            target.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(_listening.get(threading.get_ident(), self.stream), name)


# Stand-ins live on after use, the latest ones by the stream they stand for: print() holds sys.stdout without owning it
# (CPython up to 3.13), so that freeing a stand-in while another thread prints through it would crash the interpreter.
_kept: OrderedDict[int, _PerThread] = OrderedDict()


@contextmanager
def listening() -> Iterator[io.StringIO]:
    r"""Collect what this thread prints to sys.stdout and sys.stderr, which then goes nowhere else.

    Several threads may listen at once, each to itself. What native code writes to the file descriptors is not heard.

    Yields
    ------
    heard : io.StringIO

    Examples
    --------
    >>> with listening() as heard:
    ...     print("a warning")
    >>> heard.getvalue()
    'a warning\n'
    """
    heard = io.StringIO()
    thread = threading.get_ident()
    outer = _listening.get(thread)
    try:
        with _lock:
            _listening[thread] = heard
            for name in STREAMS:
                stream = getattr(sys, name)
                if not isinstance(stream, _PerThread):
                    setattr(sys, name, _stand_in(stream))
        yield heard
    finally:
        with _lock:
            if outer is None:
                _listening.pop(thread, None)
            else:
                _listening[thread] = outer
            if not _listening:
                _restore()


def said(heard: io.StringIO) -> str:
    """Return in one line what meshio printed."""
    sentences = re.split(r"(?:^|\s)(?:Info|Warning|Error): ", " ".join(heard.getvalue().split()))
    return "; ".join(sentence for sentence in sentences if sentence)


def in_one_line(error: BaseException) -> str:
    """Return an error's type and message."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")


def _stand_in(stream: Any) -> _PerThread:
    stand_in = _kept.pop(id(stream), None) or _PerThread(stream)  # a kept one keeps its stream, so the id is its own
    _kept[id(stream)] = stand_in
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return stand_in


def _restore() -> None:
    """Put the streams back, unless somebody else has replaced them since."""
    for name in STREAMS:
        stream = getattr(sys, name)
        if isinstance(stream, _PerThread):
            setattr(sys, name, stream.stream)


def _forget_other_threads() -> None:
    """Go on in a forked process, which has the thread that forked alone, and locks as others held them."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()
    for thread in _listening.keys() - {threading.get_ident()}:
        del _listening[thread]
    if not _listening:
        _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
