"""Users' classes of time: the parts are the whole, to the nanosecond."""

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from loadgo.records.interactions import classes_of, with_classes
from support.synthetic import S, interaction, run_of

SPANS = st.integers(min_value=0, max_value=10**13)
STEPS = st.tuples(SPANS, SPANS, SPANS, st.integers(min_value=-(10**6), max_value=10**13), st.booleans())


def session_of(user: int, steps: list[tuple[int, int, int, int, bool]]) -> list[dict[str, Any]]:
    """The rows of a user with these think times, typing times, waits and latenesses.

    A wait without an answer ends at the next prompt.
    """
    rows, now = [], 0
    for think, typing, wait, late, answered in steps:
        sent = now + think + typing
        ready = sent + wait
        told = {"think_ns": think, "typing_ns": typing, "planned_ns": max(sent - late, 0), "sent_ns": sent}
        outcome = "ok" if answered else "timeout"
        rows.append(interaction(user, 0.0, None, **told, ready_ns=ready if answered else None, outcome=outcome))
        now = ready
    return rows


@given(st.lists(st.lists(STEPS, min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_classes_add_up_to_all_of_the_users_time(sessions: list[list[tuple[int, int, int, int, bool]]]) -> None:
    rows = [row for user, steps in enumerate(sessions, 1) for row in session_of(user, steps)]
    ends = [sum(think + typing + wait for think, typing, wait, _, _ in steps) for steps in sessions]
    run = run_of(rows)
    stays = run.sessions.with_columns(ended_ns=pl.Series(ends, dtype=pl.UInt64))
    classed = with_classes(run.interactions, stays)
    parts = classed.select("thinking_ns", "typed_ns", "waiting_ns", "driver_ns")
    assert all(value >= 0 for row in parts.rows() for value in row)
    time_by_class = classes_of(classed)
    assert time_by_class.total_ns == sum(ends)
    assert (
        time_by_class.total_ns
        == time_by_class.thinking_ns + time_by_class.typing_ns + time_by_class.waiting_ns + time_by_class.driver_ns
    )


def test_lateness_is_the_drivers_and_not_the_users_thought() -> None:
    late = interaction(1, 10, 2, think_ns=3 * S, typing_ns=S, planned_ns=9 * S)
    time_by_class = classes_of(with_classes(run_of([late]).interactions, run_of([late]).sessions))
    assert (time_by_class.thinking_ns, time_by_class.typing_ns, time_by_class.waiting_ns, time_by_class.driver_ns) == (
        2 * S,
        S,
        2 * S,
        S,
    )


def test_a_line_that_was_never_answered_keeps_its_user_waiting_until_the_session_ends() -> None:
    run = run_of([interaction(1, 10, None, outcome="died")])
    stays = run.sessions.with_columns(ended_ns=pl.lit(14 * S, pl.UInt64))
    assert classes_of(with_classes(run.interactions, stays)).waiting_ns == 4 * S


def test_a_line_sent_before_it_was_due_is_not_late() -> None:
    run = run_of([interaction(1, 10, 1, planned_ns=11 * S)])
    assert with_classes(run.interactions, run.sessions)["lateness_ns"].to_list() == [0]
