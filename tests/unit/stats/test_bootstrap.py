"""Intervals by the bootstrap over users: exact replicates, honest coverage, the same every time."""

import numpy as np
import pytest
from loadgo.stats.cluster_bootstrap import draw_users, quantile_intervals
from numpy.typing import NDArray


def replicates_by_repeating(
    values: NDArray[np.float64], users: NDArray[np.int64], weights: NDArray[np.float64], probability: float
) -> tuple[float, float]:
    """The interval as the definition has it: every value repeated as often as its user was drawn."""
    found = []
    for row in weights:
        drawn = np.repeat(values, row[users].astype(int))
        if len(drawn):
            found.append(np.quantile(drawn, probability))
    low, high = np.quantile(found, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)


@pytest.mark.parametrize(("size", "users"), [(1, 6), (40, 6), (2048, 30), (2049, 7), (9000, 50)])
def test_an_interval_is_what_repeating_every_value_gives(size: int, users: int) -> None:
    random = np.random.default_rng(size)
    values = np.sort(random.exponential(1, size))
    owners = random.integers(0, users, size)
    draws = draw_users(users, replicates=60)
    for probability, found in zip(
        (0.5, 0.9, 0.99), quantile_intervals(values, owners, draws, (0.5, 0.9, 0.99)), strict=True
    ):
        assert found == pytest.approx(replicates_by_repeating(values, owners, draws.weights, probability))


def test_the_same_run_gives_the_same_interval() -> None:
    values, owners = np.arange(100.0), np.arange(100) % 10
    one, other = (quantile_intervals(values, owners, draw_users(10), (0.9,)) for _ in range(2))
    assert one == other


def test_lines_that_were_never_answered_push_the_upper_end_to_infinity() -> None:
    values = np.concatenate([np.arange(90.0), np.full(10, np.inf)])
    owners = np.arange(100) % 20
    [(low, high)] = quantile_intervals(values, owners, draw_users(20), (0.9,))
    assert np.isfinite(low)
    assert np.isinf(high)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Users differ from each other, so that drawing interactions instead of users would be far too sure of itself."""
    random = np.random.default_rng(7)
    users, each, trials = 30, 20, 150
    population = np.exp(random.normal(0, 0.5, 100_000) + random.normal(0, 0.3, 100_000))
    truth = float(np.median(population))
    draws = draw_users(users, replicates=200)
    held = 0
    for _ in range(trials):
        own = random.normal(0, 0.5, users).repeat(each)
        values = np.exp(own + random.normal(0, 0.3, users * each))
        order = np.argsort(values)
        [(low, high)] = quantile_intervals(values[order], (np.arange(users * each) // each)[order], draws, (0.5,))
        held += low <= truth <= high
    assert 0.89 <= held / trials <= 0.99


def test_a_great_many_users_are_drawn_in_groups() -> None:
    draws = draw_users(100_000, replicates=3)
    assert draws.groups == 4096
    assert (draws.weights.sum(axis=1) == 4096).all()
