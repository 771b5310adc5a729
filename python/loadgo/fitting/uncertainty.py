"""The uncertainty of fitted values, estimated by resampling users and stretches of time.

Users of one machine wait for each other, and its state drifts. So units are resampled in three ways: users, stretches
of runs, and each user's part of each stretch. The uncertainty of a value is the largest of the three. Correlations come
from each user's part of each stretch, which gives the largest number of units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.stats.resample import FEWEST_UNITS, Floats, Integers, drawn, grouped
from loadgo.stats.student import student_reach

FIT_REPLICATES = 1000
_ROUNDING_SHARE = 1e-9
"""Resamples that differ by less are equal."""


@dataclass(frozen=True)
class Grouping:
    """One way to divide the interactions into units that are resampled."""

    units: int
    codes: Integers
    """The unit of each interaction."""
    weights: Floats
    """Number of times that each unit is in each resample, shape (1 + resamples, units); row 0 has each unit once."""


@dataclass(frozen=True)
class ResampledValue:
    """A value with its resampled values, an array for each grouping; element 0 of each array is the value."""

    value: float
    draws: tuple[Floats, ...]

    @property
    def logs(self) -> tuple[Floats, ...]:
        """The natural logarithms of the resampled values. A value that is not positive is replaced by `value`.

        A value of 0 has no logarithm and no spread: all its logarithms are 0.
        """
        value = self.value if self.value > 0 else 1.0
        return tuple(np.log(np.where(np.isfinite(draw) & (draw > 0), draw, value)[1:]) for draw in self.draws)


@dataclass(frozen=True)
class FitCovariance:
    """The uncertainty of all resampled values together."""

    deviations: Floats
    """Standard deviations of the logarithms."""
    covariance: Floats
    """Covariance of the logarithms; of shape (0, 0) where there were too few units."""
    degrees: tuple[int, ...]
    """Degrees of freedom of each deviation: the number of its units, less one."""


def resample_groupings(rows: pl.DataFrame) -> tuple[Grouping, ...]:
    """The groupings of `rows` by user and stretch, by user, and by stretch, without those that have too few units."""
    keys = (["run", "user", "stretch"], ["run", "user"], ["run", "stretch"])
    groupings = [_grouping(rows, key) for key in keys]
    return tuple(grouping for grouping in groupings if len(grouping.weights) > 1) or (groupings[0],)


def _grouping(rows: pl.DataFrame, keys: list[str]) -> Grouping:
    codes = rows.select(pl.struct(keys).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy().astype(np.int64)
    units = int(codes.max()) + 1 if len(codes) else 0
    return Grouping(units, codes, drawn(units, replicates=FIT_REPLICATES))


def resampled_ratio(groupings: Sequence[Grouping], numerator: Floats, denominator: Floats) -> ResampledValue:
    """The sum of `numerator` divided by the sum of `denominator`; both have a value for each interaction."""
    draws = []
    for grouping in groupings:
        above, below = (resampled_sums(grouping, values) for values in (numerator, denominator))
        with np.errstate(invalid="ignore", divide="ignore"):
            draws.append(above / below)
    return ResampledValue(float(numerator.sum() / denominator.sum()), tuple(draws))


def widened(mean: ResampledValue, deviation: float) -> ResampledValue | None:
    """The value with resamples whose logarithms deviate by at least `deviation`; None if all are equal."""
    widest = max((float(logs.std()) for logs in mean.logs if len(logs)), default=0.0)
    if widest >= deviation:
        return mean
    if widest < _ROUNDING_SHARE:
        return None
    draws = [
        np.concatenate([draw[:1], mean.value * np.exp(deviation / widest * (logs - np.log(mean.value)))])
        for draw, logs in zip(mean.draws, mean.logs, strict=True)
    ]
    return ResampledValue(mean.value, tuple(draws))


def resampled_spread(groupings: Sequence[Grouping], values: Floats, selected: Floats) -> ResampledValue:
    """Standard deviation divided by mean of `values` where `selected` is 1; elsewhere it is 0."""
    draws = []
    for grouping in groupings:
        powers = (selected, values * selected, values**2 * selected)
        count, total, squares = (resampled_sums(grouping, power) for power in powers)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = total / count
            draws.append(np.sqrt(np.maximum(squares / count - mean**2, 0.0)) / mean)
    return ResampledValue(float(draws[0][0]), tuple(draws))


def resampled_sums(grouping: Grouping, values: Floats) -> Floats:
    by_unit: Floats = np.bincount(grouping.codes, weights=values, minlength=grouping.units).astype(np.float64)
    summed: Floats = np.matmul(grouping.weights, grouped(by_unit))
    return summed


def fit_covariance(estimates: Sequence[ResampledValue], groupings: Sequence[Grouping]) -> FitCovariance:
    """The covariance of the logarithms of the resampled values."""
    count = len(estimates)
    if not count or len(groupings[0].weights) < 2:
        return FitCovariance(np.zeros(count), np.zeros((0, 0)), (1,) * count)
    by_grouping = [np.array([estimate.logs[index] for estimate in estimates]) for index in range(len(groupings))]
    ratios = [_small_sample_ratio(grouping.units) for grouping in groupings]
    spreads = np.array([logs.std(axis=1) * ratio for logs, ratio in zip(by_grouping, ratios, strict=True)])
    widest = spreads.argmax(axis=0)
    deviations: Floats = spreads.max(axis=0)
    parts = by_grouping[0] - by_grouping[0].mean(axis=1, keepdims=True)
    norms = np.sqrt((parts**2).sum(axis=1))
    norms = np.where(norms > 0, norms, 1.0)
    correlation = (parts @ parts.T) / np.outer(norms, norms)
    np.fill_diagonal(correlation, 1.0)
    return FitCovariance(
        deviations=deviations,
        covariance=correlation * np.outer(deviations, deviations),
        degrees=tuple(max(groupings[index].units - 1, 1) for index in widest),
    )


def _small_sample_ratio(units: int) -> float:
    """The factor by which resampling underestimates the deviation of `units` units."""
    return (units / (units - 1)) ** 0.5 if units >= FEWEST_UNITS else 1.0


def log_interval(value: float, deviation: float, degrees: int) -> tuple[float, float]:
    """The 95 % interval of a value whose logarithm has this deviation (Student's t)."""
    reach = float(np.exp(student_reach(degrees) * deviation))
    return value / reach, value * reach
