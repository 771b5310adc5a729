"""The contents of a log as its reader returns them: sessions with names of commands, pauses, typing times, losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from loadgo.observation.source_files import SourceKind

ABSENCE_NS = 300_000_000_000
"""A longer pause is an absence, as in `loadgo record`: it is no think time."""
CLOCK_STEP_NS = 1_000_000_000
"""A record that is earlier than the one before by more than this shows that the clock was set."""


@dataclass(frozen=True, slots=True)
class LoggedCommand:
    """A command of a log."""

    name: str
    began_ns: int
    """Nanoseconds since 1970; 0 where the log has no date."""
    elapsed_ns: int | None = None
    """None where the log has no end of it."""
    think_ns: int | None = None
    """The pause before it, if the log has it and it is no absence."""


def with_pauses(commands: Sequence[LoggedCommand]) -> tuple[LoggedCommand, ...]:
    """The commands of a session, each with the pause since the one before has ended, where its end is known."""
    rows = list(commands[:1])
    for before, command in pairwise(commands):
        pause_ns = None if before.elapsed_ns is None else command.began_ns - before.began_ns - before.elapsed_ns
        is_known = pause_ns is not None and pause_ns <= ABSENCE_NS
        rows.append(replace(command, think_ns=max(pause_ns or 0, 0) if is_known else None))
    return tuple(rows)


@dataclass(frozen=True)
class LoggedSession:
    """A session of one person at one terminal. The person is an account's name or number, and is kept nowhere."""

    person: str
    began_ns: int
    ended_ns: int
    commands: tuple[LoggedCommand, ...]


@dataclass(frozen=True)
class MeasuredPauses:
    """The think times of a log."""

    spans_ns: tuple[int, ...] = ()
    absences: int = 0
    is_upper_bound: bool = False
    """Whether a pause has the response in it, too."""


@dataclass(frozen=True)
class MeasuredTyping:
    """The typing of a log: from the first key of each line to its last."""

    lines: int = 0
    keys: int = 0
    span_ns: int = 0

    def __add__(self, other: MeasuredTyping) -> MeasuredTyping:
        return MeasuredTyping(self.lines + other.lines, self.keys + other.keys, self.span_ns + other.span_ns)


@dataclass(frozen=True)
class LogRead:
    """The contents of a log."""

    kind: SourceKind
    sessions: tuple[LoggedSession, ...]
    pauses: MeasuredPauses
    typing: MeasuredTyping
    records: int
    left_out: int
    """Records that are damaged or have no time."""
    has_people: bool = True
    """Whether the log names the accounts of its sessions."""
    notes: tuple[str, ...] = ()
    """Sentences on what is left out."""
    losses: tuple[str, ...] = ()
    """Sentences on what is lost, each with its place. They begin with a verb: the source is their subject."""


def counted_note(count: int, one: str, many: str, rest: str) -> tuple[str, ...]:
    """A sentence on a number of things that are left out; none without any."""
    return (f"{count:,} {one if count == 1 else many} {rest}.",) if count else ()


def joined_pauses(logs: Sequence[LogRead]) -> MeasuredPauses:
    """The pauses of all logs."""
    return MeasuredPauses(
        tuple(span_ns for log in logs for span_ns in log.pauses.spans_ns),
        sum(log.pauses.absences for log in logs),
        any(log.pauses.is_upper_bound for log in logs),
    )
