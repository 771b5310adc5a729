"""Where a target's curve over the number of users crosses its limit, from trials near there, with an interval.

Near the crossing the curve is taken for a straight line on the scale of its link: the logit of a share (of slow
interactions, of errors, of busy time), the logarithm of a mean or a rate. It is fitted by quasi-likelihood (Wedderburn
1974): the variance of a ratio is `dispersion` V(mean) / weight, with V the binomial's for shares and the square of the
mean else. The dispersion says how much alike the interactions of one queue are: it comes from batches within the
trials, and from how far whole trials lie from the line where that is more. The interval of the crossing is Fieller's
(1954): all numbers of users at which the line cannot be told from the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from loadgo.sizing.curve import CONFIDENCE, Target
from loadgo.sizing.trials import Tally
from loadgo.stats.resample import Floats

Link = Literal["logit", "log"]

_STEPS = 50
_LEAST = 1e-9


@dataclass(frozen=True)
class Scale:
    """On which scale a target is judged."""

    link: Link
    limit: float
    """On that scale; beyond it the target is missed, for a floor below it."""
    sign: float
    """1, or -1 for a floor: times (value - limit) is positive where the target is missed."""

    def forward(self, ratio: Floats | float) -> Floats:
        """The ratio on the scale."""
        value = np.asarray(ratio, dtype=np.float64)
        found: Floats = np.log(value / (1 - value)) if self.link == "logit" else np.log(value)
        return found

    def backward(self, value: Floats) -> Floats:
        """The ratio that lies at a value of the scale."""
        found: Floats = 1 / (1 + np.exp(-value)) if self.link == "logit" else np.exp(value)
        return found

    def variance(self, ratio: Floats) -> Floats:
        """V, of the quasi-likelihood."""
        found: Floats = ratio * (1 - ratio) if self.link == "logit" else ratio**2
        return found

    def slope(self, ratio: Floats) -> Floats:
        """How fast the ratio moves with the scale."""
        found: Floats = ratio * (1 - ratio) if self.link == "logit" else ratio
        return found


@dataclass(frozen=True)
class Excess:
    """How far beyond its limit a target is with some users, on its scale; below 0 it is met."""

    value: float
    half_width: float
    """Of the 95 % interval."""

    @property
    def met(self) -> bool:
        """Surely below the limit."""
        return self.value + self.half_width < 0

    @property
    def missed(self) -> bool:
        """Surely beyond it."""
        return self.value - self.half_width > 0


@dataclass(frozen=True)
class Crossing:
    """Where the line crosses the limit, in users."""

    users: float
    low: float
    high: float
    slope: float
    """Of the excess, a user."""
    weight: float
    """Of the trials that it is from."""


def scale_of(target: Target) -> Scale:
    """The scale of a target: quantiles are judged by the share of slow interactions."""
    shares = target.share is not None or target.measure in ("errors", "busy")
    limit = target.share if target.share is not None else target.limit
    link: Link = "logit" if shares else "log"
    scale = Scale(link, 0.0, -1.0 if target.sense == "least" else 1.0)
    return Scale(link, float(scale.forward(limit)), scale.sign)


def excess_of(target: Target, tallies: Sequence[Tally]) -> Excess | None:
    """The excess from the trials with one number of users; None where nothing tells it."""
    scale = scale_of(target)
    weight, total = sum(one.weight for one in tallies), sum(float(one.numerators.sum()) for one in tallies)
    if weight <= 0:
        return None
    # Half a slow interaction more among one more, so that none of few is not taken for never.
    ratio = (total + 0.5) / (weight + 1) if scale.link == "logit" else total / weight
    if ratio <= 0:
        return Excess(-scale.sign * np.inf, 0.0)
    dispersion, freedom = dispersion_of(scale, tallies)
    at = np.asarray(ratio)
    spread = float(np.sqrt(dispersion * scale.variance(at) / weight) / scale.slope(at))
    return Excess(scale.sign * (float(scale.forward(ratio)) - scale.limit), student(freedom) * spread)


def dispersion_of(scale: Scale, tallies: Sequence[Tally]) -> tuple[float, int]:
    """How much more the batches within trials differ than V says, and from how many degrees of freedom; of shares at
    least 1, what independent interactions have.
    """
    squares, freedom = 0.0, 0
    for tally in tallies:
        there = tally.denominators > 0
        ratio = tally.ratio
        variance = float(scale.variance(np.asarray(ratio)))
        if there.sum() < 2 or not np.isfinite(variance):
            continue
        if variance <= 0:
            freedom += int(there.sum()) - 1
            continue
        residual = tally.numerators[there] - ratio * tally.denominators[there]
        squares += float((residual**2 / tally.denominators[there]).sum()) / variance
        freedom += int(there.sum()) - 1
    if freedom == 0:
        return 1.0, 1
    return max(squares / freedom, 1.0 if scale.link == "logit" else 0.0), freedom


def crossing_of(target: Target, users: Sequence[int], tallies: Sequence[Tally]) -> Crossing | None:
    """Where `target` is crossed, from trials with `users`; None where the line's direction or its crossing is not sure.

    With trials of one number of users only there is no line, and None.
    """
    usable = [(at, one) for at, one in zip(users, tallies, strict=True) if one.weight > 0]
    if len({at for at, _ in usable}) < 2 or not any(one.numerators.any() for _, one in usable):
        return None
    scale = scale_of(target)
    each = [one for _, one in usable]
    weights = np.array([one.weight for one in each])
    ratios = np.array([one.ratio for one in each])
    centre = float(np.average([at for at, _ in usable], weights=weights))
    x = np.array([at for at, _ in usable], dtype=np.float64) - centre
    fitted = _line(scale, x, ratios, weights)
    if fitted is None:
        return None
    line, bread, chi = fitted
    dispersion, freedom = dispersion_of(scale, each)
    between = len(each) - 2
    if between > 0:
        dispersion = max(dispersion, (freedom * dispersion + between * chi / between) / (freedom + between))
    found = _fieller(line, bread * dispersion, scale, student(freedom))
    if found is None or not _reached(found[0], x):
        return None
    at, low, high = found
    return Crossing(centre + at, centre + low, centre + high, scale.sign * float(line[1]), float(weights.sum()))


def _line(scale: Scale, x: Floats, ratios: Floats, weights: Floats) -> tuple[Floats, Floats, float] | None:
    """Intercept and slope, their covariance at a dispersion of 1, and the sum of squared residuals in units of V."""
    design = np.column_stack([np.ones_like(x), x])
    # Half a slow interaction more among one more: with none at all in a trial no line would be the steepest.
    ratios = (ratios * weights + 0.5) / (weights + 1) if scale.link == "logit" else np.maximum(ratios, _LEAST)
    value = scale.forward(ratios)
    line: Floats = np.zeros(2)
    for _ in range(_STEPS):
        mean = scale.backward(value)
        slope, variance = scale.slope(mean), scale.variance(mean)
        working = weights * slope**2 / variance
        information = design.T @ (design * working[:, None])
        if not np.isfinite(information).all() or np.linalg.cond(information) > 1e14:
            return None
        again = np.asarray(
            np.linalg.solve(information, design.T @ (working * (value + (ratios - mean) / slope))), float
        )
        value = np.clip(design @ again, -30, 30)
        if np.allclose(again, line, rtol=1e-9, atol=1e-12):
            break
        line = again
    mean = scale.backward(value)
    chi = float((weights * (ratios - mean) ** 2 / scale.variance(mean)).sum())
    covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return line, covariance, chi


def _reached(at: float, x: Floats) -> bool:
    """Whether a crossing is among the trials, or no further from them than they are from each other."""
    span = float(x.max() - x.min())
    return bool(x.min() - span <= at <= x.max() + span)


def _fieller(line: Floats, covariance: Floats, scale: Scale, student: float) -> tuple[float, float, float] | None:
    """The crossing and the two ends of its interval, from the centre; None where the slope may as well be 0."""
    at, slope = float(line[0]) - scale.limit, float(line[1])
    square = student**2
    a = slope**2 - square * float(covariance[1, 1])
    if a <= 0 or scale.sign * slope <= 0:
        return None
    b = 2 * (at * slope - square * float(covariance[0, 1]))
    c = at**2 - square * float(covariance[0, 0])
    root = np.sqrt(max(b**2 - 4 * a * c, 0.0))
    return -at / slope, float((-b - root) / (2 * a)), float((-b + root) / (2 * a))


@cache
def student(freedom: int) -> float:
    """How many standard deviations half of a 95 % interval is."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1), (1 + CONFIDENCE) / 2))
