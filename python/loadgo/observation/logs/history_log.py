"""A shell history as a log: each sitting is a session, and pauses count in whole seconds."""

from __future__ import annotations

from loadgo.observation.history import HistoryRead, pauses, read_history, sittings
from loadgo.observation.logs.log_read import (
    LoggedCommand,
    LoggedSession,
    LogRead,
    MeasuredPauses,
    MeasuredTyping,
    counted_note,
    with_pauses,
)
from loadgo.observation.source_files import SourceFile

_SECOND_NS = 1_000_000_000


def read_history_log(source: SourceFile) -> LogRead:
    """Reads a history. Raises `Refused` if fewer than two of its lines have a time."""
    return _as_log(read_history(source))


def _as_log(history: HistoryRead) -> LogRead:
    between = pauses(history.lines)
    sessions = []
    for lines in sittings(history.lines):
        commands = with_pauses(
            [
                LoggedCommand(line.name, line.began_s * _SECOND_NS, line.length_s and line.length_s * _SECOND_NS)
                for line in lines
            ]
        )
        ended_s = lines[-1].began_s + (lines[-1].length_s or 0)
        sessions.append(LoggedSession("", lines[0].began_s * _SECOND_NS, ended_s * _SECOND_NS, commands))
    return LogRead(
        kind="shell history",
        sessions=tuple(sessions),
        pauses=MeasuredPauses(
            tuple(seconds * _SECOND_NS for seconds in between.seconds), between.absences, between.is_upper_bound
        ),
        typing=MeasuredTyping(),
        records=len(history.lines),
        left_out=history.untimed,
        has_people=False,
        notes=(
            *counted_note(history.untimed, "line", "lines", "without a time, or further lines of a command"),
            *counted_note(
                between.backwards, "place", "places", "where time goes back (a clock was set, or a session began)"
            ),
            *counted_note(max(history.growth_bytes, 0), "byte", "bytes", "written while the records were read"),
        ),
    )
