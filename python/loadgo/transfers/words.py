"""Figures of transfers in words: times, sizes, how many times something is, and intervals of them."""

from __future__ import annotations

from collections.abc import Callable

from loadgo.notation.figures import digits
from loadgo.stats.resample import Interval
from loadgo.transfers.compared import Times


def a_time(seconds: float) -> str:
    """A time of three digits: `1.24 ns`."""
    seconds = float(f"{seconds:.3g}")
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def time_span(interval: Interval) -> str:
    """`16.2–38.5 us`; with both units where they differ."""
    low, high = a_time(interval.low), a_time(interval.high)
    same = low.rpartition(" ")[2] == high.rpartition(" ")[2] or not interval.low
    return f"{low.rpartition(' ')[0] if same else low}–{high}"


def a_rate(a_second: float) -> str:
    """Of bits: `2.31 G`."""
    for unit, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if a_second >= size:
            return f"{a_second / size:.3g}{unit}"
    return f"{a_second:.3g}"


def a_size(count: float) -> str:
    """Bytes: `64 KiB`, `300`."""
    for unit, size in ((" GiB", 2**30), (" MiB", 2**20), (" KiB", 2**10)):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count:.3g}"


def how_many(times: Times | None) -> str:
    """`410`, `0.980`; a dash where nothing is known."""
    return "-" if times is None else digits(times.times)


def between(interval: Interval | None, word: Callable[[float], str] = digits) -> str:
    """`395 to 430`; a dash where there is no interval."""
    return "-" if interval is None else f"{word(interval.low)} to {word(interval.high)}"
