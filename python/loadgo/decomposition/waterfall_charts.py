"""The chart of a waterfall: a bar for each factor, from the figure before to that after, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from loadgo.decomposition.waterfall import Step, Waterfall
from loadgo.decomposition.waterfall_pictures import figure_of
from loadgo.documents.chart import ACCENT_COLOR, ROW_HEIGHT_PX, TIME_LABEL, Chart, chart_of
from loadgo.notation.figures import plain
from loadgo.notation.measures import factor, factor_interval

MORE = "#cf4f12"
"""The colour of what is more after than before."""
_LESS, _MORE = "less in B", "more in B"
_BOUNDS = {"low": pl.Float64(), "high": pl.Float64()}
_CENT_LABEL = "format(datum.value, '~g')"


def waterfall_charts(waterfalls: Sequence[Waterfall]) -> list[Chart]:
    """A chart of each."""
    return [waterfall_chart(told, f"waterfall-{number}") for number, told in enumerate(waterfalls, start=1)]


def waterfall_chart(told: Waterfall, name: str) -> Chart:
    """The chart called `name`: factors as lengths, with the interval of each where it has one."""
    unit = 1e-9 if told.unit == "ns" else 1.0
    keys = [
        _key("A", figure_of(told, told.before)),
        *(_key(one.name, factor(one.factor), i) for i, one in _placed(told)),
    ]
    keys.append(_key("B", figure_of(told, told.after), len(keys)))
    steps = [_row(keys[i], one, unit) for i, one in _placed(told)]
    ends = [
        {"row": keys[0], "to": told.before * unit, "said": figure_of(told, told.before)},
        {"row": keys[-1], "to": told.after * unit, "said": figure_of(told, told.after)},
    ]
    title = "money for one interaction" if told.unit == "$" else "time for one interaction"
    axis = alt.Axis(
        title=title,
        labelExpr=TIME_LABEL if told.unit == "ns" else _CENT_LABEL,
        labelOverlap="greedy",
        labelSeparation=6,
    )
    x = alt.X("from:Q", scale=alt.Scale(type="log", nice=False, zero=False, padding=8), axis=axis)
    drawn = alt.layer(*_layers(pl.DataFrame(steps, schema_overrides=_BOUNDS), pl.DataFrame(ends), x, keys))
    drawn = drawn.resolve_axis(y="independent")
    whose = "A is without the changes, B with all of them. " if told.kind == "causes" else ""
    caption = f"{whose}From top to bottom; lengths are factors, and they multiply to {factor(told.ratio)}."
    if any(one.interval for one in told.steps):
        caption += " The line is the 95 % interval of where a bar ends."
    return chart_of(name, told.title, caption, drawn, ROW_HEIGHT_PX * len(keys))


def _layers(
    steps: pl.DataFrame, ends: pl.DataFrame, x: alt.X, keys: list[str]
) -> tuple[alt.Chart, alt.Chart, alt.Chart]:
    """Bars with their names at the left, their intervals, and both ends with the factors at the right."""
    said = "split(datum.value, '\\n')"
    names = alt.Y("row:N", sort=keys, title=None, axis=alt.Axis(labelExpr=f"{said}[0]"), scale=alt.Scale(domain=keys))
    right = alt.Axis(labelExpr=f"{said}[1]", orient="right", domain=False, ticks=False)
    factors = alt.Y("row:N", sort=keys, title=None, axis=right, scale=alt.Scale(domain=keys))
    bare = alt.Y("row:N", sort=keys, axis=None, scale=alt.Scale(domain=keys))
    color = alt.Color(
        "way:N",
        title=None,
        scale=alt.Scale(domain=[_LESS, _MORE], range=[ACCENT_COLOR, MORE]),
        legend=alt.Legend(symbolType="square"),
    )
    tooltip = ["name:N", "factor:N", alt.Tooltip("interval:N", title="95 % interval")]
    bars = alt.Chart(steps).mark_bar(minBandSize=2).encode(x=x, x2="to:Q", y=names, color=color, tooltip=tooltip)
    between = steps.filter(pl.col("low").is_not_null())
    rules = alt.Chart(between).mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q", y=bare)
    marks = (
        alt.Chart(ends)
        .mark_point(shape="stroke", angle=90, size=250, strokeWidth=3, opacity=1)
        .encode(x=alt.X("to:Q"), y=factors, tooltip=[alt.Tooltip("said:N", title="is")])
    )
    return bars, rules, marks


def _placed(told: Waterfall) -> list[tuple[int, Step]]:
    return list(enumerate(told.steps, start=1))


def _key(name: str, figure: str, place: int = 0) -> str:
    """What a row is known by: its name, its figure, and where it is, since two may have the same name."""
    return f"{plain(name)}\n{figure}\n{place}"


def _row(key: str, step: Step, unit: float) -> dict[str, object]:
    interval = step.interval
    return {
        "row": key,
        "name": plain(step.name),
        "factor": factor(step.factor),
        "interval": factor_interval(interval),
        "way": _LESS if step.factor >= 1 else _MORE,
        "from": step.start * unit,
        "to": step.end * unit,
        "low": None if interval is None else step.start / interval.high * unit,
        "high": None if interval is None else step.start / interval.low * unit,
    }
