"""The width of repeated intervals, whatever was observed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from loadgo.stats.repeated_interval import repeated_interval


def half_width(deviation: float, progress: Sequence[float]) -> float:
    """Half the width of the last interval of observations with this standard deviation; infinite with too few."""
    values = [float(number % 2) for number in range(len(progress))]
    interval = repeated_interval(values, progress)
    return math.inf if interval is None else (interval.high - interval.low) / 2 * deviation / stdev(values)
