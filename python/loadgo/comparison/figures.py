"""The figures of a comparison in words: each measure in its unit, changes with their signs, intervals of changes."""

from __future__ import annotations

from loadgo.comparison.rows import Difference
from loadgo.notation.figures import NOT_MEASURED
from loadgo.notation.measures import percent


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
