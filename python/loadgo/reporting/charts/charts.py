"""The report's charts as Vega-Lite: the list of all, and those of commands, users and processor time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from loadgo.documents.chart import (
    ACCENT_COLOR,
    PERCENT_LABEL,
    ROW_HEIGHT_PX,
    TIME_LABEL,
    Chart,
    chart_of,
    legend,
    percent,
    run_time,
    safe,
    seconds,
)
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.palette import category_colors
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.errors import BadArgument
from loadgo.measures.summary import Summary
from loadgo.notation.terms import category_name
from loadgo.reporting.charts import chart_data
from loadgo.reporting.charts.meter_charts import METER_CHART_BUILDERS, stepped_area
from loadgo.reporting.charts.over_time import shown_time_ns
from loadgo.reporting.charts.over_time_chart import OVER_TIME, over_time_chart
from loadgo.reporting.processor_time_words import without_load

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

SINGLE_BIN_AXIS_RATIO = 10.0
"""Ratio of the ends of the axis of response times that has a single bin."""
_LAST_TICK_RATIO = 5.0
"""An axis of response times that reaches so many times as far as its last tick has a tick more there."""
_MARK_PX = 8
"""Room at the ends of that axis for the marks of quantiles."""


@quick_drawing()
def charts(summary: Summary, tables: Tables) -> list[Chart]:
    """The charts of a page: all that have data, without those that show one value or that another chart contains."""
    metered = (OVER_TIME, "time", *METER_CHART_BUILDERS)
    names = [OVER_TIME, *(name for name in CHART_BUILDERS if name not in (OVER_TIME, *_IN_OVER_TIME))]
    built = (CHART_BUILDERS[name](summary, tables) for name in names if name in metered or not without_load(summary))
    return [drawn for drawn in built if drawn is not None and not drawn.flat]


@quick_drawing()
def chart(name: str | None, summary: Summary, tables: Tables) -> Chart:
    """The chart called `name`, or `over-time:COMMAND`; None is the main chart.

    Raises `ValueError` for an unknown chart or command, and for a chart without data.
    """
    name = name or ("time" if summary.run.kind == "meter" else "response")
    known, _, command = name.partition(":")
    if known not in CHART_BUILDERS or (command and known != OVER_TIME):
        raise BadArgument(f"there is no chart {name!r}; there are {', '.join(CHART_BUILDERS)}")
    built = over_time_chart(summary, tables, command) if command else CHART_BUILDERS[known](summary, tables)
    if built is None:
        raise BadArgument(f"chart {name!r} has nothing to show: the run did not record it, or all of it has one value")
    return built


def _response(summary: Summary, tables: Tables) -> Chart | None:
    bins, points = chart_data.response_bins(summary, tables), chart_data.response_points(summary)
    if bins.frame.is_empty():
        return None
    ends = _axis_ends(bins.frame, points)
    axis = alt.Axis(title="response time", labelExpr=TIME_LABEL, values=_time_ticks(*ends), labelOverlap="greedy")
    scale = alt.Scale(type="log", nice=False, domain=list(ends), padding=_MARK_PX)
    row = alt.Y("command:N", sort=alt.EncodingSortField("place", op="min"), title=None)
    strip = (
        alt.Chart(safe(bins.frame))
        .mark_rect(color=ACCENT_COLOR)
        .encode(
            x=alt.X("from_s:Q", scale=scale, axis=axis),
            x2=alt.X2("to_s:Q"),
            y=row,
            opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(range=[0.12, 1])),
            tooltip=[
                alt.Tooltip("command:N"),
                seconds("from_s"),
                seconds("to_s"),
                percent("share"),
                alt.Tooltip("count:Q"),
            ],
        )
    )
    intervals = points.filter((pl.col("quantile") == "p90") & pl.col("high_s").is_not_null())
    interval = (
        alt.Chart(safe(intervals))
        .mark_rule(strokeWidth=1.5)
        .encode(x=alt.X("low_s:Q", scale=scale, axis=axis), x2=alt.X2("high_s:Q"), y=row)
    )
    marks = (
        alt.Chart(safe(points))
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=alt.X("value_s:Q", scale=scale, axis=axis),
            y=row,
            shape=alt.Shape("quantile:N", title=None, scale=alt.Scale(range=["circle", "diamond", "triangle-right"])),
            tooltip=[
                alt.Tooltip("command:N"),
                alt.Tooltip("quantile:N"),
                seconds("value_s"),
                seconds("low_s"),
                seconds("high_s"),
            ],
        )
    )
    height = ROW_HEIGHT_PX * max(2, bins.frame["command"].n_unique())
    legend_of_line = " The line is the 95 % interval of p90." if len(intervals) else ""
    caption = f"{bins.caption}{legend_of_line}"
    # A layer without rows makes the logarithmic axis infinite.
    shown = [strip, *([interval] if len(intervals) else []), *([marks] if len(points) else [])]
    layers, flat = alt.layer(*shown), len(bins.frame) == 1
    return chart_of("response", "Response time by command", caption, layers, height, flat=flat)


def _time_ticks(low: float, high: float) -> list[float]:
    """The ticks of the axis of response times, with one more where the longest times are far beyond the last."""
    ticks = log_ticks(low, high)
    return [*ticks, *(tick for tick in [_LAST_TICK_RATIO * ticks[-1]] if tick <= high)]


def _axis_ends(bins: pl.DataFrame, points: pl.DataFrame) -> tuple[float, float]:
    """The ends of the axis of response times. With a single bin it is a decade, or that bin would fill the chart."""
    values = pl.concat(
        [bins["from_s"], bins["to_s"], points["value_s"], points["low_s"], points["high_s"]]
    ).drop_nulls()
    low, high = float(values.to_numpy().min()), float(values.to_numpy().max())
    widening = max(SINGLE_BIN_AXIS_RATIO / (high / low), 1.0) ** 0.5 if len(bins["from_s"].unique()) == 1 else 1.0
    return low / widening, high * widening


def _throughput(summary: Summary, tables: Tables) -> Chart | None:
    over = chart_data.load_over_time(tables)
    return _over_time("throughput", "Throughput", over, ("per_second", "interactions a second"), tables)


def _users(summary: Summary, tables: Tables) -> Chart | None:
    over = chart_data.load_over_time(tables)
    return _over_time("users", "Users logged in", over, ("users", "users"), tables)


def _over_time(
    name: str, heading: str, over: chart_data.ChartData, field: tuple[str, str], tables: Tables
) -> Chart | None:
    if over.frame.is_empty():
        return None
    column, label = field
    area = stepped_area(over, tables, column, label, alt.Tooltip(f"{column}:Q", title=label, format=",.3~r"))
    marks = alt.Chart(safe(chart_data.phase_marks(tables)))
    rule = marks.mark_rule(strokeDash=[4, 3]).encode(x=alt.X("at_s:Q"))
    text = marks.mark_text(align="left", dx=4, baseline="top").encode(
        x=alt.X("at_s:Q"), y=alt.value(0), text=alt.Text("phase:N")
    )
    return chart_of(name, heading, over.caption, alt.layer(area, rule, text), 150)


def _timeline(summary: Summary, tables: Tables) -> Chart | None:
    waits = chart_data.user_waits(tables)
    if waits.frame.is_empty():
        return None
    users, most = waits.frame["user"].n_unique(), float(waits.frame["share"].to_numpy().max())
    single = waits.frame["command"].null_count() == 0
    bars = (
        alt.Chart(safe(waits.frame))
        .mark_bar(color=ACCENT_COLOR, binSpacing=0, stroke=ACCENT_COLOR if single else None, strokeWidth=0.8)
        .encode(
            x=run_time(shown_time_ns(tables)),
            x2=alt.X2("to_s:Q"),
            y=alt.Y("user:O", title="user"),
            opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(domain=[0, most], range=[0.1, 1])),
            tooltip=[
                alt.Tooltip("user:O"),
                alt.Tooltip("command:N"),
                seconds("from_s"),
                seconds("to_s"),
                percent("share"),
            ],
        )
    )
    flat = len(waits.frame) == 1
    return chart_of("timeline", "When users waited", waits.caption, bars, max(60, 13 * users), flat=flat)


def _time(summary: Summary, tables: Tables) -> Chart | None:
    """All processors' time over the run; None if it was not measured, or in one span, which has no course."""
    if summary.total_time is None:
        return None
    colors = category_colors(tables.time["category"].cast(pl.String).unique().to_list())
    stacked = chart_data.time_by_category(tables, list(colors))
    if stacked.frame["from_s"].n_unique() < 2:
        return None
    names = [category_name(name) for name in colors]
    scale = alt.Scale(domain=names, range=list(colors.values()))
    named = stacked.frame.with_columns(
        category=pl.col("category").replace({name: category_name(name) for name in colors})
    )
    axis = alt.Axis(labelExpr=PERCENT_LABEL, title="← idle · share of all processors · busy →")
    bars = (
        alt.Chart(safe(named))
        .mark_rect()
        .encode(
            x=run_time(shown_time_ns(tables)),
            x2=alt.X2("to_s:Q"),
            y=alt.Y("bottom:Q", axis=axis, scale=alt.Scale(nice=False)),
            y2=alt.Y2("top:Q"),
            color=alt.Color("category:N", title=None, scale=scale, legend=legend(max(map(len, names)))),
            tooltip=[alt.Tooltip("category:N"), percent("share"), seconds("from_s"), seconds("to_s")],
        )
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(strokeWidth=1).encode(y=alt.Y("zero:Q"))
    layers, flat = alt.layer(bars, zero), len(colors) == 1
    return chart_of("time", "Where the processors' time went", stacked.caption, layers, 260, flat=flat)


_IN_OVER_TIME = ("throughput", "users", "queue")
"""Charts whose figures are panels of the chart over time."""

CHART_BUILDERS: dict[str, Callable[[Summary, Tables], Chart | None]] = {
    "response": _response,
    "throughput": _throughput,
    "users": _users,
    "time": _time,
    **METER_CHART_BUILDERS,
    "timeline": _timeline,
    OVER_TIME: over_time_chart,
}
