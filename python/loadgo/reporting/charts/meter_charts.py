"""The charts of the meters: durations of faults, mappings, system calls, and the run queue."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from loadgo.documents.chart import (
    ACCENT_COLOR,
    FIGURE_LABEL,
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
from loadgo.measures.summary import Summary
from loadgo.notation.terms import fault_name, operation_name
from loadgo.reporting.charts import meter_chart_data as data
from loadgo.reporting.charts.chart_data import ChartData
from loadgo.reporting.charts.over_time import shown_time_ns
from loadgo.reporting.simulated_machine import simulated

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_MAJOR, _MINOR = "#cf4f12", "#8fc1ea"
_SQUARES = alt.Legend(symbolType="square")
_EMPTY = "#8b97a340"
_STRONGER = ("40", "70", "a0", "d0", "ff")
"""Opacities of the accent colour, from short to long queues."""


def _faults(summary: Summary, tables: Tables) -> Chart | None:
    return _heat_map("faults", "How long faults took", data.fault_times(tables), tables)


def _interrupts(summary: Summary, tables: Tables) -> Chart | None:
    return _heat_map("interrupts", "How long interrupts took", data.fault_times(tables, interrupts=True), tables)


def _heat_map(name: str, heading: str, cells: ChartData, tables: Tables) -> Chart | None:
    """A chart with time to the right and duration upward. A stronger colour is a higher rate."""
    # Where all took the same time, as on a simulated machine, the picture is one stripe that says nothing.
    if cells.frame["short_s"].n_unique() < 2:
        return None
    short, long = cells.frame["short_s"].to_numpy().min(), cells.frame["long_s"].to_numpy().max()
    axis = alt.Axis(title="duration", labelExpr=TIME_LABEL, values=log_ticks(float(short), float(long)))
    scale = alt.Scale(type="log", nice=False, domain=[float(short), float(long)])
    rates = cells.frame["per_second"].to_numpy()
    least, most = float(rates.min()), float(rates.max())
    named = cells.frame.with_columns(kinds=pl.col("kinds").map_elements(_named_kinds, return_dtype=pl.String))
    cell_marks = (
        alt.Chart(safe(named))
        .mark_rect(color=ACCENT_COLOR)
        .encode(
            x=run_time(shown_time_ns(tables)),
            x2=alt.X2("to_s:Q"),
            y=alt.Y("short_s:Q", axis=axis, scale=scale),
            y2=alt.Y2("long_s:Q"),
            opacity=alt.Opacity(
                "per_second:Q",
                title="a second",
                scale=alt.Scale(type="log", domain=[min(least, most / 2), most], range=[0.12, 1]),
                legend=alt.Legend(
                    values=_tens(least, most),
                    labelExpr=_RATE_LABEL,
                    symbolType="square",
                    symbolFillColor=ACCENT_COLOR,
                ),
            ),
            tooltip=[
                alt.Tooltip("count:Q", format=","),
                alt.Tooltip("per_second:Q", title="a second", format=",.3~r"),
                alt.Tooltip("kinds:N"),
                *(seconds(field) for field in ("short_s", "long_s", "from_s", "to_s")),
            ],
        )
    )
    octaves = math.log2(long / short)
    height, flat = max(90, min(340, round(16 * octaves))), len(cells.frame) == 1
    return chart_of(name, heading, cells.caption, cell_marks, height, flat=flat)


_RATE_LABEL = "format(datum.value, datum.value >= 1000 ? '~s' : '~g')"
"""`16k` for 16,000, as axes have it: the legend fits on a telephone."""


def _named_kinds(kinds: str) -> str:
    """The counts by kind of `fault_times` with the kinds in today's terms: `minor 12, new page table 3`."""
    counts = (part.rpartition(" ") for part in kinds.split(", "))
    return ", ".join(f"{fault_name(kind)} {count}" for kind, _, count in counts)


def _tens(least: float, most: float) -> list[float]:
    """The powers of ten between the two rates, and the higher rate."""
    tens = [10.0**power for power in range(math.ceil(math.log10(least)), math.floor(math.log10(most)) + 1)]
    return [*(ten for ten in tens if ten < 0.9 * most), float(f"{most:.2g}")]


def _primitives(summary: Summary, tables: Tables) -> Chart | None:
    bins, means = data.primitive_times(summary, tables), data.primitive_means(summary)
    # Where each has one length, as on most simulated machines, the table has it, and the picture says nothing more.
    is_constant = simulated(summary) and bins.frame["name"].n_unique() == len(bins.frame)
    if bins.frame.is_empty() or is_constant:
        return None
    named = pl.col("name").replace({name: operation_name(name) for name in bins.frame["name"].unique()})
    short, long = bins.frame["short_s"].to_numpy().min(), bins.frame["long_s"].to_numpy().max()
    axis = alt.Axis(
        title="duration", labelExpr=TIME_LABEL, values=log_ticks(float(short), float(long)), labelOverlap="greedy"
    )
    scale = alt.Scale(type="log", nice=False)
    row = alt.Y("name:N", sort=alt.EncodingSortField("place", op="min"), title=None)
    strip = (
        alt.Chart(safe(bins.frame.with_columns(named)))
        .mark_rect(color=ACCENT_COLOR)
        .encode(
            x=alt.X("short_s:Q", scale=scale, axis=axis),
            x2=alt.X2("long_s:Q"),
            y=row,
            opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(range=[0.12, 1])),
            tooltip=[
                alt.Tooltip("name:N"),
                seconds("short_s"),
                seconds("long_s"),
                percent("share"),
                alt.Tooltip("count:Q"),
            ],
        )
    )
    points = (
        alt.Chart(safe(means.with_columns(named)))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(x=alt.X("mean_s:Q", scale=scale, axis=axis), y=row, tooltip=[alt.Tooltip("name:N"), seconds("mean_s")])
    )
    height = ROW_HEIGHT_PX * max(2, bins.frame["name"].n_unique())
    layers, flat = alt.layer(strip, points), len(bins.frame) == 1
    heading = f"How long {'operations' if simulated(summary) else 'system calls'} took"
    return chart_of("primitives", heading, bins.caption, layers, height, flat=flat)


