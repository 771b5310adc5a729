"""Is our figure near enough to the printed one?"""

from __future__ import annotations

from loadgo.published.document import Figure, Tolerance
from loadgo.published.number import Number
from loadgo.reproduction.models.values import Value

WITHOUT_RATIO = ("date", "clock time")


def near(printed: Number, ours: Value, within: Tolerance) -> bool:
    """Whether ours lies within the tolerance of the printed number, or anywhere in the printed range.

    The rounding of the printed digits is always allowed. Of `at most` and `at least` only one side counts. Ours may be
    a range too: then both of its ends must be near.
    """
    low, high = _widest(float(printed.low), within)[0], _widest(float(printed.high), within)[1]
    low = min(low, float(printed.low - printed.low_half))
    high = max(high, float(printed.high + printed.high_half))
    lowest, highest = ours.value, ours.value if ours.high is None else ours.high
    return (printed.bound == "at most" or lowest >= low) and (printed.bound == "at least" or highest <= high)


def ratio_of(figure: Figure, ours: Value) -> float | None:
    """Ours over printed, of ranges their middles; None of dates, of a printed 0, and of ours within a printed range."""
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


def _widest(value: float, within: Tolerance) -> tuple[float, float]:
    lows = (value * (1 - within.relative), value / within.factor, value - within.absolute)
    highs = (value * (1 + within.relative), value * within.factor, value + within.absolute)
    return min(lows), max(highs)
