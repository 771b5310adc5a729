"""Figures as a report prints them: three significant digits, the unit beside them, and a dash for what was not
measured.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from loadgo.notation.units import TIME_NS
from loadgo.stats.quantiles import Quantile

NOT_MEASURED = "–"
TOO_FEW = "few"
NEVER = "never"

PATH_WIDTH = 36
"""How many signs of a path are shown."""

_TIMES = ((1e-3, "ps"), *((TIME_NS[unit], unit) for unit in ("ns", "µs", "ms", "s")))
_BYTES = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
_COUNTS = ((1.0, ""), (1e6, "M"), (1e9, "G"))
_RATES = ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"))
_MINUTES_FROM_S = 600


def duration(ns: float | None) -> str:
    """A span of nanoseconds: `213 ms`, `1.24 s`, `12.5 min`."""
    if ns is not None and math.isfinite(ns) and ns >= _MINUTES_FROM_S * 1e9:
        minutes = ns / 6e10
        return f"{digits(minutes)} min" if minutes < 120 else f"{digits(minutes / 60)} h"
    return _scaled(ns, _TIMES)


def seconds(value: float | None) -> str:
    """A span of seconds: `213 ms`, `1.24 ns`."""
    return duration(None if value is None else value * 1e9)


def rate(a_second: float | None) -> str:
    """Bits a second, whose unit the heading names: `2.31 G`."""
    return _scaled(a_second, _RATES)


def size(count: float | None) -> str:
    """Bytes: `1.20 kB`."""
    return _scaled(count, _BYTES)


def number(value: float | None) -> str:
    """A count or a mean of counts: `1,234`, `12.3`."""
    return _scaled(value, _COUNTS)


def people(*counts: int) -> str:
    """Users counted: `1 user`, `5 users`, `1, 5 and 36 users`."""
    listed = in_words([f"{count:,}" for count in counts]) or "0"
    return f"{listed} user{'' if listed == '1' else 's'}"


def counted(count: int, name: str) -> str:
    """`1 interaction`, `1,234 interactions`."""
    return f"{number(count)} {name}{'' if count == 1 else 's'}"


def in_words(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def share(value: float | None) -> str:
    """A share of one: `12.3 %`."""
    return NOT_MEASURED if value is None else f"{100 * value:.1f} %"


def exact_share(value: float | None) -> str:
    """A share of one in hundredths of a percent: `12.34 %`."""
    return NOT_MEASURED if value is None else f"{100 * value:.2f} %"


def shares(parts: Sequence[int]) -> list[str]:
    """Each part's share of all of them in hundredths of a percent, rounded so that what is printed adds up to 100.00 %.

    None of them is off by a hundredth of a percent: those with the greatest remainders are rounded up.
    """
    whole = sum(parts)
    if whole <= 0:
        return [NOT_MEASURED for _ in parts]
    hundredths = [part * 10_000 // whole for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: -(parts[i] * 10_000 % whole))
    for i in by_remainder[: 10_000 - sum(hundredths)]:
        hundredths[i] += 1
    return [f"{count // 100}.{count % 100:02} %" for count in hundredths]


def quantile(found: Quantile) -> str:
    """A quantile, or in a word why there is none."""
    if found.state == "too few samples":
        return TOO_FEW
    return NEVER if found.state == "never" else duration(found.value_ns)


def interval(found: Quantile) -> str:
    """A quantile's interval, in the unit of its upper end: `198–240 ms`."""
    if found.state == "too few samples" or found.low_ns is None or found.high_ns is None:
        return NOT_MEASURED
    if math.isinf(found.high_ns):
        low = NEVER if math.isinf(found.low_ns) else duration(found.low_ns)
        return f"{low}–{NEVER}" if low != NEVER else NEVER
    return joined(duration(found.low_ns), duration(found.high_ns))


def joined(low: str, high: str) -> str:
    """Two figures as an interval, with their unit once where it is the same: `198–240 ms`."""
    same_unit = low.rpartition(" ")[2] == high.rpartition(" ")[2] or low == "0"
    return f"{low.rpartition(' ')[0] or low if same_unit else low}–{high}"


def money_scale(costs: list[float | None]) -> int:
    """For how many interactions costs are printed: 1, 10³, 10⁶ or 10⁹, so that the greatest is not all zeros."""
    greatest = max((cost for cost in costs if cost), default=0.0)
    enough = [(1, 1e-3), (10**3, 1e-5), (10**6, 1e-7), (10**9, 0.0)]
    return next(scale for scale, least in enough if greatest >= least or greatest == 0.0)


def money(cost: float | None, currency: str, scale: int = 1) -> str:
    """The cost of `scale` interactions: `$0.014`."""
    return NOT_MEASURED if cost is None else f"{currency}{digits(cost * scale)}"


def digits(value: float) -> str:
    """Three significant digits, never an exponent."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else NEVER
    rounded = float(f"{value:.3g}") if abs(value) < 1000 else value
    places = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}"


def plain(text: str) -> str:
    """`text` from a user, fit for a terminal: control, format and bidirectional characters become a visible
    substitute.
    """
    return "".join("�" if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") else sign for sign in text)


def path_end(name: str) -> str:
    """`name`, or of a path that is longer than `PATH_WIDTH` its end, which tells more than its beginning."""
    return name if len(name) <= PATH_WIDTH or not name.startswith("/") else f"…{name[1 - PATH_WIDTH :]}"


def _scaled(value: float | None, units: Sequence[tuple[float, str]]) -> str:
    if value is None or math.isnan(value):
        return NOT_MEASURED
    if value == 0:
        return "0"
    if math.isinf(value):
        return NEVER
    fits = [unit for unit in units if unit[0] <= max(abs(value), units[0][0]) * 1.0005]
    scale, unit = fits[-1]
    figure = (
        str(int(value)) if scale == 1 and float(value).is_integer() and abs(value) < 1000 else digits(value / scale)
    )
    return f"{figure} {unit}".rstrip()
