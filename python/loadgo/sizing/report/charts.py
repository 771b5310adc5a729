"""The charts of a capacity over the number of users: measured points with intervals, and model curves.

The figures are throughput, response time, utilisation and the cost of a user-hour. Beyond the last measured point, a
model's curve is dashed. One more chart shows users against the page faults of a command, as in MPL-16 of 1969.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from loadgo.documents.chart import (
    ACCENT_COLOR,
    AMOUNT_LABEL,
    PERCENT_LABEL,
    TIME_LABEL,
    Chart,
    chart_of,
    figure_tooltips,
    legend,
    safe,
)
from loadgo.documents.palette import GREY_COLOR, SERIES_COLORS, WARM_COLOR
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import people
from loadgo.sizing.models.demands import saturation_users
from loadgo.sizing.report.chart_data import (
    BOUNDS_LABEL,
    CurvePoint,
    ResponseScale,
    axis_end,
    busiest_resources,
    extended_curve,
    last_users,
    made_word,
    measured_busy,
    measured_cost,
    measured_response,
    measured_throughput,
    missing_in_words,
    model_curve,
    models_in_words,
    response_bounds,
    response_chart_names,
    response_curve,
    response_scales,
    scale_words,
    throughput_bounds,
)
from loadgo.sizing.search.results import Capacity

_MODEL_COLORS = {"mean values": ACCENT_COLOR, "scalability law": WARM_COLOR, BOUNDS_LABEL: GREY_COLOR}
_INTERVAL_COLUMNS = {"low": pl.Float64(), "high": pl.Float64()}
_EXTRAPOLATION_DASH = alt.StrokeDash(
    "beyond:N", legend=None, scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 4]])
)
_AXIS_END_RATIO = 1.03
"""The axis of users ends at this ratio to the last number of users, so that its point is not cut."""
_SHAPES = alt.Scale(range=["circle", "diamond", "square", "triangle-up"])


@dataclass(frozen=True)
class _FigureAxis:
    """The vertical axis of a chart over the users."""

    title: str
    top: float
    format: str
    label: str | None = None
    """The Vega expression of the axis labels; None for the usual ones."""
    unit: str = ""
    """The unit of the values, for tooltips; empty where the title names it."""

    def encoding(self, field: str) -> alt.Y:
        """The encoding of one field on this axis."""
        axis = alt.Axis(title=self.title, labelExpr=self.label) if self.label else alt.Axis(title=self.title)
        return alt.Y(f"{field}:Q", axis=axis, scale=alt.Scale(domain=[0, self.top], nice=False))


@dataclass(frozen=True)
class _CurveLayers:
    """The data of one chart over the users."""

    dots: Sequence[CurvePoint]
    lines: Sequence[CurvePoint]
    area: Sequence[CurvePoint]
    axis: _FigureAxis
    limits: Sequence[alt.Chart] = ()


@quick_drawing()
def capacity_charts(capacity: Capacity) -> list[Chart]:
    """All charts of a capacity that have data."""
    if not capacity.points:
        return []
    charts = [
        _throughput_chart(capacity),
        *(
            _response_chart(capacity, scale, name)
            for scale, name in zip(response_scales(capacity), response_chart_names(capacity), strict=True)
        ),
        _busy_chart(capacity),
        _cost_chart(capacity),
        _faults_chart(capacity),
    ]
    return [chart for chart in charts if chart is not None]


def _legend() -> alt.Legend:
    """A legend with opaque colours, also for transparent areas."""
    opaque = legend()
    opaque["symbolOpacity"] = 1
    return opaque


def _throughput_chart(capacity: Capacity) -> Chart:
    dots = measured_throughput(capacity)
    line, area = throughput_bounds(capacity)
    lines = model_curve(capacity, lambda at: at.throughput) + line
    axis = _FigureAxis("interactions a second", axis_end(dots, lines), ",.3~r")
    layered = _layers(capacity, _CurveLayers(dots, lines, area, axis))
    return chart_of("capacity-throughput", "Throughput", _caption(capacity), layered, 280)


def _response_chart(capacity: Capacity, scale: ResponseScale, name: str) -> Chart | None:
    """A chart of one measure of the response, with its limits, and with the models' means on its scale."""
    dots = measured_response(capacity, scale.measure)
    if not dots:
        return None
    lines: list[CurvePoint] = []
    area: list[CurvePoint] = []
    if (ratio := scale.ratio) is not None:
        line, area = response_bounds(capacity, ratio)
        lines = response_curve(capacity, ratio) + line
    limits = [target.limit for target in scale.limits]
    top = axis_end(dots, lines, limits)
    title = "mean response time" if scale.measure == "mean" else f"{scale.measure} of the response time"
    axis = _FigureAxis(title, top, ",.4~r", TIME_LABEL, "s")
    layered = _layers(capacity, _CurveLayers(dots, lines, area, axis, _limit_layers(scale, top)))
    has_models = capacity.models is not None and bool(capacity.models.drawn)
    missing = missing_in_words(capacity) if scale.ratio is not None else ""
    caption = " ".join(filter(None, (_caption(capacity), scale_words(scale) if has_models else "", missing)))
    return chart_of(name, f"Response time: {scale.measure}", caption, layered, 280)


