"""The charts of a capacity over the number of users: what was measured, with intervals, and what models make of it.

Throughput, response, how busy each resource is, the cost of a user; and as in MPL-16 of 1969, users against the page
faults of a command. Models are drawn on beyond the last measured point, with a dashed line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from loadgo.documents.chart import ACCENT_COLOR, TIME_LABEL, Chart, chart_of, legend, safe
from loadgo.sizing.chart_data import (
    BOUNDS,
    Row,
    bounded,
    busiest,
    followed,
    last_users,
    limits_drawn,
    measured_busy,
    measured_cost,
    measured_response,
    measured_throughput,
    modelled,
    top_of,
)
from loadgo.sizing.models.demands import knee_of
from loadgo.sizing.results import Capacity

_GREY = "#8b97a3"
_WARM = "#e08a1e"
_MODELS = {"mean values": ACCENT_COLOR, "scalability law": _WARM, BOUNDS: _GREY}
_RESOURCES = (ACCENT_COLOR, _WARM, "#45b58a", "#a8559a", "#8f6420", "#5f5bb0")
_SPAN = {"low": pl.Float64(), "high": pl.Float64()}
_DASH = alt.StrokeDash("beyond:N", legend=None, scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 4]]))
_SHAPES = alt.Scale(range=["circle", "diamond", "square", "triangle-up"])


@dataclass(frozen=True)
class _Upright:
    """The axis of what is drawn over the users."""

    title: str
    top: float
    format: str
    label: str | None = None
    """An expression for its labels."""

    def of(self, field: str) -> alt.Y:
        """The axis, for one field."""
        axis = alt.Axis(title=self.title, labelExpr=self.label) if self.label else alt.Axis(title=self.title)
        return alt.Y(f"{field}:Q", axis=axis, scale=alt.Scale(domain=[0, self.top], nice=False))


@dataclass(frozen=True)
class _Shown:
    """What one picture over the users draws."""

    dots: Sequence[Row]
    lines: Sequence[Row]
    area: Sequence[Row]
    axis: _Upright
    limits: Sequence[alt.Chart] = ()


def capacity_charts(made: Capacity) -> list[Chart]:
    """All charts that have something to show."""
    if not made.points:
        return []
    found = [_throughput(made), _response(made), _busy(made), _cost(made), _faults(made)]
    return [one for one in found if one is not None]


def _legend() -> alt.Legend:
    """A legend of full colours, though what it is of lets the page through."""
    full = legend()
    full["symbolOpacity"] = 1
    return full


def _throughput(made: Capacity) -> Chart:
    dots = measured_throughput(made)
    line, area = bounded(made, response=False)
    lines = modelled(made, lambda at: at.throughput) + line
    axis = _Upright("interactions a second", top_of(dots, lines), ",.3~r")
    drawn = _layers(made, _Shown(dots, lines, area, axis))
    return chart_of("capacity-throughput", "Throughput", _caption(made), drawn, 280)


def _response(made: Capacity) -> Chart | None:
    dots = measured_response(made)
    if not dots:
        return None
    line, area = bounded(made, response=True)
    lines = modelled(made, lambda at: at.response_s) + line
    top = top_of(dots, lines, [one.limit for one in limits_drawn(made)])
    axis = _Upright("response time", top, ",.4~r", f"datum.value == 0 ? '0' : {TIME_LABEL}")
    drawn = _layers(made, _Shown(dots, lines, area, axis, _limits(made, top)))
    caption = f"{_caption(made)}{' Models tell the mean.' if lines else ''}"
    return chart_of("capacity-response", "Response time", caption, drawn, 280)


def _busy(made: Capacity) -> Chart | None:
    names, count = busiest(made, len(_RESOURCES))
    if not names:
        return None
    axis = _Upright("busy", 1.0, ".1%", "format(datum.value, '.0%')")
    scale = alt.Scale(domain=names, range=list(_RESOURCES[: len(names)]))
    color = alt.Color("what:N", title=None, scale=scale, legend=_legend())
    lines = _busy_lines(made, names)
    layers = _answer(made)
    if lines:
        base = _base(made, lines).encode(color=color)
        doubt = base.transform_filter("datum.low != null").mark_area(opacity=0.16, clip=True)
        layers.append(doubt.encode(y=axis.of("low"), y2="high:Q", detail="beyond:N"))
        layers.append(base.mark_line(strokeWidth=2, clip=True).encode(y=axis.of("value"), strokeDash=_DASH))
    tooltip = ["what:N", "users:Q", alt.Tooltip("value:Q", title="busy", format=axis.format)]
    points = _base(made, measured_busy(made, names)).mark_point(filled=True, size=60, opacity=1)
    layers.append(points.encode(y=axis.of("value"), color=color, tooltip=tooltip))
    caption = f"Of each server of a resource. Points are measured{', lines by mean values' if lines else ''}."
    if count > len(names):
        caption += f" The {len(names)} busiest of {count} resources."
    drawn = alt.layer(*layers)
    return chart_of("capacity-busy", "How busy each resource is", caption + _answer_words(made), drawn, 240)


def _busy_lines(made: Capacity, names: Sequence[str]) -> list[Row]:
    if made.models is None or made.models.mean_values is None:
        return []
    curve = made.models.mean_values.curve
    each = [(n, [(at.users, at.utilisation[n]) for at in curve if n in at.utilisation]) for n in names]
    return [row for name, told in each for row in followed(made, name, told)]


def _cost(made: Capacity) -> Chart | None:
    dots = measured_cost(made)
    if len(dots) < 2:
        return None
    title = f"{made.currency} a user-hour"
    base = _base(made, dots).encode(y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=True)))
    line = base.mark_line(strokeWidth=1.5, color=ACCENT_COLOR)
    tooltip = ["users:Q", alt.Tooltip("value:Q", title=title, format=",.4~r")]
    point = base.mark_point(filled=True, size=60, opacity=1).encode(tooltip=tooltip)
    drawn = alt.layer(*_answer(made), line, point)
    return chart_of("capacity-cost", "What an hour of a user costs", f"As measured.{_answer_words(made)}", drawn, 220)


def _faults(made: Capacity) -> Chart | None:
    """Users there were, and users that the machine would hold, against the page faults of a command."""
    told = [one for one in made.points if one.faults_a_command]
    if len(told) < 2:
        return None
    knees = [(one.faults_a_command, knee_of(one, made.servers)) for one in told]
    rows: list[Row] = [{"what": "measured", "faults": p.faults_a_command, "users": float(p.users)} for p in told]
    rows += [{"what": "saturation point", "faults": faults, "users": n} for faults, n in knees if n is not None]
    scale = alt.Scale(domain=["measured", "saturation point"], range=[ACCENT_COLOR, _WARM])
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("faults:Q", title="page faults a command", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=12)),
        y=alt.Y("users:Q", title="users", scale=alt.Scale(zero=True)),
        color=alt.Color("what:N", title=None, scale=scale, legend=_legend()),
        tooltip=["what:N", alt.Tooltip("faults:Q", format=",.4~r"), alt.Tooltip("users:Q", format=",.3~r")],
    )
    drawn = alt.layer(*_held(made), base.mark_line(strokeWidth=1.5), base.mark_point(filled=True, size=60, opacity=1))
    caption = (
        "The saturation point is by what an interaction asked with so many faults: (think time + demands) / the "
        "greatest demand of a server. Where the users that there are come to it, the machine is full."
    )
    caption += " The level line is the answer." if _held(made) else ""
    return chart_of("capacity-faults", "Users against page faults a command", caption, drawn, 240)


def _layers(made: Capacity, shown: _Shown) -> alt.LayerChart | alt.FacetChart:
    """From the back: what balanced jobs allow, the answer, the models with their doubt, limits, measured points."""
    axis, layers = shown.axis, list[alt.Chart]()
    if shown.area:
        allowed = _base(made, shown.area).mark_area(color=_GREY, opacity=0.13, clip=True)
        layers.append(allowed.encode(y=axis.of("low"), y2="high:Q"))
    layers += _answer(made)
    if shown.lines:
        there = [name for name in _MODELS if any(line["what"] == name for line in shown.lines)]
        scale = alt.Scale(domain=there, range=[_MODELS[name] for name in there])
        base = _base(made, shown.lines).encode(color=alt.Color("what:N", title=None, scale=scale, legend=_legend()))
        doubt = base.transform_filter("datum.low != null").mark_area(opacity=0.16, clip=True)
        layers.append(doubt.encode(y=axis.of("low"), y2="high:Q", detail="beyond:N"))
        layers.append(base.mark_line(strokeWidth=2, clip=True).encode(y=axis.of("value"), strokeDash=_DASH))
    layers += shown.limits
    base = _base(made, shown.dots)
    between = base.transform_filter("datum.low != null").mark_rule(strokeWidth=1.5, clip=True)
    layers.append(between.encode(y=axis.of("low"), y2="high:Q"))
    ends = [alt.Tooltip(f"{name}:Q", title=title, format=axis.format) for name, title in _ENDS]
    point = base.mark_point(filled=True, size=60, opacity=1, clip=True)
    several = len({dot["what"] for dot in shown.dots}) > 1
    below = alt.Legend(orient="bottom") if several else None
    shape = alt.Shape("what:N", title=None, scale=_SHAPES, legend=below)
    layers.append(point.encode(y=axis.of("value"), shape=shape, tooltip=["what:N", "users:Q", *ends]))
    return alt.layer(*layers)


_ENDS = (("value", "value"), ("low", "at least"), ("high", "at most"))


def _base(made: Capacity, rows: Sequence[Row]) -> alt.Chart:
    scale = alt.Scale(domain=[0, last_users(made)], nice=False)
    frame = safe(pl.DataFrame(list(rows), schema_overrides=_SPAN))
    axis = alt.Axis(tickMinStep=1, tickCount=12, labelOverlap="greedy")
    return alt.Chart(frame).encode(x=alt.X("users:Q", title="users", scale=scale, axis=axis))


def _limits(made: Capacity, top: float) -> list[alt.Chart]:
    """A line at each limit that the axis reaches."""
    told = [one for one in limits_drawn(made) if one.limit < top]
    if not told:
        return []
    frame = safe(pl.DataFrame({"limit": [one.limit for one in told], "target": [one.text for one in told]}))
    rule = alt.Chart(frame).mark_rule(strokeDash=[2, 3]).encode(y="limit:Q")
    text = alt.Chart(frame).mark_text(align="left", baseline="bottom", dx=4, dy=-2)
    return [rule, text.encode(x=alt.value(0), y="limit:Q", text="target:N")]


def _answer(made: Capacity) -> list[alt.Chart]:
    """A line at the answer, and its interval as a band."""
    if not made.answer:
        return []
    line = alt.Chart(pl.DataFrame({"answer": [made.answer]})).mark_rule(strokeDash=[4, 3]).encode(x="answer:Q")
    if made.interval is None or made.interval[1] is None or made.interval[0] == made.interval[1]:
        return [line]
    frame = pl.DataFrame({"least": [made.interval[0]], "most": [made.interval[1]]})
    return [alt.Chart(frame).mark_rect(color=_GREY, opacity=0.2).encode(x="least:Q", x2="most:Q"), line]


def _held(made: Capacity) -> list[alt.Chart]:
    """A level line at the answer."""
    if not made.answer:
        return []
    return [alt.Chart(pl.DataFrame({"answer": [made.answer]})).mark_rule(strokeDash=[4, 3]).encode(y="answer:Q")]


def _answer_words(made: Capacity) -> str:
    if not made.answer:
        return ""
    return f" The upright line is the answer{' and its interval' if len(_answer(made)) > 1 else ''}."


def _caption(made: Capacity) -> str:
    between = any(one.throughput.interval for one in made.points)
    told = f"Points are measured{', with their 95 % intervals' if between else ''}."
    if made.models is not None and made.models.models:
        told += " Models are dashed beyond the last point, and their areas are their doubt."
    if made.models is not None and made.models.bounds:
        told += " The grey area is what balanced jobs allow."
    return told + _answer_words(made)
