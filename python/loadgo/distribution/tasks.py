"""Tasks, each a pure function of its content: computed by workers, and repeated where a worker ended in one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar

from loadgo.distribution.workers import Workers
from loadgo.errors import Refused

MOST_ATTEMPTS = 3
"""Largest number of times that a task alone is given to workers that end in it."""
STOP_CHECK_PERIOD_S = 0.1


class WorkersEnded(Refused):
    """Workers that others started have ended, and cannot be replaced."""


class NumberedTask(Protocol):
    """A task with a number and a name for messages."""

    @property
    def number(self) -> int:
        """The number of the task, which no other task has."""

    @property
    def name(self) -> str:
        """The name of the task in messages."""


_Task = TypeVar("_Task", bound=NumberedTask)
_Answer = TypeVar("_Answer")


def run_tasks(
    tasks: Iterable[_Task],
    compute: Callable[[_Task], _Answer],
    workers: Workers,
    keep: Callable[[_Task, _Answer], None],
    stop: threading.Event,
) -> int:
    """Has the workers `compute` all tasks, and calls `keep` with each answer. The order of the answers is any.

    Few tasks are under way at a time, so the memory that this takes does not depend on their number. A set `stop` ends
    it with the answers so far. Returns the number of tasks that were given to a worker again.

    A worker that ends does not say in which task. All that were under way are computed again, one at a time. An end
    then counts for its task.

    Raises `Refused` if a task alone ends its worker `MOST_ATTEMPTS` times, and `WorkersEnded` if ended workers
    cannot be replaced. An error of `compute` is raised again.
    """
    return _TaskRun(tasks, compute, workers, keep).until(stop)


class _TaskRun(Generic[_Task, _Answer]):
    """Tasks that wait, and tasks under way."""

    def __init__(
        self,
        tasks: Iterable[_Task],
        compute: Callable[[_Task], _Answer],
        workers: Workers,
        keep: Callable[[_Task, _Answer], None],
    ) -> None:
        self._new: Iterator[_Task] = iter(tasks)
        self._again: deque[_Task] = deque()
        self._is_repeating = False
        self._compute, self._workers, self._keep = compute, workers, keep
        self._under_way: dict[Future[_Answer], _Task] = {}
        self._ended: SimpleQueue[Future[_Answer]] = SimpleQueue()
        self._attempts: dict[int, int] = {}
        self._repeated = 0

    def until(self, stop: threading.Event) -> int:
        """Runs the tasks to their end, or until `stop` is set."""
        while not stop.is_set():
            self._submit()
            if not self._under_way:
                break
            try:
                future = self._ended.get(timeout=STOP_CHECK_PERIOD_S)
            except Empty:
                continue
            if future in self._under_way:
                self._take(future)
        return self._repeated

    def _submit(self) -> None:
        """Gives tasks to the workers, up to their number; a task that is repeated is alone."""
        while len(self._under_way) < self._most_tasks():
            self._is_repeating = bool(self._again)
            task = self._again.popleft() if self._again else next(self._new, None)
            if task is None:
                return
            try:
                future = self._workers.submit(self._compute, task)
            except BrokenExecutor as error:
                self._again.appendleft(task)
                self._replace_workers(error)
                continue
            self._under_way[future] = task
            future.add_done_callback(self._ended.put)

    def _most_tasks(self) -> int:
        is_alone = self._again or (self._is_repeating and self._under_way)
        return 1 if is_alone else self._workers.most_tasks

    def _take(self, future: Future[_Answer]) -> None:
        """Keeps the answer of a task, or does its task again if its worker has ended."""
        try:
            answer = future.result()
        except self._workers.end_errors as error:
            self._replace_workers(error)
        else:
            self._keep(self._under_way.pop(future), answer)

    def _replace_workers(self, error: BaseException) -> None:
        """Keeps the answers that have come, and puts all other tasks under way back."""
        lost = []
        for future, task in list(self._under_way.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._keep(task, future.result())
            else:
                lost.append(task)
        is_alone = len(self._under_way) == 1
        self._under_way.clear()
        for task in lost:
            self._put_back(task, is_charged=is_alone)
        if not self._workers.restart():
            raise WorkersEnded(
                f"the executor has ended ({error or type(error).__name__}): call again with a new one"
            ) from error

    def _put_back(self, task: _Task, *, is_charged: bool) -> None:
        attempts = self._attempts[task.number] = self._attempts.get(task.number, 0) + is_charged
        if attempts >= MOST_ATTEMPTS:
            raise Refused(
                f"a worker ended {attempts} times in {task.name}, perhaps for want of memory; a Python file that calls "
                "loadgo needs `if __name__ == '__main__':` around the call, since workers import the file too"
            )
        self._repeated += 1
        self._again.append(task)
