"""The direction in which a page reads ratios: a comparison B over A, a speed-up A over B.

Ratios and factors are stored as A over B. Both readings say the same: ×0.5 of A is half as much in B.
"""

from __future__ import annotations

import math
from typing import Literal

from loadgo.notation.measures import factor, factor_interval
from loadgo.stats.resample import Interval

Reading = Literal["A ÷ B", "B ÷ A"]


def read_factor(stored: float, reading: Reading) -> str:
    """A factor of A over B, as `reading` has it: `×2.039`, or `×0.490`."""
    if reading == "A ÷ B":
        return factor(stored)
    return factor(1 / stored if stored else math.inf)


def read_interval(stored: Interval | None, reading: Reading) -> str:
    """The interval of a factor of A over B, as `reading` has it. A dash without one."""
    if stored is None or reading == "A ÷ B":
        return factor_interval(stored)
    return factor_interval(Interval(1 / stored.high, 1 / stored.low)) if stored.low > 0 else factor_interval(None)
