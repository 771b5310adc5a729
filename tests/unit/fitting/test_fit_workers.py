"""A fit whose trial runs workers make: the same machine file and report."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import loadgo
import pytest
from loadgo.errors import BadArgument, Refused
from loadgo.fitting.reading import read_runs
from loadgo.fitting.trial import fitted_checks
from loadgo.running.worker_runs import RunCrew
from support.command_line import typed
from support.small_machine import laid

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs of one script, by two and by three users."""
    folder = tmp_path_factory.mktemp("runs")
    script, machine = laid(folder)
    for users in (2, 3):
        loadgo.run(script, on=machine, users=users, passes=4, out=folder / f"by-{users}")
    return [folder / "by-2", folder / "by-3"]


def test_the_machine_is_the_same_by_threads_processes_and_an_executor(runs: list[Path], tmp_path: Path) -> None:
    by_threads = loadgo.fit(*runs)
    assert {check.users for check in by_threads.checks} == {2, 3}
    with ThreadPoolExecutor(1) as executor:
        fits = [loadgo.fit(*runs, workers=1), loadgo.fit(*runs, workers=2), loadgo.fit(*runs, executor=executor)]
    for fit in fits:
        assert fit.text == by_threads.text
        assert fit.report("json") == by_threads.report("json")
    told = typed(tmp_path, "fit", *runs, "--workers", "2", "-o", "machine.toml", status=None)
    assert told.returncode in (0, 1), told.stderr
    assert (tmp_path / "machine.toml").read_text() == by_threads.text
    with pytest.raises(BadArgument, match="write a number of processes"):
        loadgo.fit(*runs, workers="many")


@pytest.mark.parametrize("workers", [None, 1])
def test_a_trial_run_that_has_ended_counts_whole(runs: list[Path], workers: int | None) -> None:
    states: list[dict[str, Any]] = []
    loadgo.fit(*runs, workers=workers, progress=states.append)
    last = states[-1]
    assert last["interactions"] == last["interactions_expected"] > 0
    assert last["trial"] == last["trials"]
    done = [state["interactions"] for state in states]
    assert done == sorted(done)


def test_a_trial_run_that_fails_ends_the_others(runs: list[Path]) -> None:
    def refused(*_: object) -> dict[str, object]:
        raise Refused("this worker cannot")

    with pytest.raises(Refused, match="this worker cannot"):
        fitted_checks(loadgo.fit(*runs).text, read_runs(runs), RunCrew(refused, 2))
