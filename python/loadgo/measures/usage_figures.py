"""The figures of usage: of interactions, of their typing, and of impossible rows; and the counts of outcomes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """The mean use of one interaction; None means not measured."""

    measured: int
    """Number of interactions with processor time in their record."""
    cpu_user_ns: float | None
    cpu_system_ns: float | None
    faults_minor: float | None
    faults_major: float | None
    ready_wait_ns: float | None
    """Mean time in the run queue."""
    paging_wait_ns: float | None
    io_wait_ns: float | None
    bytes_out: float | None
    throttled_ns: float | None = None
    """Mean time for which the user's own quota of processor time was used up, summed over processors."""

    @property
    def cpu_ns(self) -> float | None:
        """User and system time together."""
        if self.cpu_user_ns is None or self.cpu_system_ns is None:
            return None
        return self.cpu_user_ns + self.cpu_system_ns


NOT_FOUND_STATUS = 127
"""The exit status of a shell for a command that it does not find (POSIX, Shell Command Language, 2.8.2)."""


@dataclass(frozen=True)
class TypingUsage:
    """The mean use between a prompt and the sending of a line typed key by key; None means not measured.

    It is no part of any interaction's usage.
    """

    measured: int
    """Number of lines with the processor time of their typing in their record."""
    cpu_ns: float | None
    faults_minor: float | None
    faults_major: float | None
    ready_wait_ns: float | None
    paging_wait_ns: float | None
    io_wait_ns: float | None


@dataclass(frozen=True)
class UsageAudit:
    """Rows that are charged more processor time than all processors could give during the response."""

    judged: int
    """Number of interactions whose processor time and response are both known."""
    impossible: int
    excess_ns: int
    """Processor time beyond what was possible, of all impossible rows."""


@dataclass(frozen=True)
class Outcomes:
    """Number of interactions by outcome."""

    ok: int
    failed: int
    """Interactions with an exit status that the script does not accept."""
    timeouts: int
    died: int
    unconfirmed: int
    """Interactions whose end is known only from silence."""
    not_found: int = 0
    """Interactions with exit status 127, with which a shell tells that no such command exists, whatever the outcome."""
    unseen: int = 0
    """Keys or bursts that changed nothing on the screen. They are unconfirmed, too."""

    @property
    def errors(self) -> int:
        """Number of interactions that failed, timed out or died."""
        return self.failed + self.timeouts + self.died
