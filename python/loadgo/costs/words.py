"""Costs in words: headings, intervals of money, and tariffs with their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.costs.priced import Row
from loadgo.documents.table import Column
from loadgo.measures.tariff import COUNTED_AT_LOW_PRICES, Tariff, shifts_in_words
from loadgo.notation.figures import NOT_MEASURED, digits, money
from loadgo.stats.resample import FEWEST_STRETCH_INTERACTIONS, FEWEST_UNITS, Interval

COST_SENTENCE_STARTS = {1: "An interaction costs", COUNTED_AT_LOW_PRICES: "A million interactions cost"}
"""The first words of a sentence about costs, by the number of interactions that its money is for."""

FAIRNESS_MEASURE_LABELS = {"cpu": "processor time", "response": "response time", "elapsed": "elapsed time"}
"""The names of the measures of performance."""

UNKNOWN_COST_ANSWER = "The cost is not known: a charged quantity was not measured."
INTERVAL_NOTE = "95 %, by resampling users; or stretches of time, where that is wider."
NO_INTERVALS_NOTE = (
    f"There are none: they need {FEWEST_UNITS} users, or {FEWEST_UNITS * FEWEST_STRETCH_INTERACTIONS} interactions."
)

FEW_MEANING = f"fewer than {FEWEST_UNITS} measured interactions, too few to tell what one costs"
"""The meaning of `few` in a table of costs."""

_MILLIONS = {"a user's hour": "1,000,000 users' hours", "a megabit of output": "1,000,000 megabits of output"}
"""The headings of columns of money, and those of small amounts, which are of a million."""
_LEAST_MONEY_UNITS = 1e-4
"""From this amount on, money for one is easily read."""
_SCALES = {1: "an interaction", COUNTED_AT_LOW_PRICES: "cost of 1,000,000"}


def cost_by(by: str, tariff: Tariff) -> str:
    """The title of a chart of costs by command, user or load, with the number of interactions that the money is for."""
    subject = "an interaction costs" if tariff.counted == 1 else f"{tariff.counted:,} interactions cost"
    return f"What {subject} by {by} {tariff_in_title(tariff)}"


def tariff_in_title(tariff: Tariff) -> str:
    """The tariff's name at the end of a title."""
    return f"(tariff: {tariff.label})"


def level_in_words(level: float, places: int = 3) -> str:
    """A charge in multiples of the fair one, as `1.005` or `12.3`; three decimals tell where it is near 1."""
    return f"{level:.{places}f}" if 0.1 <= level < 10 else digits(level)


def is_told(row: Row) -> bool:
    """Whether the cost of a mean interaction can be told: enough of the interactions were measured."""
    return row.measured >= FEWEST_UNITS


def is_sum_told(row: Row) -> bool:
    """Whether the cost of all the interactions can be told: all were measured, or enough to stand for the others."""
    return is_told(row) or row.measured == row.interactions


def scale_of(amounts: Sequence[float | None]) -> int:
    """The number of hours, megabits or interactions that money is printed for: 1, or a million if one is cheap."""
    return 10**6 if any(amount and amount < _LEAST_MONEY_UNITS for amount in amounts) else 1


def money_column(
    name: str,
    amounts: Sequence[float | None],
    currencies: Sequence[str],
    spare: int = 0,
    told: Callable[[int, str], str] = lambda _row, text: text,
) -> Column:
    """A column of money for an hour or a megabit, or for a million of them.

    `told` is a function from a row and its money to the cell.
    """
    scale = scale_of(amounts)
    cells = [money(amount, currency, scale) for amount, currency in zip(amounts, currencies, strict=True)]
    heading = name if scale == 1 else _MILLIONS[name]
    return Column(heading, tuple(told(row, cell) for row, cell in enumerate(cells)), spare=spare)


def of_scale(scale: int) -> str:
    """The heading of a column with the cost of `scale` interactions."""
    return _SCALES[scale]


def interval(bounds: Interval | None, currency: str, scale: int = 1) -> str:
    """Both ends of an interval of money for `scale` interactions, as in `$0.135–0.149`."""
    if bounds is None:
        return NOT_MEASURED
    low, high = (money(end, currency, scale) for end in (bounds.low, bounds.high))
    return f"{low}–{high.removeprefix(currency)}"


def tariffs_in_words(tariffs: Sequence[Tariff]) -> list[str]:
    """A line for each tariff's name, with the prices by shift, the title and the source."""
    lines = []
    for name in dict.fromkeys(tariff.name for tariff in tariffs):
        shifts = [tariff for tariff in tariffs if tariff.name == name]
        remark = " Name your own price with --tariff FILE.toml." if shifts[0].assumption else ""
        lines.append(f"{name}: {shifts_in_words(shifts)} ({shifts[0].title}; {shifts[0].source}).{remark}")
    return lines


def curve_chart_name(index: int) -> str:
    """The name of the chart of the costs over the load, at the tariff with this index."""
    return f"cost-{index}"
