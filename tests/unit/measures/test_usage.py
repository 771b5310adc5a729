"""The use of an interaction: means over measured values only, and null is not zero."""

import dataclasses

import polars as pl
import pytest
from loadgo.measures.summary import summarize
from loadgo.measures.usage import outcomes_of, usage_of
from support.synthetic import closed_loop, interaction, run_of


def test_a_mean_is_over_the_interactions_that_were_measured() -> None:
    rows = [interaction(1, 2, 1, cpu_user_ns=10, cpu_system_ns=20), interaction(1, 4, 1), interaction(1, 6, 1)]
    usage = usage_of(run_of(rows).interactions)
    assert (usage.measured, usage.cpu_user_ns, usage.cpu_ns) == (1, 10.0, 30.0)
    assert usage.ready_wait_ns is None


def test_processor_time_is_not_known_when_a_part_of_it_is_not() -> None:
    usage = usage_of(run_of([interaction(1, 2, 1, cpu_user_ns=10)]).interactions)
    assert (usage.cpu_user_ns, usage.cpu_ns) == (10.0, None)


def test_the_mean_of_all_is_the_weighted_mean_of_the_commands() -> None:
    summary = summarize(closed_loop(10, 20))
    total = sum((row.usage.cpu_ns or 0.0) * row.response.count for row in summary.commands)
    assert summary.everything.usage.cpu_ns == pytest.approx(total / summary.everything.response.count)


def test_every_outcome_is_counted_once() -> None:
    names = ["ok", "failed", "failed", "timeout", "died", "unconfirmed"]
    rows = [
        interaction(1, 2 + i, None if name in ("timeout", "died") else 1, outcome=name) for i, name in enumerate(names)
    ]
    outcomes = outcomes_of(run_of(rows).interactions)
    assert dataclasses.astuple(outcomes) == (1, 2, 1, 1, 1)
    assert outcomes.errors == 4


def test_a_failed_line_was_answered_and_counts_among_the_response_times() -> None:
    summary = summarize(run_of([interaction(1, at, 1, outcome="failed") for at in (2, 4)]))
    assert summary.everything.response.answered == 2
    assert summary.everything.outcomes.failed == 2


def test_a_timed_out_line_that_got_a_prompt_after_its_interruption_was_never_answered() -> None:
    run = run_of([interaction(1, at, 1, outcome="timeout") for at in (2, 4)])
    assert run.interactions.select(pl.col("ready_ns").null_count()).item() == 0
    assert summarize(run).everything.response.quantile("p50").state == "never"
