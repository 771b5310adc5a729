"""Workdays and weekends: a difference that was planted is found with its figures, and chance makes none."""

from __future__ import annotations

import json
import random
import time
import tomllib
from collections import Counter
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument, Refused
from loadgo.observation.days_of_week import days_of_week, sessions_of_days
from loadgo.observation.hours import clock_hours
from loadgo.observation.results import DaysOfWeek
from loadgo.observation.sessions import CommandUse, ObservedSession
from support.accounting_records import MadeSession, written_accounting
from support.command_line import typed

MONDAY_S = 1_759_708_800
"""A midnight of Greenwich, on 6 October 2025, which is a Monday."""
DAY_S, HOUR_S = 86400, 3600
WEEKS = 3
SATURDAY = 5

pytestmark = pytest.mark.usefixtures("greenwich")


def drawn_starts(seed: int, on_workdays: int, on_weekends: int, weeks: int = WEEKS) -> list[int]:
    """Starts of sessions: about so many a day, on workdays from 9:00 to 12:00 and on weekends from 14:00 to 17:00."""
    stream, starts = random.Random(seed), []
    for day in range(7 * weeks):
        is_weekend = day % 7 >= SATURDAY
        mean, hour = (on_weekends, 14) if is_weekend else (on_workdays, 9)
        count = sum(stream.random() < mean / 20 for _ in range(20))
        starts += [MONDAY_S + DAY_S * day + HOUR_S * hour + stream.randrange(3 * HOUR_S) for _ in range(count)]
    return [MONDAY_S, *sorted(starts), MONDAY_S + 7 * weeks * DAY_S - 60]


def found_in(starts: list[int]) -> DaysOfWeek | None:
    return days_of_week(clock_hours([ObservedSession(1, at, at, (CommandUse("ls"),)) for at in starts]))


def accounted(folder: Path, starts: list[int]) -> Path:
    """Process accounting of sessions that begin at these times, each with three commands."""
    processes = []
    for number, began_s in enumerate(starts):
        session = MadeSession(1000 + 10 * number, began_s, uid=1000 + number % 4, terminal=0x8801 + number % 5)
        for _ in range(3):
            session.typed("make", user_s=0.5, elapsed_s=1)
        processes += session.processes()
    return written_accounting(folder / "pacct", processes)


def is_weekend(start_s: int) -> bool:
    return time.gmtime(start_s).tm_wday >= SATURDAY


def test_a_planted_difference_is_found_with_its_figures() -> None:
    starts = drawn_starts(1, 12, 3)
    found = found_in(starts)
    assert found is not None
    assert found.is_different
    workdays, weekend = found.kinds
    counts = Counter(map(is_weekend, starts))
    assert (workdays.sessions, weekend.sessions) == (counts[False], counts[True])
    assert (workdays.observed_days, weekend.observed_days) == (5 * WEEKS, pytest.approx(2 * WEEKS, abs=1e-3))
    assert workdays.sessions_per_day == pytest.approx(counts[False] / (5 * WEEKS))
    at_ten = sum(not is_weekend(at) and time.gmtime(at).tm_hour == 10 for at in starts)
    assert {row.hour: row.begun_per_hour for row in workdays.hours}[10] == pytest.approx(at_ten / (5 * WEEKS))


def test_the_same_number_at_other_hours_is_a_difference() -> None:
    found = found_in(drawn_starts(2, 12, 12))
    assert found is not None
    assert found.is_different


def test_days_of_one_law_differ_in_one_of_a_hundred_records_at_most() -> None:
    stream, differing = random.Random(1974), 0
    for _ in range(200):
        starts = [MONDAY_S + stream.randrange(7 * WEEKS * DAY_S) for _ in range(150)]
        found = found_in([MONDAY_S, *starts, MONDAY_S + 7 * WEEKS * DAY_S - 1])
        assert found is not None
        differing += found.is_different
    assert differing <= 0.03 * 200


def test_weeks_that_differ_make_no_difference_of_days() -> None:
    stream = random.Random(7)
    starts = [
        MONDAY_S + DAY_S * (7 * week + day) + stream.randrange(DAY_S)
        for week, count in enumerate((40, 2, 20, 5))
        for day in range(7)
        for _ in range(count)
    ]
    found = found_in([MONDAY_S, *starts, MONDAY_S + 28 * DAY_S - 1])
    assert found is not None
    assert not found.is_different


