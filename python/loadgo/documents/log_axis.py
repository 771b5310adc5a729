"""Ticks of logarithmic axes: round numbers for figures, and percentages or factors for changes."""

from __future__ import annotations

import math
from collections.abc import Sequence

FEWEST_TICKS, MOST_TICKS = 3, 9
MOST_LABELS = 6
"""The most percentages with their labels that have room beside each other on the axis of a chart."""
_STEPS = (
    (1.0,),
    (1.0, 2.0, 5.0),
    (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0),
    (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
    tuple(map(float, range(1, 10))),
)
"""The ticks of a decade, from few to many."""
_SMALL_CHANGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_FACTORS = (2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 1e4, 1e5, 1e6)
_LARGE_FALLS = (0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
_DECADES = (10.0, 100.0, 1000.0, 1e4, 1e5, 1e6)
_DECADES_RATIO = 1000.0
"""An axis of changes with a larger ratio of its ends has decades alone."""
_LEAST_FACTOR = 10.0
"""An axis of changes that reaches so far has factors on it, and no percentages."""
_PERCENT_LABEL = "abs(datum.value - 1) < 1e-9 ? '0' : format(100 * (datum.value - 1), '+,.6~r') + ' %'"
_FACTOR_LABEL = "'×' + format(datum.value, ',.3~r')"


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, both above 0: decades on a long axis, and at least two on the shortest."""
    for steps in _STEPS:
        ticks = _decade_ticks(low, high, steps)
        if len(ticks) >= FEWEST_TICKS:
            break
    if len(ticks) < FEWEST_TICKS:
        ticks = _even_ticks(low, high)
    return ticks[:: -(-len(ticks) // MOST_TICKS)]


def change_ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Ticks for factors of change from `low` to `high`: 1, and round percentages or factors, at readable distances.

    The distance is that of `most` ticks on the whole axis.
    """
    rises = [*(1 + change for change in _SMALL_CHANGES), *_FACTORS]
    falls = [1 - change for change in (*_SMALL_CHANGES, *_LARGE_FALLS)]
    if high / low > _DECADES_RATIO:
        rises, falls = list(_DECADES), [1 - (decade - 1) / decade for decade in _DECADES]
    nearest = math.log(max(high, 1.0) / min(low, 1.0)) / (most + 1)
    above = _spaced([tick for tick in rises if tick <= high * (1 + 1e-9)], nearest)
    below = _spaced([tick for tick in falls if tick >= low * (1 - 1e-9)], nearest)
    return [*reversed(below), 1.0, *above]


CHANGE_TITLE = "change from A to B"
"""The title of an axis of changes."""


def change_label(high: float) -> str:
    """Vega expression for the labels of an axis of changes to `high`: percentages, or factors on a long axis."""
    return _FACTOR_LABEL if high >= _LEAST_FACTOR else _PERCENT_LABEL


def change_text(factor: float, high: float) -> str:
    """A factor of change as its tick says it, on an axis to `high`: `−50 %`, `0`, `+100 %`, or `×0.5`, `×1`, `×20`."""
    if high >= _LEAST_FACTOR:
        return f"×{factor:,.6g}"
    if math.isclose(factor, 1.0, abs_tol=1e-9):
        return "0"
    return f"{'+' if factor > 1 else '−'}{abs(100 * (factor - 1)):.4g} %"


def _decade_ticks(low: float, high: float, steps: Sequence[float]) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [float(f"{step}e{decade}") for decade in range(first, last + 1) for step in steps]
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def _even_ticks(low: float, high: float) -> list[float]:
    """Round numbers at even distances, for an axis that is shorter than a few steps of a decade."""
    if not high > low:
        return [low]
    tens = 10.0 ** math.floor(math.log10(high - low))
    for distance in (tens, tens / 2, tens / 5, tens / 10):
        first, last = math.ceil(low / distance - 1e-9), math.floor(high / distance + 1e-9)
        if last - first + 1 >= FEWEST_TICKS:
            break
    return [float(f"{number * distance:.12g}") for number in range(first, last + 1)]


def _spaced(ticks: Sequence[float], nearest: float) -> list[float]:
    """The ticks, outwards from 1, that are at least `nearest` from each other and from 1 on the scale of logarithms."""
    kept: list[float] = []
    last = 0.0
    for tick in ticks:
        if abs(math.log(tick)) - last >= nearest:
            kept.append(tick)
            last = abs(math.log(tick))
    return kept
