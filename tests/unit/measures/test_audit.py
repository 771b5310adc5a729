"""Whether a run can be trusted: the driver's verdict on itself, and what is lost."""

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from loadgo.documents.as_text import text_document
from loadgo.measures.audit import Loss
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.document import report_document
from loadgo.reporting.trust import run_trust
from loadgo.reporting.words import answer, warnings
from support.synthetic import closed_loop, frame

MS = 1_000_000


def late(by_ns: int) -> Tables:
    """A run in which every line is sent `by_ns` late."""
    run = closed_loop(10, 20)
    rows = run.interactions.with_columns(planned_ns=(pl.col("sent_ns").cast(pl.Int64) - by_ns).clip(0).cast(pl.UInt64))
    return dataclasses.replace(run, interactions=rows)


def greedy(login: str, usage: Mapping[str, str] | None = None) -> Tables:
    """A run whose driver took a quarter of the host, with these sources of usage."""
    run = closed_loop(10, 20)
    run = with_driver_time(run, 500 * MS)
    system = run.conditions["system"] | {"login": login}
    conditions = run.conditions | {"system": system} | ({} if usage is None else {"usage": usage})
    return dataclasses.replace(run, conditions=conditions)


def scheduled(run: Tables, scheduling: str, **more: int) -> Tables:
    """The run with a driver that was scheduled like this, on all processors unless `more` has a processor."""
    driver = {key: value for key, value in run.conditions["driver"].items() if key != "processor"}
    driver |= {"scheduling": scheduling, **more}
    return dataclasses.replace(run, conditions=run.conditions | {"driver": driver})


def test_a_driver_in_time_is_good() -> None:
    summary = summarize(late(20_000))
    assert summary.driver.valid
    assert summary.driver.lateness_p99_ns == pytest.approx(20_000)
    assert not warnings(summary)


def with_driver_time(run: Tables, time_ns: int) -> Tables:
    """The run with a driver that took so much processor time in each of its spans."""
    driver = pl.when(pl.col("who").cast(pl.String) == "driver").then(time_ns).otherwise("cpu_ns")
    return dataclasses.replace(run, processes=run.processes.with_columns(cpu_ns=driver.cast(pl.UInt64)))


def test_a_late_driver_makes_the_run_invalid_in_the_first_line_of_the_report_and_says_what_to_do() -> None:
    summary = summarize(with_driver_time(late(2 * MS), 40 * MS))
    assert not summary.driver.valid
    first = text_document(report_document(summary), width=200).splitlines()[0]
    assert first.startswith("INVALID: the driver was the bottleneck")
    assert f"{summary.driver.late_lines} lines were sent more than 1.00 ms late (p99 2.00 ms)" in first
    assert "Run with fewer users" in first


def test_fewer_users_are_no_advice_where_the_driver_took_little() -> None:
    run = late(2 * MS)
    (woken,) = warnings(summarize(run))
    assert woken.startswith("INVALID: the host woke the driver late (the driver took ")
    assert "fewer users" not in woken
    idle = pl.when(pl.col("category").cast(pl.String) == "idle").then(pl.lit("user"))
    categories = idle.otherwise(pl.col("category").cast(pl.String)).cast(run.time.schema["category"])
    filled = warnings(summarize(dataclasses.replace(run, time=run.time.with_columns(category=categories))))[0]
    assert filled.startswith("INVALID: the host was too busy for the driver (other work took ")
    assert "Run when the host is quiet" in filled


def test_the_advice_to_a_late_driver_names_nothing_that_it_has() -> None:
    busy = with_driver_time(late(2 * MS), 40 * MS)
    (real_time,) = warnings(summarize(scheduled(busy, "fifo 10")))
    (ordinary,) = warnings(summarize(scheduled(busy, "other")))
    (alone,) = warnings(summarize(scheduled(busy, "fifo 10", processor=1)))
    assert "give the driver a processor of its own" in real_time
    assert "give the driver SCHED_FIFO or a processor of its own" in ordinary
    assert alone.endswith("Run with fewer users, or drive from another machine.")


