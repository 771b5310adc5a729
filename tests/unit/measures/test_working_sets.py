"""Working sets of users whose pages are referred to at known rates: the faults foretold are those of the theory."""

import re

import numpy as np
import polars as pl
import pytest
from loadgo.measures.working_sets import MEMORY_SHARES, MORE_MEMORY_SHARES, PAGE_BYTES, WINDOWS_S, WorkingSets, sets_in
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns
from loadgo.stats.resample import Floats
from support.places import PROJECT

PAGES_OF_USER = 2000
USERS = 40
RATES_PER_S: Floats = np.geomspace(1.5, 0.02, PAGES_OF_USER)
"""How often each page of a user is referred to: each at random times."""
PACE_SHAPE = 20
"""The shape of the gamma law of the users' pace: a user is in a hurry or at ease, in all windows."""


def readings(seed: int, users: int = USERS, longest_s: int = 128, times: int = 2) -> pl.DataFrame:
    """Readings of each user in windows of each length, whose pages are drawn."""
    random = np.random.default_rng(seed)
    rows = []
    for user in range(1, users + 1):
        pace = random.gamma(PACE_SHAPE, 1 / PACE_SHAPE)
        for window_s in [length for length in WINDOWS_S if length <= longest_s] * times:
            referred = random.random(PAGES_OF_USER) < 1 - np.exp(-RATES_PER_S * pace * window_s)
            rows.append(
                {
                    "at_ns": 300_000_000_000,
                    "span_ns": int(window_s * 1e9),
                    "user": user,
                    "processes": 1,
                    "resident_bytes": PAGES_OF_USER * PAGE_BYTES,
                    "referenced_bytes": int(referred.sum()) * PAGE_BYTES,
                    "file_resident_bytes": 0,
                    "file_referenced_bytes": 0,
                    "device_bytes": 0,
                    "returned_bytes": 0,
                }
            )
    return with_columns(pl.DataFrame(rows), COLUMNS_BY_TABLE["working_sets"])


def true_faults_per_s(share: float) -> float:
    """Faults with a share of the memory: the rate of references to pages unused for the time whose working set fits."""
    times_s, rates_per_s = np.geomspace(1e-3, 1e4, 5_000), RATES_PER_S[::10]
    unused = (1 + np.outer(times_s, rates_per_s) / PACE_SHAPE) ** -PACE_SHAPE
    sizes = 1 - unused.mean(axis=1)
    faults = -np.gradient(unused.sum(axis=1), times_s) * 10 * USERS
    return float(np.interp(share, sizes, faults))


def of(rows: pl.DataFrame) -> WorkingSets:
    sets = sets_in(rows, USERS)
    assert sets is not None
    return sets


def test_faults_with_less_memory_are_those_of_the_least_recently_used_page() -> None:
    sets = of(readings(1))
    assert sets.resident_bytes == USERS * PAGES_OF_USER * PAGE_BYTES
    assert [row.share for row in sets.faults] == list(MEMORY_SHARES)
    for row in sets.faults:
        assert row.bound == ""
        assert row.faults_per_s == pytest.approx(true_faults_per_s(row.share), rel=0.15), row


def test_the_intervals_hold_the_truth() -> None:
    rows = [row for seed in range(20) for row in of(readings(seed)).faults if row.share in (0.75, 0.5, 0.375)]
    held = [row.interval is not None and row.interval.holds(true_faults_per_s(row.share)) for row in rows]
    assert np.mean(held) >= 0.8


def test_the_working_set_never_falls_with_the_window_and_its_slope_never_rises() -> None:
    sizes = [row.bytes for row in of(readings(2, users=3, times=1)).windows]
    slopes = np.diff(sizes) / np.diff(WINDOWS_S)
    assert (np.diff(sizes) >= 0).all()
    assert (np.diff(slopes) <= 1e-6).all()


