"""Text plots of a capacity: throughput and response over the users, with points and models."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from loadgo.documents import signs
from loadgo.documents.document import SignPicture
from loadgo.notation.figures import digits, seconds
from loadgo.sizing.report.chart_data import (
    CurvePoint,
    ResponseScale,
    axis_end,
    last_users,
    measured_response,
    measured_throughput,
    missing_in_words,
    model_curve,
    models_in_words,
    response_curve,
    response_scales,
)
from loadgo.sizing.search.results import Capacity

_PLOT_LINES = 10
_MOST_PLOT_CHARS = 72
"""Most characters of the axis of users."""
_MODEL_SIGNS = {"mean values": "·", "scalability law": "+"}
_POINT_SIGNS = "●◆■▲"
_LIMIT_SIGN, _ANSWER_SIGN = "─", "┊"


@dataclass(frozen=True)
class _CurvePlot:
    """The data of one text plot."""

    dots: Sequence[CurvePoint]
    lines: Sequence[CurvePoint]
    limits: Sequence[float]
    top: float
    last: int
    answer: int | None
    label: Callable[[float], str]
    remark: str = ""
    """A sentence below the legend."""


def capacity_pictures(capacity: Capacity) -> tuple[SignPicture, ...]:
    """The text plots of a capacity; no plot for a single point."""
    if len(capacity.points) < 2:
        return ()
    dots = measured_throughput(capacity)
    lines = model_curve(capacity, lambda at: at.throughput)
    plot = _curve_plot(capacity, dots, lines, (), digits)
    plot = replace(plot, remark=models_in_words(str(row["what"]) for row in lines))
    pictures = [SignPicture("Interactions a second over users", partial(curve_lines, plot))]
    return (*pictures, *(picture for scale in response_scales(capacity) for picture in _response(capacity, scale)))


def _response(capacity: Capacity, scale: ResponseScale) -> list[SignPicture]:
    """The plot of one measure of the response, with the models' means on its scale. Empty if it was not measured."""
    dots = measured_response(capacity, scale.measure)
    if not dots:
        return []
    ratio = scale.ratio
    lines = [] if ratio is None else response_curve(capacity, ratio)
    plot = _curve_plot(capacity, dots, lines, [target.limit for target in scale.limits], seconds)
    plot = replace(plot, remark="" if ratio is None else missing_in_words(capacity))
    scaled = f" (models: mean × {digits(ratio)})" if lines and ratio is not None and scale.measure != "mean" else ""
    return [SignPicture(f"Response time over users: {scale.measure}{scaled}", partial(curve_lines, plot))]


def curve_lines(plot: _CurvePlot, width: int) -> list[str]:
    """The lines of a text plot, of at most `width` characters, with a legend."""
    labels = [plot.label(plot.top), plot.label(plot.top / 2), "0"]
    margin = max(len(label) for label in labels)
    columns = max(10, min(_MOST_PLOT_CHARS, width - margin - 2))
    canvas = _canvas(plot, columns)
    beside = ((0, labels[0]), (_PLOT_LINES // 2, labels[1]), (_PLOT_LINES, labels[2]))
    return [
        *signs.plot(canvas, beside, ("0", f"{plot.last} users")),
        *_legend(plot, width),
        *textwrap.wrap(plot.remark, width),
    ]


def _curve_plot(
    capacity: Capacity,
    dots: Sequence[CurvePoint],
    lines: Sequence[CurvePoint],
    limits: Sequence[float],
    label: Callable[[float], str],
) -> _CurvePlot:
    top = axis_end(dots, lines, limits)
    shown_limits = [limit for limit in limits if limit < top]
    return _CurvePlot(dots, lines, shown_limits, top, last_users(capacity), capacity.answer or None, label)


def _canvas(plot: _CurvePlot, columns: int) -> list[list[str]]:
    """The characters of the plot. Later layers cover earlier ones: the answer, limits, models, measured points."""
    canvas = [[" "] * columns for _ in range(_PLOT_LINES)]

    def put(sign: str, users: object, value: object) -> None:
        if isinstance(users, int | float) and isinstance(value, int | float) and 0 <= value <= plot.top:
            column = min(columns - 1, round(users / plot.last * (columns - 1)))
            canvas[_PLOT_LINES - 1 - min(_PLOT_LINES - 1, int(value / plot.top * _PLOT_LINES))][column] = sign

    for row_index in range(_PLOT_LINES if plot.answer else 0):
        put(_ANSWER_SIGN, plot.answer, (row_index + 0.5) / _PLOT_LINES * plot.top)
    for limit in plot.limits:
        for column in range(columns):
            put(_LIMIT_SIGN, column / max(1, columns - 1) * plot.last, limit)
    for name, sign in reversed(_MODEL_SIGNS.items()):
        for users, value in _points_by_column(plot, name, columns):
            put(sign, users, value)
    for row in plot.dots:
        put(_POINT_SIGNS[_drawn_measures(plot).index(str(row["what"]))], row["users"], row["value"])
    return canvas


def _points_by_column(plot: _CurvePlot, name: str, columns: int) -> list[tuple[float, float]]:
    """A model's curve with a point for each column of the plot that it reaches."""
    curve = sorted((_float(row["users"]), _float(row["value"])) for row in plot.lines if row["what"] == name)
    if not curve:
        return []
    users, values = zip(*curve, strict=True)
    column_users = [column / max(1, columns - 1) * plot.last for column in range(columns)]
    reached = [position for position in column_users if users[0] <= position <= users[-1]]
    return [(position, float(np.interp(position, users, values))) for position in reached]


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _drawn_measures(plot: _CurvePlot) -> list[str]:
    return list(dict.fromkeys(str(row["what"]) for row in plot.dots))[: len(_POINT_SIGNS)]


def _legend(plot: _CurvePlot, width: int) -> list[str]:
    parts = [f"{sign} {name}" for sign, name in zip(_POINT_SIGNS, _drawn_measures(plot), strict=False)]
    model_names = {str(row["what"]) for row in plot.lines}
    parts += [f"{sign} {name}" for name, sign in _MODEL_SIGNS.items() if name in model_names]
    parts += [f"{_LIMIT_SIGN} limit"] if plot.limits else []
    parts += [f"{_ANSWER_SIGN} answer"] if plot.answer else []
    return signs.legend(parts, width)
