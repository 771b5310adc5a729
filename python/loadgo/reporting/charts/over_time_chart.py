"""The chart of a run over time: phases and warnings, response times, throughput, the run queue and page faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from loadgo.documents.chart import (
    ACCENT_COLOR,
    FIGURE_LABEL,
    TIME_LABEL,
    Chart,
    safe,
    seconds,
    stacked_chart,
    time_axis,
)
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.errors import BadArgument
from loadgo.measures.summary import Summary
from loadgo.notation.figures import capitalized, in_words, plain
from loadgo.reporting.charts.over_time import EVERY_COMMAND, OverTime, over_time
from loadgo.reporting.charts.run_events import RunEvent, run_events

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

OVER_TIME = "over-time"
"""The chart's name. `over-time:COMMAND` is the same with the response times of one command."""

_QUANTILE_COLORS = {"p90": "#c4471a", "p50": "#2f78c4"}
_WARNING_COLOR, _PHASE_COLOR = "#c2185b", "#8b97a3"
_FAULT_COLOR, _MAJOR_COLOR = "#8fc1ea", "#cf4f12"
_ROW_PX, _RESPONSE_PX, _PANEL_PX = 16, 170, 60
_LABEL_PX = 76
"""Width of the names and values at the left of every panel."""
_LOG_FROM_RATIO = 20
"""Response times with a larger ratio than this stand on a logarithmic axis."""
_SHADED = ("busy host", "driver late", "driver busy", "no answers")
"""Events that are shaded behind the response times too."""
_CHOICE = "shown_command"
"""The parameter of the specification that holds the chosen command."""

_TimeOf = Callable[[str], alt.X]
"""Makes the encoding of a field on the common axis of time."""


@dataclass(frozen=True)
class _Panel:
    """A panel with its title, with the unit of its values, and a function that draws its layers."""

    title: str
    height: int
    layers: Callable[[_TimeOf], list[alt.Chart]]


@quick_drawing()
def over_time_chart(summary: Summary, tables: Tables, command: str = EVERY_COMMAND) -> Chart | None:
    """The chart, with the response times of `command`; a page lets its reader choose another one.

    None without anything to show. Raises `BadArgument` for a command that nobody typed.
    """
    parts = over_time(summary, tables)
    if command not in (EVERY_COMMAND, *parts.commands):
        raise BadArgument(f"chart {OVER_TIME}: {command!r} is none of {', '.join(parts.commands) or 'no commands'}")
    events = run_events(summary, tables, round(parts.begin_s * 1e9), round(parts.end_s * 1e9))
    panels = [
        *([_response_panel(parts, events, command)] if parts.commands else []),
        *_bar_panels(parts.throughput, "Answers a second", {"per_second": ACCENT_COLOR}),
        *_bar_panels(parts.users, "Users logged in", {"users": ACCENT_COLOR}),
        *_bar_panels(parts.ready, "Tasks waiting for a processor, mean", {"ready": ACCENT_COLOR}),
        *_fault_panels(parts.faults),
    ]
    if not panels:
        return None
    if events:
        panels.insert(0, _event_panel(events))
    response = "Response time" if command == EVERY_COMMAND else f"Response time of {command}"
    heading = f"{response} over the run" if parts.commands else _heading_without_commands(parts)
    drawn = [_drawn(panel, events, parts, last=place == len(panels) - 1) for place, panel in enumerate(panels)]
    return stacked_chart(OVER_TIME, heading, " ".join(parts.notes), drawn)


def _heading_without_commands(parts: OverTime) -> str:
    """The heading of a metering, which names what its panels show."""
    shown = {"waiting tasks": parts.ready, "page faults": parts.faults}
    named = [name for name, frame in shown.items() if not frame.is_empty()]
    return f"{capitalized(in_words(named))} over time" if named else "Over time"


