"""The number of users at which a target's curve crosses its limit, from near trials, with an interval.

Near the crossing the curve is modelled as a straight line on the scale of a link function. The link is the logit for a
share (of slow interactions, errors or busy time), and the logarithm for a mean or a rate. The line is fitted by
quasi-likelihood (Wedderburn 1974). The variance of a ratio is dispersion × V(mean) / weight, where V is the binomial
variance for shares and the squared mean otherwise. The dispersion measures how similar the interactions of one queue
are. It comes from the batches within trials; the distances of trials from the line are pooled with it if that makes it
larger. The interval of the crossing is Fieller's (1954): all numbers of users at which the line does not differ
significantly from the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from loadgo.sizing.curve import Target
from loadgo.sizing.search.trials import BatchSums
from loadgo.stats.resample import Floats
from loadgo.stats.student import INTERVAL_CONFIDENCE, student_reach

LinkFunction = Literal["logit", "log"]

_MOST_FIT_ROUNDS = 50
_SMALLEST_RATIO = 1e-9
_NORMAL_QUANTILE = 1.96
"""Half of the width of a 95 % interval, in standard deviations that are known."""


@dataclass(frozen=True)
class TargetScale:
    """The scale on which a target is judged."""

    link: LinkFunction
    limit: float
    """The limit on this scale. A target is missed above it, a floor below it."""
    sign: float
    """1, or -1 for a floor: sign × (value - limit) is positive where the target is missed."""

    def forward(self, ratio: Floats | float) -> Floats:
        """The value of a ratio on this scale."""
        value = np.asarray(ratio, dtype=np.float64)
        scaled: Floats = np.log(value / (1 - value)) if self.link == "logit" else np.log(value)
        return scaled

    def backward(self, value: Floats) -> Floats:
        """The ratio of a value on this scale."""
        ratio: Floats = 1 / (1 + np.exp(-value)) if self.link == "logit" else np.exp(value)
        return ratio

    def variance(self, ratio: Floats) -> Floats:
        """The variance function V of the quasi-likelihood."""
        variance: Floats = ratio * (1 - ratio) if self.link == "logit" else ratio**2
        return variance

    def slope(self, ratio: Floats) -> Floats:
        """The derivative of the ratio with respect to the value on this scale."""
        slope: Floats = ratio * (1 - ratio) if self.link == "logit" else ratio
        return slope


@dataclass(frozen=True)
class LimitExcess:
    """The distance of a target from its limit on its scale; it is negative where the target is met."""

    value: float
    half_width: float
    """Half of the width of the 95 % interval."""
    freedom: int = 1
    """The degrees of freedom of Student's t in the interval."""
    measured: float | None = None
    """The value of the measured ratio alone, where `value` is that of a ratio which allows for few interactions."""

    @property
    def met(self) -> bool:
        """Whether the whole interval meets the target."""
        return self.value + self.half_width < 0

    @property
    def missed(self) -> bool:
        """Whether the whole interval misses the target."""
        return self.value - self.half_width > 0

    def certainty(self, confidence: float) -> float:
        """The value in half-widths of the interval with this confidence: beyond ±1 the interval leaves out the limit.

        With a confidence of 0, only the side of the limit counts on which the measured ratio lies.
        """
        if confidence <= 0 or self.half_width <= 0:
            side = self.value if self.measured is None or confidence > 0 else self.measured
            return float(np.sign(side)) * np.inf
        freedom = max(self.freedom, 1)
        width = self.half_width / student_reach(freedom) * student_reach(freedom, confidence)
        return float(self.value / width)


@dataclass(frozen=True)
class LimitCrossing:
    """The number of users at which the line crosses the limit, with its 95 % interval."""

    users: float
    low: float
    high: float
    slope: float
    """Slope of the excess, for each user."""
    weight: float
    """Sum of the weights of the fitted trials."""


