"""Units drawn again as wholes (users, stretches of time, whole runs), and the interval that the draws give.

Row 0 of a drawing has each unit once, so that an estimate and its replicates come out of one matrix product. The
percentiles are taken further out the fewer the units are (Hesterberg, The American Statistician 69 (2015), page 371:
the expanded percentile interval): with n units the tail is that of -t(n - 1) sqrt(n / (n - 1)) in a normal law, since
percentiles alone are as short as a normal interval that knows the spread.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

REPLICATES = 2000
CONFIDENCE = 0.95
FEWEST = 5
"""From fewer units no interval is given."""
STUDENT_BELOW = 8
"""Of fewer units the percentiles would lie at the ends of what can be drawn: Student's t takes their place."""
STRETCHES = 8
"""Stretches of a run's time: few and long, since a busy time lasts; of several runs those of each are other units."""
WAITS_A_STRETCH = 2.0
"""Fewest mean waits in a stretch: a queue stays as it is for about as long as a user waits in it, and shorter stretches
would be alike.
"""
FEWEST_A_STRETCH = 9
"""Fewest interactions in a stretch, on average."""

_SEED = 19730517
_MOST_GROUPS = 1024


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether `value` lies in it."""
        return self.low <= value <= self.high


def drawn(units: int, seed: int = _SEED, replicates: int = REPLICATES) -> Floats:
    """How often each unit is in each drawing: shape (1 + replicates, groups of units); row 0 is all of them once.

    More than 1024 units are drawn in groups (`grouped`). Fewer than 5 units are not drawn: row 0 stands alone. The same
    seed draws the same.
    """
    groups = min(units, _MOST_GROUPS)
    once = np.ones((1, groups))
    if units < FEWEST:
        return once
    random = np.random.default_rng(seed)
    again = random.multinomial(groups, np.full(groups, 1 / groups), size=replicates)
    return np.vstack([once, again.astype(np.float64)])


def grouped(sums: Floats) -> Floats:
    """Sums by unit (the first axis) as sums by the groups that `drawn` draws."""
    units = len(sums)
    if units <= _MOST_GROUPS:
        return sums
    found = np.zeros((_MOST_GROUPS, *sums.shape[1:]))
    np.add.at(found, np.arange(units) % _MOST_GROUPS, sums)
    return found


def interval_of(values: Floats, units: int) -> Interval | None:
    """The interval of an estimate from its draws (row 0 is the estimate itself) of `units` units; None without draws.

    Draws that are not numbers (nobody was drawn who did it) are left out; None when they are most.
    """
    if len(values) < 2 or units < 2 or not np.isfinite(values[0]):
        return None
    again = values[1:][np.isfinite(values[1:])]
    if 2 * len(again) < len(values):
        return None
    if units < STUDENT_BELOW:
        half = _student(units) * float(again.std()) * float(np.sqrt(units / (units - 1)))
        return Interval(float(values[0]) - half, float(values[0]) + half)
    tail = _tail(units)
    low, high = np.quantile(again, [tail, 1 - tail])
    return Interval(float(low), float(high))


def quantile_interval(values: Floats, units: int) -> Interval | None:
    """The interval of a quantile of response times, from its draws as for `interval_of`.

    Lines that were never answered make draws infinite. The ends are those of the logarithm: no time is below 0.
    """
    if np.isfinite(values).all() and (values > 0).all():
        logs = interval_of(np.log(values), units)
        return None if logs is None else Interval(float(np.exp(logs.low)), float(np.exp(logs.high)))
    if np.isfinite(values).all():
        return interval_of(values, units)
    if len(values) < 2 or units < 2:
        return None
    tail = _tail(units)
    low, high = np.quantile(values[1:], [tail, 1 - tail], method="inverted_cdf")
    return Interval(float(low), float(high))


def wider(intervals: Iterable[Interval | None]) -> Interval | None:
    """The interval that holds all that there are; None when there is none."""
    found = [interval for interval in intervals if interval is not None]
    return Interval(min(one.low for one in found), max(one.high for one in found)) if found else None


def stretch_count(interactions: int, waits: float = np.inf) -> int:
    """Into how many stretches of time a run of so many interactions is cut, which lasts `waits` mean waits."""
    return max(1, int(min(waits / WAITS_A_STRETCH, STRETCHES, interactions // FEWEST_A_STRETCH)))


def too_short(runs: int, waits: float) -> bool:
    """Whether runs of `waits` mean waits each are too short to judge what is waited for."""
    return bool(np.isfinite(waits)) and runs * int(waits / WAITS_A_STRETCH) < FEWEST


@cache
def _student(units: int) -> float:
    # Not from scipy.stats, which takes seconds to load.
    from scipy import special

    return float(special.stdtrit(units - 1, (1 + CONFIDENCE) / 2))


@cache
def _tail(units: int) -> float:
    from scipy import special

    return float(special.ndtr(-np.sqrt(units / (units - 1)) * _student(units)))
