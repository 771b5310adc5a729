"""The figures of a comparison in words: each measure in its unit, changes with their signs, intervals of changes.

A change and its interval have the same number of decimals. The last digit is at most a quarter of the interval's
width: more digits would be chance, and fewer would hide the width. Changes that stand in one column have one notation:
signed percentages, or factors where one of them is large.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from loadgo.notation.figures import NOT_MEASURED, digits
from loadgo.notation.measures import percent
from loadgo.stats.interval import Interval

if TYPE_CHECKING:
    from loadgo.comparison.difference import Difference

Notation = Literal["percent", "factor"]
"""How changes are written: `+165 %`, or `×2.65`."""

LEAST_FACTOR = 10.0
"""A change to this many times the figure, or more, is written as a factor: `×12` for +1,100 %."""
_LEAST_FACTOR_OF_END = 100.0
"""An interval that reaches to this many times the figure makes its change a factor, too."""
LARGEST_DIGIT_SHARE = 0.25
"""The last digit of a change and its interval is at most this part of the interval's width."""
_MOST_DECIMALS = 2
_LEAST_WHOLE_PERCENT = 99.95
"""A change without an interval has no decimal from this percentage on: three digits are the most that it deserves."""


def notation_of(changes: Iterable[tuple[float | None, Interval | None]]) -> Notation:
    """The notation of changes that stand together, each a share and its interval: factors if one of them is large."""
    is_large = any(
        (share is not None and share >= LEAST_FACTOR - 1)
        or (interval is not None and interval.high >= _LEAST_FACTOR_OF_END - 1)
        for share, interval in changes
    )
    return "factor" if is_large else "percent"


def notation_for(differences: Iterable[Difference]) -> Notation:
    """The notation of the changes of these differences."""
    return notation_of((difference.relative, _relative_interval(difference)) for difference in differences)


def change(difference: Difference, notation: Notation | None = None) -> str:
    """The change relative to the first side. `from 0` if the first side's figure is 0.

    Without a `notation` it has its own.
    """
    if difference.change is None:
        return NOT_MEASURED
    if difference.relative is None:
        return "0" if difference.change == 0 else "from 0"
    interval = _relative_interval(difference)
    return relative_change(difference.relative, interval, notation, _margin_that_decides(difference))


def change_interval(difference: Difference, notation: Notation | None = None) -> str:
    """The interval of the relative change, as in `−14 to −10 %`. Narrow intervals have decimals."""
    interval = _relative_interval(difference)
    if interval is None:
        return NOT_MEASURED
    return percent_interval(interval, notation or notation_for([difference]), _margin_that_decides(difference))


def _margin_that_decides(difference: Difference) -> float | None:
    """The margin, if the verdict depends on it: it must then be seen on which side of it the interval ends."""
    return difference.margin if difference.verdict in ("no difference", "cannot tell") else None


def relative_change(
    share: float, interval: Interval | None, notation: Notation | None = None, margin: float | None = None
) -> str:
    """A share as a signed percentage or a factor, with as many decimals as its interval deserves.

    Without an interval it has at most three digits, `+715 %` or `+39.7 %`, and from ten times on it is a factor.
    """
    if (notation or notation_of([(share, interval)])) == "factor":
        return _factor(share, interval)
    return percent(share, _decimals_alone(share) if interval is None else decimals_of(interval, margin))


def percent_interval(interval: Interval, notation: Notation | None = None, margin: float | None = None) -> str:
    """An interval of shares in percent, as in `−14 to −10 %`, or as factors, as in `×1.2 to ×15`."""
    ends = (interval.low, interval.high)
    if (notation or notation_of([(None, interval)])) == "factor":
        return " to ".join(_factor(end, interval) for end in ends)
    low_text, high_text = (percent(end, decimals_of(interval, margin)) for end in ends)
    return f"{low_text.removesuffix(' %')} to {high_text}"


def decimals_of(interval: Interval, margin: float | None = None) -> int:
    """The number of decimals in percent that an interval of shares deserves, at most `_MOST_DECIMALS`.

    As far as these allow, no end other than 0 is rounded to 0, and none to an end of the `margin`. So a reader sees
    whether the interval lies within the margin.
    """
    width = 100 * (interval.high - interval.low)
    if not 0 < width < math.inf:
        return 0 if width else _decimals_alone(interval.low)
    decimals = min(_decimals_of_width(width), _MOST_DECIMALS)
    meant = [0.0] if margin is None else [0.0, 1 / (1 + margin) - 1, margin]
    while decimals < _MOST_DECIMALS and any(
        end != value and round(100 * end, decimals) == round(100 * value, decimals)
        for end in (interval.low, interval.high)
        for value in meant
    ):
        decimals += 1
    return decimals


def _decimals_of_width(width: float) -> int:
    """The number of decimals with which the last digit is `LARGEST_DIGIT_SHARE` of the width."""
    return max(math.ceil(-math.log10(LARGEST_DIGIT_SHARE * width) - 1e-9), 0)


def _decimals_alone(share: float) -> int:
    """The number of decimals in percent of a share that has no width."""
    return int(abs(100 * share) < _LEAST_WHOLE_PERCENT)


def _relative_interval(difference: Difference) -> Interval | None:
    if difference.interval is None or not difference.before:
        return None
    return Interval(difference.interval.low / difference.before, difference.interval.high / difference.before)


def _factor(share: float, interval: Interval | None) -> str:
    """A relative change as a factor: 11 is `×12.0`, −0.5 is `×0.500`, and −1 is `×0`.

    It has three digits, and as many decimals as a narrow interval deserves: 0.0124 within ±0.0009 is `×1.0124`.
    """
    ratio = max(1 + share, 0.0)
    if not math.isfinite(ratio):
        return "×∞"
    width = 0.0 if interval is None else interval.high - interval.low
    decimals = min(_decimals_of_width(width), 2 + _MOST_DECIMALS) if 0 < width < math.inf else 0
    shown = digits(ratio)
    has_fewer = ratio > 0 and len(shown.partition(".")[2]) < decimals
    return f"×{ratio:,.{decimals}f}" if has_fewer else f"×{shown}"
