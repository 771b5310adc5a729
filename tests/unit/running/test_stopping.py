"""Signals to a program that calls the library: the work ends in order, and SIGTERM and SIGHUP end the program."""

import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest
from loadgo.running.stopping import SignalSafeEvent
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

INTERRUPTED_WAITS = """
import itertools, signal, sys
from loadgo.running import stopping

def raising_after(steps):
    count = itertools.count(1)
    def trace(frame, event, _):
        if frame.f_code.co_filename != sys.modules["threading"].__file__ and frame.f_code.co_name not in METHODS:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(count) == steps:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
        return trace
    return trace

METHODS = ("wait", "set", "is_set")
for steps in itertools.count(1):
    with stopping.catch_stop_signals() as stop:
        part = stop.part()
        sys.settrace(raising_after(steps))
        part.wait(0.001)
        stop.wait(0.001)
        is_over = sys.gettrace() is not None
        sys.settrace(None)
        if is_over:
            break
        assert part.wait() and stop.wait()
print(steps)
"""
"""A program that gets one signal at each step of the interpreter in two waits, and prints the number of steps."""


@pytest.mark.processes
def test_a_signal_at_any_moment_of_a_wait_ends_it() -> None:
    told = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WAITS], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(told.stdout) > 20


def test_a_thread_that_waits_is_woken_by_another() -> None:
    event = SignalSafeEvent()
    woken: list[bool] = []
    waiting = [threading.Thread(target=lambda: woken.append(event.wait(PATIENCE_S))) for _ in range(3)]
    for thread in waiting:
        thread.start()
    assert not event.wait(0.001)
    event.set()
    for thread in waiting:
        thread.join(PATIENCE_S)
    assert woken == [True, True, True]
    event.clear()
    assert not event.wait(-1)


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
