"""A waterfall as a text plot: a row for each factor, from the figure before to that after, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from loadgo.decomposition.reading import read_amount, read_factor, read_interval
from loadgo.decomposition.waterfall import SMALLEST_STEP_RATIO, Step, Waterfall
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import half_bar, marks, place
from loadgo.notation.figures import cut

_NAME_CHARS = 34
_NARROW_NAME_CHARS = 26
_WIDE_PAGE_CHARS = 100
"""A page of at least this many characters shows longer names."""
_END_SIGN, _MORE_SIGN, _NO_EFFECT_SIGN = "┃", "▒", "│"
_TO_MORE_SIGNS = str.maketrans(dict.fromkeys("█▌▐", _MORE_SIGN))


def waterfall_pictures(waterfalls: Sequence[Waterfall]) -> tuple[SignPicture, ...]:
    """A text plot of each waterfall."""
    return tuple(SignPicture(waterfall.title, partial(waterfall_lines, waterfall)) for waterfall in waterfalls)


def waterfall_lines(waterfall: Waterfall, width: int) -> list[str]:
    """The lines of the text plot, of at most `width` characters, and a legend."""
    ends = read_amount(waterfall, waterfall.before), read_amount(waterfall, waterfall.after)
    steps = [(waterfall.label(step), *_factor_cells(step), step) for step in waterfall.steps]
    rows = [("A", ends[0], "", None), *steps, ("B", ends[1], "", None)]
    cell_widths = [max(len(figure) for _, figure, _, _ in rows), max(len(interval) for _, _, interval, _ in rows)]
    name_width = min(
        max(len(name) for name, _, _, _ in rows), _NAME_CHARS if width >= _WIDE_PAGE_CHARS else _NARROW_NAME_CHARS
    )
    axis = _LogAxis(waterfall, width - name_width - sum(cell_widths) - 6)
    lines = []
    for row, (name, figure, interval, step) in enumerate(rows):
        bar = axis.end(waterfall.after if row else waterfall.before) if step is None else axis.bar(step)
        cells = f"{figure:>{cell_widths[0]}}  {interval:>{cell_widths[1]}}"
        lines.append(f"{cut(name, name_width):{name_width}}  {bar}  {cells}".rstrip())
    low, high = sorted((axis.low, axis.high))
    scale = f"{read_amount(waterfall, low)} to {read_amount(waterfall, high)}, logarithmic"
    legend = f"{scale}; █ less in B, {_MORE_SIGN} more in B"
    return [*lines, f"{' ' * max(0, min(name_width + 2, width - len(legend)))}{legend}"]


def _factor_cells(step: Step) -> tuple[str, str]:
    return read_factor(step.factor), read_interval(step.interval) if step.interval else ""


class _LogAxis:
    """A logarithmic axis of `width_chars` characters, at least 10."""

    def __init__(self, waterfall: Waterfall, width_chars: int) -> None:
        values = [waterfall.before, waterfall.after, *(step.end for step in waterfall.steps)]
        self.low, self.high = min(values), max(values)
        self.width_chars = max(10, width_chars)

    def half(self, value: float) -> int:
        """The position of a value in half characters; the middle where all values are the same."""
        span = math.log(self.high / self.low)
        return place(math.log(value / self.low), 0.0, span, 2 * self.width_chars) if span else self.width_chars

    def end(self, value: float) -> str:
        """A mark at one end of the waterfall."""
        return marks(self.width_chars, [(self.half(value) // 2, _END_SIGN)])

    def bar(self, step: Step) -> str:
        """The bar between the figures without the factor and with it, at least half a character."""
        begin, end = sorted((self.half(step.start), self.half(step.end)))
        if abs(step.factor - 1) < SMALLEST_STEP_RATIO:
            return marks(self.width_chars, [(begin // 2, _NO_EFFECT_SIGN)])
        bar = half_bar(self.width_chars, begin, max(end, begin + 1))
        return bar if step.factor >= 1 else bar.translate(_TO_MORE_SIGNS)
