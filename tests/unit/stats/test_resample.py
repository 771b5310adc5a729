"""Intervals from resamples: expanded percentiles, Student's t for few units, Welch's degrees, units of time."""

import math

import numpy as np
import pytest
from loadgo.stats.resample import (
    Interval,
    difference_interval,
    drawn,
    grouped,
    interval_of,
    mean_interval,
    positive_interval,
    quantile_interval,
    stretch_count,
    too_short,
    welch_degrees,
    wider,
)
from numpy.typing import NDArray
from scipy import stats


def resampled(first: float, count: int = 400) -> NDArray[np.float64]:
    """An estimate and its resamples, which scatter about it by a tenth."""
    return np.concatenate([[first], np.random.default_rng(17).normal(first, 0.1 * abs(first), count)])


def expanded_tail(units: int, degrees: int) -> float:
    """The tail of Hesterberg's expanded percentile interval (2015, page 381), by scipy."""
    return float(stats.norm.cdf(-math.sqrt(units / (units - 1)) * stats.t.ppf(0.975, degrees)))


@pytest.mark.parametrize(("units", "degrees"), [(8, None), (12, None), (12, 20), (200, None)])
def test_the_ends_are_expanded_percentiles(units: int, degrees: int | None) -> None:
    values = resampled(10.0)
    tail = expanded_tail(units, units - 1 if degrees is None else degrees)
    found = interval_of(values, units, degrees)
    assert found is not None
    ends = np.quantile(values[1:], [tail, 1 - tail])
    assert (found.low, found.high) == pytest.approx(tuple(ends), rel=1e-9)


def test_the_interval_of_five_units_is_worked_out_by_hand() -> None:
    """Resamples 1 and 3 in equal numbers have the deviation 1; t(4) is 2.776, and sqrt(5 / 4) is 1.118."""
    found = interval_of(np.array([2.0, 1.0, 3.0, 1.0, 3.0]), 5)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((2 - 3.104, 2 + 3.104), abs=0.001)
    more_degrees = interval_of(np.array([2.0, 1.0, 3.0, 1.0, 3.0]), 5, 8)
    assert more_degrees is not None
    assert more_degrees.high == pytest.approx(2 + 2.306 * 1.118, abs=0.001)


def test_seven_units_have_students_t_and_eight_have_percentiles() -> None:
    values = np.concatenate([[1.0], np.random.default_rng(3).exponential(1.0, 400)])
    seven, eight = interval_of(values, 7), interval_of(values, 8)
    assert seven is not None
    assert eight is not None
    assert seven.high - 1.0 == pytest.approx(1.0 - seven.low)
    assert eight.low > 0


def test_resamples_without_a_number_are_left_out_up_to_half_of_all() -> None:
    numbers = resampled(10.0, 10)
    with_gaps = np.concatenate([numbers, np.full(9, np.nan)])
    assert interval_of(with_gaps, 5) == interval_of(numbers, 5)
    assert interval_of(np.concatenate([numbers, np.full(10, np.nan)]), 5) is None
    assert interval_of(np.concatenate([[np.nan], numbers]), 5) is None
    assert interval_of(numbers[:1], 5) is None
    assert interval_of(numbers, 1) is None
    assert interval_of(numbers, 2) is not None


def test_a_figure_that_is_never_negative_has_its_interval_on_a_scale_of_ratios() -> None:
    """Resamples e and 1/e about 1 have logarithms of the deviation 1: the ends are exp(±3.104)."""
    found = positive_interval(np.array([1.0, math.e, 1 / math.e, math.e, 1 / math.e]), 5)
    assert found is not None
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((-3.104, 3.104), abs=0.001)


def test_a_change_of_few_units_is_worked_out_by_hand() -> None:
    """Before is 2 in all resamples, after 2e or 2/e: the logarithm of the ratio has the deviation 1 about 0."""
    before, after = np.full(5, 2.0), 2 * np.array([1.0, math.e, 1 / math.e, math.e, 1 / math.e])
    paired = difference_interval(before, after, (5, 5), paired=True)
    assert paired is not None
    assert (paired.low, paired.high) == pytest.approx((2 * math.expm1(-3.104), 2 * math.expm1(3.104)), rel=0.001)
    # Only one side varies, so Welch's degrees of freedom are those of that side: 6 of 7 units.
    apart = difference_interval(before, after, (5, 7), paired=False)
    assert apart is not None
    assert apart.high == pytest.approx(2 * math.expm1(2.447 * math.sqrt(5 / 4)), rel=0.001)


def test_a_change_of_figures_that_may_be_negative_has_an_end_below_minus_100_percent() -> None:
    before, after = np.array([-2.0, -2.0, -2.0]), np.array([-2.0, -1.0, -3.0])
    change = difference_interval(before, after, (5, 5), paired=True)
    assert change is not None
    assert (change.low, change.high) == pytest.approx((-3.104, 3.104), abs=0.001)


