"""Clock profiles and page faults by mapping, of a live host, a command or a recorded run.

A sample says what a busy processor was doing at a tick of a clock: process, mapping, function and callers. A mapping
is a file, or `[kernel]`, `[heap]`, `[stack]`, `[anon]`. Shares are estimates. A share p of n samples has the standard
error sqrt(p (1 − p) / n), and callers without frame pointers are missing. Page faults are counted, not sampled.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from os import PathLike
from typing import TYPE_CHECKING, Any

from loadgo.documents.result import Result
from loadgo.errors import BadArgument, BadRun, Refused
from loadgo.running.command_meter import check_program, forward_signals
from loadgo.running.stopping import catch_stop_signals

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

PROFILE_PERIOD_S = 1.0
DEFAULT_CLOCK_HZ = 1000
MOST_CLOCK_HZ = 20_000
DEFAULT_DURATION_S = 10.0
"""Length of the profile of a host, if none is given."""
INTERRUPTED_STATUS = 130
"""Exit status after an interrupt."""
CALLERLESS_SHARE = 0.25
"""Share of samples without a caller from which the answer says so. Chosen by hand."""
KERNEL_SEGMENT = "[kernel]"
UNKNOWN_SEGMENT = "[unknown]"
"""The name of addresses without a known mapping."""
KERNEL_LEFT_OUT_NOTE = "the kernel's part is not here"
"""Beginning of the note on a profile that has no samples of the kernel for lack of privileges."""


@dataclass(frozen=True)
class Frame:
    """A function on a stack."""

    segment: str
    """The mapping: a file by its path, or a name in brackets."""
    function: str
    """The function's name, or its offset if it has no name. Empty if nothing is known."""

    @property
    def text(self) -> str:
        """The frame as the records write it."""
        return f"{self.segment}`{self.function}" if self.function else self.segment

    @property
    def has_name(self) -> bool:
        """Whether the function has a name."""
        return bool(self.function) and not self.function.startswith("0x")

    @property
    def place(self) -> str:
        """The frame's name for people: the function, `no symbols (FILE)`, or the mapping."""
        if self.has_name:
            return self.function
        return f"no symbols ({self.segment.rsplit('/', 1)[-1]})" if self.segment.startswith("/") else self.segment


@dataclass(frozen=True)
class Stack:
    """A call stack, and the number of samples that had it."""

    user: int | None
    command: str | None
    process: str
    frames: tuple[Frame, ...]
    """The outermost first."""
    samples: int


@dataclass(frozen=True)
class Segment:
    """Samples and page faults of one mapping."""

    name: str
    samples: int | None
    """None means not measured, never 0."""
    faults_minor: int | None
    faults_major: int | None


@dataclass(frozen=True, repr=False)
class Profile(Result, presented_by="loadgo.profiling.presentation:presentation"):
    """A profile of this host, a command or a run."""

    of: str
    """The subject: the host, a command, or a run."""
    seconds: float | None
    hz: int | None
    """Samples a second of each busy processor. None if the records do not have it."""
    stacks: tuple[Stack, ...]
    segments: tuple[Segment, ...]
    build_ids: dict[str, str] = field(default_factory=dict)
    """Build identifiers by file, in hexadecimal."""
    lost: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()
    status: int = 0
    """The exit status of the command."""

    @property
    def callerless(self) -> int:
        """Number of samples whose function has no caller."""
        return sum(stack.samples for stack in self.stacks if len(stack.frames) == 1)

    @property
    def samples(self) -> int:
        """The number of samples."""
        return sum(segment.samples or 0 for segment in self.segments) or sum(stack.samples for stack in self.stacks)

    def off(self, samples: int) -> float:
        """Standard error of the share of a number of samples, by the binomial distribution."""
        share = samples / max(self.samples, 1)
        return sqrt(share * (1 - share) / max(self.samples, 1))


def frame_of(text: str) -> Frame:
    """Parses a frame as the records write it: SEGMENT`FUNCTION, a segment, or a function alone."""
    segment, mark, function = text.rpartition("`")
    if mark:
        return Frame(segment, function)
    return Frame(text, "") if text.startswith(("[", "/")) else Frame(UNKNOWN_SEGMENT, text)


