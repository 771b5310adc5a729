"""An experiment as a picture of signs: each measure's change with its interval, and the pairs' changes below it."""

from __future__ import annotations

from functools import partial

from loadgo.comparison.pictures import MOST_AXIS_CHARS, ChangeAxis
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import legend, marks
from loadgo.notation.margin import margin_in_words
from loadgo.pairing.chart_data import PAIRS_TITLE, MeasureChanges, margin_ratios, measures_changes, range_of
from loadgo.pairing.results import Experiment


def experiment_pictures(experiment: Experiment) -> tuple[SignPicture, ...]:
    """The picture of an experiment; none if no measure is known on both sides."""
    measures = measures_changes(experiment)
    return (SignPicture(PAIRS_TITLE, partial(_lines, experiment, measures)),) if measures else ()


def _lines(experiment: Experiment, measures: list[MeasureChanges], width: int) -> list[str]:
    """Two lines for each measure, then the ticks of the axis and a legend. Each has at most `width` signs."""
    name_chars = max(len(measure.name) for measure in measures)
    text_chars = max(len(measure.text) for measure in measures)
    chars = min(MOST_AXIS_CHARS, width - name_chars - text_chars - 4)
    axis = ChangeAxis(*range_of(measures, experiment.margin), chars)
    lines = []
    for measure in measures:
        lines.append(f"{measure.name:{name_chars}}  {axis.row(measure.ratio)}  {measure.text:>{text_chars}}")
        margin = [(axis.place(ratio), "┊") for ratio in margin_ratios(experiment.margin)]
        pairs = [(axis.place(pair.ratio), "○") for pair in measure.pairs]
        lines.append(f"{'':{name_chars}}  {marks(chars, [*margin, (axis.place(1.0), '│'), *pairs])}".rstrip())
    intervals = ["─ its 95 % interval"] if any(measure.ratio.low is not None for measure in measures) else []
    parts = [
        "logarithmic",
        "● the change",
        *intervals,
        "○ a pair",
        f"┊ {margin_in_words(experiment.margin)}, the margin",
    ]
    indent = " " * (name_chars + 2)
    return [
        *lines,
        f"{indent}{axis.ticks()}".rstrip(),
        *(f"{indent}{row}" for row in legend(parts, width - len(indent))),
    ]
