"""Confidence intervals of a mean that hold after every observation, so that an experiment may stop at any time.

An interval of Student's t holds for a number of observations that was fixed in advance. An experimenter who computes it
after each observation, and stops when it leaves out 0, is wrong far more often than once in twenty. The intervals here
hold at all numbers of observations at once. In 95 of 100 experiments none of them misses the mean.

The likelihood ratio compares two hypotheses: the tested mean, and a mixture of other means. The distance of the other
means from the tested mean is normally distributed, in standard deviations of an observation. Under the right Haar prior
of the standard deviation, the ratio is a martingale if the tested mean is true. By Ville's inequality it then exceeds
1/α with a probability of at most α. The interval has all means whose ratio does not exceed 1/α. Sources:
T. L. Lai, Annals of Statistics 4 (1976), page 265; H. Wang and A. Ramdas, Anytime-valid t-tests and confidence
sequences for Gaussian means with unknown variance, Sequential Analysis 44 (2025).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from loadgo.stats.resample import Interval

ANYTIME_CONFIDENCE = 0.95
"""The probability that no interval of an experiment misses the mean."""

PRIOR_VARIANCE_RATIO = 4.0
"""The variance of the mixture, in variances of one observation.

It decides after how many observations the interval is nearest to Student's in width. With 4, the first intervals come
after 4 observations, and after 10 the interval is 1.8 times as wide as Student's.
"""


def anytime_interval(values: Sequence[float]) -> Interval | None:
    """The interval of the mean of `values`, which are independent and about normal; None if there are too few."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    width = half_width(math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)), len(values))
    return None if math.isinf(width) else Interval(mean - width, mean + width)


def half_width(deviation: float, count: int) -> float:
    """Half the interval's width after `count` observations of this standard deviation; infinite if they are too few."""
    growth = 1 + count * PRIOR_VARIANCE_RATIO
    ratio = (math.sqrt(growth) / (1 - ANYTIME_CONFIDENCE)) ** (2 / count)
    if ratio >= growth:
        return math.inf
    squared_t = (count - 1) * (ratio - 1) / (1 - ratio / growth)
    return deviation * math.sqrt(squared_t / count)


FEWEST_OBSERVATIONS = next(count for count in range(2, 100) if not math.isinf(half_width(1.0, count)))
"""The fewest observations that have an interval."""


def observations_needed(deviation: float, width: float, most: int) -> int | None:
    """The fewest observations whose half width is at most `width`; None if more than `most` are needed."""
    fits = (count for count in range(2, most + 1) if half_width(deviation, count) <= width)
    return next(fits, None)
