"""The figures of a comparison in words: each measure in its unit, changes with their signs, intervals of changes."""

from __future__ import annotations

import math

from loadgo.comparison.difference import Difference
from loadgo.notation.figures import NOT_MEASURED, digits
from loadgo.notation.measures import percent

LEAST_FACTOR = 10.0
"""A change to this many times the figure, or more, is written as a factor: `×12` for +1,100 %."""
LARGEST_DECIMAL_SHARE = 0.1
"""An interval whose ends are both below this has a decimal."""


def change(difference: Difference) -> str:
    """The change relative to the first side. `from 0` if the first side's figure is 0."""
    if difference.change is None:
        return NOT_MEASURED
    if difference.relative is None:
        return "0" if difference.change == 0 else "from 0"
    return _relative(difference.relative, 1)


def change_interval(difference: Difference) -> str:
    """The interval of the relative change, as in `−14 to −10 %`. Small changes have a decimal."""
    if difference.interval is None or not difference.before:
        return NOT_MEASURED
    return percent_interval(difference.interval.low / difference.before, difference.interval.high / difference.before)


def percent_interval(low: float, high: float) -> str:
    """An interval of shares in percent, as in `−14 to −10 %`, or of factors where it is large, as in `×12 to ×15`."""
    is_small = max(abs(low), abs(high)) < LARGEST_DECIMAL_SHARE
    low_text, high_text = (_relative(end, 1 if is_small or abs(end) < 0.01 else 0) for end in (low, high))
    return f"{low_text.removesuffix(' %') if high_text.endswith('%') else low_text} to {high_text}"


def _relative(share: float, places: int) -> str:
    """A relative change in percent. From ten times on it is a factor."""
    if share < LEAST_FACTOR - 1:
        return percent(share, places)
    return f"×{digits(1 + share)}" if math.isfinite(share) else "×∞"
