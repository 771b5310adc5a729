"""A queue of tasks: each thread has the answers of its own tasks, and an error stays with its task."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from loadgo.distribution.task_queue import TaskQueue
from loadgo.distribution.workers import GivenExecutor, LocalProcesses
from loadgo.errors import Refused
from support.outside import PATIENCE_S
from support.processes import wait_until
from support.worker_tasks import Errand, refuse_first, square


def test_threads_have_the_answers_of_their_own_tasks_and_a_killed_worker_costs_none(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    queue: TaskQueue[Errand, int] = TaskQueue(square, processes)

    def own_answers(thread: int) -> list[int]:
        numbers = range(10 * thread, 10 * thread + 10)
        futures = [queue.submit(Errand(number, tmp_path, deadly=number == 25)) for number in numbers]
        return [future.result(timeout=PATIENCE_S) for future in futures]

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(own_answers, range(4)))
    queue.end()
    assert answers == [[number**2 for number in range(10 * thread, 10 * thread + 10)] for thread in range(4)]


def test_tasks_that_come_after_the_queue_was_empty_are_computed(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        queue: TaskQueue[Errand, int] = TaskQueue(square, GivenExecutor(executor))
        assert [queue.submit(Errand(number, tmp_path)).result(timeout=PATIENCE_S) for number in (2, 3)] == [4, 9]
        queue.end()


def test_an_error_is_that_of_its_task_and_the_end_that_of_tasks_without_an_answer(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        queue: TaskQueue[Errand, int] = TaskQueue(refuse_first, GivenExecutor(executor))
        wrong, waits = (queue.submit(Errand(number, tmp_path)) for number in (0, 1))
        with pytest.raises(ValueError, match="errand 0 makes no sense"):
            wrong.result(timeout=PATIENCE_S)
        wait_until((tmp_path / "1-begun").exists)
        queue.end()
        for future in (waits, queue.submit(Errand(2, tmp_path))):
            with pytest.raises(Refused, match="the work was stopped"):
                future.result(timeout=PATIENCE_S)
        (tmp_path / "gate").touch()


def test_workers_that_end_again_and_again_are_the_error_of_all_tasks(processes: LocalProcesses, tmp_path: Path) -> None:
    queue: TaskQueue[Errand, int] = TaskQueue(square, processes)
    with pytest.raises(Refused, match="a worker ended 3 times in errand 1"):
        queue.submit(Errand(1, tmp_path, deadly=99)).result(timeout=PATIENCE_S)
    with pytest.raises(Refused, match="a worker ended 3 times in errand 1"):
        queue.submit(Errand(2, tmp_path)).result(timeout=PATIENCE_S)
    queue.end()