def test_memory_beyond_the_longest_window_and_below_the_shortest_has_bounds() -> None:
    bounds = {row.share: row.bound for row in of(readings(3, longest_s=16)).faults}
    assert bounds[0.9] == "at most"
    assert bounds[0.5] == ""
    hot = readings(3).with_columns(referenced_bytes=pl.col("resident_bytes"))
    assert {row.bound for row in of(hot).faults} == {"at least"}


def test_a_bound_is_the_end_of_its_interval_and_unknown_without_one() -> None:
    bound = next(row for row in of(readings(3, longest_s=16)).faults if row.bound == "at most")
    assert bound.interval is None
    assert bound.faults_per_s is not None
    assert bound.faults_per_s >= true_faults_per_s(bound.share)
    few = next(row for row in of(readings(3, users=2, longest_s=16)).faults if row.bound == "at most")
    assert few.faults_per_s is None


def test_memory_of_files_is_in_no_forecast() -> None:
    alone, beside = (
        of(readings(9)),
        of(readings(9).with_columns(file_referenced_bytes=1 << 30, file_resident_bytes=1 << 30)),
    )
    assert (alone.faults, alone.windows) == (beside.faults, beside.windows)
    assert beside.file_bytes == USERS * (1 << 30)


def test_few_users_have_no_interval() -> None:
    assert all(row.interval is None for row in of(readings(4, users=2)).faults)


def test_a_run_without_windows_of_two_lengths_has_no_working_sets() -> None:
    assert sets_in(readings(5, longest_s=1), USERS) is None


def test_memory_that_rises_and_falls_varies_less_among_many_users() -> None:
    held = pl.DataFrame({"user": [1, 1, 2, 2] * 50, "resident_bytes": [100, 300, 100, 300] * 50})
    for users in (1, 4):
        sets = sets_in(readings(6, users=2), users, held.cast(pl.UInt64))
        assert sets is not None
        assert sets.variation == pytest.approx(0.5 / users**0.5)
    assert of(readings(6)).variation == 0


def test_faults_with_more_memory_are_those_of_pages_that_come_back_later() -> None:
    random, rates_per_s = np.random.default_rng(7), np.geomspace(0.5, 0.01, PAGES_OF_USER)
    rows = readings(7)
    windows_s = rows["span_ns"].to_numpy() / 1e9
    counts = [int((random.random(PAGES_OF_USER) < 1 - np.exp(-rates_per_s * window_s)).sum()) for window_s in windows_s]
    sizes = [
        pl.Series(name, np.array(values) * PAGE_BYTES, dtype=pl.UInt64)
        for name, values in (("returned_bytes", counts), ("device_bytes", [PAGES_OF_USER] * len(counts)))
    ]
    more = [row for row in of(rows.with_columns(*sizes)).faults if row.share > 1]
    assert [row.share for row in more] == list(MORE_MEMORY_SHARES)
    times_s = np.geomspace(1e-3, 1e3, 5_000)
    left = np.exp(-np.outer(times_s, rates_per_s))
    for row in more:
        expected = np.interp(row.share - 1, 1 - left.mean(axis=1), (rates_per_s * left).sum(axis=1) * USERS)
        assert row.faults_per_s is not None
        if row.share == 2:
            assert row.bound == "at most"
            assert row.faults_per_s >= expected
        else:
            assert row.faults_per_s == pytest.approx(expected, rel=0.15), row


def test_memory_that_was_ample_tells_nothing_of_more() -> None:
    assert all(row.share < 1 for row in of(readings(8)).faults)


def test_the_lengths_of_the_windows_are_those_that_are_read() -> None:
    source = (PROJECT / "crates" / "host" / "src" / "usage" / "working_sets.rs").read_text()
    (numbers,) = re.findall(r"const WINDOWS_S: \[u64; \d+\] = \[([\d, ]+)\];", source)
    assert tuple(int(number) for number in numbers.split(",")) == WINDOWS_S
