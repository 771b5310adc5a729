"""The report's charts as Vega-Lite, and as SVG and PNG without a browser."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl
import vl_convert

from loadgo import chart_data
from loadgo.report_figures import plain
from loadgo.summary import Summary
from loadgo.total_time import is_busy

if TYPE_CHECKING:
    from loadgo.tables import Tables

_ACCENT = "#3b7dd8"
_ROW = 22
_WIDTH = 720
_COLORS = {
    "user": "#3b7dd8",
    "nice": "#7fb2f0",
    "system": "#d9822b",
    "irq": "#a35fc0",
    "softirq": "#c58bdc",
    "page fault": "#d9822b",
    "segment fault": "#e3b04b",
    "bound fault": "#b8b04a",
    "interrupt": "#a35fc0",
    "getwork": "#5aa469",
    "terminal": "#4aa3a2",
    "wall crossing": "#8c6d46",
    "network": "#d8608b",
    "process creation": "#6c6cc4",
    "steal": "#c23b3b",
    "iowait": "#b8b04a",
    "idle": "#9aa3ad55",
    "idle loading": "#5aa46955",
    "idle not eligible": "#c23b3b55",
    "idle governed": "#a35fc055",
    "idle page wait": "#d9822b55",
    "idle disk wait": "#b8b04a55",
    "idle dispatch": "#3b7dd855",
    "idle zero": "#9aa3ad55",
}
_OTHERS = ("#5aa469", "#8c6d46", "#4aa3a2", "#d8608b", "#6c6cc4", "#7d8b99")


@dataclass(frozen=True)
class Chart:
    """One chart: its name, a heading, the line under it, and the Vega-Lite specification."""

    name: str
    heading: str
    caption: str
    spec: dict[str, Any]


def charts(summary: Summary, tables: Tables) -> list[Chart]:
    """All charts that have something to show."""
    return [drawn for name in CHARTS if (drawn := CHARTS[name](summary, tables)) is not None]


def chart(name: str, summary: Summary, tables: Tables) -> Chart:
    """The chart called `name`; raises `ValueError` for an unknown one, and for one that has nothing to show."""
    if name not in CHARTS:
        raise ValueError(f"chart {name!r} is none of {', '.join(CHARTS)}")
    drawn = CHARTS[name](summary, tables)
    if drawn is None:
        raise ValueError(f"chart {name!r} has nothing to show: the run did not record it")
    return drawn


def svg(drawn: Chart) -> str:
    """The chart as an SVG picture on white."""
    picture: str = vl_convert.vegalite_to_svg(_alone(drawn), allowed_base_urls=[])
    return picture


def png(drawn: Chart) -> bytes:
    """The chart as a PNG picture on white, at twice the size of the SVG."""
    picture: bytes = vl_convert.vegalite_to_png(_alone(drawn), scale=2, allowed_base_urls=[])
    return picture


def _response(summary: Summary, tables: Tables) -> Chart | None:
    bins, points = chart_data.response_bins(summary, tables), chart_data.response_points(summary)
    if bins.frame.is_empty():
        return None
    axis = alt.Axis(
        title="response time", labelExpr=_TIME_LABEL, values=_round_times(bins.frame), labelOverlap="greedy"
    )
    scale = alt.Scale(type="log", nice=False)
    row = alt.Y("command:N", sort=alt.EncodingSortField("place", op="min"), title=None)
    strip = (
        alt.Chart(_safe(bins.frame))
        .mark_rect(color=_ACCENT)
        .encode(
            x=alt.X("from_s:Q", scale=scale, axis=axis),
            x2="to_s:Q",
            y=row,
            opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(range=[0.12, 1])),
            tooltip=["command:N", _seconds("from_s"), _seconds("to_s"), _percent("share"), "count:Q"],
        )
    )
    interval = (
        alt.Chart(_safe(points.filter((pl.col("quantile") == "p90") & pl.col("high_s").is_not_null())))
        .mark_rule(strokeWidth=1.5)
        .encode(x=alt.X("low_s:Q", scale=scale, axis=axis), x2="high_s:Q", y=row)
    )
    marks = (
        alt.Chart(_safe(points))
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=alt.X("value_s:Q", scale=scale, axis=axis),
            y=row,
            shape=alt.Shape("quantile:N", title=None, scale=alt.Scale(range=["circle", "diamond", "triangle-right"])),
            tooltip=["command:N", "quantile:N", _seconds("value_s"), _seconds("low_s"), _seconds("high_s")],
        )
    )
    height = _ROW * max(2, bins.frame["command"].n_unique())
    between = " The line is the 95 % interval of p90." if points["high_s"].count() else ""
    caption = f"{bins.caption}{between}"
    return _chart("response", "Response time by command", caption, alt.layer(strip, interval, marks), height)


def _round_times(bins: pl.DataFrame) -> list[float]:
    """1, 2 and 5 of every decade that the bins reach into; of many decades, only the 1."""
    low, high = (
        math.floor(math.log10(bins["from_s"].to_numpy().min())),
        math.ceil(math.log10(bins["to_s"].to_numpy().max())),
    )
    steps = (1, 2, 5) if high - low <= 4 else (1,)
    return [step * 10.0**decade for decade in range(low, high + 1) for step in steps]


def _throughput(summary: Summary, tables: Tables) -> Chart | None:
    over = chart_data.load_over_time(tables)
    return _over_time("throughput", "Throughput", over, ("per_second", "interactions a second"), tables)


def _users(summary: Summary, tables: Tables) -> Chart | None:
    over = chart_data.load_over_time(tables)
    return _over_time("users", "Users logged in", over, ("users", "users"), tables)


def _over_time(
    name: str, heading: str, over: chart_data.Plotted, field: tuple[str, str], tables: Tables
) -> Chart | None:
    if over.frame.is_empty():
        return None
    column, label = field
    area = (
        alt.Chart(_safe(over.frame))
        .mark_area(interpolate="step-after", color=_ACCENT, opacity=0.35, line={"color": _ACCENT, "strokeWidth": 1.2})
        .encode(
            x=_run_time("from_s"),
            y=alt.Y(f"{column}:Q", title=label),
            tooltip=[_seconds("from_s"), _seconds("to_s"), alt.Tooltip(f"{column}:Q", title=label, format=",.3~r")],
        )
    )
    marks = alt.Chart(_safe(chart_data.phase_marks(tables)))
    rule = marks.mark_rule(strokeDash=[4, 3]).encode(x="at_s:Q")
    text = marks.mark_text(align="left", dx=4, baseline="top").encode(x="at_s:Q", y=alt.value(0), text="phase:N")
    return _chart(name, heading, over.caption, alt.layer(area, rule, text), 150)


def _time(summary: Summary, tables: Tables) -> Chart | None:
    if summary.total_time is None:
        return None
    colors = _category_colors(tables.time["category"].cast(pl.String).unique().to_list())
    by = chart_data.time_by_category(tables, list(colors))
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    bars = (
        alt.Chart(_safe(by.frame))
        .mark_rect()
        .encode(
            x=_run_time("from_s"),
            x2="to_s:Q",
            y=alt.Y(
                "bottom:Q", title="share of all processors", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
            ),
            y2="top:Q",
            color=alt.Color("category:N", title=None, scale=scale, legend=alt.Legend(columns=7)),
            tooltip=["category:N", _percent("share"), _seconds("from_s"), _seconds("to_s")],
        )
    )
    return _chart("time", "Where the processors' time went", by.caption, bars, 200)


def _category_colors(there: list[str]) -> dict[str, str]:
    """A colour for each category that is there, from the bottom of the stack to its top; idle time is faint."""
    others = sorted(set(there) - set(_COLORS))
    busy = {name: _OTHERS[i % len(_OTHERS)] for i, name in enumerate(others) if is_busy(name)}
    idle = {name: _COLORS["idle"] for name in others if not is_busy(name)}
    return {name: color for name, color in (busy | _COLORS | idle).items() if name in there}


def _timeline(summary: Summary, tables: Tables) -> Chart | None:
    waits = chart_data.user_waits(tables)
    if waits.frame.is_empty():
        return None
    users, most = waits.frame["user"].n_unique(), float(waits.frame["share"].to_numpy().max())
    single = waits.frame["command"].null_count() == 0
    bars = (
        alt.Chart(_safe(waits.frame))
        .mark_bar(color=_ACCENT, binSpacing=0, stroke=_ACCENT if single else None, strokeWidth=0.8)
        .encode(
            x=_run_time("from_s"),
            x2="to_s:Q",
            y=alt.Y("user:O", title="user"),
            opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(domain=[0, most], range=[0.1, 1])),
            tooltip=["user:O", "command:N", _seconds("from_s"), _seconds("to_s"), _percent("share")],
        )
    )
    return _chart("timeline", "When users waited", waits.caption, bars, max(60, 13 * users))


CHARTS: dict[str, Callable[[Summary, Tables], Chart | None]] = {
    "response": _response,
    "throughput": _throughput,
    "users": _users,
    "time": _time,
    "timeline": _timeline,
}

_TIME_LABEL = (
    "datum.value >= 1 ? format(datum.value, '.3~r') + ' s'"
    " : datum.value >= 0.001 ? format(datum.value * 1000, '.3~r') + ' ms'"
    " : format(datum.value * 1000000, '.3~r') + ' µs'"
)


def _chart(
    name: str, heading: str, caption: str, drawn: alt.Chart | alt.LayerChart | alt.FacetChart, height: int
) -> Chart:
    spec = drawn.properties(width="container", height=height).to_dict()
    del spec["$schema"]
    return Chart(name, heading, caption, spec | {"config": {"view": {"stroke": None}}})


def _alone(drawn: Chart) -> dict[str, Any]:
    """The specification of a picture that stands alone: fixed width, heading and caption on it."""
    heading = {"text": drawn.heading, "subtitle": drawn.caption, "anchor": "start", "subtitlePadding": 4}
    ink = {"point": {"color": "black"}, "legend": {"symbolFillColor": "black", "orient": "top"}}
    config = drawn.spec["config"] | ink
    return drawn.spec | {"width": _WIDTH, "title": heading, "background": "white", "padding": 12, "config": config}


def _safe(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with control characters made visible in its texts."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(name).map_elements(plain, return_dtype=pl.String) for name in texts)


def _run_time(field: str) -> alt.X:
    return alt.X(f"{field}:Q", title="seconds since the run began", scale=alt.Scale(nice=False))


def _seconds(field: str) -> alt.Tooltip:
    words = {"from_s": "from", "to_s": "to", "value_s": "time", "low_s": "at least", "high_s": "at most"}
    return alt.Tooltip(f"{field}:Q", title=f"{words[field]} (s)", format=",.4~r")


def _percent(field: str) -> alt.Tooltip:
    return alt.Tooltip(f"{field}:Q", format=".1%")
