"""The threads that reading a run takes: too few are refused in words, before Polars waits for one for ever."""

import threading
from collections.abc import Iterator

import pytest
from loadgo.errors import Refused
from loadgo.records.needed_threads import check_threads


@pytest.fixture(autouse=True)
def as_in_a_new_process() -> Iterator[None]:
    """Threads are tried once in a process."""
    check_threads.cache_clear()
    yield
    check_threads.cache_clear()


def test_enough_threads_are_tried_and_end() -> None:
    before = threading.active_count()
    check_threads()
    assert threading.active_count() == before


def test_too_few_threads_are_refused_with_the_remedy_and_those_that_were_tried_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, stack_bytes = threading.active_count(), threading.stack_size()
    start, permitted = threading.Thread.start, iter(range(3))

    def start_some(thread: threading.Thread) -> None:
        if next(permitted, None) is None:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    with pytest.raises(Refused, match=r"the system permits 3 more: raise the limit of processes"):
        check_threads()
    assert (threading.active_count(), threading.stack_size()) == (before, stack_bytes)