def scale_of(target: Target) -> TargetScale:
    """The scale of a target: quantiles are judged by the share of slow interactions."""
    is_share = target.share is not None or target.measure in ("errors", "busy")
    limit = target.share if target.share is not None else target.limit
    link: LinkFunction = "logit" if is_share else "log"
    scale = TargetScale(link, 0.0, -1.0 if target.sense == "least" else 1.0)
    return TargetScale(link, float(scale.forward(limit)), scale.sign)


def excess_of(target: Target, tallies: Sequence[BatchSums], effect: float = 0.0) -> LimitExcess | None:
    """The excess of a target from the trials with one number of users; None without interactions.

    `effect` is the standard deviation between trials on the scale of the target, where the system itself changes.
    """
    scale = scale_of(target)
    weight, total = sum(tally.weight for tally in tallies), sum(float(tally.numerators.sum()) for tally in tallies)
    if weight <= 0:
        return None
    # Half a slow interaction in one more interaction: a few interactions without a slow one are no share of 0.
    ratio = (total + 0.5) / (weight + 1) if scale.link == "logit" else total / weight
    if ratio <= 0:
        return LimitExcess(-scale.sign * np.inf, 0.0)
    dispersion, freedom = dispersion_of(scale, tallies)
    position = np.asarray(ratio)
    value = float(scale.forward(ratio)) - scale.limit
    half_width = float(
        student_reach(freedom) * np.sqrt(dispersion * scale.variance(position) / weight) / scale.slope(position)
    )
    if effect and scale.link == "logit":
        end = _beta_end(total / dispersion, weight / dispersion, 1 if value < 0 else -1)
        half_width = min(half_width, abs(float(scale.forward(end)) - scale.limit - value))
    measured_trials = sum(tally.weight > 0 for tally in tallies)
    half_width = float(np.hypot(half_width, _NORMAL_QUANTILE * effect / np.sqrt(measured_trials)))
    return LimitExcess(scale.sign * value, half_width, freedom, measured=_measured_excess(scale, total / weight))


def _measured_excess(scale: TargetScale, ratio: float) -> float:
    """The excess of a measured ratio, which is infinite for none and for all."""
    if scale.link == "logit" and not 0 < ratio < 1:
        return scale.sign * (np.inf if ratio >= 1 else -np.inf)
    return scale.sign * (float(scale.forward(ratio)) - scale.limit)