def _busy_chart(capacity: Capacity) -> Chart | None:
    names, count = busiest_resources(capacity, len(SERIES_COLORS))
    if not names:
        return None
    axis = _FigureAxis("busy", 1.0, ".1%", PERCENT_LABEL)
    scale = alt.Scale(domain=names, range=list(SERIES_COLORS[: len(names)]))
    color = alt.Color("what:N", title=None, scale=scale, legend=_legend())
    lines = _busy_lines(capacity, names)
    layers = _answer_layers(capacity)
    if lines:
        layers += _curve_layers(_users_chart(capacity, lines).encode(color=color), axis)
    tooltip = [
        alt.Tooltip("what:N", title="resource"),
        alt.Tooltip("users:Q"),
        alt.Tooltip("value:Q", title="busy", format=axis.format),
    ]
    points = _users_chart(capacity, measured_busy(capacity, names)).mark_point(filled=True, size=60, opacity=1)
    layers.append(points.encode(y=axis.encoding("value"), color=color, tooltip=tooltip))
    lines_words = ", lines are mean values" if lines else ""
    caption = f"For each server of a resource. Points are {made_word(capacity)}{lines_words}."
    if capacity.neighbours is not None:
        caption += " On a host the processors' part is with the work of other programs."
    if count > len(names):
        caption += f" The {len(names)} busiest of {count} resources."
    layered = alt.layer(*layers)
    return chart_of("capacity-busy", "Utilisation of each resource", caption + _answer_words(capacity), layered, 240)


def _busy_lines(capacity: Capacity, names: Sequence[str]) -> list[CurvePoint]:
    if capacity.models is None or capacity.models.mean_values is None or capacity.models.mean_values.wrong:
        return []
    curve = capacity.models.mean_values.curve
    figures_by_name = [
        (name, [(at.users, at.utilisation[name]) for at in curve if name in at.utilisation]) for name in names
    ]
    return [row for name, figures in figures_by_name for row in extended_curve(capacity, name, figures)]


def _cost_chart(capacity: Capacity) -> Chart | None:
    dots = measured_cost(capacity)
    if len(dots) < 2:
        return None
    title = f"{capacity.currency} a user-hour"
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(labelExpr=AMOUNT_LABEL))
    base = _users_chart(capacity, dots).encode(y=y)
    line = base.mark_line(strokeWidth=1.5, color=ACCENT_COLOR)
    tooltip = [alt.Tooltip("users:Q"), alt.Tooltip("value:Q", title=title, format=",.4~r")]
    point = base.mark_point(filled=True, size=60, opacity=1).encode(tooltip=tooltip)
    layered = alt.layer(*_answer_layers(capacity), line, point)
    at = f", at {capacity.tariff}" if capacity.tariff else ""
    return chart_of("capacity-cost", "Cost of a user-hour", f"As measured{at}.{_answer_words(capacity)}", layered, 220)


