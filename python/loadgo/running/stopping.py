"""Signals that stop work in progress: the first asks it to end in order, a second interrupt ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Stop(threading.Event):
    """Set when a signal has asked for the end."""

    number = 0
    """The number of the last signal that asked for the end; 0 if none did."""


@contextmanager
def asked_to_stop() -> Iterator[Stop]:
    """Within this context SIGINT, SIGTERM and SIGHUP set the `Stop`; a second SIGINT raises `KeyboardInterrupt`.

    Outside the main thread, which alone receives signals, nothing ever sets it.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, _frame: object) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.number = number
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, ask) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
