"""The chart of a sweep: its measure over the users, a line for each machine with its settings."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import polars as pl

from loadgo.documents.chart import (
    FIGURE_LABEL,
    PERCENT_LABEL,
    TIME_LABEL,
    Chart,
    chart_of,
    figure_tooltips,
    legend,
    safe,
)
from loadgo.documents.palette import SERIES_COLORS
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import counted, number
from loadgo.sweeping.results import Sweep
from loadgo.sweeping.words import series_in_words

MOST_SERIES = 6
"""Largest number of lines in the chart: as many as there are colours."""
_HEIGHT_PX = 320


@quick_drawing()
def sweep_charts(sweep: Sweep) -> list[Chart]:
    """The chart of the measure; none without simulations that have it."""
    rows = _rows(sweep)
    if not rows:
        return []
    names = list(dict.fromkeys(row["series"] for row in rows))
    shown = _shown_series(names, rows)
    frame = safe(pl.DataFrame([row for row in rows if row["series"] in shown], schema_overrides=_ENDS))
    over_users = frame["users"].null_count() == 0
    left_out = len(names) - len(shown)
    caption = "Each mean over the seeds has its 95 % interval." if frame["low"].count() else ""
    if left_out:
        caption += (
            f" Shown are the lines with the smallest and the largest figures, of {len(names)}; the table has all."
        )
    without = sweep.points_without(sweep.measure)
    if without:
        caption += f" {number(without)} of {counted(sweep.points, 'simulation')} without this figure are left out."
    drawing = _lines(frame, sweep, shown) if over_users else _bars(frame, sweep)
    heading = {"throughput": "Throughput", "busy": "Processors' busy time"}.get(sweep.measure)
    return [chart_of("sweep", heading or f"Response time: {sweep.measure}", caption.strip(), drawing, _HEIGHT_PX)]


_ENDS = {"low": pl.Float64(), "high": pl.Float64(), "users": pl.UInt32()}


def _rows(sweep: Sweep) -> list[dict[str, Any]]:
    rows = []
    has_one_machine = len({configuration.machine for configuration in sweep.configurations}) == 1
    for configuration in sweep.configurations:
        figure = configuration.figures.get(sweep.measure)
        if figure is not None and math.isfinite(figure.value):
            low, high = (None, None) if figure.interval is None else (figure.interval.low, figure.interval.high)
            series = series_in_words(configuration, has_one_machine=has_one_machine)
            row = {"series": series, "users": configuration.users, "value": figure.value}
            rows.append(row | {"low": low, "high": high})
    return rows


def _shown_series(names: list[str], rows: list[dict[str, Any]]) -> list[str]:
    """The series that the chart shows, in order: of too many, those with the smallest and the largest figures."""
    if len(names) <= MOST_SERIES:
        return names
    greatest = dict.fromkeys(names, -math.inf)
    for row in rows:
        greatest[row["series"]] = max(greatest[row["series"]], row["value"])
    ranked = sorted(names, key=greatest.__getitem__)
    chosen = {*ranked[: MOST_SERIES // 2], *ranked[-(MOST_SERIES // 2) :]}
    return [name for name in names if name in chosen]


_FIGURE_TITLES = {"throughput": "interactions a second", "busy": "busy", "mean": "mean response time"}
_LABELS = {"throughput": FIGURE_LABEL, "busy": PERCENT_LABEL}
_TOOLTIP_FORMATS = {"throughput": ",.4~r", "busy": ".1%"}


def _axis(sweep: Sweep) -> alt.Axis:
    label = _LABELS.get(sweep.measure, TIME_LABEL)
    return alt.Axis(title=_figure_title(sweep), labelExpr=label)


def _figure_title(sweep: Sweep) -> str:
    return _FIGURE_TITLES.get(sweep.measure, f"{sweep.measure} of the response time")


def _tooltips(sweep: Sweep, *fields: str) -> list[Any]:
    unit = "" if sweep.measure in _LABELS else "s"
    number_format = _TOOLTIP_FORMATS.get(sweep.measure, ",.4~r")
    figures = figure_tooltips("value", _figure_title(sweep), number_format, unit)
    return [*fields, alt.Tooltip("series:N", title="on"), *figures]


def _legend(shown: list[str]) -> alt.Legend | None:
    """A legend for several lines. Long names stand below each other."""
    if len(shown) < 2:
        return None
    is_long = max(map(len, shown)) > _SHORT_NAME_CHARS
    return alt.Legend(columns=1, symbolType="square", labelLimit=600) if is_long else legend()


_SHORT_NAME_CHARS = 16
"""Longest name for which the usual legend has room."""


def _lines(frame: pl.DataFrame, sweep: Sweep, shown: list[str]) -> alt.LayerChart | alt.FacetChart:
    scale = alt.Scale(domain=shown, range=list(SERIES_COLORS[: len(shown)]))
    color = alt.Color("series:N", title=None, scale=scale, legend=_legend(shown))
    axis = alt.Axis(values=_round_users(frame["users"]), format="d", labelOverlap="greedy", labelFlush=False)
    base = alt.Chart(frame).encode(
        x=alt.X("users:Q", title="users", axis=axis, scale=alt.Scale(zero=False, nice=False, padding=8)), color=color
    )
    y = alt.Y("value:Q", axis=_axis(sweep))
    intervals = base.transform_filter("datum.low != null").mark_rule(strokeWidth=1.5)
    return alt.layer(
        intervals.encode(y=alt.Y("low:Q", axis=_axis(sweep)), y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.5).encode(y=y),
        base.mark_point(filled=True, size=50, opacity=1).encode(y=y, tooltip=_tooltips(sweep, "users:Q")),
    )


_MOST_USER_TICKS = 12


def _round_users(users: pl.Series) -> list[int]:
    """The numbers of users on the axis: those of the points, or whole numbers at even distances if they are many."""
    known = users.unique().sort().to_list()
    if len(known) <= _MOST_USER_TICKS:
        return known
    least, most = known[0], known[-1]
    step = max(1, -(-(most - least) // _MOST_USER_TICKS))
    return list(range(least, most + 1, step))


def _bars(frame: pl.DataFrame, sweep: Sweep) -> alt.LayerChart | alt.FacetChart:
    base = alt.Chart(frame).encode(y=alt.Y("series:N", title=None, sort=None, axis=alt.Axis(labelLimit=300)))
    x = alt.X("value:Q", axis=_axis(sweep))
    intervals = base.transform_filter("datum.low != null").mark_rule(strokeWidth=1.5)
    return alt.layer(
        base.mark_point(filled=True, size=50, opacity=1).encode(x=x, tooltip=_tooltips(sweep)),
        intervals.encode(x=alt.X("low:Q", axis=_axis(sweep)), x2=alt.X2("high:Q")),
    )
