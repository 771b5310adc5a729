"""Reads process accounting or histories into sessions, think times, and a list of what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np

from loadgo.errors import BadArgument, Refused
from loadgo.observation.accounting import RECORD_BYTES, AccountingRead, read_accounting
from loadgo.observation.history import HistoryRead, read_history, sittings
from loadgo.observation.known_figures import accounting_figures, history_figures
from loadgo.observation.material import Material, ObservedPeople
from loadgo.observation.program_names import NamesKept, name_keeper
from loadgo.observation.results import SourceRead
from loadgo.observation.sessions import CommandUse, ObservedSession, SessionsFound, find_sessions
from loadgo.observation.source_files import SourceKind, opened_source
from loadgo.observation.think_times import think_times

_ROUNDED_STEPS = 2
"""Accounting rounds user and system time of each process down, to a step each."""


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


def material_of_records(
    sources: Sequence[str | PathLike[str]],
    think_from: Sequence[str | PathLike[str]],
    people: ObservedPeople,
    names: NamesKept,
) -> Material:
    """Reads all files. Raises `BadArgument` for files of two kinds, and `Refused` for files without commands."""
    read = _read_sources(sources)
    if read.histories and not people.are_all:
        raise BadArgument("a history has no names of users: name the histories of the people you want").about("users")
    think_read = read_think_sources(think_from)
    observed = (
        _sessions_of_accounting(read.accounting, names, people)
        if read.accounting
        else _sessions_of_histories(read.histories, names)
    )
    if not observed.sessions:
        raise Refused(_nothing_left(read))
    think = think_times(think_read or read.histories)
    return Material(
        sessions=observed.sessions,
        sources=_source_rows(read, think_read),
        think=think,
        known=accounting_figures(think) if read.accounting else history_figures(think, read.histories),
        notes=observed.notes,
        warnings=_losses(read),
        rounded_steps=_ROUNDED_STEPS,
    )


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


def read_think_sources(paths: Iterable[str | PathLike[str]]) -> tuple[HistoryRead, ...]:
    """Reads histories for their think times."""
    read = []
    for path in paths:
        with opened_source(path) as source:
            if source.kind != "shell history":
                raise BadArgument(f"{source.name} has no think times: `think_from` is a shell history").about(
                    "think_from"
                )
            read.append(read_history(source))
    return tuple(read)


def _sessions_of_accounting(files: Sequence[AccountingRead], names: NamesKept, people: ObservedPeople) -> _Observed:
    """The sessions of the files, which are read as one file in the order of their first records."""
    ordered = sorted((file.records for file in files if len(file.records)), key=lambda records: records["began_s"][0])
    if not ordered:
        return _Observed((), ())
    records = np.concatenate([part.astype(ordered[0].dtype) for part in ordered])
    sessions_found = find_sessions(records, name_keeper(names), people.wanted, people.left_out)
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
    return (*rows, *think_rows(think_read))


def think_rows(files: Sequence[HistoryRead]) -> tuple[SourceRead, ...]:
    """The sources of think times."""
    return tuple(SourceRead("shell history", len(file.lines), file.untimed, "think times") for file in files)