def _beta_end(count: float, weight: float, side: int) -> float:
    """The upper (1) or lower (-1) end of the 95 % interval of a share (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    if side > 0:
        return float(betaincinv(count + 1, max(weight - count, 1e-9), (1 + INTERVAL_CONFIDENCE) / 2))
    return float(betaincinv(max(count, 1e-9), weight - count + 1, (1 - INTERVAL_CONFIDENCE) / 2))


def dispersion_of(scale: TargetScale, tallies: Sequence[BatchSums]) -> tuple[float, int]:
    """The dispersion of the batches within trials in units of V, and its degrees of freedom.

    For shares it is at least 1, the dispersion of independent interactions.
    """
    squares, freedom = 0.0, 0
    for tally in tallies:
        is_filled = tally.denominators > 0
        ratio = tally.ratio
        variance = float(scale.variance(np.asarray(ratio)))
        if is_filled.sum() < 2 or not np.isfinite(variance):
            continue
        if variance <= 0:
            freedom += int(is_filled.sum()) - 1
            continue
        residual = tally.numerators[is_filled] - ratio * tally.denominators[is_filled]
        squares += float((residual**2 / tally.denominators[is_filled]).sum()) / variance
        freedom += int(is_filled.sum()) - 1
    if freedom == 0:
        return 1.0, 1
    return max(squares / freedom, 1.0 if scale.link == "logit" else 0.0), freedom


def crossing_of(target: Target, users: Sequence[int], tallies: Sequence[BatchSums]) -> LimitCrossing | None:
    """The crossing of a target from trials with these numbers of users.

    None if all trials have one number of users, or if the sign of the slope or the crossing is not significant.
    """
    weighted = [(user_count, tally) for user_count, tally in zip(users, tallies, strict=True) if tally.weight > 0]
    if len({user_count for user_count, _ in weighted}) < 2 or not any(tally.numerators.any() for _, tally in weighted):
        return None
    scale = scale_of(target)
    usable_tallies = [tally for _, tally in weighted]
    weights = np.array([tally.weight for tally in usable_tallies])
    ratios = np.array([tally.ratio for tally in usable_tallies])
    centre = float(np.average([user_count for user_count, _ in weighted], weights=weights))
    x = np.array([user_count for user_count, _ in weighted], dtype=np.float64) - centre
    fitted = _fit_line(scale, x, ratios, weights)
    if fitted is None:
        return None
    line, unit_covariance, chi = fitted
    dispersion, freedom = dispersion_of(scale, usable_tallies)
    residual_freedom = len(usable_tallies) - 2
    if residual_freedom > 0:
        dispersion = max(
            dispersion,
            (freedom * dispersion + chi) / (freedom + residual_freedom),
        )
    interval = fieller_interval(line, unit_covariance * dispersion, scale, student_reach(freedom))
    if interval is None or not is_near_trials(interval[0], x):
        return None
    offset, low, high = interval
    return LimitCrossing(
        centre + offset, centre + low, centre + high, scale.sign * float(line[1]), float(weights.sum())
    )


def _fit_line(scale: TargetScale, x: Floats, ratios: Floats, weights: Floats) -> tuple[Floats, Floats, float] | None:
    """Intercept and slope, their covariance at a dispersion of 1, and the sum of squared residuals in units of V."""
    design = np.column_stack([np.ones_like(x), x])
    ratios = inner_ratios(scale, ratios, weights)
    scaled_means = scale.forward(ratios)
    line: Floats = np.zeros(2)
    for _ in range(_MOST_FIT_ROUNDS):
        mean = scale.backward(scaled_means)
        slope, variance = scale.slope(mean), scale.variance(mean)
        working = weights * slope**2 / variance
        information = design.T @ (design * working[:, None])
        if not np.isfinite(information).all() or np.linalg.cond(information) > 1e14:
            return None
        next_line = np.asarray(
            np.linalg.solve(information, design.T @ (working * (scaled_means + (ratios - mean) / slope))), float
        )
        scaled_means = np.clip(design @ next_line, -30, 30)
        if np.allclose(next_line, line, rtol=1e-9, atol=1e-12):
            break
        line = next_line
    mean = scale.backward(scaled_means)
    chi = float((weights * (ratios - mean) ** 2 / scale.variance(mean)).sum())
    covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return line, covariance, chi


def inner_ratios(scale: TargetScale, ratios: Floats, weights: Floats) -> Floats:
    """The ratios of trials, moved away from 0 and 1, where they have no finite value on the scale.

    A share gets half a slow interaction in one more interaction. Otherwise, a trial without a slow interaction would
    make the line infinitely steep.
    """
    inner: Floats = (
        (ratios * weights + 0.5) / (weights + 1) if scale.link == "logit" else np.maximum(ratios, _SMALLEST_RATIO)
    )
    return inner


def is_near_trials(position: float, x: Floats) -> bool:
    """Whether a crossing lies among the trials, or at most as far from them as the trials are from each other."""
    span = float(x.max() - x.min())
    return bool(x.min() - span <= position <= x.max() + span)


def fieller_interval(
    line: Floats, covariance: Floats, scale: TargetScale, quantile: float
) -> tuple[float, float, float] | None:
    """The crossing and the two ends of its interval, relative to the centre; None if the slope is not significant.

    `line` begins with the intercept at the centre and the slope; `covariance` has their covariances first.
    """
    offset, slope = float(line[0]) - scale.limit, float(line[1])
    square = quantile**2
    a = slope**2 - square * float(covariance[1, 1])
    if a <= 0 or scale.sign * slope <= 0:
        return None
    b = 2 * (offset * slope - square * float(covariance[0, 1]))
    c = offset**2 - square * float(covariance[0, 0])
    root = np.sqrt(max(b**2 - 4 * a * c, 0.0))
    return -offset / slope, float((-b - root) / (2 * a)), float((-b + root) / (2 * a))
