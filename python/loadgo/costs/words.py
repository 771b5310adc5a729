"""Costs in words: of how many interactions, intervals of money, and tariffs with their sources."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.measures.tariff import Tariff, shifts_in_words
from loadgo.notation.figures import NOT_MEASURED, money
from loadgo.stats.resample import FEWEST, FEWEST_A_STRETCH, Interval

AMOUNTS = {
    1: "An interaction costs",
    10**3: "A thousand interactions cost",
    10**6: "A million interactions cost",
    10**9: "A thousand million interactions cost",
}
"""How a sentence begins whose money is of so many interactions."""

MEASURED = {"cpu": "processor time", "response": "response time", "elapsed": "elapsed time"}
"""What the measures of performance are called."""

INTERVALS = "95 %, by drawing users again; or stretches of time, where that is wider."
NO_INTERVALS = f"There are none: they need {FEWEST} users, or {FEWEST * FEWEST_A_STRETCH} interactions."

_SCALES = {1: "an interaction", 10**3: "cost of 1,000", 10**6: "cost of 1,000,000", 10**9: "cost of 10⁹"}


def of_scale(scale: int) -> str:
    """The heading of a column whose money is of `scale` interactions."""
    return _SCALES[scale]


def interval(found: Interval | None, currency: str, scale: int = 1) -> str:
    """Both ends, of `scale` interactions: `$0.135–0.149`."""
    if found is None:
        return NOT_MEASURED
    low, high = (money(end, currency, scale) for end in (found.low, found.high))
    return f"{low}–{high.removeprefix(currency)}"


def tariffs_in_words(tariffs: Sequence[Tariff]) -> list[str]:
    """A line for each, those of one name together: prices by shift, title, source."""
    found = []
    for name in dict.fromkeys(tariff.name for tariff in tariffs):
        shifts = [tariff for tariff in tariffs if tariff.name == name]
        own = " Name your own price with --tariff FILE.toml." if shifts[0].assumption else ""
        found.append(f"{name}: {shifts_in_words(shifts)} ({shifts[0].title}; {shifts[0].source}).{own}")
    return found