def test_lateness_is_held_against_a_twentieth_of_the_target() -> None:
    assert summarize(late(MS // 2)).driver.valid
    assert summarize(late(MS // 2), target=1.0).driver.valid
    assert not summarize(late(MS // 2), target=0.005).driver.valid


def test_a_driver_that_takes_the_host_from_its_users_makes_the_run_invalid() -> None:
    summary = summarize(greedy("sh"))
    assert summary.driver.host_share == pytest.approx(0.25)
    assert summary.driver.takes_too_much
    assert "25.0 % of the host" in warnings(summary)[0]


def test_a_driver_on_another_machine_takes_nothing_from_its_users() -> None:
    assert summarize(greedy("ssh -p 22 host", {"cpu": ""})).driver.host_share is None
    assert summarize(greedy("/usr/bin/ssh host", {})).driver.valid


def test_a_driver_on_the_host_that_ssh_leads_to_shares_it_with_its_users() -> None:
    assert summarize(greedy("ssh localhost", {"cpu": "cgroup v2"})).driver.takes_too_much


def test_losses_of_one_kind_are_counted_together_and_told_in_the_report() -> None:
    rows: list[dict[str, Any]] = [
        {"at_ns": 1, "user": 3, "what": "usage", "count": 2, "reason": "the meter overran"},
        {"at_ns": 2, "user": 4, "what": "usage", "count": 5, "reason": "the meter overran"},
        {"at_ns": 3, "user": None, "what": "record", "count": 1, "reason": "the disk is full"},
    ]
    summary = summarize(dataclasses.replace(closed_loop(10, 20), lost=frame(rows, "lost")))
    assert summary.losses == (Loss("usage", "the meter overran", 7), Loss("record", "the disk is full", 1))
    text = text_document(report_document(summary), width=100)
    assert "7 records of usage lost: the meter overran" in text
    assert "1 record lost: the disk is full" in text


def test_a_report_without_losses_says_so() -> None:
    assert "Lost        Nothing." in text_document(report_document(summarize(closed_loop(10, 20))), width=100)


def test_dead_and_refused_sessions_are_in_the_answer() -> None:
    run = closed_loop(10, 20)
    outcomes = ["died", "refused", *["done"] * 8]
    sessions = run.sessions.with_columns(outcome=pl.Series(outcomes, dtype=pl.Categorical))
    text = text_document(report_document(summarize(dataclasses.replace(run, sessions=sessions))), width=200)
    assert text.startswith("10 users; not everyone was well served: 1 was refused at log-in, 1 session died;")
    assert "Sessions    8 logged out, 1 died, 1 refused at log-in." in text


def test_a_run_that_was_cut_off_and_one_that_goes_on_say_so_at_the_top() -> None:
    run = closed_loop(10, 20)
    started = datetime(2026, 11, 23, 20, 25, 31, 7, tzinfo=UTC)
    killed = dataclasses.replace(run, conditions=run.conditions | {"finished": False, "started": started})
    first_line = text_document(report_document(summarize(killed)), width=200).splitlines()[0]
    assert "The run was cut off (loadgo was killed, or could write no more)" in first_line
    running = dataclasses.replace(killed, is_written=True)
    first_line = text_document(report_document(summarize(running)), width=200).splitlines()[0]
    assert "The run is running since 2026-11-23 20:25:31: these are the figures up to its last whole" in first_line
    ended = dataclasses.replace(run, is_written=True)
    assert not warnings(summarize(ended)), "its folder may be open for a moment longer"


def test_a_run_that_ended_early_says_so_before_anything_else() -> None:
    """Also if its driver took too much of the host, and although every line with an answer had a good one."""
    run = greedy("sh")
    waiting = frame(
        [{"at_ns": 9, "user": None, "what": "interaction", "count": 3, "reason": "the run was stopped"}], "lost"
    )
    for end, words in (
        ({"outcome": "stopped"}, "The run ended early (stopped)"),
        ({"finished": False}, "The run was cut off"),
    ):
        summary = summarize(dataclasses.replace(run, conditions=run.conditions | end, lost=waiting))
        first, second = warnings(summary)[:2]
        assert first.startswith(words)
        assert second.startswith("INVALID: the driver took 25.0 %")
        told = (
            "The run ended early, and the response times are not valid. 10 users; not everyone was well served: "
            "3 lines had no answer at the end;"
        )
        assert answer(summary).startswith(told)
        unanswered = dataclasses.replace(run, interactions=run.interactions.clear(), lost=waiting)
        assert answer(summarize(unanswered)) == "No line was answered: 3 lines waited when the run was stopped."


def test_one_late_line_of_a_few_tells_nothing_and_two_do() -> None:
    run = closed_loop(5, 8)
    for count, valid in ((1, True), (2, False)):
        sent = pl.col("sent_ns").cast(pl.Int64)
        rows = run.interactions.sort("user", "sent_ns").with_row_index()
        steady = rows.filter(pl.col("phase").cast(pl.String) == "steady")["index"].to_list()
        late = pl.col("index").is_in(steady[:count])
        planned = pl.when(late).then(sent - 3 * MS).otherwise(sent).clip(0).cast(pl.UInt64)
        late_run = dataclasses.replace(run, interactions=rows.with_columns(planned_ns=planned).drop("index"))
        summary = summarize(late_run)
        assert (summary.driver.late_lines, summary.driver.valid) == (count, valid)
        evidence = run_trust(summary, is_warned=False)
        assert ("all lines but one were typed on time" in evidence) == valid
        assert ("one line may be over the limit of 1.00 ms" in evidence) == valid
