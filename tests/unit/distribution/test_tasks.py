"""Tasks on workers: every answer once, ended workers replaced a bounded number of times, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from loadgo.distribution.choice import open_workers
from loadgo.distribution.tasks import run_tasks
from loadgo.distribution.workers import GivenExecutor, LocalProcesses
from loadgo.errors import BadArgument, Refused
from support.outside import PATIENCE_S
from support.processes import is_alive
from support.worker_tasks import Errand, refuse, refuse_first, square

ENDLESS_S = 4 * PATIENCE_S
"""Length of a task that ends because its worker is ended, and not by itself."""


def answers(workers: LocalProcesses | GivenExecutor, errands: list[Errand], stop: threading.Event | None = None):  # type: ignore[no-untyped-def]  # noqa: ANN201
    kept: dict[int, int] = {}

    def keep(errand: Errand, answer: int) -> None:
        assert errand.number not in kept
        kept[errand.number] = answer

    repeated = run_tasks(errands, square, workers, keep, stop or threading.Event())
    return kept, repeated


def pids(folder: Path) -> set[int]:
    """The workers that left marks."""
    return {int(mark.name.rpartition("-")[2]) for mark in folder.iterdir() if mark.name.count("-") == 2}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_each_task_is_answered_once_by_processes(processes: LocalProcesses, tmp_path: Path) -> None:
    errands = [Errand(number, tmp_path) for number in range(30)]
    assert answers(processes, errands) == ({number: number**2 for number in range(30)}, 0)
    workers = pids(tmp_path)
    assert os.getpid() not in workers
    processes.end()
    wait_until(lambda: not any(map(is_alive, workers)))


def test_a_worker_has_one_thread_of_polars_unless_the_caller_has_named_a_number(
    processes: LocalProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert processes.submit(os.getenv, "POLARS_MAX_THREADS").result() == "1"
    processes.end()
    monkeypatch.setenv("POLARS_MAX_THREADS", "3")
    processes.restart()
    assert processes.submit(os.getenv, "POLARS_MAX_THREADS").result() == "3"


def test_a_killed_workers_tasks_are_done_again(processes: LocalProcesses, tmp_path: Path) -> None:
    errands = [Errand(number, tmp_path, deadly=2 if number == 5 else 0) for number in range(12)]
    kept, repeated = answers(processes, errands)
    assert kept == {number: number**2 for number in range(12)}
    assert repeated >= 2


def test_tasks_beside_one_that_ends_its_worker_are_kept_and_not_blamed(tmp_path: Path) -> None:
    errands = [Errand(0, tmp_path, deadly=99, seconds=0.2), *(Errand(number, tmp_path) for number in (1, 2, 3))]
    kept: list[int] = []
    workers = LocalProcesses(2)
    try:
        with pytest.raises(Refused, match=r"a worker ended 3 times in errand 0"):
            run_tasks(errands[::-1], square, workers, lambda errand, _: kept.append(errand.number), threading.Event())
    finally:
        workers.end()
    assert sorted(kept) == [1, 2, 3]


def test_tasks_that_wait_are_cancelled_at_the_end_and_an_executor_has_two_for_each_worker(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        workers = GivenExecutor(executor)
        assert workers.most_tasks == 4
        with pytest.raises(ValueError, match="makes no sense"), open_workers(None, executor) as opened:
            run_tasks(
                [Errand(number, tmp_path) for number in range(4)],
                refuse_first, opened, lambda *_: None, threading.Event(),
            )  # fmt: skip
        (tmp_path / "gate").touch()
    assert not (tmp_path / "3-begun").exists()
    assert GivenExecutor(EndedExecutor()).most_tasks == 1000


def test_a_task_that_always_ends_its_worker_is_named_and_given_up(processes: LocalProcesses, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"a worker ended 3 times in errand 0"):
        answers(processes, [Errand(0, tmp_path, deadly=99)])
    assert len(list(tmp_path.iterdir())) == 3


def test_an_error_of_a_task_is_raised_and_not_repeated(processes: LocalProcesses, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="errand 0 makes no sense"):
        run_tasks([Errand(0, tmp_path)], refuse, processes, lambda *_: None, threading.Event())


def test_a_stop_ends_workers_in_their_tasks(processes: LocalProcesses, tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Thread(target=lambda: (wait_until(lambda: len(pids(tmp_path)) == 2), stop.set())).start()
    began = time.monotonic()
    kept, _ = answers(processes, [Errand(number, tmp_path, seconds=ENDLESS_S) for number in range(4)], stop)
    processes.end()
    assert kept == {}
    assert time.monotonic() - began < ENDLESS_S
    wait_until(lambda: not any(map(is_alive, pids(tmp_path))))


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    program = f"""
import sys, threading
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from loadgo.distribution.workers import LocalProcesses
from loadgo.distribution.tasks import run_tasks
from support.worker_tasks import Errand, square
if __name__ == "__main__":
    errands = [Errand(number, Path({str(tmp_path)!r}), seconds={ENDLESS_S}) for number in range(2)]
    run_tasks(errands, square, LocalProcesses(2), print, threading.Event())
"""
    file = tmp_path / "starter.py"
    file.write_text(program)
    (tmp_path / "temporary").mkdir()
    starter = subprocess.Popen([sys.executable, file], env=os.environ | {"TMPDIR": str(tmp_path / "temporary")})
    wait_until(lambda: len(pids(tmp_path)) == 2)
    starter.kill()
    starter.wait()
    wait_until(lambda: not any(map(is_alive, pids(tmp_path))))
    assert list((tmp_path / "temporary").iterdir()) == []


def test_few_tasks_are_made_before_they_are_needed(tmp_path: Path) -> None:
    made_count = 0

    def errands() -> Iterator[Errand]:
        nonlocal made_count
        for number in range(1000):
            made_count += 1
            yield Errand(number, tmp_path)

    most_ahead = 0

    def keep(errand: Errand, _answer: int) -> None:
        nonlocal most_ahead
        most_ahead = max(most_ahead, made_count - errand.number)

    with ThreadPoolExecutor(1) as executor:
        run_tasks(errands(), square, GivenExecutor(executor, 4), keep, threading.Event())
    assert made_count == 1000
    assert most_ahead <= 5


class EndedExecutor(Executor):
    """An executor whose workers have ended."""

    def submit(self, *_arguments: object, **_keywords: object) -> Future[int]:  # type: ignore[override]
        from concurrent.futures import BrokenExecutor

        raise BrokenExecutor("no worker is left")


def test_a_given_executor_that_has_ended_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"the executor has ended \(no worker is left\): call again with a new one$"):
        answers(GivenExecutor(EndedExecutor()), [Errand(0, tmp_path)])


@pytest.mark.parametrize("workers", [0, -1, "many", "http://head:8786", "1.5", 100_000])
def test_workers_that_make_no_sense_are_refused(workers: int | str) -> None:
    with pytest.raises(BadArgument, match="write a number of processes"), open_workers(workers, None):
        pass


def test_workers_and_an_executor_are_refused_together() -> None:
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(BadArgument, match="both given"),
        open_workers(1, executor),
    ):
        pass
