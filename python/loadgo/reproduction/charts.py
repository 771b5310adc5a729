"""The charts of a reproduction: ours over printed of what was predicted, and those that were published as axes."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from loadgo.documents.chart import ACCENT_COLOR, Chart, chart_of
from loadgo.reproduction.models.values import Plot
from loadgo.reproduction.reproduce import DocumentAgain

_MARKS = {"within": ACCENT_COLOR, "outside": "#c23b3b", "misprint": "#a35fc0"}
_WIDEST = 4.0
"""Ratios beyond this, and below one over it, are drawn at the edge."""


def charts(again: DocumentAgain) -> list[Chart]:
    """All charts of one document."""
    found = [_plot(plot) for plot in again.plots]
    ratios = _ratios(again)
    return found if ratios is None else [*found, ratios]


def _ratios(again: DocumentAgain) -> Chart | None:
    """A point for each predicted figure: ours over printed, by table or passage."""
    rows = [
        {
            "figure": key.partition("/")[2],
            "where": key.split("/")[1] if key.split("/")[1] != "text" else "running text",
            "ratio": cell.ratio,
            "drawn": min(max(cell.ratio, 1 / _WIDEST), _WIDEST),
            "printed": cell.figure.text,
            "verdict": cell.verdict,
        }
        for key, cell in again.cells.items()
        if cell.ours is not None and cell.ours.mark == "predicted" and cell.ratio
    ]
    if not rows:
        return None
    frame = pl.DataFrame(rows)
    scale = alt.Scale(type="log", domain=_domain(frame), nice=False)
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=45, opacity=0.7)
        .encode(
            x=alt.X("drawn:Q", title="ours over printed", scale=scale, axis=alt.Axis(format=".3~g")),
            y=alt.Y("where:N", title=None, sort=None),
            color=alt.Color("verdict:N", title=None, scale=alt.Scale(domain=list(_MARKS), range=list(_MARKS.values()))),
            tooltip=["figure:N", "printed:N", alt.Tooltip("ratio:Q", format=".3~g"), "verdict:N"],
        )
    )
    one = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(strokeDash=[4, 3]).encode(x="one:Q")
    caption = f"{len(rows)} predicted figures; the dashed line is where ours is what is printed."
    if beyond := sum(row["ratio"] != row["drawn"] for row in rows):
        caption += f" {beyond} lie beyond the edge, further than a factor of {_WIDEST:g}."
    height = 40 * frame["where"].n_unique()
    name = f"ratios-{again.document.name}"
    return chart_of(name, "What was predicted", caption, one + points, max(60, height))


def _domain(frame: pl.DataFrame) -> list[float]:
    ratios = frame["drawn"].to_numpy()
    widest = max(1.25, float(ratios.max()), 1 / float(ratios.min()))
    return [1 / widest, widest]


def _plot(plot: Plot) -> Chart:
    """A chart that the document has only as axes: curves, limits as dashed lines, and areas with their names."""
    points = pl.DataFrame(
        [
            {"curve": curve.name, "x": x, "y": y, "dashed": curve.dashed}
            for curve in plot.curves
            for x, y in curve.points
        ]
    )
    x = alt.X("x:Q", title=plot.x, scale=alt.Scale(zero=True))
    y = alt.Y("y:Q", title=plot.y, scale=alt.Scale(zero=True))
    dash = alt.StrokeDash("dashed:N", legend=None, scale=alt.Scale(domain=[False, True], range=[[1, 0], [6, 4]]))
    color = alt.Color("curve:N", title=None, sort=None)
    lines = alt.Chart(points).mark_line(strokeWidth=2).encode(x=x, y=y, color=color, strokeDash=dash)
    dots = alt.Chart(points.filter(~pl.col("dashed"))).mark_point(filled=True, size=40).encode(x=x, y=y, color=color)
    drawn: Any = alt.layer(*_areas(plot), lines, dots)
    return chart_of(plot.name, plot.title, plot.how.replace("`", ""), drawn, 320)


def _areas(plot: Plot) -> list[alt.Chart]:
    if not plot.areas:
        return []
    frame = pl.DataFrame(
        [
            {"name": a.name, "x": a.left, "x2": a.right, "y": a.bottom, "y2": a.top, "middle": (a.left + a.right) / 2}
            for a in plot.areas
        ]
    )
    boxes = (
        alt.Chart(frame)
        .mark_rect(fillOpacity=0.12, fill=ACCENT_COLOR, stroke=ACCENT_COLOR, strokeDash=[3, 3])
        .encode(x="x:Q", x2="x2:Q", y="y:Q", y2="y2:Q")
    )
    names = alt.Chart(frame).mark_text(dy=-8, fontSize=11).encode(x="middle:Q", y="y2:Q", text="name:N")
    return [boxes, names]
