"""How many users each model would hold: the targets asked of the models, also beyond what was measured.

Models tell mean response times. A target on a quantile, or on one command, is asked by its ratio to the mean response
of all interactions where it was measured nearest to its limit: that the ratio stays is an assumption, and is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadgo.sizing.curve import Figure, Point, Target
from loadgo.sizing.models.demands import Demand
from loadgo.sizing.models.extrapolation import MOST_USERS, At, Follow
from loadgo.theory.job_bounds import JobBounds

_LOOKS = 200


@dataclass(frozen=True)
class Asked:
    """A target as a model is asked for it: of a mean response, or of how busy a resource is."""

    target: Target
    resource: str | None
    """None: of the mean response."""
    limit: float
    """Of the mean response, in seconds; or a share."""
    ratio: float | None
    """The target's own measure over the mean response; None for a resource."""
    at_users: int | None
    """Where the ratio was measured; None where it is 1 by what the words mean."""


@dataclass(frozen=True)
class Holds:
    """How many users a model would hold."""

    by: str
    """`mean values`, `scalability law`, `bounds`."""
    users: int | None
    """None: of bounds, or more than `reach`."""
    at_least: int | None
    """By the model's own doubt; None where it has none."""
    at_most: int | None
    """None where it has no doubt, or no end."""
    target: Target
    """That which decides."""
    extrapolated: bool
    """Beyond what was measured."""
    reach: int
    """The model was asked for no more."""


def asked_of(points: Sequence[Point]) -> tuple[Asked, ...]:
    """What can be asked of a model, of the targets that the points were judged by."""
    targets = dict.fromkeys(verdict.target for point in points for verdict in point.verdicts)
    found = []
    for target in targets:
        if target.measure == "busy":
            found.append(Asked(target, target.command, target.limit, None, None))
        elif target.measure == "mean" and target.command is None:
            found.append(Asked(target, None, target.limit, 1.0, None))
        elif target.measure == "mean" or target.share is not None:
            near = _nearest(points, target)
            if near is not None:
                found.append(Asked(target, None, target.limit / near[0], *near))
    return tuple(found)


def wanted_reach(asked: Sequence[Asked], demands: Sequence[Demand], think_s: float) -> int:
    """So many users that the least demands miss every target for sure: R is never less than N D / c - Z."""
    busiest = max((demand.least_s / demand.servers for demand in demands), default=0.0)
    limits = [one.limit for one in asked if one.resource is None] or [think_s]
    return min(MOST_USERS, math.ceil((think_s + max(limits)) / busiest) + 2) if busiest else 1


def model_holds(by: str, follow: Follow, asked: Sequence[Asked], measured: int) -> Holds | None:
    """What one model would hold; None where it cannot be asked for any target. `measured`: the most users measured."""
    if not asked:
        return None
    each = [(_held(follow, one, 0, follow.reach), one) for one in asked]
    users, decides = min(each, key=lambda told: math.inf if told[0] is None else told[0])
    low = high = None
    if follow.at(measured).response_s.interval is not None:
        low = min(_surely_held(follow, one, users or follow.reach) for one in asked)
        ends = [_held(follow, one, -1, follow.reach) for one in asked]
        high = min((end for end in ends if end is not None), default=None)
    return Holds(by, users, low, high, decides.target, users is None or users > measured, follow.reach)


def bounds_hold(bounds: Callable[[int], JobBounds], asked: Sequence[Asked], measured: int) -> Holds | None:
    """Between what the bounds put the number; None where no target is of response times."""
    found = []
    for one in asked:
        if one.resource is None:
            low = _most(lambda n, one=one: bounds(n).slowest_s <= one.limit, MOST_USERS)  # type: ignore[misc]
            high = _most(lambda n, one=one: bounds(n).quickest_s <= one.limit, MOST_USERS)  # type: ignore[misc]
            found.append((one, low, high))
    if not found:
        return None
    decides, low, high = min(found, key=lambda told: math.inf if told[2] is None else told[2])
    return Holds("bounds", None, low, high, decides.target, high is None or high > measured, MOST_USERS)


def _nearest(points: Sequence[Point], target: Target) -> tuple[float, int] | None:
    """The target's measure over the mean response, where it was measured nearest to the limit; and with whom."""
    found = []
    for point in points:
        mean = point.response_s.get("mean")
        for verdict in point.verdicts:
            value = verdict.value.value if verdict.target == target and verdict.value is not None else 0.0
            if mean is not None and mean.value > 0.0 and 0.0 < value < math.inf:
                found.append((abs(math.log(value / target.limit)), value / mean.value, point.users))
    return min(found)[1:] if found else None


def _held(follow: Follow, one: Asked, end: int, reach: int) -> int | None:
    return _most(lambda n: _value(follow.at(n), one, end) <= one.limit, reach)


def _surely_held(follow: Follow, one: Asked, users: int) -> int:
    """The most of up to so many users of whom the upper end is held: with few users a law may doubt the most."""
    step = max(1, users // _LOOKS)
    return next((n for n in range(users, 0, -step) if _value(follow.at(n), one, 1) <= one.limit), 0)


def _value(at: At, one: Asked, end: int) -> float:
    """What the target is of: as the model has it (0), or at the upper (1) or lower (-1) end of its doubt."""
    told = at.response_s if one.resource is None else at.utilisation.get(one.resource, Figure(0.0))
    if end == 0 or told.interval is None:
        return told.value
    return told.interval.high if end > 0 else told.interval.low


def _most(held: Callable[[int], bool], reach: int) -> int | None:
    """The most users of whom it is held, of what holds up to some number; 0: not of one; None: of all up to `reach`."""
    if not held(1):
        return 0
    if held(reach):
        return None
    low, high = 1, reach
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if held(middle) else (low, middle)
    return low