def _drawn(panel: _Panel, events: Sequence[RunEvent], parts: OverTime, *, last: bool) -> alt.LayerChart:
    """The panel, in which warm-up and ramp-down are shaded. The last panel has the labels of the time."""
    scale = alt.Scale(domain=[parts.begin_s, parts.end_s], nice=False)

    def time(field: str) -> alt.X:
        return alt.X(f"{field}:Q", axis=time_axis(parts.begin_s, parts.end_s, labels=last), scale=scale)

    edges = [event for event in events if event.kind in ("warm-up", "ramp-down")]
    layers = [*_bands(edges, _PHASE_COLOR, time), *panel.layers(time)]
    drawn: alt.LayerChart = alt.layer(*layers)  # type: ignore[assignment]
    drawn.height = panel.height
    if panel.title:
        drawn.title = alt.TitleParams(panel.title, anchor="start", frame="group", fontSize=12, fontWeight=600, offset=5)
    return drawn


def _frame(events: Sequence[RunEvent]) -> pl.DataFrame:
    """The events, in seconds. Columns: kind, from_s, to_s, event, warning."""
    rows = [
        (event.kind, round(event.from_ns / 1e9, 6), round(event.to_ns / 1e9, 6), event.text, event.warning)
        for event in events
    ]
    return pl.DataFrame(rows, schema=["kind", "from_s", "to_s", "event", "warning"], orient="row")


def _bands(events: Sequence[RunEvent], color: str, time: _TimeOf) -> list[alt.Chart]:
    """The stretches of these events as bands behind a panel."""
    stretches = [event for event in events if event.to_ns > event.from_ns]
    if not stretches:
        return []
    band = alt.Chart(_frame(stretches)).mark_rect(color=color, opacity=0.13)
    return [band.encode(x=time("from_s"), x2=alt.X2("to_s:Q"))]


def _event_panel(events: Sequence[RunEvent]) -> _Panel:
    """A row for each phase and for each kind of event."""
    kinds = list(dict.fromkeys(event.kind for event in events))

    def layers(time: _TimeOf) -> list[alt.Chart]:
        axis = alt.Axis(title=None, domain=False, ticks=False, minExtent=_LABEL_PX, maxExtent=_LABEL_PX)
        row = alt.Y("kind:N", sort=kinds, axis=axis, scale=alt.Scale(domain=kinds, paddingInner=0.25))
        color = alt.condition("datum.warning", alt.value(_WARNING_COLOR), alt.value(_PHASE_COLOR))
        tooltip = [alt.Tooltip("event:N"), seconds("from_s"), seconds("to_s")]
        base = alt.Chart(safe(_frame(events)))
        stretch = base.mark_rect().encode(x=time("from_s"), x2=alt.X2("to_s:Q"), y=row, color=color, tooltip=tooltip)
        # A moment has no length, and a short stretch too little to be seen.
        moment = base.transform_filter("datum.warning").mark_tick(thickness=2, size=0.75 * _ROW_PX)
        return [stretch, moment.encode(x=time("from_s"), y=row, color=color, tooltip=tooltip)]

    return _Panel("", _ROW_PX * len(kinds), layers)


def _response_panel(parts: OverTime, events: Sequence[RunEvent], command: str) -> _Panel:
    """The quantiles as steps, and the answers of a short run as dots."""
    shown = f"datum.command === {_CHOICE}"
    values = [parts.quantiles["p50_s"], parts.quantiles["p90_s"], parts.dots["response_s"]]
    scale, axis = _response_axis(pl.concat(values).drop_nulls())

    def layers(time: _TimeOf) -> list[alt.Chart]:
        base = alt.Chart(safe(parts.quantiles)).transform_filter(shown)
        colors = alt.Scale(domain=list(_QUANTILE_COLORS), range=list(_QUANTILE_COLORS.values()))
        color = alt.Color("quantile:N", scale=colors, legend=None)
        steps = (
            base.transform_fold(["p90_s", "p50_s"], as_=["name", "response_s"])
            .transform_calculate(quantile="slice(datum.name, 0, 3)")
            .transform_fold(["from_s", "to_s"], as_=["edge", "at_s"])
            .mark_line(strokeWidth=1.8, strokeCap="square", invalid="break-paths-show-path-domains")
            .encode(x=time("at_s"), y=alt.Y("response_s:Q", scale=scale, axis=axis), color=color)
        )
        tooltip = [alt.Tooltip(f"{name}_s:Q", title=f"{name} (s)", format=",.4~r") for name in ("p50", "p90")]
        hover = base.mark_rect(opacity=0).encode(
            x=time("from_s"),
            x2=alt.X2("to_s:Q"),
            tooltip=[*tooltip, alt.Tooltip("count:Q"), seconds("from_s"), seconds("to_s")],
        )
        shaded = [event for event in events if event.kind in _SHADED]
        return [*_bands(shaded, _WARNING_COLOR, time), hover, *_dots(parts, time, scale, axis), _chosen(steps)]

    def _chosen(drawn: alt.Chart) -> alt.Chart:
        bind = alt.binding_select(options=[plain(name) for name in parts.commands], name="Response times of ")
        param = alt.param(name=_CHOICE, value=plain(command), bind=bind if len(parts.commands) > 1 else alt.Undefined)
        return drawn.add_params(param)

    title = "Response time: p90 above p50" if parts.has_lines else "Response time of each answer"
    return _Panel(title, _RESPONSE_PX, layers)


