"""One figure on both sides: its change, the interval of the change, and the verdict on the second side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from loadgo.comparison.two_way import Spread, reach_of, reach_of_counts, spread_of_both, spread_of_resamples
from loadgo.notation.margin import DEFAULT_MARGIN_SHARE, is_within_margin
from loadgo.stats.repeated_interval import observations_needed
from loadgo.stats.resample import Floats, Interval, difference_interval, positive_interval, quantile_interval, wider
from loadgo.stats.student import student_reach

QUANTILES_BY_MEASURE = {"p50 response": 0.5, "p90 response": 0.9}

Verdict = Literal["better", "worse", "no difference", "cannot tell", "lower", "higher", "equal", "not known"]
"""`lower` and `higher` are for figures without an interval, and for sides with different loads.

`better` and `worse` are for an interval that leaves out 0, `no difference` for one within the margin. Else, or where
live runs may differ by as much without a change, it is `cannot tell`.
"""
Obstacle = Literal["", "drift", "width", "unanswered", "estimate"]
"""The reason for `cannot tell`.

`drift`: runs of a host may differ by as much. `width`: the interval is too wide. `unanswered`: with lines that had no
answer, which the mean leaves out, the verdict may be another. `estimate`: the figures are estimates, whose doubt alone
is as large as the change.
"""
Drift = Literal["none", "allowed", "not known"]
"""Whether an interval contains how much runs of a host differ by themselves: no need for it, yes, or no."""


@dataclass(frozen=True)
class Difference:
    """One figure on both sides. None means not known."""

    measure: str
    before: float | None
    after: float | None
    interval: Interval | None
    """The interval of `after - before`."""
    before_interval: Interval | None = None
    after_interval: Interval | None = None
    extrapolated: bool = False
    more_is_better: bool = False
    drift: Drift = "none"
    within_runs: Interval | None = None
    """The interval by the scatter within the runs alone. None unless `interval` has an allowance for drift."""
    run_deviation: float | None = None
    """Standard deviation of the logarithm of the figure among like runs. None if not known."""
    margin: float = DEFAULT_MARGIN_SHARE
    """The relative change that is too small to matter."""
    by_unanswered: Interval | None = None
    """The time that lines without an answer may add to the change of a mean. None for a quantile, and without any."""
    has_merit: bool = True
    """Whether a change is for the better or the worse. With different loads it is only higher or lower."""
    estimate_doubt: float = 0.0
    """Half of the 95 % interval of the change by the doubts of estimates alone. Infinite where they are not known."""

    @property
    def change(self) -> float | None:
        """`after - before`."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def relative(self) -> float | None:
        """The change divided by the figure of the first side."""
        return None if self.change is None or not self.before else self.change / self.before

    @property
    def verdict(self) -> Verdict:
        """The verdict on the second side, in a word."""
        if self.change is None:
            return "not known"
        if self.cannot_tell_by:
            return "cannot tell"
        if self.interval is None and self.change == 0:
            return "equal"
        if self.interval is not None and self.interval.holds(0.0):
            return "no difference"
        if self.interval is None or not self.has_merit:
            return "higher" if self.change > 0 else "lower"
        return "better" if (self.change > 0) == self.more_is_better else "worse"

    @property
    def differs(self) -> bool:
        """Whether the interval of the change leaves out 0, and live runs do not differ by as much without a change."""
        return self.interval is not None and self.verdict in ("better", "worse", "higher", "lower")

    @property
    def may_be_chance(self) -> bool:
        """Whether the interval within the runs holds 0."""
        interval = self.within_runs or self.interval
        return interval is not None and interval.holds(0.0)

    @property
    def with_unanswered(self) -> Interval | None:
        """The interval of the change, or the change alone, with all that lines without an answer may add.

        None if the change is not known.
        """
        if self.change is None:
            return None
        interval = self.interval or Interval(self.change, self.change)
        if self.by_unanswered is None:
            return interval
        return Interval(interval.low + self.by_unanswered.low, interval.high + self.by_unanswered.high)

    @property
    def may_turn(self) -> bool:
        """Whether the verdict of the lines that were answered may be another with the lines that were not."""
        if self.change is None or self.by_unanswered is None:
            return False
        found = self._finding(self.interval or Interval(self.change, self.change))
        return found != "open" and found != self._finding(self.with_unanswered or Interval(-math.inf, math.inf))

    def _finding(self, interval: Interval) -> Literal["rise", "fall", "same", "open"]:
        """The finding of an interval of the change."""
        if not interval.holds(0.0):
            return "rise" if interval.low > 0 else "fall"
        return "same" if self._is_within_margin(interval) else "open"

    @property
    def cannot_tell_by(self) -> Obstacle:
        """The reason why it cannot be told whether B differs. Empty if it can, and where only figures are compared."""
        if self.may_turn:
            return "unanswered"
        if self._is_within_estimates:
            return "estimate"
        if self.interval is None:
            return ""
        is_small = self._is_within_margin(self.interval)
        if self.drift == "not known":
            return "width" if self.may_be_chance and not is_small else "drift"
        if is_small or not self.interval.holds(0.0):
            return ""
        return "width" if self.may_be_chance else "drift"

    @property
    def _is_within_estimates(self) -> bool:
        """Whether the change is no larger than what estimates leave open, and may be larger than the margin."""
        if not self.estimate_doubt or self.change is None or abs(self.change) > self.estimate_doubt:
            return False
        return self.interval is None or not self._is_within_margin(self.interval)

    def _is_within_margin(self, interval: Interval) -> bool:
        if not self.before:
            return interval.low == interval.high == 0
        return is_within_margin(interval.low / self.before, interval.high / self.before, self.margin)

    @property
    def log_width(self) -> float | None:
        """The half width of an interval of the logarithm of B over A that would give a verdict. None if not known."""
        if self.relative is None or self.relative <= -1:
            return None
        log = abs(math.log1p(self.relative))
        return max(log, math.log1p(self.margin) - log)

    @property
    def pairs_needed(self) -> int | None:
        """Number of pairs of runs in turn after which an experiment would have a verdict.

        Without `run_deviation` the number is the least one, from the scatter within the runs. None if not known.
        """
        if self.log_width is None or not self.before or self.interval is None:
            return None
        deviation = _log_deviation(self.interval, self.before)
        if self.run_deviation is not None:
            deviation = math.sqrt(2) * self.run_deviation
        is_known = math.isfinite(deviation)
        return observations_needed(deviation, self.log_width) if is_known else None

    def deviation_of_runs(self, runs: int) -> float | None:
        """Standard deviation of the logarithm of one run's figure, from an interval of the means of `runs` runs a side.

        None without runs or an interval.
        """
        if not runs or not self.before or self.interval is None:
            return None
        deviation = _log_deviation(self.interval, self.before) * math.sqrt(runs / 2)
        return deviation if math.isfinite(deviation) else None

    @property
    def times_longer(self) -> float | None:
        """How many times as many interactions would give a verdict, by this interval. None if not known."""
        if self.log_width is None or not self.before or self.interval is None:
            return None
        width = _log_deviation(self.interval, self.before) * student_reach(1000)
        return (width / self.log_width) ** 2 if math.isfinite(width) else None


