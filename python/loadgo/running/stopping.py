"""Signals that stop work in progress: the first asks it to end in order, a second interrupt ends it at once.

Somebody who sends SIGTERM or SIGHUP wants the process to end. So, when the work has ended in order, the signal takes
the effect that it had before. An interrupt ends the work alone: in a notebook the result is that of what was done.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from loadgo import _loadgo


class SignalSafeEvent(threading.Event):
    """An event that a signal handler may set while its own thread waits for it.

    `threading.Event` has one lock for all who wait and set. A handler runs within the wait, so it may wait for a lock
    that its own thread holds, and then the process hangs. Here each wait has a lock of its own, which `set` opens.
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_set = False
        self._closed_gates: list[threading.Lock] = []

    def is_set(self) -> bool:
        """Whether the event was set."""
        return self._is_set

    def set(self) -> None:
        """Sets the event and ends all waits."""
        self._is_set = True  # before the gates are read: a wait adds its gate first, and reads this afterwards
        for gate in tuple(self._closed_gates):
            with suppress(RuntimeError):  # open already: a handler ran within this loop, or another thread sets it too
                gate.release()

    def clear(self) -> None:
        """Takes the event back: later waits wait again."""
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the event is set, for at most `timeout` seconds. Returns whether it was set."""
        gate = threading.Lock()
        gate.acquire()
        self._closed_gates.append(gate)
        try:
            if not self._is_set:
                gate.acquire(timeout=-1 if timeout is None else max(timeout, 0))
            return self._is_set
        finally:
            self._closed_gates.remove(gate)


class StopRequest(SignalSafeEvent):
    """An event that a stop signal sets."""

    number = 0
    """The number of the last stop signal; 0 if there was none."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[threading.Event] = []

    def part(self) -> threading.Event:
        """An event for a part of the work: this event sets it too, and it can be set alone."""
        part = SignalSafeEvent()
        self._parts.append(part)
        if self.is_set():
            part.set()
        return part

    def set(self) -> None:
        """Sets this event and those of all parts."""
        super().set()
        for part in self._parts:
            part.set()


_ABORT_WORDS = (
    "a library gave up, most often since there is no memory left for this process: raise its limit (ulimit -v), or "
    "make room; what a run leaves on this host is undone by the next run"
)
"""Words for the end of a process that cannot say any of its own."""
_requests: list[StopRequest] = []
"""The requests of the contexts in which the main thread is, the innermost last."""
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_ends_the_process = True


def report_after_stop_signals() -> None:
    """Lets this process go on after SIGTERM and SIGHUP too, as the command line does to report what was done."""
    global _ends_the_process
    _ends_the_process = False


def say_at_abort(status: int) -> None:
    """Lets the process end in words with this status where a library gives up for want of memory."""
    if not os.environ.get("LOADGO_TRACEBACK"):
        _loadgo.say_at_abort(f"loadgo: {_ABORT_WORDS}\n", status)
        atexit.register(_loadgo.end_by_itself)


@contextmanager
def catch_stop_signals() -> Iterator[StopRequest]:
    """Within this context SIGINT, SIGTERM and SIGHUP set the `StopRequest`; a second SIGINT raises `KeyboardInterrupt`.

    A context within another sets the outer `StopRequest` too. After it, SIGTERM and SIGHUP are sent again, unless
    `report_after_stop_signals` was called.
    Only the main thread receives signals. In another thread the `StopRequest` is never set.
    """
    stop = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    _requests.append(stop)

    def on_signal(number: int, _frame: object) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        for request in _requests:
            request.number = number
            request.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _requests.remove(stop)
        if stop.number in _ENDING_SIGNALS and _ends_the_process:
            signal.raise_signal(stop.number)
