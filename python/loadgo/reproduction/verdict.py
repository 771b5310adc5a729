"""The comparison of our figure with a printed figure: tolerance and ratio."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.published.document import Figure, Tolerance
from loadgo.published.number import Number
from loadgo.reproduction.models.values import ReproducedValue

WITHOUT_RATIO = ("date", "clock time")


def is_within(printed: Number, ours: ReproducedValue, within: Tolerance) -> bool:
    """Whether our figure lies within the tolerance of the printed number or range.

    The rounding of the printed digits is always allowed. A printed `at most` bounds only from above, an `at least` only
    from below. If our figure is a range, both of its ends must lie within the tolerance.
    """
    low, high = _widest_bounds(float(printed.low), within)[0], _widest_bounds(float(printed.high), within)[1]
    low = min(low, float(printed.low - printed.low_half))
    high = max(high, float(printed.high + printed.high_half))
    lowest, highest = ours.value, ours.value if ours.high is None else ours.high
    return (printed.bound == "at most" or lowest >= low) and (printed.bound == "at least" or highest <= high)


def ratio_of(figure: Figure, ours: ReproducedValue) -> float | None:
    """Ours over printed, with the middles of ranges. None for dates, a printed 0, and ours within a printed range."""
    number = figure.number
    if figure.unit in WITHOUT_RATIO or not number.middle:
        return None
    if ours.high is not None:
        return (ours.value + ours.high) / 2 / number.middle
    if number.is_range:
        if number.low <= ours.value <= number.high:
            return None
        return ours.value / float(number.low if ours.value < number.low else number.high)
    return ours.value / number.middle


def _widest_bounds(value: float, within: Tolerance) -> tuple[float, float]:
    lows = (value * (1 - within.relative), value / within.factor, value - within.absolute)
    highs = (value * (1 + within.relative), value * within.factor, value + within.absolute)
    return min(lows), max(highs)


def tolerances_in_words(tolerances: Sequence[Tolerance]) -> str:
    """The widest of one or more tolerances, as `tolerances up to 15 % or 10 points`."""
    widest = max(tolerances, key=_reach)
    points = max((one for one in tolerances if _reach(one) == 1), key=lambda one: one.absolute, default=widest)
    ends = [_in_words(widest), *([_in_words(points)] if points.absolute and points is not widest else [])]
    if len({_in_words(one) for one in tolerances}) == 1:
        return f"tolerance: {ends[0]}"
    return f"tolerances up to {' or '.join(ends)}"


def _reach(within: Tolerance) -> float:
    """The largest ratio of ours to the printed figure that a tolerance allows."""
    return max(1 + within.relative, within.factor)


def _in_words(within: Tolerance) -> str:
    if within.factor > 1 + within.relative:
        return f"a factor of {within.factor:g}"
    if within.relative:
        return f"{100 * within.relative:g} %"
    return f"{within.absolute:g} points" if within.absolute else "rounding"