def test_a_week_is_too_little_to_tell(tmp_path: Path) -> None:
    starts = drawn_starts(3, 12, 1, weeks=1)
    found = found_in(starts)
    assert found is not None
    assert found.p_value is None
    assert found_in([at for at in starts if not is_weekend(at)]) is None
    report = " ".join(loadgo.observe(accounted(tmp_path, starts)).report().split())
    assert "there are too few days to tell workdays from weekends" in report


def test_the_report_and_the_script_name_the_difference(tmp_path: Path) -> None:
    starts = drawn_starts(1, 12, 3)
    observation = loadgo.observe(accounted(tmp_path, starts))
    found = observation.days_of_week
    assert found is not None
    report = " ".join(observation.report(width=200).split())
    a_day = [f"{kind.sessions_per_day:.3g}" for kind in found.kinds]
    difference = f"workdays have {a_day[0]} sessions a day, most at "
    assert difference in report
    assert f", and weekends {a_day[1]}, most at 1" in report
    assert "workdays and weekends differ, and the script is a mean of both" in report
    assert "on workdays on weekends" in report  # columns of the hours
    comments = " ".join(line.removeprefix("#").strip() for line in observation.text.splitlines() if line[:1] == "#")
    assert f"Workdays and weekends differ, and these rates are means of both: {difference}" in comments
    assert tomllib.loads(observation.text)["arrivals"]["03:00"] == "0/h"
    members = json.loads(observation.report("json"))
    assert members["days"] == "all"
    assert members["days_of_week"]["is_different"] is True
    assert [kind["kind"] for kind in members["days_of_week"]["kinds"]] == ["workdays", "weekend"]


def test_one_kind_of_days_is_what_the_records_of_these_days_have(tmp_path: Path) -> None:
    records = accounted(tmp_path, drawn_starts(1, 12, 3))
    starts = [at + 10 for at in drawn_starts(1, 12, 3)]  # a session begins with its first command
    parts = {kind: loadgo.observe(records, days=kind) for kind in ("workdays", "weekend")}
    assert parts["workdays"].sessions == sum(not is_weekend(at) for at in starts)
    assert parts["weekend"].sessions == sum(map(is_weekend, starts))
    assert parts["workdays"].span_s == 5 * WEEKS * DAY_S - 10
    for kind, observation in parts.items():
        rates = {row.hour: row.begun_per_hour * row.observed_hours for row in observation.hours}
        begun = Counter(time.gmtime(at).tm_hour for at in starts if is_weekend(at) == (kind == "weekend"))
        assert rates == {hour: pytest.approx(begun[hour], abs=1e-6) for hour in range(24)}
        assert observation.days_of_week is None
        assert "means of " + {"workdays": "Monday", "weekend": "Saturday"}[kind] in observation.text
        assert sum(group.sessions for group in observation.groups) == observation.sessions
    assert "sessions that began on other days" in " ".join(parts["weekend"].report().split())


def test_a_session_without_a_date_is_of_no_day() -> None:
    sessions = [ObservedSession(1, at, at, (CommandUse("ls"),)) for at in (0, MONDAY_S, MONDAY_S + 6 * DAY_S)]
    assert [each.began_s for each in sessions_of_days(sessions, "workdays")] == [MONDAY_S]
    assert [each.began_s for each in sessions_of_days(sessions, "weekend")] == [MONDAY_S + 6 * DAY_S]


def test_the_option_of_the_command_line_and_its_refusals(tmp_path: Path) -> None:
    accounted(tmp_path, drawn_starts(1, 12, 3))
    typed(tmp_path, "observe", "--from", "pacct", "--days", "weekend", "-o", "weekend.toml")
    assert "means of Saturday and Sunday" in (tmp_path / "weekend.toml").read_text()
    told = typed(tmp_path, "observe", "--for", "10s", "--days", "weekend", status=2)
    assert "--days weekend" in told.stderr
    with pytest.raises(BadArgument, match="none of all, workdays and weekend"):
        loadgo.observe(tmp_path / "pacct", days="sunday")  # type: ignore[arg-type]
    short = accounted(tmp_path, [MONDAY_S, MONDAY_S + 60])
    with pytest.raises(Refused, match="needs records with dates, over two hours or more"):
        loadgo.observe(short, days="workdays")
    monday = accounted(tmp_path, [MONDAY_S, MONDAY_S + 5 * HOUR_S])
    with pytest.raises(Refused, match="no session began on Saturday or Sunday"):
        loadgo.observe(monday, days="weekend")
