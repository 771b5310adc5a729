"""A capacity in tables and words: the curve, what an interaction asks of each resource, what each model would hold."""

from __future__ import annotations

from collections.abc import Callable

from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, digits, money, number, people, seconds, share
from loadgo.notation.measures import percent
from loadgo.sizing.curve import Figure, Point, Target, Verdict
from loadgo.sizing.models.answers import Holds
from loadgo.sizing.models.models import Model, Models
from loadgo.sizing.results import Capacity
from loadgo.stats.resample import Interval


def capacity_tables(made: Capacity) -> list[Table]:
    """The tables of its page, in order."""
    found = [_curve(made), _classes(made), _held(made), _demands(made)]
    return [one for one in found if one is not None]


def figure_of(target: Target, value: float) -> str:
    """A target's measure with its unit."""
    if target.measure in ("errors", "busy"):
        return share(value)
    return f"{number(value)}/s" if target.measure == "throughput" else seconds(value)


def standing(point: Point) -> str:
    """How the targets stand with these users: all `met`, any `missed`, else `open`."""
    there = {verdict.standing for verdict in point.verdicts}
    return "missed" if "missed" in there else "open" if "open" in there else "met"


def _curve(made: Capacity) -> Table | None:
    points = made.points
    if not points:
        return None

    def column(heading: str, cell: Callable[[Point], str], spare: int = 0) -> Column:
        return Column(heading, tuple(cell(one) for one in points), spare)

    columns = [
        column("users", lambda one: f"{one.users:,}"),
        column("a second", lambda one: number(one.throughput.value)),
        column("95 %", lambda one: _between(one.throughput.interval, number), spare=5),
    ]
    if not any(target.measure == "mean" and target.command is None for target in made.targets):
        columns.append(column("mean", lambda one: _time(one.response_s.get("mean")), spare=2))
    for at, target in enumerate(made.targets):
        columns.append(column(target.text, lambda one, at=at: _value(one.verdicts[at])))  # type: ignore[misc]
        if target.share is not None:
            heading = f"over {seconds(target.limit)}"
            columns.append(column(heading, lambda one, at=at: _slow(one.verdicts[at]), spare=3))  # type: ignore[misc]
    columns.append(column("targets", standing))
    columns.append(column("", lambda one: _remark(made, one)))
    names = dict.fromkeys(name for one in points for name in one.utilisation)
    resources = sorted(names, key=lambda name: -max(one.utilisation.get(name, 0.0) for one in points))
    for place, name in enumerate(resources):
        columns.append(column(name, lambda one, name=name: share(one.utilisation.get(name)), min(place, 1) * 4))  # type: ignore[misc]
    if any(one.others is not None for one in points):
        columns.append(column("others'", lambda one: share(one.others), spare=1))
        columns.append(column("users' CPU", lambda one: seconds(one.users_cpu_s), spare=6))
    if any(one.cost_user_hour is not None for one in points):
        columns.append(column("a user-hour", lambda one: money(one.cost_user_hour, made.currency), spare=6))
    if any(one.faults_a_command for one in points):
        columns.append(column("faults", lambda one: number(one.faults_a_command), spare=7))
    columns.append(column("interactions", lambda one: number(one.interactions), spare=8))
    return Table("Measured, by users", tuple(one for one in columns if any(one.cells)))


def _remark(made: Capacity, point: Point) -> str:
    if not point.valid:
        return "not valid"
    if not point.steady:
        return "not steady"
    return "the answer" if point.users == made.answer else ""


def _classes(made: Capacity) -> Table | None:
    """Each class of the mix at the answer, or at the point next below it."""
    there = [one for one in made.points if one.classes]
    if not there:
        return None
    below = [one for one in there if made.answer is not None and one.users <= made.answer]
    point = max(below or there[:1], key=lambda one: one.users)
    told = point.classes
    columns = (
        Column("class", tuple(one.name for one in told)),
        Column("users", tuple(f"{one.users:,}" for one in told)),
        Column("a second", tuple(number(one.throughput) for one in told)),
        Column("mean", tuple(seconds(one.response_s) for one in told)),
        Column("think", tuple(seconds(one.think_s) for one in told), spare=1),
        Column("CPU", tuple(seconds(one.cpu_s) for one in told)),
    )
    return Table(f"The mix with {people(point.users)}", columns)


