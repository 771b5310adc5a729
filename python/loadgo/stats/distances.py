"""Distances between two distributions, with intervals: of values, and of shares.

The distance of values is the area between both distribution functions, which is the mean distance of their quantiles.
It is Wasserstein's distance of order 1 (Vallender, Theory of Probability and Its Applications 18, 1974). That of shares
is half the sum of their differences (total variation).

A distance of samples is above 0 also where both are from one distribution, so that its own resamples are too far apart.
The interval needs none. By the triangle inequality, a distance is off by at most what both samples are off from their
distributions. Resamples show how large that is. The interval holds the true distance in 95 % of
cases or more, also where that is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from loadgo.stats.resample import FEWEST_UNITS, MOST_GROUPS, Floats, Integers, Interval, drawn
from loadgo.stats.student import student_reach

DISTANCE_REPLICATES = 400
"""Number of resamples of each side."""
_SEEDS = (1974, 1982)
"""Both samples are drawn again by themselves."""
_MOST_CELLS = 400
"""Number of quantiles at which resamples are compared, so that memory is bounded."""
_NORMAL_REACH_DEVIATIONS = 1.959964


@dataclass(frozen=True)
class Clustered:
    """Values with the unit of each, such as a session. Units are numbered from 0, and each has a value."""

    values: Floats
    owners: Integers
    units: int

    @staticmethod
    def of(values: Floats, owners: Integers) -> Clustered:
        """The values that are numbers. `owners` may have any numbers."""
        known = np.isfinite(values)
        numbers, places = np.unique(owners[known], return_inverse=True)
        return Clustered(values[known], places.astype(np.int64), len(numbers))


@dataclass(frozen=True)
class Distance:
    """A distance, with its interval; None with too few units."""

    value: float
    interval: Interval | None


def distance_of_values(before: Clustered, after: Clustered) -> Distance:
    """The mean distance of the quantiles of both samples, which are not empty, in the unit of the values."""
    ordered = np.unique(np.concatenate([before.values, after.values]))
    value = distance_between(before.values, after.values)
    cells = ordered[np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_CELLS)).round().astype(int))]
    if len(cells) < 2:
        return Distance(value, Interval(value, value) if min(before.units, after.units) >= FEWEST_UNITS else None)
    errors = [_cumulative_errors(side, cells, seed) for side, seed in zip((before, after), _SEEDS, strict=True)]
    return _with_reach(value, errors, (before.units, after.units), np.diff(cells), math.inf)


def distance_between(before: Floats, after: Floats) -> float:
    """The mean distance of the quantiles of two samples that are not empty, without an interval."""
    ordered = np.unique(np.concatenate([before, after]))
    shares = [_shares_up_to(ordered, values) for values in (before, after)]
    return float((np.abs(shares[0] - shares[1])[:-1] * np.diff(ordered)).sum())


def distance_of_shares(before: Floats, after: Floats) -> Distance:
    """The share that differs between two mixes, from counts in columns, with a row for each unit."""
    shares = [counts.sum(axis=0) / counts.sum() for counts in (before, after)]
    value = float(np.abs(shares[0] - shares[1]).sum() / 2)
    errors = [_share_errors(counts, seed) for counts, seed in zip((before, after), _SEEDS, strict=True)]
    widths = np.full(before.shape[1], 0.5)
    return _with_reach(value, errors, (len(before), len(after)), widths, 1.0)


def _with_reach(value: float, errors: list[Floats], units: tuple[int, int], widths: Floats, most: float) -> Distance:
    """The distance with its interval. `errors` are what resamples are off, each with a weight of `widths`."""
    fewest = min(units)
    if fewest < FEWEST_UNITS:
        return Distance(value, None)
    distances = np.abs(errors[0] - errors[1]) @ widths
    few = student_reach(fewest - 1) / _NORMAL_REACH_DEVIATIONS * math.sqrt(fewest / (fewest - 1))
    reach = float(np.quantile(distances, 0.95)) * few
    return Distance(value, Interval(max(value - reach, 0.0), min(value + reach, most)))


def _shares_up_to(ordered: Floats, values: Floats) -> Floats:
    """The share of the values up to each of `ordered`."""
    shares: Floats = np.searchsorted(np.sort(values), ordered, side="right") / len(values)
    return shares


def _cumulative_errors(side: Clustered, cells: Floats, seed: int) -> Floats:
    """How much the distribution function of each resample differs from that of the sample, at all but the last cell."""
    places = np.minimum(np.searchsorted(cells, side.values), len(cells) - 1)
    groups, owners = min(side.units, MOST_GROUPS), side.owners % MOST_GROUPS
    counts = np.bincount(owners * len(cells) + places, minlength=groups * len(cells))
    return _errors(counts.reshape(groups, -1).cumsum(axis=1)[:, :-1], np.bincount(owners), seed)


def _share_errors(counts: Floats, seed: int) -> Floats:
    return _errors(counts, counts.sum(axis=1), seed)


def _errors(parts: Floats | Integers, totals: Floats | Integers, seed: int) -> Floats:
    """The shares of `parts` in `totals` in each resample of at most `MOST_GROUPS` units, less those in the sample."""
    weights = drawn(len(totals), seed, DISTANCE_REPLICATES)
    sums = weights @ parts.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = sums / (weights @ totals.astype(np.float64))[:, np.newaxis]
    errors: Floats = np.nan_to_num(shares[1:] - shares[0])
    return errors
