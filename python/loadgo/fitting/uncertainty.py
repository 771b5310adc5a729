"""How surely a fit knows its values: everything is estimated again from users, and stretches of time, drawn anew.

Users of one machine wait for each other, and its state drifts: so units are drawn in three ways, users as wholes, the
runs' stretches as wholes, and each user's part of each stretch. A value's doubt is the largest of the three; how two
values vary together is by the parts, of which there are most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.stats.resample import FEWEST_UNITS, drawn, grouped

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

REPLICATES = 1000


@dataclass(frozen=True)
class Grouping:
    """Interactions in units that are drawn as wholes."""

    units: int
    codes: Integers
    """Of each interaction, its unit."""
    weights: Floats
    """How often each unit is in each drawing; row 0 has each once."""


@dataclass(frozen=True)
class Estimate:
    """A value with what it comes to in each drawing, by grouping; row 0 of each is the value."""

    value: float
    draws: tuple[Floats, ...]

    @property
    def logs(self) -> tuple[Floats, ...]:
        """The natural logarithms of the drawings; those that are not over 0 are the value itself."""
        return tuple(np.log(np.where(np.isfinite(one) & (one > 0), one, self.value)[1:]) for one in self.draws)


@dataclass(frozen=True)
class Doubt:
    """What the estimates come to together."""

    deviations: Floats
    """Of the logarithms."""
    covariance: Floats
    degrees: tuple[int, ...]
    """Of each estimate, how many units its deviation comes from, less one."""


def groupings_of(rows: pl.DataFrame) -> tuple[Grouping, ...]:
    """The parts, the users and the stretches of `rows`; without those of which there are too few to draw."""
    keys = (["run", "user", "stretch"], ["run", "user"], ["run", "stretch"])
    found = [_grouping(rows, key) for key in keys]
    return tuple(one for one in found if len(one.weights) > 1) or (found[0],)


def _grouping(rows: pl.DataFrame, keys: list[str]) -> Grouping:
    codes = rows.select(pl.struct(keys).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy().astype(np.int64)
    units = int(codes.max()) + 1 if len(codes) else 0
    return Grouping(units, codes, drawn(units, replicates=REPLICATES))


def ratio(groupings: Sequence[Grouping], numerator: Floats, denominator: Floats) -> Estimate:
    """The sum of one over the sum of the other, both with a value for each interaction."""
    draws = []
    for grouping in groupings:
        above, below = (_sums(grouping, values) for values in (numerator, denominator))
        with np.errstate(invalid="ignore", divide="ignore"):
            draws.append(above / below)
    return Estimate(float(numerator.sum() / denominator.sum()), tuple(draws))


def spread(groupings: Sequence[Grouping], values: Floats, of: Floats) -> Estimate:
    """Standard deviation over mean of `values` where `of` is 1 (elsewhere 0)."""
    draws = []
    for grouping in groupings:
        count, first, second = (_sums(grouping, part) for part in (of, values * of, values**2 * of))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = first / count
            draws.append(np.sqrt(np.maximum(second / count - mean**2, 0.0)) / mean)
    return Estimate(float(draws[0][0]), tuple(draws))


def _sums(grouping: Grouping, values: Floats) -> Floats:
    by_unit: Floats = np.bincount(grouping.codes, weights=values, minlength=grouping.units).astype(np.float64)
    summed: Floats = np.matmul(grouping.weights, grouped(by_unit))
    return summed


def doubt_of(estimates: Sequence[Estimate], groupings: Sequence[Grouping]) -> Doubt:
    """The covariance of the logarithms of the estimates."""
    count = len(estimates)
    if not count or len(groupings[0].weights) < 2:
        return Doubt(np.zeros(count), np.zeros((0, 0)), (1,) * count)
    by_grouping = [np.array([one.logs[place] for one in estimates]) for place in range(len(groupings))]
    found = np.array([logs.std(axis=1) * _wider(one.units) for logs, one in zip(by_grouping, groupings, strict=True)])
    widest = found.argmax(axis=0)
    deviations: Floats = found.max(axis=0)
    parts = by_grouping[0] - by_grouping[0].mean(axis=1, keepdims=True)
    norms = np.sqrt((parts**2).sum(axis=1))
    norms = np.where(norms > 0, norms, 1.0)
    correlation = (parts @ parts.T) / np.outer(norms, norms)
    np.fill_diagonal(correlation, 1.0)
    return Doubt(
        deviations=deviations,
        covariance=correlation * np.outer(deviations, deviations),
        degrees=tuple(max(groupings[place].units - 1, 1) for place in widest),
    )


def _wider(units: int) -> float:
    """What a deviation of so few units is short by: they were drawn as if they were all that there is."""
    return (units / (units - 1)) ** 0.5 if units >= FEWEST_UNITS else 1.0


def interval(value: float, deviation: float, degrees: int) -> tuple[float, float]:
    """The 95 % interval of a value whose logarithm has this deviation (Student's t)."""
    from scipy import stats

    reach = float(np.exp(stats.t.ppf(0.975, degrees) * deviation))
    return value / reach, value * reach
