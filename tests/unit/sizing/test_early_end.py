"""The early end of a trial: a target that is missed widely, in both halves of the interactions."""

from __future__ import annotations

import polars as pl
import pytest
from loadgo.records.tables import COLUMNS_BY_TABLE
from loadgo.sizing.search.early_end import misses_widely
from loadgo.sizing.targets import parse_targets

SLOW_S, FAST_S = 10.0, 0.1


def interactions(slow: list[bool]) -> pl.DataFrame:
    """Interactions of 10 s and of 0.1 s, in this order."""
    ready_ns = [int(1e9 * (SLOW_S if is_slow else FAST_S)) for is_slow in slow]
    rows = pl.DataFrame({"command": ["edit"] * len(slow), "sent_ns": [0] * len(slow), "ready_ns": ready_ns})
    return rows.cast({name: COLUMNS_BY_TABLE["interactions"][name] for name in rows.columns})


def spread(share: float) -> list[bool]:
    """200 interactions with this share of slow ones, evenly."""
    return [int((n + 1) * share) > int(n * share) for n in range(200)]


@pytest.mark.parametrize("percent", [5, 10, 30, 40, 50, 60, 75, 90, 99])
def test_any_quantile_is_missed_widely_if_all_interactions_are_slow(percent: int) -> None:
    assert misses_widely(interactions([True] * 200), parse_targets(f"p{percent} < 1s"))


@pytest.mark.parametrize(
    ("target", "share", "ends"),
    [
        ("p50 < 1s", 0.8, True),
        ("p50 < 1s", 0.6, False),
        ("p60 < 1s", 0.75, True),
        ("p60 < 1s", 0.6, False),
        ("p90 < 1s", 0.35, True),
        ("p90 < 1s", 0.25, False),
        ("p90(compile) < 1s", 1.0, False),
        ("mean < 2s", 0.9, True),
        ("mean < 4s", 0.9, False),
    ],
)
def test_a_trial_ends_early_only_where_a_target_is_missed_widely(target: str, share: float, ends: bool) -> None:
    assert misses_widely(interactions(spread(share)), parse_targets(target)) == ends


@pytest.mark.parametrize("target", ["p50 < 1s", "p90 < 1s"])
def test_a_burst_in_one_half_ends_no_trial(target: str) -> None:
    burst = [True] * 100 + [False] * 100
    assert not misses_widely(interactions(burst), parse_targets(target))
    assert not misses_widely(interactions(burst[::-1]), parse_targets(target))
