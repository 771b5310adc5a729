"""The chart of a history: a point for each run, the level between two changes, and a rule at each change."""

from __future__ import annotations

import json
from collections.abc import Sequence

import altair as alt
import polars as pl

from loadgo.documents.chart import ACCENT_COLOR, TIME_LABEL, Chart, chart_of, safe
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.laboratory.history import History, HistorySeries
from loadgo.laboratory.history_words import figure_words, size_words
from loadgo.notation.figures import cut

_HEIGHT_PX = 260
_COLORS = {"worse": "#c2410c", "better": "#15803d", "neither": "#6b7280"}
_NS_IN_SECONDS = 1e-9
_EDGE_PX = 6
"""Distance of the outermost points from the edge, so that none is cut."""


@quick_drawing()
def history_charts(past: History) -> list[Chart]:
    """A chart for each host whose runs have a history."""
    return [_chart(past, series, number) for number, series in enumerate(past.series) if len(series.points) > 1]


_MOST_NAMED_RUNS = 12
"""Most runs whose names stand on the axis; of more, every second or further one is named."""
_NAME_CHARS = 10
"""Most characters of a run's name on the axis."""


def _chart(past: History, series: HistorySeries, number: int) -> Chart:
    is_time = past.figure.dimension == "time"
    scale = _NS_IN_SECONDS if is_time else 1.0
    frame = safe(_points(past, series, scale))
    title = f"{past.figure} (a second)" if past.figure.dimension == "rate" else str(past.figure)
    axis = alt.Axis(title=title, labelExpr=TIME_LABEL if is_time else alt.Undefined)
    y = alt.Y(
        "value:Q", axis=axis, scale=alt.Scale(zero=bool((frame["value"] <= 0).any()), nice=True, padding=_EDGE_PX)
    )
    x = alt.X(
        "run:Q",
        title="runs in the order of time",
        scale=alt.Scale(domain=[0.5, len(frame) + 0.5], nice=False),
        axis=_run_axis(frame["name"].to_list()),
    )
    tips = [
        alt.Tooltip(f"{name}:N", title=title)
        for name, title in (
            ("name", "run"),
            ("started", "started"),
            ("shown", str(past.figure)),
            ("version", "loadgo"),
            ("kernel", "kernel"),
            ("host", "host"),
        )
    ]
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=26, opacity=0.75, color=ACCENT_COLOR)
        .encode(x=x, y=y, tooltip=tips)
    )
    levels = (
        alt.Chart(_levels(series, scale))
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("first:Q"), x2=alt.X2("last:Q"), y=alt.Y("value:Q", axis=axis))
    )
    layers: list[alt.Chart] = [points, levels]
    if series.changes:
        layers.append(_change_rules(past, series))
    where = f" on {series.host}" if len(past.series) > 1 else ""
    caption = "A point is a run, in the order of their starts."
    if series.changes:
        caption += (
            " A horizontal line is the mean level between two changes. An upright line is a change: worse in red, "
            "better in green, neither in grey."
        )
    return chart_of(f"history-{number}", f"{past.figure}{where}, run by run", caption, alt.layer(*layers), _HEIGHT_PX)


def _run_axis(names: Sequence[str]) -> alt.Axis:
    """An axis of places in the order of time, labelled with the names of the runs there."""
    places = list(range(1, len(names) + 1, -(-len(names) // _MOST_NAMED_RUNS)))
    labels = json.dumps([cut(name, _NAME_CHARS) for name in names])
    return alt.Axis(values=places, labelExpr=f"{labels}[datum.value - 1] || ''")


def _points(past: History, series: HistorySeries, scale: float) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "run": list(range(1, len(series.points) + 1)),
            "value": [point.value * scale for point in series.points],
            "shown": [figure_words(past.figure, point.value) for point in series.points],
            "name": [point.run.name for point in series.points],
            "started": [
                "" if point.run.started is None else f"{point.run.started:%Y-%m-%d %H:%M}" for point in series.points
            ],
            "version": [point.run.version for point in series.points],
            "kernel": [point.run.kernel for point in series.points],
            "host": [point.run.host for point in series.points],
        }
    )


def _levels(series: HistorySeries, scale: float) -> pl.DataFrame:
    """The level of each stretch between two changes, from half a run before its first run to half a run after."""
    if not series.changes:
        return pl.DataFrame(schema={"first": pl.Float64, "last": pl.Float64, "value": pl.Float64})
    edges = [0, *(change.level.index for change in series.changes), len(series.points)]
    values = [series.changes[0].level.before, *(change.level.after for change in series.changes)]
    return pl.DataFrame(
        {
            "first": [edge + 0.5 for edge in edges[:-1]],
            "last": [edge + 0.5 for edge in edges[1:]],
            "value": [value * scale for value in values],
        }
    )


def _change_rules(past: History, series: HistorySeries) -> alt.Chart:
    frame = safe(
        pl.DataFrame(
            {
                "at": [change.level.index + 0.5 for change in series.changes],
                "change": [size_words(past.figure, change) for change in series.changes],
                "direction": [change.direction for change in series.changes],
                "before": [change.last_before.run.name for change in series.changes],
                "after": [change.first_after.run.name for change in series.changes],
            }
        )
    )
    color = alt.Color("direction:N", legend=None, scale=alt.Scale(domain=list(_COLORS), range=list(_COLORS.values())))
    tips = [
        alt.Tooltip("change:N"),
        alt.Tooltip("direction:N", title="is"),
        alt.Tooltip("before:N", title="last run before"),
        alt.Tooltip("after:N", title="first run after"),
    ]
    rules = alt.Chart(frame).mark_rule(strokeWidth=2, strokeDash=[5, 3])
    drawn: alt.Chart = rules.encode(x=alt.X("at:Q"), color=color, tooltip=tips)
    return drawn
