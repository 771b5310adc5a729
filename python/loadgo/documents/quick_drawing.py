"""Charts are made without Altair's checks of each part, which cost more than all else that makes a chart.

Altair compares each part with the schema of Vega-Lite when it is made, and each chart as a whole. The tests do that
for the charts of this package.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from altair.utils import schemapi

_lock = Lock()
_drawing_count = 0
_checked_before = True


@contextmanager
def quick_drawing() -> Iterator[None]:
    """Altair checks nothing within the context, or within the function that has it as a decorator.

    The switch is Altair's own, for all threads, so that the last of them sets it back.
    """
    global _drawing_count, _checked_before
    with _lock:
        if _drawing_count == 0:
            _checked_before = schemapi.DEBUG_MODE
            schemapi.disable_debug_mode()
        _drawing_count += 1
    try:
        yield
    finally:
        with _lock:
            _drawing_count -= 1
            if _drawing_count == 0:
                schemapi.DEBUG_MODE = _checked_before
