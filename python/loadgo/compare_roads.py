"""The same ratio by independent roads: that factors multiply to their whole proves nothing; that another meter, a
measure of the processor alone, or the bill says the same does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadgo.account import Account
from loadgo.chains import WORK
from loadgo.total_time import is_busy

APART = 0.05
"""Roads without intervals agree when they are no further apart than this."""


@dataclass(frozen=True)
class Road:
    """One way to a ratio."""

    name: str
    to: str
    """Which ratio it leads to: of elapsed time, of all processor time, of the work alone."""
    before: float
    after: float
    unit: str

    @property
    def ratio(self) -> float:
        """Before over after."""
        return self.before / self.after


def roads_of(a: Sequence[Account], b: Sequence[Account]) -> tuple[Road, ...]:
    """All roads that both sides tell, for each interaction; on a host meters are of everybody's time, and no road."""
    if not a or not b:
        return ()
    told: list[tuple[str, str, str, Callable[[Account], float]]] = [
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
    found = []
    for name, to, unit, figure in told:
        sides = [sum(map(figure, side)) / sum(one.interactions for one in side) for side in (a, b)]
        if all(value > 0 and math.isfinite(value) for value in sides):
            found.append(Road(name, to, sides[0], sides[1], unit))
    return tuple(found)


def disagreeing(roads: Sequence[Road]) -> list[tuple[Road, Road]]:
    """The first road to each ratio with those that lead elsewhere; charges are roads at the same price alone, and of
    that their table tells.
    """
    found = []
    for to in dict.fromkeys(road.to for road in roads if road.unit != "$"):
        first, *others = [road for road in roads if road.to == to and road.unit != "$"]
        found += [(first, one) for one in others if abs(math.log(one.ratio / first.ratio)) > APART]
    return found


def _busy(account: Account) -> float:
    return sum(time for name, time in account.time_ns.items() if is_busy(name))
