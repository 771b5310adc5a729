"""Estimates from random windows: unbiased where a window slows programs down, with intervals that hold."""

import math

import numpy as np
import polars as pl
import pytest
from loadgo.measures.event_totals import EventTotals
from loadgo.measures.sampled_events import SampledEvents
from loadgo.measures.window_sample import ALL_GROUP, COST_DOUBT_SHARE, FEWEST_WINDOWS, Estimate, GroupTime, WindowSample

WINDOW_NS, STRETCH_NS = 50e6, 1e9


def sample_of(busy_ns: list[float], whole_busy_ns: float = 4e9, **processes: GroupTime) -> WindowSample:
    """Windows of 50 ms, each for a second."""
    count = len(busy_ns)
    return WindowSample(
        at_ns=tuple(range(1, count + 1)),
        lengths_ns=np.full(count, WINDOW_NS),
        weights=np.full(count, STRETCH_NS / WINDOW_NS),
        groups={ALL_GROUP: GroupTime(np.array(busy_ns), whole_busy_ns), **processes},
        share=0.05,
    )


def of_host(sample: WindowSample, *events: float) -> Estimate:
    """The estimate from events of the whole host, in each window."""
    return sample.estimate({ALL_GROUP: dict(enumerate(events, 1))})


def test_events_are_scaled_by_busy_time_and_not_by_time() -> None:
    # A tenth of each window went to its own programs, so the load did a tenth less there.
    sample = sample_of([45e6] * 8, whole_busy_ns=8e9)
    assert of_host(sample, *[900.0] * 8).value == pytest.approx(900 / 45e6 * 8e9)


def test_a_process_that_windows_slow_down_is_scaled_by_its_own_time() -> None:
    # Half of the time of one process went to the windows' programs, and none of the other's.
    slowed, other = GroupTime(np.full(4, 10e6), 1.6e9), GroupTime(np.full(4, 30e6), 2.4e9)
    sample = sample_of([40e6] * 4, slowed=slowed, other=other)
    windows = sample.at_ns
    estimate = sample.estimate({"slowed": dict.fromkeys(windows, 100.0), "other": dict.fromkeys(windows, 30.0)})
    assert estimate.value == pytest.approx(100 / 10e6 * 1.6e9 + 30 / 30e6 * 2.4e9)


def test_the_doubt_of_what_windows_added_is_in_the_interval() -> None:
    events = {"sh": dict.fromkeys(range(1, 5), 100.0)}
    sure, doubtful = (
        sample_of([40e6] * 4, sh=GroupTime(np.full(4, 10e6), 1.6e9, added_share=share)).estimate(events)
        for share in (0.0, 0.1)
    )
    assert sure.error is not None
    assert doubtful.error == pytest.approx(math.hypot(sure.error, COST_DOUBT_SHARE * 0.1 * doubtful.value))


def test_processes_that_no_window_has_seen_are_taken_to_do_what_the_others_do_and_doubted() -> None:
    seen, unseen = GroupTime(np.full(4, 10e6), 1e9), GroupTime(np.zeros(4), 0.5e9)
    sample = sample_of([10e6] * 4, sh=seen, burst=unseen)
    estimate = sample.estimate({"sh": dict.fromkeys(sample.at_ns, 100.0)})
    assert estimate.value == pytest.approx(100 / 10e6 * 1.5e9)
    assert estimate.error is not None
    assert estimate.error > 100 / 10e6 * 0.5e9


def test_a_process_that_one_window_has_seen_is_hardly_known() -> None:
    once, often = GroupTime(np.array([10e6, 0.0, 0.0, 0.0]), 1e9), GroupTime(np.full(4, 10e6), 1e9)
    one = sample_of([10e6] * 4, sh=once).estimate({"sh": {1: 100.0}})
    all_of_them = sample_of([10e6] * 4, sh=often).estimate({"sh": dict.fromkeys(range(1, 5), 100.0)})
    assert one.error is not None
    assert all_of_them.error is not None
    assert one.error > one.value
    assert all_of_them.error < all_of_them.value


