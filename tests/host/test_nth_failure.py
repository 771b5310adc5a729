"""Runs of which one system call fails: each ends in words with a status, and leaves nothing behind.

`make test` lets a call of some kinds fail. `LOADGO_NTH_FAILURES=10 pytest tests/host/test_nth_failure.py` takes ten
numbers of each call, from the first to the last one of a whole run, and some minutes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from support.outside import NEEDS_ROOT, PATIENCE_S, Bench, left_behind

pytestmark = [NEEDS_ROOT, pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace here")]
PLACES = int(os.environ.get("LOADGO_NTH_FAILURES", "1"))
"""How many numbers of each call fail, one in a run."""
SCRIPT = 'think = "none"\npasses = 3\nlines = ["echo here", "true", "ls /"]\n'
FILES = ("run.toml.part", "interactions.arrows", "sessions.arrows", "interactions.parquet.part")
"""Files of the run of which a write fails. A pipe or a counter of the kernel has no disk that could be full."""
FAILURES = {f"write {file}": "ENOSPC" for file in FILES} | {
    "fsync": "EIO",
    "rename": "EIO",
    "ftruncate": "ENOSPC",
    "mkdir": "ENOSPC",
    "unlink": "EACCES",
    "rmdir": "EBUSY",
    "unlinkat": "EACCES",
    "clone": "EAGAIN",
    "bpf": "EPERM",
    "perf_event_open": "EACCES",
    "pipe2": "EMFILE",
    "epoll_create1": "EMFILE",
    "epoll_ctl": "ENOMEM",
    "timerfd_create": "EMFILE",
    "socket": "EMFILE",
    "bind": "EACCES",
    "sendto": "ENOBUFS",
    "flock": "ENOLCK",
    "mremap": "ENOMEM",
    "sched_setscheduler": "EPERM",
    "setsid": "EPERM",
    "statfs": "EACCES",
}
"""The calls of which one fails in a run, of any file or of one, and with what.

Not clone3: most of its calls start threads of libraries, which wait for ever for one that was refused. A run asks
for their number before (`test_few_processes.py`).
"""
OF_UNDOING = ("unlink", "rmdir", "unlinkat")
"""Calls that undo: what stays when one of them fails is undone by the next run."""
USUAL = ("write run.toml.part", "write sessions.arrows", "fsync", "clone", "bpf", "mkdir")
"""The calls that `make test` tries."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place to run in."""
    (tmp_path / "homes").mkdir()
    one = Bench(tmp_path)
    one.script(SCRIPT)
    return one


def run_traced(bench: Bench, out: str, *options: str) -> tuple[int, str, str]:
    """A run whose own calls are traced, and not those of its users' shells: its status, output and errors."""
    words = ("strace", "-f", "-b", "execve", "-qq", "-o", f"{out}.calls", *options)
    running = bench.start("run", "asked.toml", "--users", "2", "--quiet", "--out", out, before=words)
    try:
        said, errors = running.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        end_traced(bench, out)
        said, errors = running.communicate()
    bench.started.append(first_process(bench, out))
    return running.returncode, said, errors


def first_process(bench: Bench, out: str) -> int:
    """The process id of the traced loadgo, which makes the first call of all; 0 if it made none."""
    calls = (bench.folder / f"{out}.calls").read_text().split(None, 1)
    return int(calls[0]) if calls else 0


def end_traced(bench: Bench, out: str) -> None:
    """Kills a traced loadgo that does not end."""
    if process := first_process(bench, out):
        os.kill(process, signal.SIGKILL)


def of_call(bench: Bench, out: str, call: str) -> tuple[str, ...]:
    """The words for strace to look at a call, of any file or of one of the run's."""
    name, _, file = call.partition(" ")
    return ("-e", f"trace={name}", *(("-P", str(bench.folder / out / file)) if file else ()))


def calls_of_a_thread(bench: Bench, call: str) -> int:
    """How many such calls the thread makes that makes most of them: strace counts for each thread by itself."""
    status, _, errors = run_traced(bench, "whole", *of_call(bench, "whole", call))
    assert status in (0, 1), errors
    lines = (bench.folder / "whole.calls").read_text().splitlines()
    counts = Counter(line.split(None, 1)[0] for line in lines if f" {call.split()[0]}(" in line)
    return max(counts.values(), default=0)


@pytest.mark.parametrize("call", FAILURES if PLACES > 1 else USUAL)
def test_a_run_of_which_the_nth_call_fails_ends_in_words_and_leaves_nothing(bench: Bench, call: str) -> None:
    most = calls_of_a_thread(bench, call) if PLACES > 1 else 1
    places = {1 + (most - 1) * part // max(PLACES - 1, 1) for part in range(PLACES)} if most else set()
    found = [fault for number in sorted(places) for fault in faults_of_failure(bench, call, number)]
    assert not found, "\n".join(found)


def leftovers(bench: Bench) -> list[str]:
    """The leftovers, without the file by which Python tries the temporary folder: it stays where unlink is refused."""
    return [one for one in left_behind(bench) if not Path(one).is_file()]


def faults_of_failure(bench: Bench, call: str, number: int) -> list[str]:
    """The faults of a run of which this call fails. Leftovers of a call that undoes are undone by a run after it."""
    out = f"failed-{number}"
    failure = f"{call}: call {number} fails with {FAILURES[call]}: "
    injected = f"inject={call.split()[0]}:error={FAILURES[call]}:when={number}"
    status, said, errors = run_traced(bench, out, *of_call(bench, out, call), "-e", injected)
    faults = [] if status in (0, 1, 2) else [f"status {status}: {said}{errors}"]
    if number == 1 and "(INJECTED)" not in (bench.folder / f"{out}.calls").read_text():
        faults.append("the run does not make this call")
    # A panic of Polars, in words of its own before ours, is no fault of loadgo.
    ours = "\n".join(line for line in errors.splitlines() if "panicked at crates/polars" not in line)
    faults += [f"{word}: {errors}" for word in ("Traceback", "panicked") if word in ours]
    if status == 2 and "loadgo: " not in errors:
        faults.append(f"status 2 without words: {said}{errors}")
    if (bench.folder / out / "run.toml").exists():
        told = bench.typed("report", out, status=None)
        if told.returncode not in (0, 1, 2) or "Traceback" in told.stderr:
            faults.append(f"report ends with {told.returncode}: {told.stderr}")
    left = leftovers(bench)
    if left and call in OF_UNDOING:
        bench.typed("run", "asked.toml", "--users", "1", "--quiet", "--out", f"after-{number}", status=None)
        left = leftovers(bench)
    if left:
        faults.append(f"left behind: {left}; status {status}: {errors}")
    return [failure + text for text in faults]
