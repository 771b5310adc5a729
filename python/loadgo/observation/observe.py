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
from loadgo.observation.history import HistoryRead, read_history, sittings
from loadgo.observation.known_figures import accounting_figures, history_figures
from loadgo.observation.program_names import NamesKept, name_keeper
from loadgo.observation.results import Observation, SourceRead, ThinkTimes
from loadgo.observation.script_text import script_text
from loadgo.observation.sessions import CommandUse, ObservedSession, SessionsFound, find_sessions
from loadgo.observation.source_files import SourceKind, opened_source
from loadgo.observation.think_times import think_times
from loadgo.observation.workload import observed_commands, user_groups
from loadgo.running.prepared import line_count
from loadgo.running.record import check_free, write_private

_DEFAULT_NAME = "observed"


@dataclass(frozen=True)
class _Records:
    """The contents of the files of records: each kind in the order of the files."""

    accounting: tuple[AccountingRead, ...] = ()
    histories: tuple[HistoryRead, ...] = ()

    @property
    def kind(self) -> SourceKind:
        return "process accounting" if self.accounting else "shell history"


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
        sources: Files of one kind: process accounting of version 3, or shell histories with times.
        think_from: Shell histories with times, for the think times. By default those among `sources`.
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
    if read.histories and (users or without_users):
        raise BadArgument("a history has no names of users: name the histories of the people you want").about("users")
    think_paths = [think_from] if isinstance(think_from, str | PathLike) else list(think_from)
    think_read = _read_think_sources(think_paths)
    observed = (
        _sessions_of_accounting(
            read.accounting, names, _numbers(users, "users"), _numbers(without_users, "without_users")
        )
        if read.accounting
        else _sessions_of_histories(read.histories, names)
    )
    if not observed.sessions:
        raise Refused(_nothing_left(read))
    think = think_times(think_read or read.histories)
    made = _observation(path, read, think_read, observed, think)
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
        with opened_source(path) as source:
            if source.kind == "process accounting":
                read = replace(read, accounting=(*read.accounting, read_accounting(source)))
            else:
                read = replace(read, histories=(*read.histories, read_history(source)))
        if read.accounting and read.histories:
            raise BadArgument(
                "process accounting and a history cannot both say which commands there were: give the history as "
                "`think_from`"
            ).about("think_from")
    return read


def _read_think_sources(paths: Iterable[str | PathLike[str]]) -> tuple[HistoryRead, ...]:
    read = []
    for path in paths:
        with opened_source(path) as source:
            if source.kind != "shell history":
                raise BadArgument(f"{source.name} has no think times: `think_from` is a shell history").about(
                    "think_from"
                )
            read.append(read_history(source))
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


def _sessions_of_histories(files: Sequence[HistoryRead], names: NamesKept) -> _Observed:
    keep_name = name_keeper(names)
    sessions = []
    for person, file in enumerate(files):
        for lines in sittings(file.lines):
            uses = tuple(_use_of_line(keep_name(line.name), line.length_s) for line in lines)
            ended_s = lines[-1].began_s + (lines[-1].length_s or 0)
            sessions.append(ObservedSession(person, lines[0].began_s, ended_s, uses))
    untimed = sum(file.untimed for file in files)
    notes = (
        (f"{untimed:,} line{'' if untimed == 1 else 's'} without a time, or further lines of a command.",)
        if untimed
        else ()
    )
    return _Observed(tuple(sessions), notes)


def _use_of_line(name: str, length_s: int | None) -> CommandUse:
    return CommandUse(name, elapsed_ns=None if length_s is None else length_s * 1_000_000_000)


def _nothing_left(read: _Records) -> str:
    processes = sum(file.processes for file in read.accounting)
    return (
        f"no command is left of {processes:,} processes: none of these people has a process at a terminal in these "
        "records; name others, or records of a longer time"
    )


def _losses(read: _Records) -> tuple[str, ...]:
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
    return tuple(warnings)


def _source_rows(read: _Records, think_read: Sequence[HistoryRead]) -> tuple[SourceRead, ...]:
    kind: SourceKind = "shell history"
    rows = [SourceRead("process accounting", file.processes, file.damaged, "commands") for file in read.accounting]
    rows += [SourceRead(kind, len(file.lines), file.untimed, "commands") for file in read.histories]
    rows += [SourceRead(kind, len(file.lines), file.untimed, "think times") for file in think_read]
    return tuple(rows)


def _observation(
    path: Path | None,
    read: _Records,
    think_read: Sequence[HistoryRead],
    observed: _Observed,
    think: ThinkTimes | None,
) -> Observation:
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
        known=accounting_figures(think) if read.accounting else history_figures(think, read.histories),
        notes=observed.notes,
        warnings=_losses(read),
    )
    return replace(observation, text=script_text(observation))
