"""The chart of a fair price: the ratio of charges against the ratio of performance, by shift, and where both are one.

Above the line B charges less than its performance asks, below it more. Both axes are logarithmic, so that the two sides
may be exchanged, and equal distances from the line are equal parts too much.
"""

from __future__ import annotations

import altair as alt
import polars as pl

from loadgo.costs.fairness import FAIR, Fairness, Ratio
from loadgo.costs.words import MEASURED
from loadgo.documents.chart import ACCENT, Chart, chart_of, safe

_GREY = "#8b97a3"
_COLORS = (ACCENT, "#e08a1e", "#45b58a", "#a8559a", "#8f6420", "#5f5bb0")
_ROOM = 1.15
"""How much further than the points the axes go, either way."""


def fairness_charts(made: Fairness) -> list[Chart]:
    """The one chart."""
    points = safe(fairness_frame(made))
    low, high = _ends(points)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    x = alt.X("performance:Q", scale=scale, axis=_axis("performance: A takes so many times what B takes"))
    y = alt.Y("charges:Q", scale=scale, axis=_axis("charges: A is charged so many times what B is"))
    base = alt.Chart(points).encode(x=x, y=y, color=_color(points))
    tips = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("performance", "charges")]
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(shape=_shape(points), tooltip=["shift", "by", *tips])
    upright = base.transform_filter("isValid(datum.charges_low)").mark_rule(strokeWidth=1.5)
    level = base.transform_filter("isValid(datum.performance_low)").mark_rule(strokeWidth=1.5)
    layers = alt.layer(
        *_fair(low, high, x, y, scale),
        upright.encode(y=alt.Y("charges_low:Q", scale=scale), y2="charges_high:Q"),
        level.encode(x=alt.X("performance_low:Q", scale=scale), x2="performance_high:Q"),
        dots,
    )
    caption = (
        f"On the line the price is fair, within the grey band by {100 * FAIR:.0f} %: above it B charges less than what "
        "it does asks, below it more. The verdict is by " + MEASURED[made.measure] + "."
    )
    return [chart_of("fairness", "Charges against performance", caption, layers, 320)]


def fairness_frame(made: Fairness) -> pl.DataFrame:
    """What the chart draws, a row for each shift and measure of performance: the two ratios with their intervals, null
    where there are none.
    """
    rows = [
        {
            "shift": price.shift or "all",
            "by": MEASURED[name],
            **_spread("performance", ratio),
            **_spread("charges", price.charges),
        }
        for price in made.prices
        for name, ratio in made.performance.items()
    ]
    ends = {f"{name}_{end}": pl.Float64() for name in ("performance", "charges") for end in ("low", "high")}
    return pl.DataFrame(rows, schema_overrides=ends)


def _spread(name: str, ratio: Ratio) -> dict[str, float | None]:
    between = ratio.interval
    return {
        name: ratio.value,
        f"{name}_low": None if between is None else between.low,
        f"{name}_high": None if between is None else between.high,
    }


def _ends(points: pl.DataFrame) -> tuple[float, float]:
    """Of both axes alike: what there is, 1, and some room."""
    values = [value for name in ("performance", "charges") for value in points[name].to_list()]
    return min(*values, 1.0) / _ROOM, max(*values, 1.0) * _ROOM


def _axis(title: str) -> alt.Axis:
    return alt.Axis(title=title, format=".2~f", tickCount=8, labelOverlap="greedy")


def _color(points: pl.DataFrame) -> alt.Color:
    shifts = points["shift"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=shifts, range=[_COLORS[at % len(_COLORS)] for at in range(len(shifts))])
    return alt.Color("shift:N", title="shift", scale=scale, legend=alt.Legend() if len(shifts) > 1 else None)


def _shape(points: pl.DataFrame) -> alt.Shape:
    several = points["by"].n_unique() > 1
    return alt.Shape("by:N", title="by", legend=alt.Legend() if several else None)


def _fair(low: float, high: float, x: alt.X, y: alt.Y, scale: alt.Scale) -> list[alt.Chart]:
    """The line of fair prices, and how far from it a price still is fair."""
    edges = pl.DataFrame({"performance": [low, high], "charges": [low, high]}).with_columns(
        least=pl.col("charges") / (1 + FAIR), most=pl.col("charges") * (1 + FAIR)
    )
    base = alt.Chart(edges).encode(x=x)
    band = base.mark_area(color=_GREY, opacity=0.2, clip=True).encode(y=alt.Y("least:Q", scale=scale), y2="most:Q")
    line = base.mark_line(color=_GREY, strokeDash=[4, 3], clip=True).encode(y=y)
    return [band, line]
