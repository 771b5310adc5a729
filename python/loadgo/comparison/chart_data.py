"""What is drawn of a comparison: each row's figure on both sides and its change, and how response is distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.comparison.compare import Comparison
from loadgo.comparison.rows import Difference, Row
from loadgo.comparison.side import Side
from loadgo.stats.resample import Floats

DRAWN = ("response", "cpu")
"""The measures that are drawn row by row."""
MOST_ROWS = 40
FEWEST_ANSWERS = 20
"""Of fewer answers on a side no distribution is drawn."""
PROBABILITIES = (*(number / 100 for number in range(1, 100)), 0.995, 0.999)


@dataclass(frozen=True)
class DrawnRow:
    """A row of the comparison, with a name that no other row has."""

    name: str
    kind: Literal["row", "subtotal", "total"]
    told: Difference


@dataclass(frozen=True)
class Distribution:
    """Response times by the share of interactions that were no longer; infinite is never."""

    probabilities: tuple[float, ...]
    a_ns: tuple[float, ...]
    b_ns: tuple[float, ...]
    counts: tuple[int, int]


def drawn_rows(made: Comparison, measure: str) -> list[DrawnRow]:
    """The rows in which the change of `measure` is known, at most 40; with passes, their names say which."""
    passes = any(row.kind == "subtotal" for row in made.rows.rows)
    found, number = [], 1
    for row in made.rows.rows:
        told = row.measures[measure]
        if told.change is not None:
            found.append(DrawnRow(_named(row, number, passes), row.kind, told))
        number += row.kind == "subtotal"
    return found if len(found) <= MOST_ROWS else [one for one in found if one.kind != "row"] or found[:MOST_ROWS]


def distribution_of(made: Comparison) -> Distribution | None:
    """Of all interactions of each side, in its own mix; None where a side is printed, or was hardly answered."""
    if "printed" in (made.a.kind, made.b.kind):
        return None
    values = [_answers(side) for side in (made.a, made.b)]
    if any(np.isfinite(one).sum() < FEWEST_ANSWERS for one in values):
        return None
    a, b = (tuple(map(float, np.quantile(one, PROBABILITIES, method="inverted_cdf"))) for one in values)
    return Distribution(PROBABILITIES, a, b, (len(values[0]), len(values[1])))


def _answers(side: Side) -> Floats:
    """Response times in ascending order; a line that was never answered ranks last."""
    own = side.rows.filter(~pl.col("extrapolated"))["response"].fill_null(np.inf)
    values: Floats = np.sort(own.to_numpy())
    return values


def _named(row: Row, number: int, passes: bool) -> str:
    return f"{row.label}, pass {number}" if passes and row.kind == "row" else row.label
