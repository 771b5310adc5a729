"""Little's law as an audit: it holds for whole records, and shows when some are missing."""

import dataclasses

import numpy as np
import polars as pl
import pytest
from loadgo.measures.littles_law import LittleAudit
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from support.synthetic import S, Work, closed_loop, empty_run, frame, interaction, run_of


def audit_of(run: Tables) -> LittleAudit:
    """The audit of a run that has one."""
    found = summarize(run).audit
    assert found is not None
    return found


def exact_response_s(users: int, service_s: float, think_s: float) -> float:
    """Mean response of M/M/1//N by exact mean-value analysis: R(n) = s (1 + Q(n-1)), Q(n) = n R(n) / (R(n) + Z)."""
    queue, response = 0.0, 0.0
    for n in range(1, users + 1):
        response = service_s * (1 + queue)
        queue = n * response / (response + think_s)
    return response


@pytest.mark.long
@pytest.mark.parametrize("users", [5, 20, 40])
def test_little_holds_for_a_closed_loop_and_response_is_that_of_mean_value_analysis(users: int) -> None:
    audit = audit_of(closed_loop(users, 1000, [Work("edit", 0.1)], think_s=2.0, seed=users))
    assert audit.verdict == "holds"
    assert audit.measured == pytest.approx(users, rel=1e-9)
    assert audit.computed == pytest.approx(users, rel=0.05)
    assert audit.response_s == pytest.approx(exact_response_s(users, 0.1, 2.0), rel=0.12)
    assert audit.think_s == pytest.approx(2.0, rel=0.06)


def test_little_is_broken_when_records_are_missing() -> None:
    run = closed_loop(20, 200)
    half = dataclasses.replace(run, interactions=run.interactions.gather_every(2))
    audit = audit_of(half)
    assert audit.verdict == "broken"
    assert audit.discrepancy == pytest.approx(-0.5, abs=0.05)
    assert any("contradict themselves" in line for line in warnings_of(half))


def warnings_of(run: Tables) -> list[str]:
    """The warnings of a run's report."""
    from loadgo.reporting.words import warnings

    return warnings(summarize(run))


def test_a_window_of_few_cycles_is_too_short_to_tell() -> None:
    assert audit_of(closed_loop(10, 3)).verdict == "too short to tell"


def test_fewer_than_thirty_interactions_are_too_few_to_contradict_themselves() -> None:
    """Ten lines in 8.6 ms, of which the records hold the half: nobody can say that something is missing."""
    rows = [interaction(1, 0.001 + at * 0.00086, 0.0001, think_ns=0) for at in range(10)]
    phases = [{"at_ns": 0, "phase": "steady"}, {"at_ns": 8_600_000, "phase": "ramp-down"}]
    short = dataclasses.replace(run_of(rows), phases=frame(phases, "phases"))
    assert audit_of(short).discrepancy < -0.5
    assert audit_of(short).verdict == "too short to tell"
    assert not any("contradict themselves" in line for line in warnings_of(short))


def test_thirty_interactions_can_contradict_themselves() -> None:
    rows = [interaction(1, 0.001 + at * 0.001, 0.0001, think_ns=0) for at in range(60)]
    phases = [{"at_ns": 0, "phase": "steady"}, {"at_ns": 61_000_000, "phase": "ramp-down"}]
    assert audit_of(dataclasses.replace(run_of(rows), phases=frame(phases, "phases"))).verdict == "broken"


def test_one_long_cycle_that_the_window_cuts_breaks_no_law() -> None:
    """Forty quick lines, and one that answers long after the window: 8 s of response in a window of 20.5 s."""
    rows = [interaction(1, 0.5 * (at + 1), 0.1, think_ns=400_000_000) for at in range(40)]
    rows.append(interaction(1, 20.4, 8.0, think_ns=300_000_000))
    phases = [{"at_ns": 0, "phase": "steady"}, {"at_ns": 20_500_000_000, "phase": "ramp-down"}]
    audit = audit_of(dataclasses.replace(run_of(rows), phases=frame(phases, "phases")))
    assert audit.discrepancy > 0.25
    assert audit.verdict != "broken"


def test_a_slow_first_line_of_all_users_before_the_window_breaks_no_law() -> None:
    """Each of 3 users sends 40 lines, one every 10 ms, after a first one of 80 ms in which the window begins."""
    quick = [
        interaction(user, 0.1 + 0.001 * user + 0.01 * line, 0.002, think_ns=8_000_000)
        for user in range(1, 4)
        for line in range(40)
    ]
    first = [interaction(user, 0.001 * user, 0.08, think_ns=0, phase="warm-up") for user in range(1, 4)]
    phases = [{"at_ns": 10_000_000, "phase": "steady"}, {"at_ns": 500_000_000, "phase": "ramp-down"}]
    run = dataclasses.replace(run_of([*first, *quick], users=3), phases=frame(phases, "phases"))
    audit = audit_of(run)
    assert audit.discrepancy < -0.1
    assert audit.verdict == "too short to tell"
    half = [row for index, row in enumerate(quick) if index % 2]
    lost = dataclasses.replace(run_of([*first, *half], users=3), phases=frame(phases, "phases"))
    assert audit_of(lost).verdict == "broken"
    late = [row for row in quick if row["sent_ns"] > 0.25 * S]
    cut = dataclasses.replace(run_of([*first, *late], users=3), phases=frame(phases, "phases"))
    assert audit_of(cut).verdict == "broken", "no line takes as long as the records that are missing"


def test_little_holds_for_an_open_load() -> None:
    random = np.random.default_rng(2)
    began = np.sort(random.uniform(0, 1000, 500))
    stays = random.exponential(10, 500)
    sessions = [
        {"user": i + 1, "planned_ns": b, "started_ns": b, "ready_ns": b, "ended_ns": e, "outcome": "done"}
        for i, (b, e) in enumerate(zip((began * S).astype(int), ((began + stays) * S).astype(int), strict=True))
    ]
    rows = [interaction(i + 1, b + 0.1, 0.1) for i, b in enumerate(began)]
    phases = [{"at_ns": 0, "phase": "steady"}, {"at_ns": 1000 * S, "phase": "end"}]
    run = dataclasses.replace(
        run_of(rows),
        sessions=frame(sessions, "sessions"),
        phases=frame(phases, "phases"),
        conditions={"load": {"model": "open"}},
    )
    audit = audit_of(run)
    assert (audit.law, audit.verdict) == ("L = lambda W", "holds")
    assert audit.rate_per_s == pytest.approx(0.5)
    assert audit.stay_s == pytest.approx(float(stays.mean()), rel=0.01)


def test_an_empty_run_has_nothing_to_audit() -> None:
    assert summarize(empty_run()).audit is None


def test_users_who_leave_in_the_window_count_for_as_long_as_they_were_there() -> None:
    rows = [interaction(user, at, 1) for user in (1, 2) for at in range(2, 100, 2) if user == 1 or at < 50]
    phases = [{"at_ns": 0, "phase": "steady"}, {"at_ns": 100 * S, "phase": "end"}]
    stays = run_of(rows).sessions.with_columns(
        ended_ns=pl.Series([100 * S, 50 * S], dtype=pl.UInt64), ready_ns=pl.lit(0, pl.UInt64)
    )
    audit = audit_of(dataclasses.replace(run_of(rows), sessions=stays, phases=frame(phases, "phases")))
    assert audit.measured == pytest.approx(1.5)
    assert audit.verdict == "holds"
