"""Runs the same load on several simulated machines, with every seed, on all processors or workers at once."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from loadgo.attribution.causes import taken_apart
from loadgo.attribution.results import NO_CHANGES, Change, Progress, Speedup
from loadgo.comparison.side import side_of_runs
from loadgo.decomposition.roads import Road
from loadgo.distribution.interrupts import interrupts_held_back
from loadgo.errors import BadArgument
from loadgo.measures.account import RunAccount
from loadgo.running.worker_runs import RunCrew, this_process


@dataclass(frozen=True)
class Load:
    """The load on each machine, as arguments of `loadgo.run`, and the crew that makes the runs."""

    script: str | Path
    users: int = 1
    passes: int | None = None
    duration: str | None = None
    think: str | None = None
    set: tuple[str, ...] = ()
    tariff: str = "default"
    crew: RunCrew = field(default_factory=this_process)


@dataclass(frozen=True)
class Machine:
    """A machine by name or file, the values to set in it, and the names of the changes made."""

    on: str
    set: tuple[str, ...]
    changes: str


def of_machines(
    title: str,
    load: Load,
    changes: tuple[Change, ...],
    machines: Sequence[Machine],
    seeds: Sequence[int],
    progress: Progress | None,
) -> Speedup:
    """Runs all machines with every seed, and attributes the speed-up to the changes.

    `machines` has one machine for each combination of the changes; bit i of its index says whether change i is made.
    """
    if progress is not None:
        progress(f"{len(machines)} machines × {len(seeds)} seeds = {len(machines) * len(seeds)} runs")
    accounts = accounts_on(load, machines, seeds)
    roads = _single_user_road(load, (machines[NO_CHANGES], machines[-1]), seeds[0])
    return taken_apart(title, changes, accounts, tuple(seeds), roads)


def accounts_on(load: Load, machines: Sequence[Machine], seeds: Sequence[int]) -> list[list[RunAccount]]:
    """Runs every machine with every seed, as many at a time as the crew can. Returns one list for each machine."""
    with _threads(load.crew.threads) as (threads, folder, stop):
        with interrupts_held_back():
            tasks = [
                [threads.submit(_account, load, machine, seed, folder, stop) for seed in seeds] for machine in machines
            ]
        return [[task.result() for task in machine_tasks] for machine_tasks in tasks]


def _single_user_road(load: Load, ends: tuple[Machine, Machine], seed: int) -> tuple[Road, ...]:
    """The programs' processor time with one user who does not think, which depends on the processor alone.

    Empty if it was not measured on both machines.
    """
    single = replace(load, users=1, passes=load.passes or 1, duration=None, think="none")
    before, after = (machine_accounts[0] for machine_accounts in accounts_on(single, ends, (seed,)))
    programs_ns = [account.used.get("programs", 0.0) / account.interactions for account in (before, after)]
    if not all(time > 0 for time in programs_ns):
        return ()
    return (Road("one user alone, programs only", "work", programs_ns[0], programs_ns[1], "ns"),)


_THREADS_NAME = "loadgo-speedup"
_FORGOTTEN_THREAD_PATIENCE_S = 3.0
"""Longest wait for the end of a forgotten thread. One without a run waits until the executor is gone, then ends."""


@contextmanager
def _threads(count: int) -> Iterator[tuple[ThreadPoolExecutor, Path, threading.Event]]:
    """Yields threads, a folder for their runs, and the event that stops the runs. An error sets it."""
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="loadgo-speedup-", ignore_cleanup_errors=True) as folder:
        executor = ThreadPoolExecutor(max_workers=count, thread_name_prefix=_THREADS_NAME)
        try:
            yield executor, Path(folder), stop
        finally:
            stop.set()
            executor.shutdown(cancel_futures=True)
            # An interrupt while the executor starts a thread makes it forget this thread, which still has its run.
            for thread in threading.enumerate():
                if thread.name.startswith(_THREADS_NAME):
                    thread.join(_FORGOTTEN_THREAD_PATIENCE_S)


def _account(load: Load, machine: Machine, seed: int, folder: Path, stop: threading.Event) -> RunAccount:
    """Makes one run and returns its account. The run's folder is deleted."""
    from loadgo.records.tables import tables
    from loadgo.running.load import Load as RunLoad
    from loadgo.running.run import simulate_run

    users = RunLoad(load.users, passes=load.passes, duration=load.duration, think=load.think, seed=seed)
    settings = (*load.set, *machine.set)
    with tempfile.TemporaryDirectory(dir=folder) as run_folder:
        out = Path(run_folder) / "run"
        done = simulate_run(load.crew.drive, load.script, machine.on, users, set=settings, out=out, stop=stop)
        side = side_of_runs("", (tables(done),), "all" if load.duration is None else "steady", load.tariff, {})
    if not side.accounts:
        raise BadArgument(f"nobody typed anything with {machine.changes}")
    return replace(side.accounts[0], unanswered=side.unanswered)
