"""Predictions whose runs workers make: the same bytes in every table, and no process left after an interrupt."""

from __future__ import annotations

from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument, Mistake
from support.command_line import typed
from support.fitted_machine import SCRIPT, machine
from support.processes import interrupted, start, wait_until, workers_of

pytestmark = pytest.mark.processes


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a script and a fitted machine."""
    (tmp_path / "script.toml").write_text(SCRIPT)
    (tmp_path / "fitted.toml").write_text(machine())
    return tmp_path


def tables(run: Path) -> dict[str, bytes]:
    """The bytes of all tables of a run and its further runs, and of the prediction."""
    files = [*run.rglob("*.parquet"), *run.rglob("machine.toml"), run / "prediction.toml"]
    return {str(file.relative_to(run)): file.read_bytes() for file in files}


def test_the_tables_are_the_same_bytes_by_threads_and_processes(site: Path) -> None:
    for name, workers in (("threads", None), ("one", 1), ("two", 2)):
        loadgo.run(
            site / "script.toml", on=str(site / "fitted.toml"), users=3, draws=5, workers=workers, out=site / name
        )
    by_threads = tables(site / "threads")
    assert len(list((site / "threads").rglob("run.toml"))) == 10
    assert tables(site / "one") == by_threads
    assert tables(site / "two") == by_threads


def test_an_interrupt_ends_the_workers_and_keeps_the_run(site: Path) -> None:
    process = start(
        site, "run", "script.toml", "--on", "fitted.toml", "--users", "3", "--draws", "2000", "--workers", "2",
        "--out", "out",
    )  # fmt: skip
    wait_until(lambda: len(workers_of(process.pid)) == 2)
    _, error = interrupted(process)
    assert "is complete, without a prediction" in " ".join(error.split())
    assert (site / "out" / "run.toml").exists()
    assert not (site / "out" / "drawn").exists()


def test_a_run_of_this_host_and_a_choice_that_makes_no_sense_are_refused(site: Path) -> None:
    with pytest.raises(BadArgument, match="a host is measured"):
        loadgo.run(site / "script.toml", workers=2, out=site / "out")
    with pytest.raises(BadArgument, match="a host is measured"):
        loadgo.run(site / "script.toml", on="ssh://nobody@127.0.0.1:9", workers=2, out=site / "out")
    refused = typed(site, "run", "script.toml", "--workers", "2", status=2)
    assert "--workers are for simulations, and a host is measured" in " ".join(refused.stderr.split())
    with pytest.raises(BadArgument, match="write a number of processes"):
        loadgo.run(site / "script.toml", on=str(site / "fitted.toml"), workers=0, out=site / "out")
    assert not (site / "out").exists()
    (site / "script.toml").write_text("nme = 3\n")
    with pytest.raises(Mistake, match="line 1"):
        loadgo.run(site / "script.toml", on=str(site / "fitted.toml"), workers=2, draws=5, out=site / "out")
