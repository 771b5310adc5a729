"""A comparison as pictures of signs: each row's change with its interval, and both distributions of response times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from loadgo.comparison.chart_data import (
    CHART_MEASURES,
    ChangeRatio,
    ChartRow,
    Distribution,
    chart_rows,
    distribution_of,
    ratio_of,
    ratio_range,
)
from loadgo.comparison.compare import Comparison
from loadgo.comparison.figures import change, notation_for
from loadgo.documents.document import SignPicture
from loadgo.documents.log_axis import change_text, change_ticks
from loadgo.documents.signs import line, marks, place
from loadgo.notation.figures import NEVER_TEXT, cut, duration
from loadgo.notation.measures import name_of

_NAME_CHARS = 24
MOST_AXIS_CHARS = 72
"""Most signs of an axis."""
_MOST_ROWS = 20
"""Most rows of a picture. With more rows it has sub-totals and the total alone; the tables have all rows."""
_BIN_INTERACTIONS = 12
"""Mean number of interactions in a bin, of the side with fewer. Smaller bins would show chance."""
_FEWEST_BINS = 12


def comparison_pictures(comparison: Comparison) -> tuple[SignPicture, ...]:
    """The pictures of a comparison that have data."""
    pictures = []
    for measure in CHART_MEASURES:
        rows = _shown([row for row in chart_rows(comparison, measure) if ratio_of(row.difference) is not None])
        if rows:
            title = f"How much {name_of(measure)} changed from A to B"
            pictures.append(SignPicture(title, partial(change_lines, rows)))
    distribution = distribution_of(comparison)
    if distribution is not None:
        pictures.append(SignPicture("How response is distributed", partial(distribution_lines, distribution)))
    return tuple(pictures)


def change_lines(rows: Sequence[ChartRow], width: int) -> list[str]:
    """The changes of `rows` with their intervals on a logarithmic axis, then its ticks and a legend.

    There is a line of at most `width` signs for each row.
    """
    ratios = [ratio_of(row.difference) for row in rows]
    notation = notation_for(row.difference for row in rows)
    texts = [(cut(row.name, _NAME_CHARS), change(row.difference, notation), row.difference.verdict) for row in rows]
    widths = [max(len(text[column]) for text in texts) for column in range(3)]
    chars = min(MOST_AXIS_CHARS, width - sum(widths) - 6)
    axis = ChangeAxis(*ratio_range([ratio for ratio in ratios if ratio is not None]), chars)
    lines = [
        f"{name:{widths[0]}}  {axis.row(ratio)}  {figure:>{widths[1]}}  {verdict}".rstrip()
        for ratio, (name, figure, verdict) in zip(ratios, texts, strict=True)
    ]
    intervals = ", ─ its 95 % interval" if any(row.difference.interval for row in rows) else ""
    legend = f"logarithmic; │ no change, ● the change{intervals}"
    indent = " " * (widths[0] + 2)
    return [*lines, f"{indent}{axis.ticks()}".rstrip(), f"{indent if len(indent + legend) <= width else ''}{legend}"]


def _shown(rows: list[ChartRow]) -> list[ChartRow]:
    return rows if len(rows) <= _MOST_ROWS else [row for row in rows if row.kind != "row"] or rows[:_MOST_ROWS]


def distribution_lines(distribution: Distribution, width: int) -> list[str]:
    """Two rows of signs over one logarithmic axis of response times. A higher sign means more interactions."""
    finite = [value for value in (*distribution.a_ns, *distribution.b_ns) if 0 < value < math.inf]
    if not finite:
        return ["nobody was answered"]
    low, high = min(finite), max(finite)
    bins = max(_FEWEST_BINS, min(MOST_AXIS_CHARS, width - 3, min(distribution.counts) // _BIN_INTERACTIONS))
    bin_chars = max(1, min(MOST_AXIS_CHARS, width - 3) // bins)
    signs = bin_chars * bins
    edges = np.geomspace(low, max(high, low * 1.01), bins + 1)
    shares = [_shares(values, distribution.probabilities, edges) for values in (distribution.a_ns, distribution.b_ns)]
    most = max(max(side_shares) for side_shares in shares) or 1.0
    rows = [line([share / most for share in side_shares for _ in range(bin_chars)]) for side_shares in shares]
    ends = f"{duration(low)}{duration(high):>{max(1, signs - len(duration(low)))}}"
    lines = [f"A  {rows[0]}".rstrip(), f"B  {rows[1]}".rstrip(), f"   {ends}"]
    return [
        *lines,
        *(
            f"{letter}  {_quantiles(values, distribution)}"[:width]
            for letter, values in (("A", distribution.a_ns), ("B", distribution.b_ns))
        ),
    ]


def _shares(
    values: Sequence[float], probabilities: Sequence[float], edges: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> list[float]:
    """The share of interactions in each bin between `edges`, by interpolation of the quantiles.

    Where several probabilities have the same quantile, the largest of them counts.
    """
    times = np.maximum(values, 1.0)
    is_last = np.append(times[1:] > times[:-1], True)
    below = np.interp(np.log(edges), np.log(times[is_last]), np.array(probabilities)[is_last], left=0.0)
    return [float(share) for share in np.diff(below)]


def _quantiles(values: Sequence[float], distribution: Distribution) -> str:
    shown = {
        name: values[distribution.probabilities.index(probability)]
        for name, probability in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
    }
    return "  ".join(
        f"{name} {duration(value) if math.isfinite(value) else NEVER_TEXT:>8}" for name, value in shown.items()
    )


@dataclass(frozen=True)
class ChangeAxis:
    """A logarithmic axis of ratios of B to A in `chars` signs."""

    low: float
    high: float
    chars: int

    def place(self, ratio: float) -> int:
        """The position of a ratio. A ratio beyond an end is at the end."""
        shown = min(max(ratio, self.low), self.high)
        return place(math.log(shown), math.log(self.low), math.log(self.high), self.chars)

    def row(self, ratio: ChangeRatio | None) -> str:
        """The change of a row, with its interval."""
        if ratio is None:
            return " " * self.chars
        ends = None
        if ratio.low is not None and ratio.high is not None:
            ends = self.place(ratio.low), self.place(ratio.high)
        none = self.place(1.0)
        holds_none = ends is not None and ends[0] <= none <= ends[1]
        return marks(self.chars, [(none, "┼" if holds_none else "│"), (self.place(ratio.value), "●")], ends)

    def ticks(self) -> str:
        """The labels of the axis, each in the middle below its place. No change is labelled first."""
        signs = [" "] * self.chars
        ticks = sorted(change_ticks(self.low, self.high), key=lambda tick: abs(math.log(tick)), reverse=True)
        for tick in [1.0, *ticks]:
            text = change_text(tick, self.high)
            begin = min(max(0, self.place(tick) - len(text) // 2), self.chars - len(text))
            around = signs[max(0, begin - 1) : begin + len(text) + 1]
            if begin >= 0 and all(sign == " " for sign in around):
                signs[begin : begin + len(text)] = text
        return "".join(signs)
