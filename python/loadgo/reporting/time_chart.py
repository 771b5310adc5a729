"""The chart of total time: a bar for each span, busy time above the axis and idle time by its cause below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from loadgo.documents.chart import Chart, chart_of, legend, percent, run_time, safe, seconds
from loadgo.measures.summary import Summary
from loadgo.reporting import chart_data
from loadgo.reporting.category_colors import category_colors

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_SHARE = "format(abs(datum.value), '.0%')"


def time_chart(summary: Summary, tables: Tables) -> Chart | None:
    """All processors' time over the run; None when it was not measured."""
    if summary.total_time is None:
        return None
    colors = category_colors(tables.time["category"].cast(pl.String).unique().to_list())
    by = chart_data.time_by_category(tables, list(colors))
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    axis = alt.Axis(labelExpr=_SHARE, title="← idle · share of all processors · busy →")
    bars = (
        alt.Chart(safe(by.frame))
        .mark_rect()
        .encode(
            x=run_time("from_s"),
            x2="to_s:Q",
            y=alt.Y("bottom:Q", axis=axis, scale=alt.Scale(nice=False)),
            y2="top:Q",
            color=alt.Color("category:N", title=None, scale=scale, legend=legend()),
            tooltip=["category:N", percent("share"), seconds("from_s"), seconds("to_s")],
        )
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(strokeWidth=1).encode(y="zero:Q")
    return chart_of("time", "Where the processors' time went", by.caption, alt.layer(bars, zero), 260)
