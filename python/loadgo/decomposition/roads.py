"""The same ratio by independent roads: that factors multiply to their whole proves nothing; that another meter, a
measure of the processor alone, or the bill says the same does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.decomposition.chains import WORK
from loadgo.decomposition.parts import draws_of, each_of
from loadgo.measures.account import Account
from loadgo.measures.total_time import is_busy
from loadgo.stats.resample import Floats, Interval, interval_of

APART = 0.05
"""Roads agree when they are no further apart than this, or when what they are apart by may be chance."""


@dataclass(frozen=True)
class Road:
    """One way to a ratio."""

    name: str
    to: str
    """Which ratio it leads to: of elapsed time, of all processor time, of the work alone."""
    before: float
    after: float
    unit: str
    interval: Interval | None = None
    """Of the ratio; None with fewer than five runs a side."""
    apart: Interval | None = None
    """Of the ratio over that of the first road to the same; None of the first itself."""

    @property
    def ratio(self) -> float:
        """Before over after."""
        return self.before / self.after


@dataclass(frozen=True)
class Disagreement:
    """Two roads to one ratio that lead elsewhere."""

    first: Road
    other: Road
    surely: bool
    """Whether an interval says so, and not the figures alone."""

    @property
    def apart(self) -> float:
        """By how much, as a part of the first: above 0, the other's ratio is greater."""
        return self.other.ratio / self.first.ratio - 1


_Way = tuple[str, str, str, Callable[[Account], float]]
"""A road: its name, the ratio it leads to, its unit, its figure."""


def roads_of(a: Sequence[Account], b: Sequence[Account], *, paired: bool = False) -> tuple[Road, ...]:
    """All roads that both sides tell, for each interaction; on a host meters are of everybody's time, and no road.

    `paired`: the runs of both sides are drawn again in pairs.
    """
    if not a or not b:
        return ()
    weights = draws_of(a, b, paired=paired)
    found: list[Road] = []
    firsts: dict[str, Floats] = {}
    for name, to, unit, figure in _told(a, b):
        before, after = (each_of(side, figure, weight) for side, weight in zip((a, b), weights, strict=True))
        if not all(np.isfinite(side).all() and (side > 0).all() for side in (before, after)):
            continue
        logs = np.log(before / after)
        runs = min(len(a), len(b))
        apart = _exp(interval_of(logs - firsts[to], runs)) if to in firsts else None
        firsts.setdefault(to, logs)
        found.append(Road(name, to, float(before[0]), float(after[0]), unit, _exp(interval_of(logs, runs)), apart))
    return tuple(found)


def disagreeing(roads: Sequence[Road]) -> list[Disagreement]:
    """The first road to each ratio with those that are more than 5 % from it, and not by chance; charges are roads at
    the same price alone, and of that their table tells.
    """
    return [one for one in _pairs(roads) if abs(math.log1p(one.apart)) > APART]


def slightly_apart(roads: Sequence[Road]) -> list[Disagreement]:
    """Those that are nearer, and yet surely not the same: more than a tenth of that."""
    return [one for one in _pairs(roads) if one.surely and APART / 10 < abs(math.log1p(one.apart)) <= APART]


def _pairs(roads: Sequence[Road]) -> list[Disagreement]:
    found = []
    for to in dict.fromkeys(road.to for road in roads if road.unit != "$"):
        first, *others = [road for road in roads if road.to == to and road.unit != "$"]
        found += [Disagreement(first, one, one.apart is not None) for one in others if not _by_chance(one)]
    return found


def _by_chance(road: Road) -> bool:
    return road.apart is not None and road.apart.holds(1.0)


def _told(a: Sequence[Account], b: Sequence[Account]) -> list[_Way]:
    told: list[_Way] = [
        ("processor time charged to interactions", "all processor time", "ns", lambda one: one.used.get("cpu", 0.0)),
    ]
    if all(one.alone for one in (*a, *b)):
        told += [
            ("busy time by the meters", "all processor time", "ns", _busy),
            ("work by the meters", "work", "ns", lambda one: sum(one.time_ns.get(name, 0.0) for name in WORK)),
        ]
    told += [
        ("user time of the interactions", "work", "ns", lambda one: one.used.get("programs", 0.0)),
    ]
    for name in dict.fromkeys(name for one in (*a, *b) for name in one.charges):
        told.append((f"charges, {name}", "all processor time", "$", lambda one, key=name: one.charges.get(key, 0.0)))  # type: ignore[misc]
    for name in dict.fromkeys(name for one in (*a, *b) for name in one.roads):
        told.append((name, "work", "ns", lambda one, key=name: one.roads.get(key, 0.0) * 1e9))  # type: ignore[misc]
    return told


def _exp(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(math.exp(interval.low), math.exp(interval.high))


def _busy(account: Account) -> float:
    return sum(time for name, time in account.time_ns.items() if is_busy(name))
