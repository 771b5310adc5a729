"""Measures in words: their names, their values with units, signed changes, and factors."""

from __future__ import annotations

import math

from loadgo.notation.figures import NOT_MEASURED, digits, duration, number, size
from loadgo.stats.resample import Interval

EXTRAPOLATED_MARK = "†"
"""The mark of figures that contain extrapolated interactions."""
MEASURE_LABELS = {
    "response": "response",
    "p50 response": "response, p50",
    "p90 response": "response, p90",
    "cpu": "CPU",
    "programs": "CPU of programs",
    "work": "CPU but page faults",
    "page": "CPU of page faults",
    "ready wait": "CPU wait",
    "paging wait": "page wait",
    "I/O wait": "disk wait",
    "output": "bytes of output",
    "cycle": "prompt to prompt",
}
"""The names in reports of measures that are printed under another name than their own."""


def name_of(measure: str) -> str:
    """The name of a measure in reports."""
    return MEASURE_LABELS.get(measure, measure)


def figure(measure: str, amount: float | None) -> str:
    """The amount of a measure with its unit."""
    if amount is None:
        return NOT_MEASURED
    match measure:
        case "faults" | "major faults" | "number":
            return number(amount)
        case "output":
            return size(amount)
        case "cost":
            return digits(amount)
        case "throughput":
            return f"{number(amount)}/s"
    return signed(amount) if amount < 0 else duration(amount)


def signed(value: float | None) -> str:
    """A time difference in nanoseconds, with its sign and unit."""
    if value is None:
        return NOT_MEASURED
    if value == 0:
        return "0"
    return f"{'−' if value < 0 else '+'}{duration(abs(value))}"


def signed_digits(value: float) -> str:
    """A plain number with its sign: `+0.123`."""
    return f"{'−' if value < 0 else '+'}{digits(abs(value))}"


def percent(value: float | None, places: int = 1) -> str:
    """A relative change as a signed percentage: 0.123 is `+12.3 %`."""
    if value is None:
        return NOT_MEASURED
    shown = f"{abs(100 * value):.{places}f}"
    sign = "" if float(shown) == 0 else "−" if value < 0 else "+"
    return f"{sign}{shown} %"


def factor(value: float) -> str:
    """A factor with its sign: `×2.039`, and `×0.00724` below a tenth."""
    return f"×{_factor_digits(value)}" if value < 100 else f"×{value:,.0f}"


def factor_interval(interval: Interval | None) -> str:
    """The interval of a factor: `1.950–2.131`."""
    return NOT_MEASURED if interval is None else f"{_factor_digits(interval.low)}–{_factor_digits(interval.high)}"


def _factor_digits(value: float) -> str:
    """Three decimals, or three digits below a tenth."""
    places = 2 - math.floor(math.log10(value)) if 0 < value < 0.1 else 3
    return f"{value:.{places}f}"
