"""Ratios and factors that are stored as A over B, read as B over A."""

from __future__ import annotations

from loadgo.stats.resample import Interval, inverse


class _IntervalBothWays:
    """The interval of a ratio A over B, read as B over A."""

    interval: Interval | None

    @property
    def b_over_a_interval(self) -> Interval | None:
        """The interval of `b_over_a`. None if there is none."""
        return None if self.interval is None else self.interval.inverse


class RatioBothWays(_IntervalBothWays):
    """A figure before (A) and after (B)."""

    before: float
    after: float

    @property
    def b_over_a(self) -> float:
        """After over before: above 1, B's figure is larger."""
        return self.after * inverse(self.before)


class FactorBothWays(_IntervalBothWays):
    """A factor of a ratio A over B."""

    factor: float

    @property
    def b_over_a(self) -> float:
        """The factor of the ratio B over A: above 1, it makes B's figure larger."""
        return inverse(self.factor)
