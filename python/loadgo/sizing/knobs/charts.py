"""The chart of a search over a limit: the figure of the first target over the limit, with the answer's interval."""

from __future__ import annotations

import altair as alt
import polars as pl

from loadgo.documents.chart import ACCENT_COLOR, AMOUNT_LABEL, PERCENT_LABEL, SIZE_LABEL, TIME_LABEL, Chart, chart_of
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.palette import GREY_COLOR, WARM_COLOR
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.pictures import figures_of, plotted_in_words, plotted_limit, plotted_title
from loadgo.sizing.knobs.results import KnobCapacity
from loadgo.sizing.report.tables import has_value


@quick_drawing()
def knob_charts(answered: KnobCapacity) -> list[Chart]:
    """The chart; none if fewer than two values were measured."""
    figures = figures_of(answered, 0) if answered.points else []
    if len(figures) < 2:
        return []
    target = answered.targets[0]
    is_share = target.measure in ("errors", "busy") or not has_value(target)
    label = PERCENT_LABEL if is_share else TIME_LABEL
    title = plotted_title(target)
    x = knob_axis(answered.knob)
    y = alt.Y("figure:Q", title=title, axis=alt.Axis(labelExpr=f"datum.value == 0 ? '0' : {label}"))
    rows = pl.DataFrame(
        {
            "value": [point.value for point, _ in figures],
            "limit": [answered.knob.in_words(point.value, figures=3) for point, _ in figures],
            "figure": [figure for _, figure in figures],
            "measured": [plotted_in_words(target, figure) for _, figure in figures],
        }
    )
    base = alt.Chart(rows).encode(x=x, y=y, tooltip=["limit", alt.Tooltip("measured", title=title)])
    limit = (
        alt.Chart(pl.DataFrame({"figure": [plotted_limit(target)]})).mark_rule(color=WARM_COLOR).encode(y="figure:Q")
    )
    layers = [*_answer_layers(answered), limit, base.mark_line(strokeWidth=1.5, color=ACCENT_COLOR)]
    layers.append(base.mark_point(filled=True, size=60, opacity=1, color=ACCENT_COLOR))
    caption = f"{title} with {answered.users} users, at each value that was tried. The horizontal line is the target."
    caption += " The band is the interval of the answer." if answered.interval else ""
    layered = alt.layer(*layers)
    return [chart_of("capacity-of-limit", f"{title} over {answered.knob.text}", caption, layered, 280)]


def knob_axis(knob: Knob) -> alt.X:
    """The axis of the limit's values: logarithmic, with their unit in the title or at each value."""
    label = SIZE_LABEL if knob.unit == "bytes" else f"({SIZE_LABEL}) + '/s'" if knob.unit == "bytes/s" else AMOUNT_LABEL
    title = knob.text if "bytes" in knob.unit else f"{knob.text} ({knob.unit})"
    ticks = alt.Axis(values=log_ticks(knob.low, knob.high), labelExpr=label)
    scale = alt.Scale(type="log", nice=False, domain=[knob.low, knob.high])
    return alt.X("value:Q", title=title, axis=ticks, scale=scale)


def _answer_layers(answered: KnobCapacity) -> list[alt.Chart]:
    if answered.interval is None or answered.answer is None:
        return []
    low, high = answered.interval
    band = alt.Chart(pl.DataFrame({"low": [low], "high": [high]})).mark_rect(opacity=0.16, color=GREY_COLOR)
    line = alt.Chart(pl.DataFrame({"value": [answered.answer]})).mark_rule(color=GREY_COLOR, strokeDash=[4, 3])
    return [band.encode(x="low:Q", x2="high:Q"), line.encode(x="value:Q")]
