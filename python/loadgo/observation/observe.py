"""Makes a script from records of what a host's own users did, without anything that they typed."""

from __future__ import annotations

import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from loadgo.errors import BadArgument, Refused
from loadgo.observation.accounting import RECORD_BYTES, AccountingRead, read_accounting
from loadgo.observation.classes import divide
from loadgo.observation.hours import hours_of_day
from loadgo.observation.known_figures import accounting_figures, log_figures
from loadgo.observation.logs.log_read import LogRead
from loadgo.observation.logs.readers import LOG_READERS, THINK_KINDS
from loadgo.observation.logs.sudo_logs import read_sudo_logs
from loadgo.observation.people import chosen_sessions
from loadgo.observation.program_names import NamesKept, name_keeper
from loadgo.observation.results import Observation, SourceRead
from loadgo.observation.script_text import script_text
from loadgo.observation.sessions import CommandUse, ObservedSession, SessionsFound, find_sessions
from loadgo.observation.source_files import opened_folder, opened_source
from loadgo.observation.think_times import think_times, typing_times
from loadgo.observation.workload import observed_commands, user_groups
from loadgo.running.prepared import line_count
from loadgo.running.record import check_free, write_private

_DEFAULT_NAME = "observed"


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


def observe(
    *sources: str | PathLike[str],
    think_from: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    output: str | PathLike[str] | None = None,
    users: Sequence[str | int] = (),
    without_users: Sequence[str | int] = (),
    names: NamesKept = "all",
    force: bool = False,
) -> Observation:
    """Makes a script from records of what a host's own users did. Names of programs are all that it keeps of a text.

        print(loadgo.observe("/var/log/account/pacct", think_from=".bash_history").report("text"))

    Args:
        sources: Records of one kind: process accounting of version 3, shell histories with times, folders of sudo's I/O
            logs, recordings of tlog, logs of auditd, or histories of atuin. Their contents show the kind.
        think_from: Records with think times (all but accounting and auditd's). By default those among `sources`.
        output: The script that is written. Only this user may read it. By default none; `Observation.text` has it.
        users: The people whose commands count, by name or number. By default all.
        without_users: People who are left out.
        names: `all`, or `none`: programs get names that are hashed with a key that nothing keeps.
        force: Whether an existing `output` is replaced.

    Returns:
        `Observation` with the script, the classes of users, their commands with synthetic jobs, the law of the think
        times, and a list of what is known from which record.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Refused: A file holds no records that can be read, no command is left, or `output` exists.

    See docs/observe.md for the rules.
    """
    path = None if output is None else Path(output)
    if path is not None:
        check_free(path, force)
    _check(sources, names)
    read = _read_sources(sources)
    think_paths = [think_from] if isinstance(think_from, str | PathLike) else list(think_from)
    think_read = _read_think_sources(think_paths)
    observed = (
        _sessions_of_accounting(
            read.accounting, names, _numbers(users, "users"), _numbers(without_users, "without_users")
        )
        if read.accounting
        else _sessions_of_logs(read.logs, names, users, without_users)
    )
    if not observed.sessions:
        raise Refused(_nothing_left(read))
    made = _observation(path, read, think_read, observed)
    line_count(made.text)
    if path is not None:
        write_private(path, made.text, force)
    return made


def _check(sources: Sequence[object], names: str) -> None:
    if not sources:
        raise BadArgument("no records are given: name a file of process accounting or a history by `sources`").about(
            "sources"
        )
    if names not in ("all", "none"):
        raise BadArgument(f"`names={names}` is neither all nor none").about("names")


def _read_sources(paths: Iterable[str | PathLike[str]]) -> _Records:
    """Reads all files. Raises `BadArgument` for files of two kinds."""
    read = _Records()
    for path in paths:
        part = _read_source(path)
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


def _read_source(path: str | PathLike[str]) -> AccountingRead | LogRead:
    if Path(path).is_dir():
        with opened_folder(path) as folder:
            return read_sudo_logs(folder)
    with opened_source(path) as source:
        return read_accounting(source) if source.kind == "process accounting" else LOG_READERS[source.kind](source)


def _read_think_sources(paths: Iterable[str | PathLike[str]]) -> tuple[LogRead, ...]:
    read = []
    for path in paths:
        part = _read_source(path)
        if isinstance(part, AccountingRead) or part.kind not in THINK_KINDS:
            raise BadArgument(
                f"{path} has no think times: `think_from` is a history with times, or a log of sudo or tlog"
            ).about("think_from")
        read.append(part)
    return tuple(read)