def _held(made: Capacity) -> Table | None:
    """The answer beside that of each model, and how far each is off where it is known."""
    models = made.models
    if models is None or not (models.models or models.holds):
        return None
    decides = made.binding.text if made.binding else ""
    rows = [("measured", _answered(made), _range(made.interval), "", "", "", decides)]
    rows += [_model_row(model, models) for model in models.models]
    rows += [("bounds", "", _doubt(one), "", "", "", one.target.text) for one in models.holds if one.by == "bounds"]
    names, users, doubt, rate, mean, left_out, target = zip(*rows, strict=True)
    columns = (
        Column("", names),
        Column("users held", users),
        Column("doubt", doubt),
        Column("throughput off", rate, spare=1),
        Column("response off", mean),
        Column(f"{models.used[-1]:,} left out", left_out, spare=2),
        Column("decides", target, spare=3),
    )
    return Table("How many users each would hold", tuple(one for one in columns if any(one.cells)))


def _model_row(model: Model, models: Models) -> tuple[str, str, str, str, str, str, str]:
    holds = next((one for one in models.holds if one.by == model.name), None)
    rate, mean, left_out = model.throughput_miss.throughput, model.response_miss, model.held_out
    return (
        model.name,
        NOT_MEASURED if holds is None else _users_held(holds),
        "" if holds is None else _doubt(holds),
        percent(rate),
        percent(mean.response if mean else None),
        percent(left_out.response if left_out else None),
        "" if holds is None else holds.target.text,
    )


def _answered(made: Capacity) -> str:
    if made.answer is None:
        return NOT_MEASURED
    return f"{made.answer:,} or more" if made.end == "every number" else f"{made.answer:,}"


def _users_held(told: Holds) -> str:
    users = f"over {told.reach:,}" if told.users is None else f"{told.users:,}"
    return f"{users} *" if told.extrapolated else users


def _doubt(told: Holds) -> str:
    return "" if told.at_least is None else _range((told.at_least, told.at_most))


def _range(ends: tuple[int, int | None] | None) -> str:
    if ends is None or ends == (0, None):
        return ""
    low, high = ends
    return f"{low:,} or more" if high is None else f"{low:,}–{high:,}" if low != high else f"{low:,}"


def _demands(made: Capacity) -> Table | None:
    """By resource what an interaction asks, and from how many users on it would have no time left."""
    models = made.models
    if models is None or not models.demands:
        return None
    told = models.demands
    empty = ("",) if models.delay_s else ()
    columns = (
        Column("resource", (*(one.resource for one in told), *(("a delay",) if models.delay_s else ()))),
        Column("servers", (*(f"{one.servers:,}" for one in told), *empty)),
        Column("an interaction", (*(seconds(d.seconds) for d in told), *((seconds(models.delay_s),) * len(empty)))),
        Column("from point to point", (*(_spread(d.least_s, d.most_s) for d in told), *empty), spare=1),
        Column("full with", (*(f"{digits(n)} users" for n in _saturations(models)), *empty)),
    )
    return Table("What an interaction asks of each resource", columns)


def _saturations(models: Models) -> list[float]:
    away = models.think_s + models.delay_s + sum(one.seconds for one in models.demands)
    return [away * one.servers / one.seconds for one in models.demands]


def _spread(least_s: float, most_s: float) -> str:
    low, high = seconds(least_s), seconds(most_s)
    same = low.rpartition(" ")[2] == high.rpartition(" ")[2]
    return low if low == high else f"{low.rpartition(' ')[0] if same else low}–{high}"


def _value(told: Verdict) -> str:
    return NOT_MEASURED if told.value is None else figure_of(told.target, told.value.value)


def _slow(told: Verdict) -> str:
    if told.slow_share is None:
        return NOT_MEASURED
    between = told.slow_share.interval
    ends = f" ({100 * between.low:.1f}–{100 * between.high:.1f})" if between else ""
    return f"{share(told.slow_share.value)}{ends}"


def _time(told: Figure | None) -> str:
    return seconds(None if told is None else told.value)


def _between(interval: Interval | None, shown: Callable[[float], str]) -> str:
    return NOT_MEASURED if interval is None else f"{shown(interval.low)}–{shown(interval.high)}"
