"""Work in several threads, a few items at a time."""

from __future__ import annotations

import threading
import time

import pytest

from meshpart.parallel import in_threads


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    def work(item: int) -> int:
        time.sleep(0.01 if item % 3 == 0 else 0)
        return item * 10

    assert list(in_threads(work, range(20), threads)) == [item * 10 for item in range(20)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_items_are_asked_for_as_they_are_needed(threads: int) -> None:
    begun = done = most = 0

    def items():
        nonlocal begun, most
        for item in range(30):
            begun += 1
            most = max(most, begun - done)
            yield item

    for _ in in_threads(lambda item: item, items(), threads):
        done += 1
    assert done == 30
    assert most <= threads + 2


def test_several_work_at_once() -> None:
    together = threading.Barrier(3, timeout=30)
    assert list(in_threads(lambda item: together.wait() >= 0 or item, range(3), 3)) == [True] * 3


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_it(threads: int) -> None:
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 4:
            raise ValueError("four")
        return item

    with pytest.raises(ValueError, match="four"):
        list(in_threads(work, range(1000), threads))
    assert len(begun) < 20
    assert threading.active_count() < 10


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_the_items_ends_it(threads: int) -> None:
    def items():
        yield 1
        raise KeyError("items")

    with pytest.raises(KeyError, match="items"):
        list(in_threads(lambda item: item, items(), threads))
