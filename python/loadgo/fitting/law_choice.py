"""The choice of a law for measured values: the simplest law that fits, or else the quantiles of the values.

Constant, exponential and log-normal are tried, in this order. The criterion is the largest distance between the two
distribution functions, with its 5 % points for parameters from the same values. Source: Lilliefors, JASA 62, 1967 and
64, 1969, in the form of Stephens, JASA 69, 1974, table 1A. The mean of the law is exactly the mean of the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from loadgo.notation.laws import Law, scaled, spread_out
from loadgo.stats.resample import Floats

CONSTANT_LAW_SPREAD_RATIO = 0.01
"""Values with a smaller ratio of standard deviation to mean have a constant law."""
FEWEST_LAW_VALUES = 8
"""With fewer values no law is fitted: they form an empirical law."""
EMPIRICAL_LAW_POINTS = 80
"""The largest number of values of an empirical law. More measured values are averaged in this number of equal parts."""


@dataclass(frozen=True)
class LawChoice:
    """A law, and the reason for its choice."""

    law: Law
    why: str


def choose_law(values: Floats) -> LawChoice:
    """Chooses the law of times. The `values` are not negative and not empty."""
    mean, deviation = float(values.mean()), float(values.std())
    if len(values) == 1:
        return LawChoice(Law("fixed", (mean,), timed=True), "a single value, taken as always the same")
    if mean <= 0.0 or deviation <= CONSTANT_LAW_SPREAD_RATIO * mean:
        return LawChoice(Law("fixed", (mean,), timed=True), "always the same")
    if len(values) < FEWEST_LAW_VALUES:
        return LawChoice(_empirical_law(values), "too few values for a law: the values themselves")
    ordered = np.sort(values)
    if _fits(ordered, -np.expm1(-ordered / mean), _exponential_limit):
        return LawChoice(Law("exponential", (mean,), timed=True), "exponential")
    if ordered[0] > 0.0:
        logs = np.log(ordered)
        sigma = float(logs.std(ddof=1))
        if sigma > 0 and _fits(ordered, special.ndtr((logs - logs.mean()) / sigma), _normal_limit):
            return LawChoice(
                Law("lognormal", (mean, mean * float(np.sqrt(np.expm1(sigma**2)))), timed=True), "log-normal"
            )
    return LawChoice(_empirical_law(ordered), "quantiles of the values")


def _fits(ordered: Floats, cumulated: Floats, limit: Callable[[int], float]) -> bool:
    """Whether the law with the distribution function `cumulated` fits, by the largest distance to the measured one."""
    count = len(ordered)
    steps = np.arange(count + 1) / count
    distance = float(max((steps[1:] - cumulated).max(), (cumulated - steps[:-1]).max()))
    return distance <= limit(count)


def _exponential_limit(count: int) -> float:
    root = math.sqrt(count)
    return 1.094 / (root + 0.26 + 0.5 / root) + 0.2 / count


def _normal_limit(count: int) -> float:
    root = math.sqrt(count)
    return 0.895 / (root - 0.01 + 0.85 / root)


def _empirical_law(values: Floats) -> Law:
    ordered = np.sort(values)
    if len(ordered) > EMPIRICAL_LAW_POINTS:
        parts = np.array_split(ordered, EMPIRICAL_LAW_POINTS)
        ordered = np.array([float(part.mean()) for part in parts])
    law = Law("empirical", tuple(map(float, ordered)), timed=True)
    if law.spread > 0:
        law = spread_out(law, float(values.std() / values.mean()) / law.spread)
    return scaled(law, float(values.mean()) / law.mean)
