"""What B charges for the same performance as a picture of signs: each shift beside the fair price, on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from loadgo.costs.fairness import Fairness, Price
from loadgo.costs.words import FAIRNESS_MEASURE_LABELS
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import marks

_FAIR, _HERE = "│", "●"
_WIDEST = 60
_LEAST = 1.25
"""The scale goes at least so many times either way."""


def fairness_pictures(made: Fairness) -> tuple[SignPicture, ...]:
    """The one picture."""
    return (
        SignPicture(f"Dear or cheap, by {FAIRNESS_MEASURE_LABELS[made.measure]}", lambda width: _lines(made, width)),
    )


def _lines(made: Fairness, width: int) -> Sequence[str]:
    names = [f"shift {price.shift}" if price.shift else "all" for price in made.prices]
    cells = [f"{price.levels[made.measure].value:.2f}" for price in made.prices]
    left, right = max(map(len, names)), max(map(len, cells))
    room = max(11, min(_WIDEST, width - left - right - 4))
    reach = _reach(made)
    lines = [
        f"{name:>{left}}  {_row(price, made, room, reach)}  {cell:>{right}}"
        for name, cell, price in zip(names, cells, made.prices, strict=True)
    ]
    below = f"{f'{1 / reach:.2f}':<{room // 2}}1{f'{reach:.2f}':>{room - room // 2 - 1}}"
    words = f"{_FAIR} fair; left of it B is cheaper than what it does, right of it dearer"
    return [*lines, f"{'':>{left}}  {below}", words]


def _reach(made: Fairness) -> float:
    """How many times dearer the right end of the scale is than what is fair; the left end as many times cheaper."""
    levels = [price.levels[made.measure] for price in made.prices]
    values = [one.value for one in levels] + [v for one in levels if (i := one.interval) for v in (i.low, i.high)]
    return max(_LEAST, 1.05 * math.exp(max(abs(math.log(value)) for value in values if value > 0)))


def _row(price: Price, made: Fairness, room: int, reach: float) -> str:
    level, fair = price.levels[made.measure], room // 2

    def at(value: float) -> int:
        return min(room - 1, max(0, round(fair + math.log(max(value, 1e-9)) / math.log(reach) * fair)))

    between = None if level.interval is None else (at(level.interval.low), at(level.interval.high))
    return marks(room, [(fair, _FAIR), (at(level.value), _HERE)], between)
