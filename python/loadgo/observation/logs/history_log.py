"""A shell history as a log: each sitting is a session, and pauses count in whole seconds."""

from __future__ import annotations

from loadgo.errors import Refused
from loadgo.notation.figures import number
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
_FEWEST_STEPS = 5
"""Time may go back anywhere among fewer lines."""


def read_history_log(source: SourceFile) -> LogRead:
    """Reads a history. Raises `Refused` if fewer than two lines have a time, or time goes back at most of them."""
    history = read_history(source)
    steps, backwards = len(history.lines) - 1, pauses(history.lines).backwards
    if steps >= _FEWEST_STEPS and backwards > steps / 2:
        raise Refused(
            f"{source.name}: time goes back at {number(backwards)} of {number(steps)} lines: give the lines in the "
            "order in which they were typed, the oldest first"
        )
    return _as_log(history)


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
        left_out=history.untimed + history.yet_to_come,
        has_people=False,
        notes=(
            *counted_note(history.untimed, "line", "lines", "without a time, or further lines of a command"),
            *counted_note(history.yet_to_come, "line", "lines", "with a time that is yet to come"),
            *counted_note(
                between.backwards, "place", "places", "where time goes back (a clock was set, or a session began)"
            ),
            *counted_note(max(history.growth_bytes, 0), "byte", "bytes", "written while the records were read"),
        ),
    )
