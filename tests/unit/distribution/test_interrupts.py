"""An interrupt during `Executor.submit`, at each line that Python runs there: the executor ends all the same."""

from __future__ import annotations

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest
from loadgo.distribution.interrupts import interrupts_held_back
from support.outside import PATIENCE_S


class InterruptedAt:
    """A tracer that interrupts at the line with this number, counted over all lines in `threading` and `concurrent`."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, frame: FrameType, event: str, _value: Any) -> Any:
        library = frame.f_globals.get("__name__", "") in ("threading", "concurrent.futures.thread")
        if library and event == "line":
            self.left -= 1
            if not self.left:
                signal.raise_signal(signal.SIGINT)
        return self


def interrupted_submit(at: int) -> bool:
    """Submits work with an interrupt at a line, and ends the executor. Whether there was a line with this number."""
    executor = ThreadPoolExecutor(2)
    executor.submit(int).result()
    tracer = InterruptedAt(at)
    try:
        with interrupts_held_back():
            sys.settrace(tracer)
            try:
                executor.submit(int)
            finally:
                sys.settrace(None)
    except KeyboardInterrupt:
        pass
    ending = threading.Thread(target=executor.shutdown, daemon=True)
    ending.start()
    ending.join(PATIENCE_S)
    assert not ending.is_alive(), f"an interrupt at line {at} leaves the executor without an end"
    return tracer.left <= 0


def test_an_interrupt_at_any_line_of_a_submission_leaves_no_lock_behind() -> None:
    at = 1
    while interrupted_submit(at):
        at += 1
    assert at > 10


def test_an_interrupt_that_was_held_back_comes_at_the_end() -> None:
    reached = []

    def interrupted() -> None:
        with interrupts_held_back():
            signal.raise_signal(signal.SIGINT)
            reached.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
