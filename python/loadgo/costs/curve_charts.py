"""The chart of costs: what an interaction costs by the number of users, a chart for each tariff."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from loadgo.costs.curve import Curve
from loadgo.costs.words import of_scale
from loadgo.documents.chart import ACCENT, Chart, chart_of, safe
from loadgo.notation.figures import money_scale

_DECADE = 10.0
"""From such a ratio of the most to the least on, an axis is logarithmic."""
OWN, WHOLE = "what interactions are charged", "with all busy time of the machine"
_COLORS = {OWN: ACCENT, WHOLE: "#e08a1e"}


def cost_charts(every: Sequence[Curve]) -> list[Chart]:
    """A chart for each tariff of which costs are known at two loads or more; none of a single load."""
    return [
        cost_chart(curve, f"cost-{place}")
        for place, curve in enumerate(every)
        if sum(load.interaction.value is not None for load in curve.loads) > 1
    ]


def curve_frame(curve: Curve, scale: int = 1) -> pl.DataFrame:
    """What the chart draws: costs of `scale` interactions; columns: users, what, cost, low, high (the 95 % interval,
    null where there is none).
    """
    rows = []
    for load in curve.loads:
        value, between = load.interaction.value, load.interaction.interval
        if value is not None:
            rows.append((load.users, OWN, value, between.low if between else None, between.high if between else None))
        if load.whole is not None:
            rows.append((load.users, WHOLE, load.whole, None, None))
    schema = {"users": pl.Int64, "what": pl.String, "cost": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    money = [pl.col(name) * scale for name in ("cost", "low", "high")]
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(money)


def cost_chart(curve: Curve, name: str) -> Chart:
    """The cost of an interaction by the number of users, with the interval of each point."""
    of = money_scale([curve.cheapest.interaction.value if curve.cheapest else None])
    frame = safe(curve_frame(curve, of))
    x = alt.X("users:Q", title="users", scale=_scale(frame["users"]), axis=alt.Axis(values=_ticks(frame), format="d"))
    scale = _scale(frame["cost"])
    money = f"{of_scale(of)} ({curve.tariff.currency})"
    y = alt.Y("cost:Q", title=money, scale=scale, axis=_money_axis(frame["cost"]))
    there = [what for what in _COLORS if what in frame["what"]]
    color = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=there, range=[_COLORS[what] for what in there]),
        legend=alt.Legend(orient="top", labelLimit=400) if len(there) > 1 else None,
    )
    tips = ["users:Q", "what:N", *(alt.Tooltip(f"{field}:Q", format=".4~g") for field in ("cost", "low", "high"))]
    base = alt.Chart(frame)
    line = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=color)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=color, tooltip=tips)
    between = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    rule = between.encode(x=x, y=alt.Y("low:Q", title=money, scale=scale), y2="high:Q", color=color)
    caption = f"{curve.tariff.in_words()}. The lines at the points are 95 % intervals, where there are any."
    return chart_of(
        name, f"What an interaction costs, at {curve.tariff.label}", caption, alt.layer(line, rule, points), 240
    )


def _scale(values: pl.Series) -> alt.Scale:
    """Logarithmic over a decade or more, else from zero."""
    known = values.drop_nulls().to_numpy()
    least, most = float(known.min()), float(known.max())
    return alt.Scale(type="log") if least > 0 and most / least >= _DECADE else alt.Scale(zero=True)


def _money_axis(values: pl.Series) -> alt.Axis:
    """Over a decade or more only round numbers: 1, 2 and 5, of many decades only 1."""
    least, most = float(values.to_numpy().min()), float(values.to_numpy().max())
    if least <= 0 or most / least < _DECADE:
        return alt.Axis(format="~g", tickCount=6)
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return alt.Axis(format=",~g", values=[step * 10.0**decade for decade in range(first, last + 1) for step in steps])


def _ticks(frame: pl.DataFrame) -> list[int]:
    """The numbers of users that there are."""
    return [int(users) for users in frame["users"].unique().sort()]
