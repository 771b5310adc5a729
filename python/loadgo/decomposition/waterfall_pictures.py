"""A waterfall made of signs: a row for each factor, from the figure before to that after, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from loadgo.decomposition.waterfall import SMALLEST_STEP_RATIO, Step, Waterfall
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import between, cut, marks, place
from loadgo.notation.figures import digits, duration
from loadgo.notation.measures import factor, factor_interval

_NAME = 34
_NARROW_NAME = 26
_NARROW = 100
"""From so many signs a line is wide."""
_END, _MORE, _NOTHING = "┃", "▒", "│"
_ALL_MORE = str.maketrans(dict.fromkeys("█▌▐", _MORE))


def waterfall_pictures(waterfalls: Sequence[Waterfall]) -> tuple[SignPicture, ...]:
    """Each as a picture for a page of text."""
    return tuple(SignPicture(one.title, partial(waterfall_lines, one)) for one in waterfalls)


def waterfall_lines(told: Waterfall, width: int) -> list[str]:
    """The rows, of at most `width` signs, and what the signs mean."""
    ends = figure_of(told, told.before), figure_of(told, told.after)
    rows = [("A", ends[0], "", None), *((one.name, *_said(one), one) for one in told.steps), ("B", ends[1], "", None)]
    sides = [max(len(figure) for _, figure, _, _ in rows), max(len(interval) for _, _, interval, _ in rows)]
    names = min(max(len(name) for name, _, _, _ in rows), _NAME if width >= _NARROW else _NARROW_NAME)
    axis = _Axis(told, width - names - sum(sides) - 6)
    lines = []
    for row, (name, figure, interval, step) in enumerate(rows):
        bar = axis.end(told.after if row else told.before) if step is None else axis.bar(step)
        lines.append(f"{cut(name, names):{names}}  {bar}  {figure:>{sides[0]}}  {interval:>{sides[1]}}".rstrip())
    low, high = sorted((axis.low, axis.high))
    scale = f"{figure_of(told, low)} to {figure_of(told, high)}, logarithmic"
    legend = f"{scale}; █ less in B, {_MORE} more in B"
    return [*lines, f"{' ' * max(0, min(names + 2, width - len(legend)))}{legend}"]


def figure_of(told: Waterfall, value: float) -> str:
    """A value with the waterfall's unit."""
    return digits(value) if told.unit == "$" else duration(value)


def _said(step: Step) -> tuple[str, str]:
    return factor(step.factor), factor_interval(step.interval) if step.interval else ""


class _Axis:
    """A logarithmic line of `signs` characters; it lives as long as one picture is made."""

    def __init__(self, told: Waterfall, signs: int) -> None:
        places = [told.before, told.after, *(step.end for step in told.steps)]
        self.low, self.high = min(places), max(places)
        self.signs = max(10, signs)

    def half(self, value: float) -> int:
        """The half character at which a value is; the middle where all values are the same."""
        span = math.log(self.high / self.low)
        return place(math.log(value / self.low), 0.0, span, 2 * self.signs) if span else self.signs

    def end(self, value: float) -> str:
        """A mark at one end of the waterfall."""
        return marks(self.signs, [(self.half(value) // 2, _END)])

    def bar(self, step: Step) -> str:
        """What lies between the figures without the factor and with it; the thinnest is half a character."""
        begin, end = sorted((self.half(step.start), self.half(step.end)))
        if abs(step.factor - 1) < SMALLEST_STEP_RATIO:
            return marks(self.signs, [(begin // 2, _NOTHING)])
        bar = between(self.signs, begin, max(end, begin + 1))
        return bar if step.factor >= 1 else bar.translate(_ALL_MORE)
