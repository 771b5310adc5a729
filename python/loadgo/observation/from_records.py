"""Reads records (accounting, histories, logs) into sessions, think times, and a list of what is not known."""

from __future__ import annotations

import pwd
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from loadgo.errors import BadArgument, Refused
from loadgo.notation.figures import in_words
from loadgo.observation.accounting import MOST_RECORDS, RECORD_BYTES, AccountingRead, Records, read_accounting
from loadgo.observation.batch_jobs import BatchFound, find_batch_jobs
from loadgo.observation.days_of_week import chosen_hours, days_of_week, sessions_of_days, span_of_hours
from loadgo.observation.hours import clock_hours, hours_of_day
from loadgo.observation.known_figures import accounting_figures, log_figures
from loadgo.observation.logs.atuin_history import read_atuin
from loadgo.observation.logs.audit_log import read_audit_log
from loadgo.observation.logs.history_log import read_history_log
from loadgo.observation.logs.log_read import LoggedSession, LogRead, counted_note
from loadgo.observation.logs.sudo_logs import read_sudo_logs
from loadgo.observation.logs.tlog_messages import read_tlog
from loadgo.observation.material import ChosenPeople, Material, ObservedPeople
from loadgo.observation.program_names import NamesKept, name_keeper
from loadgo.observation.results import Days, SourceRead, ThinkTimes, TypingTimes
from loadgo.observation.sessions import CommandUse, ObservedSession
from loadgo.observation.source_files import SourceFile, SourceKind, opened_folder, opened_source
from loadgo.observation.terminal_sessions import SessionsFound, find_sessions
from loadgo.observation.think_times import law_of_pauses, think_times, typing_times

LOG_READERS: dict[SourceKind, Callable[[SourceFile], LogRead]] = {
    "shell history": read_history_log,
    "tlog recording": read_tlog,
    "audit log": read_audit_log,
    "atuin history": read_atuin,
}
"""The reader of each kind of log that is one file."""
THINK_KINDS: tuple[SourceKind, ...] = ("shell history", "atuin history", "tlog recording", "sudo I/O log")
"""The kinds of logs that have think times."""
ORDERED_KINDS: tuple[SourceKind, ...] = THINK_KINDS
"""The kinds of logs that have lines in the order in which they were typed. Of a pipeline, auditd has each stage."""
_ROUNDED_STEPS = 2
"""Accounting rounds user and system time of each process down, to a step each."""


@dataclass(frozen=True)
class _Records:
    """The contents of the files of records: each kind in the order of the files."""

    accounting: tuple[AccountingRead, ...] = ()
    logs: tuple[LogRead, ...] = ()


@dataclass(frozen=True)
class _Observed:
    """The sessions of the records, and sentences on what is in none."""

    sessions: tuple[ObservedSession, ...]
    notes: tuple[str, ...]


def material_of_records(
    sources: Sequence[str | PathLike[str]],
    think_from: Sequence[str | PathLike[str]],
    people: ChosenPeople,
    names: NamesKept,
    days: Days,
) -> Material:
    """Reads all files. Raises `BadArgument` for files of two kinds, and `Refused` for files without commands."""
    read = _read_sources(sources, people)
    think_read = read_think_sources(think_from)
    observed = (
        _sessions_of_accounting(read.accounting, names, people.by_number())
        if read.accounting
        else _sessions_of_logs(read.logs, names, people.users, people.without_users, has_own_pauses=not think_read)
    )
    if not observed.sessions:
        raise Refused(_nothing_left(read))
    think_logs = think_read or read.logs
    clock = clock_hours(observed.sessions)
    chosen = chosen_hours(clock, days)
    sessions, hours = sessions_of_days(observed.sessions, days), hours_of_day(clock, chosen)
    own_pauses = _own_pauses(sessions) if days != "all" and not think_read and read.logs else None
    think, typing = own_pauses or think_times(think_logs), typing_times(think_logs)
    return Material(
        sessions=sessions,
        span_s=_span_s(observed.sessions) if chosen is None else span_of_hours(clock, chosen),
        sources=_source_rows(read, think_read),
        think=think,
        typing=typing,
        hours=hours,
        known=accounting_figures(think, typing, think_logs, hours, sessions)
        if read.accounting
        else log_figures(read.logs, think, typing, think_logs, hours),
        notes=(
            *observed.notes,
            *counted_note(len(observed.sessions) - len(sessions), "session", "sessions", "that began on other days"),
            *(_undated_note(own_pauses, think, typing) if days != "all" else ()),
        ),
        warnings=_losses(read, think_read),
        rounded_steps=_ROUNDED_STEPS,
        is_ordered=bool(read.logs) and all(log.kind in ORDERED_KINDS for log in read.logs),
        days=days,
        days_of_week=days_of_week(clock) if days == "all" else None,
    )


