"""Reads the history of atuin: an SQLite file with a row for each line, when it began and how long it took."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import quote

from loadgo.errors import Refused
from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.logs.log_read import (
    ABSENCE_NS,
    CLOCK_STEP_NS,
    LoggedCommand,
    LoggedSession,
    LogRead,
    MeasuredPauses,
    MeasuredTyping,
    counted_note,
    with_pauses,
)
from loadgo.observation.program_names import known_names, typed_name
from loadgo.observation.source_files import SourceFile

_MOST_READ_BYTES = 4096
"""Bytes of a line that are looked at for the name of a program."""
_MOST_TEXT_BYTES = 256
_LATEST_NS = 1 << 62
_COLUMNS = ("timestamp", "duration", "command", "session", "hostname")
_DAMAGE = (sqlite3.Error, UnicodeDecodeError, OverflowError)
"""Errors of a damaged file: SQLite's, and that its words about it are no text."""
_STEPS_BETWEEN_CHECKS = 100_000
_MOST_CHECKS = 100_000
"""Bounds the work of one query: 10,000,000,000 steps of SQLite's machine, some minutes."""


@dataclass
class _AtuinTotals:
    """The lines of a history, and counts of the others."""

    limit: CommandLimit
    lines: dict[tuple[str, str], list[LoggedCommand]] = field(default_factory=lambda: defaultdict(list))
    """The lines of each session, by its person and number."""
    rows: int = 0
    damaged: int = 0
    unfinished: int = 0
    deleted: int = 0


def read_atuin(source: SourceFile) -> LogRead:
    """Reads a history. It is opened to be read alone. Raises `Refused` if it is damaged, or has no line."""
    totals = _AtuinTotals(CommandLimit(source.name))
    losses: list[str] = []
    try:
        with closing(_connected(source)) as connection:
            _check_table(source, connection)
            try:
                _read_rows(connection, totals)
            except _DAMAGE as error:
                losses.append(f"is damaged behind row {totals.rows:,} ({_error_name(error)}); the rest is not read.")
    except _DAMAGE as error:
        raise Refused(
            f"{source.name} cannot be read as a database of SQLite ({_error_name(error)}): copy it with its file -wal"
        ) from None
    if not totals.limit.commands:
        raise Refused(f"{source.name}: none of its {totals.rows:,} rows is a line with a time and a duration")
    sessions, pauses, steps = _sessions(totals)
    if totals.damaged:
        which = "row" if totals.damaged == 1 else "rows"
        losses.append(f"has {totals.damaged:,} {which} whose values cannot be, left out.")
    return LogRead(
        kind="atuin history",
        sessions=sessions,
        pauses=pauses,
        typing=MeasuredTyping(),
        records=totals.rows,
        left_out=totals.damaged + totals.unfinished + totals.deleted,
        notes=(
            *counted_note(totals.unfinished, "line", "lines", "without a duration: imported, or still running"),
            *counted_note(totals.deleted, "line", "lines", "that the person deleted"),
            *counted_note(steps, "clock step", "clock steps", "back; a new session begins behind each"),
        ),
        losses=tuple(losses),
    )


def _error_name(error: Exception) -> str:
    """SQLite's name of an error. Its words may have bytes of the file, which may have been typed."""
    return getattr(error, "sqlite_errorname", "no text")


def _connected(source: SourceFile) -> sqlite3.Connection:
    """The open database. Without a log of changes beside it, it is opened so that SQLite writes no file beside it."""
    wal = f"{source.name}-wal"
    has_changes = os.path.exists(wal) and os.path.getsize(wal) > 0
    uri = f"file:{quote(os.fsencode(os.path.abspath(source.name)))}?mode=ro{'' if has_changes else '&immutable=1'}"
    connection = sqlite3.connect(uri, uri=True)
    connection.text_factory = bytes
    checks = iter(range(_MOST_CHECKS))
    connection.set_progress_handler(lambda: int(next(checks, None) is None), _STEPS_BETWEEN_CHECKS)
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "mmap_size=0", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _check_table(source: SourceFile, connection: sqlite3.Connection) -> None:
    """Raises `Refused` unless the file has a plain table of atuin's: a view could do anything."""
    plain = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name = 'history' AND type = 'table' AND sql LIKE 'CREATE TABLE%'"
    ).fetchone()[0]
    columns = {row[1] for row in connection.execute("PRAGMA table_xinfo(history)") if row[6] == 0} if plain else set()
    missing = [name for name in _COLUMNS if name.encode() not in columns]
    if missing:
        raise Refused(
            f"{source.name} is a database of SQLite, but no history of atuin: its table `history` lacks "
            f"`{missing[0]}`; atuin's own is ~/.local/share/atuin/history.db"
        )


def _read_rows(connection: sqlite3.Connection, totals: _AtuinTotals) -> None:
    """Reads the rows in the order in which they lie. SQLite does not sort them, so it writes none to a file."""
    has_deleted = any(row[1] == b"deleted_at" for row in connection.execute("PRAGMA table_xinfo(history)"))
    names = known_names()
    rows = connection.execute(
        f"SELECT timestamp, duration, substr(CAST(command AS BLOB), 1, {_MOST_READ_BYTES}), "
        f"substr(CAST(session AS BLOB), 1, {_MOST_TEXT_BYTES}), substr(CAST(hostname AS BLOB), 1, {_MOST_TEXT_BYTES}), "
        f"{'deleted_at IS NOT NULL' if has_deleted else '0'} FROM history NOT INDEXED"
    )
    for began_ns, length_ns, line, session, host, is_deleted in rows:
        totals.rows += 1
        if not isinstance(began_ns, int) or not 0 < began_ns < _LATEST_NS or not isinstance(length_ns, int):
            totals.damaged += 1
        elif is_deleted:
            totals.deleted += 1
        elif length_ns < 0:
            totals.unfinished += 1
        elif length_ns >= _LATEST_NS or began_ns + length_ns >= _LATEST_NS:
            totals.damaged += 1
        else:
            totals.limit.count()
            person = _text(host).rpartition(":")[2]
            totals.lines[person, _text(session)].append(
                LoggedCommand(typed_name(line or b"", names), began_ns, length_ns)
            )


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _sessions(totals: _AtuinTotals) -> tuple[tuple[LoggedSession, ...], MeasuredPauses, int]:
    """The lines between absences, the pauses, and the number of clock steps."""
    sessions, spans_ns, absences, steps = [], [], 0, 0
    for (person, _), lines in totals.lines.items():
        part: list[LoggedCommand] = []
        for line in lines:
            pause_ns = line.began_ns - _end_ns(part[-1]) if part else 0
            if pause_ns < -CLOCK_STEP_NS or pause_ns > ABSENCE_NS:
                steps, absences = steps + (pause_ns < 0), absences + (pause_ns > 0)
                sessions.append(_session(person, part))
                part = []
            elif part:
                spans_ns.append(max(pause_ns, 0))
            part.append(line)
        sessions.append(_session(person, part))
    sessions.sort(key=lambda session: session.began_ns)
    return tuple(sessions), MeasuredPauses(tuple(spans_ns), absences), steps


def _session(person: str, lines: list[LoggedCommand]) -> LoggedSession:
    return LoggedSession(person, lines[0].began_ns, _end_ns(lines[-1]), with_pauses(lines))


def _end_ns(line: LoggedCommand) -> int:
    return line.began_ns + (line.elapsed_ns or 0)
