"""The figures of a comparison in words: each measure in its unit, changes with their signs, intervals of changes."""

from __future__ import annotations

from loadgo.compare_rows import Difference
from loadgo.report_figures import NOT_MEASURED, digits, duration, number, size
from loadgo.resample import Interval

MARK = "†"
"""At whatever has extrapolated interactions in it."""

NAMES = {
    "response": "response",
    "p50 response": "response, p50",
    "p90 response": "response, p90",
    "cpu": "CPU",
    "programs": "CPU of programs",
    "work": "CPU but page faults",
    "page": "CPU of page faults",
    "output": "bytes of output",
    "cycle": "prompt to prompt",
}
"""What the measures are called."""


def name_of(measure: str) -> str:
    """The measure as a report calls it."""
    return NAMES.get(measure, measure)


def figure(measure: str, value: float | None) -> str:
    """A measure's value with its unit."""
    if value is None:
        return NOT_MEASURED
    if measure in ("faults", "major faults", "number"):
        return number(value)
    if measure == "output":
        return size(value)
    if measure == "cost":
        return digits(value)
    if measure == "throughput":
        return f"{number(value)}/s"
    return signed(value) if value < 0 else duration(value)


def signed(value: float | None) -> str:
    """A span of nanoseconds with its sign."""
    if value is None:
        return NOT_MEASURED
    if value == 0:
        return "0"
    return f"{'−' if value < 0 else '+'}{duration(abs(value))}"


def percent(value: float | None, places: int = 1) -> str:
    """A change as a part of one: `+12.3 %`."""
    if value is None:
        return NOT_MEASURED
    shown = f"{abs(100 * value):.{places}f}"
    sign = "" if float(shown) == 0 else "−" if value < 0 else "+"
    return f"{sign}{shown} %"


def change(told: Difference) -> str:
    """The change as a part of what was before; the change itself where nothing was."""
    if told.change is None:
        return NOT_MEASURED
    if told.relative is None:
        return "0" if told.change == 0 else "from 0"
    return percent(told.relative)


def change_interval(told: Difference) -> str:
    """The interval of the change, as parts of what was before: `−14 to −10 %`; small ones have a decimal."""
    if told.interval is None or not told.before:
        return NOT_MEASURED
    ends = told.interval.low / told.before, told.interval.high / told.before
    near = max(map(abs, ends)) < 0.1
    low, high = (percent(end, 1 if near or abs(end) < 0.01 else 0) for end in ends)
    return f"{low.removesuffix(' %')} to {high}"


def factor(value: float) -> str:
    """A factor: `×2.039`."""
    return f"×{value:.3f}" if value < 100 else f"×{value:,.0f}"


def factor_interval(interval: Interval | None) -> str:
    """Its interval."""
    return NOT_MEASURED if interval is None else f"{interval.low:.3f}–{interval.high:.3f}"
