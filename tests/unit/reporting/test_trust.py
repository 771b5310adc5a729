"""The line on whether to believe a report: its word, the reason against it, and what holds."""

from __future__ import annotations

import dataclasses

import pytest
from loadgo.measures.other_work import OtherWork
from loadgo.measures.summary import Summary, summarize
from loadgo.reporting.trust import run_trust
from support.synthetic import Work, closed_loop, empty_run, interaction, run_of
from support.synthetic_meters import metered_alone


@pytest.fixture(scope="module")
def good() -> Summary:
    return summarize(closed_loop(20, 30, [Work("edit", 0.05)], think_s=2.0))


def with_other_work(summary: Summary, share: float) -> Summary:
    return dataclasses.replace(summary, other_work=OtherWork(share))


def test_a_run_that_nothing_disturbed_is_believed(good: Summary) -> None:
    line = run_trust(with_other_work(good, 0.01), is_warned=False)
    assert line.startswith("Trust: high. Lines were typed on time (")
    assert line.endswith("no record lost; the host was quiet.")


def test_a_little_other_work_makes_the_trust_moderate_and_is_told(good: Summary) -> None:
    line = run_trust(with_other_work(good, 0.07), is_warned=False)
    assert line.startswith(
        "Trust: moderate: other programs had 7.0 % of the processors' time. What holds: lines were typed on time ("
    )
    assert "the host was quiet" not in line


def test_under_a_warning_the_trust_is_low_and_what_holds_is_said(good: Summary) -> None:
    line = run_trust(with_other_work(good, 0.6), is_warned=True)
    assert line.startswith("Trust: low: the warnings above say why. What holds: lines were typed on time (")


def test_a_run_without_intervals_is_not_believed_as_a_long_one_is() -> None:
    line = run_trust(summarize(run_of([interaction(user, 2, 1) for user in range(1, 4)])), is_warned=False)
    assert line.startswith("Trust: moderate: ")
    assert "the run is too short for intervals" in line


def test_what_was_not_measured_has_no_trust() -> None:
    assert run_trust(summarize(empty_run()), is_warned=False) == ""


def test_a_metering_says_how_exact_its_account_is() -> None:
    line = run_trust(summarize(metered_alone(), phases="all"), is_warned=False)
    assert line.startswith("Trust: high. The categories are ")
    assert line.endswith("no record lost.")