def _numbers(users: Sequence[str | int], argument: str) -> frozenset[int]:
    """The numbers of accounts, from names or numbers."""
    numbers = set()
    for user in users:
        if isinstance(user, int) or user.isdecimal():
            numbers.add(int(user))
            continue
        try:
            numbers.add(pwd.getpwnam(user).pw_uid)
        except (KeyError, ValueError):
            raise BadArgument(
                f"`{argument}`: this host has no account {user!r}; records of another host need its number"
            ).about(argument) from None
    return frozenset(numbers)


def _sessions_of_accounting(
    files: Sequence[AccountingRead], names: NamesKept, wanted: frozenset[int], unwanted: frozenset[int]
) -> _Observed:
    """The sessions of the files, which are read as one file in the order of their first records."""
    ordered = sorted((file.records for file in files if len(file.records)), key=lambda records: records["began_s"][0])
    if not ordered:
        return _Observed((), ())
    records = np.concatenate([part.astype(ordered[0].dtype) for part in ordered])
    sessions_found = find_sessions(records, name_keeper(names), wanted, unwanted)
    return _Observed(sessions_found.sessions, _notes_of_accounting(files, sessions_found))


def _notes_of_accounting(files: Sequence[AccountingRead], sessions_found: SessionsFound) -> tuple[str, ...]:
    """Sentences on the processes that are left out, and on what was written meanwhile."""
    without_terminal = sum(file.processes - file.damaged - len(file.records) for file in files)
    left_out = (
        (without_terminal, "without a terminal (services, batch jobs)"),
        (sessions_found.idle_forks, "of shells, without a program and without time (prompts)"),
        (sessions_found.orphans, "whose parent had ended before them"),
    )
    notes = [f"{count:,} process{'' if count == 1 else 'es'} {which}." for count, which in left_out if count]
    growth_bytes = sum(max(file.growth_bytes, 0) for file in files)
    if growth_bytes:
        notes.append(f"{growth_bytes:,} bytes that were written while the records were read.")
    return tuple(notes)


def _sessions_of_logs(
    logs: Sequence[LogRead], names: NamesKept, users: Sequence[str | int], without_users: Sequence[str | int]
) -> _Observed:
    keep_name = name_keeper(names)
    numbers: dict[object, int] = {}
    sessions = []
    for session in chosen_sessions(logs, users, without_users):
        person = numbers.setdefault(session.person, len(numbers))
        uses = tuple(CommandUse(keep_name(command.name), elapsed_ns=command.elapsed_ns) for command in session.commands)
        sessions.append(ObservedSession(person, session.began_ns // 10**9, session.ended_ns // 10**9, uses))
    return _Observed(tuple(sessions), tuple(note for log in logs for note in log.notes))


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
        f"no command is left of {processes:,} processes: none of these people has a process at a terminal in these "
        "records; name others, or records of a longer time"
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
    rows += [SourceRead(log.kind, log.records, log.left_out, "think times") for log in think_read]
    return tuple(rows)


def _observation(path: Path | None, read: _Records, think_read: Sequence[LogRead], observed: _Observed) -> Observation:
    think_logs = think_read or read.logs
    think, typing, hours = think_times(think_logs), typing_times(think_logs), hours_of_day(observed.sessions)
    division = divide(observed.sessions)
    sessions = observed.sessions
    observation = Observation(
        text="",
        path=path,
        name=(path.stem.replace("_", " ").replace("-", " ").strip() if path else "") or _DEFAULT_NAME,
        sources=_source_rows(read, think_read),
        people=len({session.person for session in sessions}),
        sessions=len(sessions),
        span_s=float(max(session.ended_s for session in sessions) - min(session.began_s for session in sessions)),
        groups=user_groups(division.classes),
        division=division.reason,
        commands=observed_commands(division.classes),
        think=think,
        typing=typing,
        hours=hours,
        known=accounting_figures(think, typing, think_logs, hours)
        if read.accounting
        else log_figures(read.logs, think, typing, think_logs, hours),
        notes=observed.notes,
        warnings=_losses(read, think_read),
    )
    return replace(observation, text=script_text(observation))
