"""A host that an agent is brought to: sshd on loopback with its own account, and an `ssh` that finds it as `far`."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadRun
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables, read_stream

from support.command_line import typed
from support.far_programs import sshd
from support.outside import COMMAND, LOOK_EVERY_S, PATIENCE_S, STATE, environment
from support.ssh_host import SshHost, ssh_host

FAR = "ssh://far"


@dataclass(frozen=True)
class AgentHost:
    """The host and this side's folder of tests."""

    host: SshHost
    folder: Path
    """Where loadgo runs; its `bin` has the `ssh` with the configuration of this host."""
    started: list[subprocess.Popen[str]] = field(default_factory=list)
    """Every loadgo that a test has started."""

    @property
    def cache(self) -> Path:
        """Where the account there keeps agents."""
        return self.host.home / ".cache" / "loadgo"

    @property
    def agents(self) -> list[Path]:
        """The agents in the cache, and the parts of agents."""
        return sorted(self.cache.iterdir()) if self.cache.exists() else []

    @property
    def root(self) -> Path:
        """The host's view of the files."""
        return Path(f"/proc/{self.host.pid}/root")

    def run_toml(self, run: str = "kept") -> dict[str, Any]:
        """The `run.toml` of a run in this side's folder."""
        return tomllib.loads((self.folder / run / "run.toml").read_text())

    @property
    def search_path(self) -> str:
        """The PATH on which the `ssh` of this host comes first."""
        return f"{self.folder / 'bin'}:{os.environ['PATH']}"

    def start(self, *arguments: str, start_new_session: bool = False, **variables: str) -> subprocess.Popen[str]:
        """Starts `loadgo ARGUMENTS` with an `ssh` that finds the host, as a process that can be signalled and lost."""
        running = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**{"PATH": self.search_path, **variables}),
            start_new_session=start_new_session,
        )
        self.started.append(running)
        return running

    def loadgo(self, *arguments: str, status: int | None = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs `loadgo ARGUMENTS` in this process, which must exit with `status`, or None for any; nothing may stay."""
        said = typed(self.folder, *arguments, status=status, **{"PATH": self.search_path, **variables})
        nothing_stays(self)
        return said

    def watched(self, run: str) -> str:
        """One picture of a run that may go on, whose agents are at work meanwhile."""
        return typed(self.folder, "watch", run, "--once", PATH=self.search_path, COLUMNS="120", LINES="60").stdout

    def ended(self, running: subprocess.Popen[str], *statuses: int) -> subprocess.CompletedProcess[str]:
        """Waits for a running loadgo, which must end with one of `statuses`, and nothing of it may stay behind."""
        out, err = running.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in err, err
        assert running.returncode in statuses, f"exit {running.returncode}\n{out}\n{err}"
        nothing_stays(self)
        return subprocess.CompletedProcess(running.args, running.returncode, out, err)

    def run(self, *options: str, out: str = "kept", **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs `loadgo run OPTIONS` into the folder `out`.

        The run must be good, except for a driver that is late on a busy machine.
        """
        run = self.loadgo("run", *options, "--out", out, status=None, **variables)
        assert run.returncode in (0, 1), f"{run.stdout}\n{run.stderr}"
        measured = loadgo.tables(self.folder / out)
        assert not len(measured.lost), measured.lost
        assert run.returncode == 0 or not summarize(measured).driver.valid, f"{run.stdout}\n{run.stderr}"
        return run

    def with_ssh(self, *options: str) -> None:
        """Lets `ssh` have these options before the configuration's."""
        script = self.folder / "bin" / "ssh"
        real = shutil.which("ssh")
        words = shlex.join([str(real), *options, "-F", str(self.host.config)])
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        script.chmod(0o755)

    def reaches_itself(self, *, key: bool = True) -> None:
        """Lets the account there log in to this same host as `far`; without its `key` it is refused."""
        folder = self.host.home / ".ssh"
        folder.mkdir(mode=0o700, exist_ok=True)
        config = self.host.config.read_text()
        lines = [line for line in config.splitlines() if key or "IdentityFile" not in line]
        (folder / "config").write_text("\n".join(lines) + "\n")
        (folder / "config").chmod(0o600)

    def list_hosts(self, *names: str, file: str = "hosts.toml", weights: dict[str, float] | None = None) -> str:
        """Writes a list of hosts, all of which are this host, or `here`, and returns the file's name."""
        entries = [
            f'[[hosts]]\nname = "{name}"\naddress = "{name if name == "here" else FAR}"\n'
            f"weight = {(weights or {}).get(name, 1)}\n"
            for name in names
        ]
        (self.folder / file).write_text("\n".join(entries))
        return file

    def typed(self) -> dict[str, str]:
        """The text of each file `typed-USER` in the account's home, which users have written. The files are removed."""
        found = {}
        for path in sorted(self.host.home.glob("typed-*")):
            found[path.name] = path.read_text()
            path.unlink()
        return found

    def agent_pids(self) -> list[int]:
        """The processes that run an agent from this host's cache."""
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [pid for pid in pids if _program(pid).startswith(f"{self.cache}/agent-")]

    def sshd_above(self, pid: int) -> list[int]:
        """The sshd processes of the connection to which a process there belongs, without the one that listens."""
        above = [parent_of(pid)]
        while parent_of(parent_of(above[-1])) != self.host.pid:
            above.append(parent_of(above[-1]))
        return above


@contextmanager
def agent_host(
    folder: Path,
    *,
    apart: bool = False,
    other_boot: bool = False,
    clock_ahead_s: int = 0,
    settings: tuple[str, ...] = (),
) -> Iterator[AgentHost]:
    """A host for ssh that has no agent yet. Skips the test without an sshd.

    `apart` has process ids of its own. `other_boot` has this host's, and another boot id. By that a driver takes it for
    another host, while the agent has every source of usage. With `clock_ahead_s`, the
    monotonic clock of a host that is `apart` is ahead. `settings` are sshd's, as `NAME=VALUE`.
    """
    if sshd() is None:
        pytest.skip("there is no sshd: scripts/setup dev unpacks it")
    ways = {"apart": apart, "other_boot": other_boot}
    with ssh_host(folder / "far", **ways, clock_ahead_s=clock_ahead_s, settings=settings) as host:
        (folder / "bin").mkdir()
        there = AgentHost(host, folder)
        there.with_ssh()
        try:
            yield there
        finally:
            end_what_a_failed_test_left(there.started)
            # The host's processes are killed with it. Before that, agents and sessions undo what they made, since its
            # control groups and its /tmp are those of this host.
            eventually(
                lambda: not there.agent_pids() and not _of_sessions(host.pid), "a session stays on the test's host"
            )


def end_what_a_failed_test_left(started: list[subprocess.Popen[str]]) -> None:
    """Ends every loadgo that still runs: sshd waits for its sessions, and would wait for ever."""
    for running in started:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
            try:
                running.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                running.kill()
                running.communicate()


def nothing_stays(host: AgentHost) -> None:
    """Fails if an agent, its records, its list of what to undo or a part of a program is still there after a while."""
    eventually(lambda: not host.agent_pids(), "an agent still runs")
    assert [path.name for path in host.agents if not path.name.startswith("agent-")] == []
    places = [host.root / str(STATE).lstrip("/"), host.root / "var/tmp"]
    for place in places:
        eventually(lambda at=place: not [*at.glob("loadgo-*"), *at.glob("*.run")], f"something stays in {place}")


def rows_now(folder: Path, table: str) -> pl.DataFrame:
    """The whole rows of the table in the folder of a run that goes on; none before it begins and after it has ended."""
    stream = folder / f"{table}.arrows"
    try:
        rows = read_stream(stream) if stream.exists() else None
    except BadRun:
        if stream.exists():
            raise
        rows = None  # the run has ended between the two looks, and its stream is gone
    return pl.DataFrame() if rows is None else rows


def rows_came(folder: Path, table: str) -> bool:
    """Whether whole rows of the table are in the run's folder, so that they stay if the run is killed now."""
    return len(rows_now(folder, table)) > 0


LEAST_TIME_LEFT_S = 5
"""Least time from the loss of a host or driver to the end of a run. The others must be seen to type on in it."""


def is_lost_in_time(run: Tables, part: Mapping[str, Any]) -> bool:
    """Whether the entry of a host or driver in `run.toml` has a loss, and the run went on for a while after it."""
    over_ns = run.phases.filter(pl.col("phase").cast(pl.String) == "ramp-down")["at_ns"].min()
    return "lost_at_s" in part and int(over_ns or 0) > (part["lost_at_s"] + LEAST_TIME_LEFT_S) * 1e9  # type: ignore[arg-type]


def send_to(pids: Iterable[int], number: signal.Signals) -> None:
    """Sends a signal to those of these processes that have not ended meanwhile."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def groups_named(run: str) -> list[Path]:
    """The control groups of a run that are still there. Groups of other runs may go while they are looked through."""
    places = [Path(place) for place, _, _ in os.walk("/sys/fs/cgroup")]
    return [place for place in places if place.name.startswith(f"loadgo-{run}-")]


def keystrokes(run: Path) -> pl.DataFrame:
    """Each line that was typed in a run, and when it was due after the prompt before it."""
    lines = loadgo.tables(run).interactions.sort("user", "sent_ns")
    due = pl.col("planned_ns").cast(pl.Int64) - (
        pl.col("sent_ns").cast(pl.Int64) - pl.col("think_ns").cast(pl.Int64) - pl.col("typing_ns").cast(pl.Int64)
    )
    return lines.select("user", "pass", "line", pl.col("command").cast(pl.String), due.alias("due_ns"))


def eventually(holds: Callable[[], bool], otherwise: str) -> None:
    """Waits until `holds` returns true."""
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up, otherwise
        time.sleep(LOOK_EVERY_S)


def parent_of(pid: int) -> int:
    """The parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[1])


def _of_sessions(above: int) -> list[int]:
    """The processes below this one that belong to a session on a terminal of sshd, as their environment says."""
    return [pid for pid in _below(above) if b"\0SSH_TTY=" in b"\0" + _environ(pid)]


def _below(above: int) -> set[int]:
    """The processes that this process has started, and those that they have started."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            parents[int(name)] = parent_of(int(name))
    found, new = set[int](), {above}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _program(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""
