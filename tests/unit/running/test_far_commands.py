"""Rows by command of another host: a command stands only where the agent had surely heard of the line."""

from typing import Any

import polars as pl
import pytest
from loadgo.running.elsewhere.typed_commands import UNKNOWN_COMMAND, commands_note, has_commands, with_sure_commands
from support.synthetic import frame, interaction

S = 1_000_000_000
MS = 1_000_000


def line(number: int, sent_s: float, response_s: float = 0.5, user: int = 1) -> dict[str, Any]:
    return interaction(user, sent_s, response_s, line=number, command=f"command {number}")


def heard(number: int, at_s: float, user: int = 1) -> dict[str, Any]:
    return {"user": user, "at_ns": round(at_s * S), "span_ns": MS, "line": number, **_NO_TICKS}


_NO_TICKS = {"user_ticks_us": 0, "system_ticks_us": 0}


def fault(end_s: int, command: str | None, user: int | None = 1) -> dict[str, Any]:
    return {"at_ns": end_s * S, "span_ns": S, "kind": "minor", "user": user, "command": command, "count": 1}


def commands(
    lines: list[dict[str, Any]], told: list[dict[str, Any]], faults: list[dict[str, Any]], bound_ms: float = 1
) -> tuple[list[str | None], int, int]:
    """The commands of the faults afterwards, and the numbers of lines: known, all."""
    tables = {name: frame([], name) for name in ("primitives", "stacks")}
    tables |= {"faults": frame(faults, "faults"), "session_usage": frame(told, "session_usage")}
    bound_ns = round(bound_ms * MS)
    sure, counts = with_sure_commands(tables, frame(lines, "interactions"), lambda _user: bound_ns)
    return sure["faults"]["command"].cast(pl.String).to_list(), counts.known, counts.all


def test_rows_stay_where_each_line_was_heard_of_before_it_was_sent() -> None:
    lines, told = [line(1, 1.0), line(2, 3.0)], [heard(1, 0.9), heard(2, 1.6), heard(0, 3.6)]
    rows = [fault(2, "command 1"), fault(4, "command 2"), fault(4, None, user=None)]
    assert commands(lines, told, rows) == (["command 1", "command 2", None], 2, 2)


@pytest.mark.parametrize("at_s", [3.2, 2.9995])
def test_a_line_that_was_heard_of_too_late_or_perhaps_so_takes_the_command_off_its_seconds(at_s: float) -> None:
    lines, told = [line(1, 1.0), line(2, 3.0)], [heard(1, 0.9), heard(2, at_s)]
    rows = [fault(2, "command 1"), fault(4, "command 1"), fault(4, "command 2"), fault(6, "command 2")]
    expected = ["command 1", UNKNOWN_COMMAND, UNKNOWN_COMMAND, "command 2"]
    assert commands(lines, told, rows) == (expected, 1, 2)


def test_a_reading_that_lasted_beyond_its_instant_may_hold_the_late_line() -> None:
    """On a busy host the meters read a user's events 0.2 s after the instant that their rows have."""
    lines, told = [line(1, 2.05, 0.05), line(2, 6.0)], [heard(1, 2.2), heard(2, 5.0)]
    rows = [fault(2, None), fault(3, "command 1"), fault(5, "command 1"), fault(7, "command 2")]
    expected = [UNKNOWN_COMMAND, UNKNOWN_COMMAND, "command 1", "command 2"]
    assert commands(lines, told, rows) == (expected, 1, 2)


def test_the_doubt_of_a_line_that_was_never_heard_of_ends_with_its_answer() -> None:
    lines, told = [line(1, 1.0), line(2, 3.0), line(1, 6.0)], [heard(1, 0.9), heard(1, 4.0)]
    rows = [fault(2, "command 1"), fault(4, "command 1"), fault(7, "command 1")]
    assert commands(lines, told, rows) == (["command 1", UNKNOWN_COMMAND, "command 1"], 2, 3)


def test_a_late_line_of_the_command_before_is_no_doubt() -> None:
    lines, told = [line(1, 1.0), line(1, 3.0)], [heard(1, 0.9), heard(1, 3.1)]
    assert commands(lines, told, [fault(4, "command 1")]) == (["command 1"], 2, 2)


def test_users_are_told_apart() -> None:
    lines, told = [line(1, 1.0), line(2, 1.0, user=2)], [heard(1, 0.9), heard(2, 1.2, user=2)]
    rows = [fault(2, "command 1"), fault(2, "command 2", user=2), fault(2, None, user=2)]
    assert commands(lines, told, rows) == (["command 1", UNKNOWN_COMMAND, UNKNOWN_COMMAND], 1, 2)


def test_a_user_of_whom_the_agent_has_heard_nothing_has_no_known_command() -> None:
    assert commands([line(1, 1.0)], [], [fault(2, "command 1")]) == ([UNKNOWN_COMMAND], 0, 1)


def test_a_line_without_an_answer_is_in_doubt_until_the_end() -> None:
    died = line(2, 3.0) | {"ready_ns": None}
    rows = [fault(2, "command 1"), fault(90, "command 1")]
    assert commands([line(1, 1.0), died], [heard(1, 0.9)], rows)[0] == ["command 1", UNKNOWN_COMMAND]


def test_the_note_tells_how_many_lines_are_in_doubt() -> None:
    from loadgo.running.elsewhere.typed_commands import ToldLines

    assert commands_note("far", ToldLines(3, 3)) == ""
    assert "1 line of 4" in commands_note("far", ToldLines(3, 4))


def test_meters_that_count_nothing_by_command_need_no_doubt() -> None:
    tables = {name: frame([], name) for name in ("faults", "primitives", "stacks", "session_usage")}
    of_faults = {"faults": frame([fault(1, "command 1")], "faults")}
    of_lines = {"session_usage": frame([heard(1, 0.9)], "session_usage")}
    assert not has_commands(tables | of_lines)
    assert not has_commands(tables | of_faults), "nobody has told the agent a line"
    assert has_commands(tables | of_lines | of_faults)
