"""The product from outside: its command line on real shells, and what of a run must not stay behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadRun
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables, read_stream

from support.command_line import typed

COMMAND = [sys.executable, "-m", "loadgo"]
PATIENCE_S = 900
"""Time limit of any wait in the tests, far above every real wait, also on a busy machine."""
LOOK_EVERY_S = 0.05
"""Pause between two looks at what a test waits for: looking without pauses would take a processor from the rest."""
ROOT = os.geteuid() == 0
NEEDS_ROOT = pytest.mark.skipif(not ROOT, reason="needs root: run the tests with sudo -E make test")
NEEDS_FULL_DEVICE = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no /dev/full here: no disk is full on demand"
)
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
"""Words before a command that make it run without privileges."""
DELAY_ACCOUNTING = Path("/proc/sys/kernel/task_delayacct")
STATE = Path("/run/loadgo")
"""Where root's runs write down what they must undo."""


def environment(**more: str) -> dict[str, str]:
    """This process's environment, without variables that change the folder of runs or the look of reports."""
    kept = {key: value for key, value in os.environ.items() if key not in ("LOADGO_RUNS", "LOADGO_TRACEBACK")}
    return kept | {"COLUMNS": "120", "NO_COLOR": "1"} | more


@dataclass(frozen=True)
class Bench:
    """A folder of one test, in which loadgo runs, with a folder in it for the users' homes."""

    folder: Path
    started: list[int] = field(default_factory=list)
    """The process ids of the loadgos that were started."""

    @property
    def homes(self) -> Path:
        """The folder of the users' homes."""
        return self.folder / "homes"

    def script(self, text: str, name: str = "asked") -> str:
        """Writes a script, and returns the name of its file."""
        (self.folder / f"{name}.toml").write_text(text)
        return f"{name}.toml"

    def start(self, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Starts `loadgo ARGUMENTS`; `before` are words before the command, such as those of `setpriv`."""
        running = subprocess.Popen(
            [*before, *COMMAND, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(TMPDIR=str(self.homes)),
        )
        self.started.append(running.pid)
        return running

    def loadgo(
        self, *arguments: str, status: int = 0, before: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Runs `loadgo ARGUMENTS`, which must exit with `status` and without a traceback."""
        return ended(self.start(*arguments, before=before), status)

    def typed(self, *arguments: str | Path, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Runs `loadgo ARGUMENTS` in this process, which is cheaper: for claims that are about no process."""
        self.started.append(os.getpid())
        return typed(self.folder, *arguments, status=status, TMPDIR=str(self.homes))

    def run(self, script: str, *options: str, out: str = "kept", before: tuple[str, ...] = ()) -> Tables:
        """Runs `script` and returns its tables. The run must be good, as `check_good` says.

        It is a run of this process, or of one of its own with the words `before`.
        """
        words = ("run", script, *options, "--quiet", "--out", out)
        told = finished(self.start(*words, before=before)) if before else self.typed(*words, status=None)
        assert told.returncode in (0, 1), told.stderr
        measured = self.tables(out)
        check_good(told, measured)
        return measured

    def tables(self, run: str) -> Tables:
        """The tables of the run in the folder `run`."""
        return loadgo.tables(self.folder / run)


def finished(running: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Waits for a running loadgo, which must end without a traceback, and returns its output."""
    try:
        out, err = running.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        running.terminate()
        out, err = running.communicate()
        pytest.fail(f"it did not end in {PATIENCE_S} s\n{out}\n{err}")
    assert "Traceback" not in err
    assert "panicked" not in err
    return subprocess.CompletedProcess(running.args, running.returncode, out, err)


def check_good(told: subprocess.CompletedProcess[str], measured: Tables) -> None:
    """Checks that a run was good. On a busy machine the driver may be late or a record lost: then its status is 1."""
    assert told.returncode in (0, 1), told.stderr
    assert "failed:" not in told.stderr
    assert told.returncode == 0 or not summarize(measured).driver.valid or len(measured.lost), told.stderr


def ended(running: subprocess.Popen[str], status: int) -> subprocess.CompletedProcess[str]:
    """Waits for a running loadgo, which must end with `status`, and returns its output."""
    told = finished(running)
    assert told.returncode == status, f"exit {told.returncode}\n{told.stdout}\n{told.stderr}"
    return told


def wait_until(seen: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Waits until `seen` returns true; fails if the program ends before."""
    give_up = time.monotonic() + PATIENCE_S
    while running.poll() is None and time.monotonic() < give_up:
        if seen():
            return
        time.sleep(LOOK_EVERY_S)
    running.kill()
    out, err = running.communicate()
    pytest.fail(f"what was waited for did not come\n{out}\n{err}")


def phase_has_begun(folder: Path, phase: str) -> bool:
    """Whether the records of a run that goes on tell of this phase. Waits look often, so only one stream is read."""
    try:
        phases = read_stream(folder / "phases.arrows")
    except (BadRun, FileNotFoundError):
        return False
    return phases is not None and phase in phases["phase"].cast(str).to_list()


def processes_of(bench: Bench) -> list[int]:
    """The processes of users with homes in this bench, which their environment tells."""
    home = f"HOME={bench.homes}/".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if any(word.startswith(home) for word in path.read_bytes().split(b"\0")):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def groups_of(bench: Bench) -> list[str]:
    """The control groups of the bench's loadgo processes. A group's name has the id of its process."""
    mine = re.compile(rf"loadgo-.*-({'|'.join(map(str, bench.started)) or 'none'})-[0-9a-f]{{8}}")
    return [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if mine.fullmatch(Path(folder).name)]


def other_runs_live() -> bool:
    """Whether somebody else's run goes on now, which may have changed the kernel's settings."""
    locks = Path("/proc/locks").read_text()
    states = [path.stat().st_ino for path in STATE.glob("*.run")] if ROOT else []
    return any(f":{inode} " in locks for inode in states)


def with_own_state(bench: Bench) -> tuple[tuple[str, ...], Path]:
    """Words before a command that give it a /run of this test's own: no other run sees what is left behind.

    Runs agree on the kernel's settings by their notes in /run. So the command has a setting of its own too: the
    returned file stands for delay accounting, and has 0 at first. For root.
    """
    own = bench.folder / "run"
    own.mkdir()
    setting = own / "delay accounting"
    setting.write_text("0\n")
    mounts = f"mount --bind {own} /run && mount --bind '{setting}' {DELAY_ACCOUNTING}"
    return ("unshare", "-m", "sh", "-c", f'{mounts} && exec "$@"', "sh"), setting


def stolen_ns() -> int:
    """Processor time that the hypervisor took. The scheduler charges it to no task, but a clock to the running task."""
    of_all = Path("/proc/stat").read_text().splitlines()[0].split()
    return int(of_all[8]) * 10**9 // os.sysconf("SC_CLK_TCK")


def readable_by_all(bench: Bench) -> None:
    """Opens the bench's folders to all users, since pytest makes them for its own user alone."""
    for folder in (bench.folder, bench.homes):
        folder.chmod(0o777)
    for above in bench.folder.parents:
        if above.stat().st_uid == os.geteuid() and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)


def left_behind(bench: Bench) -> list[str]:
    """Leftovers of the bench's runs: processes, control groups and homes."""
    homes = [str(path) for path in bench.homes.iterdir()]
    return [*(f"process {pid}" for pid in processes_of(bench)), *groups_of(bench), *homes]
