"""Where a clock finds the processors, and which segment faults: the clock profile and the page trace of a live host.

A sample is a look at a processor on a clock: whose program, which segment (a mapped file, `[kernel]`, `[heap]`, …),
which function and who called it. Shares are estimates: of n samples a share p is off by sqrt(p (1 − p) / n), and by
what callers without frame pointers hide. Page faults are counted, each.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from os import PathLike
from typing import Any

from loadgo.errors import BadArgument, BadRun, Refused
from loadgo.running.command_meter import checked_program, passing_on
from loadgo.running.stopping import asked_to_stop

EVERY_S = 1.0
HZ = 1000
MOST_HZ = 20_000
INTERRUPTED = 130
"""The exit status of who was asked to stop."""


@dataclass(frozen=True)
class Frame:
    """A function on a stack."""

    segment: str
    """The mapped file by its path, or a name in brackets."""
    function: str
    """Its name; its offset where it has none; empty where nothing is known."""

    @property
    def text(self) -> str:
        """As the records write it."""
        return f"{self.segment}`{self.function}" if self.function else self.segment

    @property
    def place(self) -> str:
        """Where it is, for people: the function; of a file without symbols the file as one; the segment elsewhere."""
        if self.function and not self.function.startswith("0x"):
            return self.function
        return f"no symbols ({self.segment.rsplit('/', 1)[-1]})" if self.segment.startswith("/") else self.segment


@dataclass(frozen=True)
class Stack:
    """A stack, and how often it was found."""

    user: int | None
    command: str | None
    process: str
    frames: tuple[Frame, ...]
    """The outermost first."""
    samples: int


@dataclass(frozen=True)
class Segment:
    """What a segment came to."""

    name: str
    samples: int | None
    """None is not measured, never 0."""
    faults_minor: int | None
    faults_major: int | None


@dataclass(frozen=True)
class Profile:
    """A profile, of now or of a run."""

    of: str
    """The host, a command, or a run."""
    seconds: float | None
    hz: int | None
    """Samples a second of each busy processor; None where the records do not say."""
    stacks: tuple[Stack, ...]
    segments: tuple[Segment, ...]
    build_ids: dict[str, str] = field(default_factory=dict)
    """Of files, in hexadecimal."""
    lost: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()
    status: int = 0
    """The exit status of the command."""

    @property
    def samples(self) -> int:
        """All of them."""
        return sum(segment.samples or 0 for segment in self.segments) or sum(stack.samples for stack in self.stacks)

    def off(self, samples: int) -> float:
        """How far the share of so many samples may be off, one standard deviation of a binomial law."""
        share = samples / max(self.samples, 1)
        return sqrt(share * (1 - share) / max(self.samples, 1))


def frame_of(text: str) -> Frame:
    """A frame as the records write it: SEGMENT`FUNCTION, or a segment, or a function alone."""
    segment, mark, function = text.rpartition("`")
    if mark:
        return Frame(segment, function)
    return Frame(text, "") if text.startswith(("[", "/")) else Frame("[unknown]", text)


def profile(
    command: str | Sequence[str] = (), *, duration: str | float | None = None, hz: int = HZ, of: Any = None
) -> Profile:
    """Profiles this host for `duration` (10 s by default), or `command` while it runs, or tells of a run (`of`).

    Raises `Refused` where the host does not let us, `BadRun` for a run without a profile.
    """
    if of is not None:
        return profile_of(of)
    if not 1 <= hz <= MOST_HZ:
        raise BadArgument(f"`hz={hz}`: a clock has 1 to {MOST_HZ} Hz").about("hz")
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if words:
        checked_program(words[0])
    seconds = _seconds(duration)
    return _live(words, seconds if seconds is not None or words else 10.0, hz)


def _seconds(duration: str | float | None) -> float | None:
    if duration is None or isinstance(duration, (int, float)):
        return duration
    from loadgo.notation.quantities import span_s

    return span_s(duration, "duration")


def _live(command: list[str], seconds: float | None, hz: int) -> Profile:
    from loadgo import _loadgo

    live = _loadgo.LiveProfile(hz, bool(command))
    found = _Found()
    began = time.monotonic()
    try:
        status = _watch(live, command, seconds, found)
        ended = time.monotonic()
        found.add(live.sample())
        notes = tuple(live.notes())
    finally:
        live.close()
    of = shlex.join(command) if command else "this host"
    return found.profile(of, ended - began, hz, notes, status)


