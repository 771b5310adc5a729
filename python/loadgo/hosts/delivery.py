"""Brings the agent to another host: its program goes into a cache of the account there, under a name with its hash."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from loadgo.hosts.connection import Connection, end_process
from loadgo.hosts.failures import (
    SSH_FAILED_STATUS,
    AgentNotInstalled,
    Step,
    WrongArchitecture,
    delivery_failure,
    delivery_stalled,
    shown,
)

PROGRAM_NAME = "loadgo-agent"
UNUSED_DAYS = 30
"""Agents of other versions that no controller has used for so many days are removed from the cache."""
MOST_STANDSTILL_S = 60.0
"""Longest time in which no byte of the agent goes to the host. A busy disk there may take seconds for a flush."""
_CACHE = "d=${XDG_CACHE_HOME:-$HOME/.cache}/loadgo"


@dataclass(frozen=True)
class AgentProgram:
    """The agent's program on this host."""

    path: Path
    sha256: str
    is_here: bool = False
    """Whether it runs on this host, where it is."""

    @property
    def question(self) -> str:
        """The script that prints the system there, and the hash of the agent in its cache, or a dash."""
        return (
            f"{_CACHE}; a=$d/agent-{self.sha256}; h=-; "
            'if [ -x "$a" ]; then touch "$a"; h=$("$a" hash 2>/dev/null || echo -); fi; '
            'printf "loadgo-far:%s:%s:\\n" "$(uname -sm | tr " " -)" "$h"'
        )

    def start_script(self, *, sudo: bool) -> str:
        """The script that becomes the agent."""
        return self._script("serve", sudo=sudo)

    def clear_script(self, *, sudo: bool) -> str:
        """The script that undoes what killed agents and runs have left there."""
        return self._script("clear", sudo=sudo)

    def wake_script(self, pid: int, *, sudo: bool) -> str:
        """The script that lets a stopped agent run on, so that it sees the end of its input and undoes its work."""
        return self._script(f"wake {pid}", sudo=sudo)

    def _script(self, words: str, *, sudo: bool) -> str:
        """The script that becomes the program with these words."""
        if self.is_here:
            return f"exec {shlex.quote(str(self.path))} {words}"
        return f'{_CACHE}; exec {"sudo -n -- " if sudo else ""}"$d/agent-{self.sha256}" {words}'

    @property
    def delivery_script(self) -> str:
        """The script that writes its input as the agent: to a name of its own, tried, compared, then renamed."""
        return (
            f"umask 077; {_CACHE}; "
            f'mkdir -p "$d" || exit {Step.FOLDER:d}; '
            't=$d/.agent-$$-part; trap \'rm -f "$t"\' EXIT; trap "exit 1" HUP INT TERM; '
            f'cat >"$t" || exit {Step.WRITE:d}; chmod 700 "$t" || exit {Step.WRITE:d}; '
            f'h=$("$t" hash) || exit {Step.TRY:d}; '
            f'[ "$h" = {self.sha256} ] || exit {Step.COMPARE:d}; '
            f'mv -f "$t" "$d/agent-{self.sha256}" || exit {Step.NAME:d}; '
            f'find "$d" -name "agent-*" -mtime +{UNUSED_DAYS} -exec rm -f {{}} + 2>/dev/null; exit 0'
        )


class _Sending:
    """How far ssh has come with a file that is its standard input: the offset in the file is both processes'."""

    def __init__(self, file: int) -> None:
        self._file = file
        self.all_bytes = os.fstat(file).st_size
        self.sent_bytes = 0
        """What ssh has read of the file."""
        self._began_s = self._moved_s = time.monotonic()

    @property
    def patience_s(self) -> float:
        """Time for the next bytes. After the last, as long again as they took: some are still on a slow network."""
        sending_s = self._moved_s - self._began_s if self.sent_bytes >= self.all_bytes else 0.0
        return MOST_STANDSTILL_S + sending_s

    def has_stalled(self) -> bool:
        """Whether nothing has moved for too long."""
        now_s, sent_bytes = time.monotonic(), os.lseek(self._file, 0, os.SEEK_CUR)
        if sent_bytes != self.sent_bytes:
            self.sent_bytes, self._moved_s = sent_bytes, now_s
        return now_s - self._moved_s > self.patience_s


def find_agent_program() -> AgentProgram:
    """The agent's program beside this Python's, or on the PATH. Raises `AgentNotInstalled`."""
    beside = Path(sys.executable).parent / PROGRAM_NAME
    path = beside if beside.exists() else shutil.which(PROGRAM_NAME)
    if path is None:
        raise AgentNotInstalled(
            f"{PROGRAM_NAME} is missing, which is copied to the other host: install loadgo again with pip, or in a "
            "clone run scripts/setup"
        )
    with open(path, "rb") as file:
        return AgentProgram(Path(path), hashlib.file_digest(file, "sha256").hexdigest())


def deliver(connection: Connection, program: AgentProgram) -> None:
    """Copies the agent to the host of `connection` if its cache has no such agent, or a damaged one.

    Raises the branches of `NoAgent`, and `KeyboardInterrupt` after a stop signal.
    """
    system, there = (*connection.answer, "", "")[:2]
    if system != f"Linux-{platform.machine()}":
        raise WrongArchitecture(
            f"{connection.address} is {shown(system) or 'an unknown system'}, and this loadgo's agent is for "
            f"Linux-{platform.machine()}: use --on from a host of the same architecture"
        )
    if there == program.sha256:
        return
    script = program.delivery_script
    with program.path.open("rb") as content:
        sending = _Sending(content.fileno())
        process = connection.start(script, (content, subprocess.DEVNULL))
        try:
            status = connection.wait(process, sending.has_stalled)
        except subprocess.TimeoutExpired:
            taken = sending.sent_bytes, sending.all_bytes
            raise delivery_stalled(connection.address, *taken, sending.patience_s) from None
        finally:
            end_process(process)
    if status == SSH_FAILED_STATUS:
        raise connection.failure(connection.errors(script))
    if status != 0:
        raise delivery_failure(connection.address, status, connection.errors(script))
