"""The standard error of a process on this host or another: its last part is kept, and it takes no disk."""

from __future__ import annotations

import os
import threading
from typing import IO

MOST_KEPT_BYTES = 1 << 16
_PIECE_BYTES = 1 << 16
_REST_TIMEOUT_S = 1.0
"""Time limit for the end of an ended process's output. Processes that it has started may hold the pipe open."""
_FIRST_TIMEOUT_S = 5.0
"""Further time if nothing was read: on a busy host the thread that reads may be late."""


class ErrorOutput:
    """Reads a process's standard error in a thread until its end, and keeps the last part."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._kept = b""
        self._thread = threading.Thread(target=self._read, name="loadgo-ssh-errors", daemon=True)
        self._thread.start()

    def last_part(self) -> bytes:
        """The last part of the output. It is whole once the process has ended."""
        self._thread.join(_REST_TIMEOUT_S)
        if not self._kept:
            self._thread.join(_FIRST_TIMEOUT_S)
        return self._kept

    def _read(self) -> None:
        with self._pipe:
            # Not `pipe.read`: a pipe with a buffer returns nothing before all of the piece has come.
            while piece := os.read(self._pipe.fileno(), _PIECE_BYTES):
                self._kept = (self._kept + piece)[-MOST_KEPT_BYTES:]
