"""Workers of a Dask cluster: one that is started on this host, with TLS, or one that a scheduler's address names.

The dependency is the extra `loadgo[dask]`, and this file imports it late.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from typing import Any, TypeVar

from loadgo.distribution.workers import TASKS_PER_WORKER, interrupts_blocked, processor_count
from loadgo.errors import BadArgument, Refused

_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")

CONNECT_LIMIT_S = 30
"""Longest time until the scheduler answers, and until it has a worker."""


class DaskWorkers:
    """The workers of a Dask cluster, as an executor."""

    def __init__(self, address: str | None = None) -> None:
        """Connects to the scheduler at `address`, or starts a cluster on this host.

        Raises `BadArgument` without the extra, and `Refused` if no scheduler or no worker answers.
        """
        distributed = _distributed()
        self._folder = tempfile.TemporaryDirectory(prefix="loadgo-dask-")
        self._cluster: Any = None if address else _local_cluster(distributed, self._folder.name)
        try:
            self._client = distributed.Client(address or self._cluster, timeout=CONNECT_LIMIT_S, set_as_default=False)
            self._client.wait_for_workers(1, timeout=CONNECT_LIMIT_S)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError, ImportError) as error:
            self.end()
            raise Refused(
                f"the Dask cluster at {address or 'this host'} does not answer with a worker ({error}): start `dask "
                "scheduler` and `dask worker`, with loadgo and the same certificates"
            ) from error
        self._executor = self._client.get_executor(pure=False)
        self.end_errors: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, distributed.KilledWorker)

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return str(self._client.scheduler.address)

    @property
    def most_tasks(self) -> int:
        """The largest number of tasks under way and waiting."""
        threads = int(sum(self._client.nthreads().values()))
        return TASKS_PER_WORKER * max(threads, 1)

    def submit(self, compute: Callable[[_Task], _Answer], task: _Task) -> Future[_Answer]:
        """Gives a task to the cluster, which repeats it itself if a worker ends in it."""
        future: Future[_Answer] = self._executor.submit(compute, task)
        return future

    def restart(self) -> bool:
        """False: Dask replaces workers itself, and has given up."""
        return False

    def end(self) -> None:
        """Cancels the tasks, leaves the cluster, and ends it if it was started here."""
        for part in (self.__dict__.pop("_client", None), self.__dict__.pop("_cluster", None)):
            if part is not None:
                part.close()
        self._folder.cleanup()


def _distributed() -> Any:
    try:
        import cryptography  # noqa: F401
        import distributed
    except ImportError as error:
        raise BadArgument(
            "Dask is not installed: install loadgo[dask], or leave `workers` out for processes of this host"
        ).about("workers") from error
    return distributed


def _local_cluster(distributed: Any, folder: str) -> Any:
    """A cluster on this host: a process for each processor, TLS with keys in memory, no page, files in `folder`."""
    with interrupts_blocked():
        return distributed.LocalCluster(
            n_workers=processor_count(),
            threads_per_worker=1,
            protocol="tls://",
            security=distributed.Security.temporary(),
            dashboard_address=None,
            local_directory=folder,
            env={"TMPDIR": folder},
            silence_logs=logging.CRITICAL,  # errors of tasks come by their futures
        )