def profile(
    command: str | Sequence[str] = (),
    *,
    duration: str | float | None = None,
    hz: int = DEFAULT_CLOCK_HZ,
    of: Any = None,
    host: str | None = None,
) -> Profile:
    """Samples by a clock where processors spend time, by mapping and function, and counts page faults by mapping.

        print(loadgo.profile(["python3", "-c", "sum(range(10**8))"]).report("text"))

    Args:
        command: The command's words, or one text that is split as a shell splits it. It is profiled with all that it
            starts, for as long as it runs. Without one the entire host is profiled.
        duration: The length, in seconds or as a text such as `5min`. By default 10 s without a command.
        hz: Samples a second of each busy processor, from 1 to 20,000.
        of: A run to read instead: its folder, its id or `last`.
        host: For a run on several hosts: the name of the one whose profile it is.

    Returns:
        `Profile` with call stacks and the number of samples of each, and page faults by mapping.

    Raises:
        loadgo.errors.BadArgument: `hz` or `duration` is out of range; it is a `ValueError`.
        loadgo.errors.Refused: The host does not allow it. `loadgo.doctor` has the reason and the remedy.
        loadgo.running.command_meter.NotRun: There is no such command, or it is not executable.
        loadgo.errors.BadRun: The run `of` is missing, or has no profile.
    """
    if of is not None:
        return profile_of(of, host)
    if host is not None:
        raise BadArgument("`host` is for the run that `of` names").about("host", "of")
    if not 1 <= hz <= MOST_CLOCK_HZ:
        raise BadArgument(f"`hz={hz}` is out of range: 1 to {MOST_CLOCK_HZ}").about("hz")
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if words:
        check_program(words[0])
    seconds = _seconds(duration)
    return _live(words, seconds if seconds is not None or words else DEFAULT_DURATION_S, hz)


def _seconds(duration: str | float | None) -> float | None:
    if duration is None or isinstance(duration, (int, float)):
        return duration
    from loadgo.notation.quantities import span_s

    return span_s(duration, "duration")


def _live(command: list[str], seconds: float | None, hz: int) -> Profile:
    from loadgo import _loadgo

    live = _loadgo.LiveProfile(hz, bool(command))
    builder = ProfileBuilder()
    began = time.monotonic()
    try:
        status = _watch(live, command, seconds, builder)
        ended = time.monotonic()
        builder.add(live.sample())
        notes = tuple(live.notes())
    finally:
        live.close()
    subject = shlex.join(command) if command else "this host"
    return builder.profile(subject, ended - began, hz, notes, status)


def _watch(live: Any, command: list[str], seconds: float | None, builder: ProfileBuilder) -> int:
    """Adds samples until the time is up, the command has ended, or an interrupt. Returns the exit status."""
    end = inf if seconds is None else time.monotonic() + seconds
    if command:
        return _watch_command(live, command, end, builder)
    with catch_stop_signals() as stop:
        while not stop.wait(min(PROFILE_PERIOD_S, max(end - time.monotonic(), 0))) and time.monotonic() < end:
            builder.add(live.sample())
        return INTERRUPTED_STATUS if stop.is_set() else 0


def _watch_command(live: Any, command: list[str], end: float, builder: ProfileBuilder) -> int:
    """Adds samples while the command runs, and forwards signals to it."""
    child = _SignalledChild()
    with forward_signals(child) as signals:
        try:
            child.process = subprocess.Popen(command)
        except OSError as error:
            raise Refused(f"{command[0]} cannot be run: {error.strerror}") from None
        if signals.last is not None:  # a signal that came before the command could receive it
            child.process.send_signal(signals.last)
        while time.monotonic() < end:
            try:
                return _status(child.process.wait(min(PROFILE_PERIOD_S, max(end - time.monotonic(), 0))))
            except subprocess.TimeoutExpired:
                builder.add(live.sample())
        return _end(child.process)


class _SignalledChild:
    """The command as a receiver of forwarded signals."""

    process: subprocess.Popen[bytes] | None = None

    def running(self) -> int:
        """The process id of the command. 0 before it starts and after it has ended."""
        return self.process.pid if self.process is not None and self.process.returncode is None else 0


