"""Data for the charts of a comparison: each row's figures and change, and the distribution of response times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.comparison.compare import Comparison
from loadgo.comparison.difference import Difference
from loadgo.comparison.rows import Row
from loadgo.comparison.side import Side
from loadgo.stats.resample import Floats

CHART_MEASURES = ("response", "cpu")
"""The measures whose rows have charts."""
MOST_ROWS = 40
FEWEST_ANSWERS = 20
"""Fewest answers on a side for which a distribution is drawn."""
DISTRIBUTION_PROBABILITIES = (*(number / 100 for number in range(1, 100)), 0.995, 0.999)


@dataclass(frozen=True)
class ChartRow:
    """A row of the comparison, with a name that no other row has."""

    name: str
    kind: Literal["row", "subtotal", "total"]
    difference: Difference


@dataclass(frozen=True)
class Distribution:
    """Quantiles of the response times of both sides. An infinite time is a line that was never answered."""

    probabilities: tuple[float, ...]
    a_ns: tuple[float, ...]
    b_ns: tuple[float, ...]
    counts: tuple[int, int]


def chart_rows(comparison: Comparison, measure: str) -> list[ChartRow]:
    """The rows with a known change of `measure`, at most 40. With several passes, a row's name has its pass."""
    has_passes = any(row.kind == "subtotal" for row in comparison.rows.rows)
    rows, pass_number = [], 1
    for row in comparison.rows.rows:
        difference = row.measures[measure]
        if difference.change is not None:
            rows.append(ChartRow(_row_name(row, pass_number, has_passes), row.kind, difference))
        pass_number += row.kind == "subtotal"
    return rows if len(rows) <= MOST_ROWS else [row for row in rows if row.kind != "row"] or rows[:MOST_ROWS]


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


def _row_name(row: Row, pass_number: int, has_passes: bool) -> str:
    return f"{row.label}, pass {pass_number}" if has_passes and row.kind == "row" else row.label
