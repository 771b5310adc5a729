"""The figures of a comparison in words: each measure in its unit, changes with their signs, intervals of changes.

A change and its interval have the same number of decimals. The last digit is at most a quarter of the interval's
width: more digits would be chance, and fewer would hide the width.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from loadgo.notation.figures import NOT_MEASURED, digits
from loadgo.notation.measures import percent
from loadgo.stats.interval import Interval

if TYPE_CHECKING:
    from loadgo.comparison.difference import Difference

LEAST_FACTOR = 10.0
"""A change to this many times the figure, or more, is written as a factor: `×12` for +1,100 %."""
LARGEST_DIGIT_SHARE = 0.25
"""The last digit of a change and its interval is at most this part of the interval's width."""
_MOST_DECIMALS = 2
_LEAST_WHOLE_PERCENT = 99.95
"""A change without an interval has no decimal from this percentage on: three digits are the most that it deserves."""


def change(difference: Difference) -> str:
    """The change relative to the first side. `from 0` if the first side's figure is 0."""
    if difference.change is None:
        return NOT_MEASURED
    if difference.relative is None:
        return "0" if difference.change == 0 else "from 0"
    return relative_change(difference.relative, _relative_interval(difference))


def change_interval(difference: Difference) -> str:
    """The interval of the relative change, as in `−14 to −10 %`. Narrow intervals have decimals."""
    interval = _relative_interval(difference)
    return NOT_MEASURED if interval is None else percent_interval(interval)


def relative_change(share: float, interval: Interval | None) -> str:
    """A share as a signed percentage, with as many decimals as its interval has, or as a factor if its interval is one.

    Without an interval it has at most three digits, `+715 %` or `+39.7 %`, and from ten times on it is a factor.
    """
    if interval is None:
        return _factor(share) if _is_factor(share) else percent(share, _decimals_alone(share))
    return _factor(share) if _is_factor(interval.high) else percent(share, decimals_of(interval))


def percent_interval(interval: Interval) -> str:
    """An interval of shares in percent, as in `−14 to −10 %`, or of factors where it is large, as in `×1.2 to ×15`."""
    ends = (interval.low, interval.high)
    if _is_factor(interval.high):
        return " to ".join(map(_factor, ends))
    low_text, high_text = (percent(end, decimals_of(interval)) for end in ends)
    return f"{low_text.removesuffix(' %')} to {high_text}"


def decimals_of(interval: Interval) -> int:
    """The number of decimals in percent that an interval of shares deserves. No end other than 0 is rounded to 0."""
    width = 100 * (interval.high - interval.low)
    if not 0 < width < math.inf:
        return 0 if width else _decimals_alone(interval.low)
    needed = math.ceil(-math.log10(LARGEST_DIGIT_SHARE * width) - 1e-9)
    decimals = min(max(needed, 0), _MOST_DECIMALS)
    vanishes = any(end and round(100 * end, decimals) == 0 for end in (interval.low, interval.high))
    return min(decimals + 1, _MOST_DECIMALS) if vanishes else decimals


def _decimals_alone(share: float) -> int:
    """The number of decimals in percent of a share that has no width."""
    return int(abs(100 * share) < _LEAST_WHOLE_PERCENT)


def _relative_interval(difference: Difference) -> Interval | None:
    if difference.interval is None or not difference.before:
        return None
    return Interval(difference.interval.low / difference.before, difference.interval.high / difference.before)


def _is_factor(share: float) -> bool:
    return share >= LEAST_FACTOR - 1


def _factor(share: float) -> str:
    """A relative change as a factor: 11 is `×12.0`, −0.5 is `×0.500`, and −1 is `×0`."""
    ratio = max(1 + share, 0.0)
    return f"×{digits(ratio)}" if math.isfinite(ratio) else "×∞"
