"""A capacity's curve made of signs, for a page of text: throughput and response over the users, points and models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from loadgo.documents import signs
from loadgo.documents.document import SignPicture
from loadgo.notation.figures import digits, seconds
from loadgo.sizing.chart_data import (
    Row,
    last_users,
    limits_drawn,
    measured_response,
    measured_throughput,
    modelled,
    top_of,
)
from loadgo.sizing.results import Capacity

_ROWS = 10
_WIDEST = 72
"""How many signs the axis of users has at most."""
_MODELS = {"mean values": "·", "scalability law": "+"}
_POINTS = "●◆■▲"
_LIMIT, _ANSWER = "─", "┊"


@dataclass(frozen=True)
class _Plot:
    """What one picture shows."""

    dots: Sequence[Row]
    lines: Sequence[Row]
    limits: Sequence[float]
    top: float
    last: int
    answer: int | None
    label: Callable[[float], str]


def capacity_pictures(made: Capacity) -> tuple[SignPicture, ...]:
    """What there is to draw of it; nothing for a single point."""
    if len(made.points) < 2:
        return ()
    dots = measured_throughput(made)
    lines = modelled(made, lambda at: at.throughput)
    plot = _plot(made, dots, lines, (), digits)
    found = [SignPicture("Interactions a second over users", partial(curve_lines, plot))]
    dots = measured_response(made)
    if dots:
        lines = modelled(made, lambda at: at.response_s)
        limits = [one.limit for one in limits_drawn(made)]
        plot = _plot(made, dots, lines, limits, seconds)
        found.append(SignPicture("Response time over users", partial(curve_lines, plot)))
    return tuple(found)


def curve_lines(plot: _Plot, width: int) -> list[str]:
    """The picture in lines of at most `width` signs, the legend last."""
    labels = [plot.label(plot.top), plot.label(plot.top / 2), "0"]
    margin = max(len(label) for label in labels)
    columns = max(10, min(_WIDEST, width - margin - 2))
    canvas = _canvas(plot, columns)
    beside = ((0, labels[0]), (_ROWS // 2, labels[1]), (_ROWS, labels[2]))
    return [*signs.plot(canvas, beside, ("0", f"{plot.last} users")), *_legend(plot, width)]


def _plot(
    made: Capacity,
    dots: Sequence[Row],
    lines: Sequence[Row],
    limits: Sequence[float],
    label: Callable[[float], str],
) -> _Plot:
    top = top_of(dots, lines, limits)
    return _Plot(dots, lines, [one for one in limits if one < top], top, last_users(made), made.answer or None, label)


def _canvas(plot: _Plot, columns: int) -> list[list[str]]:
    """The signs, from the back: the answer, limits, models, measured points."""
    canvas = [[" "] * columns for _ in range(_ROWS)]

    def put(sign: str, users: object, value: object) -> None:
        if isinstance(users, int | float) and isinstance(value, int | float) and 0 <= value <= plot.top:
            column = min(columns - 1, round(users / plot.last * (columns - 1)))
            canvas[_ROWS - 1 - min(_ROWS - 1, int(value / plot.top * _ROWS))][column] = sign

    for at in range(_ROWS if plot.answer else 0):
        put(_ANSWER, plot.answer, (at + 0.5) / _ROWS * plot.top)
    for limit in plot.limits:
        for column in range(columns):
            put(_LIMIT, column / max(1, columns - 1) * plot.last, limit)
    for name, sign in reversed(_MODELS.items()):
        for users, value in _drawn_out(plot, name, columns):
            put(sign, users, value)
    for row in plot.dots:
        put(_POINTS[_kinds(plot).index(str(row["what"]))], row["users"], row["value"])
    return canvas


def _drawn_out(plot: _Plot, name: str, columns: int) -> list[tuple[float, float]]:
    """A model's curve with a point for every column that it reaches."""
    told = sorted((_float(one["users"]), _float(one["value"])) for one in plot.lines if one["what"] == name)
    if not told:
        return []
    users, values = zip(*told, strict=True)
    at = [column / max(1, columns - 1) * plot.last for column in range(columns)]
    return [(one, float(np.interp(one, users, values))) for one in at if users[0] <= one <= users[-1]]


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _kinds(plot: _Plot) -> list[str]:
    return list(dict.fromkeys(str(row["what"]) for row in plot.dots))[: len(_POINTS)]


def _legend(plot: _Plot, width: int) -> list[str]:
    parts = [f"{sign} {name}" for sign, name in zip(_POINTS, _kinds(plot), strict=False)]
    there = {str(row["what"]) for row in plot.lines}
    parts += [f"{sign} {name}" for name, sign in _MODELS.items() if name in there]
    parts += [f"{_LIMIT} limit"] if plot.limits else []
    parts += [f"{_ANSWER} answer"] if plot.answer else []
    return signs.legend(parts, width)
