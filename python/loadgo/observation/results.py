"""The result of an observation: classes of users, their commands, think times, and which figures are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loadgo.documents.result import Result
from loadgo.observation.source_files import SourceKind
from loadgo.observation.stand_in_jobs import StandInJob


@dataclass(frozen=True)
class SourceRead:
    """A file of records that was read. Its name is not kept, since it may name a person."""

    kind: SourceKind
    records: int
    """Processes, lines with a time or typed, sessions of sudo, messages of tlog, or programs that auditd saw begin."""
    left_out: int
    """Records that are damaged, lines without a time or a duration, and typed lines that are no commands."""
    use: str
    """The part of the script that is from it: `commands`, `think times` or both."""


@dataclass(frozen=True)
class ThinkTimes:
    """The law of think times, from a history, from keystrokes, or from prompts and keys."""

    law: str
    measured: int
    """Number of pauses."""
    mean_ns: float
    absences: int
    """Number of longer pauses, which are left out."""
    is_upper_bound: bool
    """Whether the pauses have the responses in them, too."""
    first_key_ns: float | None = None
    """Mean time until the first key; None if it is not known."""


@dataclass(frozen=True)
class TypingTimes:
    """The typing of lines, from keystrokes."""

    measured: int
    """Number of lines."""
    keys: float
    """Mean number of keys of a line, with Enter."""
    mean_ns: float
    """Mean time from the first key of a line to Enter."""


@dataclass(frozen=True)
class ObservedCommand:
    """A command of a class of users, with its means over all runs. None is not known."""

    group: str
    """The class."""
    command: str
    count: int
    share: float
    """Share of the class's commands."""
    cpu_ns: float | None
    cpu_most_ns: float | None
    """The mean processor time, if each process had used all of the two steps of 10 ms that are rounded down."""
    cpu_p90_ns: float | None
    elapsed_ns: float | None
    faults_minor: float | None
    faults_major: float | None
    processes: float | None
    read_bytes: float | None
    """Mean bytes read by calls."""
    written_bytes: float | None
    storage_read_bytes: float | None
    """Mean bytes read from storage."""
    storage_written_bytes: float | None
    jobs: tuple[StandInJob, ...]
    """The synthetic jobs that stand for it, each as likely."""


@dataclass(frozen=True)
class UserGroup:
    """A class of users."""

    name: str
    sessions: int
    people: int
    commands: int
    commands_per_session: int
    """The mean, in a whole number: so many commands has a session of the script."""
    cpu_ns: float | None
    """Mean processor time of a command."""
    think: str | None
    """The law of the class's own think times; None if they are not known apart."""
    think_mean_ns: float | None


@dataclass(frozen=True)
class FollowingCommand:
    """A command that may come next."""

    command: str
    count: int
    """Number of times that it came next in a session."""
    weight: float
    """The same, with its part of the times at which a session ended and another one began."""


@dataclass(frozen=True)
class OrderedCommand:
    """A command of a class whose commands have an order."""

    command: str
    first: int
    """Number of sessions that began with it."""
    following: tuple[FollowingCommand, ...]
    """The commands that come next, the most frequent first."""


@dataclass(frozen=True)
class CommandOrder:
    """The order of a class's commands: whether what comes next depends on what came before."""

    group: str
    """The class."""
    pairs: int
    """Number of commands with a command before them."""
    p_value: float | None
    """The probability of as much order by chance; None if the pairs are too few to tell."""
    distance: float | None
    """Share of the script's pairs that are others than those that were seen; None if the script has no order."""
    distance_without: float | None
    """The same of a script without an order; None if the pairs are too few to tell."""
    commands: tuple[OrderedCommand, ...]
    """The commands with what comes next; empty if the script has no order."""


@dataclass(frozen=True)
class PausesAfterCommand:
    """The think times after a command of a class."""

    command: str
    pauses: int
    """Number of pauses after it."""
    mean_ns: float
    law: str