def _own_pauses(sessions: Sequence[ObservedSession]) -> ThinkTimes | None:
    """The law of the pauses that these sessions have themselves; None without any."""
    pauses_ns = [use.think_ns for session in sessions for use in session.commands if use.think_ns is not None]
    return law_of_pauses(pauses_ns, absences=0)


def _undated_note(
    own_pauses: ThinkTimes | None, think: ThinkTimes | None, typing: TypingTimes | None
) -> tuple[str, ...]:
    """The times that are those of all days, whatever days are chosen."""
    whole = [*(["think times"] if think and not own_pauses else []), *(["times of typing"] if typing else [])]
    return (f"The days of {in_words(whole)}: those of all days are taken.",) if whole else ()


def _span_s(sessions: Sequence[ObservedSession]) -> float:
    return float(max(session.ended_s for session in sessions) - min(session.began_s for session in sessions))


def _read_sources(paths: Iterable[str | PathLike[str]], people: ChosenPeople) -> _Records:
    """Reads all files. Raises `BadArgument` for files of two kinds."""
    read = _Records()
    for path in paths:
        part = _read_source(path, people)
        if isinstance(part, AccountingRead):
            read = replace(read, accounting=(*read.accounting, part))
        else:
            read = replace(read, logs=(*read.logs, part))
        kinds = list(
            dict.fromkeys([*(["process accounting"] if read.accounting else []), *(x.kind for x in read.logs)])
        )
        if len(kinds) > 1:
            raise BadArgument(
                f"{kinds[0]} and {kinds[1]} cannot both say which commands there were: give the history as `think_from`"
            ).about("think_from")
    return read


def _read_source(path: str | PathLike[str], people: ChosenPeople | None = None) -> AccountingRead | LogRead:
    if Path(path).is_dir():
        with opened_folder(path) as folder:
            return read_sudo_logs(folder)
    with opened_source(path) as source:
        if source.kind != "process accounting":
            return LOG_READERS[source.kind](source)
        return read_accounting(source, people.by_number().wanted if people else ())


def read_think_sources(paths: Iterable[str | PathLike[str]]) -> tuple[LogRead, ...]:
    """Reads records with think times."""
    read = []
    for path in paths:
        part = _read_source(path)
        if isinstance(part, AccountingRead) or part.kind not in THINK_KINDS:
            raise BadArgument(
                f"{path} has no think times: `think_from` is a history with times, or a log of sudo or tlog"
            ).about("think_from")
        read.append(part)
    return tuple(read)


def _sessions_of_accounting(files: Sequence[AccountingRead], names: NamesKept, people: ObservedPeople) -> _Observed:
    """The sessions of the files, which are read as one file in the order of their first records."""
    keep_name = name_keeper(names)
    typed = find_sessions(_joined([file.records for file in files]), keep_name, people.wanted, people.left_out)
    without_terminal = _joined([file.without_terminal for file in files])
    batch = find_batch_jobs(without_terminal, keep_name, people.wanted, people.left_out)
    sessions = tuple(sorted((*typed.sessions, *batch.sessions), key=lambda session: session.began_s))
    return _Observed(sessions, _notes_of_accounting(files, typed, batch))


def _joined(parts: Sequence[Records]) -> Records:
    """The records of all files, in the order of their first records, and in the order of bytes of the first."""
    ordered = sorted((part for part in parts if len(part)), key=lambda records: records["began_s"][0])
    return np.concatenate([part.astype(ordered[0].dtype) for part in ordered]) if ordered else parts[0]


def _notes_of_accounting(
    files: Sequence[AccountingRead], sessions_found: SessionsFound, batch: BatchFound
) -> tuple[str, ...]:
    """Sentences on the processes that are left out, and on what was written meanwhile."""
    without_terminal = sum(file.processes - file.damaged - len(file.records) for file in files) - batch.processes
    left_out = (
        (without_terminal, "without a terminal and no batch jobs (services)"),
        (sessions_found.idle_forks, "of shells, without a program and without time (prompts)"),
        (sessions_found.orphans, "whose parent had ended before them"),
    )
    notes = [f"{count:,} process{'' if count == 1 else 'es'} {which}." for count, which in left_out if count]
    growth_bytes = sum(max(file.growth_bytes, 0) for file in files)
    if any(file.is_without_jobs for file in files):
        notes.append(f"Batch jobs: over {MOST_RECORDS:,} processes are too many to look for them. Give a shorter time.")
    if growth_bytes:
        notes.append(f"{growth_bytes:,} bytes that were written while the records were read.")
    return tuple(notes)


