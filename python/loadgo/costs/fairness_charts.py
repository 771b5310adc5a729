"""The chart of a fair price: the ratio of charges against the ratio of times, by shift, both B over A.

On the line both ratios are equal. Above it B charges more than a fair price, below it less. Both axes are logarithmic:
exchanging A and B mirrors the chart, and equal distances from the line are equal factors.
"""

from __future__ import annotations

import altair as alt
import polars as pl

from loadgo.costs.fairness import FAIR_PRICE_SHARE, Fairness, Ratio
from loadgo.costs.words import FAIRNESS_MEASURE_LABELS
from loadgo.documents.chart import AMOUNT_LABEL, Chart, chart_of, safe
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.palette import GREY_COLOR, SERIES_COLORS
from loadgo.documents.quick_drawing import quick_drawing

_AXIS_MARGIN_RATIO = 1.15
"""The axes reach beyond the outermost points by this ratio."""
_NARROW_PX = 560
"""A narrower chart has no room for the names of the measures beside each other."""


@quick_drawing()
def fairness_charts(fairness: Fairness) -> list[Chart]:
    """The chart, alone in a list."""
    points = safe(fairness_frame(fairness))
    low, high = _ends(points)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    x = alt.X("performance:Q", scale=scale, axis=_axis("time for the same work: B ÷ A", low, high))
    y = alt.Y("charges:Q", scale=scale, axis=_axis("charge for the same work: B ÷ A", low, high))
    base = alt.Chart(points).encode(x=x, y=y, color=_color(points))
    tips = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("performance", "charges")]
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        shape=_shape(points), tooltip=[alt.Tooltip("shift"), alt.Tooltip("by"), *tips]
    )
    upright = base.transform_filter("isValid(datum.charges_low)").mark_rule(strokeWidth=1.5)
    level = base.transform_filter("isValid(datum.performance_low)").mark_rule(strokeWidth=1.5)
    layers = alt.layer(
        *_fair_prices(low, high, x, y, scale),
        upright.encode(y=alt.Y("charges_low:Q", scale=scale), y2=alt.Y2("charges_high:Q")),
        level.encode(x=alt.X("performance_low:Q", scale=scale), x2=alt.X2("performance_high:Q")),
        dots,
    )
    caption = (
        f"On the line the price is fair, within the grey band by {100 * FAIR_PRICE_SHARE:.0f} %: above it B charges "
        f"more than a fair price, below it less. The verdict is by {FAIRNESS_MEASURE_LABELS[fairness.measure]}."
    )
    return [chart_of("fairness", "Charges against performance", caption, layers, 320)]


def fairness_frame(fairness: Fairness) -> pl.DataFrame:
    """The points of the chart: a row for each shift and measure of performance, with both ratios and their intervals.

    The ends of an interval are null if there is none.
    """
    rows = [
        {
            "shift": price.shift or "all",
            "by": FAIRNESS_MEASURE_LABELS[name],
            **_spread("performance", ratio),
            **_spread("charges", price.charges),
        }
        for price in fairness.prices
        for name, ratio in fairness.performance.items()
    ]
    ends = {f"{name}_{end}": pl.Float64() for name in ("performance", "charges") for end in ("low", "high")}
    return pl.DataFrame(rows, schema_overrides=ends)


def _spread(name: str, ratio: Ratio) -> dict[str, float | None]:
    interval = ratio.b_over_a_interval
    return {
        name: ratio.b_over_a,
        f"{name}_low": None if interval is None else interval.low,
        f"{name}_high": None if interval is None else interval.high,
    }


def _ends(points: pl.DataFrame) -> tuple[float, float]:
    """The ends of both axes. They enclose all points and 1, with a margin."""
    values = [value for name in ("performance", "charges") for value in points[name].to_list()]
    return min(*values, 1.0) / _AXIS_MARGIN_RATIO, max(*values, 1.0) * _AXIS_MARGIN_RATIO


def _axis(title: str, low: float, high: float) -> alt.Axis:
    return alt.Axis(title=title, labelExpr=AMOUNT_LABEL, values=log_ticks(low, high), labelOverlap="greedy")


def _color(points: pl.DataFrame) -> alt.Color:
    shifts = points["shift"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=shifts, range=[SERIES_COLORS[index % len(SERIES_COLORS)] for index in range(len(shifts))])
    return alt.Color("shift:N", title="shift", scale=scale, legend=alt.Legend() if len(shifts) > 1 else None)


def _shape(points: pl.DataFrame) -> alt.Shape:
    has_several = points["by"].n_unique() > 1
    columns = f"(containerSize()[0] || {_NARROW_PX}) < {_NARROW_PX} ? 1 : 3"
    return alt.Shape("by:N", title="by", legend=alt.Legend(columns=alt.ExprRef(columns)) if has_several else None)


def _fair_prices(low: float, high: float, x: alt.X, y: alt.Y, scale: alt.Scale) -> list[alt.Chart]:
    """The line of fair prices, and the band around it in which a price is still called fair."""
    edges = pl.DataFrame({"performance": [low, high], "charges": [low, high]}).with_columns(
        least=pl.col("charges") / (1 + FAIR_PRICE_SHARE), most=pl.col("charges") * (1 + FAIR_PRICE_SHARE)
    )
    base = alt.Chart(edges).encode(x=x)
    band = base.mark_area(color=GREY_COLOR, opacity=0.2, clip=True).encode(
        y=alt.Y("least:Q", scale=scale), y2=alt.Y2("most:Q")
    )
    line = base.mark_line(color=GREY_COLOR, strokeDash=[4, 3], clip=True).encode(y=y)
    return [band, line]
