"""Charts of the cost of an interaction by the number of users, one chart for each tariff."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from loadgo.costs.curve import Curve
from loadgo.costs.words import cost_by, curve_chart_name, of_scale
from loadgo.documents.chart import ACCENT_COLOR, AMOUNT_LABEL, Chart, chart_of, figure_tooltips, safe
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.palette import WARM_COLOR
from loadgo.documents.quick_drawing import quick_drawing

_LOG_AXIS_RATIO = 10.0
"""Least ratio of the largest value to the smallest for which an axis is logarithmic."""
_CHARGED_LABEL, _ALL_BUSY_LABEL = "what interactions are charged", "with all busy time of the machine"
_NARROW_PX = 560
"""A narrower chart has no room for two names beside each other."""
_COLORS = {_CHARGED_LABEL: ACCENT_COLOR, _ALL_BUSY_LABEL: WARM_COLOR}


@quick_drawing()
def cost_charts(tariff_curves: Sequence[Curve]) -> list[Chart]:
    """A chart for each tariff for which the costs of two or more loads are known."""
    return [
        cost_chart(curve, curve_chart_name(index))
        for index, curve in enumerate(tariff_curves)
        if sum(load.interaction.value is not None for load in curve.loads) > 1
    ]


def curve_frame(curve: Curve, scale: int = 1) -> pl.DataFrame:
    """The points of the chart, with columns users, what, cost, low and high. Costs are of `scale` interactions.

    `low` and `high` are the ends of the 95 % interval, or null.
    """
    rows = []
    for load in curve.loads:
        value, interval = load.interaction.value, load.interaction.interval
        if value is not None:
            low, high = (interval.low, interval.high) if interval else (None, None)
            rows.append((load.users, _CHARGED_LABEL, value, low, high))
        if load.whole is not None:
            rows.append((load.users, _ALL_BUSY_LABEL, load.whole, None, None))
    schema = {"users": pl.Int64, "what": pl.String, "cost": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    money = [pl.col(name) * scale for name in ("cost", "low", "high")]
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(money)


@quick_drawing()
def cost_chart(curve: Curve, name: str) -> Chart:
    """The cost of an interaction by the number of users, with the interval of each point."""
    count = curve.tariff.counted
    frame = safe(curve_frame(curve, count))
    x = alt.X("users:Q", title="users", scale=_scale(frame["users"]), axis=alt.Axis(values=_ticks(frame), format="d"))
    scale = _scale(frame["cost"])
    money = f"{of_scale(count)} ({curve.tariff.currency})"
    y = alt.Y("cost:Q", title=money, scale=scale, axis=_money_axis(frame["cost"]))
    labels = [label for label in _COLORS if label in frame["what"]]
    color = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=labels, range=[_COLORS[label] for label in labels]),
        legend=_legend() if len(labels) > 1 else None,
    )
    tips = ["users:Q", alt.Tooltip("what:N", title="cost"), *figure_tooltips("cost", money, ".4~g")]
    base = alt.Chart(frame)
    line = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=color)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=color, tooltip=tips)
    intervals = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    rule = intervals.encode(x=x, y=alt.Y("low:Q", title=money, scale=scale), y2=alt.Y2("high:Q"), color=color)
    caption = f"{curve.tariff.in_words()}." + (
        " The lines at the points are 95 % intervals." if frame["low"].count() else " The runs allow no intervals."
    )
    if _spans_decades(frame["cost"]):
        caption += " The axis of costs is logarithmic."
    return chart_of(name, cost_by("the number of users", curve.tariff), caption, alt.layer(line, rule, points), 240)


def _legend() -> alt.Legend:
    """A legend above the chart, whose long names are below each other on a phone."""
    columns = f"(containerSize()[0] || {_NARROW_PX}) < {_NARROW_PX} ? 1 : 2"
    return alt.Legend(orient="top", labelLimit=400, columns=alt.ExprRef(columns))


def _scale(values: pl.Series) -> alt.Scale:
    """A logarithmic scale for values that span a decade or more, else a scale from zero."""
    return alt.Scale(type="log") if _spans_decades(values) else alt.Scale(zero=True)


def _spans_decades(values: pl.Series) -> bool:
    known = values.drop_nulls().to_numpy()
    least, most = float(known.min()), float(known.max())
    return least > 0 and most / least >= _LOG_AXIS_RATIO


def _money_axis(values: pl.Series) -> alt.Axis:
    """An axis of money. A logarithmic axis has ticks at round numbers."""
    if not _spans_decades(values):
        return alt.Axis(labelExpr=AMOUNT_LABEL, tickCount=6)
    least, most = float(values.to_numpy().min()), float(values.to_numpy().max())
    return alt.Axis(labelExpr=AMOUNT_LABEL, values=log_ticks(least, most))


def _ticks(frame: pl.DataFrame) -> list[int]:
    """The numbers of users of the points."""
    return [int(users) for users in frame["users"].unique().sort()]
