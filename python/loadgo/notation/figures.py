"""Figures as reports print them: three significant digits and a unit, or a dash for a figure that was not measured."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from loadgo.notation.units import TIME_NS

if TYPE_CHECKING:
    from loadgo.stats.quantiles import Quantile

NOT_MEASURED = "–"
TOO_FEW_TEXT = "few"
NEVER_TEXT = "never"

MOST_PATH_CHARS = 36
"""The largest number of characters of a path in a table."""

_TIMES = ((1e-3, "ps"), *((TIME_NS[unit], unit) for unit in ("ns", "µs", "ms", "s")))
_BYTES = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
_COUNTS = ((1.0, ""), (1e6, "M"), (1e9, "G"))
_RATES = ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"))
_SHARE_DECIMALS = 3
"""Decimals of a share that `share` prints, as a tenth of a percent."""
_MINUTES_FROM_S = 600


def duration(ns: float | None) -> str:
    """A span of nanoseconds with a unit, as `213 ms`, `1.24 s` or `12.5 min`."""
    if ns is not None and math.isfinite(ns) and ns >= _MINUTES_FROM_S * 1e9:
        minutes = ns / 6e10
        return f"{digits(minutes)} min" if minutes < 120 else f"{digits(minutes / 60)} h"
    return _scaled(ns, _TIMES)


def seconds(value: float | None) -> str:
    """A span of seconds with a unit, as `213 ms` or `1.24 ns`."""
    return duration(None if value is None else value * 1e9)


def seconds_in_one_unit(spans: Sequence[float | None]) -> tuple[str, tuple[str, ...]]:
    """Spans of seconds for a column: the unit that suits their median, and each span in it, without the unit."""
    return _in_one_unit([None if span is None else span * 1e9 for span in spans], _TIMES)


def rates_in_one_unit(rates: Sequence[float | None]) -> tuple[str, tuple[str, ...]]:
    """Rates for a column: the prefix of the unit that suits their median, and each rate in it, without the prefix."""
    return _in_one_unit(rates, _RATES)


def rate(a_second: float | None) -> str:
    """A rate without its unit, which the heading names, as `2.31 G`."""
    return _scaled(a_second, _RATES)


def size(count: float | None) -> str:
    """A number of bytes, as `1.20 kB`."""
    return _scaled(count, _BYTES)


def number(value: float | None) -> str:
    """A count or a mean of counts, as `1,234` or `12.3`."""
    return _scaled(value, _COUNTS)


def people(*counts: int) -> str:
    """Numbers of users, as `1 user`, `5 users` or `1, 5 and 36 users`."""
    listed = in_words([f"{count:,}" for count in counts]) or "0"
    return f"{listed} user{'' if listed == '1' else 's'}"


def counted(count: int, name: str) -> str:
    """A count with its noun, as `1 interaction` or `1,234 interactions`."""
    return f"{number(count)} {name}{'' if count == 1 else 's'}"


def in_words(names: Sequence[str], most: int | None = None) -> str:
    """The names as a list in a sentence: `a`, `a and b`, `a, b and c`. With `most`, the first: `a, b and 7 more`."""
    if most is not None and len(names) > most:
        names = [*names[:most], f"{number(len(names) - most)} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def share(value: float | None) -> str:
    """A share from 0 to 1 as a percentage, as `12.3 %`."""
    return NOT_MEASURED if value is None else f"{100 * value:.1f} %"


def remaining_share(whole: float | None, *parts: float | None) -> float:
    """The rest of a share beside its parts, all of them rounded as `share` prints them: so they add up on the page."""
    printed = [round(part or 0.0, _SHARE_DECIMALS) for part in (whole, *parts)]
    return round(printed[0] - sum(printed[1:]), _SHARE_DECIMALS)


def exact_share(value: float | None) -> str:
    """A share from 0 to 1 in hundredths of a percent, as `12.34 %`."""
    return NOT_MEASURED if value is None else f"{100 * value:.2f} %"


def precise_share(value: float) -> str:
    """A share in thousandths of a percent, for sums that should be 100 %, as `100.001 %`."""
    return f"{100 * value:.3f} %"


def shares(parts: Sequence[int]) -> list[str]:
    """The shares of `parts` in hundredths of a percent, rounded so that they add up to 100.00 %.

    The shares with the largest remainders are rounded up, so no error reaches a hundredth of a percent.
    """
    total = sum(parts)
    if total <= 0:
        return [NOT_MEASURED for _ in parts]
    hundredths = [part * 10_000 // total for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: -(parts[i] * 10_000 % total))
    for i in by_remainder[: 10_000 - sum(hundredths)]:
        hundredths[i] += 1
    return [f"{count // 100}.{count % 100:02} %" for count in hundredths]


def quantile(measured: Quantile) -> str:
    """A quantile, or one word that says why there is none."""
    if measured.state == "too few samples":
        return TOO_FEW_TEXT
    return NEVER_TEXT if measured.state == "never" else duration(measured.value_ns)


def interval(measured: Quantile) -> str:
    """A quantile's interval, as `198–240 ms`."""
    if measured.state == "too few samples" or measured.low_ns is None or measured.high_ns is None:
        return NOT_MEASURED
    if math.isinf(measured.high_ns):
        low = NEVER_TEXT if math.isinf(measured.low_ns) else duration(measured.low_ns)
        return f"{low}–{NEVER_TEXT}" if low != NEVER_TEXT else NEVER_TEXT
    return joined(duration(measured.low_ns), duration(measured.high_ns))