def _watch(live: Any, command: list[str], seconds: float | None, found: _Found) -> int:
    """Adds to `found` until the time is up, the command has ended, or an interrupt; the exit status."""
    end = inf if seconds is None else time.monotonic() + seconds
    if command:
        return _watch_command(live, command, end, found)
    with asked_to_stop() as stop:
        while not stop.wait(min(EVERY_S, max(end - time.monotonic(), 0))) and time.monotonic() < end:
            found.add(live.sample())
        return INTERRUPTED if stop.is_set() else 0


def _watch_command(live: Any, command: list[str], end: float, found: _Found) -> int:
    """Signals are the command's, which ends it, or not."""
    child = _Child()
    with passing_on(child) as signals:
        try:
            child.begun = subprocess.Popen(command)
        except OSError as error:
            raise Refused(f"{command[0]} cannot be run: {error.strerror}") from None
        if signals.came is not None:  # before it could be passed on
            child.begun.send_signal(signals.came)
        while time.monotonic() < end:
            try:
                return _status(child.begun.wait(min(EVERY_S, max(end - time.monotonic(), 0))))
            except subprocess.TimeoutExpired:
                found.add(live.sample())
        return _ended(child.begun)


class _Child:
    """The command, for whoever passes signals on to it."""

    begun: subprocess.Popen[bytes] | None = None

    def running(self) -> int:
        """Its process, 0 before it is there and when it is gone."""
        return self.begun.pid if self.begun is not None and self.begun.returncode is None else 0


def _ended(child: subprocess.Popen[bytes]) -> int:
    """The status of a command whose time is up: it is asked to end, and made to when it does not."""
    child.terminate()
    try:
        child.wait(2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    return 0


def _status(returned: int) -> int:
    return 128 - returned if returned < 0 else returned


class _Found:
    """What samples add up to."""

    def __init__(self) -> None:
        self.stacks: Counter[tuple[int | None, str | None, str, str]] = Counter()
        self.segments: dict[str, list[int | None]] = {}
        self.build_ids: dict[str, str] = {}
        self.lost: Counter[str] = Counter()

    def add(self, told: dict[str, Any]) -> None:
        for process, stack, samples in told["stacks"]:
            self.stacks[None, None, process, stack] += samples
        for name, minor, major, samples in told["segments"]:
            self.add_segment(name, (samples, minor, major))
        self.build_ids.update(told["build_ids"])
        for count, what in told["lost"]:
            self.lost[what] += count

    def add_segment(self, name: str, counts: Sequence[int | None]) -> None:
        sums = self.segments.setdefault(name, [None, None, None])
        for place, count in enumerate(counts):
            if count is not None:
                sums[place] = (sums[place] or 0) + count

    def profile(self, of: str, seconds: float | None, hz: int | None, notes: tuple[str, ...], status: int) -> Profile:
        stacks = [
            Stack(user, command, process, tuple(map(frame_of, stack.split(";"))), samples)
            for (user, command, process, stack), samples in self.stacks.most_common()
        ]
        segments = [Segment(name, *counts) for name, counts in self.segments.items()]
        segments.sort(
            key=lambda one: (-(one.samples or 0), -(one.faults_minor or 0) - (one.faults_major or 0), one.name)
        )
        lost = tuple((count, what) for what, count in self.lost.items())
        return Profile(of, seconds, hz, tuple(stacks), tuple(segments), self.build_ids, lost, notes, status)


def profile_of(run: str | PathLike[str]) -> Profile:
    """The profile of a run that was recorded. Raises `BadRun` when it has none."""
    from loadgo.records.tables import tables

    told = tables(run)
    found = _Found()
    for row in told.stacks.iter_rows(named=True):
        found.stacks[row["user"], row["command"], row["process"], row["stack"]] += row["samples"]
    for row in told.segments.iter_rows(named=True):
        if row["user"] is None:
            found.add_segment(row["segment"], (row["samples"], row["faults_minor"], row["faults_major"]))
    if not found.stacks and not found.segments:
        raise BadRun("there is no profile in this run: no clock looked at it (it had no meters, or they were not here)")
    if not any(counts[0] for counts in found.segments.values()):
        for (_, _, _, stack), samples in found.stacks.items():
            found.add_segment(frame_of(stack.rsplit(";", 1)[-1]).segment, (samples, None, None))
    conditions = told.conditions
    return found.profile(f"run {conditions.get('id', run)}", conditions.get("wall_s"), None, (), 0)
