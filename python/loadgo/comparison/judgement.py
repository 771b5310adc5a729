"""Judges a prediction: whether the measured figures agree with it, and whether the data allow a judgement.

The interval of measured less predicted holds 0 if the prediction may be right, but a wide interval holds 0 almost
always. A figure is therefore *inside* only if the whole interval lies within the limit.

The uncertainty of a fitted machine's parameters is part of the interval. Neither interval need be symmetric, so both
are combined by the method of G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008), page 1693, on the scale of
logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from loadgo.comparison.difference import Difference
from loadgo.errors import BadArgument
from loadgo.notation.quantities import percentage
from loadgo.stats.resample import Interval

DEFAULT_WITHIN_SHARE = 0.2
"""Default of the largest error that counts as inside, as a share of the prediction."""
JUDGED_MEASURES = ("response", "p90 response", "cpu", "throughput")
"""The measures that a prediction is judged by."""

Judgement = Literal["inside", "outside", "too wide to judge", "not to be judged"]


@dataclass(frozen=True)
class Judged(Difference):
    """A predicted figure beside the measured one."""

    within: float = DEFAULT_WITHIN_SHARE
    """The largest difference that counts as inside, as a part of the prediction."""
    doubt: Interval | None = None
    """The uncertainty of the prediction that comes from the fit, as factors. None for a machine that was not fitted."""

    @property
    def reach(self) -> float | None:
        """The largest error that the interval and lines without an answer allow, as a part of the prediction.

        None without an interval.
        """
        allowed = self.with_unanswered
        if self.interval is None or allowed is None or not self.before:
            return None
        return max(abs(allowed.low), abs(allowed.high)) / abs(self.before)

    @property
    def judgement(self) -> Judgement:
        """`outside` if the difference is not chance, `inside` if its interval is within the limit, else undecided.

        Where it is not known how much runs of the host differ by themselves, a difference up to the limit may be that.
        """
        if self.reach is None or self.interval is None:
            return "not to be judged"
        if not self.interval.holds(0.0) and not self.may_be_drift and not self.may_turn:
            return "outside"
        return "inside" if self.reach <= self.within else "too wide to judge"

    @property
    def may_be_drift(self) -> bool:
        """Whether runs of the host may differ by as much by themselves, as far as is known."""
        if self.drift != "not known" or self.interval is None or not self.before:
            return False
        least = max(self.interval.low, -self.interval.high) / abs(self.before)
        return least <= self.within


def judged_of(
    whole: Mapping[str, Difference], doubts: Mapping[str, Interval], within: float = DEFAULT_WITHIN_SHARE
) -> tuple[Judged, ...]:
    """Judges the figures of `whole`. `doubts` are the factors of uncertainty from the fit, by measure."""
    return tuple(_judged(whole[name], doubts.get(name), within) for name in JUDGED_MEASURES if name in whole)


def share_of(text: str) -> float:
    """`20%` as a part of one; raises `ValueError` in words."""
    percent = percentage(text)
    if not percent:
        raise BadArgument(f"`within={text}`: write a percentage over 0, such as 20%").about("within")
    return percent / 100


def _judged(difference: Difference, doubt: Interval | None, within: float) -> Judged:
    values = {field.name: getattr(difference, field.name) for field in fields(Difference)}
    if doubt is not None:
        predicted = _with_doubt(difference.before, difference.before_interval, doubt)
        values |= {"before_interval": predicted, "interval": _difference(difference, predicted)}
    return Judged(**values, within=within, doubt=doubt)


def _with_doubt(value: float | None, chance: Interval | None, doubt: Interval) -> Interval | None:
    """The interval of a prediction from chance and from the parameters, which are independent."""
    if value is None:
        return None
    by_chance = chance or Interval(value, value)
    low = math.hypot(_log_ratio(value, by_chance.low), max(0.0, _log_ratio(1.0, doubt.low)))
    high = math.hypot(_log_ratio(by_chance.high, value), max(0.0, _log_ratio(doubt.high, 1.0)))
    return Interval(value * math.exp(-low), value * math.exp(high))


def _difference(difference: Difference, predicted: Interval | None) -> Interval | None:
    """The interval of measured less predicted. None if one of the two has no interval.

    It is that of the logarithm of their ratio, so no time falls by more than all of it. An allowance for drift in the
    interval of `difference` is in it too.
    """
    before, after, measured = difference.before, difference.after, difference.after_interval
    if not before or not after or before < 0 or after < 0 or predicted is None or measured is None:
        return None
    log = math.log(after / before)
    drift_low, drift_high = _drift_reach(difference, log)
    low = log - math.hypot(_log_ratio(after, measured.low), _log_ratio(predicted.high, before), drift_low)
    high = log + math.hypot(_log_ratio(measured.high, after), _log_ratio(before, predicted.low), drift_high)
    return Interval(before * math.expm1(low), before * math.expm1(high))


def _drift_reach(difference: Difference, log: float) -> tuple[float, float]:
    """How far the allowance for drift reaches below and above the logarithm of the ratio. Zeros without one."""
    with_drift, within, before = difference.interval, difference.within_runs, difference.before
    if with_drift is None or within is None or not before:
        return 0.0, 0.0
    ends = [
        [abs(_log_ratio(before + end, before) - log) for end in (one.low, one.high)] for one in (with_drift, within)
    ]
    low, high = (math.sqrt(max(0.0, wide**2 - narrow**2)) for wide, narrow in zip(*ends, strict=True))
    return low, high


def _log_ratio(numerator: float, denominator: float) -> float:
    """The logarithm of a ratio; infinite if the denominator is not above 0, and 0 if the numerator is not."""
    if numerator <= 0:
        return 0.0
    return math.log(numerator / denominator) if denominator > 0 else math.inf
