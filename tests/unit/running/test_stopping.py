"""Signals to a program that calls the library: the work ends in order, and SIGTERM and SIGHUP end the program."""

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.outside import PATIENCE_S, environment, phase_has_begun, wait_until
from support.small_machine import laid

PROGRAM = """
import loadgo
options = {"on": "small-machine.toml", "passes": 100_000_000, "users": 3}
for folder in ("first", "second"):
    run = loadgo.run("small.toml", out=folder, **options)
    print(run.outcome, flush=True)
    options["passes"] = 1
"""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("number", "status", "runs"),
    [(signal.SIGTERM, -signal.SIGTERM, 1), (signal.SIGHUP, -signal.SIGHUP, 1), (signal.SIGINT, 0, 2)],
)
def test_the_run_ends_in_order_and_a_terminated_program_ends_after_it(
    number: signal.Signals, status: int, runs: int, tmp_path: Path
) -> None:
    laid(tmp_path)
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment()
    )
    wait_until(lambda: phase_has_begun(tmp_path / "first", "steady"), running)
    running.send_signal(number)
    told, _ = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == status
    assert told.split() == ["stopped", "done"][: 0 if runs == 1 else 2]
    assert (tmp_path / "second").exists() == (runs == 2)
    assert tomllib.loads((tmp_path / "first" / "run.toml").read_text())["outcome"] == "stopped"
