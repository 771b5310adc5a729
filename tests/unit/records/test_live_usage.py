"""Usage on another host while its run goes on: what is told by and by is in the end what the whole tables give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.records.far_usage import FarProcessors, charge
from loadgo.records.live_usage import PLACE_COLUMN, HostReadings, LiveUsage, with_live_usage
from support.synthetic import frame, interaction

MS = 1_000_000
READ_EVERY_MS = 50
PROCESSORS = FarProcessors(count=2, step_ns=1)
USERS = (1, 2)


def line(user: int, sent_ms: float, response_ms: float, think_ms: float) -> dict[str, Any]:
    return interaction(user, sent_ms / 1e3, response_ms / 1e3, think_ns=round(think_ms * MS))


def reading(user: int | None, begin_ms: float, end_ms: float, used_ns: int = 0, ticks_us: int = 0) -> dict[str, Any]:
    at_ns, span_ns = round(end_ms * MS), round((end_ms - begin_ms) * MS)
    used = {"cpu_user_ns": used_ns, "cpu_system_ns": 0, "faults_minor": used_ns % 7, "user_ticks_us": ticks_us}
    return {"user": user, "at_ns": at_ns, "span_ns": span_ns, "system_ticks_us": ticks_us // 3, **used}


def session(user: int, ended_ms: float) -> dict[str, Any]:
    return {
        "user": user,
        "planned_ns": 0,
        "started_ns": 0,
        "ready_ns": 0,
        "ended_ns": round(ended_ms * MS),
        "outcome": "done",
    }


class Watched:
    """A run whose rows come by and by."""

    def __init__(self, bound_ms: float = 0) -> None:
        self.bound_ns = round(bound_ms * MS)
        self.live = LiveUsage()
        self.interactions = frame([], "interactions")

    def come(
        self,
        lines: Sequence[dict[str, Any]] = (),
        readings: Sequence[dict[str, Any]] = (),
        sessions: Sequence[dict[str, Any]] = (),
    ) -> pl.DataFrame:
        """Takes new rows, and returns what has become known."""
        new = frame(list(lines), "interactions")
        self.live.take({"interactions": new, "sessions": frame(list(sessions), "sessions")})
        rows = frame(list(readings), "session_usage")
        usage = self.live.usage([HostReadings(1, 99, rows, self.bound_ns, PROCESSORS)], {})
        self.interactions = with_live_usage(pl.concat([self.interactions, new]), usage)
        return usage

    def cpu(self) -> list[int | None]:
        table = self.interactions
        return table.select(pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).to_series().to_list()


TWO = [line(1, 1000, 100, 500), line(1, 1600, 100, 500)]
FOLLOWED = reading(1, 10, 10)


def heard_until(at_ms: float) -> dict[str, Any]:
    return reading(None, at_ms, at_ms)


def test_the_newest_answer_has_a_usage_as_soon_as_the_readings_after_it_are_there() -> None:
    run = Watched()
    run.come(readings=[FOLLOWED, reading(1, 1000, 1050, 2)])
    assert run.come(lines=TWO[:1]).is_empty(), "the readings may have come no further than to the middle of the line"
    run.come(readings=[reading(1, 1060, 1110, 4), heard_until(1200)])
    assert run.cpu() == [6]
    assert run.come(readings=[heard_until(1300)]).is_empty(), "what is told already is not told again"


def test_a_usage_is_taken_back_when_the_next_line_proves_to_be_in_it() -> None:
    run = Watched()
    run.come(lines=TWO[:1], readings=[FOLLOWED, reading(1, 1090, 1140, 4), heard_until(1200)])
    assert run.cpu() == [4]
    run.come(lines=[line(1, 1120, 100, 20)], readings=[reading(1, 1190, 1230, 8), heard_until(1300)])
    assert run.cpu() == [None, None], "the row reaches from one line into the next"


def test_a_line_that_nobody_has_answered_has_no_usage_before_the_next() -> None:
    run = Watched()
    given_up = interaction(1, 1, None, outcome="timeout")
    run.come(lines=[given_up], readings=[FOLLOWED, reading(1, 1090, 1140, 4), heard_until(5000)])
    assert run.cpu() == [None]


def test_users_who_are_not_followed_and_hosts_that_are_silent_leave_it_unknown() -> None:
    run = Watched()
    assert run.come(lines=TWO, readings=[heard_until(9000)]).is_empty()
    assert run.come(lines=[line(2, 1000, 100, 500)]).is_empty()
    assert run.cpu() == [None] * 3


def test_usage_that_the_driver_s_host_has_measured_stays() -> None:
    run = Watched()
    run.come(lines=[TWO[0] | {"cpu_user_ns": 77, "cpu_system_ns": 0}, TWO[1]], readings=[FOLLOWED])
    run.come(readings=[reading(1, 1650, 1690, 8), heard_until(3000)])
    assert run.cpu() == [77, 8]


def test_a_host_s_readings_are_for_its_own_users() -> None:
    live = LiveUsage()
    live.take({"interactions": frame([line(user, 1000, 100, 500) for user in USERS], "interactions")})
    hosts = [
        HostReadings(user, user, frame([reading(user, 10, 10), *rows], "session_usage"), 0, PROCESSORS)
        for user, rows in ((1, [heard_until(500)]), (2, [reading(2, 1050, 1110, 5), heard_until(1200)]))
    ]
    usage = live.usage(hosts, {})
    assert usage.select(PLACE_COLUMN, "cpu_user_ns").rows() == [(1, 5)], "the host of user 1 was not heard for so long"


def test_at_the_end_the_table_s_own_usage_is_given_by_place() -> None:
    run = Watched()
    lines = [line(2, 900, 50, 300), *TWO]
    run.come(lines=lines)
    ended = frame([one | {"cpu_user_ns": 10 * number} for number, one in enumerate(lines)], "interactions")
    usage = run.live.usage_at_the_end(ended.sort("user", "sent_ns"))
    assert usage.select(PLACE_COLUMN, "cpu_user_ns").sort(PLACE_COLUMN).rows() == [(0, 0), (1, 10), (2, 20)]
    lacking = run.live.usage_at_the_end(ended.filter(pl.col("sent_ns") != ended["sent_ns"][1]))
    assert lacking[PLACE_COLUMN].to_list() == [0], "nobody knows which line of user 1 is missing"


def test_lines_that_wait_for_readings_in_vain_are_not_kept_for_ever() -> None:
    run = Watched()
    for number in range(300):
        run.come(lines=[line(1, 1000 + 200 * number, 100, 100)])
    assert len(run.live._users[1].lines) == 100


def bursts_of(spans_ms: Sequence[tuple[int, int]]) -> Iterator[tuple[dict[str, Any], list[float]]]:
    """The lines of a user, and the moments at which each uses something."""
    now_ms = 1000
    for think_ms, response_ms in spans_ms:
        sent_ms, now_ms = now_ms + think_ms, now_ms + think_ms + response_ms
        yield line(1, sent_ms, response_ms, think_ms), [sent_ms + 0.5, now_ms - 0.5]


@given(
    spans_ms=st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=1, max_size=12),
    bound_ms=st.integers(0, 40),
    steps_ms=st.lists(st.integers(1, 900), min_size=1, max_size=12),
    lag_ms=st.integers(0, 500),
)
def test_what_has_come_by_and_by_is_what_the_whole_tables_give(
    spans_ms: list[tuple[int, int]], bound_ms: int, steps_ms: list[int], lag_ms: int
) -> None:
    told = list(bursts_of(spans_ms))
    lines, over_ms = [one for one, _ in told], told[-1][1][-1] + 0.5
    bursts = [(at, 4**number) for number, (_, moments) in enumerate(told) for at in moments]
    rows = [FOLLOWED]
    for begin, end in pairwise(np.arange(100, over_ms + 700, READ_EVERY_MS)):
        if used := sum(amount for at, amount in bursts if begin < at <= end):
            rows.append(reading(1, begin, end, used, ticks_us=used % 5000))
        rows.append(heard_until(end))
    ended = session(1, over_ms + 220)
    charged, _ = charge(
        frame(lines, "interactions"),
        frame([ended], "sessions"),
        frame(rows, "session_usage"),
        lambda _user: bound_ms * MS,
        PROCESSORS,
    )
    run, now_ms = Watched(bound_ms), 0.0
    for step_ms in [*steps_ms, *[700] * 20]:
        before_ms, now_ms = now_ms, now_ms + step_ms
        came = [one for one in lines if before_ms < one["ready_ns"] / MS <= now_ms]
        read = [one for one in rows if before_ms - lag_ms < one["at_ns"] / MS <= now_ms - lag_ms]
        run.come(came, read, [ended] if before_ms < over_ms + 220 <= now_ms else [])
    assert run.interactions.equals(charged)


@pytest.mark.parametrize("steps", [1, 7, 40])
def test_processor_time_is_divided_as_in_the_whole_run_however_the_rows_come(steps: int) -> None:
    lines = [line(1, 1000 + 300 * number, 100, 200) for number in range(40)]
    rows = [FOLLOWED]
    for number in range(40):
        at_ms = 1050 + 300 * number
        ticks = {"user_ticks_us": 4000 * (number % 2), "system_ticks_us": 4000 * (number % 3)}
        rows.append(reading(1, at_ms - 50, at_ms, 1000 + number) | ticks)
        rows.append(heard_until(at_ms + 150))
    sessions = frame([session(1, 1000 + 300 * 40)], "sessions")
    given_rows, used = frame(lines, "interactions"), frame([*rows, heard_until(60_000)], "session_usage")
    whole, _ = charge(given_rows, sessions, used, lambda _user: 0, PROCESSORS)
    run, size = Watched(), 40 // steps
    run.come(readings=[FOLLOWED])
    for number in range(0, 40, size):
        run.come(lines[number : number + size], rows[1:][2 * number : 2 * (number + size)])
    run.come(readings=[heard_until(60_000)], sessions=[session(1, 1000 + 300 * 40)])
    names = ["cpu_user_ns", "cpu_system_ns"]
    assert run.interactions.select(names).equals(whole.select(names))
    assert whole["cpu_system_ns"].sum() > 0
