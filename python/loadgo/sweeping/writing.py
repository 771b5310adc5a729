"""Batches on their way to the disk: written by a thread of their own, so that workers do not wait for the disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from loadgo.sweeping.folder import keep_batch
from loadgo.sweeping.plan import BatchTask

_MOST_WAITING_BATCHES = 8
"""Largest number of batches that wait for the disk. It bounds the memory: a slow disk holds the workers back."""


class BatchWriter:
    """Writes batches in the order in which they come. All are on the disk at the end of the context."""

    def __init__(self, folder: Path, written: Callable[[BatchTask], None]) -> None:
        """Writes into `folder`, and calls `written` in the caller's thread for each batch that is on the disk."""
        self._folder, self._written = folder, written
        self._thread = ThreadPoolExecutor(1, "loadgo-batches")
        self._under_way: deque[tuple[BatchTask, Future[None]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish(0)
        finally:
            self._thread.shutdown()

    def keep(self, task: BatchTask, content: bytes) -> None:
        """Has the batch written. Raises the `OSError` of one before it that could not be written."""
        self._under_way.append((task, self._thread.submit(keep_batch, self._folder, task.number, content)))
        self._finish(_MOST_WAITING_BATCHES)

    def _finish(self, most_waiting: int) -> None:
        """Tells of the batches that are written, and waits until at most so many are not."""
        while self._under_way and (len(self._under_way) > most_waiting or self._under_way[0][1].done()):
            task, writing = self._under_way.popleft()
            writing.result()
            self._written(task)
