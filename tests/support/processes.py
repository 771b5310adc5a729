"""Commands in sessions of their own, and the processes that are left of a session."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from support.outside import LOOK_EVERY_S, PATIENCE_S

LONGEST_WAIT_S = float(PATIENCE_S)


def start(folder: Path, *arguments: str, module: str = "loadgo", **environment: str) -> subprocess.Popen[str]:
    """A Python module's command in `folder`, in a process group of its own, as a shell starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | environment,
    )


def finished(folder: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a loadgo command."""
    process = start(folder, *arguments, **environment)
    out, error = process.communicate(timeout=LONGEST_WAIT_S)
    return process.returncode, out, error


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Interrupts a command as Ctrl-C at a terminal does: each process of its group. Returns what it has printed.

    It must end with the status of an interrupt, without a traceback, and no process of it may stay.
    """
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    wait_until_gone(process.pid)
    return out, error


def members(session: int) -> list[int]:
    """The processes of a session that are no zombies."""
    alive = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                alive.append(int(entry.name))
    return alive


def workers_of(session: int) -> list[int]:
    """The workers of a command that has local processes as workers, in their session."""
    command = "loadgo.distribution.workers", "spawn_main"
    return [pid for pid in members(session) if any(word in _command_line(pid) for word in command)]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_until(condition: Callable[[], object]) -> None:
    """Waits until a condition holds; fails after `LONGEST_WAIT_S`."""
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(LOOK_EVERY_S)


def wait_until_gone(session: int) -> None:
    """Waits until no process of a session is left."""
    wait_until(lambda: not members(session))


def wait_for_points(folder: Path, count: int) -> dict[Path, int]:
    """Waits until so many batches of a sweep are done. Returns the files with the times at which they were written."""
    wait_until(lambda: len(list((folder / "points").glob("*.parquet"))) >= count)
    return {file: file.stat().st_mtime_ns for file in (folder / "points").glob("*.parquet")}


def is_alive(pid: int) -> bool:
    """Whether a process is there, and not merely waited for by whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
