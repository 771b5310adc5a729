"""The charts of a comparison: each row from A to B with the intervals of both, its change, and response distributed."""

from __future__ import annotations

import math

import altair as alt
import polars as pl

from loadgo.comparison.chart_data import DRAWN, Distribution, DrawnRow, distribution_of, drawn_rows
from loadgo.comparison.compare import Comparison
from loadgo.comparison.figures import change, change_interval
from loadgo.decomposition.waterfall import of_chains
from loadgo.decomposition.waterfall_charts import MORE, waterfall_charts
from loadgo.documents.chart import ACCENT, ROW, TIME_LABEL, Chart, chart_of, safe
from loadgo.notation.measures import figure, name_of
from loadgo.stats.resample import Interval

_GREY = "#8b97a3"
_VERDICTS = {"better": ACCENT, "worse": MORE, "no difference": _GREY, "lower": _GREY, "higher": _GREY, "equal": _GREY}
_SIDES = alt.Scale(domain=["A", "B"], range=[_GREY, ACCENT])
_ROW_OF_TWO = 30
_BOUNDS = {"low": pl.Float64(), "high": pl.Float64()}


def comparison_charts(made: Comparison) -> list[Chart]:
    """All charts that have something to show."""
    found = [draw(measure, drawn_rows(made, measure)) for measure in DRAWN for draw in (_sides, _changes)]
    told = distribution_of(made)
    found += [None if told is None else _distribution(told)]
    return [*(one for one in found if one is not None), *waterfall_charts(of_chains(made.chains))]


def _sides(measure: str, rows: list[DrawnRow]) -> Chart | None:
    """Each row's mean on both sides, on a logarithmic axis; whole scripts and sub-totals are left out."""
    shown = [one for one in rows if one.kind == "row" and (one.told.before or 0) > 0 and (one.told.after or 0) > 0]
    if not shown:
        return None
    sides = [
        {
            "row": one.name,
            "side": side,
            "at": (value or 0) / 1e9,
            "mean": figure(measure, value),
            **_bounds(between, 1e9),
        }
        for one in shown
        for side, value, between in (
            ("A", one.told.before, one.told.before_interval),
            ("B", one.told.after, one.told.after_interval),
        )
    ]
    frame = pl.DataFrame(sides, schema_overrides=_BOUNDS)
    least = 0.8 * float(
        frame.select(pl.min_horizontal("at", pl.col("low").filter(pl.col("low") > 0).min()).min()).item()
    )
    frame = safe(frame.with_columns(low=pl.col("low").clip(least)))
    caption = "Means for one interaction."
    if frame["low"].count():
        caption += " The lines are their 95 % intervals; whether A and B differ is said by that of their difference."
    heading = f"{_capital(name_of(measure))} on both sides"
    height = _ROW_OF_TWO * max(2, len(shown))
    return chart_of(f"sides-{measure}", heading, caption, _sides_layers(frame, [one.name for one in shown]), height)


def _sides_layers(frame: pl.DataFrame, names: list[str]) -> alt.LayerChart | alt.FacetChart:
    axis = alt.Axis(title=None, labelExpr=TIME_LABEL, labelOverlap="greedy", labelSeparation=6)
    scale = alt.Scale(type="log", nice=False, padding=10)
    offset = alt.YOffset("side:N", scale=alt.Scale(domain=["A", "B"], paddingOuter=1))
    color = alt.Color("side:N", title=None, scale=_SIDES)
    base = alt.Chart(frame).encode(y=alt.Y("row:N", sort=names, title=None), yOffset=offset, color=color)
    x = alt.X("low:Q", scale=scale, axis=axis)
    rule = base.transform_filter("datum.low != null").mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    shape = alt.Shape("side:N", title=None, scale=alt.Scale(domain=["A", "B"], range=["circle", "diamond"]))
    point = base.mark_point(filled=True, size=70, opacity=1)
    tooltip = ["row:N", "side:N", "mean:N"]
    return alt.layer(rule, point.encode(x=alt.X("at:Q", scale=scale, axis=axis), shape=shape, tooltip=tooltip))


def _changes(measure: str, rows: list[DrawnRow]) -> Chart | None:
    """Every row's change as a part of what was before, sub-totals and the whole too."""
    told = [
        {
            "row": one.name,
            "change": one.told.relative,
            "said": change(one.told),
            "interval": change_interval(one.told),
            "B is": one.told.verdict,
            **_bounds(one.told.interval, one.told.before or 1.0),
        }
        for one in rows
        if one.told.relative is not None
    ]
    if not told:
        return None
    frame = safe(pl.DataFrame(told, schema_overrides=_BOUNDS))
    there = [name for name in _VERDICTS if name in frame["B is"].to_list()]
    scale = alt.Scale(domain=there, range=[_VERDICTS[name] for name in there])
    row = alt.Y("row:N", sort=frame["row"].to_list(), title=None)
    base = alt.Chart(frame).encode(y=row, color=alt.Color("B is:N", title=None, scale=scale))
    x = alt.X(
        "change:Q", title=None, axis=alt.Axis(format="+.0~%", tickCount=8, labelOverlap="greedy", labelSeparation=6)
    )
    rule = base.transform_filter("datum.low != null").mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q")
    tooltip = ["row:N", "said:N", alt.Tooltip("interval:N", title="95 % interval"), "B is:N"]
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, tooltip=tooltip)
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(strokeWidth=1).encode(x="zero:Q")
    between = " The line is its 95 % interval: where it holds 0 there is no difference." if frame["low"].count() else ""
    heading = f"How much {name_of(measure)} changed from A to B"
    drawn = alt.layer(zero, rule, point)
    return chart_of(f"changes-{measure}", heading, f"As a part of A's.{between}", drawn, ROW * max(2, len(told)))


def _distribution(told: Distribution) -> Chart:
    """The share of interactions that took no longer, on both sides."""
    frame = pl.DataFrame(
        [
            {"side": side, "share": at, "time_s": value / 1e9}
            for side, values in (("A", told.a_ns), ("B", told.b_ns))
            for at, value in zip(told.probabilities, values, strict=True)
            if 0 < value < math.inf
        ]
    )
    axis = alt.Axis(title="response time", labelExpr=TIME_LABEL, labelOverlap="greedy", labelSeparation=6)
    drawn = (
        alt.Chart(frame)
        .mark_line(interpolate="monotone", strokeWidth=2)
        .encode(
            x=alt.X("time_s:Q", scale=alt.Scale(type="log", nice=False), axis=axis),
            y=alt.Y("share:Q", title="no longer than this", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("side:N", title=None, scale=_SIDES),
            strokeDash=alt.StrokeDash("side:N", title=None, scale=alt.Scale(domain=["A", "B"], range=[[5, 3], [1, 0]])),
            order="share:Q",
            tooltip=[
                "side:N",
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip("time_s:Q", title="time (s)", format=",.4~r"),
            ],
        )
    )
    counts = " and ".join(f"{count:,}" for count in told.counts)
    caption = f"All interactions of each side in its own mix of commands: {counts}."
    return chart_of("distribution", "How response is distributed", caption, drawn, 240)


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _bounds(interval: Interval | None, scale: float) -> dict[str, float | None]:
    if interval is None:
        return {"low": None, "high": None}
    low, high = sorted((interval.low / scale, interval.high / scale))
    return {"low": low, "high": high}
