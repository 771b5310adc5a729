"""`loadgo.sweep`: the points of a grid, computed by workers, in parts or as a whole."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from loadgo.distribution.choice import check_workers, open_workers
from loadgo.distribution.tasks import WorkersEnded, run_tasks
from loadgo.errors import BadArgument, Refused
from loadgo.running.folders import check_out
from loadgo.running.stopping import catch_stop_signals
from loadgo.sweeping.folder import (
    SweepPart,
    done_batches,
    keep_batch,
    open_folder,
    parse_part,
    remove_half_files,
    work_in,
)
from loadgo.sweeping.grid import Grid
from loadgo.sweeping.grid_file import grid_of, read_grid
from loadgo.sweeping.plan import BatchTask, SweepPlan, plan_sweep
from loadgo.sweeping.results import Sweep

ReportProgress = Callable[[dict[str, Any]], None]
_MOST_WAITING_BATCHES = 8
"""Largest number of batches that wait for the disk. It bounds the memory: a slow disk holds the workers back."""


def sweep(
    grid: str | Path | Mapping[str, Any],
    *,
    workers: int | str | None = None,
    executor: Executor | None = None,
    part: str | None = None,
    out: str | Path | None = None,
    progress: ReportProgress | None = None,
) -> Sweep:
    """Runs all simulations of a grid: machines, settings, numbers of users and seeds, in all combinations.

        result = loadgo.sweep("grid.toml", workers=8)
        print(result.in_words, result.frame())

    A point is a pure function of script, machine and seed. So the files of a sweep are the same bytes with any workers.
    A sweep that was stopped goes on where it stood; points that are done are never computed again.

    Args:
        grid: The path of a grid file, which docs/sweep.md describes, or a mapping with the same keys.
        workers: Number of processes on this host, by default one for each processor; or `dask` for a Dask cluster on
            this host; or the address of a Dask scheduler, such as `tls://head:8786`.
        executor: Any executor of `concurrent.futures`, in place of `workers`.
        part: The part of the sweep to compute, such as `3/40`. `loadgo.merge` makes a whole of all parts.
        out: The folder of the points. By default it is called as the grid file, with the ending `.sweep`.
        progress: A function that is called after each batch with a dict: `points`, `points_expected`, and
            `points_before`, which were done before this call.

    Returns:
        `Sweep` with the figures of each configuration. After an interrupt it is `stopped`, with the points so far.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense, or the folder is of another sweep; it is a `ValueError`.
        loadgo.errors.Mistake: The grid, the script or a machine file has a mistake; the error has its line and column.
        loadgo.errors.Refused: A worker ended again and again in the same points, or the executor has ended.
    """
    check_out(out)
    check_workers(workers, executor)
    chosen_part = parse_part(part)
    checked = grid_of(grid) if isinstance(grid, Mapping) else read_grid(grid)
    plan = plan_sweep(checked)
    folder = Path(out) if out is not None else _default_folder(grid, chosen_part)
    if not str(out if out is not None else folder):
        raise BadArgument("`out` is empty: name a folder, or leave it out").about("out")
    if not chosen_part.batches(plan.grid.batch_count):
        raise BadArgument(
            f"`part={part}` has no simulations, since the grid has {plan.grid.batch_count} batches: divide it into "
            "fewer parts, or set a smaller `batch`"
        ).about("part")
    with work_in(folder), catch_stop_signals() as stop:
        open_folder(folder, plan.identity, chosen_part)
        remove_half_files(folder)
        repeated = _compute_missing(plan, folder, chosen_part, _Crew(workers, executor, progress), stop)
    from loadgo.sweeping.result_of_folder import sweep_of

    return sweep_of(folder, plan.grid, chosen_part, repeated=repeated, stop=stop)


@dataclass(frozen=True)
class _Crew:
    """The chosen workers, and the function that hears of their progress."""

    workers: int | str | None
    executor: Executor | None
    progress: ReportProgress | None


def _compute_missing(plan: SweepPlan, folder: Path, part: SweepPart, crew: _Crew, stop: threading.Event) -> int:
    """Computes the batches of the part that are not done. Returns how many were given to a worker again."""
    batches = part.batches(plan.grid.batch_count)
    done = done_batches(folder, batches)
    missing = [batch for batch in batches if batch not in done]
    if not missing:
        return 0
    counter = _Counter(plan.grid, batches, done, crew.progress)

    with (
        open_workers(_as_many_as(missing, crew.workers, crew.executor), crew.executor) as workers,
        BatchWriter(folder, counter.add) as writer,
    ):
        try:
            return run_tasks(plan.tasks(missing), _computed, workers, writer.keep, stop)
        except WorkersEnded as error:
            raise Refused(f"{error}; the results so far are kept, and the same call goes on") from error


def _default_folder(grid: str | Path | Mapping[str, Any], part: SweepPart) -> Path:
    if part.count > 1:
        raise BadArgument("a part needs a folder of its own: name it with `out`").about("out")
    return Path("grid.sweep") if isinstance(grid, Mapping) else Path(f"{Path(grid).stem}.sweep")


def _as_many_as(missing: list[int], workers: int | str | None, executor: Executor | None) -> int | str | None:
    """The workers, but no more processes than batches."""
    if executor is not None or not (workers is None or str(workers).isdecimal()):
        return workers
    from loadgo.distribution.workers import processor_count

    return min(processor_count() if workers is None else int(workers), len(missing))


def _computed(task: BatchTask) -> bytes:
    """The file of a batch, computed in a worker."""
    # Here and not above: workers start before this process imports Polars, and import it at the same time.
    from loadgo.sweeping.points import compute_batch

    return compute_batch(task)


class _Counter:
    """The number of points that are done, and the report of it."""

    def __init__(self, grid: Grid, batches: range, done: set[int], progress: ReportProgress | None) -> None:
        self._progress = progress
        self._before = self._points = grid.points_in(done)
        self._expected = grid.points_in(batches)
        self._report()

    def add(self, task: BatchTask) -> None:
        """Counts the points of a task."""
        self._points += task.point_count
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress({"points": self._points, "points_expected": self._expected, "points_before": self._before})


class BatchWriter:
    """Writes batches in the order in which they come. All are on the disk at the end of the context."""

    def __init__(self, folder: Path, written: Callable[[BatchTask], None]) -> None:
        """Writes into `folder`, and calls `written` in the caller's thread for each batch that is on the disk."""
        self._folder, self._written = folder, written
        self._thread = ThreadPoolExecutor(1, "loadgo-batches")
        self._under_way: deque[tuple[BatchTask, Future[None]]] = deque()
        # What the result needs takes a while to import: meanwhile the workers start.
        self._thread.submit(import_module, "loadgo.sweeping.result_of_folder")

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