@pytest.mark.parametrize(
    ("variances", "degrees", "expected"),
    [((1.0, 1.0), (9, 9), 18), ((4.0, 1.0), (9, 4), 12), ((1.0, 0.0), (6, 20), 6), ((0.0, 0.0), (4, 7), 4)],
)
def test_degrees_of_a_difference_are_welchs(
    variances: tuple[float, float], degrees: tuple[int, int], expected: int
) -> None:
    """(4 + 1)² / (16/9 + 1/4) is 12.3. Equal variances add their degrees; one without scatter adds none."""
    assert welch_degrees(variances, degrees) == expected


def test_the_interval_of_a_quantile_with_endless_waits_is_that_of_ranks() -> None:
    """The resamples are 1 to 97 and three endless ones: the ends are values and no means of two."""
    values = np.concatenate([[50.0], np.arange(1.0, 98.0), np.full(3, np.inf)])
    tail = expanded_tail(12, 11)
    assert 0.01 < tail < 0.02
    assert quantile_interval(values, 12) == Interval(2.0, math.inf)
    assert math.ceil(100 * tail) == 2
    # Six units: the tail is the normal probability of -t(5) sqrt(6/5) = -2.816, which is 0.0024.
    assert quantile_interval(values, 6) == Interval(1.0, math.inf)
    assert quantile_interval(np.array([1.0, np.inf]), 1) is None


@pytest.mark.parametrize("units", [9, 25])
def test_ranks_of_endless_waits_follow_the_number_of_units(units: int) -> None:
    values = np.concatenate([[1.0], np.sort(np.random.default_rng(units).exponential(1.0, 3999)), [np.inf]])
    found = quantile_interval(values, units)
    assert found is not None
    place = math.ceil(4000 * expanded_tail(units, units - 1))
    assert (found.low, found.high) == (values[place], values[1:][4000 - place])


def test_a_mean_is_drawn_again_by_its_owners() -> None:
    """Each resample has all values of an owner as often as the owner was drawn."""
    random = np.random.default_rng(23)
    values, owners, weights = random.exponential(1.0, 300), random.integers(0, 10, 300), drawn(10)
    means = np.array([np.repeat(values, row[owners].astype(int)).mean() for row in weights])
    expected = positive_interval(means, 10)
    assert expected is not None
    for found in (mean_interval(values, owners, 10), mean_interval(values, owners, 10, weights)):
        assert found is not None
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    few = mean_interval(values, owners, 10, drawn(10, replicates=50))
    assert few is not None
    assert few.low != pytest.approx(expected.low, rel=1e-6)
    assert mean_interval(values, np.zeros(300, dtype=np.int64), 4) is None


def test_weights_draw_each_unit_once_first_and_keep_their_number() -> None:
    weights = drawn(6, replicates=500)
    assert weights.shape == (501, 6)
    assert (weights[0] == 1).all()
    assert (weights.sum(axis=1) == 6).all()
    assert drawn(4).shape == (1, 4)
    assert drawn(5).shape == (2001, 5)
    assert (drawn(6, seed=1, replicates=500) != weights).any()
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0] = 2.0


def test_sums_of_many_units_are_added_in_groups() -> None:
    sums = np.column_stack([np.arange(2050.0), np.ones(2050)])
    groups = grouped(sums)
    assert groups.shape == (1024, 2)
    assert groups[0].tolist() == [0 + 1024 + 2048, 3]
    assert groups[1].tolist() == [1 + 1025 + 2049, 3]
    assert groups[2].tolist() == [2 + 1026, 2]
    assert grouped(sums[:1024]) is not None
    assert (grouped(sums[:1024]) == sums[:1024]).all()


@pytest.mark.parametrize(
    ("interactions", "waits", "expected"),
    [(0, math.inf, 1), (17, math.inf, 1), (18, math.inf, 2), (71, math.inf, 7), (1000, math.inf, 8), (1000, 9.9, 4)],
)
def test_stretches_hold_nine_interactions_and_two_waits(interactions: int, waits: float, expected: int) -> None:
    assert stretch_count(interactions, waits) == expected


def test_a_run_of_ten_waits_is_long_enough_alone() -> None:
    assert [too_short(1, waits) for waits in (9.9, 10.0, math.inf)] == [True, False, False]
    assert [too_short(runs, 2.0) for runs in (4, 5)] == [True, False]


def test_the_wider_interval_encloses_all() -> None:
    assert wider([Interval(2, 5), None, Interval(1, 3)]) == Interval(1, 5)
    assert wider([None, None]) is None
