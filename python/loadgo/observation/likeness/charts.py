"""The charts of a likeness: the quantiles of a figure as observed and in the run."""

from __future__ import annotations

import altair as alt
import polars as pl

from loadgo.documents.chart import FIGURE_LABEL, PERCENT_LABEL, TIME_LABEL, Chart, chart_of, safe
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.palette import ACCENT_COLOR, GREY_COLOR
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import as_code
from loadgo.observation.likeness.results import Curve, Likeness, Measure

_HEIGHT_PX = 150
_TIMES: tuple[Measure, ...] = ("processor time", "response time", "think time")
_SIDES = ("observed", "run")
_LOG_RATIO = 20.0
"""A figure whose quantiles differ by this factor has a logarithmic axis."""


@quick_drawing()
def likeness_charts(likeness: Likeness) -> list[Chart]:
    """A chart for each curve."""
    return [_chart(number, curve) for number, curve in enumerate(likeness.curves)]


def _chart(number: int, curve: Curve) -> Chart:
    is_time = curve.measure in _TIMES
    scale = 1e9 if is_time else 1.0
    frame = safe(
        pl.DataFrame(
            [
                {"side": side, "share": probability, "value": value / scale}
                for side, values in zip(_SIDES, (curve.observed, curve.run), strict=True)
                for probability, value in zip(curve.probabilities, values, strict=True)
            ]
        )
    )
    low, high = float(frame["value"].to_numpy().min()), float(frame["value"].to_numpy().max())
    is_log = low > 0 and high / low > _LOG_RATIO
    axis = alt.Axis(
        title=curve.measure,
        labelExpr=TIME_LABEL if is_time else FIGURE_LABEL,
        labelOverlap="greedy",
        values=log_ticks(low, high) if is_log else alt.Undefined,
    )
    x_scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False)
    colors = alt.Scale(domain=list(_SIDES), range=[GREY_COLOR, ACCENT_COLOR])
    dashes = alt.Scale(domain=list(_SIDES), range=[[5, 3], [1, 0]])
    drawing = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("value:Q", scale=x_scale, axis=axis),
            y=alt.Y(
                "share:Q", title="at most this", axis=alt.Axis(labelExpr=PERCENT_LABEL), scale=alt.Scale(domain=[0, 1])
            ),
            color=alt.Color("side:N", title=None, scale=colors),
            strokeDash=alt.StrokeDash("side:N", title=None, scale=dashes),
            order=alt.Order("share:Q"),
            tooltip=[
                alt.Tooltip("side:N"),
                alt.Tooltip("share:Q", format=".0%"),
                alt.Tooltip("value:Q", title=f"{curve.measure}{' (s)' if is_time else ''}", format=",.4~r"),
            ],
        )
    )
    caption = "The share of runs that have at most so much. The closer the lines, the more alike."
    if not curve.command:
        caption = "The share of pauses that are at most so long. The closer the lines, the more alike."
    return chart_of(f"curve-{number}", _heading(curve), caption, drawing, _HEIGHT_PX, flat=low == high)


def _heading(curve: Curve) -> str:
    users = f" ({curve.user_class})" if curve.user_class else ""
    if not curve.command:
        return f"Think time{users}"
    return f"{curve.measure.capitalize()} of {as_code(curve.command)}{users}"
