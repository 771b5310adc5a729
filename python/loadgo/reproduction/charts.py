"""The charts of a reproduction: ours over printed for predicted figures, and the charts printed as axes only."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from loadgo.documents.chart import ACCENT_COLOR, Chart, chart_of, legend
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.palette import SERIES_COLORS
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import capitalized, setting
from loadgo.reproduction.models.values import Plot
from loadgo.reproduction.reproduce import ReproducedDocument, ReproducedTotal
from loadgo.reproduction.words import ratio_chart_name

_VERDICT_COLORS = {"within": ACCENT_COLOR, "one run": "#b07d1a", "outside": "#c23b3b", "misprint": "#a35fc0"}
_MOST_DRAWN_RATIO = 4.0
"""Ratios above this number, and below its reciprocal, are drawn at the edge of the chart."""


@quick_drawing()
def charts(reproduced: ReproducedDocument) -> list[Chart]:
    """All charts of one document: the charts that it prints as axes only, then that of the predicted figures."""
    plots = [_plot_chart(plot) for plot in reproduced.plots]
    ratios = _ratio_chart(reproduced)
    return plots if ratios is None else [*plots, ratios]


def _ratio_chart(reproduced: ReproducedDocument) -> Chart | None:
    """A chart with a point for each predicted figure: ours over printed, by table or passage."""
    rows = [
        {
            "figure": key.partition("/")[2],
            "where": key.split("/")[1] if key.split("/")[1] != "text" else "running text",
            "ratio": cell.ratio,
            "drawn": min(max(cell.ratio, 1 / _MOST_DRAWN_RATIO), _MOST_DRAWN_RATIO),
            "printed": cell.figure.text,
            "verdict": cell.verdict,
        }
        for key, cell in reproduced.cells.items()
        if cell.verdict in _VERDICT_COLORS and cell.ratio
    ]
    rows += [_total_row(total) for total in reproduced.totals if _is_judged(total) and total.ratio]
    if not rows:
        return None
    frame = pl.DataFrame(rows)
    domain = _domain(frame)
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    axis = alt.Axis(format=".3~g", values=log_ticks(*domain))
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=45, opacity=0.7)
        .encode(
            x=alt.X("drawn:Q", title="ours over printed", scale=scale, axis=axis),
            y=alt.Y("where:N", title=None, sort=None),
            color=alt.Color(
                "verdict:N",
                title=None,
                scale=alt.Scale(domain=list(_VERDICT_COLORS), range=list(_VERDICT_COLORS.values())),
            ),
            tooltip=[
                alt.Tooltip("figure:N"),
                alt.Tooltip("printed:N"),
                alt.Tooltip("ratio:Q", format=".3~g"),
                alt.Tooltip("verdict:N"),
            ],
        )
    )
    line_at_one = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(strokeDash=[4, 3]).encode(x=alt.X("one:Q"))
    caption = f"{_how_many(reproduced, len(rows))}; at the dashed line, ours equals the printed figure."
    if beyond := sum(row["ratio"] != row["drawn"] for row in rows):
        drawn = "is drawn" if beyond == 1 else "are drawn"
        caption += f" {beyond} of them, off by a factor of more than {_MOST_DRAWN_RATIO:g}, {drawn} at the edge."
    height = max(60, 40 * frame["where"].n_unique())
    name = ratio_chart_name(reproduced.document.name)
    return chart_of(name, "What was predicted", caption, line_at_one + points, height)


def _is_judged(total: ReproducedTotal) -> bool:
    return total.rule is not None and total.verdict in _VERDICT_COLORS


def _total_row(total: ReproducedTotal) -> dict[str, Any]:
    ratio = total.ratio or 0.0
    return {
        "figure": total.total.label,
        "where": "totals",
        "ratio": ratio,
        "drawn": min(max(ratio, 1 / _MOST_DRAWN_RATIO), _MOST_DRAWN_RATIO),
        "printed": setting(total.printed),
        "verdict": total.verdict,
    }


def _how_many(reproduced: ReproducedDocument, drawn: int) -> str:
    """The number of predicted figures that are drawn, and why the others are not."""
    predicted = reproduced.count("within", "outside", "misprint")
    if drawn == predicted:
        return f"{drawn} predicted figures"
    no_ratio = f"{predicted - drawn} {'has' if predicted - drawn == 1 else 'have'} no ratio to draw"
    return f"{drawn} of {predicted} predicted figures ({no_ratio}: 0 is printed, or a range that holds ours)"


def _domain(frame: pl.DataFrame) -> tuple[float, float]:
    ratios = frame["drawn"].to_numpy()
    widest = max(1.25, float(ratios.max()), 1 / float(ratios.min()))
    return 1 / widest, widest


def _plot_chart(plot: Plot) -> Chart:
    """A chart of which the document prints only the axes: curves, dashed limits, and named areas."""
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
    names = [curve.name for curve in plot.curves]
    color = alt.Color(
        "curve:N",
        title=None,
        scale=alt.Scale(domain=names, range=[SERIES_COLORS[at % len(SERIES_COLORS)] for at in range(len(names))]),
        legend=legend(max(map(len, names))),
    )
    lines = alt.Chart(points).mark_line(strokeWidth=2).encode(x=x, y=y, color=color, strokeDash=dash)
    dots = alt.Chart(points.filter(~pl.col("dashed"))).mark_point(filled=True, size=40).encode(x=x, y=y, color=color)
    layers: Any = alt.layer(*_areas(plot), lines, dots)
    return chart_of(plot.name, plot.title, f"{capitalized(plot.how.replace('`', ''))}.", layers, 320)


def _areas(plot: Plot) -> list[alt.Chart]:
    """The areas as rectangles with their names, which grow towards the middle of the chart, so that none is cut."""
    if not plot.areas:
        return []
    area_ends = min(area.left for area in plot.areas), max(area.right for area in plot.areas)
    frame = pl.DataFrame(
        [
            {
                "name": area.name,
                "x": area.left,
                "x2": area.right,
                "y": area.bottom,
                "y2": area.top,
                "is_right": area.left + area.right > area_ends[0] + area_ends[1],
            }
            for area in plot.areas
        ]
    )
    rectangles = (
        alt.Chart(frame)
        .mark_rect(fillOpacity=0.12, fill=ACCENT_COLOR, stroke=ACCENT_COLOR, strokeDash=[3, 3])
        .encode(x=alt.X("x:Q"), x2=alt.X2("x2:Q"), y=alt.Y("y:Q"), y2=alt.Y2("y2:Q"))
    )
    name = alt.Chart(frame).encode(y=alt.Y("y2:Q"), text=alt.Text("name:N"))
    to_the_right = name.transform_filter("!datum.is_right").mark_text(dy=-8, fontSize=11, align="left")
    to_the_left = name.transform_filter("datum.is_right").mark_text(dy=-8, fontSize=11, align="right")
    return [rectangles, to_the_right.encode(x=alt.X("x:Q")), to_the_left.encode(x=alt.X("x2:Q"))]
