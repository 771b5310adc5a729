"""Errors of sampled times: their intervals hold the truth, and old runs keep the rate that they had."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from loadgo.measures.sampled_time import SAMPLED_CATEGORIES, dividing_clock_hz, sampling_error_ns
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.records.phases import stretch_of
from loadgo.reporting.processor_time_tables import processors
from support.synthetic import S
from support.synthetic_meters import SHARES, SPANS, metered_host

HZ = 237
BUSY_NS = 10 * S
DRAWS = 4000


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.5, 0.97])
def test_the_interval_holds_the_truth_in_19_of_20_runs(share: float) -> None:
    samples = BUSY_NS * HZ // 10**9
    found = np.random.default_rng(5).binomial(samples, share, DRAWS) / samples
    errors = np.array([sampling_error_ns([round(part * BUSY_NS)], [BUSY_NS], HZ) for part in found])
    holds = np.abs(found - share) * BUSY_NS <= errors
    assert holds.mean() > 0.94


def test_a_clock_that_ticks_a_quarter_as_often_has_errors_of_twice_the_size() -> None:
    slow, fast = (sampling_error_ns([S], [40 * S], hz) for hz in (250, 1000))
    assert slow / fast == pytest.approx(2, rel=0.01)


def test_processors_add_as_independent_errors_do() -> None:
    one = sampling_error_ns([S], [10 * S], HZ)
    assert sampling_error_ns([S] * 4, [10 * S] * 4, HZ) == pytest.approx(2 * one)
    assert sampling_error_ns([S, 0], [10 * S, 0], HZ) == one, "a processor without busy time has no error"


@pytest.mark.parametrize(
    ("section", "hz"),
    [
        ({"tier": "cheap", "clock_hz": 237}, 237),
        ({"tier": "cheap"}, 1000),
        ({"tier": "cheap,profile"}, 1000),
        ({"tier": "cheap", "clock_hz": 0}, 0),
        ({"tier": "exact", "clock_hz": 1000}, 0),
        ({"tier": "none", "clock_hz": 0}, 0),
        ({}, 0),
    ],
)
def test_a_run_has_the_rate_that_it_says_and_old_runs_had_1000(section: dict[str, Any], hz: int) -> None:
    assert dividing_clock_hz(section) == hz


def total(meters: dict[str, Any]) -> TotalTime:
    """The total time of a host with everything metered, with these `[meters]` in its `run.toml`."""
    host = metered_host()
    tables = dataclasses.replace(host, conditions=host.conditions | {"meters": meters})
    found = total_time_of(tables, stretch_of(tables, "all"))
    assert found is not None
    return found


def test_only_the_times_that_samples_divide_have_an_error() -> None:
    cheap = total({"tier": "cheap", "clock_hz": HZ})
    with_error = {row.name for row in cheap.categories if row.error_ns is not None}
    assert with_error == set(SAMPLED_CATEGORIES)
    assert all(row.error_ns is None for row in total({"tier": "exact", "clock_hz": 1000}).categories)
    assert all(row.error_ns is None for row in total({"tier": "cheap", "clock_hz": 0}).categories)


def test_the_error_is_that_of_the_samples_in_the_time_of_tasks() -> None:
    row = next(row for row in total({"tier": "cheap", "clock_hz": HZ}).categories if row.name == "page fault")
    busy = sum(SHARES[name] for name in SAMPLED_CATEGORIES)
    share = SHARES["page fault"] / busy
    samples = 2 * SPANS * busy * HZ
    expected_ns = 1.96 * (share * (1 - share) / samples) ** 0.5 * 2 * SPANS * busy * S
    assert row.error_ns == pytest.approx(expected_ns, rel=0.05)


def test_the_table_has_the_error_of_each_sampled_share() -> None:
    headings = [column.heading for column in processors(total({"tier": "cheap", "clock_hz": HZ}), {}).columns]
    assert headings[:4] == ["category", "time", "share", "±"]
    assert "±" not in [column.heading for column in processors(total({"tier": "exact"}), {}).columns]
