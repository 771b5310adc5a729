"""Data for the charts of a comparison: each row's figures and change, and the distribution of response times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.comparison.compare import Comparison
from loadgo.comparison.difference import Difference
from loadgo.comparison.rows import Matched, Row
from loadgo.comparison.side import Side
from loadgo.notation.figures import as_code
from loadgo.stats.resample import Floats

CHART_MEASURES = ("response", "cpu")
"""The measures whose rows have charts."""
MOST_ROWS = 40
FEWEST_ANSWERS = 20
"""Fewest answers on a side for which a distribution is drawn."""
_MOST_RATIO = 100.0
"""The largest change of an axis, as a ratio. A larger one is drawn at its end."""
_AXIS_MARGIN = 0.04
"""Part of an axis of changes that is free at each end."""
_LEAST_RATIO = 1.002
"""The smallest change that an axis reaches, as a ratio."""
DISTRIBUTION_PROBABILITIES = (*(number / 100 for number in range(1, 100)), 0.995, 0.999)


@dataclass(frozen=True)
class ChartRow:
    """A row of the comparison, with a name that no other row has."""

    name: str
    in_words: str
    """The name within a sentence, where a command is code."""
    kind: Literal["row", "subtotal", "total"]
    difference: Difference
    counts: tuple[int, int] | None = None


@dataclass(frozen=True)
class ChangeRatio:
    """B's figure over A's, with its 95 % interval. An end may be 0."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Distribution:
    """Quantiles of the response times of both sides. An infinite time is a line that was never answered."""

    probabilities: tuple[float, ...]
    a_ns: tuple[float, ...]
    b_ns: tuple[float, ...]
    counts: tuple[int, int]


def chart_rows(comparison: Comparison, measure: str) -> list[ChartRow]:
    """The rows with a known change of `measure`, at most 40: of more, the sub-totals and the total."""
    rows = named_rows(comparison.rows, measure)
    return rows if len(rows) <= MOST_ROWS else [row for row in rows if row.kind != "row"] or rows[:MOST_ROWS]


def named_rows(matched: Matched, measure: str) -> list[ChartRow]:
    """The rows with a known change of `measure`.

    With several passes, a row's name has its pass. A command that is typed again in a pass has a number.
    """
    has_passes = any(row.kind == "subtotal" for row in matched.rows)
    rows, pass_number, seen = [], 1, Counter[tuple[str, int]]()
    for row in matched.rows:
        difference = row.measures[measure]
        if difference.change is not None:
            names = _row_names(row, pass_number, has_passes, seen)
            rows.append(ChartRow(*names, row.kind, difference, row.counts))
        pass_number += row.kind == "subtotal"
    return rows


def ratio_of(difference: Difference) -> ChangeRatio | None:
    """B's figure over A's. None if A's figure is not above 0, or if B's is not known."""
    before, after, interval = difference.before, difference.after, difference.interval
    if before is None or after is None or before <= 0:
        return None
    ends = (None, None) if interval is None else (1 + interval.low / before, 1 + interval.high / before)
    return ChangeRatio(after / before, *ends)


def ratio_range(ratios: Sequence[ChangeRatio]) -> tuple[float, float]:
    """The ends of a logarithmic axis that holds these ratios with their intervals, and 1. Ends are at most ×100."""
    values = [value for ratio in ratios for value in (ratio.value, ratio.low, ratio.high) if value is not None]
    low, high = min([1.0, *values]), max([1.0, *values])
    low, high = max(low, 1 / _MOST_RATIO), min(high, _MOST_RATIO)
    margin = max((high / low) ** _AXIS_MARGIN, _LEAST_RATIO)
    return low / margin, high * margin


def distribution_of(comparison: Comparison) -> Distribution | None:
    """The distribution of all response times of each side. None if a side is printed or has too few answers."""
    if "printed" in (comparison.a.kind, comparison.b.kind):
        return None
    values = [_answers(side) for side in (comparison.a, comparison.b)]
    if any(np.isfinite(times).sum() < FEWEST_ANSWERS for times in values):
        return None
    a, b = (
        tuple(map(float, np.quantile(times, DISTRIBUTION_PROBABILITIES, method="inverted_cdf"))) for times in values
    )
    return Distribution(DISTRIBUTION_PROBABILITIES, a, b, (len(values[0]), len(values[1])))


def _answers(side: Side) -> Floats:
    """Response times in ascending order. A line that was never answered ranks last."""
    responses = side.rows.filter(~pl.col("extrapolated"))["response"].fill_null(np.inf)
    values: Floats = np.sort(responses.to_numpy())
    return values


def _row_names(row: Row, pass_number: int, has_passes: bool, seen: Counter[tuple[str, int]]) -> tuple[str, str]:
    """The name of a row by itself and in a sentence. `seen` counts the rows before it by label and pass."""
    if row.kind != "row":
        return row.label, row.label
    seen[row.label, pass_number] += 1
    number = seen[row.label, pass_number]
    which = f" ({number})" if number > 1 else ""
    which += f", pass {pass_number}" if has_passes else ""
    return row.label + which, as_code(row.label) + which