def _faults_chart(capacity: Capacity) -> Chart | None:
    """A chart of the measured users and the saturation point against the page faults of a command."""
    points = [point for point in capacity.points if point.faults_a_command]
    if len(points) < 2:
        return None
    saturations = [(point.faults_a_command, saturation_users(point, capacity.servers)) for point in points]
    rows: list[CurvePoint] = [
        {"what": "measured", "faults": point.faults_a_command, "users": float(point.users)} for point in points
    ]
    rows += [
        {"what": "saturation point", "faults": faults, "users": users}
        for faults, users in saturations
        if users is not None
    ]
    faults_axis = alt.Axis(tickCount=12, labelOverlap="greedy")
    scale = alt.Scale(domain=["measured", "saturation point"], range=[ACCENT_COLOR, WARM_COLOR])
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("faults:Q", title="page faults a command", scale=alt.Scale(zero=True), axis=faults_axis),
        y=alt.Y("users:Q", title="users", scale=alt.Scale(zero=True)),
        color=alt.Color("what:N", title=None, scale=scale, legend=_legend()),
        tooltip=[
            alt.Tooltip("what:N"),
            alt.Tooltip("faults:Q", format=",.4~r"),
            alt.Tooltip("users:Q", format=",.3~r"),
        ],
    )
    # Trials are points: joined in the order of their faults, they would make a zigzag that says nothing.
    line = base.transform_filter("datum.what == 'saturation point'").mark_line(strokeWidth=1.5)
    layered = alt.layer(*_answer_level(capacity), line, base.mark_point(filled=True, size=60, opacity=1))
    caption = (
        "The saturation point is (think time + demands) / the largest demand of a server, with the demands at this "
        "number of faults. Beyond it more users only wait longer."
    )
    caption += " The horizontal line is the answer." if _answer_level(capacity) else ""
    return chart_of("capacity-faults", "Users against page faults a command", caption, layered, 240)


def _layers(capacity: Capacity, shown: _CurveLayers) -> alt.LayerChart | alt.FacetChart:
    """The layers of a chart, back to front: balanced-job bounds, the answer, models with intervals, limits, points."""
    axis, layers = shown.axis, list[alt.Chart]()
    if shown.area:
        allowed = _users_chart(capacity, shown.area).mark_area(color=GREY_COLOR, opacity=0.13, clip=True)
        layers.append(allowed.encode(y=axis.encoding("low"), y2=alt.Y2("high:Q")))
    layers += _answer_layers(capacity)
    if shown.lines:
        model_names = [name for name in _MODEL_COLORS if any(line["what"] == name for line in shown.lines)]
        scale = alt.Scale(domain=model_names, range=[_MODEL_COLORS[name] for name in model_names])
        color = alt.Color("what:N", title=None, scale=scale, legend=_legend())
        layers += _curve_layers(_users_chart(capacity, shown.lines).encode(color=color), axis)
    layers += shown.limits
    base = _users_chart(capacity, shown.dots)
    intervals = base.transform_filter("datum.low != null").mark_rule(strokeWidth=1.5, clip=True)
    layers.append(intervals.encode(y=axis.encoding("low"), y2=alt.Y2("high:Q")))
    tooltips = figure_tooltips("value", axis.title, axis.format, axis.unit)
    point = base.mark_point(filled=True, size=60, opacity=1, clip=True)
    has_several = len({dot["what"] for dot in shown.dots}) > 1
    shape_legend = alt.Legend(orient="bottom") if has_several else None
    shape = alt.Shape("what:N", title=None, scale=_SHAPES, legend=shape_legend)
    layers.append(
        point.encode(
            y=axis.encoding("value"),
            shape=shape,
            tooltip=[alt.Tooltip("what:N", title="from"), alt.Tooltip("users:Q"), *tooltips],
        )
    )
    return alt.layer(*layers)


