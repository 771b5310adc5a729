"""Figures of transfers in words and columns: how many times something is, intervals, and spans in one unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.documents.table import Column
from loadgo.notation.figures import NOT_MEASURED, digits, seconds_in_one_unit
from loadgo.stats.resample import Interval
from loadgo.transfers.compared import Times


def how_many(times: Times | None) -> str:
    """`410`, `0.980`; a dash where nothing is known."""
    return NOT_MEASURED if times is None else digits(times.times)


def between(interval: Interval | None, word: Callable[[float], str] = digits) -> str:
    """`395 to 430`; a dash where there is no interval."""
    return NOT_MEASURED if interval is None else f"{word(interval.low)} to {word(interval.high)}"


def time_column(heading: str, spans_s: Sequence[float | None]) -> Column:
    """A column of spans in one unit, which its heading names."""
    unit, cells = seconds_in_one_unit(spans_s)
    return Column(f"{heading}, {unit}", cells)
