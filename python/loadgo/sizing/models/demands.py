"""The service demands of an interaction at each resource, from measured points by the utilisation law.

D = U c / X, where U is the utilisation of each of c servers and X the throughput (Denning and Buzen 1978). D includes
all work of the resource in that time, also work that belongs to no interaction. Each point gives a demand. Their
differences are the uncertainty of every extrapolation. Demands that do not differ significantly count as one demand.
Demands that grow with the users (paging, caches, spinning locks) are interpolated between points. Beyond the last
point, the demand stays constant, and the upper end of its interval grows on at the same rate.

The background of a resource is the work that it does whatever the users do. It is subtracted from the utilisation, and
the users share the rest of the resource, so their demands are longer. On a host's processors, the meters measure the
users' own time, and the background is the smallest share of other work at any point. A limit on the users' processors
takes the place of the processors, and has no background. For another resource, the background is the intercept of U
over X, if that is significantly positive with at least three points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.sizing.curve import LoadPoint
from loadgo.sizing.resources import PROCESSORS_RESOURCE, is_cpu_limit
from loadgo.stats.student import student_reach

FEWEST_DEMAND_INTERACTIONS = 400
"""Fewest interactions of a well measured point: the mean of exponential demands is then within 10 %, 19 of 20 times."""
GROWN_DEMAND_RATIO = 1.2
"""A demand grows if it is significantly larger with the most users than with the fewest, by more than this ratio."""

_FEWEST_LINE_POINTS = 3
_LINE_THROUGHPUT_RATIO = 1.5
"""The line through the utilisations needs a largest throughput of at least this many times the smallest."""
_BACKGROUND_SHARE = 0.01
"""A smaller background than this is ignored."""
_NO_TIME_LEFT_SHARE = 0.97
"""A resource that is at least this busy counts as one without idle time."""


@dataclass(frozen=True)
class Demand:
    """The service demand of an interaction at one resource, in seconds of all its visits."""

    resource: str
    servers: int
    seconds: float
    """The demand from all points together."""
    by_users: tuple[tuple[int, float], ...]
    """The demand of each well measured point, with its users."""
    grows: bool
    """Whether the demand grows significantly with the users."""
    background: float = 0.0
    """Share of the resource that is busy whatever the users do; the demands are those on the rest of the resource."""

    @property
    def least_s(self) -> float:
        """The smallest demand of a point."""
        return min(seconds for _, seconds in self.by_users)

    @property
    def most_s(self) -> float:
        """The largest demand of a point."""
        return max(seconds for _, seconds in self.by_users)

    def with_users(self, users: float) -> tuple[float, float, float]:
        """The demand with `users` users: its lower end, the demand itself, and its upper end."""
        if not self.grows:
            return self.least_s, self.seconds, self.most_s
        measured_users, demands_s = (np.array(values, dtype=np.float64) for values in zip(*self.by_users, strict=True))
        demand_s = float(np.interp(users, measured_users, demands_s))
        if users <= measured_users[-1]:
            index = int(np.clip(np.searchsorted(measured_users, users), 1, len(measured_users) - 1))
            neighbours = (float(demands_s[index - 1]), float(demands_s[index]))
            return min(*neighbours, demand_s), demand_s, max(*neighbours, demand_s)
        slope = max(0.0, float(demands_s[-1] - demands_s[0]) / float(measured_users[-1] - measured_users[0]))
        return min(demand_s, self.seconds), demand_s, demand_s + slope * (users - float(measured_users[-1]))


def demands_of(points: Sequence[LoadPoint], servers: Mapping[str, int | None]) -> tuple[Demand, ...]:
    """The demands at the resources that can saturate and were used, in the order of `servers`."""
    demands = []
    has_cpu_limit = any(is_cpu_limit(resource) for resource in servers)
    for resource, count in servers.items():
        if resource == PROCESSORS_RESOURCE and has_cpu_limit:
            continue  # The limit serves the same work, and is slower.
        used_points = [point for point in points if point.utilisation.get(resource, 0.0) > 0.0]
        if not count or not used_points or is_taken_by_others(used_points, resource):
            continue
        good_points = sorted(well_measured_points(used_points), key=lambda point: point.users)
        background, demand_by_users = _demands_by_users(used_points, good_points, resource, count)
        weights = sum(point.interactions for point in used_points)
        demands.append(
            Demand(
                resource=resource,
                servers=count,
                seconds=sum(demand_by_users[point.users] * point.interactions for point in used_points) / weights,
                by_users=tuple((point.users, demand_by_users[point.users]) for point in good_points),
                grows=_grows(good_points, demand_by_users),
                background=background,
            )
        )
    return tuple(demands)


def has_own_time(points: Sequence[LoadPoint], resource: str) -> bool:
    """Whether every point has the users' own time at the resource."""
    return resource == PROCESSORS_RESOURCE and all(
        point.users_cpu_s is not None and point.others is not None for point in points
    )


