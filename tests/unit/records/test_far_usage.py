"""Readings of accounts on another host become the usage of interactions: a known one is exact, others are null."""

from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.records.far_usage import FarProcessors, UsageCounts, charge
from support.synthetic import frame, interaction

MS = 1_000_000
READ_EVERY_MS = 50
PROCESSORS = FarProcessors(count=2, step_ns=1)


def line(sent_ms: float, response_ms: float, think_ms: float, **changes: object) -> dict[str, Any]:
    return interaction(1, sent_ms / 1e3, response_ms / 1e3, think_ns=round(think_ms * MS), **changes)


def reading(begin_ms: float, end_ms: float, cpu_ns: int = 0, **changes: object) -> dict[str, Any]:
    """A row of user 1, with the processor time in the program; it has no faults and no waits of paging."""
    values = {
        "user_ticks_us": 0,
        "system_ticks_us": 0,
        "cpu_user_ns": cpu_ns,
        "cpu_system_ns": 0,
        "faults_minor": 0,
        "ready_wait_ns": 0,
    }
    at_ns, span_ns = round(end_ms * MS), round((end_ms - begin_ms) * MS)
    return {"user": 1, "at_ns": at_ns, "span_ns": span_ns, **values, **changes}


def followed(at_ms: float) -> dict[str, Any]:
    return reading(at_ms, at_ms)


def heard_until(at_ms: float) -> dict[str, Any]:
    return {"user": None, "at_ns": round(at_ms * MS), "span_ns": 0}


def charged(
    lines: list[dict[str, Any]],
    readings: list[dict[str, Any]],
    bound_ms: float = 0,
    ended_ms: float = 10_000,
    outcome: str = "done",
) -> tuple[pl.DataFrame, UsageCounts]:
    session = {"user": 1, "planned_ns": 0, "started_ns": 0, "ready_ns": 0, "ended_ns": round(ended_ms * MS)}
    sessions = frame([{**session, "outcome": outcome}], "sessions")
    interactions, usage = frame(lines, "interactions"), frame(readings, "session_usage")
    return charge(interactions, sessions, usage, lambda _user: round(bound_ms * MS), PROCESSORS)


def cpu(table: pl.DataFrame) -> list[int | None]:
    return table.select(pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).to_series().to_list()


TWO = [line(1000, 100, 500), line(1600, 100, 500)]


def test_a_row_belongs_to_the_line_in_whose_time_it_lies_the_thinking_before_it_included() -> None:
    rows = [followed(10), reading(600, 650, 1), reading(1050, 1105, 2), reading(1300, 1350, 4), reading(1650, 1705, 8)]
    table, counts = charged(TWO, [*rows, heard_until(2000)])
    assert cpu(table) == [3, 12]
    assert (counts.known, counts.all) == (2, 2)
    assert table["faults_minor"].to_list() == [0, 0]
    assert table["io_wait_ns"].to_list() == [None, None], "nobody measured it"
    assert table.columns == frame([], "interactions").columns


def test_a_row_that_reaches_from_one_line_into_the_next_leaves_both_without_a_usage() -> None:
    lines = [*TWO, line(1720, 100, 20), line(2300, 100, 480)]
    rows = [followed(10), reading(1050, 1105, 2), reading(1690, 1740, 4), reading(2350, 2405, 8), heard_until(3000)]
    table, counts = charged(lines, rows)
    assert cpu(table) == [2, None, None, 8]
    assert (counts.known, counts.between) == (2, 2)


def test_a_reading_within_the_bound_of_the_clocks_is_none_between_two_lines() -> None:
    rows = [followed(10), reading(1050, 1110, 2), reading(1110, 1585, 4), reading(1650, 1750, 8), heard_until(3000)]
    assert cpu(charged(TWO, rows, bound_ms=9)[0]) == [2, 12]
    assert cpu(charged(TWO, rows, bound_ms=11)[0]) == [6, 8], "the second row may have work of the first line"
    rows[2] = reading(1110, 1595, 4)
    assert cpu(charged(TWO, rows, bound_ms=11)[0]) == [None, None]


def test_what_the_log_in_and_the_log_out_use_belongs_to_no_line() -> None:
    rows = [followed(10), reading(10, 60, 1), reading(1050, 1120, 2), reading(1290, 1340, 64), heard_until(2000)]
    table, _ = charged([line(1000, 100, 900)], rows, ended_ms=1350)
    assert cpu(table) == [2]
    table, counts = charged([line(1000, 100, 900)], [*rows, reading(1080, 1310, 8)], ended_ms=1350)
    assert (cpu(table), counts.between) == ([None], 1), "its row has work of the log-out"


def test_a_line_that_ends_its_session_has_all_until_the_end() -> None:
    rows = [followed(10), reading(1050, 1120, 2), heard_until(2000)]
    assert cpu(charged([line(1000, 100, 900)], rows, ended_ms=1100)[0]) == [2]
    died = interaction(1, 1, None, outcome="died")
    assert cpu(charged([died], rows, ended_ms=1100, outcome="died")[0]) == [2]


