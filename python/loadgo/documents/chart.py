"""Charts, each a Vega-Lite specification with a heading and a caption, for a page or as a picture; and their axes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from loadgo.documents.palette import ACCENT_COLOR as ACCENT_COLOR
from loadgo.notation.figures import plain

ROW_HEIGHT_PX = 22
"""Height of a row in a chart with named rows."""
_PICTURE_WIDTH_PX = 720
_WARNING_COLOR, _WARNING_CHARS = "#b3261e", 110


@dataclass(frozen=True)
class Chart:
    """One chart: its name, a heading, a caption under it, and the Vega-Lite specification."""

    name: str
    heading: str
    caption: str
    spec: dict[str, Any]


def chart_of(
    name: str, heading: str, caption: str, drawing: alt.Chart | alt.LayerChart | alt.FacetChart, height: int
) -> Chart:
    """Makes a chart that is as wide as the page allows and `height` pixels high."""
    spec = drawing.properties(width="container", height=height).to_dict()
    del spec["$schema"]
    return Chart(name, heading, caption, spec | {"config": {"view": {"stroke": None}}})


def svg(chart: Chart, warnings: Sequence[str] = ()) -> str:
    """The chart as an SVG picture on white, below the warnings of its run."""
    picture: str = vl_convert.vegalite_to_svg(_picture_spec(chart, warnings), allowed_base_urls=[])
    return picture


def png(chart: Chart, warnings: Sequence[str] = ()) -> bytes:
    """The chart as a PNG picture on white, at twice the size of the SVG."""
    picture: bytes = vl_convert.vegalite_to_png(_picture_spec(chart, warnings), scale=2, allowed_base_urls=[])
    return picture


def altair_chart(chart: Chart, warnings: Sequence[str] = ()) -> alt.Chart | alt.LayerChart | alt.FacetChart:
    """The chart for Altair, with the fixed width of a picture, and warnings above it."""
    drawing: alt.Chart | alt.LayerChart | alt.FacetChart = alt.Chart.from_dict(_picture_spec(chart, warnings))
    return drawing


def _title(chart: Chart, warnings: Sequence[str]) -> dict[str, Any]:
    """The heading and the caption of a picture. Warnings stand above both, in red."""
    heading = {"text": chart.heading, "subtitle": chart.caption, "anchor": "start", "subtitlePadding": 4}
    if not warnings:
        return heading
    lines = [line for text in warnings for line in textwrap.wrap(plain(text), _WARNING_CHARS)]
    below = [chart.heading, chart.caption]
    return heading | {"text": lines, "color": _WARNING_COLOR, "fontSize": 12, "subtitle": below}


def _picture_spec(chart: Chart, warnings: Sequence[str]) -> dict[str, Any]:
    """The specification of a picture outside of a page, with a fixed width, warnings, the heading and the caption."""
    ink = {"point": {"color": "black"}, "legend": {"symbolFillColor": "black", "orient": "top"}}
    config = chart.spec["config"] | ink
    return chart.spec | {
        "width": _PICTURE_WIDTH_PX,
        "title": _title(chart, warnings),
        "background": "white",
        "padding": 12,
        "config": config,
    }


def safe(frame: pl.DataFrame) -> pl.DataFrame:
    """Replaces control characters in the frame's texts by a visible sign."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(name).map_elements(plain, return_dtype=pl.String) for name in texts)


def run_time(field: str) -> alt.X:
    """The axis of the run's time."""
    return alt.X(f"{field}:Q", title="seconds since the run began", scale=alt.Scale(nice=False))


# Computed from the page's width, since the chart's width changes again when the legend is drawn.
_LEGEND_COLUMNS = f"max(2, floor(((containerSize()[0] || {_PICTURE_WIDTH_PX}) - 80) / 120))"


def legend() -> alt.Legend:
    """A legend in as many columns as the chart has room for."""
    return alt.Legend(columns=alt.ExprRef(_LEGEND_COLUMNS), symbolType="square")


def seconds(field: str) -> alt.Tooltip:
    """The tooltip of a time."""
    words = {
        "from_s": "from",
        "to_s": "to",
        "value_s": "time",
        "low_s": "at least",
        "high_s": "at most",
        "short_s": "at least",
        "long_s": "less than",
        "mean_s": "mean",
    }
    return alt.Tooltip(f"{field}:Q", title=f"{words[field]} (s)", format=",.4~r")


def percent(field: str) -> alt.Tooltip:
    """The tooltip of a share."""
    return alt.Tooltip(f"{field}:Q", format=".2%")


PERCENT_LABEL = "format(100 * abs(datum.value), '.3~r') + ' %'"
"""Vega expression for an axis label: a share from 0 to 1, or the same below the axis, in percent."""

TIME_LABEL = (
    "datum.value >= 1 ? format(datum.value, '.3~r') + ' s'"
    " : datum.value >= 0.001 ? format(datum.value * 1000, '.3~r') + ' ms'"
    " : datum.value >= 0.000001 ? format(datum.value * 1000000, '.3~r') + ' µs'"
    " : format(datum.value * 1000000000, '.3~r') + ' ns'"
)
"""Vega expression for an axis label: a time in seconds, printed with the unit that suits it."""