def _curve_layers(base: alt.Chart, axis: _FigureAxis) -> list[alt.Chart]:
    """The curves of models, and the area of the uncertainty of each behind them."""
    uncertainty = base.transform_filter("datum.low != null").mark_area(opacity=0.16, clip=True)
    lines = base.mark_line(strokeWidth=2, clip=True)
    return [
        uncertainty.encode(y=axis.encoding("low"), y2=alt.Y2("high:Q"), detail=alt.Detail("beyond:N")),
        lines.encode(y=axis.encoding("value"), strokeDash=_EXTRAPOLATION_DASH),
    ]


def _users_chart(capacity: Capacity, rows: Sequence[CurvePoint]) -> alt.Chart:
    scale = alt.Scale(domain=[0, _AXIS_END_RATIO * last_users(capacity)], nice=False)
    frame = safe(pl.DataFrame(list(rows), schema_overrides=_INTERVAL_COLUMNS))
    axis = alt.Axis(tickMinStep=1, tickCount=12, labelOverlap="greedy")
    return alt.Chart(frame).encode(x=alt.X("users:Q", title="users", scale=scale, axis=axis))


def _limit_layers(scale: ResponseScale, top: float) -> list[alt.Chart]:
    """A line at each limit of the scale that the axis reaches."""
    targets = [target for target in scale.limits if target.limit < top]
    if not targets:
        return []
    frame = safe(
        pl.DataFrame({"limit": [target.limit for target in targets], "target": [target.text for target in targets]})
    )
    rule = alt.Chart(frame).mark_rule(strokeDash=[2, 3]).encode(y=alt.Y("limit:Q"))
    text = alt.Chart(frame).mark_text(align="left", baseline="bottom", dx=4, dy=-2)
    return [rule, text.encode(x=alt.value(0), y=alt.Y("limit:Q"), text=alt.Text("target:N"))]


def _answer_layers(capacity: Capacity) -> list[alt.Chart]:
    """A line at the answer, and its interval as a band."""
    if not capacity.answer:
        return []
    line = (
        alt.Chart(pl.DataFrame({"answer": [capacity.answer]})).mark_rule(strokeDash=[4, 3]).encode(x=alt.X("answer:Q"))
    )
    if capacity.interval is None or capacity.interval[1] is None or capacity.interval[0] == capacity.interval[1]:
        return [line]
    frame = pl.DataFrame({"least": [capacity.interval[0]], "most": [capacity.interval[1]]})
    return [
        alt.Chart(frame).mark_rect(color=GREY_COLOR, opacity=0.2).encode(x=alt.X("least:Q"), x2=alt.X2("most:Q")),
        line,
    ]


def _answer_level(capacity: Capacity) -> list[alt.Chart]:
    """A horizontal line at the answer."""
    if not capacity.answer:
        return []
    return [
        alt.Chart(pl.DataFrame({"answer": [capacity.answer]})).mark_rule(strokeDash=[4, 3]).encode(y=alt.Y("answer:Q"))
    ]


def _answer_words(capacity: Capacity) -> str:
    if not capacity.answer:
        return ""
    line = f" The vertical line is the answer, {people(capacity.answer)}"
    if len(_answer_layers(capacity)) == 1 or capacity.interval is None or capacity.interval[1] is None:
        return f"{line}."
    low, high = capacity.interval
    interval = f"{100 * capacity.confidence:.0f} % interval" if capacity.confidence else "range, more likely than not"
    return f"{line}, and the band around it its {interval}, {low:,} to {high:,}."


def _caption(capacity: Capacity) -> str:
    has_intervals = any(point.throughput.interval for point in capacity.points)
    caption = f"Points are {made_word(capacity)}{', with their 95 % intervals' if has_intervals else ''}."
    if capacity.models is not None and capacity.models.drawn:
        caption += " Models are dashed beyond the last point, and their areas are their intervals."
    if capacity.models is not None and capacity.models.drawn_bounds:
        caption += " The grey area lies between the bounds for balanced jobs."
    drawn = [model.name for model in capacity.models.drawn] if capacity.models is not None else []
    bounds = [BOUNDS_LABEL] if capacity.models is not None and capacity.models.drawn_bounds else []
    caption = " ".join(filter(None, (caption, models_in_words([*drawn, *bounds]))))
    return caption + _answer_words(capacity)
