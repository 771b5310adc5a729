"""The chart of what an interaction costs, by command or user: bars from zero, divided by what is charged for."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from loadgo.costs.priced import Priced, Row
from loadgo.costs.words import cost_by, is_told, of_scale
from loadgo.documents.chart import AMOUNT_LABEL, ROW_HEIGHT_PX, Chart, chart_of, legend, safe
from loadgo.documents.palette import SERIES_COLORS
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import money

_NAME = "cost-rows"


@quick_drawing()
def row_charts(priced: Priced, rows: Sequence[Row], by: str) -> list[Chart]:
    """The chart of the rows whose cost can be told. Empty for fewer than two, and where nothing is charged."""
    known_rows = [row for row in rows if is_told(row) and row.each.value is not None]
    scale = priced.tariff.counted
    bars = [bar for row in known_rows for bar in _bars(row, priced, scale)]
    if len(known_rows) < 2 or not bars:
        return []
    names = [row.name for row in sorted(known_rows, key=lambda row: -(row.each.value or 0.0))]
    items = [rate.item for rate in priced.rates]
    unit = f"{of_scale(scale)} ({priced.tariff.currency})"
    frame = safe(pl.DataFrame(bars))
    base = alt.Chart(frame).encode(y=alt.Y("row:N", sort=names, title=None))
    color = alt.Color(
        "item:N",
        title=None,
        scale=alt.Scale(domain=items, range=list(SERIES_COLORS[: len(items)])),
        legend=legend() if len(items) > 1 else None,
    )
    axis = alt.Axis(labelExpr=AMOUNT_LABEL, tickCount=8)
    bar = base.mark_bar().encode(
        x=alt.X("amount:Q", title=unit, stack="zero", axis=axis),
        color=color,
        order=alt.Order("place:Q"),
        tooltip=[alt.Tooltip("row:N"), alt.Tooltip("item:N"), alt.Tooltip("said:N", title="cost")],
    )
    layers = [bar, *_intervals(known_rows, scale, names)]
    caption = f"Means by {by}." + (" The lines are 95 % intervals." if len(layers) > 1 else "")
    return [
        chart_of(
            _NAME,
            cost_by(by, priced.tariff),
            caption,
            alt.layer(*layers),
            ROW_HEIGHT_PX * max(2, len(known_rows)),
        )
    ]


def _bars(row: Row, priced: Priced, scale: int) -> list[dict[str, object]]:
    return [
        {
            "row": row.name,
            "item": rate.item,
            "place": place,
            "amount": (row.parts[rate.item] or 0.0) * scale,
            "said": money(row.parts[rate.item], priced.tariff.currency, scale),
        }
        for place, rate in enumerate(priced.rates)
        if row.parts[rate.item]
    ]


def _intervals(rows: Sequence[Row], scale: int, names: Sequence[str]) -> list[alt.Chart]:
    """The intervals of the rows that have one, as a layer."""
    known = [
        {"row": row.name, "low": row.each.interval.low * scale, "high": row.each.interval.high * scale}
        for row in rows
        if row.each.interval is not None
    ]
    if not known:
        return []
    y = alt.Y("row:N", sort=list(names), title=None)
    return [
        alt.Chart(safe(pl.DataFrame(known))).mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y)
    ]