def joined(low: str, high: str) -> str:
    """Two figures as an interval, as `198–240 ms`. A unit that both have is printed once."""
    has_same_unit = low.rpartition(" ")[2] == high.rpartition(" ")[2] or low == "0"
    return f"{low.rpartition(' ')[0] or low if has_same_unit else low}–{high}"


def money_scale(costs: list[float | None]) -> int:
    """The number of interactions whose printed charge is shown: 1, or a million where all charges are small.

    For costs at a tariff there is `Tariff.counted`, which is the same for all of them.
    """
    greatest = max((cost for cost in costs if cost), default=0.0)
    return 10**6 if 0.0 < greatest < 1e-3 else 1


def money(cost: float | None, currency: str, scale: int = 1) -> str:
    """The cost of `scale` interactions, as `$0.014`."""
    return NOT_MEASURED if cost is None else f"{currency}{digits(cost * scale)}"


def digits(value: float) -> str:
    """A number with three significant digits and without an exponent. A negative number has a minus sign, `−`."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else NEVER_TEXT
    rounded = float(f"{value:.3g}") if abs(value) < 1000 else value
    places = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}".replace("-", "−")


def setting(value: float) -> str:
    """A number that somebody chose, without an exponent, as `0.5` or `0.000001`: whole, or with up to six digits."""
    if not math.isfinite(value):
        return NEVER_TEXT
    return f"{value:.0f}" if value == round(value) else f"{Decimal(f'{value:.6g}'):f}"


def price_of(amount: float, currency: str = "") -> str:
    """A price as a tariff has it, as `$508`, `$474.60` or `$0.000001`."""
    if amount == round(amount):
        return f"{currency}{amount:,.0f}"
    if math.isclose(amount, round(amount, 2)):
        return f"{currency}{amount:,.2f}"
    return f"{currency}{Decimal(f'{amount:.10g}'):,f}"


def capitalized(text: str) -> str:
    """The text with a capital as its first letter. The others stay: names in it may have capitals of their own."""
    return f"{text[:1].upper()}{text[1:]}"


def plain(text: str) -> str:
    """Makes a user's text safe for a terminal: a visible sign replaces control, format and bidirectional characters."""
    unsafe = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return "".join("�" if unicodedata.category(character) in unsafe else character for character in text)


def cut(text: str, width: int) -> str:
    """A text, or its beginning if it is longer than `width` characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def as_code(name: str) -> str:
    """A command, a program or a function within a sentence: in backticks, as everything that is typed.

    A name that backticks cannot hold stands in quotes.
    """
    shown = plain(name)
    return f"“{shown}”" if "`" in shown or shown != shown.strip() or not shown else f"`{shown}`"


def path_end(name: str) -> str:
    """`name`, or the end of a longer path, which distinguishes it best: whole names of folders if there is room."""
    if len(name) <= MOST_PATH_CHARS or not name.startswith("/"):
        return name
    end = name[1 - MOST_PATH_CHARS :]
    whole = end[max(end.find("/"), 0) :]
    return f"…{whole if 2 * len(whole) > len(end) else end}"


def _in_one_unit(amounts: Sequence[float | None], units: Sequence[tuple[float, str]]) -> tuple[str, tuple[str, ...]]:
    known = sorted(amount for amount in amounts if amount)
    middle = known[len(known) // 2] if known else 1.0 if units is _RATES else units[-1][0]
    scale, unit = next((one for one in reversed(units) if one[0] <= middle * 1.0005), units[0])
    return unit, tuple(NOT_MEASURED if amount is None else digits(amount / scale) for amount in amounts)


def _scaled(amount: float | None, units: Sequence[tuple[float, str]]) -> str:
    if amount is None or math.isnan(amount):
        return NOT_MEASURED
    if amount == 0:
        return "0"
    if math.isinf(amount):
        return NEVER_TEXT
    fits = [unit for unit in units if unit[0] <= max(abs(amount), units[0][0]) * 1.0005]
    scale, unit = fits[-1]
    figure = (
        str(int(amount)) if scale == 1 and float(amount).is_integer() and abs(amount) < 1000 else digits(amount / scale)
    )
    return f"{figure} {unit}".rstrip()


def with_usual_times(text: str) -> str:
    """A text of the measuring library, such as `33298 us late`, with times as reports write them: `33.3 ms late`."""
    return re.sub(r"(?<![\w.])(\d+(?:\.\d+)?) ?us\b", lambda match: duration(1e3 * float(match[1])), text)
