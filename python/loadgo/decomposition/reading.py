"""How pages show ratios and factors: as B over A, like every change. They are stored as A over B."""

from __future__ import annotations

from loadgo.decomposition.chains import RatioFactors
from loadgo.notation.figures import duration, money, money_scale
from loadgo.notation.measures import factor, factor_interval
from loadgo.stats.resample import Interval, inverse

B_OVER_A = "B ÷ A"
"""The heading of a column of ratios."""


def amount_scale(ratio: RatioFactors) -> int:
    """The number of interactions that a ratio's money is shown for. It is 1 for times."""
    return 1 if ratio.unit == "ns" else money_scale([ratio.before, ratio.after])


def read_amount(ratio: RatioFactors, value: float) -> str:
    """Formats a value in the ratio's unit: a time, or the money for as many interactions as `amount_scale` says."""
    return duration(value) if ratio.unit == "ns" else money(value, ratio.unit, amount_scale(ratio))


def measure_name(ratio: RatioFactors) -> str:
    """The measure's name. Of small costs it says for how many interactions they are."""
    scale = amount_scale(ratio)
    return ratio.measure if scale == 1 else f"{ratio.measure}, of {scale:,}"


_HEADING_NAMES = {"elapsed": "elapsed time", "response": "response time", "CPU": "processor time"}


def measure_in_heading(ratio: RatioFactors) -> str:
    """The measure's name within a heading, where `elapsed` alone would be no noun."""
    return _HEADING_NAMES.get(ratio.measure, measure_name(ratio))


def read_factor(stored: float) -> str:
    """A factor of A over B, shown as B over A: `×0.490` for 2.039."""
    return factor(inverse(stored))


def read_interval(stored: Interval | None) -> str:
    """The interval of a factor of A over B, shown as B over A. A dash without one."""
    return factor_interval(None if stored is None or stored.low <= 0 else stored.inverse)