@dataclass(frozen=True)
class ThinkPattern:
    """Whether the think times of a class depend on what was just done."""

    group: str
    """The class."""
    pauses: int
    """Number of pauses with a command before them."""
    p_value: float | None
    """The probability of as much difference by chance; None if the pauses are too few to tell."""
    commands: tuple[PausesAfterCommand, ...]
    """The commands with think times of their own after them; empty if the script has none."""


@dataclass(frozen=True)
class TypedCommand:
    """A command that the script types itself, in place of a stand-in."""

    command: str
    line: str


@dataclass(frozen=True)
class HourOfDay:
    """An hour of the day, in the time zone of the host that loadgo runs on."""

    hour: int
    observed_hours: float
    """How much of this hour the records have, over all their days."""
    begun_per_hour: float
    """Mean number of sessions that begin."""
    open_at_once: float
    """Mean number of sessions that are open at once."""


Days = Literal["all", "workdays", "weekend"]
"""The days whose sessions count: all, Monday to Friday, or Saturday and Sunday."""
KindOfDays = Literal["workdays", "weekend"]
_CHANCE_SHARE = 0.01


@dataclass(frozen=True)
class DayKind:
    """The sessions of one kind of days."""

    kind: KindOfDays
    observed_days: float
    """How much of such days the records have."""
    sessions: int
    """Number of sessions that began on them."""
    sessions_per_day: float
    """The sum of the hours' rates."""
    hours: tuple[HourOfDay, ...]


@dataclass(frozen=True)
class DaysOfWeek:
    """Whether sessions begin at other rates on workdays and on weekends."""

    p_value: float | None
    """The probability of as much difference by chance; None if the days are too few to tell."""
    kinds: tuple[DayKind, DayKind]
    """Workdays, and weekends."""

    @property
    def is_different(self) -> bool:
        """Whether workdays and weekends differ, at a level of 1 %."""
        return self.p_value is not None and self.p_value <= _CHANCE_SHARE


@dataclass(frozen=True)
class KnownFigure:
    """A figure of the script, and the record that it is known from."""

    figure: str
    source: str
    """Empty if no record has it."""
    remark: str


@dataclass(frozen=True, repr=False)
class Observation(Result, presented_by="loadgo.observation.presentation:presentation"):
    """A script made from records, or from sessions that were watched."""

    text: str
    """The text of the script."""
    path: Path | None
    """The path of the script; None if it was not written."""
    figures: Path | None
    """The table of what each command used, which runs are compared with; None if it was not kept."""
    name: str
    sources: tuple[SourceRead, ...]
    people: int
    sessions: int
    span_s: float
    """Length of a live observation; of records, the time from the first beginning to the last end."""
    equivalent_users: float | None
    """Number of users of the script who type as many commands in `span_s` as people typed; None without think times."""
    groups: tuple[UserGroup, ...]
    division: str
    """The reason for the classes."""
    commands: tuple[ObservedCommand, ...]
    typed: tuple[TypedCommand, ...]
    """The commands that the script types themselves, with the lines that were given for them."""
    orders: tuple[CommandOrder, ...]
    """The order of each class's commands; empty if the records do not say which command came before which."""
    think_patterns: tuple[ThinkPattern, ...]
    """The think times by what was just done, of each class; empty if no pause is known with the command before it."""
    think: ThinkTimes | None
    typing: TypingTimes | None
    hours: tuple[HourOfDay, ...]
    """The hours of the day of which the records have a part; empty without dates, or of less than two hours."""
    days: Days
    """The days whose sessions are in the script."""
    days_of_week: DaysOfWeek | None
    """Workdays beside weekends; None for records without both, and where only one kind of days was taken."""
    known: tuple[KnownFigure, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    """Losses: damaged records, a file that was cut, lines for which there was no room."""
    is_stopped: bool = False
    """Whether a signal ended a live observation before its time."""
