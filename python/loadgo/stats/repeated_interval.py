"""Confidence intervals of a mean that hold after every observation of an experiment whose longest course is known.

An interval of Student's t holds for a number of observations that was fixed in advance. An experimenter who computes it
after each observation, and stops when it leaves out 0, is wrong far more often than once in twenty. The intervals here
are repeated confidence intervals: in 95 of 100 experiments none of them misses the mean, whatever the rule to stop.

An experiment may miss in 5 of 100. It spends that along its course: when the part t of its pairs or of its time is
over, 0.05 t² is spent. So the first intervals are wide, and the last is little wider than Student's. Intervals that
hold after any number of observations, without an end, are nearly twice as wide.

The bounds of t follow from simulated experiments of normal observations with the mean 0. At each observation, the
bound lets through as many of those that crossed no earlier bound as may then be spent. This is exact for few
observations too, where tabulated bounds of the normal distribution miss 6 in 100.

Sources: K. K. G. Lan and D. L. DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70 (1983), page
659; K. Kim and D. L. DeMets, Biometrika 74 (1987), page 149 (the power of t); C. Jennison and B. W. Turnbull, Group
Sequential Methods, 1999, chapter 9.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from loadgo.stats.adjusted_mean import FEWEST_ADJUSTED_VALUES, adjusted_mean
from loadgo.stats.resample import Floats, Interval
from loadgo.stats.student import INTERVAL_CONFIDENCE, student_reach

FEWEST_OBSERVATIONS = 4
"""The fewest observations that have an interval: the scatter of fewer says too little."""
SPENDING_POWER = 2.0
"""The power of t in the spent error. With 1 early intervals are narrower and the last one wider; with 3, reversed."""
SIMULATED_EXPERIMENTS = 100_000
"""The number of simulated experiments: 5 of 100 are then known to ±0.14."""
MOST_FORECAST_PAIRS = 1000
"""The largest number of pairs of runs in a forecast. A change that needs more is out of reach."""
LAST_WIDTH_RATIO = 1.19
"""The width of the last of many intervals over that of Student's. A test derives it from the simulated experiments."""

_MOST_KEPT_COURSES = 4
_SEED = 19830701


def repeated_interval(
    values: Sequence[float], progress: Sequence[float], covariate: Sequence[float] | None = None
) -> Interval | None:
    """The interval of the mean of `values`, which are independent and about normal; None if there are too few.

    `progress` is the part of the experiment that was over after each value, from 0 to 1. It must not depend on the
    values. With a `covariate` it is the mean at its value 0, as `adjusted_mean` has it.
    """
    if len(values) < FEWEST_OBSERVATIONS:
        return None
    mean, reach = adjusted_mean(values, covariate), _reach(tuple(progress), covariate is not None)
    if math.isinf(reach):
        return None
    return Interval(mean.value - reach * mean.error, mean.value + reach * mean.error)


def planned_half_width(deviation: float, count: int) -> float:
    """About half the width of the last interval of an experiment that was planned with `count` observations."""
    if count < FEWEST_OBSERVATIONS:
        return math.inf
    return LAST_WIDTH_RATIO * student_reach(count - 1) * deviation / math.sqrt(count)


def observations_needed(deviation: float, width: float) -> int | None:
    """The fewest observations of an experiment whose last interval has at most this half width.

    None if they are over `MOST_FORECAST_PAIRS`.
    """
    if planned_half_width(deviation, MOST_FORECAST_PAIRS) > width:
        return None
    too_few, enough = FEWEST_OBSERVATIONS - 1, MOST_FORECAST_PAIRS
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if planned_half_width(deviation, middle) <= width else (middle, enough)
    return enough


class _SimulatedExperiments:
    """Experiments of normal observations with the mean 0, as far as one course of looks has come.

    With a covariate, that is normal too, and t is that of the mean at its value 0.
    """

    def __init__(self, has_covariate: bool) -> None:
        self.random = np.random.default_rng(_SEED)
        self.has_covariate = has_covariate
        self.count = 0
        self.sums: Floats = np.zeros((5 if has_covariate else 2, SIMULATED_EXPERIMENTS))
        """The sums of the observations and of their squares, then of the covariate, its squares and the products."""

    def bound_after(self, progress: float) -> float:
        """The bound of |t| after one more observation; infinite if nothing may be spent yet.

        Experiments that cross it are dropped.
        """
        value = self.random.standard_normal(self.sums.shape[1])
        added = [value, value**2]
        if self.has_covariate:
            beside = self.random.standard_normal(self.sums.shape[1])
            added += [beside, beside**2, beside * value]
        self.count += 1
        self.sums += np.stack(added)
        left = math.floor(
            SIMULATED_EXPERIMENTS * (1 - (1 - INTERVAL_CONFIDENCE) * min(progress, 1.0) ** SPENDING_POWER)
        )
        # An experiment that goes on has no plain mean first: an adjusted one would be a second chance to miss.
        fewest = FEWEST_ADJUSTED_VALUES if self.has_covariate and progress < 1 else FEWEST_OBSERVATIONS
        if self.count < fewest or self.sums.shape[1] <= left:
            return math.inf
        t = self._t()
        bound = float(np.partition(t, left)[left])
        self.sums = self.sums[:, t < bound]
        return bound

    def _t(self) -> Floats:
        """The absolute t of each experiment."""
        count = self.count
        means, scatters = self.sums[0] / count, self.sums[1] - self.sums[0] ** 2 / count
        degrees, spreads = count - 1, np.full(len(means), 1 / count)
        if self.has_covariate and count >= FEWEST_ADJUSTED_VALUES:
            beside, scatters_beside = self.sums[2] / count, self.sums[3] - self.sums[2] ** 2 / count
            products = self.sums[4] - self.sums[2] * means
            means = means - products / scatters_beside * beside
            scatters = scatters - products**2 / scatters_beside
            degrees, spreads = count - 2, 1 / count + beside**2 / scatters_beside
        t: Floats = np.abs(means) / np.sqrt(np.maximum(scatters, 0.0) / degrees * spreads)
        return t


_kept_courses: OrderedDict[tuple[tuple[float, ...], bool], _SimulatedExperiments] = OrderedDict()
"""The simulated experiments after the latest courses, which the next observation of each continues."""


@lru_cache(maxsize=4096)
def _reach(progress: tuple[float, ...], has_covariate: bool) -> float:
    """How many standard errors the last interval reaches to either side; infinite with too few observations."""
    simulated, begin, reach = _kept_courses.pop((progress[:-1], has_covariate), None), len(progress) - 1, math.inf
    if simulated is None:
        simulated, begin = _SimulatedExperiments(has_covariate), 0
    for part in progress[begin:]:
        reach = simulated.bound_after(part)
    _kept_courses[progress, has_covariate] = simulated
    while len(_kept_courses) > _MOST_KEPT_COURSES:
        _kept_courses.popitem(last=False)
    return reach
