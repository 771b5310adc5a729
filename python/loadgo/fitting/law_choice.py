"""Which law do these values follow? The simplest that they do not contradict, else the values themselves.

Constant, exponential and log-normal are tried, in this order. Fit is judged by the largest distance between the two
distribution functions, with the 5 % points for parameters that come from the same values (Lilliefors, JASA 62, 1967 and
64, 1969, in the form of Stephens, JASA 69, 1974, table 1A). The mean of a law is that of the values, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from loadgo.notation.laws import Law, scaled, spread_out

Floats = NDArray[np.float64]

CONSTANT = 0.01
"""A spread under this is none: the law is a constant."""
FEWEST = 8
"""From fewer values no law is chosen: they are taken as they are."""
POINTS = 80
"""Values of an empirical law, at most: it gives the middles of so many equal parts of what was measured."""


@dataclass(frozen=True)
class Choice:
    """A law, and why it is this one."""

    law: Law
    why: str


def chosen(values: Floats, *, timed: bool = True) -> Choice:
    """The law of `values`, which are 0 or more and at least one."""
    mean, deviation = float(values.mean()), float(values.std())
    if mean <= 0.0 or deviation <= CONSTANT * mean:
        return Choice(Law("fixed", (mean,), timed), "always the same")
    if len(values) < FEWEST:
        return Choice(_empirical(values, timed), "too few for a law: the values")
    ordered = np.sort(values)
    if _follows(ordered, -np.expm1(-ordered / mean), _exponential_limit):
        return Choice(Law("exponential", (mean,), timed), "exponential")
    if ordered[0] > 0.0:
        logs = np.log(ordered)
        sigma = float(logs.std(ddof=1))
        if sigma > 0 and _follows(ordered, special.ndtr((logs - logs.mean()) / sigma), _normal_limit):
            return Choice(Law("lognormal", (mean, mean * float(np.sqrt(np.expm1(sigma**2)))), timed), "log-normal")
    return Choice(_empirical(ordered, timed), "quantiles of the values")


def _follows(ordered: Floats, cumulated: Floats, limit: Callable[[int], float]) -> bool:
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


def _empirical(values: Floats, timed: bool) -> Law:
    ordered = np.sort(values)
    if len(ordered) > POINTS:
        parts = np.array_split(ordered, POINTS)
        ordered = np.array([float(part.mean()) for part in parts])
    law = Law("empirical", tuple(map(float, ordered)), timed)
    if law.spread > 0:
        law = spread_out(law, float(values.std() / values.mean()) / law.spread)
    return scaled(law, float(values.mean()) / law.mean)
