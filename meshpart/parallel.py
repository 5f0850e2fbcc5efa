"""Work on the items of an iterator in several threads, a few of them at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield what `work` returns for each item, in their order.

    At most `threads` items are worked on at a time, and one more is waited for; so that few are in memory.

    Parameters
    ----------
    work : callable
    items : iterable
        Asked for its next item while threads work on those before.
    threads : int
        With 1, all is done in the caller's thread.
    """
    if threads == 1:
        yield from map(work, items)
        return
    running: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                running.append(pool.submit(work, item))
                if len(running) > threads:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()