def test_lines_before_the_first_reading_and_after_the_last_have_no_usage() -> None:
    rows = [followed(1050), reading(1050, 1105, 2), reading(1620, 1670, 4), heard_until(1680)]
    table, counts = charged(TWO, rows)
    assert cpu(table) == [None, None]
    assert (counts.not_followed, counts.cut_off) == (1, 1)
    assert charged(TWO, [heard_until(9000)])[1].not_followed == 2


def test_the_use_of_typing_is_kept_apart_where_a_reading_lies_between() -> None:
    typed = [line(1000, 100, 500, typing_ns=200 * MS), line(2000, 100, 500, typing_ns=400 * MS)]
    rows = [
        followed(10),
        reading(900, 950, 1),
        reading(950, 1010, 2),
        reading(1700, 1750, 4, faults_minor=3),
        reading(2050, 2105, 8),
        heard_until(3000),
    ]
    table, _ = charged(typed, rows)
    assert cpu(table) == [2, 8], "the row across the sending is the line's"
    assert table["typing_cpu_ns"].to_list() == [1, 4]
    assert table["typing_faults_minor"].to_list() == [0, 3]
    assert table["typing_io_wait_ns"].to_list() == [None, None]


def test_a_count_that_one_row_lacks_is_not_known_and_the_others_are() -> None:
    rows = [followed(10), reading(1000, 1050, 2, faults_minor=None), reading(1050, 1105, 2), heard_until(3000)]
    table, _ = charged(TWO, rows)
    assert (cpu(table), table["faults_minor"].to_list()) == ([4, 0], [None, 0])


def test_the_ticks_of_a_line_divide_its_time_whichever_of_its_rows_has_them() -> None:
    rows = [followed(10), reading(1000, 1050, 60), reading(1050, 1105, 20, user_ticks_us=4000, system_ticks_us=12000)]
    rows += [reading(1600, 1650, 16, user_ticks_us=8000), heard_until(3000)]
    table, _ = charged(TWO, rows)
    assert table["cpu_user_ns"].to_list() == [20, 16]
    assert table["cpu_system_ns"].to_list() == [60, 0]


def test_use_that_the_processors_cannot_have_had_is_an_excess() -> None:
    rows = [followed(10), reading(1000, 1105, 250 * MS), heard_until(3000)]
    assert charged(TWO, rows)[0]["cpu_excess_ns"].to_list() == [50 * MS - 2, 0]


def test_usage_that_was_measured_by_the_driver_s_host_stays() -> None:
    lines = [TWO[0] | {"cpu_user_ns": 77, "cpu_system_ns": 0}, TWO[1]]
    table, counts = charged(lines, [followed(1500), reading(1650, 1705, 8), heard_until(3000)])
    assert (cpu(table), counts.elsewhere, counts.known) == ([77, 8], 1, 1)


@given(
    spans_ms=st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=1, max_size=12),
    bound_ms=st.integers(0, 40),
    error=st.floats(-1, 1),
    first_ms=st.integers(0, READ_EVERY_MS),
)
def test_a_usage_that_is_known_is_the_line_s_own_whatever_the_clocks_and_the_readings(
    spans_ms: list[tuple[int, int]], bound_ms: int, error: float, first_ms: int
) -> None:
    """Line `n` uses 4 ** n ns in its first and in its last millisecond; the far clock is off within its bound."""
    lines, bursts, now_ms = [], [], 1000
    for number, (think_ms, response_ms) in enumerate(spans_ms):
        sent_ms = now_ms + think_ms
        now_ms = sent_ms + response_ms
        lines.append(line(sent_ms, response_ms, think_ms))
        bursts += [(sent_ms + 0.5, 4**number), (now_ms - 0.5, 4**number)]
    bursts.append((now_ms + 210, 4 ** len(spans_ms)))  # the log-out
    off_ms = error * bound_ms
    instants = [100 + first_ms + READ_EVERY_MS * number for number in range(now_ms // READ_EVERY_MS + 10)]
    rows = [followed(instants[0] + off_ms)]
    for begin, end in pairwise(instants):
        if used := sum(amount for at, amount in bursts if begin < at <= end):
            rows.append(reading(begin + off_ms, end + off_ms, used))
    table, counts = charged(lines, [*rows, heard_until(instants[-1] + off_ms)], bound_ms, ended_ms=now_ms + 230)
    known = [(value, 2 * 4**number) for number, value in enumerate(cpu(table)) if value is not None]
    assert all(value == truth for value, truth in known)
    assert counts.known == len(known)
    assert counts.known + counts.between == len(lines)


@pytest.mark.parametrize("think_ms", [150, 400])
def test_every_line_of_a_user_who_thinks_for_longer_than_readings_and_clocks_take_is_known(think_ms: int) -> None:
    lines = [line(1000 + number * (think_ms + 70), 70, think_ms) for number in range(40)]
    instants = range(7, 60_000, READ_EVERY_MS)
    rows = [followed(7), *(reading(begin, end, 1) for begin, end in pairwise(instants)), heard_until(60_000)]
    last_ms = 1000 + 39 * (think_ms + 70) + 70
    assert charged(lines, rows, bound_ms=40, ended_ms=last_ms + 220)[1].known == 40
