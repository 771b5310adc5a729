"""Searches with drawn parameters on workers: the same answer, no process left, and no workers for a live host."""

from __future__ import annotations

from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument
from support.command_line import typed
from support.fitted_machine import SCRIPT, machine
from support.processes import interrupted, start, wait_until, workers_of
from support.sweeps import LastFirst

pytestmark = pytest.mark.processes

OPTIONS = ("script.toml", "--target", "p90 < 2s", "--on", "fitted.toml", "--within", "12")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a script and a fitted machine."""
    (tmp_path / "script.toml").write_text(SCRIPT)
    (tmp_path / "fitted.toml").write_text(machine())
    return tmp_path


def test_the_answer_is_the_same_bytes_by_threads_processes_and_an_executor(site: Path) -> None:
    def answer(**workers: object) -> str:
        capacity_result = loadgo.capacity(
            site / "script.toml",
            target="p90 < 2s",
            on=str(site / "fitted.toml"),
            within=12,
            draws=5,
            **workers,
        )
        assert capacity_result.end == "found"
        assert capacity_result.fit_doubt is not None
        assert capacity_result.fit_doubt.draws == 5
        return str(capacity_result.report("json"))

    by_threads = answer()
    assert answer(workers=1) == by_threads
    assert answer(workers=2) == by_threads
    executor = LastFirst(5)
    assert answer(executor=executor) == by_threads
    assert executor.computed == [4, 3, 2, 1, 0]


def test_the_command_takes_workers_and_an_interrupt_ends_them(site: Path) -> None:
    process = start(site, "capacity", *OPTIONS, "--draws", "400", "--workers", "2")
    wait_until(lambda: len(workers_of(process.pid)) == 2)
    out, error = interrupted(process)
    assert "the search was stopped before it was known" in " ".join((out + error).split())


def test_workers_of_a_machine_that_was_not_fitted_have_nothing_to_do(site: Path) -> None:
    (site / "fitted.toml").write_text(machine(fit=False))
    told = typed(site, "capacity", *OPTIONS, "--workers", "2")
    assert "the workers have nothing to do" in told.stderr
    assert typed(site, "capacity", *OPTIONS).stdout == told.stdout


def test_a_search_on_this_host_refuses_workers(site: Path) -> None:
    with pytest.raises(BadArgument, match="`workers` are for simulations, and a host is measured"):
        loadgo.capacity(site / "script.toml", target="p90 < 2s", workers=2)
    refused = typed(site, "capacity", "script.toml", "--target", "p90 < 2s", "--workers", "2", status=2)
    assert "--workers are for simulations, and a host is measured: leave them out, or name a machine with --on" in (
        " ".join(refused.stderr.split())
    )
    with pytest.raises(BadArgument, match="write a number of processes"):
        loadgo.capacity(site / "script.toml", target="p90 < 2s", on=str(site / "fitted.toml"), workers="many")
