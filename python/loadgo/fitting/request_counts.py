"""The law of the number of requests of an interaction, from its waits: how many made none, and how the others vary.

The sum of N waits, each with mean w and standard deviation s, has the mean E(N)·w and the variance E(N)·s² + Var(N)·w².
So the waits of a command show the mean and the variance of N. An interaction without a wait made no request.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from loadgo.fitting.law_choice import EMPIRICAL_LAW_POINTS, FEWEST_LAW_VALUES
from loadgo.notation.laws import Law
from loadgo.stats.resample import Floats

_SURE_ERRORS = 2.0
"""More interactions made no request than a law allows if their share is this many standard errors larger."""
_FAR_RATIO = 2.0
"""A variance this many times that of a geometric law is that of another law."""


@dataclass(frozen=True)
class RequestWait:
    """The wait for one request, in nanoseconds."""

    mean_ns: float
    deviation_ns: float


def request_law(waits: Floats, mean: float, request: RequestWait) -> Law:
    """The law of the number of requests with this `mean`, from all waits of interactions, in nanoseconds.

    It is fixed, geometric, or else empirical. A fixed number with a fraction is one of the two whole numbers around it.
    """
    if len(waits) < FEWEST_LAW_VALUES:
        return _fixed(mean)
    idle_share = float((waits <= 0.0).mean())
    error = math.sqrt(idle_share * (1.0 - idle_share) / len(waits))
    if idle_share <= max(1.0 - mean, 0.0) + _SURE_ERRORS * error:
        return _fixed(mean) if mean <= 1.0 else _law_of_some(waits, mean, request)
    some = _law_of_some(waits[waits > 0.0], mean / (1.0 - idle_share), request)
    return _law_with_none(some, idle_share, mean)


def _fixed(mean: float) -> Law:
    return Law("fixed", (mean,), timed=False)


def _law_of_some(waits: Floats, mean: float, request: RequestWait) -> Law:
    """The law of a number above 0: the one whose waits vary most alike."""
    geometric_variance = mean * (mean - 1.0)
    variance = max(float(waits.var()) - mean * request.deviation_ns**2, 0.0) / request.mean_ns**2
    if variance <= geometric_variance / 2:
        return _fixed(mean)
    if variance <= geometric_variance * _FAR_RATIO:
        return Law("geometric", (mean,), timed=False)
    # Waits vary more than numbers do, so they are drawn towards their mean.
    closeness = math.sqrt(variance) / float(waits.std())
    numbers = np.maximum(mean + closeness * (np.sort(waits) - waits.mean()), 1.0)
    return _empirical(_averaged(numbers, EMPIRICAL_LAW_POINTS), mean)


def _law_with_none(some: Law, idle_share: float, mean: float) -> Law:
    """The law in which this share makes no request, and the others as many as `some` says; its mean is `mean`."""
    if some.name == "fixed":
        share = Fraction(idle_share).limit_denominator(EMPIRICAL_LAW_POINTS)
        points, idle = share.denominator, share.numerator
    else:
        points, idle = EMPIRICAL_LAW_POINTS, round(idle_share * EMPIRICAL_LAW_POINTS)
    if idle == points:
        points, idle = EMPIRICAL_LAW_POINTS, EMPIRICAL_LAW_POINTS - 1
    return _empirical(np.concatenate([np.zeros(idle), _points_of(some, points - idle)]), mean)


def _points_of(law: Law, count: int) -> Floats:
    """As many numbers that stand for a law."""
    if law.name == "empirical":
        return _averaged(np.asarray(law.values), count)
    if law.name == "fixed":
        return np.full(count, law.mean)
    middles = (np.arange(count) + 0.5) / count
    return np.ceil(np.log1p(-middles) / math.log1p(-1.0 / law.mean))


def _averaged(ordered: Floats, most: int) -> Floats:
    """The values, or the means of this many parts of them."""
    if len(ordered) <= most:
        return ordered
    return np.array([part.mean() for part in np.array_split(ordered, most)])


def _empirical(numbers: Floats, mean: float) -> Law:
    scaled = numbers * (mean / numbers.mean())
    return Law("empirical", tuple(map(float, scaled)), timed=False)
