"""One run of a command under the meter: what the run used, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Stage = Literal["as it is", "cold first", "warm first", "following"]
"""The kind of a run: single (`as it is`), or one of the three runs of a cold round.

Before `cold first`, the pages of the command's files are dropped from memory.
"""


@dataclass(frozen=True)
class Wait4Usage:
    """The usage that wait4 returns: of the command since its creation, and of the children for which it waited."""

    user_ns: int
    system_ns: int
    faults_minor: int
    faults_major: int
    max_resident_bytes: int
    switches_voluntary: int
    switches_involuntary: int


@dataclass(frozen=True)
class ColdFile:
    """A file whose pages loadgo dropped from memory before a run."""

    path: Path
    bytes: int
    stayed_bytes: int | None
    """The bytes that stayed in memory all the same; None if the kernel does not report them."""


@dataclass(frozen=True)
class ColdStart:
    """The files and names that loadgo dropped from memory before a cold run."""

    files: tuple[ColdFile, ...]
    names_dropped: bool
    """Whether the cached names and attributes of files were dropped too."""


@dataclass(frozen=True)
class CommandRun:
    """One run of a command, as it was measured; None means not measured, never 0."""

    stage: Stage
    real_ns: int
    """The time from the loading of the program to its end."""
    cpu_user_ns: int | None
    cpu_system_ns: int | None
    faults_minor: int | None
    faults_major: int | None
    ready_wait_ns: int | None
    """The time that the command was ready to run and waited for a processor."""
    paging_wait_ns: int | None
    io_wait_ns: int | None
    max_resident_bytes: int | None
    """The peak memory of any process of the command. None if it is below loadgo's own, with which each child starts."""
    waited: Wait4Usage
    exit_status: int | None
    signal: int | None
    """The signal that ended the command."""
    left_running: int | None
    """The number of the command's processes that still ran at its end; None without a control group."""
    let_go: int
    """The number of these processes that loadgo did not kill."""
    lost: int
    """The number of usage records that were lost."""
    cold: ColdStart | None
    interrupted: bool
    """Whether loadgo received a signal during the run."""

    @property
    def cpu_ns(self) -> int | None:
        """The processor time, user and system together."""
        if self.cpu_user_ns is None or self.cpu_system_ns is None:
            return None
        return self.cpu_user_ns + self.cpu_system_ns

    @property
    def status(self) -> int:
        """The status as a shell reports it: the exit status, or 128 plus the number of the fatal signal."""
        return 128 + self.signal if self.signal is not None else self.exit_status or 0
