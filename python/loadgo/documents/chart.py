"""Charts, each a Vega-Lite specification with a heading and a caption, for a page or as a picture; and their axes."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import polars as pl

from loadgo.documents.formats import check_drawable
from loadgo.documents.palette import ACCENT_COLOR as ACCENT_COLOR
from loadgo.documents.prose import with_whole_figures
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.errors import LoadgoError
from loadgo.notation.figures import plain

ROW_HEIGHT_PX = 22
"""Height of a row in a chart with named rows."""
_PICTURE_WIDTH_PX = 720
_MOST_PIXELS = 1e6
"""A picture with a larger width or height has an axis without an end."""
_WARNING_COLOR, _TITLE_CHARS = "#b3261e", 110
"""Colour of warnings in a picture, and characters of a line above it."""


@dataclass(frozen=True)
class Chart:
    """One chart: its name, a heading, a caption under it, and the Vega-Lite specification."""

    name: str
    heading: str
    caption: str
    spec: dict[str, Any]
    flat: bool = False
    """Whether all that the chart shows is one value. A page leaves it out."""


def chart_of(
    name: str,
    heading: str,
    caption: str,
    drawing: alt.Chart | alt.LayerChart | alt.FacetChart,
    height: int,
    *,
    flat: bool = False,
) -> Chart:
    """Makes a chart that is as wide as the page allows and `height` pixels high. `flat`: it shows one value."""
    drawing.width, drawing.height = "container", height  # `properties` would compare both with the schema.
    spec = drawing.to_dict(validate=False)
    del spec["$schema"]
    return Chart(name, heading, caption, spec | {"config": _CONFIG}, flat)


def stacked_chart(name: str, heading: str, caption: str, panels: Sequence[alt.LayerChart]) -> Chart:
    """Makes a chart of panels below each other on one axis of time, as wide as the page allows.

    The names and values at the left of each panel must fit in `GUTTER_PX`.
    """
    spec = alt.vconcat(*panels, spacing=4).resolve_scale(x="shared", color="independent").to_dict(validate=False)
    del spec["$schema"]
    return Chart(name, heading, caption, spec | {"config": _CONFIG, "usermeta": {"beside_px": GUTTER_PX}})


_NUMBERS = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""], "percent": " %"}
_LABEL_GAP_PX = 6
"""Least distance of two labels of an axis: nearer ones read as one number, as `5 ms10 ms`."""
_LABEL_END_PX = 14
"""A label of a horizontal axis this near to an end of the axis stays within it: half of a label is beyond otherwise."""
_CONFIG = {
    "view": {"stroke": None},
    "axisQuantitative": {"labelSeparation": _LABEL_GAP_PX},
    "axisX": {"labelFlush": _LABEL_END_PX},
    "locale": {"number": _NUMBERS},
}
"""The configuration of every chart. A percentage is written as in the texts, `12.3 %`."""


GUTTER_PX = 96
"""Room beside the panels of a stacked chart, for the names of rows and for the last label of the time axis."""


Ground = Literal["white", "any"]
"""The ground of a picture. On any, light or dark, the picture has none of its own, and grey words and axes."""
_ANY_GROUND_INK, _ANY_GROUND_LINE = "#7d858c", "#8b97a355"
"""Grey that has a contrast of at least 3.7 on white and 4.5 on the ground of dark notebooks, and that of lines."""


def svg(chart: Chart, warnings: Sequence[str] = (), trust: str = "", ground: Ground = "white") -> str:
    """The chart as an SVG picture, below the warnings of its run and the line on whether to believe it.

    Raises `LoadgoError` if that fails, and `Refused` without vl-convert.
    """
    check_drawable("svg")
    import vl_convert

    with _drawing(chart):
        picture: str = vl_convert.vegalite_to_svg(_picture_spec(chart, warnings, trust, ground), allowed_base_urls=[])
        if not _has_finite_size(picture):
            raise ValueError("the picture has no finite size")
    return picture


def png(chart: Chart, warnings: Sequence[str] = (), trust: str = "", ground: Ground = "white") -> bytes:
    """The chart as a PNG picture, at twice the size of the SVG. Raises what `svg` raises."""
    check_drawable("png")
    import vl_convert

    spec = _picture_spec(chart, warnings, trust, ground)
    with _drawing(chart):
        picture: bytes = vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    return picture


@contextmanager
def _drawing(chart: Chart) -> Iterator[None]:
    """Puts the chart's name before the text of an error of the drawing library."""
    try:
        yield
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise LoadgoError(f"chart {chart.name!r} cannot be drawn as a picture: {reason}") from error


