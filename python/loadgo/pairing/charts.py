"""The chart of an experiment: each pair's change, the change over all pairs with its interval, and the margin."""

from __future__ import annotations

import altair as alt
import polars as pl

from loadgo.comparison.charts import NEUTRAL_COLOR, verdict_color
from loadgo.documents.chart import Chart, chart_of, safe
from loadgo.documents.log_axis import CHANGE_TITLE, MOST_LABELS, change_label, change_ticks
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.margin import margin_in_words
from loadgo.pairing.chart_data import PAIRS_TITLE, MeasureChanges, margin_ratios, measures_changes, range_of
from loadgo.pairing.results import Experiment

_MEASURE_PX = 52
"""Height of a measure: a lane for the change over all pairs, and one for the pairs."""
_BOUNDS = {"low": pl.Float64(), "high": pl.Float64()}
_LANES = alt.Scale(domain=["all", "pair"], paddingOuter=0.5)


@quick_drawing()
def experiment_charts(experiment: Experiment) -> list[Chart]:
    """The chart of an experiment; none if no measure is known on both sides."""
    measures = measures_changes(experiment)
    if not measures:
        return []
    ends = range_of(measures, experiment.margin)
    names = [measure.name for measure in measures]
    margin = margin_in_words(experiment.margin)
    layers = (_margin(experiment, ends), _none(ends), _pairs(measures, names, ends), *_wholes(measures, names, ends))
    caption = (
        "B against A, logarithmic. Each circle is a pair; above them is the change over all pairs, with its 95 % "
        f"interval. The grey band is the margin of {margin}: an interval within it is called no difference."
    )
    return [chart_of("pairs", PAIRS_TITLE, caption, alt.layer(*layers), _MEASURE_PX * max(2, len(measures)))]


def _margin(experiment: Experiment, ends: tuple[float, float]) -> alt.Chart:
    """A band that is as wide as the margin."""
    low, high = margin_ratios(experiment.margin)
    frame = pl.DataFrame({"change": [max(low, ends[0])], "upper": [min(high, ends[1])]})
    band = alt.Chart(frame).mark_rect(color=NEUTRAL_COLOR, opacity=0.22)
    drawn: alt.Chart = band.encode(x=_axis("change", ends), x2=alt.X2("upper:Q"))
    return drawn


def _none(ends: tuple[float, float]) -> alt.Chart:
    """The line of no change."""
    line = alt.Chart(pl.DataFrame({"change": [1.0]})).mark_rule(strokeWidth=1)
    drawn: alt.Chart = line.encode(x=_axis("change", ends))
    return drawn


def _pairs(measures: list[MeasureChanges], names: list[str], ends: tuple[float, float]) -> alt.Chart:
    """A circle for each pair. A change beyond the axis is at its end."""
    low, high = ends
    rows = [
        {
            "measure": measure.name,
            "lane": "pair",
            "change": min(max(pair.ratio, low), high),
            "said": pair.text,
            "pair": pair.number,
            "first": pair.first,
        }
        for measure in measures
        for pair in measure.pairs
    ]
    tooltip = [
        alt.Tooltip("measure:N"),
        alt.Tooltip("pair:Q", format="d"),
        alt.Tooltip("said:N", title="B against A"),
        alt.Tooltip("first:N", title="ran first"),
    ]
    marks = alt.Chart(safe(pl.DataFrame(rows))).mark_point(filled=False, size=50, opacity=1, strokeWidth=1.5)
    drawn: alt.Chart = marks.encode(
        y=_measure_axis(names),
        yOffset=_lane(),
        x=_axis("change", ends),
        tooltip=tooltip,
        color=alt.value(NEUTRAL_COLOR),
    )
    return drawn


def _wholes(measures: list[MeasureChanges], names: list[str], ends: tuple[float, float]) -> tuple[alt.Chart, ...]:
    """The change over all pairs, with its interval, in the colour of the verdict."""
    low, high = ends
    rows = [
        {
            "measure": measure.name,
            "lane": "all",
            "change": min(max(measure.ratio.value, low), high),
            "low": None if measure.ratio.low is None else max(measure.ratio.low, low),
            "high": None if measure.ratio.high is None else min(measure.ratio.high, high),
            "said": measure.text,
            "interval": measure.interval,
            "B is": measure.verdict,
        }
        for measure in measures
    ]
    frame = safe(pl.DataFrame(rows, schema_overrides=_BOUNDS))
    color = verdict_color(frame["B is"].to_list())
    base = alt.Chart(frame).encode(y=_measure_axis(names), yOffset=_lane(), color=color)
    rule = base.transform_filter("datum.low != null").mark_rule(strokeWidth=2)
    tooltip = [
        alt.Tooltip("measure:N"),
        alt.Tooltip("said:N", title="B against A"),
        alt.Tooltip("interval:N", title="95 % interval"),
        "B is:N",
    ]
    point = base.mark_point(filled=True, size=80, opacity=1, shape="diamond")
    return (
        rule.encode(x=_axis("low", ends), x2=alt.X2("high:Q")),
        point.encode(x=_axis("change", ends), tooltip=tooltip),
    )


def _axis(field: str, ends: tuple[float, float]) -> alt.X:
    scale = alt.Scale(type="log", nice=False, domain=ends, padding=10)
    ticks = change_ticks(*ends, MOST_LABELS)
    axis = alt.Axis(title=CHANGE_TITLE, labelExpr=change_label(ends[1]), values=ticks, labelOverlap="greedy")
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def _measure_axis(names: list[str]) -> alt.Y:
    return alt.Y("measure:N", sort=names, title=None)


def _lane() -> alt.YOffset:
    return alt.YOffset("lane:N", scale=_LANES)
