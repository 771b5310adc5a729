"""Change points of a series: the places where its level moved by more than chance moves it.

Candidates come from the optimal segmentation into levels (PELT, by Killick, Fearnhead and Eckley, 2012). Each candidate
is then tested on the two stretches beside it. The test permutes their values, and takes the best split of each
permutation, so that the choice of the place is allowed for. Candidates that fail are removed, the weakest first. For
the segmentation, outliers are brought near their neighbours; for the test, near the median.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from loadgo.stats.resample import Floats, Interval
from loadgo.stats.student import INTERVAL_CONFIDENCE

FEWEST_VALUES = 10
"""Number of values from which on a change can be found: with fewer, no order of the values is rare enough."""
FEWEST_SIDE_VALUES = 2
"""Smallest number of values on either side of a change. One value alone may be an outlier."""
LARGEST_CHANCE_SHARE = 0.01
"""Largest probability that a series without a change looks as divided as this one."""
_PERMUTATIONS = 1999
_LARGEST_PERMUTED_COUNT = 2_000_000
"""Largest number of permuted values in one array."""
_OUTLIER_DEVIATIONS = 3.0
"""Largest distance of a value from the median of its neighbours, in standard deviations of the noise."""
_NEIGHBOURS = 7
"""Number of values whose median is the middle of an outlier's neighbours."""
_PENALTY_FACTOR = 3.0
"""Cost of a level in noise variances and logarithms of the length. With 2, heavy tails give false levels."""
_SEED = 1971

Scale = Literal["ratio", "difference"]


@dataclass(frozen=True)
class LevelChange:
    """A change of a series' level."""

    index: int
    """Index of the first value after the change."""
    before: float
    """The mean of the stretch before the change; on the scale `ratio` the geometric mean."""
    after: float
    """The mean of the stretch after it."""
    scale: Scale
    """`ratio` if all values are positive, else `difference`."""
    size: float
    """On the scale `ratio` the relative change, such as 0.1 for 10 % more; else the difference."""
    interval: Interval | None
    """The 95 % interval of `size`, given the place of the change; None where the values do not scatter."""
    chance: float
    """Probability that values without a change look as divided."""


def change_points(values: Floats) -> tuple[LevelChange, ...]:
    """The changes of the level of `values`, which are in the order of time. None with fewer than `FEWEST_VALUES`."""
    if len(values) < FEWEST_VALUES:
        return ()
    scale: Scale = "ratio" if bool((values > 0).all()) else "difference"
    scaled: Floats = np.log(values) if scale == "ratio" else values.astype(np.float64)
    near = _without_outliers(scaled)
    places = _tested(scaled, _candidates(near))
    edges = [0, *(place for place, _ in places), len(values)]
    return tuple(
        _change(scaled[edges[i] : place], scaled[place : edges[i + 2]], place, chance, scale)
        for i, (place, chance) in enumerate(places)
    )


