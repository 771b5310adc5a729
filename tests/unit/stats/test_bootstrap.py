"""Quantiles drawn again by users: exact replicates, honest coverage, the same every time."""

import numpy as np
import pytest
from loadgo.stats.cluster_bootstrap import quantile_replicates
from loadgo.stats.resample import Interval, difference_interval, drawn, positive_interval, quantile_interval
from numpy.typing import NDArray


def replicates_by_repeating(
    values: NDArray[np.float64], users: NDArray[np.int64], weights: NDArray[np.float64], probability: float
) -> list[float]:
    """The replicates as the definition has them: every value repeated as often as its user was drawn."""
    repeated = [np.repeat(values, row[users].astype(int)) for row in weights]
    return [float(np.quantile(again, probability)) for again in repeated if len(again)]


@pytest.mark.parametrize(("size", "users"), [(1, 6), (40, 6), (2048, 30), (2049, 7), (9000, 50), (70_000, 50)])
def test_a_replicate_is_what_repeating_every_value_gives(size: int, users: int) -> None:
    random = np.random.default_rng(size)
    values = np.sort(random.exponential(1, size))
    owners = random.integers(0, users, size)
    weights = drawn(users, replicates=60)
    asked = (0.5, 0.9, 0.99)
    for probability, found in zip(asked, quantile_replicates(values, owners, weights, asked), strict=True):
        assert found == pytest.approx(replicates_by_repeating(values, owners, weights, probability))


def interval(values: NDArray[np.float64], owners: NDArray[np.int64], users: int, probability: float) -> Interval:
    """The interval of a quantile of `values`, which need no order."""
    order = np.argsort(values)
    [draws] = quantile_replicates(values[order], owners[order], drawn(users, replicates=400), (probability,))
    bounds = quantile_interval(draws, users)
    assert bounds is not None
    return bounds


def test_the_same_run_gives_the_same_interval() -> None:
    values, owners = np.arange(100.0), np.arange(100) % 10
    assert interval(values, owners, 10, 0.9) == interval(values, owners, 10, 0.9)


def test_lines_that_were_never_answered_push_the_upper_end_to_infinity() -> None:
    values = np.concatenate([np.arange(90.0), np.full(10, np.inf)])
    wide_interval = interval(values, np.arange(100) % 20, 20, 0.9)
    assert np.isfinite(wide_interval.low)
    assert np.isinf(wide_interval.high)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Users differ from each other, so intervals from resampled interactions instead of users would be too narrow."""
    random = np.random.default_rng(7)
    users, each, trials = 30, 20, 150
    population = np.exp(random.normal(0, 0.5, 100_000) + random.normal(0, 0.3, 100_000))
    truth = float(np.median(population))
    held = 0
    for _ in range(trials):
        own = random.normal(0, 0.5, users).repeat(each)
        values = np.exp(own + random.normal(0, 0.3, users * each))
        held += interval(values, np.arange(users * each) // each, users, 0.5).holds(truth)
    assert 0.89 <= held / trials <= 0.99


def test_a_great_many_users_are_drawn_in_groups() -> None:
    weights = drawn(100_000, replicates=3)
    assert weights.shape == (4, 1024)
    assert (weights.sum(axis=1) == 1024).all()


def test_no_interval_of_a_figure_that_is_never_negative_ends_below_zero() -> None:
    """Resamples of few units are spread wider than the units are, so some of them are negative."""
    random = np.random.default_rng(3)
    before, after = (np.concatenate([[0.1], random.normal(0.1, 0.08, 400)]) for _ in range(2))
    assert min(before) < 0
    change = difference_interval(before, after, (8, 8), paired=False)
    assert change is not None
    assert change.low == pytest.approx(-0.1)
    own = positive_interval(before, 8)
    assert own is not None
    assert own.low == 0.0