def _sessions_of_logs(
    logs: Sequence[LogRead],
    names: NamesKept,
    users: Sequence[str | int],
    without_users: Sequence[str | int],
    *,
    has_own_pauses: bool,
) -> _Observed:
    keep_name = name_keeper(names)
    numbers: dict[object, int] = {}
    sessions = []
    for session in _chosen_sessions(logs, users, without_users):
        person = numbers.setdefault(session.person, len(numbers))
        uses = tuple(
            CommandUse(
                keep_name(command.name),
                elapsed_ns=command.elapsed_ns,
                think_ns=command.think_ns if has_own_pauses else None,
            )
            for command in session.commands
        )
        sessions.append(ObservedSession(person, session.began_ns // 10**9, session.ended_ns // 10**9, uses))
    return _Observed(tuple(sessions), tuple(note for log in logs for note in log.notes))


def _chosen_sessions(
    logs: Sequence[LogRead], users: Sequence[str | int], without_users: Sequence[str | int]
) -> Iterator[LoggedSession]:
    """The sessions of the people in `users`, or of all if it is empty, but of none in `without_users`."""
    nameless = next((log.kind for log in logs if not log.has_people), None)
    if nameless and (users or without_users):
        raise BadArgument("a history has no names of users: name the histories of the people you want").about("users")
    wanted, unwanted = (frozenset(_names_and_numbers(listed)) for listed in (users, without_users))
    for log in logs:
        for session in log.sessions:
            if (not wanted or session.person in wanted) and session.person not in unwanted:
                yield session


def _names_and_numbers(users: Sequence[str | int]) -> Iterator[str]:
    """Each name, and the number of the account with this name on this host; and the other way round."""
    for user in users:
        yield str(user)
        try:
            is_number = isinstance(user, int) or user.isdecimal()
            account = pwd.getpwuid(int(user)) if is_number else pwd.getpwnam(str(user))
        except (KeyError, ValueError, OverflowError):
            continue
        yield from (account.pw_name, str(account.pw_uid))


def _nothing_left(read: _Records) -> str:
    if read.logs:
        losses = " ".join(f"it {loss}" for log in read.logs for loss in log.losses)
        left_out = " ".join(note for log in read.logs for note in log.notes)
        return (
            f"no command is left of the {read.logs[0].kind}: none of these people typed a line in these records; name "
            f"others, or records of a longer time"
            f"{f'. Losses: {losses}' if losses else ''}{f'. Left out: {left_out}' if left_out else ''}"
        )
    processes = sum(file.processes for file in read.accounting)
    return (
        f"no command is left of {processes:,} processes: none of these people has a process at a terminal or a batch "
        "job in these records; name others, or records of a longer time"
    )


def _losses(read: _Records, think_read: Sequence[LogRead]) -> tuple[str, ...]:
    """Sentences on records that are lost, each with its place."""
    warnings = []
    for number, file in enumerate(read.accounting, 1):
        which = f"Source {number}" if len(read.accounting) > 1 else "The source"
        if file.damaged:
            warnings.append(
                f"{which} has {file.damaged:,} damaged record{'' if file.damaged == 1 else 's'}, left out; the first "
                f"is at byte {file.first_damage_byte:,}."
            )
        if 0 < file.cut_bytes < RECORD_BYTES:
            warnings.append(f"{which} ends within a record: its last {file.cut_bytes} bytes are left out.")
        if file.growth_bytes < 0:
            warnings.append(f"{which} was cut while it was read: records are missing.")
    for number, log in enumerate(read.logs, 1):
        which = f"Source {number}" if len(read.logs) > 1 else "The source"
        warnings += [f"{which} {loss}" for loss in log.losses]
    warnings += [f"A source of the think times {loss}" for log in think_read for loss in log.losses]
    return tuple(warnings)


def _source_rows(read: _Records, think_read: Sequence[LogRead]) -> tuple[SourceRead, ...]:
    rows = [SourceRead("process accounting", file.processes, file.damaged, "commands") for file in read.accounting]
    rows += [SourceRead(log.kind, log.records, log.left_out, "commands") for log in read.logs]
    return (*rows, *think_rows(think_read))


def think_rows(logs: Sequence[LogRead]) -> tuple[SourceRead, ...]:
    """The sources of think times."""
    return tuple(SourceRead(log.kind, log.records, log.left_out, "think times") for log in logs)
