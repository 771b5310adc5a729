"""Watches this host's log-in sessions for a time, by kernel programs that read nothing of what is typed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loadgo.errors import BadArgument, Refused
from loadgo.notation.figures import counted, seconds
from loadgo.observation.days_of_week import days_of_week
from loadgo.observation.hours import clock_hours, hours_of_day
from loadgo.observation.known_figures import live_figures
from loadgo.observation.logs.log_read import LogRead
from loadgo.observation.material import Material, ObservedPeople
from loadgo.observation.program_names import NamesKept, name_keeper
from loadgo.observation.results import SourceRead
from loadgo.observation.sessions import CommandUse
from loadgo.observation.think_times import law_of_pauses, think_times, typing_times
from loadgo.observation.typed_lines import LinesFound, TypedLine, find_lines
from loadgo.running.stopping import catch_stop_signals

_GATHER_PERIOD_S = 0.25
"""Time between two readings of the kernel's records, which have room for 5,000 lines."""

MOST_ACCOUNTS = 4096
"""Number of people that the kernel's programs can tell apart (`people` in `lines.h`)."""


@dataclass(frozen=True)
class WatchState:
    """The state of an observation under way."""

    elapsed_s: float
    lines: int
    sessions: int
    open_sessions: int


@dataclass(frozen=True)
class Watched:
    """Lines that were seen, and losses."""

    lines: Sequence[TypedLine]
    epoch_ns: int
    """The time of the lines' clock zero since 1970."""
    length_s: float
    is_stopped: bool
    """Whether a signal ended the observation before its time."""
    unfinished: int
    """Number of lines that had not ended at the end."""
    strays: int
    """Number of processes that ended long after their line."""
    losses: Sequence[tuple[int, str]]


def watch_sessions(
    length_s: float, people: ObservedPeople, progress: Callable[[WatchState], None] | None = None
) -> Watched:
    """Watches for `length_s`, or until a stop signal. Raises `Refused` where the kernel takes no programs."""
    from loadgo import _loadgo

    chosen_count = len(people.wanted | people.left_out)
    if chosen_count > MOST_ACCOUNTS:
        raise BadArgument(
            f"`users` and `without_users` have {chosen_count:,} people, and a live observation takes {MOST_ACCOUNTS:,}"
        ).about("users", "without_users")

    with catch_stop_signals() as stop:
        observer = _loadgo.SessionObserver(sorted(people.wanted), sorted(people.left_out))
        try:
            began_s = time.monotonic()
            while (left_s := began_s + length_s - time.monotonic()) > 0 and not stop.wait(
                min(_GATHER_PERIOD_S, left_s)
            ):
                lines, sessions, open_sessions = observer.gather()
                if progress is not None:
                    progress(WatchState(time.monotonic() - began_s, lines, sessions, open_sessions))
            return _watched(observer.gathered(), time.monotonic() - began_s, is_stopped=stop.is_set())
        finally:
            observer.close()


def _watched(gathered: dict[str, Any], length_s: float, *, is_stopped: bool) -> Watched:
    return Watched(
        lines=gathered["lines"],
        epoch_ns=time.time_ns() - gathered["now_ns"],
        length_s=length_s,
        is_stopped=is_stopped,
        unfinished=gathered["unfinished"],
        strays=gathered["strays"],
        losses=gathered["losses"],
    )


def material_of_sessions(
    watched: Watched, think_read: Sequence[LogRead], think_sources: Sequence[SourceRead], names: NamesKept
) -> Material:
    """The sessions of an observation. Raises `Refused` if nobody typed a command to its end."""
    lines_found = find_lines(watched.lines, name_keeper(names), watched.epoch_ns)
    if not lines_found.sessions:
        raise Refused(
            f"no command was typed and ended in {seconds(watched.length_s)}: observe for longer, and while people "
            "are logged in at terminals with a shell"
        )
    sessions = lines_found.sessions
    if think_read:
        think = think_times(think_read)
        sessions = tuple(replace(session, commands=_without_think_times(session.commands)) for session in sessions)
    else:
        pauses_ns = [use.think_ns for session in sessions for use in session.commands if use.think_ns is not None]
        think = law_of_pauses(pauses_ns, absences=lines_found.absences, first_key_ns=lines_found.first_key_ns)
    typing, clock = typing_times(think_read), clock_hours(sessions)
    hours = hours_of_day(clock)
    left_out = len(watched.lines) - sum(len(session.commands) for session in sessions)
    source = SourceRead("live observation", len(watched.lines), left_out, "commands and think times")
    return Material(
        sessions=sessions,
        span_s=watched.length_s,
        sources=(source, *think_sources),
        think=think,
        typing=typing,
        hours=hours,
        known=live_figures(think, typing, think_read, hours, sessions, at_terminal=lines_found.at_terminal),
        notes=_notes(watched, lines_found),
        warnings=tuple(f"Lost: {count:,} {what}." for count, what in watched.losses),
        rounded_steps=0,
        is_ordered=True,
        days_of_week=days_of_week(clock),
    )


def _without_think_times(commands: Sequence[CommandUse]) -> tuple[CommandUse, ...]:
    return tuple(replace(use, think_ns=None) for use in commands)


def _notes(watched: Watched, found: LinesFound) -> tuple[str, ...]:
    """Sentences on what is in no command."""
    left_out = (
        (found.idle_lines, "line", "without a program (prompts, completions)"),
        (found.shells_within, "line", "that began another shell, whose lines are a session of their own"),
        (watched.unfinished, "line", "that had not ended"),
        (watched.strays, "process", "that ended after all that is known of their line"),
    )
    return tuple(
        f"{counted(count, name) if name == 'line' else f'{count:,} process' + ('' if count == 1 else 'es')} {which}."
        for count, name, which in left_out
        if count
    )
