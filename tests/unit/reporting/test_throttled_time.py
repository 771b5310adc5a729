"""The part of responses that users' own quotas took, in tables, sentences and JSON."""

from __future__ import annotations

from typing import Any

import pytest
from loadgo.measures.summary import Summary, summarize
from loadgo.reporting.short_report import short_notes
from loadgo.reporting.tables import usage
from loadgo.reporting.view import View
from support.synthetic import interaction, run_of

MS = 1_000_000


def summary(waits: str, **used: Any) -> Summary:
    """A summary of ten lines of a second each, with waits from this source."""
    cpu = {"cpu_user_ns": 100 * MS, "cpu_system_ns": 0}
    rows = [interaction(1, 2 * number, 1.0, line=number + 1, **cpu, **used) for number in range(10)]
    return summarize(run_of(rows, usage={"waits": waits}), phases="all")


@pytest.mark.parametrize(("waits", "is_within"), [("taskstats", True), ("schedstat", True), ("kernel meters", False)])
def test_a_table_has_the_throttled_time_and_says_whether_the_wait_has_it_too(waits: str, is_within: bool) -> None:
    table = usage(summary(waits, throttled_ns=800 * MS, ready_wait_ns=850 * MS))
    (throttled,) = (column for column in table.columns if column.heading == "throttled")
    assert set(throttled.cells) == {"800 ms"}
    assert ("The CPU wait has the throttled time" in table.foot) is is_within


def test_users_without_a_quota_have_no_such_column() -> None:
    table = usage(summary("taskstats", throttled_ns=None))
    assert "throttled" not in [column.heading for column in table.columns]
    assert not table.foot


def test_as_a_part_of_the_response_it_is_at_most_the_response() -> None:
    """Threads that are throttled on four processors at once have four times the time."""
    notes = short_notes(summary("taskstats", throttled_ns=4000 * MS), View(), "run")
    assert ("Response", "100.0 % throttled by the user's quota, 1.00 s of 1.00 s on average") in notes


@pytest.mark.parametrize(("waits", "is_summed"), [("taskstats", False), ("kernel meters", True)])
def test_waits_longer_than_the_response_are_called_sums_only_if_none_is_within_another(
    waits: str, is_summed: bool
) -> None:
    notes = short_notes(summary(waits, throttled_ns=800 * MS, ready_wait_ns=850 * MS), View(), "run")
    parts = [note[1] for note in notes if note[0] == "Response"]
    assert [", summed over the processes of a line" in part for part in parts] == [is_summed] * 2
