"""The processors' time of both sides by category, and each difference as an effect of number and of time of one.

n1 c1 - n0 c0 = (n1 - n0) (c0 + c1) / 2 + (n0 + n1) / 2 (c1 - c0). The first term is the effect of the number, at the
mean cost of both sides. The second is the effect of the cost, at the mean number. The sum is exact, and with the sides
exchanged every term has the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.measures.account import OUTPUT_LINES, RunAccount
from loadgo.measures.total_time import is_busy
from loadgo.stats.resample import Floats, Interval, difference_interval, drawn

_ROUNDING_SHARE = 1e-12
"""A smaller rest of a part is the rounding of its arithmetic."""


@dataclass(frozen=True)
class Part:
    """One category's time for one interaction, in nanoseconds. Counts are None if not counted."""

    name: str
    busy: bool
    before: float
    after: float
    interval: Interval | None
    """95 % interval of the difference. None with fewer than five runs a side."""
    count_before: float | None
    count_after: float | None

    @property
    def change(self) -> float:
        """`after - before`."""
        return self.after - self.before

    @property
    def each_before(self) -> float | None:
        """Time of one event before."""
        return self.before / self.count_before if self.count_before else None

    @property
    def each_after(self) -> float | None:
        """Time of one event after."""
        return self.after / self.count_after if self.count_after else None

    @property
    def by_count(self) -> float | None:
        """The part of the change that is the effect of the number of events."""
        if self.count_before is None or self.count_after is None:
            return None
        known_ns = [each_ns for each_ns in (self.each_before, self.each_after) if each_ns is not None]
        if not known_ns:
            return None
        return (self.count_after - self.count_before) * sum(known_ns) / len(known_ns)

    @property
    def by_each(self) -> float | None:
        """The part of the change that is the effect of the time of one event: the change less `by_count`."""
        if self.by_count is None:
            return None
        rest = self.change - self.by_count
        return 0.0 if abs(rest) <= _ROUNDING_SHARE * max(self.before, self.after) else rest


@dataclass(frozen=True)
class OutputLine:
    """A quantity for each line of output, before and after."""

    name: str
    unit: str
    before: float
    after: float


@dataclass(frozen=True)
class Parts:
    """The parts of the busy time, which add up to `busy`, and quantities for each line of output."""

    parts: tuple[Part, ...]
    busy: Part | None
    output: tuple[OutputLine, ...]


def parts_of(a: Sequence[RunAccount], b: Sequence[RunAccount], *, paired: bool) -> Parts:
    """The parts of both sides' time. Empty if the total time of a side is not known."""
    if not a or not b or not all(account.time_ns for account in (*a, *b)):
        return Parts((), None, ())
    names = list(dict.fromkeys(name for account in (*a, *b) for name in account.time_ns))
    parts = [_part(name, a, b, paired) for name in names]
    busy = _uncounted_part("busy", True, (a, b), busy_ns, paired)
    return Parts(tuple(part for part in parts if part.before or part.after), busy, _output(a, b))


def per_interaction(accounts: Sequence[RunAccount], figure: Callable[[RunAccount], float], weights: Floats) -> Floats:
    """A figure for each interaction, in every resample of the accounts."""
    values = np.array([figure(account) for account in accounts])
    interactions = np.array([account.interactions for account in accounts])
    ratios: Floats = (weights @ values) / (weights @ interactions)
    return ratios


def run_weights(a: Sequence[RunAccount], b: Sequence[RunAccount], *, paired: bool) -> tuple[Floats, Floats]:
    """How often each run is drawn in each resample, by side. Paired runs have the same weights on both sides."""
    first = drawn(len(a))
    second = first if paired and len(a) == len(b) else drawn(len(b), seed=1)
    draws = min(len(first), len(second))
    return first[:draws], second[:draws]


def _part(name: str, a: Sequence[RunAccount], b: Sequence[RunAccount], paired: bool) -> Part:
    def time(account: RunAccount) -> float:
        return account.time_ns.get(name, 0.0)

    part = _uncounted_part(name, is_busy(name), (a, b), time, paired)
    counted = [name in account.counts for side in (a, b) for account in side]
    if not any(counted):
        return part
    counts = [
        sum(account.counts.get(name, 0.0) for account in side) / sum(account.interactions for account in side)
        for side in (a, b)
    ]
    is_counted = [bool(count) or not time for count, time in zip(counts, (part.before, part.after), strict=True)]
    if not all(is_counted):
        return part
    return Part(name, part.busy, part.before, part.after, part.interval, counts[0], counts[1])


def _uncounted_part(
    name: str,
    busy: bool,
    sides: tuple[Sequence[RunAccount], Sequence[RunAccount]],
    figure: Callable[[RunAccount], float],
    paired: bool,
) -> Part:
    resampled_sides = zip(sides, run_weights(*sides, paired=paired), strict=True)
    before, after = (per_interaction(side, figure, weights) for side, weights in resampled_sides)
    runs = len(sides[0]), len(sides[1])
    interval = difference_interval(before, after, runs, paired=paired and runs[0] == runs[1])
    return Part(name, busy, float(before[0]), float(after[0]), interval, None, None)


def busy_ns(account: RunAccount) -> float:
    """Busy time of all processors."""
    return sum(time for name, time in account.time_ns.items() if is_busy(name))


def _output(a: Sequence[RunAccount], b: Sequence[RunAccount]) -> tuple[OutputLine, ...]:
    """Processor time, page faults and ring crossings for each line of output. Empty if lines are not counted."""
    lines = [sum(account.counts.get(OUTPUT_LINES, 0.0) for account in side) for side in (a, b)]
    if not all(lines):
        return ()

    def by_line(figure: Callable[[RunAccount], float]) -> tuple[float, float]:
        before, after = (sum(map(figure, side)) / count for side, count in zip((a, b), lines, strict=True))
        return before, after

    quantities = [OutputLine("processor time", "ns", *by_line(busy_ns))]
    for name, category in (("page faults", "page fault"), ("wall crossings", "wall crossing")):
        if any(account.counts.get(category) for account in (*a, *b)):
            quantities.append(OutputLine(name, "", *by_line(lambda account, c=category: account.counts.get(c, 0.0))))  # type: ignore[misc]
    return tuple(quantities)
