"""Sessions by hour of the day: counts and open sessions agree with a count second by second."""

from __future__ import annotations

import random
import time
import tomllib
from pathlib import Path

import loadgo
import pytest
from loadgo.observation.hours import clock_hours
from loadgo.observation.hours import hours_of_day as hours_of_clock
from loadgo.observation.results import HourOfDay
from loadgo.observation.sessions import CommandUse, ObservedSession
from support.log_files import audit_session, written_audit_log
from support.small_machine import MACHINE

MIDNIGHT_S = 1_759_968_000
"""A midnight of Greenwich."""
HOUR_S = 3600

pytestmark = pytest.mark.usefixtures("greenwich")


def session(began_s: int, length_s: int) -> ObservedSession:
    return ObservedSession(1, MIDNIGHT_S + began_s, MIDNIGHT_S + began_s + length_s, (CommandUse("ls"),))


def hours_of_day(sessions: list[ObservedSession]) -> tuple[HourOfDay, ...]:
    return hours_of_clock(clock_hours(sessions))


def test_an_hour_has_the_sessions_that_began_and_those_that_were_open() -> None:
    sessions = [session(9 * HOUR_S, 3 * HOUR_S), session(10 * HOUR_S, 1800), session(10 * HOUR_S + 60, 0)]
    rows = {row.hour: row for row in hours_of_day(sessions)}
    assert list(rows) == [9, 10, 11]
    assert [row.begun_per_hour for row in rows.values()] == [1, 2, 0]
    assert [row.open_at_once for row in rows.values()] == pytest.approx([1, 1.5, 1])
    assert [row.observed_hours for row in rows.values()] == [1, 1, 1]


def test_days_are_averaged_and_parts_of_an_hour_count_as_parts() -> None:
    sessions = [session(day * 24 * HOUR_S + 9 * HOUR_S, HOUR_S) for day in range(3)]
    rows = {row.hour: row for row in hours_of_day([*sessions, session(2 * 24 * HOUR_S + 10 * HOUR_S, 1800)])}
    assert (rows[9].begun_per_hour, rows[9].open_at_once, rows[9].observed_hours) == (1, 1, 3)
    assert (rows[10].observed_hours, rows[10].begun_per_hour) == (2.5, pytest.approx(1 / 2.5))
    assert sum(row.observed_hours for row in rows.values()) == pytest.approx(49.5)


def test_the_hours_agree_with_a_count_minute_by_minute() -> None:
    drawn = random.Random(1974)
    sessions = [session(60 * drawn.randrange(4000), 60 * drawn.randrange(300)) for _ in range(80)]
    open_minutes = dict.fromkeys(range(24), 0)
    for each in sessions:
        for minute_s in range(each.began_s, each.ended_s, 60):
            open_minutes[time.gmtime(minute_s).tm_hour] += 1
    for row in hours_of_day(sessions):
        assert row.open_at_once * row.observed_hours * 60 == pytest.approx(open_minutes[row.hour])


def test_records_without_dates_or_of_an_hour_say_nothing_about_the_day() -> None:
    assert hours_of_day([]) == ()
    assert hours_of_day([session(0, 60), session(3000, 60)]) == ()
    assert hours_of_day([ObservedSession(1, 0, 90_000, ())]) == ()
    assert hours_of_day([session(0, 60), session(100 * 366 * 86400, 60)]) == ()


def test_the_busiest_hour_is_in_the_report_and_in_the_script(tmp_path: Path) -> None:
    starts = [
        start
        for number, began_s in enumerate((0, 7200, 7300, 7400, 14400))
        for start in audit_session(9, session=number, shell_pid=1000 * (number + 1), began_s=began_s)
    ]
    observation = loadgo.observe(written_audit_log(tmp_path / "log", starts))
    assert {row.hour: row.begun_per_hour for row in observation.hours if row.observed_hours == 1} == {
        9: 0,
        10: 3,
        11: 0,
    }
    report = " ".join(observation.report().split())
    assert "Sessions by hour" in report
    assert "most begin at 10:00" in report
    assert "`run --arrivals 10:00 --for 1h`" in report
    rates = tomllib.loads(observation.text)["arrivals"]
    assert len(rates) == 24
    assert '"13:00" = "0/h"  # not seen' in observation.text
    assert '"08:00" = "1/h"  # seen for 0.108 h, with what began then' in observation.text
    assert (rates["08:00"], rates["09:00"], rates["10:00"], rates["11:00"]) == ("1/h", "0/h", "3/h", "0/h")
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE, encoding="utf-8")
    (tmp_path / "day.toml").write_text(observation.text, encoding="utf-8")
    run = loadgo.run(tmp_path / "day.toml", on=machine, arrivals="10:00", duration="1h", out=tmp_path / "run")
    assert run.summary.run.load["arrivals_per_second"] == pytest.approx(3 / 3600)
    assert 0 < len(loadgo.tables(run).sessions) <= 3 + 4 * 3**0.5
    assert "# - sessions by hour: from audit log;" in observation.text
