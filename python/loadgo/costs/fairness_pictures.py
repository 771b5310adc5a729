"""A text plot of a comparison of prices: what B charges in each shift beside the fair price, on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from loadgo.costs.fairness import Fairness, Price
from loadgo.costs.words import FAIRNESS_MEASURE_LABELS, level_in_words
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import marks

_FAIR_SIGN, _MEASURED_SIGN = "│", "●"
_MOST_SCALE_CHARS = 60
_SMALLEST_REACH_RATIO = 1.25
"""The scale ends at this ratio to the fair price, or further out if a price lies there."""


def fairness_pictures(fairness: Fairness) -> tuple[SignPicture, ...]:
    """The text plot, as the only picture of the page."""
    return (
        SignPicture(
            f"Dear or cheap, by {FAIRNESS_MEASURE_LABELS[fairness.measure]}", lambda width: _lines(fairness, width)
        ),
    )


def _lines(fairness: Fairness, width: int) -> Sequence[str]:
    names = [f"shift {price.shift}" if price.shift else "all" for price in fairness.prices]
    cells = [level_in_words(price.levels[fairness.measure].value, 2) for price in fairness.prices]
    name_width, cell_width = max(map(len, names)), max(map(len, cells))
    scale_width = max(11, min(_MOST_SCALE_CHARS, width - name_width - cell_width - 4))
    reach = _scale_ratio(fairness)
    lines = [
        f"{name:>{name_width}}  {_row(price, fairness, scale_width, reach)}  {cell:>{cell_width}}"
        for name, cell, price in zip(names, cells, fairness.prices, strict=True)
    ]
    half = scale_width // 2
    least, most = level_in_words(1 / reach, 2), level_in_words(reach, 2)
    scale_labels = f"{least:<{half}}1{most:>{scale_width - half - 1}}"
    legend = f"{_FAIR_SIGN} fair; left of it B is cheaper than fair, right of it dearer"
    return [*lines, f"{'':>{name_width}}  {scale_labels}", legend]


def _scale_ratio(fairness: Fairness) -> float:
    """The ratio of the scale's right end to the fair price; the left end is the inverse of it."""
    levels = [price.levels[fairness.measure] for price in fairness.prices]
    values = [level.value for level in levels]
    values += [bound for level in levels if (i := level.interval) for bound in (i.low, i.high)]
    return max(_SMALLEST_REACH_RATIO, 1.05 * math.exp(max(abs(math.log(value)) for value in values if value > 0)))


def _row(price: Price, fairness: Fairness, scale_width: int, reach: float) -> str:
    level, fair = price.levels[fairness.measure], scale_width // 2

    def column_of(value: float) -> int:
        return min(scale_width - 1, max(0, round(fair + math.log(max(value, 1e-9)) / math.log(reach) * fair)))

    interval_columns = (
        None if level.interval is None else (column_of(level.interval.low), column_of(level.interval.high))
    )
    return marks(scale_width, [(fair, _FAIR_SIGN), (column_of(level.value), _MEASURED_SIGN)], interval_columns)
