"""Memory for a watcher: all users in a sum, though their rows come in turns, and the largest holders by name."""

from __future__ import annotations

from random import Random

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from loadgo.watching.memory_holders import AMOUNT_COLUMNS, SHOWN_HOLDERS, Holders

SCHEMA = {
    "at_ns": pl.UInt64(),
    "span_ns": pl.UInt64(),
    "who": pl.String(),
    "user": pl.UInt32(),
    "size_bytes": pl.UInt64(),
    **{name: pl.UInt64() for name in AMOUNT_COLUMNS},
}


def row(at: int, user: int | None, resident: int, **more: int | None) -> dict[str, object]:
    told = {"at_ns": at, "span_ns": 1, "who": "free" if user is None else "users", "user": user}
    return told | {"resident_bytes": resident} | more


def table(rows: list[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA)


def sums(told: pl.DataFrame, name: str) -> dict[int, int | None]:
    users = told.filter(pl.col("user").is_null() & (pl.col("who") == "users"))
    return dict(users.select("at_ns", name).rows())


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 12))
def test_the_users_sum_is_what_each_was_last_told_to_hold(seed: int, users: int, spans: int) -> None:
    random, rows, held, expected = Random(seed), [], dict[int, int](), dict[int, int]()
    for at in range(1, spans + 1):
        turn = random.sample(range(users), random.randint(1, users))
        fresh = {user: random.randint(0, 9) for user in turn}
        held |= fresh
        rows += [row(at, user, resident) for user, resident in fresh.items()] + [row(at, None, 7)]
        expected[at] = sum(held.values())
    cut = random.randint(0, len(rows))
    while 0 < cut < len(rows) and rows[cut]["at_ns"] == rows[cut - 1]["at_ns"]:
        cut += 1
    holders = Holders()
    frame = pl.concat([holders.reduced(table(rows[:cut])), holders.reduced(table(rows[cut:]))])
    assert sums(frame, "resident_bytes") == expected
    assert frame.filter(pl.col("who") == "free")["resident_bytes"].to_list() == [7] * spans


def test_of_many_users_the_largest_are_told_and_those_that_lose_pages() -> None:
    rows = [row(1, user, 1000 + user, taken_pages=5 if user == 3 else 0) for user in range(100)]
    told = Holders().reduced(table(rows))
    named = told.filter(pl.col("user").is_not_null())["user"].to_list()
    assert named == [3, *range(100 - SHOWN_HOLDERS, 100)]
    assert sums(told, "taken_pages") == {1: 5}


def test_what_is_not_measured_stays_so_and_a_silent_user_has_no_pages_taken() -> None:
    holders = Holders()
    first = holders.reduced(table([row(1, 1, 10), row(1, 2, 20, taken_pages=4)]))
    second = holders.reduced(table([row(2, 1, 11)]))
    assert sums(first, "device_bytes") == {1: None}
    assert sums(first, "taken_pages") == {1: 4}
    assert sums(second, "resident_bytes") == {2: 31}
    assert second.filter(pl.col("user") == 2).select("resident_bytes", "taken_pages").rows() == [(20, None)]