def _without_outliers(values: Floats) -> Floats:
    """The values, each brought near the median of its neighbours: one or two outliers are no level of their own."""
    deviations = np.abs(np.diff(values))
    noise = float(np.median(deviations)) / (0.6745 * math.sqrt(2.0)) or float(deviations.mean())
    windows = sliding_window_view(np.pad(values, _NEIGHBOURS // 2, mode="symmetric"), _NEIGHBOURS)
    middle = np.median(windows, axis=1)
    near: Floats = np.clip(values, middle - _OUTLIER_DEVIATIONS * noise, middle + _OUTLIER_DEVIATIONS * noise)
    return near


def _candidates(values: Floats) -> list[int]:
    """The beginnings of the levels, but the first, in the segmentation with the least squares and few levels."""
    noise = math.sqrt(float(np.mean(np.diff(values) ** 2)) / 2.0)
    if noise == 0.0:
        return []
    from ruptures import KernelCPD

    penalty = _PENALTY_FACTOR * math.log(len(values))
    found = KernelCPD(kernel="linear", min_size=FEWEST_SIDE_VALUES).fit(values / noise).predict(pen=penalty)
    return [int(end) for end in found[:-1]]


def _tested(values: Floats, candidates: list[int]) -> list[tuple[int, float]]:
    """The candidates that pass the test, each with its probability. The weakest is removed until all pass.

    They must pass it together: of many candidates the segmentation has chosen the best (Bonferroni).
    """
    places = list(candidates)
    largest_share = max(LARGEST_CHANCE_SHARE / max(1, len(places)), 1 / (1 + _PERMUTATIONS))
    known: dict[tuple[int, int], float] = {}
    while places:
        edges = [0, *places, len(values)]
        chances = []
        for i in range(len(places)):
            span = edges[i], edges[i + 2]
            if span not in known:
                known[span] = _chance_of_split(values[span[0] : span[1]])
            chances.append(known[span])
        weakest = max(range(len(places)), key=lambda i: chances[i])
        if chances[weakest] <= largest_share:
            return list(zip(places, chances, strict=True))
        del places[weakest]
    return []


def _chance_of_split(values: Floats) -> float:
    """Share of the permutations of `values` whose best split into two levels is at least as good as the real one.

    Outliers are brought near the median of all `values`, in whatever order these are. Values brought near their
    neighbours depend on their order: of runs with two modes, they make levels out of chance.
    """
    middle = float(np.median(values))
    distances = np.abs(values - middle)
    noise = float(np.median(distances)) / 0.6745 or float(distances.mean())
    near = np.clip(values, middle - _OUTLIER_DEVIATIONS * noise, middle + _OUTLIER_DEVIATIONS * noise)
    centred: Floats = near - near.mean()
    observed = float(_best_splits(centred[None, :])[0])
    random = np.random.default_rng(_SEED)
    batch = max(1, min(_PERMUTATIONS, _LARGEST_PERMUTED_COUNT // len(values)))
    reached, drawn = 0, 0
    while drawn < _PERMUTATIONS:
        count = min(batch, _PERMUTATIONS - drawn)
        permuted = random.permuted(np.tile(centred, (count, 1)), axis=1)
        reached += int(np.count_nonzero(_best_splits(permuted) >= observed * (1 - 1e-9)))
        drawn += count
    return (1 + reached) / (1 + _PERMUTATIONS)


def _best_splits(rows: Floats) -> Floats:
    """For each row of centred values, the largest difference of two levels in units of its standard error."""
    length = rows.shape[1]
    left = np.arange(FEWEST_SIDE_VALUES, length - FEWEST_SIDE_VALUES + 1)
    sums = np.cumsum(rows, axis=1)[:, left - 1]
    best: Floats = np.max(np.abs(sums) / np.sqrt(left * (length - left)), axis=1)
    return best


def _change(before: Floats, after: Floats, index: int, chance: float, scale: Scale) -> LevelChange:
    low, high = _welch_interval(before, after)
    means = float(before.mean()), float(after.mean())
    if scale == "difference":
        interval = None if math.isnan(low) else Interval(low, high)
        return LevelChange(index, *means, scale, means[1] - means[0], interval, chance)
    interval = None if math.isnan(low) else Interval(math.expm1(min(low, 700.0)), math.expm1(min(high, 700.0)))
    size = math.expm1(means[1] - means[0])
    return LevelChange(index, math.exp(means[0]), math.exp(means[1]), scale, size, interval, chance)


def _welch_interval(before: Floats, after: Floats) -> tuple[float, float]:
    """The 95 % interval of the difference of two means, without the assumption of equal scatter; NaN without any."""
    from scipy.special import stdtrit

    if np.ptp(before) == 0.0 and np.ptp(after) == 0.0:
        return math.nan, math.nan
    variances = [float(values.var(ddof=1)) / len(values) for values in (before, after)]
    squares = sum(variance**2 / (len(values) - 1) for variance, values in zip(variances, (before, after), strict=True))
    reach = float(stdtrit(sum(variances) ** 2 / squares, (1 + INTERVAL_CONFIDENCE) / 2)) * math.sqrt(sum(variances))
    difference = float(after.mean() - before.mean())
    return difference - reach, difference + reach
