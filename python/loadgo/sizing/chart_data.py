"""The data of a capacity's pictures: measured points and model curves over the users, and the ends of axes.

A point has `what` (the name of its curve), `users`, `value`, `low` and `high` (None without an interval). In a model's
curve, `beyond` says whether the point is extrapolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from loadgo.sizing.curve import MeasuredFigure, Target
from loadgo.sizing.models.extrapolation import ModelFigures
from loadgo.sizing.results import Capacity

CurvePoint = Mapping[str, str | float | bool | None]

BOUNDS_LABEL = "asymptotic bounds"
AXIS_MARGIN_RATIO = 1.25
"""An axis ends at most at this many times the largest measured figure, unless a limit lies beyond."""
_INFINITY_TOKEN = 1e12
"""Takes the place of infinity, which charts cannot show."""


def measured_throughput(capacity: Capacity) -> list[CurvePoint]:
    """The throughput of each point."""
    return [curve_point("measured", point.users, point.throughput) for point in capacity.points]


def measured_response(capacity: Capacity) -> list[CurvePoint]:
    """The mean response of each point, and the quantiles that have a target."""
    names = ["mean", *dict.fromkeys(target.measure for target in capacity.targets if target.share is not None)]
    return [
        curve_point(name, point.users, point.response_s[name])
        for point in capacity.points
        for name in names
        if name in point.response_s
    ]


def measured_busy(capacity: Capacity, names: Sequence[str]) -> list[CurvePoint]:
    """The utilisation of these resources at each point."""
    return [
        curve_point(name, point.users, MeasuredFigure(point.utilisation[name]))
        for point in capacity.points
        for name in names
        if name in point.utilisation
    ]


def measured_cost(capacity: Capacity) -> list[CurvePoint]:
    """The cost of a user-hour at each point where it is known."""
    return [
        curve_point("measured", point.users, MeasuredFigure(point.cost_user_hour))
        for point in capacity.points
        if point.cost_user_hour is not None
    ]


def busiest_resources(capacity: Capacity, limit: int) -> tuple[list[str], int]:
    """The resources with the highest utilisation, the busiest first, and the number of all resources."""
    busy: dict[str, float] = {}
    for point in capacity.points:
        for name, share in point.utilisation.items():
            busy[name] = max(share, busy.get(name, 0.0))
    resources = sorted((name for name in busy if busy[name] > 0), key=lambda name: -busy[name])
    return resources[:limit], len(resources)


def model_curve(capacity: Capacity, figure_of: Callable[[ModelFigures], MeasuredFigure]) -> list[CurvePoint]:
    """A figure of each model over the users. The scalability law begins at the fewest users that it was fitted to."""
    rows: list[CurvePoint] = []
    for model in capacity.models.models if capacity.models is not None else ():
        fewest_users = capacity.models.used[0] if capacity.models is not None and model.name == "scalability law" else 0
        curve = [(figures.users, figure_of(figures)) for figures in model.curve if figures.users >= fewest_users]
        rows += extended_curve(capacity, model.name, curve)
    return rows


def bound_curve(capacity: Capacity, *, response: bool) -> tuple[list[CurvePoint], list[CurvePoint]]:
    """The asymptotic bound over the users, and the area between the bounds for balanced jobs (`low`, `high`)."""
    bounds = capacity.models.bounds if capacity.models is not None else ()
    values = [bound.least_response_s if response else bound.most_throughput for bound in bounds]
    line = [(bound.users, MeasuredFigure(value)) for bound, value in zip(bounds, values, strict=True)]
    area: list[CurvePoint] = [
        {"users": bound.users, "low": bound.quickest_s, "high": bound.slowest_s}
        if response
        else {"users": bound.users, "low": bound.balanced_least, "high": bound.balanced_most}
        for bound in bounds
    ]
    return extended_curve(capacity, BOUNDS_LABEL, line), area


def extended_curve(capacity: Capacity, what: str, curve: Sequence[tuple[float, MeasuredFigure]]) -> list[CurvePoint]:
    """The points of a curve up to the last measured point, then those from there on, marked as `beyond`."""
    last = max(capacity.models.used) if capacity.models is not None else 0
    points = [(users, curve_point(what, users, figure)) for users, figure in curve]
    inside: list[CurvePoint] = [{**point, "beyond": False} for users, point in points if users <= last]
    beyond: list[CurvePoint] = [{**point, "beyond": True} for users, point in points if users >= last]
    return inside + beyond if len(beyond) > 1 else inside


def drawn_limits(capacity: Capacity) -> list[Target]:
    """The targets on response times of all commands together."""
    overall = [target for target in capacity.targets if target.command is None]
    return [target for target in overall if target.share is not None or target.measure == "mean"]


def last_users(capacity: Capacity) -> int:
    """The end of the axis of users: the last measured point, or the end of the longest model curve."""
    models = capacity.models.models if capacity.models is not None else ()
    return max(*(point.users for point in capacity.points), *(model.curve[-1].users for model in models), 2)


def axis_end(measured: Sequence[CurvePoint], lines: Sequence[CurvePoint] = (), limits: Sequence[float] = ()) -> float:
    """The end of a figure's axis: it includes measured intervals, and models and limits that are not far away."""
    greatest = max(max(_number(row["value"]), _number(row["high"])) for row in measured)
    near = [_number(row["value"]) for row in lines if _number(row["value"]) < AXIS_MARGIN_RATIO * greatest]
    return 1.05 * max([greatest, *near, *(limit for limit in limits if limit < 3 * greatest)]) or 1.0


def curve_point(what: str, users: float, figure: MeasuredFigure) -> CurvePoint:
    """The point of one figure, with its interval."""
    interval = figure.interval
    return {
        "what": what,
        "users": users,
        "value": _finite(figure.value),
        "low": None if interval is None else _finite(interval.low),
        "high": None if interval is None else _finite(interval.high),
    }


def _finite(value: float) -> float:
    return value if math.isfinite(value) else _INFINITY_TOKEN


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value < _INFINITY_TOKEN else 0.0