def _has_finite_size(picture: str) -> bool:
    """Whether the SVG's width and height are numbers that a picture can have."""
    sizes = re.findall(r' (?:width|height)="([^"]*)"', picture[: picture.find(">")])
    return len(sizes) == 2 and all(0 < float(size) < _MOST_PIXELS for size in sizes)


def altair_chart(chart: Chart, warnings: Sequence[str] = ()) -> alt.Chart | alt.LayerChart | alt.FacetChart:
    """The chart for Altair, with the fixed width of a picture, and warnings above it, for a notebook of any colours."""
    spec = _picture_spec(chart, warnings, ground="any")
    kind: Any = next((kind for member, kind in _KINDS.items() if member in spec), alt.Chart)
    with quick_drawing():
        drawing: alt.Chart | alt.LayerChart | alt.FacetChart = kind.from_dict(spec, validate=False)
    return drawing


_KINDS = {"layer": alt.LayerChart, "vconcat": alt.VConcatChart, "facet": alt.FacetChart}
"""Altair's class for a specification with this member: Altair itself tries all, and compares each with the schema."""


def _lines(text: str) -> list[str]:
    """The text in lines of a picture, none of which parts a figure from its unit."""
    joint = "\N{NO-BREAK SPACE}"
    wrapped = textwrap.wrap(with_whole_figures(plain(text), joint), _TITLE_CHARS)
    return [line.replace(joint, " ") for line in wrapped]


def _title(chart: Chart, warnings: Sequence[str], trust: str) -> dict[str, Any]:
    """The heading of a picture, its caption and the line on trust. Warnings stand above them, in red."""
    caption = [line for text in (chart.caption, trust) for line in _lines(text)]
    heading = {"text": plain(chart.heading), "subtitle": caption, "anchor": "start", "subtitlePadding": 4, "offset": 10}
    if not warnings:
        return heading
    lines = [line for text in warnings for line in _lines(text)]
    below = [plain(chart.heading), *caption]
    return heading | {"text": lines, "color": _WARNING_COLOR, "fontSize": 12, "subtitle": below}


def _picture_spec(chart: Chart, warnings: Sequence[str], trust: str = "", ground: Ground = "white") -> dict[str, Any]:
    """The specification of a picture outside of a page, with a fixed width, warnings, the heading and the caption."""
    mark = "black" if ground == "white" else _ANY_GROUND_INK
    words = {} if ground == "white" else {"labelColor": mark, "titleColor": mark}
    lines = {} if ground == "white" else dict.fromkeys(("gridColor", "domainColor", "tickColor"), _ANY_GROUND_LINE)
    ink = {
        "point": {"color": mark},
        "legend": {"symbolFillColor": mark, "orient": "top", "labelLimit": 400, **words},
        "axis": {"labelLimit": 400, "titleLimit": 600, **words, **lines},
    }
    if ground == "any":
        ink |= {"rule": {"color": mark}, "text": {"color": mark}, "title": {"color": mark, "subtitleColor": mark}}
    config = chart.spec["config"] | ink
    title = _title(chart, warnings, trust)
    background = "white" if ground == "white" else "transparent"
    return _sized(chart.spec) | {"title": title, "background": background, "padding": 12, "config": config}


