"""The use of an interaction: means over measured values only, and null is not zero."""

import dataclasses

import polars as pl
import pytest
from loadgo.measures.summary import summarize
from loadgo.measures.usage import audit_usage, outcomes_of, typing_usage_of, usage_of
from loadgo.measures.usage_figures import Outcomes
from loadgo.records.extrapolation import with_missing
from loadgo.reporting.words import fine_print
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


def test_what_typing_used_is_a_mean_of_its_own_and_no_part_of_the_usage() -> None:
    typed = {"typing_cpu_ns": 2_000_000, "typing_ready_wait_ns": 600_000}
    rows = [interaction(1, at, 1, cpu_user_ns=10, cpu_system_ns=20, **typed) for at in (2, 4)]
    typing = typing_usage_of(run_of(rows).interactions)
    assert typing is not None
    assert (typing.measured, typing.cpu_ns, typing.faults_minor) == (2, 2_000_000.0, None)
    summary = summarize(run_of(rows))
    assert summary.everything.usage.cpu_ns == 30.0
    assert any(label == "Usage" and "Typing a line took 2.00 ms of CPU" in line for label, line in fine_print(summary))
    assert typing_usage_of(run_of([interaction(1, 2, 1)]).interactions) is None, "lines that were sent at once"


def test_rows_with_more_processor_time_than_is_possible_are_counted_in_the_audit() -> None:
    rows = [interaction(1, 2 + at, 1, cpu_excess_ns=excess) for at, excess in enumerate((0, 400_000, None, 600_000))]
    run = run_of(rows)
    audit = audit_usage(run.interactions)
    assert audit is not None
    assert (audit.judged, audit.impossible, audit.excess_ns) == (3, 2, 1_000_000)
    assert any(
        label == "Audit" and line.startswith("2 of 3 interactions") for label, line in fine_print(summarize(run))
    )
    assert audit_usage(run_of([interaction(1, 2, 1)]).interactions) is None, "a run from before the column"


def test_an_extrapolated_line_has_no_typing_and_no_excess() -> None:
    rows = [interaction(user, at, 1, line=at // 2, typing_cpu_ns=7) for user, at in ((1, 2), (2, 2), (2, 4))]
    run = run_of(rows, load={"users": 2, "passes": 1})
    died = pl.when(pl.col("user") == 1).then(pl.lit("died")).otherwise(pl.col("outcome").cast(pl.String))
    run = dataclasses.replace(run, sessions=run.sessions.with_columns(outcome=died.cast(pl.Categorical)))
    added = with_missing(run)[0].filter(pl.col("outcome").cast(pl.String) == "extrapolated")
    assert added.select("user", "line", "typing_cpu_ns", "cpu_excess_ns").rows() == [(1, 2, None, None)]


def test_every_outcome_is_counted_once() -> None:
    names = ["ok", "failed", "failed", "timeout", "died", "unconfirmed"]
    rows = [
        interaction(1, 2 + i, None if name in ("timeout", "died") else 1, outcome=name) for i, name in enumerate(names)
    ]
    outcomes = outcomes_of(run_of(rows).interactions)
    assert outcomes == Outcomes(ok=1, failed=2, timeouts=1, died=1, unconfirmed=1)
    assert outcomes.errors == 4


def test_a_failed_line_was_answered_and_counts_among_the_response_times() -> None:
    summary = summarize(run_of([interaction(1, at, 1, outcome="failed") for at in (2, 4)]))
    assert summary.everything.response.answered == 2
    assert summary.everything.outcomes.failed == 2


def test_a_timed_out_line_that_got_a_prompt_after_its_interruption_was_never_answered() -> None:
    run = run_of([interaction(1, at, 1, outcome="timeout") for at in (2, 4)])
    assert run.interactions.select(pl.col("ready_ns").null_count()).item() == 0
    assert summarize(run).everything.response.quantile("p50").state == "never"


def test_waits_that_are_known_for_a_part_of_the_interactions_are_noted_with_the_share_and_the_reason() -> None:
    run = closed_loop(10, 40)
    sent = pl.col("line").cum_count()
    known = {name: pl.when(sent % 4 > 0).then(pl.lit(1000, pl.UInt64)) for name in ("paging_wait_ns", "io_wait_ns")}
    rows = run.interactions.with_columns(ready_wait_ns=pl.lit(1000, pl.UInt64), **known)

    def notes_on(kernel: str, **more: object) -> str:
        system = run.conditions["system"] | {"kernel": kernel}
        changed = dataclasses.replace(run, interactions=rows, conditions=run.conditions | {"system": system} | more)
        return " ".join(summarize(changed, phases="all").notes)

    assert "Page waits and disk waits are known for 300 of 400 interactions (75.0 %)" in notes_on("6.18.44-x")
    assert "A wait that ends while its process is still in the run queue counts as 0" in notes_on("6.12.1")
    assert "counts as 0" not in notes_on("6.11.9")
    assert "loses the beginning of some waits" in notes_on("6.18.44-x")
    assert "loses the beginning" not in notes_on("5.15.0")
    assert "`--meters cheap` measures all waits" in notes_on("6.18.44-x")
    assert "`--meters cheap`" not in notes_on("6.18.44-x", meters={"tier": "cheap"})
    whole = dataclasses.replace(run, interactions=rows.with_columns(io_wait_ns=pl.lit(1, pl.UInt64)))
    assert not any("Page waits" in note for note in summarize(whole).notes)
