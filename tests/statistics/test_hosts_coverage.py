"""Like hosts are called slower or faster in as few runs as the report says, and a slow host is found.

Each host is a closed queue with exponential service and think times, and has users and a seed of its own.
"""

from __future__ import annotations

import pytest
from loadgo.measures.hosts import HostFigures, hosts_figures
from loadgo.measures.summary import summarize
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.phases import classified_in, stretch_of
from loadgo.records.tables import Tables
from support.fleets import fleet_run

pytestmark = pytest.mark.statistical

RUNS = 60
MOST_WRONG = 7
"""Number of 60 runs with a wrong verdict at 5 %; more are wrong in one of a hundred laboratories."""
SLOW_RUNS = 15


def judged(run: Tables) -> tuple[HostFigures, ...]:
    """The hosts of the run's summary, of which nothing else is made."""
    tables = tables_of_load(run)
    stretch = stretch_of(tables, "steady")
    return hosts_figures(tables, stretch, classified_in(tables, stretch))


def test_a_summary_judges_as_is_judged_here() -> None:
    run = fleet_run((1.0, 1.0, 2.0, 1.0), passes=40)
    assert judged(run) == summarize(run).hosts


def test_like_hosts_are_told_apart_in_at_most_one_of_twenty_runs() -> None:
    runs = [judged(fleet_run((1.0,) * 6, passes=30, seed=seed)) for seed in range(1, RUNS + 1)]
    known = [host.ratio_low is not None for run in runs for host in run]
    assert sum(known) >= 0.95 * len(known), "a host whose users are done early may have too few stretches"
    wrong = [run for run in runs if any(host.verdict != "not known" for host in run)]
    assert len(wrong) <= MOST_WRONG


def test_a_host_that_is_twice_as_slow_is_found_and_no_other_is_called_slow() -> None:
    runs = [judged(fleet_run((1.0, 1.0, 2.0, 1.0), passes=40, seed=seed)) for seed in range(1, SLOW_RUNS + 1)]
    found = [[host.name for host in run if host.verdict == "slower"] for run in runs]
    assert all(names in ([], ["cedar"]) for names in found)
    assert found.count(["cedar"]) >= SLOW_RUNS - 3
