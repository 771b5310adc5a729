"""Distances and rank correlations: exact values, and intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from loadgo.stats.distances import Clustered, Distance, distance_of_shares, distance_of_values
from loadgo.stats.rank_correlation import rank_correlations
from loadgo.stats.resample import Floats


def clustered(values: Floats) -> Clustered:
    """Values of which each row has a unit of its own."""
    return Clustered.of(values.ravel(), np.repeat(np.arange(len(values)), values.shape[1]))


def drawn_distance(seed: int, factor: float) -> Distance:
    """The distance of samples with effects of their units, the second `factor` times as large."""
    stream = np.random.default_rng(seed)
    sides = [
        stream.lognormal(0, 0.5, (units, 20)) * stream.lognormal(0, 0.1, (units, 1)) * scale
        for units, scale in ((20, 1.0), (15, factor))
    ]
    return distance_of_values(clustered(sides[0]), clustered(sides[1]))


def test_the_distance_of_moved_values_is_the_move() -> None:
    values = np.random.default_rng(1).normal(size=(8, 50))
    moved = distance_of_values(clustered(values), clustered(values + 0.25))
    assert moved.value == pytest.approx(0.25)
    assert distance_of_values(clustered(values), clustered(values)).value == 0
    wider = distance_of_values(clustered(np.array([[1.0, 3.0]])), clustered(np.array([[0.0, 4.0]])))
    assert wider.value == pytest.approx(1.0)
    assert wider.interval is None


def test_the_distance_is_the_mean_one_of_the_quantiles() -> None:
    stream = np.random.default_rng(2)
    before, after = stream.lognormal(0, 1, (6, 100)), stream.exponential(2, (6, 100))
    by_quantiles = np.abs(np.sort(before.ravel()) - np.sort(after.ravel())).mean()
    assert distance_of_values(clustered(before), clustered(after)).value == pytest.approx(by_quantiles)


def test_values_that_are_unknown_count_for_nothing() -> None:
    side = Clustered.of(np.array([1.0, np.nan, 3.0]), np.array([5, 6, 9]))
    assert side.values.tolist() == [1.0, 3.0]
    assert side.owners.tolist() == [0, 1]
    assert side.units == 2


@pytest.mark.statistical
@pytest.mark.parametrize(("factor", "truth"), [(1.0, 0.0), (1.3, 0.3 * np.exp(0.125 + 0.005))])
def test_the_interval_holds_the_true_distance(factor: float, truth: float) -> None:
    held = 0
    for seed in range(200):
        interval = drawn_distance(seed, factor).interval
        assert interval is not None
        held += interval.low <= truth <= interval.high
    assert held >= 182  # 95 % less three deviations


def test_the_distance_of_mixes_is_the_share_that_differs() -> None:
    before, after = np.tile([6.0, 4.0, 0.0], (10, 1)), np.tile([3.0, 4.0, 3.0], (10, 1))
    moved = distance_of_shares(before, after)
    assert moved.value == pytest.approx(0.3)
    assert moved.interval is not None
    assert moved.interval.low == pytest.approx(0.3)
    same = distance_of_shares(before, before).interval
    assert same is not None
    assert same.low == 0


def test_more_units_than_groups_are_drawn_in_groups() -> None:
    values = np.random.default_rng(3).normal(size=(3000, 2))
    distance = distance_of_values(clustered(values), clustered(values + 1))
    assert distance.interval is not None
    assert distance.interval.high - distance.interval.low < 0.2


def test_the_rank_correlation_is_spearmans_in_the_sample_and_in_resamples() -> None:
    stream = np.random.default_rng(4)
    first = stream.normal(size=200).round(1)
    second = first + stream.normal(size=200).round(1)
    owners = np.repeat(np.arange(20), 10)
    found = rank_correlations(first, second, owners, 20, seed=7)
    frame = pl.DataFrame({"first": first, "second": second})
    assert found[0] == pytest.approx(frame.select(pl.corr("first", "second", method="spearman")).item())
    assert 0.02 < found[1:].std() < 0.1
    assert np.isnan(rank_correlations(np.ones(200), second, owners, 20, seed=7)).all()