def _sized(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification with the width of a picture, in the place of the page's."""
    if "vconcat" not in spec:
        return spec | {"width": _PICTURE_WIDTH_PX}
    width = _PICTURE_WIDTH_PX - spec["usermeta"]["beside_px"]
    return spec | {"vconcat": [panel | {"width": width} for panel in spec["vconcat"]]}


def safe(frame: pl.DataFrame) -> pl.DataFrame:
    """Replaces control characters in the frame's texts by a visible sign."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(name).map_elements(plain, return_dtype=pl.String) for name in texts)


def run_time(shown_ns: tuple[int, int]) -> alt.X:
    """The axis of the run's time from `from_s`, with the moments and the unit of all charts of the time `shown_ns`."""
    begin_s, end_s = (instant_ns / 1e9 for instant_ns in shown_ns)
    return alt.X("from_s:Q", axis=time_axis(begin_s, end_s), scale=alt.Scale(nice=False, zero=False))


def time_axis(begin_s: float, end_s: float, *, labels: bool = True) -> alt.Axis:
    """An axis of the run's time with at most eight round moments, in seconds, minutes or hours."""
    steps = (*(step * 10.0**power for power in range(-6, 1) for step in (1, 2, 5)), 10, 20, 30, *_LONG_STEPS_S)
    step = next((step for step in steps if (end_s - begin_s) / step <= _MOST_MOMENTS), steps[-1])
    first = math.ceil(begin_s / step - 1e-9)
    shown = max(step, 1.0) if end_s >= 1 else step  # 1.5 s, and not 1500 ms
    scale, unit = next(((scale, unit) for scale, unit in _TIME_UNITS if shown >= scale), _TIME_UNITS[-1])
    return alt.Axis(
        values=[round(place * step, 9) for place in range(first, math.floor(end_s / step + 1e-9) + 1)],
        labelExpr=f"format(datum.value / {scale}, '.6~r') + ' {unit}'",
        title="time since the run began" if labels else None,
        labels=labels,
        ticks=labels,
        labelFlush=_LABEL_END_PX,
    )


_MOST_MOMENTS = 8
_LONG_STEPS_S = (60, 120, 300, 600, 1800, 3600, 7200, 18_000, 43_200, 86_400, 604_800)
_TIME_UNITS = ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs"))

# Computed from the page's width, since the chart's width changes again when the legend is drawn.
_LEGEND_COLUMNS = f"max(2, floor(((containerSize()[0] || {_PICTURE_WIDTH_PX}) - 80) / 120))"
_LEGEND_CHAR_PX, _LEGEND_SIGN_PX = 5.6, 28
"""Width of a character of a legend, and of the sign and the gap of an entry."""
_LEGEND_LABEL_PX = 300
"""The largest width of a name in a legend, which a phone has room for."""


def legend(longest_chars: int | None = None) -> alt.Legend:
    """A legend in as many columns as the chart has room for; `longest_chars` is the length of its longest name."""
    columns = _LEGEND_COLUMNS
    if longest_chars is not None:
        column_px = round(longest_chars * _LEGEND_CHAR_PX + _LEGEND_SIGN_PX)
        columns = f"max(1, floor(((containerSize()[0] || {_PICTURE_WIDTH_PX}) - 80) / {max(column_px, 120)}))"
    return alt.Legend(columns=alt.ExprRef(columns), symbolType="square", labelLimit=_LEGEND_LABEL_PX)


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


def figure_tooltips(field: str, title: str, number_format: str, unit: str = "") -> list[alt.Tooltip]:
    """The tooltips of a figure in the column `field`, and of the ends of its interval, in the columns low and high."""
    columns = ((field, title), ("low", "at least"), ("high", "at most"))
    after = f" ({unit})" if unit else ""
    return [alt.Tooltip(f"{name}:Q", title=f"{words}{after}", format=number_format) for name, words in columns]


def percent(field: str) -> alt.Tooltip:
    """The tooltip of a share."""
    return alt.Tooltip(f"{field}:Q", format=".2%")


PERCENT_LABEL = "format(100 * abs(datum.value), '.3~r') + ' %'"
"""Vega expression for an axis label: a share from 0 to 1, or the same below the axis, in percent."""
FIGURE_LABEL = "datum.value >= 1000 ? format(datum.value, '.3~s') : format(datum.value, '.3~r')"
"""Vega expression for an axis label: a figure of three digits, with k or M from a thousand on."""
AMOUNT_LABEL = "format(datum.value, ',.4~r')"
"""Vega expression for an axis label: an amount of money or a ratio with all its zeros, never as `6e+1`."""
SIZE_LABEL = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '.3~r') + ' GB'"
    " : datum.value >= 1e6 ? format(datum.value / 1e6, '.3~r') + ' MB'"
    " : datum.value >= 1e3 ? format(datum.value / 1e3, '.3~r') + ' kB'"
    " : format(datum.value, '.3~r') + ' B'"
)
"""Vega expression for an axis label: a number of bytes, printed with the unit that suits it."""

TIME_LABEL = (
    "datum.value === 0 ? '0' : datum.value >= 1 ? format(datum.value, '.3~r') + ' s'"
    " : datum.value >= 0.001 ? format(datum.value * 1000, '.3~r') + ' ms'"
    " : datum.value >= 0.000001 ? format(datum.value * 1000000, '.3~r') + ' µs'"
    " : format(datum.value * 1000000000, '.3~r') + ' ns'"
)
"""Vega expression for an axis label: a time in seconds, printed with the unit that suits it."""