def test_a_process_without_time_in_windows_has_the_hosts_factors() -> None:
    sample = sample_of([40e6] * 4)
    assert sample.estimate({"new": {1: 7.0}}).value == pytest.approx(7 / 160e6 * 4e9)


def test_equal_rates_leave_less_doubt_than_different_ones() -> None:
    sample = sample_of([10e6, 20e6, 30e6, 40e6])
    even, uneven = of_host(sample, 10.0, 20.0, 30.0, 40.0), of_host(sample, 40.0, 30.0, 20.0, 10.0)
    assert even.value == uneven.value == pytest.approx(4000.0)
    assert even.error is not None
    assert uneven.error is not None
    assert 0 < even.error < 0.8 * uneven.error


def test_too_few_windows_have_a_value_and_no_interval() -> None:
    few = of_host(sample_of([50e6] * (FEWEST_WINDOWS - 1)), 5.0, 0.0, 0.0)
    assert few.error is None
    assert few.value == pytest.approx(5.0 / 150e6 * 4e9)


def test_intervals_hold_the_truth_in_nineteen_of_twenty_samples() -> None:
    random = np.random.default_rng(18)
    held, draws = 0, 400
    for _ in range(draws):
        rates = random.gamma(4.0, 250.0, 60)  # events in each second of a minute, of a load that varies by half
        true = rates.sum()
        estimate = of_host(sample_of([30e6] * 60, whole_busy_ns=60 * 0.6e9), *random.poisson(rates * 0.05))
        assert estimate.error is not None
        held += abs(estimate.value - true) <= estimate.error
    assert held >= 0.92 * draws


def totals_of(rows: pl.DataFrame, sample: WindowSample) -> tuple[EventTotals, ...]:
    """The totals of events that no process has."""
    return SampledEvents(sample, {}).totals(rows)


def rows_of(*rows: tuple[str, int, int | None, int]) -> pl.DataFrame:
    """Rows of calls: name, window, bucket, count."""
    frame = pl.DataFrame(rows, schema=["name", "at_ns", "bucket_ns", "count"], orient="row")
    empty = {name: pl.lit(None, pl.UInt64) for name in ("errors", "faults", "wait_ns", "time_ns")}
    cpu = pl.when(pl.col("bucket_ns").is_null()).then(pl.col("count") * 1000)
    return frame.with_columns(pl.col("at_ns", "bucket_ns", "count").cast(pl.UInt64)).with_columns(
        cpu_ns=cpu.cast(pl.UInt64), **empty
    )


def test_totals_have_the_time_of_each_event_and_errors() -> None:
    windows = range(1, 6)
    rows = rows_of(*(("read", at, None, 10) for at in windows), *(("read", at, 2000, 10) for at in windows))
    (read,) = totals_of(rows, sample_of([50e6] * 5))
    assert (read.name, read.count, read.cpu_ns) == ("read", 800, 800_000)
    assert read.count_error is not None
    assert read.cpu_error_ns == pytest.approx(1000 * read.count_error, rel=0.01)
    assert 0 < read.count_error < read.count
    assert (read.p50_ns, read.p99_ns) == (2000, 2000)


def test_events_without_a_duration_took_longer_than_a_window() -> None:
    # Of ten reads that return in a window, four began there; the others waited for longer than it.
    windows = range(1, 6)
    rows = rows_of(*(("read", at, None, 10) for at in windows), *(("read", at, 2000, 4) for at in windows))
    (read,) = SampledEvents(sample_of([50e6] * 5), {}).totals(rows, are_cut=True)
    assert (read.p50_ns, read.p90_ns) == (int(WINDOW_NS), int(WINDOW_NS))


def test_longer_durations_weigh_more_since_windows_cut_them_more_often() -> None:
    # A call of 40 ms begins and ends in a window of 50 ms in a fifth of the cases.
    rows = rows_of(("a", 1, None, 10), ("a", 1, 2000, 4), ("a", 1, 40_000_000, 1))
    (short,) = totals_of(rows, sample_of([50e6] * 5))
    assert short.p50_ns == 40_000_000
