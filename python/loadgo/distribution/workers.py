"""Workers, which compute tasks: local processes, or any executor of `concurrent.futures`."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

from loadgo.distribution.interrupts import interrupts_held_back

_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")

TASKS_PER_WORKER = 2
"""Number of tasks that each worker has or waits for. One waits, so that no worker is idle between two tasks."""
GIVEN_EXECUTOR_TASKS = 1000
"""Number of tasks that an executor of unknown size has at a time."""


class Workers(Protocol):
    """Workers that compute tasks until they are ended."""

    @property
    def most_tasks(self) -> int:
        """The largest number of tasks under way and waiting."""

    @property
    def end_errors(self) -> tuple[type[BaseException], ...]:
        """The errors of a task whose worker has ended."""

    def submit(self, compute: Callable[[_Task], _Answer], task: _Task) -> Future[_Answer]:
        """Gives a task to a worker. Raises `BrokenExecutor` if the workers have ended."""

    def restart(self) -> bool:
        """Replaces workers that have ended. False if others started them."""

    def end(self) -> None:
        """Ends the work, and the workers if this object started them. It can be called again."""


class LocalProcesses:
    """Processes on this host. They end with this process, however it ends."""

    end_errors: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)

    def __init__(self, count: int) -> None:
        self._count = count
        self._context = multiprocessing.get_context("spawn")
        self._start()

    @property
    def most_tasks(self) -> int:
        """The largest number of tasks under way and waiting."""
        return TASKS_PER_WORKER * self._count

    def submit(self, compute: Callable[[_Task], _Answer], task: _Task) -> Future[_Answer]:
        """Gives a task to a worker. Raises `BrokenExecutor` if the workers have ended."""
        with interrupts_held_back(), _interrupts_masked():
            return self._pool.submit(compute, task)

    def restart(self) -> bool:
        """Replaces workers that have ended."""
        self._end_processes()
        self._start()
        return True

    def end(self) -> None:
        """Ends the processes at once, also in a task."""
        self._end_processes()

    def _start(self) -> None:
        """Starts the pool. Its processes read the lifeline, whose other end only this process has."""
        # It unblocks interrupts in the thread that starts it, so it is started before a submission masks them.
        resource_tracker.ensure_running()
        self._folder = tempfile.TemporaryDirectory(prefix="loadgo-workers-", ignore_cleanup_errors=True)
        lifeline_end, self._lifeline = self._context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._count, self._context, initializer=_begin_worker, initargs=(lifeline_end, self._folder.name)
        )
        self._lifeline_end = lifeline_end

    def _end_processes(self) -> None:
        self._lifeline.close()
        _end_results(self._pool)
        self._pool.shutdown(cancel_futures=True)
        self._lifeline_end.close()
        self._folder.cleanup()


def _end_results(pool: ProcessPoolExecutor) -> None:
    """Waits until the processes of a pool have ended, and ends the pipe of their answers.

    A process that ends while it sends an answer leaves a part of it there. The pool's thread would wait for the rest
    for ever, since this process holds the pipe's other end too. The pool has no public call for that.
    """
    waiting = [process.sentinel for process in (pool._processes or {}).values()]
    while waiting:
        ended = wait(waiting)
        waiting = [sentinel for sentinel in waiting if sentinel not in ended]
    if pool._result_queue is not None:
        vars(pool._result_queue)["_writer"].close()


class GivenExecutor:
    """An executor of the caller, who also ends it."""

    end_errors: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)

    def __init__(self, executor: Executor, most_tasks: int | None = None) -> None:
        self._executor = executor
        self._futures: WeakSet[Future[Any]] = WeakSet()
        self._most_tasks = most_tasks or _most_tasks_of(executor)

    @property
    def most_tasks(self) -> int:
        """The largest number of tasks under way and waiting."""
        return self._most_tasks

    def submit(self, compute: Callable[[_Task], _Answer], task: _Task) -> Future[_Answer]:
        """Gives a task to the executor."""
        future = self._executor.submit(compute, task)
        self._futures.add(future)
        return future

    def restart(self) -> bool:
        """False: the caller's executor cannot be replaced."""
        return False

    def end(self) -> None:
        """Cancels the tasks that wait. The executor goes on: it is the caller's."""
        for future in list(self._futures):
            future.cancel()


def _most_tasks_of(executor: Executor) -> int:
    """The number of tasks for an executor. Those of the standard library, and others, have a number of workers."""
    count = getattr(executor, "_max_workers", None)
    return TASKS_PER_WORKER * count if isinstance(count, int) and count > 0 else GIVEN_EXECUTOR_TASKS


def processor_count() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Processes that start in this context never receive an interrupt: Ctrl-C at a terminal reaches all of them."""
    # The tracker unblocks interrupts in the thread that starts it, so it is started first.
    resource_tracker.ensure_running()
    with _interrupts_masked():
        yield


@contextmanager
def _interrupts_masked() -> Iterator[None]:
    """Blocks interrupts in this thread, and in processes that it starts. The tracker of resources must run."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker(lifeline: Connection, folder: str) -> None:
    """Prepares a worker: its temporary files go into `folder`, and it ends with the process that started it."""
    # There is a worker for each processor, so Polars needs no threads of its own: to wait for them takes longer than
    # to write a file of points.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    tempfile.tempdir = folder
    threading.Thread(target=_end_with_starter, args=(lifeline, folder), daemon=True).start()


def _end_with_starter(lifeline: Connection, folder: str) -> None:
    """Waits until the other end of the lifeline is closed. Removes the temporary files, and kills this process."""
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGKILL)
