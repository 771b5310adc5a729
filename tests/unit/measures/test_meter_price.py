"""The price of the meters from windows: known arithmetic, and how often intervals hold a drawn truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from loadgo.measures.meter_price import FEWEST_WINDOWS, MeterPrice, meter_price_of
from loadgo.stats.student import student_reach
from support.synthetic import frame

WINDOW_NS = 40_000_000
S = 1_000_000_000


def row(window: int, meter: str, busy_ns: int, run_ns: int, **others: Any) -> dict[str, Any]:
    """A row of the table `meter_price`, without calls unless `others` has some."""
    at = {"at_ns": (window + 1) * S, "span_ns": WINDOW_NS, "busy_ns": busy_ns}
    calls = {"runs": 10, "call_ns": 0, "call_error_ns": 0}
    return at | {"meter": meter, "run_ns": run_ns} | calls | others


def price_of(rows: list[dict[str, Any]], busy_ns: int = 60 * S, reading_ns: int | None = None) -> MeterPrice | None:
    return meter_price_of(frame(rows, "meter_price"), busy_ns, reading_ns)


def test_the_price_is_the_ratio_of_sums_for_the_whole_stretch() -> None:
    rows = [row(window, "queue", 1000 * (window + 1), 10 * (window + 1)) for window in range(5)]
    price = price_of(rows, reading_ns=S // 10)
    assert price is not None
    assert (price.windows, price.windows_ns) == (5, 5 * WINDOW_NS)
    assert price.programs_ns == pytest.approx(0.01 * 60 * S)
    assert price.error_ns == pytest.approx(0, abs=1e-3)
    assert price.share == pytest.approx(0.01 + 0.1 / 60)


def test_the_interval_is_students_around_the_ratio_with_the_error_of_the_calls() -> None:
    prices = [12, 8, 10, 10]
    rows = [row(window, "queue", 1000, ns) for window, ns in enumerate(prices)]
    price = price_of(rows, busy_ns=4000)
    assert price is not None
    by_hand = math.sqrt((2**2 + 2**2) * 4 / 3)
    assert price.error_ns == pytest.approx(student_reach(3) * by_hand)
    dearer = price_of([one | {"call_ns": 5, "call_error_ns": 1} for one in rows], busy_ns=4000)
    assert dearer is not None
    assert dearer.programs_ns == pytest.approx(60)
    assert dearer.error_ns == pytest.approx(student_reach(3) * math.hypot(by_hand, 4))


def test_meters_add_up_and_the_dearest_is_first() -> None:
    rows = [
        one
        for window in range(6)
        for one in (
            row(window, "queue", 1000 + 70 * window, 4, call_ns=1),
            row(window, "clock", 1000 + 70 * window, 20, call_ns=None, call_error_ns=None),
        )
    ]
    price = price_of(rows)
    assert price is not None
    assert [(one.meter, one.has_calls) for one in price.by_meter] == [("clock", False), ("queue", True)]
    assert sum(one.time_ns for one in price.by_meter) == pytest.approx(price.programs_ns)
    assert price.by_meter[0].runs == pytest.approx(60 * 60 * S / sum(1000 + 70 * window for window in range(6)))


def test_too_few_windows_or_idle_ones_have_no_price() -> None:
    assert price_of([row(window, "queue", 1000, 10) for window in range(FEWEST_WINDOWS - 1)]) is None
    assert price_of([row(window, "queue", 0, 0) for window in range(FEWEST_WINDOWS)]) is None
    assert meter_price_of(frame([], "meter_price"), S, None) is None


def drawn_run(random: np.random.Generator, seconds: int) -> tuple[pl.DataFrame, int, float]:
    """A run of spells of different load: its windows, its busy time, and the true time of its programs in it.

    A spell has a load, and switches that cost more where they are rare: the price is no constant share of busy time.
    """
    cells_per_second = 25
    count = seconds * cells_per_second
    spells = np.repeat(random.uniform(0.05, 1.0, count // 20 + 1), 20)[:count]
    busy = 2 * WINDOW_NS * spells * random.uniform(0.7, 1.0, count)
    switches = random.poisson(busy / WINDOW_NS * 60)
    programs = switches * (1500 + 1500 * (1 - spells)) + 0.011 * busy
    chosen = random.random(count) < 1 / 20
    rows = [
        row(cell, "queue", int(busy[cell]), int(programs[cell]), runs=int(switches[cell]))
        for cell in np.flatnonzero(chosen)
    ]
    return frame(rows, "meter_price"), int(busy.sum()), float(programs.sum())


@pytest.mark.parametrize(("seconds", "fewest"), [(20, 0.9), (60, 0.92)])
def test_intervals_hold_a_drawn_truth_in_95_of_100_runs(seconds: int, fewest: float) -> None:
    random = np.random.default_rng(18)
    held, errors = [], []
    for _ in range(400):
        windows, busy_ns, truth_ns = drawn_run(random, seconds)
        price = meter_price_of(windows, busy_ns, None)
        assert price is not None
        held.append(abs(price.programs_ns - truth_ns) <= price.error_ns)
        errors.append(price.programs_ns / truth_ns - 1)
    assert fewest <= np.mean(held) <= 0.98
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(len(errors)) + 0.002
