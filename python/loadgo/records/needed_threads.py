"""The threads that reading a run takes, asked for before Polars starts its own."""

from __future__ import annotations

import os
import threading
from functools import cache

from loadgo.errors import Refused

_STACK_BYTES = 1 << 22
"""Address space of each thread that is tried: about that of a thread of Polars with its part of the heap."""


_TRIAL = threading.Lock()
"""Held while threads are tried: two trials at once would leave the other's stack size, and want twice as many."""


@cache
def check_threads() -> None:
    """Raises `Refused` if the system permits fewer threads than Polars starts, which waits for ever for a refused one.

    They are tried together, once in a process.
    """
    with _TRIAL:
        _try_threads()


def _try_threads() -> None:
    wanted = 3 * len(os.sched_getaffinity(0)) + 8
    release, started = threading.Event(), list[threading.Thread]()
    usual_bytes = threading.stack_size(_STACK_BYTES)
    try:
        for _ in range(wanted):
            thread = threading.Thread(target=release.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        raise Refused(
            f"reading a run takes {wanted} threads, and the system permits {len(started)} more: raise the limit of "
            "processes (ulimit -u, or pids.max of the group) or of memory (ulimit -v), and give `loadgo report` with "
            "the run's folder"
        ) from None
    finally:
        threading.stack_size(usual_bytes)
        release.set()
        for thread in started:
            thread.join()
