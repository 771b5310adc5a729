"""The capacity of a host without other work: predicted from trials with more and with less of it, or else bounded.

A quiet host holds no fewer users than a busy one. Let an interaction need D of the users' own processor time. Then c
processors do at most c / D interactions a second (the utilisation law, Denning and Buzen 1978). So N users, who think
for Z, have a mean response of at least N D / c - Z. The most users with which this is within the limit are the upper
bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from loadgo.sizing.curve import LoadPoint
from loadgo.sizing.models.answers import ModelTarget, model_targets
from loadgo.sizing.models.basis import usable_points
from loadgo.sizing.models.demands import Demand, demands_of
from loadgo.sizing.resources import PROCESSORS_RESOURCE
from loadgo.sizing.search.near_line import quiet_crossing
from loadgo.sizing.search.neighbours import is_quiet
from loadgo.sizing.search.outcomes import CapacityFound, EveryNumberMeets, SearchGoal, SearchOutcome, Undecided
from loadgo.sizing.search.results import Neighbours, QuietCapacity
from loadgo.sizing.search.trials import CapacityTrial


def with_quiet_capacity(
    neighbours: Neighbours | None,
    outcome: SearchOutcome,
    trials: Sequence[CapacityTrial],
    goal: SearchGoal,
    points: Sequence[LoadPoint] = (),
    servers: Mapping[str, int | None] | None = None,
) -> Neighbours | None:
    """`neighbours` with the capacity of a quiet host, if other work took much and something is known of it.

    `points` are those of the trials, with the number of servers of each resource.
    """
    if neighbours is None or is_quiet(neighbours):
        return neighbours
    return replace(
        neighbours, quiet=_predicted(outcome, trials, goal) or _bounded(outcome, goal, points, servers or {})
    )


def _predicted(outcome: SearchOutcome, trials: Sequence[CapacityTrial], goal: SearchGoal) -> QuietCapacity | None:
    """The prediction of the line through the trials; None if other work differs too little between them."""
    if not isinstance(outcome, CapacityFound) or outcome.crossing is None:
        return None
    crossing = quiet_crossing(trials, goal, outcome.crossing.users)
    if crossing is None:
        return None
    users, low, high = (max(math.floor(end), 0) for end in (crossing.users, crossing.low, crossing.high))
    return QuietCapacity("trials", users, low, high)


def _bounded(
    outcome: SearchOutcome, goal: SearchGoal, points: Sequence[LoadPoint], servers: Mapping[str, int | None]
) -> QuietCapacity | None:
    """The bounds from the measured answer and the users' own time; None where that was not measured, and for a mix."""
    usable = usable_points(points)
    if isinstance(outcome, EveryNumberMeets) or not usable or any(_is_unknown(point) for point in usable):
        return None
    alone = [_without_others(point, servers) for point in usable]
    targets = [target for target in model_targets(alone) if target.resource is None]
    demands = demands_of(alone, servers)
    if not targets or not demands:
        return None
    interactions = sum(point.interactions for point in alone)
    think_s = sum(point.think_s * point.interactions for point in alone) / interactions
    most = min(_most_users(target, demand, think_s) for target in targets for demand in demands)
    low, measured_high = _ends(outcome, goal)
    return QuietCapacity("bounds", None, low, max(most, low, measured_high))


def _is_unknown(point: LoadPoint) -> bool:
    return point.users_cpu_s is None or point.others is None or bool(point.classes)


def _without_others(point: LoadPoint, servers: Mapping[str, int | None]) -> LoadPoint:
    """The point with the users' own time as all that the processors do."""
    own = point.throughput.value * (point.users_cpu_s or 0.0) / (servers.get(PROCESSORS_RESOURCE) or 1)
    return replace(point, others=0.0, utilisation={**point.utilisation, PROCESSORS_RESOURCE: own})


def _most_users(target: ModelTarget, demand: Demand, think_s: float) -> int:
    """The most users whose mean response can be within the target's limit, with the smallest demand of a point."""
    return math.floor((target.limit + think_s) * demand.servers / demand.least_s)


def _ends(outcome: SearchOutcome, goal: SearchGoal) -> tuple[int, int]:
    """The ends of the answer's interval; the upper end is 0 if it is not known."""
    if isinstance(outcome, CapacityFound | Undecided):
        return outcome.low, outcome.high or 0
    return (goal.fewest_users - 1,) * 2
