"""A queue of tasks for workers, to which several threads add. Each thread waits for the answers of its own tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from loadgo.distribution.tasks import STOP_CHECK_PERIOD_S, run_tasks
from loadgo.distribution.workers import Workers
from loadgo.errors import Refused


class NamedTask(Protocol):
    """A task with a name for messages."""

    @property
    def name(self) -> str:
        """The name of the task in messages."""


_Task = TypeVar("_Task", bound=NamedTask)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class _QueuedTask(Generic[_Task]):
    """A task with its number in the queue."""

    number: int
    task: _Task

    @property
    def name(self) -> str:
        return self.task.name


@dataclass(frozen=True)
class _TaskOutcome(Generic[_Answer]):
    """The answer of a task, or its error. So an error of one task does not end the others."""

    answer: _Answer | None
    error: Exception | None = None


def _outcome(compute: Callable[[Any], _Answer], queued: _QueuedTask[Any]) -> _TaskOutcome[_Answer]:
    try:
        return _TaskOutcome(compute(queued.task))
    except Exception as error:
        return _TaskOutcome(None, error)


class TaskQueue(Generic[_Task, _Answer]):
    """Tasks that workers compute until the queue is ended. It can be used by several threads."""

    def __init__(self, compute: Callable[[_Task], _Answer], workers: Workers) -> None:
        self._compute, self._workers = compute, workers
        self._waiting: SimpleQueue[_QueuedTask[_Task]] = SimpleQueue()
        self._first: _QueuedTask[_Task] | None = None
        self._futures: dict[int, Future[_Answer]] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="tasks", daemon=True)
        self._thread.start()

    def submit(self, task: _Task) -> Future[_Answer]:
        """Adds a task. Its future has the answer or the error; an error of the workers is that of all tasks."""
        future: Future[_Answer] = Future()
        with self._lock:
            if self._error is not None:
                future.set_exception(self._error)
                return future
            self._futures[self._count] = future
            self._waiting.put(_QueuedTask(self._count, task))
            self._count += 1
        return future

    def end(self) -> None:
        """Ends the queue. Tasks without an answer have the error that they were stopped."""
        self._stop.set()
        self._thread.join()

    def __iter__(self) -> Iterator[_QueuedTask[_Task]]:
        return self

    def __next__(self) -> _QueuedTask[_Task]:
        """The next task that waits now. After a `StopIteration` there may be more."""
        first, self._first = self._first, None
        if first is not None:
            return first
        try:
            return self._waiting.get_nowait()
        except Empty:
            raise StopIteration from None

    def _work(self) -> None:
        """Has the workers compute tasks, whenever there are some."""
        try:
            while not self._stop.is_set():
                try:
                    self._first = self._waiting.get(timeout=STOP_CHECK_PERIOD_S)
                except Empty:
                    continue
                run_tasks(self, partial(_outcome, self._compute), self._workers, self._keep, self._stop)
        except Exception as error:
            self._fail_all(error)
        else:
            self._fail_all(Refused("the work was stopped"))

    def _keep(self, queued: _QueuedTask[_Task], outcome: _TaskOutcome[_Answer]) -> None:
        with self._lock:
            future = self._futures.pop(queued.number)
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.answer)  # type: ignore[arg-type]

    def _fail_all(self, error: Exception) -> None:
        with self._lock:
            self._error = error
            futures, self._futures = self._futures, {}
        for future in futures.values():
            future.set_exception(error)
