"""The capacity by each model: the most users with which the model meets the targets, also beyond the measured points.

Models have mean response times. A target on a quantile or on one command becomes a limit of the mean. The ratio of its
measure to the mean response comes from the point nearest to its limit. That this ratio is constant is an assumption,
which the report states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadgo.sizing.curve import LoadPoint, MeasuredFigure, Target
from loadgo.sizing.models.demands import Demand
from loadgo.sizing.models.extrapolation import MOST_MODELLED_USERS, FollowedModel, ModelFigures
from loadgo.theory.job_bounds import JobBounds

_SEARCH_STEPS = 200


@dataclass(frozen=True)
class ModelTarget:
    """A target in the terms of a model: a limit of the mean response, or of the utilisation of a resource."""

    target: Target
    resource: str | None
    """The resource; None for the mean response."""
    limit: float
    """Limit of the mean response in seconds, or of the utilisation as a share."""
    ratio: float | None
    """Ratio of the target's measure to the mean response; None for a resource."""
    at_users: int | None
    """The users of the point where the ratio was measured; None where it is 1 by definition."""


@dataclass(frozen=True)
class ModelCapacity:
    """The capacity by one model."""

    by: str
    """`mean values`, `scalability law` or `bounds`."""
    users: int | None
    """The capacity; None for bounds, or if it is larger than `reach`."""
    at_least: int | None
    """Lower end of the model's interval; None without an interval."""
    at_most: int | None
    """Upper end of the model's interval; None without an interval or an end."""
    target: Target
    """The target that is missed first."""
    extrapolated: bool
    """Whether the capacity lies beyond the measured points."""
    reach: int
    """Most users for which the model was evaluated."""


def model_targets(points: Sequence[LoadPoint]) -> tuple[ModelTarget, ...]:
    """The targets of the points in the terms of a model, without those that no model can answer."""
    targets = dict.fromkeys(verdict.target for point in points for verdict in point.verdicts)
    model_targets = []
    for target in targets:
        if target.measure == "busy":
            model_targets.append(ModelTarget(target, target.command, target.limit, None, None))
        elif target.measure == "mean" and target.command is None:
            model_targets.append(ModelTarget(target, None, target.limit, 1.0, None))
        elif target.measure == "mean" or target.share is not None:
            nearest = _nearest_ratio(points, target)
            if nearest is not None:
                model_targets.append(ModelTarget(target, None, target.limit / nearest[0], *nearest))
    return tuple(model_targets)


def users_that_miss_all(model_targets: Sequence[ModelTarget], demands: Sequence[Demand], think_s: float) -> int:
    """A number of users that misses every target even with the smallest demands, since R is at least N D / c - Z."""
    busiest = max((demand.least_s / demand.servers for demand in demands), default=0.0)
    limits = [target.limit for target in model_targets if target.resource is None] or [think_s]
    return min(MOST_MODELLED_USERS, math.ceil((think_s + max(limits)) / busiest) + 2) if busiest else 1


def model_capacity(
    by: str, follow: FollowedModel, model_targets: Sequence[ModelTarget], measured: int
) -> ModelCapacity | None:
    """The capacity by one model; None without targets. `measured` is the largest measured number of users."""
    if not model_targets:
        return None
    capacities = [(_users_that_meet(follow, target, 0, follow.reach), target) for target in model_targets]
    users, binding = min(capacities, key=lambda pair: math.inf if pair[0] is None else pair[0])
    low = high = None
    if follow.at(measured).response_s.interval is not None:
        low = min(_users_that_surely_meet(follow, target, users or follow.reach) for target in model_targets)
        lower_ends = [_users_that_meet(follow, target, -1, follow.reach) for target in model_targets]
        high = min((end for end in lower_ends if end is not None), default=None)
    return ModelCapacity(by, users, low, high, binding.target, users is None or users > measured, follow.reach)


def capacity_bounds(
    bounds: Callable[[int], JobBounds], model_targets: Sequence[ModelTarget], measured: int
) -> ModelCapacity | None:
    """The bounds of the capacity; None without a target on response times."""
    ranges = []
    for target in model_targets:
        if target.resource is None:
            limit = target.limit
            low = _most_users(lambda users, limit=limit: bounds(users).slowest_s <= limit, MOST_MODELLED_USERS)  # type: ignore[misc]
            high = _most_users(lambda users, limit=limit: bounds(users).quickest_s <= limit, MOST_MODELLED_USERS)  # type: ignore[misc]
            ranges.append((target, low, high))
    if not ranges:
        return None
    binding, low, high = min(ranges, key=lambda bound_range: math.inf if bound_range[2] is None else bound_range[2])
    return ModelCapacity(
        "bounds", None, low, high, binding.target, high is None or high > measured, MOST_MODELLED_USERS
    )


def _nearest_ratio(points: Sequence[LoadPoint], target: Target) -> tuple[float, int] | None:
    """The ratio of the target's measure to the mean response at the point nearest to the limit, and its users."""
    ratios = []
    for point in points:
        mean = point.response_s.get("mean")
        for verdict in point.verdicts:
            value = verdict.value.value if verdict.target == target and verdict.value is not None else 0.0
            if mean is not None and mean.value > 0.0 and 0.0 < value < math.inf:
                ratios.append((abs(math.log(value / target.limit)), value / mean.value, point.users))
    return min(ratios)[1:] if ratios else None


def _users_that_meet(follow: FollowedModel, target: ModelTarget, end: int, reach: int) -> int | None:
    return _most_users(lambda number: _target_value(follow.at(number), target, end) <= target.limit, reach)


def _users_that_surely_meet(follow: FollowedModel, target: ModelTarget, users: int) -> int:
    """The most users, up to `users`, with which the upper end of the interval meets the target."""
    step = max(1, users // _SEARCH_STEPS)
    numbers = range(users, 0, -step)
    return next((number for number in numbers if _target_value(follow.at(number), target, 1) <= target.limit), 0)


def _target_value(figures: ModelFigures, target: ModelTarget, end: int) -> float:
    """The model's value of a target's measure (`end` 0), or the upper (1) or lower (-1) end of its interval."""
    figure = figures.response_s
    if target.resource is not None:
        figure = figures.utilisation.get(target.resource, MeasuredFigure(0.0))
    if end == 0 or figure.interval is None:
        return figure.value
    return figure.interval.high if end > 0 else figure.interval.low


def _most_users(is_met: Callable[[int], bool], reach: int) -> int | None:
    """The largest number up to which `is_met` is true, by bisection; 0 for none, None for all up to `reach`."""
    if not is_met(1):
        return 0
    if is_met(reach):
        return None
    low, high = 1, reach
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_met(middle) else (low, middle)
    return low