def _segments(summary: Summary, tables: Tables) -> Chart | None:
    machine = summary.run.system.get("kind") == "machine"
    return _bars("segments", f"Faults by {'command' if machine else 'mapping'}", data.segment_faults(summary), "faults")


def _profile(summary: Summary, tables: Tables) -> Chart | None:
    return _bars("profile", "Samples of the clock by mapping", data.segment_samples(summary), "samples")


def _bars(name: str, heading: str, counted: ChartData, unit: str) -> Chart | None:
    """A chart with a bar for each mapping, major faults before minor faults."""
    if counted.frame.is_empty():
        return None
    colors = {"major": _MAJOR, "minor": _MINOR, "samples": ACCENT_COLOR}
    kinds = [kind for kind in colors if kind in counted.frame["kind"]]
    scale = alt.Scale(domain=kinds, range=[colors[kind] for kind in kinds])
    bar_marks = (
        alt.Chart(safe(counted.frame))
        .mark_bar()
        .encode(
            x=alt.X("count:Q", title=unit, axis=alt.Axis(labelExpr=FIGURE_LABEL)),
            y=alt.Y("segment:N", sort=alt.EncodingSortField("place", op="min"), title=None),
            color=alt.Color("kind:N", title=None, scale=scale, legend=_SQUARES if len(kinds) > 1 else None),
            order=alt.Order("kind:N"),
            tooltip=[alt.Tooltip("segment:N"), alt.Tooltip("kind:N"), alt.Tooltip("count:Q", format=",")],
        )
    )
    rows = counted.frame["segment"].n_unique()
    return chart_of(name, heading, counted.caption, bar_marks, ROW_HEIGHT_PX * max(2, rows), flat=rows == 1)


def _ready(summary: Summary, tables: Tables) -> Chart | None:
    over = data.ready_over_time(tables)
    if over.frame.is_empty():
        return None
    area = stepped_area(over, tables, "ready", "tasks that wait", alt.Tooltip("ready:Q", format=",.3~r"))
    return chart_of("queue", "The run queue", over.caption, area, 150)


def stepped_area(over: ChartData, tables: Tables, column: str, label: str, figure: alt.Tooltip) -> alt.Chart:
    """The area below a figure over the run, which is one number for each span; `figure` is its tooltip."""
    line = {"color": ACCENT_COLOR, "strokeWidth": 1.2}
    area: alt.Chart = (
        alt.Chart(safe(over.frame))
        .mark_area(interpolate="step-after", color=ACCENT_COLOR, opacity=0.35, line=line)
        .encode(
            x=run_time(shown_time_ns(tables)),
            y=alt.Y(f"{column}:Q", title=label),
            tooltip=[seconds("from_s"), seconds("to_s"), figure],
        )
    )
    return area


def _lengths(summary: Summary, tables: Tables) -> Chart | None:
    over = data.lengths_over_time(tables)
    if over.frame.is_empty():
        return None
    names = [str(name) for name in over.frame.sort("rank")["length"].unique(maintain_order=True)]
    steps = len(_STRONGER) - 1
    places = [round(i * steps / max(1, len(names) - 2)) for i in range(len(names) - 1)]
    colors = [_EMPTY, *(ACCENT_COLOR + _STRONGER[place] for place in places)][: len(names)]
    stack = (
        alt.Chart(safe(_placed(over.frame)))
        .mark_rect()
        .encode(
            x=run_time(shown_time_ns(tables)),
            x2=alt.X2("to_s:Q"),
            y=alt.Y(
                "bottom:Q",
                title="share of the time",
                axis=alt.Axis(labelExpr=PERCENT_LABEL),
                scale=alt.Scale(domain=[0, 1]),
            ),
            y2=alt.Y2("top:Q"),
            color=alt.Color(
                "length:N", title=None, scale=alt.Scale(domain=names, range=colors), legend=legend(max(map(len, names)))
            ),
            tooltip=[alt.Tooltip("length:N"), percent("share"), seconds("from_s"), seconds("to_s")],
        )
    )
    return chart_of("lengths", "How long the run queue was", over.caption, stack, 170, flat=len(names) == 1)


def _placed(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds the place of each share in a stack, with the longest queue at the bottom."""
    top = pl.col("share").cum_sum().over("from_s", order_by="rank", descending=True).round(5)
    return frame.with_columns(top=top).with_columns(bottom=(pl.col("top") - pl.col("share")).round(5))


METER_CHART_BUILDERS: dict[str, Callable[[Summary, Tables], Chart | None]] = {
    "faults": _faults,
    "interrupts": _interrupts,
    "primitives": _primitives,
    "segments": _segments,
    "profile": _profile,
    "queue": _ready,
    "lengths": _lengths,
}
"""Functions that build the charts of the meters, by name, in the order of the report."""
