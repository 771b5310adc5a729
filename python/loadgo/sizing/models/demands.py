"""What an interaction asks of each resource, from measured points by the utilisation law.

D = U c / X, with U the utilisation of each of c servers and X the throughput (Denning and Buzen 1978). It holds all
that the resource did in that time, also for nobody's interaction. Each point gives a demand; what they differ by is the
doubt of everything that extrapolates. Demands that do not differ by more than chance are one demand. Those that grow
with the users (paging, caches, locks that spin) are followed from point to point; what they do beyond the last point
nobody knows: that they stay as they were is the middle of the doubt, and that they grow on as they did its upper end.

What a resource does whatever the users do is no interaction's demand, and is taken off; the rest of the resource is
slower by it, for users who get what the others leave. Of a host's processors the meters tell the users' own time, and
all other busy time is others'; of that, the least at any point is what others keep whatever the users do. Elsewhere
three points or more tell it: U c over X is a line that meets X = 0 above nothing, by more than chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.sizing.curve import Point
from loadgo.sizing.resources import PROCESSORS

TELLING = 400
"""Interactions: of exponential demands the mean is then within a tenth, 19 times of 20."""
GROWN = 1.2
"""A demand grows when it is so many times as much with the most users as with the fewest, and no chance."""

_FEWEST_FOR_LINE = 3
_SPREAD = 1.5
"""A line needs a greatest throughput of so many times the least."""
_NOTICED = 0.01
_FULL = 0.97
"""A resource that is busier than this has no time left."""


@dataclass(frozen=True)
class Demand:
    """What an interaction asks of one resource, in all its visits."""

    resource: str
    servers: int
    seconds: float
    """Of all points together."""
    by_users: tuple[tuple[int, float], ...]
    """Of each telling point, by users."""
    grows: bool
    """With the users, by more than chance."""
    background: float = 0.0
    """The share of its time that is busy whatever the users do; taken off, and the demands are longer by it."""

    @property
    def least_s(self) -> float:
        """Of the point with the least."""
        return min(one for _, one in self.by_users)

    @property
    def most_s(self) -> float:
        """Of the point with the most."""
        return max(one for _, one in self.by_users)

    def with_users(self, users: float) -> tuple[float, float, float]:
        """The demand with so many users: the least that it may be, the demand, and the most."""
        if not self.grows:
            return self.least_s, self.seconds, self.most_s
        at, each = (np.array(told, dtype=np.float64) for told in zip(*self.by_users, strict=True))
        middle = float(np.interp(users, at, each))
        if users <= at[-1]:
            place = int(np.clip(np.searchsorted(at, users), 1, len(at) - 1))
            beside = (float(each[place - 1]), float(each[place]))
            return min(*beside, middle), middle, max(*beside, middle)
        slope = max(0.0, float(each[-1] - each[0]) / float(at[-1] - at[0]))
        return min(middle, self.seconds), middle, middle + slope * (users - float(at[-1]))


def demands_of(points: Sequence[Point], servers: Mapping[str, int | None]) -> tuple[Demand, ...]:
    """By resource that can be full and was asked for anything, in the order of `servers`."""
    found = []
    for resource, count in servers.items():
        there = [one for one in points if one.utilisation.get(resource, 0.0) > 0.0]
        if not count or not there or taken_by_others(there, resource):
            continue
        told = sorted(telling(there), key=lambda one: one.users)
        other, each = _asked(there, told, resource, count)
        weights = sum(one.interactions for one in there)
        found.append(
            Demand(
                resource=resource,
                servers=count,
                seconds=sum(each[one.users] * one.interactions for one in there) / weights,
                by_users=tuple((one.users, each[one.users]) for one in told),
                grows=_grows(told, each),
                background=other,
            )
        )
    return tuple(found)


def own_told(points: Sequence[Point], resource: str) -> bool:
    """Whether every point tells the users' own time at the resource."""
    return resource == PROCESSORS and all(one.users_cpu_s is not None and one.others is not None for one in points)


def taken_by_others(points: Sequence[Point], resource: str) -> bool:
    """Whether the resource had no time left at every point, while the users did more and more: others use what they
    leave, and how busy it is tells nothing of the users.
    """
    told = sorted(telling(points), key=lambda one: one.throughput.value)
    if len(told) < 2 or min(one.utilisation.get(resource, 0.0) for one in told) < _FULL:
        return False
    return _more(told[0].throughput.value, told[-1].throughput.value, told[0], told[-1])


def telling(points: Sequence[Point]) -> list[Point]:
    """The points with enough interactions for a mean that chance does not make; all, where fewer than two have."""
    enough = [one for one in points if one.interactions >= TELLING]
    return enough if len(enough) > 1 else list(points)


def knee_of(point: Point, servers: Mapping[str, int | None]) -> float | None:
    """N* by one point's own demands: the users with whom its busiest resource would have no time left; None where no
    resource was measured.
    """
    demands = demands_of([point], servers)
    most = max((one.seconds / one.servers for one in demands), default=0.0)
    return (point.think_s + sum(one.seconds for one in demands)) / most if most else None


def _asked(
    points: Sequence[Point], told: Sequence[Point], resource: str, servers: int
) -> tuple[float, dict[int, float]]:
    """The share of the resource that is taken whatever the users do; and by users what an interaction asks of the
    rest.
    """
    if own_told(points, resource):
        other = min(one.others or 0.0 for one in told)
        other = other if other > _NOTICED else 0.0
        return other, {one.users: (one.users_cpu_s or 0.0) / (1.0 - other) for one in points}
    other = _background(told, resource)
    left = {one.users: max(0.0, one.utilisation[resource] - other) / (1.0 - other) for one in points}
    return other, {one.users: left[one.users] * servers / one.throughput.value for one in points}


def _background(points: Sequence[Point], resource: str) -> float:
    """The share of the resource that is busy without the users, by a line through its utilisation over the throughput;
    0 where it is less than a hundredth, chance, or not to be told.
    """
    rates = np.array([one.throughput.value for one in points])
    if len(points) < _FEWEST_FOR_LINE or rates.max() < _SPREAD * rates.min():
        return 0.0
    from scipy import stats

    line = stats.linregress(rates, np.array([one.utilisation[resource] for one in points]))
    least = float(line.intercept - stats.t.ppf(0.975, len(points) - 2) * line.intercept_stderr)
    return float(line.intercept) if least > _NOTICED and line.slope > 0 else 0.0


def _grows(points: Sequence[Point], each: Mapping[int, float]) -> bool:
    """From the fewest users to the most."""
    return _more(each[points[0].users], each[points[-1].users], points[0], points[-1])


def _more(before: float, after: float, first: Point, last: Point) -> bool:
    """Whether a mean is more, and by more than chance: two of exponential laws differ by that 1 time in 20."""
    if not before > 0.0 < after:
        return False
    chance = math.sqrt(1 / first.interactions + 1 / last.interactions)
    return math.log(after / before) > max(math.log(GROWN), 2 * chance)
