"""What the pictures of a capacity draw: rows of measured points and of models over the users, and where axes end.

A row is `what`, `users`, `value`, `low` and `high` (None without an interval), and of models `beyond`: it extrapolates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from loadgo.sizing.curve import Figure, Target
from loadgo.sizing.models.extrapolation import At
from loadgo.sizing.results import Capacity

Row = Mapping[str, str | float | bool | None]

BOUNDS = "asymptotic bounds"
ROOM = 1.25
"""How much more than the greatest measured figure an axis has."""
_FAR = 1e12
"""Stands for infinity, which no picture draws."""


def measured_throughput(made: Capacity) -> list[Row]:
    """The throughput of each point."""
    return [row("measured", one.users, one.throughput) for one in made.points]


def measured_response(made: Capacity) -> list[Row]:
    """The mean of each point, and the quantiles that targets are of."""
    names = ["mean", *dict.fromkeys(target.measure for target in made.targets if target.share is not None)]
    return [row(name, p.users, p.response_s[name]) for p in made.points for name in names if name in p.response_s]


def measured_busy(made: Capacity, names: Sequence[str]) -> list[Row]:
    """How busy these resources were at each point."""
    return [row(n, p.users, Figure(p.utilisation[n])) for p in made.points for n in names if n in p.utilisation]


def measured_cost(made: Capacity) -> list[Row]:
    """The cost of a user-hour at each point where it is known."""
    return [row("measured", p.users, Figure(p.cost_user_hour)) for p in made.points if p.cost_user_hour is not None]


def busiest(made: Capacity, most: int) -> tuple[list[str], int]:
    """The resources that were ever busiest, the busiest first; and how many there are in all."""
    busy: dict[str, float] = {}
    for point in made.points:
        for name, share in point.utilisation.items():
            busy[name] = max(share, busy.get(name, 0.0))
    there = sorted((name for name in busy if busy[name] > 0), key=lambda name: -busy[name])
    return there[:most], len(there)


def modelled(made: Capacity, of: Callable[[At], Figure]) -> list[Row]:
    """A figure of each model over the users: the scalability law from the fewest on that it was fitted to."""
    found: list[Row] = []
    for model in made.models.models if made.models is not None else ():
        least = made.models.used[0] if made.models is not None and model.name == "scalability law" else 0
        found += followed(made, model.name, [(at.users, of(at)) for at in model.curve if at.users >= least])
    return found


def bounded(made: Capacity, *, response: bool) -> tuple[list[Row], list[Row]]:
    """The asymptotic bound over the users; and between what balanced jobs put the figure (`low`, `high`)."""
    bounds = made.models.bounds if made.models is not None else ()
    line = [(b.users, Figure(b.least_response_s if response else b.most_throughput)) for b in bounds]
    area: list[Row] = [
        {"users": b.users, "low": b.quickest_s, "high": b.slowest_s}
        if response
        else {"users": b.users, "low": b.balanced_least, "high": b.balanced_most}
        for b in bounds
    ]
    return followed(made, BOUNDS, line), area


def followed(made: Capacity, what: str, curve: Sequence[tuple[float, Figure]]) -> list[Row]:
    """The rows of a curve: up to the last measured point, and from there on again beyond it."""
    last = max(made.models.used) if made.models is not None else 0
    inside: list[Row] = [{**row(what, users, one), "beyond": False} for users, one in curve if users <= last]
    beyond: list[Row] = [{**row(what, users, one), "beyond": True} for users, one in curve if users >= last]
    return inside + beyond if len(beyond) > 1 else inside


def limits_drawn(made: Capacity) -> list[Target]:
    """The targets of response times of all commands together."""
    return [t for t in made.targets if t.command is None and (t.share is not None or t.measure == "mean")]


def last_users(made: Capacity) -> int:
    """Where the axis of users ends: with the last measured point, or the model that is followed furthest."""
    models = made.models.models if made.models is not None else ()
    return max(*(one.users for one in made.points), *(one.curve[-1].users for one in models), 2)


def top_of(measured: Sequence[Row], lines: Sequence[Row] = (), limits: Sequence[float] = ()) -> float:
    """Where the axis of a figure ends: what was measured with its intervals, models and limits not far away."""
    greatest = max(max(_number(one["value"]), _number(one["high"])) for one in measured)
    near = [_number(one["value"]) for one in lines if _number(one["value"]) < ROOM * greatest]
    return 1.05 * max([greatest, *near, *(limit for limit in limits if limit < 3 * greatest)]) or 1.0


def row(what: str, users: float, figure: Figure) -> Row:
    """One figure with its interval."""
    between = figure.interval
    return {
        "what": what,
        "users": users,
        "value": _finite(figure.value),
        "low": None if between is None else _finite(between.low),
        "high": None if between is None else _finite(between.high),
    }


def _finite(value: float) -> float:
    return value if math.isfinite(value) else _FAR


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value < _FAR else 0.0