def is_taken_by_others(points: Sequence[LoadPoint], resource: str) -> bool:
    """Whether the resource had no idle time at any point, although the throughput grew.

    Then other work uses what the users leave, and the utilisation shows nothing about the users.
    """
    if is_cpu_limit(resource):
        return False
    if _is_mix(points) and all(point.others is None for point in points):
        return False  # In a mix, the throughput of a full resource also grows if light users get more of it.
    ordered = sorted(well_measured_points(points), key=lambda point: point.throughput.value)
    if len(ordered) < 2 or min(point.utilisation.get(resource, 0.0) for point in ordered) < _NO_TIME_LEFT_SHARE:
        return False
    return _is_more(ordered[0].throughput.value, ordered[-1].throughput.value, ordered[0], ordered[-1])


def well_measured_points(points: Sequence[LoadPoint]) -> list[LoadPoint]:
    """The points with enough interactions for a precise mean; all points if fewer than two have enough."""
    good_points = [point for point in points if point.interactions >= FEWEST_DEMAND_INTERACTIONS]
    return good_points if len(good_points) > 1 else list(points)


def saturation_users(point: LoadPoint, servers: Mapping[str, int | None]) -> float | None:
    """The saturation point N* from the demands of one point, in users; None where no resource was measured."""
    demands = demands_of([point], servers)
    largest = max((demand.seconds / demand.servers for demand in demands), default=0.0)
    return (point.think_s + sum(demand.seconds for demand in demands)) / largest if largest else None


def _demands_by_users(
    points: Sequence[LoadPoint], good_points: Sequence[LoadPoint], resource: str, servers: int
) -> tuple[float, dict[int, float]]:
    """The background of the resource, and the demand of an interaction at the rest of it, by users."""
    if has_own_time(points, resource):
        background = min(point.others or 0.0 for point in good_points)
        background = background if background > _BACKGROUND_SHARE else 0.0
        return background, {point.users: (point.users_cpu_s or 0.0) / (1.0 - background) for point in points}
    background = 0.0 if is_cpu_limit(resource) else _background(good_points, resource)
    used = {point.users: max(0.0, point.utilisation[resource] - background) / (1.0 - background) for point in points}
    return background, {point.users: used[point.users] * servers / point.throughput.value for point in points}


def _background(points: Sequence[LoadPoint], resource: str) -> float:
    """The background of a resource, as a share: the intercept of its utilisation over the throughput.

    It is 0 where it is small, not significant, or unknown. In a mix it is unknown: the classes' shares of the
    interactions change with the load, so that utilisation and throughput are on no line.
    """
    if _is_mix(points):
        return 0.0
    rates = np.array([point.throughput.value for point in points])
    if len(points) < _FEWEST_LINE_POINTS or rates.max() < _LINE_THROUGHPUT_RATIO * rates.min():
        return 0.0
    used = np.array([point.utilisation[resource] for point in points])
    intercept, slope, error = _line(rates, used)
    is_significant = intercept - student_reach(len(points) - 2) * error > _BACKGROUND_SHARE
    return intercept if is_significant and slope > 0 else 0.0


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    """The line of least squares through points: its intercept, its slope, and the intercept's standard error."""
    from_mean = x - x.mean()
    squares = float(from_mean @ from_mean)
    slope = float(from_mean @ y) / squares
    intercept = float(y.mean() - slope * x.mean())
    residuals = y - intercept - slope * x
    variance = float(residuals @ residuals) / (len(x) - 2)
    return intercept, slope, math.sqrt(variance * (1 / len(x) + float(x.mean()) ** 2 / squares))


def _is_mix(points: Sequence[LoadPoint]) -> bool:
    return any(len(point.classes) > 1 for point in points)


def _grows(points: Sequence[LoadPoint], demand_by_users: Mapping[int, float]) -> bool:
    """Whether the demand grows from the point with the fewest users to the point with the most."""
    return _is_more(demand_by_users[points[0].users], demand_by_users[points[-1].users], points[0], points[-1])


def _is_more(before: float, after: float, first: LoadPoint, last: LoadPoint) -> bool:
    """Whether a mean grew by more than chance: two exponential samples differ by as much 1 time in 20."""
    if not before > 0.0 < after:
        return False
    chance = math.sqrt(1 / first.interactions + 1 / last.interactions)
    return math.log(after / before) > max(math.log(GROWN_DEMAND_RATIO), 2 * chance)
