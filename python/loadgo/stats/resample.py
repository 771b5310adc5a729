"""Resamples of units (users, stretches of time, or runs), and the intervals that they give.

Row 0 of the weights has each unit once, so one matrix product computes an estimate and its replicates.

Percentiles of few units give intervals that are too short, as if the standard deviation were known. The expanded
percentile interval corrects that: with n units, its tail is the normal probability of -t(n - 1) sqrt(n / (n - 1)).
T. C. Hesterberg, The American Statistician 69 (2015), page 371.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from loadgo.stats.interval import Interval as Interval
from loadgo.stats.interval import inverse as inverse
from loadgo.stats.student import student_reach

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DEFAULT_REPLICATES = 2000
FEWEST_UNITS = 5
"""Fewest units that give an interval."""
STUDENT_T_BELOW_UNITS = 8
"""Number of units below which Student's t replaces percentiles, which would be the extremes of the resamples."""
MOST_STRETCHES = 8
"""Most stretches of a run's time. They are few and long, since busy times last."""
FEWEST_STRETCH_WAITS = 2.0
"""Shortest stretch in mean waits. A queue changes in about the time that a user waits in it.

Shorter stretches would not be independent.
"""
FEWEST_STRETCH_INTERACTIONS = 9
"""Fewest interactions in a stretch, on average."""

_SEED = 19730517
MOST_GROUPS = 1024
"""Most groups that are drawn again: more units are drawn in so many groups."""
_MOST_KEPT_UNITS = 64
"""Most units whose weights are kept for further calls: a megabyte for each seed."""
_MOST_KEPT_DRAWS = 16


def drawn(units: int, seed: int = _SEED, replicates: int = DEFAULT_REPLICATES) -> Floats:
    """The weight of each unit in each resample, of shape (1 + replicates, groups of units). Row 0 has each unit once.

    More than 1024 units are drawn in groups (`grouped`). With fewer than 5 units there is only row 0. The same seed
    gives the same weights. They cannot be written to, since weights of few units are kept for the next call.
    """
    draw = _kept_draws if units <= _MOST_KEPT_UNITS else _new_draws
    return draw(min(units, MOST_GROUPS), seed, replicates)


def _new_draws(groups: int, seed: int, replicates: int) -> Floats:
    """The weights that `drawn` describes, of so many groups."""
    weights: Floats = np.ones((1, groups))
    if groups >= FEWEST_UNITS:
        random = np.random.default_rng(seed)
        resamples = random.multinomial(groups, np.full(groups, 1 / groups), size=replicates)
        weights = np.vstack([weights, resamples.astype(np.float64)])
    weights.flags.writeable = False
    return weights


_kept_draws = lru_cache(_MOST_KEPT_DRAWS)(_new_draws)
"""The weights of few units, which the same figures of many runs draw again and again: stretches, users of a trial."""


def grouped(sums: Floats) -> Floats:
    """Adds up sums by unit (the first axis) to sums by the groups that `drawn` draws."""
    units = len(sums)
    if units <= MOST_GROUPS:
        return sums
    group_sums = np.zeros((MOST_GROUPS, *sums.shape[1:]))
    np.add.at(group_sums, np.arange(units) % MOST_GROUPS, sums)
    return group_sums


def interval_of(values: Floats, units: int, degrees: int | None = None) -> Interval | None:
    """The interval of an estimate from its resamples of `units` units. `values[0]` is the estimate itself.

    `degrees` are the degrees of freedom of its variance, by default `units - 1`. Resamples without a number are left
    out. They hold no unit that has the figure. Returns None without resamples, or if fewer than half of them have a
    number.
    """
    if len(values) < 2 or units < 2 or not np.isfinite(values[0]):
        return None
    resamples = values[1:][np.isfinite(values[1:])]
    if 2 * len(resamples) < len(values):
        return None
    degrees = units - 1 if degrees is None else degrees
    if units < STUDENT_T_BELOW_UNITS:
        half = student_reach(degrees) * float(resamples.std()) * float(np.sqrt(units / (units - 1)))
        return Interval(float(values[0]) - half, float(values[0]) + half)
    tail = _tail(units, degrees)
    resamples.sort()  # in place: they are a copy of the finite values
    return Interval(_interpolated(resamples, tail), _interpolated(resamples, 1 - tail))


def _interpolated(ascending: Floats, probability: float) -> float:
    """The quantile of ascending values: that of `numpy.quantile` to the last bit, in a tenth of its time."""
    rank = probability * (len(ascending) - 1)
    low = math.floor(rank)
    part = rank - low
    below, above = float(ascending[low]), float(ascending[min(low + 1, len(ascending) - 1)])
    return below + part * (above - below) if part < 0.5 else above - (1 - part) * (above - below)