@dataclass(frozen=True)
class Resampled:
    """A figure on both sides in each resample of one kind of unit."""

    before: Floats | None
    after: Floats | None
    units: tuple[int, int]
    """Number of units of each side."""
    paired: bool
    """Whether the units of both sides were drawn together."""
    interactions: tuple[Spread | None, Spread | None] = (None, None)
    """The spread of each side's figure if its interactions are independent. None if not known.

    The first of `are_two_independent_ways` has it.
    """


@dataclass(frozen=True)
class Allowance:
    """How much a figure differs between like runs by itself."""

    deviation: float
    """Standard deviation of the logarithm of a run's figure."""
    degrees: int
    """Degrees of freedom of `deviation`."""
    runs: tuple[int, int]
    """Number of live runs of each side. 0 for a simulated side, which has no drift."""
    added: bool
    """Whether `deviation` lacks the scatter within the runs, which then counts in addition."""

    @property
    def reach(self) -> float:
        """How far the 95 % interval of the logarithm of the ratio reaches to either side."""
        variance = sum(1 / count for count in self.runs if count) * self.deviation**2
        return student_reach(self.degrees) * math.sqrt(variance)


def difference_of(
    name: str, resamples: Sequence[Resampled], extrapolated: bool, *, more_is_better: bool = False
) -> Difference:
    """The figure on both sides, with the interval from the kinds of resamples together, or else the wider of theirs."""
    first = resamples[0]
    return Difference(
        measure=name,
        before=_estimate(first.before),
        after=_estimate(first.after),
        interval=_two_way_interval(resamples) or _wider_interval(resamples),
        before_interval=_figure_interval(name, [(one.before, min(one.units)) for one in resamples]),
        after_interval=_figure_interval(name, [(one.after, min(one.units)) for one in resamples]),
        extrapolated=extrapolated,
        more_is_better=more_is_better,
    )


