"""A comparison as pictures of signs: each row's change with its interval, and both distributions of response times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from loadgo.comparison.chart_data import CHART_MEASURES, ChartRow, Distribution, chart_rows, distribution_of
from loadgo.comparison.compare import Comparison
from loadgo.comparison.figures import change
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import cut, line, marks, place
from loadgo.notation.figures import NEVER_TEXT, duration
from loadgo.notation.measures import name_of

_NAME_CHARS = 24
_MOST_AXIS_CHARS = 72
"""Most signs of an axis."""
_MOST_CHANGE_RATIO = 2.0
"""The largest relative change of the axis. A larger change is drawn at its end."""
_MOST_ROWS = 20
"""Most rows of a picture. With more rows it has sub-totals and the total alone; the tables have all rows."""
_BIN_INTERACTIONS = 12
"""Mean number of interactions in a bin, of the side with fewer. Smaller bins would show chance."""
_FEWEST_BINS = 12


def comparison_pictures(comparison: Comparison) -> tuple[SignPicture, ...]:
    """The pictures of a comparison that have data."""
    pictures = []
    for measure in CHART_MEASURES:
        rows = _shown([row for row in chart_rows(comparison, measure) if row.difference.relative is not None])
        if rows:
            title = f"How much {name_of(measure)} changed from A to B"
            pictures.append(SignPicture(title, partial(change_lines, rows)))
    distribution = distribution_of(comparison)
    if distribution is not None:
        pictures.append(SignPicture("How response is distributed", partial(distribution_lines, distribution)))
    return tuple(pictures)


def change_lines(rows: Sequence[ChartRow], width: int) -> list[str]:
    """The changes of `rows` with their intervals, a line of at most `width` signs for each row, and a legend."""
    texts = [(cut(row.name, _NAME_CHARS), change(row.difference), row.difference.verdict) for row in rows]
    widths = [max(len(text[column]) for text in texts) for column in range(3)]
    axis = min(_MOST_AXIS_CHARS, width - sum(widths) - 6)
    ends = _axis_ends(rows)
    lines = [
        f"{name:{widths[0]}}  {_change(row, ends, axis)}  {figure:>{widths[1]}}  {verdict}".rstrip()
        for row, (name, figure, verdict) in zip(rows, texts, strict=True)
    ]
    intervals = ", ─ its 95 % interval" if any(row.difference.interval for row in rows) else ""
    ends_text = f"{100 * ends[0]:.0f} % to +{100 * ends[1]:.0f} %".replace("-", "−")
    legend = f"{ends_text}; │ no change, ● the change{intervals}"
    return [*lines, f"{' ' * max(0, min(widths[0] + 2, width - len(legend)))}{legend}"[:width]]


def _shown(rows: list[ChartRow]) -> list[ChartRow]:
    return rows if len(rows) <= _MOST_ROWS else [row for row in rows if row.kind != "row"] or rows[:_MOST_ROWS]


def distribution_lines(distribution: Distribution, width: int) -> list[str]:
    """Two rows of signs over one logarithmic axis of response times. A higher sign means more interactions."""
    finite = [value for value in (*distribution.a_ns, *distribution.b_ns) if 0 < value < math.inf]
    if not finite:
        return ["nobody was answered"]
    low, high = min(finite), max(finite)
    bins = max(_FEWEST_BINS, min(_MOST_AXIS_CHARS, width - 3, min(distribution.counts) // _BIN_INTERACTIONS))
    bin_chars = max(1, min(_MOST_AXIS_CHARS, width - 3) // bins)
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


def _axis_ends(rows: Sequence[ChartRow]) -> tuple[float, float]:
    """The ends of an axis that holds all changes and their intervals: round numbers, and none below -100 %."""
    ends = [0.01]
    for row in rows:
        difference = row.difference
        ends.append(abs(difference.relative or 0.0))
        if difference.interval is not None and difference.before:
            ends += [abs(end / difference.before) for end in (difference.interval.low, difference.interval.high)]
    most = min(max(ends), _MOST_CHANGE_RATIO)
    tens = 10.0 ** math.floor(math.log10(most))
    end = next(step * tens for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * tens >= most * (1 - 1e-9))
    has_less = any((row.difference.relative or 0.0) < -1.0 for row in rows)
    return (-end if has_less else max(-end, -1.0)), end


def _change(row: ChartRow, axis_ends: tuple[float, float], width: int) -> str:
    """The change of a row on an axis of `width` signs."""

    def position(value: float) -> int:
        return place(value, *axis_ends, width)

    difference, ends = row.difference, None
    before = difference.before or 1.0
    if difference.interval is not None:
        ends = position(difference.interval.low / before), position(difference.interval.high / before)
    holds_zero = ends is not None and ends[0] <= position(0.0) <= ends[1]
    signs = [(position(0.0), "┼" if holds_zero else "│"), (position(difference.relative or 0.0), "●")]
    return marks(width, signs, ends)
