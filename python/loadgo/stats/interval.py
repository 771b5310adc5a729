"""An interval of a figure, and the reciprocal of a ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether `value` lies in the interval."""
        return self.low <= value <= self.high

    @property
    def inverse(self) -> Interval:
        """The interval of 1 / value, for an interval of a value that is not negative."""
        return Interval(inverse(self.high), inverse(self.low))


def inverse(ratio: float) -> float:
    """1 / `ratio`, and infinity for 0."""
    return 1 / ratio if ratio else math.inf
