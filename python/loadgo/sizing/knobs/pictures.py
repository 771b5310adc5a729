"""Text plots of a search over a limit: a figure of each target over the limit's logarithm."""

from __future__ import annotations

import math
from functools import partial

from loadgo.documents import signs
from loadgo.documents.document import SignPicture
from loadgo.notation.figures import share
from loadgo.sizing.curve import Target
from loadgo.sizing.knobs.results import KnobCapacity, KnobPoint
from loadgo.sizing.report.answer import format_measure
from loadgo.sizing.report.tables import has_value, slow_heading

_PLOT_LINES = 10
_MOST_PLOT_CHARS = 60
_POINT_SIGN, _LIMIT_SIGN, _ANSWER_SIGN = "●", "─", "┊"
_TOP_RATIO = 1.1
"""The axis ends at this ratio to the largest figure or the limit."""


def knob_pictures(answered: KnobCapacity) -> tuple[SignPicture, ...]:
    """A plot for each target with at least two measured values."""
    plotted = [(target, index) for index, target in enumerate(answered.targets) if len(figures_of(answered, index)) > 1]
    return tuple(
        SignPicture(f"{plotted_title(target)} over {answered.knob.text}", partial(_plot_lines, answered, target, index))
        for target, index in plotted
    )


def plotted_title(target: Target) -> str:
    """The figure that is plotted: the measure as it is written (`p90(edit)`), or that of the slow interactions.

    Of a quantile of a single command, only the share of interactions slower than the limit is known at each value.
    """
    if not has_value(target):
        return slow_heading(target)
    return f"{target.measure}({target.command})" if target.command else target.measure


def plotted_limit(target: Target) -> float:
    """The limit of the plotted figure."""
    return target.limit if has_value(target) or target.share is None else target.share


def plotted_in_words(target: Target, figure: float) -> str:
    """A plotted figure with its unit."""
    return format_measure(target, figure) if has_value(target) else share(figure)


def figures_of(answered: KnobCapacity, index: int) -> list[tuple[KnobPoint, float]]:
    """The plotted figure of a target at each value; a value without a figure is left out."""
    target = answered.targets[index]
    verdicts = [(point, point.figures.verdicts[index]) for point in answered.points]
    found = [(point, verdict.value if has_value(target) else verdict.slow_share) for point, verdict in verdicts]
    return [(point, figure.value) for point, figure in found if figure is not None and math.isfinite(figure.value)]


def _plot_lines(answered: KnobCapacity, target: Target, index: int, width: int) -> list[str]:
    figures = figures_of(answered, index)
    top = _TOP_RATIO * max(plotted_limit(target), *(value for _, value in figures))
    labels = [plotted_in_words(target, top), plotted_in_words(target, top / 2), "0"]
    columns = max(10, min(_MOST_PLOT_CHARS, width - max(map(len, labels)) - 2))
    canvas = [[" "] * columns for _ in range(_PLOT_LINES)]
    span = math.log(answered.knob.high / answered.knob.low)

    def column_of(value: float) -> int:
        return min(columns - 1, max(0, round(math.log(value / answered.knob.low) / span * (columns - 1))))

    def line_of(figure: float) -> int:
        return _PLOT_LINES - 1 - min(_PLOT_LINES - 1, int(figure / top * _PLOT_LINES))

    for line in range(_PLOT_LINES if answered.answer else 0):
        canvas[line][column_of(answered.answer or answered.knob.low)] = _ANSWER_SIGN
    canvas[line_of(plotted_limit(target))] = [_LIMIT_SIGN] * columns
    for point, figure in figures:
        canvas[line_of(figure)][column_of(point.value)] = _POINT_SIGN
    beside = ((0, labels[0]), (_PLOT_LINES // 2, labels[1]), (_PLOT_LINES, labels[2]))
    ends = (answered.knob.in_words(answered.knob.low), answered.knob.in_words(answered.knob.high))
    legend = [
        f"{_POINT_SIGN} measured",
        f"{_LIMIT_SIGN} limit",
        *([f"{_ANSWER_SIGN} answer"] if answered.answer else []),
    ]
    return [*signs.plot(canvas, beside, ends), *signs.legend(legend, width)]
