"""Runs on simulated machines that workers make: each in a folder of its own there, whose files come back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.distribution.choice import WorkerChoice
from loadgo.distribution.own_code import CodeIdentity, check_code, own_code
from loadgo.distribution.task_queue import TaskQueue
from loadgo.errors import Refused
from loadgo.records.run_file import make_folder
from loadgo.running.prepared import RunDriver, RunProgress, run_machine

STOP_CHECK_PERIOD_S = 0.3
"""Time between two calls of a run's progress function, as in a run of this process."""
MOST_THREADS = 256
"""Largest number of threads that wait for runs of workers."""


@dataclass(frozen=True)
class RunTask:
    """A run of a script's text on a simulated machine, with all that a worker needs."""

    name: str
    script: str
    options: Mapping[str, Any]
    folder_name: str
    """The name of the run's folder, which is the run's id."""
    code: CodeIdentity


@dataclass(frozen=True)
class RunFiles:
    """The result of a run, and the files of its folder."""

    result: RunProgress
    contents: Mapping[str, bytes]
    """The content of each file, by its path in the folder."""


def compute_run(task: RunTask) -> RunFiles:
    """Makes a run. Raises the errors of a run, and `Refused` in a worker with other code."""
    check_code(task.code)
    with tempfile.TemporaryDirectory(prefix="loadgo-run-") as parent:
        folder = Path(parent) / task.folder_name
        result = run_machine(task.script, dict(task.options), str(folder), lambda _progress: True)
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return RunFiles(result, {str(path.relative_to(folder)): path.read_bytes() for path in files})


@dataclass(frozen=True)
class RunCrew:
    """The process or the workers that make the runs of a call on simulated machines."""

    drive: RunDriver
    """Makes one run, and can be called by several threads at a time."""
    threads: int
    """Number of threads that call `drive` at a time."""


def this_process() -> RunCrew:
    """This process as a crew, with a thread for each processor."""
    return RunCrew(run_machine, os.cpu_count() or 2)


@contextmanager
def run_crew(choice: WorkerChoice) -> Iterator[RunCrew]:
    """Yields the chosen workers as a crew; without a choice, the crew is this process, on all processors."""
    with choice.opened() as workers:
        if workers is None:
            yield this_process()
            return
        queue: TaskQueue[RunTask, RunFiles] = TaskQueue(compute_run, workers)
        try:
            yield RunCrew(_driver(queue), min(workers.most_tasks, MOST_THREADS))
        finally:
            queue.end()


def _driver(queue: TaskQueue[RunTask, RunFiles]) -> RunDriver:
    def drive(script: str, options: dict[str, Any], folder: str, report: Callable[[RunProgress], bool]) -> RunProgress:
        """Has a worker make the run. Its progress has the phase `workers` until all of it is done."""
        target = Path(folder)
        task = RunTask(f"the run {target.name}", script, options, target.name, own_code())
        files = awaited_files(queue.submit(task), report)
        for name, content in files.contents.items():
            path = target / name
            make_folder(path.parent)
            path.write_bytes(content)
            path.chmod(path.parent.stat().st_mode & 0o666)
        return files.result

    return drive


def awaited_files(future: Future[RunFiles], report: Callable[[RunProgress], bool]) -> RunFiles:
    """The files of a run, when it is done. Raises `Refused` if `report` ends it before."""
    while True:
        try:
            return future.result(timeout=STOP_CHECK_PERIOD_S)
        except TimeoutError:
            if future.done():  # since then, or with a TimeoutError of its own
                return future.result()
            if not report({"phase": "workers"}):
                raise Refused("the run was stopped before a worker had made it") from None
