"""Text plots of a search over a limit: a figure of each target over the limit's logarithm."""

from __future__ import annotations

import math
from functools import partial

from loadgo.documents import signs
from loadgo.documents.document import SignPicture
from loadgo.sizing.curve import Target
from loadgo.sizing.knobs.results import KnobCapacity, KnobPoint
from loadgo.sizing.report.answer import format_measure

_PLOT_LINES = 10
_MOST_PLOT_CHARS = 60
_POINT_SIGN, _LIMIT_SIGN, _ANSWER_SIGN = "●", "─", "┊"
_TOP_RATIO = 1.1
"""The axis ends at this ratio to the largest figure or the limit."""


def knob_pictures(answered: KnobCapacity) -> tuple[SignPicture, ...]:
    """A plot for each target with at least two measured values."""
    plotted = [(target, index) for index, target in enumerate(answered.targets) if len(figures_of(answered, index)) > 1]
    return tuple(
        SignPicture(f"{plain_measure(target)} over {answered.knob.text}", partial(_plot_lines, answered, target, index))
        for target, index in plotted
    )


def plain_measure(target: Target) -> str:
    """The measure of a target as it is written: `p90(edit)`."""
    return f"{target.measure}({target.command})" if target.command else target.measure


def figures_of(answered: KnobCapacity, index: int) -> list[tuple[KnobPoint, float]]:
    """The measured figure of a target at each value; a value without a figure is left out."""
    found = [(point, point.figures.verdicts[index].value) for point in answered.points]
    return [(point, figure.value) for point, figure in found if figure is not None and math.isfinite(figure.value)]


def _plot_lines(answered: KnobCapacity, target: Target, index: int, width: int) -> list[str]:
    figures = figures_of(answered, index)
    top = _TOP_RATIO * max(target.limit, *(value for _, value in figures))
    labels = [format_measure(target, top), format_measure(target, top / 2), "0"]
    columns = max(10, min(_MOST_PLOT_CHARS, width - max(map(len, labels)) - 2))
    canvas = [[" "] * columns for _ in range(_PLOT_LINES)]
    span = math.log(answered.knob.high / answered.knob.low)

    def column_of(value: float) -> int:
        return min(columns - 1, max(0, round(math.log(value / answered.knob.low) / span * (columns - 1))))

    def line_of(figure: float) -> int:
        return _PLOT_LINES - 1 - min(_PLOT_LINES - 1, int(figure / top * _PLOT_LINES))

    for line in range(_PLOT_LINES if answered.answer else 0):
        canvas[line][column_of(answered.answer or answered.knob.low)] = _ANSWER_SIGN
    canvas[line_of(target.limit)] = [_LIMIT_SIGN] * columns
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
