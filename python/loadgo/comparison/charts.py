"""The charts of a comparison: each row on both sides, its change, and the distribution of response times."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from loadgo.comparison.chart_data import (
    CHART_MEASURES,
    ChartRow,
    Distribution,
    chart_rows,
    distribution_of,
    ratio_of,
    ratio_range,
)
from loadgo.comparison.compare import Comparison
from loadgo.comparison.figures import change, change_interval, notation_for
from loadgo.decomposition.waterfall import chain_waterfalls
from loadgo.decomposition.waterfall_charts import INCREASE_COLOR, waterfall_charts
from loadgo.documents.chart import ACCENT_COLOR, PERCENT_LABEL, ROW_HEIGHT_PX, TIME_LABEL, Chart, chart_of, safe
from loadgo.documents.log_axis import CHANGE_TITLE, MOST_LABELS, change_label, change_ticks, log_ticks
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import capitalized
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import figure, name_of
from loadgo.stats.resample import Interval

NEUTRAL_COLOR = "#8b97a3"
_VERDICT_COLORS = {"better": ACCENT_COLOR, "worse": INCREASE_COLOR}
"""The colours of verdicts. All others are grey, and not in the legend."""
_SIDES = alt.Scale(domain=["A", "B"], range=[NEUTRAL_COLOR, ACCENT_COLOR])
_TWO_SIDES_ROW_PX = 30
_BOUNDS = {"low": pl.Float64(), "high": pl.Float64()}


@quick_drawing()
def comparison_charts(comparison: Comparison) -> list[Chart]:
    """All charts that have data."""
    charts = [
        draw(measure, chart_rows(comparison, measure)) for measure in CHART_MEASURES for draw in (_sides, _changes)
    ]
    distribution = distribution_of(comparison)
    charts += [None if distribution is None else _distribution(distribution)]
    return [
        *(chart for chart in charts if chart is not None),
        *waterfall_charts(chain_waterfalls(comparison.chains)),
    ]


def _sides(measure: str, rows: list[ChartRow]) -> Chart | None:
    """The mean of each row on both sides, on a logarithmic axis, without totals and sub-totals."""
    shown = [
        row
        for row in rows
        if row.kind == "row" and (row.difference.before or 0) > 0 and (row.difference.after or 0) > 0
    ]
    if not shown:
        return None
    sides = [
        {
            "row": row.name,
            "side": side,
            "at": (value or 0) / 1e9,
            "mean": figure(measure, value),
            **_bounds(interval, 1e9),
        }
        for row in shown
        for side, value, interval in (
            ("A", row.difference.before, row.difference.before_interval),
            ("B", row.difference.after, row.difference.after_interval),
        )
    ]
    frame = pl.DataFrame(sides, schema_overrides=_BOUNDS)
    least = 0.8 * float(
        frame.select(pl.min_horizontal("at", pl.col("low").filter(pl.col("low") > 0).min()).min()).item()
    )
    frame = safe(frame.with_columns(low=pl.col("low").clip(least)))
    greatest = float(frame.select(pl.max_horizontal("at", pl.col("high")).max()).item())
    caption = "Means for one interaction."
    if frame["low"].count():
        caption += " The lines are their 95 % intervals; whether A and B differ is said by that of their difference."
    heading = f"{capitalized(name_of(measure))} on both sides"
    height = _TWO_SIDES_ROW_PX * max(2, len(shown))
    layers = _sides_layers(frame, f"mean {name_of(measure)}", [row.name for row in shown], log_ticks(least, greatest))
    return chart_of(f"sides-{measure}", heading, caption, layers, height)


def _sides_layers(
    frame: pl.DataFrame, title: str, names: list[str], ticks: list[float]
) -> alt.LayerChart | alt.FacetChart:
    axis = alt.Axis(title=title, labelExpr=TIME_LABEL, values=ticks, labelOverlap="greedy")
    scale = alt.Scale(type="log", nice=False, padding=10)
    offset = alt.YOffset("side:N", scale=alt.Scale(domain=["A", "B"], paddingOuter=1))
    color = alt.Color("side:N", title=None, scale=_SIDES)
    base = alt.Chart(frame).encode(y=alt.Y("row:N", sort=names, title=None), yOffset=offset, color=color)
    x = alt.X("low:Q", scale=scale, axis=axis)
    rule = base.transform_filter("datum.low != null").mark_rule(strokeWidth=2).encode(x=x, x2=alt.X2("high:Q"))
    shape = alt.Shape("side:N", title=None, scale=alt.Scale(domain=["A", "B"], range=["circle", "diamond"]))
    point = base.mark_point(filled=True, size=70, opacity=1)
    tooltip = [alt.Tooltip("row:N"), alt.Tooltip("side:N"), alt.Tooltip("mean:N")]
    return alt.layer(rule, point.encode(x=alt.X("at:Q", scale=scale, axis=axis), shape=shape, tooltip=tooltip))


def _changes(measure: str, rows: list[ChartRow]) -> Chart | None:
    """The ratio of B to A of each row, with sub-totals and the total, on a logarithmic axis."""
    ratios = [(row, ratio) for row in rows if (ratio := ratio_of(row.difference)) is not None]
    if not ratios:
        return None
    low, high = ratio_range([ratio for _, ratio in ratios])
    notation = notation_for(row.difference for row, _ in ratios)
    points = [
        {
            "row": row.name,
            "change": min(max(ratio.value, low), high),
            "said": change(row.difference, notation),
            "interval": change_interval(row.difference, notation),
            "count": _count(row.counts),
            "B is": row.difference.verdict,
            "low": None if ratio.low is None else max(ratio.low, low),
            "high": None if ratio.high is None else min(ratio.high, high),
        }
        for row, ratio in ratios
    ]
    frame = safe(pl.DataFrame(points, schema_overrides=_BOUNDS))
    y = alt.Y("row:N", sort=frame["row"].to_list(), title=None)
    base = alt.Chart(frame).encode(y=y, color=verdict_color(frame["B is"].to_list()))
    ticks = change_ticks(low, high, MOST_LABELS)
    axis = alt.Axis(title=CHANGE_TITLE, labelExpr=change_label(high), values=ticks, labelOverlap="greedy")
    scale_x = alt.Scale(type="log", nice=False, domain=[low, high], padding=10)
    x = alt.X("change:Q", scale=scale_x, axis=axis)
    rule = base.transform_filter("datum.low != null").mark_rule(strokeWidth=2)
    rule = rule.encode(x=alt.X("low:Q", scale=scale_x, axis=axis), x2=alt.X2("high:Q"))
    tooltip = [
        alt.Tooltip("row:N"),
        alt.Tooltip("said:N", title="B against A"),
        alt.Tooltip("interval:N", title="95 % interval"),
        "B is:N",
        alt.Tooltip("count:N"),
    ]
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, tooltip=tooltip)
    none = alt.Chart(pl.DataFrame({"none": [1.0]})).mark_rule(strokeWidth=1).encode(x=alt.X("none:Q", scale=scale_x))
    caption = "B against A, logarithmic."
    if frame["low"].count():
        margin = margin_in_words(ratios[0][0].difference.margin)
        caption += f" The line is the 95 % interval. It is called no difference only if it lies within {margin}."
    heading = f"How much {name_of(measure)} changed from A to B"
    height = ROW_HEIGHT_PX * max(2, len(points))
    return chart_of(f"changes-{measure}", heading, caption, alt.layer(none, rule, point), height)


def verdict_color(verdicts: Sequence[str]) -> alt.Color:
    """The colour of each verdict in the column `B is`. There is a legend if one of `verdicts` is not grey."""
    names = list(dict.fromkeys(verdicts))
    scale = alt.Scale(domain=names, range=[_VERDICT_COLORS.get(name, NEUTRAL_COLOR) for name in names])
    shown = sorted(names, key=lambda name: name not in _VERDICT_COLORS)
    has_color = any(name in _VERDICT_COLORS for name in names)
    return alt.Color("B is:N", title="B is", scale=scale, legend=alt.Legend(values=shown) if has_color else None)


def _distribution(distribution: Distribution) -> Chart:
    """The share of interactions up to each response time, on both sides."""
    frame = pl.DataFrame(
        [
            {"side": side, "share": probability, "time_s": value / 1e9}
            for side, values in (("A", distribution.a_ns), ("B", distribution.b_ns))
            for probability, value in zip(distribution.probabilities, values, strict=True)
            if 0 < value < math.inf
        ]
    )
    ticks = log_ticks(float(frame["time_s"].to_numpy().min()), float(frame["time_s"].to_numpy().max()))
    axis = alt.Axis(title="response time", labelExpr=TIME_LABEL, values=ticks, labelOverlap="greedy")
    chart = (
        alt.Chart(frame)
        .mark_line(interpolate="monotone", strokeWidth=2)
        .encode(
            x=alt.X("time_s:Q", scale=alt.Scale(type="log", nice=False), axis=axis),
            y=alt.Y(
                "share:Q",
                title="no longer than this",
                axis=alt.Axis(labelExpr=PERCENT_LABEL),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color("side:N", title=None, scale=_SIDES),
            strokeDash=alt.StrokeDash("side:N", title=None, scale=alt.Scale(domain=["A", "B"], range=[[5, 3], [1, 0]])),
            order=alt.Order("share:Q"),
            tooltip=[
                alt.Tooltip("side:N"),
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip("time_s:Q", title="time (s)", format=",.4~r"),
            ],
        )
    )
    counts = " and ".join(f"{count:,}" for count in distribution.counts)
    caption = f"All interactions of each side in its own mix of commands: {counts}."
    return chart_of("distribution", "How response is distributed", caption, chart, 240)


def _count(counts: tuple[int, int] | None) -> str:
    return "" if counts is None else f"{counts[0]:,} in A, {counts[1]:,} in B"


def _bounds(interval: Interval | None, scale: float) -> dict[str, float | None]:
    if interval is None:
        return {"low": None, "high": None}
    low, high = sorted((interval.low / scale, interval.high / scale))
    return {"low": low, "high": high}
