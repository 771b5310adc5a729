"""How pages show ratios and factors: as B over A, like every change. They are stored as A over B."""

from __future__ import annotations

from loadgo.notation.measures import factor, factor_interval
from loadgo.stats.resample import Interval, inverse

B_OVER_A = "B ÷ A"
"""The heading of a column of ratios."""


def read_factor(stored: float) -> str:
    """A factor of A over B, shown as B over A: `×0.490` for 2.039."""
    return factor(inverse(stored))


def read_interval(stored: Interval | None) -> str:
    """The interval of a factor of A over B, shown as B over A. A dash without one."""
    return factor_interval(None if stored is None or stored.low <= 0 else stored.inverse)