def are_two_independent_ways(resamples: Sequence[Resampled]) -> bool:
    """Whether two kinds of resamples have the figure of both sides, and each side was drawn by itself."""
    return len(resamples) == 2 and not any(
        resampled.paired or resampled.before is None or resampled.after is None for resampled in resamples
    )


def _two_way_interval(resamples: Sequence[Resampled]) -> Interval | None:
    """The interval of the change from users and stretches of two sides that were drawn independently.

    None if a kind of resample or the spread of the interactions is missing, or a figure is not above 0.
    """
    if not are_two_independent_ways(resamples):
        return None
    spreads = [_spread(one) for one in resamples]
    single = resamples[0].interactions
    before, after = _estimate(resamples[0].before), _estimate(resamples[0].after)
    if None in (*spreads, *single) or not before or not after:
        return None
    reach = reach_of(spread_of_both(*single), *spreads)  # type: ignore[arg-type]
    return Interval(after * math.exp(-reach) - before, after * math.exp(reach) - before)


def interval_of_counts(users: Resampled, counts: tuple[Spread | None, Spread | None]) -> Interval | None:
    """The interval of the change of a throughput, from the counts of two sides that were drawn independently.

    `users` has the throughputs as users are drawn again. None if a spread is missing, or a throughput is not above 0.
    """
    before, after = _estimate(users.before), _estimate(users.after)
    sides = zip((users.before, users.after), users.units, strict=True)
    by_user = [None if values is None else spread_of_resamples(values, units) for values, units in sides]
    if users.paired or None in (*counts, *by_user, *users.interactions) or not before or not after:
        return None
    spreads = [spread_of_both(*pair) for pair in (counts, users.interactions, by_user)]
    reach = reach_of_counts(*spreads)
    return Interval(after * math.exp(-reach) - before, after * math.exp(reach) - before)


def _wider_interval(resamples: Sequence[Resampled]) -> Interval | None:
    """The wider of the intervals of the change from each kind of resample."""
    return wider(
        difference_interval(one.before[: len(one.after)], one.after[: len(one.before)], one.units, paired=one.paired)
        for one in resamples
        if one.before is not None and one.after is not None
    )


def _spread(resampled: Resampled) -> Spread | None:
    """The spread of the change from one kind of units."""
    sides = zip((resampled.before, resampled.after), resampled.units, strict=True)
    spreads = [None if values is None else spread_of_resamples(values, units) for values, units in sides]
    if spreads[0] is None or spreads[1] is None:
        return None
    return Spread(spreads[0].variance + spreads[1].variance, min(resampled.units) - 1)


def _figure_interval(name: str, resamples: Sequence[tuple[Floats | None, int]]) -> Interval | None:
    interval_of = quantile_interval if name in QUANTILES_BY_MEASURE else positive_interval
    return wider([interval_of(values, units) for values, units in resamples if values is not None])


def interval_with(allowance: Allowance, before: float, after: float, within_runs: Interval) -> Interval:
    """The interval of `after - before` with an allowance for drift, on the scale of logarithms."""
    log = math.log(after / before)
    low, high = (_log_change(end, before) for end in (within_runs.low, within_runs.high))
    if allowance.added:
        low, high = log - math.hypot(log - low, allowance.reach), log + math.hypot(high - log, allowance.reach)
    low, high = min(low, log - allowance.reach), max(high, log + allowance.reach)
    return Interval(before * math.expm1(low), before * math.expm1(high))


def _log_change(change: float, before: float) -> float:
    return math.log1p(change / before) if change > -before else -math.inf


def _log_deviation(interval: Interval, before: float) -> float:
    """The standard deviation of the logarithm of a ratio whose change has this interval."""
    width = _log_change(interval.high, before) - _log_change(interval.low, before)
    return width / (2 * student_reach(1000))


def _estimate(values: Floats | None) -> float | None:
    return None if values is None or not np.isfinite(values[0]) else float(values[0])
