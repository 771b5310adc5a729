"""Typed lines put together: which are commands, what they used, and the pauses before them."""

from __future__ import annotations

from typing import Any

import pytest
from loadgo.observation.program_names import SUBSHELL_NAME, name_keeper
from loadgo.observation.typed_lines import LinesFound, find_lines

SECOND_NS = 1_000_000_000
EPOCH_NS = 1_800_000_000 * SECOND_NS
ZEROS = (
    "user_ticks_ns", "system_ticks_ns", "queued_ns", "faults_minor", "faults_major", "read_bytes", "written_bytes",
    "storage_read_bytes", "storage_written_bytes", "storage_cancelled_bytes", "held_pages", "processes",
    "terminal_waits",
)  # fmt: skip


def line(
    session: int, prompt_s: float, typed_s: float, ended_s: float, name: str = "make", **more: Any
) -> dict[str, Any]:
    """A line of a session, with times in seconds since the clock's zero."""
    figures = dict.fromkeys(ZEROS, 0)
    times = {
        "prompt_ns": round(prompt_s * SECOND_NS),
        "first_key_ns": round((prompt_s + (typed_s - prompt_s) / 2) * SECOND_NS),
        "typed_ns": round(typed_s * SECOND_NS),
        "ended_ns": round(ended_s * SECOND_NS),
    }
    made = {"session": session, "user": 1000 + session, "name": name.encode(), "has_shell_within": False, "cpu_ns": 0}
    return {**figures, **times, **made, "has_storage_counts": True, **more}


def found(*lines: dict[str, Any]) -> LinesFound:
    return find_lines(lines, name_keeper("all"), EPOCH_NS)


def test_a_think_time_lasts_from_the_prompt_to_the_end_of_the_line() -> None:
    lines = found(line(0, 10, 14, 15), line(0, 15, 17, 20))
    (session,) = lines.sessions
    assert [use.think_ns for use in session.commands] == [4 * SECOND_NS, 2 * SECOND_NS]
    assert [use.elapsed_ns for use in session.commands] == [SECOND_NS, 3 * SECOND_NS]
    assert lines.first_key_ns == (2 * SECOND_NS, SECOND_NS)
    assert (session.person, session.began_s, session.ended_s) == (1000, 1_800_000_014, 1_800_000_020)


def test_a_line_without_a_program_adds_its_time_to_the_next_pause() -> None:
    lines = found(line(0, 10, 14, 15, name=""), line(0, 15, 17, 20))
    assert [(use.name, use.think_ns) for use in lines.sessions[0].commands] == [("make", 7 * SECOND_NS)]
    assert lines.idle_lines == 1


def test_work_of_a_shell_without_a_program_is_a_command() -> None:
    lines = found(line(0, 10, 14, 15, name="", cpu_ns=20_000_000))
    assert [use.name for use in lines.sessions[0].commands] == [SUBSHELL_NAME]
    assert lines.idle_lines == 0


def test_a_prompt_that_nobody_saw_begin_gives_no_think_time() -> None:
    lines = found(line(0, 0, 14, 15, prompt_ns=0), line(0, 15, 17, 20), line(1, 0, 3, 4, prompt_ns=0))
    assert [[use.think_ns for use in session.commands] for session in lines.sessions] == [[None], [None, 2 * SECOND_NS]]


def test_long_pauses_are_absences() -> None:
    lines = found(line(0, 10, 311, 312), line(0, 312, 612, 613))
    assert [use.think_ns for use in lines.sessions[0].commands] == [None, 300 * SECOND_NS]
    assert lines.absences == 1


def test_a_shell_within_a_line_makes_it_no_command() -> None:
    lines = found(line(0, 10, 12, 90, name="su", has_shell_within=True), line(1, 13, 14, 15))
    assert [[use.name for use in session.commands] for session in lines.sessions] == [["make"]]
    assert (lines.shells_within, lines.idle_lines) == (1, 0)


@pytest.mark.parametrize(("user_ticks", "system_ticks", "system_share"), [(3, 1, 0.25), (0, 0, 0.0), (0, 2, 1.0)])
def test_ticks_divide_the_exact_processor_time(user_ticks: int, system_ticks: int, system_share: float) -> None:
    ticks = {"user_ticks_ns": user_ticks * 4_000_000, "system_ticks_ns": system_ticks * 4_000_000}
    (use,) = found(line(0, 1, 2, 3, cpu_ns=10_000_003, **ticks)).sessions[0].commands
    assert use.cpu_ns == 10_000_003
    assert use.system_ns == pytest.approx(10_000_003 * system_share, abs=1)


def test_commands_that_asked_somebody_are_counted() -> None:
    assert found(line(0, 1, 2, 3, terminal_waits=4), line(0, 3, 4, 5)).at_terminal == 1


@pytest.mark.parametrize(("written", "cancelled", "stored"), [(8192, 0, 8192), (8192, 4096, 4096), (0, 4096, 0)])
def test_what_a_line_removed_before_it_was_stored_is_not_written(written: int, cancelled: int, stored: int) -> None:
    bytes_of = {"storage_read_bytes": 512, "storage_written_bytes": written, "storage_cancelled_bytes": cancelled}
    (use,) = found(line(0, 10, 14, 15, **bytes_of)).sessions[0].commands
    assert (use.storage_read_bytes, use.storage_written_bytes) == (512, stored)


def test_bytes_of_storage_are_not_known_where_the_kernel_does_not_count_them() -> None:
    (use,) = found(line(0, 10, 14, 15, has_storage_counts=False)).sessions[0].commands
    assert (use.storage_read_bytes, use.storage_written_bytes) == (None, None)