def _end(child: subprocess.Popen[bytes]) -> int:
    """Ends a command whose time is up, with SIGKILL if SIGTERM is not enough. Returns the status 0."""
    child.terminate()
    try:
        child.wait(2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    return 0


def _status(returned: int) -> int:
    return 128 - returned if returned < 0 else returned


class ProfileBuilder:
    """Sums of samples and page faults, from which a profile is made."""

    def __init__(self) -> None:
        self.stacks: Counter[tuple[int | None, str | None, str, str]] = Counter()
        self.segments: dict[str, list[int | None]] = {}
        self.build_ids: dict[str, str] = {}
        self.lost: Counter[str] = Counter()

    def add(self, profile_data: dict[str, Any]) -> None:
        for process, stack, samples in profile_data["stacks"]:
            self.stacks[None, None, process, stack] += samples
        for name, minor, major, samples in profile_data["segments"]:
            self.add_segment(name, (samples, minor, major))
        self.build_ids.update(profile_data["build_ids"])
        for count, reason in profile_data["lost"]:
            self.lost[reason] += count

    def add_segment(self, name: str, counts: Sequence[int | None]) -> None:
        sums = self.segments.setdefault(name, [None, None, None])
        for index, count in enumerate(counts):
            if count is not None:
                sums[index] = (sums[index] or 0) + count

    def profile(
        self, subject: str, seconds: float | None, hz: int | None, notes: tuple[str, ...], status: int
    ) -> Profile:
        stacks = [
            Stack(user, command, process, tuple(map(frame_of, stack.split(";"))), samples)
            for (user, command, process, stack), samples in self.stacks.most_common()
        ]
        segments = [Segment(name, *counts) for name, counts in self.segments.items()]
        segments.sort(
            key=lambda segment: (
                -(segment.samples or 0),
                -(segment.faults_minor or 0) - (segment.faults_major or 0),
                segment.name,
            )
        )
        lost = tuple((count, reason) for reason, count in self.lost.items())
        return Profile(subject, seconds, hz, tuple(stacks), tuple(segments), self.build_ids, lost, notes, status)


def _reason_without_profile(meters_section: Mapping[str, Any]) -> str:
    tier = meters_section.get("tier", "none")
    if tier in ("none", "cheap", "sampled"):
        return f"its meters were {tier}; `--meters cheap,profile` records one"
    return "its host did not allow the clock"


def _tables_with_profile(run: str | PathLike[str], host: str | None) -> Tables:
    """The tables of a run on one host, of the `host` of a run on several, or of all hosts of a metering of several."""
    from loadgo.records.fleet_tables import tables_of_one_host
    from loadgo.records.fleets import is_metering_of_hosts
    from loadgo.records.tables import tables

    if host is None and is_metering_of_hosts((recorded := tables(run)).conditions):
        return recorded
    return tables_of_one_host(run, "`loadgo profile`", host)


def profile_of(run: str | PathLike[str], host: str | None = None) -> Profile:
    """The profile of a recorded run, or of one of its hosts. Raises `BadRun` if it has none.

    That of a metering of several hosts has the host before the name of each process.
    """
    from loadgo.records.fleets import HOST_COLUMN

    run_tables = _tables_with_profile(run, host)
    builder = ProfileBuilder()
    for row in run_tables.stacks.iter_rows(named=True):
        whose = f"{row[HOST_COLUMN]}: " if HOST_COLUMN in row and host is None else ""
        builder.stacks[row["user"], row["command"], f"{whose}{row['process']}", row["stack"]] += row["samples"]
    for row in run_tables.segments.iter_rows(named=True):
        if row["user"] is None:
            builder.add_segment(row["segment"], (row["samples"], row["faults_minor"], row["faults_major"]))
    if not builder.stacks and not builder.segments:
        raise BadRun(f"this run has no profile: {_reason_without_profile(run_tables.conditions.get('meters', {}))}")
    if not any(counts[0] for counts in builder.segments.values()):
        for (_, _, _, stack), samples in builder.stacks.items():
            builder.add_segment(frame_of(stack.rsplit(";", 1)[-1]).segment, (samples, None, None))
    conditions = run_tables.conditions
    subject = f"run {conditions.get('id', run)}" + (f", host {host}" if host is not None else "")
    return builder.profile(subject, conditions.get("wall_s"), None, (), 0)
