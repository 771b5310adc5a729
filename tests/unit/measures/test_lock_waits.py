"""Waits for locks: sums by kind and place, and their share of the users' response time."""

import polars as pl
import pytest
from loadgo.measures.lock_waits import interactions_beside, lock_waits_of
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns

SECOND_NS = 1_000_000_000


def waits(*rows: tuple[str, str | None, str | None, int, int, int]) -> pl.DataFrame:
    """Rows of `lock_waits` in one span: kind, place, command, count, time, longest."""
    names = ("kind", "place", "command", "count", "wait_ns", "longest_ns")
    table = pl.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    return with_columns(table.with_columns(at_ns=SECOND_NS, span_ns=SECOND_NS), COLUMNS_BY_TABLE["lock_waits"])


def interactions(*sent_and_ready_ns: tuple[int, int | None]) -> pl.DataFrame:
    """Interactions with these instants of sending and of the answer."""
    rows = [{"sent_ns": sent, "ready_ns": ready, "outcome": "ok"} for sent, ready in sent_and_ready_ns]
    return with_columns(pl.DataFrame(rows), COLUMNS_BY_TABLE["interactions"])


def test_waits_are_summed_over_commands_with_the_most_time_first() -> None:
    rows = waits(
        ("spinlock", None, None, 5, 50, 30),
        ("flock", None, "git", 2, 600, 400),
        ("flock", None, None, 1, 200, 200),
    )
    flock, spinlock = lock_waits_of(rows, interactions((0, 2000)), 2 * SECOND_NS)
    assert (flock.kind, flock.count, flock.wait_ns, flock.longest_ns) == ("flock", 3, 800, 400)
    assert (flock.mean_ns, flock.a_second) == (pytest.approx(800 / 3), 1.5)
    assert (flock.users_wait_ns, flock.response_share) == (600, 0.3)
    assert (spinlock.kind, spinlock.users_wait_ns, spinlock.response_share) == ("spinlock", 0, 0.0)


def test_a_kind_has_a_row_for_each_place() -> None:
    rows = waits(("rwsem write", "open", "ls", 1, 5, 5), ("rwsem write", "rename", "ls", 1, 9, 9))
    assert [row.place for row in lock_waits_of(rows, interactions(), SECOND_NS)] == ["rename", "open"]


def test_without_interactions_there_is_no_share() -> None:
    (row,) = lock_waits_of(waits(("mutex", "pipe_read", None, 1, 5, 5)), interactions(), 0)
    assert (row.response_share, row.a_second) == (None, None)


def test_interactions_are_cut_at_the_ends_of_the_metered_time() -> None:
    spans = pl.DataFrame({"at_ns": [2000, 3000], "span_ns": [1000, 1000]})
    beside = interactions_beside(spans, interactions((0, 1500), (1800, 1900), (2900, 5000), (2500, None), (0, 900)))
    assert beside.select("sent_ns", "ready_ns").rows() == [(1000, 1500), (1800, 1900), (2900, 3000)]
