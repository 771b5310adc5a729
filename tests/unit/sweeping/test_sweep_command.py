"""The commands `sweep` and `merge`: exit statuses, interrupts, kills, and what goes on afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import typed
from support.processes import LONGEST_WAIT_S, finished, start, wait_for_points, wait_until_gone, workers_of
from support.sweeps import LONG_GRID, contents, own_load_grid


@pytest.mark.processes
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_sweep_leaves_no_process_and_goes_on_where_it_stood(
    long_sweep: Path, tmp_path: Path, number: signal.Signals
) -> None:
    own_load_grid(tmp_path, LONG_GRID)
    process = start(tmp_path, "sweep", "grid.toml", "--workers", "2", "--out", "out")
    done = wait_for_points(tmp_path / "out", 3)
    # Ctrl-C at a terminal reaches every process of the group.
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    out, error = process.communicate(timeout=LONGEST_WAIT_S)
    wait_until_gone(process.pid)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "The sweep was stopped: " in out
        assert "of 40 simulations are done. The same command goes on." in " ".join(out.split())
        assert "Traceback" not in error
    assert len(list((tmp_path / "out" / "points").glob("*.parquet"))) < 40
    status, out, _ = finished(tmp_path, "sweep", "grid.toml", "--workers", "2", "--out", "out")
    assert status == 0
    assert " ".join(out.split()).startswith(
        "40 simulations (2 configurations, 20 seeds each: users 3 and 4): the mean response is lowest, "
    )
    assert {file: file.stat().st_mtime_ns for file in done} == done
    assert contents(tmp_path / "out") == contents(long_sweep / "whole")


@pytest.mark.processes
def test_a_worker_that_is_killed_costs_no_point_and_is_reported(tmp_path: Path) -> None:
    own_load_grid(tmp_path, LONG_GRID)
    process = start(tmp_path, "sweep", "grid.toml", "--workers", "2", "--out", "out")
    wait_for_points(tmp_path / "out", 2)
    workers = workers_of(process.pid)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    out, _ = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 0
    assert "computed again: a worker ended." in " ".join(out.split())
    assert len(list((tmp_path / "out" / "points").glob("*.parquet"))) == 40
    wait_until_gone(process.pid)


@pytest.mark.processes
def test_exit_statuses_of_merge(tmp_path: Path) -> None:
    own_load_grid(tmp_path)
    for number in (1, 2):
        typed(tmp_path, "sweep", "grid.toml", "--part", f"{number}/2", "--out", f"parts/{number}")
    alone = typed(tmp_path, "merge", "parts/1", "--out", "whole", status=2)
    assert "part 2/2 is missing" in alone.stderr
    twice = typed(tmp_path, "merge", "parts/1", "parts/1", "parts/2", "--out", "whole", status=2)
    assert "part 1 is there 2 times" in twice.stderr
    both = typed(tmp_path, "merge", "parts/2", "parts/1", "--out", "whole")
    assert both.stdout.startswith(
        "24 simulations (6 configurations, 4 seeds each: processors.speed 1 and 2; users 2, 5 and 9): "
    )
    assert both.stderr.strip() == "the figures of each simulation are in whole"


def test_mistakes_end_in_words_with_their_place(tmp_path: Path) -> None:
    own_load_grid(tmp_path, 'machine = "repairman.toml"\nuser = 3\n')
    misspelt = typed(tmp_path, "sweep", "grid.toml", status=2)
    assert misspelt.stdout == ""
    assert misspelt.stderr.strip() == "loadgo: grid.toml, line 2, column 1: user is not known; did you mean users?"
    beyond = typed(tmp_path, "sweep", "grid.toml", "--part", "4/3", "--out", "x", status=2)
    assert beyond.stderr.strip() == "loadgo: --part 4/3: write it as 3/40, from 1/40 to 40/40"
    nobody = typed(tmp_path, "sweep", "grid.toml", "--workers", "0", status=2)
    assert "--workers 0: write a number of processes from 1" in nobody.stderr


def test_a_sweep_starts_its_workers_before_it_imports_polars() -> None:
    program = "import sys, loadgo.sweeping.sweep; print(*{'polars', 'numpy'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).split() == []
