"""The chart of a waterfall: a bar for each factor, from the figure before to that after, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from loadgo.decomposition.reading import amount_scale, read_amount, read_factor, read_interval
from loadgo.decomposition.waterfall import Step, Waterfall, waterfall_name
from loadgo.documents.chart import ACCENT_COLOR, AMOUNT_LABEL, ROW_HEIGHT_PX, TIME_LABEL, Chart, chart_of
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import plain

INCREASE_COLOR = "#cf4f12"
"""The colour of the factors that make B larger than A."""
_LESS_LABEL, _MORE_LABEL = "less in B", "more in B"
_INTERVAL_COLUMNS = {"low": pl.Float64(), "high": pl.Float64()}


@quick_drawing()
def waterfall_charts(waterfalls: Sequence[Waterfall]) -> list[Chart]:
    """A chart of each waterfall."""
    numbered = enumerate(waterfalls, start=1)
    return [waterfall_chart(waterfall, waterfall_name(number)) for number, waterfall in numbered]


@quick_drawing()
def waterfall_chart(waterfall: Waterfall, name: str) -> Chart:
    """The chart of a waterfall with the id `name`: bars as long as the factors, with the intervals that are known."""
    scale = amount_scale(waterfall)
    unit = 1e-9 if waterfall.unit == "ns" else float(scale)
    keys = [
        _row_key("A", read_amount(waterfall, waterfall.before)),
        *(_row_key(waterfall.label(step), read_factor(step.factor), i) for i, step in _numbered_steps(waterfall)),
    ]
    keys.append(_row_key("B", read_amount(waterfall, waterfall.after), len(keys)))
    steps = [_step_row(keys[i], waterfall.label(step), step, unit) for i, step in _numbered_steps(waterfall)]
    ends = [
        {"row": keys[0], "to": waterfall.before * unit, "said": read_amount(waterfall, waterfall.before)},
        {"row": keys[-1], "to": waterfall.after * unit, "said": read_amount(waterfall, waterfall.after)},
    ]
    counted = "one interaction" if scale == 1 else f"{scale:,} interactions"
    title = f"time for {counted}" if waterfall.unit == "ns" else f"money for {counted}, {waterfall.unit}"
    axis = alt.Axis(
        title=title,
        labelExpr=TIME_LABEL if waterfall.unit == "ns" else AMOUNT_LABEL,
        values=_ticks(waterfall, unit),
        labelOverlap="greedy",
    )
    x = alt.X("from:Q", scale=alt.Scale(type="log", nice=False, zero=False, padding=8), axis=axis)
    layers = alt.layer(*_layers(pl.DataFrame(steps, schema_overrides=_INTERVAL_COLUMNS), pl.DataFrame(ends), x, keys))
    layers = layers.resolve_axis(y="independent")
    sides = "A is without the changes, B with all of them. " if waterfall.kind == "causes" else ""
    caption = f"{sides}From top to bottom; lengths are factors, and they multiply to {read_factor(waterfall.ratio)}."
    if any(step.interval for step in waterfall.steps):
        caption += " The line is the 95 % interval of where a bar ends."
    return chart_of(name, waterfall.title, caption, layers, ROW_HEIGHT_PX * len(keys))


def _layers(
    steps: pl.DataFrame, ends: pl.DataFrame, x: alt.X, keys: list[str]
) -> tuple[alt.Chart, alt.Chart, alt.Chart]:
    """The layers of the chart: bars with names at the left, intervals, and both ends with figures at the right."""
    label_lines = "split(datum.value, '\\n')"
    names = alt.Y(
        "row:N", sort=keys, title=None, axis=alt.Axis(labelExpr=f"{label_lines}[0]"), scale=alt.Scale(domain=keys)
    )
    right_axis = alt.Axis(labelExpr=f"{label_lines}[1]", orient="right", domain=False, ticks=False)
    factors = alt.Y("row:N", sort=keys, title=None, axis=right_axis, scale=alt.Scale(domain=keys))
    no_axis = alt.Y("row:N", sort=keys, axis=None, scale=alt.Scale(domain=keys))
    color = alt.Color(
        "way:N",
        title=None,
        scale=alt.Scale(domain=[_LESS_LABEL, _MORE_LABEL], range=[ACCENT_COLOR, INCREASE_COLOR]),
        legend=alt.Legend(symbolType="square"),
    )
    tooltip = [alt.Tooltip("name:N"), alt.Tooltip("factor:N"), alt.Tooltip("interval:N", title="95 % interval")]
    bars = (
        alt.Chart(steps).mark_bar(minBandSize=2).encode(x=x, x2=alt.X2("to:Q"), y=names, color=color, tooltip=tooltip)
    )
    with_interval = steps.filter(pl.col("low").is_not_null())
    rules = alt.Chart(with_interval).mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=no_axis)
    marks = (
        alt.Chart(ends)
        .mark_point(shape="stroke", angle=90, size=250, strokeWidth=3, opacity=1)
        .encode(x=alt.X("to:Q"), y=factors, tooltip=[alt.Tooltip("said:N", title="is")])
    )
    return bars, rules, marks


def _ticks(waterfall: Waterfall, unit: float) -> list[float]:
    values = [waterfall.before, waterfall.after, *(step.end for step in waterfall.steps)]
    ends = [
        step.start / end for step in waterfall.steps if step.interval for end in (step.interval.low, step.interval.high)
    ]
    shown = [value * unit for value in (*values, *ends) if 0 < value < math.inf]
    return log_ticks(min(shown), max(shown))


def _numbered_steps(waterfall: Waterfall) -> list[tuple[int, Step]]:
    return list(enumerate(waterfall.steps, start=1))


def _row_key(name: str, figure: str, position: int = 0) -> str:
    """The key of a row: its name, its figure, and its position, since two rows may have the same name."""
    return f"{plain(name)}\n{figure}\n{position}"


def _step_row(key: str, name: str, step: Step, unit: float) -> dict[str, object]:
    interval = step.interval
    return {
        "row": key,
        "name": plain(name),
        "factor": read_factor(step.factor),
        "interval": read_interval(interval),
        "way": _LESS_LABEL if step.factor >= 1 else _MORE_LABEL,
        "from": step.start * unit,
        "to": step.end * unit,
        "low": None if interval is None else step.start / interval.high * unit,
        "high": None if interval is None else step.start / interval.low * unit,
    }
