"""Where the processors' time went on both sides, and each part's difference as how many times how long.

n1 c1 - n0 c0 = (n1 - n0) (c0 + c1) / 2 + (n0 + n1) / 2 (c1 - c0): what came of the number, at the mean cost of both
sides, and what came of the cost, at the mean number. Exact, with nothing over, and the other way round it is the same
with the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.measures.account import OUTPUT_LINES, Account
from loadgo.measures.total_time import is_busy
from loadgo.stats.resample import Floats, Interval, drawn, interval_of

REST = "not metered"
"""What the categories lack of all the time, or have too much of it."""


@dataclass(frozen=True)
class Part:
    """One category's time for one interaction, in nanoseconds; of counts, None is not counted."""

    name: str
    busy: bool
    before: float
    after: float
    interval: Interval | None
    """Of the difference; None with fewer than five runs a side."""
    count_before: float | None
    count_after: float | None

    @property
    def change(self) -> float:
        """`after - before`."""
        return self.after - self.before

    @property
    def each_before(self) -> float | None:
        """The time of one."""
        return self.before / self.count_before if self.count_before else None

    @property
    def each_after(self) -> float | None:
        """The time of one."""
        return self.after / self.count_after if self.count_after else None

    @property
    def by_count(self) -> float | None:
        """What of the change came of the number."""
        if self.count_before is None or self.count_after is None:
            return None
        each = [one for one in (self.each_before, self.each_after) if one is not None]
        if not each:
            return None
        return (self.count_after - self.count_before) * sum(each) / len(each)

    @property
    def by_each(self) -> float | None:
        """What of the change came of the time of one; with the number's part it is all of the change."""
        return None if self.by_count is None else self.change - self.by_count


@dataclass(frozen=True)
class OutputLine:
    """Something taken for each line of output."""

    name: str
    unit: str
    before: float
    after: float


@dataclass(frozen=True)
class Parts:
    """The parts of the busy time, which add up to `busy`; and what each line of output took."""

    parts: tuple[Part, ...]
    busy: Part | None
    output: tuple[OutputLine, ...]


def parts_of(a: Sequence[Account], b: Sequence[Account], *, paired: bool) -> Parts:
    """The parts of both sides' time; empty where one side's total time is not known."""
    if not a or not b or not all(account.time_ns for account in (*a, *b)):
        return Parts((), None, ())
    names = list(dict.fromkeys(name for account in (*a, *b) for name in account.time_ns))
    found = [_part(name, a, b, paired) for name in names]
    busy = _made("busy", True, (a, b), (_busy, _busy), paired)
    return Parts(tuple(part for part in found if part.before or part.after), busy, _output(a, b))


def each_of(accounts: Sequence[Account], figure: Callable[[Account], float], weights: Floats) -> Floats:
    """A figure for each interaction, in every draw of the accounts."""
    values = np.array([figure(account) for account in accounts])
    interactions = np.array([account.interactions for account in accounts])
    found: Floats = (weights @ values) / (weights @ interactions)
    return found


def draws_of(a: Sequence[Account], b: Sequence[Account], *, paired: bool) -> tuple[Floats, Floats]:
    """How often each run is drawn, on each side: the same where runs are paired."""
    first = drawn(len(a))
    second = first if paired and len(a) == len(b) else drawn(len(b), seed=1)
    draws = min(len(first), len(second))
    return first[:draws], second[:draws]


def _part(name: str, a: Sequence[Account], b: Sequence[Account], paired: bool) -> Part:
    def time(account: Account) -> float:
        return account.time_ns.get(name, 0.0)

    part = _made(name, is_busy(name), (a, b), (time, time), paired)
    counted = [name in account.counts for side in (a, b) for account in side]
    if not any(counted):
        return part
    counts = [sum(one.counts.get(name, 0.0) for one in side) / sum(one.interactions for one in side) for side in (a, b)]
    known = [bool(count) or not time for count, time in zip(counts, (part.before, part.after), strict=True)]
    if not all(known):
        return part
    return Part(name, part.busy, part.before, part.after, part.interval, counts[0], counts[1])


def _made(
    name: str,
    busy: bool,
    sides: tuple[Sequence[Account], Sequence[Account]],
    figures: tuple[Callable[[Account], float], Callable[[Account], float]],
    paired: bool,
) -> Part:
    weights = draws_of(*sides, paired=paired)
    before, after = (each_of(side, figure, w) for side, figure, w in zip(sides, figures, weights, strict=True))
    interval = interval_of(after - before, min(len(side) for side in sides))
    return Part(name, busy, float(before[0]), float(after[0]), interval, None, None)


def _busy(account: Account) -> float:
    return sum(time for name, time in account.time_ns.items() if is_busy(name) and name != REST)


def _output(a: Sequence[Account], b: Sequence[Account]) -> tuple[OutputLine, ...]:
    """Processor time, page faults and wall crossings by line of output; none where lines are not counted."""
    lines = [sum(account.counts.get(OUTPUT_LINES, 0.0) for account in side) for side in (a, b)]
    if not all(lines):
        return ()

    def by_line(figure: Callable[[Account], float]) -> tuple[float, float]:
        before, after = (sum(map(figure, side)) / count for side, count in zip((a, b), lines, strict=True))
        return before, after

    told = [OutputLine("processor time", "ns", *by_line(_busy))]
    for name, category in (("page faults", "page fault"), ("wall crossings", "wall crossing")):
        if any(account.counts.get(category) for account in (*a, *b)):
            told.append(OutputLine(name, "", *by_line(lambda account, c=category: account.counts.get(c, 0.0))))  # type: ignore[misc]
    return tuple(told)
