"""The data of a capacity's pictures: measured points and model curves over the users, and the ends of axes.

A point has `what` (the name of its curve), `users`, `value`, `low` and `high` (None without an interval). In a model's
curve, `beyond` says whether the point is extrapolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadgo.notation.figures import capitalized, digits, people
from loadgo.running.prepared import is_host
from loadgo.sizing.curve import MeasuredFigure, Target
from loadgo.sizing.models.extrapolation import ModelFigures
from loadgo.sizing.search.results import Capacity
from loadgo.stats.resample import Interval

CurvePoint = Mapping[str, str | float | bool | None]

BOUNDS_LABEL = "asymptotic bounds"
_MODEL_MEANINGS = {
    "mean values": "a queueing model with the measured service demands",
    "scalability law": "a curve through the throughputs",
    BOUNDS_LABEL: "limits that hold in any order of service",
}
AXIS_MARGIN_RATIO = 1.25
"""An axis ends at most at this many times the largest measured figure, unless a limit lies beyond."""
_INFINITY_TOKEN = 1e12
"""Takes the place of infinity, which charts cannot show."""


def measured_throughput(capacity: Capacity) -> list[CurvePoint]:
    """The throughput of each point."""
    return [curve_point(made_word(capacity), point.users, point.throughput) for point in capacity.points]


@dataclass(frozen=True)
class ResponseScale:
    """One measure of the response, which a chart shows: what targets judge, or else the mean."""

    measure: str
    """`mean`, or a quantile such as `p90`."""
    limits: tuple[Target, ...]
    """The targets on this measure."""
    ratio: float | None
    """The ratio of the measure to the mean, by which the models' means are drawn. None if it is not known."""
    ratio_users: int | None
    """The users of the point where the ratio was measured. None for the mean itself."""


def response_chart_names(capacity: Capacity) -> list[str]:
    """The names of the charts of the response, one for each of its scales."""
    count = len(response_scales(capacity))
    return ["capacity-response", *(f"capacity-response-{number}" for number in range(2, count + 1))]


def response_scales(capacity: Capacity) -> list[ResponseScale]:
    """A scale for each measure of the response of all commands that has a target, else that of the mean."""
    targets = [target for target in capacity.targets if target.command is None]
    judged = [target for target in targets if target.share is not None or target.measure == "mean"]
    asked = capacity.models.asked if capacity.models is not None else ()
    scales = []
    for measure in dict.fromkeys([target.measure for target in judged] or ["mean"]):
        limits = tuple(target for target in judged if target.measure == measure)
        known = next((model for model in asked if model.target in limits and model.ratio is not None), None)
        ratio = 1.0 if measure == "mean" else None if known is None else known.ratio
        scales.append(ResponseScale(measure, limits, ratio, None if known is None else known.at_users))
    return scales


def measured_response(capacity: Capacity, measure: str) -> list[CurvePoint]:
    """A measure of the response at each point that has it."""
    points = [point for point in capacity.points if measure in point.response_s]
    return [curve_point(measure, point.users, point.response_s[measure]) for point in points]


def scaled_figure(figure: MeasuredFigure, ratio: float) -> MeasuredFigure:
    """A figure and its interval, times a ratio."""
    interval = None if figure.interval is None else Interval(ratio * figure.interval.low, ratio * figure.interval.high)
    return MeasuredFigure(ratio * figure.value, interval)


def scale_words(scale: ResponseScale) -> str:
    """A sentence on the models' curves on this scale. Empty for the mean, which is what models have."""
    if scale.measure == "mean":
        return ""
    if scale.ratio is None:
        return f"Models have the mean alone, so none is drawn beside {scale.measure}."
    at = "" if scale.ratio_users is None else f" with {people(scale.ratio_users)}"
    return (
        f"Models have the mean: it is drawn times {digits(scale.ratio)}, as {scale.measure} was that many times the "
        f"mean{at}."
    )


def models_in_words(names: Iterable[str]) -> str:
    """The meanings of the drawn models, in a clause each."""
    drawn = set(names)
    meanings = [f"{name}: {meaning}" for name, meaning in _MODEL_MEANINGS.items() if name in drawn]
    return f"{capitalized('; '.join(meanings))}." if meanings else ""


def response_curve(capacity: Capacity, ratio: float) -> list[CurvePoint]:
    """The mean response of each model over the users, times a ratio."""
    return model_curve(capacity, lambda at: scaled_figure(at.response_s, ratio))


def missing_in_words(capacity: Capacity) -> str:
    """A sentence on each model that is not drawn since it misses what was measured; empty without such a model."""
    return " ".join(
        f"The curve of {model.name} is left out: it misses a measured mean by "
        f"{100 * abs(model.largest_response_miss):.0f} %."
        for model in (capacity.models.left_out if capacity.models is not None else ())
    )


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
        curve_point(made_word(capacity), point.users, MeasuredFigure(point.cost_user_hour))
        for point in capacity.points
        if point.cost_user_hour is not None
    ]


def made_word(capacity: Capacity) -> str:
    """Where the points come from: a host, or a simulated machine."""
    return "measured" if is_host(capacity.on) else "simulated"


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
    for model in capacity.models.drawn if capacity.models is not None else ():
        fewest_users = capacity.models.used[0] if capacity.models is not None and model.name == "scalability law" else 0
        curve = [(figures.users, figure_of(figures)) for figures in model.curve if figures.users >= fewest_users]
        rows += extended_curve(capacity, model.name, curve)
    return rows


def throughput_bounds(capacity: Capacity) -> tuple[list[CurvePoint], list[CurvePoint]]:
    """The asymptotic bound of throughput over the users, and the area between the bounds for balanced jobs."""
    bounds = capacity.models.drawn_bounds if capacity.models is not None else ()
    line = [(bound.users, MeasuredFigure(bound.most_throughput)) for bound in bounds]
    area: list[CurvePoint] = [
        {"users": bound.users, "low": bound.balanced_least, "high": bound.balanced_most} for bound in bounds
    ]
    return extended_curve(capacity, BOUNDS_LABEL, line), area


def response_bounds(capacity: Capacity, ratio: float) -> tuple[list[CurvePoint], list[CurvePoint]]:
    """As `throughput_bounds`, of the mean response times a ratio."""
    bounds = capacity.models.drawn_bounds if capacity.models is not None else ()
    line = [(bound.users, MeasuredFigure(ratio * bound.least_response_s)) for bound in bounds]
    area: list[CurvePoint] = [
        {"users": bound.users, "low": ratio * bound.quickest_s, "high": ratio * bound.slowest_s} for bound in bounds
    ]
    return extended_curve(capacity, BOUNDS_LABEL, line), area


def extended_curve(capacity: Capacity, what: str, curve: Sequence[tuple[float, MeasuredFigure]]) -> list[CurvePoint]:
    """The points of a curve up to the last measured point, then those from there on, marked as `beyond`."""
    last = max(capacity.models.used) if capacity.models is not None else 0
    points = [(users, curve_point(what, users, figure)) for users, figure in curve]
    inside: list[CurvePoint] = [{**point, "beyond": False} for users, point in points if users <= last]
    beyond: list[CurvePoint] = [{**point, "beyond": True} for users, point in points if users >= last]
    return inside + beyond if len(beyond) > 1 else inside


def last_users(capacity: Capacity) -> int:
    """The end of the axis of users: the last measured point, or the end of the longest model curve."""
    models = capacity.models.drawn if capacity.models is not None else ()
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
