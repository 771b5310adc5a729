"""The choice of workers: a number of processes, Dask, the address of a Dask scheduler, or an executor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadgo.errors import BadArgument

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from loadgo.distribution.workers import Workers

MOST_PROCESSES = 1024

_ADDRESS = re.compile(r"(tcp|tls|tcps|ucx|wss?)://\S+")


@dataclass(frozen=True)
class WorkerChoice:
    """The workers that a call names for its simulations. Without a name, they are threads of this process."""

    workers: int | str | None = None
    executor: Executor | None = None

    @property
    def is_named(self) -> bool:
        """Whether the call names workers."""
        return self.workers is not None or self.executor is not None

    def check(self, *, is_simulated: bool, on: str = "on") -> None:
        """Raises `BadArgument` for a choice that makes no sense, and for workers of a host that is measured.

        `on` is the argument that names a simulated machine.
        """
        if not self.is_named:
            return
        check_workers(self.workers, self.executor)
        if not is_simulated:
            raise BadArgument(
                f"`workers` are for simulations, and a host is measured: leave them out, or name a machine with `{on}`"
            ).about("workers", on)

    @contextmanager
    def opened(self) -> Iterator[Workers | None]:
        """Yields the named workers, and ends them; None for threads of this process."""
        if not self.is_named:
            yield None
            return
        with open_workers(self.workers, self.executor) as workers:
            yield workers


DEFAULT_CHOICE = WorkerChoice()
"""The default: threads of this process."""


@contextmanager
def open_workers(workers: int | str | None, executor: Executor | None) -> Iterator[Workers]:
    """Yields the chosen workers, and ends them. By default there is a process for each processor.

    Raises `BadArgument` for a choice that makes no sense.
    """
    chosen = _chosen(workers, executor)
    try:
        yield chosen
    finally:
        chosen.end()


def check_workers(workers: int | str | None, executor: Executor | None) -> None:
    """Raises `BadArgument` for a choice that makes no sense, before there is any work."""
    if executor is not None and workers is not None:
        raise BadArgument("`workers` and `executor` are both given: leave one out").about("workers", "executor")
    if executor is None:
        _parse(workers)


def _chosen(workers: int | str | None, executor: Executor | None) -> Workers:
    # Here and not above: a run on a host reads this file, and the processes of Python take time to import.
    from loadgo.distribution.workers import GivenExecutor, LocalProcesses

    check_workers(workers, executor)
    if executor is not None:
        return GivenExecutor(executor)
    parsed = _parse(workers)
    if isinstance(parsed, int):
        return LocalProcesses(parsed)
    from loadgo.distribution.dask_workers import DaskWorkers

    # TLS is spelled `tls` by Dask; `tcps` is the same by another name.
    return DaskWorkers(None if parsed == "dask" else parsed.replace("tcps://", "tls://", 1))


def _parse(workers: int | str | None) -> int | str:
    """A number of processes, `dask`, or an address."""
    if workers is None:
        from loadgo.distribution.workers import processor_count

        return processor_count()
    text = str(workers).strip()
    if text == "dask" or _ADDRESS.fullmatch(text):
        return text
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PROCESSES:
        raise BadArgument(
            f"`workers={workers}`: write a number of processes from 1 to {MOST_PROCESSES:,}, dask, or the address of a "
            "Dask scheduler, such as tls://head:8786"
        ).about("workers")
    return int(text)
