"""Runs that workers make: the waiting for their files."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from loadgo.errors import Refused
from loadgo.running.prepared import RunProgress
from loadgo.running.worker_runs import RunFiles, awaited_files

FILES = RunFiles({"phase": "done"}, {"run.toml": b""})


class LateFuture(Future[RunFiles]):
    """The answer of a task that ends just after each wait for it has timed out."""

    def __init__(self, answer: RunFiles | Exception) -> None:
        super().__init__()
        self._late_answer = answer

    def result(self, timeout: float | None = None) -> RunFiles:
        """Waits as a future does. The task ends when the wait has timed out."""
        try:
            return super().result(0 if timeout is not None else None)
        except TimeoutError:
            if not self.done():
                self._end()
            raise

    def _end(self) -> None:
        if isinstance(self._late_answer, Exception):
            self.set_exception(self._late_answer)
        else:
            self.set_result(self._late_answer)


def go_on(_state: RunProgress) -> bool:
    return True


def test_a_run_that_ends_when_a_wait_for_it_has_timed_out_gives_its_files() -> None:
    assert awaited_files(LateFuture(FILES), go_on) is FILES


@pytest.mark.parametrize("error", [TimeoutError("the network did"), Refused("this worker cannot")])
def test_an_error_that_comes_when_a_wait_has_timed_out_is_raised(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        awaited_files(LateFuture(error), go_on)


def test_a_run_that_is_stopped_meanwhile_is_refused() -> None:
    with pytest.raises(Refused, match="was stopped before a worker had made it"):
        awaited_files(Future(), lambda _state: False)
