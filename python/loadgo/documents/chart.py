"""What all charts share: a Vega-Lite specification with its words, drawn in a page or standing alone, and its axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from loadgo.notation.figures import plain

ACCENT = "#3b7dd8"
ROW = 22
"""The height of a row of a chart with named rows."""
_WIDTH = 720


@dataclass(frozen=True)
class Chart:
    """One chart: its name, a heading, the line under it, and the Vega-Lite specification."""

    name: str
    heading: str
    caption: str
    spec: dict[str, Any]


def chart_of(
    name: str, heading: str, caption: str, drawn: alt.Chart | alt.LayerChart | alt.FacetChart, height: int
) -> Chart:
    """The chart, as wide as the page has room for."""
    spec = drawn.properties(width="container", height=height).to_dict()
    del spec["$schema"]
    return Chart(name, heading, caption, spec | {"config": {"view": {"stroke": None}}})


def svg(drawn: Chart) -> str:
    """The chart as an SVG picture on white."""
    picture: str = vl_convert.vegalite_to_svg(_alone(drawn), allowed_base_urls=[])
    return picture


def png(drawn: Chart) -> bytes:
    """The chart as a PNG picture on white, at twice the size of the SVG."""
    picture: bytes = vl_convert.vegalite_to_png(_alone(drawn), scale=2, allowed_base_urls=[])
    return picture


def _alone(drawn: Chart) -> dict[str, Any]:
    """The specification of a picture that stands alone: fixed width, heading and caption on it."""
    heading = {"text": drawn.heading, "subtitle": drawn.caption, "anchor": "start", "subtitlePadding": 4}
    ink = {"point": {"color": "black"}, "legend": {"symbolFillColor": "black", "orient": "top"}}
    config = drawn.spec["config"] | ink
    return drawn.spec | {"width": _WIDTH, "title": heading, "background": "white", "padding": 12, "config": config}


def safe(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with control characters made visible in its texts."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(name).map_elements(plain, return_dtype=pl.String) for name in texts)


def run_time(field: str) -> alt.X:
    """The axis of the run's time."""
    return alt.X(f"{field}:Q", title="seconds since the run began", scale=alt.Scale(nice=False))


# Of the page's width, not of the drawing's: that changes once more when the legend is there.
_COLUMNS = f"max(2, floor(((containerSize()[0] || {_WIDTH}) - 80) / 120))"


def legend() -> alt.Legend:
    """A legend in as many columns as the chart has room for."""
    return alt.Legend(columns=alt.ExprRef(_COLUMNS), symbolType="square")


def seconds(field: str) -> alt.Tooltip:
    """What the pointer tells of a time."""
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
    """What the pointer tells of a share."""
    return alt.Tooltip(f"{field}:Q", format=".2%")


TIME_LABEL = (
    "datum.value >= 1 ? format(datum.value, '.3~r') + ' s'"
    " : datum.value >= 0.001 ? format(datum.value * 1000, '.3~r') + ' ms'"
    " : datum.value >= 0.000001 ? format(datum.value * 1000000, '.3~r') + ' µs'"
    " : format(datum.value * 1000000000, '.3~r') + ' ns'"
)
"""An axis' label of a time in seconds, in the unit that fits."""
