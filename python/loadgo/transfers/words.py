"""Figures of transfers in words: how many times something is, and intervals."""

from __future__ import annotations

from collections.abc import Callable

from loadgo.notation.figures import NOT_MEASURED, digits
from loadgo.stats.resample import Interval
from loadgo.transfers.compared import Times


def how_many(times: Times | None) -> str:
    """`410`, `0.980`; a dash where nothing is known."""
    return NOT_MEASURED if times is None else digits(times.times)


def between(interval: Interval | None, word: Callable[[float], str] = digits) -> str:
    """`395 to 430`; a dash where there is no interval."""
    return NOT_MEASURED if interval is None else f"{word(interval.low)} to {word(interval.high)}"