def _dots(parts: OverTime, time: _TimeOf, scale: alt.Scale, axis: alt.Axis) -> list[alt.Chart]:
    if parts.dots.is_empty():
        return []
    chosen = f"{_CHOICE} === '{EVERY_COMMAND}' || datum.command === {_CHOICE}"
    tooltip = [
        alt.Tooltip("command:N"),
        alt.Tooltip("user:O"),
        alt.Tooltip("response_s:Q", title="response (s)", format=",.4~r"),
    ]
    drawn = (
        alt.Chart(safe(parts.dots))
        .transform_filter(chosen)
        .mark_circle(size=16, color=_PHASE_COLOR, opacity=0.65)
        .encode(x=time("at_s"), y=alt.Y("response_s:Q", scale=scale, axis=axis), tooltip=tooltip)
    )
    return [drawn]


def _response_axis(values: pl.Series) -> tuple[alt.Scale, alt.Axis]:
    """The scale and the axis of response times: logarithmic if they differ much, else from 0."""
    low, high = (float(values.to_numpy().min()), float(values.to_numpy().max())) if len(values) else (1.0, 1.0)
    axis = alt.Axis(title=None, labelExpr=TIME_LABEL, minExtent=_LABEL_PX, maxExtent=_LABEL_PX, tickCount=5)
    if high < _LOG_FROM_RATIO * low:
        return alt.Scale(zero=True, nice=True), axis
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 3) if len(decades) <= 3 else (1,)
    moments = [step * 10.0**decade for decade in decades for step in steps]
    axis.values, axis.labelOverlap = moments, "greedy"
    return alt.Scale(type="log", nice=False), axis


def _bar_panels(frame: pl.DataFrame, title: str, colors: dict[str, str]) -> list[_Panel]:
    """A panel with a bar for each row of the frame, from 0 to each column of `colors`; none for an empty frame."""
    if frame.is_empty():
        return []

    def layers(time: _TimeOf) -> list[alt.Chart]:
        axis = alt.Axis(title=None, tickCount=3, labelExpr=FIGURE_LABEL, minExtent=_LABEL_PX, maxExtent=_LABEL_PX)
        tooltip = [alt.Tooltip(f"{name}:Q", title=name.replace("_", " "), format=",.3~r") for name in colors]
        return [
            alt.Chart(frame)
            .mark_rect(color=color, stroke=color, strokeWidth=0.5)
            .encode(
                x=time("from_s"),
                x2=alt.X2("to_s:Q"),
                y=alt.Y(f"{name}:Q", axis=axis, scale=alt.Scale(zero=True)),
                y2=alt.Y2Datum(0),
                tooltip=[*tooltip, seconds("from_s"), seconds("to_s")],
            )
            for name, color in colors.items()
        ]

    return [_Panel(title, _PANEL_PX, layers)]


def _fault_panels(faults: pl.DataFrame) -> list[_Panel]:
    """Page faults, with those that waited for a device in front where both kinds are there."""
    kinds = faults.select(any=(pl.col("major") > 0).any(), all=(pl.col("major") == pl.col("faults")).all())
    has_major, only_major = kinds.row(0) if not faults.is_empty() else (False, False)
    if has_major and not only_major:
        colors = {"faults": _FAULT_COLOR, "major": _MAJOR_COLOR}
        return _bar_panels(faults, "Page faults a second (orange: major)", colors)
    title = "Major page faults a second" if only_major else "Page faults a second"
    return _bar_panels(faults, title, {"faults": _MAJOR_COLOR if only_major else _FAULT_COLOR})