def positive_interval(values: Floats, units: int) -> Interval | None:
    """The interval of a figure that is never negative, from its resamples as for `interval_of`.

    The interval is computed of logarithms, so that no end is below 0. Where a resample is 0, the interval is computed
    of the values and ends at 0. Resamples of few units may be negative though no figure is. A figure that is negative
    itself has the interval of `interval_of`.
    """
    known = values[np.isfinite(values)]
    if (known > 0).all():
        with np.errstate(invalid="ignore"):
            logs = interval_of(np.log(values), units)
        return None if logs is None else Interval(float(np.exp(logs.low)), float(np.exp(logs.high)))
    interval = interval_of(values, units)
    if interval is None or values[0] < 0:
        return interval
    return Interval(max(interval.low, 0.0), interval.high)


def difference_interval(before: Floats, after: Floats, units: tuple[int, int], *, paired: bool) -> Interval | None:
    """The interval of `after - before` from resamples of both, for figures that are never negative.

    `units` are the numbers of units of both. `paired` says that they were drawn together. The interval is computed of
    the logarithm of `after / before`. The relative change is then never below -100 %.
    Where a resample is 0 or below, it is the interval of the difference, which ends at -100 %. Figures that are
    negative themselves have that interval without an end.
    """
    fewest, finite_values = min(units), [values[np.isfinite(values)] for values in (before, after)]
    if all((values > 0).all() for values in finite_values):
        with np.errstate(invalid="ignore"):
            logs = np.log(before), np.log(after)
            ends = interval_of(logs[1] - logs[0], fewest, None if paired else _resampled_degrees(*logs, units))
        first = float(before[0])
        return None if ends is None else Interval(first * math.expm1(ends.low), first * math.expm1(ends.high))
    with np.errstate(invalid="ignore"):
        interval = interval_of(after - before, fewest, None if paired else _resampled_degrees(before, after, units))
    if interval is None or before[0] < 0 or after[0] < 0:
        return interval
    return Interval(max(interval.low, -float(before[0])), interval.high)


def welch_degrees(variances: tuple[float, float], degrees: tuple[int, int]) -> int:
    """Degrees of freedom of the variance of a difference of independent estimates, from those of both.

    They lie between the smaller of both and their sum. B. L. Welch, Biometrika 34 (1947), page 28.
    """
    squares = sum(variance**2 / count for variance, count in zip(variances, degrees, strict=True) if count)
    return max(min(degrees), int(sum(variances) ** 2 / squares)) if squares > 0 else min(degrees)


def _resampled_degrees(before: Floats, after: Floats, units: tuple[int, int]) -> int:
    finite_values = [values[np.isfinite(values)] for values in (before, after)]
    if min(len(values) for values in finite_values) < 2:
        return min(units) - 1
    variances = [float(values.var()) for values in finite_values]
    return welch_degrees((variances[0], variances[1]), (units[0] - 1, units[1] - 1))


def mean_interval(values: Floats, owners: Integers, units: int, weights: Floats | None = None) -> Interval | None:
    """The interval of a mean that is not negative, where the owners of its values, such as users, are drawn again.

    `weights` are from `drawn`, by default anew. Owners without a value count, too. None with too few of them.
    """
    if units < FEWEST_UNITS:
        return None
    weights = drawn(units) if weights is None else weights
    sums, counts = (
        grouped(np.bincount(owners, part, units).astype(np.float64)) for part in (values, np.ones(len(values)))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        means: Floats = (weights @ sums) / (weights @ counts)
    return positive_interval(means, units)


def quantile_interval(values: Floats, units: int) -> Interval | None:
    """The interval of a quantile of response times, from its resamples as for `positive_interval`.

    Lines that were never answered make resamples infinite.
    """
    if np.isfinite(values).all():
        return positive_interval(values, units)
    if len(values) < 2 or units < 2:
        return None
    tail = _tail(units, units - 1)
    low, high = np.quantile(values[1:], [tail, 1 - tail], method="inverted_cdf")
    return Interval(float(low), float(high))


def wider(intervals: Iterable[Interval | None]) -> Interval | None:
    """The smallest interval that encloses all the given ones. None without any."""
    known = [interval for interval in intervals if interval is not None]
    if not known:
        return None
    return Interval(min(interval.low for interval in known), max(interval.high for interval in known))


def stretch_count(interactions: int, waits: float = np.inf, most: int = MOST_STRETCHES) -> int:
    """Number of stretches for a run with `interactions` interactions and a length of `waits` mean waits."""
    return max(1, int(min(waits / FEWEST_STRETCH_WAITS, most, interactions // FEWEST_STRETCH_INTERACTIONS)))


def too_short(runs: int, waits: float) -> bool:
    """Whether runs of `waits` mean waits each are too short for an interval of a response time."""
    return bool(np.isfinite(waits)) and runs * int(waits / FEWEST_STRETCH_WAITS) < FEWEST_UNITS


@cache
def _tail(units: int, degrees: int) -> float:
    reach = math.sqrt(units / (units - 1)) * student_reach(degrees)
    return math.erfc(reach / math.sqrt(2)) / 2
